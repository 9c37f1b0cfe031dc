/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_analyze.c - headway analyze: what holds the program back, where, what it costs, and what is
 * innocent.
 *
 * Several files are the ranks of one job when their ranks differ and nothing speaks against it:
 * program, world size, time and collectives; else each file is judged alone. Files of one rank, or
 * of none, are runs of one program, and the run whose step time is the median is shown.
 */
#include <stdlib.h>
#include <sys/stat.h>

#include "analyze/collectives.h"
#include "base/lang.h"
#include "base/mem.h"
#include "cli/analyze_print.h"
#include "cli/commands.h"
#include "cli/digest_print.h"
#include "cli/html_page.h"
#include "cli/job_print.h"
#include "cli/opened_job.h"
#include "cli/recordings.h"
#include "job/job_parts.h"

static void analyze_page(FILE *out, const struct analyze_view *view)
{
	html_page_write(out, view, 1, view->max_mb);
}

/* The formats and their printers, in the same order; a printer gets everything in one view
 * (analyze_print.h). */
static const char *const formats[] = {"text", "brief", "json", "markdown", "html", NULL};
static void (*const printers[])(FILE *, const struct analyze_view *) = {
	analyze_print_text, analyze_print_brief, analyze_print_json, analyze_print_markdown,
	analyze_page};
static void (*const job_printers[])(FILE *, const struct analyze_view *) = {
	job_print_text, job_print_brief, analyze_print_json, job_print_markdown, analyze_page};

struct options {
	struct cli_texts files;
	const char *output, *step;
	int format;
	uint64_t max_mb;
	bool force, verbose, whole, digests;
	struct cli_privacy privacy;
};

/* In the order of 'formats'; a page of digests alone would have no timeline. */
static void (*const digest_printers[])(FILE *, const struct analyze_view *,
				       const struct digest_view *) = {
	digest_print_text, digest_print_brief, digest_print_json, digest_print_markdown, NULL};

static const struct cli_option option_table[] = {
	CLI_FORMAT(formats,
		   "text (default), brief (under 2 kB, for scripts and language models), json, "
		   "markdown or html (the page of headway view --html)"),
	CLI_OUTPUT_BY_ENDING,
	CLI_FORCE,
	CLI_STEP,
	HTML_PAGE_SIZE_OPTION,
	{'v', "verbose", NULL, "show the evidence: all places, causes, outlier steps", CLI_SWITCH,
	 CLI_AT(verbose)},
	CLI_HEAD("Jobs of many ranks:"),
	{0, "whole", NULL, "read the reports of all ranks, however many they are", CLI_SWITCH,
	 CLI_AT(whole)},
	{0, "digests", NULL, "read digests, however few the ranks are (headway digest makes them)",
	 CLI_SWITCH, CLI_AT(digests)},
	CLI_HEAD("What to leave out:"),
	CLI_NO_ARGS(offsetof(struct options, privacy)),
	CLI_ANONYMOUS(offsetof(struct options, privacy)),
	CLI_END_OF_OPTIONS,
};

/* ---- ranks ---------------------------------------------------------------------------------- */

