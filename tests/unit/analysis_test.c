/* SPDX-License-Identifier: Apache-2.0 */
/* analysis_test.c - all measures of a trace in one call: of recordings, of random traces, and refused. */
#include "make_trace.h"

#include "analyze/analysis.h"
#include "recordings.h"

static char *folder;

/* The measures of a phase are of its window: states add up to it, causes to the idle time. */
static void check(const struct hwy_analysis *analysis)
{
	for (uint32_t p = 0; p < analysis->phases.n; p++) {
		const struct hwy_phase *phase = &analysis->phases.phases[p];
		for (uint32_t d = 0; d < analysis->flow.n_devices; d++) {
			const struct gap_states *states = &analysis->measures[p].gaps.devices[d];
			int64_t idle = 0;
			for (int c = 0; c < GAP_CAUSES; c++)
				idle += states->causes[c];
			assert_int_equal(states->window, phase->window.to - phase->window.from);
			assert_int_equal(states->busy + states->idle, states->window);
			assert_int_equal(idle, states->idle);
		}
		assert_non_null(analysis->measures[p].leads);
	}
	assert_non_null(analysis->places);
}

static void every_phase_of_a_recording_is_measured(void **state)
{
	static const char *const names[] = {
		"nsys/power_base.sqlite.xz",          "nsys/streams_pinned4.sqlite.xz",
		"nsys/graphs_node.sqlite.xz",         "nsys/two_processes.sqlite.xz",
		"nsys/unified_memory.sqlite.xz",      "nsys/streams_pageable1.sqlite.xz",
		"nsys/mixed_nodes.sqlite.xz",         "nsys/mlp_sync.sqlite.xz",
		"nsys/decode_graph.sqlite.xz",        "torch/starve_0.json.gz",
		"public-nsys/h100_2gpu_1s.sqlite.xz",
	};
	unsigned seen = 0;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct hwy_trace *trace = recording_open(names[i], folder);
		struct hwy_analysis analysis;
		struct hwy_err err;
		if (!trace)
			continue;
		seen++;
		assert_true(analysis_make(&analysis, trace,
					  &(struct analysis_options){.cells = 100}, &err));
		assert_true(analysis.phases.n >= 1);
		check(&analysis);
		analysis_free(&analysis);
		hwy_trace_free(trace);
	}
	assert_true(seen >= 10); /* those of the repository */
}

static void nothing_that_a_trace_may_hold_breaks_an_analysis(void **state)
{
	for (uint64_t seed = 100; seed < 150; seed++) {
		struct hwy_trace *trace = random_trace(seed, 30, 500);
		struct hwy_analysis analysis;
		struct hwy_err err;
		assert_true(analysis_make(&analysis, trace, &(struct analysis_options){.cells = 10},
					  &err));
		check(&analysis);
		analysis_free(&analysis);
		hwy_trace_free(trace);
	}
}

static void a_step_that_is_not_there_refuses_the_analysis_and_leaves_nothing(void **state)
{
	struct hwy_trace *trace = random_trace(7, 30, 500);
	struct hwy_analysis analysis;
	struct hwy_err err;
	assert_false(analysis_make(&analysis, trace, &(struct analysis_options){.step = "nowhere"},
				   &err));
	assert_non_null(strstr(err.text, "nowhere"));
	hwy_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_phase_of_a_recording_is_measured),
		cmocka_unit_test(nothing_that_a_trace_may_hold_breaks_an_analysis),
		cmocka_unit_test(a_step_that_is_not_there_refuses_the_analysis_and_leaves_nothing),
	};
	folder = make_folder();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	drop_folder(folder);
	return failed;
}
