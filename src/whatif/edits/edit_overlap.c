/* SPDX-License-Identifier: Apache-2.0 */
/* edit_overlap.c - overlap-comm: work of a step no longer waits for the step's communication;
 * the next step does.
 *
 * Kernels that waited for a communication kernel of their step go on. A call that communicates
 * on the CPU (several ranks) returns at once, as its nonblocking twin would, and the first call
 * of the next step waits for its end.
 */
#include <stdlib.h>

#include "base/lang.h"
#include "base/ref.h"
#include "whatif/edits/edits.h"

/* ---- kernels --------------------------------------------------------------------------------- */

static bool is_comm(const struct editing *e, uint32_t node)
{
	return node != GRAPH_NONE && e->graph->nodes[node].kind == GRAPH_OP &&
	       e->flow->ops[e->graph->nodes[node].flow_index].class == HWY_COMM;
}

static uint32_t step_of_op(const struct editing *e, uint32_t node)
{
	uint32_t call = e->flow->ops[e->graph->nodes[node].flow_index].call;
	return call == FLOW_NONE ? 0 : edit_step_of(e, call);
}

/* Whether the node 'before' is communication that the node 'index', other work of the same step,
 * need not wait for. */
static bool is_loose(const struct editing *e, uint32_t index, uint32_t before)
{
	if (!is_comm(e, before) || is_comm(e, index) || e->graph->nodes[index].kind != GRAPH_OP)
		return false;
	uint32_t step = step_of_op(e, index);
	return step > 0 && step == step_of_op(e, before);
}

/* The last node at or before 'node' on its stream that is no communication. */
static uint32_t before_comm(const struct editing *e, uint32_t node)
{
	while (is_comm(e, node))
		node = e->graph->nodes[node].before[GRAPH_ORDER];
	return node;
}

static uint32_t loosen_kernels(struct editing *e)
{
	uint32_t found = 0, kept = 0;
	for (uint32_t i = 0; i < e->graph->n; i++) {
		struct graph_node *node = &e->graph->nodes[i];
		if (is_loose(e, i, node->before[GRAPH_OTHER])) {
			node->before[GRAPH_OTHER] = GRAPH_NONE;
			found++;
		}
		if (is_loose(e, i, node->before[GRAPH_ORDER])) {
			node->before[GRAPH_ORDER] = before_comm(e, node->before[GRAPH_ORDER]);
			graph_forget_overlap(node);
			found++;
		}
	}
	for (uint32_t i = 0; i < e->graph->n_extras; i++)
		if (!is_loose(e, e->graph->extras[i].node, e->graph->extras[i].before))
			e->graph->extras[kept++] = e->graph->extras[i];
	found += e->graph->n_extras - kept;
	e->graph->n_extras = kept;
	return found;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* The first call of the step after that of the call, or GRAPH_NONE. */
static uint32_t first_of_next_step(const struct editing *e, uint32_t call)
{
	const struct hwy_phase *phase = e->w->phase;
	uint32_t step = phase ? edit_step_of(e, call) : HWY_REF_NONE;
	if (!hwy_ref32_is_set(step) || hwy_ref32_index(step) + 1 >= phase->n_steps)
		return GRAPH_NONE;
	uint32_t first = phase->steps[hwy_ref32_index(step) + 1].first_call;
	return first < e->flow->n_calls ? graph_call(e->graph, first) : GRAPH_NONE;
}

/* What followed the end of a call that communicates follows its begin. */
static void follow_begin(struct graph_node *node, const struct hwy_graph *graph,
			 const uint32_t *next_step, uint32_t index)
{
	for (int place = 0; place < GRAPH_PLACES; place++) {
		uint32_t before = node->before[place];
		/* The call before may be one of those, too. */
		while (before != GRAPH_NONE && next_step[before] != GRAPH_NONE &&
		       next_step[before] != index)
			before = graph->nodes[before].before[GRAPH_ORDER];
		node->before[place] = before;
	}
}

static uint32_t loosen_calls(struct editing *e)
{
	struct hwy_graph *graph = e->graph;
	uint32_t found = 0;
	uint32_t *next_step = hwy_array(graph->n, sizeof *next_step);
	for (uint32_t i = 0; i < graph->n; i++) {
		bool is_leave = graph->nodes[i].kind == GRAPH_LEAVE;
		next_step[i] =
			is_leave ? first_of_next_step(e, graph->nodes[i].flow_index) : GRAPH_NONE;
		found += next_step[i] != GRAPH_NONE;
	}
	for (uint32_t i = 0; i < graph->n && found > 0; i++)
		follow_begin(&graph->nodes[i], graph, next_step, i);
	for (uint32_t i = 0; i < graph->n && found > 0; i++)
		if (next_step[i] != GRAPH_NONE)
			graph_add_edge(graph, next_step[i], i, 0);
	graph_settle(graph);
	free(next_step);
	return found;
}

static bool apply_overlap_comm(struct editing *e, const char *arguments, struct hwy_err *err)
{
	(void)arguments;
	uint32_t found = loosen_kernels(e) + loosen_calls(e);
	return found > 0 ||
	       hwy_fail(err, hwy_tr("no work of the phase is seen to wait for communication"));
}

const struct edit_kind edit_overlap_comm = {
	.id = "overlap-comm",
	.arguments = "",
	.overlaps = true,
	.about = HWY_KEY("work of a step does not wait for its communication; the next step does"),
	.only_removes = true,
	.apply = apply_overlap_comm,
};
