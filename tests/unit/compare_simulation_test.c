/* SPDX-License-Identifier: Apache-2.0 */
/* compare_simulation_test.c - the statistics on simulated runs of many kinds, with a known shift: false alarms stay
 * below 5 %, real ones are found, and what was shifted is not called the same.
 *
 * The kinds are not those of the theory: skewed steps, steps that remember the ones before, drift, two modes (by
 * chance, or lasting), rare and regular long steps; 10, 30 and 200 steps a run; runs that lie 0.3 % or 1 % apart;
 * as many of them a side, or not.
 */
#include "make_trace.h"

#include <math.h>

#include "compare/statistics.h"

enum { TRIALS = 150, MOST_STEPS = 200, MOST_RUNS = 10 };

static double roll_unit(struct dice *dice)
{
	return ((double)(roll(dice) >> 11) + 0.5) / 9007199254740992.0;
}

static double roll_normal(struct dice *dice)
{
	return sqrt(-2 * log(roll_unit(dice))) * cos(2 * 3.14159265358979 * roll_unit(dice));
}

/* ---- kinds of steps ----------------------------------------------------------------------------------- */

struct walk { /* what a step knows of the one before */
	struct dice *dice;
	double last;
	bool slow;
	int i, n, phase;
};

typedef double step_kind(struct walk *walk); /* about 1 */

static double quiet(struct walk *w)
{
	return 1 + 0.01 * roll_normal(w->dice);
}

static double skewed(struct walk *w)
{
	return exp(0.05 * roll_normal(w->dice));
}

static double very_skewed(struct walk *w)
{
	return exp(0.2 * roll_normal(w->dice));
}

static double remember(struct walk *w, double keep)
{
	double fresh = roll_normal(w->dice);
	w->last = w->i ? keep * w->last + sqrt(1 - keep * keep) * fresh : fresh;
	return 1 + 0.03 * w->last;
}

static double remembering(struct walk *w)
{
	return remember(w, 0.6);
}

static double wandering(struct walk *w)
{
	return remember(w, 0.9);
}

static double drifting(struct walk *w)
{
	return quiet(w) + 0.03 * w->i / w->n;
}

static double two_modes(struct walk *w)
{
	return (roll_unit(w->dice) < 0.3 ? 1.08 : 1) + 0.005 * roll_normal(w->dice);
}

static double lasting_modes(struct walk *w)
{
	if (w->i == 0)
		w->slow = roll_unit(w->dice) < 0.3;
	if (roll_unit(w->dice) < (w->slow ? 0.15 : 0.064))
		w->slow = !w->slow;
	return (w->slow ? 1.08 : 1) + 0.005 * roll_normal(w->dice);
}

static double rare_long(struct walk *w)
{
	return quiet(w) + (roll_unit(w->dice) < 0.03 ? 2 : 0);
}

static double very_rare_very_long(struct walk *w)
{
	return quiet(w) + (roll_unit(w->dice) < 0.01 ? 9 : 0);
}

static double every_tenth_long(struct walk *w)
{
	return quiet(w) + ((w->i + w->phase) % 10 == 0);
}

