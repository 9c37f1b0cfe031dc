/* SPDX-License-Identifier: Apache-2.0 */
/* graph_nodes.h - which node of a CUDA graph a piece of device work executes, and which nodes
 * run before that node.
 *
 * Kernels of a launched graph carry the node's id (column GRAPH_NODE). The table 'nodes' says on
 * which thread, when and from which Python stack the node was made: for a captured graph, where
 * the kernel was captured. Both tables are sorted, so that each question costs a binary search
 * and nothing needs to be opened.
 */
#ifndef HWY_ANALYZE_GRAPH_NODES_H
#define HWY_ANALYZE_GRAPH_NODES_H

#include "trace/trace.h"

/* Yields the node with this id in this process (an index into processes), or NULL where it is
 * not known how the node was made. */
const struct hwy_node *graph_nodes_find(const struct hwy_trace *trace, int64_t process,
					int64_t node);
/* Yields the node that a span of device work executes; NULL for work outside of graphs, and
 * where it is not known how the node was made. The caller has loaded GRAPH_NODE of the strip. */
const struct hwy_node *graph_nodes_of_work(const struct hwy_trace *trace,
					   const struct hwy_strip *strip, uint32_t row);
/* Yields the first of the *n edges that lead to a node: each names in 'after' a node that runs
 * before the node. */
const struct hwy_node_edge *graph_nodes_edges(const struct hwy_trace *trace, int64_t process,
					      int64_t node, uint32_t *n);

#endif
