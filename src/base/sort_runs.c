/* SPDX-License-Identifier: Apache-2.0 */
/* sort_runs.c - see sort_runs.h.
 *
 * Blocks of 32 elements are sorted by insertion, then neighbouring runs are merged. Of two runs
 * only the part is touched that must move: elements of the left run that are before the right
 * run, and elements of the right run that are after the left one, stay where they are.
 */
#include "base/sort_runs.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"

enum { BLOCK = 32, MOST_SIZE = 16 };

struct sorting {
	char *list;
	hwy_is_before *is_before;
	const void *context;
	char *spare; /* a copy of the left run's part that must move */
	uint64_t cap_spare;
};

static inline __attribute__((always_inline)) char *at(const struct sorting *s, uint64_t i,
						      size_t size)
{
	return s->list + i * size;
}

static inline __attribute__((always_inline)) void sort_block(const struct sorting *s, uint64_t from,
							     uint64_t to, size_t size)
{
	char moving[MOST_SIZE];
	for (uint64_t i = from + 1; i < to; i++) {
		if (!s->is_before(at(s, i, size), at(s, i - 1, size), s->context))
			continue;
		memcpy(moving, at(s, i, size), size);
		uint64_t j = i;
		for (; j > from && s->is_before(moving, at(s, j - 1, size), s->context); j--)
			memcpy(at(s, j, size), at(s, j - 1, size), size);
		memcpy(at(s, j, size), moving, size);
	}
}

static inline __attribute__((always_inline)) void merge(struct sorting *s, uint64_t from,
							uint64_t middle, uint64_t to, size_t size)
{
	if (!s->is_before(at(s, middle, size), at(s, middle - 1, size), s->context))
		return;
	from = HWY_FIRST(i, from, middle,
			 s->is_before(at(s, middle, size), at(s, i, size), s->context));
	to = HWY_FIRST(i, middle, to,
		       !s->is_before(at(s, i, size), at(s, middle - 1, size), s->context));
	uint64_t n = middle - from, left = 0, right = middle, out = from;
	if (n > s->cap_spare) {
		s->cap_spare = n;
		s->spare = hwy_resize(s->spare, n, size);
	}
	memcpy(s->spare, at(s, from, size), n * size);
	while (left < n && right < to) {
		const char *next = s->spare + left * size;
		bool is_right = s->is_before(at(s, right, size), next, s->context);
		memcpy(at(s, out++, size), is_right ? at(s, right, size) : next, size);
		left += !is_right;
		right += is_right;
	}
	memcpy(at(s, out, size), s->spare + left * size, (n - left) * size);
}

/* 'size' is a constant where this is called, so that the compiler copies elements as words. */
static inline __attribute__((always_inline)) void sort_all(struct sorting *s, uint64_t n,
							   size_t size)
{
	for (uint64_t from = 0; from < n; from += BLOCK)
		sort_block(s, from, n - from < BLOCK ? n : from + BLOCK, size);
	for (uint64_t run = BLOCK; run < n; run *= 2)
		for (uint64_t from = 0; from + run < n; from += 2 * run)
			merge(s, from, from + run, from + 2 * run < n ? from + 2 * run : n, size);
}

void hwy_sort_runs(void *list, uint32_t n, size_t size, hwy_is_before *is_before,
		   const void *context)
{
	struct sorting s = {.list = list, .is_before = is_before, .context = context};
	assert(size == 8 || size == 16);
	if (size == 8)
		sort_all(&s, n, 8);
	else
		sort_all(&s, n, 16);
	free(s.spare);
}
