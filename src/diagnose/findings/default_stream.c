/* SPDX-License-Identifier: Apache-2.0 */
/* default_stream.c - the legacy default stream is a barrier: work there waits for all blocking
 * streams, and they wait for it.
 *
 * Conditions: an op was delayed behind another, and the barrier is the reason: one of the two is in
 * the null stream and the other in a blocking stream; or both are in blocking streams, and an op of
 * the null stream, however short, ran between them. One of the two leaves room on the device, so
 * that they could have run together. Cost: the time in which the two would have overlapped, at most
 * the shorter op and the delay; over all pairs at most the work that is not on the busiest stream.
 * To blame is the op of the null stream.
 */
#include <stdlib.h>

#include "base/lang.h"
#include "base/say.h"
#include "diagnose/case.h"
#include "diagnose/findings/findings.h"

enum { BLOCKING = 1 }; /* value of hwy_stream.flags, as CUPTI defines it */

static const struct advice fix = {
	.any = "Unless the order is needed, keep work off the default stream, or create the other streams as "
	       "non-blocking.\n"
	       "  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);   // or nvcc --default-stream per-thread",
	.by_framework = {[HWY_CUPY] = "Create streams as non-blocking, and use none but those.\n"
				      "  with cupy.cuda.Stream(non_blocking=True): …"},
};

/* Every context has a null stream of its own. */
static bool is_same_context(const struct hwy_stream *a, const struct hwy_stream *b)
{
	return a->process == b->process && a->device == b->device && a->context == b->context;
}

/* Yields an op of the null stream that ran between the two ops of a delay, or FLOW_NONE. */
static uint32_t find_between(const struct hwy_case *c, const struct stream_delay *delay)
{
	const struct flow_op *op = &c->flow->ops[delay->op], *behind = &c->flow->ops[delay->behind];
	const struct hwy_stream *own = case_stream_of(c, delay->op);
	for (uint32_t i = delay->op; i-- > delay->behind && c->flow->ops[i].start >= behind->end;) {
		const struct hwy_stream *stream = case_stream_of(c, i);
		if (stream && is_same_context(stream, own) && c->flow->ops[i].end <= op->start &&
		    case_stream_is_null(c, stream))
			return i;
	}
	return FLOW_NONE;
}

/* The op of the null stream that is the reason of a delay; FLOW_NONE where there is none, or the
 * two ops overlap. */
static uint32_t find_barrier(const struct hwy_case *c, const struct stream_delay *delay)
{
	const struct hwy_stream *a = case_stream_of(c, delay->op),
				*b = case_stream_of(c, delay->behind);
	if (!a || !b || !is_same_context(a, b) ||
	    c->flow->ops[delay->behind].end > c->flow->ops[delay->op].start ||
	    (!kernel_leaves_room(c, delay->op) && !kernel_leaves_room(c, delay->behind)))
		return FLOW_NONE;
	bool a_null = case_stream_is_null(c, a), b_null = case_stream_is_null(c, b);
	bool can_wait = (a_null || a->flags == BLOCKING) && (b_null || b->flags == BLOCKING);
	if (!can_wait || (a_null && b_null))
		return FLOW_NONE;
	return a_null ? delay->op : b_null ? delay->behind : find_between(c, delay);
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t gain_of(const struct hwy_case *c, const struct stream_delay *delay)
{
	const struct flow_op *op = &c->flow->ops[delay->op], *behind = &c->flow->ops[delay->behind];
	return least(least(op->end - op->start, behind->end - behind->start),
		     op->start - delay->ready);
}

/* Yields the ns of all ops of n delays, without the ops of the busiest stream. */
static int64_t most_to_gain(const struct hwy_case *c, const struct stream_delay *delays, uint32_t n)
{
	int64_t *lanes = hwy_zarray(c->trace->n_lanes, sizeof *lanes), sum = 0, busiest = 0;
	struct hwy_map seen = {0};
	for (uint32_t i = 0; i < 2 * n; i++) {
		uint32_t index = i % 2 ? delays[i / 2].behind : delays[i / 2].op;
		const struct flow_op *op = &c->flow->ops[index];
		bool fresh;
		hwy_map_put(&seen, index, &fresh);
		if (!fresh)
			continue;
		lanes[op->lane] += op->end - op->start;
		sum += op->end - op->start;
		busiest = lanes[op->lane] > busiest ? lanes[op->lane] : busiest;
	}
	hwy_map_free(&seen);
	free(lanes);
	return sum - busiest;
}

static void finding_default_stream_look(struct hwy_case *c)
{
	uint32_t n, found = 0;
	int64_t sum = 0;
	const struct stream_delay *delays = stream_delays_find(c, &n);
	struct stream_delay *pairs = hwy_array(n, sizeof *pairs);
	struct claim claim = {0};
	for (uint32_t i = 0; i < n; i++) {
		if (find_barrier(c, &delays[i]) == FLOW_NONE)
			continue;
		sum += gain_of(c, &delays[i]);
		pairs[found++] = delays[i];
	}
	double part = sum > 0 ? (double)most_to_gain(c, pairs, found) / (double)sum : 0;
	for (uint32_t i = 0; i < found; i++)
		claim_kernels(c, &claim,
			      (int64_t)((double)gain_of(c, &pairs[i]) * (part < 1 ? part : 1)),
			      c->flow->ops[find_barrier(c, &pairs[i])].span);
	free(pairs);
	if (claim_is_worth(c, &claim))
		claim_accuse(
			c, &claim, HWY_MEDIUM,
			hwy_arena_say(
				&c->diagnosis->arena,
				"Work waits for the default stream's barrier %s a step though the GPU has "
				"room; together they would take %s less.",
				hwy_say_count_times(case_count_per_step(c, found)).text,
				hwy_say_time3(case_per_step(c, claim.total)).text),
			case_advice(c, &fix));
	claim_drop(c, &claim);
}

const struct hwy_finding_kind finding_default_stream = {
	.id = "default-stream",
	.title = "the default stream makes the others wait",
	.edit = "no-barrier",
	.look = finding_default_stream_look,
};
