/* SPDX-License-Identifier: Apache-2.0 */
/* whatif_test.c - what predictions stand on: excerpts, quality, what recording costs. */
#include "opened_whatif.h"

#include "whatif/replay.h"

/* ---- excerpts ------------------------------------------------------------------------------------- */

/* So long that a part of it stands for the whole; some steps, more of them towards the end, take
 * far longer. */
static struct program long_program(void)
{
	struct program p = program_new();
	for (int step = 0; step < 1500; step++) {
		program_step(&p, step);
		for (int k = 0; k < 30; k++)
			program_launch(&p, 0, "k", 8);
		program_sync(&p, 0);
		program_compute(&p, step % 37 == 0 || (step > 1000 && step % 5 == 0) ? 1000 : 40);
	}
	return p;
}

static void an_excerpt_stands_for_the_whole_phase(void **state)
{
	(void)state;
	static const char *const edits[] = {"remove-wait", "faster:gpu:50", "background", NULL};
	struct program p = long_program(), same = long_program();
	struct opened whole, part;
	open_whatif(&whole, &p, true);
	open_whatif(&part, &same, false);
	assert_true(part.w.graph.n < whole.w.graph.n);
	assert_int_equal(part.w.recorded, whole.w.recorded);
	assert_in_range(part.w.base.step, whole.w.base.step * 99 / 100,
			whole.w.base.step * 101 / 100);
	for (const char *const *edit = edits; *edit; edit++) {
		int64_t real = predicted(&whole, *edit);
		assert_in_range(predicted(&part, *edit), real * 97 / 100, real * 103 / 100);
	}
	close_whatif(&whole);
	close_whatif(&part);
}

/* ---- quality -------------------------------------------------------------------------------------- */

/* Four streams, begun 5 us after each other; in every step each is held up for 60 us by
 * something unknown. */
static struct program held_up_program(void)
{
	struct program p = program_new();
	for (int step = 0; step < 2500; step++) {
		program_step(&p, step);
		for (int k = 0; k < 4; k++)
			for (int stream = 0; stream < 4; stream++) {
				p.stream_free[stream] += k == 3 ? US(60) : 0;
				program_launch(&p, stream, "k", 25);
			}
		program_sync(&p, 3);
	}
	return p;
}

static void what_holds_up_several_streams_at_once_is_unexplained_once(void **state)
{
	(void)state;
	for (int all = 0; all < 2; all++) {
		struct program p = held_up_program();
		struct opened o;
		open_whatif(&o, &p, all);
		assert_true(all == !o.w.excerpt);
		assert_true(o.w.recorded < 4 * US(60)); /* more than all the time if added up */
		double unexplained = o.w.quality.residual * (double)o.w.recorded;
		assert_in_range((int64_t)unexplained, US(73), US(77));
		close_whatif(&o);
	}
}

/* A copy to the host whose call returns 300 us after it: the driver copied it on, or nobody
 * knows why. */
static double unexplained_after_copy(enum hwy_memory_kind memory)
{
	struct program p = program_new();
	for (int step = 0; step < 20; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "k", 100);
		program_copy_held(&p, 0, HWY_D2H, 4000000, memory, 200);
		for (int i = 0; i < 3; i++) /* most return soon: that is how long it takes */
			program_copy_held(&p, 0, HWY_D2H, 4, HWY_MEM_PINNED, 1);
		struct hwy_row copy = {0};
		copy.v[HWY_BYTES] = 4000000;
		copy.v[HWY_DIRECTION] = HWY_D2H;
		copy.v[HWY_SRC_MEMORY] = HWY_MEM_DEVICE;
		copy.v[HWY_DST_MEMORY] = memory;
		copy.v[HWY_START] = p.cpu + US(8);
		copy.v[HWY_DUR] = US(200);
		copy.v[HWY_CORR] = p.corr + 1;
		hwy_add_span(p.builder, p.lanes[0], HWY_COPY, &copy);
		program_call(&p, "cudaMemcpyAsync", 508);
		p.stream_free[0] = p.cpu;
	}
	struct opened o;
	open_whatif(&o, &p, true);
	double share = o.w.quality.residual;
	close_whatif(&o);
	return share;
}

