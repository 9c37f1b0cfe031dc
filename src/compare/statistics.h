/* statistics.h - whether a difference of means is real.
 *
 * Three or more runs a side: Welch's t-test on the runs' means. Fewer: each run's mean is uncertain by what a
 * block bootstrap over its steady steps says (steps are correlated, so neighbours stay together), and by the
 * noise from run to run, which one run cannot show and which is therefore assumed: 'run_noise' is how far (95 %)
 * a run's mean commonly lies from the program's. All of it is deterministic: the bootstrap's dice are seeded.
 */
#ifndef HWY_COMPARE_STATISTICS_H
#define HWY_COMPARE_STATISTICS_H

#include <stdbool.h>
#include <stdint.h>

enum { STATISTICS_RUNS = 3 }; /* from so many runs a side on they speak for themselves */
#define STATISTICS_RUN_NOISE 0.02
/* A change below this share is no change, however sure it is. */
#define STATISTICS_LEAST 0.005
/* "same" is said only where a change of this share can be excluded. */
#define STATISTICS_SAME 0.05

/* Of false alarms: a little below the 5 % that are allowed, because noise is not quite as the theory has it;
 * 0.05 with three runs a side, where Welch's test is cautious by itself. */
#define STATISTICS_LEVEL 0.04

enum compare_verdict { VERDICT_UNKNOWN, VERDICT_SAME, VERDICT_FASTER, VERDICT_SLOWER };
extern const char *const verdict_names[]; /* "unknown", "same", "faster", "slower" */

struct sample { /* one run's steps in order */
	const int64_t *values;
	uint32_t n;
	double mean; /* of the run: the values may be groups, or lack a remainder */
};

struct difference {
	double before, after; /* means */
	double change;        /* after - before */
	double low, high;     /* 95 % interval of the change; infinite where nothing can be said;
			       * never below -before: no step takes less than no time */
	const char *method;   /* "welch", "bootstrap"; "identical": one recording on both sides */
	/* Faster and slower are said at a level of their own: 'sure' is that interval's half width. */
	double sure;
	enum compare_verdict verdict; /* of a time: less is faster */
};

struct difference statistics_compare(const struct sample *before, uint32_t n_before,
				     const struct sample *after, uint32_t n_after,
				     double run_noise);
/* Welch's on plain numbers, one a run; from two a side on. Interval as above. */
struct difference statistics_welch(const double *before, uint32_t n_before, const double *after,
				   uint32_t n_after);
/* Judges change and interval against the mean before. */
enum compare_verdict statistics_judge(const struct difference *difference);

/* The standard error of the mean of correlated values; *blocks is how many independent pieces there were. */
double statistics_block_error(const int64_t *values, uint32_t n, uint32_t *blocks);
/* The t that |t| of so many degrees of freedom exceeds in a share of cases. */
double statistics_t(double freedom, double share);

#endif
