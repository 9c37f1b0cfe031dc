/* SPDX-License-Identifier: Apache-2.0 */
/* diagnose_device_test.c - findings about the GPU's own work: default-stream, stream-serial, priority-inversion,
 * grid-too-small, no-tensor-cores; rank-straggler; and what cannot be told. */
#include "program.h"

enum { STEPS = 20 };

/* ---- streams that stop each other ----------------------------------------------------------------- */

/* A kernel that begins only when another stream's has ended, though it was launched in time. */
static void launch_behind(struct program *p, int stream, int behind, const char *name, int64_t us)
{
	if (p->stream_free[stream] < p->stream_free[behind])
		p->stream_free[stream] = p->stream_free[behind];
	program_launch(p, stream, name, us);
}

static struct diagnosed two_streams(int64_t flags, int64_t null_flags, int64_t blocks)
{
	struct program p = program_new();
	program_trace(&p)->streams[p.streams[0]].flags = null_flags;
	program_trace(&p)->streams[p.streams[1]].flags = flags;
	program_blocks(&p, blocks);
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int k = 0; k < 4; k++) {
			launch_behind(&p, 0, 1, "a", 200);
			launch_behind(&p, 1, 0, "b", 200);
		}
	}
	return program_diagnose(&p);
}

static void the_default_streams_barrier_is_found(void **state)
{
	struct diagnosed d = two_streams(1, 3, 10);
	ASSERT_ACCUSED(&d, "default-stream");
	diagnosed_free(&d);
}

static void non_blocking_streams_have_no_barrier(void **state)
{
	struct diagnosed d = two_streams(2, 3, 10);
	ASSERT_NOT_ACCUSED(&d, "default-stream");
	diagnosed_free(&d);
}

static void kernels_that_fill_the_gpu_lose_nothing_by_it(void **state)
{
	struct diagnosed d = two_streams(1, 3, 1000);
	ASSERT_NOT_ACCUSED(&d, "default-stream");
	diagnosed_free(&d);
}

/* Two streams whose kernels are kept apart by a tiny one of the default stream after each. */
static struct diagnosed notes_between(int64_t flags, int64_t context)
{
	struct program p = program_new();
	program_trace(&p)->streams[p.streams[0]].flags = 3;
	program_trace(&p)->streams[p.streams[0]].context = context;
	program_trace(&p)->streams[p.streams[1]].flags = flags;
	program_trace(&p)->streams[p.streams[2]].flags = flags;
	program_blocks(&p, 10);
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int k = 0; k < 8; k++) {
			launch_behind(&p, 1 + k % 2, 0, "work", 100);
			launch_behind(&p, 0, 1 + k % 2, "note", 2);
		}
	}
	return program_diagnose(&p);
}

static void a_tiny_kernel_in_the_default_stream_keeps_the_others_apart(void **state)
{
	struct diagnosed d = notes_between(1, 1);
	ASSERT_ACCUSED(&d, "default-stream");
	double share = accused(&d, "default-stream")->share;
	assert_true(share > 0.4 && share < 0.55); /* half of the work could run beside the rest */
	diagnosed_free(&d);
	d = notes_between(2, 1);
	ASSERT_NOT_ACCUSED(&d, "default-stream");
	diagnosed_free(&d);
}

static void the_default_stream_of_another_context_stops_nobody(void **state)
{
	struct diagnosed d = notes_between(1, 2);
	ASSERT_NOT_ACCUSED(&d, "default-stream");
	diagnosed_free(&d);
}

static struct diagnosed threads_by_turns(int streams, bool at_once)
{
	struct program p = program_new();
	program_blocks(&p, 10);
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int k = 0; k < 10; k++)
			for (int t = 0; t < 2; t++) {
				p.thread = t;
				p.cpu -= at_once ? US(2) : 0;
				program_launch(&p, t % streams, t ? "b" : "a", 50);
			}
		p.thread = 0;
	}
	return program_diagnose(&p);
}

