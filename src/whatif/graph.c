/* SPDX-License-Identifier: Apache-2.0 */
/* graph.c - builds the graph in one pass over calls, returns and ops in the order of their times.
 *
 * Of nodes with one time, returns and calls come first, in the order of their calls, then ops. So
 * both ends of an edge stand in the right order unless the trace contradicts the edge, and a node
 * is found by its time and number. The rules of CUDA's ordering that need more than the flow
 * (events, the legacy default stream) are in graph_order.c, those of CUDA graphs in
 * graph_launches.c. While building, 'ends' holds the measured end of each node, which is what a
 * replay gives too: a node's delay is the part of its measured begin that no edge explains.
 */
#include "whatif/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/ref.h"
#include "base/search.h"
#include "whatif/graph_internal.h"
#include "whatif/replay.h"

/* At most so many ops that were enqueued after a wait are searched for ops that began before the
 * wait returned. */
enum { LOOK_BACK_OPS = 64 };

/* ---- edges ----------------------------------------------------------------------------------- */

void graph_build_edge(struct building *b, enum graph_place place, uint32_t before, bool from_begin,
		      int64_t fitted)
{
	struct graph_node *node = &b->graph->nodes[b->graph->n];
	if (before == GRAPH_NONE || before >= b->graph->n)
		return;
	int64_t counted_from = b->ends[before] - (from_begin ? b->graph->nodes[before].length : 0);
	int64_t observed = b->begin - counted_from;
	if (observed < 0) {
		b->graph->n_contradicted++;
		return;
	}
	int64_t lag = observed < fitted ? observed : fitted;
	if (lag > UINT16_MAX)
		lag = UINT16_MAX;
	b->graph->n_edges++;
	if (node->before[place] != GRAPH_NONE) {
		HWY_GROW(b->graph->extras, b->graph->n_extras, b->graph->cap_extras);
		b->graph->extras[b->graph->n_extras++] = (struct graph_extra){
			.node = b->graph->n,
			.before = before,
			.lag = (uint32_t)lag,
		};
		return;
	}
	node->before[place] = before;
	node->lag[place] = (uint16_t)lag;
	if (from_begin)
		node->flags |= (uint8_t)GRAPH_FROM_BEGIN(place);
}

void graph_build_stream_order(struct building *b, uint32_t before)
{
	struct graph_node *node = &b->graph->nodes[b->graph->n];
	if (before == GRAPH_NONE)
		return;
	int64_t overlap = b->ends[before] - b->begin;
	if (overlap <= 0 || overlap > UINT16_MAX) {
		/* Work that overlaps by more than a lag can hold ran side by side. */
		graph_build_edge(b, GRAPH_ORDER, before, overlap > 0, b->graph->fit.next);
		return;
	}
	b->graph->n_edges++;
	node->before[GRAPH_ORDER] = before;
	node->lag[GRAPH_ORDER] = (uint16_t)overlap;
	node->flags |= GRAPH_OVERLAPS;
}

static void begin_node(struct building *b, enum graph_kind kind, uint32_t flow_index, int64_t begin,
		       int64_t length)
{
	b->begin = begin;
	b->graph->nodes[b->graph->n] = (struct graph_node){
		.length = length,
		.before = {GRAPH_NONE, GRAPH_NONE, GRAPH_NONE},
		.flow_index = flow_index,
		.kind = (uint8_t)kind,
	};
}

