/* os.c - calls into the operating system: spans on a lane a thread, and edges from wakers to who waited.
 *
 * A wait was woken by the last call of another thread that wakes through the same object, of those that began
 * while it lasted. Addresses and descriptors are of one process; pipes, sockets and named semaphores are the same
 * in all. A call that a thread was told to be in when its process ended, and that it finished after all, is the
 * finished one. What an image recorded between fork and exec stands in the program that it became.
 */
#include <stdlib.h>

#include "ingest/ingest_internal.h"

struct os_entry {
	const struct rec_os *record;
	uint32_t process; /* of the record: its texts and stacks */
	uint32_t thread;
	uint32_t tid;
	int64_t start, end; /* on the report's clock */
	struct hwy_ref ref;
	uint64_t key; /* of the object; 0: none */
};
struct os_calls {
	struct os_entry *list;
	uint32_t n, cap;
};

/* collect/osrt/osrt.h: what an object's highest four bits say */
enum { KIND_ADDRESS = 0, KIND_DESCRIPTOR = 4 };

static uint64_t os_key_of(const struct os_entry *entry)
{
	uint64_t object = entry->record->object, kind = object >> 60;
	if (!object)
		return 0;
	bool is_local = kind == KIND_ADDRESS || kind == KIND_DESCRIPTOR;
	return hwy_mix(is_local ? hwy_mix(object) ^ entry->process : object) | 1;
}

static uint32_t becomes(const struct ingest *in, uint32_t process)
{
	const struct ingest_process *of = &in->processes[process];
	while (of->becomes)
		of = of->becomes;
	return (uint32_t)(of - in->processes);
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
		.thread = target_thread(in, becomes(in, process), tid),
		.tid = tid,
		.start = row->v[HWY_START],
		.end = row->v[HWY_START] + row->v[HWY_DUR],
	};
	entry->key = os_key_of(entry);
}

/* ---- spans ------------------------------------------------------------------------------------- */

static int by_thread_and_start(const void *left, const void *right)
{
	const struct os_entry *a = left, *b = right;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end > b->end ? -1 : a->end < b->end;
}

static bool is_unfinished(const struct os_entry *entry)
{
	return entry->record->head.flags & REC_OS_UNFINISHED;
}

static bool is_told_twice(const struct os_calls *calls, uint32_t i)
{
	const struct os_entry *entry = &calls->list[i];
	if (!is_unfinished(entry))
		return false;
	for (uint32_t j = i, tries = 0; j-- > 0 && tries++ < 16 &&
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
	row->v[HWY_STACK] = stacks_of_os(in, process, entry->tid, entry->record->start);
	entry->ref = hwy_add_span(in->b, lane, HWY_OS, row);
}

/* In order: what lies around a call is among the open ones before it. */
static void add_spans(struct ingest *in, struct os_calls *calls)
{
	int64_t *open = NULL; /* ends of the calls around */
	uint32_t depth = 0, cap = 0, kept = 0, lane = 0;
	for (uint32_t i = 0; i < calls->n; i++) {
		struct os_entry entry = calls->list[i];
		if (is_told_twice(calls, i))
			continue;
		if (kept == 0 || calls->list[kept - 1].thread != entry.thread) {
			depth = 0;
			int64_t process = in->trace->threads[entry.thread].process;
			lane = hwy_add_lane(in->b, hwy_lane_of(HWY_LANE_OS, process, entry.thread));
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

/* ---- wakers ------------------------------------------------------------------------------------ */

static int by_key_and_start(const void *left, const void *right)
{
	const struct os_entry *a = left, *b = right;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

/* Of entries in the order of by_key_and_start: how many come before what starts after 'time'. */
static uint32_t up_to(const struct os_entry *list, uint32_t n, int64_t time)
{
	uint32_t low = 0, high = n;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (list[middle].start <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Edges among the calls of one object. */
static void os_join(struct ingest *in, const struct os_entry *list, uint32_t n,
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
		uint32_t at = up_to(wakers, n_wakers, wait->end);
		while (at && wakers[at - 1].thread == wait->thread &&
		       wakers[at - 1].start >= wait->start)
			at--;
		if (at && wakers[at - 1].start >= wait->start)
			hwy_add_edge(in->b, HWY_EDGE_WAKE, wakers[at - 1].ref, wait->ref, HWY_NONE);
	}
}

static void add_edges(struct ingest *in, struct os_calls *calls)
{
	if (calls->n)
		qsort(calls->list, calls->n, sizeof *calls->list, by_key_and_start);
	struct os_entry *wakers = hwy_alloc((size_t)calls->n * sizeof *wakers + 1);
	for (uint32_t from = 0, to; from < calls->n; from = to) {
		for (to = from; to < calls->n && calls->list[to].key == calls->list[from].key;)
			to++;
		if (calls->list[from].key)
			os_join(in, calls->list + from, to - from, wakers);
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
