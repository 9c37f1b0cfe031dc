/* SPDX-License-Identifier: Apache-2.0 */
/* compare_power_test.c - how often diff and gate give a false alarm for a program that did not change, and how often
 * they find one that became slower, on machines whose runs lie 5 %, 20 % and 60 % apart. It prints the table of
 * docs/ci.md and holds what that promises. An argument says how many trials are made for each number of the table.
 *
 * A machine's speed wanders over 3, 30, 300 and 3,000 steps, so a run of 60 steps shows a part of the noise by its
 * own drift, and the rest only lies between runs. The noise is log-normal; one run in ten lies three times as far
 * from the others. The noise of a machine is the standard deviation of the logarithm of a run's mean without these.
 */
#include "make_trace.h"

#include <math.h>

#include "compare/gate.h"

enum { STEPS = 60, MOST_RUNS = 5, PARTS_OF_SPEED = 4 };
static const double keeps[PARTS_OF_SPEED] = {0.72, 0.967, 0.9967, 0.99967};

static double roll_unit(struct dice *dice)
{
	return ((double)(roll(dice) >> 11) + 0.5) / 9007199254740992.0;
}

static double roll_normal(struct dice *dice)
{
	return sqrt(-2 * log(roll_unit(dice))) * cos(2 * 3.14159265358979 * roll_unit(dice));
}

/* ---- runs --------------------------------------------------------------------------------------------- */

struct run {
	int64_t values[STEPS];
	struct compare_phase phase;
	struct compare_summary summary;
};

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return x < y ? -1 : x > y;
}

static void finish(struct run *run)
{
	int64_t sorted[STEPS], sum = 0;
	memcpy(sorted, run->values, sizeof sorted);
	qsort(sorted, STEPS, sizeof *sorted, by_value);
	for (int i = 0; i < STEPS; i++)
		sum += sorted[i];
	run->phase = (struct compare_phase){.name = "",
					    .repeats = true,
					    .n_steps = STEPS,
					    .n_steady = STEPS,
					    .step = sum / STEPS,
					    .p50 = sorted[STEPS / 2],
					    .values = run->values,
					    .n_values = STEPS,
					    .group = 1};
	run->phase.parts[PART_COMPUTE] = run->phase.step;
	run->summary = (struct compare_summary){.file = "run",
						.program = "p",
						.command = "p",
						.gpu = "",
						.driver = "",
						.cuda = "",
						.format = "",
						.traces = "",
						.graph_mode = "",
						.phases = &run->phase,
						.n = 1};
}

/* Of a wandering speed with the standard deviation 'wide' in each part, the mean of a run spreads by this much more
 * than 'wide'. */
static double spread_of_means(void)
{
	struct dice dice = {1};
	enum { RUNS = 4000 };
	double squares = 0;
	for (int i = 0; i < RUNS; i++) {
		double mean = 0;
		for (int k = 0; k < PARTS_OF_SPEED; k++) {
			double at = roll_normal(&dice);
			for (int s = 0; s < STEPS; s++) {
				at = keeps[k] * at +
				     sqrt(1 - keeps[k] * keeps[k]) * roll_normal(&dice);
				mean += at / STEPS;
			}
		}
		squares += mean * mean / RUNS;
	}
	return sqrt(squares);
}

static void simulate(struct dice *dice, struct run *run, double wide, double factor)
{
	double at[PARTS_OF_SPEED];
	double far = roll_below(dice, 10) == 0 ? 3 : 1;
	for (int k = 0; k < PARTS_OF_SPEED; k++)
		at[k] = roll_normal(dice) * (k > 1 ? far : 1);
	for (int s = 0; s < STEPS; s++) {
		double all = 0.02 * roll_normal(dice);
		for (int k = 0; k < PARTS_OF_SPEED; k++) {
			at[k] = keeps[k] * at[k] +
				sqrt(1 - keeps[k] * keeps[k]) * roll_normal(dice);
			all += wide * at[k];
		}
		run->values[s] = (int64_t)(1e8 * factor * exp(all));
	}
	finish(run);
}

/* ---- what diff and gate say ---------------------------------------------------------------------------- */

struct outcome {       /* shares of all trials */
	double alarms; /* diff: faster or slower */
	double fails;  /* gate fails */
};

