/* cmd_whatif.c - headway whatif: what a fix would be worth. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/phase.h"
#include "cli/whatif.h"

enum { APPLY, LIST, CHECK, STEP, PHASE, FORMAT, OUTPUT, FORCE };

static const struct cli_option options[] = {
	[APPLY] = {0, "apply", "EDIT[:ARGS]", "replay with this edit; several are combined"},
	[LIST] = {0, "list", NULL, "the edits there are"},
	[CHECK] =
		{0, "check", NULL,
		 "how well the graph explains the recording: what it cannot explain, and how well steps "
		 "predict each other"},
	[STEP] = {0, "step", "NAME", "the ranges that mark steps"},
	[PHASE] = {0, "phase", "N", "look at phase N (default: the one that took longest)"},
	[FORMAT] = {0, "format", "FORMAT", "text (default) or json"},
	[OUTPUT] = {'o', "output", "FILE", "write there instead of to standard output"},
	[FORCE] = {'f', "force", NULL, "overwrite that file if it exists"},
	{0},
};

struct wishes {
	const char *path, *output, *step;
	struct whatif_edit *edits;
	uint32_t n_edits, cap_edits;
	uint64_t phase; /* from 1; 0: the longest */
	bool json, force, check, list;
};

/* "pin", "remove-wait:train.py:23" */
static struct whatif_edit read_edit(const struct cli *cli, const char *text)
{
	struct whatif_edit edit;
	if (!edit_read(text, &edit)) {
		char *id = strndup(text, strcspn(text, ":"));
		const char *known[64] = {0};
		for (size_t i = 0; edit_kinds[i] && i < 63; i++)
			known[i] = edit_kinds[i]->id;
		const char *near = cli_nearest(id, known);
		if (near)
			cli_misuse(cli, "there is no edit '%s'; did you mean '%s'?", id, near);
		cli_misuse(cli, "there is no edit '%s'; --list names them", id);
	}
	return edit;
}

static void read_option(struct cli *cli, int option, const char *value, struct wishes *wishes)
{
	static const char *const formats[] = {"text", "json", NULL};
	switch (option) {
	case APPLY:
		HWY_GROW(wishes->edits, wishes->n_edits, wishes->cap_edits);
		wishes->edits[wishes->n_edits++] = read_edit(cli, value);
		break;
	case LIST: wishes->list = true; break;
	case CHECK: wishes->check = true; break;
	case STEP: wishes->step = value; break;
	case PHASE: wishes->phase = cli_phase_number(cli, value); break;
	case FORMAT: wishes->json = cli_word(cli, "format", value, formats); break;
	case OUTPUT: wishes->output = value; break;
	case FORCE: wishes->force = true; break;
	default: cli_file(cli, &wishes->path, value);
	}
}

static void list_edits(FILE *out)
{
	for (size_t i = 0; edit_kinds[i]; i++) {
		char text[64];
		snprintf(text, sizeof text, "%s%s", edit_kinds[i]->id, edit_kinds[i]->arguments);
		fprintf(out, "  %-28s  %s\n", text, edit_kinds[i]->about);
	}
	fputs("\nPLACE is file:line, a function, a range or the name of a call.\n", out);
}

static int run(const struct wishes *wishes)
{
	cli_keep_input(wishes->path, wishes->output);
	struct cli_output output = cli_output_open(wishes->output, wishes->force);
	struct cli_phase phase;
	struct hwy_err err;
	struct whatif w;
	cli_phase_open(&phase, wishes->path, wishes->step, wishes->phase, "nothing to replay");
	if (!whatif_open(&w, &phase.analysis, phase.index, wishes->check, &err))
		cli_die("%s: %s", wishes->path, err.text);
	struct whatif_view view = {.w = &w, .path = wishes->path, .check = wishes->check};
	if (wishes->n_edits > 0 && !whatif_view_apply(&view, wishes->edits, wishes->n_edits, &err))
		cli_die("%s: %s", wishes->path, err.text);
	if (wishes->n_edits == 0 && !wishes->check &&
	    !whatif_view_try(&view, &phase.analysis, &err))
		cli_die("%s: %s", wishes->path, err.text);
	(wishes->json ? whatif_print_json : whatif_print_text)(output.out, &view);
	cli_output_close(&output);
	whatif_view_free(&view);
	whatif_close(&w);
	cli_phase_close(&phase);
	return 0;
}

int cmd_whatif(int argc, char **argv)
{
	struct cli cli = {
		.command = "whatif",
		.usage = "headway whatif [options] FILE",
		.about =
			"What a fix would be worth: the recording's dependency graph is edited as the fix would "
			"change it, and replayed. Predictions are for the program without a profiler. Without "
			"--apply the edits of all findings are tried, alone and one after the other.",
		.options = options,
		.footer = "Examples:\n"
			  "  headway whatif report1.hwy\n"
			  "  headway whatif --apply remove-wait:train.py:23 report1.hwy\n"
			  "  headway whatif --apply pin --apply streams:4 run.sqlite\n"
			  "  headway whatif --check trace.json.gz\n",
		.argc = argc,
		.argv = argv,
	};
	struct wishes wishes = {0};
	const char *value;
	for (int option; (option = cli_next(&cli, &value)) != CLI_END;)
		read_option(&cli, option, value, &wishes);
	if (wishes.list) {
		list_edits(stdout);
		return 0;
	}
	if (!wishes.path)
		cli_misuse(&cli, "which file?");
	int status = run(&wishes);
	free(wishes.edits);
	return status;
}
