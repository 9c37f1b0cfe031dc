/* SPDX-License-Identifier: Apache-2.0 */
/* breakdown_test.c - device, stream and step measures of traces small enough to check by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "analyze/breakdown.h"
#include "make_trace.h"

#define LAUNCH "cudaLaunchKernel"

static struct hwy_breakdown measure(struct hwy_trace *trace, struct hwy_breakdown_options options)
{
	struct hwy_breakdown breakdown;
	struct hwy_err err;
	assert_true(breakdown_measure(trace, &options, &breakdown, &err));
	return breakdown;
}

static void done(struct hwy_trace *trace, struct hwy_breakdown *breakdown)
{
	breakdown_free(breakdown);
	hwy_trace_free(trace);
}

/* Exposed parts add up to busy, and nothing is longer than the window. */
static void check_sums(const struct hwy_measures *m)
{
	assert_int_equal(m->compute + m->exposed_comm + m->exposed_copy + m->exposed_fill, m->busy);
	assert_true(m->busy <= m->to - m->from);
}

static void a_trace_without_device_work_measures_nothing(void **state)
{
	struct small small = small_new();
	small_call(&small, 0, 10, 1, "cudaMalloc");
	struct hwy_trace *trace = small_finish(&small);
	struct hwy_breakdown breakdown = measure(trace, HWY_BREAKDOWN_DEFAULTS);
	assert_int_equal(breakdown.n_devices, 0);
	assert_int_equal(breakdown.n_streams, 0);
	assert_int_equal(breakdown.n_steps, 0);
	assert_int_equal(breakdown.total.from, 0);
	assert_int_equal(breakdown.total.to, 0);
	assert_int_equal(breakdown.total.busy, 0);
	done(trace, &breakdown);
}

/*  stream 1:  compute 100-200    nccl 250-350            copy 500-520
 *  stream 2:     compute 150-300                             fill 510-530  */
static struct hwy_trace *one_device(void)
{
	struct small small = small_new();
	uint32_t device = small_device(&small, 3);
	uint32_t first = small_stream(&small, device, 7), second = small_stream(&small, device, 8);
	small_span(&small, first, HWY_KERNEL, 100, 200, 0, "gemm");
	small_span(&small, first, HWY_KERNEL, 250, 350, 0, "ncclDevKernel_AllReduce");
	small_span(&small, first, HWY_COPY, 500, 520, 0, "copy");
	small_span(&small, second, HWY_KERNEL, 150, 300, 0, "gemm");
	small_span(&small, second, HWY_FILL, 510, 530, 0, "fill");
	return small_finish(&small);
}

static void classes_of_one_device_are_unions(void **state)
{
	struct hwy_trace *trace = one_device();
	struct hwy_breakdown breakdown = measure(trace, HWY_BREAKDOWN_DEFAULTS);
	const struct hwy_measures *m = &breakdown.total;
	assert_int_equal(m->from, 100);
	assert_int_equal(m->to, 530);
	assert_int_equal(m->n_kernel, 2);
	assert_int_equal(m->n_comm, 1);
	assert_int_equal(m->n_copy, 1);
	assert_int_equal(m->n_fill, 1);
	assert_int_equal(m->n_streams, 2);
	assert_int_equal(m->n_linked, 0);
	assert_int_equal(m->compute, 200);
	assert_int_equal(m->comm, 100);
	assert_int_equal(m->exposed_comm, 50);
	assert_int_equal(m->copy, 20);
	assert_int_equal(m->fill, 20);
	assert_int_equal(m->exposed_fill, 10);
	assert_int_equal(m->busy, 280);
	assert_int_equal(m->n_busy, 2);
	check_sums(m);
	assert_int_equal(breakdown.n_devices, 1);
	assert_memory_equal(&breakdown.devices[0].measures, m, sizeof *m);
	done(trace, &breakdown);
}

