/* SPDX-License-Identifier: Apache-2.0 */
/* diagnose_launch_test.c - findings about a GPU that waits for the CPU: launch-bound, kernel-storm,
 * cpu-bound-gap, input-starved and its twins, alloc-in-loop, module-load-late, graph-rebuilt, profiler-cost. */
#include "program.h"

enum { STEPS = 20 };

static void healthy_step(struct program *p, int step)
{
	program_step(p, step);
	for (int k = 0; k < 20; k++)
		program_launch(p, 0, "k", 100);
}

static void launch_bound_step(struct program *p, int step)
{
	program_step(p, step);
	for (int k = 0; k < 20; k++) {
		program_launch(p, 0, "k", 3);
		program_compute(p, 20);
	}
}

static void kernels_shorter_than_their_launches_are_launch_bound(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++)
		launch_bound_step(&p, step);
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "launch-bound");
	assert_true(accused(&d, "launch-bound")->share > 0.7);
	diagnosed_free(&d);
}

static void a_queue_that_never_runs_dry_is_not_launch_bound(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++)
		healthy_step(&p, step);
	struct diagnosed d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "launch-bound");
	ASSERT_NOT_ACCUSED(&d, "kernel-storm");
	diagnosed_free(&d);
}

/* One long kernel lets the CPU get ahead; then 200 short ones follow each other 1 µs apart. */
static void storm_step(struct program *p, int step, int64_t first)
{
	program_step(p, step);
	program_launch(p, 0, "long", first);
	for (int k = 0; k < 200; k++)
		program_launch(p, 0, "k", 4);
}

static void pauses_between_many_tiny_kernels_are_a_storm(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++)
		storm_step(&p, step, 1000);
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "kernel-storm");
	ASSERT_NOT_ACCUSED(&d, "launch-bound");
	diagnosed_free(&d);
}

static void many_kernels_that_cost_nothing_are_acquitted(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int k = 0; k < 150; k++)
			program_launch(&p, 0, "k", 100);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "kernel-storm");
	assert_non_null(acquitted(&d, "kernel-storm"));
	diagnosed_free(&d);
}

static void cpu_work_between_launches_is_named(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		healthy_step(&p, step);
		int64_t from = p.cpu;
		/* Long enough for the queue to run dry without any wait. */
		program_compute(&p, 4000);
		program_span(&p, p.op, HWY_OP, from, p.cpu, "aten::sort_on_the_cpu");
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "cpu-bound-gap");
	assert_non_null(strstr(accused(&d, "cpu-bound-gap")->says, "aten::sort_on_the_cpu"));
	assert_int_equal(d.diagnosis.framework, HWY_PYTORCH);
	diagnosed_free(&d);
}

/* One gap, in which two calls are made for the first time: each is charged with its own time. */
static void a_call_is_not_charged_with_the_first_use_of_another_one(void **state)
{
	struct program p = program_new();
	program_launch(&p, 0, "a", 300);
	program_call(&p, "cudaFree", 600000);
	program_call(&p, "cudaStreamCreateWithFlags", 300000);
	program_launch(&p, 0, "b", 300);
	program_launch(&p, 0, "c", 300);
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "module-load-late");
	const struct hwy_finding *finding = accused(&d, "module-load-late");
	assert_int_equal(finding->n_places, 2);
	assert_string_equal(finding->places[0].at.api, "cudaFree");
	assert_in_range(finding->places[0].cost, US(599000), US(600000));
	assert_in_range(finding->places[1].cost, US(299000), US(300000));
	diagnosed_free(&d);
}

/* A wait on a condition between two pieces of the CPU's own work. */
static void a_wait_for_another_thread_is_no_work(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		healthy_step(&p, step);
		program_compute(&p, 2000);
		program_os(&p, "pthread_cond_wait", 3000);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "cpu-bound-gap");
	const char *says = accused(&d, "cpu-bound-gap")->says;
	assert_non_null(strstr(says, "is a wait for another thread, in pthread_cond_wait."));
	assert_null(strstr(says, "is pthread_cond_wait"));
	diagnosed_free(&d);
}

