/* statistics.c - see statistics.h. */
#include "compare/statistics.h"

#include <math.h>
#include <stddef.h>

const char *const verdict_names[] = {"unknown", "same", "faster", "slower"};

/* ---- Student's t ---------------------------------------------------------------------------------- */

/* Continued fraction of the incomplete beta function (Lentz's method); converges fast for x < (a+1)/(a+b+2). */
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

/* How often |t| exceeds a value. */
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

/* ---- one run --------------------------------------------------------------------------------------- */

static uint64_t roll(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

enum { RESAMPLES = 400 };

double statistics_block_error(const int64_t *values, uint32_t n, uint32_t *blocks)
{
	*blocks = n;
	if (n < 2)
		return INFINITY;
	uint32_t length = n < 6 ? 1 : (uint32_t)ceil(cbrt((double)n));
	*blocks = n / length;
	double base = (double)values[0], sum = 0, squares = 0;
	uint64_t state = n;
	for (int k = 0; k < RESAMPLES; k++) {
		double mean = 0;
		for (uint32_t taken = 0; taken < n;) {
			uint32_t at = (uint32_t)(roll(&state) %
						 n); /* circular: every step counts alike */
			for (uint32_t i = 0; i < length && taken < n; i++, taken++)
				mean += (double)values[(at + i) % n] - base;
		}
		mean /= n;
		sum += mean;
		squares += mean * mean;
	}
	double variance = squares / RESAMPLES - sum / RESAMPLES * (sum / RESAMPLES);
	/* The bootstrap divides by the number of pieces, not by one less. */
	double correction = (double)*blocks / (*blocks > 1 ? *blocks - 1 : 1);
	return sqrt(variance > 0 ? variance * correction : 0);
}

/* ---- two sides -------------------------------------------------------------------------------------- */

enum compare_verdict statistics_judge(const struct difference *difference)
{
	double least = STATISTICS_LEAST * difference->before;
	double same = STATISTICS_SAME * difference->before;
	if (!isfinite(difference->low) || !isfinite(difference->high) || !(difference->before > 0))
		return VERDICT_UNKNOWN;
	if (difference->change < -difference->sure && difference->change <= -least)
		return VERDICT_FASTER;
	if (difference->change > difference->sure && difference->change >= least)
		return VERDICT_SLOWER;
	return difference->low >= -same && difference->high <= same ? VERDICT_SAME
								    : VERDICT_UNKNOWN;
}

/* 'error' is the standard error of the change, 'level' that of the verdict, 'more' what is added to its interval on both sides. */
static void set_interval(struct difference *d, double error, double freedom, double level,
			 double more)
{
	double half = error * statistics_t(freedom, 0.05) + more;
	d->sure = error * statistics_t(freedom, level) + more;
	d->change = d->after - d->before;
	d->low = d->change - half;
	d->high = d->change + half;
	if (isfinite(d->low) && d->low < -d->before)
		d->low = -d->before;
	d->verdict = statistics_judge(d);
}

static double mean_of(const double *values, uint32_t n)
{
	double sum = 0;
	for (uint32_t i = 0; i < n; i++)
		sum += values[i];
	return n ? sum / n : 0;
}

/* Of the mean: squared standard error. */
static double error_of(const double *values, uint32_t n, double mean)
{
	double squares = 0;
	for (uint32_t i = 0; i < n; i++)
		squares += (values[i] - mean) * (values[i] - mean);
	return n > 1 ? squares / (n - 1) / n : 0;
}

/* Welch's and Satterthwaite's degrees of freedom of the sum of two squared errors. */
static double freedom_of(double a, double freedom_a, double b, double freedom_b)
{
	double sum = a + b, parts = a * a / freedom_a + b * b / freedom_b;
	return parts > 0 ? sum * sum / parts : freedom_a + freedom_b;
}

struct difference statistics_welch(const double *before, uint32_t n_before, const double *after,
				   uint32_t n_after)
{
	struct difference d = {.before = mean_of(before, n_before),
			       .after = mean_of(after, n_after),
			       .method = "welch"};
	double a = error_of(before, n_before, d.before), b = error_of(after, n_after, d.after);
	/* With three runs Welch's own caution is enough. */
	bool few = n_before <= STATISTICS_RUNS || n_after <= STATISTICS_RUNS;
	double level = few ? 0.05 : STATISTICS_LEVEL;
	if (n_before > 1 && n_after > 1)
		set_interval(&d, sqrt(a + b), freedom_of(a, n_before - 1, b, n_after - 1), level,
			     0);
	else
		set_interval(&d, INFINITY, 1, level, 0);
	return d;
}

/* The squared error of a side's mean from its steps, and its degrees of freedom. */
static double steps_error(const struct sample *side, uint32_t n, double *freedom)
{
	double sum = 0, parts = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t blocks;
		double error = statistics_block_error(side[i].values, side[i].n, &blocks) / n;
		if (!isfinite(error))
			return INFINITY;
		sum += error * error;
		parts += error * error * error * error / (blocks > 1 ? blocks - 1 : 1);
	}
	*freedom = parts > 0 ? sum * sum / parts : 1e6;
	return sum;
}

static double side_mean(const struct sample *side, uint32_t n)
{
	double sum = 0;
	for (uint32_t i = 0; i < n; i++)
		sum += side[i].mean;
	return n ? sum / n : 0;
}

enum { MOST_RUNS = 256 };

struct difference statistics_compare(const struct sample *before, uint32_t n_before,
				     const struct sample *after, uint32_t n_after, double run_noise)
{
	n_before = n_before < MOST_RUNS ? n_before : MOST_RUNS;
	n_after = n_after < MOST_RUNS ? n_after : MOST_RUNS;
	if (n_before >= STATISTICS_RUNS && n_after >= STATISTICS_RUNS) {
		double a[MOST_RUNS], b[MOST_RUNS];
		for (uint32_t i = 0; i < n_before; i++)
			a[i] = before[i].mean;
		for (uint32_t i = 0; i < n_after; i++)
			b[i] = after[i].mean;
		return statistics_welch(a, n_before, b, n_after);
	}
	struct difference d = {.before = side_mean(before, n_before),
			       .after = side_mean(after, n_after),
			       .method = "bootstrap"};
	double freedom_a = 1, freedom_b = 1;
	double a = steps_error(before, n_before, &freedom_a),
	       b = steps_error(after, n_after, &freedom_b);
	double noise =
		run_noise * sqrt(d.before * d.before / n_before + d.after * d.after / n_after);
	if (isfinite(a) && isfinite(b))
		set_interval(&d, sqrt(a + b), freedom_of(a, freedom_a, b, freedom_b),
			     STATISTICS_LEVEL, noise);
	else
		set_interval(&d, INFINITY, 1, STATISTICS_LEVEL, noise);
	return d;
}
