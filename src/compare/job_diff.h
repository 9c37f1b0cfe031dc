/* SPDX-License-Identifier: Apache-2.0 */
/* job_diff.h - two jobs side by side, rank by rank: what a step of each rank was made of before
 * and after, and who was late.
 *
 * Ranks are matched by their numbers; the jobs may have different ones. Whether the job became
 * faster, and whether that is sure, is told by diff.h from the steps of a typical rank: all
 * ranks of a job keep the same pace.
 */
#ifndef HWY_COMPARE_JOB_DIFF_H
#define HWY_COMPARE_JOB_DIFF_H

#include "job/answer.h"

struct job_diff_row {
	int64_t rank;
	const struct rank_row *before, *after; /* NULL on a side that lacks the rank */
};

struct job_diff {
	const struct job_answer *before, *after;
	struct job_diff_row *rows; /* by rank */
	uint32_t n;
	/* ns a step, as means over the ranks; the parts of a side add up to its step. */
	int64_t step_before, step_after;
	int64_t parts_before[RANK_PARTS], parts_after[RANK_PARTS];
};

struct job_diff job_diff_make(const struct job_answer *before, const struct job_answer *after);
void job_diff_free(struct job_diff *diff);

#endif
