/* SPDX-License-Identifier: Apache-2.0 */
/* verdict_test.c - one word for what holds a made-up program back: a program for each rule of docs/verdict.md. */
#include "program.h"

#include "analyze/first_use.h"
#include "diagnose/verdict.h"

struct judged {
	struct diagnosed d;
	struct verdict verdict;
	struct hwy_arena arena;
};

static struct judged judge(struct program *p)
{
	struct judged j = {.d = program_diagnose(p)};
	j.verdict = verdict_find(&j.d.analysis, j.d.analysis.phases.main, &j.arena);
	double sum = 0;
	for (unsigned word = 0; word < VERDICTS; word++)
		sum += j.verdict.shares[word];
	assert_true(sum == 0 || (sum > 0.999 && sum < 1.001));
	const struct verdict_account *a = &j.verdict.account;
	assert_int_equal(a->before_calls + a->judged + a->before + a->warm_up + a->after +
				 a->elsewhere,
			 a->recording);
	assert_true(j.verdict.coverage >= 0 && j.verdict.coverage <= 1);
	return j;
}

static void expect(struct program *p, const char *word)
{
	struct judged j = judge(p);
	assert_string_equal(verdict_words[j.verdict.word], word);
	assert_true(strlen(j.verdict.says) > 20);
	hwy_arena_free(&j.arena);
	diagnosed_free(&j.d);
}

/* ---- the words ---------------------------------------------------------------------------------------- */

static void a_device_that_always_works_is_gpu(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < 10; step++) {
		program_step(&p, step);
		for (int k = 0; k < 8; k++)
			program_launch(&p, 0, "gemm", 500);
	}
	expect(&p, "gpu");
}

static void a_small_wait_beside_much_work_is_still_gpu(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < 10; step++) {
		program_step(&p, step);
		for (int k = 0; k < 8; k++)
			program_launch(&p, 0, "gemm", 500);
		program_sync(&p, 0);
		program_compute(&p, 60);
	}
	expect(&p, "gpu");
}

static void launching_slower_than_the_device_works_is_launch(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < 10; step++) {
		program_step(&p, step);
		for (int k = 0; k < 40; k++) {
			program_compute(&p, 20);
			program_launch(&p, 0, "small", 3);
		}
	}
	expect(&p, "launch");
}

static void a_framework_that_takes_long_for_each_operator_is_launch_too(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < 10; step++) {
		program_step(&p, step);
		for (int k = 0; k < 40; k++) {
			program_compute(&p, 400);
			program_launch(&p, 0, "small", 3);
		}
	}
	expect(&p, "launch");
}

static void waiting_for_each_result_is_sync(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < 10; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "gemm", 300);
		program_sync(&p, 0);
		program_compute(&p, 150);
	}
	expect(&p, "sync");
}

static void work_of_the_cpu_is_cpu(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < 10; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "gemm", 300);
		program_compute(&p, 3000);
	}
	expect(&p, "cpu");
}

static void copies_alone_are_copy(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < 10; step++) {
		program_step(&p, step);
		program_copy(&p, 0, HWY_H2D, 64 << 20, HWY_MEM_PINNED, 3000, false);
		program_launch(&p, 0, "gemm", 300);
	}
	expect(&p, "copy");
}

static void copies_inside_the_device_are_its_work(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < 10; step++) {
		program_step(&p, step);
		program_copy(&p, 0, HWY_D2D, 1 << 28, HWY_MEM_DEVICE, 500, false);
		program_launch(&p, 0, "gemm", 300);
	}
	expect(&p, "gpu");
}

static void communication_alone_is_comm(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < 10; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "gemm", 300);
		program_launch(&p, 0, "void deep_ep::internode::dispatch<false>()", 500);
	}
	expect(&p, "comm");
}

static void allocating_every_step_is_alloc(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < 10; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "gemm", 300);
		program_wait(&p, "cudaFree");
		program_call(&p, "cudaMalloc", 900);
	}
	expect(&p, "alloc");
}

/* ---- input -------------------------------------------------------------------------------------------- */

static void a_loader_that_is_named_so_is_input(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < 10; step++) {
		program_step(&p, step);
		int64_t from = p.cpu;
		program_compute(&p, 4000);
		program_span(&p, p.op, HWY_OP, from, p.cpu,
			     "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
		program_copy(&p, 0, HWY_H2D, 1 << 20, HWY_MEM_PINNED, 50, false);
		program_launch(&p, 0, "gemm", 300);
	}
	expect(&p, "input");
}

static void cpu_work_whose_result_is_copied_to_the_device_is_input(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < 10; step++) {
		program_step(&p, step);
		program_compute(&p, 4000);
		program_copy(&p, 0, HWY_H2D, 1 << 20, HWY_MEM_PAGEABLE, 50, true);
		program_launch(&p, 0, "gemm", 300);
	}
	expect(&p, "input");
}

