/* SPDX-License-Identifier: Apache-2.0 */
/* whatif_edits_test.c - edits, on programs whose answer is known. */
#include "opened_whatif.h"

/* Nothing but kernels: no copies, waits, allocations, input or communication. */
static struct program plain_program(void)
{
	struct program p = program_new();
	for (int step = 0; step < 10; step++) {
		program_step(&p, step);
		for (int k = 0; k < 4; k++)
			program_launch(&p, k % 2, "k", 50);
	}
	return p;
}

static void an_edit_that_does_not_apply_changes_nothing(void **state)
{
	(void)state;
	static const char *const arguments[] = {"", "4", "gpu:10", "nothing:10"};
	struct program p = plain_program();
	struct opened o;
	uint32_t refused = 0;
	open_whatif(&o, &p, true);
	for (size_t i = 0; edit_kinds[i]; i++)
		for (size_t k = 0; k < sizeof arguments / sizeof *arguments; k++) {
			struct hwy_err err;
			struct hwy_graph graph = graph_copy(&o.w.graph);
			struct editing e = {.w = &o.w,
					    .flow = graph.flow,
					    .graph = &graph,
					    .places = o.analysis.places};
			if (!edit_kinds[i]->apply(&e, arguments[k], &err)) {
				refused++;
				assert_int_equal(graph.n_extras, o.w.graph.n_extras);
				assert_memory_equal(graph.nodes, o.w.graph.nodes,
						    graph.n * sizeof *graph.nodes);
			}
			graph_free(&graph);
		}
	assert_true(refused > 30);
	close_whatif(&o);
}

/* The CPU is in the OS for 500 us, then asks for something small, then launches: the work ends
 * the gap all the same. */
static void work_before_other_calls_moves_to_the_background_too(void **state)
{
	(void)state;
	int64_t steps[2];
	for (int calls = 0; calls < 2; calls++) {
		struct program p = program_new();
		for (int step = 0; step < 20; step++) {
			program_step(&p, step);
			for (int k = 0; k < 10; k++)
				program_launch(&p, 0, "k", 20);
			program_os(&p, "write", 500);
			for (int i = 0; i < 3 * calls; i++)
				program_call(&p, "cudaEventRecord", 1);
		}
		struct opened o;
		open_whatif(&o, &p, true);
		assert_true(o.w.base.step > US(500));
		steps[calls] = predicted(&o, "background");
		close_whatif(&o);
	}
	assert_in_range(steps[0], US(200), US(260));
	assert_in_range(steps[1], US(200), US(270));
}

/* Two streams take turns, and the CPU waits for each. */
static struct program two_streams(void)
{
	struct program p = program_new();
	for (int step = 0; step < 20; step++) {
		program_step(&p, step);
		for (int s = 0; s < 2; s++) {
			program_launch(&p, s, "k", 1);
			program_sync(&p, s);
		}
	}
	return p;
}

/* A launch of 4.5 us, as the table has it, and two calls of 0.4 for the event. */
static void an_event_takes_the_place_of_a_wait_between_streams(void **state)
{
	(void)state;
	struct program p = two_streams();
	struct opened o;
	open_whatif(&o, &p, true);
	assert_in_range(predicted(&o, "remove-wait"), 2 * (4500 + 800), 2 * (4500 + 800) + 300);
	close_whatif(&o);
}

/* cudaFree waits for the device, but a program that no longer waits frees its memory all the same. */
static void calls_that_free_memory_are_no_waits_to_leave_out(void **state)
{
	(void)state;
	struct program p = program_new();
	for (int step = 0; step < 20; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "k", 300);
		program_sync(&p, 0);
		program_compute(&p, 50);
		program_launch(&p, 0, "k", 300);
		program_wait(&p, "cudaFree");
		program_compute(&p, 100);
	}
	struct opened o;
	open_whatif(&o, &p, true);
	/* The GPU idles behind cudaFree as before: a program without the other wait is no faster than the work
	 * up to it, and what follows. */
	int64_t before = o.w.base.step, after = predicted(&o, "remove-wait");
	assert_true(after <= before - US(40));
	assert_true(after >= US(600 + 100));
	close_whatif(&o);
}

