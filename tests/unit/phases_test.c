/* SPDX-License-Identifier: Apache-2.0 */
/* phases_test.c - phases and steps of programs without marks, of several processes and threads, of random traces, and of
 * recordings whose programs printed how long a step took.
 */
#include "make_trace.h"

#include "found_phases.h"
#include "recordings.h"

static char *folder;

/* ---- without marks -------------------------------------------------------------------------------- */

static void a_check_point_every_tenth_step_is_no_step_of_its_own(void **state)
{
	struct program p = steps_program();
	for (int i = 0; i < 60; i++) {
		train_step(&p);
		if (i % 10 == 0) {
			program_launch(&p, 0, "norm", 10);
			program_wait(&p, "cudaStreamSynchronize");
			p.cpu += MS(1);
		}
	}
	struct found found = find(&p, NULL);
	const struct hwy_phase *phase = &found.phases.phases[0];
	assert_int_equal(found.phases.n, 1);
	assert_int_equal(phase->source, PHASE_SEQUENCE);
	assert_in_range(phase->n_steps, 59, 60);
	assert_int_equal(phase->median, US(465));
	assert_true(phase->is_bursty);
	uint32_t outliers = 0;
	for (uint32_t i = 0; i < phase->n_steps; i++)
		outliers += phase->steps[i].is_outlier;
	assert_in_range(outliers, 5, 6);
	done(&found);
}

static void equal_calls_are_delimited_by_their_waits(void **state)
{
	struct program p = steps_program();
	for (int i = 0; i < 12; i++) {
		for (int k = 0; k < 100 + i % 2; k++)
			program_launch(&p, 0, "tiny", 1);
		program_wait(&p, "cudaStreamSynchronize");
		program_wait(&p, "cudaStreamSynchronize");
	}
	struct found found = find(&p, NULL);
	const struct hwy_phase *phase = &found.phases.phases[0];
	assert_int_equal(found.phases.n, 1);
	assert_int_equal(phase->source, PHASE_WAITS);
	assert_int_equal(phase->n_steps, 12);
	assert_in_range(phase->mean, US(500), US(515));
	assert_int_equal((int)(phase->waits_per_step * 10 + 0.5), 20);
	done(&found);
}

/* Four chunks in turn on two streams, eight times, and a wait: the wait makes the step, not the chunk. */
static void chunks_on_several_streams_are_one_step(void **state)
{
	struct program p = steps_program();
	for (int i = 0; i < 8; i++) {
		for (int chunk = 0; chunk < 8; chunk++) {
			program_launch(&p, chunk % 2, "scale", 40);
			program_launch(&p, chunk % 2, "add", 40);
		}
		program_wait(&p, "cudaDeviceSynchronize");
	}
	struct found found = find(&p, NULL);
	assert_int_equal(found.phases.phases[0].n_steps, 8);
	assert_true(found.phases.phases[0].launches_per_step == 16);
	done(&found);
}

/* A forward pass of twelve equal layers is explained by the layer, but is the step. */
static void equal_layers_are_no_steps(void **state)
{
	struct program p = steps_program();
	for (int i = 0; i < 10; i++) {
		program_launch(&p, 0, "embed", 5);
		program_launch(&p, 0, "position", 5);
		for (int layer = 0; layer < 12; layer++)
			for (int k = 0; k < 9; k++)
				program_launch(&p, 0,
					       (const char *[]){"norm", "qkv", "attention",
								"project", "add", "norm2", "up",
								"gelu", "down"}[k],
					       8);
		program_launch(&p, 0, "head", 5);
		program_launch(&p, 0, "argmax", 5);
		program_wait(&p, "cudaStreamSynchronize");
	}
	struct found found = find(&p, NULL);
	assert_int_equal(found.phases.n, 1);
	assert_int_equal(found.phases.phases[0].n_steps, 10);
	assert_true(found.phases.phases[0].launches_per_step == 112);
	done(&found);
}