static void a_scope_cuts_spans_and_window(void **state)
{
	struct hwy_trace *trace = one_device();
	struct hwy_breakdown_options options = HWY_BREAKDOWN_DEFAULTS;
	options.scope.from = 160;
	options.scope.to = 505;
	struct hwy_breakdown breakdown = measure(trace, options);
	assert_int_equal(breakdown.total.from, 160);
	assert_int_equal(breakdown.total.to, 505);
	assert_int_equal(breakdown.total.compute, 140);
	assert_int_equal(breakdown.total.busy, 195);
	assert_int_equal(breakdown.total.n_fill, 0);
	breakdown_free(&breakdown);

	/* Between two ops all is idle; the window stays the one asked for. */
	options.scope.from = 400;
	options.scope.to = 450;
	breakdown = measure(trace, options);
	assert_int_equal(breakdown.total.to - breakdown.total.from, 50);
	assert_int_equal(breakdown.total.busy, 0);
	assert_int_equal(breakdown.total.n_streams, 0);
	breakdown_free(&breakdown);

	/* Before the first op there is no window. */
	options.scope.from = HWY_NONE;
	options.scope.to = 50;
	breakdown = measure(trace, options);
	assert_int_equal(breakdown.total.to - breakdown.total.from, 0);
	done(trace, &breakdown);
}

static void busy_cells_add_up_to_busy(void **state)
{
	struct hwy_trace *trace = one_device();
	struct hwy_breakdown_options options = HWY_BREAKDOWN_DEFAULTS;
	options.cells = 7;
	struct hwy_breakdown breakdown = measure(trace, options);
	int64_t sum = 0;
	for (uint32_t i = 0; i < options.cells; i++)
		sum += breakdown.devices[0].cells[i];
	assert_int_equal(sum, breakdown.total.busy);
	assert_int_equal(breakdown.devices[0].cells[0], 61); /* 100 to 161, all busy */
	done(trace, &breakdown);
}

static void the_total_of_two_devices_is_their_union(void **state)
{
	struct small small = small_new();
	uint32_t d0 = small_device(&small, 0), d1 = small_device(&small, 1);
	uint32_t s0 = small_stream(&small, d0, 7), s1 = small_stream(&small, d1, 7);
	small_span(&small, s0, HWY_KERNEL, 0, 100, 0, "k");
	small_span(&small, s1, HWY_KERNEL, 50, 150, 0, "k");
	small_span(&small, s1, HWY_KERNEL, 190, 200, 0, "k");
	struct hwy_trace *trace = small_finish(&small);
	struct hwy_breakdown breakdown = measure(trace, HWY_BREAKDOWN_DEFAULTS);
	assert_int_equal(breakdown.n_devices, 2);
	assert_int_equal(breakdown.devices[0].measures.to, 100);
	assert_int_equal(breakdown.devices[0].measures.busy, 100);
	assert_int_equal(breakdown.devices[1].measures.from, 50);
	assert_int_equal(breakdown.devices[1].measures.busy, 110);
	assert_int_equal(breakdown.total.busy, 160);
	assert_int_equal(breakdown.total.to - breakdown.total.from, 200);
	assert_int_equal(breakdown.total.n_streams, 2);
	breakdown_free(&breakdown);

	struct hwy_breakdown_options options = HWY_BREAKDOWN_DEFAULTS;
	options.scope.device = 1;
	breakdown = measure(trace, options);
	assert_int_equal(breakdown.n_devices, 1);
	assert_int_equal(breakdown.total.busy, 110);
	assert_int_equal(breakdown.n_streams, 1);
	done(trace, &breakdown);
}

static void a_graph_counts_as_compute_unless_its_nodes_are_there(void **state)
{
	struct small small = small_new();
	uint32_t stream = small_stream(&small, small_device(&small, 0), 7);
	small_call(&small, 0, 5, 1, "cudaGraphLaunch");
	small_call(&small, 5, 9, 2, "cudaGraphLaunch");
	small_span(&small, stream, HWY_GRAPH, 10, 110, 1, "");
	small_span(&small, stream, HWY_GRAPH, 200, 300, 2, "");
	small_span(&small, stream, HWY_KERNEL, 210, 220, 2, "node");
	small_span(&small, stream, HWY_KERNEL, 250, 260, 2, "node");
	struct hwy_trace *trace = small_finish(&small);
	struct hwy_breakdown breakdown = measure(trace, HWY_BREAKDOWN_DEFAULTS);
	assert_int_equal(breakdown.total.n_graph, 1);
	assert_int_equal(breakdown.total.n_kernel, 2);
	assert_int_equal(breakdown.total.compute, 120);
	assert_int_equal(breakdown.total.to, 260);
	/* one entry in the queue for each launch, however many nodes */
	assert_int_equal(breakdown.streams[0].queue.n, 4);
	assert_int_equal(breakdown.streams[0].queue.max, 2);
	assert_int_equal(breakdown.streams[0].delays.short_kernels, 0);
	done(trace, &breakdown);
}

