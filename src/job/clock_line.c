/* SPDX-License-Identifier: Apache-2.0 */
/* clock_line.c - see clock_line.h. */
#include "job/clock_line.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/quantile.h"

#define PARTS INT64_C(1000000000000) /* drifts are in 10^-12 */
/* Two computers' clocks differ by less than this, in 10^-12: crystals are within 50 ppm of what
 * they should be. */
#define USUAL_DRIFT INT64_C(100000000)
/* A larger drift is a mistake, not a clock. */
#define MOST_DRIFT INT64_C(1000000000)
/* Fewer collectives do not tell how far clocks are apart; fewer do not tell how the distance
 * changes. */
#define FEWEST_ENDS 2
#define FEWEST_FOR_DRIFT 12
/* The line with drift counts where it leaves at most this share of what a line without leaves. */
#define DRIFT_GAIN 0.7
/* The claimed error is this many times the residual that 90 % of the points stay below, and more
 * where points are few. */
#define RESIDUAL_TIMES 1.5
#define FEW_POINTS 8.0
/* The resolution of recorders that write microseconds. */
#define LEAST_ERROR_NS 1000

/* The ns that a clock may gain over 'time' with a drift in 10^-12, rounded up. */
static int64_t gain_over(int64_t time, int64_t drift)
{
	__int128 gain = ((__int128)llabs(time) * drift + PARTS - 1) / PARTS;
	return gain > INT64_MAX / 8 ? INT64_MAX / 8 : (int64_t)gain;
}

/* How far the extent reaches beyond [from, to], in ns. */
static int64_t reach_beyond(struct hwy_interval extent, int64_t from, int64_t to)
{
	int64_t before = from - extent.from, after = extent.to - to;
	int64_t most = before > after ? before : after;
	return most > 0 ? most : 0;
}

static int64_t drift_between(const struct clock_point *a, const struct clock_point *b)
{
	__int128 drift = (__int128)(b->offset - a->offset) * PARTS / (b->time - a->time);
	return drift > MOST_DRIFT    ? MOST_DRIFT + 1
	       : drift < -MOST_DRIFT ? -MOST_DRIFT - 1
				     : (int64_t)drift;
}

/* ---- points ---------------------------------------------------------------------------------- */

static int clock_point_by_time(const void *left, const void *right)
{
	const struct clock_point *a = left, *b = right;
	return (a->time > b->time) - (a->time < b->time);
}

/* The point in the middle of points[from … to): the median of the times and that of what the
 * line leaves. */
static struct clock_point middle_of(const struct clock_point *points, uint32_t from, uint32_t to,
				    const struct job_clock *line)
{
	uint32_t n = to - from;
	int64_t *values = hwy_array(n, sizeof *values);
	for (uint32_t i = 0; i < n; i++) {
		const struct clock_point *p = &points[from + i];
		values[i] = p->time + p->offset - job_clock_map(line, p->time);
	}
	hwy_sort(values, n);
	struct clock_point middle = {.time = points[from + n / 2].time,
				     .offset = hwy_median_between(values, n)};
	free(values);
	return middle;
}

/* The residual that 90 % of the points stay below. */
static int64_t residual_of(const struct clock_point *points, uint32_t n,
			   const struct job_clock *line)
{
	int64_t *values = hwy_array(n, sizeof *values);
	for (uint32_t i = 0; i < n; i++)
		values[i] = llabs(points[i].time + points[i].offset -
				  job_clock_map(line, points[i].time));
	hwy_sort(values, n);
	int64_t residual = hwy_nearest_rank(values, n, 90);
	free(values);
	return residual;
}

static struct job_clock level_line(const struct clock_point *points, uint32_t n)
{
	struct job_clock line = {.at = points[n / 2].time};
	line.shift = middle_of(points, 0, n, &line).offset;
	return line;
}

/* The slope comes from the medians of the first and of the last third of the points: single
 * points that are far off do not turn the line. */
static struct job_clock sloping_line(const struct clock_point *points, uint32_t n,
				     struct job_clock line)
{
	struct clock_point first = middle_of(points, 0, n / 3, &line);
	struct clock_point last = middle_of(points, n - n / 3, n, &line);
	if (last.time > first.time)
		line.drift = drift_between(&first, &last);
	if (llabs(line.drift) > MOST_DRIFT)
		line.drift = 0;
	line.shift += middle_of(points, 0, n, &line).offset;
	return line;
}

bool clock_line_of_points(struct job_clock *clock, const struct clock_point *given, uint32_t n,
			  struct hwy_interval extent)
{
	if (n < FEWEST_ENDS)
		return false;
	struct clock_point *points = hwy_copy_array(given, n, sizeof *points);
	qsort(points, n, sizeof *points, clock_point_by_time);
	struct hwy_interval seen = {points[0].time, points[n - 1].time};
	struct job_clock level = level_line(points, n);
	int64_t residual = residual_of(points, n, &level), drift = USUAL_DRIFT;
	*clock = level;
	if (n >= FEWEST_FOR_DRIFT && seen.to > seen.from) {
		struct job_clock sloping = sloping_line(points, n, level);
		int64_t left = residual_of(points, n, &sloping);
		__int128 slope = (__int128)(left + 1) * 2 * PARTS / (seen.to - seen.from);
		if ((double)left <= DRIFT_GAIN * (double)residual) {
			*clock = sloping;
			residual = left;
			drift = slope > USUAL_DRIFT ? USUAL_DRIFT : (int64_t)slope;
		}
	}
	double claimed = (double)residual * RESIDUAL_TIMES * (1 + FEW_POINTS / n);
	clock->error = (claimed < 1e15 ? (int64_t)claimed : INT64_C(1000000000000000)) +
		       LEAST_ERROR_NS + gain_over(reach_beyond(extent, seen.from, seen.to), drift);
	clock->n = n;
	free(points);
	return true;
}
