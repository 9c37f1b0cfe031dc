/* SPDX-License-Identifier: Apache-2.0 */
/* base_ref_test.c - references that may be absent, and the last part of a path. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/path.h"
#include "base/ref.h"

static void a_reference_leads_back_to_its_index(void **state)
{
	static const int64_t indexes[] = {0, 1, UINT32_MAX, INT64_MAX - 1};
	for (size_t i = 0; i < sizeof indexes / sizeof *indexes; i++) {
		int64_t ref = hwy_ref(indexes[i]);
		assert_true(hwy_ref_is_set(ref));
		assert_true(hwy_ref_index(ref) == indexes[i]);
	}
	static const uint32_t small[] = {0, 1, UINT32_MAX - 1};
	for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
		uint32_t ref = hwy_ref32(small[i]);
		assert_true(hwy_ref32_is_set(ref));
		assert_int_equal(hwy_ref32_index(ref), small[i]);
	}
}

static void zeroed_memory_and_damaged_numbers_refer_to_nothing(void **state)
{
	assert_false(hwy_ref_is_set(HWY_REF_NONE));
	assert_false(hwy_ref_is_set(0));
	assert_false(hwy_ref_is_set(-1));
	assert_false(hwy_ref_is_set(INT64_MIN));
	assert_false(hwy_ref32_is_set(0));
}

static void a_base_name_is_empty_only_where_the_path_is(void **state)
{
	assert_string_equal(hwy_basename("/usr/bin/python3"), "python3");
	assert_string_equal(hwy_basename("python3"), "python3");
	assert_string_equal(hwy_basename("runs/"), "runs/");
	assert_string_equal(hwy_basename("/"), "/");
	assert_string_equal(hwy_basename("/a"), "a");
	assert_string_equal(hwy_basename(""), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reference_leads_back_to_its_index),
		cmocka_unit_test(zeroed_memory_and_damaged_numbers_refer_to_nothing),
		cmocka_unit_test(a_base_name_is_empty_only_where_the_path_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