/* An operator that takes long before it launches, or one that never does. */
static struct diagnosed slow_operator(bool launches)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		healthy_step(&p, step);
		int64_t from = p.cpu;
		program_compute(&p, 4000);
		if (launches)
			program_launch(&p, 0, "k", 100);
		program_span(&p, p.op, HWY_OP, from, p.cpu, "aten::slow");
	}
	return program_diagnose(&p);
}

static void an_operators_own_work_is_not_to_be_moved(void **state)
{
	struct diagnosed d = slow_operator(true);
	ASSERT_ACCUSED(&d, "cpu-bound-gap");
	assert_non_null(strstr(accused(&d, "cpu-bound-gap")->advice, "compile"));
	diagnosed_free(&d);
	d = slow_operator(false);
	assert_null(strstr(accused(&d, "cpu-bound-gap")->advice, "compile"));
	diagnosed_free(&d);
}

static void a_few_first_launches_prove_nothing_about_launching(void **state)
{
	struct program p = program_new();
	for (int k = 0; k < 4; k++) {
		program_call(&p, "cuModuleLoadData", 100);
		program_launch(&p, 0, k % 2 ? "a" : "b", 3);
		program_compute(&p, 20);
		program_launch(&p, 0, k > 1 ? "c" : "d", 3);
	}
	struct diagnosed d = program_diagnose(&p);
	assert_int_equal(d.analysis.phases.phases[0].source, PHASE_ONE);
	ASSERT_NOT_ACCUSED(&d, "launch-bound");
	ASSERT_NOT_ACCUSED(&d, "cpu-bound-gap");
	diagnosed_free(&d);
}

static void graphs_are_not_to_be_put_into_a_graph(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int k = 0; k < 4; k++) {
			struct hwy_row row = {0};
			row.v[HWY_NAME] = hwy_text_id(p.builder, "k");
			program_work(&p, 0, "cudaGraphLaunch", LAUNCH_US, HWY_KERNEL, row, US(3));
			program_compute(&p, 20);
		}
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "launch-bound");
	assert_null(strstr(accused(&d, "launch-bound")->advice, "BeginCapture"));
	diagnosed_free(&d);
}

static void cpu_work_beside_the_gpu_is_no_gap(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		healthy_step(&p, step);
		program_compute(&p, 1000);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "cpu-bound-gap");
	diagnosed_free(&d);
}

static void starving_step(struct program *p, int step)
{
	program_step(p, step);
	program_os(p, "poll", 8000);
	program_copy(p, 0, HWY_H2D, 1000000, HWY_MEM_PINNED, 50, false);
	for (int k = 0; k < 10; k++)
		program_launch(p, 0, "k", 100);
}

static void a_batch_that_may_be_made_of_results_is_not_called_a_loaders(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		program_copy(&p, 0, HWY_H2D, 1 << 14, HWY_MEM_PAGEABLE, 20, true);
		program_launch(&p, 0, "at::native::policy", 100);
		program_copy(&p, 0, HWY_D2H, 512, HWY_MEM_PAGEABLE, 5, true);
		program_compute(&p, 4000);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "input-starved");
	const struct hwy_finding *finding = accused(&d, "input-starved");
	assert_non_null(strstr(finding->says, "results are copied to the host"));
	assert_null(strstr(finding->advice, "num_workers"));
	diagnosed_free(&d);
}

static void waiting_for_a_batch_is_input_starved(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++)
		starving_step(&p, step);
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "input-starved");
	assert_true(accused(&d, "input-starved")->share > 0.7);
	assert_non_null(strstr(accused(&d, "input-starved")->says, "poll"));
	diagnosed_free(&d);
}

static void add_workers(struct program *p, int n, int64_t apart_us)
{
	for (int i = 0; i < n; i++) {
		uint32_t worker = hwy_new_processes(p->builder);
		struct hwy_process *process = &program_trace(p)->processes[worker];
		process->parent = p->process;
		process->host = p->host;
		process->pid = 200 + i;
		process->start = US(500) + i * US(apart_us);
		process->end = US(10000000);
	}
}