static void idle_of_a_stream_is_split_by_who_was_late(void **state)
{
	struct small small = small_new();
	uint32_t stream = small_stream(&small, small_device(&small, 0), 7);
	const struct {
		int64_t call, start, end;
	} ops[] = {
		{0, 1000, 2000},      /* first: ends no gap */
		{1500, 2010, 3000},   /* in time, 10 ns later: kernel wait */
		{3500, 4000, 9000},   /* launched after 3000: host wait, 1000 */
		{4100, 5000, 6000},   /* overlaps: no gap */
		{8000, 50000, 60000}, /* in time, 41000 later: other */
	};
	for (int i = 0; i < 5; i++) {
		small_call(&small, ops[i].call, ops[i].call + 50, i + 1, LAUNCH);
		small_span(&small, stream, HWY_KERNEL, ops[i].start, ops[i].end, i + 1, "k");
	}
	/* launch not known, 20 ns after the last */
	small_span(&small, stream, HWY_KERNEL, 60020, 60030, 0, "k");
	struct hwy_trace *trace = small_finish(&small);
	struct hwy_breakdown breakdown = measure(trace, HWY_BREAKDOWN_DEFAULTS);
	const struct hwy_stream_part *part = &breakdown.streams[0];
	assert_int_equal(part->host_wait, 1000);
	assert_int_equal(part->kernel_wait, 10 + 20);
	assert_int_equal(part->other, 41000);
	assert_int_equal(part->busy + part->host_wait + part->kernel_wait + part->other,
			 part->to - part->from);
	assert_int_equal(part->n_ops, 6);
	assert_int_equal(breakdown.total.n_linked, 5);
	breakdown_free(&breakdown);

	struct hwy_breakdown_options options = HWY_BREAKDOWN_DEFAULTS;
	options.kernel_wait = 50000;
	breakdown = measure(trace, options);
	assert_int_equal(breakdown.streams[0].other, 0);
	assert_int_equal(breakdown.streams[0].kernel_wait, 41030);
	done(trace, &breakdown);
}

static void queue_and_delays_follow_the_launches(void **state)
{
	struct small small = small_new();
	uint32_t stream = small_stream(&small, small_device(&small, 0), 7);
	/* calls of 10 ns at 0, 20, 40; work at 100-105, 200-300, 300-400 */
	small_call(&small, 0, 10, 1, LAUNCH);
	small_call(&small, 20, 30, 2, LAUNCH);
	small_call(&small, 40, 50, 3, "cudaMemcpyAsync");
	small_span(&small, stream, HWY_KERNEL, 100, 105, 1, "short");
	small_span(&small, stream, HWY_KERNEL, 200, 300, 2, "long");
	small_span(&small, stream, HWY_COPY, 300, 301, 3, "copy");
	struct hwy_trace *trace = small_finish(&small);
	struct hwy_breakdown_options options = HWY_BREAKDOWN_DEFAULTS;
	options.series = 100;
	options.late = 200;
	struct hwy_breakdown breakdown = measure(trace, options);
	const struct hwy_queue *queue = &breakdown.streams[0].queue;
	/* lengths 1 2 3 2 1 0 at 0 20 40 100 200 300 */
	assert_int_equal(queue->n, 6);
	assert_int_equal(queue->max, 3);
	assert_int_equal(queue->min, 0);
	assert_true(fabs(queue->mean - 1.5) < 1e-9);
	assert_true(fabs(queue->median - 1.5) < 1e-9);
	assert_true(fabs(queue->quarter - 1) < 1e-9);
	assert_true(fabs(queue->three_quarters - 2) < 1e-9);
	/* 20*1 + 20*2 + 60*3 + 100*2 + 100*1, over 300 */
	assert_true(fabs(queue->time_mean - 540.0 / 300) < 1e-9);
	assert_true(queue->exact);
	assert_int_equal(queue->n_series, 6);
	assert_int_equal(queue->series[2].time, 40);
	assert_int_equal(queue->series[2].length, 3);

	const struct queue_delays *delays = &breakdown.streams[0].delays;
	assert_int_equal(delays->n, 3);
	assert_int_equal(delays->min, 90);
	assert_int_equal(delays->median, 170);
	assert_int_equal(delays->max, 250);
	assert_int_equal(delays->p95, 242);
	assert_int_equal(delays->late, 1);
	assert_int_equal(delays->short_kernels, 1);
	assert_int_equal(delays->short_ops, 2);
	done(trace, &breakdown);
}

