/* SPDX-License-Identifier: Apache-2.0 */
/* heap.h - numbers in order of time, the earliest at hand; of two at one time the smaller number.
 *
 * heap.at[0] is the earliest. Who changes its time lets it sink.
 */
#ifndef HWY_BASE_HEAP_H
#define HWY_BASE_HEAP_H

#include <stdbool.h>

#include "base/mem.h"

struct hwy_heap_entry {
	int64_t time;
	uint32_t what;
};
struct hwy_heap {
	struct hwy_heap_entry *at;
	uint32_t n, cap;
};

static inline bool hwy_heap_is_before(struct hwy_heap_entry a, struct hwy_heap_entry b)
{
	return a.time < b.time || (a.time == b.time && a.what < b.what);
}

static inline void hwy_heap_sink(struct hwy_heap *heap)
{
	struct hwy_heap_entry moved = heap->at[0];
	uint32_t i = 0;
	for (uint32_t child; (child = 2 * i + 1) < heap->n; i = child) {
		if (child + 1 < heap->n && hwy_heap_is_before(heap->at[child + 1], heap->at[child]))
			child++;
		if (!hwy_heap_is_before(heap->at[child], moved))
			break;
		heap->at[i] = heap->at[child];
	}
	heap->at[i] = moved;
}

static inline void hwy_heap_add(struct hwy_heap *heap, int64_t time, uint32_t what)
{
	struct hwy_heap_entry added = {time, what};
	HWY_GROW(heap->at, heap->n, heap->cap);
	uint32_t i = heap->n++;
	for (; i > 0 && hwy_heap_is_before(added, heap->at[(i - 1) / 2]); i = (i - 1) / 2)
		heap->at[i] = heap->at[(i - 1) / 2];
	heap->at[i] = added;
}

static inline void hwy_heap_drop(struct hwy_heap *heap)
{
	heap->at[0] = heap->at[--heap->n];
	if (heap->n > 1)
		hwy_heap_sink(heap);
}

#endif
