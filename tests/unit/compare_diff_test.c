/* SPDX-License-Identifier: Apache-2.0 */
/* compare_diff_test.c - summaries and their comparison: parts add up exactly, baselines give back the same numbers,
 * kernels and findings are matched. */
#include "make_trace.h"
#include "program.h"

#include <math.h>

#include "compare/diff.h"

/* ---- programs to compare ------------------------------------------------------------------------------ */

struct made {
	struct diagnosed d;
	struct compare_summary summary;
};

static void made_close(struct made *made)
{
	summary_free(&made->summary);
	diagnosed_free(&made->d);
}

static struct made made_of(struct program *p)
{
	struct made made = {.d = program_diagnose(p)};
	struct hwy_err err;
	if (!summary_make(&made.summary, "run.hwy", &made.d.analysis, &made.d.diagnosis, &err))
		fail_msg("%s", err.text);
	return made;
}

/* Twelve steps of two kernels, with or without a wait that empties the queue. */
static struct made simple(const char *kernel, int64_t us, bool waits)
{
	struct program p = program_new();
	for (int step = 0; step < 12; step++) {
		program_step(&p, step);
		program_launch(&p, 0, kernel, us);
		program_launch(&p, 0, "second", 500);
		if (waits) {
			program_sync(&p, 0);
			program_compute(&p, 300);
		}
	}
	return made_of(&p);
}

static struct made random_run(uint64_t seed)
{
	struct dice dice = {seed};
	struct program p = program_new();
	int parts = 2 + (int)roll_below(&dice, 12);
	for (int step = 0; step < 8; step++) {
		struct dice same = {seed};
		program_step(&p, step);
		for (int i = 0; i < parts; i++) {
			int64_t us = 1 + roll_below(&same, 300) + roll_below(&dice, 3);
			switch (roll_below(&same, 5)) {
			case 0: program_sync(&p, 0); break;
			case 1: program_compute(&p, us); break;
			case 2:
				program_copy(&p, 1, HWY_H2D, 1000, HWY_MEM_PINNED, us, false);
				break;
			default: program_launch(&p, (int)roll_below(&same, 2), "k", us);
			}
		}
		program_launch(&p, 0, "last", 7);
	}
	return made_of(&p);
}

static struct compare_side side_of(const struct compare_summary **runs, uint32_t n)
{
	return (struct compare_side){.runs = runs, .n = n};
}

static struct compare_diff compared(struct compare_side *a, struct compare_side *b)
{
	struct compare_diff diff;
	struct hwy_err err = {""};
	if (!diff_make(&diff, a, b, STATISTICS_RUN_NOISE_BY_DRIFT, &err))
		fail_msg("%s", err.text);
	return diff;
}

/* ---- tests -------------------------------------------------------------------------------------------- */

static void shares_are_whole_and_add_up_to_the_rounded_total(void **state)
{
	struct dice dice = {42};
	for (int i = 0; i < 20000; i++) {
		int64_t totals[PARTS], shares[PARTS], sum = 0, shared = 0;
		int64_t divisor = 1 + roll_below(&dice, 1000);
		for (unsigned k = 0; k < PARTS; k++)
			sum += totals[k] = roll_below(&dice, 1 + roll_below(&dice, 1000000000));
		summary_share(totals, PARTS, divisor, shares);
		for (unsigned k = 0; k < PARTS; k++) {
			shared += shares[k];
			assert_true(shares[k] >= 0);
			assert_true(fabs((double)shares[k] - (double)totals[k] / (double)divisor) <=
				    1);
		}
		assert_int_equal(shared, sum / divisor);
	}
}

