/* SPDX-License-Identifier: Apache-2.0 */
/* clock_bounds.c - the line between two clocks that keeps within bounds; see clock_line.h.
 *
 * A line is an offset o and a drift d. With a given d, the bounds leave an interval of offsets,
 * from the largest low - d * time to the smallest high - d * time: the first is convex in d, the
 * second concave, so that what they leave is wide in the middle and closes to both sides. The
 * lines that are highest and lowest at the two ends of the recording are found by sections; the
 * line that is taken lies between them, and no possible line is farther from it at any moment of
 * the recording than at one of its ends.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "job/clock_line.h"

/* Two computers' clocks differ by less than this: crystals are within 50 ppm of what they should
 * be. What does not fit is tried with what no clock exceeds. */
static const double DRIFTS[] = {100e-6, 1000e-6};
enum { ROUNDS = 80, MOST_BOUNDS = 8192 };
/* How much larger the error of a line without drift may be. */
#define LEVEL_TIMES 1.5

/* relative to the middle of the recording and to a first offset, so that doubles are exact
 * enough */
struct bound {
	double time, low, high;
};

struct bounds {
	struct bound *items;
	uint32_t n;
	double least, most; /* the drifts with which there is a line */
};

struct line {
	double offset, drift;
};

static double highest_offset(const struct bounds *b, double drift)
{
	double offset = INFINITY;
	for (uint32_t i = 0; i < b->n; i++)
		offset = fmin(offset, b->items[i].high - drift * b->items[i].time);
	return offset;
}

static double lowest_offset(const struct bounds *b, double drift)
{
	double offset = -INFINITY;
	for (uint32_t i = 0; i < b->n; i++)
		offset = fmax(offset, b->items[i].low - drift * b->items[i].time);
	return offset;
}

/* How much room a drift leaves; negative where it leaves none. */
static double room_of(const struct bounds *b, double drift)
{
	return highest_offset(b, drift) - lowest_offset(b, drift);
}

/* The drift with the most room. */
static double roomiest(const struct bounds *b, double from, double to)
{
	for (int i = 0; i < ROUNDS; i++) {
		double x = from + (to - from) / 3, y = to - (to - from) / 3;
		if (room_of(b, x) < room_of(b, y))
			from = x;
		else
			to = y;
	}
	return (from + to) / 2;
}

/* The drift farthest from 'inside', towards 'outside', that still leaves room. */
static double last_with_room(const struct bounds *b, double inside, double outside)
{
	if (room_of(b, outside) >= 0)
		return outside;
	for (int i = 0; i < ROUNDS; i++) {
		double middle = (inside + outside) / 2;
		if (room_of(b, middle) >= 0)
			inside = middle;
		else
			outside = middle;
	}
	return inside;
}

static double height(const struct bounds *b, double drift, double time, bool is_highest)
{
	return is_highest ? highest_offset(b, drift) + drift * time
			  : -(lowest_offset(b, drift) + drift * time);
}

/* The line that is highest, or lowest, at a time. */
static struct line extreme_line(const struct bounds *b, double time, bool is_highest)
{
	double from = b->least, to = b->most;
	for (int i = 0; i < ROUNDS; i++) {
		double x = from + (to - from) / 3, y = to - (to - from) / 3;
		if (height(b, x, time, is_highest) < height(b, y, time, is_highest))
			from = x;
		else
			to = y;
	}
	double drift = (from + to) / 2;
	return (struct line){is_highest ? highest_offset(b, drift) : lowest_offset(b, drift),
			     drift};
}

static bool find_drifts(struct bounds *b)
{
	for (size_t i = 0; i < sizeof DRIFTS / sizeof *DRIFTS; i++) {
		double best = roomiest(b, -DRIFTS[i], DRIFTS[i]);
		double room = room_of(b, best);
		if (!(room >= 0) || isinf(room))
			continue;
		b->least = last_with_room(b, best, -DRIFTS[i]);
		b->most = last_with_room(b, best, DRIFTS[i]);
		return true;
	}
	return false;
}

/* Of many bounds, the closest of each short stretch of time: leaving bounds out makes the error
 * larger, never wrong. */
static void thin_out(struct bounds *b, double from, double to)
{
	struct bound *kept = hwy_array(2 * (size_t)MOST_BOUNDS, sizeof *kept);
	for (uint32_t i = 0; i < 2 * MOST_BOUNDS; i++)
		kept[i] = (struct bound){0, -INFINITY, INFINITY};
	for (uint32_t i = 0; i < b->n; i++) {
		const struct bound *one = &b->items[i];
		double share = to > from ? (one->time - from) / (to - from) : 0;
		uint32_t at = (uint32_t)(share * (MOST_BOUNDS - 1));
		if (one->low > kept[2 * at].low)
			kept[2 * at] = (struct bound){one->time, one->low, INFINITY};
		if (one->high < kept[2 * at + 1].high)
			kept[2 * at + 1] = (struct bound){one->time, -INFINITY, one->high};
	}
	free(b->items);
	b->items = kept;
	b->n = 2 * MOST_BOUNDS;
}

