/* SPDX-License-Identifier: Apache-2.0 */
/* replayed_steps.h - a phase's steps in a replayed graph. */
#ifndef HWY_WHATIF_REPLAYED_STEPS_H
#define HWY_WHATIF_REPLAYED_STEPS_H

#include "whatif/whatif.h"

/* When the device works for a step, in replayed time; the first step begins with w->lead. */
struct step_time {
	/* Both in ns; begin is INT64_MAX and end INT64_MIN where the step has no device work. */
	int64_t begin, end;
	uint32_t last; /* the step's node that ends last, or GRAPH_NONE */
};

/* For each call, for each op: a reference (base/ref.h) to the step of the phase that it belongs to.
 * To be freed. */
uint32_t *replayed_steps_by_call(const struct hwy_flow *flow, const struct hwy_phase *phase);
uint32_t *replayed_steps_by_op(const struct hwy_flow *flow, const struct hwy_phase *phase);
/* The times of each step of the phase, from the ends of all nodes of a replayed graph. To be
 * freed. */
struct step_time *replayed_steps_time(const struct whatif *w, const struct hwy_graph *graph,
				      const int64_t *ends);
/* Sets w->lead, w->tail and w->lead_call. ends: the measured end of each node of w->graph. */
void replayed_steps_find_window(struct whatif *w, const int64_t *ends);
/* Yields the time of a moment in a replayed graph. */
int64_t replayed_steps_moment(const struct whatif_moment *moment, const int64_t *ends);

#endif