static void the_parts_of_a_change_add_up_to_it_exactly(void **state)
{
	enum { RUNS = 12 };
	struct made runs[RUNS];
	struct dice dice = {3};
	for (int i = 0; i < RUNS; i++) {
		runs[i] = random_run(100 + (uint64_t)i);
		const struct hwy_phase *main =
			&runs[i].d.analysis.phases.phases[runs[i].d.analysis.phases.main];
		assert_int_equal(runs[i].summary.phases[0].step,
				 (main->window.to - main->window.from) / main->n_steady);
	}
	for (int i = 0; i < 300; i++) {
		const struct compare_summary *a[4], *b[4];
		uint32_t n = 1 + (uint32_t)roll_below(&dice, 4),
			 m = 1 + (uint32_t)roll_below(&dice, 4);
		int64_t sum_a = 0, sum_b = 0, parts = 0;
		for (uint32_t k = 0; k < n; k++)
			a[k] = &runs[roll_below(&dice, RUNS)].summary;
		for (uint32_t k = 0; k < m; k++)
			b[k] = &runs[roll_below(&dice, RUNS)].summary;
		struct compare_side before = side_of(a, n), after = side_of(b, m);
		struct compare_diff diff = compared(&before, &after);
		for (uint32_t k = 0; k < n; k++)
			sum_a += before.phases[k]->step;
		for (uint32_t k = 0; k < m; k++)
			sum_b += after.phases[k]->step;
		for (unsigned k = 0; k < PARTS; k++)
			parts += diff.parts[k];
		assert_int_equal(parts, diff.change);
		assert_int_equal(diff.change, sum_b / m - sum_a / n);
		for (unsigned k = 1; k < PARTS; k++)
			assert_true(llabs(diff.parts[diff.order[k - 1]]) >=
				    llabs(diff.parts[diff.order[k]]));
		diff_free(&diff);
	}
	for (int i = 0; i < RUNS; i++)
		made_close(&runs[i]);
}

/* The bar of the prediction reaches from a third of the speed to twice the speed. */
static enum prediction_grade grade_of_change(int64_t kernel_us)
{
	struct made a = simple("first", 500, true), b = simple("first", kernel_us, false);
	struct compare_phase *phase = &a.summary.phases[0];
	for (uint32_t i = 0; i < phase->n_findings; i++) {
		struct compare_finding *finding = &phase->findings[i];
		finding->predicted.p90 = finding->predicted.before * 3;
		finding->predicted.p10 = finding->predicted.before / 2;
	}
	const struct compare_summary *before[] = {&a.summary}, *after[] = {&b.summary};
	struct compare_side x = side_of(before, 1), y = side_of(after, 1);
	struct compare_diff diff = compared(&x, &y);
	enum prediction_grade grade = diff.findings[0].grade;
	assert_int_equal(diff.findings[0].change, FINDING_GONE);
	diff_free(&diff);
	made_close(&a);
	made_close(&b);
	return grade;
}

static void a_loss_is_never_as_predicted_where_a_gain_was(void **state)
{
	assert_int_equal(grade_of_change(300), GRADE_RIGHT);
	assert_int_equal(grade_of_change(830), GRADE_LESS); /* slower, but not surely */
	assert_int_equal(grade_of_change(900), GRADE_SLOWER);
	assert_int_equal(grade_of_change(20), GRADE_MORE);
}

/* Runs that differ by so much from one to the next tell nothing of a change, whatever was measured. */
static void what_is_within_the_noise_is_not_graded(void **state)
{
	struct made a = simple("first", 500, true), b = simple("first", 300, false);
	const struct compare_summary *before[] = {&a.summary}, *after[] = {&b.summary};
	struct compare_side x = side_of(before, 1), y = side_of(after, 1);
	struct compare_diff diff;
	struct hwy_err err;
	assert_true(diff_make(&diff, &x, &y, 3.0, &err));
	assert_int_equal(diff.step.verdict, VERDICT_UNKNOWN);
	assert_int_equal(diff.findings[0].change, FINDING_GONE);
	assert_true(diff.findings[0].measured > 1);
	assert_int_equal(diff.findings[0].grade, GRADE_NOISE);
	diff_free(&diff);
	made_close(&a);
	made_close(&b);
}

/* What is measured of a prediction is the speedup of all runs, not of the middle ones. */
static void a_prediction_is_measured_by_all_runs(void **state)
{
	static const int64_t waiting[] = {500, 510, 900}, fixed[] = {100, 110, 300};
	struct made made[6];
	const struct compare_summary *runs[6];
	double plain[2] = {0};
	for (int i = 0; i < 6; i++) {
		made[i] = simple("first", i < 3 ? waiting[i] : fixed[i - 3], i < 3);
		runs[i] = &made[i].summary;
		struct compare_phase *phase = &made[i].summary.phases[0];
		phase->plain = phase->step * 9 / 10;
		plain[i / 3] += (double)phase->plain;
	}
	struct compare_side x = side_of(runs, 3), y = side_of(runs + 3, 3);
	struct compare_diff diff = compared(&x, &y);
	assert_int_equal(diff.findings[0].change, FINDING_GONE);
	assert_true(fabs(diff.findings[0].measured - plain[0] / plain[1]) < 1e-6);
	diff_free(&diff);
	for (int i = 0; i < 6; i++)
		made_close(&made[i]);
}

