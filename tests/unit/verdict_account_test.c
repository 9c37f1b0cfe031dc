/* SPDX-License-Identifier: Apache-2.0 */
/* verdict_account_test.c - what became of a recording's time: the parts add up to all of it. */
#include "program.h"

#include "diagnose/verdict.h"

static void a_loop(struct program *p)
{
	for (int step = 0; step < 10; step++) {
		program_step(p, step);
		for (int k = 0; k < 8; k++)
			program_launch(p, 0, "gemm", 500);
	}
	program_sync(p, 0);
	program_end_step(p);
}

static void the_base_is_the_whole_recording(void **state)
{
	struct program p = program_new();
	int64_t began = p.cpu;
	program_compute(&p, 700000);
	program_span(&p, p.range, HWY_RANGE, began, p.cpu, "import");
	int64_t first_call = p.cpu;
	program_call(&p, "cudaGetDeviceCount", 50);
	program_compute(&p, 30000);
	a_loop(&p);
	int64_t left = p.cpu;
	program_compute(&p, 90000);
	program_span(&p, p.range, HWY_RANGE, left, p.cpu, "write the results");
	struct diagnosed d = program_diagnose(&p);
	const struct verdict *verdict = &d.diagnosis.verdict;
	const struct verdict_account *account = &verdict->account;
	assert_int_equal(account->recording, p.cpu - began);
	assert_int_equal(account->before_calls, first_call - began);
	assert_true(account->before > US(30000) && account->before < US(31000));
	assert_true(account->after >= US(90000));
	assert_int_equal(account->before_calls + account->before + account->warm_up +
				 account->judged + account->elsewhere + account->after,
			 account->recording);
	assert_true(verdict->coverage > 0.03 && verdict->coverage < 0.06);
	diagnosed_free(&d);
}

static void a_long_first_call_of_the_api_counts_where_nothing_repeats(void **state)
{
	struct program p = program_new();
	int64_t began = p.cpu;
	program_call(&p, "cudaDeviceGetStreamPriorityRange", 300000);
	program_compute(&p, 200);
	program_launch(&p, 0, "gemm", 300);
	program_launch(&p, 0, "relu", 100);
	program_sync(&p, 0);
	struct diagnosed d = program_diagnose(&p);
	const struct hwy_phase *phase = &d.analysis.phases.phases[0];
	assert_int_equal(phase->source, PHASE_ONE);
	assert_int_equal(phase->window.from, began);
	assert_string_equal(verdict_words[d.diagnosis.verdict.word], "first-use");
	assert_int_equal(d.diagnosis.verdict.account.before_calls, 0);
	diagnosed_free(&d);
}

static void a_start_up_shorter_than_the_rest_is_accounted_for_beside_it(void **state)
{
	struct program p = program_new();
	program_call(&p, "cudaDeviceGetStreamPriorityRange", 300);
	program_call(&p, "cuInit", 30000);
	program_launch(&p, 0, "persistent", 200000);
	program_sync(&p, 0);
	struct diagnosed d = program_diagnose(&p);
	assert_string_equal(verdict_words[d.diagnosis.verdict.word], "gpu");
	assert_int_equal(d.diagnosis.verdict.account.before, US(30300));
	diagnosed_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_base_is_the_whole_recording),
		cmocka_unit_test(a_long_first_call_of_the_api_counts_where_nothing_repeats),
		cmocka_unit_test(a_start_up_shorter_than_the_rest_is_accounted_for_beside_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
