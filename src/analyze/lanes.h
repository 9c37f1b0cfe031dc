/* lanes.h - the ops of a stretch of a flow, stream by stream.
 *
 * A stream works in the order in which it was given its work, so on one lane starts, ends and the moments of
 * enqueueing all rise together: whoever asks about rising moments needs no search.
 */
#ifndef HWY_ANALYZE_LANES_H
#define HWY_ANALYZE_LANES_H

#include "analyze/flow.h"

struct flow_lanes {
	struct flow_lane *lanes; /* those with work in the stretch; their ops are cut to it */
	uint32_t n;
};

#define LANES_ALL UINT32_MAX
/* Of one device of the flow, or of all; those from 'first' to before 'end' in flow.ops. */
void lanes_open(struct flow_lanes *lanes, const struct hwy_flow *flow, uint32_t device,
		uint32_t first, uint32_t end);
void lanes_close(struct flow_lanes *lanes);

/* The first place in an order of ops (NULL: 0, 1, 2 …; n of them) that is not before an op. */
uint32_t lanes_place(const uint32_t *order, uint32_t n, uint32_t op);

/* When the work was asked for: the start of its call, or its own where no call is known. */
static inline int64_t lanes_asked(const struct hwy_flow *flow, const struct flow_op *op)
{
	return op->call == FLOW_NONE ? op->start : flow->calls[op->call].start;
}

/* When the work was in the queue: its call had returned, or it had begun before that. */
static inline int64_t lanes_enqueued(const struct hwy_flow *flow, const struct flow_op *op)
{
	int64_t end = op->call == FLOW_NONE ? op->start : flow->calls[op->call].end;
	return end < op->start ? end : op->start;
}

#endif
