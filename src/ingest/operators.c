/* SPDX-License-Identifier: Apache-2.0 */
/* operators.c - adds the operators of PyTorch, one lane a thread, and the edges from forward to
 * backward operators; and the scopes of libraries that communicate on threads of their own
 * ("gloo:all_reduce"), as calls on the lane of the library.
 *
 * An operator is written when it ends, so an operator stands behind those that it called. A
 * backward operator has the sequence number of the node of the autograd graph that it runs; the
 * forward operator that made the node has the same one. Operators that make no node have the
 * number of the next node that is made, so of several forward operators with one number the last
 * one made the node. Threads count for themselves: where more than one thread runs forward
 * operators, the last one of all threads before the backward operator is taken.
 */
#include "ingest/operators.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort_runs.h"
#include "ingest/python_places.h"
#include "spool/record_frameworks.h"

/* Numbers of at::RecordScope. */
enum { SCOPE_FUNCTION = 0, SCOPE_BACKWARD = 1, SCOPE_USER = 7 };

struct operator_list { /* the operators of one thread */
	uint32_t process, tid;
	const struct rec_operator **records;
	uint32_t n, cap;
};

struct numbered { /* an operator with a sequence number */
	uint32_t process, sequence;
	int64_t start;
	struct hwy_ref span;
};
struct numbered_list {
	struct numbered *items;
	uint32_t n, cap;
};

struct operators {
	struct operator_list *lists;
	uint32_t n, cap;
	struct hwy_map list_of; /* maps process and tid to an index into 'lists' */
	struct numbered_list forward, backward;
};

/* String id of the shapes and types of an operator's inputs; 0: they were not recorded. */
static uint32_t inputs_of(const struct rec_operator *record)
{
	if (record->head.slots * REC_SLOT < sizeof(struct rec_operator_inputs))
		return 0;
	return ((const struct rec_operator_inputs *)record)->inputs;
}

/* The thread on which the scope of a library that communicates began; 0: the record is no such
 * scope. */
static uint32_t thread_of(const struct rec_operator *record)
{
	if (record->head.slots * REC_SLOT < sizeof(struct rec_operator_inputs))
		return 0;
	return ((const struct rec_operator_inputs *)record)->thread;
}

void operators_add(struct ingest *in, uint32_t process, uint32_t tid,
		   const struct rec_operator *record)
{
	if (!in->operators)
		in->operators = hwy_zalloc(sizeof *in->operators);
	struct operators *all = in->operators;
	if (!ingest_times(in, record->start, record->duration, &in->rows[HWY_OP]))
		return;
	bool fresh;
	uint32_t began_on = thread_of(record);
	tid = began_on ? began_on : tid;
	uint32_t *index = hwy_map_put(&all->list_of, (uint64_t)process << 32 | tid, &fresh);
	if (fresh) {
		*index = all->n;
		HWY_GROW(all->lists, all->n, all->cap);
		all->lists[all->n++] = (struct operator_list){.process = process, .tid = tid};
	}
	struct operator_list *list = &all->lists[*index];
	HWY_GROW(list->records, list->n, list->cap);
	list->records[list->n++] = record;
}

/* ---- spans ----------------------------------------------------------------------------------- */

static int64_t operator_end(const struct rec_operator *record)
{
	return record->start + ingest_duration(record->duration);
}

/* Of operators that begin together the one around the others ends last; of those that end
 * together too, it was written last. */
static bool operator_is_before(const void *left, const void *right, const void *context)
{
	const struct rec_operator *a = *(const struct rec_operator *const *)left,
				  *b = *(const struct rec_operator *const *)right;
	(void)context;
	if (a->start != b->start)
		return a->start < b->start;
	return operator_end(a) != operator_end(b) ? operator_end(a) > operator_end(b) : a > b;
}

static void keep_number(struct operators *all, const struct operator_list *list,
			const struct rec_operator *record, struct hwy_ref span)
{
	uint8_t scope = record->head.flags;
	struct numbered_list *into = scope == SCOPE_BACKWARD   ? &all->backward
				     : scope == SCOPE_FUNCTION ? &all->forward
							       : NULL;
	if (!into || record->sequence == UINT32_MAX)
		return;
	HWY_GROW(into->items, into->n, into->cap);
	into->items[into->n++] =
		(struct numbered){list->process, record->sequence, record->start, span};
}

