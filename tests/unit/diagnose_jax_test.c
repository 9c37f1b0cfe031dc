/* SPDX-License-Identifier: Apache-2.0 */
/* diagnose_jax_test.c - JAX programs with a known fault, the same programs without it, and what is compiled before the steps. */
#include "jax_program.h"

#include "analyze/compilations.h"

enum { STEPS = 40 };

/* A process that compiles, for 'us' microseconds from now on; the program's clock does not move. */
static void start_compiler(struct program *p, const char *name, int64_t us)
{
	uint32_t child = hwy_new_processes(p->builder);
	struct hwy_process *process = &program_trace(p)->processes[child];
	process->pid = 1000 + child;
	process->parent = p->process;
	process->name = hwy_text_id(p->builder, name);
	process->start = p->cpu;
	process->end = p->cpu + US(us);
}

static void compiling_is_accounted_for_before_the_steps(void **state)
{
	struct program p = program_new();
	jax_execute(&p, "_normal", 1, 1, 20);
	for (int i = 0; i < 30; i++)
		start_compiler(&p, i % 10 ? "ptxas" : "nvlink", 1000 + i);
	jax_compile(&p, "_normal", 20);
	jax_compile(&p, "update", 70);
	for (int i = 0; i < STEPS; i++)
		jax_execute(&p, "update", 9, 6, 100);
	struct diagnosed d = program_diagnose(&p);
	const struct compilations *compiled = &d.diagnosis.verdict.account.compiled;
	assert_int_equal(compiled->total, US(90000));
	assert_int_equal(compiled->n, 2);
	assert_string_equal(compiled->longest, "jit(update)");
	assert_int_equal(compiled->longest_ns, US(70000));
	assert_int_equal(compiled->n_processes, 30);
	assert_int_equal(compiled->in_processes, US(1029));
	assert_string_equal(compiled->programs, "ptxas, nvlink");
	/* Compilers are no workers of an input pipeline. */
	ASSERT_NOT_ACCUSED(&d, "too-many-workers");
	ASSERT_NOT_ACCUSED(&d, "module-load-late");
	diagnosed_free(&d);
}

static void a_function_that_is_compiled_again_in_the_steps_is_named(void **state)
{
	struct program p = program_new();
	jax_compile(&p, "train_step", 50);
	for (int i = 0; i < STEPS; i++) {
		if (i % 5 == 4)
			jax_compile(&p, "train_step", 50);
		jax_execute(&p, "train_step", i / 5, 6, 200);
		program_compute(&p, 1000);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "module-load-late");
	const struct hwy_finding *finding = accused(&d, "module-load-late");
	assert_non_null(strstr(finding->says, "jit(train_step) is compiled again "));
	assert_non_null(strstr(finding->says, " times in the steady steps"));
	assert_non_null(strstr(finding->advice, "jax_explain_cache_misses"));
	assert_int_equal(d.diagnosis.verdict.word, VERDICT_FIRST_USE);
	diagnosed_free(&d);
}

/* Functions that are compiled for the first time, one after the other: not one that changes. */
static void functions_that_are_compiled_once_each_are_not_compiled_again(void **state)
{
	struct program p = program_new();
	for (int i = 0; i < STEPS; i++) {
		char name[16];
		snprintf(name, sizeof name, "f%c", 'a' + i % 26);
		if (i % 5 == 4)
			jax_compile(&p, name, 50);
		jax_execute(&p, "train_step", 1, 6, 200);
		program_compute(&p, 1000);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "module-load-late");
	const struct hwy_finding *finding = accused(&d, "module-load-late");
	assert_null(strstr(finding->says, "again"));
	assert_non_null(strstr(finding->says, "compile jit(f"));
	assert_null(strstr(finding->advice, "jax_explain_cache_misses"));
	diagnosed_free(&d);
}

/* A loop of one compiled function; 'every' is how often the loss is fetched. */
static struct diagnosed fetch_every(int every)
{
	struct program p = program_new();
	struct program pool = program_thread(&p, 1);
	for (int i = 0; i < STEPS; i++) {
		jax_execute(&p, "train_step", 1, 6, 200);
		program_compute(&p, 20);
		if (i % every == 0)
			p.cpu = jax_fetch(&p, &pool) + US(250);
	}
	return program_diagnose(&p);
}

/* No call lasts as long as the wait: the program launches nothing until the copy has ended. */
static void a_loss_that_is_fetched_every_step_is_a_wait(void **state)
{
	struct diagnosed d = fetch_every(1);
	ASSERT_ACCUSED(&d, "sync-in-loop");
	const struct hwy_finding *finding = accused(&d, "sync-in-loop");
	assert_non_null(strstr(finding->advice, "float()"));
	assert_non_null(strstr(finding->advice, "every N steps"));
	assert_null(strstr(finding->advice, "item()"));
	assert_null(strstr(finding->advice, "cuda"));
	assert_int_equal(d.diagnosis.verdict.word, VERDICT_SYNC);
	diagnosed_free(&d);
}

