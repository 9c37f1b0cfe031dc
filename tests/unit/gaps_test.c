/* SPDX-License-Identifier: Apache-2.0 */
/* gaps_test.c - each rule for the cause of a gap, and the states of a device, on traces of a few spans. */
#include "found_gaps.h"

#include "analyze/gaps/gaps_cause.h"

/* ---- the rules ----------------------------------------------------------------------------------- */

static void work_that_was_there_before_the_gap_waited_for_other_work(void **state)
{
	struct small small = small_machine();
	small_launch_us(&small, 0, 5, 10, 100);
	small_launch_us(&small, 6, 11, 104, 200);
	struct found found = find(&small, 10, 200);
	assert_int_equal(found.gaps.n, 1);
	expect(&found, 0, GAP_DEPENDENCY, NULL, NULL);
	assert_int_equal(found.gaps.devices[0].idle, US(4));
	drop(&found);
}

static void a_copy_that_blocks_was_there_when_its_call_had_begun(void **state)
{
	struct small small = small_machine();
	small_launch_us(&small, 0, 5, 10, 100);
	small.corr++;
	small_span_us(&small, small.api, HWY_API, 20, 130, small.corr, "cudaMemcpy");
	small_span_us(&small, small.stream, HWY_COPY, 102, 125, small.corr, "copy");
	struct found found = find(&small, 10, 125);
	expect(&found, 0, GAP_DEPENDENCY, NULL, NULL);
	drop(&found);
}

/* A lead of 1 ms is waited for; what follows is late although it comes without a pause. */
static void lose_headway(struct small *small, double at)
{
	for (int i = 0; i < 10; i++)
		small_launch_us(small, at + i * 5, at + i * 5 + 4, at + 10 + i * 100,
				at + 110 + i * 100);
	small_call_us(small, at + 50, at + 1015, "cudaStreamSynchronize");
	small_launch_us(small, at + 1020, at + 1025, at + 1030, at + 1035);
	small_launch_us(small, at + 1030, at + 1040, at + 1045, at + 1050);
}

static void gaps_after_a_wait_are_charged_to_it_until_headway_is_back(void **state)
{
	struct small small = small_machine();
	lose_headway(&small, 0);
	/* The first that has stood in the queue for as long as the wait took has it back. */
	small_launch_us(&small, 1060, 1065, 1070, 3000);
	small_launch_us(&small, 1066, 1070, 3000, 3100);
	small_launch_us(&small, 3200, 3205, 3210, 3300);
	struct found found = find(&small, 10, 3300);
	assert_int_equal(found.gaps.n, 4);
	for (uint32_t i = 0; i < 3; i++)
		expect(&found, i, GAP_BLOCKED, "cudaStreamSynchronize", NULL);
	expect(&found, 3, GAP_CPU, NULL, NULL);
	drop(&found);
}

static void a_wait_is_blamed_for_no_more_idle_time_than_it_cost(void **state)
{
	struct small small = small_machine();
	lose_headway(&small, 0);
	small_launch_us(&small, 1200, 1205, 3210, 3215); /* 2 ms later: late all the same */
	small_launch_us(&small, 3220, 3225, 3230, 3300);
	struct found found = find(&small, 10, 3300);
	expect(&found, 1, GAP_BLOCKED, "cudaStreamSynchronize", NULL);
	assert_int_not_equal(found.gaps.gaps[2].cause, GAP_BLOCKED);
	assert_int_not_equal(found.gaps.gaps[3].cause, GAP_BLOCKED);
	drop(&found);
}

static void a_wait_in_a_loop_that_cannot_keep_up_is_innocent(void **state)
{
	struct small small = small_machine();
	for (int i = 0; i < 20; i++) {
		small_launch_us(&small, i * 50, i * 50 + 5, i * 50 + 8, i * 50 + 12);
		if (i % 5 == 4)
			small_call_us(&small, i * 50 + 6, i * 50 + 15, "cudaStreamSynchronize");
	}
	struct found found = find(&small, 8, 962);
	assert_int_equal(found.gaps.n, 19);
	assert_int_equal(found.gaps.devices[0].causes[GAP_LAUNCH], found.gaps.devices[0].idle);
	drop(&found);
}

