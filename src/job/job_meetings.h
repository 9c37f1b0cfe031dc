/* SPDX-License-Identifier: Apache-2.0 */
/* job_meetings.h - what the ranks of a job exchange with each other: their collectives and
 * messages, matched. */
#ifndef HWY_JOB_JOB_MEETINGS_H
#define HWY_JOB_JOB_MEETINGS_H

#include "analyze/p2p.h"
#include "job/job.h"

struct job_meetings {
	struct hwy_collectives collectives;
	struct hwy_p2p p2p;
	uint32_t n;
	struct collectives_rank *ranks; /* the job's ranks, in its order */
	struct exchange_clock *clocks;
	struct hwy_flow
		*flows; /* opened only for ranks whose kernels communicate without a message */
	bool *has_flow;
};

/* Matches the collectives and messages of the job's ranks: on the clocks that the job has, or,
 * without, with what the ends of collectives tell. */
bool job_meetings_find(struct job_meetings *meetings, struct hwy_job *job, bool has_clocks,
		       struct hwy_err *err);
/* Matches them again, after the job's clocks have changed. */
bool job_meetings_match(struct job_meetings *meetings, bool has_clocks, struct hwy_err *err);
void job_meetings_free(struct job_meetings *meetings);

/* The span that shows a part of a collective on its rank; HWY_NONE where there is none. */
int64_t job_meetings_span(const struct job_meetings *meetings, const struct meeting_part *part);

#endif
