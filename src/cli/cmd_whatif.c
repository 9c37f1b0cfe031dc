/* cmd_whatif.c - headway whatif: what a fix would be worth. */
#include <stdlib.h>
#include <string.h>

#include "cli/kit/cli.h"
#include "cli/phase.h"
#include "cli/recordings.h"
#include "cli/whatif_print.h"

enum { APPLY, LIST, CHECK, STEP, PHASE, FORMAT, OUTPUT, FORCE };

static const struct cli_option options[] = {
	[APPLY] = {0, "apply", "EDIT[:ARGS]", "replay with this edit; several are combined"},
	[LIST] = {0, "list", NULL, "the edits there are"},
	[CHECK] =
		{0, "check", NULL,
		 "how well the graph explains the recording: in how much of the steady steps' time "
		 "something is held up by what it does not explain, and how well steps predict each other"},
	[STEP] = {0, "step", "NAME", "the ranges that mark steps"},
	[PHASE] = {0, "phase", "N", "look at phase N (default: the one that took longest)"},
	[FORMAT] = {0, "format", "FORMAT", "text (default) or json"},
	[OUTPUT] = {'o', "output", "FILE", "write there instead of to standard output"},
	[FORCE] = {'f', "force", NULL, "overwrite that file if it exists"},
	{0},
};

struct wishes {
	struct cli_paths paths;
	const char *output, *step;
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
	struct hwy_err err;
	if (edit.kind->check && !edit.kind->check(edit.arguments, &err))
		cli_misuse(cli, "%s", err.text);
	return edit;
}

static void whatif_read_option(struct cli *cli, int option, const char *value,
			       struct wishes *wishes)
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
	default: cli_paths_add(&wishes->paths, value);
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

/* ---- files ------------------------------------------------------------------------------------- */

struct opened {
	const char *path;
	int64_t rank;
	struct cli_phase phase;
};