static void a_long_queue_gives_a_short_series_with_its_peak(void **state)
{
	struct queue_launches launches = {0};
	enum { N = 5000 };
	for (int i = 0; i < N; i++)
		queue_launches_add(&launches, i * 10, 100000 + i * 20, 5);
	struct hwy_queue queue;
	queue_measure(&launches, 64, &queue);
	assert_false(queue.exact);
	assert_true(queue.n_series <= 64 && queue.n_series > 32);
	int64_t peak = 0, before = INT64_MIN;
	for (uint32_t i = 0; i < queue.n_series; i++) {
		assert_true(queue.series[i].time > before);
		before = queue.series[i].time;
		peak = queue.series[i].length > peak ? queue.series[i].length : peak;
	}
	assert_int_equal(queue.max, N);
	assert_int_equal(peak, N);
	free(queue.series);
	queue_launches_free(&launches);
}

static int by_value(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
	return a < b ? -1 : a > b;
}

static void launches_of_many_threads_come_in_any_order(void **state)
{
	enum { N = 3000 };
	static int64_t wanted[N];
	struct queue_launches launches = {0};
	uint64_t seed = 7;
	for (int i = 0; i < N; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		/* from before 0 to far beyond 32 bits */
		wanted[i] = (int64_t)(seed >> (i % 40 + 16)) - 5000;
		queue_launches_add(&launches, wanted[i], wanted[i] + 10, wanted[i]);
	}
	qsort(wanted, N, sizeof *wanted, by_value);
	struct hwy_queue queue;
	struct queue_delays delays = {0};
	queue_measure(&launches, 0, &queue);
	queue_delays_measure(&launches, INT64_MAX, &delays);
	assert_memory_equal(launches.enqueued, wanted, sizeof wanted);
	assert_int_equal(delays.min, 0); /* delays below 0 are none */
	assert_int_equal(delays.max, wanted[N - 1]);
	int64_t low = wanted[N / 2 - 1], high = wanted[N / 2];
	assert_int_equal(delays.median,
			 (low > 0 ? low : 0) + ((high > 0 ? high : 0) - (low > 0 ? low : 0)) / 2);
	queue_launches_free(&launches);
}

static void work_that_starts_before_its_call_never_waited(void **state)
{
	struct queue_launches launches = {0};
	queue_launches_add(&launches, 50, 40, -20);
	struct hwy_queue queue;
	struct queue_delays delays = {0};
	queue_measure(&launches, 0, &queue);
	queue_delays_measure(&launches, 100, &delays);
	assert_int_equal(queue.min, 0);
	assert_int_equal(queue.max, 1);
	assert_int_equal(delays.max, 0);
	queue_launches_free(&launches);
}

