/* SPDX-License-Identifier: Apache-2.0 */
/* selection.h - everything that happened in a stretch of time on chosen lanes
 * (docs/view-protocol.md, "selection").
 *
 * Times of spans are cut to the stretch. Names are listed by time, a bounded number of each kind;
 * totals are of all.
 */
#ifndef HWY_SERVE_SELECTION_H
#define HWY_SERVE_SELECTION_H

#include "serve/answers.h"
#include "serve/lane_choice.h"

struct selection {
	int64_t from, to;     /* times of the trace, from < to */
	const uint8_t *lanes; /* by lane: 1 where it is chosen; NULL: all lanes */
	/* idle time by cause; NULL while the diagnosis is not finished */
	const struct annotations *gaps;
};

/* selection.c: writes the whole answer. */
bool selection_answer(struct view_trace *view, struct hwy_json *json,
		      const struct selection *selection, struct hwy_err *err);

/* The parts of the answer: each function writes one key. selection_devices.c: */
bool selection_put_devices(struct view_trace *view, struct hwy_json *json,
			   const struct selection *selection, struct hwy_err *err);
bool selection_put_counters(struct view_trace *view, struct hwy_json *json,
			    const struct selection *selection, struct hwy_err *err);
/* selection_threads.c: states of threads, what woke whom, and where samples were taken. */
bool selection_put_threads(struct view_trace *view, struct hwy_json *json,
			   const struct selection *selection, struct hwy_err *err);

/* Calls 'add' for the spans of these kinds on a lane that touch the selection: first for those
 * that began before it, then in order of start. VIEW_COLUMNS of the span are in memory during
 * the call; 'length' is the time of the span inside of the selection, ns. */
typedef void selection_add(void *self, const struct hwy_strip *strip, uint32_t row, int64_t length);
bool selection_walk(struct view_trace *view, const struct selection *selection, uint32_t lane,
		    uint32_t kinds, selection_add *add, void *self, struct hwy_err *err);

#endif