static void judge(struct run *runs, uint32_t before, uint32_t after, struct outcome *outcome,
		  double each)
{
	const struct compare_summary *lists[2][MOST_RUNS];
	for (uint32_t i = 0; i < before; i++)
		lists[0][i] = &runs[i].summary;
	for (uint32_t i = 0; i < after; i++)
		lists[1][i] = &runs[before + i].summary;
	struct compare_side a = {.runs = lists[0], .n = before}, b = {.runs = lists[1], .n = after};
	struct compare_diff diff;
	struct compare_gate gate = {0};
	struct metric_request request;
	struct hwy_err err = {""};
	if (!metric_find(&request, "step.p50", 8, NULL, &gate.arena, &err) ||
	    !diff_make(&diff, &a, &b, STATISTICS_RUN_NOISE_BY_DRIFT, &err) ||
	    !gate_baseline(&gate, &diff, &request, 1, 0.03, &err))
		fail_msg("%s", err.text);
	outcome->alarms += diff.step.verdict >= VERDICT_FASTER ? each : 0;
	if (diff.step.verdict == VERDICT_SLOWER && gate.checks[0].number > 0.03)
		assert_true(gate.failed);
	outcome->fails += gate.failed ? each : 0;
	diff_free(&diff);
	gate_free(&gate);
}

static struct outcome try_it(uint32_t before, uint32_t after, double noise, double factor,
			     int trials)
{
	static struct run runs[2 * MOST_RUNS];
	static double spread;
	struct dice dice = {before * 7919 + after * 104729};
	struct outcome outcome = {0};
	if (!(spread > 0))
		spread = spread_of_means();
	for (int i = 0; i < trials; i++) {
		for (uint32_t k = 0; k < before + after; k++)
			simulate(&dice, &runs[k], noise / spread, k < before ? 1 : factor);
		judge(runs, before, after, &outcome, 1.0 / trials);
	}
	return outcome;
}

static const struct sides {
	uint32_t before, after;
	double alarms; /* what docs/ci.md promises */
} sides[] = {{1, 1, 0.15}, {2, 1, 0.08}, {3, 1, 0.07}, {5, 1, 0.07},
	     {2, 2, 0.05}, {3, 3, 0.05}, {5, 5, 0.05}};
enum { SIDES = sizeof sides / sizeof *sides };
static const double noises[] = {0.05, 0.2, 0.6};
static const double factors[] = {1.1, 1.5, 2, 10};
enum { NOISES = 3, FACTORS = 4 };
static int trials = 100;

/* Two standard deviations of a share that is counted in n trials. */
static double chance(double share, int n)
{
	return 2 * sqrt(share * (1 - share) / n);
}

static void false_alarms_are_as_rare_as_promised_and_slowdowns_are_found(void **state)
{
	print_message(
		"| runs | noise | false: diff | false: gate | 1.1 × | 1.5 × | 2 × | 10 × |\n");
	for (int i = 0; i < SIDES * NOISES; i++) {
		const struct sides *runs = &sides[i / NOISES];
		double noise = noises[i % NOISES], found[FACTORS];
		int often = 5 * trials;
		struct outcome same = try_it(runs->before, runs->after, noise, 1, often);
		print_message("| %u and %u | %.0f %% | %.1f %% | %.1f %% |", runs->before,
			      runs->after, 100 * noise, 100 * same.alarms, 100 * same.fails);
		for (int f = 0; f < FACTORS; f++) {
			found[f] =
				try_it(runs->before, runs->after, noise, factors[f], trials).fails;
			print_message(" %.0f %% |", 100 * found[f]);
		}
		print_message("\n");
		assert_true(same.alarms <= runs->alarms + chance(runs->alarms, often));
		assert_true(same.fails <= runs->alarms / 2 + chance(runs->alarms / 2, often));
		/* 1.5 times as slow at 5 % of noise, ten times at 20 % and at 60 %. */
		if (noise < 0.1)
			assert_true(found[1] >= 0.9);
		assert_true(found[3] >= (noise < 0.3 ? 0.95 : runs->after > 1 ? 0.75 : 0.6));
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(false_alarms_are_as_rare_as_promised_and_slowdowns_are_found),
	};
	if (argc > 1)
		trials = atoi(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
