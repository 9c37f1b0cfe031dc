/* SPDX-License-Identifier: Apache-2.0 */
/* digest_drift.c - steps that get slower with time: of all ranks together, or of some compared
 * with the others; see digest_answer.h.
 *
 * The recording is cut into DRIFT_BLOCKS pieces. Mann and Kendall's test on their medians tells
 * whether they rise, Theil and Sen's line by how much: neither is moved by a few long steps. A
 * rank is accused where chance would hardly show that for one of so many ranks, its rise is
 * beyond the threshold of all ranks' (digest_outliers.h), and worthwhile. It then counts as late
 * only if it is late from the begin.
 */
#include <math.h>
#include <stdlib.h>

#include "base/quantile.h"
#include "digest/digest_answer.h"
#include "digest/digest_outliers.h"

enum { DRIFT_BLOCKS = 16 };
#define TREND_CHANCE 0.001
#define LEAST_RISE_SHARE 0.0025

struct drift_line {
	bool is_known;
	double from, to, chance;
};

/* The line through a series; values that are HWY_NONE are left out. */
static struct drift_line line_of(const int64_t *values, uint32_t n, int64_t *room)
{
	double medians[DRIFT_BLOCKS], at_0;
	for (uint32_t k = 0; k < DRIFT_BLOCKS; k++) {
		uint32_t in = 0;
		uint32_t end = (uint32_t)((uint64_t)n * (k + 1) / DRIFT_BLOCKS);
		for (uint32_t i = (uint32_t)((uint64_t)n * k / DRIFT_BLOCKS); i < end; i++)
			if (values[i] != HWY_NONE)
				room[in++] = values[i];
		if (in == 0)
			return (struct drift_line){0};
		hwy_sort(room, in);
		medians[k] = (double)hwy_median_between(room, in);
	}
	double slope = outliers_slope(medians, DRIFT_BLOCKS, &at_0);
	return (struct drift_line){
		.is_known = true,
		.from = at_0,
		.to = at_0 + slope * (DRIFT_BLOCKS - 1),
		.chance = outliers_rises(medians, DRIFT_BLOCKS),
	};
}

/* ---- all ranks together ---------------------------------------------------------------------- */

/* The rise of the median own time of all ranks. */
static double own_rise(const struct digest_answer *answer, int64_t *room)
{
	const struct digest_matrix *m = &answer->matrix;
	int64_t *medians = hwy_array(m->n_buckets, sizeof *medians);
	int64_t *column = hwy_array(answer->n, sizeof *column);
	for (uint32_t b = 0; b < m->n_buckets; b++) {
		uint32_t n = 0;
		for (uint32_t r = 0; r < answer->n; r++)
			if (answer->ranks[r].state != DIGEST_NOT_JUDGED &&
			    m->own[(size_t)r * m->n_buckets + b] != HWY_NONE)
				column[n++] = m->own[(size_t)r * m->n_buckets + b];
		hwy_sort(column, n);
		medians[b] = hwy_median_between(column, n);
	}
	struct drift_line line = line_of(medians, m->n_buckets, room);
	free(medians);
	free(column);
	return line.to - line.from;
}

static void find_trend(struct digest_answer *answer, int64_t *room)
{
	const struct digest_matrix *m = &answer->matrix;
	struct drift_line line = line_of(m->usual, m->n_buckets, room);
	double rise = line.to - line.from, hours = 0;
	for (uint32_t b = 0; b < m->n_buckets; b++)
		hours += (double)m->usual[b] * (double)(1u << m->shift) / 3.6e12;
	if (!line.is_known || line.chance > TREND_CHANCE || rise < (double)digest_worth(answer))
		return;
	answer->trend = (struct digest_trend){
		.is_sure = true,
		.from = llround(line.from),
		.to = llround(line.to),
		.chance = line.chance,
		.per_hour = hours > 0 && line.from > 0 ? rise / line.from / hours : NAN,
		.is_own = own_rise(answer, room) >= rise / 2,
	};
}

/* ---- ranks compared with the others ---------------------------------------------------------- */

static int by_slowing(const void *a, const void *b, void *user)
{
	const struct digest_answer *answer = user;
	const uint32_t *x = a, *y = b;
	int64_t one = answer->ranks[*x].slowing, other = answer->ranks[*y].slowing;
	return one != other ? (one < other) - (one > other) : (*x > *y) - (*x < *y);
}

static void find_slowing(struct digest_answer *answer, int64_t *room)
{
	const struct digest_matrix *m = &answer->matrix;
	struct drift_line *lines = hwy_zarray(answer->n, sizeof *lines);
	int64_t *rises = hwy_array(answer->n, sizeof *rises);
	uint32_t n = 0;
	for (uint32_t r = 0; r < answer->n; r++) {
		if (answer->ranks[r].state == DIGEST_NOT_JUDGED)
			continue;
		lines[r] = line_of(&m->late[(size_t)r * m->n_buckets], m->n_buckets, room);
		if (lines[r].is_known)
			rises[n++] = llround(lines[r].to - lines[r].from);
	}
	int64_t most = outliers_threshold(rises, n,
					  (int64_t)(LEAST_RISE_SHARE * (double)answer->job.step));
	for (uint32_t r = 0; r < answer->n; r++) {
		struct digest_judged *rank = &answer->ranks[r];
		double rise = lines[r].to - lines[r].from;
		if (!lines[r].is_known || rise < (double)digest_worth(answer) ||
		    rise <= (double)most || answer->n_judged * lines[r].chance > OUTLIERS_CHANCE)
			continue;
		rank->slowing = llround(rise);
		/* Late from the begin, and getting later: late comes first. */
		if (rank->state == DIGEST_IN_TIME || 2 * lines[r].from < lines[r].to)
			rank->state = DIGEST_SLOWING;
		answer->slowing[answer->n_slowing++] = r;
	}
	if (answer->n_slowing > 0)
		qsort_r(answer->slowing, answer->n_slowing, sizeof *answer->slowing, by_slowing,
			answer);
	free(lines);
	free(rises);
}

void digest_drift_find(struct digest_answer *answer)
{
	const struct digest_matrix *m = &answer->matrix;
	answer->slowing = hwy_arena_array(&answer->arena, answer->n, sizeof *answer->slowing);
	if (m->n_buckets < 2 * DRIFT_BLOCKS)
		return;
	int64_t *room = hwy_array(m->n_buckets, sizeof *room);
	find_trend(answer, room);
	if (answer->n_judged > 1)
		find_slowing(answer, room);
	/* Ranks that wait longer and longer for one that gets slower have no trend of their own. */
	int64_t rise = answer->trend.to - answer->trend.from;
	if (answer->n_slowing > 0 && !answer->trend.is_own &&
	    2 * answer->ranks[answer->slowing[0]].slowing >= rise)
		answer->trend = (struct digest_trend){0};
	free(room);
}