static void a_batch_whose_small_labels_are_copied_first_is_input(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < 10; step++) {
		program_step(&p, step);
		program_compute(&p, 4000);
		program_copy(&p, 0, HWY_H2D, 1024, HWY_MEM_PINNED, 2, false);
		program_copy(&p, 0, HWY_H2D, 1 << 20, HWY_MEM_PINNED, 50, false);
		program_launch(&p, 0, "gemm", 300);
	}
	expect(&p, "input");
}

static void a_loader_behind_a_wait_is_input_not_sync(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < 10; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "gemm", 5000);
		program_sync(&p, 0);
		program_compute(&p, 6500);
		program_copy(&p, 0, HWY_H2D, 1 << 20, HWY_MEM_PAGEABLE, 50, true);
	}
	expect(&p, "input");
}

static void data_that_could_be_prepared_during_the_wait_is_sync(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < 10; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "gemm", 5000);
		program_sync(&p, 0);
		program_compute(&p, 1500);
		program_copy(&p, 0, HWY_H2D, 1 << 20, HWY_MEM_PAGEABLE, 50, true);
	}
	expect(&p, "sync");
}

static void a_token_that_is_copied_to_the_device_is_no_input(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < 10; step++) {
		program_step(&p, step);
		program_compute(&p, 4000);
		program_copy(&p, 0, HWY_H2D, 8, HWY_MEM_PINNED, 2, false);
		program_launch(&p, 0, "gemm", 300);
	}
	expect(&p, "cpu");
}

/* ---- first use ---------------------------------------------------------------------------------------- */

static void a_launch_that_loads_its_kernel_is_first_use(void **state)
{
	struct program p = program_new();
	for (int k = 0; k < 30; k++)
		program_launch(&p, 0, k % 2 ? "a" : "b", 20);
	program_call(&p, "cudaLaunchKernel", 300000);
	program_launch(&p, 0, "new", 20);
	for (int k = 0; k < 30; k++)
		program_launch(&p, 0, k % 3 ? "c" : "d", 20);
	expect(&p, "first-use");
}

static void capturing_a_graph_is_first_use(void **state)
{
	struct program p = program_new();
	for (int k = 0; k < 10; k++)
		program_launch(&p, 0, "a", 20);
	program_call(&p, "cudaStreamBeginCapture", 5);
	for (int k = 0; k < 500; k++) {
		program_compute(&p, 50);
		program_call(&p, "cudaLaunchKernel", 5);
	}
	program_call(&p, "cudaStreamEndCapture", 5);
	program_launch(&p, 0, "whole", 500);
	expect(&p, "first-use");
}

static void loading_a_module_every_step_is_first_use(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < 10; step++) {
		char kernel[32];
		snprintf(kernel, sizeof kernel, "triton_%d", step);
		program_step(&p, step);
		program_compute(&p, 80000);
		program_call(&p, "cuModuleLoadData", 100);
		program_launch(&p, 0, kernel, 100);
	}
	expect(&p, "first-use");
}

static void a_call_that_is_always_slow_is_no_first_use(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < 10; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "gemm", 100);
		struct hwy_row row = {0};
		row.v[HWY_NAME] = hwy_text_id(p.builder, "nodes");
		program_work(&p, 0, "cudaGraphLaunch", 1500, HWY_KERNEL, row, US(100));
	}
	expect(&p, "launch");
}

static void names_that_compile_are_told_from_those_that_run_what_was_compiled(void **state)
{
	assert_true(first_use_is_named("XlaCompile:#module=jit_step#"));
	assert_true(first_use_is_named("torch/_inductor/compile_fx.py(512): compile_fx"));
	assert_true(first_use_is_named("CUDAGraphNode.record (dynamo_timed)"));
	assert_false(first_use_is_named("## Call CompiledFxGraph fvjmd63 ##"));
	assert_false(first_use_is_named("Torch-Compiled Region: 0/0"));
	assert_false(first_use_is_named("torch/_dynamo/eval_frame.py(655): _fn"));
	assert_true(first_use_is_compiler("/usr/local/cuda/bin/ptxas"));
	assert_false(first_use_is_compiler("python3"));
}

/* ---- records that are missing ------------------------------------------------------------------------- */

static void work_that_was_queued_while_nothing_ran_cannot_be_judged(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < 10; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "a", 300);
		p.stream_free[0] += US(4000); /* something ran here that was not recorded */
		program_launch(&p, 0, "b", 300);
		program_sync(&p, 0);
	}
	expect(&p, "cannot-tell");
}