static void what_the_driver_copies_on_is_explained(void **state)
{
	(void)state;
	assert_true(unexplained_after_copy(HWY_MEM_PAGEABLE) < 0.05);
	assert_true(unexplained_after_copy(HWY_MEM_PINNED) > 0.25);
}

/* ---- what recording costs ------------------------------------------------------------------------- */

static uint32_t own_lane(struct program *p, const char *name, int thread)
{
	struct hwy_lane lane = hwy_lane_of(HWY_LANE_OVERHEAD, p->process, p->threads[thread]);
	lane.name = hwy_text_id(p->builder, name);
	return hwy_add_lane(p->builder, lane);
}

/* The recorder takes 15 us in every step, on a lane of that name: in the work between two calls,
 * or inside a call. */
static int64_t base_with_own_time(const char *lane_name, int thread, bool inside)
{
	struct program p = program_new();
	uint32_t own = own_lane(&p, lane_name, thread);
	for (int step = 0; step < 20; step++) {
		program_step(&p, step);
		for (int k = 0; k < 10; k++) {
			program_launch(&p, 0, "k", 2);
			program_compute(&p, 20);
		}
		if (inside)
			program_call(&p, "cudaEventQuery", 20);
		program_span(&p, own, HWY_OVERHEAD, p.cpu - US(17), p.cpu - US(2), "stack");
		program_span(&p, own, HWY_OVERHEAD, p.cpu - US(12), p.cpu - US(5), "part of it");
	}
	struct opened o;
	open_whatif(&o, &p, true);
	int64_t base = o.w.base.step - o.w.recorded;
	close_whatif(&o);
	return base;
}

static void what_the_recorder_timed_of_itself_is_taken_out(void **state)
{
	(void)state;
	assert_int_equal(base_with_own_time("profiler", 0, false), -US(15));
	assert_int_equal(base_with_own_time("profiler", 0, true), -US(15));
	assert_int_equal(base_with_own_time("cuda", 0, false), 0);
	assert_int_equal(base_with_own_time("profiler", 1, false), 0);
}

static void the_recorders_time_before_the_first_call_is_nobodys(void **state)
{
	(void)state;
	enum { OTHERS = 4 };
	struct program p = program_new();
	program_span(&p, own_lane(&p, "profiler", 1), HWY_OVERHEAD, 0, p.cpu, "stack");
	for (int step = 0; step < 10; step++) {
		program_step(&p, step);
		for (int k = 0; k < OTHERS; k++)
			program_launch(&p, 0, "k", 20);
		program_compute(&p, 50);
		p.thread = 1;
		program_call(&p, "cudaEventRecord", 1);
		p.thread = 0;
	}
	struct opened o;
	open_whatif(&o, &p, true);
	uint32_t node = graph_call(&o.w.graph, OTHERS);
	assert_int_equal(o.w.graph.nodes[node].delay, US(50));
	close_whatif(&o);
}

/* Ten launches a step, so much work of the CPU's before each; streams of their own, or these
 * would be the limit. */
static int64_t cost_of_ten_launches(int64_t work)
{
	struct program p = program_new();
	calibrate(&p, "cost.launch", 1000);
	calibrate(&p, "machine.launch", 7000);
	for (int step = 0; step < 20; step++) {
		program_step(&p, step);
		for (int k = 0; k < 10; k++) {
			p.cpu += work;
			program_launch(&p, k % PROGRAM_STREAMS, "k", 2);
		}
	}
	struct opened o;
	open_whatif(&o, &p, true);
	int64_t cost = o.w.recorded - o.w.base.step;
	close_whatif(&o);
	return cost;
}

