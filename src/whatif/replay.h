/* SPDX-License-Identifier: Apache-2.0 */
/* replay.h - when the nodes of a graph begin and end, by the sum that graph.h states. */
#ifndef HWY_WHATIF_REPLAY_H
#define HWY_WHATIF_REPLAY_H

#include "whatif/graph.h"

/* When a node's predecessors allow it to begin, without its extra edges and its delay; INT64_MIN
 * without predecessors. ends: the ends of all earlier nodes. Inline, because it is the inner loop
 * of building and of replaying. */
static inline int64_t replay_ready(const struct hwy_graph *graph, const struct graph_node *node,
				   const int64_t *ends)
{
	int64_t ready = INT64_MIN;
	for (int place = 0; place < GRAPH_PLACES; place++) {
		uint32_t before = node->before[place];
		if (before == GRAPH_NONE)
			continue;
		int64_t time = ends[before] + graph_lag(node, place) -
			       graph_ahead_of_end(node, place, graph->nodes[before].length);
		if (time > ready)
			ready = time;
	}
	return ready;
}

/* Sets ends[node] to the replayed end of each node; 'ends' has room for graph->n values. */
void replay_run(const struct hwy_graph *graph, int64_t *ends);

static inline int64_t replay_begin(const struct hwy_graph *graph, const int64_t *ends,
				   uint32_t node)
{
	return ends[node] - graph->nodes[node].length;
}

#endif
