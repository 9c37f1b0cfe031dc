/* cmd_stats.c - headway stats: the tables. */
#include "cli/kit/cli.h"

#include <stdlib.h>
#include <string.h>

#include "cli/kit/report_table.h"
#include "stats/stats.h"

enum {
	OPTION_REPORT,
	OPTION_FORMAT,
	OPTION_OUTPUT,
	OPTION_FORCE,
	OPTION_ROWS,
	OPTION_UNIT,
	OPTION_CHOICE,
	OPTION_FROM,
	OPTION_TO,
	OPTION_RANGE,
	OPTION_SHAPES,
	OPTION_LIST_HEAD,
	OPTION_LIST
};
static const struct cli_option options[] = {
	[OPTION_REPORT] = {'r', "report", "NAME[,NAME...]",
			   "the tables to print; without it those of a handful that have rows"},
	[OPTION_FORMAT] = {0, "format", "FORMAT", "table (default), csv, tsv, json or markdown"},
	[OPTION_OUTPUT] = {'o', "output", "FILE", "write there instead of to standard output"},
	[OPTION_FORCE] = {'f', "force", NULL, "overwrite that file if it exists"},
	[OPTION_ROWS] = {0, "rows", "N",
			 "at most N rows a table, 0: all (default: 30 for the format "
			 "'table', all for the others)"},
	[OPTION_UNIT] =
		{0, "time-unit", "UNIT",
		 "ns, us, ms or s (default: what suits each number for the format 'table', ns for "
		 "the others)"},
	[OPTION_CHOICE] = {0, "", NULL, "What is counted:"},
	[OPTION_FROM] = {0, "from", "TIME",
			 "only what ends after this time of the recording (1500, 20ms, 3s)"},
	[OPTION_TO] = {0, "to", "TIME", "only what starts before this time"},
	[OPTION_RANGE] =
		{0, "range", "NAME",
		 "only what happened inside ranges of this name on the same thread, and the device "
		 "work launched there; 'name' or 'domain:name'"},
	[OPTION_SHAPES] = {0, "shapes", NULL, "op_sum: operators by their input shapes too"},
	[OPTION_LIST_HEAD] = {0, "", NULL, "Help:"},
	[OPTION_LIST] = {0, "help-reports", NULL, "list the tables"},
	{0},
};
static const struct cli template = {
	.command = "stats",
	.usage = "headway stats [options] FILE",
	.about =
		"Prints tables of a recording: kernels, calls, copies, ranges, operators, waits, graphs. Those "
		"that nsys has too have its names, columns and numbers.",
	.options = options,
	.footer = "A window (--from, --to) keeps what overlaps it, and cuts nothing.\n"
		  "\n"
		  "Examples:\n"
		  "  headway stats run.sqlite\n"
		  "  headway stats -r cuda_gpu_kern_sum --format csv run.hwy\n"
		  "  headway stats -r op_sum --shapes trace.json.gz\n"
		  "  headway stats -r wait_sum --range step_7 run.sqlite\n",
};

enum { MOST_REPORTS = 64 };

struct request {
	const struct stats_report *reports[MOST_REPORTS];
	uint32_t n;
	struct stats_options what;
	struct table_options how;
	bool rows_given;
	const char *file, *output;
	int force;
};

static void list_reports(void)
{
	int colour = cli_colour(stdout);
	for (const struct stats_report *report = stats_reports; report->name; report++)
		printf("  %s%-22s%s %s\n", colour ? "\033[1m" : "", report->name,
		       colour ? "\033[0m" : "", report->about);
	printf("\n'headway stats FILE' alone prints, of these, those that have rows:\n ");
	for (const struct stats_report *report = stats_reports; report->name; report++)
		if (report->handful)
			printf(" %s", report->name);
	putchar('\n');
}

static _Noreturn void unknown_report(const struct cli *cli, const char *name)
{
	const char *known[MOST_REPORTS] = {0};
	for (unsigned i = 0; stats_reports[i].name && i + 1 < MOST_REPORTS; i++)
		known[i] = stats_reports[i].name;
	const char *near = cli_nearest(name, known);
	if (near)
		cli_die("unknown report '%s'; did you mean '%s'?", name, near);
	cli_misuse(cli, "unknown report '%s'; --help-reports lists them", name);
}

