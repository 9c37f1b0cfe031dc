/* cmd_path.c - headway path: what decides how long a step takes. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/kit/cli.h"
#include "cli/kit/grid.h"
#include "cli/phase.h"
#include "whatif/chain.h"

enum { STEP, MARK, PHASE, ROWS, FORMAT, OUTPUT, FORCE };

static const struct cli_option options[] = {
	[STEP] = {0, "step", "N",
		  "the path through step N of the phase (default: all steady steps)"},
	[MARK] = {0, "mark", "NAME", "the ranges that mark steps"},
	[PHASE] = {0, "phase", "N", "look at phase N (default: the one that took longest)"},
	[ROWS] = {0, "rows", "N", "show the N largest contributors (default: 12)"},
	[FORMAT] = {0, "format", "FORMAT", "text (default) or json"},
	[OUTPUT] = {'o', "output", "FILE", "write there instead of to standard output"},
	[FORCE] = {'f', "force", NULL, "overwrite that file if it exists"},
	{0},
};

struct wishes {
	const char *path, *output, *mark;
	uint64_t step, phase, rows;
	bool has_step, json, force;
};

static void path_read_option(const struct cli *cli, int option, const char *value,
			     struct wishes *wishes)
{
	static const char *const formats[] = {"text", "json", NULL};
	switch (option) {
	case STEP:
		wishes->step = cli_count(cli, "step", value);
		wishes->has_step = true;
		break;
	case MARK: wishes->mark = value; break;
	case PHASE: wishes->phase = cli_phase_number(cli, value); break;
	case ROWS: wishes->rows = cli_count(cli, "rows", value); break;
	case FORMAT: wishes->json = cli_word(cli, "format", value, formats); break;
	case OUTPUT: wishes->output = value; break;
	case FORCE: wishes->force = true; break;
	default: cli_file(cli, &wishes->path, value);
	}
}

/* ---- what is printed ---------------------------------------------------------------------------- */

/* Columns for what and where: both in full where they have room, else about half of it each. */
static void share_room(const struct hwy_chain *chain, uint64_t rows, int room, int *what,
		       int *where)
{
	*what = *where = 0;
	for (uint32_t i = 0; i < chain->n && i < rows; i++) {
		const struct chain_link *link = &chain->links[i];
		int name = grid_columns_of(path_class_names[link->class]) + 2 +
			   grid_columns_of(link->name);
		int place = grid_columns_of(link->place);
		*what = name > *what ? name : *what;
		*where = place > *where ? place : *where;
	}
	int least = room / 2 > room - *what ? room / 2 : room - *what;
	*where = *where < least ? *where : least;
	*what = room - *where;
}

/* The path ends with the last step's work, so it is a little less than the steps together: what a step has of it is
 * told by the share. */
static int64_t a_step(const struct hwy_chain *chain, int64_t time)
{
	double share = chain->length > 0 ? (double)time / (double)chain->length : 0;
	return (int64_t)(share * (double)chain->step);
}

static void print_links(FILE *out, const struct hwy_chain *chain, uint64_t rows)
{
	enum { NUMBERS = 31, DEFAULT_WIDTH = 100, LEAST_ROOM = 40 }; /* columns */
	int width = cli_width(out), what, where;
	int room = (width ? width : DEFAULT_WIDTH) - NUMBERS;
	share_room(chain, rows, room < LEAST_ROOM ? LEAST_ROOM : room, &what, &where);
	struct grid grid = {
		.columns = 5, .head = 1, .colour = cli_colour(out), .ends_in_text = true};
	grid_cell(&grid, "what");
	grid_cell(&grid, "time");
	grid_cell(&grid, "share");
	grid_cell(&grid, "times");
	grid_cell(&grid, "where");
	for (uint32_t i = 0; i < chain->n && i < rows; i++) {
		const struct chain_link *link = &chain->links[i];
		char name[512];
		snprintf(name, sizeof name, "%s: %s", path_class_names[link->class], link->name);
		grid_text(&grid, name, what);
		grid_time(&grid, a_step(chain, link->time));
		grid_percent(&grid, link->time, chain->length);
		grid_count(&grid, link->count / chain->n_steps);
		grid_text(&grid, link->place, where);
	}
	grid_print(&grid, out, "  ");
}

