/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c - one pass in the stored order; see graph.h for the sum.
 *
 * A node without predecessors begins at the time that is its delay: when it began in the trace.
 */
#include "whatif/replay.h"

void replay_run(const struct hwy_graph *graph, int64_t *ends)
{
	uint32_t next = 0; /* index of the first of 'extras' that belongs to a later node */
	for (uint32_t i = 0; i < graph->n; i++) {
		const struct graph_node *node = &graph->nodes[i];
		int64_t ready = replay_ready(graph, node, ends);
		for (; next < graph->n_extras && graph->extras[next].node == i; next++) {
			const struct graph_extra *extra = &graph->extras[next];
			if (ends[extra->before] + extra->lag > ready)
				ready = ends[extra->before] + extra->lag;
		}
		ends[i] = (ready == INT64_MIN ? 0 : ready) + node->delay + node->length;
	}
}
