/* SPDX-License-Identifier: Apache-2.0 */
/* view_worker.c - the process beside `headway view` that makes the diagnosis, and replays when
 * the page asks. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "cli/job_print.h"
#include "cli/kit/cli.h"
#include "cli/opened_job.h"
#include "cli/view_process.h"
#include "job/job.h"
#include "serve/worker.h"
#include "trace/file.h"

void lower_priority(void)
{
	setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + 5);
}

static int view_worker_fail(const struct hwy_err *err)
{
	worker_tell_frame(stdout, WORKER_FAILED, err->text, strlen(err->text));
	fflush(stdout);
	return 2;
}

/* The recordings of a job's ranks, one by one; open where the source is the folder of a job. */
struct opened_ranks {
	struct analyze_view view;
	struct worker_job job;
	bool is_open;
};

static void open_ranks(struct opened_ranks *ranks, const char *source,
		       const struct view_trace *view)
{
	struct hwy_err ignored;
	ranks->view.cells = ANALYZE_POINTS;
	if (!opened_job_is(source) || !job_view_of_folder(&ranks->view, source, NULL, &ignored))
		return;
	ranks->is_open = view->n_ranks > 0 &&
			 job_view_open_worker(ranks->view.job, &ranks->job, view, &ignored);
}

/* The diagnosis of the trace and the answer about its ranks. */
static void tell_diagnosis(struct analyze_run *run, const struct opened_ranks *ranks)
{
	char *text = NULL;
	size_t n = 0;
	struct analyze_view view = {.runs = run, .n = 1, .job = ranks->view.job};
	FILE *memory = open_memstream(&text, &n);
	if (!memory)
		cli_die("out of memory");
	analyze_print_json(memory, &view);
	fclose(memory);
	worker_tell_frame(stdout, WORKER_DIAGNOSIS, text, n);
	free(text);
}

int view_worker_run(const char *report, const char *source)
{
	struct hwy_err err;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	lower_priority();
	struct analyze_run run = {.path = source, .rank = HWY_NONE};
	run.trace = hwy_file_open(report, &err);
	if (!run.trace)
		return view_worker_fail(&err);
	if (!opened_job_is(source))
		run.rank = job_rank_of(run.trace, source);
	struct view_trace view;
	struct analysis_options wanted = {.cells = ANALYZE_POINTS};
	if (!view_open(&view, run.trace, source, &err) ||
	    !analysis_make(&run.analysis, run.trace, &wanted, &err) ||
	    !diagnose(&run.analysis, &run.diagnosis, &err))
		return view_worker_fail(&err);
	struct opened_ranks ranks = {0};
	open_ranks(&ranks, source, &view);
	struct worker_job *job = ranks.is_open ? &ranks.job : NULL;
	tell_diagnosis(&run, &ranks);
	worker_tell(stdout, &run.analysis, &run.diagnosis, view.origin, job);
	worker_whatif_answer_lines(stdin, stdout, &run.analysis, job);
	if (job)
		worker_job_close(job);
	job_view_free(&ranks.view);
	view_close(&view);
	analyze_close(&run);
	return 0;
}
