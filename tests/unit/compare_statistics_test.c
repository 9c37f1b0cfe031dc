/* compare_statistics_test.c - simulated runs with a known shift: false alarms stay below 5 %, real ones are found. */
#include "make_trace.h"

#include <math.h>

#include "compare/statistics.h"

enum { STEPS = 30, TRIALS = 1000 };

static double roll_unit(struct dice *dice)
{
	return ((double)(roll(dice) >> 11) + 0.5) / 9007199254740992.0;
}

static double roll_normal(struct dice *dice)
{
	return sqrt(-2 * log(roll_unit(dice))) * cos(2 * 3.14159265358979 * roll_unit(dice));
}

struct kind {               /* of noise, as shares of the step */
	double run;         /* from run to run */
	double step;        /* from step to step */
	double correlation; /* of a step with the one before */
};

/* A run: its own mean, and steps around it that remember the one before. */
static struct sample simulate(struct dice *dice, const struct kind *kind, double shift,
			      int64_t values[STEPS])
{
	double own = 1e7 * (1 + shift) * (1 + kind->run * roll_normal(dice));
	double deviation = 0, sum = 0, keep = kind->correlation;
	for (int i = 0; i < STEPS; i++) {
		double fresh = kind->step * roll_normal(dice);
		deviation = i ? keep * deviation + sqrt(1 - keep * keep) * fresh : fresh;
		values[i] = (int64_t)(own * (1 + deviation));
		sum += (double)values[i];
	}
	return (struct sample){values, STEPS, sum / STEPS};
}

struct outcome {
	double slower, faster, same;
};

static struct outcome try_it(uint64_t seed, const struct kind *kind, double shift, uint32_t runs)
{
	struct dice dice = {seed};
	struct outcome outcome = {0};
	for (int i = 0; i < TRIALS; i++) {
		static int64_t values[2][8][STEPS];
		struct sample before[8], after[8];
		for (uint32_t k = 0; k < runs; k++) {
			before[k] = simulate(&dice, kind, 0, values[0][k]);
			after[k] = simulate(&dice, kind, shift, values[1][k]);
		}
		struct difference d =
			statistics_compare(before, runs, after, runs, STATISTICS_RUN_NOISE);
		assert_true(d.low <= d.change && d.change <= d.high);
		outcome.slower += d.verdict == VERDICT_SLOWER;
		outcome.faster += d.verdict == VERDICT_FASTER;
		outcome.same += d.verdict == VERDICT_SAME;
	}
	outcome.slower /= TRIALS;
	outcome.faster /= TRIALS;
	outcome.same /= TRIALS;
	return outcome;
}

static const struct kind kinds[] = {{0.002, 0.01, 0},
				    {0.005, 0.02, 0.5},
				    {0.01, 0.02, 0},
				    {0.01, 0.05, 0.3},
				    {0.01, 0.01, 0.8}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void without_a_shift_there_are_at_most_5_percent_false_alarms(void **state)
{
	for (uint32_t runs = 1; runs <= 5; runs++)
		for (int i = 0; i < KINDS; i++) {
			struct outcome o = try_it(11 * runs + (uint64_t)i, &kinds[i], 0, runs);
			if (o.slower + o.faster > 0.05)
				fail_msg("%u runs, noise %d: %.1f %% false alarms", runs, i,
					 100 * (o.slower + o.faster));
		}
}

static void a_shift_is_never_called_the_other_way(void **state)
{
	static const double shifts[] = {0.01, 0.03, 0.10};
	for (uint32_t runs = 1; runs <= 3; runs += 2)
		for (int i = 0; i < KINDS; i++)
			for (int k = 0; k < 3; k++) {
				struct outcome o = try_it(97 + (uint64_t)(i * 3 + k), &kinds[i],
							  shifts[k], runs);
				assert_true(o.faster <= 0.025);
			}
}

/* Where the runs' means lie 1 % apart; steps that vary much move them further. */
static void three_runs_find_5_percent_in_nine_of_ten_cases(void **state)
{
	for (int i = 0; i < KINDS; i++) {
		struct outcome o = try_it(5 + (uint64_t)i, &kinds[i], 0.05, 3);
		if (kinds[i].step <= 0.02 && o.slower < 0.9)
			fail_msg("noise %d: only %.1f %% found", i, 100 * o.slower);
	}
}

static void ten_percent_are_found_with_one_run_a_side(void **state)
{
	for (int i = 0; i < KINDS; i++) {
		struct outcome o = try_it(31 + (uint64_t)i, &kinds[i], 0.10, 1);
		assert_true(o.slower >= 0.9);
		o = try_it(41 + (uint64_t)i, &kinds[i], -0.10, 1);
		assert_true(o.faster >= 0.9);
	}
}

static void quiet_runs_without_a_shift_are_the_same(void **state)
{
	assert_true(try_it(3, &kinds[0], 0, 1).same >= 0.9);
	assert_true(try_it(3, &kinds[0], 0, 5).same >= 0.9);
}

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
	struct difference d = statistics_compare(&a, 1, &b, 1, STATISTICS_RUN_NOISE);
	assert_int_equal(d.verdict, VERDICT_UNKNOWN);
}

static void values_that_never_vary_differ_when_they_differ(void **state)
{
	double a[] = {4, 4, 4}, b[] = {5, 5, 5};
	assert_int_equal(statistics_welch(a, 3, b, 3).verdict, VERDICT_SLOWER);
	assert_int_equal(statistics_welch(a, 3, a, 3).verdict, VERDICT_SAME);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_shift_there_are_at_most_5_percent_false_alarms),
		cmocka_unit_test(a_shift_is_never_called_the_other_way),
		cmocka_unit_test(three_runs_find_5_percent_in_nine_of_ten_cases),
		cmocka_unit_test(ten_percent_are_found_with_one_run_a_side),
		cmocka_unit_test(quiet_runs_without_a_shift_are_the_same),
		cmocka_unit_test(the_t_of_5_percent_is_that_of_the_tables),
		cmocka_unit_test(one_step_a_side_tells_nothing),
		cmocka_unit_test(values_that_never_vary_differ_when_they_differ),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
