/* SPDX-License-Identifier: Apache-2.0 */
/* view_compare.c - what `headway diff` says of the two recordings of `headway view A B`, as JSON
 * for the page. */
#include <string.h>
#include <unistd.h>

#include "base/memory_text.h"
#include "cli/analyze_print.h"
#include "cli/compare_print.h"
#include "cli/kit/cli.h"
#include "cli/opened_job.h"
#include "cli/view_process.h"
#include "serve/worker.h"
#include "trace/file.h"

/* Adds a recording: of a job's folder a typical rank, as diff does; else what was analysed. */
static bool add_side(struct compare_runs *runs, struct analyze_run *run, struct hwy_err *err)
{
	if (!opened_job_is(run->path))
		return compare_add_analysis(runs, run->path, &run->analysis, &run->diagnosis, err);
	compare_open(runs, run->path, NULL);
	return true;
}

static bool put_diff(FILE *out, struct compare_runs *before, struct compare_runs *after,
		     struct hwy_err *err)
{
	struct compare_side a = compare_side(before), b = compare_side(after);
	struct compare_diff diff;
	bool done = diff_make(&diff, &a, &b, STATISTICS_RUN_NOISE_BY_DRIFT, err);
	if (done) {
		const struct job_answer *job_a = before->jobs[a.middle].answer,
					*job_b = after->jobs[b.middle].answer;
		struct job_diff jobs = {0};
		if (job_a && job_b) {
			jobs = job_diff_make(job_a, job_b);
			diff.jobs = &jobs;
		}
		diff_print_json(out, &diff);
		job_diff_free(&jobs);
		diff_free(&diff);
	}
	compare_side_free(&a);
	compare_side_free(&b);
	return done;
}

bool view_compare_put(FILE *out, struct analyze_run *before, struct analyze_run *after,
		      struct hwy_err *err)
{
	struct compare_runs a = {0}, b = {0};
	bool done =
		add_side(&a, before, err) && add_side(&b, after, err) && put_diff(out, &a, &b, err);
	compare_close(&a);
	compare_close(&b);
	return done;
}

static bool view_compare_open(struct analyze_run *run, const char *report, const char *source,
			      struct hwy_err *err)
{
	struct analysis_options wanted = {0};
	*run = (struct analyze_run){.path = source, .rank = HWY_NONE};
	run->trace = hwy_file_open(report, err);
	/* A job is opened again by its folder. */
	return run->trace &&
	       (opened_job_is(source) || (analysis_make(&run->analysis, run->trace, &wanted, err) &&
					  diagnose(&run->analysis, &run->diagnosis, err)));
}

int view_compare_run(const char *const *reports, const char *const *sources)
{
	struct analyze_run runs[2];
	struct memory_text memory;
	struct hwy_err err;
	/* PR_SET_PDEATHSIG would end this process with the thread of the connection that first
	 * asked. */
	lower_priority();
	memory_text_begin(&memory);
	bool done = view_compare_open(&runs[0], reports[0], sources[0], &err) &&
		    view_compare_open(&runs[1], reports[1], sources[1], &err) &&
		    view_compare_put(memory.out, &runs[0], &runs[1], &err);
	memory_text_end(&memory);
	if (done)
		worker_tell_frame(stdout, WORKER_COMPARE, memory.text, memory.length);
	else
		worker_tell_frame(stdout, WORKER_FAILED, err.text, strlen(err.text));
	fflush(stdout);
	_exit(done ? 0 : 2); /* the kernel gives the memory of two analyses back faster */
}
