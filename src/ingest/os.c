/* SPDX-License-Identifier: Apache-2.0 */
/* os.c - adds the spans of calls into the operating system, one lane a thread, and edges from
 * wakers to waits.
 *
 * A wait was woken by a call of another thread that wakes through the same object: by the last such
 * call that began while the wait lasted. Addresses and descriptors name an object of one process;
 * pipes, sockets and named semaphores are the same object in all processes. When a process ends,
 * the calls that its threads are in are written as unfinished; if such a call finished after all,
 * only the finished one is kept. Calls between fork and exec stand in the process that the image
 * became.
 */
#include <stdlib.h>

#include "base/search.h"
#include "ingest/ingest_internal.h"

struct os_entry {
	const struct rec_os *record;
	/* process: index of the image that wrote the record, and that has the record's texts and
	 * stacks. */
	uint32_t process;
	uint32_t thread; /* index into the trace's threads */
	uint32_t tid;
	int64_t start, end; /* ns on the trace's clock */
	struct hwy_ref span;
	uint64_t object; /* the object that the call waits for or wakes; 0: the call has none */
	/* The process that the object belongs to; UINT64_MAX: all processes share the object. */
	uint64_t object_scope;
	uint64_t object_hash; /* hash of object and object_scope */
};
struct os_calls {
	struct os_entry *list;
	uint32_t n, cap;
};

/* Kinds of objects, in the highest four bits of rec_os.object (collect/osrt/osrt.h). */
enum { KIND_ADDRESS = 0, KIND_DESCRIPTOR = 4 };

static void note_object(struct os_entry *entry)
{
	uint64_t object = entry->record->object, kind = object >> 60;
	if (!object)
		return;
	bool is_local = kind == KIND_ADDRESS || kind == KIND_DESCRIPTOR;
	entry->object = object;
	entry->object_scope = is_local ? entry->process : UINT64_MAX;
	entry->object_hash = hwy_mix(is_local ? hwy_mix(object) ^ entry->process : object) | 1;
}

static bool is_same_object(const struct os_entry *a, const struct os_entry *b)
{
	return a->object == b->object && a->object_scope == b->object_scope;
}

/* The process that an image became by exec before it recorded anything of its own, or the process
 * itself. */
static uint32_t final_image(const struct ingest *in, uint32_t process)
{
	const struct ingest_process *image = &in->processes[process];
	while (image->becomes)
		image = image->becomes;
	return (uint32_t)(image - in->processes);
}

void os_add(struct ingest *in, uint32_t process, uint32_t tid, const struct rec_os *record)
{
	struct hwy_row *row = &in->rows[HWY_OS];
	if (record->head.slots * REC_SLOT >= sizeof(struct rec_os_of))
		tid = ((const struct rec_os_of *)record)->tid;
	if (!ingest_times(in, record->start, record->duration, row))
		return;
	if (!in->os)
		in->os = hwy_zalloc(sizeof *in->os);
	struct os_calls *calls = in->os;
	HWY_GROW(calls->list, calls->n, calls->cap);
	struct os_entry *entry = &calls->list[calls->n++];
	*entry = (struct os_entry){
		.record = record,
		.process = process,
		.thread = target_thread(in, final_image(in, process), tid),
		.tid = tid,
		.start = row->v[HWY_START],
		.end = row->v[HWY_START] + row->v[HWY_DUR],
	};
	note_object(entry);
}

/* ---- spans
 * ------------------------------------------------------------------------------------- */

static int by_thread_and_start(const void *left, const void *right)
{
	const struct os_entry *a = left, *b = right;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end > b->end ? -1 : a->end < b->end;
}

/* How many calls of one thread with the same start are compared at most. */
enum { MOST_TWINS = 16 };

static bool is_unfinished(const struct os_entry *entry)
{
	return entry->record->head.flags & REC_OS_UNFINISHED;
}

/* Whether an unfinished call stands in the list a second time, as finished. */
static bool has_finished_twin(const struct os_calls *calls, uint32_t i)
{
	const struct os_entry *entry = &calls->list[i];
	if (!is_unfinished(entry))
		return false;
	for (uint32_t j = i, tries = 0; j-- > 0 && tries++ < MOST_TWINS &&
					calls->list[j].thread == entry->thread &&
					calls->list[j].start == entry->start;)
		if (!is_unfinished(&calls->list[j]) &&
		    calls->list[j].record->head.value == entry->record->head.value)
			return true;
	return false;
}