/* Only the CPU's pause between two calls of the model tells them apart. */
static void layers_alone_are_grouped_by_the_pauses_of_the_cpu(void **state)
{
	struct program p = steps_program();
	struct dice dice = {11};
	for (int i = 0; i < 60; i++) {
		for (int layer = 0; layer < 12; layer++) {
			program_launch(&p, 0, "gemm", 8);
			program_launch(&p, 0, "relu", 3);
			program_launch(&p, 0, "max", 3);
			program_wait(&p, "cudaStreamSynchronize");
			p.cpu += US(20) + roll_below(&dice, US(2));
			p.cpu += roll(&dice) % 4 ? 0 : roll_below(&dice, US(15)); /* noise */
		}
		p.cpu += US(5);
	}
	struct found found = find(&p, NULL);
	assert_int_equal(found.phases.n, 1);
	assert_in_range(found.phases.phases[0].n_steps, 59, 60);
	assert_true(found.phases.phases[0].launches_per_step == 36);
	done(&found);
}

/* Layers that nothing tells apart but the modules in the stacks of their operators. */
static void layers_alone_are_told_apart_by_their_operators(void **state)
{
	struct program p = steps_program();
	int64_t stacks[6];
	for (int layer = 0; layer < 6; layer++) {
		char path[32];
		snprintf(path, sizeof path, "Net.layers.%d", layer);
		struct hwy_frame frame = {.function = hwy_text_id(p.builder, path),
					  .flags = HWY_FRAME_PYTHON | HWY_FRAME_LAYER};
		struct hwy_stack node = {.frame = hwy_add_frame(p.builder, &frame)};
		stacks[layer] = 1 + (int64_t)hwy_add_stack(p.builder, node);
	}
	for (int i = 0; i < 300; i++)
		for (int layer = 0; layer < 6; layer++) {
			struct hwy_row row = {0};
			p.cpu += US(20); /* the same before every layer */
			row.v[HWY_START] = p.cpu;
			program_launch(&p, 0, "gemm", 8);
			program_launch(&p, 0, "gelu", 3);
			row.v[HWY_DUR] = p.cpu - row.v[HWY_START];
			row.v[HWY_NAME] = hwy_text_id(p.builder, "aten::linear");
			row.v[HWY_STACK] = stacks[layer];
			hwy_add_span(p.builder, p.op, HWY_OP, &row);
		}
	struct found found = find(&p, NULL);
	assert_int_equal(found.phases.n, 1);
	assert_in_range(found.phases.phases[0].n_steps, 299, 300);
	assert_true(found.phases.phases[0].launches_per_step == 12);
	done(&found);
}

static void a_noisy_cpu_groups_no_steps(void **state)
{
	struct dice dice = {12};
	for (int round = 0; round < 20; round++) {
		struct program p = steps_program();
		for (int i = 0; i < 150; i++) {
			for (int k = 0; k < 5; k++)
				program_launch(&p, 0, (const char *[]){"a", "b", "c", "d", "e"}[k],
					       5);
			program_wait(&p, "cudaStreamSynchronize");
			p.cpu += roll_below(&dice, US(80));
		}
		struct found found = find(&p, NULL);
		assert_true(found.phases.phases[0].launches_per_step == 5);
		done(&found);
	}
}

/* A lag of 8 fits the loop of 4 calls a step as well. */
static void a_loop_whose_period_divides_the_others_is_a_phase_of_its_own(void **state)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
	for (int shorter_first = 0; shorter_first < 2; shorter_first++) {
		struct program p = steps_program();
		for (int i = 0; i < 80; i++) {
			bool is_short = (i < 40) == (bool)shorter_first;
			for (int k = 0; k < (is_short ? 4 : 8); k++)
				program_launch(&p, 0, is_short ? names[k + 2] : names[k], 8);
			p.cpu += US(50);
		}
		struct found found = find(&p, NULL);
		assert_int_equal(found.phases.n, 2);
		for (uint32_t i = 0; i < 2; i++) {
			const struct hwy_phase *phase = &found.phases.phases[i];
			bool is_short = (i == 0) == (bool)shorter_first;
			assert_in_range(phase->n_steps, 39, 41);
			assert_int_equal(phase->median, is_short ? US(70) : US(90));
		}
		done(&found);
	}
}

