/* SPDX-License-Identifier: Apache-2.0 */
/* diagnose_syncs_test.c - findings about waits: sync-in-loop, sync-in-model, sync-useless, staircase. */
#include "program.h"

enum { STEPS = 20 };

/* Twenty launches of 100 µs each: the CPU is far ahead. */
static void heavy_step(struct program *p, int step)
{
	program_step(p, step);
	for (int k = 0; k < 20; k++)
		program_launch(p, 0, "k", 100);
}

static void a_read_back_every_step_is_sync_in_loop_with_its_idle_time(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		heavy_step(&p, step);
		program_copy(&p, 0, HWY_D2H, 4, HWY_MEM_PAGEABLE, 2, true);
		program_compute(&p, 100);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "sync-in-loop");
	const struct hwy_finding *finding = accused(&d, "sync-in-loop");
	assert_ptr_equal(finding, &d.diagnosis.findings[0]);
	/* The CPU needs 100 µs and a launch to refill the queue. */
	assert_true(finding->cost > US(90) && finding->cost < US(150));
	assert_true(finding->n_places > 0 && finding->n_evidence > 0);
	assert_string_equal(finding->places[0].at.api, "cudaStreamSynchronize");
	ASSERT_NOT_ACCUSED(&d, "sync-in-model");
	ASSERT_NOT_ACCUSED(&d, "pageable-copy");
	diagnosed_free(&d);
}

/* Two gaps behind each wait, and one wait a step: a place tells calls. */
static void a_place_tells_how_often_the_steps_call_it_not_how_many_gaps_it_costs(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		heavy_step(&p, step);
		program_sync(&p, 0);
		program_compute(&p, 100);
		program_launch(&p, 0, "small", 2);
		program_compute(&p, 60);
	}
	struct diagnosed d = program_diagnose(&p);
	const struct hwy_phase *phase = &d.analysis.phases.phases[d.analysis.phases.main];
	ASSERT_ACCUSED(&d, "sync-in-loop");
	const struct hwy_finding *finding = accused(&d, "sync-in-loop");
	assert_int_equal(finding->n_places, 1);
	assert_int_equal(finding->places[0].count, phase->n_steady);
	uint32_t blamed = 0;
	const struct hwy_gaps *gaps = &d.analysis.measures[d.analysis.phases.main].gaps;
	for (uint32_t i = 0; i < gaps->n; i++)
		blamed += gaps->gaps[i].cause == GAP_BLOCKED;
	assert_true(blamed > phase->n_steady);
	diagnosed_free(&d);
}

static void calls_of_a_system_are_counted_where_one_is_named_for_a_gap(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int k = 0; k < 10; k++)
			program_os(&p, "clock_nanosleep", 200);
		program_copy(&p, 0, HWY_H2D, 1 << 20, HWY_MEM_PINNED, 50, false);
		program_launch(&p, 0, "k", 200);
	}
	struct diagnosed d = program_diagnose(&p);
	const struct hwy_phase *phase = &d.analysis.phases.phases[d.analysis.phases.main];
	ASSERT_ACCUSED(&d, "input-starved");
	const struct hwy_finding *finding = accused(&d, "input-starved");
	assert_int_equal(finding->places[0].count, 10 * phase->n_steady);
	diagnosed_free(&d);
}

/* Most of the waiting is for a copy to the device, whose wait is over when the queue still has work for
 * the device; most of the idle time is behind the wait for a result. */
static void advice_is_about_the_waits_that_cost_most_not_about_the_longest(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int k = 0; k < 20; k++)
			program_launch(&p, 0, "k", 100);
		program_copy(&p, 0, HWY_H2D, 4096, HWY_MEM_PAGEABLE, 2, true);
		for (int k = 0; k < 4; k++)
			program_launch(&p, 0, "k", 100);
		program_copy(&p, 0, HWY_D2H, 4, HWY_MEM_PAGEABLE, 2, true);
		program_compute(&p, 300);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "sync-in-loop");
	assert_null(strstr(accused(&d, "sync-in-loop")->advice, "copies to the device"));
	diagnosed_free(&d);
}

