/* SPDX-License-Identifier: Apache-2.0 */
/* quantile.c - see quantile.h. */
#include "base/quantile.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"

static int ascending_reals(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

void hwy_sort(int64_t *values, uint32_t n)
{
	if (n)
		qsort(values, n, sizeof *values, hwy_ascending);
}

void hwy_sort_real(double *values, uint32_t n)
{
	if (n)
		qsort(values, n, sizeof *values, ascending_reals);
}

int64_t hwy_nearest_rank(const int64_t *sorted, uint32_t n, uint32_t percent)
{
	uint64_t rank = ((uint64_t)n * percent + 99) / 100;
	return n == 0 ? 0 : sorted[rank ? rank - 1 : 0];
}

static uint64_t rank_below(uint32_t n, uint32_t percent)
{
	return (uint64_t)(n - 1) * percent / 100;
}

int64_t hwy_rank_below(const int64_t *sorted, uint32_t n, uint32_t percent)
{
	return n == 0 ? 0 : sorted[rank_below(n, percent)];
}

double hwy_rank_below_real(const double *sorted, uint32_t n, uint32_t percent)
{
	return n == 0 ? 0 : sorted[rank_below(n, percent)];
}

int64_t hwy_rank_above(const int64_t *sorted, uint32_t n, uint32_t percent)
{
	uint64_t rank = (uint64_t)n * percent / 100;
	return n == 0 ? 0 : sorted[rank < n ? rank : n - 1];
}

int64_t hwy_interpolated(const int64_t *sorted, uint32_t n, uint32_t percent)
{
	if (n == 0)
		return 0;
	uint64_t place = (uint64_t)(n - 1) * percent;
	uint64_t low = place / 100, part = place % 100;
	int64_t first = sorted[low], step = low + 1 < n ? sorted[low + 1] - first : 0;
	return first + step / 100 * (int64_t)part + step % 100 * (int64_t)part / 100;
}

int64_t hwy_median_upper(const int64_t *sorted, uint32_t n)
{
	return n == 0 ? 0 : sorted[n / 2];
}

double hwy_median_upper_real(const double *sorted, uint32_t n)
{
	return n == 0 ? 0 : sorted[n / 2];
}

int64_t hwy_median_between(const int64_t *sorted, uint32_t n)
{
	if (n == 0)
		return 0;
	int64_t lower = sorted[(n - 1) / 2];
	return lower + (sorted[n / 2] - lower) / 2;
}

double hwy_median_between_real(const double *sorted, uint32_t n)
{
	return n == 0 ? 0 : (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

double hwy_histogram_interpolated(const uint64_t *counts, uint64_t n, double share)
{
	if (n == 0)
		return 0;
	double place = (double)(n - 1) * share;
	uint64_t low = (uint64_t)place, seen = 0;
	double part = place - (double)low, first = 0;
	bool have_first = false;
	for (uint64_t value = 0;; value++) {
		seen += counts[value];
		if (!have_first && seen > low) {
			first = (double)value;
			have_first = true;
		}
		if (have_first && (part == 0 || seen > low + 1))
			return first + ((double)value - first) * part;
	}
}

uint32_t hwy_histogram_cell(const uint32_t *counts, uint32_t cells, uint32_t n, uint32_t percent)
{
	uint64_t wanted = (uint64_t)n * percent / 100, seen = 0;
	for (uint32_t cell = 0; cell < cells; cell++) {
		seen += counts[cell];
		if (seen >= wanted)
			return cell;
	}
	return cells ? cells - 1 : 0;
}