static void warm_up_and_the_timed_loop_after_a_wait_are_one_phase(void **state)
{
	struct program p = steps_program();
	for (int i = 0; i < 40; i++) {
		train_step(&p);
		p.cpu += i < 2 ? MS(5) : 0;
		if (i == 9)
			program_wait(&p, "cudaDeviceSynchronize");
	}
	program_wait(&p, "cudaDeviceSynchronize");
	struct found found = find(&p, NULL);
	assert_int_equal(found.phases.n, 1);
	assert_in_range(found.phases.phases[0].first_steady, 9, 10);
	assert_int_equal(found.phases.phases[0].mean, US(465));
	done(&found);
}

static void work_that_does_not_repeat_is_one_step(void **state)
{
	struct program p = steps_program();
	for (int i = 0; i < 30; i++) {
		char name[32];
		snprintf(name, sizeof name, "kernel %d", i);
		program_launch(&p, 0, name, 10);
	}
	struct found found = find(&p, NULL);
	const struct hwy_phase *phase = &found.phases.phases[0];
	assert_int_equal(found.phases.n, 1);
	assert_int_equal(phase->source, PHASE_ONE);
	assert_int_equal(phase->n_steps, 1);
	assert_int_equal(phase->mean, US(307)); /* from the first call on */
	assert_int_equal(phase->steps[0].busy, US(300));
	done(&found);
}

/* ---- which steps are steady ------------------------------------------------------------------------ */

static void slow_first_steps_are_told_apart(void **state)
{
	struct program p = steps_program();
	for (int i = 0; i < 20; i++) {
		int64_t from = p.cpu;
		train_step(&p);
		p.cpu += i == 0 ? MS(90) : i < 4 && i != 2 ? MS(3) : 0;
		program_mark(&p, from, "step_%d", i);
	}
	struct found found = find(&p, NULL);
	const struct hwy_phase *phase = &found.phases.phases[0];
	assert_int_equal(phase->first_steady, 4);
	assert_true(phase->is_first_told_apart);
	assert_int_equal(phase->mean, US(465));
	done(&found);
}

static void a_slow_step_among_the_others_is_an_outlier(void **state)
{
	struct program p = steps_program();
	for (int i = 0; i < 50; i++) {
		int64_t from = p.cpu;
		train_step(&p);
		p.cpu += i == 30 ? MS(1) : 0;
		program_mark(&p, from, "step_%d", i);
	}
	struct found found = find(&p, NULL);
	const struct hwy_phase *phase = &found.phases.phases[0];
	for (uint32_t i = 0; i < phase->n_steps; i++)
		assert_int_equal(phase->steps[i].is_outlier, i == 30);
	assert_false(phase->is_bursty);
	assert_true(phase->mean > phase->median);
	done(&found);
}

static void a_step_that_the_recording_cuts_is_not_steady(void **state)
{
	struct program p = steps_program();
	for (int i = 0; i < 10; i++) {
		int64_t from = p.cpu;
		if (i < 9)
			train_step(&p);
		else
			program_launch(&p, 0, "gemm", 20);
		program_mark(&p, from, "ProfilerStep#%d", i);
	}
	struct found found = find(&p, NULL);
	const struct hwy_phase *phase = &found.phases.phases[0];
	assert_int_equal(phase->n_steps, 10);
	assert_true(phase->steps[9].is_cut);
	assert_int_equal(phase->mean, US(465));
	done(&found);
}

static void one_step_of_the_profiler_is_one_step(void **state)
{
	struct program p = steps_program();
	train_step(&p);
	int64_t from = p.cpu;
	train_step(&p);
	program_mark(&p, from, "ProfilerStep#%d", 6);
	struct found found = find(&p, NULL);
	const struct hwy_phase *phase = &found.phases.phases[0];
	assert_int_equal(found.phases.n, 1);
	assert_int_equal(phase->source, PHASE_MARKS);
	assert_text(&found, phase->name, "ProfilerStep#");
	assert_int_equal(phase->n_steady, 1);
	done(&found);
}