static void a_decision_on_the_device_is_two_launches(void **state)
{
	(void)state;
	struct program p = program_new();
	for (int step = 0; step < 20; step++) {
		program_step(&p, step);
		for (int k = 0; k < 4; k++) {
			program_compute(&p, 10);
			program_launch(&p, 0, "k", 2);
			program_sync(&p, 0);
		}
	}
	struct opened o;
	open_whatif(&o, &p, true);
	int64_t more = predicted(&o, "decide-on-gpu") - predicted(&o, "remove-wait");
	/* with the usual work before them */
	assert_in_range(more, 8 * (US(9) + 4500), 8 * (US(10) + 4500));
	close_whatif(&o);
}

/* A step reads for 40 ms, copies the batch to the device and computes for 500 us. */
static void workers_go_on_while_a_batch_is_taken_over(void **state)
{
	(void)state;
	struct program p = program_new();
	for (int step = 0; step < 20; step++) {
		program_step(&p, step);
		program_os(&p, "read", 40000);
		program_copy_held(&p, 0, HWY_H2D, 1600000, HWY_MEM_PAGEABLE, 300);
		program_launch(&p, 0, "k", 500);
		program_sync(&p, 0);
	}
	struct opened o;
	open_whatif(&o, &p, true);
	/* What a worker makes takes 1 ms to take over, and the memory copy of what any has made
	 * 0.1 ms. */
	int64_t perfect = predicted(&o, "perfect-input");
	assert_in_range(perfect, US(900), US(1000));
	assert_int_equal(predicted(&o, "workers:1000") - perfect, US(1000));
	/* They are the bound, and do not wait for that. */
	assert_in_range(predicted(&o, "workers:4"), US(40000 - 1200) / 4, US(40000) / 4);
	assert_in_range(predicted(&o, "workers:16"), US(40000 - 1200) / 16, US(40000) / 16);
	close_whatif(&o);
}

/* How a value comes to the host: as PyTorch's .item() reads it, after work of its own, with a
 * call in between or other work, by one call that blocks, or by one that blocks and a wait. */
enum reading { READ, READ_DISPATCHED, READ_LATER, READ_MEANWHILE, READ_BLOCKING, READ_TWICE };

/* Steps of four launches, 10 us of other work before each, then a copy to the host and the wait
 * for it. */
static struct program reading_program(int steps, enum reading how, uint64_t bytes,
				      int64_t kernel_us)
{
	struct program p = program_new();
	for (int step = 0; step < steps; step++) {
		program_step(&p, step);
		for (int k = 0; k < 4; k++) {
			program_compute(&p, 10);
			program_launch(&p, 0, "k", kernel_us);
		}
		if (how == READ_DISPATCHED)
			program_compute(&p, 10);
		if (how == READ_BLOCKING || how == READ_TWICE)
			program_copy_by(&p, "cudaMemcpy", 0, HWY_D2H, bytes, HWY_MEM_PAGEABLE, 10);
		else
			program_copy(&p, 0, HWY_D2H, bytes, HWY_MEM_PAGEABLE, 10, false);
		program_compute(&p, how == READ_MEANWHILE ? 300 : 3);
		if (how == READ_LATER)
			program_call(&p, "cudaEventRecord", 1);
		if (how != READ_BLOCKING)
			program_sync(&p, 0);
	}
	return p;
}

static int64_t step_when_read(enum reading how, uint64_t bytes, int64_t kernel_us, const char *edit)
{
	struct program p = reading_program(20, how, bytes, kernel_us);
	return predicted_of(&p, edit);
}