/* Sets the node's delay to the time that no edge explains, and yields the node's index. */
static uint32_t end_node(struct building *b)
{
	struct hwy_graph *graph = b->graph;
	struct graph_node *node = &graph->nodes[graph->n];
	int64_t ready = replay_ready(graph, node, b->ends);
	for (uint32_t i = graph->n_extras; i > 0 && graph->extras[i - 1].node == graph->n; i--) {
		int64_t time = b->ends[graph->extras[i - 1].before] + graph->extras[i - 1].lag;
		if (time > ready)
			ready = time;
	}
	node->delay = b->begin - (ready == INT64_MIN ? 0 : ready);
	b->ends[graph->n] = b->begin + node->length;
	return graph->n++;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static bool call_waits(const struct hwy_flow *flow, const struct flow_call *call)
{
	if (!call->blocks)
		return false;
	/* A copy call that returned before the copy was over has staged the data: that is work, not
	 * waiting. */
	return call->op == FLOW_NONE || flow->ops[call->op].end <= call->end;
}

/* A launch that finds the stream's queue full waits until the oldest op in the queue begins. */
static void wait_for_room(struct building *b, const struct flow_call *call)
{
	if (call->op == FLOW_NONE)
		return;
	struct lane_ops *lane = &b->lanes[b->flow->ops[call->op].lane];
	uint32_t place = lane->enqueued++;
	uint32_t queue = b->graph->fit.queue;
	if (place < queue || place - queue >= lane->n)
		return;
	uint32_t op = b->lane_ops[lane->first + place - queue];
	if (b->op_node[op] != GRAPH_NONE && b->flow->ops[op].start <= call->start)
		graph_build_edge(b, GRAPH_OTHER, b->op_node[op], true, 0);
}

static void graph_add_call(struct building *b, uint32_t index)
{
	const struct flow_call *call = &b->flow->calls[index];
	bool waits = call_waits(b->flow, call);
	int64_t length = call->end - call->start;
	if (graph_is_comm_call(call))
		length = 0;
	else if (waits && length > b->graph->fit.sync)
		length = b->graph->fit.sync;
	begin_node(b, GRAPH_CALL, index, call->start, length);
	struct sequence *process =
		&b->processes[call->process == FLOW_NO_PROCESS ? b->n_processes : call->process];
	struct sequence *thread =
		&b->threads[call->thread == FLOW_NONE ? b->n_threads : call->thread];
	bool overlaps = process->last != GRAPH_NONE && process->end > call->start;
	graph_build_edge(b, GRAPH_ORDER, overlaps ? process->call : process->last, overlaps, 0);
	if (thread->last != process->last && thread->last != GRAPH_NONE &&
	    b->ends[thread->last] <= call->start)
		graph_build_edge(b, GRAPH_CAUSE, thread->last, false, 0);
	wait_for_room(b, call);
	uint32_t node = end_node(b);
	b->call_node[index] = node;
	*process = (struct sequence){.last = node, .call = node, .end = call->end};
	*thread = *process;
	if (waits)
		hwy_heap_add(&b->open, call->end, index);
}

/* ---- returns --------------------------------------------------------------------------------- */

/* The node of the lane's last op that was enqueued before a call and had ended when the call
 * returned. */
static uint32_t last_before(const struct building *b, uint32_t lane, uint32_t call)
{
	uint32_t node = b->lanes[lane].last;
	int64_t end = b->flow->calls[call].end;
	for (int i = 0; i < LOOK_BACK_OPS && node != GRAPH_NONE; i++) {
		const struct flow_op *op = &b->flow->ops[b->graph->nodes[node].flow_index];
		if ((op->call == FLOW_NONE || op->call <= call) && op->end <= end)
			return node;
		node = b->graph->nodes[node].before[GRAPH_ORDER];
	}
	return GRAPH_NONE;
}

/* Yields the node that ended later; of two nodes that ended together, the node on the first
 * lane. */
static uint32_t graph_later(const struct building *b, uint32_t x, uint32_t y)
{
	if (x == GRAPH_NONE || y == GRAPH_NONE)
		return x == GRAPH_NONE ? y : x;
	if (b->ends[x] != b->ends[y])
		return b->ends[y] > b->ends[x] ? y : x;
	const struct flow_op *ops = b->flow->ops;
	return ops[b->graph->nodes[y].flow_index].lane < ops[b->graph->nodes[x].flow_index].lane
		       ? y
		       : x;
}

/* The op that ended last on any stream of the call's process. The result of the process's last wait
 * still holds, so that only lanes which got work since are looked at; all lanes are where this call
 * was made before that wait. */
static uint32_t awaited_anywhere(struct building *b, uint32_t call)
{
	const struct hwy_trace *trace = b->flow->trace;
	uint32_t process = b->flow->calls[call].process, found = GRAPH_NONE;
	if (process >= b->n_processes)
		return GRAPH_NONE;
	struct awaited *before = &b->awaited[process];
	if (before->call != FLOW_NONE && before->call > call) {
		for (uint32_t i = 0; i < b->n_used; i++)
			if (trace->lanes[b->used[i]].process == process)
				found = graph_later(b, found, last_before(b, b->used[i], call));
		return found;
	}
	found = before->found;
	for (uint32_t *next = &before->fresh; hwy_ref32_is_set(*next);) {
		uint32_t index = hwy_ref32_index(*next);
		struct lane_ops *lane = &b->lanes[index];
		uint32_t node = last_before(b, index, call);
		found = graph_later(b, found, node);
		lane->is_fresh = node != lane->last;
		if (lane->is_fresh)
			next = &lane->next_fresh;
		else
			*next = lane->next_fresh;
	}
	before->call = call;
	return before->found = found;
}

static void note_fresh(struct building *b, uint32_t index)
{
	struct lane_ops *lane = &b->lanes[index];
	int64_t process = b->flow->trace->lanes[index].process;
	if (lane->is_fresh || process < 0 || process >= b->n_processes)
		return;
	lane->is_fresh = true;
	lane->next_fresh = b->awaited[process].fresh;
	b->awaited[process].fresh = hwy_ref32(index);
}

static uint32_t awaited(struct building *b, uint32_t index)
{
	const struct flow_call *call = &b->flow->calls[index];
	if (call->op != FLOW_NONE)
		return b->op_node[call->op];
	const uint32_t *op = hwy_map_get(&b->waited_op, index);
	if (op)
		return b->op_node[*op];
	const uint32_t *lane = hwy_map_get(&b->waited, index);
	return lane ? last_before(b, *lane, index) : awaited_anywhere(b, index);
}

static void add_return(struct building *b, uint32_t index)
{
	const struct flow_call *call = &b->flow->calls[index];
	begin_node(b, GRAPH_RETURN, index, call->end, 0);
	graph_build_edge(b, GRAPH_ORDER, b->call_node[index], false, 0);
	uint32_t found = awaited(b, index);
	graph_build_edge(b, GRAPH_CAUSE, found, false, b->graph->fit.wake);
	graph_launches_await(b, found);
	uint32_t node = end_node(b);
	struct sequence *process =
		&b->processes[call->process == FLOW_NO_PROCESS ? b->n_processes : call->process];
	struct sequence *thread =
		&b->threads[call->thread == FLOW_NONE ? b->n_threads : call->thread];
	if (process->call == b->call_node[index])
		process->last = node;
	if (thread->call == b->call_node[index])
		thread->last = node;
}

/* Whether the newest call of a sequence was made by this thread. */
static bool is_of_thread(const struct building *b, const struct sequence *sequence, uint32_t thread)
{
	return sequence->call != GRAPH_NONE &&
	       b->flow->calls[b->graph->nodes[sequence->call].flow_index].thread == thread;
}

/* Calls that the thread made inside the communicating call have ended: what the thread does next
 * follows its end. */
static void add_leave(struct building *b, uint32_t index)
{
	const struct flow_call *call = &b->flow->calls[index];
	begin_node(b, GRAPH_LEAVE, index, call->end, 0);
	graph_build_edge(b, GRAPH_ORDER, b->call_node[index], false, 0);
	uint32_t node = end_node(b);
	struct sequence *process =
		&b->processes[call->process == FLOW_NO_PROCESS ? b->n_processes : call->process];
	struct sequence *thread =
		&b->threads[call->thread == FLOW_NONE ? b->n_threads : call->thread];
	if (is_of_thread(b, process, call->thread))
		process->last = node;
	thread->last = node;
}

/* ---- ops ------------------------------------------------------------------------------------- */

static void add_op(struct building *b, uint32_t index)
{
	const struct flow_op *op = &b->flow->ops[index];
	struct lane_ops *lane = &b->lanes[op->lane];
	begin_node(b, GRAPH_OP, index, op->start, op->end - op->start);
	if (!graph_launches_order(b, index))
		graph_build_stream_order(b, lane->last);
	if (op->call != FLOW_NONE && b->call_node[op->call] != GRAPH_NONE)
		graph_build_edge(b, GRAPH_CAUSE, b->call_node[op->call], true,
				 b->graph->fit.launch);
	else if (op->call != FLOW_NONE)
		b->graph->n_contradicted++; /* the op began before its call did */
	graph_order_edges(b, index);
	uint32_t node = end_node(b);
	b->op_node[index] = node;
	lane->last = node;
	note_fresh(b, op->lane);
}

/* ---- the pass -------------------------------------------------------------------------------- */

static void graph_add_nodes_in_time_order(struct building *b)
{
	const struct hwy_flow *flow = b->flow;
	uint32_t call = 0, op = 0;
	while (call < flow->n_calls || op < flow->n_ops || b->open.n > 0) {
		int64_t at_call = call < flow->n_calls ? flow->calls[call].start : INT64_MAX;
		int64_t at_op = op < flow->n_ops ? flow->ops[op].start : INT64_MAX;
		int64_t at_return = b->open.n > 0 ? b->open.at[0].time : INT64_MAX;
		if (b->open.n > 0 && at_return <= at_call && at_return <= at_op) {
			uint32_t ends = b->open.at[0].what;
			(graph_is_comm_call(&flow->calls[ends]) ? add_leave : add_return)(b, ends);
			hwy_heap_drop(&b->open);
		} else if (at_call <= at_op) {
			graph_add_call(b, call++);
		} else {
			add_op(b, op++);
		}
	}
}

static void fill_none(uint32_t *list, size_t n)
{
	memset(list, 0xff, n * sizeof *list);
}

static void graph_start(struct building *b)
{
	const struct hwy_flow *flow = b->flow;
	const struct hwy_trace *trace = flow->trace;
	b->n_processes = trace->n_processes;
	b->n_threads = trace->n_threads;
	b->processes = hwy_array(b->n_processes + 1, sizeof *b->processes);
	b->threads = hwy_array(b->n_threads + 1, sizeof *b->threads);
	b->awaited = hwy_array(b->n_processes, sizeof *b->awaited);
	for (uint32_t i = 0; i < b->n_processes; i++)
		b->awaited[i] = (struct awaited){GRAPH_NONE, FLOW_NONE, HWY_REF_NONE};
	for (uint32_t i = 0; i <= b->n_processes; i++)
		b->processes[i] = (struct sequence){.last = GRAPH_NONE, .call = GRAPH_NONE};
	for (uint32_t i = 0; i <= b->n_threads; i++)
		b->threads[i] = (struct sequence){.last = GRAPH_NONE, .call = GRAPH_NONE};
	b->call_node = hwy_array(flow->n_calls, sizeof *b->call_node);
	b->op_node = hwy_array(flow->n_ops, sizeof *b->op_node);
	fill_none(b->call_node, flow->n_calls);
	fill_none(b->op_node, flow->n_ops);
	uint32_t waits = 0;
	for (uint32_t i = 0; i < flow->n_calls; i++)
		waits += call_waits(flow, &flow->calls[i]);
	size_t n = (size_t)flow->n_calls + waits + flow->n_ops;
	b->graph->nodes = hwy_array(n, sizeof *b->graph->nodes);
	b->ends = hwy_array(n, sizeof *b->ends);
}

static void graph_finish(struct building *b)
{
	free(b->processes);
	free(b->awaited);
	free(b->threads);
	free(b->call_node);
	free(b->op_node);
	free(b->ends);
	free(b->open.at);
	graph_order_close(b);
	graph_launches_close(b);
}

bool graph_build(struct hwy_graph *graph, const struct hwy_flow *flow, struct hwy_err *err)
{
	*graph = (struct hwy_graph){.flow = flow};
	struct building b = {.graph = graph, .flow = flow};
	if ((uint64_t)flow->n_calls * 2 + flow->n_ops >= GRAPH_NONE)
		return hwy_fail(err, "too many calls for a graph of them");
	if (!flow_adds_up(flow, 0, flow->n_ops, 0, flow->n_calls))
		return hwy_fail(err, "its times add up to more than centuries");
	if (!graph_launches_open(&b, err))
		return false;
	if (!graph_order_open(&b, err)) {
		graph_launches_close(&b);
		return false;
	}
	graph_fit(&graph->fit, flow);
	graph_start(&b);
	graph_add_nodes_in_time_order(&b);
	graph_finish(&b);
	return true;
}

void graph_free(struct hwy_graph *graph)
{
	free(graph->nodes);
	free(graph->extras);
	*graph = (struct hwy_graph){0};
}

struct hwy_graph graph_copy(const struct hwy_graph *graph)
{
	struct hwy_graph copy = *graph;
	copy.nodes = hwy_copy_array(graph->nodes, graph->n, sizeof *graph->nodes);
	copy.extras = hwy_copy_array(graph->extras, graph->n_extras, sizeof *graph->extras);
	copy.cap_extras = graph->n_extras;
	return copy;
}

void graph_add_edge(struct hwy_graph *graph, uint32_t node, uint32_t before, uint32_t lag)
{
	struct graph_node *to = &graph->nodes[node];
	if (before == GRAPH_NONE || before >= node)
		return;
	if (to->before[GRAPH_OTHER] == GRAPH_NONE && lag <= UINT16_MAX) {
		to->before[GRAPH_OTHER] = before;
		to->lag[GRAPH_OTHER] = (uint16_t)lag;
		to->flags &= (uint8_t)~GRAPH_FROM_BEGIN(GRAPH_OTHER);
		return;
	}
	HWY_GROW(graph->extras, graph->n_extras, graph->cap_extras);
	graph->extras[graph->n_extras++] = (struct graph_extra){node, before, lag};
}

static int by_node(const void *a, const void *b)
{
	const struct graph_extra *x = a, *y = b;
	return (x->node > y->node) - (x->node < y->node);
}

void graph_settle(struct hwy_graph *graph)
{
	if (graph->n_extras > 0)
		qsort(graph->extras, graph->n_extras, sizeof *graph->extras, by_node);
}

/* ---- finding nodes --------------------------------------------------------------------------- */

int64_t graph_measured(const struct hwy_graph *graph, uint32_t node)
{
	const struct graph_node *n = &graph->nodes[node];
	switch (n->kind) {
	case GRAPH_CALL: return graph->flow->calls[n->flow_index].start;
	case GRAPH_RETURN:
	case GRAPH_LEAVE: return graph->flow->calls[n->flow_index].end;
	default: return graph->flow->ops[n->flow_index].start;
	}
}

struct sought {
	int64_t time;
	uint32_t kind, flow_index;
};

/* Whether a node stands before the sought one: by time, then ops last, then by index, then a call
 * before its return. */
static bool is_before(const struct hwy_graph *graph, uint32_t node, struct sought sought)
{
	const struct graph_node *n = &graph->nodes[node];
	int64_t time = graph_measured(graph, node);
	if (time != sought.time)
		return time < sought.time;
	if ((n->kind == GRAPH_OP) != (sought.kind == GRAPH_OP))
		return sought.kind == GRAPH_OP;
	return n->flow_index != sought.flow_index ? n->flow_index < sought.flow_index
						  : n->kind < sought.kind;
}

static uint32_t graph_find(const struct hwy_graph *graph, enum graph_kind kind, uint32_t flow_index,
			   int64_t time)
{
	struct sought sought = {time, kind, flow_index};
	uint32_t node = HWY_FIRST(i, 0, graph->n, !is_before(graph, i, sought));
	bool found = node < graph->n && graph->nodes[node].kind == kind &&
		     graph->nodes[node].flow_index == flow_index;
	return found ? node : GRAPH_NONE;
}

uint32_t graph_call(const struct hwy_graph *graph, uint32_t call)
{
	return graph_find(graph, GRAPH_CALL, call, graph->flow->calls[call].start);
}

uint32_t graph_return(const struct hwy_graph *graph, uint32_t call)
{
	return graph_find(graph, GRAPH_RETURN, call, graph->flow->calls[call].end);
}

uint32_t graph_leave(const struct hwy_graph *graph, uint32_t call)
{
	return graph_find(graph, GRAPH_LEAVE, call, graph->flow->calls[call].end);
}

uint32_t graph_op(const struct hwy_graph *graph, uint32_t op)
{
	return graph_find(graph, GRAPH_OP, op, graph->flow->ops[op].start);
}