static void a_wait_of_a_launch_bound_loop_is_acquitted(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int k = 0; k < 20; k++) {
			program_launch(&p, 0, "k", 3);
			program_compute(&p, 40);
		}
		program_copy(&p, 0, HWY_D2H, 4, HWY_MEM_PAGEABLE, 2, true);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "sync-in-loop");
	assert_non_null(acquitted(&d, "sync-in-loop"));
	assert_string_equal(d.diagnosis.findings[0].kind->id, "launch-bound");
	diagnosed_free(&d);
}

/* So many launches, 40 µs of other work after each, and the copy of a value that is there before the CPU asks for it, but
 * for every so manieth step. */
static struct diagnosed diagnose_a_value_in_time(int launches, int late)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int k = 0; k < launches; k++) {
			bool is_late = late && step % late == 0 && k == launches - 1;
			program_launch(&p, 0, "k", is_late ? 60 : 3);
			program_compute(&p, 40);
		}
		program_copy(&p, 0, HWY_D2H, 4, HWY_MEM_PAGEABLE, 2, false);
		program_compute(&p, 5);
		program_sync(&p, 0);
	}
	return program_diagnose(&p);
}

static void a_gain_inside_its_own_bar_does_not_accuse_what_was_let_off(void **state)
{
	struct diagnosed d = diagnose_a_value_in_time(20, 3); /* some 30 µs of 920 */
	ASSERT_NOT_ACCUSED(&d, "sync-in-loop");
	assert_non_null(acquitted(&d, "sync-in-loop"));
	diagnosed_free(&d);
	d = diagnose_a_value_in_time(1, 3); /* of 57 */
	ASSERT_ACCUSED(&d, "sync-in-loop");
	diagnosed_free(&d);
}

static void a_wait_for_nothing_is_not_guilty_of_what_its_call_costs(void **state)
{
	struct diagnosed d = diagnose_a_value_in_time(1, 0);
	ASSERT_NOT_ACCUSED(&d, "sync-in-loop");
	const struct hwy_finding *finding = acquitted(&d, "sync-in-loop");
	assert_non_null(finding);
	assert_non_null(
		strstr(finding->says, "The calls cost the CPU time all the same: without them"));
	diagnosed_free(&d);
	d = diagnose_a_value_in_time(20, 0); /* not worth a word */
	assert_null(strstr(acquitted(&d, "sync-in-loop")->says, "all the same"));
	diagnosed_free(&d);
}

static void many_waits_a_step_are_sync_in_model(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int layer = 0; layer < 12; layer++) {
			for (int k = 0; k < 4; k++)
				program_launch(&p, 0, "k", 30);
			program_launch(&p, 0, "abs", 3);
			program_launch(&p, 0, "max", 3);
			program_copy(&p, 0, HWY_D2H, 1, HWY_MEM_PAGEABLE, 2, true);
			program_compute(&p, 20);
		}
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "sync-in-model");
	ASSERT_NOT_ACCUSED(&d, "sync-in-loop");
	diagnosed_free(&d);
}

static void one_wait_a_step_in_forward_is_sync_in_model(void **state)
{
	static const char *const names[] = {"net.py(36): forward", "train.py(36): step"};
	for (int i = 0; i < 2; i++) {
		struct program p = program_new();
		for (int step = 0; step < STEPS; step++) {
			program_step(&p, step);
			for (int k = 0; k < 4; k++)
				program_launch(&p, 0, "k", 30);
			program_launch(&p, 0, "abs", 3);
			program_launch(&p, 0, "max", 3);
			int64_t from = p.cpu;
			program_copy(&p, 0, HWY_D2H, 1, HWY_MEM_PAGEABLE, 2, true);
			program_span(&p, p.op, HWY_CALL, from, p.cpu, names[i]);
			program_compute(&p, 20);
		}
		struct diagnosed d = program_diagnose(&p);
		ASSERT_ACCUSED(&d, i == 0 ? "sync-in-model" : "sync-in-loop");
		ASSERT_NOT_ACCUSED(&d, i == 0 ? "sync-in-loop" : "sync-in-model");
		diagnosed_free(&d);
	}
}

static void one_wait_a_step_is_not_sync_in_model(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		heavy_step(&p, step);
		program_sync(&p, 0);
		program_compute(&p, 200);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "sync-in-model");
	diagnosed_free(&d);
}

static void waits_with_nothing_pending_are_useless(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int k = 0; k < 10; k++) {
			program_launch(&p, 0, "k", 3);
			program_compute(&p, 20);
			program_sync(&p, 0);
		}
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "sync-useless");
	diagnosed_free(&d);
}

