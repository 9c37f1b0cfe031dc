/* gaps_test.c - each rule for the cause of a gap on a trace of a few spans; sums on random programs and on all
 * recordings at hand; and the shares that a prototype of the rules found on the recordings. Times are in us
 * until the trace is made.
 */
#include "make_trace.h"

#include "analyze/calls.h"
#include "analyze/gaps.h"
#include "analyze/gaps_cause.h"
#include "recordings.h"
#include "small_trace.h"

#define US 1000

static char *folder;

struct made {
	struct small small;
	uint32_t api, stream, os;
	int64_t corr;
};

static struct made make(void)
{
	struct made made = {.small = small_new()};
	uint32_t device = small_device(&made.small, 0);
	made.stream = small_stream(&made.small, device, 7);
	made.api = small_lane(&made.small, HWY_LANE_API);
	made.os = small_lane(&made.small, HWY_LANE_OS);
	return made;
}

static void span(struct made *made, uint32_t lane, enum hwy_kind kind, double from, double to,
		 int64_t corr, const char *name)
{
	small_span(&made->small, lane, kind, (int64_t)(from * US), (int64_t)(to * US), corr, name);
}

/* A launch and its kernel. */
static void launch(struct made *made, double from, double to, double start, double end)
{
	made->corr++;
	span(made, made->api, HWY_API, from, to, made->corr, "cudaLaunchKernel");
	span(made, made->stream, HWY_KERNEL, start, end, made->corr, "k");
}

static void call(struct made *made, double from, double to, const char *name)
{
	span(made, made->api, HWY_API, from, to, 0, name);
}

/* A copy to the device out of pinned memory. */
static void copy_in(struct made *made, double from, double to, double start, double end)
{
	struct hwy_row row = {0};
	made->corr++;
	span(made, made->api, HWY_API, from, to, made->corr, "cudaMemcpyAsync");
	row.v[HWY_START] = (int64_t)(start * US);
	row.v[HWY_DUR] = (int64_t)((end - start) * US);
	row.v[HWY_CORR] = made->corr;
	row.v[HWY_DIRECTION] = HWY_H2D;
	row.v[HWY_SRC_MEMORY] = HWY_MEM_PINNED;
	row.v[HWY_DST_MEMORY] = HWY_MEM_DEVICE;
	row.v[HWY_NAME] = hwy_text_id(made->small.builder, "copy");
	hwy_add_span(made->small.builder, made->stream, HWY_COPY, &row);
}

struct found {
	struct hwy_trace *trace;
	struct hwy_flow flow;
	struct hwy_gaps gaps;
};

static void check(const struct hwy_flow *flow, const struct hwy_phase *phase,
		  const struct hwy_gaps *gaps);

static struct found find_in(struct hwy_trace *trace, const struct hwy_phase *phase)
{
	struct found found = {.trace = trace};
	struct hwy_err err;
	assert_true(flow_open(&found.flow, trace, &err));
	assert_true(gaps_find(&found.flow, phase, &found.gaps, &err));
	check(&found.flow, phase, &found.gaps);
	return found;
}

static struct found find(struct made *made, double from, double to)
{
	struct hwy_phase phase = {.window = {(int64_t)(from * US), (int64_t)(to * US)}};
	return find_in(small_finish(&made->small), &phase);
}

static void drop(struct found *found)
{
	gaps_free(&found->gaps);
	flow_close(&found->flow);
	hwy_trace_free(found->trace);
}

static const char *name_of(const struct found *found, uint32_t id)
{
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(found->trace, id, &row);
	return hwy_str(found->trace, hwy_get(strip, HWY_NAME, row));
}

static void expect(const struct found *found, uint32_t i, enum gap_cause cause, const char *culprit,
		   const char *named)
{
	assert_true(i < found->gaps.n);
	const struct hwy_gap *gap = &found->gaps.gaps[i];
	assert_string_equal(gap_cause_names[gap->cause], gap_cause_names[cause]);
	if (culprit)
		assert_string_equal(name_of(found, found->flow.calls[gap->culprit].span), culprit);
	else
		assert_int_equal(gap->culprit, FLOW_NONE);
	if (named)
		assert_string_equal(name_of(found, gap->span - 1), named);
	else
		assert_int_equal(gap->span, 0);
}

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

/* ---- sums ---------------------------------------------------------------------------------------- */

