/* SPDX-License-Identifier: Apache-2.0 */
/* sums.c - see sums.h.
 *
 * Everything is exact until the last step: totals are integers, the deviation is taken around
 * the integer part of the mean in 128 bits, the median is found by counting buckets instead of
 * sorting. One rounding to double at the end, so that results do not depend on the order of the
 * values.
 */
#include "stats/sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"

enum { BUCKET_BITS = 11, BUCKETS = 1 << BUCKET_BITS, SORT_BELOW = 256 };

void sums_grow(struct sums *sums, uint32_t group)
{
	assert(!sums->all);
	while (sums->n <= group) {
		HWY_GROW(sums->groups, sums->n, sums->cap);
		sums->groups[sums->n++] = (struct sums_group){0};
	}
}

void sums_open(struct sums *sums)
{
	uint64_t total = 0;
	for (uint32_t g = 0; g < sums->n; g++)
		total += sums->groups[g].count;
	sums->all = hwy_array(total, sizeof *sums->all);
	uint32_t *next = sums->all;
	for (uint32_t g = 0; g < sums->n; g++) {
		sums->groups[g].values = next;
		next += sums->groups[g].count;
	}
}

void sums_put_large(struct sums *sums, uint32_t group, int64_t value)
{
	if (value < 0) {
		sums_put(sums, group, 0);
		return;
	}
	HWY_GROW(sums->large, sums->n_large, sums->cap_large);
	sums->large[sums->n_large++] = (struct sums_large){group, (uint64_t)value};
}

static int sums_by_value(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	return (a > b) - (a < b);
}

/* Yields the value that would have the index 'rank' if the n values, all in [low, high], were
 * sorted. */
static uint32_t select_rank(uint32_t *values, uint32_t n, uint32_t rank, uint32_t low,
			    uint32_t high)
{
	while (n > SORT_BELOW && low < high) {
		unsigned shift = 0;
		while ((high - low) >> shift >= BUCKETS)
			shift++;
		uint32_t counts[BUCKETS] = {0};
		for (uint32_t i = 0; i < n; i++)
			counts[(values[i] - low) >> shift]++;
		uint32_t bucket = 0;
		for (; rank >= counts[bucket]; bucket++)
			rank -= counts[bucket];
		uint32_t first = low + (bucket << shift), kept = 0;
		if (shift == 0)
			return first;
		/* The values of the bucket change places with the first values, which are not
		 * examined again. */
		for (uint32_t i = 0; i < n; i++)
			if ((values[i] - low) >> shift == bucket) {
				uint32_t value = values[i];
				values[i] = values[kept];
				values[kept++] = value;
			}
		n = kept;
		uint32_t last = first + ((UINT32_C(1) << shift) - 1);
		low = first;
		high = last < first || last > high ? high : last;
	}
	if (low == high)
		return low;
	qsort(values, n, sizeof *values, sums_by_value);
	return values[rank];
}

static int by_group_and_value(const void *left, const void *right)
{
	const struct sums_large *a = left, *b = right;
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return (a->value > b->value) - (a->value < b->value);
}

/* Yields the first of a group's large values; the large values of a group follow each other in
 * ascending order. */
static const struct sums_large *large_values(struct sums *sums, uint32_t group)
{
	if (sums->n_sorted != sums->n_large)
		qsort(sums->large, sums->n_large, sizeof *sums->large, by_group_and_value);
	sums->n_sorted = sums->n_large;
	return sums->large + HWY_FIRST(i, 0u, sums->n_large, sums->large[i].group >= group);
}

struct group { /* one group's values: small ones in any order, large ones sorted */
	uint32_t *small;
	uint32_t n_small, n_large;
	const struct sums_large *large;
	uint32_t low, high; /* the smallest and the largest of the small values */
};

static uint64_t value_at_rank(struct group *group, uint32_t rank)
{
	if (rank >= group->n_small)
		return group->large[rank - group->n_small].value;
	return select_rank(group->small, group->n_small, rank, group->low, group->high);
}

static double median_of(struct group *group)
{
	uint32_t n = group->n_small + group->n_large;
	uint64_t upper = value_at_rank(group, n / 2);
	if (n % 2)
		return (double)upper;
	uint64_t lower = value_at_rank(group, n / 2 - 1);
	/* Halves of integers below 2^53 are exact doubles. */
	return (double)lower + (double)(upper - lower) / 2;
}

static double deviation_of(const struct group *group, unsigned __int128 total)
{
	uint64_t n = (uint64_t)group->n_small + group->n_large;
	if (n < 2)
		return 0;
	/* The squares are taken around the mean's integer part, so that they stay small and
	 * their sum stays exact. */
	uint64_t centre = (uint64_t)(total / n);
	unsigned __int128 squares = 0;
	for (uint32_t i = 0; i < group->n_small; i++) {
		uint64_t value = group->small[i];
		uint64_t off = value > centre ? value - centre : centre - value;
		squares += (unsigned __int128)off * off;
	}
	for (uint32_t i = 0; i < group->n_large; i++) {
		uint64_t value = group->large[i].value;
		uint64_t off = value > centre ? value - centre : centre - value;
		squares += (unsigned __int128)off * off;
	}
	/* The sum of (value - centre) over all values. */
	long double rest = (long double)(uint64_t)(total % n);
	long double variance =
		((long double)squares - rest * rest / (long double)n) / (long double)(n - 1);
	return variance > 0 ? (double)sqrtl(variance) : 0;
}

struct sums_result sums_get(struct sums *sums, uint32_t g)
{
	const struct sums_group *from = &sums->groups[g];
	struct sums_result result = {.count = from->count};
	if (from->count == 0)
		return result;
	struct group group = {.small = from->values,
			      .n_small = from->filled,
			      .n_large = from->count - from->filled,
			      .low = UINT32_MAX};
	if (group.n_large)
		group.large = large_values(sums, g);
	uint64_t small_total = 0;
	for (uint32_t i = 0; i < group.n_small; i++) {
		uint32_t value = group.small[i];
		small_total += value;
		group.low = value < group.low ? value : group.low;
		group.high = value > group.high ? value : group.high;
	}
	unsigned __int128 total = small_total;
	for (uint32_t i = 0; i < group.n_large; i++)
		total += group.large[i].value;
	result.total = total > INT64_MAX ? INT64_MAX : (int64_t)total;
	result.min = (int64_t)(group.n_small ? group.low : group.large[0].value);
	result.max = (int64_t)(group.n_large ? group.large[group.n_large - 1].value : group.high);
	result.mean = (double)result.total / (double)result.count;
	result.deviation = deviation_of(&group, total);
	result.median = median_of(&group);
	return result;
}

void sums_free(struct sums *sums)
{
	free(sums->groups);
	free(sums->all);
	free(sums->large);
	*sums = (struct sums){0};
}