/* Adds the scope of a library that communicates on threads of its own; such scopes may overlap. */
static void operators_add_exchange(struct ingest *in, struct operator_list *list, uint32_t thread,
				   const struct rec_operator *record)
{
	struct ingest_process *process = &in->processes[list->process];
	struct hwy_row *row = &in->rows[HWY_CALL];
	struct hwy_lane lane = hwy_lane_of(HWY_LANE_CALL, process->record, thread);
	ingest_times(in, record->start, record->duration, row);
	row->v[HWY_NAME] = ingest_text(in, process, record->head.value);
	row->v[HWY_STACK] = python_places_stack(in, process, record->place);
	row->v[HWY_ARGS] = ingest_text(in, process, inputs_of(record));
	struct hwy_text name = hwy_text(hwy_builder_trace(in->b), row->v[HWY_NAME]);
	const char *end = memchr(name.at, ':', name.length);
	lane.name = hwy_text_id_n(in->b, name.at, end ? (size_t)(end - name.at) : name.length);
	hwy_add_span(in->b, hwy_add_lane(in->b, lane), HWY_CALL, row);
}

static void operators_add_thread(struct ingest *in, struct operator_list *list)
{
	struct ingest_process *process = &in->processes[list->process];
	uint32_t thread = target_thread(in, list->process, list->tid);
	uint32_t lane = hwy_add_thread_lane(in->b, HWY_LANE_OP, thread);
	/* The end of the outermost backward operator so far: what runs inside of it is no
	 * forward operator. */
	int64_t backward_until = INT64_MIN;
	hwy_sort_runs(list->records, list->n, sizeof *list->records, operator_is_before, NULL);
	for (uint32_t i = 0; i < list->n; i++) {
		const struct rec_operator *record = list->records[i];
		if (thread_of(record)) {
			operators_add_exchange(in, list, thread, record);
			continue;
		}
		struct hwy_row *row = &in->rows[HWY_OP];
		ingest_times(in, record->start, record->duration, row);
		row->v[HWY_NAME] = ingest_text(in, process, record->head.value);
		row->v[HWY_STACK] = python_places_stack(in, process, record->place);
		row->v[HWY_SEQUENCE] =
			record->sequence == UINT32_MAX ? HWY_REF_NONE : hwy_ref(record->sequence);
		row->v[HWY_FLAGS] = record->head.flags == SCOPE_USER ? HWY_FLAG_SCOPE : 0;
		row->v[HWY_ARGS] = ingest_text(in, process, inputs_of(record));
		struct hwy_ref span = hwy_add_span(in->b, lane, HWY_OP, row);
		if (record->start < backward_until)
			continue;
		keep_number(in->operators, list, record, span);
		if (record->head.flags == SCOPE_BACKWARD)
			backward_until = operator_end(record);
	}
}

/* ---- from forward to backward operators ------------------------------------------------------ */

static int by_number(const void *left, const void *right)
{
	const struct numbered *a = left, *b = right;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->sequence != b->sequence)
		return a->sequence < b->sequence ? -1 : 1;
	return a->start < b->start ? -1 : a->start > b->start;
}

/* Both lists are in the same order, so each is gone through once. */
static void operators_pair(struct ingest *in, struct numbered_list *forward,
			   struct numbered_list *backward)
{
	uint32_t next = 0;
	if (!forward->n || !backward->n)
		return;
	qsort(forward->items, forward->n, sizeof *forward->items, by_number);
	qsort(backward->items, backward->n, sizeof *backward->items, by_number);
	for (uint32_t i = 0; i < backward->n; i++) {
		const struct numbered *to = &backward->items[i];
		while (next < forward->n && by_number(&forward->items[next], to) < 0)
			next++;
		const struct numbered *from = next ? &forward->items[next - 1] : NULL;
		if (from && from->process == to->process && from->sequence == to->sequence)
			hwy_add_edge(in->b, HWY_EDGE_FORWARD, from->span, to->span, to->sequence);
	}
}

void operators_finish(struct ingest *in)
{
	struct operators *all = in->operators;
	if (!all)
		return;
	for (uint32_t i = 0; i < all->n; i++) {
		operators_add_thread(in, &all->lists[i]);
		free(all->lists[i].records);
	}
	operators_pair(in, &all->forward, &all->backward);
	free(all->forward.items);
	free(all->backward.items);
	free(all->lists);
	hwy_map_free(&all->list_of);
	free(all);
	in->operators = NULL;
}
