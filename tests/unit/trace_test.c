/* SPDX-License-Identifier: Apache-2.0 */
/* trace_test.c - the builder, the finished trace, and what is derived from names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "trace/builder.h"

static uint64_t seed;

static uint64_t random_u64(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static int64_t random_value(void)
{
	return (int64_t)(random_u64() >> (random_u64() % 64));
}

static uint32_t a_process(struct hwy_builder *b)
{
	return hwy_new_processes(b);
}

static struct hwy_ref add(struct hwy_builder *b, uint32_t lane, enum hwy_kind kind, int64_t start,
			  int64_t dur, int64_t corr)
{
	struct hwy_row row = {0};
	row.v[HWY_START] = start;
	row.v[HWY_DUR] = dur;
	row.v[HWY_CORR] = corr;
	return hwy_add_span(b, lane, kind, &row);
}

static void a_column_gives_back_every_value(void **state)
{
	enum { ROWS = HWY_CHUNK_ROWS * 2 + 77 };
	static int64_t values[ROWS];
	for (int round = 0; round < 8; round++) {
		struct hwy_column *column = hwy_zalloc(sizeof *column);
		for (uint32_t row = 0; row < ROWS; row++) {
			values[row] = round == 0   ? 42
				      : round == 1 ? (row % 3 ? INT64_MIN : INT64_MAX)
						   : random_value();
			if (round == 2 && row % 5)
				values[row] = 0; /* left out, as the builder leaves zeros out */
			else
				column_append(column, row, values[row]);
		}
		column_finish(column, ROWS);
		assert_int_equal(column->n_chunks, 3);
		for (uint32_t row = 0; row < ROWS; row++)
			assert_int_equal(column_get(column, row), values[row]);
		struct hwy_reader reader = column_reader(column);
		for (uint32_t row = 0; row < ROWS; row++)
			assert_int_equal(reader_get(&reader, row), values[row]);
		column_free(column);
	}
}

static void a_constant_column_takes_no_room(void **state)
{
	struct hwy_column *column = hwy_zalloc(sizeof *column);
	for (uint32_t row = 0; row < 1000; row++)
		column_append(column, row, -7);
	column_finish(column, 1000);
	assert_int_equal(column->chunks[0].width, 0);
	assert_null(column->chunks[0].data);
	column_free(column);
}

struct expected {
	int64_t start, dur, name;
	uint32_t order;
};

static int compare_expected(const void *left, const void *right)
{
	const struct expected *a = left, *b = right;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->dur != b->dur)
		return a->dur > b->dur ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

static void spans_in_any_order_come_out_by_start_and_longer_first(void **state)
{
	for (uint32_t n = 1; n < 60000; n = n * 3 + 1) {
		struct hwy_builder *b = hwy_builder_new();
		uint32_t lane = hwy_add_lane(b, hwy_lane_of(HWY_LANE_OP, a_process(b), HWY_NONE));
		struct expected *want = hwy_alloc(n * sizeof *want);
		for (uint32_t i = 0; i < n; i++) {
			struct hwy_row row = {0};
			/* nearly in order with ties, as real sources are; every third run wholly mixed */
			row.v[HWY_START] =
				(int64_t)(n % 3 ? i / 2 + random_u64() % 9 : random_u64() % n) - 5;
			row.v[HWY_DUR] = (int64_t)(random_u64() % 4);
			row.v[HWY_NAME] = (int64_t)i + 1;
			want[i] = (struct expected){row.v[HWY_START], row.v[HWY_DUR],
						    row.v[HWY_NAME], i};
			hwy_add_span(b, lane, HWY_OP, &row);
		}
		struct hwy_trace *trace = hwy_builder_finish(b, false);
		qsort(want, n, sizeof *want, compare_expected);
		assert_int_equal(trace->n_strips, 1);
		assert_int_equal(trace->n_spans, n);
		for (uint32_t i = 0; i < n; i++) {
			assert_int_equal(hwy_get(trace->strips, HWY_START, i), want[i].start);
			assert_int_equal(hwy_get(trace->strips, HWY_DUR, i), want[i].dur);
			assert_int_equal(hwy_get(trace->strips, HWY_NAME, i), want[i].name);
		}
		free(want);
		hwy_trace_free(trace);
	}
}