static void a_wait_for_pending_work_is_not_useless(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		heavy_step(&p, step);
		program_sync(&p, 0);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "sync-useless");
	diagnosed_free(&d);
}

static void taking_turns_is_a_staircase(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "k", 1000);
		program_sync(&p, 0);
		program_compute(&p, 1000);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "staircase");
	ASSERT_NOT_ACCUSED(&d, "sync-in-loop");
	diagnosed_free(&d);
}

static void a_gpu_that_works_most_of_the_time_is_no_staircase(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		heavy_step(&p, step);
		program_sync(&p, 0);
		program_compute(&p, 100);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "staircase");
	diagnosed_free(&d);
}

static void a_full_queue_is_health(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++)
		heavy_step(&p, step);
	struct diagnosed d = program_diagnose(&p);
	assert_int_equal(d.diagnosis.n, 0);
	assert_true(d.diagnosis.outlooks[0].is_healthy);
	assert_non_null(strstr(d.diagnosis.outlooks[0].ncu,
			       "ncu --kernel-name-base demangled -k regex:\"k\" -s "));
	assert_non_null(strstr(d.diagnosis.outlooks[0].ncu, " -c 3 ./program"));
	diagnosed_free(&d);
}

static void advice_for_inference_does_not_speak_of_the_loss(void **state)
{
	for (int trains = 0; trains < 2; trains++) {
		struct program p = program_new();
		for (int step = 0; step < 20; step++) {
			program_step(&p, step);
			int64_t from = p.cpu;
			for (int k = 0; k < 5; k++)
				program_launch(&p, 0, "k", 200);
			program_span(&p, p.op, HWY_OP, from, p.cpu,
				     trains ? "AddmmBackward0" : "aten::addmm");
			from = p.cpu;
			program_sync(&p, 0);
			program_span(&p, p.op, HWY_OP, from, p.cpu, "aten::item");
			program_compute(&p, 100);
		}
		struct diagnosed d = program_diagnose(&p);
		ASSERT_ACCUSED(&d, "sync-in-loop");
		const char *advice = accused(&d, "sync-in-loop")->advice;
		assert_int_equal(strstr(advice, "loss") != NULL, trains);
		diagnosed_free(&d);
	}
}

static void ncu_is_named_for_cuda_only(void **state)
{
	struct program p = program_new();
	program_trace(&p)->streams[p.streams[0]].flags = HWY_STREAM_IN_ORDER;
	for (int step = 0; step < STEPS; step++)
		heavy_step(&p, step);
	struct diagnosed d = program_diagnose(&p);
	assert_true(d.diagnosis.outlooks[0].is_healthy);
	assert_string_equal(d.diagnosis.outlooks[0].ncu, "");
	assert_non_null(strstr(d.diagnosis.outlooks[0].inside, "OpenCL"));
	diagnosed_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(advice_for_inference_does_not_speak_of_the_loss),
		cmocka_unit_test(a_read_back_every_step_is_sync_in_loop_with_its_idle_time),
		cmocka_unit_test(a_place_tells_how_often_the_steps_call_it_not_how_many_gaps_it_costs),
		cmocka_unit_test(calls_of_a_system_are_counted_where_one_is_named_for_a_gap),
		cmocka_unit_test(advice_is_about_the_waits_that_cost_most_not_about_the_longest),
		cmocka_unit_test(a_wait_of_a_launch_bound_loop_is_acquitted),
		cmocka_unit_test(a_gain_inside_its_own_bar_does_not_accuse_what_was_let_off),
		cmocka_unit_test(a_wait_for_nothing_is_not_guilty_of_what_its_call_costs),
		cmocka_unit_test(many_waits_a_step_are_sync_in_model),
		cmocka_unit_test(one_wait_a_step_in_forward_is_sync_in_model),
		cmocka_unit_test(one_wait_a_step_is_not_sync_in_model),
		cmocka_unit_test(waits_with_nothing_pending_are_useless),
		cmocka_unit_test(a_wait_for_pending_work_is_not_useless),
		cmocka_unit_test(taking_turns_is_a_staircase),
		cmocka_unit_test(a_gpu_that_works_most_of_the_time_is_no_staircase),
		cmocka_unit_test(a_full_queue_is_health),
		cmocka_unit_test(ncu_is_named_for_cuda_only),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
