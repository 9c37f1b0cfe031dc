/* SPDX-License-Identifier: Apache-2.0 */
/* waits.h - every blocking call of a phase: which work it waited for, and how long it had to
 * wait. */
#ifndef HWY_ANALYZE_WAITS_H
#define HWY_ANALYZE_WAITS_H

#include "analyze/phases/phases.h"

struct hwy_wait {
	uint32_t call; /* index of the blocking call in flow.calls */
	/* The last op that the call had to wait for, or FLOW_NONE where nothing was pending. */
	uint32_t op;
	int64_t length;   /* ns that the call took */
	int64_t waited;   /* ns from the start of the call to the end of 'op', at most 'length' */
	uint32_t step;    /* index into phase.steps */
	bool is_copy;     /* the call is a copy that blocks, not a synchronise call */
	bool is_pageable; /* the call is an "asynchronous" copy from or to pageable memory */
};

struct hwy_waits {
	struct hwy_wait *waits; /* the blocking calls of the phase, in order of time */
	uint32_t n;
};

bool waits_find(const struct hwy_flow *flow, const struct hwy_phase *phase, struct hwy_waits *waits,
		struct hwy_err *err);
void waits_free(struct hwy_waits *waits);

#endif