static void work_is_linked_to_the_call_of_its_own_process(void **state)
{
	struct hwy_builder *b = hwy_builder_new();
	uint32_t process[2] = {a_process(b), a_process(b)};
	uint32_t api[2], stream[2];
	for (int p = 0; p < 2; p++) {
		api[p] = hwy_add_lane(b, hwy_lane_of(HWY_LANE_API, process[p], HWY_NONE));
		stream[p] = hwy_add_lane(b, hwy_lane_of(HWY_LANE_STREAM, process[p], HWY_NONE));
	}
	add(b, stream[1], HWY_KERNEL, 50, 5, 7);
	add(b, stream[0], HWY_KERNEL, 60, 5, 7);
	add(b, stream[0], HWY_KERNEL, 70, 5, 8); /* nobody launched it */
	add(b, api[0], HWY_API, 10, 5, 7);
	add(b, api[1], HWY_API, 20, 5, 7);
	struct hwy_trace *trace = hwy_builder_finish(b, false);
	for (int p = 0; p < 2; p++) {
		const struct hwy_strip *calls = hwy_strip_on(trace, api[p], HWY_API);
		const struct hwy_strip *kernels = hwy_strip_on(trace, stream[p], HWY_KERNEL);
		assert_int_equal(hwy_get(kernels, HWY_LINK, 0), calls->first + 1);
		assert_int_equal(hwy_get(kernels, HWY_CORR, 0), 0);
		assert_int_equal(hwy_corr(trace, kernels, 0), 7);
	}
	const struct hwy_strip *kernels = hwy_strip_on(trace, stream[0], HWY_KERNEL);
	assert_int_equal(hwy_get(kernels, HWY_LINK, 1), 0);
	assert_int_equal(hwy_corr(trace, kernels, 1), 8);
	hwy_trace_free(trace);
}

static void a_correlation_shared_by_two_calls_means_the_one_that_enqueues(void **state)
{
	for (int swapped = 0; swapped < 2; swapped++) {
		struct hwy_builder *b = hwy_builder_new();
		uint32_t process = a_process(b);
		uint32_t api = hwy_add_lane(b, hwy_lane_of(HWY_LANE_API, process, HWY_NONE));
		uint32_t stream = hwy_add_lane(b, hwy_lane_of(HWY_LANE_STREAM, process, HWY_NONE));
		const char *names[] = {"cudaGetDevice", "cudaLaunchKernel_v7000"};
		for (int i = 0; i < 2; i++) {
			struct hwy_row row = {0};
			row.v[HWY_START] = 10 + i;
			row.v[HWY_CORR] = (int64_t)1 << 60; /* sparse ids go through the map */
			row.v[HWY_NAME] = hwy_text_id(b, names[i ^ swapped]);
			hwy_add_span(b, api, HWY_API, &row);
		}
		add(b, api, HWY_API, 1, 1, 3);
		add(b, stream, HWY_KERNEL, 50, 5, (int64_t)1 << 60);
		struct hwy_trace *trace = hwy_builder_finish(b, false);
		const struct hwy_strip *kernels = hwy_strip_on(trace, stream, HWY_KERNEL);
		uint32_t row;
		const struct hwy_strip *call =
			hwy_strip_of(trace, (uint32_t)hwy_get(kernels, HWY_LINK, 0) - 1, &row);
		assert_string_equal(hwy_str(trace, hwy_get(call, HWY_NAME, row)), names[1]);
		hwy_trace_free(trace);
	}
}

