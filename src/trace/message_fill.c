/* SPDX-License-Identifier: Apache-2.0 */
/* message_fill.c - see message_fill.h. */
#include "trace/message_fill.h"

#include <stdlib.h>
#include <string.h>

static bool same_text(const struct hwy_trace *trace, int64_t id, const char *text)
{
	return strcmp(hwy_str(trace, id), text) == 0;
}

/* Yields the group of a name in a process; makes it where there is none. */
static int64_t find_group(struct hwy_trace *trace, uint32_t process,
			  const struct collective_args *args, const char *backend)
{
	uint32_t i = 0;
	if (!args->group)
		return HWY_NONE;
	while (i < trace->n_groups && (trace->groups[i].process != process ||
				       !same_text(trace, trace->groups[i].name, args->group)))
		i++;
	if (i == trace->n_groups) {
		HWY_GROW(trace->groups, trace->n_groups, trace->cap_groups);
		trace->groups[trace->n_groups++] =
			(struct hwy_group){process,  hwy_intern_z(&trace->strings, args->group),
					   HWY_NONE, HWY_NONE,
					   HWY_NONE, HWY_NONE};
	}
	struct hwy_group *group = &trace->groups[i];
	if (group->description == HWY_NONE && args->description)
		group->description = hwy_intern_z(&trace->strings, args->description);
	if (group->backend == HWY_NONE && backend)
		group->backend = hwy_intern_z(&trace->strings, backend);
	if (group->size == HWY_NONE)
		group->size = args->group_size;
	if (group->ranks == HWY_NONE && args->ranks)
		group->ranks = hwy_intern_z(&trace->strings, args->ranks);
	return i;
}

/* What PyTorch calls the rank of a collective is its root where it has one, else this rank; of a
 * message, the other one. */
static int64_t peer_of(const struct hwy_trace *trace, const struct hwy_message *m,
		       const struct collective_args *args, const struct hwy_exchange *operation)
{
	if (operation->kind == HWY_MESSAGE_COLLECTIVE && !operation->has_root)
		return HWY_NONE;
	if (operation->kind != HWY_MESSAGE_COLLECTIVE && args->world_peer != HWY_NONE)
		return args->world_peer;
	const char *ranks =
		m->group == HWY_NONE ? "" : hwy_str(trace, trace->groups[m->group].ranks);
	int64_t world = collective_rank_at(ranks, args->rank);
	return world != HWY_NONE ? world : args->rank;
}

static int64_t times(int64_t count, int64_t size)
{
	int64_t product;
	if (count == HWY_NONE || size == HWY_NONE || __builtin_mul_overflow(count, size, &product))
		return HWY_NONE;
	return product;
}

/* The range of NCCL names what its call names: elements of one rank for a gather, and for what a
 * scatter leaves a rank. */
static void fill_bytes_of_range(struct hwy_message *m, const struct collective_args *args,
				int64_t size, bool gathers, bool scatters)
{
	m->sent = times(args->bytes, scatters ? size : 1);
	m->received = times(args->bytes, gathers ? size : 1);
}

