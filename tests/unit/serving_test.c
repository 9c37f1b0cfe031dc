/* SPDX-License-Identifier: Apache-2.0 */
/* serving_test.c - the steps of inference servers, told apart by the names of their marks. */
#include "program.h"

#include "analyze/serving.h"

static void the_names_of_servers_tell_what_a_step_holds(void **state)
{
	static const struct {
		const char *name;
		enum serving_unit unit;
	} names[] = {
		{"execute_context_1(512)_generation_0(0)", SERVING_PREFILL},
		{"execute_context_0(0)_generation_16(16)", SERVING_DECODE},
		{"execute_context_2(96)_generation_14(14)", SERVING_MIXED},
		{"execute_context_0(0)_generation_0(0)", SERVING_NONE},
		{"execute_new_3_cached_0", SERVING_PREFILL},
		{"execute_new_0_cached_8", SERVING_DECODE},
		{"step[EXTEND bs=4 toks=2048]", SERVING_PREFILL},
		{"step[DECODE bs=12]", SERVING_DECODE},
		{"[Executor] _forward_step 7: 1 ctx reqs, 0 gen reqs", SERVING_PREFILL},
		{"[Executor] _forward_step 8: 0 ctx reqs, 12 gen reqs", SERVING_DECODE},
		{"prefill", SERVING_PREFILL},
		{"decode_17", SERVING_DECODE},
		{"train_step_3", SERVING_NONE},
		{" ctx reqs", SERVING_NONE},
		{"context_", SERVING_NONE},
		{"", SERVING_NONE},
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (serving_unit_of(names[i].name) != names[i].unit)
			fail_msg("\"%s\" is called %s", names[i].name,
				 serving_units[serving_unit_of(names[i].name)]);
}

static void a_server_has_a_time_for_prompts_and_one_for_tokens(void **state)
{
	struct program p = program_new();
	for (int request = 0; request < 6; request++) {
		int64_t from = p.cpu;
		program_launch(&p, 0, "gemm", 9000);
		program_sync(&p, 0);
		program_mark(&p, from, "execute_context_1(%d)_generation_0(0)", 512 + request);
		for (int token = 0; token < 9; token++) {
			from = p.cpu;
			program_launch(&p, 0, "gemv", 1000);
			program_sync(&p, 0);
			program_mark(&p, from, "execute_context_0(0)_generation_4(%d)", 4);
		}
	}
	struct diagnosed d = program_diagnose(&p);
	const struct hwy_phases *phases = &d.analysis.phases;
	struct serving_times times = serving_times_of(d.trace, &phases->phases[phases->main]);
	assert_in_range(times.n[SERVING_PREFILL], 4, 6);
	assert_in_range(times.n[SERVING_DECODE], 40, 54);
	assert_int_equal(times.n[SERVING_MIXED], 0);
	assert_in_range(times.median[SERVING_PREFILL], US(9000), US(9100));
	assert_in_range(times.median[SERVING_DECODE], US(1000), US(1100));
	diagnosed_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_names_of_servers_tell_what_a_step_holds),
		cmocka_unit_test(a_server_has_a_time_for_prompts_and_one_for_tokens),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