/* Both states of every worker's thread, one after the other, in each of 'n' rounds of 10 ms. */
static void add_states(struct program *p, int n, int64_t running_us)
{
	uint32_t n_processes = program_trace(p)->n_processes;
	for (uint32_t i = 0; i < n_processes; i++) {
		if (program_trace(p)->processes[i].parent != p->process)
			continue;
		uint32_t thread = hwy_new_threads(p->builder);
		program_trace(p)->threads[thread].process = i;
		uint32_t lane = hwy_add_lane(p->builder, hwy_lane_of(HWY_LANE_STATE, i, thread));
		for (int k = 0; k < n; k++) {
			int64_t from = US(1000) + k * US(10000);
			program_span(p, lane, HWY_STATE, from, from + US(running_us), "running");
			program_span(p, lane, HWY_STATE, from + US(running_us), from + US(10000),
				     running_us > 5000 ? "waiting" : "runnable");
		}
	}
}

static void more_workers_than_processors_are_too_many(void **state)
{
	struct program p = program_new();
	add_workers(&p, 12, 1);
	for (int step = 0; step < STEPS; step++)
		starving_step(&p, step);
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "too-many-workers");
	ASSERT_NOT_ACCUSED(&d, "input-starved");
	const struct hwy_finding *finding = accused(&d, "too-many-workers");
	assert_non_null(strstr(finding->says, "12 worker processes share 8 processors"));
	assert_non_null(strstr(finding->advice, "Use 7 workers"));
	diagnosed_free(&d);
}

static void workers_that_lack_a_processor_are_told_how_many_ran(void **state)
{
	struct program p = program_new();
	add_workers(&p, 12, 1);
	add_states(&p, 200, 2000); /* each runs a fifth of the time: 2.4 of 12 at once */
	for (int step = 0; step < STEPS; step++)
		starving_step(&p, step);
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "too-many-workers");
	assert_non_null(strstr(accused(&d, "too-many-workers")->says, "80 %"));
	assert_non_null(strstr(accused(&d, "too-many-workers")->advice, "Use 3 workers"));
	diagnosed_free(&d);
}

static void many_workers_that_never_lack_a_processor_are_not_too_many(void **state)
{
	struct program p = program_new();
	add_workers(&p, 12, 1);
	add_states(&p, 200, 6000);
	for (int step = 0; step < STEPS; step++)
		starving_step(&p, step);
	struct diagnosed d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "too-many-workers");
	ASSERT_ACCUSED(&d, "input-starved");
	diagnosed_free(&d);
}

static void compilers_are_no_workers_of_the_loader(void **state)
{
	struct program p = program_new();
	add_workers(&p, 12, 1);
	program_trace(&p)->processes[p.process].start = 0;
	for (uint32_t i = 0; i < program_trace(&p)->n_processes; i++)
		if (program_trace(&p)->processes[i].parent == p.process)
			program_trace(&p)->processes[i].name = hwy_text_id(p.builder, "ptxas");
	for (int step = 0; step < STEPS; step++)
		starving_step(&p, step);
	struct diagnosed d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "too-many-workers");
	diagnosed_free(&d);
}

static void a_loop_without_workers_is_told_that_it_prepares_its_batches(void **state)
{
	struct program p = program_new();
	program_trace(&p)->processes[p.process].start = 0;
	for (int step = 0; step < STEPS; step++)
		starving_step(&p, step);
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "input-starved");
	assert_non_null(strstr(accused(&d, "input-starved")->says, "No worker processes"));
	diagnosed_free(&d);
}

static struct diagnosed diagnose_a_wait_in_the_os(const char *call)
{
	struct program p = program_new();
	program_trace(&p)->processes[p.process].start = 0;
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		program_os(&p, call, 2000);
		program_copy(&p, 0, HWY_H2D, 1 << 20, HWY_MEM_PINNED, 20, false);
		program_launch(&p, 0, "k", 100);
	}
	return program_diagnose(&p);
}