static int by_rank(const void *a, const void *b)
{
	const struct opened *x = a, *y = b;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Those with device work: a launcher or a rank on the CPU has none, and is named and left out. Yields how many. */
static uint32_t open_working(struct wishes *wishes, struct opened **list)
{
	struct hwy_trace **traces = cli_paths_open(&wishes->paths);
	uint32_t n = 0, n_paths = wishes->paths.n;
	struct opened *files = *list = hwy_alloc(n_paths * sizeof *files);
	for (uint32_t i = 0; i < n_paths; i++) {
		const char *path = wishes->paths.at[i].name;
		struct opened *file = &files[n];
		file->path = path;
		if (!cli_phase_of(&file->phase, traces[i], path, wishes->step, wishes->phase)) {
			traces[i] = NULL;
			continue;
		}
		file->rank = cli_rank(traces[i], path);
		n++;
	}
	if (n == 0)
		cli_die("%s%s: no device work: nothing to replay", wishes->paths.at[0].name,
			n_paths > 1 ? " and the others" : "");
	for (uint32_t i = 0; i < n_paths; i++)
		if (!traces[i])
			fprintf(stderr, "headway: left out: %s: no device work\n",
				wishes->paths.at[i].name);
	free(traces);
	return n;
}

static struct opened *whatif_open_all(struct wishes *wishes, uint32_t *n_files)
{
	struct opened *files;
	uint32_t n = *n_files = open_working(wishes, &files);
	qsort(files, n, sizeof *files, by_rank);
	if (n > 1 && files[0].rank == HWY_NONE)
		cli_die("%s: neither the recording nor its name tells the rank, and several files are "
			"one of each rank",
			files[0].path);
	for (uint32_t i = 1; i < n; i++)
		if (files[i].rank == files[i - 1].rank)
			cli_die("%s and %s are not of different ranks: whatif takes one recording, or "
				"one of each rank",
				files[i - 1].path, files[i].path);
	return files;
}

/* The ranks of several files. */
static void join_files(struct joint *joint, struct opened *files, uint32_t n, bool all)
{
	struct joint_rank *ranks = hwy_alloc(n * sizeof *ranks);
	struct hwy_err err;
	for (uint32_t i = 0; i < n; i++)
		ranks[i] = (struct joint_rank){files[i].rank, &files[i].phase.analysis,
					       files[i].phase.index, FLOW_NO_PROCESS};
	if (!joint_open(joint, ranks, n, all, &err))
		cli_die("%s and %u more: %s", files[0].path, n - 1, err.text);
	free(ranks);
}

/* The ranks inside one file; false where there are not several, or they never meet. *at: whose phase it is. */
static bool join_processes(struct joint *joint, struct cli_phase *phase, bool all, uint32_t *at)
{
	uint32_t n;
	struct hwy_err ignored;
	struct joint_rank *ranks = joint_ranks_of(&phase->analysis, &n);
	uint32_t process = phase->analysis.phases.phases[phase->index].process;
	for (*at = 0; ranks && *at < n && ranks[*at].process != process;)
		++*at;
	bool is_rank = ranks && *at < n;
	if (is_rank)
		ranks[*at].phase = phase->index;
	is_rank = is_rank && joint_open(joint, ranks, n, all, &ignored);
	free(ranks);
	return is_rank;
}

static int whatif_run(struct wishes *wishes)
{
	for (uint32_t i = 0; i < wishes->paths.n; i++)
		cli_keep_input(wishes->paths.at[i].name, wishes->output);
	struct cli_output output = cli_output_open(wishes->output, wishes->force);
	struct hwy_err err;
	struct whatif alone;
	struct joint joint = {0};
	uint32_t n;
	struct opened *files = whatif_open_all(wishes, &n);
	struct cli_phase *phase = &files[0].phase;
	uint32_t at = 0;
	bool is_joint = n > 1 || join_processes(&joint, phase, wishes->check, &at);
	if (n > 1)
		join_files(&joint, files, n, wishes->check);
	if (!is_joint && !whatif_open(&alone, &phase->analysis, phase->index, wishes->check, &err))
		cli_die("%s: %s", files[0].path, err.text);
	struct whatif_view view = {.w = is_joint ? &joint.ranks[at] : &alone,
				   .check = wishes->check};
	if (wishes->n_edits > 0 && !whatif_view_apply(&view, wishes->edits, wishes->n_edits, &err))
		cli_die("%s: %s", files[0].path, err.text);
	if (wishes->n_edits == 0 && !wishes->check &&
	    !whatif_view_try(&view, &phase->analysis, &err))
		cli_die("%s: %s", files[0].path, err.text);
	(wishes->json ? whatif_print_json : whatif_print_text)(output.out, &view);
	cli_output_close(&output);
	whatif_view_free(&view);
	if (is_joint)
		joint_close(&joint);
	else
		whatif_close(&alone);
	for (uint32_t i = 0; i < n; i++)
		cli_phase_close(&files[i].phase);
	free(files);
	return 0;
}

int cmd_whatif(int argc, char **argv)
{
	struct cli cli = {
		.command = "whatif",
		.usage = "headway whatif [options] FILE…",
		.about =
			"What a fix would be worth: the recording's dependency graph is edited as the fix would "
			"change it, and replayed. Predictions are for the program without a profiler. Without "
			"--apply the edits of all findings are tried, alone and one after the other. Files of "
			"different ranks are one graph, joined by their collectives, and edits are made on all of "
			"them; a folder stands for the recordings in it. What has no device work is left out and "
			"named.",
		.options = options,
		.footer = "Examples:\n"
			  "  headway whatif report1.hwy\n"
			  "  headway whatif --apply remove-wait:train.py:23 report1.hwy\n"
			  "  headway whatif --apply pin --apply streams:4 run.sqlite\n"
			  "  headway whatif --check trace.json.gz\n"
			  "  headway whatif --apply straggler traces/      one file a rank\n",
		.argc = argc,
		.argv = argv,
	};
	struct wishes wishes = {0};
	const char *value;
	for (int option; (option = cli_next(&cli, &value)) != CLI_END;)
		whatif_read_option(&cli, option, value, &wishes);
	if (wishes.list) {
		list_edits(stdout);
		return 0;
	}
	if (wishes.paths.n == 0)
		cli_misuse(&cli, "which file?");
	int status = whatif_run(&wishes);
	free(wishes.edits);
	cli_paths_free(&wishes.paths);
	return status;
}
