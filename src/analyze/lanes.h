/* SPDX-License-Identifier: Apache-2.0 */
/* lanes.h - the ops of a stretch of a flow, stream by stream.
 *
 * A stream works in the order in which its work was enqueued, so on one lane the starts, the
 * ends and the moments of enqueueing all rise together: cursors that only move forward suffice
 * for questions about rising moments.
 */
#ifndef HWY_ANALYZE_LANES_H
#define HWY_ANALYZE_LANES_H

#include "analyze/flow.h"

struct flow_lanes {
	/* the lanes with ops in the stretch; a lane holds only its ops of the stretch */
	struct flow_lane *lanes;
	uint32_t n;
};

#define LANES_ALL UINT32_MAX
/* Takes the ops flow.ops[first … end - 1] of one device of the flow, or of all devices
 * (LANES_ALL). */
void lanes_open(struct flow_lanes *lanes, const struct hwy_flow *flow, uint32_t device,
		uint32_t first, uint32_t end);
void lanes_close(struct flow_lanes *lanes);

/* How many of the n ascending op indexes in 'order' (NULL stands for 0, 1, 2 …) are below 'op'. */
uint32_t lanes_place(const uint32_t *order, uint32_t n, uint32_t op);

/* When the program launched the work: the start of its call, or of the work where no call was
 * recorded. */
static inline int64_t lanes_launch_time(const struct hwy_flow *flow, const struct flow_op *op)
{
	return op->call == FLOW_NONE ? op->start : flow->calls[op->call].start;
}

/* When the work was in the queue: at the end of its call, or at its own start where that is
 * earlier. */
static inline int64_t lanes_enqueued(const struct hwy_flow *flow, const struct flow_op *op)
{
	int64_t end = op->call == FLOW_NONE ? op->start : flow->calls[op->call].end;
	return end < op->start ? end : op->start;
}

#endif