static void links_of_random_traces_equal_a_search_through_all_calls(void **state)
{
	struct hwy_builder *b = hwy_builder_new();
	enum { CALLS = 3000, LANES = 3 };
	uint32_t process = a_process(b);
	uint32_t api[LANES], stream[LANES];
	for (int64_t i = 0; i < LANES; i++) {
		api[i] = hwy_add_lane(b, hwy_lane_of(HWY_LANE_API, process, i));
		stream[i] = hwy_add_lane(b, hwy_lane_of(HWY_LANE_STREAM, process, i));
	}
	for (int64_t corr = 1; corr <= CALLS; corr++) {
		add(b, api[random_u64() % LANES], HWY_API, corr * 10, 5, corr);
		for (uint64_t i = random_u64() % 4; i > 0; i--) /* graphs: several for one call */
			add(b, stream[random_u64() % LANES], HWY_KERNEL,
			    (int64_t)(random_u64() % 99999), 1, corr);
	}
	struct hwy_trace *trace = hwy_builder_finish(b, false);
	uint32_t linked = 0;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		for (uint32_t row = 0; strip->kind == HWY_KERNEL && row < strip->rows;
		     row++, linked++) {
			uint32_t call_row;
			const struct hwy_strip *call = hwy_strip_of(
				trace, (uint32_t)hwy_get(strip, HWY_LINK, row) - 1, &call_row);
			/* calls were made so that start / 10 is the correlation id */
			assert_int_equal(hwy_get(call, HWY_START, call_row),
					 hwy_corr(trace, strip, row) * 10);
		}
	}
	assert_true(linked > CALLS);
	hwy_trace_free(trace);
}

static void edges_follow_their_spans_through_sorting(void **state)
{
	struct hwy_builder *b = hwy_builder_new();
	uint32_t late = hwy_add_lane(b, hwy_lane_of(HWY_LANE_OP, 0, 1));
	uint32_t early = hwy_add_lane(b, hwy_lane_of(HWY_LANE_OP, 0, 0));
	struct hwy_ref last = add(b, early, HWY_OP, 900, 1, 0);
	struct hwy_ref first = add(b, early, HWY_OP, 100, 1, 0);
	struct hwy_ref other = add(b, late, HWY_OP, 500, 1, 0);
	hwy_add_edge(b, HWY_EDGE_FORWARD, first, last, 1);
	hwy_add_edge(b, HWY_EDGE_FORWARD, last, other, 2);
	struct hwy_trace *trace = hwy_builder_finish(b, true);
	int64_t want[2][2] = {{0, 800}, {800, 400}}; /* rebased to the first start */
	for (int e = 0; e < 2; e++) {
		uint32_t row;
		const struct hwy_strip *strip =
			hwy_strip_of(trace, (uint32_t)trace->edges[e].from, &row);
		assert_int_equal(hwy_get(strip, HWY_START, row), want[e][0]);
		strip = hwy_strip_of(trace, (uint32_t)trace->edges[e].to, &row);
		assert_int_equal(hwy_get(strip, HWY_START, row), want[e][1]);
	}
	hwy_trace_free(trace);
}

static void rebasing_moves_spans_and_wall_clock_together(void **state)
{
	struct hwy_builder *b = hwy_builder_new();
	uint32_t lane = hwy_add_lane(b, hwy_lane_of(HWY_LANE_OP, 0, 0));
	uint32_t zeros = hwy_add_lane(b, hwy_lane_of(HWY_LANE_OP, 0, 1));
	add(b, lane, HWY_OP, -40, 3, 0);
	add(b, zeros, HWY_OP, 0, 3, 0);
	hwy_builder_trace(b)->wall = 1000;
	struct hwy_trace *trace = hwy_builder_finish(b, true);
	assert_int_equal(hwy_get(hwy_strip_on(trace, lane, HWY_OP), HWY_START, 0), 0);
	assert_int_equal(hwy_get(hwy_strip_on(trace, zeros, HWY_OP), HWY_START, 0), 40);
	assert_int_equal(trace->wall, 960);
	hwy_trace_free(trace);
}

