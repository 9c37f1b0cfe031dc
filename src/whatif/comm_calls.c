/* SPDX-License-Identifier: Apache-2.0 */
/* comm_calls.c - see comm_calls.h. Of a call and a message's call with one start the message's
 * comes first: the other one was made inside it.
 *
 * A span that communicates may hold calls of the device: gloo waits until the data is on the
 * host, exchanges it, and copies it up again, all in one span; an MPI that takes device memory
 * does the same. The exchange is then the longest stretch of the span in which its thread makes
 * no such call: what comes before it must be done before the rank can be said to have come, and
 * what comes after it waits for the other ranks. */
#include "whatif/comm_calls.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/exchange.h"
#include "base/search.h"

/* A span that holds more calls than this, of all threads, is taken as a whole. */
enum { MOST_CALLS_INSIDE = 4096 };

struct added {
	struct flow_call *items;
	uint32_t n, cap;
};

static bool is_on_cpu(uint32_t kind)
{
	return kind == HWY_CALL || kind == HWY_RANGE || kind == HWY_OP;
}

/* Yields the longest stretch of [start, end) in which the thread makes no call of the device. */
static struct hwy_interval longest_stretch(const struct hwy_flow *flow, int64_t thread,
					   int64_t start, int64_t end)
{
	struct hwy_interval whole = {start, end}, longest = {start, start};
	int64_t from = start;
	uint32_t first = HWY_FIRST(k, 0u, flow->n_calls, flow->calls[k].start >= start), i = first;
	for (; i < flow->n_calls && flow->calls[i].start < end; i++) {
		const struct flow_call *call = &flow->calls[i];
		if (i - first == MOST_CALLS_INSIDE)
			return whole;
		if (call->thread != thread)
			continue;
		if (call->start - from > longest.to - longest.from)
			longest = (struct hwy_interval){from, call->start};
		from = call->end > from ? call->end : from;
	}
	return end - from > longest.to - longest.from ? (struct hwy_interval){from, end} : longest;
}

static void add_span(struct added *added, struct comm_calls *comm, const struct hwy_flow *flow,
		     int64_t id, const struct hwy_interval *window)
{
	const struct hwy_trace *trace = flow->trace;
	uint32_t row;
	bool fresh;
	if (id < 0 || id >= trace->n_spans)
		return;
	const struct hwy_strip *strip = hwy_strip_of(trace, (uint32_t)id, &row);
	const struct hwy_lane *lane = &trace->lanes[strip->lane];
	int64_t start = hwy_get(strip, HWY_START, row);
	if (!is_on_cpu(strip->kind) || start < window->from || start > window->to)
		return;
	hwy_map_put(&comm->call_of, (uint64_t)id, &fresh);
	if (!fresh)
		return;
	bool has_process = lane->process >= 0 && lane->process < FLOW_NO_PROCESS;
	struct hwy_interval at = longest_stretch(flow, lane->thread, start, hwy_end(strip, row));
	HWY_GROW(added->items, added->n, added->cap);
	added->items[added->n++] = (struct flow_call){
		.start = at.from,
		.end = at.to,
		.span = (uint32_t)id,
		.thread = lane->thread >= 0 ? (uint32_t)lane->thread : FLOW_NONE,
		.op = FLOW_NONE,
		.process = has_process ? (uint16_t)lane->process : FLOW_NO_PROCESS,
		.role = HWY_ROLE_COMM,
		.blocks = true,
	};
}

/* By start; of two that start together the longer one is around the other. */
static int by_start_and_length(const void *a, const void *b)
{
	const struct flow_call *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return (x->span > y->span) - (x->span < y->span);
}

static void merge_calls(struct comm_calls *comm, struct hwy_flow *flow, const struct added *added)
{
	uint32_t n = flow->n_calls + added->n, from = 0, next = 0;
	struct flow_call *calls = hwy_array(n, sizeof *calls);
	comm->moved = hwy_array((size_t)flow->n_calls + 1, sizeof *comm->moved);
	for (uint32_t i = 0; i < n; i++) {
		bool takes_added =
			next < added->n && (from == flow->n_calls ||
					    added->items[next].start <= flow->calls[from].start);
		if (!takes_added)
			comm->moved[from] = i;
		else
			*hwy_map_put(&comm->call_of, added->items[next].span, NULL) = i;
		calls[i] = takes_added ? added->items[next++] : flow->calls[from++];
	}
	comm->moved[flow->n_calls] = n;
	for (uint32_t i = 0; i < flow->n_ops; i++)
		if (flow->ops[i].call != FLOW_NONE)
			flow->ops[i].call = comm->moved[flow->ops[i].call];
	free(flow->calls);
	flow->calls = calls;
	flow->n_calls = n;
	comm->n = added->n;
}

bool comm_calls_add(struct comm_calls *comm, struct hwy_flow *flow, uint32_t process,
		    const struct hwy_interval *window, struct hwy_err *err)
{
	*comm = (struct comm_calls){0};
	struct hwy_trace *trace = flow->trace;
	struct added added = {0};
	if (!exchange_need(trace, err))
		return false;
	for (uint32_t i = 0; i < trace->n_messages; i++) {
		const struct hwy_message *m = &trace->messages[i];
		if (process != FLOW_NO_PROCESS && m->process != process)
			continue;
		add_span(&added, comm, flow, m->span, window);
		add_span(&added, comm, flow, m->done, window);
	}
	if (added.n > 0) {
		qsort(added.items, added.n, sizeof *added.items, by_start_and_length);
		merge_calls(comm, flow, &added);
	}
	free(added.items);
	return true;
}

void comm_calls_free(struct comm_calls *comm)
{
	hwy_map_free(&comm->call_of);
	free(comm->moved);
	*comm = (struct comm_calls){0};
}