static const struct kind {
	const char *name;
	step_kind *step;
} kinds[] = {
	{"quiet", quiet},
	{"skewed", skewed},
	{"very skewed", very_skewed},
	{"remembering", remembering},
	{"wandering", wandering},
	{"drifting", drifting},
	{"two modes", two_modes},
	{"lasting modes", lasting_modes},
	{"rare long", rare_long},
	{"very rare, very long", very_rare_very_long},
	{"every tenth long", every_tenth_long},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- runs --------------------------------------------------------------------------------------------- */

struct setting {
	const struct kind *kind;
	uint32_t before, after; /* runs a side */
	uint32_t steps;
	double apart; /* the runs: standard deviation */
	double scale; /* of the steps' own deviations */
	double shift;
};

static struct sample simulate(struct dice *dice, const struct setting *s, double shift,
			      int64_t *values)
{
	double own = 1e7 * (1 + shift) * (1 + s->apart * roll_normal(dice)), sum = 0;
	struct walk walk = {dice, 0, false, 0, (int)s->steps, (int)roll_below(dice, 10)};
	for (uint32_t i = 0; i < s->steps; i++) {
		walk.i = (int)i;
		values[i] = (int64_t)(own * (1 + s->scale * (s->kind->step(&walk) - 1)));
		sum += (double)values[i];
	}
	return (struct sample){values, s->steps, sum / s->steps};
}

struct outcome {
	double of[4]; /* by verdict */
};

static struct outcome try_it(uint64_t seed, const struct setting *s, int trials)
{
	static int64_t values[2][MOST_RUNS][MOST_STEPS];
	struct dice dice = {seed * 7919 + s->before * 101 + s->after * 53 + s->steps};
	struct outcome outcome = {0};
	for (int i = 0; i < trials; i++) {
		struct sample before[MOST_RUNS], after[MOST_RUNS];
		for (uint32_t k = 0; k < s->before; k++)
			before[k] = simulate(&dice, s, 0, values[0][k]);
		for (uint32_t k = 0; k < s->after; k++)
			after[k] = simulate(&dice, s, s->shift, values[1][k]);
		struct difference d = statistics_compare(before, s->before, after, s->after,
							 STATISTICS_RUN_NOISE_BY_DRIFT);
		assert_true(d.low <= d.change && d.change <= d.high);
		outcome.of[d.verdict] += 1.0 / trials;
	}
	return outcome;
}

static const struct sides {
	uint32_t before, after;
} sides[] = {{1, 1}, {3, 3}, {2, 2}, {5, 5}, {3, 10}};
enum { SIDES = sizeof sides / sizeof *sides };
static const uint32_t step_counts[] = {10, 30, 200};
static const double aparts[] = {0.003, 0.01};

/* Mean of the outcomes of all numbers of steps and all distances of the runs. */
static struct outcome try_all(const struct kind *kind, const struct sides *runs, double shift)
{
	struct outcome sum = {0};
	int n = 0;
	for (int s = 0; s < 3; s++)
		for (int a = 0; a < 2; a++) {
			/* A mode that lasts as long as ten steps is noise from run to run, and 4 % of
			 * it: more than is assumed, and one run cannot show it. */
			if (kind->step == lasting_modes && step_counts[s] == 10 && runs->before < 3)
				continue;
			struct setting setting = {kind,           runs->before, runs->after,
						  step_counts[s], aparts[a],    1,
						  shift};
			struct outcome one = try_it((uint64_t)(kind - kinds) + 1, &setting, TRIALS);
			for (int k = 0; k < 4; k++)
				sum.of[k] += one.of[k];
			n++;
		}
	for (int k = 0; k < 4; k++)
		sum.of[k] /= n;
	return sum;
}

static void without_a_shift_at_most_5_percent_are_false_alarms(void **state)
{
	const double chance = 2 * sqrt(0.05 * 0.95 / (6 * TRIALS)); /* of one kind's simulation */
	for (int r = 0; r < SIDES; r++) {
		double all = 0;
		for (int i = 0; i < KINDS; i++) {
			struct outcome o = try_all(&kinds[i], &sides[r], 0);
			double alarms = o.of[VERDICT_FASTER] + o.of[VERDICT_SLOWER];
			if (alarms > 0.05 + chance)
				fail_msg("%u and %u runs, %s: %.1f %% false alarms",
					 sides[r].before, sides[r].after, kinds[i].name,
					 100 * alarms);
			all += alarms / KINDS;
		}
		if (all > 0.05)
			fail_msg("%u and %u runs: %.1f %% false alarms", sides[r].before,
				 sides[r].after, 100 * all);
	}
}

static void a_shift_is_seldom_called_the_same_and_never_the_other_way(void **state)
{
	for (int r = 0; r < 2; r++)
		for (int i = 0; i < KINDS; i++) {
			struct outcome o = try_all(&kinds[i], &sides[r], 0.05);
			if (o.of[VERDICT_SAME] > 0.05 || o.of[VERDICT_FASTER] > 0.02)
				fail_msg("%u runs, %s: %.1f %% the same, %.1f %% faster",
					 sides[r].before, kinds[i].name, 100 * o.of[VERDICT_SAME],
					 100 * o.of[VERDICT_FASTER]);
		}
}

/* Runs whose means lie 1 % (or less) apart, from whatever it comes: the steps' part is at most 0.7 %. */
static struct setting apart_in_all(const struct kind *kind, uint32_t runs, uint32_t steps,
				   double apart, double shift)
{
	struct setting setting = {kind, runs, runs, steps, 0, 1, shift};
	struct dice dice = {77};
	int64_t values[MOST_STEPS];
	double sum = 0, squares = 0;
	enum { RUNS = 400 };
	for (int i = 0; i < RUNS; i++) {
		double mean = simulate(&dice, &setting, 0, values).mean / 1e7;
		sum += mean / RUNS;
		squares += mean * mean / RUNS;
	}
	double own = sqrt(squares - sum * sum);
	setting.scale = own > 0.7 * apart ? 0.7 * apart / own : 1;
	setting.apart = sqrt(apart * apart - own * own * setting.scale * setting.scale);
	return setting;
}

static void three_runs_of_thirty_steps_find_5_percent_in_nine_of_ten_cases(void **state)
{
	for (int a = 0; a < 2; a++)
		for (int i = 0; i < KINDS; i++) {
			struct setting s = apart_in_all(&kinds[i], 3, 30, aparts[a], 0.05);
			struct outcome o = try_it(500 + (uint64_t)i, &s, 4 * TRIALS);
			if (o.of[VERDICT_SLOWER] < 0.9)
				fail_msg("%s: only %.1f %% found", kinds[i].name,
					 100 * o.of[VERDICT_SLOWER]);
		}
}

static void one_run_of_thirty_steps_finds_15_percent_in_six_of_seven_cases(void **state)
{
	for (int sign = -1; sign <= 1; sign += 2)
		for (int i = 0; i < KINDS; i++) {
			struct setting s = apart_in_all(&kinds[i], 1, 30, 0.01, 0.15 * sign);
			/* Thirty steps that remember so long count for two, and ten blocks of which three
			 * have a long step look like drift: it takes more runs. */
			if (kinds[i].step == wandering || kinds[i].step == lasting_modes ||
			    kinds[i].step == every_tenth_long)
				continue;
			struct outcome o = try_it(700 + (uint64_t)i, &s, 2 * TRIALS);
			double found = o.of[sign < 0 ? VERDICT_FASTER : VERDICT_SLOWER];
			if (found < 0.857)
				fail_msg("%s, %d * 15 %%: only %.1f %% found", kinds[i].name, sign,
					 100 * found);
		}
}

/* A machine that others use: its speed wanders over 3, 30, 300 and 3,000 steps, and a run sees only a
 * piece of that. With one run a side nothing can bring the slow part down to 5 % of false alarms; these are the
 * numbers that docs/ci.md promises. */
static double shared_machine(struct dice *dice, double run_noise)
{
	enum { PARTS = 4, STEPS = 100, RUNS = 2000 };
	static const double keeps[PARTS] = {0.72, 0.967, 0.9967, 0.99967};
	static int64_t values[2][STEPS];
	double alarms = 0;
	for (int i = 0; i < RUNS; i++) {
		struct sample runs[2];
		for (int side = 0; side < 2; side++) {
			double at[PARTS], sum = 0;
			for (int k = 0; k < PARTS; k++)
				at[k] = roll_normal(dice);
			for (int s = 0; s < STEPS; s++) {
				double all = 0;
				for (int k = 0; k < PARTS; k++) {
					at[k] = keeps[k] * at[k] +
						sqrt(1 - keeps[k] * keeps[k]) * roll_normal(dice);
					all += 0.04 * at[k];
				}
				values[side][s] = (int64_t)(1e7 * exp(all));
				sum += (double)values[side][s];
			}
			runs[side] = (struct sample){values[side], STEPS, sum / STEPS};
		}
		enum compare_verdict verdict =
			statistics_compare(&runs[0], 1, &runs[1], 1, run_noise).verdict;
		alarms += verdict >= VERDICT_FASTER ? 1.0 / RUNS : 0;
	}
	return alarms;
}

static void one_run_a_side_on_a_shared_machine_gives_few_false_alarms(void **state)
{
	struct dice dice = {4711};
	double two_percent = shared_machine(&dice, STATISTICS_RUN_NOISE_SHARE);
	double by_drift = shared_machine(&dice, STATISTICS_RUN_NOISE_BY_DRIFT);
	print_message(
		"shared machine, one run a side: %.1f %% false alarms, %.1f %% with 2 %% of noise\n",
		100 * by_drift, 100 * two_percent);
	if (by_drift > 0.07 || two_percent < 0.1)
		fail_msg("%.1f %% false alarms, %.1f %% with 2 %% of noise", 100 * by_drift,
			 100 * two_percent);
}

/* The mean of such runs cannot tell; the middle half of their steps can, with runs that show their noise. */
static void long_steps_do_not_hide_what_all_others_show(void **state)
{
	static step_kind *const with_long[] = {rare_long, very_rare_very_long, every_tenth_long};
	for (int i = 0; i < KINDS; i++)
		for (int k = 0; k < 3; k++) {
			if (kinds[i].step != with_long[k])
				continue;
			struct setting s = {&kinds[i], 3, 3, 200, 0.003, 1, 0.08};
			struct outcome slower = try_it(900, &s, TRIALS);
			s.shift = 0;
			struct outcome same = try_it(901, &s, TRIALS);
			if (slower.of[VERDICT_SLOWER] < 0.6 || same.of[VERDICT_SAME] < 0.5)
				fail_msg("%s: %.0f %% slower, %.0f %% same", kinds[i].name,
					 100 * slower.of[VERDICT_SLOWER],
					 100 * same.of[VERDICT_SAME]);
		}
}

static void quiet_runs_without_a_shift_are_the_same(void **state)
{
	for (int r = 0; r < SIDES; r++) {
		struct setting s = {&kinds[0], sides[r].before, sides[r].after, 30, 0.003, 1, 0};
		assert_true(try_it(3, &s, TRIALS).of[VERDICT_SAME] >= 0.9);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_shift_at_most_5_percent_are_false_alarms),
		cmocka_unit_test(a_shift_is_seldom_called_the_same_and_never_the_other_way),
		cmocka_unit_test(three_runs_of_thirty_steps_find_5_percent_in_nine_of_ten_cases),
		cmocka_unit_test(one_run_of_thirty_steps_finds_15_percent_in_six_of_seven_cases),
		cmocka_unit_test(one_run_a_side_on_a_shared_machine_gives_few_false_alarms),
		cmocka_unit_test(long_steps_do_not_hide_what_all_others_show),
		cmocka_unit_test(quiet_runs_without_a_shift_are_the_same),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
