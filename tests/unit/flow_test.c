/* SPDX-License-Identifier: Apache-2.0 */
/* flow_test.c - calls and ops in order, on traces small enough to check by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/flow.h"
#include "make_trace.h"

static struct hwy_flow open_flow(struct hwy_trace *trace)
{
	struct hwy_flow flow;
	struct hwy_err err;
	assert_true(flow_open(&flow, trace, &err));
	return flow;
}

static void done(struct hwy_flow *flow)
{
	hwy_trace_free(flow->trace);
	flow_close(flow);
}

static void a_driver_call_inside_a_runtime_call_is_not_a_call_of_its_own(void **state)
{
	struct small small = small_new();
	uint32_t stream = small_stream(&small, small_device(&small, 0), 7);
	small_call(&small, 0, 100, 1, "cudaLaunchKernel_v7000");
	small_call(&small, 10, 90, 2, "cuLaunchKernel");
	small_call(&small, 20, 30, 3, "cuKernelGetName");
	small_call(&small, 100, 120, 4, "cuLaunchKernel");
	small_call(&small, 130, 140, 5, "cuKernelGetName");
	small_span(&small, stream, HWY_KERNEL, 200, 300, 2, "gemm");
	small_span(&small, stream, HWY_KERNEL, 300, 400, 4, "gemm");
	struct hwy_flow flow = open_flow(small_finish(&small));
	assert_int_equal(flow.n_calls, 2);
	assert_int_equal(flow.n_ops, 2);
	/* The work of the inner call is the outer one's. */
	assert_int_equal(flow.ops[0].call, 0);
	assert_int_equal(flow.calls[0].op, 0);
	assert_int_equal(flow.calls[0].end, 100);
	assert_int_equal(flow.ops[1].call, 1);
	assert_int_equal(flow.calls[1].role, HWY_ROLE_LAUNCH);
	done(&flow);
}

static void module_loading_inside_a_launch_is_kept(void **state)
{
	struct small small = small_new();
	small_call(&small, 0, 900, 1, "cudaLaunchKernel");
	small_call(&small, 10, 800, 2, "cuLibraryLoadData");
	small_call(&small, 810, 890, 3, "cuLaunchKernel");
	small_call(&small, 1000, 1900, 4, "cudaMalloc");
	small_call(&small, 1010, 1800, 5, "cuMemCreate");
	struct hwy_flow flow = open_flow(small_finish(&small));
	assert_int_equal(flow.n_calls, 3);
	assert_int_equal(flow.calls[1].role, HWY_ROLE_MODULE);
	assert_int_equal(flow.calls[2].role, HWY_ROLE_ALLOC);
	done(&flow);
}

static void a_launch_inside_a_collective_keeps_its_work(void **state)
{
	struct small small = small_new();
	uint32_t stream = small_stream(&small, small_device(&small, 0), 7);
	small_call(&small, 0, 100, 1, "ncclAllReduce");
	small_call(&small, 10, 90, 2, "cudaLaunchKernelExC");
	small_span(&small, stream, HWY_KERNEL, 200, 300, 2, "ncclDevKernel_AllReduce");
	struct hwy_flow flow = open_flow(small_finish(&small));
	assert_int_equal(flow.n_calls, 2);
	assert_int_equal(flow.ops[0].call, 1);
	assert_int_equal(flow.ops[0].class, HWY_COMM);
	done(&flow);
}

static void a_call_with_an_unknown_name_gets_the_role_of_its_work(void **state)
{
	struct small small = small_new();
	uint32_t stream = small_stream(&small, small_device(&small, 0), 7);
	small_call(&small, 0, 10, 1, "zeAppendSomething");
	small_call(&small, 20, 30, 2, "zeNothing");
	small_span(&small, stream, HWY_FILL, 50, 60, 1, "fill");
	struct hwy_flow flow = open_flow(small_finish(&small));
	assert_int_equal(flow.n_calls, 1);
	assert_int_equal(flow.calls[0].role, HWY_ROLE_FILL);
	done(&flow);
}

static void all_nodes_of_a_graph_belong_to_its_launch_and_the_graph_is_no_op(void **state)
{
	struct small small = small_new();
	uint32_t device = small_device(&small, 0);
	uint32_t first = small_stream(&small, device, 7), second = small_stream(&small, device, 8);
	small_call(&small, 0, 10, 1, "cudaGraphLaunch");
	small_span(&small, first, HWY_GRAPH, 100, 300, 1, "graph");
	small_span(&small, second, HWY_KERNEL, 150, 200, 1, "b");
	small_span(&small, first, HWY_KERNEL, 100, 150, 1, "a");
	struct hwy_flow flow = open_flow(small_finish(&small));
	assert_int_equal(flow.n_ops, 2);
	assert_int_equal(flow.calls[0].op, 0);
	assert_int_equal(flow.ops[0].start, 100);
	assert_int_equal(flow.ops[1].call, 0);
	assert_false(flow.calls[0].blocks);
	done(&flow);
}

