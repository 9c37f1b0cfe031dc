/* SPDX-License-Identifier: Apache-2.0 */
/* kineto_edges.c - adds edges between spans: from forward to backward operators, from event records
 * to their waits.
 *
 * Edges are added to the finished trace, where the spans of a lane are in order. An end of an arrow
 * belongs to the innermost operator that runs on the arrow's thread at the arrow's time. A wait
 * names the event that it waits for by the correlation id of the call that recorded the event
 * (column EVENT_SYNC of the wait).
 */
#include <stdlib.h>

#include "base/search.h"
#include "import/kineto/kineto.h"

void kineto_keep_flow(struct kineto *k)
{
	struct kineto_flow flow = {.ts = k->event.ts, .is_end = k->event.phase != 's'};
	if (!scan_integer(&k->event.id, &flow.id))
		return;
	flow.lane = kineto_thread_lane(k, HWY_LANE_OP, 0);
	HWY_GROW(k->flows, k->n_flows, k->cap_flows);
	k->flows[k->n_flows++] = flow;
}

static int by_id(const void *left, const void *right)
{
	const struct kineto_flow *a = left, *b = right;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	if (a->is_end != b->is_end)
		return a->is_end ? 1 : -1;
	return a->ts < b->ts ? -1 : a->ts > b->ts;
}

/* How many operators are searched backwards for the one that runs at a time: those that it has
 * called one after the other before that time lie in between. */
enum { MOST_OPS_BACK = 4096 };

/* Yields the ref of the span of the innermost operator that runs on a lane at a time. */
static uint32_t op_at(const struct hwy_trace *trace, uint32_t lane, int64_t time)
{
	const struct hwy_strip *strip = hwy_strip_on(trace, lane, HWY_OP);
	uint32_t rows = strip ? strip->rows : 0;
	uint32_t next = HWY_FIRST(row, 0u, rows, hwy_get(strip, HWY_START, row) > time);
	for (uint32_t i = 0; i < MOST_OPS_BACK && i < next; i++) {
		uint32_t row = next - 1 - i;
		if (hwy_end(strip, row) >= time)
			return hwy_ref32(strip->first + row);
	}
	return HWY_REF_NONE;
}

static void add_edge(struct hwy_trace *trace, enum hwy_edge_kind kind, uint32_t from, uint32_t to,
		     int64_t id)
{
	HWY_GROW(trace->edges, trace->n_edges, trace->cap_edges);
	trace->edges[trace->n_edges++] =
		(struct hwy_edge){.kind = kind, .from = from, .to = to, .id = id};
}

/* Adds the edges from forward to backward operators; a forward operator may have several
 * backward ones. */
static void add_forward_edges(struct kineto *k, struct hwy_trace *trace, int64_t shift)
{
	uint32_t from = HWY_REF_NONE;
	int64_t id = 0;
	if (k->n_flows)
		qsort(k->flows, k->n_flows, sizeof *k->flows, by_id);
	for (uint32_t i = 0; i < k->n_flows; i++) {
		const struct kineto_flow *flow = &k->flows[i];
		if (i == 0 || flow->id != id)
			from = HWY_REF_NONE;
		id = flow->id;
		uint32_t op = op_at(trace, flow->lane, flow->ts + shift);
		if (!flow->is_end)
			from = op;
		else if (hwy_ref32_is_set(from) && hwy_ref32_is_set(op))
			add_edge(trace, HWY_EDGE_FORWARD, hwy_ref32_index(from),
				 hwy_ref32_index(op), id);
	}
}

/* Sets the values of 'wanted', whose keys are correlation ids: refs of the spans of the calls with
 * these ids. */
static void find_calls(const struct hwy_trace *trace, struct hwy_map *wanted)
{
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (strip->kind != HWY_API || !strip->columns[HWY_CORR])
			continue;
		for (uint32_t row = 0; row < strip->rows; row++) {
			uint64_t corr = (uint64_t)hwy_get(strip, HWY_CORR, row);
			if (corr && hwy_map_get(wanted, corr))
				*hwy_map_put(wanted, corr, NULL) = hwy_ref32(strip->first + row);
		}
	}
}

static void add_event_edges(struct hwy_trace *trace)
{
	/* Maps the correlation id of an event's record to the ref of the call's span. */
	struct hwy_map calls = {0};
	/* The first pass lists the correlation ids that waits name, the second pass adds the
	 * edges. */
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t s = 0; s < trace->n_strips; s++) {
			const struct hwy_strip *strip = &trace->strips[s];
			if (strip->kind != HWY_SYNC || !strip->columns[HWY_EVENT_SYNC])
				continue;
			for (uint32_t row = 0; row < strip->rows; row++) {
				int64_t record;
				if (!hwy_get_number(strip, HWY_EVENT_SYNC, row, &record) ||
				    record <= 0)
					continue;
				uint32_t call = *hwy_map_put(&calls, (uint64_t)record, NULL);
				if (pass == 1 && hwy_ref32_is_set(call))
					add_edge(trace, HWY_EDGE_EVENT, hwy_ref32_index(call),
						 strip->first + row, record);
			}
		}
		if (pass == 0)
			find_calls(trace, &calls);
	}
	hwy_map_free(&calls);
}

void kineto_add_edges(struct kineto *k, struct hwy_trace *trace, int64_t shift)
{
	add_forward_edges(k, trace, shift);
	add_event_edges(trace);
}
