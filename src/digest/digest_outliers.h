/* SPDX-License-Identifier: Apache-2.0 */
/* digest_outliers.h - what is too far from the others to be chance, among thousands.
 *
 * The largest of n values grows with n: a fixed number of deviations accuses somebody in every
 * large job. Here the tail of the values is taken to fall off no faster than an exponential
 * through the median and the 90th percentile, which is slower than a normal distribution's. A
 * value beyond the threshold would then be the largest of n with the probability
 * OUTLIERS_CHANCE. Up to a tenth of the values may be planted without moving it. Of fewer than
 * OUTLIERS_FEW values quantiles tell little: then the threshold is a number of median absolute
 * deviations.
 */
#ifndef HWY_DIGEST_DIGEST_OUTLIERS_H
#define HWY_DIGEST_DIGEST_OUTLIERS_H

#include <stdint.h>

#define OUTLIERS_CHANCE 0.01
enum { OUTLIERS_FEW = 32 };

/* Values above this are no chance. They are sorted by the call. 'least' is a spread below which
 * no difference is believed. */
int64_t outliers_threshold(int64_t *values, uint32_t n, int64_t least);
/* The median of sorted values; of fewer than OUTLIERS_FEW the lower one, so that half of them
 * may be late. */
int64_t outliers_median(const int64_t *sorted, uint32_t n);

/* The probability of k or more hits in n tries, each with probability p. */
double outliers_binomial(uint32_t n, uint32_t k, double p);
/* The probability that of 'drawn' out of 'all' k or more are among 'marked'. */
double outliers_drawn(uint32_t all, uint32_t marked, uint32_t drawn, uint32_t k);

/* Mann and Kendall's test: whether values rise more often than chance. Yields the probability
 * that a random order shows as much. */
double outliers_rises(const double *values, uint32_t n);
/* Theil and Sen's line: the median of the slopes between all pairs, a step of the index; *at_0
 * is the line's value at index 0. */
double outliers_slope(const double *values, uint32_t n, double *at_0);

#endif