static void removing_a_wait_is_faster_by_blocked_idle_and_was_predicted(void **state)
{
	struct made a = simple("first", 500, true), b = simple("first", 500, false);
	const struct compare_summary *before[] = {&a.summary}, *after[] = {&b.summary};
	struct compare_side x = side_of(before, 1), y = side_of(after, 1);
	struct compare_diff diff = compared(&x, &y);
	assert_int_equal(diff.step.verdict, VERDICT_FASTER);
	assert_int_equal(diff.order[0], PART_IDLE + GAP_BLOCKED);
	assert_true(diff.parts[diff.order[0]] < 0);
	assert_true(diff.n_findings >= 1);
	assert_int_equal(diff.findings[0].change, FINDING_GONE);
	assert_string_equal(diff.findings[0].before->id, "sync-in-loop");
	assert_int_equal(diff.findings[0].grade, GRADE_RIGHT);
	assert_int_equal(diff.tables[TABLE_CALLS].n, 1);
	assert_string_equal(diff.tables[TABLE_CALLS].rows[0].before, "cudaStreamSynchronize");
	assert_int_equal(diff.tables[TABLE_CALLS].rows[0].change, ROW_REMOVED);
	assert_int_equal(diff.tables[TABLE_RANGES].n, 1);
	assert_string_equal(diff.tables[TABLE_RANGES].rows[0].before, "step_#");
	assert_int_equal(diff.tables[TABLE_KERNELS].n, 0);
	diff_free(&diff);
	diff = compared(&y, &x);
	assert_int_equal(diff.step.verdict, VERDICT_SLOWER);
	assert_int_equal(diff.findings[0].change, FINDING_NEW);
	diff_free(&diff);
	diff = compared(&x, &x);
	assert_int_equal(diff.step.verdict, VERDICT_SAME);
	assert_int_equal(diff.change, 0);
	diff_free(&diff);
	made_close(&a);
	made_close(&b);
}

static void kernels_are_matched_by_name_and_by_place(void **state)
{
	struct made a = simple("void gemm_128<float>(int)", 500, false),
		    b = simple("void gemm_128<half>(int)", 700, false),
		    c = simple("other_name", 500, false);
	const struct compare_summary *first[] = {&a.summary}, *second[] = {&b.summary},
				     *third[] = {&c.summary};
	struct compare_side x = side_of(first, 1), y = side_of(second, 1), z = side_of(third, 1);
	struct compare_diff diff = compared(&x, &y);
	assert_int_equal(diff.tables[TABLE_KERNELS].n, 1);
	assert_int_equal(diff.tables[TABLE_KERNELS].rows[0].change, ROW_SLOWER);
	assert_false(diff.tables[TABLE_KERNELS].rows[0].is_renamed);
	diff_free(&diff);
	diff = compared(&x, &z);
	assert_int_equal(diff.tables[TABLE_KERNELS].n, 1);
	assert_true(diff.tables[TABLE_KERNELS].rows[0].is_renamed);
	assert_string_equal(diff.tables[TABLE_KERNELS].rows[0].after, "other_name");
	diff_free(&diff);
	made_close(&a);
	made_close(&b);
	made_close(&c);
}

static void a_baseline_gives_back_the_same_comparison(void **state)
{
	struct made a = simple("first", 500, true), b = simple("first", 560, false);
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	summary_write(out, &a.summary, 1);
	fclose(out);
	assert_true(summary_is_baseline(text, length));
	uint32_t n;
	struct hwy_err err;
	struct compare_summary *read = summary_read("main.json", text, length, &n, &err);
	assert_non_null(read);
	assert_int_equal(n, 1);
	const struct compare_summary *made[] = {&a.summary}, *kept[] = {read},
				     *after[] = {&b.summary};
	struct compare_side x = side_of(made, 1), y = side_of(kept, 1), z = side_of(after, 1),
			    w = side_of(after, 1);
	struct compare_diff one = compared(&x, &z), two = compared(&y, &w);
	assert_memory_equal(one.parts, two.parts, sizeof one.parts);
	assert_int_equal(one.step.verdict, two.step.verdict);
	assert_true(one.step.low == two.step.low && one.step.high == two.step.high);
	assert_int_equal(one.n_findings, two.n_findings);
	assert_int_equal(one.findings[0].grade, two.findings[0].grade);
	assert_int_equal(one.tables[TABLE_KERNELS].n, two.tables[TABLE_KERNELS].n);
	diff_free(&one);
	diff_free(&two);
	summary_free(read);
	free(read);
	free(text);
	made_close(&a);
	made_close(&b);
}