static void threads_that_share_a_stream_are_serial(void **state)
{
	struct diagnosed d = threads_by_turns(1, true);
	ASSERT_ACCUSED(&d, "stream-serial");
	diagnosed_free(&d);
}

static void threads_with_their_own_streams_are_not(void **state)
{
	struct diagnosed d = threads_by_turns(2, true);
	ASSERT_NOT_ACCUSED(&d, "stream-serial");
	diagnosed_free(&d);
}

static void threads_that_hand_over_to_each_other_are_one_chain(void **state)
{
	struct diagnosed d = threads_by_turns(1, false);
	ASSERT_NOT_ACCUSED(&d, "stream-serial");
	diagnosed_free(&d);
}

static struct diagnosed request(int64_t urgent, bool waits_long)
{
	struct program p = program_new();
	program_trace(&p)->streams[p.streams[1]].priority = urgent;
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int k = 0; k < 4; k++)
			program_launch(&p, 0, "bulk", 500);
		if (waits_long)
			launch_behind(&p, 1, 0, "request", 50);
		else
			program_launch(&p, 1, "request", 50);
		program_sync(&p, 1);
		program_sync(&p, 0);
	}
	return program_diagnose(&p);
}

static void a_request_behind_bulk_work_is_an_inversion(void **state)
{
	struct diagnosed d = request(0, true);
	ASSERT_ACCUSED(&d, "priority-inversion");
	diagnosed_free(&d);
	d = request(-5, true);
	ASSERT_ACCUSED(&d, "priority-inversion");
	diagnosed_free(&d);
}

static void work_that_the_cpu_awaits_with_all_the_rest_is_none(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int k = 0; k < 4; k++)
			program_launch(&p, 0, "bulk", 500);
		launch_behind(&p, 1, 0, "last", 50);
		program_call(&p, "cudaDeviceSynchronize", (p.stream_free[1] - p.cpu) / 1000 + 2);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "priority-inversion");
	diagnosed_free(&d);
}

static void a_request_that_overtakes_is_none(void **state)
{
	struct diagnosed d = request(-5, false);
	ASSERT_NOT_ACCUSED(&d, "priority-inversion");
	diagnosed_free(&d);
}

/* ---- kernels -------------------------------------------------------------------------------------- */

static struct diagnosed kernels(const char *name, int64_t blocks, int64_t major)
{
	struct program p = program_new();
	program_trace(&p)->devices[p.device].compute_major = major;
	program_blocks(&p, blocks);
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int k = 0; k < 10; k++)
			program_launch(&p, 0, name, 200);
	}
	return program_diagnose(&p);
}

static void few_blocks_are_a_grid_too_small(void **state)
{
	struct diagnosed d = kernels("k", 8, 9);
	ASSERT_ACCUSED(&d, "grid-too-small");
	assert_true(d.diagnosis.outlooks[0].is_healthy);
	diagnosed_free(&d);
}

static void a_grid_that_fills_the_gpu_is_not(void **state)
{
	struct diagnosed d = kernels("k", 400, 9);
	ASSERT_NOT_ACCUSED(&d, "grid-too-small");
	diagnosed_free(&d);
}

static void small_grids_side_by_side_leave_nothing_idle(void **state)
{
	struct program p = program_new();
	program_blocks(&p, 20);
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int k = 0; k < 20; k++)
			program_launch(&p, k % 5, "k", 200);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "grid-too-small");
	diagnosed_free(&d);
}

/* A long kernel of few blocks, and short ones of many that take turns beside it for a part of
 * its time. */
static void a_small_grid_costs_only_while_it_runs_alone(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		program_blocks(&p, 10);
		program_launch(&p, 0, "few", 1000);
		program_blocks(&p, 400);
		for (int k = 0; k < 5; k++)
			program_launch(&p, 1, "many", 99);
		program_sync(&p, 0);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "grid-too-small");
	int64_t cost = accused(&d, "grid-too-small")->cost; /* 0.9 of 1000 less some 500 */
	assert_true(cost > US(430) && cost < US(470));
	diagnosed_free(&d);
}

