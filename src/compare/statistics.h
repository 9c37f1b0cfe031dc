/* SPDX-License-Identifier: Apache-2.0 */
/* statistics.h - whether a difference of step times is real.
 *
 * Times are compared as ratios, by their logarithms: what disturbs a program makes it so many
 * times slower, so a slow side spreads more than a fast one, and its interval must not reach
 * below nothing.
 *
 * With three or more runs a side, Welch's t-test on the runs' means decides. With fewer, the
 * doubt about a run's mean comes from a block bootstrap over its steady steps (steps are
 * correlated, so neighbours stay together), and from the noise from run to run. One run cannot
 * show that noise. It is given, or judged by the run's own drift: the spread of its blocks of
 * neighbouring steps, and STATISTICS_RUN_NOISE_SHARE at least; or by what the runs of a side
 * differ by, where that is more. That noise is how far a run's mean lies from the program's mean
 * in 95 % of all runs, as a share.
 *
 * With two or more runs a side, a change by STATISTICS_FAR or more is sure where no run of one
 * side reaches into the other: two or three runs cannot show that their noise is small, but no
 * machine is known whose noise does that.
 *
 * Rare long steps can make a mean so unsure that it decides nothing, though every other step is
 * the same, or faster. Where the mean is undecided, the mean of the middle half of the steps is
 * tested in the same way. Its verdict counts unless the mean contradicts it: "same" only where
 * the mean changed by no more than STATISTICS_SAME_SHARE, "faster" and "slower" only where the
 * mean changed in the same direction and, with fewer than three runs a side, only with
 * STATISTICS_MIDDLE_STEPS steps or more.
 *
 * Where the mean became faster or slower and the middle half of the steps did clearly the
 * opposite, the verdict is "unknown": a few long steps decide the mean.
 */
#ifndef HWY_COMPARE_STATISTICS_H
#define HWY_COMPARE_STATISTICS_H

#include <stdbool.h>
#include <stdint.h>

/* with at least so many runs on a side, the runs themselves show the noise from run to run */
enum { STATISTICS_RUNS = 3 };
/* So many times slower or faster is sure where the runs of the sides do not overlap. */
#define STATISTICS_FAR 6
#define STATISTICS_RUN_NOISE_SHARE 0.02
/* As 'run_noise': each run's drift tells. */
#define STATISTICS_RUN_NOISE_BY_DRIFT (-1.0)
/* A smaller change, as a share, counts as none, however sure it is. */
#define STATISTICS_LEAST_SHARE 0.005
/* The verdict is "same" only where a change of this share can be excluded. */
#define STATISTICS_SAME_SHARE 0.05
/* With fewer steps, the middle half may hold steps of only one of several modes. */
enum { STATISTICS_MIDDLE_STEPS = 20 };

enum compare_verdict { VERDICT_UNKNOWN, VERDICT_SAME, VERDICT_FASTER, VERDICT_SLOWER };
/* the verdicts in words: "unknown", "same", "faster", "slower" */
extern const char *const statistics_verdict_names[];

struct sample {                /* the steps of one run in order */
	const int64_t *values; /* the lengths of the steps, in ns */
	uint32_t n;
	/* The mean ns of all steps. 'values' may hold means of groups of steps, without the last
	 * few steps. */
	double mean;
};

struct interval { /* a change and its 95 % interval, as shares */
	double change, low, high;
	double doubt; /* as in struct difference */
};

struct difference {
	double before, after; /* the mean ns of a step on each side */
	double change;        /* ns: after - before */
	/* The 95 % interval of the change; infinite where nothing can be said; never below -before,
	 * since no step takes less than no time. */
	double low, high;
	/* The noise from run to run that was assumed, as a share; 0 where the runs showed it. */
	double run_noise;
	const char *method; /* "welch", "bootstrap"; "identical": one recording on both sides */
	/* Half the width of the 95 % interval of log(after / before); of numbers that are no times,
	 * of after - before. */
	double doubt;
	bool is_sure;  /* the change is more than chance explains, however small it is */
	bool is_apart; /* the runs of the sides do not overlap, and lie STATISTICS_FAR apart */
	/* The change of the mean of the middle half of the steps, as shares of that mean before. */
	struct interval middle;
	bool is_torn;   /* unknown because the mean and the middle half go opposite ways */
	bool by_middle; /* the verdict comes from the middle half, because the mean is undecided */
	enum compare_verdict verdict; /* the verdict; the values are times, so less is faster */
};

/* run_noise: a share, or STATISTICS_RUN_NOISE_BY_DRIFT. */
struct difference statistics_compare(const struct sample *before, uint32_t n_before,
				     const struct sample *after, uint32_t n_after,
				     double run_noise);
/* Welch's t-test on numbers, one a run, two or more a side. questions: how many such tests are made
 * together; the risk of a false alarm in any of them is kept as small as that of a single test.
 * are_times: they are in ns, and their ratio counts. */
struct difference statistics_runs(const double *before, uint32_t n_before, const double *after,
				  uint32_t n_after, uint32_t questions, bool are_times);
/* The value that |t| with so many degrees of freedom exceeds with the probability 'share'. */
double statistics_t(double freedom, double share);

#endif
