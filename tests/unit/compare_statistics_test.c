/* SPDX-License-Identifier: Apache-2.0 */
/* compare_statistics_test.c - small cases of the statistics; compare_simulation_test.c has the large ones. */
#include "make_trace.h"

#include <math.h>

#include "compare/statistics.h"

static void the_t_of_5_percent_is_that_of_the_tables(void **state)
{
	static const struct {
		double freedom, t;
	} table[] = {{1, 12.706}, {2, 4.3027},  {4, 2.7764},
		     {8, 2.3060}, {30, 2.0423}, {1e6, 1.9600}};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		assert_true(fabs(statistics_t(table[i].freedom, 0.05) - table[i].t) < 0.001);
}

static void one_step_a_side_tells_nothing(void **state)
{
	int64_t value = 1000000, other = 9000000;
	struct sample a = {&value, 1, 1e6}, b = {&other, 1, 9e6};
	struct difference d = statistics_compare(&a, 1, &b, 1, STATISTICS_RUN_NOISE_BY_DRIFT);
	assert_int_equal(d.verdict, VERDICT_UNKNOWN);
}

static void values_that_never_vary_differ_when_they_differ(void **state)
{
	double a[] = {4, 4, 4}, b[] = {5, 5, 5};
	assert_int_equal(statistics_runs(a, 3, b, 3, 1, false).verdict, VERDICT_SLOWER);
	assert_int_equal(statistics_runs(a, 3, a, 3, 1, false).verdict, VERDICT_SAME);
}

static struct difference of_runs(const double *before, uint32_t n_before, const double *after,
				 uint32_t n_after)
{
	enum { STEPS = 40, MOST = 6 };
	static int64_t values[MOST][STEPS];
	struct sample runs[MOST];
	for (uint32_t i = 0; i < n_before + n_after; i++) {
		double ms = i < n_before ? before[i] : after[i - n_before];
		for (int k = 0; k < STEPS; k++)
			values[i][k] = (int64_t)(1e6 * ms) + k % 7;
		runs[i] = (struct sample){values[i], STEPS, 1e6 * ms + 3};
	}
	return statistics_compare(runs, n_before, runs + n_before, n_after,
				  STATISTICS_RUN_NOISE_BY_DRIFT);
}

/* A tenfold slowdown whose runs lie far apart, too: each of them alone shows it, so all together must. */
static void more_runs_do_not_hide_a_tenfold_slowdown(void **state)
{
	static const double before[] = {4.22, 11.1, 5.56}, after[] = {100, 58, 50.7};
	for (uint32_t n = 1; n <= 3; n++)
		for (uint32_t m = 1; m <= 3; m++) {
			struct difference d = of_runs(before, n, after, m);
			assert_int_equal(d.verdict, VERDICT_SLOWER);
			d = of_runs(after, m, before, n);
			assert_int_equal(d.verdict, VERDICT_FASTER);
			assert_true(d.low > -d.before && d.low <= d.change && d.change <= d.high);
		}
	/* A quiet side and one that others disturb. */
	static const double quiet[] = {3.11, 3.08, 3.16}, disturbed[] = {8.9, 15.95, 9.94};
	assert_int_equal(of_runs(quiet, 3, disturbed, 3).verdict, VERDICT_SLOWER);
}

/* However far the runs of a side lie apart: where the sides do not overlap, a tenfold change is no noise. */
static void far_sides_that_do_not_overlap_differ(void **state)
{
	static const double before[] = {1, 9, 9.5}, after[] = {10, 200, 900},
			    over[] = {9, 200, 900};
	struct difference d = of_runs(before, 3, after, 3);
	assert_true(d.is_apart && d.low < 0);
	assert_int_equal(d.verdict, VERDICT_SLOWER);
	d = of_runs(before, 3, over, 3);
	assert_false(d.is_apart);
	assert_int_equal(d.verdict, VERDICT_UNKNOWN);
}

/* One new run against a baseline whose runs differ: what they differ by is noise, too. */
static void a_side_of_some_runs_shows_the_noise_of_the_other(void **state)
{
	static const double apart[] = {4.22, 11.1, 5.56}, close[] = {5.5, 5.56, 5.6}, one[] = {8};
	assert_int_equal(of_runs(close, 3, one, 1).verdict, VERDICT_SLOWER);
	struct difference d = of_runs(apart, 3, one, 1);
	assert_int_equal(d.verdict, VERDICT_UNKNOWN);
	assert_true(d.run_noise > 0.5);
}

/* Every tenth step takes twice as long: of the mean nothing can be said, of the others all. */
static struct difference with_long_steps(int64_t before, int64_t after, bool also_longer)
{
	enum { STEPS = 40 };
	int64_t values[2][STEPS];
	struct sample sides[2];
	for (int side = 0; side < 2; side++) {
		int64_t step = side ? after : before, sum = 0;
		for (int i = 0; i < STEPS; i++) {
			int64_t longer = also_longer && side ? 10 * step : step;
			values[side][i] = step + i % 7 + (i % 10 == 0 ? longer : 0);
			sum += values[side][i];
		}
		sides[side] = (struct sample){values[side], STEPS, (double)sum / STEPS};
	}
	return statistics_compare(&sides[0], 1, &sides[1], 1, STATISTICS_RUN_NOISE_SHARE);
}