static void what_cannot_be_judged_is_told_by_the_work_behind_it_though_copies_have_no_name(
	void **state)
{
	struct program p = program_new();
	for (int step = 0; step < 10; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "a", 300);
		p.stream_free[0] += US(4000); /* something ran here that was not recorded */
		program_copy(&p, 0, HWY_D2H, 4, HWY_MEM_PINNED, 2, true);
	}
	struct judged j = judge(&p);
	bool is_told = false;
	for (uint32_t i = 0; i < j.d.diagnosis.n_cannot; i++)
		is_told |= strstr(j.d.diagnosis.cannot[i].because,
				  "before a copy (Device-to-Host)") != NULL;
	assert_true(is_told);
	hwy_arena_free(&j.arena);
	diagnosed_free(&j.d);
}

static void a_wait_beside_an_idle_device_cannot_be_judged(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < 10; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "a", 300);
		p.stream_free[0] += US(4000);
		program_sync(&p, 0);
	}
	expect(&p, "cannot-tell");
}

/* OpenCL on a CPU, as PoCL does it. */
static void run_on_cpu(struct program *p)
{
	hwy_add_property(p->builder, "opencl.device.0.type", "cpu");
	program_trace(p)->devices[p->device].compute_major = HWY_NONE;
}

/* A CPU that is the device runs when the operating system lets it: no record is missing, and no finding accuses. */
static void expect_preempted(struct program *p)
{
	struct judged j = judge(p);
	assert_string_equal(verdict_words[j.verdict.word], "cpu");
	assert_non_null(strstr(j.verdict.says, "other threads had it"));
	assert_int_equal(j.d.diagnosis.n, 0);
	assert_int_equal(j.d.diagnosis.n_cannot, 0);
	hwy_arena_free(&j.arena);
	diagnosed_free(&j.d);
}

static void a_cpu_that_is_the_device_pauses_when_others_have_it(void **state)
{
	struct program p = program_new();
	run_on_cpu(&p);
	for (int step = 0; step < 10; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "a", 300);
		p.stream_free[0] += US(4000); /* other threads have the processor */
		program_launch(&p, 0, "b", 300);
		program_sync(&p, 0);
	}
	expect_preempted(&p);
}

static void a_launch_on_a_cpu_that_starts_late_is_not_launched_late(void **state)
{
	struct program p = program_new();
	run_on_cpu(&p);
	for (int step = 0; step < 10; step++) {
		program_step(&p, step);
		program_compute(&p, 20); /* the device idles already when the CPU launches */
		p.stream_free[0] = p.cpu + US(4000);
		program_launch(&p, 0, "a", 300);
		program_sync(&p, 0);
	}
	expect_preempted(&p);
}

static void a_wait_beside_a_cpu_that_does_not_run_is_no_missing_record(void **state)
{
	struct program p = program_new();
	run_on_cpu(&p);
	for (int step = 0; step < 10; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "a", 300);
		p.stream_free[0] += US(4000);
		program_sync(&p, 0);
	}
	expect_preempted(&p);
}

static void one_fill_in_a_second_is_no_device_work(void **state)
{
	struct program p = program_new();
	program_call(&p, "cudaGetDeviceCount", 10);
	program_call(&p, "cudaDeviceSynchronize", 10);
	program_compute(&p, 1000000);
	program_launch(&p, 0, "memset", 1);
	expect(&p, "no-device-work");
}

/* ---- what is judged ----------------------------------------------------------------------------------- */

static void launch_layers(struct program *p, int64_t us)
{
	for (int layer = 0; layer < 24; layer++)
		for (int k = 0; k < 12; k++) {
			char name[32];
			snprintf(name, sizeof name, "kernel_%c", 'a' + k);
			program_launch(p, 0, name, us);
		}
}

static void the_layers_of_one_forward_pass_are_no_steps(void **state)
{
	struct program p = program_new();
	program_launch(&p, 0, "embedding", 50);
	launch_layers(&p, 100);
	program_launch(&p, 0, "head", 50);
	struct judged j = judge(&p);
	assert_true(j.verdict.is_whole);
	assert_int_equal(j.d.analysis.phases.phases[j.d.analysis.phases.main].n_steps, 1);
	assert_int_equal(j.d.analysis.phases.n_inner, 1);
	assert_true(j.d.analysis.phases.inner[0].n >= 23);
	hwy_arena_free(&j.arena);
	diagnosed_free(&j.d);
}

/* What runs before the loop repeats itself like layers, but in no step: its turns may be longer
 * than a step. */
static void the_layers_before_the_first_step_are_no_loop_inside_a_step(void **state)
{
	struct program p = program_new();
	launch_layers(&p, 500);
	for (int step = 0; step < 30; step++) {
		program_launch(&p, 0, "gemm", 5000);
		program_launch(&p, 0, "relu", 500);
		program_sync(&p, 0);
	}
	struct judged j = judge(&p);
	assert_int_equal(j.d.analysis.phases.phases[j.d.analysis.phases.main].n_steps, 30);
	assert_int_equal(j.d.analysis.phases.n_inner, 0);
	hwy_arena_free(&j.arena);
	diagnosed_free(&j.d);
}