static void a_launch_after_other_work_costs_more_to_record(void **state)
{
	(void)state;
	assert_in_range(cost_of_ten_launches(100), 10 * 1000, 10 * (1000 + 200));
	/* 2 us where a launch takes 3.5; here it takes twice that */
	assert_int_equal(cost_of_ten_launches(US(20)), 10 * (1000 + 2 * 2000));
}

/* A step of a launch and, 1 us later, a wait; without the wait. */
static int64_t step_without_wait(int64_t cost)
{
	struct program p = program_new();
	calibrate(&p, "cost.sync", cost);
	for (int step = 0; step < 20; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "k", 2);
		program_compute(&p, 1);
		program_sync(&p, 0);
	}
	return predicted_of(&p, "remove-wait");
}

static void some_of_what_recording_costs_lies_before_the_call(void **state)
{
	(void)state;
	/* A twelfth of the pause is gone with the wait before it. */
	assert_int_equal(step_without_wait(0) - step_without_wait(300), 300 * 11 / 12);
	assert_in_range(step_without_wait(0) - step_without_wait(1000), 400 * 11 / 12,
			400 * 11 / 12 + 1);
}

/* One step: 5 ms in the OS, ten launches of 50 us, and 2 ms in the OS after the work. 'before':
 * another program part, with a call of its own, comes 1 ms before the step. */
static struct program one_step(bool before)
{
	struct program p = program_new();
	if (before) {
		program_call(&p, "cudaMalloc", 10);
		program_compute(&p, 1000);
	}
	program_step(&p, 0);
	program_os(&p, "read", 5000);
	for (int k = 0; k < 10; k++)
		program_launch(&p, 0, "k", 50);
	program_sync(&p, 0);
	program_os(&p, "write", 2000);
	return p;
}

static void a_single_step_counts_the_cpus_time_before_and_after_its_work(void **state)
{
	(void)state;
	for (int before = 0; before < 2; before++) {
		struct program p = one_step(before);
		struct opened o;
		open_whatif(&o, &p, true);
		const struct hwy_phase *phase = &o.analysis.phases.phases[o.analysis.phases.main];
		assert_int_equal(phase->n_steps, 1);
		assert_int_equal(o.w.recorded, phase->mean);
		assert_true(o.w.recorded > US(5000 + 500 + 2000));
		/* The device waits for the first 5 ms only; the last 2 ms end no gap with a
		 * launch. */
		int64_t step = predicted(&o, "background");
		assert_in_range(step, US(2500), US(2600));
		assert_in_range(predicted(&o, "faster:cpu:50"), US(1200), o.w.recorded - US(2400));
		close_whatif(&o);
	}
}

/* Kernels of 100 us on two streams take turns because the CPU launches one in 150 us. */
static struct program by_turns(const char *format)
{
	struct program p = program_new();
	hwy_add_property(p.builder, "source.format", format);
	for (int step = 0; step < 10; step++) {
		program_step(&p, step);
		for (int k = 0; k < 10; k++) {
			program_compute(&p, 145);
			program_launch(&p, k % 2, "k", 100);
		}
	}
	return p;
}

static void work_whose_order_is_not_recorded_overlaps_no_more_than_it_did(void **state)
{
	(void)state;
	static const char *const edits[] = {"graph", "faster:cpu:90"};
	for (int i = 0; i < 2; i++) {
		struct program unknown = by_turns("kineto"), known = by_turns("headway");
		assert_int_equal(predicted_of(&unknown, edits[i]), US(1000));
		assert_in_range(predicted_of(&known, edits[i]), US(500), US(600));
	}
	struct program p = by_turns("kineto");
	struct opened o;
	open_whatif(&o, &p, true);
	struct whatif_edit both[2];
	struct whatif_prediction found;
	struct hwy_err err;
	assert_true(edit_read("faster:gpu:50", &both[0]) && edit_read("faster:cpu:90", &both[1]));
	assert_true(whatif_predict(&o.w, both, 2, &found, &err));
	assert_int_equal(found.step, US(500)); /* only the work that stays counts */
	close_whatif(&o);
}

