/* SPDX-License-Identifier: Apache-2.0 */
/* os.c - adds the spans of calls into the operating system, one lane a thread.
 *
 * When a process ends, the calls that its threads are in are written as unfinished; if such a
 * call finished after all, only the finished one is kept. Calls between fork and exec stand in
 * the process that the image became. A wait for Python's lock is one span "GIL". os_wakes.c adds
 * the edges from wakers to waits.
 */
#include "ingest/os.h"

#include <stdlib.h>

#include "base/sort_runs.h"

struct os_calls {
	struct os_list *lists;
	uint32_t n, cap;
	struct hwy_map list_of; /* maps process and tid to an index into 'lists' */
	uint64_t last_key;      /* of list_of: successive records are mostly of one thread */
	uint32_t last_list;
	struct os_wakes wakes;
};

/* The process that an image became by exec before it recorded anything of its own, or the process
 * itself. */
static uint32_t final_image(const struct ingest *in, uint32_t process)
{
	const struct ingest_process *image = &in->processes[process];
	while (image->becomes)
		image = image->becomes;
	return (uint32_t)(image - in->processes);
}

static struct os_list *list_of(struct ingest *in, uint32_t process, uint32_t tid)
{
	struct os_calls *calls = in->os;
	uint64_t key = (uint64_t)process << 32 | tid;
	if (calls->n && key == calls->last_key)
		return &calls->lists[calls->last_list];
	bool fresh;
	uint32_t *index = hwy_map_put(&calls->list_of, key, &fresh);
	if (fresh) {
		*index = calls->n;
		HWY_GROW(calls->lists, calls->n, calls->cap);
		calls->lists[calls->n++] = (struct os_list){
			.process = process,
			.thread = target_thread(in, final_image(in, process), tid),
		};
	}
	calls->last_key = key;
	calls->last_list = *index;
	return &calls->lists[*index];
}

void os_add(struct ingest *in, uint32_t process, uint32_t tid, const struct rec_os *record)
{
	if (record->head.slots * REC_SLOT >= sizeof(struct rec_os_of))
		tid = ((const struct rec_os_of *)record)->tid;
	if (!ingest_times(in, record->start, record->duration, &in->rows[HWY_OS]))
		return;
	if (!in->os)
		in->os = hwy_zalloc(sizeof *in->os);
	struct os_list *list = list_of(in, process, tid);
	HWY_GROW(list->records, list->n, list->cap);
	list->records[list->n++] = record;
	os_wakes_note(&in->os->wakes, list, record);
}

/* ---- order
 * ------------------------------------------------------------------------------------- */

/* Calls begin in the order of their spans; of those that begin together the longest is first, since
 * it is around the others. */
static bool begins_before(const struct rec_os *a, const struct rec_os *b)
{
	return a->start != b->start ? a->start < b->start : os_end(a) > os_end(b);
}

static bool is_record_before(const void *left, const void *right, const void *context)
{
	(void)context;
	return begins_before(*(const struct rec_os *const *)left,
			     *(const struct rec_os *const *)right);
}

static bool is_list_before(const void *left, const void *right, const void *context)
{
	const struct os_list *a = *(const struct os_list *const *)left,
			     *b = *(const struct os_list *const *)right;
	(void)context;
	return a->thread < b->thread;
}

/* The next call of a thread, of whose lists there are n; NULL: there is no more. A thread has
 * several lists only where it was recorded before and after an exec. */
static struct os_list *list_with_next(struct os_list *const *lists, uint32_t n)
{
	struct os_list *best = NULL;
	for (uint32_t i = 0; i < n; i++)
		if (lists[i]->next < lists[i]->n &&
		    (!best ||
		     begins_before(lists[i]->records[lists[i]->next], best->records[best->next])))
			best = lists[i];
	return best;
}

/* ---- Python's lock
 * ----------------------------------------------------------------------------- */

/* Python waits for its lock (GIL) in slices of time, and a thread that is made to give the lock
 * away waits for the other thread to take it before it waits for the lock again. A slice that
 * begins this soon after another one, in ns, belongs to the same wait; in between the thread
 * does next to nothing. */
#define GIL_SLICES_APART_NS 200000

static bool is_gil_wait(const struct rec_os *record)
{
	return (record->head.flags & (REC_OS_GIL | REC_OS_WAKES | REC_OS_UNFINISHED)) == REC_OS_GIL;
}

/* Whether the wait goes on with the slice 'next' after the slice 'last': the time of 'last' was
 * over, or it was for the other condition of the lock, that of the hand-over. */
static bool gil_wait_goes_on(const struct rec_os *last, const struct rec_os *next)
{
	bool has_lock = !(last->head.flags & REC_OS_TIMED_OUT) && last->object == next->object;
	return !has_lock && next->start - os_end(last) <= GIL_SLICES_APART_NS;
}

/* Replaces the slices of each wait for the lock by one record, from the first slice's start to
 * the last one's end. The records are in order of start. */
