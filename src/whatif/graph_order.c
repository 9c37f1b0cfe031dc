/* SPDX-License-Identifier: Apache-2.0 */
/* graph_order.c - edges between device ops of different streams: events, the legacy default
 * stream, copy engines; and what the driver says a call waited for.
 *
 * cudaStreamWaitEvent: all later work of the stream waits for the last op that was enqueued
 * before the event's record. The legacy default stream: its op waits for the last op of every
 * blocking stream of the context enqueued before it, and their next ops wait for it. Copies of
 * one direction on one device follow each other; where two are seen to overlap there is another
 * engine, and no edge.
 *
 * PyTorch's profiler records the events that streams wait for only on request. Communication has
 * a stream of its own, so that its order would be lost: where no such wait is recorded, an op
 * that stood still for long and begins right after communication on another stream ended, or
 * communication that begins so after other work, is taken to have waited for that.
 */
#include <stdlib.h>

#include "base/search.h"
#include "whatif/graph_internal.h"
#include "whatif/replay.h"

/* An op that begins at most so many ns after another one's end may have waited for it, if
 * nothing else explains LONG_PAUSE ns. */
enum { RIGHT_AFTER = 10000, LONG_PAUSE = 20000 };

#define BIT(col) HWY_COL_BIT(HWY_##col)
enum { DIRECTIONS = 2 };

/* ---- lanes ----------------------------------------------------------------------------------- */

static enum lane_order order_of(const struct hwy_trace *trace, const struct hwy_lane *lane)
{
	if (lane->stream < 0 || lane->stream >= trace->n_streams)
		return LANE_ALONE;
	switch (trace->streams[lane->stream].flags) {
	case 1: return LANE_BLOCKING;
	case 3: return LANE_LEGACY;
	default: return LANE_ALONE;
	}
}

static void find_lanes(struct building *b)
{
	const struct hwy_flow *flow = b->flow;
	const struct hwy_trace *trace = flow->trace;
	b->lanes = hwy_zarray(trace->n_lanes, sizeof *b->lanes);
	b->used = hwy_array(trace->n_lanes, sizeof *b->used);
	b->lane_ops = hwy_array(flow->n_ops, sizeof *b->lane_ops);
	for (int order = 0; order < LANE_ORDERS; order++)
		b->barriers[order] = hwy_array(trace->n_lanes, sizeof *b->used);
	for (uint32_t i = 0; i < flow->n_ops; i++)
		b->lanes[flow->ops[i].lane].n++;
	uint32_t first = 0;
	for (uint32_t i = 0; i < trace->n_lanes; i++) {
		struct lane_ops *lane = &b->lanes[i];
		lane->last = GRAPH_NONE;
		lane->first = first;
		lane->order = (uint8_t)order_of(trace, &trace->lanes[i]);
		first += lane->n;
		if (lane->n > 0) {
			b->used[b->n_used++] = i;
			b->barriers[lane->order][b->n_barriers[lane->order]++] = i;
		}
		lane->n = 0;
	}
	for (uint32_t i = 0; i < flow->n_ops; i++) {
		struct lane_ops *lane = &b->lanes[flow->ops[i].lane];
		b->lane_ops[lane->first + lane->n++] = i;
	}
}

static void find_streams(struct building *b)
{
	const struct hwy_trace *trace = b->flow->trace;
	b->lane_of_stream = hwy_array(trace->n_streams, sizeof *b->lane_of_stream);
	for (uint32_t i = 0; i < trace->n_streams; i++)
		b->lane_of_stream[i] = trace->n_lanes;
	for (uint32_t i = b->n_used; i-- > 0;) {
		int64_t stream = trace->lanes[b->used[i]].stream;
		if (stream >= 0 && stream < trace->n_streams)
			b->lane_of_stream[stream] = b->used[i];
	}
}

/* The lane that holds a stream's work; trace->n_lanes where the stream has none. */
static uint32_t lane_of_stream(const struct building *b, int64_t stream)
{
	const struct hwy_trace *trace = b->flow->trace;
	return stream >= 0 && stream < trace->n_streams ? b->lane_of_stream[stream]
							: trace->n_lanes;
}

/* When an op was enqueued: the begin of its call, or its own begin where the call is not known. */
static int64_t enqueued_at(const struct hwy_flow *flow, const struct flow_op *op)
{
	return op->call == FLOW_NONE ? op->start : flow->calls[op->call].start;
}

/* The last op of a lane that was enqueued before 'time', or FLOW_NONE. */
static uint32_t last_enqueued(const struct building *b, uint32_t lane, int64_t time)
{
	const struct hwy_flow *flow = b->flow;
	const uint32_t *ops = b->lane_ops + b->lanes[lane].first;
	uint32_t n =
		HWY_FIRST(i, 0, b->lanes[lane].n, enqueued_at(flow, &flow->ops[ops[i]]) >= time);
	return n > 0 ? ops[n - 1] : FLOW_NONE;
}

