/* sums.h - many values in groups: count, total, extremes, median and deviation of each group.
 *
 * Values come in two rounds, so that none is held twice: first every group's values are counted, then they
 * are put in place. 4 bytes a value; those that need more stand in a list of their own.
 *
 *   struct sums sums = {0};
 *   sums_expect(&sums, group, 1);          for each value
 *   sums_open(&sums);
 *   sums_put(&sums, group, value);         for each value again, in any order
 *   struct sums_of of = sums_get(&sums, group);
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
		uint32_t count;
		uint32_t filled;
		uint32_t *values; /* inside 'all', once open */
	} * groups;
	uint32_t n, cap;
	uint32_t *all;
	struct sums_large { /* values that do not fit 32 bits */
		uint32_t group;
		uint64_t value;
	} * large;
	uint32_t n_large, cap_large;
	uint32_t sorted; /* n_large when 'large' was sorted last */
};

struct sums_of {
	uint32_t count;
	int64_t total, min, max;
	double mean, median, deviation; /* deviation: of a sample (n - 1); 0 for one value */
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
/* Negative values count as 0: durations have none. */
static inline void sums_put(struct sums *sums, uint32_t group, int64_t value)
{
	struct sums_group *at = &sums->groups[group];
	if ((uint64_t)value > UINT32_MAX) {
		sums_put_large(sums, group, value);
		return;
	}
	assert(at->filled < at->count);
	at->values[at->filled++] = (uint32_t)value;
}
/* Reorders the group's values, nothing else: may be asked again. */
struct sums_of sums_get(struct sums *sums, uint32_t group);
void sums_free(struct sums *sums);

#endif
