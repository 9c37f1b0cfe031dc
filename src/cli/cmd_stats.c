/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_stats.c - headway stats: tables of kernels, calls, copies, ranges, operators and waits. */
#include "cli/commands.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/lang.h"
#include "base/shell_word.h"
#include "cli/kit/paint.h"
#include "cli/kit/report_table.h"
#include "cli/record_again.h"
#include "cli/stats_ranks.h"
#include "stats/stats.h"

enum { MOST_REPORTS = 64, DEFAULT_ROWS = 30 };

struct options {
	const struct stats_report *reports[MOST_REPORTS];
	uint32_t n;
	struct stats_options what;
	struct report_table_options how;
	const char *file, *output;
	uint64_t rows, rank;
	int format, unit; /* enum report_table_format; enum stats_time_unit, or -1 */
	bool force, by_rank;
};

static void list_reports(void)
{
	bool colour = cli_colour(stdout);
	for (const struct stats_report *report = stats_reports; report->name; report++)
		printf("  %s%-22s%s %s\n", paint(colour, PAINT_BOLD), report->name,
		       paint(colour, PAINT_PLAIN), hwy_tr(report->about));
	fputs(hwy_tr("\n'headway stats FILE' alone prints, of these, those that have rows:\n "),
	      stdout);
	for (const struct stats_report *report = stats_reports; report->name; report++)
		if (report->handful)
			printf(" %s", report->name);
	putchar('\n');
}

/* The reports that hold what people ask for by a word of their own, which may look like another
 * report's name. */
