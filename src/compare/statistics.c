/* SPDX-License-Identifier: Apache-2.0 */
/* statistics.c - see statistics.h. */
#include "compare/statistics.h"

#include <math.h>
#include <stdlib.h>

#include "base/lang.h"
#include "base/mem.h"
#include "base/quantile.h"

const char *const statistics_verdict_names[] = {HWY_KEY("unknown"), HWY_KEY("same"),
						HWY_KEY("faster"), HWY_KEY("slower")};

/* ---- Student's t ----------------------------------------------------------------------------- */

/* Continued fraction of the incomplete beta function (Lentz's method); converges fast for x <
 * (a+1)/(a+b+2). */
static double beta_fraction(double x, double a, double b)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1);
	d = 1 / (fabs(d) < tiny ? tiny : d);
	double result = d;
	for (int m = 1; m <= 300; m++) {
		double numerator = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		d = 1 + numerator * d;
		c = 1 + numerator / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		result *= d * c;
		numerator = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		d = 1 + numerator * d;
		c = 1 + numerator / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		double factor = d * c;
		result *= factor;
		if (fabs(factor - 1) < 1e-12)
			break;
	}
	return result;
}

static double beta_share(double x, double a, double b)
{
	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(x, a, b) / a;
	return 1 - front * beta_fraction(1 - x, b, a) / b;
}

/* The probability that |t| exceeds a value. */
static double t_tail(double t, double freedom)
{
	return beta_share(freedom / (freedom + t * t), freedom / 2, 0.5);
}