/* ---- processes, and nothing -------------------------------------------------------------------------- */

static void every_process_has_its_own_phases(void **state)
{
	struct program first = steps_program(), second = program_beside(&first);
	for (int i = 0; i < 20; i++) {
		int64_t from = first.cpu;
		train_step(&first);
		program_mark(&first, from, "step_%d", i);
		from = second.cpu;
		train_step(&second);
		second.cpu += US(100);
		program_mark(&second, from, "step_%d", i);
	}
	struct found found = find(&first, NULL);
	assert_int_equal(found.phases.n, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct hwy_phase *phase = &found.phases.phases[i];
		assert_int_equal(phase->n_steps, 20);
		assert_int_equal(phase->mean, phase->process == first.process ? US(465) : US(565));
		assert_true(phase->launches_per_step == 13);
		/* The other process's work is not this one's. */
		assert_true(phase->steps[5].busy <= US(310));
	}
	assert_int_equal(found.phases.phases[found.phases.main].process, second.process);
	done(&found);
}

static void a_thread_with_a_pace_of_its_own_hides_no_period(void **state)
{
	struct program p = steps_program(), other = program_thread(&p, 1);
	struct dice dice = {9};
	for (int i = 0; i < 40; i++)
		train_step(&p);
	while (other.cpu < p.cpu) {
		program_launch(&other, 1, roll(&dice) % 2 ? "copy in" : "copy out", 3);
		other.cpu += roll_below(&dice, US(150));
	}
	struct found found = find(&p, NULL);
	const struct hwy_phase *phase = &found.phases.phases[0];
	assert_int_equal(found.phases.n, 1);
	assert_int_equal(phase->source, PHASE_SEQUENCE);
	assert_in_range(phase->n_steps, 39, 40);
	assert_in_range(phase->mean, US(460), US(470));
	done(&found);
}

static void marks_of_a_thread_that_launches_nothing_are_not_the_steps(void **state)
{
	struct program p = steps_program(), loader = program_thread(&p, 1);
	for (int i = 0; i < 20; i++) {
		int64_t from = p.cpu;
		train_step(&p);
		program_mark(&p, from, "turn %d", i);
	}
	for (int i = 0; i < 40; i++) {
		loader.cpu += US(200);
		program_mark(&loader, loader.cpu - US(190), "batch %d", i);
	}
	struct found found = find(&p, NULL);
	assert_text(&found, found.phases.phases[0].name, "turn ");
	done(&found);
}

static void a_part_of_the_model_with_a_steps_name_is_no_step(void **state)
{
	struct program p = steps_program();
	for (int i = 0; i < 20; i++) {
		int64_t from = p.cpu;
		for (int k = 0; k < 3; k++) {
			int64_t norm = p.cpu;
			program_launch(&p, 0, "norm", 5);
			program_mark(&p, norm, "batch_norm_%d", k);
			program_launch(&p, 0, "gemm", 5);
		}
		program_mark(&p, from, "Optimizer.step#%.0dSGD", 0);
		p.cpu += US(100);
	}
	struct found found = find(&p, NULL);
	assert_text(&found, found.phases.phases[0].name, "Optimizer.step#SGD");
	assert_int_equal(found.phases.phases[0].n_steps, 20);
	done(&found);
}

static void without_device_work_there_are_no_phases(void **state)
{
	struct program p = steps_program();
	program_wait(&p, "cudaDeviceSynchronize");
	program_mark(&p, 0, "step_%d", 1);
	struct found found = find(&p, NULL);
	assert_int_equal(found.phases.n, 0);
	done(&found);
}

