/* SPDX-License-Identifier: Apache-2.0 */
/* diagnose_copies_test.c - findings about data on its way: pageable-copy, copy-roundtrip, copy-small,
 * copy-serial, copy-bandwidth, comm-exposed. */
#include "program.h"

enum { STEPS = 20, MB = 1000000 };

static void large_copies_from_pageable_memory_are_accused_before_their_order(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		/* 16 MB at 8 GB/s; pinned, this machine would take 0.3 ms. */
		program_copy_held(&p, 0, HWY_H2D, 16 * MB, HWY_MEM_PAGEABLE, 2000);
		program_launch(&p, 0, "k", 500);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "pageable-copy");
	assert_string_equal(d.diagnosis.findings[0].kind->id, "pageable-copy");
	assert_true(accused(&d, "pageable-copy")->cost > US(1500));
	diagnosed_free(&d);
}

static void small_pageable_copies_are_acquitted(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		program_copy(&p, 0, HWY_H2D, 4096, HWY_MEM_PAGEABLE, 2, false);
		for (int k = 0; k < 20; k++)
			program_launch(&p, 0, "k", 100);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "pageable-copy");
	assert_non_null(acquitted(&d, "pageable-copy"));
	diagnosed_free(&d);
}

static void data_that_comes_back_is_a_round_trip(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "k", 500);
		program_copy(&p, 0, HWY_D2H, MB, HWY_MEM_PAGEABLE, 100, true);
		program_compute(&p, 300);
		program_copy(&p, 0, HWY_H2D, MB, HWY_MEM_PAGEABLE, 100, true);
		program_launch(&p, 0, "k", 500);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "copy-roundtrip");
	assert_string_equal(d.diagnosis.findings[0].kind->id, "copy-roundtrip");
	assert_true(accused(&d, "copy-roundtrip")->cost > US(450));
	diagnosed_free(&d);
}

static void data_that_is_parked_on_the_host_comes_back_last_first(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int layer = 0; layer < 6; layer++) {
			program_launch(&p, 0, "forward", 50);
			program_copy(&p, 0, HWY_D2H, MB, HWY_MEM_PINNED, 100, true);
		}
		for (int layer = 0; layer < 6; layer++) {
			program_copy(&p, 0, HWY_H2D, MB, HWY_MEM_PINNED, 100, true);
			program_launch(&p, 0, "backward", 50);
		}
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "copy-roundtrip");
	const struct hwy_finding *finding = accused(&d, "copy-roundtrip");
	assert_non_null(strstr(finding->says, "6 times a step"));
	assert_non_null(strstr(finding->advice, "parked"));
	assert_true(finding->cost > US(1200));
	/* The CPU waits for data there, not for decisions. */
	ASSERT_NOT_ACCUSED(&d, "sync-in-model");
	diagnosed_free(&d);
}

static void chunks_that_stream_through_are_no_round_trip(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int chunk = 0; chunk < 4; chunk++) {
			program_copy(&p, 0, HWY_H2D, MB, HWY_MEM_PINNED, 100, false);
			program_launch(&p, 0, "k", 500);
			program_copy(&p, 0, HWY_D2H, MB, HWY_MEM_PINNED, 100, false);
		}
		program_sync(&p, 0);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "copy-roundtrip");
	diagnosed_free(&d);
}

static void many_small_copies_are_latency(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int k = 0; k < 30; k++)
			program_copy(&p, 0, HWY_H2D, 256, HWY_MEM_PINNED, 8, false);
		program_launch(&p, 0, "k", 500);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "copy-small");
	diagnosed_free(&d);
}

static void small_copies_under_kernels_are_acquitted(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "k", 2000);
		for (int k = 0; k < 10; k++)
			program_copy(&p, 1, HWY_H2D, 256, HWY_MEM_PINNED, 2, false);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "copy-small");
	assert_non_null(acquitted(&d, "copy-small"));
	diagnosed_free(&d);
}

static void copies_between_kernels_of_one_stream_are_serial(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int chunk = 0; chunk < 4; chunk++) {
			program_copy(&p, 0, HWY_H2D, 10 * MB, HWY_MEM_PINNED, 400, false);
			program_launch(&p, 0, "k", 500);
		}
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "copy-serial");
	/* All of the copies' 1.6 ms would fit beside 2 ms of kernels. */
	assert_true(accused(&d, "copy-serial")->cost > US(1500));
	diagnosed_free(&d);
}

