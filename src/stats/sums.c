/* sums.c - see sums.h.
 *
 * Everything is exact until the last step: totals are integers, the deviation is taken around the integer
 * part of the mean in 128 bits, the median is found by counting buckets instead of sorting. One rounding to
 * double at the end, so that results do not depend on the order of the values.
 */
#include "stats/sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
	sums->all = hwy_alloc((total ? total : 1) * sizeof *sums->all);
	uint32_t *at = sums->all;
	for (uint32_t g = 0; g < sums->n; g++) {
		sums->groups[g].values = at;
		at += sums->groups[g].count;
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

/* The value with 'rank' smaller ones before it, among values between low and high. */
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
		/* The bucket's values move to the front; what was there takes their place. */
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

/* The large values of a group, sorted. */
static const struct sums_large *large_values(struct sums *sums, uint32_t group)
{
	if (sums->sorted != sums->n_large)
		qsort(sums->large, sums->n_large, sizeof *sums->large, by_group_and_value);
	sums->sorted = sums->n_large;
	uint32_t low = 0, high = sums->n_large;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (sums->large[middle].group < group)
			low = middle + 1;
		else
			high = middle;
	}
	return sums->large + low;
}

struct group { /* one group's values: small ones in any order, large ones sorted */
	uint32_t *small;
	uint32_t n_small, n_large;
	const struct sums_large *large;
	uint32_t low, high; /* extremes of the small ones */
};

static uint64_t sums_rank_of(struct group *group, uint32_t rank)
{
	if (rank >= group->n_small)
		return group->large[rank - group->n_small].value;
	return select_rank(group->small, group->n_small, rank, group->low, group->high);
}

static double median_of(struct group *group)
{
	uint32_t n = group->n_small + group->n_large;
	uint64_t upper = sums_rank_of(group, n / 2);
	if (n % 2)
		return (double)upper;
	uint64_t lower = sums_rank_of(group, n / 2 - 1);
	/* Halves of integers below 2^53 are exact doubles. */
	return (double)lower + (double)(upper - lower) / 2;
}

static double deviation_of(const struct group *group, unsigned __int128 total)
{
	uint64_t n = (uint64_t)group->n_small + group->n_large;
	if (n < 2)
		return 0;
	/* Around the mean's integer part the squares stay small and their sum exact. */
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
	long double rest = (long double)(uint64_t)(total % n); /* sum of the signed distances */
	long double variance =
		((long double)squares - rest * rest / (long double)n) / (long double)(n - 1);
	return variance > 0 ? (double)sqrtl(variance) : 0;
}

struct sums_of sums_get(struct sums *sums, uint32_t g)
{
	struct sums_group *at = &sums->groups[g];
	struct sums_of of = {.count = at->count};
	if (at->count == 0)
		return of;
	struct group group = {.small = at->values,
			      .n_small = at->filled,
			      .n_large = at->count - at->filled,
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
	of.total = total > INT64_MAX ? INT64_MAX : (int64_t)total;
	of.min = (int64_t)(group.n_small ? group.low : group.large[0].value);
	of.max = (int64_t)(group.n_large ? group.large[group.n_large - 1].value : group.high);
	of.mean = (double)of.total / (double)of.count;
	of.deviation = deviation_of(&group, total);
	of.median = median_of(&group);
	return of;
}

void sums_free(struct sums *sums)
{
	free(sums->groups);
	free(sums->all);
	free(sums->large);
	*sums = (struct sums){0};
}