static void check_states(const struct gap_states *states)
{
	int64_t causes = 0;
	for (int c = 0; c < GAP_CAUSES; c++) {
		assert_true(states->causes[c] >= 0);
		causes += states->causes[c];
	}
	assert_int_equal(causes, states->idle);
	assert_int_equal(states->compute + states->exposed_comm + states->exposed_copy +
				 states->fill + states->idle,
			 states->window);
	assert_int_equal(states->busy + states->idle, states->window);
	assert_true(states->compute >= 0 && states->exposed_comm >= 0 &&
		    states->exposed_copy >= 0 && states->fill >= 0 && states->idle >= 0 &&
		    states->copy_overlapped >= 0 && states->comm_overlapped >= 0);
}

static void check(const struct hwy_flow *flow, const struct hwy_phase *phase,
		  const struct hwy_gaps *gaps)
{
	int64_t *sums = hwy_zalloc((flow->n_devices + 1) * sizeof *sums), reach = INT64_MIN;
	for (uint32_t i = 0; i < gaps->n; i++) {
		const struct hwy_gap *gap = &gaps->gaps[i];
		if (i == 0 || gap->device != gaps->gaps[i - 1].device)
			reach = phase->window.from;
		assert_true(gap->at.from >= reach && gap->at.to > gap->at.from);
		reach = gap->at.to;
		assert_true(reach <= phase->window.to);
		assert_true(gap->cause < GAP_CAUSES);
		if (gap->op != FLOW_NONE)
			assert_int_equal(flow->ops[gap->op].device, gap->device);
		assert_int_equal(gap->cause == GAP_BLOCKED || gap->cause == GAP_LAUNCH ||
					 gap->cause == GAP_ALLOC || gap->cause == GAP_MODULE,
				 gap->culprit != FLOW_NONE);
		sums[gap->device] += gap->at.to - gap->at.from;
	}
	for (uint32_t d = 0; d < flow->n_devices; d++) {
		check_states(&gaps->devices[d]);
		assert_int_equal(sums[d], gaps->devices[d].idle);
		/* None of the gaps has work in it. */
		for (uint32_t i = 0; gaps->n < 2000 && flow->n_ops < 2000 && i < gaps->n; i++)
			for (uint32_t o = 0; o < flow->n_ops; o++)
				assert_false(flow->ops[o].device == gaps->gaps[i].device &&
					     flow->ops[o].start < gaps->gaps[i].at.to &&
					     flow->ops[o].end > gaps->gaps[i].at.from &&
					     flow->ops[o].end > flow->ops[o].start);
	}
	free(sums);
}

static void check_waits(const struct hwy_flow *flow, const struct hwy_phase *phase)
{
	struct hwy_waits waits;
	struct hwy_err err;
	assert_true(waits_find(flow, phase, &waits, &err));
	for (uint32_t i = 0; i < waits.n; i++) {
		const struct hwy_wait *wait = &waits.waits[i];
		assert_true(wait->waited >= 0 && wait->waited <= wait->length);
		assert_true(flow->calls[wait->call].blocks);
	}
	waits_free(&waits);
}

static void check_windows(struct hwy_trace *trace, struct dice *dice)
{
	struct hwy_flow flow;
	struct hwy_err err;
	assert_true(flow_open(&flow, trace, &err));
	for (int i = 0; flow.n_ops && i < 4; i++) {
		struct hwy_phase phase = {0};
		const struct flow_op *a = &flow.ops[roll_below(dice, flow.n_ops)];
		const struct flow_op *b = &flow.ops[roll_below(dice, flow.n_ops)];
		phase.window.from = a->start + (i % 2 ? 3 : 0);
		phase.window.to = b->end;
		if (phase.window.to <= phase.window.from)
			continue;
		struct hwy_gaps gaps;
		assert_true(gaps_find(&flow, &phase, &gaps, &err));
		check(&flow, &phase, &gaps);
		check_waits(&flow, &phase);
		gaps_free(&gaps);
	}
	flow_close(&flow);
}

