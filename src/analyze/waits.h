/* calls.h - every blocking call of a phase: what it waited for, and how long it had to. */
#ifndef HWY_ANALYZE_WAITS_H
#define HWY_ANALYZE_WAITS_H

#include "analyze/phases/phases.h"

struct hwy_wait {
	uint32_t call;  /* in flow.calls */
	uint32_t op;    /* the last op it had to wait for, or FLOW_NONE: nothing was pending */
	int64_t length; /* of the call */
	int64_t waited; /* from its start to the end of that op, at most its length: what it really had to */
	uint32_t step;
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
