/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_kernels.c - headway kernels: what bounds each kernel, what it could gain, and what to do
 * about it.
 *
 * Shows what is known: counters where the report has them, else what follows from launches and
 * from the shapes of operators. With a program (or --run) it measures counters first; with --ncu
 * it takes those of Nsight Compute. New counters become part of the report, which is written
 * whole to a temporary name and renamed.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/measured_join.h"
#include "base/lang.h"
#include "base/secrets.h"
#include "base/shell_word.h"
#include "cli/commands.h"
#include "cli/kernels_measure.h"
#include "cli/kernels_print.h"
#include "import/import.h"
#include "trace/file.h"

enum { DEFAULT_ROWS = 20, DEFAULT_DETAILS = 5 };

struct options {
	struct cli_texts operands;
	const char *output, *ncu, *kernel, *write, *step, *metrics;
	uint64_t rows, details, launches, most;
	int format, replay, set;
	bool force, run, source;
};

static const char *const kernels_formats[] = {"text", "json", "csv", "md", NULL};
enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, FORMAT_MARKDOWN };
/* As in enum kernels_replay. */
static const char *const replay_words[] = {"auto", "kernel", "application", NULL};

static const char *const set_words[] = {"full", "roofline", NULL};
enum { SET_FULL, SET_ROOFLINE };

static const struct cli_option option_table[] = {
	CLI_HEAD("What is shown:"),
	{'k', "kernel", "NAME", "only kernels whose name contains NAME", CLI_TEXT, CLI_AT(kernel)},
	{'n', "rows", "N", "rows of the table (default: 20; 0: all)", CLI_COUNT, CLI_AT(rows)},
	{0, "details", "N", "describe the N kernels with most time one by one (default: 5; 0: all)",
	 CLI_COUNT, CLI_AT(details)},
	CLI_FORMAT(kernels_formats, "text (default), json, csv, or md: Markdown"),
	CLI_OUTPUT_BY_ENDING,
	CLI_FORCE,
	CLI_HEAD("Where counters come from:"),
	{0, "run", NULL, "run the recorded command again and measure", CLI_SWITCH, CLI_AT(run)},
	{0, "ncu", "FILE", "take the counters of Nsight Compute: what ncu --csv printed", CLI_TEXT,
	 CLI_AT(ncu)},
	{0, "write", "FILE",
	 "write the report with the counters there (default: into the .hwy report itself)",
	 CLI_TEXT, CLI_AT(write)},
	CLI_HEAD("How it is measured:"),
	{0, "kernels", "N", "measure the N kernels that matter most (default: 12)", CLI_COUNT,
	 CLI_AT(most), .most = 1000},
	{0, "launches", "N", "measure N launches of each (default: 1)", CLI_COUNT, CLI_AT(launches),
	 .most = 1000},
	{0, "replay", "HOW",
	 "auto (default): repeat a launch in place where that is safe; kernel: always; application: never, each launch of a "
	 "kernel gives some of its counters",
	 CLI_WORD, CLI_AT(replay), .words = replay_words},
	{0, "set", "NAME",
	 "full (default); roofline: no stall reasons, hit rates, conflicts and spills, in about half of the passes",
	 CLI_WORD, CLI_AT(set), .words = set_words},
	{0, "metrics", "LIST", "more counters, by the vendor's names, with commas between them",
	 CLI_TEXT, CLI_AT(metrics)},
	{0, "source", NULL, "sample program counters too: the source lines at which warps wait",
	 CLI_SWITCH, CLI_AT(source)},
	CLI_STEP,
	CLI_END_OF_OPTIONS,
};

/* ---- the report ------------------------------------------------------------------------------ */

struct kernels_job {
	struct options options;
	const char *path;
	char **program; /* NULL: nothing is measured */
	char *command;  /* the recorded command, split in place; NULL: not used */
	struct hwy_trace *trace;
	char **notes;
	uint32_t n_notes, cap_notes;
};

static void add_kernels_note(struct kernels_job *job, const char *text)
{
	HWY_GROW(job->notes, job->n_notes, job->cap_notes);
	job->notes[job->n_notes++] = hwy_copy(text, strlen(text) + 1);
}

/* Whether the report on disk is one of ours, which can be written again. */
static bool is_report_file(const struct kernels_job *job)
{
	return job->trace->file != NULL;
}

static void write_report(struct kernels_job *job)
{
	struct hwy_err err;
	const char *to = job->options.write;
	bool in_place = !to && is_report_file(job);
	if (in_place)
		to = job->path;
	if (!to)
		return;
	bool ok = hwy_file_write(job->trace, to, in_place || job->options.force, cli_progress(),
				 &err);
	cli_progress_end();
	if (!ok)
		cli_die("%s", err.text);
	cli_say("%s: the counters are in the report", to);
}