/* Every byte of a baseline changed, one at a time: it is refused or read, and never harms. */
static void a_damaged_baseline_is_refused_or_read(void **state)
{
	struct made a = simple("first", 500, true);
	char *text;
	size_t length;
	struct dice dice = {9};
	FILE *out = open_memstream(&text, &length);
	summary_write(out, &a.summary, 1);
	fclose(out);
	for (size_t i = 0; i < length; i++) {
		char old = text[i];
		uint32_t n;
		struct hwy_err err = {""};
		text[i] = (char)roll(&dice);
		struct compare_summary *read =
			summary_read("x", text, i % 7 ? length : i, &n, &err);
		assert_true(read || *err.text);
		for (uint32_t k = 0; read && k < n; k++)
			summary_free(&read[k]);
		free(read);
		text[i] = old;
	}
	free(text);
	made_close(&a);
}

static void halves_of_a_run_are_the_same(void **state)
{
	struct made a = simple("first", 500, true);
	struct compare_summary first, second;
	struct hwy_err err;
	uint32_t half = a.d.analysis.phases.phases[a.d.analysis.phases.main].n_steady / 2;
	assert_true(summary_make_part(&first, "run", &a.d.analysis, 0, half, &err));
	assert_true(summary_make_part(&second, "run", &a.d.analysis, half, half, &err));
	assert_int_equal(first.phases[0].n_steady, half);
	const struct compare_summary *x[] = {&first}, *y[] = {&second};
	struct compare_side before = side_of(x, 1), after = side_of(y, 1);
	struct compare_diff diff = compared(&before, &after);
	assert_int_equal(diff.step.verdict, VERDICT_SAME);
	diff_free(&diff);
	summary_free(&first);
	summary_free(&second);
	made_close(&a);
}

static void where_a_program_lies_is_no_difference(void **state)
{
	static const char *const commands[][2] = {
		{"/usr/bin/python3 -u /home/me/train.py --data /tmp/x",
		 "python3 -u train.py --data /tmp/x"},
		{"../build/train 3 /a/b", "train 3 /a/b"},
		{"train", "train"},
		{"", ""},
	};
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
		struct program p = program_new();
		program_trace(&p)->processes[p.process].command =
			hwy_text_id(p.builder, commands[i][0]);
		program_launch(&p, 0, "only", 500);
		struct made a = made_of(&p);
		assert_string_equal(a.summary.command, commands[i][1]);
		made_close(&a);
	}
}

static void a_run_in_which_nothing_repeats_is_refused(void **state)
{
	struct program p = program_new();
	program_launch(&p, 0, "only", 500);
	struct made a = made_of(&p);
	const struct compare_summary *runs[] = {&a.summary};
	struct compare_side x = side_of(runs, 1), y = side_of(runs, 1);
	struct compare_diff diff;
	struct hwy_err err;
	assert_false(diff_make(&diff, &x, &y, STATISTICS_RUN_NOISE_BY_DRIFT, &err));
	assert_non_null(strstr(err.text, "nothing repeats"));
	diff_free(&diff);
	made_close(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_are_whole_and_add_up_to_the_rounded_total),
		cmocka_unit_test(the_parts_of_a_change_add_up_to_it_exactly),
		cmocka_unit_test(removing_a_wait_is_faster_by_blocked_idle_and_was_predicted),
		cmocka_unit_test(what_is_within_the_noise_is_not_graded),
		cmocka_unit_test(a_prediction_is_measured_by_all_runs),
		cmocka_unit_test(a_loss_is_never_as_predicted_where_a_gain_was),
		cmocka_unit_test(kernels_are_matched_by_name_and_by_place),
		cmocka_unit_test(a_baseline_gives_back_the_same_comparison),
		cmocka_unit_test(a_damaged_baseline_is_refused_or_read),
		cmocka_unit_test(halves_of_a_run_are_the_same),
		cmocka_unit_test(where_a_program_lies_is_no_difference),
		cmocka_unit_test(a_run_in_which_nothing_repeats_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
