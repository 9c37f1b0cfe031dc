/* gaps_test.c - each rule for the cause of a gap, and the states of a device, on traces of a few spans. */
#include "gaps_program.h"

#include "analyze/gaps/gaps_cause.h"

/* ---- the rules ----------------------------------------------------------------------------------- */

static void work_that_was_there_before_the_gap_waited_for_other_work(void **state)
{
	struct made made = make();
	launch(&made, 0, 5, 10, 100);
	launch(&made, 6, 11, 104, 200);
	struct found found = find(&made, 10, 200);
	assert_int_equal(found.gaps.n, 1);
	expect(&found, 0, GAP_DEPENDENCY, NULL, NULL);
	assert_int_equal(found.gaps.devices[0].idle, 4 * US);
	drop(&found);
}

static void a_copy_that_blocks_was_there_when_its_call_had_begun(void **state)
{
	struct made made = make();
	launch(&made, 0, 5, 10, 100);
	made.corr++;
	span(&made, made.api, HWY_API, 20, 130, made.corr, "cudaMemcpy");
	span(&made, made.stream, HWY_COPY, 102, 125, made.corr, "copy");
	struct found found = find(&made, 10, 125);
	expect(&found, 0, GAP_DEPENDENCY, NULL, NULL);
	drop(&found);
}

/* A lead of 1 ms is waited for; what follows is late although it comes without a pause. */
static void lose_headway(struct made *made, double at)
{
	for (int i = 0; i < 10; i++)
		launch(made, at + i * 5, at + i * 5 + 4, at + 10 + i * 100, at + 110 + i * 100);
	call(made, at + 50, at + 1015, "cudaStreamSynchronize");
	launch(made, at + 1020, at + 1025, at + 1030, at + 1035);
	launch(made, at + 1030, at + 1040, at + 1045, at + 1050);
}

static void gaps_after_a_wait_are_charged_to_it_until_headway_is_back(void **state)
{
	struct made made = make();
	lose_headway(&made, 0);
	/* The first that has stood in the queue for as long as the wait took has it back. */
	launch(&made, 1060, 1065, 1070, 3000);
	launch(&made, 1066, 1070, 3000, 3100);
	launch(&made, 3200, 3205, 3210, 3300);
	struct found found = find(&made, 10, 3300);
	assert_int_equal(found.gaps.n, 4);
	for (uint32_t i = 0; i < 3; i++)
		expect(&found, i, GAP_BLOCKED, "cudaStreamSynchronize", NULL);
	expect(&found, 3, GAP_CPU, NULL, NULL);
	drop(&found);
}

static void a_wait_is_blamed_for_no_more_idle_time_than_it_cost(void **state)
{
	struct made made = make();
	lose_headway(&made, 0);
	launch(&made, 1200, 1205, 3210, 3215); /* 2 ms later: late all the same */
	launch(&made, 3220, 3225, 3230, 3300);
	struct found found = find(&made, 10, 3300);
	expect(&found, 1, GAP_BLOCKED, "cudaStreamSynchronize", NULL);
	assert_int_not_equal(found.gaps.gaps[2].cause, GAP_BLOCKED);
	assert_int_not_equal(found.gaps.gaps[3].cause, GAP_BLOCKED);
	drop(&found);
}

static void a_wait_in_a_loop_that_cannot_keep_up_is_innocent(void **state)
{
	struct made made = make();
	for (int i = 0; i < 20; i++) {
		launch(&made, i * 50, i * 50 + 5, i * 50 + 8, i * 50 + 12);
		if (i % 5 == 4)
			call(&made, i * 50 + 6, i * 50 + 15, "cudaStreamSynchronize");
	}
	struct found found = find(&made, 8, 962);
	assert_int_equal(found.gaps.n, 19);
	assert_int_equal(found.gaps.devices[0].causes[GAP_LAUNCH], found.gaps.devices[0].idle);
	drop(&found);
}

static void a_small_wait_after_a_large_one_does_not_take_its_blame(void **state)
{
	struct made made = make();
	lose_headway(&made, 0);
	call(&made, 1041, 1055, "cudaDeviceSynchronize");
	launch(&made, 1100, 1105, 1110, 1200);
	struct found found = find(&made, 10, 1200);
	expect(&found, found.gaps.n - 1, GAP_BLOCKED, "cudaStreamSynchronize", NULL);
	drop(&found);
}