/* Yields the bounds relative to the time 'at' and the offset 'base'. */
static struct bounds relative_bounds(const struct clock_bound *given, uint32_t n, int64_t at,
				     int64_t base)
{
	struct bounds b = {.items = hwy_array(n, sizeof *b.items), .n = n};
	double from = INFINITY, to = -INFINITY;
	for (uint32_t i = 0; i < n; i++) {
		const struct clock_bound *g = &given[i];
		b.items[i] = (struct bound){
			(double)(g->time - at),
			g->low == CLOCK_OPEN_LOW ? -INFINITY : (double)(g->low - base),
			g->high == CLOCK_OPEN_HIGH ? INFINITY : (double)(g->high - base)};
		from = fmin(from, b.items[i].time);
		to = fmax(to, b.items[i].time);
	}
	if (n > 2 * MOST_BOUNDS)
		thin_out(&b, from, to);
	return b;
}

static double value_at(struct line line, double time)
{
	return line.offset + line.drift * time;
}

/* The four lines that are lowest and highest at the two ends of the recording. */
struct extremes {
	struct line lines[4];
	double ends[2];
};

static double farthest(const struct extremes *all, struct line line)
{
	double error = 0;
	for (int i = 0; i < 4; i++) {
		double end = all->ends[i / 2];
		error = fmax(error, fabs(value_at(all->lines[i], end) - value_at(line, end)));
	}
	return error;
}

/* The line in the middle between the extreme lines at both ends; where that is not within the
 * bounds, the mean of the extreme lines, which is. */
static struct line middle_line(const struct bounds *b, const struct extremes *all)
{
	struct line mean = {0, 0}, middle;
	const double *ends = all->ends;
	double heights[2];
	for (int i = 0; i < 4; i++) {
		mean.offset += all->lines[i].offset / 4;
		mean.drift += all->lines[i].drift / 4;
	}
	for (int i = 0; i < 2; i++)
		heights[i] = (value_at(all->lines[2 * i], ends[i]) +
			      value_at(all->lines[2 * i + 1], ends[i])) /
			     2;
	middle.drift =
		ends[1] > ends[0] ? (heights[1] - heights[0]) / (ends[1] - ends[0]) : mean.drift;
	middle.offset = heights[0] - middle.drift * ends[0];
	bool is_within = middle.offset >= lowest_offset(b, middle.drift) &&
			 middle.offset <= highest_offset(b, middle.drift);
	return is_within ? middle : mean;
}

/* A line without drift is taken where there is one and it is hardly less sure: a short recording
 * tells little about the drift, and times before and after the exchanges should not follow a
 * guess. */
static struct line best_line(const struct bounds *b, const struct extremes *all, double *error)
{
	struct line best = middle_line(b, all);
	struct line level = {(lowest_offset(b, 0) + highest_offset(b, 0)) / 2, 0};
	*error = farthest(all, best);
	if (b->least <= 0 && b->most >= 0 && room_of(b, 0) >= 0 &&
	    farthest(all, level) <= LEVEL_TIMES * *error) {
		*error = farthest(all, level);
		return level;
	}
	return best;
}

bool clock_line_of_bounds(struct job_clock *clock, const struct clock_bound *given, uint32_t n,
			  struct hwy_interval extent)
{
	int64_t base = CLOCK_OPEN_LOW, at = extent.from + (extent.to - extent.from) / 2;
	bool has_high = false;
	for (uint32_t i = 0; i < n; i++) {
		base = given[i].low > base ? given[i].low : base;
		has_high |= given[i].high != CLOCK_OPEN_HIGH;
	}
	if (base == CLOCK_OPEN_LOW || !has_high)
		return false;
	struct bounds b = relative_bounds(given, n, at, base);
	bool done = find_drifts(&b);
	if (done) {
		double error;
		struct extremes all = {
			.ends = {(double)(extent.from - at), (double)(extent.to - at)}};
		for (int i = 0; i < 4; i++)
			all.lines[i] = extreme_line(&b, all.ends[i / 2], i % 2);
		struct line line = best_line(&b, &all, &error);
		*clock = (struct job_clock){.at = at,
					    .shift = base + llround(line.offset),
					    .drift = llround(line.drift * 1e12),
					    .error = (int64_t)ceil(error) + 2,
					    .n = n};
	}
	free(b.items);
	return done;
}

bool clock_line_is_within(const struct job_clock *clock, const struct clock_bound *bounds,
			  uint32_t n)
{
	uint32_t i = 0;
	while (i < n) {
		int64_t offset = job_clock_map(clock, bounds[i].time) - bounds[i].time;
		if (offset < bounds[i].low || offset > bounds[i].high)
			break;
		i++;
	}
	return i == n;
}