static void join_ncu(struct kernels_job *job)
{
	struct hwy_err err;
	struct joined_counters joined;
	struct hwy_trace *from = import_ncu(job->options.ncu, NULL, &err);
	if (!from || !measured_join(job->trace, from, &joined, &err))
		cli_die("%s", err.text);
	hwy_trace_free(from);
	if (joined.found == 0)
		cli_die("%s: none of its %" PRIu32 " kernels is in %s; the first is %s",
			job->options.ncu, joined.kernels, job->path, joined.missing);
	if (joined.found < joined.kernels) {
		char text[256];
		snprintf(text, sizeof text,
			 hwy_tr("%" PRIu32 " of %" PRIu32
				" measured kernels are not in the recording; the first is %.120s"),
			 joined.kernels - joined.found, joined.kernels, joined.missing);
		add_kernels_note(job, text);
	}
	write_report(job);
}

/* ---- measuring ------------------------------------------------------------------------------- */

/* Splits a command line that ingest wrote: words with spaces between them, those with other
 * bytes in single quotes. Yields an array of the words, in place; NULL at the end. */
static char **split_command(char *line)
{
	char **words = NULL, *to = line;
	uint32_t n = 0, cap = 0;
	for (char *at = line; *at;) {
		HWY_GROW(words, n, cap);
		words[n++] = to;
		bool is_quoted = false;
		for (; *at && (is_quoted || *at != ' '); at++) {
			if (*at == '\'')
				is_quoted = !is_quoted;
			else if (*at == '\\' && !is_quoted && at[1])
				*to++ = *++at;
			else
				*to++ = *at;
		}
		at += *at == ' ';
		*to++ = '\0';
	}
	HWY_GROW(words, n, cap);
	words[n] = NULL;
	return words;
}

static void use_recorded_command(struct kernels_job *job)
{
	const char *command = hwy_property(job->trace, "command");
	if (!command || !*command)
		cli_die("%s: does not say which command was recorded; give it: headway kernels %s -- "
			"PROGRAM [arguments]",
			job->path, hwy_shell_word(job->path).text);
	if (strstr(command, SECRETS_MASK))
		cli_die("%s: the recorded command had a secret, which is not in the report; give the "
			"command: headway kernels %s -- PROGRAM [arguments]",
			job->path, hwy_shell_word(job->path).text);
	job->command = hwy_copy(command, strlen(command) + 1);
	job->program = split_command(job->command);
}

/* Splits a list at its commas, in place; NULL at the end. */
static const char **split_list(char *list)
{
	const char **items = NULL;
	uint32_t n = 0, cap = 0;
	for (char *item = list; item && *item;) {
		char *comma = strchr(item, ',');
		if (comma)
			*comma++ = '\0';
		HWY_GROW(items, n, cap);
		items[n++] = item;
		item = comma;
	}
	HWY_GROW(items, n, cap);
	items[n] = NULL;
	return items;
}

static void measure(struct kernels_job *job)
{
	const struct options *options = &job->options;
	char *list =
		options->metrics ? hwy_copy(options->metrics, strlen(options->metrics) + 1) : NULL;
	const char **metrics = list ? split_list(list) : NULL;
	struct kernels_options how = {
		.name = options->kernel,
		.step = options->step,
		.most_kernels = (uint32_t)options->most,
		.launches = (uint32_t)options->launches,
		.replay = (enum kernels_replay)options->replay,
		.source = options->source,
		.roofline = options->set == SET_ROOFLINE,
		.metrics = metrics,
	};
	struct kernels_outcome outcome = {0};
	struct hwy_err err;
	if (!is_report_file(job) && !options->write)
		cli_die("%s: is no .hwy report, so counters cannot be added to it; say where the report "
			"with the counters goes: --write FILE.hwy",
			job->path);
	if (!kernels_measure(job->trace, &how, job->program, &outcome, &err))
		cli_die("%s", err.text);
	for (uint32_t i = 0; i < outcome.n_notes; i++)
		add_kernels_note(job, outcome.notes[i]);
	cli_say("measured %" PRIu32 " of %" PRIu32 " kernels in %" PRIu32 " run%s",
		outcome.measured, outcome.chosen, outcome.runs, outcome.runs == 1 ? "" : "s");
	kernels_outcome_free(&outcome);
	free(metrics);
	free(list);
	write_report(job);
}

/* ---- showing --------------------------------------------------------------------------------- */

/* The kernels that --kernel names, or all, in the order of the table. */
static uint32_t choose_kernels(const struct kernels_job *job, const struct kernel_table *table,
			       uint32_t *chosen)
{
	uint32_t n = 0;
	const char *name = job->options.kernel;
	for (uint32_t i = 0; i < table->n; i++)
		if (!name || strstr(table->kernels[i].point.name, name))
			chosen[n++] = i;
	if (name && n == 0)
		cli_die("%s: no kernel has '%s' in its name", job->path, name);
	return n;
}

/* Whether the recording has kernels that CUPTI could measure: not those of OpenCL. */
static bool has_cuda_kernels(const struct hwy_trace *trace)
{
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if (trace->strips[s].kind == HWY_KERNEL &&
		    !hwy_lane_is_opencl(trace, trace->strips[s].lane))
			return true;
	return false;
}