static void device_work_that_nobody_launched_is_one_step(void **state)
{
	struct program p = steps_program();
	program_span(&p, p.lanes[0], HWY_KERNEL, 100, 200, "a");
	program_span(&p, p.lanes[1], HWY_KERNEL, 150, 400, "b");
	struct found found = find(&p, NULL);
	assert_int_equal(found.phases.n, 1);
	assert_int_equal(found.phases.phases[0].source, PHASE_ONE);
	assert_int_equal(found.phases.phases[0].mean, 300);
	done(&found);
}

static void nothing_that_a_trace_may_hold_breaks_the_windows(void **state)
{
	for (uint64_t seed = 1; seed < 80; seed++) {
		struct found found = find_in(random_trace(seed, 30, 800), seed % 2 ? NULL : "");
		done(&found);
	}
}

/* Programs of random loops: whatever is found, the windows tile. */
static void windows_tile_in_random_programs(void **state)
{
	struct dice dice = {3};
	for (int round = 0; round < 200; round++) {
		struct program p = steps_program();
		for (int loop = 0; loop < 3; loop++) {
			int n = (int)roll_below(&dice, 30), body = 1 + (int)roll_below(&dice, 12);
			bool waits = roll(&dice) % 2, marks = roll(&dice) % 2;
			uint64_t seed = roll(&dice);
			for (int i = 0; i < n; i++) {
				struct dice same = {seed};
				int64_t from = p.cpu;
				for (int k = 0; k < body; k++)
					program_launch_ns(&p, roll(&same) % 2,
							  roll(&same) % 2 ? "a" : "b",
							  roll_below(&same, US(90)));
				if (roll(&dice) % 8 == 0)
					program_launch(&p, 0, "odd", 5);
				if (waits)
					program_wait(&p, "cudaStreamSynchronize");
				if (marks)
					program_mark(&p, from,
						     roll(&dice) % 9 ? "step %d" : "odd %d", i);
			}
		}
		struct found found = find(&p, round % 2 ? NULL : "");
		done(&found);
	}
}

/* ---- recordings -------------------------------------------------------------------------------------- */

/* What the program printed under that profiler, in ms; 0: nothing that compares (decode_* print a mean with
 * start-up in it). */
static const struct recording {
	const char *name;
	double step;
	double within; /* percent */
	double alone;  /* the same without marks; 0: not compared */
} recordings[] = {
	{"nsys/mlp_sync.sqlite.xz", 11.206, 1, 1},
	{"nsys/mlp_async.sqlite.xz", 10.418, 1, 1},
	{"nsys/mlp_backtrace.sqlite.xz", 5.76, 1, 2},
	{"nsys/power_base.sqlite.xz", 0.774, 1, 1},
	{"nsys/starve_0.sqlite.xz", 162.4, 1, 1},
	{"nsys/streams_pageable1.sqlite.xz", 61.9, 1, 1},
	{"nsys/streams_pinned4.sqlite.xz", 6.04, 1, 1},
	{"nsys/streams_metrics.sqlite.xz", 6.18, 1.5, 1.5},
	{"nsys/graphs_launch.sqlite.xz", 5.96, 1, 1},
	{"nsys/graphs_graph.sqlite.xz", 1.197, 1, 1},
	{"nsys/graphs_node.sqlite.xz", 2.05, 1, 1},
	{"nsys/itemloop_item.sqlite.xz", 0.612, 1, 1},
	{"nsys/itemloop_async.sqlite.xz", 0.462, 2, 2},
	{"nsys/decode_eager.sqlite.xz", 0, 0, 0},
	{"nsys/decode_graph.sqlite.xz", 0, 0, 0},
	{"torch/mlp_sync.json.gz", 11.147, 1, 1},
	{"torch/mlp_async.json.gz", 10.444, 1, 1},
	{"torch/starve_0.json.gz", 170.1, 1, 1},
	{"torch/itemloop_item.json.gz", 0.802, 2, 2},
	{"torch/decode_eager.json.gz", 0, 0, 0},
	{"public-nsys/power_iteration.sqlite.xz", 0, 0, 0},
	{"public-nsys/h100_2gpu_1s.sqlite.xz", 0, 0, 0},
	{"public-traces/kineto-tb_plugin/samples/resnet50_num_workers_0/"
	 "worker0.1623143089861.pt.trace.json.gz",
	 177.6, 2, 2},
	{"public-traces/kineto-tb_plugin/samples/resnet50_num_workers_4/"
	 "worker0.1623212756351.pt.trace.json.gz",
	 141.1, 5, 5},
	{"public-traces/HolisticTraceAnalysis/trace_filter/sampled_rank-0.json.gz", 0, 0, 0},
	{"public-traces/TraceLens/b200/eager_trace.json.gz", 0, 0, 0},
};