static void add_reports(struct request *request, const struct cli *cli, const char *list)
{
	if (!list[strspn(list, ",")])
		cli_misuse(cli, "option '--report' names none; --help-reports lists them");
	while (*list) {
		char name[64];
		size_t length = strcspn(list, ",");
		snprintf(name, sizeof name, "%.*s", (int)(length < 63 ? length : 63), list);
		list += length + (list[length] == ',');
		if (!*name)
			continue;
		const struct stats_report *report = stats_find(name);
		if (!report)
			unknown_report(cli, name);
		if (request->n == MOST_REPORTS)
			cli_misuse(cli, "at most %d reports at a time", MOST_REPORTS);
		request->reports[request->n++] = report;
	}
}

static void take_option(struct request *request, struct cli *cli, int option, const char *value)
{
	static const char *const units[] = {"ns", "us", "ms", "s", NULL};
	switch (option) {
	case CLI_OPERAND: cli_file(cli, &request->file, value); break;
	case OPTION_REPORT: add_reports(request, cli, value); break;
	case OPTION_FORMAT:
		request->how.format =
			(enum table_format)cli_word(cli, "format", value, table_format_names);
		break;
	case OPTION_OUTPUT: request->output = value; break;
	case OPTION_FORCE: request->force = 1; break;
	case OPTION_ROWS:
		request->how.rows = cli_count(cli, "rows", value);
		request->rows_given = true;
		break;
	case OPTION_UNIT:
		request->how.unit = (enum stats_time_unit)cli_word(cli, "time-unit", value, units);
		request->how.unit_given = true;
		break;
	case OPTION_FROM: request->what.from = cli_time(cli, "from", value); break;
	case OPTION_TO: request->what.to = cli_time(cli, "to", value); break;
	case OPTION_RANGE: request->what.range = value; break;
	case OPTION_SHAPES: request->what.shapes = true; break;
	case OPTION_LIST: list_reports(); exit(0);
	default: break;
	}
}

static struct request read_options(struct cli *cli)
{
	struct request request = {.what = {.from = INT64_MIN, .to = INT64_MAX}};
	const char *value;
	int option;
	while ((option = cli_next(cli, &value)) != CLI_END)
		take_option(&request, cli, option, value);
	if (!request.file)
		cli_misuse(cli, "which file?");
	if (request.what.from >= request.what.to)
		cli_misuse(cli, "--from must be before --to");
	if (!request.rows_given && request.how.format == TABLE_PEOPLE)
		request.how.rows = 30;
	return request;
}

static void print_all(struct hwy_trace *trace, struct request *request)
{
	bool asked = request->n > 0, any = false;
	bool whole = !request->what.range && request->what.from == INT64_MIN &&
		     request->what.to == INT64_MAX;
	const char *part = whole ? "this recording" : "the chosen part of this recording";
	for (const struct stats_report *report = stats_reports; !asked && report->name; report++)
		if (report->handful && request->n < MOST_REPORTS)
			request->reports[request->n++] = report;
	request->how.several = request->n > 1;
	struct table *table = table_new(&request->how);
	for (uint32_t i = 0; i < request->n; i++) {
		struct hwy_err err;
		const struct stats_report *report = request->reports[i];
		table_report(table, report);
		if (!stats_run(trace, report, &request->what, table_sink(table), &err))
			cli_die("%s: %s", request->file, err.text);
		bool rows = table_end(table);
		any = any || rows;
		if (!rows && asked)
			fprintf(stderr, "headway: %s: %s: no %s in %s\n", request->file,
				report->name, report->subject, part);
	}
	table_free(table);
	if (!any && !asked)
		fprintf(stderr, "headway: %s: nothing to tell in %s\n", request->file, part);
}

int cmd_stats(int argc, char **argv)
{
	struct cli cli = template;
	cli.argc = argc;
	cli.argv = argv;
	struct request request = read_options(&cli);
	cli_keep_input(request.file, request.output);
	struct cli_output output = cli_output_open(request.output, request.force);
	struct hwy_trace *trace = cli_open(request.file);
	request.how.out = output.out;
	request.how.colour = cli_colour(output.out);
	request.how.width = cli_width(output.out);
	request.how.utf8 = cli_utf8();
	print_all(trace, &request);
	cli_output_close(&output);
	hwy_trace_free(trace);
	return 0;
}