static void fp32_matrix_kernels_leave_tensor_cores_unused(void **state)
{
	const char *const plain[] = {
		"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_ffma_execute_kernel__5x_cublas",
		"void cutlass::Kernel2<cutlass_80_simt_sgemm_128x256_8x4_nt_align1>(T1::Params)",
		"volta_scudnn_128x64_relu_interior_nn_v1", "ampere_sgemm_128x64_tn"};
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
		struct diagnosed d = kernels(plain[i], 400, 9);
		ASSERT_ACCUSED(&d, "no-tensor-cores");
		diagnosed_free(&d);
	}
}

static void kernels_with_tensor_cores_are_not_accused(void **state)
{
	const char *const tensor[] = {
		"sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x16_execute_kernel__5x_cublas",
		"ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_nn",
		"void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4>(T1::Params)",
		"vectorized_elementwise_kernel"};
	for (size_t i = 0; i < sizeof tensor / sizeof *tensor; i++) {
		struct diagnosed d = kernels(tensor[i], 400, 9);
		ASSERT_NOT_ACCUSED(&d, "no-tensor-cores");
		diagnosed_free(&d);
	}
	/* A GPU that has none. */
	struct diagnosed d = kernels("maxwell_sgemm_128x64_tn", 400, 6);
	ASSERT_NOT_ACCUSED(&d, "no-tensor-cores");
	diagnosed_free(&d);
}

/* ---- what cannot be told -------------------------------------------------------------------------- */

static void a_persistent_kernel_proves_nothing(void **state)
{
	struct program p = program_new();
	program_launch(&p, 0, "forever", 100000);
	struct diagnosed d = program_diagnose(&p);
	assert_int_equal(d.diagnosis.n_cannot, 1);
	assert_non_null(strstr(d.diagnosis.cannot[0].because, "forever"));
	diagnosed_free(&d);
}

static void idle_time_that_may_be_lost_work_accuses_nobody(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int k = 0; k < 10; k++) {
			program_launch(&p, 0, "k", 3);
			/* Their kernels were not recorded. */
			program_call(&p, "cudaLaunchKernel", 20);
			program_call(&p, "cudaLaunchKernel", 20);
		}
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "launch-bound");
	assert_true(d.diagnosis.n_cannot > 0);
	assert_string_equal(d.diagnosis.cannot[0].what, "why the device idles");
	assert_false(d.diagnosis.outlooks[0].is_known);
	diagnosed_free(&d);
}

/* ---- ranks ---------------------------------------------------------------------------------------- */

/* A collective that begins when its rank comes and ends when the last one has. */
static struct diagnosed rank(int64_t late_us, int64_t latest_us, int64_t skew_us)
{
	struct program p = program_new();
	p.cpu += US(skew_us);
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "k", 1000 + late_us);
		program_launch(&p, 0, "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
			       100 + latest_us - late_us);
	}
	return program_diagnose(&p);
}

static const struct hwy_finding *straggler(struct diagnosed *a, struct diagnosed *b)
{
	struct joint_rank ranks[] = {{0, &a->analysis, 0, FLOW_NO_PROCESS, NULL},
				     {1, &b->analysis, 0, FLOW_NO_PROCESS, NULL}};
	diagnose_ranks(ranks, 2, 0, &a->diagnosis);
	diagnosed_check(a);
	return accused(a, "rank-straggler");
}

static void the_rank_that_comes_last_is_the_straggler(void **state)
{
	/* On one clock, and on two. */
	for (int64_t skew = 0; skew <= 5000000; skew += 5000000) {
		struct diagnosed a = rank(0, 300, 0), b = rank(300, 300, skew);
		const struct hwy_finding *finding = straggler(&a, &b);
		assert_non_null(finding);
		assert_int_equal(finding->rank, 1);
		assert_true(finding->cost > US(280) && finding->cost < US(320));
		/* The ranks replayed together say so too. */
		assert_true(finding->predicted.is_known);
		assert_string_equal(finding->predicted.edits, "straggler:1");
		assert_in_range(finding->predicted.before - finding->predicted.step, US(280),
				US(320));
		diagnosed_free(&a);
		diagnosed_free(&b);
	}
}

