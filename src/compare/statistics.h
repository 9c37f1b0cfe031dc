/* statistics.h - whether a difference of step times is real.
 *
 * Three or more runs a side: Welch's t-test on the runs' means. Fewer: each run's mean is uncertain by what a
 * block bootstrap over its steady steps says (steps are correlated, so neighbours stay together), and by the
 * noise from run to run, which one run cannot show and which is therefore assumed: 'run_noise' is how far (95 %)
 * a run's mean commonly lies from the program's.
 *
 * Rare long steps can make a mean so unsure that nothing can be said of it, though every other step is the same, or
 * faster. Where the mean cannot tell, the mean of the middle half of the steps is asked in the same way, and speaks
 * unless the mean is against it: "same" only where the mean moved by no more than STATISTICS_SAME_SHARE, "faster" and
 * "slower" only where it moved that way too and, with fewer than three runs, of STATISTICS_MIDDLE_STEPS steps or more.
 */
#ifndef HWY_COMPARE_STATISTICS_H
#define HWY_COMPARE_STATISTICS_H

#include <stdbool.h>
#include <stdint.h>

enum { STATISTICS_RUNS = 3 }; /* from so many runs a side on they speak for themselves */
#define STATISTICS_RUN_NOISE_SHARE 0.02
/* A change below this share is no change, however sure it is. */
#define STATISTICS_LEAST_SHARE 0.005
/* "same" is said only where a change of this share can be excluded. */
#define STATISTICS_SAME_SHARE 0.05
/* Of fewer steps the middle half may all be of one of several modes. */
enum { STATISTICS_MIDDLE_STEPS = 20 };

enum compare_verdict { VERDICT_UNKNOWN, VERDICT_SAME, VERDICT_FASTER, VERDICT_SLOWER };
extern const char *const statistics_verdict_names[]; /* "unknown", "same", "faster", "slower" */

struct sample { /* one run's steps in order */
	const int64_t *values;
	uint32_t n;
	double mean; /* of the run: the values may be groups, or lack a remainder */
};

struct interval { /* of a change */
	double change, low, high;
};

struct difference {
	double before, after; /* means */
	double change;        /* after - before */
	double low, high;     /* 95 % interval of the change; infinite where nothing can be said;
			       * never below -before: no step takes less than no time */
	double run_noise;     /* that was assumed */
	const char *method;   /* "welch", "bootstrap"; "identical": one recording on both sides */
	/* Faster and slower are said of changes above this: the half width of an interval of its own. */
	double sure;
	/* Of the quotient of the two: 95 % half width, as a share of it. */
	double doubt;
	/* The change of the mean of the middle half of the steps, as shares of it before. */
	struct interval middle;
	bool by_middle; /* the verdict is that of the middle half: the mean cannot tell */
	enum compare_verdict verdict; /* of a time: less is faster */
};

struct difference statistics_compare(const struct sample *before, uint32_t n_before,
				     const struct sample *after, uint32_t n_after,
				     double run_noise);
/* Welch's on plain numbers, one a run; from two a side on. Of so many questions that are asked together, none is to be
 * answered wrongly more often than one alone may be. */
struct difference statistics_welch(const double *before, uint32_t n_before, const double *after,
				   uint32_t n_after, uint32_t questions);
/* The t that |t| of so many degrees of freedom exceeds in a share of cases. */
double statistics_t(double freedom, double share);

#endif
