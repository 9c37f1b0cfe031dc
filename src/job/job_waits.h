/* SPDX-License-Identifier: Apache-2.0 */
/* job_waits.h - the clocks of a job's ranks as analyses of several ranks take them, and the
 * job's wait states. */
#ifndef HWY_JOB_JOB_WAITS_H
#define HWY_JOB_JOB_WAITS_H

#include "analyze/wait_states.h"
#include "job/job.h"

/* A clock for each rank of the job, to be freed; NULL where the clock of a rank is not known:
 * then the ends of collectives must tell. */
struct exchange_clock *job_exchange_clocks(const struct hwy_job *job);

/* What the ranks lose to each other. The indexes of ranks are those of job->ranks. */
bool job_wait_states(struct hwy_wait_states *found, const struct hwy_job *job, struct hwy_err *err);

#endif