static void a_walk_meets_all_kinds_of_a_lane_in_order(void **state)
{
	struct hwy_builder *b = hwy_builder_new();
	uint32_t lane = hwy_add_lane(b, hwy_lane_of(HWY_LANE_STREAM, 0, HWY_NONE));
	uint32_t n = 0;
	for (; n < 500; n++)
		add(b, lane,
		    n % 3 == 0   ? HWY_COPY
		    : n % 3 == 1 ? HWY_KERNEL
				 : HWY_EVENT,
		    (int64_t)(random_u64() % 100), (int64_t)(random_u64() % 5), 0);
	struct hwy_trace *trace = hwy_builder_finish(b, false);
	struct hwy_walk walk = hwy_walk(trace, lane, ~0u);
	int64_t start = INT64_MIN, dur = INT64_MAX;
	uint32_t met = 0;
	for (; hwy_walk_next(&walk); met++) {
		int64_t now = hwy_get(walk.strip, HWY_START, walk.row),
			length = hwy_get(walk.strip, HWY_DUR, walk.row);
		assert_true(now > start || (now == start && length <= dur));
		start = now;
		dur = length;
	}
	assert_int_equal(met, n);
	hwy_trace_free(trace);
}

static void equal_records_share_one_index(void **state)
{
	struct hwy_builder *b = hwy_builder_new();
	struct hwy_shape shape = {.grid_x = 1, .block_x = 32};
	uint32_t first = hwy_add_shape(b, &shape);
	for (int64_t i = 2; i < 1000; i++) {
		shape.grid_x = i;
		assert_int_not_equal(hwy_add_shape(b, &shape), first);
	}
	shape.grid_x = 1;
	assert_int_equal(hwy_add_shape(b, &shape), first);
	assert_int_equal(hwy_builder_trace(b)->n_shapes, 999 - 1 + 1);
	hwy_builder_free(b);
}