static void a_wait_is_taken_out_once(void **state)
{
	(void)state;
	static const char *const edits[] = {"remove-wait", "wait-every:2", "decide-on-gpu", NULL};
	struct program p = reading_program(20, READ_DISPATCHED, 4, 2);
	struct opened o;
	open_whatif(&o, &p, true);
	for (int i = 0; edits[i]; i++) {
		struct whatif_edit edit[2];
		struct whatif_prediction twice;
		struct hwy_err err;
		assert_true(edit_read(edits[i], &edit[0]));
		assert_true(edit_read(edits[i], &edit[1]));
		assert_true(whatif_predict(&o.w, edit, 2, &twice, &err));
		assert_int_equal(twice.step, predicted(&o, edits[i]));
	}
	close_whatif(&o);
}

/* One kernel, and a value that is read: what one decision takes does not depend on those before
 * it. */
static void decisions_do_not_add_up(void **state)
{
	(void)state;
	for (int steps = 20; steps <= 80; steps *= 4) {
		struct program p = program_new();
		for (int step = 0; step < steps; step++) {
			program_step(&p, step);
			program_launch(&p, 0, "k", 100);
			program_copy(&p, 0, HWY_D2H, 4, HWY_MEM_PAGEABLE, 2, false);
			program_sync(&p, 0);
		}
		struct opened o;
		open_whatif(&o, &p, true);
		assert_in_range(predicted(&o, "decide-on-gpu"), US(200), US(206));
		close_whatif(&o);
	}
}

static void a_value_that_nobody_reads_is_not_copied(void **state)
{
	(void)state;
	/* The launch after a wait that is gone takes 4.5 us, as the table has it, and the CPU's
	 * work between the launches a twelfth less. */
	const int64_t colder = 850 + 3 * 833;
	const int64_t launches = 4 * US(10 + LAUNCH_US) - 500 + 200 - colder;
	const int64_t gap = US(3) - US(3) / 12, copy = US(LAUNCH_US);
	assert_int_equal(step_when_read(READ, 64, 2, "remove-wait"), launches);
	assert_int_equal(step_when_read(READ_TWICE, 8, 2, "remove-wait"), launches);
	/* Of 10 us between the last launch and the copy 8 were for reading, and a twelfth for
	 * colder caches. */
	assert_int_equal(step_when_read(READ_DISPATCHED, 4, 2, "remove-wait"),
			 launches + US(10) - US(10) / 12 - US(8));
	/* A copy that waits elsewhere stays. */
	assert_int_equal(step_when_read(READ_TWICE, 8, 2, "remove-wait:cudaStreamSynchronize"),
			 step_when_read(READ_BLOCKING, 8, 2, "faster:gpu:0") - 500 - colder);
	assert_int_equal(step_when_read(READ_BLOCKING, 4, 2, "remove-wait"), launches + gap);
	/* On the device, too: kernels of 100 us, 1 us apart. */
	const int64_t kernels = 4 * US(101);
	assert_in_range(step_when_read(READ, 64, 100, "remove-wait"), kernels - 50, kernels + 50);
	/* Every other step still reads: it takes as long as before. */
	int64_t mean = (kernels + step_when_read(READ, 4, 100, "faster:gpu:0")) / 2;
	assert_in_range(step_when_read(READ, 4, 100, "wait-every:2"), mean - US(15), mean);
	/* Data that is needed or of unknown size, a copy that is not for this wait only, and
	 * what the CPU does while it is under way stay. */
	assert_int_equal(step_when_read(READ, 0, 2, "remove-wait"), launches + copy + gap);
	assert_int_equal(step_when_read(READ_MEANWHILE, 4, 2, "remove-wait"),
			 launches + colder + copy + US(300) - US(16)); /* no more than that */
	assert_int_equal(step_when_read(READ, 65, 2, "remove-wait"), launches + copy + gap);
	assert_in_range(step_when_read(READ, 65, 100, "remove-wait"), kernels + US(10),
			kernels + US(12));
	assert_int_equal(step_when_read(READ_LATER, 4, 2, "remove-wait"),
			 launches + copy + gap + US(1));
	assert_int_equal(step_when_read(READ, 4, 2, "decide-on-gpu"),
			 launches + 2 * (US(10) + 4500));
	assert_int_equal(step_when_read(READ_TWICE, 4, 2, "decide-on-gpu"),
			 launches + 2 * (US(10) + 4500));
	/* The device decides, and goes over the data as the kernels before did. */
	assert_in_range(step_when_read(READ, 4, 100, "decide-on-gpu"), kernels + US(102),
			kernels + US(104));
}

