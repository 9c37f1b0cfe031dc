/* replay.h - the times of a graph's nodes, edited or not. */
#ifndef HWY_WHATIF_REPLAY_H
#define HWY_WHATIF_REPLAY_H

#include "whatif/graph.h"

/* The begin of a node whose predecessors' ends are known. Inline: building and replaying do the same sum. */
static inline int64_t replay_ready(const struct hwy_graph *graph, const struct graph_node *node,
				   const int64_t *ends)
{
	int64_t ready = INT64_MIN;
	for (int place = 0; place < GRAPH_PLACES; place++) {
		uint32_t before = node->before[place];
		if (before == GRAPH_NONE)
			continue;
		int64_t time = ends[before] + node->lag[place];
		if (graph_counts_from_begin(node, place))
			time -= graph->nodes[before].length;
		if (time > ready)
			ready = time;
	}
	return ready;
}

/* Every node's end; 'ends' has room for graph->n. */
void replay_run(const struct hwy_graph *graph, int64_t *ends);

static inline int64_t replay_begin(const struct hwy_graph *graph, const int64_t *ends,
				   uint32_t node)
{
	return ends[node] - graph->nodes[node].length;
}

#endif
