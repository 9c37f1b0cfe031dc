/* chrome.h - what the parts of the Chrome export share: JSON as PyTorch's profiler (Kineto) writes it. */
#ifndef HWY_EXPORT_CHROME_CHROME_H
#define HWY_EXPORT_CHROME_CHROME_H

#include "export/export_internal.h"
#include "export/nested_rows.h"
#include "export/out.h"

struct chrome {
	struct export x;
	struct out out;
	int64_t shift;                 /* added to every time: none is negative */
	struct chrome_lane {           /* by lane */
		char pid[80], tid[80]; /* as JSON */
		int64_t number;        /* of the tid; INT64_MIN: it is a text */
	} * lanes;
	struct hwy_map taken; /* hash of pid and tid of streams -> 1 */
	uint8_t *sources;     /* by span: the launch arrow's begin is written */
	int64_t *
		record_of; /* pairs: span of a wait, correlation id of the record it waits for; sorted */
	uint32_t n_record_of;
	struct nest nest;
	bool many_processes;
	bool first;        /* nothing is written yet */
	uint64_t *totals;  /* by strip of allocations: strips + 1 of their totals, two of 32 bits */
	uint8_t *is_total; /* by strip: written with the allocations */
};

void chrome_name_lanes(struct chrome *c); /* chrome_ids.c */
void chrome_write_names(struct chrome *c);
/* A row of a process (or HWY_NONE) that is no lane's; there is one. */
struct chrome_lane chrome_own_row(struct chrome *c, int64_t process, const char *name);
void chrome_put_place(struct out *out, const struct chrome_lane *lane, uint32_t row);
void chrome_write_head(struct chrome *c); /* chrome_meta.c */
void chrome_write_tail(struct chrome *c);
void chrome_write_strip(struct chrome *c, uint32_t strip); /* chrome_spans.c */
void chrome_write_arrows(struct chrome *c);
void chrome_write_steps(struct chrome *c); /* chrome_steps.c */
void chrome_next(struct chrome *c);        /* the comma and line before an event */

#endif
