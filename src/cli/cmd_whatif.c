/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_whatif.c - headway whatif: predicts how much faster a fix would make the program. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/lang.h"
#include "cli/commands.h"
#include "cli/opened_job.h"
#include "cli/phase.h"
#include "cli/recordings.h"
#include "cli/whatif_job.h"
#include "cli/whatif_print.h"

struct options {
	struct cli_texts files;
	const char *output, *step;
	struct whatif_edit *edits;
	uint32_t n_edits, cap_edits;
	uint64_t phase; /* number of the phase, from 1 on; 0: the phase that took longest */
	int format;
	bool force, check, list;
};

/* One edit with its arguments, such as "pin" or "remove-wait:train.py:23". */
static void read_edit(const struct cli_value *value)
{
	struct options *options = value->options;
	struct whatif_edit edit;
	if (!edit_read(value->text, &edit)) {
		char *id = strndup(value->text, strcspn(value->text, ":"));
		const char *ids[64] = {0};
		for (size_t i = 0; edit_kinds[i] && i < 63; i++)
			ids[i] = edit_kinds[i]->id;
		const char *near = cli_nearest(id, ids);
		if (near)
			cli_misuse(value->command, "there is no edit '%s'; did you mean '%s'?", id,
				   near);
		cli_misuse(value->command, "there is no edit '%s'; --list names them", id);
	}
	struct hwy_err err;
	if (edit.kind->check && !edit.kind->check(edit.arguments, &err))
		cli_misuse(value->command, "%s", err.text);
	HWY_GROW(options->edits, options->n_edits, options->cap_edits);
	options->edits[options->n_edits++] = edit;
}

/* An edit that stands where a recording is expected, without --apply. */
static void refuse_edits(const struct cli_texts *files)
{
	struct whatif_edit edit;
	for (uint32_t i = 0; i < files->n; i++)
		if (access(files->texts[i], F_OK) != 0 && edit_read(files->texts[i], &edit))
			cli_misuse(&cmd_whatif, "'%s' is an edit; did you mean '--apply %s'?",
				   files->texts[i], files->texts[i]);
}

static const char *edit_name(size_t i)
{
	return edit_kinds[i] ? edit_kinds[i]->id : NULL;
}

static const struct cli_option option_table[] = {
	{0, "apply", "EDIT[:ARGS]", "replay with this edit; several are combined", CLI_READ, 0,
	 .word = edit_name, .read = read_edit},
	{0, "list", NULL, "the edits there are", CLI_SWITCH, CLI_AT(list)},
	{0, "check", NULL,
	 "how well the graph explains the recording: in how much of the steady steps' time "
	 "something is held up by what it does not explain, and how well steps predict each other",
	 CLI_SWITCH, CLI_AT(check)},
	CLI_STEP,
	PHASE_OPTION,
	CLI_TEXT_OR_JSON,
	CLI_OUTPUT_BY_ENDING,
	CLI_FORCE,
	CLI_END_OF_OPTIONS,
};

static void list_edits(FILE *out)
{
	for (size_t i = 0; edit_kinds[i]; i++) {
		char text[64];
		snprintf(text, sizeof text, "%s%s", edit_kinds[i]->id, edit_kinds[i]->arguments);
		fprintf(out, "  %-28s  %s\n", text, hwy_tr(edit_kinds[i]->about));
	}
	fputs(hwy_tr("\nPLACE is file:line, a function, a range or the name of a call. 'headway whatif --help' "
		     "has examples for faster.\n"),
	      out);
}

/* ---- files ---------------------------------------------------------------------------------- */

struct opened {
	const char *path;
	int64_t rank;
	struct chosen_phase phase;
};

