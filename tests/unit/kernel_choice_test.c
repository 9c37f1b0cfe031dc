/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_choice_test.c - which kernels are measured, and which of their launches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

#include "whatif/kernel_choice.h"

static const struct kernel_choice_options some = {.most = 12, .launches = 2, .launches_apart = 5};

static struct kernel_choices choose(struct program *p, const struct kernel_choice_options *options,
				    struct hwy_trace **trace)
{
	struct kernel_choices choices;
	struct hwy_err err = {""};
	program_end_step(p);
	*trace = hwy_builder_finish(p->builder, false);
	if (!kernel_choice_make(&choices, *trace, options, &err))
		fail_msg("%s", err.text);
	return choices;
}

static const struct kernel_choice *chosen(const struct kernel_choices *choices,
					  const struct hwy_trace *trace, const char *name)
{
	for (uint32_t i = 0; i < choices->n; i++)
		if (strcmp(hwy_str(trace, choices->list[i].name), name) == 0)
			return &choices->list[i];
	return NULL;
}

static void done(struct kernel_choices *choices, struct hwy_trace *trace)
{
	kernel_choice_free(choices);
	hwy_trace_free(trace);
}

static void kernels_come_by_their_time_and_tiny_ones_not_at_all(void **state)
{
	struct program p = program_new();
	struct hwy_trace *trace;
	program_blocks(&p, 64);
	for (int step = 0; step < 20; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "short", 20);
		program_launch(&p, 0, "long", 1000);
		program_launch_ns(&p, 0, "dust", 500);
		program_sync(&p, 0);
	}
	struct kernel_choices choices = choose(&p, &some, &trace);
	assert_int_equal(choices.n, 2);
	assert_string_equal(hwy_str(trace, choices.list[0].name), "long");
	assert_string_equal(choices.list[0].symbol, "long");
	assert_string_equal(hwy_str(trace, choices.list[1].name), "short");
	assert_int_equal(choices.graph_ns, 0);
	done(&choices, trace);
}

static void ordinals_count_every_launch_of_a_shape_and_are_of_steady_steps(void **state)
{
	struct program p = program_new();
	struct hwy_trace *trace;
	program_blocks(&p, 64);
	for (int i = 0; i < 7; i++) { /* before the loop */
		program_launch(&p, 0, "gemm", 100);
		program_sync(&p, 0);
		program_compute(&p, 3000);
	}
	for (int step = 0; step < 20; step++) {
		program_step(&p, step);
		program_blocks(&p, 64);
		program_launch(&p, 0, "gemm", 100);
		program_blocks(&p, 8);
		program_launch(&p, 0, "gemm", 50);
		program_sync(&p, 0);
	}
	struct kernel_choices choices = choose(&p, &some, &trace);
	assert_int_equal(choices.n, 2); /* two shapes are two kernels */
	const struct kernel_choice *large = &choices.list[0];
	assert_int_equal(trace->shapes[large->shape].grid_x, 64);
	assert_int_equal(large->n_ordinals, 2);
	assert_true(large->ordinals[0] >= 7 && large->ordinals[0] < large->ordinals[1]);
	assert_true(large->ordinals[1] < 27);
	assert_true(choices.list[1].ordinals[0] < 20);
	done(&choices, trace);
}

static void a_collective_gets_as_many_launches_as_it_has_passes(void **state)
{
	struct program p = program_new();
	struct hwy_trace *trace;
	program_blocks(&p, 64);
	for (int step = 0; step < 20; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "gemm", 100);
		program_launch(&p, 0, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 100);
		program_sync(&p, 0);
	}
	struct kernel_choices choices = choose(&p, &some, &trace);
	const struct kernel_choice *collective =
		chosen(&choices, trace, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
	assert_non_null(collective);
	assert_true(collective->talks);
	assert_int_equal(collective->n_ordinals, 5);
	assert_false(chosen(&choices, trace, "gemm")->talks);
	assert_int_equal(chosen(&choices, trace, "gemm")->n_ordinals, 2);
	done(&choices, trace);
}

/* A kernel by a graph's launch. */
static void launch_by_graph(struct program *p, const char *name, int64_t us)
{
	struct hwy_row row = {0};
	row.v[HWY_NAME] = hwy_text_id(p->builder, name);
	row.v[HWY_GRAPH_ID] = 3;
	program_work(p, 0, "cudaGraphLaunch", LAUNCH_US, HWY_KERNEL, row, US(us));
}

