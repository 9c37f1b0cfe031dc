/* SPDX-License-Identifier: Apache-2.0 */
/* cupti_host_test.c - CUPTI's host side, where its libraries are: sets, pass counts, refusals. No GPU is needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "real_cupti.h"

static size_t passes(enum abi_cupti_profiler profiler, const char *chip, const char *const *metrics,
		     size_t n)
{
	struct hwy_err err = {""};
	struct cupti_config config = {0};
	struct cupti_host *host = cupti_host_make(real_cupti(), profiler, chip, NULL, &err);
	if (!host || !cupti_host_add(host, metrics, n, &err) ||
	    !cupti_host_config(host, &config, &err))
		fail_msg("%s", err.text);
	assert_true(config.bytes > 0);
	size_t found = config.passes;
	cupti_config_free(&config);
	cupti_host_free(host);
	return found;
}

static void chips_of_several_generations_are_known(void **state)
{
	(void)state;
	struct hwy_err err = {""};
	const char *const *names;
	size_t n, known = 0;
	assert_true(cupti_library_chips(real_cupti(), &names, &n, &err));
	for (size_t i = 0; i < n; i++)
		known += !strcmp(names[i], "GH100") || !strcmp(names[i], "GA100") ||
			 !strcmp(names[i], "AD102");
	assert_int_equal(known, 3);
}

static void a_set_for_sampling_fits_one_pass_and_one_for_kernels_needs_several(void **state)
{
	(void)state;
	static const char *const sampled[] = {
		"gr__cycles_active.avg.pct_of_peak_sustained_elapsed",
		"sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
		"sm__inst_executed_realtime.avg.pct_of_peak_sustained_elapsed",
		"dram__bytes_read.sum",
		"dram__bytes_write.sum",
	};
	static const char *const many[] = {
		"sm__throughput.avg.pct_of_peak_sustained_elapsed",
		"lts__throughput.avg.pct_of_peak_sustained_elapsed",
		"dram__bytes.sum",
	};
	assert_int_equal(passes(ABI_CUPTI_PM_SAMPLING, "GH100", sampled, 5), 1);
	assert_int_equal(passes(ABI_CUPTI_PM_SAMPLING, "AD102", sampled, 5), 1);
	assert_true(passes(ABI_CUPTI_PM_SAMPLING, "GH100", many, 3) > 1);
	assert_int_equal(passes(ABI_CUPTI_RANGE_PROFILER, "GH100", &many[2], 1), 1);
	assert_true(passes(ABI_CUPTI_RANGE_PROFILER, "GH100", many, 3) > 1);
}

static void a_metric_that_the_chip_has_not_is_refused_by_name(void **state)
{
	(void)state;
	struct hwy_err err = {""};
	static const char *const wrong[] = {"launch__registers_per_thread"};
	struct cupti_host *host =
		cupti_host_make(real_cupti(), ABI_CUPTI_RANGE_PROFILER, "GH100", NULL, &err);
	assert_non_null(host);
	assert_false(cupti_host_add(host, wrong, 1, &err));
	assert_non_null(strstr(err.text, "no metric 'launch__registers_per_thread'"));
	cupti_host_free(host);
}

static void an_unknown_chip_is_refused_by_name(void **state)
{
	(void)state;
	struct hwy_err err = {""};
	assert_null(cupti_host_make(real_cupti(), ABI_CUPTI_RANGE_PROFILER, "ZZ999", NULL, &err));
	assert_non_null(strstr(err.text, "ZZ999"));
}

static void the_greedy_choice_leaves_out_what_is_unknown_or_needs_another_pass(void **state)
{
	(void)state;
	static const char *const wanted[] = {
		"sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
		"no__such_metric.sum",
		"sm__throughput.avg.pct_of_peak_sustained_elapsed",
		"dram__bytes_read.sum",
	};
	static const char *const taken[] = {wanted[0], wanted[3]};
	bool chosen[4];
	size_t n = cupti_host_choose(real_cupti(), ABI_CUPTI_PM_SAMPLING, "GH100", NULL, wanted, 4,
				     1, chosen);
	assert_int_equal(n, 2);
	assert_true(chosen[0] && !chosen[1] && !chosen[2] && chosen[3]);
	assert_int_equal(passes(ABI_CUPTI_PM_SAMPLING, "GH100", taken, 2), 1);
}

static void base_metrics_of_a_chip_are_listed(void **state)
{
	(void)state;
	struct hwy_err err = {""};
	const char *const *names;
	size_t n, found = 0;
	struct cupti_host *host =
		cupti_host_make(real_cupti(), ABI_CUPTI_RANGE_PROFILER, "GH100", NULL, &err);
	assert_non_null(host);
	assert_true(cupti_host_base_metrics(host, ABI_CUPTI_COUNTER, &names, &n, &err));
	for (size_t i = 0; i < n; i++)
		found += !strcmp(names[i], "dram__bytes");
	assert_int_equal(found, 1);
	cupti_host_free(host);
}

static void counter_data_that_is_none_is_refused(void **state)
{
	(void)state;
	struct hwy_err err = {""};
	static const char *const metrics[] = {"dram__bytes.sum"};
	uint8_t nothing[4096] = {0};
	double value = 1;
	struct cupti_host *host =
		cupti_host_make(real_cupti(), ABI_CUPTI_RANGE_PROFILER, "GH100", NULL, &err);
	assert_non_null(host);
	assert_false(
		cupti_host_evaluate(host, nothing, sizeof nothing, 0, metrics, 1, &value, &err));
	assert_true(value != value);
	cupti_host_free(host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chips_of_several_generations_are_known),
		cmocka_unit_test(
			a_set_for_sampling_fits_one_pass_and_one_for_kernels_needs_several),
		cmocka_unit_test(a_metric_that_the_chip_has_not_is_refused_by_name),
		cmocka_unit_test(an_unknown_chip_is_refused_by_name),
		cmocka_unit_test(
			the_greedy_choice_leaves_out_what_is_unknown_or_needs_another_pass),
		cmocka_unit_test(base_metrics_of_a_chip_are_listed),
		cmocka_unit_test(counter_data_that_is_none_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