static void fill_bytes(const struct hwy_trace *trace, struct hwy_message *m,
		       const struct collective_args *args, const struct hwy_exchange *operation)
{
	const char *name = operation->name;
	int64_t size = args->group_size;
	if (size == HWY_NONE && m->group != HWY_NONE)
		size = trace->groups[m->group].size;
	bool gathers = !strcmp(name, "AllGather"), scatters = !strcmp(name, "ReduceScatter");
	bool is_same = !strcmp(name, "AllReduce") || operation->has_root;
	int64_t in = args->in, out = args->out,
		element = args->datatype ? args->datatype->size : HWY_NONE;
	if (out == HWY_NONE && in != HWY_NONE)
		out = is_same                                  ? in
		      : gathers                                ? times(in, size)
		      : scatters && size > 0 && in % size == 0 ? in / size
							       : HWY_NONE;
	m->sent = times(in, element);
	m->received = times(out, element);
	m->count = scatters ? out : in;
	if (in == HWY_NONE && args->bytes != HWY_NONE)
		fill_bytes_of_range(m, args, size, gathers, scatters);
	int64_t rank = trace->processes[m->process].rank;
	bool is_root = m->peer != HWY_NONE && rank == m->peer;
	bool is_other = m->peer != HWY_NONE && rank != HWY_NONE && !is_root;
	bool broadcasts = !strcmp(name, "Broadcast"), is_barrier = !strcmp(name, "Barrier");
	bool receives = operation->kind == HWY_MESSAGE_RECEIVE;
	if (receives && (m->received == HWY_NONE || m->received == 0))
		m->received = m->sent;
	if (operation->kind == HWY_MESSAGE_SEND || is_barrier || (broadcasts && is_root) ||
	    (is_other && !strcmp(name, "Reduce")))
		m->received = 0;
	if (receives || is_barrier || (broadcasts && is_other))
		m->sent = 0;
}

void message_fill(struct hwy_trace *trace, struct hwy_message *m,
		  const struct collective_args *args, const struct hwy_exchange *operation,
		  const char *library)
{
	m->kind = operation->kind;
	m->name = hwy_intern_z(&trace->strings, operation->name);
	m->library = library ? hwy_intern_z(&trace->strings, library) : HWY_NONE;
	m->group = find_group(trace, (uint32_t)m->process, args, library);
	m->peer = peer_of(trace, m, args, operation);
	m->datatype =
		args->datatype ? hwy_intern_z(&trace->strings, args->datatype->name) : HWY_NONE;
	m->sequence = operation->kind == HWY_MESSAGE_COLLECTIVE ? args->sequence : HWY_NONE;
	fill_bytes(trace, m, args, operation);
}

/* ---- numbers of collectives ------------------------------------------------------------------ */

static int by_group_and_time(const void *left, const void *right)
{
	const struct hwy_message *a = *(struct hwy_message *const *)left,
				 *b = *(struct hwy_message *const *)right;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->library != b->library)
		return a->library < b->library ? -1 : 1;
	/* What was asked for before the recording began has no such moment. */
	if ((a->posted == HWY_NONE) != (b->posted == HWY_NONE))
		return a->posted == HWY_NONE ? -1 : 1;
	int64_t x = a->posted == HWY_NONE ? a->start : a->posted;
	int64_t y = b->posted == HWY_NONE ? b->start : b->posted;
	return x != y ? (x < y ? -1 : 1) : (a->span > b->span) - (a->span < b->span);
}

/* Numbers the n collectives of one group, in the order in which the rank asked for them, unless
 * the source has numbered them: its numbers are right even where recordings begin at different
 * steps. */
static void number_group(struct hwy_message **messages, uint32_t n)
{
	bool is_numbered = true;
	for (uint32_t i = 0; i < n; i++)
		is_numbered &= messages[i]->sequence != HWY_NONE &&
			       (i == 0 || messages[i]->sequence > messages[i - 1]->sequence);
	for (uint32_t i = 0; i < n && !is_numbered; i++)
		messages[i]->sequence = i;
}

void message_number_collectives(struct hwy_trace *trace, uint32_t first)
{
	uint32_t most = trace->n_messages - first, n = 0;
	struct hwy_message **list = hwy_array(most, sizeof(struct hwy_message *));
	for (uint32_t i = first; i < trace->n_messages; i++)
		if (trace->messages[i].kind == HWY_MESSAGE_COLLECTIVE)
			list[n++] = &trace->messages[i];
	if (n > 0)
		qsort(list, n, sizeof(struct hwy_message *), by_group_and_time);
	for (uint32_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && list[to]->process == list[from]->process &&
				    list[to]->group == list[from]->group &&
				    list[to]->library == list[from]->library;)
			to++;
		number_group(list + from, to - from);
	}
	free(list);
}
