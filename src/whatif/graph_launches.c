/* SPDX-License-Identifier: Apache-2.0 */
/* graph_launches.c - the true order of the work of a CUDA graph: edges between its nodes instead
 * of the stream's order.
 *
 * A launched graph runs its nodes as its edges say, whatever stream the records name. An op
 * whose node has edges from nodes that the same launch has executed waits for these executions,
 * and for nothing else of the stream. What comes behind the launch waits for every op that
 * nothing of the launch follows (a sink). A conditional node executes the nodes of its body
 * several times in one launch: an op then waits for the latest execution of each node before it.
 *
 * Known edges only: the first op of a launch follows the stream's earlier work. A further op
 * without edges waits for the same where it is of the same graph and runs for the first time;
 * else (the body of a conditional node, an embedded graph) nobody recorded what it waits for,
 * and it follows the op before it on the stream.
 */
#include <stdlib.h>

#include "analyze/graph_nodes.h"
#include "whatif/graph_internal.h"

/* So many sinks of a launch are kept: a graph that ends in more branches is followed by work
 * that waits for these, and for the op that began last. */
enum { MOST_SINKS = 256 };

struct launch_ops { /* nodes of whatif's graph that are ops */
	uint32_t *at;
	uint32_t n, cap;
};

struct lane_launch {             /* the latest launch of a CUDA graph on a lane */
	uint32_t call;           /* the call that launched it, or FLOW_NONE */
	int64_t graph;           /* the vendor's id of the graph of its first op */
	struct launch_ops sinks; /* its ops so far that no other op of it waits for */
	struct launch_ops entry; /* what its first op waits for: the sinks of the work before it */
};

struct graph_launches {
	struct lane_launch *lanes;
	uint32_t n_lanes;
	/* Maps a launch and a node of a CUDA graph (launch_key) to the latest execution, a node
	 * of whatif's graph. */
	struct hwy_map executions;
};

static void launch_ops_add(struct launch_ops *ops, uint32_t node)
{
	if (ops->n == MOST_SINKS)
		return;
	HWY_GROW(ops->at, ops->n, ops->cap);
	ops->at[ops->n++] = node;
}

static void launch_ops_remove(struct launch_ops *ops, uint32_t node)
{
	for (uint32_t i = 0; i < ops->n; i++)
		if (ops->at[i] == node) {
			ops->at[i] = ops->at[--ops->n];
			return;
		}
}

bool graph_launches_open(struct building *b, struct hwy_err *err)
{
	struct hwy_trace *trace = b->flow->trace;
	if (trace->n_node_edges == 0)
		return true;
	if (!hwy_need(trace, HWY_DEVICE_KINDS, HWY_COL_BIT(HWY_GRAPH_NODE), err))
		return false;
	b->launches = hwy_zalloc(sizeof *b->launches);
	b->launches->n_lanes = trace->n_lanes;
	b->launches->lanes = hwy_zarray(trace->n_lanes, sizeof *b->launches->lanes);
	for (uint32_t i = 0; i < trace->n_lanes; i++)
		b->launches->lanes[i].call = FLOW_NONE;
	return true;
}

void graph_launches_close(struct building *b)
{
	if (!b->launches)
		return;
	for (uint32_t i = 0; i < b->launches->n_lanes; i++) {
		free(b->launches->lanes[i].sinks.at);
		free(b->launches->lanes[i].entry.at);
	}
	free(b->launches->lanes);
	hwy_map_free(&b->launches->executions);
	free(b->launches);
}

static const struct hwy_node *node_of_op(const struct building *b, const struct flow_op *op)
{
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(b->flow->trace, op->span, &row);
	return op->call == FLOW_NONE ? NULL : graph_nodes_of_work(b->flow->trace, strip, row);
}

static uint64_t launch_key(const struct building *b, uint32_t call, const struct hwy_node *node)
{
	return (uint64_t)call << 32 | (uint64_t)(node - b->flow->trace->nodes);
}

/* Adds an edge from 'before': the first one in the place GRAPH_ORDER, which may count from the
 * begin of an op that had not ended yet (programmatic dependent launch). */
