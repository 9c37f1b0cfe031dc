/* SPDX-License-Identifier: Apache-2.0 */
/* job_waits.c - see job_waits.h. */
#include "job/job_waits.h"

#include <stdlib.h>

#include "base/ref.h"

static int64_t map_by_job(const void *user, int64_t time)
{
	return job_clock_map(user, time);
}

struct exchange_clock *job_exchange_clocks(const struct hwy_job *job)
{
	struct exchange_clock *clocks = hwy_array(job->n, sizeof *clocks);
	bool are_known = true;
	for (uint32_t r = 0; r < job->n; r++) {
		are_known &= job->ranks[r].clock.source != JOB_CLOCK_UNKNOWN;
		clocks[r] = (struct exchange_clock){map_by_job, &job->ranks[r].clock};
	}
	if (are_known)
		return clocks;
	free(clocks);
	return NULL;
}

bool job_wait_states(struct hwy_wait_states *found, const struct hwy_job *job, struct hwy_err *err)
{
	struct exchange_clock *clocks = job_exchange_clocks(job);
	struct collectives_rank *ranks = hwy_array(job->n, sizeof *ranks);
	for (uint32_t r = 0; r < job->n; r++)
		ranks[r] = (struct collectives_rank){.trace = job->ranks[r].trace,
						     .process = FLOW_NO_PROCESS,
						     .clock = clocks ? &clocks[r] : NULL,
						     .number = job->ranks[r].rank >= 0
								       ? hwy_ref(job->ranks[r].rank)
								       : HWY_REF_NONE};
	bool done = wait_states_find(found, ranks, job->n, err);
	free(ranks);
	free(clocks);
	return done;
}
