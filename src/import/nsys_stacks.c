/* nsys_stacks.c - call chains: one row a frame in the export, one way to the root in our trie.
 *
 * Depth 0 is the leaf. The rows of one chain stand together in every export seen, but the release notes
 * promise no order: where they do not, the table is read again, sorted.
 */
#include <stdlib.h>

#include "import/nsys.h"

enum { MAX_DEPTH = 4096 }; /* deeper rows of a damaged file are left out */

struct chain {
	int64_t id;
	uint32_t *frames; /* leaf first */
	uint32_t n, cap;
	int64_t depth; /* of the last row */
};

static void finish_chain(struct nsys *n, struct chain *chain, struct nsys_ids *stacks)
{
	int64_t parent = 0;
	for (uint32_t i = chain->n; i-- > 0;)
		parent = 1 + (int64_t)hwy_add_stack(n->b,
						    (struct hwy_stack){.parent = parent,
								       .frame = chain->frames[i]});
	if (chain->n)
		*nsys_ids_put(stacks, chain->id) = (uint32_t)parent;
	chain->n = 0;
}

static uint32_t frame_of(struct nsys_query *q)
{
	struct hwy_frame frame = {
		.function = nsys_string_of(q, 2),
		.module = nsys_string_of(q, 3),
		.address = nsys_int(q, 4),
		.flags = (nsys_int(q, 5) ? HWY_FRAME_UNRESOLVED : 0) |
			 (nsys_int(q, 6) ? HWY_FRAME_KERNEL : 0),
	};
	return hwy_add_frame(q->nsys->b, &frame);
}

/* False when rows of a chain turned up out of order. */
static bool read_chains(struct nsys *n, const char *table, struct nsys_ids *stacks,
			const char *order)
{
	struct nsys_query q;
	struct chain chain = {0};
	bool sorted = true;
	if (!nsys_select(n, &q, table,
			 "!id !stackDepth symbol module originalIP unresolved kernelMode", order))
		return true;
	while (sorted && nsys_next(&q)) {
		int64_t id = nsys_int(&q, 0), depth = nsys_int(&q, 1);
		if (chain.n && id != chain.id)
			finish_chain(n, &chain, stacks);
		if (!order)
			sorted = chain.n ? depth > chain.depth : !nsys_ids_get(stacks, id);
		chain.id = id;
		chain.depth = depth;
		if (chain.n < MAX_DEPTH) {
			HWY_GROW(chain.frames, chain.n, chain.cap);
			chain.frames[chain.n++] = frame_of(&q);
		}
	}
	if (sorted)
		finish_chain(n, &chain, stacks);
	else
		nsys_close(&q);
	free(chain.frames);
	return sorted;
}

static void read_stacks(struct nsys *n, const char *table, struct nsys_ids *stacks)
{
	if (!read_chains(n, table, stacks, NULL)) {
		nsys_ids_free(stacks);
		read_chains(n, table, stacks, "ORDER BY id, stackDepth");
	}
}

void nsys_read_stacks(struct nsys *n)
{
	read_stacks(n, "CUDA_CALLCHAINS", &n->cuda_chains);
	read_stacks(n, "OSRT_CALLCHAINS", &n->os_chains);
	read_stacks(n, "SYSCALL_CALLCHAINS", &n->syscall_chains);
	read_stacks(n, "SAMPLING_CALLCHAINS", &n->sample_chains);
}
