/* SPDX-License-Identifier: Apache-2.0 */
/* quantile.h - medians and percentiles, each definition under a name of its own.
 *
 *   hwy_sort(lengths, n);
 *   int64_t usual = hwy_median_upper(lengths, n);
 *   int64_t slow = hwy_nearest_rank(lengths, n, 90);
 *
 * The values must be ascending. Of no values every result is 0. percent is 0 … 100. For the five
 * values 10, 20, 30, 40, 50 and the four values 10, 20, 30, 40:
 *
 *   definition             which value                                 90 % of 5   50 % of 5   50 % of 4
 *   hwy_nearest_rank       number ceil(n * p), counted from 1             50          30          20
 *   hwy_rank_below         number floor((n - 1) * p), from 0              40          30          20
 *   hwy_rank_above         number floor(n * p), from 0                    50          30          30
 *   hwy_interpolated       between the neighbours of (n - 1) * p          46          30          25
 *   hwy_median_upper       number floor(n / 2), from 0                                30          30
 *   hwy_median_between     the middle one, or between the two                         30          25
 */
#ifndef HWY_BASE_QUANTILE_H
#define HWY_BASE_QUANTILE_H

#include <stdint.h>

/* Sort values, the smallest first. */
void hwy_sort(int64_t *values, uint32_t n);
void hwy_sort_real(double *values, uint32_t n); /* no value may be NaN */

/* Yields the smallest value that is at least as large as 'percent' percent of the values. */
int64_t hwy_nearest_rank(const int64_t *sorted, uint32_t n, uint32_t percent);
/* Yield the value at the index floor((n - 1) * percent / 100). */
int64_t hwy_rank_below(const int64_t *sorted, uint32_t n, uint32_t percent);
double hwy_rank_below_real(const double *sorted, uint32_t n, uint32_t percent);
/* Yields the value at the index floor(n * percent / 100), at most the last value. */
int64_t hwy_rank_above(const int64_t *sorted, uint32_t n, uint32_t percent);
/* Yields the percentile between two neighbours in proportion, as pandas does, rounded towards the
 * lower neighbour. */
int64_t hwy_interpolated(const int64_t *sorted, uint32_t n, uint32_t percent);

/* Yield the middle value; for an even number of values the larger of the two in the middle. */
int64_t hwy_median_upper(const int64_t *sorted, uint32_t n);
double hwy_median_upper_real(const double *sorted, uint32_t n);
/* Yield the middle value; of an even number of values the mean of the two in the middle, for
 * integers rounded towards the lower of them. */
int64_t hwy_median_between(const int64_t *sorted, uint32_t n);
double hwy_median_between_real(const double *sorted, uint32_t n);

/* A percentile of n counted values: counts[v] values are v. It lies between neighbours in
 * proportion, as hwy_interpolated; share is 0 … 1. */
double hwy_histogram_interpolated(const uint64_t *counts, uint64_t n, double share);
/* The first of 'cells' cells up to which floor(n * percent / 100) or more values were counted; the
 * last cell where there is none. */
uint32_t hwy_histogram_cell(const uint32_t *counts, uint32_t cells, uint32_t n, uint32_t percent);

#endif