static void a_loop_that_waits_for_a_thread_is_told_of_that_thread(void **state)
{
	struct diagnosed d = diagnose_a_wait_in_the_os("clock_nanosleep");
	ASSERT_ACCUSED(&d, "input-starved");
	assert_null(strstr(accused(&d, "input-starved")->says, "Another thread"));
	diagnosed_free(&d);
	d = diagnose_a_wait_in_the_os("sem_wait");
	ASSERT_ACCUSED(&d, "input-starved");
	assert_non_null(strstr(accused(&d, "input-starved")->says, "Another thread prepares"));
	assert_non_null(strstr(accused(&d, "input-starved")->advice, "several threads"));
	diagnosed_free(&d);
}

/* ---- what the program does already --------------------------------------------------------------- */

static struct diagnosed slow_launches(const char *kernel, const char *operator)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		int64_t from = p.cpu;
		for (int k = 0; k < 40; k++) {
			program_compute(&p, 30);
			program_launch(&p, 0, kernel, 5);
		}
		program_span(&p, p.op, HWY_OP, from, p.cpu, operator);
	}
	return program_diagnose(&p);
}

static void a_compiled_program_is_not_told_to_compile(void **state)
{
	struct diagnosed d = slow_launches("triton_poi_fused_add_0", "aten::add");
	ASSERT_ACCUSED(&d, "launch-bound");
	assert_non_null(strstr(accused(&d, "launch-bound")->advice, "compiled already"));
	diagnosed_free(&d);
	d = slow_launches("at::native::add", "aten::add");
	ASSERT_ACCUSED(&d, "launch-bound");
	assert_null(strstr(accused(&d, "launch-bound")->advice, "compiled already"));
	diagnosed_free(&d);
}

/* Of 40 kernels a step the first 'n' are launched by compiled code. */
static bool is_said_to_be_compiled(int n)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		int64_t from = p.cpu;
		for (int k = 0; k < 40; k++) {
			if (k == n) {
				program_span(&p, p.op, HWY_OP, from, p.cpu,
					     "Torch-Compiled Region: 0/0");
				from = p.cpu;
			}
			program_compute(&p, 30);
			program_launch(&p, 0, "at::native::add", 5);
		}
		program_span(&p, p.op, HWY_OP, from, p.cpu, "aten::add");
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "launch-bound");
	bool found = strstr(accused(&d, "launch-bound")->advice, "compiled already") != NULL;
	diagnosed_free(&d);
	return found;
}

static void one_compiled_function_does_not_make_a_compiled_program(void **state)
{
	assert_false(is_said_to_be_compiled(1));
	assert_true(is_said_to_be_compiled(30));
}

static void a_hip_program_is_given_hip_names(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int k = 0; k < 40; k++) {
			struct hwy_row row = {0};
			row.v[HWY_NAME] = hwy_text_id(p.builder, "k");
			program_compute(&p, 30);
			program_work(&p, 0, "hipLaunchKernel", LAUNCH_US, HWY_KERNEL, row, US(5));
		}
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "launch-bound");
	const char *advice = accused(&d, "launch-bound")->advice;
	assert_non_null(strstr(advice, "hipStreamBeginCapture"));
	assert_null(strstr(advice, "cuda"));
	diagnosed_free(&d);
}

static struct diagnosed tensors_without_cache(int places)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int k = 0; k < 10; k++) {
			program_call(&p, "cudaMalloc", 100);
			program_launch(&p, 0, "at::native::k", 20);
			for (int f = 0; f < 10 / places && k % (10 / places) == 0; f++)
				program_call(&p, "cudaFree", 100);
		}
	}
	return program_diagnose(&p);
}

static void an_allocator_that_keeps_nothing_is_told_apart_from_one_that_is_emptied(void **state)
{
	struct diagnosed d = tensors_without_cache(10);
	ASSERT_ACCUSED(&d, "alloc-in-loop");
	assert_non_null(
		strstr(accused(&d, "alloc-in-loop")->advice, "PYTORCH_NO_CUDA_MEMORY_CACHING"));
	diagnosed_free(&d);
	d = tensors_without_cache(1);
	ASSERT_ACCUSED(&d, "alloc-in-loop");
	assert_non_null(strstr(accused(&d, "alloc-in-loop")->advice, "empty_cache()"));
	diagnosed_free(&d);
}

