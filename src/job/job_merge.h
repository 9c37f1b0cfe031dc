/* SPDX-License-Identifier: Apache-2.0 */
/* job_merge.h - the ranks of a job as one trace on the first rank's clock. */
#ifndef HWY_JOB_JOB_MERGE_H
#define HWY_JOB_JOB_MERGE_H

#include "job/job.h"

/* Yields one trace of all ranks, to be freed; NULL on failure. Times are on the clock of the
 * first rank (time 0 too). Processes have their ranks; where two have one pid, on two hosts,
 * that of the higher rank gets another one. The numbers of devices are made different where
 * several devices had one number on their hosts. The job's traces lose columns from memory that
 * their files still have. */
struct hwy_trace *job_merge(struct hwy_job *job, const struct hwy_progress *progress,
			    struct hwy_err *err);

#endif