/* ---- what the driver recorded ---------------------------------------------------------------- */

static uint32_t call_of_span(const struct hwy_flow *flow, int64_t link)
{
	if (link <= 0 || link > flow->trace->n_spans)
		return FLOW_NONE;
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(flow->trace, (uint32_t)(link - 1), &row);
	int64_t start = hwy_get(strip, HWY_START, row);
	for (uint32_t i = flow_call_at(flow, start);
	     i < flow->n_calls && flow->calls[i].start == start; i++)
		if (flow->calls[i].span == link - 1)
			return i;
	return FLOW_NONE;
}

static void note_streams_waited_for(struct building *b)
{
	const struct hwy_trace *trace = b->flow->trace;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		for (uint32_t row = 0; strip->kind == HWY_SYNC && row < strip->rows; row++) {
			if (hwy_get(strip, HWY_SYNC_TYPE, row) != HWY_SYNC_STREAM)
				continue;
			uint32_t call = call_of_span(b->flow, hwy_get(strip, HWY_LINK, row));
			uint32_t lane = lane_of_stream(b, hwy_get(strip, HWY_WAITED, row) - 1);
			bool fresh;
			if (call != FLOW_NONE && lane < trace->n_lanes)
				*hwy_map_put(&b->waited, call, &fresh) = lane;
		}
	}
}

static void note_event(struct building *b, const struct hwy_edge *edge)
{
	const struct hwy_trace *trace = b->flow->trace;
	uint32_t record_row, wait_row;
	const struct hwy_strip *record = hwy_strip_of(trace, (uint32_t)edge->from, &record_row);
	const struct hwy_strip *wait = hwy_strip_of(trace, (uint32_t)edge->to, &wait_row);
	if (record->kind != HWY_EVENT || wait->kind != HWY_SYNC)
		return;
	uint32_t from = lane_of_stream(b, trace->lanes[record->lane].stream);
	uint32_t call = call_of_span(b->flow, hwy_get(wait, HWY_LINK, wait_row));
	if (from == trace->n_lanes || call == FLOW_NONE)
		return;
	uint32_t op = last_enqueued(b, from, hwy_get(record, HWY_START, record_row));
	if (op == FLOW_NONE)
		return;
	bool fresh;
	if (hwy_get(wait, HWY_SYNC_TYPE, wait_row) == HWY_SYNC_EVENT) {
		*hwy_map_put(&b->waited_op, call, &fresh) = op;
		return;
	}
	uint32_t to = lane_of_stream(b, hwy_get(wait, HWY_WAITED, wait_row) - 1);
	if (hwy_get(wait, HWY_SYNC_TYPE, wait_row) != HWY_SYNC_STREAM_WAIT || to == trace->n_lanes)
		return;
	HWY_GROW(b->stream_waits, b->n_stream_waits, b->cap_stream_waits);
	b->stream_waits[b->n_stream_waits++] = (struct stream_wait){to, call, op};
}

static int by_lane_and_call(const void *a, const void *b)
{
	const struct stream_wait *x = a, *y = b;
	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	return (x->call > y->call) - (x->call < y->call);
}

static void note_events(struct building *b)
{
	const struct hwy_trace *trace = b->flow->trace;
	for (uint32_t i = 0; i < trace->n_edges; i++)
		if (trace->edges[i].kind == HWY_EDGE_EVENT)
			note_event(b, &trace->edges[i]);
	if (b->n_stream_waits > 0)
		qsort(b->stream_waits, b->n_stream_waits, sizeof *b->stream_waits,
		      by_lane_and_call);
	for (uint32_t i = 0; i < b->n_stream_waits; i++) {
		struct lane_ops *lane = &b->lanes[b->stream_waits[i].lane];
		if (lane->end_wait == 0)
			lane->next_wait = i;
		lane->end_wait = i + 1;
	}
}

bool graph_order_open(struct building *b, struct hwy_err *err)
{
	struct hwy_trace *trace = b->flow->trace;
	uint64_t columns = BIT(START) | BIT(DUR) | BIT(LINK) | BIT(SYNC_TYPE) | BIT(WAITED);
	if (!hwy_need(trace, HWY_KIND_BIT(HWY_SYNC), columns, err) ||
	    !hwy_need(trace, HWY_KIND_BIT(HWY_EVENT), BIT(START), err) ||
	    !hwy_need(trace, HWY_KIND_BIT(HWY_COPY), BIT(DIRECTION), err))
		return false;
	find_lanes(b);
	find_streams(b);
	note_streams_waited_for(b);
	note_events(b);
	b->graph->has_stream_waits = b->n_stream_waits > 0;
	size_t engines = (size_t)b->flow->n_devices * DIRECTIONS;
	b->engines = hwy_array(engines, sizeof *b->engines);
	for (size_t i = 0; i < engines; i++)
		b->engines[i] = GRAPH_NONE;
	return true;
}

