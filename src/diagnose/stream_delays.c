/* SPDX-License-Identifier: Apache-2.0 */
/* stream_delays.c - ops that were ready and had to wait while another stream's op ran.
 *
 * An op is ready once the call that enqueued it has returned (plus the launch latency) and the op
 * before it in its stream has ended. It waited behind the op of another stream of the same device
 * that took most of the time until it began. That op may still run then: the last blocks of a large
 * kernel leave room.
 */
#include "analyze/lanes.h"
#include "diagnose/case.h"

/* A delay below this is the device's own pace, not a wait for another stream. */
#define DELAY_NS 10000
/* An op that waited for another op begins within this many ns after the other op's end. */
#define SOON_NS 20000

struct last { /* the last op of a lane that the walk over all ops has seen */
	uint32_t lane, op;
};

/* Yields the op of another lane that delayed 'op' after the moment 'ready', or FLOW_NONE. */
static uint32_t find_op_that_delays(const struct hwy_case *c, const struct last *lasts, uint32_t n,
				    const struct flow_op *op, int64_t ready)
{
	uint32_t behind = FLOW_NONE;
	int64_t most = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct flow_op *other = &c->flow->ops[lasts[i].op];
		int64_t from = other->start > ready ? other->start : ready;
		int64_t to = other->end < op->start ? other->end : op->start;
		if (lasts[i].lane == op->lane || other->device != op->device ||
		    op->start - to > SOON_NS || to - from <= most)
			continue;
		most = to - from;
		behind = lasts[i].op;
	}
	return behind;
}

static void find_delays(struct hwy_case *c)
{
	enum { LANES = 64 };
	struct last lasts[LANES];
	uint32_t cap = 0, n_lasts = 0;
	for (uint32_t i = c->first_op; i < c->end_op; i++) {
		const struct flow_op *op = &c->flow->ops[i];
		uint32_t lane = 0;
		if (!case_op_is_ours(c, i))
			continue;
		while (lane < n_lasts && lasts[lane].lane != op->lane)
			lane++;
		if (op->call != FLOW_NONE && n_lasts > 1) {
			int64_t ready = c->flow->calls[op->call].end + c->flow->latency;
			if (lane < n_lasts && c->flow->ops[lasts[lane].op].end > ready)
				ready = c->flow->ops[lasts[lane].op].end;
			uint32_t behind =
				op->start - ready > DELAY_NS
					? find_op_that_delays(c, lasts, n_lasts, op, ready)
					: FLOW_NONE;
			if (behind != FLOW_NONE) {
				HWY_GROW(c->delays, c->n_delays, cap);
				c->delays[c->n_delays++] = (struct stream_delay){i, behind, ready};
			}
		}
		if (lane < LANES) {
			lasts[lane] = (struct last){op->lane, i};
			n_lasts = lane == n_lasts ? lane + 1 : n_lasts;
		}
	}
}

const struct stream_delay *stream_delays_find(struct hwy_case *c, uint32_t *n)
{
	struct flow_lanes lanes;
	if (!c->delays_are_found) {
		c->delays_are_found = true;
		lanes_open(&lanes, c->flow, LANES_ALL, c->first_op, c->end_op);
		if (lanes.n > 1)
			find_delays(c);
		lanes_close(&lanes);
	}
	*n = c->n_delays;
	return c->delays;
}