static void a_small_wait_after_a_large_one_does_not_take_its_blame(void **state)
{
	struct small small = small_machine();
	lose_headway(&small, 0);
	small_call_us(&small, 1041, 1055, "cudaDeviceSynchronize");
	small_launch_us(&small, 1100, 1105, 1110, 1200);
	struct found found = find(&small, 10, 1200);
	expect(&found, found.gaps.n - 1, GAP_BLOCKED, "cudaStreamSynchronize", NULL);
	drop(&found);
}

static void a_wait_just_before_the_window_is_known(void **state)
{
	struct small small = small_machine();
	lose_headway(&small, 0);
	small_launch_us(&small, 1060, 1065, 1070, 9000);
	struct found found = find(&small, 1030, 9000);
	assert_int_equal(found.gaps.n, 2);
	expect(&found, 0, GAP_BLOCKED, "cudaStreamSynchronize", NULL);
	drop(&found);
}

static void a_wait_of_another_process_is_not_blamed(void **state)
{
	struct small small = small_machine();
	lose_headway(&small, 0);
	small.process = hwy_new_processes(small.builder);
	small_other_thread(&small);
	small.stream = small_stream(&small, 0, 8);
	small.api = small_lane(&small, HWY_LANE_API);
	small_launch_us(&small, 1100, 1105, 1110, 1200);
	struct found found = find(&small, 10, 1200);
	expect(&found, found.gaps.n - 1, GAP_CPU, NULL, NULL);
	drop(&found);
}

static void allocation_that_takes_most_of_the_time_is_the_cause(void **state)
{
	struct small small = small_machine();
	small_launch_us(&small, 0, 5, 10, 20);
	small_call_us(&small, 6, 80, "cudaMalloc");
	small_launch_us(&small, 90, 95, 100, 110);
	small_call_us(&small, 96, 100, "cudaMalloc");
	small_launch_us(&small, 190, 195, 200, 210);
	struct found found = find(&small, 10, 210);
	expect(&found, 0, GAP_ALLOC, "cudaMalloc", NULL);
	expect(&found, 1, GAP_LAUNCH, "cudaLaunchKernel", NULL);
	drop(&found);
}

static void a_module_loaded_inside_the_launch_is_the_cause(void **state)
{
	struct small small = small_machine();
	small_launch_us(&small, 0, 5, 10, 20);
	small_launch_us(&small, 30, 900, 905, 1000);
	small_call_us(&small, 40, 880, "cuModuleLoadData");
	struct found found = find(&small, 10, 1000);
	expect(&found, 0, GAP_MODULE, "cuModuleLoadData", NULL);
	drop(&found);
}

static void launches_of_any_thread_count_as_launching(void **state)
{
	struct small small = small_machine();
	small_launch_us(&small, 0, 5, 10, 20);
	small_launch_us(&small, 600, 605, 610, 620);
	small_other_thread(&small);
	small.api = small_lane(&small, HWY_LANE_API);
	small_launch_us(&small, 700, 705, 710, 720);
	small_launch_us(&small, 960, 965, 970, 980);
	struct found found = find(&small, 10, 980);
	expect(&found, 0, GAP_CPU, NULL, NULL);
	expect(&found, 1, GAP_LAUNCH, "cudaLaunchKernel", NULL);
	expect(&found, 2, GAP_CPU, NULL, NULL); /* 255 us after the other */
	drop(&found);
}

static void waiting_in_the_os_before_a_copy_to_the_device_is_input(void **state)
{
	struct small small = small_machine();
	small_launch_us(&small, 0, 5, 10, 20);
	small_span_us(&small, small.os, HWY_OS, 30, 600, 0, "nanosleep");
	small_span_us(&small, small.os, HWY_OS, 610, 900, 0, "read");
	small_copy_in_us(&small, 1000, 1005, 1010, 1020);
	small_launch_us(&small, 1006, 1008, 1020, 1030);
	small_span_us(&small, small.os, HWY_OS, 1040, 1900, 0, "write");
	small_launch_us(&small, 2000, 2005, 2010, 2020);
	small_launch_us(&small, 4000, 4005, 4010, 4020);
	struct found found = find(&small, 10, 4020);
	expect(&found, 0, GAP_INPUT, NULL, "nanosleep");
	expect(&found, 1, GAP_OS, NULL, "write");
	expect(&found, 2, GAP_CPU, NULL, NULL);
	drop(&found);
}