static void workers_started_again_are_told_apart(void **state)
{
	struct program p = program_new();
	add_workers(&p, 2, 1500000);
	for (int step = 0; step < 300; step++)
		starving_step(&p, step);
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "input-starved");
	assert_non_null(strstr(accused(&d, "input-starved")->says, "2 different times"));
	diagnosed_free(&d);
}

static void a_loader_that_is_ahead_starves_nobody(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		healthy_step(&p, step);
		program_os(&p, "poll", 500);
		program_copy(&p, 0, HWY_H2D, 1000000, HWY_MEM_PINNED, 20, false);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "input-starved");
	diagnosed_free(&d);
}

static void allocation_every_step_is_found(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		program_call(&p, "cudaMalloc", 900);
		for (int k = 0; k < 5; k++)
			program_launch(&p, 0, "k", 50);
		program_call(&p, "cudaFreeHost", 700);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "alloc-in-loop");
	diagnosed_free(&d);
}

static void a_release_that_waits_for_the_device_is_found(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "k", 300);
		program_call(&p, "cudaFree", (p.stream_free[0] - p.cpu) / 1000 + 2);
		program_compute(&p, 100);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "alloc-in-loop");
	ASSERT_NOT_ACCUSED(&d, "sync-in-loop");
	diagnosed_free(&d);
}

static void allocation_before_the_loop_is_none(void **state)
{
	struct program p = program_new();
	program_call(&p, "cudaMalloc", 90000);
	for (int step = 0; step < STEPS; step++)
		healthy_step(&p, step);
	struct diagnosed d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "alloc-in-loop");
	diagnosed_free(&d);
}

static void loading_kernels_inside_the_loop_is_found(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		program_call(&p, "cuModuleLoadData", 2000);
		for (int k = 0; k < 5; k++)
			program_launch(&p, 0, "k", 50);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "module-load-late");
	diagnosed_free(&d);
}

static void loading_kernels_before_the_loop_is_none(void **state)
{
	struct program p = program_new();
	program_call(&p, "cuModuleLoadData", 2000);
	for (int step = 0; step < STEPS; step++)
		healthy_step(&p, step);
	struct diagnosed d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "module-load-late");
	diagnosed_free(&d);
}

/* A launch whose call lasts 'call_ms': the kernel's code is loaded inside. */
static void launch_slowly(struct program *p, int64_t call_ms)
{
	struct hwy_row row = {0};
	row.v[HWY_NAME] = hwy_text_id(p->builder, "at::native::fresh");
	program_work(p, 0, "cudaLaunchKernel", call_ms * 1000, HWY_KERNEL, row, US(100));
}

static void a_first_launch_that_takes_long_is_first_use_where_nothing_repeats(void **state)
{
	static const char *const kernels[] = {"a", "b", "c", "d", "e"};
	struct program p = program_new();
	program_launch(&p, 0, "start", 50);
	launch_slowly(&p, 300);
	for (int k = 0; k < 5; k++)
		program_launch(&p, 0, kernels[k], 100 + 10 * k);
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "module-load-late");
	const struct hwy_finding *first = &d.diagnosis.findings[0];
	assert_string_equal(first->kind->id, "module-load-late");
	assert_int_equal(d.diagnosis.verdict.word, VERDICT_FIRST_USE);
	assert_non_null(strstr(first->says, "cudaLaunchKernel"));
	assert_non_null(strstr(first->advice, "longer run"));
	assert_null(strstr(first->advice, "torch.compile("));
	diagnosed_free(&d);
}

/* A launch that is slow once in a loop, of a kernel that ran before, waits for a CPU or for the
 * driver: nothing is loaded. */
static void a_slow_launch_of_a_kernel_that_ran_before_is_no_first_use(void **state)
{
	struct program p = program_new();
	launch_slowly(&p, 30);
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "at::native::other", 50);
		struct hwy_row row = {0};
		row.v[HWY_NAME] = hwy_text_id(p.builder, "at::native::fresh");
		program_work(&p, 0, "cudaLaunchKernel", step == STEPS / 2 ? 13000 : 5, HWY_KERNEL,
			     row, US(100));
	}
	struct diagnosed d = program_diagnose(&p);
	assert_int_equal(d.analysis.flow.first_uses.n, 1);
	ASSERT_NOT_ACCUSED(&d, "module-load-late");
	diagnosed_free(&d);
}