/* Two devices, work of both mixed in time, one op without a launch. */
static void the_ops_of_each_device_stand_in_order(void **state)
{
	struct small small = small_new();
	uint32_t one = small_stream(&small, small_device(&small, 0), 7);
	uint32_t two = small_stream(&small, small_device(&small, 1), 7);
	small_call(&small, 0, 10, 1, "cudaLaunchKernel");
	small_span(&small, one, HWY_KERNEL, 100, 150, 1, "a");
	small_span(&small, two, HWY_KERNEL, 50, 400, 0, "b");
	small_span(&small, two, HWY_KERNEL, 500, 510, 0, "b");
	small_span(&small, one, HWY_KERNEL, 600, 610, 0, "a");
	struct hwy_flow flow = open_flow(small_finish(&small));
	assert_int_equal(flow.n_devices, 2);
	for (uint32_t d = 0; d < 2; d++) {
		const struct flow_device *device = &flow.devices[d];
		assert_int_equal(device->n, 2);
		for (uint32_t i = 0; i < 2; i++)
			assert_int_equal(flow.ops[flow.by_device[device->first + i]].device, d);
		assert_true(flow.by_device[device->first] < flow.by_device[device->first + 1]);
	}
	assert_int_equal(flow.ops[0].call, FLOW_NONE);
	assert_int_equal(flow_op_at(&flow, 51), 1);
	assert_int_equal(flow_op_at(&flow, 601), 4);
	assert_int_equal(flow_call_at(&flow, 0), 0);
	assert_int_equal(flow_call_at(&flow, 1), 1);
	done(&flow);
}

static void small_copy(struct small *small, uint32_t lane, int64_t start, int64_t end, int64_t corr,
		       enum hwy_direction direction, enum hwy_memory_kind host)
{
	struct hwy_row row = {0};
	row.v[HWY_START] = start;
	row.v[HWY_DUR] = end - start;
	row.v[HWY_CORR] = corr;
	row.v[HWY_DIRECTION] = direction;
	row.v[HWY_SRC_MEMORY] = direction == HWY_H2D ? host : HWY_MEM_DEVICE;
	row.v[HWY_DST_MEMORY] = direction == HWY_H2D ? HWY_MEM_DEVICE : host;
	hwy_add_span(small->builder, lane, HWY_COPY, &row);
}

static void a_call_blocks_by_contract_or_when_it_is_seen_to(void **state)
{
	static const struct {
		const char *name;
		int64_t call_to, op_from, op_to; /* us; the call begins at 0 */
		enum hwy_kind kind;
		enum hwy_direction direction;
		enum hwy_memory_kind host;
		bool blocks;
	} rows[] = {
		{"cudaStreamSynchronize", 10, 0, 0, HWY_API, 0, 0, true},
		{"cudaMemcpy", 10, 5, 50, HWY_COPY, HWY_D2H, HWY_MEM_PAGEABLE, true},
		{"cudaMemcpyAsync", 100, 5, 90, HWY_COPY, HWY_D2H, HWY_MEM_PAGEABLE, true},
		{"cudaMemcpyAsync", 1000, 5, 1020, HWY_COPY, HWY_H2D, HWY_MEM_PAGEABLE, true},
		{"cudaMemcpyAsync", 10, 500, 600, HWY_COPY, HWY_H2D, HWY_MEM_PAGEABLE, false},
		{"cudaMemcpyAsync", 10, 5, 6, HWY_COPY, HWY_H2D, HWY_MEM_PAGEABLE, false},
		{"cudaMemcpyAsync", 10, 5, 6, HWY_COPY, HWY_D2H, HWY_MEM_PINNED, false},
		{"cudaMemcpyAsync", 10, 5, 6, HWY_COPY, HWY_D2H, HWY_MEM_PAGEABLE, true},
		{"clEnqueueReadBuffer", 10, 5, 6, HWY_COPY, HWY_D2H, HWY_MEM_NONE, true},
		{"cudaLaunchKernel", 10, 5, 6, HWY_KERNEL, 0, 0, false},
		{"cudaLaunchKernel", 100, 5, 99, HWY_KERNEL, 0, 0, true},
		{"cudaLaunchKernel", 100, 5, 101, HWY_KERNEL, 0, 0, false},
		{"cudaStreamWaitEvent", 10, 0, 0, HWY_API, 0, 0, false},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct small small = small_new();
		uint32_t stream = small_stream(&small, small_device(&small, 0), 7);
		small_call(&small, 0, rows[i].call_to * 1000, 1, rows[i].name);
		if (rows[i].kind == HWY_COPY)
			small_copy(&small, stream, rows[i].op_from * 1000, rows[i].op_to * 1000, 1,
				   rows[i].direction, rows[i].host);
		if (rows[i].kind == HWY_KERNEL)
			small_span(&small, stream, HWY_KERNEL, rows[i].op_from * 1000,
				   rows[i].op_to * 1000, 1, "gemm");
		struct hwy_flow flow = open_flow(small_finish(&small));
		if (flow.calls[0].blocks != rows[i].blocks)
			fail_msg("row %zu: %s", i, rows[i].name);
		done(&flow);
	}
}