/* Threads that launch, copy, wait, allocate and sleep on streams of some devices. */
static struct hwy_trace *random_program(struct dice *dice)
{
	static const char *const calls[] = {"cudaStreamSynchronize", "cudaMalloc", "cudaFree",
					    "cudaEventRecord", "cuModuleLoadData"};
	struct made made = make();
	uint32_t streams[6], n_streams = 1 + (uint32_t)roll_below(dice, 6);
	for (uint32_t i = 0; i < n_streams; i++)
		streams[i] = small_stream(&made.small, i % 3 ? 0 : small_device(&made.small, 1 + i),
					  10 + i);
	int64_t busy[6] = {0}, now = 0;
	for (int i = 0; i < 200; i++) {
		uint32_t s = (uint32_t)roll_below(dice, n_streams);
		int64_t length = 1 + roll_below(dice, 20);
		now += roll_below(dice, roll(dice) % 20 ? 30 : 2000);
		if (roll(dice) % 4 == 0) {
			const char *name = calls[roll(dice) % 5];
			int64_t until = now + length;
			if (name == calls[0] && busy[s] > until)
				until = busy[s] + 3;
			call(&made, (double)now, (double)until, name);
			now = until;
			continue;
		}
		made.corr++;
		bool copies = roll(dice) % 3 == 0;
		span(&made, made.api, HWY_API, (double)now, (double)(now + length),
		     roll(dice) % 30 ? made.corr : 0,
		     copies ? "cudaMemcpyAsync" : "cudaLaunchKernel");
		int64_t start = now + 2 + roll_below(dice, 10);
		start = start > busy[s] ? start : busy[s] + roll_below(dice, 3);
		busy[s] = start + roll_below(dice, 200);
		static const enum hwy_kind kinds[] = {HWY_COPY, HWY_FILL, HWY_GRAPH};
		span(&made, streams[s], copies ? kinds[roll(dice) % 3] : HWY_KERNEL, (double)start,
		     (double)busy[s], made.corr, roll(dice) % 5 ? "k" : "ncclKernel");
		now += length;
	}
	return small_finish(&made.small);
}

static void causes_add_up_to_idle_and_states_to_the_window_in_random_programs(void **state)
{
	struct dice dice = {5};
	for (int i = 0; i < 300; i++) {
		struct hwy_trace *trace = random_program(&dice);
		check_windows(trace, &dice);
		hwy_trace_free(trace);
	}
}

static void nothing_that_a_trace_may_hold_breaks_the_sums(void **state)
{
	struct dice dice = {6};
	for (uint64_t seed = 1; seed < 60; seed++) {
		struct hwy_trace *trace = random_trace(seed, 30, 400);
		check_windows(trace, &dice);
		hwy_trace_free(trace);
	}
}

/* ---- recordings ---------------------------------------------------------------------------------- */

struct share {
	int cause; /* GAP_CAUSES: none */
	double least, most;
};
static const struct recording {
	const char *name;
	double idle_least, idle_most; /* percent of the second half of the ops */
	struct share shares[3];       /* percent of the idle time */
} recordings[] = {
	{"nsys/mlp_sync.sqlite.xz", 7, 10, {{GAP_BLOCKED, 82, 92}, {GAP_DEPENDENCY, 8, 18}}},
	{"nsys/mlp_async.sqlite.xz", 0.5, 2, {{GAP_DEPENDENCY, 99, 100}}},
	{"nsys/starve_0.sqlite.xz", 99, 100, {{GAP_INPUT, 95, 100}}},
	{"nsys/decode_eager.sqlite.xz", 90, 96, {{GAP_LAUNCH, 99, 100}}},
	{"nsys/graphs_launch.sqlite.xz", 82, 88, {{GAP_LAUNCH, 99, 100}}},
	{"nsys/itemloop_item.sqlite.xz", 86, 92, {{GAP_LAUNCH, 92, 100}, {GAP_BLOCKED, 0, 1}}},
	{"nsys/itemloop_async.sqlite.xz", 80, 90, {{GAP_LAUNCH, 98, 100}}},
	{"nsys/power_base.sqlite.xz", 90, 94, {{GAP_LAUNCH, 90, 96}, {GAP_OS, 4, 10}}},
	{"nsys/streams_pinned4.sqlite.xz", 0, 1, {{0}}},
	{"nsys/streams_metrics.sqlite.xz", 0, 1, {{0}}},
	{"nsys/streams_pageable1.sqlite.xz", 4, 10, {{GAP_BLOCKED, 90, 100}}},
	{"nsys/graphs_graph.sqlite.xz", 10, 25, {{GAP_BLOCKED, 95, 100}}},
	{"nsys/graphs_node.sqlite.xz", 40, 60, {{GAP_LAUNCH, 0, 1}}},
	{"nsys/decode_graph.sqlite.xz", 0, 100, {{0}}},
	{"nsys/mlp_backtrace.sqlite.xz", 0, 100, {{GAP_BLOCKED, 0, 1}}},
	{"nsys/mixed_nodes.sqlite.xz", 0, 100, {{0}}},
	{"nsys/two_processes.sqlite.xz", 0, 100, {{0}}},
	{"nsys/unified_memory.sqlite.xz", 0, 100, {{0}}},
	{"breakdown/two_gpus.json", 0, 100, {{0}}},
	{"public-nsys/h100_2gpu_1s.sqlite.xz", 0, 1, {{0}}},
	{"public-nsys/cuda_graph_3_24.sqlite.xz", 0, 100, {{0}}},
	{"public-nsys/power_iteration.sqlite.xz", 20, 50, {{GAP_BLOCKED, 90, 100}}},
	{"torch/mlp_sync.json.gz", 7, 10, {{GAP_BLOCKED, 82, 92}, {GAP_DEPENDENCY, 8, 18}}},
	{"torch/mlp_async.json.gz", 0.5, 2, {{GAP_DEPENDENCY, 99, 100}}},
	{"torch/starve_0.json.gz", 99, 100, {{GAP_INPUT, 93, 100}}},
	{"torch/decode_eager.json.gz", 90, 98, {{GAP_BLOCKED, 0, 1}}},
	{"torch/itemloop_item.json.gz", 86, 94, {{GAP_LAUNCH, 95, 100}, {GAP_BLOCKED, 0, 1}}},
	{"torch/decode_graph.json.gz", 0, 100, {{0}}},
	{"public-traces/kineto-tb_plugin/samples/resnet50_num_workers_0/"
	 "worker0.1623143089861.pt.trace.json.gz",
	 30,
	 40,
	 {{GAP_INPUT, 55, 80}}},
	{"public-traces/kineto-tb_plugin/samples/resnet50_num_workers_4/"
	 "worker0.1623212756351.pt.trace.json.gz",
	 20,
	 30,
	 {{GAP_INPUT, 0, 10}}},
	{"public-traces/TraceLens/b200/eager_trace.json.gz", 80, 90, {{GAP_LAUNCH, 80, 100}}},
	{"public-traces/TraceLens/inference/vllm_decode_full/graph_execution.json.gz", 0, 2, {{0}}},
	{"public-traces/TraceLens/mi300/resnet_act_checkpoint.json.gz", 0, 2, {{0}}},
	{"public-traces/HolisticTraceAnalysis/trace_filter/sampled_rank-0.json.gz", 0, 100, {{0}}},
	{"public-traces/HolisticTraceAnalysis/nccl_parser_config/nccl_data.json.gz", 0, 100, {{0}}},
};

