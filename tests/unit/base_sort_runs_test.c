/* SPDX-License-Identifier: Apache-2.0 */
/* base_sort_runs_test.c - hwy_sort_runs against insertion, which keeps the order of equal elements by itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/sort_runs.h"

enum { MOST = 700, ROUNDS = 300 };

struct pair {
	uint64_t key, number;
};

static bool is_key_before(const void *left, const void *right, const void *context)
{
	assert_ptr_equal(context, "context");
	return ((const struct pair *)left)->key < ((const struct pair *)right)->key;
}

static bool is_word_before(const void *left, const void *right, const void *context)
{
	(void)context;
	return *(const uint64_t *)left < *(const uint64_t *)right;
}

/* Keys that ascend, but for some that are 'mess' in a hundred. */
static uint32_t make_keys(struct pair *pairs, int mess)
{
	uint32_t n = (uint32_t)rand() % MOST;
	for (uint32_t i = 0; i < n; i++)
		pairs[i] = (struct pair){rand() % 100 < mess ? (uint64_t)rand() % n : i / 3, i};
	return n;
}

static void insert_all(struct pair *pairs, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		for (uint32_t j = i; j > 0 && pairs[j].key < pairs[j - 1].key; j--) {
			struct pair moving = pairs[j];
			pairs[j] = pairs[j - 1];
			pairs[j - 1] = moving;
		}
}

static void equal_elements_keep_their_order(void **state)
{
	(void)state;
	srand(1);
	for (int round = 0; round < ROUNDS; round++) {
		struct pair pairs[MOST], sorted[MOST];
		uint32_t n = make_keys(pairs, round % 4 == 0 ? 100 : round % 10);
		memcpy(sorted, pairs, sizeof pairs);
		insert_all(sorted, n);
		hwy_sort_runs(pairs, n, sizeof *pairs, is_key_before, "context");
		assert_memory_equal(pairs, sorted, n * sizeof *pairs);
	}
}

static void words_are_sorted_too(void **state)
{
	(void)state;
	srand(2);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t words[MOST];
		struct pair pairs[MOST];
		uint32_t n = make_keys(pairs, 50);
		for (uint32_t i = 0; i < n; i++)
			words[i] = pairs[i].key;
		insert_all(pairs, n);
		hwy_sort_runs(words, n, sizeof *words, is_word_before, NULL);
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(words[i], pairs[i].key);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_elements_keep_their_order),
		cmocka_unit_test(words_are_sorted_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
