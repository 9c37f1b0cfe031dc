/* SPDX-License-Identifier: Apache-2.0 */
/* compare_gate_test.c - budgets are read, rules hold or do not, regressions fail only where they are real. */
#include "make_trace.h"
#include "program.h"

#include "compare/gate.h"

static const char *nearest_first(const char *word, const char *const *known)
{
	(void)word;
	return known[0];
}

static bool read_text(struct compare_budget *budget, const char *text, struct hwy_err *err)
{
	return budget_read(budget, "headway.toml", text, strlen(text), nearest_first, err);
}

static void refuses(const char *text, const char *reason)
{
	struct compare_budget budget;
	struct hwy_err err = {""};
	assert_false(read_text(&budget, text, &err));
	if (!strstr(err.text, reason))
		fail_msg("'%s': '%s' does not say '%s'", text, err.text, reason);
	budget_free(&budget);
}

static void the_rules_of_the_manual_are_read(void **state)
{
	struct compare_budget budget;
	struct hwy_err err = {""};
	static const char text[] =
		"\xef\xbb\xbf# a budget\n"
		"step = 'step_'\n"
		"step.p50 <= 12ms   # of a step\r\n"
		"syncs_per_step <= 0\n"
		"findings.forbid = [\"sync-in-loop\",\n  'pageable-copy', # two\n]\n"
		"kernel[\"flash_fwd # ]\"].mean <= 80us\n"
		"copies.pageable_bytes == 0\n"
		"rules = [\"gpu.idle < 10%\"]\n"
		"step.p99 = \"<= 1.5 s\"\n"
		"[gpu]\n"
		"busy >= 90%\n"
		"[budget]\n"
		"copies.bytes != 16 MiB";
	if (!read_text(&budget, text, &err))
		fail_msg("%s", err.text);
	assert_string_equal(budget.step, "step_");
	assert_int_equal(budget.n, 10);
	assert_string_equal(budget.rules[0].request.text, "step.p50");
	assert_true(budget.rules[0].limit == 12e6 && budget.rules[0].compares == OP_LE);
	assert_string_equal(budget.rules[2].forbids, "sync-in-loop");
	assert_string_equal(budget.rules[3].forbids, "pageable-copy");
	assert_string_equal(budget.rules[4].request.kernel, "flash_fwd # ]");
	assert_int_equal(budget.rules[4].line, 8);
	assert_true(budget.rules[6].compares == OP_LT && budget.rules[6].limit == 0.1);
	assert_string_equal(budget.rules[8].request.text, "gpu.busy");
	assert_true(budget.rules[9].limit == 16 << 20);
	budget_free(&budget);
}

static void bad_budgets_are_refused_with_line_and_reason(void **state)
{
	refuses("", "no rules");
	refuses("\n\nstep.p51 <= 1ms", "headway.toml:3: there is no metric 'step.p51'");
	refuses("step.p50 <= 12", "not a time");
	refuses("step.p50 <= 12%", "not a time");
	refuses("gpu.busy >= 90", "headway.toml:1: 90: do you mean 90%?");
	refuses("idle.blocked <= 1", "1: do you mean 1%?");
	refuses("syncs_per_step <= 1ms", "not a plain number");
	refuses("syncs_per_step <= nan", "not a plain number");
	refuses("syncs_per_step <= 0x10", "not a plain number");
	refuses("syncs_per_step >= -1", "not a plain number");
	refuses("step.p50 <= 1_000us", "not a time");
	refuses("syncs_per_step <= ", "not a plain number");
	refuses("step.p50 12ms", "compares");
	refuses("step.p50 = 12ms", "compares");
	refuses("findings.forbid = [\"sync-in-lop\"]", "there is no finding 'sync-in-lop'");
	refuses("findings.forbid = \"sync-in-loop\"", "list");
	refuses("findings.forbid = [\"sync-in-loop\"", "expected");
	refuses("findings.forbid = [\"sync-in-loop", "does not end");
	refuses("[gpu\nbusy >= 90%", "]");
	refuses("kernel[flash].mean <= 1us", "kernel[\"NAME\"].mean");
	refuses("kernel[\"flash\"].means <= 1us", "a kernel has no 'means'");
	refuses("= 3", "a rule is expected");
	refuses("rules = [\"x <= 1\"]", "there is no metric 'x'");
	refuses("findings.forbid = [\"staircase\"] x", "follows");
}

