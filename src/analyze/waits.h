/* waits.h - every blocking call of a phase: which work it waited for, and how long it had to wait. */
#ifndef HWY_ANALYZE_WAITS_H
#define HWY_ANALYZE_WAITS_H

#include "analyze/phases/phases.h"

struct hwy_wait {
	uint32_t call; /* in flow.calls */
	uint32_t
		op; /* the last op that the call had to wait for, or FLOW_NONE: nothing was pending */
	int64_t length;   /* ns that the call took */
	int64_t waited;   /* ns from the start of the call to the end of 'op', at most 'length' */
	uint32_t step;    /* index into phase.steps */
	bool is_copy;     /* a copy that blocks, not a synchronise call */
	bool is_pageable; /* a copy from or to pageable memory, asked to be asynchronous */
};

struct hwy_waits {
	struct hwy_wait *waits; /* in order of time */
	uint32_t n;
};

bool waits_find(const struct hwy_flow *flow, const struct hwy_phase *phase, struct hwy_waits *waits,
		struct hwy_err *err);
void waits_free(struct hwy_waits *waits);

#endif
