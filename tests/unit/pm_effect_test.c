/* SPDX-License-Identifier: Apache-2.0 */
/* pm_effect_test.c - when a change of clocks is put down to sampling. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run/counters/pm_effect.h"

static struct pm_clocks at(uint32_t mhz, uint64_t reasons)
{
	return (struct pm_clocks){
		.is_known = true, .sm_mhz = mhz, .most_mhz = 1980, .reasons = reasons};
}

static bool is_change(struct pm_clocks before, struct pm_clocks after)
{
	char text[128];
	return pm_effect_is_change(&before, &after, text, sizeof text);
}

static void clocks_that_stay_are_no_change(void **state)
{
	(void)state;
	assert_false(is_change(at(345, ABI_NVML_REASON_IDLE), at(345, ABI_NVML_REASON_IDLE)));
	assert_false(is_change(at(345, ABI_NVML_REASON_IDLE), at(900, ABI_NVML_REASON_IDLE)));
	assert_false(is_change(at(1980, 0), at(1965, 0)));
}

static void a_program_that_begins_to_work_raises_clocks_without_sampling(void **state)
{
	(void)state;
	assert_false(is_change(at(345, ABI_NVML_REASON_IDLE), at(1980, 0)));
}

static void a_power_limit_lowers_clocks_without_sampling(void **state)
{
	(void)state;
	assert_false(is_change(at(1980, 0), at(1400, ABI_NVML_REASON_POWER_CAP)));
	assert_false(is_change(at(1980, 0), at(345, ABI_NVML_REASON_IDLE)));
}

static void clocks_that_only_sampling_explains_are_a_change(void **state)
{
	(void)state;
	assert_true(is_change(at(345, ABI_NVML_REASON_IDLE),
			      at(1590, ABI_NVML_REASON_APPLICATION_CLOCKS)));
	assert_true(is_change(at(1980, 0), at(1485, 0)));
}

static void a_clock_that_was_set_before_is_not_sampling(void **state)
{
	(void)state;
	assert_false(is_change(at(1500, ABI_NVML_REASON_APPLICATION_CLOCKS),
			       at(1500, ABI_NVML_REASON_APPLICATION_CLOCKS)));
}

static void unknown_clocks_prove_nothing(void **state)
{
	(void)state;
	struct pm_clocks unknown = {0};
	assert_false(is_change(unknown, at(1485, 0)));
	assert_false(is_change(at(1980, 0), unknown));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clocks_that_stay_are_no_change),
		cmocka_unit_test(a_program_that_begins_to_work_raises_clocks_without_sampling),
		cmocka_unit_test(a_power_limit_lowers_clocks_without_sampling),
		cmocka_unit_test(clocks_that_only_sampling_explains_are_a_change),
		cmocka_unit_test(a_clock_that_was_set_before_is_not_sampling),
		cmocka_unit_test(unknown_clocks_prove_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