static bool is_within(const struct recording *recording, const struct gap_states *states)
{
	double idle = 100.0 * (double)states->idle / (double)states->window;
	bool good = idle >= recording->idle_least && idle <= recording->idle_most;
	print_message("%s: idle %.1f %%", recording->name, idle);
	for (int c = 0; c < GAP_CAUSES && states->idle; c++)
		if (states->causes[c])
			print_message(", %s %.1f %%", gap_cause_names[c],
				      100.0 * (double)states->causes[c] / (double)states->idle);
	for (int i = 0; i < 3 && recording->shares[i].most > 0; i++) {
		const struct share *share = &recording->shares[i];
		double is = 100.0 * (double)states->causes[share->cause] / (double)states->idle;
		good &= is >= share->least && is <= share->most;
	}
	print_message("%s\n", good ? "" : "  <- not as expected");
	return good;
}

static void recordings_idle_for_the_reasons_that_are_known_of_them(void **state)
{
	unsigned seen = 0, bad = 0;
	struct dice dice = {7};
	for (unsigned i = 0; i < sizeof recordings / sizeof *recordings; i++) {
		struct hwy_trace *trace = recording_open(recordings[i].name, folder);
		struct hwy_flow flow;
		struct hwy_gaps gaps;
		struct hwy_err err;
		if (!trace)
			continue;
		seen++;
		assert_true(flow_open(&flow, trace, &err));
		struct hwy_phase phase = {.window = {flow.ops[flow.n_ops / 2].start, INT64_MIN}};
		for (uint32_t op = 0; op < flow.n_ops; op++)
			if (flow.ops[op].end > phase.window.to)
				phase.window.to = flow.ops[op].end;
		assert_true(gaps_find(&flow, &phase, &gaps, &err));
		check(&flow, &phase, &gaps);
		check_waits(&flow, &phase);
		struct gap_states all = {0};
		for (uint32_t d = 0; d < flow.n_devices; d++)
			gap_states_add(&all, &gaps.devices[d]);
		bad += !is_within(&recordings[i], &all);
		gaps_free(&gaps);
		flow_close(&flow);
		check_windows(trace, &dice);
		hwy_trace_free(trace);
	}
	assert_true(seen >= 7); /* those of the repository */
	assert_int_equal(bad, 0);
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
		cmocka_unit_test(causes_add_up_to_idle_and_states_to_the_window_in_random_programs),
		cmocka_unit_test(nothing_that_a_trace_may_hold_breaks_the_sums),
		cmocka_unit_test(recordings_idle_for_the_reasons_that_are_known_of_them),
	};
	folder = make_folder();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	drop_folder(folder);
	return failed;
}