static void copies_under_kernels_are_not_serial(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int chunk = 0; chunk < 4; chunk++) {
			program_launch(&p, 0, "k", 500);
			program_copy(&p, 1, HWY_H2D, 10 * MB, HWY_MEM_PINNED, 400, false);
		}
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "copy-serial");
	ASSERT_NOT_ACCUSED(&d, "copy-bandwidth");
	diagnosed_free(&d);
}

static void a_full_link_is_copy_bandwidth(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int chunk = 0; chunk < 4; chunk++) {
			program_copy(&p, 1, HWY_H2D, 50 * MB, HWY_MEM_PINNED, 1000, false);
			program_launch(&p, 0, "k", 200);
		}
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "copy-bandwidth");
	diagnosed_free(&d);
}

static void communication_without_computation_is_exposed(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "k", 1000);
		program_launch(&p, 0, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 500);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "comm-exposed");
	const struct hwy_finding *finding = accused(&d, "comm-exposed");
	assert_true(finding->cost >= US(495) && finding->cost <= US(500));
	diagnosed_free(&d);
}

static void communication_alone_has_nothing_to_hide_behind(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 500);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "comm-exposed");
	diagnosed_free(&d);
}

static void a_small_copy_that_holds_the_cpu_is_not_to_be_pinned(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int k = 0; k < 3; k++)
			program_launch(&p, 0, "k", 100);
		program_copy_held(&p, 0, HWY_D2H, 4, HWY_MEM_PAGEABLE, 2);
		program_compute(&p, 100);
	}
	struct diagnosed d = program_diagnose(&p);
	assert_true(d.diagnosis.n > 0); /* its wait is */
	ASSERT_NOT_ACCUSED(&d, "pageable-copy");
	diagnosed_free(&d);
}

static void communication_under_computation_is_not_exposed(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "k", 1000);
		program_launch(&p, 1, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 500);
	}
	struct diagnosed d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "comm-exposed");
	diagnosed_free(&d);
}

/* Gradients that a thread copies to the host, exchanges for 'us', and copies back. */
static struct diagnosed exchanged_by(const char *thread)
{
	struct program p = program_new();
	program_trace(&p)->threads[p.threads[1]].name = hwy_text_id(p.builder, thread);
	for (int step = 0; step < 20; step++) {
		program_step(&p, step);
		for (int k = 0; k < 5; k++)
			program_launch(&p, 0, "at::native::backward", 100);
		p.thread = 1;
		program_copy(&p, 0, HWY_D2H, 1 << 22, HWY_MEM_PINNED, 100, true);
		program_compute(&p, 3000);
		program_copy(&p, 0, HWY_H2D, 1 << 22, HWY_MEM_PINNED, 100, true);
		p.thread = 0;
	}
	return program_diagnose(&p);
}

static void data_that_gloo_carries_to_other_ranks_makes_no_round_trip(void **state)
{
	struct diagnosed d = exchanged_by("pt_gloo_runloop");
	ASSERT_NOT_ACCUSED(&d, "copy-roundtrip");
	ASSERT_NOT_ACCUSED(&d, "input-starved");
	ASSERT_ACCUSED(&d, "comm-exposed");
	assert_int_equal(d.diagnosis.verdict.word, VERDICT_COMM);
	assert_string_equal(d.diagnosis.findings[0].kind->id, "comm-exposed");
	assert_non_null(strstr(d.diagnosis.findings[0].advice, "nccl"));
	diagnosed_free(&d);
	d = exchanged_by("worker");
	ASSERT_NOT_ACCUSED(&d, "comm-exposed");
	ASSERT_ACCUSED(&d, "copy-roundtrip");
	diagnosed_free(&d);
}