static const char *report_meant_by(const char *name)
{
	static const struct {
		const char *words[8], *report;
	} known[] = {
		{{"kernel", "kernels", "kern", "gpu"}, "cuda_gpu_kern_sum"},
		{{"copy", "copies", "memcpy", "memcpys", "transfers", "fills", "memset", "memory"},
		 "cuda_gpu_mem_time_sum"},
		{{"bytes", "sizes"}, "cuda_gpu_mem_size_sum"},
		{{"api", "apis", "cuda", "calls", "launches", "runtime"}, "cuda_api_sum"},
		{{"nvtx", "range", "ranges", "marks"}, "nvtx_sum"},
		{{"op", "ops", "operator", "operators", "torch", "pytorch", "aten"}, "op_sum"},
		{{"module", "modules", "layers"}, "module_sum"},
		{{"os", "osrt", "syscalls", "io"}, "osrt_sum"},
		{{"cpu", "samples", "functions", "stacks"}, "cpu_sample_sum"},
		{{"thread", "threads", "sched"}, "thread_state_sum"},
		{{"wait", "waits", "sync", "syncs"}, "wait_sum"},
		{{"graph", "graphs"}, "graph_sum"},
		{{"mpi"}, "mpi_event_sum"},
		{{"nccl", "rccl", "collectives", "comm"}, "nccl_sum"},
		{{"opencl"}, "opencl_gpu_sum"},
		{{"um", "uvm", "managed", "migrations"}, "um_sum"},
		{{"metrics", "counters", "hardware"}, "gpu_metrics_sum"},
		{{"roofline", "flops"}, "op_roofline"},
		{{"occupancy", "shapes"}, "kernel_occupancy"},
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		for (size_t w = 0; w < 8 && known[i].words[w]; w++)
			if (strcasecmp(known[i].words[w], name) == 0)
				return known[i].report;
	return NULL;
}

static _Noreturn void unknown_report(const char *name)
{
	static const char *const idle[] = {"gap", "gaps", "idle"};
	for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
		if (strcasecmp(idle[i], name) == 0)
			cli_die("unknown report '%s'; did you mean 'headway breakdown FILE' or "
				"'headway sql FILE -f device-gaps'?",
				name);
	const char *names[MOST_REPORTS] = {0};
	for (unsigned i = 0; stats_reports[i].name && i + 1 < MOST_REPORTS; i++)
		names[i] = stats_reports[i].name;
	const char *meant = report_meant_by(name), *near = meant ? meant : cli_nearest(name, names);
	if (near)
		cli_die("unknown report '%s'; did you mean '%s'?", name, near);
	cli_misuse(&cmd_stats, "unknown report '%s'; --help-reports lists them", name);
}

static void read_reports(const struct cli_value *value)
{
	struct options *options = value->options;
	const char *list = value->text;
	if (!list[strspn(list, ",")])
		cli_misuse(&cmd_stats, "option '--report' names none; --help-reports lists them");
	while (*list) {
		char name[64];
		size_t length = strcspn(list, ",");
		snprintf(name, sizeof name, "%.*s", (int)(length < 63 ? length : 63), list);
		list += length + (list[length] == ',');
		if (!*name)
			continue;
		const struct stats_report *report = stats_find(name);
		if (!report)
			unknown_report(name);
		if (options->n == MOST_REPORTS)
			cli_misuse(&cmd_stats, "at most %d reports at a time", MOST_REPORTS);
		options->reports[options->n++] = report;
	}
}

static void read_list(const struct cli_value *value)
{
	(void)value;
	list_reports();
	exit(0);
}

static const char *report_name(size_t i)
{
	return stats_reports[i].name;
}

static const char *const units[] = {"ns", "us", "ms", "s", NULL}; /* enum stats_time_unit */

static const struct cli_option option_table[] = {
	{'r', "report", "NAME[,NAME...]",
	 "the tables to print; without it those of a handful that have rows", CLI_READ, 0,
	 .word = report_name, .read = read_reports},
	CLI_FORMAT(report_table_format_names, "table (default), csv, tsv, json or markdown"),
	CLI_OUTPUT_BY_ENDING,
	CLI_FORCE,
	{0, "rows", "N",
	 "at most N rows a table, 0: all (default: 30 for the format 'table', all for the others)",
	 CLI_COUNT, CLI_AT(rows)},
	{0, "time-unit", "UNIT",
	 "ns, us, ms or s (default: what suits each number for the format 'table', ns for the "
	 "others)",
	 CLI_WORD, CLI_AT(unit), .words = units},
	CLI_HEAD("What is counted:"),
	{0, "from", "TIME", "only what ends after this time of the recording (1500, 20ms, 3s)",
	 CLI_TIME, CLI_AT(what.from)},
	{0, "to", "TIME", "only what starts before this time", CLI_TIME, CLI_AT(what.to)},
	{0, "range", "NAME",
	 "only what happened inside ranges of this name on the same thread, and the device work "
	 "launched there; 'name' or 'domain:name'",
	 CLI_TEXT, CLI_AT(what.range)},
	{0, "rank", "N", "only what rank N of a job did", CLI_COUNT, CLI_AT(rank)},
	{0, "by-rank", NULL,
	 "every table for all ranks of a job and for each of them: the first column is the rank",
	 CLI_SWITCH, CLI_AT(by_rank)},
	{0, "shapes", NULL, "op_sum: operators by their input shapes too", CLI_SWITCH,
	 CLI_AT(what.shapes)},
	CLI_HEAD("Help:"),
	{0, "help-reports", NULL, "list the tables", CLI_READ, 0, .read = read_list},
	CLI_END_OF_OPTIONS,
};

static struct options stats_read_options(int argc, char **argv)
{
	struct options options = {.what = {.from = INT64_MIN, .to = INT64_MAX},
				  .rows = CLI_NOT_GIVEN,
				  .rank = CLI_NOT_GIVEN,
				  .unit = -1};
	cli_read(&cmd_stats, argc, argv, &options);
	if (!options.file)
		cli_misuse(&cmd_stats, "which file?");
	if (options.what.from >= options.what.to)
		cli_misuse(&cmd_stats, "--from must be before --to");
	options.what.has_rank = options.rank != CLI_NOT_GIVEN;
	options.what.rank = options.rank <= INT32_MAX ? (int64_t)options.rank : INT32_MAX;
	if (options.what.has_rank && options.by_rank)
		cli_misuse(&cmd_stats, "--rank and --by-rank exclude each other");
	struct report_table_options *how = &options.how;
	how->format = (enum report_table_format)options.format;
	how->unit_given = options.unit >= 0;
	if (how->unit_given)
		how->unit = (enum stats_time_unit)options.unit;
	bool rows_given = options.rows != CLI_NOT_GIVEN;
	how->rows = rows_given ? options.rows : how->format == REPORT_TABLE_TEXT ? DEFAULT_ROWS : 0;
	return options;
}

/* The ranks of the recording; ends the program where the options ask for ranks that it does not
 * have. */
static struct stats_ranks ranks_to_print(struct hwy_trace *trace, struct options *options)
{
	struct stats_ranks ranks = stats_ranks_of(trace);
	bool found = !options->what.has_rank;
	for (uint32_t i = 0; i < ranks.n; i++)
		found |= ranks.ranks[i] == options->what.rank;
	if (ranks.n == 0 && (options->by_rank || !found))
		cli_die("%s: the recording does not tell ranks; without --rank and --by-rank the tables are of all "
			"processes",
			options->file);
	if (!found)
		cli_die("%s: has no rank %lld; it has %u, from %lld to %lld", options->file,
			(long long)options->what.rank, ranks.n, (long long)ranks.ranks[0],
			(long long)ranks.ranks[ranks.n - 1]);
	if (options->by_rank) /* as many rows of each rank as a table has otherwise */
		options->how.rows *= (uint64_t)ranks.n + 1;
	return ranks;
}

/* What there is none of, in a table without rows. */
static const char *subject_of(const struct stats_report *report)
{
	static char key[96];
	snprintf(key, sizeof key, "subject|%s", report->subject);
	return hwy_tr_word(key);
}

static void print_all(struct hwy_trace *trace, struct options *options)
{
	bool asked = options->n > 0, any = false;
	bool whole = !options->what.range && options->what.from == INT64_MIN &&
		     options->what.to == INT64_MAX && !options->what.has_rank;
	const char *part = hwy_tr(whole ? "this recording" : "the chosen part of this recording");
	for (const struct stats_report *report = stats_reports; !asked && report->name; report++)
		if (report->handful && options->n < MOST_REPORTS)
			options->reports[options->n++] = report;
	options->how.several = options->n > 1;
	struct stats_ranks ranks = ranks_to_print(trace, options);
	struct report_table *table = report_table_new(&options->how);
	for (uint32_t i = 0; i < options->n; i++) {
		struct hwy_err err;
		const struct stats_report *report = options->reports[i];
		report_table_report(table, report);
		const struct stats_sink *sink = report_table_sink(table);
		if (!(options->by_rank ? stats_ranks_run(&ranks, report, &options->what, sink, &err)
				       : stats_run(trace, report, &options->what, sink, &err)))
			cli_die("%s: %s", options->file, err.text);
		bool rows = report_table_end(table);
		any = any || rows;
		if (!rows && asked)
			fprintf(stderr, hwy_tr("headway: %s: %s: no %s in %s\n"), options->file,
				report->name, subject_of(report), part);
	}
	report_table_free(table);
	stats_ranks_free(&ranks);
	if (!any && !asked && record_again_is_wanted(trace))
		record_again_say(trace);
	else if (!any && !asked && trace->n_measured > 0)
		cli_say("%s: it holds counters of kernels, and no times; next: headway kernels %s",
			options->file, hwy_shell_word(options->file).text);
	else if (!any && !asked)
		fprintf(stderr, hwy_tr("headway: %s: nothing to tell in %s\n"), options->file,
			part);
}

static int run_stats(int argc, char **argv)
{
	struct options options = stats_read_options(argc, argv);
	cli_keep_input(options.file, options.output);
	struct cli_output output = cli_output_open(options.output, options.force);
	struct hwy_trace *trace = cli_open(options.file);
	options.how.out = output.out;
	options.how.colour = cli_colour(output.out);
	options.how.width = cli_width(output.out);
	options.how.utf8 = cli_utf8();
	print_all(trace, &options);
	cli_output_close(&output);
	hwy_trace_free(trace);
	return 0;
}

const struct cli_command cmd_stats = {
	.name = "stats",
	.summary = "tables: kernels, API calls, copies, NVTX ranges, operators, waits",
	.usage = "headway stats [options] FILE|JOB",
	.about = "Prints tables of a recording: kernels, calls, copies, ranges, operators, waits, "
		 "graphs. Those that nsys has too have its names, columns and numbers.",
	.options = option_table,
	.footer = "A window (--from, --to) keeps what overlaps it, and cuts nothing.\n"
		  "\n"
		  "Examples:\n"
		  "  headway stats run.sqlite\n"
		  "  headway stats -r cuda_gpu_kern_sum --format csv run.hwy\n"
		  "  headway stats -r op_sum --shapes trace.json.gz\n"
		  "  headway stats -r wait_sum --range step_7 run.sqlite\n",
	.operands = CLI_FILE,
	.operands_offset = offsetof(struct options, file),
	.run = run_stats,
};
