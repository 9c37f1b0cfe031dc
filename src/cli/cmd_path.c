/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_path.c - headway path: the critical path, which decides how long a step takes. */
#include <stdlib.h>
#include <string.h>

#include "base/json_fields.h"
#include "base/lang.h"
#include "base/say.h"
#include "cli/commands.h"
#include "cli/kit/table.h"
#include "cli/opened_job.h"
#include "cli/path_job.h"
#include "cli/phase.h"
#include "whatif/chain.h"

struct options {
	const char *path, *output, *step;
	uint64_t step_number, phase, rows;
	int format;
	bool force;
};

static const struct cli_option option_table[] = {
	{0, "step-number", "N", "the path through step N of the phase (default: all steady steps)",
	 CLI_COUNT, CLI_AT(step_number)},
	CLI_STEP_OR_NUMBER,
	PHASE_OPTION,
	{0, "rows", "N", "show the N largest contributors (default: 12)", CLI_COUNT, CLI_AT(rows)},
	CLI_TEXT_OR_JSON,
	CLI_OUTPUT_BY_ENDING,
	CLI_FORCE,
	CLI_OLD_NAME("mark", "step"),
	CLI_END_OF_OPTIONS,
};

/* ---- what is printed ------------------------------------------------------------------------ */

/* What a link is, in words: "compute: gemm", "cpu: mostly IO #", "cpu: before cudaLaunchKernel".
 * The CPU's own time is named by what fills most of it: it holds more than that. */
static void link_text(const struct chain_link *link, char *text, size_t size)
{
	const char *class = path_class_word(path_class_names[link->class]);
	if (link->is_before)
		snprintf(text, size, hwy_tr("%s: before %s"), class, link->name);
	else if (link->class == PATH_CPU)
		snprintf(text, size, hwy_tr("%s: mostly %s"), class, link->name);
	else
		snprintf(text, size, hwy_tr("%s: %s"), class, link->name);
}

/* Divides 'room' columns between the columns "what" and "where": both in full where they fit,
 * else about half each. */
static void share_room(const struct hwy_chain *chain, uint64_t rows, int room, int *what,
		       int *where)
{
	*what = *where = 0;
	for (uint32_t i = 0; i < chain->n && i < rows; i++) {
		const struct chain_link *link = &chain->links[i];
		char text[512];
		link_text(link, text, sizeof text);
		int name = hwy_utf8_columns(text, strlen(text));
		int place = hwy_utf8_columns(link->place, strlen(link->place));
		*what = name > *what ? name : *what;
		*where = place > *where ? place : *where;
	}
	int least = room / 2 > room - *what ? room / 2 : room - *what;
	*where = *where < least ? *where : least;
	*what = room - *where;
}

/* Yields 'time' of the path divided by its steps, in ns. */
static int64_t time_per_step(const struct hwy_chain *chain, int64_t time)
{
	return chain->n_steps ? time / chain->n_steps : time;
}

static void print_links(FILE *out, const struct hwy_chain *chain, uint64_t rows)
{
	enum { NUMBERS = 31, DEFAULT_WIDTH = 100, LEAST_ROOM = 40 }; /* widths in columns */
	int width = cli_width(out), what, where;
	int room = (width ? width : DEFAULT_WIDTH) - NUMBERS;
	share_room(chain, rows, room < LEAST_ROOM ? LEAST_ROOM : room, &what, &where);
	struct table table = {.columns = 5,
			      .heads = 1,
			      .colour = cli_colour(out),
			      .indent = "  ",
			      .align = "lrrrl"};
	table_row(&table, (const char *[]){hwy_tr("what"), hwy_tr("time"), hwy_tr("share"),
					   hwy_tr_word(HWY_KEY("head|times")), hwy_tr("where")});
	for (uint32_t i = 0; i < chain->n && i < rows; i++) {
		const struct chain_link *link = &chain->links[i];
		char name[512];
		link_text(link, name, sizeof name);
		table_cut_text(&table, name, what);
		table_time(&table, time_per_step(chain, link->time));
		table_percent(&table, link->time, chain->length);
		table_count(&table, link->count / chain->n_steps);
		table_cut_text(&table, link->place, where);
	}
	table_print(&table, out);
}

/* Says how much of the steps lies before the first or after the last device work, where that is
 * more than a hundredth. */
static void print_outside(FILE *out, const struct hwy_chain *chain)
{
	int64_t outside = chain->step - time_per_step(chain, chain->length);
	if (outside <= chain->step / 100)
		return;
	fprintf(out,
		hwy_tr("\nThe step takes %s: %s of it, before its first or after its last device work, is not on the path.\n"),
		hwy_say_time4(chain->step).text, hwy_say_time4(outside).text);
}

