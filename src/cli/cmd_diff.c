/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_diff.c - headway diff: did a change help, where, and is it more than noise. Exit status: 1
 * where the program became slower, 0 where it became faster, did not change, or no verdict is
 * possible. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/compare_print.h"
#include "cli/job_print.h"

static const char *const formats[] = {"text", "json", "markdown", "html", NULL};
static void (*const printers[])(FILE *, const struct compare_diff *) = {
	diff_print_text, diff_print_json, diff_print_markdown, diff_print_html};

struct options {
	struct cli_texts files;
	const char *output, *step;
	double run_noise;
	int format;
	bool force, halves;
};

static const struct cli_option option_table[] = {
	CLI_FORMAT(formats, "text (default), json, markdown or html"),
	CLI_OUTPUT_BY_ENDING,
	CLI_FORCE,
	CLI_STEP,
	COMPARE_RUN_NOISE,
	{0, "halves", NULL, "compare the two halves of one recording: does it drift while it runs?",
	 CLI_SWITCH, CLI_AT(halves)},
	CLI_END_OF_OPTIONS,
};

/* Yields how many files belong to the side "before". Exits with a misuse where the command line
 * does not say it. */
static uint32_t files_before(const struct options *options)
{
	uint32_t n = options->files.n, before = options->files.before_dashes;
	if (before == n) /* nothing follows "--" */
		before = 0;
	if (options->halves && n != 1)
		cli_misuse(&cmd_diff, "--halves takes one recording");
	if (!options->halves && n < 2)
		cli_misuse(&cmd_diff, "which two? before, then after");
	if (!options->halves && n > 2 && before == 0)
		cli_misuse(&cmd_diff,
			   "which of them are before? several runs a side stand around '--': A1 "
			   "A2 -- B1 B2");
	return before ? before : 1;
}

/* What follows "--" is a file, whatever it begins with: says so where somebody meant an option. */
static void check_options_after_dashes(const struct options *options)
{
	const struct cli_texts *files = &options->files;
	for (uint32_t i = files->before_dashes; i < files->n; i++)
		if (strncmp(files->texts[i], "--", 2) == 0 && access(files->texts[i], F_OK) != 0)
			cli_misuse(&cmd_diff, "%s: there is no such file; options go before '--'",
				   files->texts[i]);
}

static int run_diff(int argc, char **argv)
{
	struct options options = {.run_noise = STATISTICS_RUN_NOISE_BY_DRIFT};
	cli_read(&cmd_diff, argc, argv, &options);
	check_options_after_dashes(&options);
	uint32_t n_before = files_before(&options);
	const char **paths = options.files.texts;
	for (uint32_t i = 0; i < options.files.n; i++)
		cli_keep_input(paths[i], options.output);
	struct cli_output output = cli_output_open(options.output, options.force);
	struct compare_runs before = {0}, after = {0};
	if (options.halves)
		compare_open_halves(&before, &after, paths[0], options.step);
	for (uint32_t i = 0; !options.halves && i < options.files.n; i++)
		compare_open(i < n_before ? &before : &after, paths[i], options.step);
	struct compare_side a = compare_side(&before), b = compare_side(&after);
	struct compare_diff diff;
	struct hwy_err err;
	if (!(options.halves ? diff_make_halves : diff_make)(&diff, &a, &b, options.run_noise,
							     &err))
		cli_die("%s", err.text);
	/* NOLINTBEGIN(clang-analyzer-core.NullDereference): each side has a run */
	const struct job_answer *job_a = before.jobs[a.middle].answer;
	const struct job_answer *job_b = after.jobs[b.middle].answer;
	/* NOLINTEND(clang-analyzer-core.NullDereference) */
	struct job_diff jobs = {0};
	if (job_a && job_b) {
		jobs = job_diff_make(job_a, job_b);
		diff.jobs = &jobs;
	}
	printers[options.format](output.out, &diff);
	job_diff_free(&jobs);
	cli_output_close(&output);
	int status = diff.step.verdict == VERDICT_SLOWER;
	diff_free(&diff);
	compare_side_free(&a);
	compare_side_free(&b);
	compare_close(&before);
	compare_close(&after);
	free(paths);
	return status;
}

const struct cli_command cmd_diff = {
	.name = "diff",
	.summary = "two recordings: did it become faster, why, and is that sure",
	.usage = "headway diff [options] BEFORE AFTER\n"
		 "       headway diff [options] BEFORE… -- AFTER…",
	.about =
		"Says whether a program became faster, by how much and how sure that is, which "
		"state of the GPU the change comes from (the parts add up exactly), and whether "
		"it is what had been predicted. Each side is a recording, the folder of a job, several runs of the "
		"same program, or a baseline file. Of two jobs, the ranks are compared, too; of many ranks by their digests. Exit status 1 when it became slower.",
	.options = option_table,
	.footer =
		"Examples:\n"
		"  headway diff before.hwy after.hwy\n"
		"  headway diff a1.hwy a2.hwy a3.hwy -- b1.hwy b2.hwy b3.hwy   three runs a side: "
		"surer\n"
		"  headway diff job1 job2                  two jobs, rank by rank\n"
		"  headway diff --format json before.hwy after.hwy | jq .verdict\n",
	.operands = CLI_FILES,
	.operands_offset = offsetof(struct options, files),
	.status = "The program became slower.",
	.run = run_diff,
};