/* The words that measure, to be freed; NULL where most of the time is measured already, or where
 * there is nothing to measure. */
static char *say_measure(const struct kernels_job *job, const struct kernel_table *table)
{
	if (!table->has_launches || table->measured_ns > table->ns / 2 ||
	    !has_cuda_kernels(job->trace))
		return NULL;
	return kernels_say_measure(job->trace, job->path);
}

static void show(struct kernels_job *job, struct cli_output *output)
{
	struct kernel_table table;
	struct hwy_err err;
	if (!kernel_table_make(&table, job->trace, &err))
		cli_die("%s: %s", job->path, err.text);
	uint32_t *chosen = hwy_array(table.n, sizeof *chosen);
	char *words = say_measure(job, &table);
	bool has_details = job->options.details != CLI_NOT_GIVEN;
	struct kernels_view view = {
		.path = job->path,
		.table = &table,
		.chosen = chosen,
		.n = choose_kernels(job, &table, chosen),
		.rows = (uint32_t)job->options.rows,
		.details = (uint32_t)(has_details ? job->options.details : DEFAULT_DETAILS),
		.is_brief = !has_details && !job->options.kernel,
		.is_asked = job->options.kernel != NULL,
		.measure = words,
		.notes = job->notes,
		.n_notes = job->n_notes};
	static void (*const print[])(FILE *, const struct kernels_view *) = {
		kernels_print_text, kernels_print_json, kernels_print_csv, kernels_print_markdown};
	print[job->options.format](output->out, &view);
	cli_output_close(output);
	free(words);
	free(chosen);
	kernel_table_free(&table);
}

/* ---- the command ----------------------------------------------------------------------------- */

static void read_job(struct kernels_job *job, int argc, char **argv)
{
	struct options *options = &job->options;
	*job = (struct kernels_job){.options = {.rows = DEFAULT_ROWS, .details = CLI_NOT_GIVEN}};
	cli_read(&cmd_kernels, argc, argv, options);
	uint32_t files = options->operands.before_dashes ? options->operands.before_dashes
							 : options->operands.n;
	if (files == 0)
		cli_misuse(&cmd_kernels, "which file?");
	if (files > 1)
		cli_misuse(
			&cmd_kernels,
			"one report is enough; a program to measure stands behind '--': headway kernels "
			"%s -- %s",
			hwy_shell_word(options->operands.texts[0]).text,
			hwy_shell_word(options->operands.texts[1]).text);
	job->path = options->operands.texts[0];
	if (options->operands.n > files) {
		uint32_t n = options->operands.n - files;
		job->program = hwy_zarray(n + 1, sizeof *job->program);
		memcpy(job->program, options->operands.texts + files, n * sizeof *job->program);
	}
	if (job->program && options->run)
		cli_misuse(&cmd_kernels,
			   "--run is the recorded command: give it or a program, not both");
	if (options->ncu && (job->program || options->run))
		cli_misuse(&cmd_kernels, "measure, or take ncu's counters, not both at once");
	bool is_new = job->program || options->run || options->ncu;
	if (options->write && !is_new)
		cli_misuse(&cmd_kernels, "--write needs new counters: a program, --run or --ncu");
}

static int run_kernels(int argc, char **argv)
{
	struct kernels_job job;
	read_job(&job, argc, argv);
	cli_keep_input(job.path, job.options.output);
	struct cli_output output = cli_output_open(job.options.output, job.options.force);
	job.trace = cli_open(job.path);
	if (job.options.ncu)
		join_ncu(&job);
	if (job.options.run)
		use_recorded_command(&job);
	if (job.program)
		measure(&job);
	show(&job, &output);
	hwy_trace_free(job.trace);
	for (uint32_t i = 0; i < job.n_notes; i++)
		free(job.notes[i]);
	free(job.notes);
	free(job.program);
	free(job.command);
	free(job.options.operands.texts);
	return 0;
}

const struct cli_command cmd_kernels = {
	.name = "kernels",
	.summary = "what bounds each kernel, and what it could gain",
	.usage = "headway kernels [options] FILE|JOB [-- PROGRAM [arguments]]",
	.about =
		"What each kernel waits for (compute, memory, latency, occupancy), how far it is from the "
		"roof of its device, what it could gain, and what to do about it; the most to gain comes "
		"first, where that is known of most of the time, else the longest. Counters say it where the report has them; without counters it follows from the "
		"launch and from the shapes of PyTorch's operators. With a program, or with --run, the "
		"program runs again and the counters of the kernels that matter are measured and added to "
		"the report. FILE may be the output of ncu --csv alone.",
	.options = option_table,
	.footer = "Examples:\n"
		  "  headway kernels report1.hwy\n"
		  "  headway kernels report1.hwy --run\n"
		  "  headway kernels report1.hwy -k gemm -- python3 train.py\n"
		  "  headway kernels report1.hwy --ncu kernels.csv\n"
		  "  headway kernels kernels.csv --format md\n",
	.operands = CLI_FILES,
	.operands_offset = offsetof(struct options, operands),
	.run = run_kernels,
};
