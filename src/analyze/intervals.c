/* SPDX-License-Identifier: Apache-2.0 */
/* intervals.c - see intervals.h. */
#include "analyze/intervals.h"

static int64_t intervals_later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

void bins_add(struct hwy_bins *bins, int64_t from, int64_t to)
{
	while (bins->at < bins->n && bins->windows[bins->at].to <= from)
		bins->at++;
	for (uint32_t i = bins->at; i < bins->n && bins->windows[i].from < to; i++) {
		int64_t a = intervals_later(from, bins->windows[i].from);
		int64_t b = earlier(to, bins->windows[i].to);
		if (b > a)
			bins->sums[i] += b - a;
	}
}