/* A call that was not told to wait returns late where the device's threads have its processor. */
static void on_a_cpu_calls_block_by_contract(void **state)
{
	static const char *const names[] = {"clEnqueueWriteBuffer",
					    "clEnqueueWriteBuffer [blocking]",
					    "clEnqueueNDRangeKernel"};
	for (size_t i = 0; i < 3; i++) {
		struct small small = small_new();
		uint32_t stream = small_stream(&small, small_device(&small, 0), 7);
		hwy_builder_trace(small.builder)->devices[0].compute_major = HWY_NONE;
		hwy_builder_trace(small.builder)->devices[1].compute_major = HWY_NONE;
		hwy_add_property(small.builder, "opencl.device.0.type", "cpu");
		small_call(&small, 0, 1000000, 1, names[i]);
		if (i < 2)
			small_copy(&small, stream, 5000, 900000, 1, HWY_H2D, HWY_MEM_NONE);
		else
			small_span(&small, stream, HWY_KERNEL, 5000, 900000, 1, "gemm");
		struct hwy_flow flow = open_flow(small_finish(&small));
		assert_int_equal(flow.calls[0].blocks, i == 1);
		done(&flow);
	}
}

/* 'waiting' of ten launches return after their kernel; how many are taken to block. The kernels
 * of the others take 'other' ns. */
static uint32_t blocking_of_ten(int waiting, int64_t other)
{
	struct small small = small_new();
	uint32_t stream = small_stream(&small, small_device(&small, 0), 7), blocking = 0;
	for (int64_t i = 0; i < 10; i++) {
		int64_t start = i * 100000, length = i < waiting ? 50000 : other;
		small_call(&small, start, start + (i < waiting ? 80000 : 5000), i + 1,
			   "cudaLaunchKernel");
		small_span(&small, stream, HWY_KERNEL, start + 7000, start + 7000 + length, i + 1,
			   "gemm");
	}
	struct hwy_flow flow = open_flow(small_finish(&small));
	for (uint32_t i = 0; i < flow.n_calls; i++)
		blocking += flow.calls[i].blocks;
	done(&flow);
	return blocking;
}

static void launches_that_lost_their_cpu_do_not_block(void **state)
{
	assert_int_equal(blocking_of_ten(4, 50000), 0);
	assert_int_equal(blocking_of_ten(4, 2000), 0);
	assert_int_equal(blocking_of_ten(5, 50000), 5);
	assert_int_equal(blocking_of_ten(10, 0), 10);
}

static void the_launch_latency_is_seen_or_three_microseconds(void **state)
{
	struct small small = small_new();
	uint32_t stream = small_stream(&small, small_device(&small, 0), 7);
	for (int64_t i = 0; i < 100; i++) {
		small_call(&small, i * 100000, i * 100000 + 5000, i + 1, "cudaLaunchKernel");
		small_span(&small, stream, HWY_KERNEL, i * 100000 + 6920 + i, i * 100000 + 8000 + i,
			   i + 1, "gemm");
	}
	struct hwy_flow flow = open_flow(small_finish(&small));
	assert_in_range(flow.latency, 1920, 1960);
	done(&flow);

	small = small_new();
	small_call(&small, 0, 10, 1, "cudaLaunchKernel");
	flow = open_flow(small_finish(&small));
	assert_int_equal(flow.latency, 3000);
	assert_int_equal(flow.n_ops, 0);
	assert_int_equal(flow.n_devices, 0);
	done(&flow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_driver_call_inside_a_runtime_call_is_not_a_call_of_its_own),
		cmocka_unit_test(module_loading_inside_a_launch_is_kept),
		cmocka_unit_test(a_launch_inside_a_collective_keeps_its_work),
		cmocka_unit_test(a_call_with_an_unknown_name_gets_the_role_of_its_work),
		cmocka_unit_test(all_nodes_of_a_graph_belong_to_its_launch_and_the_graph_is_no_op),
		cmocka_unit_test(the_ops_of_each_device_stand_in_order),
		cmocka_unit_test(a_call_blocks_by_contract_or_when_it_is_seen_to),
		cmocka_unit_test(on_a_cpu_calls_block_by_contract),
		cmocka_unit_test(launches_that_lost_their_cpu_do_not_block),
		cmocka_unit_test(the_launch_latency_is_seen_or_three_microseconds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
