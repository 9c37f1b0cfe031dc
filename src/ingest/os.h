/* SPDX-License-Identifier: Apache-2.0 */
/* os.h - what os.c and os_wakes.c share: the OS calls of a run, as pointers into the spools.
 *
 * A run may have a hundred million calls, so that a call takes 8 bytes here until it is a span of
 * the trace, and 16 more only if another thread used the same object.
 */
#ifndef HWY_INGEST_OS_H
#define HWY_INGEST_OS_H

#include "ingest/ingest_internal.h"

struct os_list { /* the calls that one image of a process recorded of one thread */
	/* process: index of the image that wrote the records, and that has their texts and
	 * stacks. */
	uint32_t process;
	uint32_t thread; /* index into the trace's threads */
	uint32_t strip;  /* of the thread's spans; known once the first span is added */
	const struct rec_os **records;
	uint32_t n, cap;
	struct rec_os *joined; /* the waits for Python's lock, each made of several records */
	uint32_t next;         /* index of the first record that is no span yet */
	/* The object of the list's last call, and its ref in os_wakes.objects: calls in a loop use
	 * the same one. */
	uint64_t last_object;
	uint32_t last_object_ref;
};

struct os_object;
struct os_use;

struct os_wakes {
	struct hwy_index object_of; /* maps the key of an object to an index into 'objects' */
	struct os_object *objects;
	uint32_t n, cap;
	struct os_use *uses; /* of all objects that threads share, object by object */
};

/* Notes that a call uses an object; called for every call. */
void os_wakes_note(struct os_wakes *wakes, struct os_list *list, const struct rec_os *record);
/* Makes room for the uses of the objects that threads share; called after the last
 * os_wakes_note. */
void os_wakes_begin(struct os_wakes *wakes);
/* Keeps a call's span where an edge may begin or end at it. 'list' is the number of the list. */
void os_wakes_add(struct os_wakes *wakes, struct os_list *from, uint32_t list,
		  const struct rec_os *record, uint32_t row);
/* Adds the edges to the trace, and frees 'wakes'. */
void os_wakes_finish(struct ingest *in, struct os_wakes *wakes, const struct os_list *lists);

/* When a call ended, in ns on CLOCK_MONOTONIC. */
static inline int64_t os_end(const struct rec_os *record)
{
	return record->start + ingest_duration(record->duration);
}

#endif