double statistics_t(double freedom, double share)
{
	if (!(freedom >= 1))
		freedom = 1;
	double low = 0, high = 1000;
	for (int i = 0; i < 80; i++) {
		double middle = (low + high) / 2;
		if (t_tail(middle, freedom) > share)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

/* ---- one side -------------------------------------------------------------------------------- */

/* A mean and how exact it is. Times are compared as ratios, so the errors are those of their
 * logarithms; other numbers are compared as they are. */
struct estimate {
	double value;   /* the mean over the runs: of times in ns */
	double centre;  /* the mean of the runs' logarithms; of other numbers 'value' */
	double square;  /* squared standard error of 'centre'; infinite where it is not known */
	double freedom; /* degrees of freedom of 'square' */
	uint32_t runs;  /* how many runs the mean is of */
	/* The least and the largest run, and the sum of the runs' squared distances from 'centre',
	 * on its scale. */
	double least, most, apart;
	/* How far noise from run to run may move 'centre' in 95 % of all runs. */
	double noise;
};

static double mean_of(const double *values, uint32_t n)
{
	double sum = 0;
	for (uint32_t i = 0; i < n; i++)
		sum += values[i] - values[0];
	return n ? values[0] + sum / n : 0;
}

/* Yields the mean of independent values, of which each run has one. */
static struct estimate estimate_runs(const double *values, uint32_t n, bool are_times)
{
	double *scaled = hwy_array(n, sizeof *scaled);
	for (uint32_t i = 0; i < n; i++)
		scaled[i] = are_times ? log(fmax(values[i], 1)) : values[i];
	struct estimate e = {.value = mean_of(values, n),
			     .centre = mean_of(scaled, n),
			     .square = INFINITY,
			     .freedom = 1,
			     .runs = n,
			     .least = INFINITY,
			     .most = -INFINITY};
	for (uint32_t i = 0; i < n; i++) {
		e.least = fmin(e.least, scaled[i]);
		e.most = fmax(e.most, scaled[i]);
		e.apart += (scaled[i] - e.centre) * (scaled[i] - e.centre);
	}
	free(scaled);
	if (n < 2)
		return e;
	e.square = e.apart / n / (n - 1);
	e.freedom = n - 1;
	return e;
}

/* fewer steps do not show how much neighbouring steps are correlated */
enum { LEAST_MEMORY_STEPS = 8 };

/* The mean of steps that follow each other, by a block bootstrap. No random numbers are needed: the
 * means of randomly drawn blocks of neighbours have the variance of all n circular blocks. Blocks
 * are short; where steps are correlated over more than a block (a clock that wanders), they count
 * as fewer independent steps. The larger of the two errors is taken. */
static struct estimate estimate_steps(const double *values, uint32_t n)
{
	struct estimate e = {.value = mean_of(values, n), .square = INFINITY, .freedom = 1};
	if (n < 2)
		return e;
	uint32_t length = n < 6 ? 1 : (uint32_t)ceil(cbrt(n));
	double block = 0, blocks = 0, squares = 0, products = 0;
	for (uint32_t i = 0; i < length; i++)
		block += values[i] - e.value;
	for (uint32_t i = 0; i < n; i++) {
		double one = values[i] - e.value;
		blocks += block * block;
		block += values[(i + length) % n] - values[i];
		squares += one * one;
		products += i + 1 < n ? one * (values[i + 1] - e.value) : 0;
	}
	double drawn = (double)n / length;
	e.square = blocks / n / length / length / (drawn - 1);
	e.freedom = drawn - 1;
	if (n < LEAST_MEMORY_STEPS || !(squares > 0))
		return e;
	double memory = products / squares;
	/* Few values understate the correlation; this term corrects it (Kendall). */
	memory += (1 + 3 * memory) / n;
	memory = fmin(fmax(memory, 0), 0.95);
	double count = fmax(n * (1 - memory) / (1 + memory), 2);
	if (squares / n / (count - 1) > e.square) {
		e.square = squares / n / (count - 1);
		e.freedom = count - 1;
	}
	return e;
}

/* The mean of the middle half of the steps, which rare long steps do not change. Its error is that
 * of all steps with the outer quarters set to the quartiles (Tukey and McLaughlin). Changes the
 * values. */
static struct estimate estimate_middle(double *values, uint32_t n)
{
	if (n < 4)
		return (struct estimate){
			.value = mean_of(values, n), .square = INFINITY, .freedom = 1};
	uint32_t cut = n / 4;
	double *sorted = hwy_copy_array(values, n, sizeof *values);
	hwy_sort_real(sorted, n);
	double low = sorted[cut], high = sorted[n - 1 - cut],
	       middle = mean_of(sorted + cut, n - 2 * cut);
	free(sorted);
	for (uint32_t i = 0; i < n; i++)
		values[i] = fmin(fmax(values[i], low), high);
	struct estimate e = estimate_steps(values, n);
	double kept = (double)(n - 2 * cut) / n;
	e.value = middle;
	e.square /= kept * kept;
	e.freedom = fmax(e.freedom * kept, 1);
	return e;
}

static struct estimate estimate_run(const struct sample *run, bool middle)
{
	double *values = hwy_array(run->n, sizeof *values);
	for (uint32_t i = 0; i < run->n; i++)
		values[i] = (double)run->values[i];
	struct estimate e =
		middle ? estimate_middle(values, run->n) : estimate_steps(values, run->n);
	if (!middle)
		e.value = run->mean;
	free(values);
	return e;
}

/* So many standard deviations hold 95 % of all runs. */
static const double commonly = 2;

/* How far a run's mean commonly lies from the program's, judged by how much the run itself moves.
 * The means of blocks of neighbours spread by what is slower than a block; what is slower than the
 * run moves the run as a whole, and is assumed to be as large. Longer blocks are too few to show
 * their spread; single steps would count noise that averages out. */
static double drift_of(const struct sample *run)
{
	static const double least = STATISTICS_RUN_NOISE_SHARE;
	uint32_t length = run->n < 6 ? 1 : (uint32_t)ceil(cbrt(run->n)), blocks = run->n / length;
	if (blocks < 2 || !(run->mean > 0))
		return log1p(least);
	double *means = hwy_zarray(blocks, sizeof *means);
	for (uint32_t i = 0; i < blocks * length; i++)
		means[i / length] += (double)run->values[i] / length;
	struct estimate e = estimate_runs(means, blocks, true);
	free(means);
	return fmax(commonly * sqrt(e.square * blocks), log1p(least));
}

/* One run alone shows by its steps how far it reaches: from its first to its last decile. */
static void reach_of_steps(struct estimate *e, const struct sample *run)
{
	int64_t *sorted = hwy_copy_array(run->values, run->n, sizeof *sorted);
	hwy_sort(sorted, run->n);
	e->least = log(fmax((double)hwy_rank_below(sorted, run->n, 10), 1));
	e->most = log(fmax((double)hwy_rank_below(sorted, run->n, 90), 1));
	free(sorted);
}

/* The mean of a side: its error comes from the runs' means where there are enough runs, else from
 * their steps. */
static struct estimate estimate_side(const struct sample *side, uint32_t n, bool runs_speak,
				     bool middle, double run_noise)
{
	double *values = hwy_array(n, sizeof *values);
	double sum = 0, parts = 0, noise = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct estimate one = estimate_run(&side[i], middle);
		double square = one.square / one.value / one.value / n / n;
		double own = run_noise < 0 ? drift_of(&side[i]) : log1p(run_noise);
		values[i] = one.value;
		noise += own * own / n / n;
		sum += square;
		parts += square * square / one.freedom;
	}
	struct estimate e = estimate_runs(values, n, true);
	if (!runs_speak) {
		e.noise = sqrt(noise);
		e.square = sum;
		e.freedom = parts > 0 && isfinite(sum) ? sum * sum / parts : 1;
		if (run_noise >= 0)
			e.apart = 0; /* the noise is given, and needs not be seen */
	}
	if (n == 1 && side->n > 0)
		reach_of_steps(&e, side);
	free(values);
	return e;
}

/* ---- two sides ------------------------------------------------------------------------------- */

/* The squared error of the difference, if runs of both sides scatter alike: three runs that agree
 * by luck prove little against ten runs that do not. With as many runs on both sides it is the
 * error that Welch's test takes. */
static double pooled(const struct estimate *a, const struct estimate *b)
{
	double x = a->runs, y = b->runs;
	double variance = (a->square * x * (x - 1) + b->square * y * (y - 1)) / (x + y - 2);
	return variance * (1 / x + 1 / y);
}

/* How far the runs of the sides differ, as a noise from run to run; 0 where each side has one. */
static double noise_seen(const struct estimate *a, const struct estimate *b)
{
	uint32_t freedom = a->runs + b->runs - 2;
	return freedom > 0 ? commonly * sqrt((a->apart + b->apart) / freedom) : 0;
}

/* Whether all runs of one side lie beyond all of the other, STATISTICS_FAR times as far. */
static bool are_far_apart(const struct estimate *a, const struct estimate *b)
{
	return (a->most < b->least || b->most < a->least) &&
	       fabs(b->centre - a->centre) >= log(STATISTICS_FAR);
}

static void set_interval(struct difference *d, const struct estimate *a, const struct estimate *b,
			 bool are_times)
{
	double change = b->centre - a->centre, low = change - d->doubt, high = change + d->doubt;
	/* The mean of the times may have changed otherwise than that of their logarithms. */
	d->low = fmin(are_times ? a->value * expm1(low) : low, d->change);
	d->high = fmax(are_times ? a->value * expm1(high) : high, d->change);
	if (!isfinite(d->doubt))
		d->low = -INFINITY;
}

/* The difference of two means; 'risk' is the probability of a false "faster" or "slower". The noise
 * from run to run widens the interval, unless there are enough runs to show it: then it is 0. */
static struct difference between(struct estimate a, struct estimate b, double risk, bool runs_speak,
				 bool are_times)
{
	/* Welch's and Satterthwaite's degrees of freedom. */
	double sum = a.square + b.square;
	double parts = a.square * a.square / a.freedom + b.square * b.square / b.freedom;
	double freedom = parts > 0 && isfinite(sum) ? sum * sum / parts : a.freedom + b.freedom;
	if (runs_speak && isfinite(sum))
		sum = fmax(sum, pooled(&a, &b));
	double error = sqrt(sum), change = b.centre - a.centre;
	/* With too few runs to judge by them alone, each run's drift is its noise, or what the runs
	 * differ by, where that is more. */
	double noise = sqrt(a.noise * a.noise + b.noise * b.noise), of_a_run = 0;
	if (noise > 0) {
		double seen = noise_seen(&a, &b), n = a.runs, m = b.runs;
		noise = fmax(noise, seen * sqrt(1 / n + 1 / m));
		of_a_run = fmax(seen, fmax(a.noise * sqrt(n), b.noise * sqrt(m)));
	}
	struct difference d = {
		.before = a.value,
		.after = b.value,
		.change = b.value - a.value,
		.run_noise = expm1(of_a_run),
		.doubt = error * statistics_t(freedom, 0.05) + noise,
		.is_apart = are_times && are_far_apart(&a, &b),
	};
	set_interval(&d, &a, &b, are_times);
	d.is_sure = change * d.change > 0 &&
		    (d.is_apart || fabs(change) > error * statistics_t(freedom, risk) + noise);
	return d;
}

static enum compare_verdict statistics_judge(const struct difference *d)
{
	double least = STATISTICS_LEAST_SHARE * d->before, same = STATISTICS_SAME_SHARE * d->before;
	if (!isfinite(d->high) || !(d->before > 0))
		return VERDICT_UNKNOWN;
	if (d->is_sure && fabs(d->change) >= least)
		return d->change < 0 ? VERDICT_FASTER : VERDICT_SLOWER;
	return d->low >= -same && d->high <= same ? VERDICT_SAME : VERDICT_UNKNOWN;
}

/* Whether the verdict of the middle half may stand in for an undecided mean: the mean must not
 * contradict it. */
static bool may_speak(const struct difference *middle, const struct difference *mean, bool enough)
{
	double change = fabs(mean->change) / mean->before;
	if (middle->verdict == VERDICT_SAME)
		return change <= STATISTICS_SAME_SHARE;
	return enough && change >= STATISTICS_LEAST_SHARE && mean->change * middle->change > 0;
}

/* The risk of a false alarm: a little below the 5 % that are allowed, because real noise is not
 * quite normal. */
static const double risk_taken = 0.04;

struct difference statistics_runs(const double *before, uint32_t n_before, const double *after,
				  uint32_t n_after, uint32_t questions, bool are_times)
{
	struct difference d = between(estimate_runs(before, n_before, are_times),
				      estimate_runs(after, n_after, are_times),
				      risk_taken / questions, true, are_times);
	d.method = HWY_KEY("welch");
	d.verdict = statistics_judge(&d);
	return d;
}

/* Whether the mean became faster or slower while most steps did the opposite: a few long steps on
 * one side decide the mean, and nobody can tell from it what the program does. */
static bool is_torn(const struct difference *mean, const struct difference *middle)
{
	double least = STATISTICS_SAME_SHARE * middle->before;
	return mean->verdict >= VERDICT_FASTER && mean->change * middle->change < 0 &&
	       (fabs(middle->change) >= least || middle->verdict >= VERDICT_FASTER);
}

static bool has_steps(const struct sample *side, uint32_t n, uint32_t steps)
{
	for (uint32_t i = 0; i < n; i++)
		if (side[i].n < steps)
			return false;
	return true;
}

struct difference statistics_compare(const struct sample *before, uint32_t n_before,
				     const struct sample *after, uint32_t n_after, double run_noise)
{
	bool runs_speak = n_before >= STATISTICS_RUNS && n_after >= STATISTICS_RUNS;
	/* The changes of the mean and of the mean of the middle half. */
	struct difference changes[2];
	for (int middle = 0; middle < 2; middle++) {
		struct estimate a = estimate_side(before, n_before, runs_speak, middle, run_noise),
				b = estimate_side(after, n_after, runs_speak, middle, run_noise);
		/* The test of the middle half is a second chance to find a change, so it uses
		 * half the risk. */
		changes[middle] =
			between(a, b, middle ? risk_taken / 2 : risk_taken, runs_speak, true);
		changes[middle].verdict = statistics_judge(&changes[middle]);
	}
	struct difference d = changes[0];
	d.method = runs_speak ? HWY_KEY("welch") : HWY_KEY("bootstrap");
	d.middle = (struct interval){changes[1].change / changes[1].before,
				     changes[1].low / changes[1].before,
				     changes[1].high / changes[1].before, changes[1].doubt};
	bool enough = runs_speak || (has_steps(before, n_before, STATISTICS_MIDDLE_STEPS) &&
				     has_steps(after, n_after, STATISTICS_MIDDLE_STEPS));
	if (d.verdict == VERDICT_UNKNOWN && changes[1].verdict != VERDICT_UNKNOWN &&
	    may_speak(&changes[1], &d, enough)) {
		d.verdict = changes[1].verdict;
		d.by_middle = true;
	}
	if (is_torn(&d, &changes[1])) {
		d.verdict = VERDICT_UNKNOWN;
		d.is_torn = true;
	}
	return d;
}
