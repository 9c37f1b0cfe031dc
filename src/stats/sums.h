/* SPDX-License-Identifier: Apache-2.0 */
/* sums.h - many values in groups: count, total, extremes, median and deviation of each group.
 *
 * Values come in two rounds, so that none is held twice: first the values of every group are
 * counted, then they are put in place, in any order. A value takes 4 bytes; those that need more
 * stand in a list of their own.
 *
 *   struct sums sums = {0};
 *   for (uint32_t i = 0; i < n; i++)
 *           sums_expect(&sums, groups[i], 1);
 *   sums_open(&sums);
 *   for (uint32_t i = 0; i < n; i++)
 *           sums_put(&sums, groups[i], values[i]);
 *   struct sums_result result = sums_get(&sums, groups[0]);
 *   sums_free(&sums);
 */
#ifndef HWY_STATS_SUMS_H
#define HWY_STATS_SUMS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"

struct sums {
	struct sums_group {
		uint32_t count;   /* how many values the group will get */
		uint32_t filled;  /* how many values are in 'values' so far */
		uint32_t *values; /* the group's part of 'all', after sums_open */
	} * groups;
	uint32_t n, cap;
	uint32_t *all;
	struct sums_large { /* the values of all groups that do not fit 32 bits */
		uint32_t group;
		uint64_t value;
	} * large;
	uint32_t n_large, cap_large;
	uint32_t n_sorted; /* the value of n_large when 'large' was sorted last */
};

struct sums_result {
	uint32_t count;
	int64_t total, min, max;
	double mean, median;
	/* Standard deviation of a sample (divided by count - 1); 0 for one value. */
	double deviation;
};

void sums_grow(struct sums *sums, uint32_t group);
static inline void sums_expect(struct sums *sums, uint32_t group, uint32_t count)
{
	if (group >= sums->n)
		sums_grow(sums, group);
	sums->groups[group].count += count;
}
void sums_open(struct sums *sums);
void sums_put_large(struct sums *sums, uint32_t group, int64_t value);
/* Adds a value to a group. A negative value counts as 0, because it can only come from a damaged
 * recording. */
static inline void sums_put(struct sums *sums, uint32_t group, int64_t value)
{
	struct sums_group *into = &sums->groups[group];
	if ((uint64_t)value > UINT32_MAX) {
		sums_put_large(sums, group, value);
		return;
	}
	assert(into->filled < into->count);
	into->values[into->filled++] = (uint32_t)value;
}
/* Yields the sums of one group. Only the order of the group's values changes, so the function
 * may be called again. */
struct sums_result sums_get(struct sums *sums, uint32_t group);
void sums_free(struct sums *sums);

#endif
