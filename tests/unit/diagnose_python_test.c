/* SPDX-License-Identifier: Apache-2.0 */
/* diagnose_python_test.c - findings about the Python interpreter: gc-pauses, gil-contention. */
#include "program.h"

enum { STEPS = 40 };

static uint32_t python_lane(struct program *p, int thread)
{
	struct hwy_lane lane = hwy_lane_of(HWY_LANE_RANGE, p->process, p->threads[thread]);
	lane.name = hwy_text_id(p->builder, HWY_DOMAIN_PYTHON);
	return hwy_add_lane(p->builder, lane);
}

/* Ten launches of 100 µs each: the CPU is far ahead. */
static void busy_step(struct program *p, int step)
{
	program_step(p, step);
	for (int k = 0; k < 10; k++)
		program_launch(p, 0, "k", 100);
}

/* A collection of this name and length every so many steps; 'waits': each step first waits for the GPU. */
static struct diagnosed program_with_collections(const char *name, int every, int64_t us,
						 bool waits)
{
	struct program p = program_new();
	uint32_t lane = python_lane(&p, 0);
	for (int step = 0; step < STEPS; step++) {
		busy_step(&p, step);
		if (waits)
			program_sync(&p, 0);
		if (step % every == 0) {
			program_span(&p, lane, HWY_RANGE, p.cpu, p.cpu + US(us), name);
			program_compute(&p, us);
		}
	}
	return program_diagnose(&p);
}

static void collections_that_the_gpu_waits_for_are_accused(void **state)
{
	struct diagnosed d = program_with_collections("gc generation 2", 5, 20000, true);
	ASSERT_ACCUSED(&d, "gc-pauses");
	const struct hwy_finding *finding = accused(&d, "gc-pauses");
	/* 20 ms every 5 steps, all of it idle. */
	assert_true(finding->cost > US(3300) && finding->cost < US(4600));
	assert_non_null(strstr(finding->says, "every 5"));
	assert_non_null(strstr(finding->says, "20.0 ms"));
	assert_non_null(strstr(finding->advice, "gc.freeze()"));
	assert_int_equal(finding->confidence, HWY_HIGH);
	/* The marks of the program are its steps, not the collections. */
	assert_int_equal(d.analysis.phases.phases[finding->phase].n_steps, STEPS);
	ASSERT_NOT_ACCUSED(&d, "cpu-bound-gap");
	diagnosed_free(&d);
}

static void a_collection_in_every_step_is_a_call(void **state)
{
	struct diagnosed d = program_with_collections("gc generation 2", 1, 2000, true);
	ASSERT_ACCUSED(&d, "gc-pauses");
	assert_non_null(strstr(accused(&d, "gc-pauses")->advice, "is a call"));
	diagnosed_free(&d);
	/* Young generations are collected by chance, however often. */
	d = program_with_collections("gc generation 0", 1, 2000, true);
	ASSERT_ACCUSED(&d, "gc-pauses");
	assert_null(strstr(accused(&d, "gc-pauses")->advice, "is a call"));
	diagnosed_free(&d);
}

static void collections_while_the_gpu_has_work_are_acquitted(void **state)
{
	/* A step launches 1 ms of work in 50 µs, and is far ahead when the collector takes 500 µs of each. */
	struct diagnosed d = program_with_collections("gc generation 1", 1, 500, false);
	ASSERT_NOT_ACCUSED(&d, "gc-pauses");
	assert_non_null(acquitted(&d, "gc-pauses"));
	diagnosed_free(&d);
}

static void a_thread_that_launches_nothing_may_collect_while_another_computes(void **state)
{
	struct program p = program_new();
	uint32_t lane = python_lane(&p, 1);
	for (int step = 0; step < STEPS; step++) {
		busy_step(&p, step);
		program_sync(&p, 0);
		program_span(&p, lane, HWY_RANGE, p.cpu, p.cpu + US(3000), "gc generation 2");
		int64_t from = p.cpu;
		program_compute(&p, 3000);
		program_span(&p, p.op, HWY_OP, from, p.cpu, "aten::sort");
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "gc-pauses");
	diagnosed_free(&d);
}

/* ---- the lock -------------------------------------------------------------------------------------- */

static struct hwy_ref os_span(struct program *p, uint32_t lane, int64_t from, int64_t to,
			      const char *name, int64_t stack)
{
	struct hwy_row row = {0};
	row.v[HWY_START] = from;
	row.v[HWY_DUR] = to - from;
	row.v[HWY_NAME] = hwy_text_id(p->builder, name);
	row.v[HWY_STACK] = stack;
	return hwy_add_span(p->builder, lane, HWY_OS, &row);
}

static int64_t stack_in(struct program *p, const char *function, int64_t line)
{
	struct hwy_frame frame = {
		.function = hwy_text_id(p->builder, function),
		.file = hwy_text_id(p->builder, "/home/serve.py"),
		.module = hwy_text_id(p->builder, "/home/serve.py"),
		.line = line,
		.flags = HWY_FRAME_PYTHON,
	};
	struct hwy_stack node = {.frame = hwy_add_frame(p->builder, &frame)};
	return hwy_ref(hwy_add_stack(p->builder, node));
}