static void os_add_span(struct ingest *in, struct os_entry *entry, uint32_t lane, uint32_t nesting)
{
	struct ingest_process *process = &in->processes[entry->process];
	struct hwy_row *row = &in->rows[HWY_OS];
	row->v[HWY_START] = entry->start;
	row->v[HWY_DUR] = entry->end - entry->start;
	row->v[HWY_NAME] = ingest_text(in, process, entry->record->head.value);
	row->v[HWY_NESTING] = nesting;
	row->v[HWY_ADDRESS] = (int64_t)(entry->record->object & INT64_MAX);
	row->v[HWY_FLAGS] = is_unfinished(entry) ? HWY_FLAG_UNFINISHED : 0;
	row->v[HWY_STACK] = stacks_find_os_call(in, process, entry->tid, entry->record->start);
	entry->span = hwy_add_span(in->b, lane, HWY_OS, row);
}

/* Adds the spans in the order of by_thread_and_start: then the calls around a call come before it,
 * and the number of those that still last is its nesting. */
static void add_spans(struct ingest *in, struct os_calls *calls)
{
	int64_t *open = NULL; /* ends of the calls around the current call */
	uint32_t depth = 0, cap = 0, kept = 0, lane = 0;
	for (uint32_t i = 0; i < calls->n; i++) {
		struct os_entry entry = calls->list[i];
		if (has_finished_twin(calls, i))
			continue;
		if (kept == 0 || calls->list[kept - 1].thread != entry.thread) {
			depth = 0;
			lane = hwy_add_thread_lane(in->b, HWY_LANE_OS, entry.thread);
		}
		while (depth && open[depth - 1] < entry.end)
			depth--;
		os_add_span(in, &entry, lane, depth);
		HWY_GROW(open, depth, cap);
		open[depth++] = entry.end;
		calls->list[kept++] = entry;
	}
	calls->n = kept;
	free(open);
}

/* ---- wakers
 * ------------------------------------------------------------------------------------ */

static int by_object_and_start(const void *left, const void *right)
{
	const struct os_entry *a = left, *b = right;
	if (a->object_hash != b->object_hash)
		return a->object_hash < b->object_hash ? -1 : 1;
	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	if (a->object_scope != b->object_scope)
		return a->object_scope < b->object_scope ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

/* Adds the edges among the calls of one object, which are sorted by start. 'wakers' has room for n
 * entries. */
static void join_wakers(struct ingest *in, const struct os_entry *list, uint32_t n,
			struct os_entry *wakers)
{
	uint32_t n_wakers = 0;
	for (uint32_t i = 0; i < n; i++)
		if (list[i].record->head.flags & REC_OS_WAKES)
			wakers[n_wakers++] = list[i];
	for (uint32_t i = 0; i < n && n_wakers; i++) {
		const struct os_entry *wait = &list[i];
		if (wait->record->head.flags & (REC_OS_WAKES | REC_OS_UNFINISHED))
			continue;
		uint32_t next = HWY_FIRST(w, 0u, n_wakers, wakers[w].start > wait->end);
		while (next && wakers[next - 1].thread == wait->thread &&
		       wakers[next - 1].start >= wait->start)
			next--;
		if (next && wakers[next - 1].start >= wait->start)
			hwy_add_edge(in->b, HWY_EDGE_WAKE, wakers[next - 1].span, wait->span,
				     HWY_NONE);
	}
}

static void add_edges(struct ingest *in, struct os_calls *calls)
{
	if (calls->n)
		qsort(calls->list, calls->n, sizeof *calls->list, by_object_and_start);
	struct os_entry *wakers = hwy_array(calls->n, sizeof *wakers);
	for (uint32_t from = 0, to; from < calls->n; from = to) {
		for (to = from;
		     to < calls->n && is_same_object(&calls->list[to], &calls->list[from]);)
			to++;
		if (calls->list[from].object)
			join_wakers(in, calls->list + from, to - from, wakers);
	}
	free(wakers);
}

void os_finish(struct ingest *in)
{
	struct os_calls *calls = in->os;
	if (!calls)
		return;
	if (calls->n)
		qsort(calls->list, calls->n, sizeof *calls->list, by_thread_and_start);
	add_spans(in, calls);
	add_edges(in, calls);
	free(calls->list);
	free(calls);
	in->os = NULL;
}