static void a_loaders_range_before_a_copy_to_the_device_is_input(void **state)
{
	struct small small = small_machine();
	uint32_t ranges = small_lane(&small, HWY_LANE_RANGE);
	small_launch_us(&small, 0, 5, 10, 20);
	small_span_us(&small, ranges, HWY_RANGE, 0, 2000, 0, "step_1");
	small_span_us(&small, ranges, HWY_RANGE, 30, 900, 0,
		      "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
	small_launch_us(&small, 1000, 1005, 1010, 1020);
	small_copy_in_us(&small, 1006, 1008, 1020, 1030);
	struct found found = find(&small, 10, 1030);
	expect(&found, 0, GAP_INPUT, NULL,
	       "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
	drop(&found);
}

static void what_the_cpu_did_is_named_by_the_innermost_that_took_half_of_it(void **state)
{
	struct small small = small_machine();
	uint32_t ranges = small_lane(&small, HWY_LANE_RANGE);
	uint32_t ops = small_lane(&small, HWY_LANE_OP);
	small_launch_us(&small, 0, 5, 10, 20);
	small_span_us(&small, ranges, HWY_RANGE, 0, 3000, 0, "step_1");
	small_span_us(&small, ranges, HWY_RANGE, 6, 900, 0, "augment");
	small_launch_us(&small, 1000, 1005, 1010, 1020);
	small_span_us(&small, ops, HWY_OP, 1030, 1900, 0, "aten::sort");
	small_span_us(&small, ops, HWY_OP, 1040, 1800, 0, "aten::sort_out");
	small_span_us(&small, ops, HWY_OP, 1040, 1100, 0, "aten::empty");
	small_launch_us(&small, 2000, 2005, 2010, 2020);
	small_call_us(&small, 2010, 2800, "cudaGraphInstantiate");
	small_launch_us(&small, 2900, 2905, 2910, 2920);
	struct found found = find(&small, 10, 2920);
	expect(&found, 0, GAP_CPU, NULL, "augment");
	expect(&found, 1, GAP_CPU, NULL, "aten::sort_out");
	expect(&found, 2, GAP_CPU, NULL, "cudaGraphInstantiate");
	drop(&found);
}

static void a_thread_that_waits_for_another_did_what_that_one_did(void **state)
{
	struct small small = small_machine();
	uint32_t ops = small_lane(&small, HWY_LANE_OP);
	small_launch_us(&small, 0, 5, 10, 20);
	small_span_us(&small, ops, HWY_OP, 30, 900, 0, "aten::sort");
	small_other_thread(&small);
	small.api = small_lane(&small, HWY_LANE_API);
	small.os = small_lane(&small, HWY_LANE_OS);
	small_span_us(&small, small.os, HWY_OS, 0, 990, 0, "pthread_cond_wait");
	small_launch_us(&small, 1000, 1005, 1010, 1020);
	struct found found = find(&small, 10, 1020);
	expect(&found, 0, GAP_CPU, NULL, "aten::sort");
	drop(&found);
}

static void the_thread_that_woke_it_tells_what_was_waited_for(void **state)
{
	struct small small = small_machine();
	struct hwy_row row = {0};
	row.v[HWY_START] = US(30);
	row.v[HWY_DUR] = US(960);
	row.v[HWY_NAME] = hwy_text_id(small.builder, "poll");
	small_launch_us(&small, 0, 5, 10, 20);
	struct hwy_ref wait = hwy_add_span(small.builder, small.os, HWY_OS, &row);
	small_launch_us(&small, 1000, 1005, 1010, 1020);
	small_other_thread(&small);
	row.v[HWY_START] = US(985);
	row.v[HWY_DUR] = US(5);
	row.v[HWY_NAME] = hwy_text_id(small.builder, "write");
	hwy_add_edge(small.builder, HWY_EDGE_WAKE,
		     hwy_add_span(small.builder, small_lane(&small, HWY_LANE_OS), HWY_OS, &row),
		     wait, 0);
	small_span_us(&small, small_lane(&small, HWY_LANE_OP), HWY_OP, 20, 980, 0, "tokenize");
	struct found found = find(&small, 10, 1020);
	expect(&found, 0, GAP_CPU, NULL, "tokenize");
	drop(&found);
}

/* The lane of what the interpreter does by itself on the current thread. */
static uint32_t interpreter_lane(struct small *small)
{
	struct hwy_lane lane = hwy_lane_of(HWY_LANE_RANGE, small->process, small->thread);
	lane.name = hwy_text_id(small->builder, HWY_DOMAIN_PYTHON);
	return hwy_add_lane(small->builder, lane);
}

static void the_interpreters_pauses_are_causes_of_their_own(void **state)
{
	struct small small = small_machine();
	uint32_t gc = interpreter_lane(&small);
	small_launch_us(&small, 0, 5, 10, 20);
	small_span_us(&small, gc, HWY_RANGE, 30, 900, 0, "gc generation 2");
	small_copy_in_us(&small, 1000, 1005, 1010,
			 1020); /* what the CPU did is known: it is no input */
	small_span_us(&small, gc, HWY_RANGE, 1030, 1100, 0, "gc generation 0"); /* not most of it */
	small_launch_us(&small, 2000, 2005, 2010, 2020);
	small_span_us(&small, small.os, HWY_OS, 2030, 2900, 0, HWY_GIL_NAME);
	small_launch_us(&small, 3000, 3005, 3010, 3020);
	struct found found = find(&small, 10, 3020);
	expect(&found, 0, GAP_GC, NULL, "gc generation 2");
	expect(&found, 1, GAP_CPU, NULL, NULL);
	expect(&found, 2, GAP_GIL, NULL, HWY_GIL_NAME);
	drop(&found);
}

/* A call of MPI on the current thread, with the message that it receives. */
static void receive_us(struct small *small, double start, double end)
{
	struct hwy_lane lane = hwy_lane_of(HWY_LANE_CALL, small->process, small->thread);
	lane.name = hwy_text_id(small->builder, "MPI");
	struct hwy_row row = {0};
	row.v[HWY_START] = US(start);
	row.v[HWY_DUR] = US(end) - US(start);
	row.v[HWY_NAME] = hwy_text_id(small->builder, "MPI_Recv");
	struct hwy_message m = hwy_message_none();
	hwy_message_at(&m.span, hwy_add_span(small->builder, hwy_add_lane(small->builder, lane),
					     HWY_CALL, &row));
	m.process = small->process;
	m.kind = HWY_MESSAGE_RECEIVE;
	hwy_add_message(small->builder, &m);
}

static void a_thread_that_exchanges_data_with_other_ranks_does_not_compute(void **state)
{
	struct small small = small_machine();
	small_launch_us(&small, 0, 5, 10, 20);
	receive_us(&small, 30, 900);
	small_copy_in_us(&small, 1000, 1005, 1010, 1020); /* what came is no input */
	receive_us(&small, 1030, 1300);                   /* not most of the time */
	small_launch_us(&small, 2000, 2005, 2010, 2020);
	small_span_us(&small, small.os, HWY_OS, 2040, 2890, 0, "poll"); /* inside of the call */
	receive_us(&small, 2030, 2900);
	small_launch_us(&small, 3000, 3005, 3010, 3020);
	struct found found = find(&small, 10, 3020);
	expect(&found, 0, GAP_COMM, NULL, "MPI_Recv");
	expect(&found, 1, GAP_CPU, NULL, NULL);
	expect(&found, 2, GAP_COMM, NULL, "MPI_Recv");
	drop(&found);
}

static void a_lock_that_the_collector_has_is_a_collection(void **state)
{
	struct small small = small_machine();
	struct hwy_row row = {0};
	row.v[HWY_START] = US(30);
	row.v[HWY_DUR] = US(960);
	row.v[HWY_NAME] = hwy_text_id(small.builder, HWY_GIL_NAME);
	small_launch_us(&small, 0, 5, 10, 20);
	struct hwy_ref wait = hwy_add_span(small.builder, small.os, HWY_OS, &row);
	small_launch_us(&small, 1000, 1005, 1010, 1020);
	small_other_thread(&small);
	row.v[HWY_START] = US(985);
	row.v[HWY_DUR] = US(5);
	row.v[HWY_NAME] = hwy_text_id(small.builder, "pthread_cond_signal");
	hwy_add_edge(small.builder, HWY_EDGE_WAKE,
		     hwy_add_span(small.builder, small_lane(&small, HWY_LANE_OS), HWY_OS, &row),
		     wait, 0);
	small_span_us(&small, interpreter_lane(&small), HWY_RANGE, 20, 980, 0, "gc generation 2");
	struct found found = find(&small, 10, 1020);
	expect(&found, 0, GAP_GC, NULL, "gc generation 2");
	drop(&found);
}

static void a_state_of_waiting_is_as_good_as_a_call(void **state)
{
	struct small small = small_machine();
	uint32_t states = small_lane(&small, HWY_LANE_STATE);
	small_launch_us(&small, 0, 5, 10, 20);
	small_span_us(&small, states, HWY_STATE, 0, 30, 0, "running");
	small_span_us(&small, states, HWY_STATE, 30, 900, 0, "waiting");
	small_span_us(&small, states, HWY_STATE, 900, 1100, 0, "running");
	small_launch_us(&small, 1000, 1005, 1010, 1020);
	small_span_us(&small, states, HWY_STATE, 1100, 1900, 0, "runnable");
	small_launch_us(&small, 2000, 2005, 2010, 2020);
	struct found found = find(&small, 10, 2020);
	expect(&found, 0, GAP_OS, NULL, "waiting");
	expect(&found, 1, GAP_CPU, NULL, NULL);
	drop(&found);
}

static void new_data_tells_of_input_whatever_else_was_recorded(void **state)
{
	for (int watched = 0; watched < 2; watched++) {
		struct small small = small_machine();
		small_launch_us(&small, 0, 5, 10, 20);
		small_copy_in_us(&small, 1000, 1005, 1010, 1020);
		if (watched)
			small_span_us(&small, small.os, HWY_OS, 0, 3, 0, "open");
		struct found found = find(&small, 10, 1020);
		expect(&found, 0, GAP_INPUT, NULL, NULL);
		drop(&found);
	}
}

static void names_of_loaders_are_told_from_others(void **state)
{
	static const char *const yes[] = {
		"enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
		"torch/utils/data/dataloader.py(701): __next__",
		"data_loader",
		"load_batch",
		"next_batch",
		"Loading data",
		"fetch batch 12",
		"load",
		"Data",
		"getNextBatch",
	};
	static const char *const no[] = {"load_state_dict", "payload",     "aten::item",
					 "forward",         "loss",        "step_4",
					 "data_parallel",   "batch_norm",  "cudaModuleLoad",
					 "loaded",          "aten::addmm", ""};
	for (unsigned i = 0; i < sizeof yes / sizeof *yes; i++)
		if (!gaps_cpu_is_loader(yes[i]))
			fail_msg("%s is a loader", yes[i]);
	for (unsigned i = 0; i < sizeof no / sizeof *no; i++)
		if (gaps_cpu_is_loader(no[i]))
			fail_msg("%s is no loader", no[i]);
}

static void work_without_a_launch_has_no_known_cause(void **state)
{
	struct small small = small_machine();
	small_launch_us(&small, 0, 5, 10, 20);
	small_span_us(&small, small.stream, HWY_KERNEL, 50, 60, 0, "k");
	struct found found = find(&small, 10, 60);
	expect(&found, 0, GAP_UNKNOWN, NULL, NULL);
	drop(&found);
}

static void idle_time_outside_any_step_is_drain(void **state)
{
	struct small small = small_machine();
	small_launch_us(&small, 0, 5, 10, 20);
	small_launch_us(&small, 40, 45, 50, 60);
	small_launch_us(&small, 90, 95, 100, 110);
	struct phase_step steps[] = {{.device = {US(10), US(60)}}, {.device = {US(100), US(120)}}};
	struct hwy_phase phase = {
		.steps = steps, .n_steps = 2, .n_steady = 2, .window = {US(10), US(120)}};
	struct found found = find_in(small_finish(&small), &phase);
	expect(&found, 0, GAP_LAUNCH, "cudaLaunchKernel", NULL);
	assert_int_equal(found.gaps.gaps[0].step, 0);
	expect(&found, 1, GAP_DRAIN, NULL, NULL);
	expect(&found, 2, GAP_DRAIN, NULL, NULL);
	assert_int_equal(found.gaps.gaps[2].op, FLOW_NONE);
	assert_int_equal(found.gaps.gaps[2].step, 1);
	drop(&found);
}

/* ---- states -------------------------------------------------------------------------------------- */

static void states_hide_each_other_in_their_order(void **state)
{
	struct small small = small_machine();
	uint32_t other = small_stream(&small, 0, 8);
	small_span_us(&small, small.stream, HWY_KERNEL, 0, 100, 0, "k");
	small_span_us(&small, other, HWY_KERNEL, 80, 120, 0, "ncclDevKernel_AllReduce");
	small_span_us(&small, other, HWY_COPY, 90, 140, 0, "copy");
	small_span_us(&small, other, HWY_FILL, 130, 150, 0, "fill");
	struct found found = find(&small, 20, 200);
	const struct gap_states *states = &found.gaps.devices[0];
	assert_int_equal(states->window, US(180));
	assert_int_equal(states->compute, US(80));
	assert_int_equal(states->exposed_comm, US(20));
	assert_int_equal(states->exposed_copy, US(20));
	assert_int_equal(states->fill, US(10));
	assert_int_equal(states->idle, US(50));
	assert_int_equal(states->comm_overlapped, US(20));
	assert_int_equal(states->copy_overlapped, US(10));
	drop(&found);
}

static void every_device_has_its_own_gaps(void **state)
{
	struct small small = small_machine();
	uint32_t second = small_device(&small, 1);
	small_launch_us(&small, 0, 5, 10, 60);
	small.stream = small_stream(&small, second, 7);
	small_launch_us(&small, 40, 45, 50, 90);
	small_launch_us(&small, 90, 95, 100, 120);
	struct found found = find(&small, 10, 120);
	assert_int_equal(found.flow.n_devices, 2);
	assert_int_equal(found.gaps.devices[0].idle, US(60));
	assert_int_equal(found.gaps.devices[1].idle, US(50));
	drop(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_that_was_there_before_the_gap_waited_for_other_work),
		cmocka_unit_test(a_copy_that_blocks_was_there_when_its_call_had_begun),
		cmocka_unit_test(gaps_after_a_wait_are_charged_to_it_until_headway_is_back),
		cmocka_unit_test(a_wait_is_blamed_for_no_more_idle_time_than_it_cost),
		cmocka_unit_test(a_wait_in_a_loop_that_cannot_keep_up_is_innocent),
		cmocka_unit_test(a_small_wait_after_a_large_one_does_not_take_its_blame),
		cmocka_unit_test(a_wait_just_before_the_window_is_known),
		cmocka_unit_test(a_wait_of_another_process_is_not_blamed),
		cmocka_unit_test(allocation_that_takes_most_of_the_time_is_the_cause),
		cmocka_unit_test(a_module_loaded_inside_the_launch_is_the_cause),
		cmocka_unit_test(launches_of_any_thread_count_as_launching),
		cmocka_unit_test(waiting_in_the_os_before_a_copy_to_the_device_is_input),
		cmocka_unit_test(a_loaders_range_before_a_copy_to_the_device_is_input),
		cmocka_unit_test(what_the_cpu_did_is_named_by_the_innermost_that_took_half_of_it),
		cmocka_unit_test(a_thread_that_waits_for_another_did_what_that_one_did),
		cmocka_unit_test(the_thread_that_woke_it_tells_what_was_waited_for),
		cmocka_unit_test(the_interpreters_pauses_are_causes_of_their_own),
		cmocka_unit_test(a_thread_that_exchanges_data_with_other_ranks_does_not_compute),
		cmocka_unit_test(a_lock_that_the_collector_has_is_a_collection),
		cmocka_unit_test(a_state_of_waiting_is_as_good_as_a_call),
		cmocka_unit_test(new_data_tells_of_input_whatever_else_was_recorded),
		cmocka_unit_test(names_of_loaders_are_told_from_others),
		cmocka_unit_test(work_without_a_launch_has_no_known_cause),
		cmocka_unit_test(idle_time_outside_any_step_is_drain),
		cmocka_unit_test(states_hide_each_other_in_their_order),
		cmocka_unit_test(every_device_has_its_own_gaps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