static void join_gil_waits(struct os_list *list)
{
	uint32_t n = 0, kept = 0, n_joined = 0;
	for (uint32_t i = 0; i < list->n; i++)
		n += is_gil_wait(list->records[i]);
	if (n == 0)
		return;
	list->joined = hwy_array(n, sizeof *list->joined);
	const struct rec_os *last = NULL;
	for (uint32_t i = 0; i < list->n; i++) {
		const struct rec_os *record = list->records[i];
		if (!is_gil_wait(record)) {
			list->records[kept++] = record;
		} else if (last && gil_wait_goes_on(last, record)) {
			struct rec_os *wait = &list->joined[n_joined - 1];
			wait->duration = os_end(record) - wait->start;
			wait->object = record->object;
			last = record;
		} else {
			list->joined[n_joined] = *record;
			list->records[kept++] = &list->joined[n_joined++];
			last = record;
		}
	}
	list->n = kept;
}

/* ---- spans
 * ------------------------------------------------------------------------------------- */

/* How many calls of one thread with the same start are compared at most. */
enum { MOST_TWINS = 16 };

struct os_adding {     /* the state of adding the spans of one thread */
	int64_t *open; /* ends of the calls around the current call */
	uint32_t depth, cap;
	const struct rec_os *twins[MOST_TWINS]; /* finished calls with the same start */
	uint32_t n_twins;
};

static bool is_unfinished(const struct rec_os *record)
{
	return record->head.flags & REC_OS_UNFINISHED;
}

/* Whether an unfinished call was recorded a second time, as finished; remembers finished calls. */
static bool has_finished_twin(struct os_adding *adding, const struct rec_os *record)
{
	if (adding->n_twins && adding->twins[0]->start != record->start)
		adding->n_twins = 0;
	for (uint32_t i = 0; is_unfinished(record) && i < adding->n_twins; i++)
		if (adding->twins[i]->head.value == record->head.value)
			return true;
	if (!is_unfinished(record) && adding->n_twins < MOST_TWINS)
		adding->twins[adding->n_twins++] = record;
	return false;
}

static struct hwy_ref os_add_span(struct ingest *in, const struct os_list *list,
				  const struct rec_os *record, uint32_t nesting)
{
	struct ingest_process *process = &in->processes[list->process];
	uint32_t tid = (uint32_t)in->trace->threads[list->thread].tid;
	struct hwy_row *row = &in->rows[HWY_OS];
	ingest_times(in, record->start, record->duration, row);
	row->v[HWY_NAME] = (record->head.flags & (REC_OS_GIL | REC_OS_WAKES)) == REC_OS_GIL
				   ? hwy_text_id(in->b, HWY_GIL_NAME)
				   : ingest_text(in, process, record->head.value);
	row->v[HWY_NESTING] = nesting;
	row->v[HWY_ADDRESS] = (int64_t)(record->object & INT64_MAX);
	row->v[HWY_FLAGS] = is_unfinished(record) ? HWY_FLAG_UNFINISHED : 0;
	row->v[HWY_STACK] = stacks_find_at(in, process, tid, record->start);
	return hwy_add_span(in->b, hwy_add_thread_lane(in->b, HWY_LANE_OS, list->thread), HWY_OS,
			    row);
}

/* Adds the spans of one thread by their start: then the calls around a call come before it, and the
 * number of those that still last is its nesting. */
static void add_thread(struct ingest *in, struct os_list *const *lists, uint32_t n,
		       struct os_adding *adding)
{
	struct os_list *list;
	adding->depth = adding->n_twins = 0;
	while ((list = list_with_next(lists, n))) {
		const struct rec_os *record = list->records[list->next++];
		if (has_finished_twin(adding, record))
			continue;
		int64_t end = os_end(record);
		while (adding->depth && adding->open[adding->depth - 1] < end)
			adding->depth--;
		struct hwy_ref span = os_add_span(in, list, record, adding->depth);
		HWY_GROW(adding->open, adding->depth, adding->cap);
		adding->open[adding->depth++] = end;
		list->strip = span.strip;
		os_wakes_add(&in->os->wakes, list, (uint32_t)(list - in->os->lists), record,
			     span.row);
	}
}

void os_finish(struct ingest *in)
{
	struct os_calls *calls = in->os;
	if (!calls)
		return;
	struct os_adding adding = {0};
	struct os_list **order = hwy_array(calls->n, sizeof *order);
	for (uint32_t i = 0; i < calls->n; i++) {
		struct os_list *list = order[i] = &calls->lists[i];
		hwy_sort_runs(list->records, list->n, sizeof *list->records, is_record_before,
			      NULL);
		join_gil_waits(list);
	}
	hwy_sort_runs(order, calls->n, sizeof *order, is_list_before, NULL);
	os_wakes_begin(&calls->wakes);
	for (uint32_t from = 0, to; from < calls->n; from = to) {
		for (to = from; to < calls->n && order[to]->thread == order[from]->thread;)
			to++;
		add_thread(in, order + from, to - from, &adding);
		for (uint32_t i = from; i < to; i++) {
			free(order[i]->records);
			order[i]->records = NULL;
		}
	}
	os_wakes_finish(in, &calls->wakes, calls->lists);
	for (uint32_t i = 0; i < calls->n; i++)
		free(calls->lists[i].joined);
	free(adding.open);
	free(order);
	free(calls->lists);
	hwy_map_free(&calls->list_of);
	free(calls);
	in->os = NULL;
}