static void a_loss_that_is_fetched_seldom_is_none(void **state)
{
	struct diagnosed d = fetch_every(STEPS);
	ASSERT_NOT_ACCUSED(&d, "sync-in-loop");
	diagnosed_free(&d);
}

/* The copy is started, and the next step is launched before it has ended. */
static void a_copy_that_nobody_waits_for_is_no_wait(void **state)
{
	struct program p = program_new();
	struct program pool = program_thread(&p, 1);
	for (int i = 0; i < STEPS; i++) {
		jax_execute(&p, "train_step", 1, 6, 200);
		program_compute(&p, 20);
		jax_fetch(&p, &pool);
		program_compute(&p, 30);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "sync-in-loop");
	for (uint32_t i = 0; i < d.analysis.flow.n_calls; i++)
		assert_false(d.analysis.flow.calls[i].blocks);
	diagnosed_free(&d);
}

/* XLA copies a callback's arguments to the host, waits for them, calls Python, and goes on. */
static void a_callback_of_the_compiled_function_is_a_wait_with_its_own_advice(void **state)
{
	struct program p = program_new();
	for (int i = 0; i < STEPS; i++) {
		int64_t from = p.cpu;
		for (int k = 0; k < 3; k++)
			program_launch(&p, 0, "loop_add_fusion", 200);
		int64_t thunk = p.cpu;
		program_copy(&p, 0, HWY_D2H, 1024, HWY_MEM_PINNED, 3, true);
		program_compute(&p, 150);
		program_span(&p, p.range, HWY_RANGE, thunk, p.cpu,
			     "Thunk:#name=jit(step)/pure_callback,hlo_op=custom-call.3#");
		for (int k = 0; k < 3; k++)
			program_launch(&p, 0, "loop_add_fusion", 200);
		program_span(&p, p.range, HWY_RANGE, from, p.cpu,
			     "XlaModule:#hlo_module=jit_step,program_id=4#");
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "sync-in-loop");
	assert_non_null(strstr(accused(&d, "sync-in-loop")->advice, "pure_callback"));
	diagnosed_free(&d);
}

/* A step that copies 64 MiB inside the device, by an operation of this name. */
static struct diagnosed copy_by(const char *thunk)
{
	struct program p = program_new();
	for (int i = 0; i < STEPS; i++) {
		int64_t from = p.cpu;
		for (int k = 0; k < 6; k++)
			program_launch(&p, 0, "loop_add_fusion", 50);
		int64_t begin = p.cpu;
		struct hwy_row row = {0};
		row.v[HWY_BYTES] = 64 << 20;
		row.v[HWY_DIRECTION] = HWY_D2D;
		row.v[HWY_SRC_MEMORY] = row.v[HWY_DST_MEMORY] = HWY_MEM_DEVICE;
		program_work(&p, 0, "cuMemcpyDtoDAsync_v2", LAUNCH_US, HWY_COPY, row, US(200));
		program_span(&p, p.range, HWY_RANGE, begin, p.cpu, thunk);
		program_span(&p, p.range, HWY_RANGE, from, p.cpu,
			     "XlaModule:#hlo_module=jit_step,program_id=4#");
	}
	return program_diagnose(&p);
}

static void arguments_that_are_copied_are_to_be_donated(void **state)
{
	struct diagnosed d = copy_by("Thunk:#name=params['w'],hlo_op=copy.1#");
	ASSERT_ACCUSED(&d, "device-copies");
	assert_non_null(strstr(accused(&d, "device-copies")->advice, "donate_argnums"));
	diagnosed_free(&d);
	d = copy_by("Thunk:#name=jit(step)/while/body/concatenate,hlo_op=copy.1#");
	ASSERT_ACCUSED(&d, "device-copies");
	assert_null(strstr(accused(&d, "device-copies")->advice, "donate_argnums"));
	diagnosed_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compiling_is_accounted_for_before_the_steps),
		cmocka_unit_test(a_function_that_is_compiled_again_in_the_steps_is_named),
		cmocka_unit_test(functions_that_are_compiled_once_each_are_not_compiled_again),
		cmocka_unit_test(a_loss_that_is_fetched_every_step_is_a_wait),
		cmocka_unit_test(a_loss_that_is_fetched_seldom_is_none),
		cmocka_unit_test(a_copy_that_nobody_waits_for_is_no_wait),
		cmocka_unit_test(arguments_that_are_copied_are_to_be_donated),
		cmocka_unit_test(a_callback_of_the_compiled_function_is_a_wait_with_its_own_advice),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