static void ranks_that_come_together_have_no_straggler(void **state)
{
	struct diagnosed a = rank(0, 0, 0), b = rank(0, 0, 0);
	assert_null(straggler(&a, &b));
	diagnosed_free(&a);
	diagnosed_free(&b);
}

/* One step of eight collectives; a rank begins to work so much later than the other, and then keeps up with it. */
static struct diagnosed rank_of_one_step(int64_t entered_us, int64_t latest_us)
{
	struct program p = program_new();
	p.cpu += US(entered_us);
	program_step(&p, 0);
	for (int k = 0; k < 8; k++) {
		program_launch(&p, 0, "k", 1000);
		program_launch(&p, 0, "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
			       100 + (k == 0 ? latest_us - entered_us : 0));
	}
	return program_diagnose(&p);
}

static void a_rank_that_was_recorded_from_later_is_no_straggler(void **state)
{
	struct diagnosed a = rank_of_one_step(0, 7500), b = rank_of_one_step(7500, 7500);
	assert_null(straggler(&a, &b));
	diagnosed_free(&a);
	diagnosed_free(&b);
}

/* It waits for nobody, and its step, however long, is not the run's. */
static void a_rank_without_collectives_does_not_count(void **state)
{
	for (int64_t us = 100; us <= 5000; us += 4900) {
		struct diagnosed a = rank(0, 300, 0), b = rank(300, 300, 0);
		struct program p = program_new();
		for (int step = 0; step < STEPS; step++) {
			program_step(&p, step);
			program_launch(&p, 0, "k", us);
		}
		struct diagnosed alone = program_diagnose(&p);
		struct joint_rank ranks[] = {{0, &a.analysis, 0, FLOW_NO_PROCESS, NULL},
					     {1, &b.analysis, 0, FLOW_NO_PROCESS, NULL},
					     {2, &alone.analysis, 0, FLOW_NO_PROCESS, NULL}};
		diagnose_ranks(ranks, 3, 0, &a.diagnosis);
		const struct hwy_finding *finding = accused(&a, "rank-straggler");
		assert_non_null(finding);
		assert_int_equal(finding->rank, 1);
		assert_in_range(finding->cost, US(280), US(320));
		assert_non_null(strstr(finding->says, "wait 300"));
		assert_in_range(finding->predicted.before - finding->predicted.step, US(280),
				US(320));
		diagnosed_free(&a);
		diagnosed_free(&b);
		diagnosed_free(&alone);
	}
}

/* ---- attention, and copies inside the GPU ------------------------------------------------------------- */

/* Layers of attention with a softmax of 'us' between two products, and 'between' other kernels. */
static struct diagnosed attention(const char *softmax, int64_t us, int between)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int layer = 0; layer < 4; layer++) {
			program_launch(&p, 0, "ampere_bf16_s16816gemm_bf16_128x128", 100);
			for (int k = 0; k < between; k++)
				program_launch(&p, 0, "at::native::scale", 10);
			program_launch(&p, 0, softmax, us);
			program_launch(&p, 0, "ampere_bf16_s16816gemm_bf16_64x64", 100);
			for (int k = 0; k < 8; k++)
				program_launch(&p, 0, "at::native::gelu", 10);
		}
	}
	return program_diagnose(&p);
}

static void softmax_between_two_products_is_unfused_attention(void **state)
{
	struct diagnosed d = attention("at::native::cunn_SoftMaxForward<8>", 200, 1);
	ASSERT_ACCUSED(&d, "attention-unfused");
	const struct hwy_finding *finding = accused(&d, "attention-unfused");
	assert_true(finding->share > 0.35 && finding->share < 0.5); /* 210 of 490 us */
	assert_non_null(strstr(finding->advice, "scaled_dot_product_attention"));
	assert_true(d.diagnosis.outlooks[0].is_healthy); /* it is inside the GPU */
	diagnosed_free(&d);
}

