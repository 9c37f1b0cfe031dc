/* edit_input.c - the next batch is always there: what the CPU spent waiting for input is taken out.
 *
 * The gaps that the analysis found to be caused by input name the call that ended them; the CPU's work before
 * that call shrinks to what calls of the phase usually have before them.
 */
#include <stdlib.h>

#include "replay/edits.h"

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static int64_t usual_delay(const struct editing *e)
{
	int64_t *delays = hwy_alloc((e->graph->n + 1) * sizeof *delays);
	uint32_t n = 0;
	for (uint32_t i = 0; i < e->graph->n; i++)
		if (e->graph->nodes[i].kind == GRAPH_CALL && edit_step_of(e, e->graph->nodes[i].of))
			delays[n++] = e->graph->nodes[i].delay;
	qsort(delays, n, sizeof *delays, by_value);
	int64_t usual = n > 0 ? delays[n / 2] : 0;
	free(delays);
	return usual;
}

static bool apply(struct editing *e, const char *arguments, struct hwy_err *err)
{
	(void)arguments;
	const struct hwy_gaps *gaps = &e->w->analysis->of[e->w->phase_index].gaps;
	int64_t usual = usual_delay(e);
	uint32_t found = 0;
	for (uint32_t i = 0; i < gaps->n; i++) {
		const struct hwy_gap *gap = &gaps->gaps[i];
		if (gap->cause != GAP_INPUT || gap->op == FLOW_NONE)
			continue;
		uint32_t call = e->flow->ops[gap->op].call;
		uint32_t node = call == FLOW_NONE ? GRAPH_NONE : graph_call(e->graph, call);
		if (node == GRAPH_NONE)
			continue;
		found++;
		if (e->graph->nodes[node].delay > usual)
			e->graph->nodes[node].delay = usual;
	}
	return found > 0 || hwy_fail(err, "the phase never waits for input");
}

const struct edit_kind edit_input = {
	.id = "perfect-input",
	.arguments = "",
	.about = "the next batch is always there in time",
	.only_removes = true,
	.apply = apply,
};