/* The bar's width as a share of the step, of a program that was recorded with samples or without. */
static double bar_width(bool with_samples)
{
	struct program p = program_new();
	hwy_add_property(p.builder, "source.format", "headway");
	uint32_t lane =
		hwy_add_lane(p.builder, hwy_lane_of(HWY_LANE_SAMPLES, p.process, p.threads[0]));
	for (int step = 0; step < 20; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "k", 100);
		if (with_samples)
			program_span(&p, lane, HWY_SAMPLE, p.cpu, p.cpu, "sample");
	}
	struct opened o;
	open_whatif(&o, &p, true);
	assert_int_equal(o.w.machine.has_samples, with_samples);
	double width = (double)(o.w.base.p90 - o.w.base.p10) / (double)o.w.base.step;
	close_whatif(&o);
	return width;
}

static void samples_make_the_step_without_the_recorder_unsure(void **state)
{
	(void)state;
	assert_true(bar_width(true) > bar_width(false) + 0.3);
}

/* A collective on a stream of its own, and work that begins so many us after its end; no event is recorded. */
static struct program program_that_meets(int64_t after_us)
{
	struct program p = program_new();
	for (int step = 0; step < 10; step++) {
		program_step(&p, step);
		p.stream_free[1] = program_launch(&p, 0, "k", 100);
		p.stream_free[0] =
			program_launch(&p, 1, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 400) +
			US(after_us) - p.between;
		program_launch(&p, 0, "after", 50);
		program_sync(&p, 0);
	}
	return p;
}

/* How many ops of the first stream wait for an op of the second. */
static uint32_t count_awaited(const struct hwy_graph *graph)
{
	uint32_t found = 0;
	for (uint32_t i = 0; i < graph->n; i++) {
		const struct graph_node *node = &graph->nodes[i];
		uint32_t before = node->before[GRAPH_OTHER];
		if (node->kind != GRAPH_OP || before == GRAPH_NONE)
			continue;
		found += graph->flow->ops[node->flow_index].class != HWY_COMM &&
			 graph->flow->ops[graph->nodes[before].flow_index].class == HWY_COMM;
	}
	return found;
}

static void work_that_begins_right_after_a_collective_waited_for_it(void **state)
{
	(void)state;
	for (int64_t after_us = 4; after_us <= 40; after_us += 36) {
		struct program p = program_that_meets(after_us);
		struct opened o;
		open_whatif(&o, &p, true);
		assert_int_equal(count_awaited(&o.w.graph), after_us == 4 ? 10 : 0);
		assert_int_equal(o.w.quality.differ, 0);
		close_whatif(&o);
	}
}

/* ---- kernels that overlap the kernel ahead of them ------------------------------------------------- */

/* Kernels of one stream begin up to 2 µs before the kernel ahead of them ends, as programmatic dependent launch lets
 * them. The CPU runs ahead of them; after each step it waits, and works. *work: ns of a step in which a kernel runs. */
static struct program overlapping_program(uint64_t seed, int64_t *work)
{
	enum { STEPS = 12, KERNELS = 20 };
	struct dice dice = {seed};
	int64_t lengths[KERNELS], between[KERNELS];
	*work = 0;
	for (int k = 0; k < KERNELS; k++) {
		lengths[k] = US(10) + roll_below(&dice, US(k % 7 == 0 ? 300 : 40));
		between[k] = k == 0 || k % 5 == 4 ? 500 : -1 - roll_below(&dice, 2000);
		*work += lengths[k] + (between[k] < 0 ? between[k] : 0);
	}
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		p.stream_free[0] = p.cpu + US(200);
		for (int k = 0; k < KERNELS; k++) {
			p.between = between[k];
			program_launch_ns(&p, 0, "k", lengths[k]);
		}
		program_sync(&p, 0);
		program_compute(&p, 700);
	}
	return p;
}