/* A wait, so much of the CPU's work, then ten launches with 20 us before each of the others. */
static int64_t step_as_graph(int64_t first_us)
{
	struct program p = program_new();
	for (int step = 0; step < 20; step++) {
		program_step(&p, step);
		for (int k = 0; k < 10; k++) {
			program_compute(&p, k == 0 ? first_us : 20);
			program_launch(&p, 0, "k", 2);
		}
		program_sync(&p, 0);
	}
	return predicted_of(&p, "graph");
}

static void a_graph_does_not_dispatch_its_first_launch_either(void **state)
{
	(void)state;
	int64_t alone = step_as_graph(0);
	assert_int_equal(step_as_graph(15), alone);
	/* The program's own work before it stays. */
	assert_int_equal(step_as_graph(100), alone + US(100 - 20) + 200);
	assert_int_equal(step_as_graph(300), alone + US(300 - 20) + 200);
}

/* How much less each of 200 kernels of that length takes as a graph where a node that does
 * nothing takes 'period': against the same where that is not known. */
static int64_t less_in_graph(int64_t length, int64_t period)
{
	enum { KERNELS = 200 };
	int64_t steps[2];
	for (int is_known = 0; is_known < 2; is_known++) {
		struct program p = program_new();
		calibrate(&p, "machine.graph_node_period", is_known ? period : 0);
		for (int step = 0; step < 20; step++) {
			program_step(&p, step);
			for (int k = 0; k < KERNELS; k++)
				program_work(&p, 0, "cudaLaunchKernel", LAUNCH_US, HWY_KERNEL,
					     (struct hwy_row){0}, length);
		}
		struct opened o;
		open_whatif(&o, &p, true);
		steps[is_known] = predicted(&o, "graph");
		close_whatif(&o);
	}
	return (steps[0] - steps[1] + KERNELS / 2) / KERNELS;
}

static void the_shortest_kernels_take_less_in_a_graph_than_they_were_recorded_for(void **state)
{
	(void)state;
	assert_int_equal(less_in_graph(800, 500), 545 - 500);
	/* Less and less, the longer they are; and none takes less than one that does nothing. */
	assert_int_equal(less_in_graph(880, 500), 900 - 880);
	assert_int_equal(less_in_graph(950, 500), 0);
	assert_int_equal(less_in_graph(520, 500), 520 - 500);
	assert_int_equal(less_in_graph(300, 500), 0);
	assert_int_equal(less_in_graph(800, 600), 0);
}

/* 4 MB to the host, 300 us there, and back: two passes over them by the device at 1 TB/s take 16
 * us. */
static void what_a_round_trip_computed_becomes_two_passes_on_the_device(void **state)
{
	(void)state;
	struct program p = program_new();
	for (int step = 0; step < 20; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "k", 100);
		program_copy_held(&p, 0, HWY_D2H, 4000000, HWY_MEM_PAGEABLE, 200);
		program_compute(&p, 300);
		program_copy_held(&p, 0, HWY_H2D, 4000000, HWY_MEM_PAGEABLE, 200);
		program_launch(&p, 0, "k", 100);
		program_sync(&p, 0);
	}
	struct opened o;
	open_whatif(&o, &p, true);
	assert_in_range(predicted(&o, "no-roundtrip"), US(216), US(232));
	close_whatif(&o);
}

