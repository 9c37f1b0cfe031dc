/* kineto_edges.c - relations between spans: forward to backward operators, event records to their waits.
 *
 * Made on the finished trace, where the spans of a lane are in order: the end of an arrow belongs to the
 * innermost operator that is running on its thread at its time, and a recorded event is known by the
 * correlation id of the call that recorded it (EVENT_SYNC of the wait).
 */
#include <stdlib.h>

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

/* How many spans before the last one that starts in time may be looked at: operators that were called one
 * after the other by the one that is wanted. */
enum { LOOK_BACK = 4096 };

/* The innermost operator of a lane at a time: its id plus one, or 0. */
static uint32_t op_at(const struct hwy_trace *trace, uint32_t lane, int64_t time)
{
	const struct hwy_strip *strip = hwy_strip_on(trace, lane, HWY_OP);
	uint32_t low = 0, high = strip ? strip->rows : 0;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (hwy_get(strip, HWY_START, middle) <= time)
			low = middle + 1;
		else
			high = middle;
	}
	for (uint32_t i = 0; i < LOOK_BACK && i < low; i++) {
		uint32_t row = low - 1 - i;
		if (hwy_end(strip, row) >= time)
			return strip->first + row + 1;
	}
	return 0;
}

static void add_edge(struct hwy_trace *trace, enum hwy_edge_kind kind, uint32_t from, uint32_t to,
		     int64_t id)
{
	HWY_GROW(trace->edges, trace->n_edges, trace->cap_edges);
	trace->edges[trace->n_edges++] =
		(struct hwy_edge){.kind = kind, .from = from, .to = to, .id = id};
}

/* One forward operator may have several backward ones. */
static void add_forward_edges(struct kineto *k, struct hwy_trace *trace, int64_t shift)
{
	uint32_t from = 0;
	int64_t id = 0;
	if (k->n_flows)
		qsort(k->flows, k->n_flows, sizeof *k->flows, by_id);
	for (uint32_t i = 0; i < k->n_flows; i++) {
		const struct kineto_flow *flow = &k->flows[i];
		if (i == 0 || flow->id != id)
			from = 0;
		id = flow->id;
		uint32_t op = op_at(trace, flow->lane, flow->ts + shift);
		if (!flow->is_end)
			from = op;
		else if (from && op)
			add_edge(trace, HWY_EDGE_FORWARD, from - 1, op - 1, id);
	}
}

/* The calls with the wanted correlation ids: id -> span id plus one. */
static void find_calls(const struct hwy_trace *trace, struct hwy_map *wanted)
{
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (strip->kind != HWY_API || !strip->columns[HWY_CORR])
			continue;
		for (uint32_t row = 0; row < strip->rows; row++) {
			uint64_t corr = (uint64_t)hwy_get(strip, HWY_CORR, row);
			if (corr && hwy_map_get(wanted, corr))
				*hwy_map_put(wanted, corr, NULL) = strip->first + row + 1;
		}
	}
}

static void add_event_edges(struct hwy_trace *trace)
{
	struct hwy_map calls = {0};
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t s = 0; s < trace->n_strips; s++) {
			const struct hwy_strip *strip = &trace->strips[s];
			if (strip->kind != HWY_SYNC || !strip->columns[HWY_EVENT_SYNC])
				continue;
			for (uint32_t row = 0; row < strip->rows; row++) {
				int64_t record = hwy_get(strip, HWY_EVENT_SYNC, row) - 1;
				if (record <= 0)
					continue;
				uint32_t call = *hwy_map_put(&calls, (uint64_t)record, NULL);
				if (pass == 1 && call)
					add_edge(trace, HWY_EDGE_EVENT, call - 1,
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
