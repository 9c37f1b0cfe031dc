/* SPDX-License-Identifier: Apache-2.0 */
/* nsys_stacks.c - reads call chains. A row of the export is one frame of a chain; depth 0 is the
 * innermost frame.
 *
 * In every export seen the rows of a chain stand together, ordered by depth, but no document
 * promises that: where they do not, the table is read again, sorted.
 */
#include <stdlib.h>

#include "import/nsys/nsys.h"

enum {
	/* MOST_FRAMES: a chain has at most so many frames; only a damaged file has more, which
	 * are left out. */
	MOST_FRAMES = 4096
};

struct chains {
	struct hwy_ids *stacks; /* maps a chain id to the ref of a stack of the trace */
	bool sorted; /* the table is read a second time, sorted: a row out of order is damage */
	int64_t id;  /* id of the current chain */
	uint32_t *frames; /* frames of the trace that make up the current chain, innermost first */
	uint32_t n, cap;
	int64_t depth; /* depth in the last row of the current chain */
};

static void finish_chain(struct nsys *n, struct chains *chains)
{
	int64_t parent = HWY_REF_NONE;
	for (uint32_t i = chains->n; i-- > 0;) {
		struct hwy_stack node = {.parent = parent, .frame = chains->frames[i]};
		parent = hwy_ref(hwy_add_stack(n->b, node));
	}
	if (chains->n)
		*hwy_ids_put(chains->stacks, (uint64_t)chains->id) = (uint32_t)parent;
	chains->n = 0;
}

static uint32_t frame_of(struct nsys_query *q)
{
	int64_t address = nsys_int(q, 4);
	struct hwy_frame frame = {
		.function = nsys_null(q, 2) ? 0 : nsys_function(q->nsys, nsys_int(q, 2), address),
		.module = nsys_string_of(q, 3),
		.address = address,
		.flags = (nsys_int(q, 5) ? HWY_FRAME_UNRESOLVED : 0) |
			 (nsys_int(q, 6) ? HWY_FRAME_KERNEL : 0),
	};
	return hwy_add_frame(q->nsys->b, &frame);
}

static void add_frame(struct nsys_query *q)
{
	struct chains *chains = q->user;
	int64_t id = nsys_int(q, 0), depth = nsys_int(q, 1);
	if (chains->n && id != chains->id)
		finish_chain(q->nsys, chains);
	bool follows = chains->n ? depth > chains->depth
				 : !hwy_ref32_is_set(hwy_ids_get(chains->stacks, (uint64_t)id));
	if (!follows && !chains->sorted) {
		q->stop = true;
		return;
	}
	chains->id = id;
	chains->depth = depth;
	if (chains->n < MOST_FRAMES) {
		HWY_GROW(chains->frames, chains->n, chains->cap);
		chains->frames[chains->n++] = frame_of(q);
	}
}

static void read_stacks(struct nsys *n, const char *table, struct hwy_ids *stacks)
{
	static const char columns[] =
		"~id ~stackDepth symbol module originalIP unresolved kernelMode";
	struct chains chains = {.stacks = stacks};
	bool in_order = nsys_each(n, table, columns, NULL, add_frame, &chains);
	if (!in_order && !n->failed) {
		struct nsys_query q;
		chains.n = 0;
		chains.sorted = true;
		hwy_ids_free(stacks);
		if (nsys_select(n, &q, table, columns, "ORDER BY id, stackDepth")) {
			q.user = &chains;
			while (nsys_next(&q))
				add_frame(&q);
		}
	}
	finish_chain(n, &chains);
	free(chains.frames);
}

void nsys_read_stacks(struct nsys *n)
{
	read_stacks(n, "CUDA_CALLCHAINS", &n->cuda_chains);
	read_stacks(n, "OSRT_CALLCHAINS", &n->os_chains);
	read_stacks(n, "SYSCALL_CALLCHAINS", &n->syscall_chains);
	read_stacks(n, "SAMPLING_CALLCHAINS", &n->sample_chains);
}