static void add_launch_edge(struct building *b, uint32_t before)
{
	if (b->graph->nodes[b->graph->n].before[GRAPH_ORDER] == GRAPH_NONE)
		graph_build_stream_order(b, before);
	else
		graph_build_edge(b, GRAPH_OTHER, before, false, b->graph->fit.next);
}

/* Adds the edges from the executions that the op's node waits for; false where there are none. */
static bool add_true_edges(struct building *b, const struct flow_op *op,
			   const struct hwy_node *node)
{
	const struct hwy_trace *trace = b->flow->trace;
	uint32_t n;
	bool found = false;
	const struct hwy_node_edge *edges = graph_nodes_edges(trace, node->process, node->node, &n);
	for (uint32_t i = 0; i < n; i++) {
		const struct hwy_node *before =
			graph_nodes_find(trace, node->process, edges[i].after);
		const uint32_t *execution = before ? hwy_map_get(&b->launches->executions,
								 launch_key(b, op->call, before))
						   : NULL;
		if (!execution)
			continue;
		add_launch_edge(b, *execution);
		uint32_t lane = b->flow->ops[b->graph->nodes[*execution].flow_index].lane;
		launch_ops_remove(&b->launches->lanes[lane].sinks, *execution);
		found = true;
	}
	return found;
}

static void wait_for_all(struct building *b, const struct launch_ops *ops)
{
	for (uint32_t i = 0; i < ops->n; i++)
		add_launch_edge(b, ops->at[i]);
}

/* The sinks of the lane's work so far become what the new launch begins after. */
static void begin_launch(struct building *b, const struct flow_op *op, const struct hwy_node *node)
{
	struct lane_launch *launch = &b->launches->lanes[op->lane];
	uint32_t last = b->lanes[op->lane].last;
	launch_ops_remove(&launch->sinks, last);
	launch->entry.n = 0;
	if (last != GRAPH_NONE) /* the first of them: it gets the place GRAPH_ORDER */
		launch_ops_add(&launch->entry, last);
	for (uint32_t i = 0; i < launch->sinks.n; i++)
		launch_ops_add(&launch->entry, launch->sinks.at[i]);
	launch->sinks.n = 0;
	launch->call = node ? op->call : FLOW_NONE;
	launch->graph = node ? node->graph : 0;
}

bool graph_launches_order(struct building *b, uint32_t index)
{
	if (!b->launches)
		return false;
	const struct flow_op *op = &b->flow->ops[index];
	const struct hwy_node *node = node_of_op(b, op);
	struct lane_launch *launch = &b->launches->lanes[op->lane];
	if (!node && launch->call == FLOW_NONE)
		return false;
	bool is_ordered = true;
	bool is_again =
		node && hwy_map_get(&b->launches->executions, launch_key(b, op->call, node));
	if (node && add_true_edges(b, op, node)) {
		if (launch->call != op->call)
			begin_launch(b, op, node); /* a branch that goes on on another stream */
	} else if (!node || launch->call != op->call) {
		begin_launch(b, op, node);
		wait_for_all(b, &launch->entry);
	} else if (launch->graph == node->graph && !is_again) {
		wait_for_all(b, &launch->entry);
	} else {
		is_ordered = false;
	}
	if (node) {
		launch_ops_add(&launch->sinks, b->graph->n);
		*hwy_map_put(&b->launches->executions, launch_key(b, op->call, node), NULL) =
			b->graph->n;
	}
	return is_ordered;
}

void graph_launches_await(struct building *b, uint32_t found)
{
	if (!b->launches || found == GRAPH_NONE || b->graph->nodes[found].kind != GRAPH_OP)
		return;
	const struct flow_op *op = &b->flow->ops[b->graph->nodes[found].flow_index];
	const struct lane_launch *launch = &b->launches->lanes[op->lane];
	for (uint32_t i = 0; op->call == launch->call && i < launch->sinks.n; i++)
		if (launch->sinks.at[i] != found && b->ends[launch->sinks.at[i]] <= b->begin)
			graph_build_edge(b, GRAPH_OTHER, launch->sinks.at[i], false,
					 b->graph->fit.wake);
}
