/* SPDX-License-Identifier: Apache-2.0 */
/* opened_job.h - the ranks of a job, each analysed, on clocks that are known. A failure ends the
 * program with status 2. */
#ifndef HWY_CLI_OPENED_JOB_H
#define HWY_CLI_OPENED_JOB_H

#include "job/job.h"
#include "whatif/joint.h"

struct opened_job {
	struct hwy_job job;
	struct hwy_analysis *analyses; /* by rank */
	struct exchange_clock *clocks; /* NULL where a clock is not known */
	/* By rank; phase is that which was asked for, or the longest; the number of phases where
	 * a rank has none. */
	struct joint_rank *ranks;
	uint32_t n;
	bool has_phases; /* some rank has device work */
};

/* Whether the path is a folder: the ranks of a job. */
bool opened_job_is(const char *path);
/* Opens files, or folders of files. step and phase as phase_open takes them. What is wrong with
 * the job is said on stderr. */
void opened_job_open(struct opened_job *opened, const char *const *paths, uint32_t n_paths,
		     const char *step, uint64_t phase);
void opened_job_close(struct opened_job *opened);

#endif