static void first_uses_that_go_on_to_the_end_are_no_start_up(void **state)
{
	static const char *const kernels[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
	struct program p = program_new();
	for (int shape = 0; shape < 8; shape++) {
		program_compute(&p, 100000 + 9000 * shape);
		program_call(&p, "cuLibraryLoadData", 100);
		for (int k = 0; k <= shape; k++)
			program_launch(&p, 0, "at::native::k", 50 + k);
		program_launch(&p, 0, kernels[shape], 70);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "module-load-late");
	const struct hwy_finding *finding = accused(&d, "module-load-late");
	assert_null(strstr(finding->advice, "longer run"));
	assert_non_null(strstr(finding->advice, "each shape"));
	diagnosed_free(&d);
}

static void a_range_that_compiles_inside_the_loop_is_called_compiling(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		int64_t from = p.cpu;
		program_compute(&p, 5000);
		program_mark(&p, from, "compile_fx %d", step);
		for (int k = 0; k < 5; k++)
			program_launch(&p, 0, "at::native::k", 50);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "module-load-late");
	const struct hwy_finding *finding = accused(&d, "module-load-late");
	assert_non_null(strstr(finding->says, "compiled"));
	assert_non_null(strstr(finding->advice, "recompiles"));
	diagnosed_free(&d);
}

static void the_first_finding_is_about_what_the_verdict_says(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		program_compute(&p, 3000); /* the CPU's own work: the largest share */
		program_launch(&p, 0, "k", 100);
		for (int k = 0; k < 30; k++) { /* launches that cannot keep up */
			program_compute(&p, 40);
			program_launch(&p, 0, "k", 5);
		}
	}
	struct diagnosed d = program_diagnose(&p);
	assert_int_equal(d.diagnosis.verdict.word, VERDICT_CPU);
	assert_int_equal(d.diagnosis.findings[0].word, VERDICT_CPU);
	ASSERT_ACCUSED(&d, "launch-bound");
	diagnosed_free(&d);
}

static void graph_step(struct program *p, int step, bool build)
{
	struct hwy_row row = {0};
	row.v[HWY_NAME] = hwy_text_id(p->builder, "k");
	program_step(p, step);
	if (build) {
		program_call(p, "cudaStreamBeginCapture", 5);
		program_compute(p, 300);
		program_call(p, "cudaStreamEndCapture", 5);
		program_call(p, "cudaGraphInstantiate", 500);
	}
	program_work(p, 0, "cudaGraphLaunch", 10, HWY_KERNEL, row, US(400));
}

static void a_graph_built_every_step_is_found(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++)
		graph_step(&p, step, true);
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "graph-rebuilt");
	diagnosed_free(&d);
}

static void a_capture_goes_with_all_that_is_in_it(void **state)
{
	struct program p = program_new();
	struct hwy_row row = {0};
	row.v[HWY_NAME] = hwy_text_id(p.builder, "k");
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		program_call(&p, "cudaStreamBeginCapture", 5);
		for (int k = 0; k < 20; k++) {
			program_call(&p, "cudaMemsetAsync", 5);
			program_compute(&p, 25);
		}
		program_call(&p, "cudaStreamEndCapture", 5);
		program_call(&p, "cudaGraphInstantiate", 50);
		program_work(&p, 0, "cudaGraphLaunch", 40, HWY_KERNEL, row, US(100));
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "graph-rebuilt");
	const struct hwy_predicted *predicted = &accused(&d, "graph-rebuilt")->predicted;
	assert_true(predicted->is_known && predicted->step < US(110));
	diagnosed_free(&d);
}

static void a_graph_built_once_is_none(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++)
		graph_step(&p, step, step == 0);
	struct diagnosed d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "graph-rebuilt");
	diagnosed_free(&d);
}

static void calibrate(struct program *p, int64_t cost)
{
	uint32_t at = hwy_new_calibrations(p->builder);
	struct hwy_calibration *one = &program_trace(p)->calibrations[at];
	one->device = p->device;
	one->name = hwy_text_id(p->builder, "cost.launch");
	one->unit = hwy_text_id(p->builder, "ns");
	one->value = cost;
	one->spread = 0;
}