static void print_text(FILE *out, const struct hwy_chain *chain, uint64_t rows)
{
	char text[GRID_TEXT];
	fprintf(out, "%s from the first work of %s to the end: the chain that decides it%s\n\n",
		grid_time_text(text, chain->length),
		chain->n_steps == 1 ? "the step" : "the steady steps",
		chain->n_steps == 1 ? "" : ", a step:");
	struct grid classes = {.columns = 3};
	for (int class = 0; class < PATH_CLASSES; class ++) {
		if (chain->classes[class] == 0)
			continue;
		grid_cell(&classes, "%s", path_class_names[class]);
		grid_time(&classes, a_step(chain, chain->classes[class]));
		grid_percent(&classes, chain->classes[class], chain->length);
	}
	grid_print(&classes, out, "  ");
	fputs("\nThe largest contributors, a step:\n\n", out);
	print_links(out, chain, rows);
	fprintf(out,
		"\n%.1f %% of the device's work of these steps is on the path; the rest has slack%s\n",
		100 * chain->work_on_path, chain->slack > 0 ? "," : ".");
	if (chain->slack > 0)
		fprintf(out, "half of it %s or more.\n", grid_time_text(text, chain->slack));
}

static void print_json(FILE *out, const struct hwy_chain *chain, uint64_t rows)
{
	struct hwy_json json = {.out = out, .pretty = true};
	json_begin_object(&json);
	json_put_int(&json, "steps", chain->n_steps);
	json_put_int(&json, "length_ns", chain->length);
	json_put_int(&json, "step_ns", chain->step);
	json_key(&json, "classes");
	json_begin_object(&json);
	for (int class = 0; class < PATH_CLASSES; class ++)
		json_put_int(&json, path_class_names[class], chain->classes[class]);
	json_end_object(&json);
	json_key(&json, "contributors");
	json_begin_array(&json);
	for (uint32_t i = 0; i < chain->n && i < rows; i++) {
		const struct chain_link *link = &chain->links[i];
		json_begin_object(&json);
		json_put_text(&json, "class", path_class_names[link->class]);
		json_put_text(&json, "name", link->name);
		json_put_text(&json, "place", link->place);
		json_put_int(&json, "time_ns", link->time);
		json_put_int(&json, "count", (int64_t)link->count);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_key(&json, "work_on_path");
	json_real(&json, chain->work_on_path, 4);
	json_put_int(&json, "median_slack_ns", chain->slack);
	json_end_object(&json);
	fputc('\n', out);
}

static int path_run(const struct wishes *wishes)
{
	cli_keep_input(wishes->path, wishes->output);
	struct cli_output output = cli_output_open(wishes->output, wishes->force);
	struct cli_phase phase;
	struct hwy_err err;
	cli_phase_open(&phase, wishes->path, wishes->mark, wishes->phase,
		       "there is no path through it");
	uint32_t n_steps = phase.analysis.phases.phases[phase.index].n_steps;
	if (wishes->has_step && wishes->step >= n_steps)
		cli_die("%s: the phase has steps 0 to %u", wishes->path, n_steps - 1);
	struct hwy_chain chain;
	int64_t step = wishes->has_step ? (int64_t)wishes->step : -1;
	if (!chain_find(&chain, &phase.analysis, phase.index, step, &err))
		cli_die("%s: %s", wishes->path, err.text);
	uint64_t rows = wishes->rows ? wishes->rows : wishes->json ? UINT64_MAX : 12;
	(wishes->json ? print_json : print_text)(output.out, &chain, rows);
	cli_output_close(&output);
	chain_free(&chain);
	cli_phase_close(&phase);
	return 0;
}

int cmd_path(int argc, char **argv)
{
	struct cli cli = {
		.command = "path",
		.usage = "headway path [options] FILE",
		.about =
			"The critical path: the one chain of CPU work, calls, latencies and device work that decides "
			"how long a step takes. Making anything else faster gains nothing.",
		.options = options,
		.footer = "Examples:\n"
			  "  headway path report1.hwy\n"
			  "  headway path --step 7 run.sqlite\n",
		.argc = argc,
		.argv = argv,
	};
	struct wishes wishes = {0};
	const char *value;
	for (int option; (option = cli_next(&cli, &value)) != CLI_END;)
		path_read_option(&cli, option, value, &wishes);
	if (!wishes.path)
		cli_misuse(&cli, "which file?");
	return path_run(&wishes);
}
