/* SPDX-License-Identifier: Apache-2.0 */
/* collectives_list.c - the collectives of one rank: those that messages tell, and communication
 * kernels without one.
 *
 * A kernel stands for one collective only: where a source groups several operations into one
 * launch, the first of them has the kernel, on every rank alike.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/collectives_internal.h"
#include "base/hash.h"
#include "base/ref.h"

/* ---- keys ------------------------------------------------------------------------------------ */

/* Kernels, messages without and messages with a number never have equal keys. */
enum key_type { KEY_KERNEL, KEY_ORDERED, KEY_NUMBERED };

static uint32_t number_of_key(struct collective_keys *keys)
{
	bool fresh;
	uint32_t n = keys->numbers.count;
	uint32_t *number =
		hwy_index_put(&keys->numbers, keys->buffer.bytes, keys->buffer.n, &fresh);
	if (fresh)
		*number = n;
	return *number;
}

/* Appends a name and its value in a recorder's JSON, as text: up to the next comma outside
 * brackets. */
static void put_value(struct hwy_bytes *key, struct hwy_text args, const char *name)
{
	hwy_bytes_put_varint(key, 0); /* a 0 ends the text that was put before */
	const char *from = memmem(args.at, args.length, name, strlen(name));
	if (!from)
		return;
	const char *end = args.at + args.length, *to = from + strlen(name);
	int depth = 0;
	for (; to < end && (depth > 0 || (*to != ',' && *to != '}')); to++)
		depth += (*to == '[') - (*to == ']');
	hwy_bytes_put(key, from, (size_t)(to - from));
}

static uint32_t key_of_kernel(struct collective_keys *keys, const struct hwy_trace *trace,
			      uint32_t span)
{
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(trace, span, &row);
	struct hwy_text name = hwy_text(trace, hwy_get(strip, HWY_NAME, row));
	struct hwy_text args = hwy_text(trace, hwy_get(strip, HWY_ARGS, row));
	keys->buffer.n = 0;
	hwy_bytes_put_varint(&keys->buffer, KEY_KERNEL);
	hwy_bytes_put(&keys->buffer, name.at, name.length);
	put_value(&keys->buffer, args, "\"Collective name\"");
	put_value(&keys->buffer, args, "\"Process Group Name\"");
	put_value(&keys->buffer, args, "\"Process Group Ranks\"");
	return number_of_key(keys);
}

static uint32_t key_of_message(struct collective_keys *keys, const struct hwy_trace *trace,
			       const struct hwy_message *m)
{
	keys->buffer.n = 0;
	hwy_bytes_put_varint(&keys->buffer, m->sequence == HWY_NONE ? KEY_ORDERED : KEY_NUMBERED);
	exchange_put_group(&keys->buffer, trace, m);
	if (m->name != HWY_NONE) {
		struct hwy_text name = hwy_text(trace, m->name);
		hwy_bytes_put(&keys->buffer, name.at, name.length);
	}
	hwy_bytes_put_varint(&keys->buffer, 0);
	if (m->sequence != HWY_NONE)
		hwy_bytes_put_zigzag(&keys->buffer, m->sequence);
	return number_of_key(keys);
}

/* ---- the rank -------------------------------------------------------------------------------- */

struct hwy_trace *collectives_trace(const struct collectives_rank *rank)
{
	return rank->flow ? rank->flow->trace : rank->trace;
}

bool collectives_is_of(const struct collectives_rank *rank, int64_t process)
{
	return rank->process == FLOW_NO_PROCESS || process == rank->process;
}

int64_t collectives_number(const struct collectives_rank *rank, uint32_t index,
			   const struct hwy_message *message)
{
	if (hwy_ref_is_set(rank->number))
		return hwy_ref_index(rank->number);
	int64_t number = exchange_rank(collectives_trace(rank), message);
	return number == HWY_NONE ? index : number;
}