static void any_text_is_read_or_refused(void **state)
{
	struct dice dice = {5};
	static const char *const words[] = {"step.p50", "<=",        "12ms",  "\n",
					    "[",        "]",         "\"",    "'",
					    "=",        "kernel[\"", "#",     "findings.forbid",
					    " ",        ",",         "rules", "\\"};
	for (int i = 0; i < 20000; i++) {
		char text[400] = "";
		size_t n = (size_t)roll_below(&dice, 14);
		for (size_t k = 0; k < n; k++)
			strcat(text, words[roll_below(&dice, 16)]);
		struct compare_budget budget;
		struct hwy_err err = {""};
		/* Exactly as long as it is: a step beyond is seen by the sanitizer. */
		char *exact = hwy_copy(text, strlen(text) + 1);
		bool read = budget_read(&budget, "x", exact, strlen(text), NULL, &err);
		assert_true(read ? budget.n > 0 : *err.text != '\0');
		free(exact);
		budget_free(&budget);
	}
}

/* ---- a run ------------------------------------------------------------------------------------------- */

struct made {
	struct diagnosed d;
	struct compare_summary summary;
	const struct compare_summary *runs[1];
	struct compare_side side;
};

static void make(struct made *made, int64_t us, bool waits)
{
	struct program p = program_new();
	struct hwy_err err;
	for (int step = 0; step < 20; step++) {
		program_step(&p, step);
		program_copy(&p, 0, HWY_H2D, 4096, HWY_MEM_PAGEABLE, 5, false);
		program_launch(&p, 0, "work", us);
		if (waits) {
			program_sync(&p, 0);
			program_compute(&p, 200);
		}
	}
	made->d = program_diagnose(&p);
	if (!summary_make(&made->summary, "run", &made->d.analysis, &made->d.diagnosis, &err))
		fail_msg("%s", err.text);
	made->runs[0] = &made->summary;
	made->side = (struct compare_side){.runs = made->runs, .n = 1};
}

static void made_close(struct made *made)
{
	summary_free(&made->summary);
	diagnosed_free(&made->d);
}

static void rules_hold_or_do_not(void **state)
{
	struct made run;
	struct compare_budget budget;
	struct compare_gate gate = {0};
	struct hwy_err err = {""};
	make(&run, 1000, true);
	assert_true(read_text(&budget,
			      "step.p50 <= 2ms\nstep.p50 <= 1ms\nsyncs_per_step <= 0\n"
			      "copies.pageable_bytes == 4096B\nkernels_per_step == 1\n"
			      "findings.forbid = [\"sync-in-loop\", \"staircase\"]\n"
			      "kernel[\"work\"].mean <= 1ms\ngpu.busy >= 70%\n",
			      &err));
	if (!gate_budget(&gate, &budget, &run.side, &err))
		fail_msg("%s", err.text);
	static const enum gate_verdict wanted[] = {GATE_PASS, GATE_FAIL, GATE_FAIL,
						   GATE_PASS, GATE_PASS, GATE_FAIL,
						   GATE_PASS, GATE_PASS, GATE_PASS};
	assert_int_equal(gate.n, sizeof wanted / sizeof *wanted);
	for (uint32_t i = 0; i < gate.n; i++)
		if (gate.checks[i].verdict != wanted[i])
			fail_msg("%s: %s", gate.checks[i].name, gate.checks[i].value);
	assert_true(gate.failed);
	gate_free(&gate);
	budget_free(&budget);
	gate = (struct compare_gate){0};
	assert_true(read_text(&budget, "kernel[\"absent\"].mean <= 1ms", &err));
	assert_false(gate_budget(&gate, &budget, &run.side, &err));
	assert_non_null(strstr(err.text, "absent"));
	gate_free(&gate);
	budget_free(&budget);
	made_close(&run);
}

static enum gate_verdict gated(struct made *before, struct made *after, const char *metric,
			       double limit, bool strict, bool *failed)
{
	struct compare_diff diff;
	struct compare_gate gate = {.strict = strict};
	struct hwy_err err = {""};
	struct metric_request request;
	struct compare_side a = before->side, b = after->side;
	if (!metric_find(&request, metric, strlen(metric), NULL, &gate.arena, &err) ||
	    !diff_make(&diff, &a, &b, STATISTICS_RUN_NOISE_BY_DRIFT, &err) ||
	    !gate_baseline(&gate, &diff, &request, 1, limit, &err))
		fail_msg("%s", err.text);
	enum gate_verdict verdict = gate.checks[0].verdict;
	*failed = gate.failed;
	diff_free(&diff);
	gate_free(&gate);
	return verdict;
}