/* Data that goes to the host, to another rank by MPI, and other data back; small: only a word is exchanged between the copies. */
static struct diagnosed carried_by_mpi(bool small)
{
	struct program p = program_new();
	struct hwy_lane lane = hwy_lane_of(HWY_LANE_CALL, p.process, p.threads[0]);
	lane.name = hwy_text_id(p.builder, "MPI");
	uint32_t calls = hwy_add_lane(p.builder, lane);
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "k", 500);
		program_copy(&p, 0, HWY_D2H, MB, HWY_MEM_PAGEABLE, 100, true);
		struct hwy_row row = {0};
		row.v[HWY_START] = p.cpu;
		row.v[HWY_DUR] = US(300);
		row.v[HWY_NAME] = hwy_text_id(p.builder, "MPI_Allreduce");
		struct hwy_message message = hwy_message_none();
		hwy_message_at(&message.span, hwy_add_span(p.builder, calls, HWY_CALL, &row));
		message.kind = HWY_MESSAGE_COLLECTIVE;
		message.process = p.process;
		message.library = hwy_text_id(p.builder, "MPI");
		message.name = hwy_text_id(p.builder, "AllReduce");
		message.sent = message.received = small ? 8 : MB;
		hwy_add_message(p.builder, &message);
		program_compute(&p, 300);
		program_copy(&p, 0, HWY_H2D, MB, HWY_MEM_PAGEABLE, 100, true);
		program_launch(&p, 0, "k", 500);
	}
	return program_diagnose(&p);
}

static void data_that_mpi_carries_to_other_ranks_makes_no_round_trip(void **state)
{
	struct diagnosed d = carried_by_mpi(false);
	ASSERT_NOT_ACCUSED(&d, "copy-roundtrip");
	diagnosed_free(&d);
	d = carried_by_mpi(true);
	ASSERT_ACCUSED(&d, "copy-roundtrip");
	diagnosed_free(&d);
}

/* Collectives on a stream of their own, which begin when the computation has ended. */
static struct diagnosed collectives(int n, int64_t us)
{
	struct program p = program_new();
	for (int step = 0; step < 20; step++) {
		program_step(&p, step);
		for (int k = 0; k < 20; k++)
			program_launch(&p, 0, "at::native::backward", 100);
		p.stream_free[1] = p.stream_free[0];
		for (int k = 0; k < n; k++)
			program_launch(&p, 1, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", us);
		p.stream_free[0] = p.stream_free[1];
	}
	return program_diagnose(&p);
}

static void short_collectives_need_larger_messages_and_long_ones_smaller(void **state)
{
	struct diagnosed d = collectives(60, 11);
	ASSERT_ACCUSED(&d, "comm-exposed");
	assert_non_null(strstr(accused(&d, "comm-exposed")->advice, "larger buckets"));
	diagnosed_free(&d);
	d = collectives(4, 400);
	ASSERT_ACCUSED(&d, "comm-exposed");
	assert_non_null(strstr(accused(&d, "comm-exposed")->advice, "smaller buckets"));
	assert_null(strstr(d.diagnosis.outlooks[0].ncu, "nccl")); /* it would never end */
	diagnosed_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_that_gloo_carries_to_other_ranks_makes_no_round_trip),
		cmocka_unit_test(data_that_mpi_carries_to_other_ranks_makes_no_round_trip),
		cmocka_unit_test(short_collectives_need_larger_messages_and_long_ones_smaller),
		cmocka_unit_test(large_copies_from_pageable_memory_are_accused_before_their_order),
		cmocka_unit_test(small_pageable_copies_are_acquitted),
		cmocka_unit_test(data_that_comes_back_is_a_round_trip),
		cmocka_unit_test(data_that_is_parked_on_the_host_comes_back_last_first),
		cmocka_unit_test(chunks_that_stream_through_are_no_round_trip),
		cmocka_unit_test(many_small_copies_are_latency),
		cmocka_unit_test(small_copies_under_kernels_are_acquitted),
		cmocka_unit_test(copies_between_kernels_of_one_stream_are_serial),
		cmocka_unit_test(copies_under_kernels_are_not_serial),
		cmocka_unit_test(a_full_link_is_copy_bandwidth),
		cmocka_unit_test(communication_without_computation_is_exposed),
		cmocka_unit_test(communication_alone_has_nothing_to_hide_behind),
		cmocka_unit_test(a_small_copy_that_holds_the_cpu_is_not_to_be_pinned),
		cmocka_unit_test(communication_under_computation_is_not_exposed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
