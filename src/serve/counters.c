/* SPDX-License-Identifier: Apache-2.0 */
/* counters.c - the values of a counter: as a tile (the least, the largest, the last and the mean
 * value of every bucket), and over an interval. A value holds until the next one, so means weigh
 * each value by the time for which it holds. */
#include <math.h>

#include "serve/answers.h"
#include "serve/tiles.h"

static double counter_value(const struct hwy_trace *trace, const struct hwy_strip *strip,
			    uint32_t row)
{
	int64_t value = hwy_get(strip, HWY_VALUE, row);
	double real;
	if (trace->lanes[strip->lane].value_type != HWY_PAYLOAD_DOUBLE)
		return (double)value;
	memcpy(&real, &value, sizeof real);
	return real;
}

/* Yields the values of a lane with their times and values loaded; *strip is NULL where the lane
 * has none. */
static bool need_values(struct view_trace *view, uint32_t lane, const struct hwy_strip **strip,
			struct hwy_err *err)
{
	uint64_t columns = HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_VALUE);
	*strip = hwy_strip_on(view->trace, lane, HWY_COUNTER);
	return !*strip ||
	       hwy_need_strip(view->trace, (uint32_t)(*strip - view->trace->strips), columns, err);
}

/* Measures the values that hold in [from, to), of which row 'row' is the first to begin there.
 * Yields the first row behind. */
static uint32_t measure_values(const struct hwy_trace *trace, const struct hwy_strip *strip,
			       uint32_t row, int64_t from, int64_t to, struct counter_range *range)
{
	double sum = 0, weight = 0, value = row > 0 ? counter_value(trace, strip, row - 1) : 0;
	bool has_value = row > 0;
	*range = (struct counter_range){(double)INFINITY, (double)-INFINITY, (double)NAN,
					(double)NAN, 0};
	for (int64_t at = from; at < to;) {
		bool has_next = row < strip->rows && hwy_get(strip, HWY_START, row) < to;
		int64_t next = has_next ? hwy_get(strip, HWY_START, row) : to;
		next = next > at ? next : at;
		/* A counter that could not be read for a while has values that are no numbers. */
		if (has_value && !isnan(value) && next > at) {
			range->samples++;
			sum += value * (double)(next - at);
			weight += (double)(next - at);
			range->least = fmin(range->least, value);
			range->most = fmax(range->most, value);
			range->last = value;
		}
		at = next;
		if (!has_next)
			break;
		value = counter_value(trace, strip, row++);
		has_value = true;
	}
	if (weight > 0)
		range->mean = sum / weight;
	return row;
}

bool counters_measure(struct view_trace *view, uint32_t lane, int64_t from, int64_t to,
		      struct counter_range *range, struct hwy_err *err)
{
	const struct hwy_strip *strip;
	*range = (struct counter_range){(double)NAN, (double)NAN, (double)NAN, (double)NAN, 0};
	if (!need_values(view, lane, &strip, err))
		return false;
	if (strip)
		measure_values(view->trace, strip, view_row_at(strip, from), from, to, range);
	return true;
}

/* The columns of a tile. */
struct counter_tile {
	uint8_t offsets[VIEW_BUCKETS];
	float least[VIEW_BUCKETS], most[VIEW_BUCKETS], last[VIEW_BUCKETS], mean[VIEW_BUCKETS];
	uint32_t n;
};

static void fill_tile(const struct hwy_trace *trace, const struct hwy_strip *strip, uint32_t row,
		      int64_t from, unsigned level, struct counter_tile *tile)
{
	while (row < strip->rows) {
		int64_t bucket = (hwy_get(strip, HWY_START, row) - from) >> level;
		if (bucket >= VIEW_BUCKETS)
			break;
		int64_t begin = from + bucket * (INT64_C(1) << level);
		struct counter_range range;
		uint32_t first = row, i = tile->n++;
		row = measure_values(trace, strip, row, begin, begin + (INT64_C(1) << level),
				     &range);
		float least = (float)NAN, most = (float)NAN;
		for (uint32_t r = first; r < row; r++) {
			float value = (float)counter_value(trace, strip, r);
			least = fminf(least, value);
			most = fmaxf(most, value);
		}
		tile->offsets[i] = (uint8_t)bucket;
		tile->least[i] = least;
		tile->most[i] = most;
		tile->last[i] = (float)counter_value(trace, strip, row - 1);
		tile->mean[i] = (float)range.mean;
	}
}

bool counters_put(struct view_trace *view, uint32_t lane, int64_t from, unsigned level,
		  struct hwy_bytes *out, uint32_t *n, struct hwy_err *err)
{
	const struct hwy_strip *strip;
	struct counter_tile tile = {.n = 0};
	if (!need_values(view, lane, &strip, err))
		return false;
	uint32_t row = strip ? view_row_at(strip, from) : 0;
	hwy_bytes_put_double(out,
			     row > 0 ? counter_value(view->trace, strip, row - 1) : (double)NAN);
	if (strip)
		fill_tile(view->trace, strip, row, from, level, &tile);
	*n = tile.n;
	hwy_bytes_put(out, tile.offsets, tile.n);
	while (out->n % 4)
		hwy_bytes_put_byte(out, 0);
	const float *const series[] = {tile.least, tile.most, tile.last, tile.mean};
	for (size_t c = 0; c < sizeof series / sizeof *series; c++)
		for (uint32_t i = 0; i < tile.n; i++)
			hwy_bytes_put_float(out, series[c][i]);
	return true;
}
