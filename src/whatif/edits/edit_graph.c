/* SPDX-License-Identifier: Apache-2.0 */
/* edit_graph.c - each step's launches become one launch of a graph.
 *
 * The first launch of a run of launches becomes the launch of the graph. The other launches are
 * removed, with the CPU's work between them: that is the framework's dispatch. Longer work, in
 * which the program samples a token, logs or runs an optimizer's Python, is the program's own.
 * It stays, as does the work before the first launch of a step and between a wait and the next
 * launch, less the usual dispatch of one operation; a graph ends there and another begins.
 * Device work follows its predecessor at the pace of a graph's nodes. Waits and allocations
 * inside a step cannot be captured: a run of launches ends there, another begins after it, and
 * the note tells the user.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "whatif/edits/edits.h"

/* CPU work of up to this many times the usual dispatch is the framework's own work for an
 * operation. */
enum { DISPATCH_TIMES = 4 };

enum {
	/* CUPTI records this length for a kernel that does next to nothing. */
	SHORTEST_KERNEL_NS = 900,
	/* The length of a kernel that does nothing, as inferred in docs/whatif.md. */
	EMPTY_KERNEL_NS = 545,
	MOST_OVERLAP_NS = 50, /* the longest overlap of two nodes of a graph that was seen (H200) */
};

struct capture {
	int64_t dispatch; /* ns of CPU work that are removed before a launch of a graph */
	/* CPU work of more than this many ns between two launches is the program's own */
	int64_t own_work;
	uint32_t step; /* reference (base/ref.h) to the current step of the phase */
	/* The node of the current graph's launch, or GRAPH_NONE where none is open. */
	uint32_t call;
	uint32_t n;        /* how many launches were removed */
	uint32_t blockers; /* how many calls cannot be captured in a graph */
};

static bool is_captured(const struct flow_call *call)
{
	switch (call->role) {
	case HWY_ROLE_LAUNCH:
	case HWY_ROLE_FILL:
	case HWY_ROLE_EVENT_RECORD:
	case HWY_ROLE_STREAM_WAIT:
	case HWY_ROLE_HOST_CALLBACK: return true;
	case HWY_ROLE_COPY: return !call->blocks;
	default: return false;
	}
}

static int64_t lesser(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void see_call(struct editing *e, struct capture *c, uint32_t index)
{
	struct graph_node *node = &e->graph->nodes[index];
	const struct flow_call *call = &e->flow->calls[node->flow_index];
	uint32_t step = edit_step_of(e, node->flow_index);
	if (step != c->step || step == 0)
		c->step = step, c->call = GRAPH_NONE;
	if (step == 0)
		return;
	if (!is_captured(call)) {
		bool blocks = call->role != HWY_ROLE_QUERY && call->role != HWY_ROLE_OTHER;
		if (blocks) {
			c->call = GRAPH_NONE;
			c->blockers++;
		}
		return;
	}
	int64_t work = edit_work_before(e, index);
	bool is_first = c->call == GRAPH_NONE, is_own = work > c->own_work;
	edit_shorten_before(e, index, lesser(work, is_first || is_own ? c->dispatch : work));
	if (is_first || is_own) {
		c->call = index;
		node->length = e->w->machine.graph_launch;
		return;
	}
	node->length = 0;
	c->n++;
}

/* By how many ns a kernel's recorded length is cut inside a graph: the shortest kernels are
 * recorded as longer than the time that they take there. No kernel is cut below the period of empty
 * ones. */
static int64_t overlap(int64_t length, int64_t period)
{
	int64_t most = period > 0 ? EMPTY_KERNEL_NS - period : 0, room = length - period;
	most = most < room ? most : room;
	most = most < MOST_OVERLAP_NS ? most : MOST_OVERLAP_NS;
	return most > 0 ? most : 0;
}

/* ns from the end of the node before to the begin of this one inside a graph. The shortest kernels
 * follow each other without a gap, or overlap (then it is negative). */
static int64_t gap_in_graph_ns(const struct editing *e, const struct graph_node *node)
{
	bool is_kernel = e->flow->ops[node->flow_index].kind == HWY_KERNEL;
	int64_t period = is_kernel ? e->w->machine.graph_period : 0;
	int64_t next = node->length - SHORTEST_KERNEL_NS, least = -overlap(node->length, period);
	int64_t most = e->w->machine.graph_next;
	return next < least ? least : next < most ? next : most;
}

static void see_op(struct editing *e, const uint32_t *launch_of, uint32_t index)
{
	struct graph_node *node = &e->graph->nodes[index];
	uint32_t call = e->flow->ops[node->flow_index].call;
	if (call == FLOW_NONE || launch_of[call] == GRAPH_NONE)
		return;
	node->before[GRAPH_CAUSE] = launch_of[call];
	node->flags |= GRAPH_FROM_BEGIN(GRAPH_CAUSE);
	/* Work that ran beside the work ahead of it keeps its distance: a graph does not change
	 * how kernels overlap. */
	if (graph_counts_from_begin(node, GRAPH_ORDER))
		return;
	int64_t next = graph_overlaps(node) ? 0 : gap_in_graph_ns(e, node);
	if (!graph_overlaps(node))
		node->lag[GRAPH_ORDER] = next > 0 ? (uint16_t)next : 0;
	node->length += next < 0 ? next : 0;
	/* The kernel's own launch, which is removed, had delayed the kernel. */
	if (e->graph->nodes[launch_of[call]].flow_index != call)
		node->delay = 0;
}

static bool edit_graph_apply(struct editing *e, const char *arguments, struct hwy_err *err)
{
	(void)arguments;
	struct capture c = {.dispatch = edit_usual_dispatch(e, 2), .call = GRAPH_NONE};
	c.own_work = e->w->machine.own_work;
	if (c.own_work < DISPATCH_TIMES * c.dispatch)
		c.own_work = DISPATCH_TIMES * c.dispatch;
	uint32_t *launch_of = hwy_array(e->flow->n_calls, sizeof *launch_of);
	memset(launch_of, 0xff, e->flow->n_calls * sizeof *launch_of); /* all become GRAPH_NONE */
	for (uint32_t i = 0; i < e->graph->n; i++) {
		if (e->graph->nodes[i].kind == GRAPH_CALL) {
			const struct flow_call *call =
				&e->flow->calls[e->graph->nodes[i].flow_index];
			if (call->process != e->w->phase->process)
				continue; /* calls of other processes do not end a capture */
			see_call(e, &c, i);
			if (c.call != GRAPH_NONE && is_captured(call))
				launch_of[e->graph->nodes[i].flow_index] = c.call;
		} else if (e->graph->nodes[i].kind == GRAPH_OP) {
			see_op(e, launch_of, i);
		}
	}
	free(launch_of);
	if (c.blockers > 0)
		snprintf(
			e->note, sizeof e->note,
			hwy_tr("%u calls that cannot be captured (waits, allocations) stay outside the graphs"),
			c.blockers);
	return c.n > 0 ||
	       hwy_fail(err, hwy_tr("the phase has no launches that a graph could replace"));
}

const struct edit_kind edit_graph = {
	.id = "graph",
	.arguments = "",
	.about = HWY_KEY("each step's launches are captured as one graph"),
	.apply = edit_graph_apply,
};
