/* SPDX-License-Identifier: Apache-2.0 */
/* job_view.c - the ranks of a job, diagnosed and compared, for the formats of `headway analyze`;
 * see job_print.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/mem.h"
#include "cli/job_print.h"
#include "import/import.h"
#include "job/folder.h"
#include "serve/worker_job.h"

/* What the folder knows about ranks that did not end as they should. */
static void note_ends(struct job_view *job)
{
	struct job_folder folder;
	struct hwy_err err;
	if (!job_folder_is(job->name) || !job_folder_read(job->name, &folder, &err))
		return;
	for (uint32_t i = 0; i < folder.n_ranks; i++) {
		const struct job_note *note = &folder.ranks[i];
		if (note->state == JOB_RECORDED && !*note->why)
			continue;
		job_problem(&job->job, "rank %" PRId64 ": %s%s%s", note->rank,
			    hwy_tr(job_state_names[note->state]), hwy_tr(*note->why ? ": " : ""),
			    hwy_tr(note->why));
	}
	job_folder_free(&folder);
}

static bool job_view_compare(struct job_view *job, struct hwy_err *err)
{
	const struct job_clock **clocks = hwy_array(job->job.n, sizeof *clocks);
	job_find_missing(&job->job);
	job_find_sharing(&job->job);
	note_ends(job);
	bool done = job_clocks_find(&job->job, err);
	for (uint32_t r = 0; r < job->job.n; r++)
		job->members[r].clock = clocks[r] = &job->job.ranks[r].clock;
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
				    hwy_tr(run->rank == HWY_NONE
						   ? "does not tell its rank"
						   : "another file has the same rank"));
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
		if (job->job.n > 0 && job->runs[answer_shown(&job->answer)] == &view->runs[i])
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

/* ---- folders --------------------------------------------------------------------------------- */

/* Opens a file as the next run; false, with what is wrong, where it cannot be read, judged, or
 * tell its rank. */
static bool add_run_of(struct analyze_view *view, const char *path, const char *step,
		       struct hwy_err *err)
{
	struct analyze_run *run = &view->runs[view->n];
	struct analysis_options wanted = {.step = step, .cells = view->cells};
	*run = (struct analyze_run){.path = hwy_copy(path, strlen(path) + 1),
				    .trace = hwy_open(path, NULL, err)};
	if (run->trace) {
		cli_name_device(run->trace);
		run->rank = job_rank_of(run->trace, path);
		const char *other =
			view->n > 0 ? job_differ(view->runs[0].trace, run->trace) : NULL;
		if (run->rank == HWY_NONE || other)
			hwy_fail(err, "%s: %s", path,
				 other ? other : hwy_tr("does not tell its rank"));
		else if (analysis_make(&run->analysis, run->trace, &wanted, err)) {
			if (diagnose(&run->analysis, &run->diagnosis, err)) {
				view->n++;
				return true;
			}
			analysis_free(&run->analysis);
		}
		hwy_trace_free(run->trace);
	}
	free((char *)run->path);
	return false;
}

static int compare_runs_by_rank(const void *a, const void *b)
{
	const struct analyze_run *x = a, *y = b;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

bool job_view_of_files(struct analyze_view *view, const char *name, const char *const *paths,
		       uint32_t n, const char *step, struct hwy_err *err)
{
	struct hwy_err *errors = hwy_array(n, sizeof *errors);
	uint32_t n_errors = 0;
	view->runs = hwy_zarray(n, sizeof *view->runs);
	view->n = 0;
	view->are_ranks = true;
	for (uint32_t i = 0; i < n; i++)
		n_errors += !add_run_of(view, paths[i], step, &errors[n_errors]);
	if (view->n > 0)
		qsort(view->runs, view->n, sizeof *view->runs, compare_runs_by_rank);
	view->job = view->n > 0 ? job_view_open(view, name, err) : NULL;
	if (view->n == 0)
		*err = errors[0];
	for (uint32_t i = 0; i < n_errors && view->job; i++)
		job_problem(&view->job->job, "left out: %s", errors[i].text);
	free(errors);
	if (!view->job)
		job_view_free(view);
	return view->job != NULL;
}

bool job_view_of_folder(struct analyze_view *view, const char *folder, const char *step,
			struct hwy_err *err)
{
	struct job_files files = {0};
	if (!job_files_add(&files, folder, err))
		return false;
	const char **paths = hwy_array(files.n, sizeof *paths);
	for (uint32_t i = 0; i < files.n; i++)
		paths[i] = files.files[i].name;
	bool done = job_view_of_files(view, folder, paths, files.n, step, err);
	free(paths);
	job_files_free(&files);
	return done;
}

void job_view_free(struct analyze_view *view)
{
	job_view_close(view->job);
	view->job = NULL;
	for (uint32_t i = 0; i < view->n; i++) {
		free((char *)view->runs[i].path);
		analyze_close(&view->runs[i]);
	}
	free(view->runs);
	view->runs = NULL;
	view->n = 0;
}

/* ---- for the viewer -------------------------------------------------------------------------- */

static int64_t span_in_view(void *ranks, uint32_t member, uint32_t span)
{
	return worker_job_span(ranks, member, span);
}

bool job_view_open_worker(struct job_view *job, struct worker_job *ranks,
			  const struct view_trace *view, struct hwy_err *err)
{
	if (!worker_job_open(ranks, &job->job, job->members, &job->answer, view, err))
		return false;
	job->span_of = span_in_view;
	job->self = ranks;
	return true;
}
