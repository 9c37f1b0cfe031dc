/* SPDX-License-Identifier: Apache-2.0 */
/* base_search_test.c - HWY_FIRST against a search from the beginning. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/search.h"

enum { MOST = 40, ROUNDS = 2000 };

static int ascending(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
	return (a > b) - (a < b);
}

static uint32_t fill(int64_t values[MOST])
{
	uint32_t n = (uint32_t)rand() % MOST;
	for (uint32_t i = 0; i < n; i++)
		values[i] = rand() % 30;
	qsort(values, n, sizeof *values, ascending);
	return n;
}

static void the_first_index_is_that_of_a_search_from_the_beginning(void **state)
{
	srand(1);
	for (int round = 0; round < ROUNDS; round++) {
		int64_t values[MOST];
		uint32_t n = fill(values), begin = n ? (uint32_t)rand() % n : 0;
		int64_t wanted = rand() % 32 - 1;
		uint32_t slow = begin;
		while (slow < n && values[slow] < wanted)
			slow++;
		assert_int_equal(HWY_FIRST(i, begin, n, values[i] >= wanted), slow);
	}
}

static void an_empty_range_yields_its_end_without_asking(void **state)
{
	int asked = 0;
	assert_int_equal(HWY_FIRST(i, 7u, 7u, (asked++, i == i)), 7);
	assert_int_equal(asked, 0);
}

static void the_result_has_the_type_of_the_bounds(void **state)
{
	const uint32_t small = 3000000000u;
	const size_t large = (size_t)1 << 40;
	int64_t low = -1000, high = 1000;
	uint32_t a = HWY_FIRST(i, 0, small, i >= 2999999999u);
	size_t b = HWY_FIRST(i, 0, large, i >= ((size_t)1 << 39) + 5);
	int64_t c = HWY_FIRST(i, low, high, i * i * i >= -27);
	assert_true(a == 2999999999u);
	assert_true(b == ((size_t)1 << 39) + 5);
	assert_true(c == -3);
}

static void bounds_are_evaluated_once_and_searches_nest(void **state)
{
	uint32_t begins = 0, ends = 0;
	uint32_t found =
		HWY_FIRST(i, (begins++, 0u), (ends++, 100u), HWY_FIRST(j, 0u, 1000u, j >= i) >= 42);
	assert_int_equal(found, 42);
	assert_int_equal(begins, 1);
	assert_int_equal(ends, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_index_is_that_of_a_search_from_the_beginning),
		cmocka_unit_test(an_empty_range_yields_its_end_without_asking),
		cmocka_unit_test(the_result_has_the_type_of_the_bounds),
		cmocka_unit_test(bounds_are_evaluated_once_and_searches_nest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