static int64_t predicted_with(const struct opened *o, const char *const *texts, uint32_t n)
{
	struct whatif_edit edits[4];
	struct whatif_prediction p;
	struct hwy_err err;
	for (uint32_t i = 0; i < n; i++)
		assert_true(edit_read(texts[i], &edits[i]));
	if (!whatif_predict(&o->w, edits, n, &p, &err))
		fail_msg("%s", err.text);
	return p.step;
}

static void no_edit_makes_a_step_shorter_than_its_streams_overlapping_work(void **state)
{
	(void)state;
	static const char *const edits[] = {"graph", "remove-wait", "faster:cpu:95"};
	for (uint64_t seed = 0; seed < 20; seed++) {
		int64_t work;
		struct program p = overlapping_program(seed, &work);
		struct opened o;
		open_whatif(&o, &p, true);
		assert_int_equal(o.w.quality.differ, 0); /* replaying it is exact */
		for (uint32_t set = 1; set < 8; set++) {
			const char *chosen[3];
			uint32_t n = 0;
			for (uint32_t i = 0; i < 3; i++)
				if (set >> i & 1)
					chosen[n++] = edits[i];
			assert_true(predicted_with(&o, chosen, n) >= work);
		}
		close_whatif(&o);
	}
}

/* Each kernel still follows the kernel ahead of it, and overlaps it by no more than was seen. */
static void kernels_in_a_graph_overlap_as_they_did(void **state)
{
	(void)state;
	int64_t work;
	struct program p = overlapping_program(7, &work);
	struct opened o;
	open_whatif(&o, &p, true);
	struct whatif_edit edit;
	struct hwy_graph graph;
	struct hwy_err err;
	char note[WHATIF_NOTE];
	uint32_t overlaps = 0;
	assert_true(edit_read("graph", &edit));
	assert_true(whatif_apply(&o.w, &edit, 1, &graph, note, &err));
	int64_t *ends = hwy_array(graph.n, sizeof *ends);
	replay_run(&graph, ends);
	for (uint32_t op = 1; op < o.w.flow->n_ops; op++) {
		uint32_t node = graph_op(&graph, op), ahead = graph_op(&graph, op - 1);
		int64_t seen = o.w.flow->ops[op - 1].end - o.w.flow->ops[op].start;
		int64_t now = ends[ahead] - replay_begin(&graph, ends, node);
		assert_true(now <= (seen > 0 ? seen : 0));
		overlaps += now > 0;
	}
	assert_true(overlaps > 100);
	free(ends);
	graph_free(&graph);
	close_whatif(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_excerpt_stands_for_the_whole_phase),
		cmocka_unit_test(what_holds_up_several_streams_at_once_is_unexplained_once),
		cmocka_unit_test(what_the_driver_copies_on_is_explained),
		cmocka_unit_test(what_the_recorder_timed_of_itself_is_taken_out),
		cmocka_unit_test(the_recorders_time_before_the_first_call_is_nobodys),
		cmocka_unit_test(a_launch_after_other_work_costs_more_to_record),
		cmocka_unit_test(some_of_what_recording_costs_lies_before_the_call),
		cmocka_unit_test(a_single_step_counts_the_cpus_time_before_and_after_its_work),
		cmocka_unit_test(work_whose_order_is_not_recorded_overlaps_no_more_than_it_did),
		cmocka_unit_test(work_that_begins_right_after_a_collective_waited_for_it),
		cmocka_unit_test(no_edit_makes_a_step_shorter_than_its_streams_overlapping_work),
		cmocka_unit_test(kernels_in_a_graph_overlap_as_they_did),
		cmocka_unit_test(samples_make_the_step_without_the_recorder_unsure),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
