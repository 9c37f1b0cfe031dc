/* SPDX-License-Identifier: Apache-2.0 */
/* worker_job.h - the ranks of a job beside the one trace in which the viewer shows them: what is
 * about one rank is computed from that rank's own recording, as `headway analyze` and `headway
 * whatif` do, and told with the times and spans of the job's trace. */
#ifndef HWY_SERVE_WORKER_JOB_H
#define HWY_SERVE_WORKER_JOB_H

#include "job/answer.h"
#include "job/job.h"
#include "serve/view.h"

struct worker_job {
	struct hwy_job *job;                /* the ranks, each with its recording and its clock */
	const struct ranks_member *members; /* parallel to job->ranks */
	const struct job_answer *answer;
	const struct view_trace *view; /* of all ranks as one trace */
	/* By rank, then by strip of its trace: 1 + the index of that strip in the job's trace; 0
	 * where it was not looked for yet. */
	uint32_t **strips;
};

/* What is given must live as long as the worker_job. After a failure there is nothing to close. */
bool worker_job_open(struct worker_job *ranks, struct hwy_job *job,
		     const struct ranks_member *members, const struct job_answer *answer,
		     const struct view_trace *view, struct hwy_err *err);
void worker_job_close(struct worker_job *ranks);

/* Yields the id, in the job's trace, of a span of a rank's own recording; HWY_NONE where the
 * job's trace has no such span. */
int64_t worker_job_span(struct worker_job *ranks, uint32_t member, uint32_t span);

/* Adds the idle gaps of each rank, by the rank's own work. 'device' of a gap is that of the
 * device where one rank alone uses it; where ranks share it, the number of the rank's union
 * (struct view_trace.devices). */
struct annotations;
void worker_job_add_gaps(struct worker_job *ranks, struct annotations *all);
/* Adds the CPU's lead over the shared device of each rank that has one, by the rank's own work. */
void worker_job_add_headway(struct worker_job *ranks, struct hwy_bytes *series);
/* Yields the number of the union of a rank whose only device is shared with other ranks;
 * HWY_NONE for other ranks. */
int64_t worker_job_union(const struct worker_job *ranks, uint32_t member);

#endif