static void sample(struct program *p, uint32_t lane, int64_t time, int64_t stack)
{
	struct hwy_row row = {0};
	row.v[HWY_START] = time;
	row.v[HWY_STACK] = stack;
	hwy_add_span(p->builder, lane, HWY_SAMPLE, &row);
}

/* What is known of who had the lock: nothing; the call that gave it away; also its stack, or that of the wait after it, or
 * samples while it had the lock. */
enum knowledge { NOTHING, WAKER, STACK_OF_WAKER, STACK_OF_WAIT, SAMPLES };

/* The loop's thread waits 5 ms for the lock in each step, which the other thread gives away and then waits for itself. */
static struct diagnosed two_threads_that_fight(enum knowledge knows, bool launches)
{
	struct program p = program_new();
	uint32_t other = hwy_add_lane(p.builder, hwy_lane_of(HWY_LANE_OS, p.process, p.threads[1]));
	uint32_t mine = launches ? p.os
				 : hwy_add_lane(p.builder,
						hwy_lane_of(HWY_LANE_OS, p.process, p.threads[2]));
	uint32_t samples =
		hwy_add_lane(p.builder, hwy_lane_of(HWY_LANE_SAMPLES, p.process, p.threads[1]));
	program_trace(&p)->threads[p.threads[1]].name = hwy_text_id(p.builder, "decoder");
	int64_t loop = stack_in(&p, "train", 10), decode = stack_in(&p, "decode_frame", 77);
	for (int step = 0; step < STEPS; step++) {
		busy_step(&p, step);
		program_sync(&p, 0);
		int64_t from = p.cpu, to = from + US(5000);
		struct hwy_ref wait = os_span(&p, mine, from, to, HWY_GIL_NAME, loop);
		if (knows != NOTHING)
			hwy_add_edge(p.builder, HWY_EDGE_WAKE,
				     os_span(&p, other, to - US(2), to - US(1),
					     "pthread_cond_signal",
					     knows == STACK_OF_WAKER ? decode : 0),
				     wait, HWY_NONE);
		for (int i = 0; knows == SAMPLES && i < 5; i++)
			sample(&p, samples, from + US(500 + 1000 * i), decode);
		if (knows == STACK_OF_WAIT)
			os_span(&p, other, to, to + US(40), HWY_GIL_NAME, decode);
		p.cpu = to;
	}
	return program_diagnose(&p);
}

static void waits_for_the_lock_name_who_had_it_and_where(void **state)
{
	struct diagnosed d = two_threads_that_fight(STACK_OF_WAIT, true);
	ASSERT_ACCUSED(&d, "gil-contention");
	const struct hwy_finding *finding = accused(&d, "gil-contention");
	assert_true(finding->cost > US(4900) && finding->cost < US(5100));
	assert_non_null(strstr(finding->says, "decoder"));
	assert_non_null(strstr(finding->says, "decode_frame"));
	assert_non_null(strstr(finding->says, "serve.py:77"));
	assert_int_equal(finding->confidence, HWY_HIGH);
	assert_string_equal(finding->places[0].at.function, "train");
	assert_int_equal(finding->places[0].at.line, 10);
	ASSERT_NOT_ACCUSED(&d, "cpu-bound-gap");
	ASSERT_NOT_ACCUSED(&d, "gc-pauses");
	diagnosed_free(&d);
	d = two_threads_that_fight(STACK_OF_WAKER, true);
	assert_non_null(strstr(accused(&d, "gil-contention")->says, "serve.py:77"));
	diagnosed_free(&d);
	d = two_threads_that_fight(SAMPLES, true);
	assert_non_null(strstr(accused(&d, "gil-contention")->says, "serve.py:77"));
	diagnosed_free(&d);
	d = two_threads_that_fight(WAKER, true);
	assert_non_null(strstr(accused(&d, "gil-contention")->says, "(decoder) had the lock."));
	diagnosed_free(&d);
}

static void without_wakers_nobody_is_named(void **state)
{
	struct diagnosed d = two_threads_that_fight(NOTHING, true);
	ASSERT_ACCUSED(&d, "gil-contention");
	assert_null(strstr(accused(&d, "gil-contention")->says, "had the lock"));
	assert_int_equal(accused(&d, "gil-contention")->confidence, HWY_MEDIUM);
	diagnosed_free(&d);
}

static void waits_of_threads_that_launch_nothing_are_innocent(void **state)
{
	struct diagnosed d = two_threads_that_fight(STACK_OF_WAIT, false);
	ASSERT_NOT_ACCUSED(&d, "gil-contention");
	diagnosed_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(collections_that_the_gpu_waits_for_are_accused),
		cmocka_unit_test(a_collection_in_every_step_is_a_call),
		cmocka_unit_test(collections_while_the_gpu_has_work_are_acquitted),
		cmocka_unit_test(a_thread_that_launches_nothing_may_collect_while_another_computes),
		cmocka_unit_test(waits_for_the_lock_name_who_had_it_and_where),
		cmocka_unit_test(without_wakers_nobody_is_named),
		cmocka_unit_test(waits_of_threads_that_launch_nothing_are_innocent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
