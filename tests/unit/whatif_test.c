/* whatif_test.c - edits and predictions on programs whose answer is known. */
#include "program.h"

#include "replay/whatif.h"

struct opened {
	struct hwy_trace *trace;
	struct hwy_analysis analysis;
	struct whatif w;
};

static void open_whatif(struct opened *o, struct program *p, bool all)
{
	struct hwy_err err;
	struct analysis_options options = {0};
	program_end_step(p);
	o->trace = hwy_builder_finish(p->builder, false);
	assert_true(analysis_make(&o->analysis, o->trace, &options, &err));
	assert_true(whatif_open(&o->w, &o->analysis, o->analysis.phases.main, all, &err));
}

static void close_whatif(struct opened *o)
{
	whatif_close(&o->w);
	analysis_free(&o->analysis);
	hwy_trace_free(o->trace);
}

static int64_t predicted(const struct opened *o, const char *text)
{
	struct whatif_edit edit;
	struct whatif_prediction p;
	struct hwy_err err;
	assert_true(edit_read(text, &edit));
	return whatif_predict(&o->w, &edit, 1, &p, &err) ? p.step : -1;
}

/* ---- excerpts ------------------------------------------------------------------------------------- */

/* So long that a part of it stands for the whole; some steps, more of them towards the end, take far longer. */
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

/* Four streams, begun 5 us after each other; in every step each is held up for 60 us by something unknown. */
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
		assert_true(o.w.recorded <
			    4 * US(60)); /* added up they were more than all the time */
		double unexplained = o.w.quality.residual * (double)o.w.recorded;
		assert_in_range((int64_t)unexplained, US(73), US(77));
		close_whatif(&o);
	}
}

/* ---- edits ---------------------------------------------------------------------------------------- */

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

/* The CPU is in the OS for 500 us, then asks for something small, then launches: the work ends the gap all the same. */
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
		{"faster:gpu", false},   {"straggler", true},
		{"straggler:3", true},   {"straggler:last", false},
		{"straggler:-1", false}, {"remove-wait:a", true},
		{"pin", true},
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_excerpt_stands_for_the_whole_phase),
		cmocka_unit_test(what_holds_up_several_streams_at_once_is_unexplained_once),
		cmocka_unit_test(an_edit_that_does_not_apply_changes_nothing),
		cmocka_unit_test(work_before_other_calls_moves_to_the_background_too),
		cmocka_unit_test(arguments_are_checked_without_a_recording),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
