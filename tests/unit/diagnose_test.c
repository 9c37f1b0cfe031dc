/* SPDX-License-Identifier: Apache-2.0 */
/* diagnose_test.c - what holds of every diagnosis, on programs made at random; the order of findings; the table. */
#include "make_trace.h"
#include "program.h"

/* A step of random parts: the same in every step, so that it repeats. */
static void random_step(struct program *p, uint64_t seed, int step)
{
	struct dice dice = {seed};
	static const enum hwy_memory_kind kinds[] = {HWY_MEM_PINNED, HWY_MEM_PAGEABLE};
	program_step(p, step);
	int parts = 1 + (int)roll_below(&dice, 30);
	for (int i = 0; i < parts; i++) {
		int stream = (int)roll_below(&dice, 3);
		int64_t us = 1 + roll_below(&dice, 200);
		enum hwy_memory_kind host = kinds[roll_below(&dice, 2)];
		uint64_t bytes = 1u << roll_below(&dice, 26);
		p->thread = (int)roll_below(&dice, 2);
		switch (roll_below(&dice, 10)) {
		case 0: program_copy(p, stream, HWY_H2D, bytes, host, us, false); break;
		case 1: program_copy(p, stream, HWY_D2H, bytes, host, us, true); break;
		case 2: program_sync(p, stream); break;
		case 3: program_compute(p, us * 5); break;
		case 4: program_call(p, "cudaMalloc", us); break;
		case 5: program_launch(p, stream, "ncclDevKernel_AllReduce", us); break;
		case 6: program_copy_held(p, stream, HWY_H2D, bytes, host, us); break;
		case 7: program_os(p, "read", us); break;
		default:
			program_blocks(p, 1 + roll_below(&dice, 300));
			program_launch(p, stream, "sgemm", us);
		}
	}
	p->thread = 0;
	program_launch(p, 0, "last", 10);
}

static void costs_never_exceed_the_step_and_findings_are_in_order(void **state)
{
	for (uint64_t seed = 1; seed <= 150; seed++) {
		struct program p = program_new();
		for (int step = 0; step < 12; step++)
			random_step(&p, seed * 7919, step);
		struct diagnosed d = program_diagnose(&p); /* checks the sums */
		const struct hwy_finding *before = NULL;
		for (uint32_t i = 0; i < d.diagnosis.n; i++) {
			const struct hwy_finding *one = &d.diagnosis.findings[i];
			int64_t places = 0;
			assert_true(one->kind->is_inside || one->share >= HWY_WORTH_SHARE);
			assert_true(*one->says && *one->advice);
			for (uint32_t k = 0; k < one->n_places; k++)
				places += one->places[k].cost;
			assert_true(places <= one->cost + one->n_places);
			enum verdict_word word = d.diagnosis.verdict.word;
			bool same_side = before && before->phase == one->phase &&
					 before->kind->is_inside == one->kind->is_inside &&
					 (before->word == word) == (one->word == word);
			assert_true(!same_side || before->cost >= one->cost);
			before = one;
		}
		for (uint32_t i = 0; i < d.diagnosis.n_acquitted; i++)
			assert_true(d.diagnosis.acquitted[i].share < HWY_WORTH_SHARE);
		diagnosed_free(&d);
	}
}

static void what_holds_of_a_diagnosis_holds_of_any_trace(void **state)
{
	uint32_t phases = 0;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct diagnosed d = {.trace = random_trace(seed, 20, 3000)};
		struct hwy_err err = {""};
		struct analysis_options options = {0};
		assert_true(analysis_make(&d.analysis, d.trace, &options, &err));
		assert_true(diagnose(&d.analysis, &d.diagnosis, &err));
		diagnosed_check(&d);
		phases += d.analysis.phases.n;
		for (uint32_t i = 0; i < d.diagnosis.n; i++) {
			const struct hwy_finding *one = &d.diagnosis.findings[i];
			assert_true(one->phase < d.analysis.phases.n);
			assert_true(one->share >= 0 && one->share <= 1);
			assert_true(*one->says && *one->advice);
		}
		diagnosed_free(&d);
	}
	assert_true(phases > 0); /* else nothing was checked */
}

static void a_trace_without_device_work_has_nothing_to_say(void **state)
{
	struct program p = program_new();
	program_call(&p, "cudaMalloc", 100);
	struct diagnosed d = program_diagnose(&p);
	assert_int_equal(d.diagnosis.n, 0);
	assert_int_equal(d.analysis.phases.n, 0);
	diagnosed_free(&d);
}

static void every_finding_of_the_table_has_a_name_of_its_own(void **state)
{
	static const char *const all[] = {
		"sync-in-loop",       "sync-in-model",    "sync-useless",      "staircase",
		"pageable-copy",      "copy-serial",      "copy-roundtrip",    "copy-small",
		"copy-bandwidth",     "launch-bound",     "kernel-storm",      "graph-rebuilt",
		"input-starved",      "cpu-bound-gap",    "default-stream",    "stream-serial",
		"alloc-in-loop",      "module-load-late", "comm-exposed",      "rank-straggler",
		"priority-inversion", "few-sms",          "memory-bound",      "tensor-idle",
		"link-saturated",     "low-occupancy",    "grid-too-small",    "no-tensor-cores",
		"profiler-cost",      "device-copies",    "attention-unfused", "too-many-workers",
		"gc-pauses",          "gil-contention",   "optimizer-unfused", "zero-grad-fills",
		"layout-changes",     "cache-grows",      "cast-repeated",     "throttled",
		"late-by-turns",      "slow-link"};
	uint32_t n = 0;
	while (hwy_finding_kinds[n])
		n++;
	assert_int_equal(n, sizeof all / sizeof *all);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		const struct hwy_finding_kind *kind = hwy_finding_kind(all[i]);
		assert_non_null(kind);
		assert_true(kind->title && *kind->title);
	}
	assert_null(hwy_finding_kind("bad-luck"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(costs_never_exceed_the_step_and_findings_are_in_order),
		cmocka_unit_test(what_holds_of_a_diagnosis_holds_of_any_trace),
		cmocka_unit_test(a_trace_without_device_work_has_nothing_to_say),
		cmocka_unit_test(every_finding_of_the_table_has_a_name_of_its_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
