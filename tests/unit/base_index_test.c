/* SPDX-License-Identifier: Apache-2.0 */
/* base_index_test.c - maps keyed by bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>

#include "base/index.h"

enum { KEYS = 20000 };

static size_t make_key(char text[32], uint32_t i)
{
	return (size_t)snprintf(text, 32, "/lib/lib%u.so", i);
}

static void every_key_keeps_its_value_though_the_caller_reuses_its_memory(void **state)
{
	struct hwy_index index = {0};
	char text[32];
	bool fresh;
	assert_null(hwy_index_get(&index, "a", 1));
	for (uint32_t i = 0; i < KEYS; i++) {
		uint32_t *value = hwy_index_put(&index, text, make_key(text, i), &fresh);
		assert_true(fresh);
		assert_int_equal(*value, 0);
		*value = i;
	}
	for (uint32_t i = 0; i < KEYS; i++) {
		size_t length = make_key(text, i);
		assert_int_equal(*hwy_index_get(&index, text, length), i);
		assert_int_equal(*hwy_index_put(&index, text, length, &fresh), i);
		assert_false(fresh);
	}
	assert_int_equal(index.count, KEYS);
	assert_null(hwy_index_get(&index, "/lib/lib", 8));
	hwy_index_free(&index);
	assert_null(index.slots);
}

static void keys_differ_by_length_and_by_zero_bytes(void **state)
{
	struct hwy_index index = {0};
	*hwy_index_put(&index, "", 0, NULL) = 1;
	*hwy_index_put(&index, "\0", 1, NULL) = 2;
	*hwy_index_put(&index, "a", 1, NULL) = 3;
	*hwy_index_put(&index, "a\0b", 3, NULL) = 4;
	assert_int_equal(index.count, 4);
	assert_int_equal(*hwy_index_get(&index, "", 0), 1);
	assert_int_equal(*hwy_index_get(&index, "\0", 1), 2);
	assert_int_equal(*hwy_index_get(&index, "ab", 1), 3);
	assert_int_equal(*hwy_index_get(&index, "a\0b", 3), 4);
	hwy_index_free(&index);
}

static void keys_with_one_hash_are_two_keys(void **state)
{
	struct hwy_index index = {0};
	*hwy_index_put(&index, "first", 5, NULL) = 1;
	/* Gives the slot another key of the same length, as a collision would: the hash is that of "first". */
	for (uint32_t i = 0; i <= index.mask; i++)
		if (index.slots[i].is_used)
			index.slots[i].key = "other";
	assert_null(hwy_index_get(&index, "first", 5));
	bool fresh;
	*hwy_index_put(&index, "first", 5, &fresh) = 2;
	assert_true(fresh);
	assert_int_equal(*hwy_index_get(&index, "first", 5), 2);
	assert_int_equal(index.count, 2);
	hwy_index_free(&index);
}

static void a_referenced_key_is_not_copied(void **state)
{
	struct hwy_index index = {0};
	static const char *const names[] = {"cudaLaunchKernel", "cudaMemcpyAsync"};
	for (uint32_t i = 0; i < 2; i++)
		*hwy_index_put_reference(&index, names[i], strlen(names[i]), NULL) = i + 10;
	assert_null(index.keys.last);
	assert_int_equal(*hwy_index_get(&index, "cudaMemcpyAsync", 15), 11);
	hwy_index_free(&index);
}

struct element {
	uint64_t key[2];
	double sum; /* no part of the key */
};

static void elements_are_found_again_though_their_array_moves(void **state)
{
	struct hwy_index index = {0};
	struct element *elements = NULL;
	uint32_t n = 0, cap = 0;
	for (uint32_t i = 0; i < 3 * KEYS; i++) {
		uint64_t key[2] = {i % KEYS, UINT64_C(1) << 40};
		bool fresh;
		uint32_t *number = hwy_index_put_element(&index, elements, sizeof *elements, key,
							 sizeof key, &fresh);
		assert_int_equal(fresh, i < KEYS);
		if (fresh) {
			HWY_GROW(elements, n, cap);
			*number = n;
			elements[n++] = (struct element){.key = {key[0], key[1]}};
		}
		elements[*number].sum += 1;
	}
	assert_int_equal(n, KEYS);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(elements[i].key[0], i);
		assert_true(elements[i].sum == 3);
	}
	free(elements);
	hwy_index_free(&index);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_keeps_its_value_though_the_caller_reuses_its_memory),
		cmocka_unit_test(keys_differ_by_length_and_by_zero_bytes),
		cmocka_unit_test(keys_with_one_hash_are_two_keys),
		cmocka_unit_test(a_referenced_key_is_not_copied),
		cmocka_unit_test(elements_are_found_again_though_their_array_moves),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
