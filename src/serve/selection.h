/* SPDX-License-Identifier: Apache-2.0 */
/* selection.h - everything that happened in a stretch of time on chosen lanes (docs/view-protocol.md, "selection").
 *
 * Times of spans are cut to the stretch. Names are listed by time, a bounded number of each kind; totals are of all.
 */
#ifndef HWY_SERVE_SELECTION_H
#define HWY_SERVE_SELECTION_H

#include "serve/answers.h"
#include "serve/lane_choice.h"

struct selection {
	int64_t from, to;     /* times of the trace, from < to */
	const uint8_t *lanes; /* by lane: 1 where it is chosen; NULL: all lanes */
	const struct annotations
		*gaps; /* idle time by cause; NULL while the diagnosis is not finished */
};

/* selection.c: writes the whole answer. */
bool selection_answer(struct view_trace *view, struct hwy_json *json,
		      const struct selection *selection, struct hwy_err *err);

/* Its parts, a key each. selection_devices.c: */
bool selection_put_devices(struct view_trace *view, struct hwy_json *json,
			   const struct selection *selection, struct hwy_err *err);
bool selection_put_counters(struct view_trace *view, struct hwy_json *json,
			    const struct selection *selection, struct hwy_err *err);
/* selection_threads.c: states of threads, what woke whom, and where samples were taken. */
bool selection_put_threads(struct view_trace *view, struct hwy_json *json,
			   const struct selection *selection, struct hwy_err *err);

/* Calls 'add' for the spans of these kinds on a lane that touch the selection: first those that began before it. The columns
 * of VIEW_COLUMNS are in memory then, 'length' is the part inside the selection, ns. */
typedef void selection_add(void *self, const struct hwy_strip *strip, uint32_t row, int64_t length);
bool selection_walk(struct view_trace *view, const struct selection *selection, uint32_t lane,
		    uint32_t kinds, selection_add *add, void *self, struct hwy_err *err);

#endif