static void a_wait_just_before_the_window_is_known(void **state)
{
	struct made made = make();
	lose_headway(&made, 0);
	launch(&made, 1060, 1065, 1070, 9000);
	struct found found = find(&made, 1030, 9000);
	assert_int_equal(found.gaps.n, 2);
	expect(&found, 0, GAP_BLOCKED, "cudaStreamSynchronize", NULL);
	drop(&found);
}

static void a_wait_of_another_process_is_not_blamed(void **state)
{
	struct made made = make();
	lose_headway(&made, 0);
	made.small.process = hwy_new_processes(made.small.builder);
	made.small.thread = hwy_new_threads(made.small.builder);
	hwy_builder_trace(made.small.builder)->threads[made.small.thread].process =
		made.small.process;
	made.stream = small_stream(&made.small, 0, 8);
	made.api = small_lane(&made.small, HWY_LANE_API);
	launch(&made, 1100, 1105, 1110, 1200);
	struct found found = find(&made, 10, 1200);
	expect(&found, found.gaps.n - 1, GAP_CPU, NULL, NULL);
	drop(&found);
}

static void allocation_that_takes_most_of_the_time_is_the_cause(void **state)
{
	struct made made = make();
	launch(&made, 0, 5, 10, 20);
	call(&made, 6, 80, "cudaMalloc");
	launch(&made, 90, 95, 100, 110);
	call(&made, 96, 100, "cudaMalloc");
	launch(&made, 190, 195, 200, 210);
	struct found found = find(&made, 10, 210);
	expect(&found, 0, GAP_ALLOC, "cudaMalloc", NULL);
	expect(&found, 1, GAP_LAUNCH, "cudaLaunchKernel", NULL);
	drop(&found);
}

static void a_module_loaded_inside_the_launch_is_the_cause(void **state)
{
	struct made made = make();
	launch(&made, 0, 5, 10, 20);
	launch(&made, 30, 900, 905, 1000);
	call(&made, 40, 880, "cuModuleLoadData");
	struct found found = find(&made, 10, 1000);
	expect(&found, 0, GAP_MODULE, "cuModuleLoadData", NULL);
	drop(&found);
}

static void launches_of_any_thread_count_as_launching(void **state)
{
	struct made made = make();
	launch(&made, 0, 5, 10, 20);
	launch(&made, 600, 605, 610, 620);
	made.small.thread = hwy_new_threads(made.small.builder);
	hwy_builder_trace(made.small.builder)->threads[made.small.thread].process =
		made.small.process;
	made.api = small_lane(&made.small, HWY_LANE_API);
	launch(&made, 700, 705, 710, 720);
	launch(&made, 960, 965, 970, 980);
	struct found found = find(&made, 10, 980);
	expect(&found, 0, GAP_CPU, NULL, NULL);
	expect(&found, 1, GAP_LAUNCH, "cudaLaunchKernel", NULL);
	expect(&found, 2, GAP_CPU, NULL, NULL); /* 255 us after the other */
	drop(&found);
}

static void waiting_in_the_os_before_a_copy_to_the_device_is_input(void **state)
{
	struct made made = make();
	launch(&made, 0, 5, 10, 20);
	span(&made, made.os, HWY_OS, 30, 600, 0, "nanosleep");
	span(&made, made.os, HWY_OS, 610, 900, 0, "read");
	copy_in(&made, 1000, 1005, 1010, 1020);
	launch(&made, 1006, 1008, 1020, 1030);
	span(&made, made.os, HWY_OS, 1040, 1900, 0, "write");
	launch(&made, 2000, 2005, 2010, 2020);
	launch(&made, 4000, 4005, 4010, 4020);
	struct found found = find(&made, 10, 4020);
	expect(&found, 0, GAP_INPUT, NULL, "nanosleep");
	expect(&found, 1, GAP_OS, NULL, "write");
	expect(&found, 2, GAP_CPU, NULL, NULL);
	drop(&found);
}

