/* replayed_steps.c - see replayed_steps.h. */
#include "whatif/replayed_steps.h"

#include <stdlib.h>

uint32_t *replayed_steps_by_op(const struct hwy_flow *flow, const struct hwy_phase *phase)
{
	uint32_t *step_of = hwy_zalloc((flow->n_ops + 1) * sizeof *step_of);
	uint32_t *of_call = hwy_zalloc((flow->n_calls + 1) * sizeof *of_call);
	for (uint32_t s = 0; s < phase->n_steps; s++)
		for (uint32_t i = 0; i < phase->steps[s].n_calls; i++) {
			uint32_t call = phase->steps[s].first_call + i;
			if (call < flow->n_calls && flow->calls[call].process == phase->process)
				of_call[call] = s + 1;
		}
	for (uint32_t i = 0; i < flow->n_ops; i++)
		if (flow->ops[i].call != FLOW_NONE)
			step_of[i] = of_call[flow->ops[i].call];
	free(of_call);
	return step_of;
}

struct step_time *replayed_steps_time(const struct whatif *w, const struct hwy_graph *graph,
				      const int64_t *ends)
{
	uint32_t n = w->phase->n_steps;
	struct step_time *steps = hwy_alloc((n + 1) * sizeof *steps);
	for (uint32_t s = 0; s <= n; s++)
		steps[s] = (struct step_time){INT64_MAX, INT64_MIN, GRAPH_NONE};
	for (uint32_t i = 0; i < graph->n; i++) {
		const struct graph_node *node = &graph->nodes[i];
		uint32_t step = node->kind == GRAPH_OP ? w->step_of[node->flow_index] : 0;
		if (step == 0)
			continue;
		struct step_time *time = &steps[step - 1];
		time->begin =
			ends[i] - node->length < time->begin ? ends[i] - node->length : time->begin;
		if (ends[i] > time->end) {
			time->end = ends[i];
			time->last = i;
		}
	}
	return steps;
}
