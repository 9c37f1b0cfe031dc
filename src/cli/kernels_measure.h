/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_measure.h - measures counters of a report's kernels by running the program again, for
 * `headway kernels`.
 *
 *   char *program[] = {"./train", NULL};
 *   struct kernels_options options = {.most_kernels = 8};
 *   struct kernels_outcome outcome;
 *   if (!kernels_measure(trace, &options, program, &outcome, err))
 *           puts(err->text); // the program may have run: outcome.ran says so
 *   else
 *           printf("%u rows of 'measured', to be written with the report\n", outcome.measured);
 *   kernels_outcome_free(&outcome);
 *
 * Rows that headway measured before for the same kernel and shape are replaced; rows of other
 * tools stay. The program's terminal, output and descriptors are its own in every run. Where it
 * must run several times (application replay), each run prints what the program prints.
 */
#ifndef HWY_CLI_KERNELS_MEASURE_H
#define HWY_CLI_KERNELS_MEASURE_H

#include "base/err.h"
#include "run/kernels/kernels.h"
#include "trace/trace.h"

struct kernels_options {
	/* Only kernels whose name contains this text, without regard to how much time they take;
	 * NULL: the kernels that matter by time and by the critical path. */
	const char *name;
	/* The marks that are steps, as for `headway analyze`; NULL: found. */
	const char *step;
	uint32_t most_kernels; /* how many names and shapes are measured; 0: KERNELS_MOST */
	uint32_t launches;     /* how many launches of each are measured; 0: KERNELS_LAUNCHES */
	enum kernels_replay replay;
	/* Also samples program counters, in one more run of the program. */
	bool source;
	bool roofline; /* only what places a kernel under the roof: half of the passes */
	/* Counters beside those of the verdict, by the vendor's names, NULL at the end; may be
	 * NULL. */
	const char *const *metrics;
};

struct kernels_outcome {
	bool ran;          /* the program ran at least once */
	uint32_t runs;     /* how often the program ran */
	uint32_t chosen;   /* how many names and shapes were to be measured */
	uint32_t measured; /* how many of them were */
	uint32_t lines;    /* how many rows of stalled_lines there are now */
	/* Sentences about what could not be measured and why, without a full stop; the caller
	 * frees them with kernels_outcome_free. */
	char **notes;
	uint32_t n_notes;
};

/* The command that measures the kernels of a report, "headway kernels run.hwy --run", to be
 * freed. */
char *kernels_say_measure(const struct hwy_trace *trace, const char *path);

bool kernels_measure(struct hwy_trace *report, const struct kernels_options *options,
		     char *const *program, struct kernels_outcome *outcome, struct hwy_err *err);
void kernels_outcome_free(struct kernels_outcome *outcome);

#endif