static void names_of_all_vendors_have_their_role(void **state)
{
	static const struct {
		const char *name;
		unsigned role;
	} cases[] = {
		{"cudaLaunchKernel_v7000", HWY_ROLE_LAUNCH},
		{"cudaLaunchKernelExC_v11060", HWY_ROLE_LAUNCH},
		{"cuLaunchKernelEx", HWY_ROLE_LAUNCH},
		{"hipExtModuleLaunchKernel", HWY_ROLE_LAUNCH},
		{"hipLaunchKernel", HWY_ROLE_LAUNCH},
		{"clEnqueueNDRangeKernel", HWY_ROLE_LAUNCH},
		{"cudaLaunchHostFunc", HWY_ROLE_HOST_CALLBACK},
		{"cudaGraphLaunch_v10000", HWY_ROLE_GRAPH_LAUNCH},
		{"cuGraphLaunch_ptsz", HWY_ROLE_GRAPH_LAUNCH},
		{"cudaGraphInstantiateWithFlags_v11040", HWY_ROLE_GRAPH_BUILD},
		{"cudaStreamBeginCapture", HWY_ROLE_GRAPH_BUILD},
		{"cudaMemcpy_v3020", HWY_ROLE_COPY | HWY_ROLE_BLOCKS},
		{"cuMemcpyHtoD_v2", HWY_ROLE_COPY | HWY_ROLE_BLOCKS},
		{"cudaMemcpyAsync_v3020", HWY_ROLE_COPY},
		{"cuMemcpyDtoHAsync_v2_ptsz", HWY_ROLE_COPY},
		{"hipMemcpyWithStream", HWY_ROLE_COPY | HWY_ROLE_BLOCKS},
		{"cudaMemsetAsync", HWY_ROLE_FILL},
		{"cuMemsetD32Async", HWY_ROLE_FILL},
		{"cudaDeviceSynchronize_v3020", HWY_ROLE_SYNC | HWY_ROLE_BLOCKS},
		{"cuCtxSynchronize", HWY_ROLE_SYNC | HWY_ROLE_BLOCKS},
		{"hipStreamSynchronize", HWY_ROLE_SYNC | HWY_ROLE_BLOCKS},
		{"clFinish", HWY_ROLE_SYNC | HWY_ROLE_BLOCKS},
		{"cudaEventRecordWithFlags", HWY_ROLE_EVENT_RECORD},
		{"cudaStreamWaitEvent_v3020", HWY_ROLE_STREAM_WAIT},
		{"cudaEventQuery", HWY_ROLE_QUERY},
		{"cudaMalloc_v3020", HWY_ROLE_ALLOC},
		{"cudaMallocHost_v3020", HWY_ROLE_PIN},
		{"cudaHostAlloc_v3020", HWY_ROLE_PIN},
		{"cuMemHostRegister_v2", HWY_ROLE_PIN},
		{"cudaFree_v3020", HWY_ROLE_FREE | HWY_ROLE_BLOCKS},
		{"cudaFreeAsync", HWY_ROLE_FREE},
		{"cuModuleLoadDataEx", HWY_ROLE_MODULE},
		{"cuModuleGetLoadingMode", HWY_ROLE_OTHER},
		{"cuLibraryLoadData", HWY_ROLE_MODULE},
		{"urEnqueueKernelLaunch", HWY_ROLE_LAUNCH},
		{"urEnqueueUSMMemcpy", HWY_ROLE_COPY},
		{"urEnqueueUSMFill", HWY_ROLE_FILL},
		{"urQueueFinish", HWY_ROLE_SYNC | HWY_ROLE_BLOCKS},
		{"urUSMDeviceAlloc", HWY_ROLE_ALLOC},
		{"zeCommandListAppendLaunchKernel", HWY_ROLE_LAUNCH},
		{"zeCommandListAppendMemoryCopy", HWY_ROLE_COPY},
		{"zeEventHostSynchronize", HWY_ROLE_SYNC | HWY_ROLE_BLOCKS},
		{"ncclAllReduce", HWY_ROLE_COMM},
		{"MPI_Wait", HWY_ROLE_COMM},
		{"cudaGetDevice", HWY_ROLE_OTHER},
		{"current", HWY_ROLE_OTHER}, /* "cu" is a prefix only before a capital */
		{"", HWY_ROLE_OTHER},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (hwy_role_of_name(cases[i].name) != cases[i].role)
			fail_msg("%s has role %#x, not %#x", cases[i].name,
				 hwy_role_of_name(cases[i].name), cases[i].role);
}

static void communication_kernels_are_known_by_name_in_any_case(void **state)
{
	assert_true(hwy_name_is_comm("ncclDevKernel_AllReduce_Sum_f32_RING_LL"));
	assert_true(hwy_name_is_comm("void NCCLKernel"));
	assert_true(hwy_name_is_comm("rcclGenericKernel"));
	assert_false(hwy_name_is_comm("sgemm_128x128"));
}

static void more_spans_than_can_be_numbered_are_refused(void **state)
{
	(void)state;
	for (uint32_t spans = 3; spans <= 4; spans++) {
		struct hwy_builder *b = hwy_builder_new();
		struct hwy_row row = {0};
		uint32_t lane = hwy_add_lane(b, hwy_lane_of(HWY_LANE_API, HWY_NONE, HWY_NONE));
		hwy_builder_set_most_spans(b, 3);
		for (uint32_t i = 0; i < spans; i++)
			hwy_add_span(b, lane, HWY_API, &row);
		struct hwy_trace *trace = hwy_builder_finish(b, false);
		assert_int_equal(trace != NULL, spans == 3);
		if (trace)
			hwy_trace_free(trace);
	}
}

int main(void)
{
	seed = 88172645463325252u;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_spans_than_can_be_numbered_are_refused),
		cmocka_unit_test(a_column_gives_back_every_value),
		cmocka_unit_test(a_constant_column_takes_no_room),
		cmocka_unit_test(spans_in_any_order_come_out_by_start_and_longer_first),
		cmocka_unit_test(work_is_linked_to_the_call_of_its_own_process),
		cmocka_unit_test(a_correlation_shared_by_two_calls_means_the_one_that_enqueues),
		cmocka_unit_test(links_of_random_traces_equal_a_search_through_all_calls),
		cmocka_unit_test(edges_follow_their_spans_through_sorting),
		cmocka_unit_test(rebasing_moves_spans_and_wall_clock_together),
		cmocka_unit_test(a_walk_meets_all_kinds_of_a_lane_in_order),
		cmocka_unit_test(equal_records_share_one_index),
		cmocka_unit_test(names_of_all_vendors_have_their_role),
		cmocka_unit_test(communication_kernels_are_known_by_name_in_any_case),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
