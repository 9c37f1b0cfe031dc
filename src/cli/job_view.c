/* SPDX-License-Identifier: Apache-2.0 */
/* job_view.c - the ranks of a job, diagnosed and compared, for the formats of `headway analyze`; see job_print.h. */
#include <stdlib.h>

#include "base/mem.h"
#include "cli/job_print.h"

static bool job_view_compare(struct job_view *job, struct hwy_err *err)
{
	const struct job_clock **clocks = hwy_array(job->job.n, sizeof *clocks);
	bool done = job_clocks_find(&job->job, err);
	for (uint32_t r = 0; r < job->job.n; r++)
		clocks[r] = &job->job.ranks[r].clock;
	done = done && job_answer_make(&job->answer, job->members, job->job.n, clocks, err);
	free(clocks);
	return done;
}

struct job_view *job_view_open(struct analyze_view *view, const char *name, struct hwy_err *err)
{
	struct job_view *job = hwy_zalloc(sizeof *job);
	job->name = name;
	job->members = hwy_zarray(view->n, sizeof *job->members);
	job->runs = hwy_zarray(view->n, sizeof *job->runs);
	job->job.world = HWY_NONE;
	for (uint32_t i = 0; i < view->n; i++) {
		struct analyze_run *run = &view->runs[i];
		uint32_t n = job->job.n;
		if (run->rank == HWY_NONE || (n > 0 && run->rank == job->members[n - 1].rank)) {
			job_problem(&job->job, "left out: %s: %s", run->path,
				    run->rank == HWY_NONE ? "does not tell its rank"
							  : "another file has the same rank");
			continue;
		}
		HWY_GROW(job->job.ranks, job->job.n, job->job.cap);
		struct job_recording *rank = &job->job.ranks[job->job.n++];
		*rank = (struct job_recording){.rank = run->rank, .trace = run->trace};
		job->runs[n] = run;
		job->members[n] = (struct ranks_member){
			.rank = run->rank,
			.analysis = &run->analysis,
			.diagnosis = &run->diagnosis,
			.phase = run->analysis.phases.main,
			.process = FLOW_NO_PROCESS,
			.host = job_host(rank),
		};
	}
	if (!job_view_compare(job, err)) {
		job_view_close(job);
		return NULL;
	}
	for (uint32_t i = 0; i < view->n; i++)
		if (job->answer.typical < job->job.n &&
		    job->runs[job->answer.typical] == &view->runs[i])
			view->shown = i;
	return job;
}

void job_view_close(struct job_view *job)
{
	if (!job)
		return;
	job_answer_free(&job->answer);
	for (uint32_t r = 0; r < job->job.n; r++)
		free(job->job.ranks[r].clock.repairs);
	free(job->job.ranks);
	for (uint32_t i = 0; i < job->job.n_problems; i++)
		free(job->job.problems[i]);
	free(job->job.problems);
	free(job->members);
	free(job->runs);
	free(job);
}