static void a_step_that_is_mostly_recording_is_said_so(void **state)
{
	struct program p = program_new();
	calibrate(&p, 8000);
	for (int step = 0; step < STEPS; step++)
		launch_bound_step(&p, step);
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "profiler-cost");
	assert_int_equal(d.diagnosis.outlooks[0].own_cost, 20 * 8000);
	diagnosed_free(&d);
}

static void cheap_recording_is_no_finding(void **state)
{
	struct program p = program_new();
	calibrate(&p, 200);
	for (int step = 0; step < STEPS; step++)
		launch_bound_step(&p, step);
	struct diagnosed d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "profiler-cost");
	diagnosed_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_shorter_than_their_launches_are_launch_bound),
		cmocka_unit_test(a_queue_that_never_runs_dry_is_not_launch_bound),
		cmocka_unit_test(pauses_between_many_tiny_kernels_are_a_storm),
		cmocka_unit_test(many_kernels_that_cost_nothing_are_acquitted),
		cmocka_unit_test(cpu_work_between_launches_is_named),
		cmocka_unit_test(a_call_is_not_charged_with_the_first_use_of_another_one),
		cmocka_unit_test(a_wait_for_another_thread_is_no_work),
		cmocka_unit_test(an_operators_own_work_is_not_to_be_moved),
		cmocka_unit_test(a_few_first_launches_prove_nothing_about_launching),
		cmocka_unit_test(graphs_are_not_to_be_put_into_a_graph),
		cmocka_unit_test(cpu_work_beside_the_gpu_is_no_gap),
		cmocka_unit_test(waiting_for_a_batch_is_input_starved),
		cmocka_unit_test(a_batch_that_may_be_made_of_results_is_not_called_a_loaders),
		cmocka_unit_test(more_workers_than_processors_are_too_many),
		cmocka_unit_test(workers_that_lack_a_processor_are_told_how_many_ran),
		cmocka_unit_test(many_workers_that_never_lack_a_processor_are_not_too_many),
		cmocka_unit_test(compilers_are_no_workers_of_the_loader),
		cmocka_unit_test(a_loop_without_workers_is_told_that_it_prepares_its_batches),
		cmocka_unit_test(a_loop_that_waits_for_a_thread_is_told_of_that_thread),
		cmocka_unit_test(a_compiled_program_is_not_told_to_compile),
		cmocka_unit_test(one_compiled_function_does_not_make_a_compiled_program),
		cmocka_unit_test(a_hip_program_is_given_hip_names),
		cmocka_unit_test(
			an_allocator_that_keeps_nothing_is_told_apart_from_one_that_is_emptied),
		cmocka_unit_test(workers_started_again_are_told_apart),
		cmocka_unit_test(a_loader_that_is_ahead_starves_nobody),
		cmocka_unit_test(allocation_every_step_is_found),
		cmocka_unit_test(a_release_that_waits_for_the_device_is_found),
		cmocka_unit_test(allocation_before_the_loop_is_none),
		cmocka_unit_test(loading_kernels_inside_the_loop_is_found),
		cmocka_unit_test(loading_kernels_before_the_loop_is_none),
		cmocka_unit_test(a_first_launch_that_takes_long_is_first_use_where_nothing_repeats),
		cmocka_unit_test(a_slow_launch_of_a_kernel_that_ran_before_is_no_first_use),
		cmocka_unit_test(first_uses_that_go_on_to_the_end_are_no_start_up),
		cmocka_unit_test(a_range_that_compiles_inside_the_loop_is_called_compiling),
		cmocka_unit_test(the_first_finding_is_about_what_the_verdict_says),
		cmocka_unit_test(a_graph_built_every_step_is_found),
		cmocka_unit_test(a_capture_goes_with_all_that_is_in_it),
		cmocka_unit_test(a_graph_built_once_is_none),
		cmocka_unit_test(a_step_that_is_mostly_recording_is_said_so),
		cmocka_unit_test(cheap_recording_is_no_finding),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
