/* SPDX-License-Identifier: Apache-2.0 */
/* base_fold_test.c - one name for what is numbered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/fold.h"

static void assert_folds(const char *text, const char *expected)
{
	char folded[128];
	snprintf(folded, sizeof folded, "%s", text);
	hwy_fold_numbers(folded);
	assert_string_equal(folded, expected);
}

static void numbers_that_count_become_n(void **state)
{
	assert_folds("step_7", "step_N");
	assert_folds("ProfilerStep#12 > load 3", "ProfilerStep#N > load N");
	assert_folds("Loop > Step 10 to 20 > Copy 10", "Loop > Step N to N > Copy N");
	assert_folds("epoch 3/10: batch_12", "epoch N/N: batch_N");
	assert_folds("layers.3.mlp", "layers.N.mlp");
	assert_folds("layer_3_attention", "layer_N_attention");
}

static void numbers_inside_words_stay(void **state)
{
	assert_folds("aten::conv2d", "aten::conv2d");
	assert_folds("open64", "open64");
	assert_folds("gemm_128x128", "gemm_128x128");
	assert_folds("7 steps", "7 steps");
	assert_folds("", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_that_count_become_n),
		cmocka_unit_test(numbers_inside_words_stay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