static void a_regression_fails_only_where_it_is_real_and_above_the_limit(void **state)
{
	struct made base, little, much, waits;
	bool failed;
	make(&base, 1000, false);
	make(&little, 1020, false);
	make(&much, 1100, false);
	make(&waits, 1000, true);
	assert_int_equal(gated(&base, &much, "step.mean", 0.03, false, &failed), GATE_FAIL);
	assert_true(failed);
	assert_int_equal(gated(&base, &much, "step.mean", 0.2, true, &failed), GATE_PASS);
	assert_int_equal(gated(&much, &base, "step.mean", 0, true, &failed), GATE_PASS);
	/* 2 % with one run a side may be noise: it passes unless strict. */
	assert_int_equal(gated(&base, &little, "step.mean", 0.01, false, &failed),
			 GATE_CANNOT_TELL);
	assert_false(failed);
	assert_int_equal(gated(&base, &little, "step.mean", 0.01, true, &failed), GATE_CANNOT_TELL);
	assert_true(failed);
	/* Counts are exact, and the way that is worse depends on the metric. */
	assert_int_equal(gated(&base, &waits, "syncs_per_step", 0.03, false, &failed), GATE_FAIL);
	assert_int_equal(gated(&waits, &base, "syncs_per_step", 0.03, false, &failed), GATE_PASS);
	assert_int_equal(gated(&base, &waits, "gpu.busy", 0.03, false, &failed), GATE_FAIL);
	assert_int_equal(gated(&waits, &base, "gpu.busy", 0.03, false, &failed), GATE_PASS);
	/* The median is held to its own spread. */
	assert_int_equal(gated(&base, &much, "step.p50", 0.03, false, &failed), GATE_FAIL);
	/* A share that was 0 grows without end, and is still a trifle. */
	struct compare_phase *phase = &little.summary.phases[0];
	phase->parts[PART_IDLE + GAP_OS] = phase->step / 300;
	phase->parts[PART_COMPUTE] -= phase->step / 300;
	assert_int_equal(gated(&base, &little, "idle.os", 0.03, true, &failed), GATE_PASS);
	made_close(&base);
	made_close(&little);
	made_close(&much);
	made_close(&waits);
}

/* Three runs a side whose counts and times lie far apart, but do not overlap. */
static void more_runs_do_not_hide_what_one_shows(void **state)
{
	static const int64_t us[] = {3000, 8700, 4000, 97000, 58000, 38000};
	static const int64_t waits[] = {20, 20, 20, 40, 60, 400};
	struct made made[6];
	const struct compare_summary *runs[6];
	bool failed;
	for (int i = 0; i < 6; i++) {
		make(&made[i], us[i], false);
		made[i].summary.phases[0].counts[COUNT_WAITS] = waits[i];
		runs[i] = &made[i].summary;
	}
	for (uint32_t n = 1; n <= 3; n++) {
		struct made before = {.side = {.runs = runs, .n = 3}},
			    after = {.side = {.runs = runs + 3, .n = n}};
		assert_int_equal(gated(&before, &after, "step.p50", 0.03, false, &failed),
				 GATE_FAIL);
		assert_int_equal(gated(&before, &after, "step.mean", 0.03, false, &failed),
				 GATE_FAIL);
		assert_int_equal(gated(&before, &after, "syncs_per_step", 0.03, false, &failed),
				 GATE_FAIL);
	}
	for (int i = 0; i < 6; i++)
		made_close(&made[i]);
}

/* Without a sanitizer only the text can be wrong. */
static void a_limit_that_no_clock_reaches_is_printed(void **state)
{
	assert_string_equal(metric_text(METRIC_TIME, 1e51).text,
			    metric_text(METRIC_TIME, 0x1p63).text);
	assert_int_equal(metric_text(METRIC_TIME, -1e51).text[0], '-');
	assert_string_equal(metric_text(METRIC_BYTES, -1).text, metric_text(METRIC_BYTES, 0).text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_limit_that_no_clock_reaches_is_printed),
		cmocka_unit_test(the_rules_of_the_manual_are_read),
		cmocka_unit_test(bad_budgets_are_refused_with_line_and_reason),
		cmocka_unit_test(any_text_is_read_or_refused),
		cmocka_unit_test(rules_hold_or_do_not),
		cmocka_unit_test(a_regression_fails_only_where_it_is_real_and_above_the_limit),
		cmocka_unit_test(more_runs_do_not_hide_what_one_shows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