/* Two steps. Step 1: 0-100, its kernel runs to 130, so that step 2 (100-200) begins at 130. */
static struct hwy_trace *two_steps(int extra_work)
{
	struct small small = small_new();
	uint32_t stream = small_stream(&small, small_device(&small, 0), 7);
	uint32_t ops = small_lane(&small, HWY_LANE_OP), ranges = small_lane(&small, HWY_LANE_RANGE);
	small_span(&small, ranges, HWY_RANGE, 0, 100, 0, "ProfilerStep#5");
	small_span(&small, ranges, HWY_RANGE, 100, 200, 0, "ProfilerStep#6");
	small_span(&small, ranges, HWY_RANGE, 0, 20, 0,
		   "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
	small_span(&small, ops, HWY_OP, 10, 60, 0, "aten::conv2d");
	small_call(&small, 30, 40, 1, LAUNCH);
	small_call(&small, 45, 50, 2, "cudaMemcpyAsync");
	small_span(&small, stream, HWY_KERNEL, 48, 70, 1, "k");
	small_span(&small, stream, HWY_COPY, 65, 75, 2, "copy");
	for (int i = 0; i < extra_work; i++) {
		small_call(&small, 90 + i, 91 + i, 10 + i, LAUNCH);
		small_span(&small, stream, HWY_KERNEL, 120 + i, 130, 10 + i, "k");
	}
	small_call(&small, 150, 160, 3, LAUNCH);
	small_span(&small, stream, HWY_KERNEL, 170, 180, 3, "ncclKernel_AllReduce");
	return small_finish(&small);
}

static void a_step_reaches_to_the_end_of_the_work_it_launched(void **state)
{
	struct hwy_trace *trace = two_steps(1);
	struct hwy_breakdown breakdown = measure(trace, HWY_BREAKDOWN_DEFAULTS);
	assert_int_equal(breakdown.n_steps, 2);
	const struct hwy_step *first = &breakdown.steps[0], *second = &breakdown.steps[1];
	assert_int_equal(first->at.from, 0);
	assert_int_equal(first->at.to, 130);
	assert_int_equal(first->n_work, 3);
	assert_int_equal(first->parts[HWY_STEP_KERNEL], 22 + 10);
	assert_int_equal(first->parts[HWY_STEP_COPY], 5);
	assert_int_equal(first->parts[HWY_STEP_FILL], 0);
	assert_int_equal(first->parts[HWY_STEP_COMM], 0);
	/* calls 30-40, 45-50 (48 on is the kernel's) and 90-91 */
	assert_int_equal(first->parts[HWY_STEP_RUNTIME], 10 + 3 + 1);
	assert_int_equal(first->parts[HWY_STEP_LOADER], 20);
	/* 20-30 and 40-45 of the operator */
	assert_int_equal(first->parts[HWY_STEP_OP], 15);
	/* 75-90 and 91-120 */
	assert_int_equal(first->parts[HWY_STEP_OTHER], 15 + 29);
	assert_int_equal(second->at.from, 130);
	assert_int_equal(second->at.to, 200);
	assert_int_equal(second->parts[HWY_STEP_COMM], 10);
	assert_int_equal(second->parts[HWY_STEP_RUNTIME], 10);
	for (uint32_t i = 0; i < 2; i++) {
		int64_t sum = 0;
		for (unsigned p = 0; p < HWY_STEP_PARTS; p++)
			sum += breakdown.steps[i].parts[p];
		assert_int_equal(sum, breakdown.steps[i].at.to - breakdown.steps[i].at.from);
	}
	done(trace, &breakdown);
}

static void a_last_step_with_little_work_was_cut_off(void **state)
{
	struct hwy_trace *trace = two_steps(3);
	struct hwy_breakdown breakdown = measure(trace, HWY_BREAKDOWN_DEFAULTS);
	assert_true(breakdown.steps[0].whole);
	assert_false(breakdown.steps[1].whole);
	done(trace, &breakdown);
}

static void marks_projected_onto_a_stream_are_no_steps(void **state)
{
	struct small small = small_new();
	struct hwy_lane lane = hwy_lane_of(HWY_LANE_DEVICE_RANGE, small.process, HWY_NONE);
	lane.device = small_device(&small, 0);
	small_span(&small, hwy_add_lane(small.builder, lane), HWY_RANGE, 0, 100, 0,
		   "ProfilerStep#1");
	struct hwy_trace *trace = small_finish(&small);
	struct hwy_breakdown breakdown = measure(trace, HWY_BREAKDOWN_DEFAULTS);
	assert_int_equal(breakdown.n_steps, 0);
	done(trace, &breakdown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trace_without_device_work_measures_nothing),
		cmocka_unit_test(classes_of_one_device_are_unions),
		cmocka_unit_test(a_scope_cuts_spans_and_window),
		cmocka_unit_test(busy_cells_add_up_to_busy),
		cmocka_unit_test(the_total_of_two_devices_is_their_union),
		cmocka_unit_test(a_graph_counts_as_compute_unless_its_nodes_are_there),
		cmocka_unit_test(idle_of_a_stream_is_split_by_who_was_late),
		cmocka_unit_test(queue_and_delays_follow_the_launches),
		cmocka_unit_test(a_long_queue_gives_a_short_series_with_its_peak),
		cmocka_unit_test(launches_of_many_threads_come_in_any_order),
		cmocka_unit_test(work_that_starts_before_its_call_never_waited),
		cmocka_unit_test(a_step_reaches_to_the_end_of_the_work_it_launched),
		cmocka_unit_test(a_last_step_with_little_work_was_cut_off),
		cmocka_unit_test(marks_projected_onto_a_stream_are_no_steps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