static bool is_near(const struct recording *recording, const struct hwy_phases *phases,
		    double within)
{
	double mean = (double)phases->phases[phases->main].mean / 1e6;
	double off = 100 * (mean / recording->step - 1);
	bool good = off < within && off > -within;
	print_message("%s: %.4f ms a step, %+.2f %%%s\n", recording->name, mean, off,
		      good ? "" : "  <- not as printed");
	return good;
}

static void recordings_have_the_steps_that_their_programs_printed(void **state)
{
	unsigned seen = 0, bad = 0;
	for (size_t i = 0; i < sizeof recordings / sizeof *recordings; i++) {
		const struct recording *recording = &recordings[i];
		struct hwy_err err;
		struct hwy_trace *trace = recording_open(recording->name, folder);
		if (!trace)
			continue;
		struct found found = find_in(trace, NULL);
		seen++;
		if (strstr(recording->name, "decode_eager"))
			assert_true(found.phases.phases[found.phases.main].is_first_told_apart);
		bad += recording->step > 0 && !is_near(recording, &found.phases, recording->within);
		phases_free(&found.phases);
		struct phases_options alone = {""};
		assert_true(phases_find(&found.flow, &alone, &found.phases, &err));
		check(&found.flow, &found.phases);
		bad += recording->alone > 0 && !is_near(recording, &found.phases, recording->alone);
		done(&found);
	}
	assert_true(seen >= 20); /* those of the repository */
	assert_int_equal(bad, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_check_point_every_tenth_step_is_no_step_of_its_own),
		cmocka_unit_test(equal_calls_are_delimited_by_their_waits),
		cmocka_unit_test(chunks_on_several_streams_are_one_step),
		cmocka_unit_test(equal_layers_are_no_steps),
		cmocka_unit_test(layers_alone_are_grouped_by_the_pauses_of_the_cpu),
		cmocka_unit_test(layers_alone_are_told_apart_by_their_operators),
		cmocka_unit_test(a_noisy_cpu_groups_no_steps),
		cmocka_unit_test(a_loop_whose_period_divides_the_others_is_a_phase_of_its_own),
		cmocka_unit_test(warm_up_and_the_timed_loop_after_a_wait_are_one_phase),
		cmocka_unit_test(work_that_does_not_repeat_is_one_step),
		cmocka_unit_test(slow_first_steps_are_told_apart),
		cmocka_unit_test(a_slow_step_among_the_others_is_an_outlier),
		cmocka_unit_test(a_step_that_the_recording_cuts_is_not_steady),
		cmocka_unit_test(one_step_of_the_profiler_is_one_step),
		cmocka_unit_test(every_process_has_its_own_phases),
		cmocka_unit_test(a_thread_with_a_pace_of_its_own_hides_no_period),
		cmocka_unit_test(marks_of_a_thread_that_launches_nothing_are_not_the_steps),
		cmocka_unit_test(a_part_of_the_model_with_a_steps_name_is_no_step),
		cmocka_unit_test(without_device_work_there_are_no_phases),
		cmocka_unit_test(device_work_that_nobody_launched_is_one_step),
		cmocka_unit_test(nothing_that_a_trace_may_hold_breaks_the_windows),
		cmocka_unit_test(windows_tile_in_random_programs),
		cmocka_unit_test(recordings_have_the_steps_that_their_programs_printed),
	};
	folder = make_folder();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	drop_folder(folder);
	return failed;
}