/* Launches of 12 us, and so many bytes to the host and back. */
static int64_t step_without_trip(uint64_t bytes)
{
	struct program p = program_new();
	for (int step = 0; step < 20; step++) {
		program_step(&p, step);
		for (int k = 0; k < 10; k++)
			program_work(&p, 0, "cudaLaunchKernel", 12, HWY_KERNEL, (struct hwy_row){0},
				     US(2));
		program_copy_held(&p, 0, HWY_D2H, bytes, HWY_MEM_PAGEABLE, 20);
		program_compute(&p, 300);
		program_copy_held(&p, 0, HWY_H2D, bytes, HWY_MEM_PAGEABLE, 20);
		program_sync(&p, 0);
	}
	return predicted_of(&p, "no-roundtrip");
}

static void launches_are_warm_where_no_large_trip_sweeps_the_caches(void **state)
{
	(void)state;
	/* but for the one right after the trip */
	assert_in_range(step_without_trip(4096), 9 * US(12), 10 * US(12));
	assert_in_range(step_without_trip(1 << 20), 10 * 4500, 10 * 4500 + US(20));
}

/* The step of a program that copies from pageable memory and computes, under 'pin'. */
static int64_t step_when_pinned(const char *call)
{
	struct program p = program_new();
	for (int step = 0; step < 20; step++) {
		program_step(&p, step);
		program_copy_by(&p, call, 0, HWY_H2D, 1 << 20, HWY_MEM_PAGEABLE, 100);
		program_compute(&p, 100);
	}
	return predicted_of(&p, "pin");
}

static void a_pinned_copy_waits_where_it_does_by_contract(void **state)
{
	(void)state;
	int64_t async = step_when_pinned("cudaMemcpyAsync"), sync = step_when_pinned("cudaMemcpy");
	assert_in_range(async, US(100), US(110));
	assert_in_range(sync, async + US(20), US(180)); /* 1 MiB at some 50 GB/s */
}

static void arguments_are_checked_without_a_recording(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool is_good;
	} cases[] = {
		{"streams:4", true},     {"streams:many", false},
		{"streams", false},      {"workers:8", true},
		{"workers:0", false},    {"wait-every:10:train.py:3", true},
		{"wait-every:x", false}, {"faster:gpu:20%", true},
		{"faster:gpu", true},    {"straggler", true},
		{"straggler:3", true},   {"straggler:last", false},
		{"straggler:-1", false}, {"remove-wait:a", true},
		{"pin", true},           {"faster:a::b", true},
		{"faster:a::b=2", true}, {"faster:a=0.5", false},
		{"faster:a:101", false}, {"faster:cpu", false},
		{"faster", false},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct whatif_edit edit;
		struct hwy_err err;
		assert_true(edit_read(cases[i].text, &edit));
		bool is_good = !edit.kind->check || edit.kind->check(edit.arguments, &err);
		if (is_good != cases[i].is_good)
			fail_msg("%s", cases[i].text);
	}
}

/* 20 launches a step, 10 us apart, then a wait and 'between' us of the program's own work; 'within' us of it stand in
 * the middle of the launches, too. */
static int64_t captured_step(int64_t between, int64_t within)
{
	struct program p = program_new();
	for (int step = 0; step < 20; step++) {
		program_step(&p, step);
		for (int k = 0; k < 20; k++) {
			program_compute(&p, k == 10 ? within : 10);
			program_launch(&p, 0, "k", 2);
		}
		program_sync(&p, 0);
		program_compute(&p, between);
	}
	return predicted_of(&p, "graph");
}

static void a_graph_leaves_the_programs_own_work_between_launches(void **state)
{
	(void)state;
	int64_t plain = captured_step(0, 10);
	assert_in_range(plain, US(40), US(80));
	assert_in_range(captured_step(200, 10) - plain, US(195), US(205)); /* after a wait */
	assert_in_range(captured_step(0, 60) - plain, 0, US(1));           /* a slow dispatch */
	assert_in_range(captured_step(0, 200) - plain, US(160),
			US(200)); /* sampling a token, say */
}

/* Kernels of that length and name on a device of compute capability 9, launched far ahead. */
static int64_t step_with_tensor_cores(const char *name, int64_t us, int64_t major)
{
	struct program p = program_new();
	program_trace(&p)->devices[p.device].compute_major = major;
	for (int step = 0; step < 10; step++) {
		program_step(&p, step);
		for (int k = 0; k < 10; k++)
			program_launch(&p, 0, name, us);
	}
	return predicted_of(&p, "tensor-cores");
}

