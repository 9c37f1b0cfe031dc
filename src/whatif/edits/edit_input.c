/* SPDX-License-Identifier: Apache-2.0 */
/* edit_input.c - the next batch is there in time: always, or as fast as N workers make batches.
 *
 * A gap that the analysis found to be caused by input names the call that ended the gap. The CPU's
 * work before that call, or before another call inside the gap where it is longer, shrinks to the
 * usual delay of the phase's calls. N workers each need the time that one batch took, but N batches
 * are made at once: two batches are that time divided by N apart. Other CPU work that leaves the
 * device idle (files, locks, code between launches) is moved to another thread in the same way.
 */
#include "base/lang.h"
#include "base/ref.h"
#include "whatif/edits/edits.h"

enum {
	COPIED_BYTES_PER_NS = 16, /* one core of a server copies memory that fast */
	/* Python needs this long to take two tensors over from another process */
	FROM_WORKER_NS = 1000000,
	LOOK_BACK_CALLS = 64, /* how many calls before the end of a gap are looked at */
};

/* ns of the CPU's work before a call that lie in the span which names the gap: the loader's range,
 * the OS call. All of that work where no span names the gap. */
static int64_t named_part(const struct editing *e, const struct hwy_gap *gap, uint32_t index)
{
	const struct graph_node *node = &e->graph->nodes[index];
	int64_t work = edit_work_before(e, index);
	if (!hwy_ref32_is_set(gap->span))
		return work;
	uint32_t row;
	const struct hwy_strip *strip =
		hwy_strip_of(e->flow->trace, hwy_ref32_index(gap->span), &row);
	int64_t to = e->flow->calls[node->flow_index].start, from = to - work;
	int64_t start = hwy_get(strip, HWY_START, row), end = hwy_end(strip, row);
	int64_t part = (end < to ? end : to) - (start > from ? start : from);
	/* An OS call that covers less than half of the work is one of many such calls: all of
	 * the work is meant. */
	return part > work / 2 ? part : work;
}

/* The node of the call inside the gap before which the CPU worked longest. Other calls, of a first
 * step say, may stand between that work and the launch that ends the gap. */
static uint32_t longest_before(const struct editing *e, const struct hwy_gap *gap, uint32_t call)
{
	const struct graph_node *nodes = e->graph->nodes;
	uint32_t longest = call;
	for (int i = 0; i < LOOK_BACK_CALLS; i++) {
		call = nodes[call].before[GRAPH_ORDER];
		if (call == GRAPH_NONE || graph_measured(e->graph, call) <= gap->at.from)
			break;
		if (nodes[call].kind == GRAPH_CALL &&
		    edit_work_before(e, call) > edit_work_before(e, longest))
			longest = call;
	}
	return longest;
}

/* Calls 'each' for the gaps of a cause in order of time, with the node whose delay made the gap and
 * the ns of that delay that may go. Yields the number of gaps. */
static uint32_t for_each_gap(struct editing *e, enum gap_cause cause,
			     void (*each)(struct editing *, uint32_t, int64_t, void *), void *self)
{
	const struct hwy_gaps *gaps = e->w->gaps;
	uint32_t found = 0;
	for (uint32_t i = 0; i < gaps->n; i++) {
		const struct hwy_gap *gap = &gaps->gaps[i];
		uint32_t call = gap->cause == cause && !gap->is_preempted && gap->op != FLOW_NONE
					? e->flow->ops[gap->op].call
					: FLOW_NONE;
		uint32_t node = call == FLOW_NONE ? GRAPH_NONE : graph_call(e->graph, call);
		if (node == GRAPH_NONE)
			continue;
		found++;
		node = longest_before(e, gap, node);
		each(e, node, named_part(e, gap, node), self);
	}
	return found;
}

struct supply {
	int64_t usual; /* ns of CPU work that usually precede a call */
	/* Number of loader processes; 0 means enough for every batch to be ready in time. */
	uint32_t workers;
	uint32_t last; /* the node that used the batch before, or GRAPH_NONE */
};

