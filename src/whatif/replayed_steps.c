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
	return steps;
}