static void tensor_cores_are_as_fast_as_the_devices_rates(void **state)
{
	(void)state;
	static const char sgemm[] = "cutlass_80_simt_sgemm_128x256_8x4_nt_align1";
	/* 494 TFLOPS instead of 67, 80 % of the ratio: 5.9 times as fast */
	assert_in_range(step_with_tensor_cores(sgemm, 2000, 9), US(3300), US(3700));
	/* A short kernel gains less, a device of long ago and a convolution, too. */
	assert_in_range(step_with_tensor_cores(sgemm, 20, 9), US(80), US(120));
	assert_in_range(step_with_tensor_cores(sgemm, 2000, 6), US(20000), US(20010));
	assert_in_range(step_with_tensor_cores("implicit_convolve_sgemm", 2000, 9), US(5300),
			US(6000));
	assert_int_equal(step_with_tensor_cores("sm80_xmma_gemm_tf32f32", 2000, 9), -1);
}

/* A step computes for 300 us, reads a large result back with a call that blocks, then waits for the same work again, as
 * programs do for an event; 200 us of the CPU's own work follow. */
static int64_t step_without_read(const char *second, const char *edit)
{
	struct program p = program_new();
	for (int step = 0; step < 20; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "k", 300);
		program_copy_by(&p, "cudaMemcpy", 0, HWY_D2H, 1 << 20, HWY_MEM_PINNED, 20);
		if (second)
			program_wait(&p, second);
		program_compute(&p, 200);
	}
	return predicted_of(&p, edit);
}

static void two_waits_for_the_same_work_are_one(void **state)
{
	(void)state;
	int64_t one = step_without_read(NULL, "remove-wait:cudaMemcpy");
	assert_in_range(one, US(320), US(330)); /* the device's work */
	assert_in_range(step_without_read("cudaDeviceSynchronize", "remove-wait:cudaMemcpy"),
			US(320), US(330));
	/* A wait for what is over costs nothing: without it the call that waits is still there. */
	assert_in_range(
		step_without_read("cudaDeviceSynchronize", "remove-wait:cudaDeviceSynchronize"),
		US(500), US(540));
	/* In every tenth step both stay. */
	assert_in_range(step_without_read("cudaDeviceSynchronize", "wait-every:10:cudaMemcpy"),
			US(330), US(360));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_edit_that_does_not_apply_changes_nothing),
		cmocka_unit_test(work_before_other_calls_moves_to_the_background_too),
		cmocka_unit_test(an_event_takes_the_place_of_a_wait_between_streams),
		cmocka_unit_test(calls_that_free_memory_are_no_waits_to_leave_out),
		cmocka_unit_test(a_decision_on_the_device_is_two_launches),
		cmocka_unit_test(workers_go_on_while_a_batch_is_taken_over),
		cmocka_unit_test(a_value_that_nobody_reads_is_not_copied),
		cmocka_unit_test(a_wait_is_taken_out_once),
		cmocka_unit_test(decisions_do_not_add_up),
		cmocka_unit_test(a_graph_does_not_dispatch_its_first_launch_either),
		cmocka_unit_test(
			the_shortest_kernels_take_less_in_a_graph_than_they_were_recorded_for),
		cmocka_unit_test(what_a_round_trip_computed_becomes_two_passes_on_the_device),
		cmocka_unit_test(launches_are_warm_where_no_large_trip_sweeps_the_caches),
		cmocka_unit_test(a_pinned_copy_waits_where_it_does_by_contract),
		cmocka_unit_test(arguments_are_checked_without_a_recording),
		cmocka_unit_test(a_graph_leaves_the_programs_own_work_between_launches),
		cmocka_unit_test(tensor_cores_are_as_fast_as_the_devices_rates),
		cmocka_unit_test(two_waits_for_the_same_work_are_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
