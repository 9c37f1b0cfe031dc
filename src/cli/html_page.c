/* SPDX-License-Identifier: Apache-2.0 */
/* html_page.c - see html_page.h. */
#include "cli/html_page.h"

#include <stdlib.h>

#include "base/lang.h"
#include "base/memory_text.h"
#include "cli/job_print.h"
#include "cli/view_process.h"
#include "serve/inline.h"

void html_page_read_size(const struct cli_value *value)
{
	uint64_t mb = cli_count(value);
	if (mb == 0 || mb > HTML_PAGE_MOST_MB)
		cli_misuse(value->command, "--max-size is 1 to 2000 (MB)");
	*(uint64_t *)value->field = mb;
}

/* 'ranks' is filled where the view shows the ranks of a job as one trace. */
static void open_view(const struct analyze_view *view, struct view_trace *trace,
		      struct worker *worker, struct worker_job *ranks)
{
	struct analyze_run *run = &view->runs[view->shown];
	struct hwy_err err;
	struct memory_text memory;
	if (!view_open(trace, run->trace, run->path, &err))
		cli_die("%s", err.text);
	trace->whole_spans =
		UINT64_MAX; /* the analysis loaded all columns: the viewer must free none */
	/* Where one of several recordings is shown, the trace is that of one rank. */
	bool is_job = view->job && view->n == 1 && trace->n_ranks > 0 &&
		      job_view_open_worker(view->job, ranks, trace, &err);
	analyze_print_json(memory_text_begin(&memory), view);
	char *json = memory_text_end(&memory);
	worker_here(worker, &run->analysis, &run->diagnosis, trace->origin, json,
		    is_job ? ranks : NULL);
	free(json);
}

/* What changed from the first recording to the second, as JSON, or why they cannot be compared;
 * to be freed. */
static char *compare_views(const struct analyze_view *views)
{
	struct memory_text memory;
	struct hwy_err err;
	if (!view_compare_put(memory_text_begin(&memory), &views[0].runs[views[0].shown],
			      &views[1].runs[views[1].shown], &err)) {
		free(memory_text_end(&memory));
		struct hwy_json json = {.out = memory_text_begin(&memory)};
		json_begin_object(&json);
		json_put_text(&json, "error", err.text);
		json_end_object(&json);
	}
	return memory_text_end(&memory);
}

void html_page_write(FILE *out, const struct analyze_view *views, uint32_t n, uint64_t max_mb)
{
	struct view_trace traces[SERVER_TRACES];
	struct worker workers[SERVER_TRACES];
	struct worker_job ranks[SERVER_TRACES] = {0};
	struct hwy_err err;
	for (uint32_t i = 0; i < n; i++)
		open_view(&views[i], &traces[i], &workers[i], &ranks[i]);
	char *compare = n == 2 ? compare_views(views) : NULL;
	struct inline_page page = {
		.compare = compare,
		.traces = traces,
		.workers = workers,
		.n = n,
		.most = (max_mb ? max_mb : HTML_PAGE_MB) * 1000000,
	};
	if (!inline_write(&page, out, &err))
		cli_die("%s", err.text);
	for (uint32_t i = 0; i < page.n_left_out; i++)
		fprintf(stderr, hwy_tr("headway: left out of the page: %s\n"), page.left_out[i]);
	inline_free(&page);
	free(compare);
	for (uint32_t i = 0; i < n; i++) {
		worker_stop(&workers[i]);
		worker_job_close(&ranks[i]);
		view_close(&traces[i]);
	}
}