static void short_softmax_a_loss_and_a_distant_softmax_are_no_unfused_attention(void **state)
{
	struct diagnosed d = attention("at::native::cunn_SoftMaxForward<8>", 20, 1);
	ASSERT_NOT_ACCUSED(&d, "attention-unfused");
	diagnosed_free(&d);
	d = attention("cunn_SoftMaxForward<LogSoftMaxForwardEpilogue>", 200, 1);
	ASSERT_NOT_ACCUSED(&d, "attention-unfused");
	diagnosed_free(&d);
	d = attention("at::native::cunn_SoftMaxForward<8>", 200, 7);
	ASSERT_NOT_ACCUSED(&d, "attention-unfused");
	diagnosed_free(&d);
}

static struct diagnosed device_copies(int64_t copy_us, int64_t kernel_us)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int k = 0; k < 4; k++) {
			program_launch(&p, 0, "at::native::k", 100);
			if (copy_us)
				program_copy(&p, 0, HWY_D2D, 1 << 20, HWY_MEM_DEVICE, copy_us,
					     false);
			if (kernel_us)
				program_launch(&p, 0, "at::native::direct_copy_kernel_cuda",
					       kernel_us);
		}
	}
	return program_diagnose(&p);
}

static void copies_between_buffers_of_the_gpu_are_found(void **state)
{
	struct diagnosed d = device_copies(15, 0);
	ASSERT_ACCUSED(&d, "device-copies");
	double share = accused(&d, "device-copies")->share;
	assert_true(share > 0.1 && share < 0.15);
	diagnosed_free(&d);
	d = device_copies(0, 15);
	ASSERT_ACCUSED(&d, "device-copies");
	diagnosed_free(&d);
}

static void a_few_copies_inside_the_gpu_are_none(void **state)
{
	struct diagnosed d = device_copies(3, 0);
	ASSERT_NOT_ACCUSED(&d, "device-copies");
	diagnosed_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(softmax_between_two_products_is_unfused_attention),
		cmocka_unit_test(
			short_softmax_a_loss_and_a_distant_softmax_are_no_unfused_attention),
		cmocka_unit_test(copies_between_buffers_of_the_gpu_are_found),
		cmocka_unit_test(a_few_copies_inside_the_gpu_are_none),
		cmocka_unit_test(the_default_streams_barrier_is_found),
		cmocka_unit_test(non_blocking_streams_have_no_barrier),
		cmocka_unit_test(kernels_that_fill_the_gpu_lose_nothing_by_it),
		cmocka_unit_test(a_tiny_kernel_in_the_default_stream_keeps_the_others_apart),
		cmocka_unit_test(the_default_stream_of_another_context_stops_nobody),
		cmocka_unit_test(threads_that_share_a_stream_are_serial),
		cmocka_unit_test(threads_with_their_own_streams_are_not),
		cmocka_unit_test(threads_that_hand_over_to_each_other_are_one_chain),
		cmocka_unit_test(a_request_behind_bulk_work_is_an_inversion),
		cmocka_unit_test(work_that_the_cpu_awaits_with_all_the_rest_is_none),
		cmocka_unit_test(a_request_that_overtakes_is_none),
		cmocka_unit_test(few_blocks_are_a_grid_too_small),
		cmocka_unit_test(a_grid_that_fills_the_gpu_is_not),
		cmocka_unit_test(small_grids_side_by_side_leave_nothing_idle),
		cmocka_unit_test(a_small_grid_costs_only_while_it_runs_alone),
		cmocka_unit_test(fp32_matrix_kernels_leave_tensor_cores_unused),
		cmocka_unit_test(kernels_with_tensor_cores_are_not_accused),
		cmocka_unit_test(a_persistent_kernel_proves_nothing),
		cmocka_unit_test(idle_time_that_may_be_lost_work_accuses_nobody),
		cmocka_unit_test(the_rank_that_comes_last_is_the_straggler),
		cmocka_unit_test(ranks_that_come_together_have_no_straggler),
		cmocka_unit_test(a_rank_that_was_recorded_from_later_is_no_straggler),
		cmocka_unit_test(a_rank_without_collectives_does_not_count),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
