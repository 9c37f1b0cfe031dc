/* SPDX-License-Identifier: Apache-2.0 */
/* graph_nodes.c - see graph_nodes.h. */
#include "analyze/graph_nodes.h"

#include "base/search.h"

/* Whether a record of (process, node) stands at or behind the key (wanted_process, wanted_node)
 * in a sorted table. */
static bool is_at_or_behind(int64_t process, int64_t node, int64_t wanted_process,
			    int64_t wanted_node)
{
	return process != wanted_process ? process > wanted_process : node >= wanted_node;
}

const struct hwy_node *graph_nodes_find(const struct hwy_trace *trace, int64_t process,
					int64_t node)
{
	const struct hwy_node *nodes = trace->nodes;
	uint32_t at = HWY_FIRST(i, (uint32_t)0, trace->n_nodes,
				is_at_or_behind(nodes[i].process, nodes[i].node, process, node));
	if (at == trace->n_nodes || nodes[at].process != process || nodes[at].node != node)
		return NULL;
	return &nodes[at];
}

const struct hwy_node *graph_nodes_of_work(const struct hwy_trace *trace,
					   const struct hwy_strip *strip, uint32_t row)
{
	if (trace->n_nodes == 0)
		return NULL;
	int64_t node = hwy_get(strip, HWY_GRAPH_NODE, row);
	return node ? graph_nodes_find(trace, trace->lanes[strip->lane].process, node) : NULL;
}

const struct hwy_node_edge *graph_nodes_edges(const struct hwy_trace *trace, int64_t process,
					      int64_t node, uint32_t *n)
{
	const struct hwy_node_edge *edges = trace->node_edges;
	uint32_t first = HWY_FIRST(i, (uint32_t)0, trace->n_node_edges,
				   is_at_or_behind(edges[i].process, edges[i].node, process, node));
	uint32_t end = first;
	while (end < trace->n_node_edges && edges[end].process == process &&
	       edges[end].node == node)
		end++;
	*n = end - first;
	return *n ? &edges[first] : NULL;
}
