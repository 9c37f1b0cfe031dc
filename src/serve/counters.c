/* SPDX-License-Identifier: Apache-2.0 */
/* counters.c - a tile of a counter: the least, the largest and the last value in every bucket. */
#include <math.h>

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

bool counters_put(struct view_trace *view, uint32_t lane, int64_t from, unsigned level,
		  struct hwy_bytes *out, uint32_t *n, struct hwy_err *err)
{
	const struct hwy_strip *strip = hwy_strip_on(view->trace, lane, HWY_COUNTER);
	uint64_t columns = HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_VALUE);
	uint8_t offsets[VIEW_BUCKETS];
	float least[VIEW_BUCKETS], most[VIEW_BUCKETS], last[VIEW_BUCKETS];
	*n = 0;
	if (strip &&
	    !hwy_need_strip(view->trace, (uint32_t)(strip - view->trace->strips), columns, err))
		return false;
	uint32_t row = strip ? view_row_at(strip, from) : 0;
	hwy_bytes_put_double(out,
			     row > 0 ? counter_value(view->trace, strip, row - 1) : (double)NAN);
	for (; strip && row < strip->rows; row++) {
		int64_t bucket = (hwy_get(strip, HWY_START, row) - from) >> level;
		if (bucket >= VIEW_BUCKETS)
			break;
		float value = (float)counter_value(view->trace, strip, row);
		if (*n == 0 || offsets[*n - 1] != bucket) {
			offsets[*n] = (uint8_t)bucket;
			least[*n] = most[*n] = value;
			++*n;
		}
		least[*n - 1] = fminf(least[*n - 1], value);
		most[*n - 1] = fmaxf(most[*n - 1], value);
		last[*n - 1] = value;
	}
	hwy_bytes_put(out, offsets, *n);
	while (out->n % 4)
		hwy_bytes_put_byte(out, 0);
	const float *const series[] = {least, most, last};
	for (int c = 0; c < 3; c++)
		for (uint32_t i = 0; i < *n; i++)
			hwy_bytes_put_float(out, series[c][i]);
	return true;
}