static void print_text(FILE *out, const struct hwy_chain *chain, uint64_t rows)
{
	fprintf(out,
		hwy_tr(chain->n_steps == 1
			       ? "%s from the first work of the step to the end: the chain that decides it\n\n"
			       : "%s from the first work of the steady steps to the end: the chain that decides it, a step:\n\n"),
		hwy_say_time4(chain->length).text);
	struct table classes = {.columns = 3, .indent = "  "};
	for (int class = 0; class < PATH_CLASSES; class ++) {
		if (chain->classes[class] == 0)
			continue;
		table_cell(&classes, "%s", path_class_word(path_class_names[class]));
		table_time(&classes, time_per_step(chain, chain->classes[class]));
		table_percent(&classes, chain->classes[class], chain->length);
	}
	table_print(&classes, out);
	print_outside(out, chain);
	fputs(hwy_tr("\nThe largest contributors, a step:\n\n"), out);
	print_links(out, chain, rows);
	fprintf(out,
		hwy_tr(chain->slack > 0
			       ? HWY_KEY("\n%.1f %% of the device's work of these steps is on the path; the rest has slack,\n")
			       : HWY_KEY("\n%.1f %% of the device's work of these steps is on the path; the rest has slack.\n")),
		100 * chain->work_on_path);
	if (chain->slack > 0)
		fprintf(out, hwy_tr("half of it %s or more.\n"), hwy_say_time4(chain->slack).text);
}

static const struct json_field link_fields[] = {
	{JSON_FIELD_ENUM(struct chain_link, class, "class", path_class_names, PATH_CLASSES)},
	{JSON_FIELD_TEXT(struct chain_link, name, "name")},
	{JSON_FIELD_BOOL(struct chain_link, is_before, "before")},
	{JSON_FIELD_TEXT(struct chain_link, place, "place")},
	{JSON_FIELD_INT(struct chain_link, time, "time_ns")},
	{JSON_FIELD_INT(struct chain_link, count, "count")},
};

static const struct json_field chain_fields[] = {
	{JSON_FIELD_INT(struct hwy_chain, n_steps, "steps")},
	{JSON_FIELD_INT(struct hwy_chain, length, "length_ns")},
	{JSON_FIELD_INT(struct hwy_chain, step, "step_ns")},
	{JSON_FIELD_NAMED_INTS(struct hwy_chain, classes, "classes", path_class_names)},
	{JSON_FIELD_ARRAY(struct hwy_chain, links, n, "contributors", link_fields)},
	{JSON_FIELD_REAL(struct hwy_chain, work_on_path, "work_on_path", 4)},
	{JSON_FIELD_INT(struct hwy_chain, slack, "median_slack_ns")},
};

static void print_json(FILE *out, const struct hwy_chain *chain, uint64_t rows)
{
	struct hwy_json json = {.out = out, .pretty = true};
	struct hwy_chain shown = *chain;
	shown.n = rows < chain->n ? (uint32_t)rows : chain->n;
	json_put_object(&json, JSON_FIELDS(chain_fields), &shown);
	fputc('\n', out);
}

static void path_print(const struct options *options)
{
	cli_keep_input(options->path, options->output);
	struct cli_output output = cli_output_open(options->output, options->force);
	struct chosen_phase phase;
	struct hwy_err err;
	phase_open(&phase, options->path, options->step, options->phase,
		   hwy_tr("there is no path through it"));
	uint32_t n_steps = phase.analysis.phases.phases[phase.index].n_steps;
	bool one_step = options->step_number != CLI_NOT_GIVEN;
	if (one_step && options->step_number >= n_steps)
		cli_die("%s: the phase has steps 0 to %u", options->path, n_steps - 1);
	struct hwy_chain chain;
	int64_t step = one_step ? (int64_t)options->step_number : -1;
	if (!chain_find(&chain, &phase.analysis, phase.index, step, &err))
		cli_die("%s: %s", options->path, err.text);
	bool json = options->format == CLI_FORMAT_JSON;
	uint64_t rows = options->rows ? options->rows : json ? UINT64_MAX : 12;
	(json ? print_json : print_text)(output.out, &chain, rows);
	cli_output_close(&output);
	chain_free(&chain);
	phase_close(&phase);
}

static void path_print_job(const struct options *options)
{
	struct cli_output output = cli_output_open(options->output, options->force);
	struct opened_job opened;
	struct hwy_job_path path;
	struct hwy_err err;
	if (options->step_number != CLI_NOT_GIVEN)
		cli_die("%s: --step-number is for the recording of one rank", options->path);
	opened_job_open(&opened, &options->path, 1, options->step, options->phase);
	if (!job_path(&path, opened.ranks, opened.n, &err))
		cli_die("%s: %s", options->path, err.text);
	bool json = options->format == CLI_FORMAT_JSON;
	uint64_t rows = options->rows ? options->rows : json ? UINT64_MAX : 12;
	(json ? path_job_json : path_job_text)(output.out, &path, rows);
	cli_output_close(&output);
	job_path_free(&path);
	opened_job_close(&opened);
}

static int run_path(int argc, char **argv)
{
	struct options options = {.step_number = CLI_NOT_GIVEN};
	cli_read(&cmd_path, argc, argv, &options);
	if (!options.path)
		cli_misuse(&cmd_path, "which file?");
	(opened_job_is(options.path) ? path_print_job : path_print)(&options);
	return 0;
}

const struct cli_command cmd_path = {
	.name = "path",
	.summary = "the critical path: what decides how long a step takes",
	.usage = "headway path [options] FILE|JOB",
	.about = "The critical path: the one chain of CPU work, calls, latencies and device work "
		 "that decides how long a step takes. Making anything else faster gains nothing. A "
		 "folder is a job: the path goes from rank to rank, along whoever others wait for.",
	.options = option_table,
	.footer = "Examples:\n"
		  "  headway path report1.hwy\n"
		  "  headway path --step-number 7 run.sqlite\n"
		  "  headway path job1                             across its ranks\n",
	.operands = CLI_FILE,
	.operands_offset = offsetof(struct options, path),
	.run = run_path,
};
