/* SPDX-License-Identifier: Apache-2.0 */
/* phases_xla_test.c - the steps of JAX programs: executions of the compiled function that has most of the work. */
#include "found_phases.h"
#include "jax_program.h"

static void the_executions_of_the_main_function_are_the_steps(void **state)
{
	struct program p = steps_program();
	for (int i = 0; i < 3; i++)
		jax_execute(&p, "_normal", i, 1, 20);
	for (int i = 0; i < 20; i++) {
		jax_execute(&p, "convert_element_type", 7, 1, 2);
		jax_execute(&p, "train_step", 12, 6, 50);
		jax_execute(&p, "_mean", 13, 1, 2);
		program_compute(&p, 500);
	}
	struct found found = find(&p, NULL);
	assert_int_equal(found.phases.n, 1);
	const struct hwy_phase *phase = &found.phases.phases[0];
	assert_int_equal(phase->source, PHASE_MARKS);
	assert_text(&found, phase->name, "jit(train_step)");
	assert_text(&found, phase->steps[4].name, "jit(train_step)");
	assert_int_equal(phase->n_steps, 20);
	done(&found);
}

static void a_function_that_is_compiled_again_stays_one_phase(void **state)
{
	struct program p = steps_program();
	for (int i = 0; i < 24; i++) {
		if (i % 8 == 0)
			jax_compile(&p, "step", 5);
		jax_execute(&p, "step", 100 - i / 8, 6, 50);
		program_compute(&p, 500);
	}
	struct found found = find(&p, NULL);
	assert_int_equal(found.phases.n, 1);
	assert_text(&found, found.phases.phases[0].name, "jit(step)");
	assert_int_equal(found.phases.phases[0].n_steps, 24);
	done(&found);
}

/* The candidates that XLA tries take a hundred times as long as the program's steps. */
static void work_of_a_compilation_hides_no_steps(void **state)
{
	struct program p = steps_program();
	for (int i = 0; i < 4; i++)
		jax_execute(&p, "_normal", i, 1, 2);
	jax_compile(&p, "update", 400);
	for (int i = 0; i < 10; i++) {
		jax_execute(&p, "update", 9, 4, 20);
		program_compute(&p, 2000);
	}
	struct found found = find(&p, NULL);
	assert_int_equal(found.phases.n, 1);
	assert_text(&found, found.phases.phases[0].name, "jit(update)");
	assert_int_equal(found.phases.phases[0].n_steps, 10);
	done(&found);
}

static void marks_of_the_user_come_before_executions(void **state)
{
	struct program p = steps_program();
	for (int i = 0; i < 10; i++) {
		int64_t from = p.cpu;
		for (int k = 0; k < 4; k++)
			jax_execute(&p, "accumulate", 3, 4, 50);
		jax_execute(&p, "apply", 4, 1, 5);
		program_mark(&p, from, "step %d", i);
	}
	struct found found = find(&p, NULL);
	assert_int_equal(found.phases.n, 1);
	assert_text(&found, found.phases.phases[0].name, "step ");
	assert_int_equal(found.phases.phases[0].n_steps, 10);
	done(&found);
}

static void a_function_can_be_asked_for_as_jax_writes_it(void **state)
{
	struct program p = steps_program();
	for (int i = 0; i < 10; i++) {
		jax_execute(&p, "step", 3, 4, 50);
		if (i % 5 == 4)
			jax_execute(&p, "evaluate", 4, 4, 50);
	}
	struct found found = find(&p, "jit(evaluate)");
	assert_int_equal(found.phases.n, 1);
	assert_text(&found, found.phases.phases[0].name, "jit(evaluate)");
	assert_int_equal(found.phases.phases[0].n_steps, 2);
	done(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_executions_of_the_main_function_are_the_steps),
		cmocka_unit_test(a_function_that_is_compiled_again_stays_one_phase),
		cmocka_unit_test(work_of_a_compilation_hides_no_steps),
		cmocka_unit_test(marks_of_the_user_come_before_executions),
		cmocka_unit_test(a_function_can_be_asked_for_as_jax_writes_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
