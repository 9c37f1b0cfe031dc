/* SPDX-License-Identifier: Apache-2.0 */
/* chrome.h - what the parts of the Chrome export share: JSON as PyTorch's profiler (Kineto)
 * writes it. */
#ifndef HWY_EXPORT_CHROME_CHROME_H
#define HWY_EXPORT_CHROME_CHROME_H

#include "base/index.h"
#include "export/export_internal.h"
#include "export/nested_rows.h"
#include "export/out.h"

struct chrome {
	struct export x;
	struct out out;
	int64_t shift; /* ns that are added to every time, so that no time is negative */
	struct chrome_lane {
		char pid[80], tid[80]; /* as JSON: a number, or a text in quotes */
		int64_t number;        /* the tid; INT64_MIN where the tid is a text */
	} * lanes;                     /* by lane */
	struct hwy_index taken;        /* struct chrome_tid: the tids that streams have already */
	uint8_t *sources; /* by span: 1 where the begin of the arrow from this call is written */
	struct chrome_record {
		int64_t wait;        /* span id of a wait */
		int64_t correlation; /* id of the event record that the wait waits for */
	} * records;                 /* sorted by wait */
	uint32_t n_records;
	struct nested_rows nest;
	bool many_processes;
	bool first; /* the next event is the first of the list */
	/* By strip of allocations: references (base/ref.h) to the strips of counters that hold
	 * their totals. */
	struct chrome_totals {
		uint32_t allocated, reserved;
	} * totals;
	uint8_t *is_total; /* by strip: 1 where its counter is written with the allocations */
};

void chrome_ids_name_lanes(struct chrome *c); /* in chrome_ids.c */
void chrome_ids_write(struct chrome *c);
/* Adds a row that belongs to no lane of the trace, under a process (or HWY_NONE). There can be
 * only one such row. */
struct chrome_lane chrome_ids_own_row(struct chrome *c, int64_t process, const char *name);
void chrome_spans_put_place(struct out *out, const struct chrome_lane *lane, uint32_t row);
void chrome_meta_write_head(struct chrome *c); /* in chrome_meta.c */
void chrome_meta_write_tail(struct chrome *c);
void chrome_spans_write_strip(struct chrome *c, uint32_t strip); /* in chrome_spans.c */
/* In chrome_arrows.c: the arrow from a call to its work, and all other arrows. */
void chrome_arrows_put_launch(struct chrome *c, const struct hwy_strip *strip, uint32_t row,
			      uint32_t nest_row);
void chrome_arrows_write(struct chrome *c);

/* An event whose arguments are being written. */
struct chrome_event {
	struct out *out;
	bool has_arg;
};
/* Writes the key of an argument; its value follows. */
void chrome_spans_key(struct chrome_event *e, const char *name, size_t n);
#define CHROME_ARG_INT(e, name, value)                                                             \
	(chrome_spans_key(e, name, sizeof name - 1), out_int((e)->out, value))
#define CHROME_ARG_TEXT(e, name, text)                                                             \
	(chrome_spans_key(e, name, sizeof name - 1), out_json((e)->out, text))
/* In chrome_messages.c: adds what the span exchanges with other ranks. */
void chrome_messages_put(struct chrome *c, struct chrome_event *e, const struct hwy_strip *strip,
			 uint32_t row);
void chrome_steps_write(struct chrome *c); /* in chrome_steps.c */
void chrome_next(struct chrome *c);        /* writes the comma and the new line before an event */

#endif