void graph_order_close(struct building *b)
{
	free(b->lanes);
	free(b->lane_ops);
	free(b->used);
	for (int order = 0; order < LANE_ORDERS; order++)
		free(b->barriers[order]);
	free(b->lane_of_stream);
	free(b->stream_waits);
	free(b->engines);
	hwy_map_free(&b->waited);
	hwy_map_free(&b->waited_op);
}

/* ---- edges of an op -------------------------------------------------------------------------- */

static void wait_for_events(struct building *b, const struct flow_op *op)
{
	struct lane_ops *lane = &b->lanes[op->lane];
	while (lane->next_wait < lane->end_wait && op->call != FLOW_NONE &&
	       b->stream_waits[lane->next_wait].call < op->call) {
		uint32_t before = b->op_node[b->stream_waits[lane->next_wait++].op];
		graph_build_edge(b, GRAPH_OTHER, before, false, b->graph->fit.next);
	}
}

static bool same_context(const struct hwy_trace *trace, uint32_t a, uint32_t b)
{
	const struct hwy_stream *x = &trace->streams[trace->lanes[a].stream];
	const struct hwy_stream *y = &trace->streams[trace->lanes[b].stream];
	return x->process == y->process && x->context == y->context;
}

/* Adds an edge from the op that ended last on the other side of the legacy default stream's
 * barrier. */
static void wait_for_barrier(struct building *b, const struct flow_op *op)
{
	enum lane_order own = b->lanes[op->lane].order;
	if (own == LANE_ALONE || op->call == FLOW_NONE)
		return;
	uint32_t found = GRAPH_NONE;
	enum lane_order other = own == LANE_LEGACY ? LANE_BLOCKING : LANE_LEGACY;
	for (uint32_t i = 0; i < b->n_barriers[other]; i++) {
		uint32_t index = b->barriers[other][i];
		const struct lane_ops *lane = &b->lanes[index];
		if (lane->last == GRAPH_NONE || !same_context(b->flow->trace, index, op->lane))
			continue;
		uint32_t call = b->flow->ops[b->graph->nodes[lane->last].flow_index].call;
		if (call != FLOW_NONE && call < op->call &&
		    (found == GRAPH_NONE || b->ends[lane->last] > b->ends[found]))
			found = lane->last;
	}
	graph_build_edge(b, GRAPH_OTHER, found, false, b->graph->fit.next);
}

static void wait_for_engine(struct building *b, uint32_t index)
{
	const struct flow_op *op = &b->flow->ops[index];
	if (op->kind != HWY_COPY)
		return;
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(b->flow->trace, op->span, &row);
	int64_t direction = hwy_get(strip, HWY_DIRECTION, row);
	if (direction != HWY_H2D && direction != HWY_D2H)
		return;
	uint32_t *engine = &b->engines[op->device * DIRECTIONS + (direction == HWY_D2H)];
	if (*engine != GRAPH_NONE && b->ends[*engine] <= op->start &&
	    *engine != b->lanes[op->lane].last)
		graph_build_edge(b, GRAPH_OTHER, *engine, false, 0);
	*engine = b->graph->n;
}

/* Whether the op of a lane that began last can be what 'op' waited for: one of the two
 * communicates, and it ended right before. */
static bool may_be_awaited(const struct building *b, uint32_t lane, const struct flow_op *op)
{
	uint32_t last = b->lanes[lane].last;
	if (lane == op->lane || last == GRAPH_NONE)
		return false;
	const struct flow_op *other = &b->flow->ops[b->graph->nodes[last].flow_index];
	return (other->class == HWY_COMM) != (op->class == HWY_COMM) &&
	       other->device == op->device && other->call != FLOW_NONE && other->call < op->call &&
	       other->end <= op->start && op->start - other->end <= RIGHT_AFTER;
}

static void wait_for_exchange(struct building *b, const struct flow_op *op)
{
	const struct graph_node *node = &b->graph->nodes[b->graph->n];
	uint32_t found = GRAPH_NONE;
	if (b->graph->has_stream_waits || op->call == FLOW_NONE)
		return;
	int64_t ready = replay_ready(b->graph, node, b->ends);
	if (ready == INT64_MIN || op->start - ready < LONG_PAUSE)
		return;
	for (uint32_t i = 0; i < b->n_used; i++)
		if (may_be_awaited(b, b->used[i], op) &&
		    (found == GRAPH_NONE || b->ends[b->lanes[b->used[i]].last] > b->ends[found]))
			found = b->lanes[b->used[i]].last;
	graph_build_edge(b, GRAPH_OTHER, found, false, RIGHT_AFTER);
}

void graph_order_edges(struct building *b, uint32_t op)
{
	wait_for_events(b, &b->flow->ops[op]);
	wait_for_barrier(b, &b->flow->ops[op]);
	wait_for_engine(b, op);
	wait_for_exchange(b, &b->flow->ops[op]);
}