static void a_kernel_of_a_graph_is_measured_in_the_warm_up_or_not_at_all(void **state)
{
	struct program p = program_new();
	struct hwy_trace *trace;
	program_blocks(&p, 64);
	program_launch(&p, 0, "warm", 100);
	program_sync(&p, 0);
	program_compute(&p, 50000);
	for (int step = 0; step < 20; step++) {
		program_step(&p, step);
		launch_by_graph(&p, "warm", 100);
		launch_by_graph(&p, "cold", 100);
		program_sync(&p, 0);
	}
	struct kernel_choices choices = choose(&p, &some, &trace);
	assert_int_equal(choices.n, 1);
	assert_string_equal(hwy_str(trace, choices.list[0].name), "warm");
	assert_int_equal(choices.list[0].n_ordinals, 1);
	assert_int_equal(choices.list[0].ordinals[0], 0);
	assert_true(choices.graph_ns > 0 && choices.graph_ns * 2 <= choices.ns);
	done(&choices, trace);
}

static void a_name_chooses_whatever_time_the_kernel_takes(void **state)
{
	struct program p = program_new();
	struct hwy_trace *trace;
	struct kernel_choice_options named = some;
	named.name = "dust";
	program_blocks(&p, 64);
	for (int step = 0; step < 20; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "long", 1000);
		program_launch_ns(&p, 0, "dust_kernel", 500);
		program_sync(&p, 0);
	}
	struct kernel_choices choices = choose(&p, &named, &trace);
	assert_int_equal(choices.n, 1);
	assert_string_equal(hwy_str(trace, choices.list[0].name), "dust_kernel");
	done(&choices, trace);
}

static void a_kernel_that_runs_for_most_of_the_time_in_one_launch_is_left_out_unless_named(
	void **state)
{
	for (int named = 0; named < 2; named++) {
		struct program p = program_new();
		struct hwy_trace *trace;
		struct kernel_choice_options options = some;
		options.name = named ? "persistent" : NULL;
		program_blocks(&p, 64);
		program_launch(&p, 1, "persistent", 600000);
		for (int i = 0; i < 3; i++) {
			program_launch(&p, 0, "short", 2000 + 700 * i);
			program_compute(&p, 90000 * i * i);
		}
		program_wait(&p, "cudaDeviceSynchronize");
		struct kernel_choices choices = choose(&p, &options, &trace);
		assert_int_equal(choices.n, 1);
		assert_string_equal(hwy_str(trace, choices.list[0].name),
				    named ? "persistent" : "short");
		assert_int_equal(choices.endless != HWY_NONE, !named);
		done(&choices, trace);
	}
}

static void plain_kernels_are_measured_before_others(void **state)
{
	struct program p = program_new();
	struct hwy_trace *trace;
	program_blocks(&p, 64);
	for (int step = 0; step < 30; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "nvjet_gemm", 100);
		program_launch(&p, 0, "vectorized_elementwise_kernel", 100);
		program_sync(&p, 0);
	}
	struct kernel_choices choices = choose(&p, &some, &trace);
	const struct kernel_choice *gemm = chosen(&choices, trace, "nvjet_gemm"),
				   *plain =
					   chosen(&choices, trace, "vectorized_elementwise_kernel");
	assert_true(plain->plain && !gemm->plain);
	assert_true(plain->ordinals[plain->n_ordinals - 1] < gemm->ordinals[0]);
	done(&choices, trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_come_by_their_time_and_tiny_ones_not_at_all),
		cmocka_unit_test(ordinals_count_every_launch_of_a_shape_and_are_of_steady_steps),
		cmocka_unit_test(a_collective_gets_as_many_launches_as_it_has_passes),
		cmocka_unit_test(a_kernel_of_a_graph_is_measured_in_the_warm_up_or_not_at_all),
		cmocka_unit_test(a_name_chooses_whatever_time_the_kernel_takes),
		cmocka_unit_test(
			a_kernel_that_runs_for_most_of_the_time_in_one_launch_is_left_out_unless_named),
		cmocka_unit_test(plain_kernels_are_measured_before_others),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