/* ns to take a finished batch over: one copy of it in memory; from a worker process also the
 * descriptors of its memory, which come through a socket. */
static int64_t handing_over(const struct editing *e, uint32_t call, bool from_worker)
{
	int64_t left = from_worker ? FROM_WORKER_NS : 0;
	uint32_t op = e->flow->calls[call].op;
	if (op == FLOW_NONE || e->flow->ops[op].kind != HWY_COPY)
		return left;
	return left + edit_copy_of(e, op).bytes / COPIED_BYTES_PER_NS;
}

static void supply(struct editing *e, uint32_t index, int64_t part, void *self)
{
	struct supply *s = self;
	struct graph_node *node = &e->graph->nodes[index];
	int64_t left = s->usual + handing_over(e, node->flow_index, s->workers > 0);
	int64_t work = edit_work_before(e, index);
	int64_t took = part < work - left ? part : work - left;
	if (took <= 0)
		return;
	edit_shorten_before(e, index, took);
	/* With N workers, batches come 'took' / N apart; the time to take a batch over overlaps
	 * with that distance. */
	int64_t apart = s->workers > 0 ? took / s->workers - (work - took) : 0;
	if (apart > UINT32_MAX)
		apart = UINT32_MAX;
	if (apart > 0 && s->last != GRAPH_NONE)
		graph_add_edge(e->graph, index, s->last, (uint32_t)apart);
	else if (apart > 0) /* the previous batch lies outside the phase */
		edit_shorten_before(e, index, -apart);
	s->last = index;
}

static bool apply_input(struct editing *e, const char *arguments, struct hwy_err *err)
{
	(void)arguments;
	struct supply s = {.usual = edit_usual_delay(e), .last = GRAPH_NONE};
	return for_each_gap(e, GAP_INPUT, supply, &s) > 0 ||
	       hwy_fail(err, hwy_tr("the phase never waits for input"));
}

static bool read_workers(const char *arguments, uint32_t *workers, struct hwy_err *err)
{
	const char *rest;
	return (edit_number(arguments, workers, &rest) && !*rest) ||
	       hwy_fail(err, hwy_tr("workers needs how many: workers:8"));
}

static bool check_workers(const char *arguments, struct hwy_err *err)
{
	uint32_t workers;
	return read_workers(arguments, &workers, err);
}

static bool apply_workers(struct editing *e, const char *arguments, struct hwy_err *err)
{
	struct supply s = {.usual = edit_usual_delay(e), .last = GRAPH_NONE};
	if (!read_workers(arguments, &s.workers, err))
		return false;
	uint32_t found = for_each_gap(e, GAP_INPUT, supply, &s);
	graph_settle(e->graph);
	return found > 0 || hwy_fail(err, hwy_tr("the phase never waits for input"));
}

static bool apply_background(struct editing *e, const char *arguments, struct hwy_err *err)
{
	(void)arguments;
	struct supply s = {.usual = edit_usual_delay(e), .last = GRAPH_NONE};
	uint32_t found = for_each_gap(e, GAP_OS, supply, &s) + for_each_gap(e, GAP_CPU, supply, &s);
	return found > 0 ||
	       hwy_fail(err, hwy_tr("no gap of the phase is caused by the CPU's own work"));
}

const struct edit_kind edit_background = {
	.id = "background",
	.arguments = "",
	.about = HWY_KEY(
		"files, locks and other CPU work that the device waits for move to another thread"),
	.only_removes = true,
	.apply = apply_background,
};

const struct edit_kind edit_input = {
	.id = "perfect-input",
	.arguments = "",
	.about = HWY_KEY("the next batch is always there in time"),
	.only_removes = true,
	.apply = apply_input,
};

const struct edit_kind edit_workers = {
	.id = "workers",
	.arguments = ":N",
	.about = HWY_KEY("N workers prepare batches beside the steps"),
	.check = check_workers,
	.apply = apply_workers,
};