/* Sixty steps of 4 ms become 5.8 ms, but three of the steps before took 300 ms. */
static void a_mean_against_most_steps_is_unknown(void **state)
{
	enum { STEPS = 60 };
	int64_t a[STEPS], b[STEPS], sum_a = 0, sum_b = 0;
	for (int i = 0; i < STEPS; i++) {
		a[i] = i % 20 == 7 ? 300000000 : 4000000 + i % 5;
		b[i] = 5800000 + i % 5;
		sum_a += a[i];
		sum_b += b[i];
	}
	struct sample before[3], after[3];
	for (int i = 0; i < 3; i++) {
		before[i] = (struct sample){a, STEPS, (double)(sum_a + 1000 * i) / STEPS};
		after[i] = (struct sample){b, STEPS, (double)(sum_b + 1000 * i) / STEPS};
	}
	struct difference d = statistics_compare(before, 3, after, 3, 0);
	assert_true(d.high < 0 && d.middle.change > 0.4);
	assert_int_equal(d.verdict, VERDICT_UNKNOWN);
	assert_true(d.is_torn);
	d = statistics_compare(before, 1, after, 1, STATISTICS_RUN_NOISE_BY_DRIFT);
	assert_int_equal(d.verdict, VERDICT_UNKNOWN);
}

/* Blocks of a run that lie 10 % apart let the whole run lie so far from the program's mean. */
static void the_drift_of_one_run_is_its_noise_from_run_to_run(void **state)
{
	enum { STEPS = 64 };
	int64_t steady[STEPS], moving[STEPS];
	double sum = 0;
	for (int i = 0; i < STEPS; i++) {
		steady[i] = 1000000 + i % 3;
		moving[i] = 1000000 + (i / 4 % 2 ? 100000 : 0) + i % 3;
		sum += (double)moving[i];
	}
	struct sample a = {steady, STEPS, 1000001}, b = {moving, STEPS, sum / STEPS};
	struct difference x = statistics_compare(&a, 1, &a, 1, STATISTICS_RUN_NOISE_BY_DRIFT),
			  y = statistics_compare(&a, 1, &b, 1, STATISTICS_RUN_NOISE_BY_DRIFT);
	assert_true(x.run_noise == STATISTICS_RUN_NOISE_SHARE);
	assert_true(y.run_noise > 0.09 && y.run_noise < 0.13);
	assert_int_equal(y.verdict, VERDICT_UNKNOWN);
	struct sample many[3] = {b, b, b};
	assert_true(statistics_compare(many, 3, many, 3, STATISTICS_RUN_NOISE_BY_DRIFT).run_noise ==
		    0);
}

static void the_middle_half_speaks_where_long_steps_hide_the_mean(void **state)
{
	struct difference d = with_long_steps(1000000, 1000100, false);
	assert_true(d.high > STATISTICS_SAME_SHARE * d.before);
	assert_int_equal(d.verdict, VERDICT_SAME);
	assert_true(d.by_middle);
	d = with_long_steps(1000000, 1100000, false);
	assert_true(d.low < 0);
	assert_int_equal(d.verdict, VERDICT_SLOWER);
	assert_true(d.middle.low > 0);
	/* It does not speak against the mean, however unsure that is. */
	d = with_long_steps(1000000, 1000100, true);
	assert_true(d.change > STATISTICS_SAME_SHARE * d.before);
	assert_int_not_equal(d.verdict, VERDICT_SAME);
	d = with_long_steps(1000000, 900000, true);
	assert_int_equal(d.verdict, VERDICT_UNKNOWN);
}

/* Steps that go up and down slowly are few, however many they are. */
static void steps_that_remember_count_for_less(void **state)
{
	enum { STEPS = 60 };
	int64_t slow[STEPS], quick[STEPS];
	for (int i = 0; i < STEPS; i++) {
		slow[i] = 1000000 + (i % 20 < 10 ? 100000 : 0);
		quick[i] = 1000000 + (i % 2 ? 100000 : 0);
	}
	struct sample a = {slow, STEPS, 1050000}, b = {quick, STEPS, 1050000};
	struct difference x = statistics_compare(&a, 1, &a, 1, 0),
			  y = statistics_compare(&b, 1, &b, 1, 0);
	assert_true(x.high > 3 * y.high);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_t_of_5_percent_is_that_of_the_tables),
		cmocka_unit_test(one_step_a_side_tells_nothing),
		cmocka_unit_test(the_middle_half_speaks_where_long_steps_hide_the_mean),
		cmocka_unit_test(a_mean_against_most_steps_is_unknown),
		cmocka_unit_test(the_drift_of_one_run_is_its_noise_from_run_to_run),
		cmocka_unit_test(steps_that_remember_count_for_less),
		cmocka_unit_test(more_runs_do_not_hide_a_tenfold_slowdown),
		cmocka_unit_test(far_sides_that_do_not_overlap_differ),
		cmocka_unit_test(a_side_of_some_runs_shows_the_noise_of_the_other),
		cmocka_unit_test(values_that_never_vary_differ_when_they_differ),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