/* The op of a kernel, or FLOW_NONE. */
static uint32_t op_of_span(const struct hwy_flow *flow, int64_t span, int64_t start)
{
	for (uint32_t i = flow ? flow_op_at(flow, start) : 0;
	     flow && i < flow->n_ops && flow->ops[i].start == start; i++)
		if (flow->ops[i].span == span)
			return i;
	return FLOW_NONE;
}

static void add_message(struct rank_list *list, const struct collectives_rank *rank,
			struct collective_keys *keys, uint32_t index)
{
	const struct hwy_trace *trace = collectives_trace(rank);
	const struct hwy_message *m = &trace->messages[index];
	struct exchange_times times = exchange_times(trace, m);
	struct occurrence one = {
		.message = index,
		.op = times.is_device ? op_of_span(rank->flow, m->span, times.post) : FLOW_NONE,
		.start = times.post,
		.end = times.call.to,
		.root = m->peer,
		.kind = (uint8_t)(times.is_device ? EXCHANGE_ALL : exchange_kind_of(trace, m)),
		.is_barrier = exchange_is_barrier(trace, m),
		.meeting = NO_MEETING,
	};
	bool has_number = m->sequence != HWY_NONE;
	/* Ends tell nothing about an operation that ranks leave at different times. */
	if (one.end < one.start || (!has_number && one.kind != EXCHANGE_ALL))
		return;
	struct occurrences *to = has_number ? &list->numbered : &list->ordered;
	one.key = key_of_message(keys, trace, m);
	HWY_GROW(to->items, to->n, to->cap);
	to->items[to->n++] = one;
}

static void add_kernels(struct occurrences *list, const struct collectives_rank *rank,
			struct collective_keys *keys, const struct hwy_map *told)
{
	const struct hwy_flow *flow = rank->flow;
	for (uint32_t i = 0; i < flow->n_ops; i++) {
		const struct flow_op *op = &flow->ops[i];
		if (op->class != HWY_COMM ||
		    !collectives_is_of(rank, flow->trace->lanes[op->lane].process) ||
		    hwy_map_get(told, op->span))
			continue;
		HWY_GROW(list->items, list->n, list->cap);
		list->items[list->n++] =
			(struct occurrence){.key = key_of_kernel(keys, flow->trace, op->span),
					    .start = op->start,
					    .end = op->end,
					    .op = i,
					    .message = FLOW_NONE,
					    .root = HWY_NONE,
					    .kind = EXCHANGE_ALL,
					    .meeting = NO_MEETING};
	}
}

static int by_key_and_end(const void *a, const void *b)
{
	const struct occurrence *x = a, *y = b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

bool collectives_list(struct rank_list *list, const struct collectives_rank *rank,
		      struct collective_keys *keys, struct hwy_err *err)
{
	struct hwy_trace *trace = collectives_trace(rank);
	if ((rank->flow && !hwy_need(trace, HWY_KIND_BIT(HWY_KERNEL),
				     HWY_COL_BIT(HWY_NAME) | HWY_COL_BIT(HWY_ARGS), err)) ||
	    !exchange_need(trace, err))
		return false;
	struct hwy_map told = {0}; /* the spans that messages of this rank stand for */
	for (uint32_t i = 0; i < trace->n_messages; i++) {
		const struct hwy_message *m = &trace->messages[i];
		bool fresh = true;
		if (m->kind != HWY_MESSAGE_COLLECTIVE || !collectives_is_of(rank, m->process))
			continue;
		if (m->span != HWY_NONE)
			hwy_map_put(&told, (uint64_t)m->span, &fresh);
		if (fresh)
			add_message(list, rank, keys, i);
	}
	if (rank->flow)
		add_kernels(&list->ordered, rank, keys, &told);
	hwy_map_free(&told);
	if (list->ordered.n > 0)
		qsort(list->ordered.items, list->ordered.n, sizeof *list->ordered.items,
		      by_key_and_end);
	return true;
}