static void a_loop_that_reads_a_value_is_steps_however_few(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < 12; step++) {
		for (int k = 0; k < 12; k++) {
			char name[32];
			snprintf(name, sizeof name, "kernel_%c", 'a' + k);
			program_launch(&p, 0, name, 100);
		}
		program_copy(&p, 0, HWY_D2H, 8, HWY_MEM_PINNED, 2, true);
	}
	struct judged j = judge(&p);
	assert_false(j.verdict.is_whole);
	assert_true(j.d.analysis.phases.phases[j.d.analysis.phases.main].n_steps >= 10);
	hwy_arena_free(&j.arena);
	diagnosed_free(&j.d);
}

static void one_marked_step_begins_with_its_mark(void **state)
{
	struct program p = program_new();
	program_step(&p, 7);
	program_compute(&p, 6000);
	program_copy(&p, 0, HWY_H2D, 1 << 20, HWY_MEM_PINNED, 50, false);
	for (int k = 0; k < 10; k++)
		program_launch(&p, 0, "gemm", 300);
	program_sync(&p, 0);
	struct judged j = judge(&p);
	assert_string_equal(verdict_words[j.verdict.word], "input");
	assert_true(j.d.analysis.phases.phases[0].mean > US(9000));
	hwy_arena_free(&j.arena);
	diagnosed_free(&j.d);
}

static void a_step_whose_work_was_queued_behind_other_work_begins_with_its_work(void **state)
{
	struct program p = program_new();
	p.stream_free[0] = p.cpu + US(50000); /* from before the recording */
	program_step(&p, 7);
	for (int k = 0; k < 10; k++)
		program_launch(&p, 0, "gemm", 300);
	struct judged j = judge(&p);
	assert_string_equal(verdict_words[j.verdict.word], "gpu");
	assert_true(j.d.analysis.phases.phases[0].mean < US(4000));
	hwy_arena_free(&j.arena);
	diagnosed_free(&j.d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_that_always_works_is_gpu),
		cmocka_unit_test(a_small_wait_beside_much_work_is_still_gpu),
		cmocka_unit_test(launching_slower_than_the_device_works_is_launch),
		cmocka_unit_test(a_framework_that_takes_long_for_each_operator_is_launch_too),
		cmocka_unit_test(waiting_for_each_result_is_sync),
		cmocka_unit_test(work_of_the_cpu_is_cpu),
		cmocka_unit_test(copies_alone_are_copy),
		cmocka_unit_test(copies_inside_the_device_are_its_work),
		cmocka_unit_test(communication_alone_is_comm),
		cmocka_unit_test(allocating_every_step_is_alloc),
		cmocka_unit_test(a_loader_that_is_named_so_is_input),
		cmocka_unit_test(cpu_work_whose_result_is_copied_to_the_device_is_input),
		cmocka_unit_test(a_batch_whose_small_labels_are_copied_first_is_input),
		cmocka_unit_test(a_loader_behind_a_wait_is_input_not_sync),
		cmocka_unit_test(data_that_could_be_prepared_during_the_wait_is_sync),
		cmocka_unit_test(a_token_that_is_copied_to_the_device_is_no_input),
		cmocka_unit_test(a_launch_that_loads_its_kernel_is_first_use),
		cmocka_unit_test(capturing_a_graph_is_first_use),
		cmocka_unit_test(loading_a_module_every_step_is_first_use),
		cmocka_unit_test(a_call_that_is_always_slow_is_no_first_use),
		cmocka_unit_test(names_that_compile_are_told_from_those_that_run_what_was_compiled),
		cmocka_unit_test(work_that_was_queued_while_nothing_ran_cannot_be_judged),
		cmocka_unit_test(
			what_cannot_be_judged_is_told_by_the_work_behind_it_though_copies_have_no_name),
		cmocka_unit_test(a_wait_beside_an_idle_device_cannot_be_judged),
		cmocka_unit_test(a_cpu_that_is_the_device_pauses_when_others_have_it),
		cmocka_unit_test(a_launch_on_a_cpu_that_starts_late_is_not_launched_late),
		cmocka_unit_test(a_wait_beside_a_cpu_that_does_not_run_is_no_missing_record),
		cmocka_unit_test(one_fill_in_a_second_is_no_device_work),
		cmocka_unit_test(the_layers_of_one_forward_pass_are_no_steps),
		cmocka_unit_test(the_layers_before_the_first_step_are_no_loop_inside_a_step),
		cmocka_unit_test(a_loop_that_reads_a_value_is_steps_however_few),
		cmocka_unit_test(one_marked_step_begins_with_its_mark),
		cmocka_unit_test(
			a_step_whose_work_was_queued_behind_other_work_begins_with_its_work),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
