/* SPDX-License-Identifier: Apache-2.0 */
/* job_short.c - what holds a job back in a few lines, for the end of `headway profile`; see job_print.h. */
#include <stdlib.h>

#include "base/mem.h"
#include "cli/job_print.h"
#include "import/import.h"

/* Adds the run of a file; a file that cannot be read or judged is left out. */
static void add_run(struct analyze_view *view, const char *path)
{
	struct analyze_run *run = &view->runs[view->n];
	struct analysis_options wanted = {0};
	struct hwy_err err;
	*run = (struct analyze_run){.path = path, .trace = hwy_open(path, NULL, &err)};
	if (!run->trace)
		return;
	if (!analysis_make(&run->analysis, run->trace, &wanted, &err)) {
		hwy_trace_free(run->trace);
		return;
	}
	run->rank = job_rank_of(run->trace, path);
	if (run->rank == HWY_NONE || !diagnose(&run->analysis, &run->diagnosis, &err)) {
		analysis_free(&run->analysis);
		hwy_trace_free(run->trace);
		return;
	}
	view->n++;
}

static int by_rank(const void *a, const void *b)
{
	const struct analyze_run *x = a, *y = b;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

void job_print_short(FILE *out, const char *folder)
{
	struct job_files files = {0};
	struct hwy_err err;
	if (!job_files_add(&files, folder, &err))
		return;
	struct analyze_view view = {
		.runs = hwy_zarray(files.n, sizeof *view.runs),
		.are_ranks = true,
		.utf8 = cli_utf8(),
		.colour = cli_colour(out),
		.width = cli_width(out),
	};
	for (uint32_t i = 0; i < files.n; i++)
		add_run(&view, files.files[i].name);
	if (view.n > 1)
		qsort(view.runs, view.n, sizeof *view.runs, by_rank);
	if (view.n > 0)
		view.job = job_view_open(&view, folder, &err);
	if (view.job)
		job_print_few(out, &view);
	job_view_close(view.job);
	for (uint32_t i = 0; i < view.n; i++)
		analyze_close(&view.runs[i]);
	free(view.runs);
	job_files_free(&files);
}
