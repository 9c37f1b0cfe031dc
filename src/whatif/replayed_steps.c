/* SPDX-License-Identifier: Apache-2.0 */
/* replayed_steps.c - see replayed_steps.h. */
#include "whatif/replayed_steps.h"

#include <stdlib.h>

#include "base/ref.h"

uint32_t *replayed_steps_by_call(const struct hwy_flow *flow, const struct hwy_phase *phase)
{
	uint32_t *by_call = hwy_zarray(flow->n_calls, sizeof *by_call);
	for (uint32_t s = 0; s < phase->n_steps; s++)
		for (uint32_t i = 0; i < phase->steps[s].n_calls; i++) {
			uint32_t call = phase->steps[s].first_call + i;
			if (call < flow->n_calls && flow->calls[call].process == phase->process)
				by_call[call] = hwy_ref32(s);
		}
	return by_call;
}

uint32_t *replayed_steps_by_op(const struct hwy_flow *flow, const struct hwy_phase *phase)
{
	uint32_t *by_op = hwy_zarray(flow->n_ops, sizeof *by_op);
	uint32_t *by_call = replayed_steps_by_call(flow, phase);
	for (uint32_t i = 0; i < flow->n_ops; i++)
		if (flow->ops[i].call != FLOW_NONE)
			by_op[i] = by_call[flow->ops[i].call];
	free(by_call);
	return by_op;
}

struct step_time *replayed_steps_time(const struct whatif *w, const struct hwy_graph *graph,
				      const int64_t *ends)
{
	uint32_t n = w->phase->n_steps;
	struct step_time *steps = hwy_array(n, sizeof *steps);
	for (uint32_t s = 0; s < n; s++)
		steps[s] = (struct step_time){INT64_MAX, INT64_MIN, GRAPH_NONE};
	for (uint32_t i = 0; i < graph->n; i++) {
		const struct graph_node *node = &graph->nodes[i];
		uint32_t step =
			node->kind == GRAPH_OP ? w->step_of[node->flow_index] : HWY_REF_NONE;
		if (!hwy_ref32_is_set(step))
			continue;
		struct step_time *time = &steps[hwy_ref32_index(step)];
		time->begin =
			ends[i] - node->length < time->begin ? ends[i] - node->length : time->begin;
		if (ends[i] > time->end) {
			time->end = ends[i];
			time->last = i;
		}
	}
	if (n > 0 && w->lead.is_set) {
		int64_t lead = replayed_steps_moment(&w->lead, ends);
		steps[0].begin =
			lead < steps[0].begin && steps[0].end != INT64_MIN ? lead : steps[0].begin;
	}
	return steps;
}

/* ---- the window ------------------------------------------------------------------------------ */

int64_t replayed_steps_moment(const struct whatif_moment *moment, const int64_t *ends)
{
	return moment->offset + (moment->after == GRAPH_NONE ? 0 : ends[moment->after]);
}

static bool is_of_cpu(const struct whatif *w, uint32_t index)
{
	const struct graph_node *node = &w->graph.nodes[index];
	return node->kind != GRAPH_OP &&
	       w->graph.flow->calls[node->flow_index].process == w->phase->process;
}

static struct whatif_moment moment_at(const struct whatif *w, const int64_t *ends, int64_t time)
{
	uint32_t after = GRAPH_NONE;
	for (uint32_t i = 0; i < w->graph.n && graph_measured(&w->graph, i) <= time; i++)
		if (is_of_cpu(w, i) && ends[i] <= time &&
		    (after == GRAPH_NONE || ends[i] >= ends[after]))
			after = i;
	return (struct whatif_moment){
		.is_set = true,
		.after = after,
		.offset = time - (after == GRAPH_NONE ? 0 : ends[after]),
	};
}

void replayed_steps_find_window(struct whatif *w, const int64_t *ends)
{
	const struct hwy_phase *phase = w->phase;
	w->lead = w->tail = (struct whatif_moment){0};
	w->lead_call = GRAPH_NONE;
	if (phase->n_steps == 0)
		return;
	struct step_time *steps = replayed_steps_time(w, &w->graph, ends);
	const struct phase_step *first = &phase->steps[0], *last = &first[phase->n_steps - 1];
	bool has_lead = steps[0].begin != INT64_MAX && first->device.from < steps[0].begin;
	bool has_tail = steps[phase->n_steps - 1].end != INT64_MIN &&
			last->device.to > steps[phase->n_steps - 1].end;
	free(steps);
	if (has_lead)
		w->lead = moment_at(w, ends, first->device.from);
	if (has_tail)
		w->tail = moment_at(w, ends, last->device.to);
	for (uint32_t i = 0; has_lead && i < w->graph.n && w->lead_call == GRAPH_NONE; i++)
		if (w->graph.nodes[i].kind == GRAPH_CALL && is_of_cpu(w, i) &&
		    graph_measured(&w->graph, i) >= first->device.from)
			w->lead_call = i;
}

int64_t whatif_work_before(const struct whatif *w, const struct hwy_graph *graph, uint32_t index)
{
	const struct graph_node *node = &graph->nodes[index];
	uint32_t before = node->before[GRAPH_ORDER];
	if (index != w->lead_call || before != w->lead.after)
		return before == GRAPH_NONE ? 0 : node->delay;
	return node->delay > w->lead.offset ? node->delay - w->lead.offset : 0;
}