static int by_rank(const void *a, const void *b)
{
	const struct opened *x = a, *y = b;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Opens the recordings that have device work and yields how many; 0 where none has any.
 * *n_talking counts those that exchange messages. A launcher, or a rank that computes on the
 * CPU, has none: it is named on stderr and left out. */
static uint32_t open_working(const struct options *options, struct job_files *recordings,
			     struct opened **list, uint32_t *n_talking)
{
	struct hwy_trace **traces = recordings_open(recordings);
	uint32_t n = 0, n_recordings = recordings->n;
	struct opened *files = *list = hwy_array(n_recordings, sizeof *files);
	for (uint32_t i = 0; i < n_recordings; i++) {
		const char *path = recordings->files[i].name;
		struct opened *file = &files[n];
		file->path = path;
		*n_talking += traces[i]->n_messages > 0;
		if (!phase_choose(&file->phase, traces[i], path, options->step, options->phase)) {
			traces[i] = NULL;
			continue;
		}
		file->rank = job_rank_of(traces[i], path);
		n++;
	}
	for (uint32_t i = 0; i < n_recordings && n > 0; i++)
		if (!traces[i])
			fprintf(stderr, hwy_tr("headway: left out: %s: no device work\n"),
				recordings->files[i].name);
	free(traces);
	return n;
}

static struct opened *whatif_open_all(const struct options *options, struct job_files *recordings,
				      uint32_t *n_files, uint32_t *n_talking)
{
	struct opened *files;
	uint32_t n = *n_files = open_working(options, recordings, &files, n_talking);
	qsort(files, n, sizeof *files, by_rank);
	if (n > 1 && files[0].rank == HWY_NONE)
		cli_die("%s: neither the recording nor its name tells the rank, and several files "
			"are one of each rank",
			files[0].path);
	for (uint32_t i = 1; i < n; i++) {
		const char *why =
			job_differ(files[0].phase.analysis.trace, files[i].phase.analysis.trace);
		if (why)
			cli_die("%s and %s are not ranks of one job, %s: whatif takes one "
				"recording, or one of each rank",
				files[0].path, files[i].path, why);
		if (files[i].rank == files[i - 1].rank)
			cli_die("%s and %s are not of different ranks: whatif takes one recording, "
				"or one of each rank",
				files[i - 1].path, files[i].path);
	}
	return files;
}

/* Joins several recordings, each of one rank, to one run. */
static void join_files(struct joint *joint, struct opened *files, uint32_t n, bool all)
{
	struct joint_rank *ranks = hwy_array(n, sizeof *ranks);
	struct hwy_err err;
	for (uint32_t i = 0; i < n; i++)
		ranks[i] = (struct joint_rank){.rank = files[i].rank,
					       .analysis = &files[i].phase.analysis,
					       .phase = files[i].phase.index,
					       .process = FLOW_NO_PROCESS};
	if (!joint_open(joint, ranks, n, all, &err))
		cli_die("%s and %u more: %s", files[0].path, n - 1, err.text);
	free(ranks);
}

/* Joins the ranks inside one recording; false where it has one rank, or no collective joins
 * them. *shown is the index of the rank whose phase is looked at. */
static bool join_processes(struct joint *joint, struct chosen_phase *phase, bool all,
			   uint32_t *shown)
{
	uint32_t n;
	struct hwy_err ignored;
	struct joint_rank *ranks = joint_ranks_of(&phase->analysis, &n);
	uint32_t process = phase->analysis.phases.phases[phase->index].process;
	for (*shown = 0; ranks && *shown < n && ranks[*shown].process != process;)
		++*shown;
	bool is_rank = ranks && *shown < n;
	if (is_rank)
		ranks[*shown].phase = phase->index;
	is_rank = is_rank && joint_open(joint, ranks, n, all, &ignored);
	free(ranks);
	return is_rank;
}

/* No recording has device work: the ranks of a job are predicted as a whole. */
static void whatif_replay_cpus(const struct options *options, const struct job_files *recordings,
			       uint32_t n_talking, FILE *out)
{
	const struct cli_texts *files = &options->files;
	struct opened_job opened;
	struct hwy_err err;
	if (n_talking < 2 || options->check)
		cli_die("%s%s: no device work: nothing to replay", recordings->files[0].name,
			hwy_tr(recordings->n > 1 ? " and the others" : ""));
	opened_job_open(&opened, files->texts, files->n, options->step, options->phase);
	if (!whatif_job_print(out, &opened, options->edits, options->n_edits,
			      options->format == CLI_FORMAT_JSON, &err))
		cli_die("%s: %s", files->texts[0], err.text);
	opened_job_close(&opened);
}

static void whatif_replay(const struct options *options, struct job_files *recordings)
{
	for (uint32_t i = 0; i < recordings->n; i++)
		cli_keep_input(recordings->files[i].name, options->output);
	struct cli_output output = cli_output_open(options->output, options->force);
	struct hwy_err err;
	struct whatif alone;
	struct joint joint = {0};
	uint32_t n, n_talking = 0;
	struct opened *files = whatif_open_all(options, recordings, &n, &n_talking);
	if (n == 0) {
		whatif_replay_cpus(options, recordings, n_talking, output.out);
		cli_output_close(&output);
		free(files);
		return;
	}
	struct chosen_phase *phase = &files[0].phase;
	uint32_t shown = 0;
	bool is_joint = n > 1 || join_processes(&joint, phase, options->check, &shown);
	if (n > 1)
		join_files(&joint, files, n, options->check);
	if (!is_joint && !whatif_open(&alone, &phase->analysis, phase->index, options->check, &err))
		cli_die("%s: %s", files[0].path, err.text);
	struct whatif_view view = {.w = is_joint ? &joint.ranks[shown] : &alone,
				   .check = options->check};
	whatif_view_doubt(&view, &phase->analysis);
	if (options->n_edits > 0 &&
	    !whatif_view_apply(&view, options->edits, options->n_edits, &err))
		cli_die("%s: %s", files[0].path, err.text);
	if (options->n_edits == 0 && !options->check &&
	    !whatif_view_try(&view, &phase->analysis, &err))
		cli_die("%s: %s", files[0].path, err.text);
	(options->format == CLI_FORMAT_JSON ? whatif_print_json : whatif_print_text)(output.out,
										     &view);
	cli_output_close(&output);
	whatif_view_free(&view);
	if (is_joint)
		joint_close(&joint);
	else
		whatif_close(&alone);
	for (uint32_t i = 0; i < n; i++)
		phase_close(&files[i].phase);
	free(files);
}

static int run_whatif(int argc, char **argv)
{
	struct options options = {0};
	cli_read(&cmd_whatif, argc, argv, &options);
	refuse_edits(&options.files);
	if (!options.list && options.files.n == 0)
		cli_misuse(&cmd_whatif, "which file?");
	if (options.list) {
		list_edits(stdout);
	} else {
		struct job_files recordings = recordings_find(&options.files);
		whatif_replay(&options, &recordings);
		job_files_free(&recordings);
	}
	free(options.edits);
	free(options.files.texts);
	return 0;
}

const struct cli_command cmd_whatif = {
	.name = "whatif",
	.summary = "what a fix would be worth: the program replayed with it",
	.usage = "headway whatif [options] FILE…",
	.about =
		"What a fix would be worth: the recording's dependency graph is edited as the fix "
		"would change it, and replayed. Predictions are for the program without a "
		"profiler. Without --apply the edits of all findings are tried, alone and one "
		"after the other. Files of different ranks are one graph, joined by their "
		"collectives and messages, and edits are made on all of them; a folder stands for "
		"the recordings in it. What has no device work is left out and named; a job without any "
		"is predicted as a whole.",
	.options = option_table,
	.footer =
		"Examples:\n"
		"  headway whatif report1.hwy\n"
		"  headway whatif --apply remove-wait:train.py:23 report1.hwy\n"
		"  headway whatif --apply pin --apply streams:4 run.sqlite\n"
		"  headway whatif --check trace.json.gz\n"
		"  headway whatif --apply straggler traces/      one file a rank\n"
		"\n"
		"What 'faster' takes:\n"
		"  faster:gemm:30   kernels and ranges with 'gemm' in their name take 30 % less time\n"
		"  faster:gpu:20    all kernels and copies take 20 % less time\n"
		"  faster:cpu:50    all code on the CPU takes 50 % less time; so does faster:cpu=2\n"
		"  faster:gemm_k=2  the one kernel with 'gemm_k' in its name is twice as fast\n"
		"  faster:gemm_k    that kernel is as fast as its device allows: its roof\n",
	.operands = CLI_FILES,
	.operands_offset = offsetof(struct options, files),
	.run = run_whatif,
};
