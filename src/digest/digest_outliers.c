/* SPDX-License-Identifier: Apache-2.0 */
/* digest_outliers.c - see digest_outliers.h. */
#include "digest/digest_outliers.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/quantile.h"

/* Of few values: how many deviations. A normal distribution's deviation is 1.4826 median
 * absolute ones. */
#define FEW_DEVIATIONS 8
#define MEDIAN_TO_DEVIATION 1.4826
/* The percentile that the tail is measured at; its distance from the median is ln 5 lengths of
 * an exponential tail. */
enum { TAIL_PERCENT = 90 };
#define TAIL_SHARE 0.1
#define TAIL_LENGTHS 1.6094379124341003

int64_t outliers_median(const int64_t *sorted, uint32_t n)
{
	return n < OUTLIERS_FEW ? hwy_rank_below(sorted, n, 50) : hwy_median_between(sorted, n);
}

static int64_t threshold_of_few(const int64_t *sorted, uint32_t n, int64_t least)
{
	int64_t middle = outliers_median(sorted, n), *away = hwy_array(n, sizeof *away);
	for (uint32_t i = 0; i < n; i++)
		away[i] = sorted[i] > middle ? sorted[i] - middle : middle - sorted[i];
	hwy_sort(away, n);
	double spread = MEDIAN_TO_DEVIATION * (double)outliers_median(away, n);
	free(away);
	spread = spread > (double)least ? spread : (double)least;
	return middle + (int64_t)(FEW_DEVIATIONS * spread);
}

int64_t outliers_threshold(int64_t *values, uint32_t n, int64_t least)
{
	if (n == 0)
		return INT64_MAX;
	hwy_sort(values, n);
	if (n < OUTLIERS_FEW)
		return threshold_of_few(values, n, least);
	double middle = (double)outliers_median(values, n);
	double tail = (double)hwy_rank_below(values, n, TAIL_PERCENT) - middle;
	tail = tail > (double)least ? tail : (double)least;
	return (int64_t)(middle + tail +
			 tail / TAIL_LENGTHS * log(n * TAIL_SHARE / OUTLIERS_CHANCE));
}

/* ---- chance ---------------------------------------------------------------------------------- */

static double log_choose(double n, double k)
{
	return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

double outliers_binomial(uint32_t n, uint32_t k, double p)
{
	double sum = 0;
	if (k == 0 || p >= 1)
		return 1;
	for (uint32_t i = k; i <= n && p > 0; i++)
		sum += exp(log_choose(n, i) + i * log(p) + (n - i) * log1p(-p));
	return sum < 1 ? sum : 1;
}

double outliers_drawn(uint32_t all, uint32_t marked, uint32_t drawn, uint32_t k)
{
	double sum = 0;
	uint32_t most = marked < drawn ? marked : drawn;
	if (k == 0)
		return 1;
	for (uint32_t i = k; i <= most; i++) {
		if (drawn - i > all - marked)
			continue;
		sum += exp(log_choose(marked, i) + log_choose(all - marked, drawn - i) -
			   log_choose(all, drawn));
	}
	return sum < 1 ? sum : 1;
}

/* ---- lines ----------------------------------------------------------------------------------- */

double outliers_rises(const double *values, uint32_t n)
{
	double pairs = 0, size = n;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = i + 1; k < n; k++)
			pairs += (values[k] > values[i]) - (values[k] < values[i]);
	double deviation = sqrt(size * (size - 1) * (2 * size + 5) / 18);
	if (n < 3 || pairs <= 0)
		return 1;
	return 0.5 * erfc((pairs - 1) / deviation / sqrt(2));
}

double outliers_slope(const double *values, uint32_t n, double *at_0)
{
	size_t pairs = (size_t)n * (n ? n - 1 : 0) / 2, k = 0;
	double *slopes = hwy_array(pairs, sizeof *slopes), *at = hwy_array(n, sizeof *at);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = i + 1; j < n; j++)
			slopes[k++] = (values[j] - values[i]) / (j - i);
	hwy_sort_real(slopes, (uint32_t)pairs);
	double slope = hwy_median_between_real(slopes, (uint32_t)pairs);
	for (uint32_t i = 0; i < n; i++)
		at[i] = values[i] - slope * i;
	hwy_sort_real(at, n);
	*at_0 = hwy_median_between_real(at, n);
	free(slopes);
	free(at);
	return slope;
}
