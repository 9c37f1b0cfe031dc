/* SPDX-License-Identifier: Apache-2.0 */
/* os_wakes.c - adds the edges from calls that wake to the calls that waited.
 *
 * A wait was woken by a call of another thread that wakes through the same object: by the last
 * such call that began while the wait lasted. Addresses and descriptors name an object of one
 * process; pipes, sockets and named semaphores are the same object in all processes. Most
 * objects are used by one thread alone, or are never waited for: of these only their number of
 * calls is kept.
 */
#include <stdlib.h>

#include "base/search.h"
#include "base/sort_runs.h"
#include "ingest/os.h"

/* Kinds of objects, in the highest four bits of rec_os.object (collect/osrt/osrt.h). */
enum { KIND_ADDRESS = 0, KIND_DESCRIPTOR = 4 };

struct os_key { /* a key of os_wakes.object_of, so it must have no padding */
	uint64_t object;
	uint64_t scope; /* the process that has the object; UINT64_MAX: all processes share it */
};

struct os_object {
	uint32_t thread; /* the first thread that used the object */
	uint32_t calls;  /* number of calls that use it */
	uint32_t first;  /* index of the object's first use in os_wakes.uses */
	uint32_t uses;   /* number of uses from there on; is counted while spans are added */
	bool is_shared, is_woken, is_awaited;
};

struct os_use { /* a call whose span is known */
	const struct rec_os *record;
	uint32_t list, row;
};

static struct os_object *object_of(struct os_wakes *wakes, struct os_list *list,
				   const struct rec_os *record)
{
	uint64_t kind = record->object >> 60;
	bool is_local = kind == KIND_ADDRESS || kind == KIND_DESCRIPTOR;
	if (list->last_object == record->object)
		return &wakes->objects[hwy_ref32_index(list->last_object_ref)];
	bool fresh;
	struct os_key key = {record->object, is_local ? list->process : UINT64_MAX};
	uint32_t *index = hwy_index_put(&wakes->object_of, &key, sizeof key, &fresh);
	if (fresh) {
		*index = wakes->n;
		HWY_GROW(wakes->objects, wakes->n, wakes->cap);
		wakes->objects[wakes->n++] = (struct os_object){.thread = list->thread};
	}
	list->last_object = record->object;
	list->last_object_ref = hwy_ref32(*index);
	return &wakes->objects[*index];
}

void os_wakes_note(struct os_wakes *wakes, struct os_list *list, const struct rec_os *record)
{
	if (!record->object)
		return;
	struct os_object *object = object_of(wakes, list, record);
	object->calls++;
	object->is_shared |= object->thread != list->thread;
	if (record->head.flags & REC_OS_WAKES)
		object->is_woken = true;
	else
		object->is_awaited = true;
}

static bool may_have_edges(const struct os_object *object)
{
	return object->is_shared && object->is_woken && object->is_awaited;
}

void os_wakes_begin(struct os_wakes *wakes)
{
	uint32_t n = 0; /* no overflow: a trace has at most HWY_MOST_SPANS spans */
	for (uint32_t i = 0; i < wakes->n; i++)
		if (may_have_edges(&wakes->objects[i])) {
			wakes->objects[i].first = n;
			n += wakes->objects[i].calls;
		}
	wakes->uses = hwy_array(n, sizeof *wakes->uses);
}

void os_wakes_add(struct os_wakes *wakes, struct os_list *from, uint32_t list,
		  const struct rec_os *record, uint32_t row)
{
	struct os_object *object = record->object ? object_of(wakes, from, record) : NULL;
	if (!object || !may_have_edges(object))
		return;
	wakes->uses[object->first + object->uses++] =
		(struct os_use){.record = record, .list = list, .row = row};
}

/* ---- edges
 * ------------------------------------------------------------------------------------- */

static bool is_use_before(const void *left, const void *right, const void *context)
{
	const struct os_use *a = left, *b = right;
	const struct os_list *lists = context;
	if (a->record->start != b->record->start)
		return a->record->start < b->record->start;
	return lists[a->list].thread < lists[b->list].thread;
}

static struct hwy_ref span_of(const struct os_list *lists, const struct os_use *use)
{
	return (struct hwy_ref){.strip = lists[use->list].strip, .row = use->row};
}

/* Adds the edges among the uses of one object, which are sorted by start. 'wakers' has room for the
 * indexes of n uses. */
static void join_wakers(struct ingest *in, const struct os_list *lists, const struct os_use *uses,
			uint32_t n, uint32_t *wakers)
{
	uint32_t n_wakers = 0;
	for (uint32_t i = 0; i < n; i++)
		if (uses[i].record->head.flags & REC_OS_WAKES)
			wakers[n_wakers++] = i;
	for (uint32_t i = 0; i < n && n_wakers; i++) {
		const struct rec_os *wait = uses[i].record;
		if (wait->head.flags & (REC_OS_WAKES | REC_OS_UNFINISHED))
			continue;
		int64_t end = os_end(wait);
		uint32_t thread = lists[uses[i].list].thread;
		uint32_t next = HWY_FIRST(w, 0u, n_wakers, uses[wakers[w]].record->start > end);
		while (next && lists[uses[wakers[next - 1]].list].thread == thread &&
		       uses[wakers[next - 1]].record->start >= wait->start)
			next--;
		if (next && uses[wakers[next - 1]].record->start >= wait->start)
			hwy_add_edge(in->b, HWY_EDGE_WAKE, span_of(lists, &uses[wakers[next - 1]]),
				     span_of(lists, &uses[i]), HWY_NONE);
	}
}

void os_wakes_finish(struct ingest *in, struct os_wakes *wakes, const struct os_list *lists)
{
	for (uint32_t i = 0; i < wakes->n; i++) {
		const struct os_object *object = &wakes->objects[i];
		struct os_use *uses = wakes->uses + object->first;
		if (!may_have_edges(object))
			continue;
		uint32_t *wakers = hwy_array(object->uses, sizeof *wakers);
		hwy_sort_runs(uses, object->uses, sizeof *uses, is_use_before, lists);
		join_wakers(in, lists, uses, object->uses, wakers);
		free(wakers);
	}
	free(wakes->uses);
	free(wakes->objects);
	hwy_index_free(&wakes->object_of);
}