static void a_loaders_range_before_a_copy_to_the_device_is_input(void **state)
{
	struct made made = make();
	uint32_t ranges = small_lane(&made.small, HWY_LANE_RANGE);
	launch(&made, 0, 5, 10, 20);
	span(&made, ranges, HWY_RANGE, 0, 2000, 0, "step_1");
	span(&made, ranges, HWY_RANGE, 30, 900, 0,
	     "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
	launch(&made, 1000, 1005, 1010, 1020);
	copy_in(&made, 1006, 1008, 1020, 1030);
	struct found found = find(&made, 10, 1030);
	expect(&found, 0, GAP_INPUT, NULL,
	       "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
	drop(&found);
}

static void what_the_cpu_did_is_named_by_the_innermost_that_took_half_of_it(void **state)
{
	struct made made = make();
	uint32_t ranges = small_lane(&made.small, HWY_LANE_RANGE);
	uint32_t ops = small_lane(&made.small, HWY_LANE_OP);
	launch(&made, 0, 5, 10, 20);
	span(&made, ranges, HWY_RANGE, 0, 3000, 0, "step_1");
	span(&made, ranges, HWY_RANGE, 6, 900, 0, "augment");
	launch(&made, 1000, 1005, 1010, 1020);
	span(&made, ops, HWY_OP, 1030, 1900, 0, "aten::sort");
	span(&made, ops, HWY_OP, 1040, 1800, 0, "aten::sort_out");
	span(&made, ops, HWY_OP, 1040, 1100, 0, "aten::empty");
	launch(&made, 2000, 2005, 2010, 2020);
	call(&made, 2010, 2800, "cudaGraphInstantiate");
	launch(&made, 2900, 2905, 2910, 2920);
	struct found found = find(&made, 10, 2920);
	expect(&found, 0, GAP_CPU, NULL, "augment");
	expect(&found, 1, GAP_CPU, NULL, "aten::sort_out");
	expect(&found, 2, GAP_CPU, NULL, "cudaGraphInstantiate");
	drop(&found);
}

static void a_thread_that_waits_for_another_did_what_that_one_did(void **state)
{
	struct made made = make();
	uint32_t ops = small_lane(&made.small, HWY_LANE_OP);
	launch(&made, 0, 5, 10, 20);
	span(&made, ops, HWY_OP, 30, 900, 0, "aten::sort");
	made.small.thread = hwy_new_threads(made.small.builder);
	hwy_builder_trace(made.small.builder)->threads[made.small.thread].process =
		made.small.process;
	made.api = small_lane(&made.small, HWY_LANE_API);
	made.os = small_lane(&made.small, HWY_LANE_OS);
	span(&made, made.os, HWY_OS, 0, 990, 0, "pthread_cond_wait");
	launch(&made, 1000, 1005, 1010, 1020);
	struct found found = find(&made, 10, 1020);
	expect(&found, 0, GAP_CPU, NULL, "aten::sort");
	drop(&found);
}

static void the_thread_that_woke_it_tells_what_was_waited_for(void **state)
{
	struct made made = make();
	struct hwy_row row = {0};
	row.v[HWY_START] = 30 * US;
	row.v[HWY_DUR] = 960 * US;
	row.v[HWY_NAME] = hwy_text_id(made.small.builder, "poll");
	launch(&made, 0, 5, 10, 20);
	struct hwy_ref wait = hwy_add_span(made.small.builder, made.os, HWY_OS, &row);
	launch(&made, 1000, 1005, 1010, 1020);
	made.small.thread = hwy_new_threads(made.small.builder);
	hwy_builder_trace(made.small.builder)->threads[made.small.thread].process =
		made.small.process;
	row.v[HWY_START] = 985 * US;
	row.v[HWY_DUR] = 5 * US;
	row.v[HWY_NAME] = hwy_text_id(made.small.builder, "write");
	hwy_add_edge(made.small.builder, HWY_EDGE_WAKE,
		     hwy_add_span(made.small.builder, small_lane(&made.small, HWY_LANE_OS), HWY_OS,
				  &row),
		     wait, 0);
	span(&made, small_lane(&made.small, HWY_LANE_OP), HWY_OP, 20, 980, 0, "tokenize");
	struct found found = find(&made, 10, 1020);
	expect(&found, 0, GAP_CPU, NULL, "tokenize");
	drop(&found);
}

static void a_state_of_waiting_is_as_good_as_a_call(void **state)
{
	struct made made = make();
	uint32_t states = small_lane(&made.small, HWY_LANE_STATE);
	launch(&made, 0, 5, 10, 20);
	span(&made, states, HWY_STATE, 0, 30, 0, "running");
	span(&made, states, HWY_STATE, 30, 900, 0, "waiting");
	span(&made, states, HWY_STATE, 900, 1100, 0, "running");
	launch(&made, 1000, 1005, 1010, 1020);
	span(&made, states, HWY_STATE, 1100, 1900, 0, "runnable");
	launch(&made, 2000, 2005, 2010, 2020);
	struct found found = find(&made, 10, 2020);
	expect(&found, 0, GAP_OS, NULL, "waiting");
	expect(&found, 1, GAP_CPU, NULL, NULL);
	drop(&found);
}

static void new_data_tells_of_input_where_nothing_else_was_recorded(void **state)
{
	for (int watched = 0; watched < 2; watched++) {
		struct made made = make();
		launch(&made, 0, 5, 10, 20);
		copy_in(&made, 1000, 1005, 1010, 1020);
		if (watched)
			span(&made, made.os, HWY_OS, 0, 3, 0, "open");
		struct found found = find(&made, 10, 1020);
		expect(&found, 0, watched ? GAP_CPU : GAP_INPUT, NULL, NULL);
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
	struct made made = make();
	launch(&made, 0, 5, 10, 20);
	span(&made, made.stream, HWY_KERNEL, 50, 60, 0, "k");
	struct found found = find(&made, 10, 60);
	expect(&found, 0, GAP_UNKNOWN, NULL, NULL);
	drop(&found);
}

static void idle_time_outside_any_step_is_drain(void **state)
{
	struct made made = make();
	launch(&made, 0, 5, 10, 20);
	launch(&made, 40, 45, 50, 60);
	launch(&made, 90, 95, 100, 110);
	struct phase_step steps[] = {{.device = {10 * US, 60 * US}},
				     {.device = {100 * US, 120 * US}}};
	struct hwy_phase phase = {
		.steps = steps, .n_steps = 2, .n_steady = 2, .window = {10 * US, 120 * US}};
	struct found found = find_in(small_finish(&made.small), &phase);
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
	struct made made = make();
	uint32_t other = small_stream(&made.small, 0, 8);
	span(&made, made.stream, HWY_KERNEL, 0, 100, 0, "k");
	span(&made, other, HWY_KERNEL, 80, 120, 0, "ncclDevKernel_AllReduce");
	span(&made, other, HWY_COPY, 90, 140, 0, "copy");
	span(&made, other, HWY_FILL, 130, 150, 0, "fill");
	struct found found = find(&made, 20, 200);
	const struct gap_states *states = &found.gaps.devices[0];
	assert_int_equal(states->window, 180 * US);
	assert_int_equal(states->compute, 80 * US);
	assert_int_equal(states->exposed_comm, 20 * US);
	assert_int_equal(states->exposed_copy, 20 * US);
	assert_int_equal(states->fill, 10 * US);
	assert_int_equal(states->idle, 50 * US);
	assert_int_equal(states->comm_overlapped, 20 * US);
	assert_int_equal(states->copy_overlapped, 10 * US);
	drop(&found);
}

static void every_device_has_its_own_gaps(void **state)
{
	struct made made = make();
	uint32_t second = small_device(&made.small, 1);
	launch(&made, 0, 5, 10, 60);
	made.stream = small_stream(&made.small, second, 7);
	launch(&made, 40, 45, 50, 90);
	launch(&made, 90, 95, 100, 120);
	struct found found = find(&made, 10, 120);
	assert_int_equal(found.flow.n_devices, 2);
	assert_int_equal(found.gaps.devices[0].idle, 60 * US);
	assert_int_equal(found.gaps.devices[1].idle, 50 * US);
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
		cmocka_unit_test(a_state_of_waiting_is_as_good_as_a_call),
		cmocka_unit_test(new_data_tells_of_input_where_nothing_else_was_recorded),
		cmocka_unit_test(names_of_loaders_are_told_from_others),
		cmocka_unit_test(work_without_a_launch_has_no_known_cause),
		cmocka_unit_test(idle_time_outside_any_step_is_drain),
		cmocka_unit_test(states_hide_each_other_in_their_order),
		cmocka_unit_test(every_device_has_its_own_gaps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
