/* SPDX-License-Identifier: Apache-2.0 */
/* base_quantile_test.c - medians and percentiles by their definitions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/quantile.h"

enum { MOST = 60, ROUNDS = 3000 };

static const int64_t five[] = {10, 20, 30, 40, 50};

static void the_definitions_differ_as_the_header_shows(void **state)
{
	assert_int_equal(hwy_nearest_rank(five, 5, 90), 50);
	assert_int_equal(hwy_rank_below(five, 5, 90), 40);
	assert_int_equal(hwy_rank_above(five, 5, 90), 50);
	assert_int_equal(hwy_interpolated(five, 5, 90), 46);
	assert_int_equal(hwy_nearest_rank(five, 5, 50), 30);
	assert_int_equal(hwy_rank_below(five, 5, 50), 30);
	assert_int_equal(hwy_rank_above(five, 5, 50), 30);
	assert_int_equal(hwy_interpolated(five, 5, 50), 30);
	assert_int_equal(hwy_median_upper(five, 5), 30);
	assert_int_equal(hwy_median_between(five, 5), 30);
	assert_int_equal(hwy_nearest_rank(five, 4, 50), 20);
	assert_int_equal(hwy_rank_below(five, 4, 50), 20);
	assert_int_equal(hwy_rank_above(five, 4, 50), 30);
	assert_int_equal(hwy_interpolated(five, 4, 50), 25);
	assert_int_equal(hwy_median_upper(five, 4), 30);
	assert_int_equal(hwy_median_between(five, 4), 25);
}

static void of_no_values_every_result_is_0(void **state)
{
	assert_int_equal(hwy_nearest_rank(NULL, 0, 50), 0);
	assert_int_equal(hwy_rank_below(NULL, 0, 50), 0);
	assert_int_equal(hwy_rank_above(NULL, 0, 50), 0);
	assert_int_equal(hwy_interpolated(NULL, 0, 50), 0);
	assert_int_equal(hwy_median_upper(NULL, 0), 0);
	assert_int_equal(hwy_median_between(NULL, 0), 0);
	assert_true(hwy_rank_below_real(NULL, 0, 50) == 0);
	assert_true(hwy_median_upper_real(NULL, 0) == 0);
	assert_true(hwy_median_between_real(NULL, 0) == 0);
	assert_true(hwy_histogram_interpolated(NULL, 0, 0.5) == 0);
	hwy_sort(NULL, 0);
	hwy_sort_real(NULL, 0);
}

/* How many values are at most 'limit'. */
static uint32_t count_up_to(const int64_t *values, uint32_t n, int64_t limit)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < n; i++)
		count += values[i] <= limit;
	return count;
}

static void the_nearest_rank_is_the_smallest_value_that_covers_its_percentage(void **state)
{
	srand(1);
	for (int round = 0; round < ROUNDS; round++) {
		int64_t values[MOST];
		uint32_t n = 1 + (uint32_t)rand() % (MOST - 1), percent = (uint32_t)rand() % 101;
		for (uint32_t i = 0; i < n; i++)
			values[i] = rand() % 50 - 25;
		hwy_sort(values, n);
		int64_t found = hwy_nearest_rank(values, n, percent);
		assert_true(count_up_to(values, n, found) * 100 >= n * percent);
		if (percent > 0)
			assert_true(count_up_to(values, n, found - 1) * 100 < n * percent);
	}
}

static void every_definition_lies_between_the_extremes_and_grows_with_the_percentage(void **state)
{
	int64_t (*const definitions[])(const int64_t *, uint32_t, uint32_t) = {
		hwy_nearest_rank, hwy_rank_below, hwy_rank_above, hwy_interpolated};
	srand(2);
	for (int round = 0; round < ROUNDS; round++) {
		int64_t values[MOST];
		uint32_t n = 1 + (uint32_t)rand() % (MOST - 1);
		for (uint32_t i = 0; i < n; i++)
			values[i] = (int64_t)rand() << rand() % 20;
		hwy_sort(values, n);
		for (size_t d = 0; d < sizeof definitions / sizeof *definitions; d++) {
			int64_t before = values[0];
			for (uint32_t percent = 0; percent <= 100; percent++) {
				int64_t found = definitions[d](values, n, percent);
				assert_true(found >= before && found <= values[n - 1]);
				before = found;
			}
			assert_true(before == values[n - 1]);
		}
	}
}

static void medians_of_reals_are_those_of_the_same_integers(void **state)
{
	srand(3);
	for (int round = 0; round < ROUNDS; round++) {
		int64_t values[MOST];
		double reals[MOST];
		uint32_t n = 1 + (uint32_t)rand() % (MOST - 1);
		for (uint32_t i = 0; i < n; i++)
			reals[i] = (double)(values[i] = 2 * (rand() % 1000));
		hwy_sort(values, n);
		hwy_sort_real(reals, n);
		assert_true(hwy_median_upper_real(reals, n) == (double)hwy_median_upper(values, n));
		assert_true(hwy_median_between_real(reals, n) ==
			    (double)hwy_median_between(values, n));
		assert_true(hwy_rank_below_real(reals, n, 75) ==
			    (double)hwy_rank_below(values, n, 75));
	}
}

static void a_histogram_has_the_quantiles_of_its_values(void **state)
{
	enum { CELLS = 8 };
	srand(4);
	for (int round = 0; round < ROUNDS; round++) {
		int64_t values[MOST];
		uint64_t counts[CELLS] = {0};
		uint32_t small_counts[CELLS] = {0}, n = 1 + (uint32_t)rand() % (MOST - 1);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t cell = (uint32_t)rand() % CELLS;
			counts[cell]++;
			small_counts[cell]++;
			values[i] = cell * 100; /* so that hundredths are whole */
		}
		hwy_sort(values, n);
		assert_true(hwy_histogram_interpolated(counts, n, 0.25) * 100 ==
			    (double)hwy_interpolated(values, n, 25));
		uint32_t cell = hwy_histogram_cell(small_counts, CELLS, n, 25);
		assert_true(count_up_to(values, n, cell * 100) >= n / 4);
		if (cell > 0)
			assert_true(count_up_to(values, n, (cell - 1) * 100) < n / 4);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_definitions_differ_as_the_header_shows),
		cmocka_unit_test(of_no_values_every_result_is_0),
		cmocka_unit_test(the_nearest_rank_is_the_smallest_value_that_covers_its_percentage),
		cmocka_unit_test(
			every_definition_lies_between_the_extremes_and_grows_with_the_percentage),
		cmocka_unit_test(medians_of_reals_are_those_of_the_same_integers),
		cmocka_unit_test(a_histogram_has_the_quantiles_of_its_values),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