static int compare_ranks(const void *a, const void *b)
{
	const struct analyze_run *x = a, *y = b;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

static int64_t step_time(const struct analyze_run *run)
{
	const struct hwy_phase *phase = analyze_main(run);
	return phase ? phase->mean : 0;
}

static int compare_times(const void *a, const void *b)
{
	int64_t x = step_time(a), y = step_time(b);
	return (x > y) - (x < y);
}

static bool communicates(const struct analyze_run *run)
{
	const struct hwy_flow *flow = &run->analysis.flow;
	uint32_t i = 0;
	while (i < flow->n_ops && flow->ops[i].class != HWY_COMM)
		i++;
	return i < flow->n_ops;
}

static bool they_meet(const struct analyze_view *view)
{
	struct collectives_rank *flows = hwy_array(view->n, sizeof *flows);
	struct hwy_collectives c;
	struct hwy_err err;
	for (uint32_t i = 0; i < view->n; i++)
		flows[i] = (struct collectives_rank){.flow = &view->runs[i].analysis.flow,
						     .process = FLOW_NO_PROCESS};
	bool matched = collectives_match(&c, flows, view->n, &err);
	bool meet = !matched || c.n > 0;
	if (matched)
		collectives_free(&c);
	free(flows);
	return meet;
}

/* Why the files, of different ranks, are not of one job; NULL where they may be. */
static const char *find_difference(const struct analyze_view *view)
{
	const char *why = NULL;
	bool are_ranks = false, all_communicate = true;
	for (uint32_t i = 0; i < view->n; i++) {
		are_ranks |= view->runs[i].rank != view->runs[0].rank;
		all_communicate &= communicates(&view->runs[i]);
		if (!why)
			why = job_differ(view->runs[0].trace, view->runs[i].trace);
	}
	if (are_ranks && !why && all_communicate && !they_meet(view))
		why = hwy_tr("they have no collective in common");
	return are_ranks ? why : NULL;
}

static void analyze_choose(struct analyze_view *view, const char *name)
{
	for (uint32_t i = 1; i < view->n; i++)
		view->are_ranks |= view->runs[i].rank != view->runs[0].rank;
	if (!view->are_ranks) {
		qsort(view->runs, view->n, sizeof *view->runs, compare_times);
		view->shown = (view->n - 1) / 2;
		return;
	}
	qsort(view->runs, view->n, sizeof *view->runs, compare_ranks);
	struct hwy_err err;
	view->job = job_view_open(view, name, &err);
	if (!view->job)
		cli_die("%s: %s", name, err.text);
}

/* ---- the command ---------------------------------------------------------------------------- */

static void analyze_look_at(struct analyze_run *run, const char *step)
{
	struct hwy_err err;
	struct analysis_options wanted = {.step = step, .cells = ANALYZE_POINTS};
	if (!analysis_make(&run->analysis, run->trace, &wanted, &err) ||
	    !diagnose(&run->analysis, &run->diagnosis, &err))
		cli_die("%s: %s", run->path, err.text);
	run->rank = opened_job_is(run->path) ? HWY_NONE : job_rank_of(run->trace, run->path);
}

void analyze_open_trace(struct analyze_run *run, struct hwy_trace *trace, const char *path,
			const char *step, const struct cli_privacy *privacy)
{
	*run = (struct analyze_run){.path = cli_privacy_path(privacy, path), .trace = trace};
	cli_privacy_apply(privacy, run->trace);
	analyze_look_at(run, step);
}

void analyze_open(struct analyze_run *run, const char *path, const char *step,
		  const struct cli_privacy *privacy)
{
	analyze_open_trace(run, cli_open(path), path, step, privacy);
}

/* Where the only file holds several ranks, each of them becomes a trace of its own. */
static struct hwy_trace **take_apart(struct hwy_trace **traces, uint32_t *n)
{
	struct hwy_err err;
	uint32_t n_parts;
	struct hwy_trace **parts = *n == 1 ? job_parts_make(traces[0], &n_parts, &err) : NULL;
	if (!parts)
		return traces;
	hwy_trace_free(traces[0]);
	free(traces);
	*n = n_parts;
	return parts;
}

static void open_runs(struct analyze_view *view, struct job_files *recordings, const char *step,
		      const struct cli_privacy *privacy)
{
	struct hwy_trace **traces = recordings_open(recordings);
	view->n = recordings->n;
	traces = take_apart(traces, &view->n);
	view->runs = hwy_zarray(view->n, sizeof *view->runs);
	for (uint32_t i = 0; i < view->n; i++) {
		const char *name = recordings->files[recordings->n > 1 ? i : 0].name;
		view->runs[i].path = cli_privacy_path(privacy, name);
		view->runs[i].trace = traces[i];
		cli_privacy_apply(privacy, traces[i]);
		analyze_look_at(&view->runs[i], step);
	}
	free(traces);
}

void analyze_close(struct analyze_run *run)
{
	diagnosis_free(&run->diagnosis);
	analysis_free(&run->analysis);
	hwy_trace_free(run->trace);
}

/* Judges each file alone; JSON becomes one document a file, and a page shows the first file. */
static void print_each(const struct analyze_view *view, FILE *out, int format,
		       const char *difference)
{
	fprintf(stderr,
		hwy_tr("headway: %s and %s are not ranks of one job, %s: each file is judged alone\n"),
		view->runs[0].path, view->runs[view->n - 1].path, difference);
	uint32_t n = printers[format] == analyze_page ? 1 : view->n;
	for (uint32_t i = 0; i < n; i++) {
		struct analyze_view one = *view;
		one.runs = &view->runs[i];
		one.n = 1;
		if (i > 0 && printers[format] != analyze_print_json)
			fputc('\n', out);
		printers[format](out, &one);
	}
}

/* The page of one operand: a file, or all ranks of a folder on one clock, with what they show
 * together. */
static void print_page(struct analyze_view *view, const struct options *options, FILE *out)
{
	const char *path = options->files.texts[0];
	struct analyze_view ranks = {0};
	struct analyze_run run;
	struct hwy_err err;
	struct stat about;
	bool is_folder = stat(path, &about) == 0 && S_ISDIR(about.st_mode);
	analyze_open(&run, path, options->step, &options->privacy);
	view->runs = &run;
	view->n = 1;
	if (is_folder && !options->privacy.no_args && !options->privacy.anonymous &&
	    job_view_of_folder(&ranks, path, options->step, &err))
		view->job = ranks.job;
	analyze_page(out, view);
	job_view_free(&ranks);
	analyze_close(&run);
	view->runs = NULL;
	view->job = NULL;
	view->n = 0;
}

static void print_runs(struct analyze_view *view, struct job_files *recordings,
		       const struct options *options, FILE *out)
{
	open_runs(view, recordings, options->step, &options->privacy);
	const char *difference = find_difference(view);
	if (difference) {
		print_each(view, out, options->format, difference);
		return;
	}
	analyze_choose(view, options->files.texts[0]);
	(view->job ? job_printers : printers)[options->format](out, view);
}

/* Digests have the names that their reports have, and steps as Headway finds them. */
static bool needs_reports(const struct options *options)
{
	return options->step || options->privacy.no_args || options->privacy.anonymous;
}

/* Answers from digests, and from the few reports that they cannot stand for. */
static int analyze_digests(const struct options *options)
{
	struct digest_view view;
	if (needs_reports(options))
		cli_die("%s: digests were made without --step, --no-args and --anonymous; these need reports",
			options->files.texts[0]);
	if (!digest_printers[options->format])
		cli_die("%s: a page needs reports: headway analyze --whole, or headway view --ranks",
			options->files.texts[0]);
	digest_view_open(&view, &options->files);
	digest_view_open_reports(&view, options->step);
	struct cli_output output = cli_output_open(options->output, options->force);
	struct analyze_view how = {
		.verbose = options->verbose,
		.utf8 = cli_utf8(),
		.colour = cli_colour(output.out),
		.width = cli_width(output.out),
	};
	digest_printers[options->format](output.out, &how, &view);
	cli_output_close(&output);
	digest_view_close(&view);
	return 0;
}

static int run_analyze(int argc, char **argv)
{
	struct options options = {0};
	cli_read(&cmd_analyze, argc, argv, &options);
	if (options.files.n == 0)
		cli_misuse(&cmd_analyze, "which file?");
	if (options.whole && options.digests)
		cli_misuse(&cmd_analyze, "--whole or --digests?");
	bool whole = options.whole || (needs_reports(&options) && !options.digests);
	if (digest_view_wants(&options.files, whole             ? DIGEST_WHOLE
					      : options.digests ? DIGEST_ONLY
								: DIGEST_AS_FITS)) {
		int status = analyze_digests(&options);
		free(options.files.texts);
		return status;
	}
	struct job_files recordings = recordings_find(&options.files);
	for (uint32_t i = 0; i < recordings.n; i++)
		cli_keep_input(recordings.files[i].name, options.output);
	struct cli_output output = cli_output_open(options.output, options.force);
	struct analyze_view view = {
		.verbose = options.verbose,
		.max_mb = options.max_mb,
		.utf8 = cli_utf8(),
		.colour = cli_colour(output.out),
		.width = cli_width(output.out),
	};
	if (printers[options.format] == analyze_page && options.files.n == 1)
		print_page(&view, &options, output.out);
	else
		print_runs(&view, &recordings, &options, output.out);
	cli_output_close(&output);
	job_view_close(view.job);
	for (uint32_t i = 0; i < view.n; i++)
		analyze_close(&view.runs[i]);
	free(view.runs);
	job_files_free(&recordings);
	free(options.files.texts);
	return 0;
}

const struct cli_command cmd_analyze = {
	.name = "analyze",
	.summary = "what holds the program back, where, what it costs, and what is innocent",
	.usage = "headway analyze [options] FILE…",
	.about =
		"Says what holds the program back: why the GPU idles, which lines are to blame, "
		"what that costs each step, what to do about it, and which suspects are "
		"innocent. Of a job (its folder, files of different ranks, or a recording of several) "
		"the ranks are compared: who is late, why, and what that costs. Files of one rank, or of none, "
		"are runs of one program. What cannot be read in a folder is left out and named. Jobs of more than 64 ranks "
		"are answered from their digests, where these are there, and from the reports of a few ranks.",
	.options = option_table,
	.footer =
		"Examples:\n"
		"  headway analyze report1.hwy\n"
		"  headway analyze --format json run.sqlite | jq '.findings[0]'\n"
		"  headway analyze --format html -o page.html report1.hwy\n"
		"  headway analyze job1               all ranks of a job: who is late, and why?\n"
		"  headway analyze job.hwd            the same from digests alone (headway digest)\n",
	.operands = CLI_FILES,
	.operands_offset = offsetof(struct options, files),
	.run = run_analyze,
};
