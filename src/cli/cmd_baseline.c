/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_baseline.c - headway baseline: writes a small summary of some runs, to be kept in a
 * repository. */
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/say.h"
#include "cli/commands.h"
#include "cli/compare_print.h"

struct options {
	struct cli_texts files;
	const char *output, *step;
	bool force;
};

static const struct cli_option option_table[] = {
	CLI_OUTPUT,
	CLI_FORCE,
	CLI_STEP,
	CLI_END_OF_OPTIONS,
};

/* Runs whose medians differ by more than this share do not show how fast the program is. */
static const double far_apart = 0.2;

/* Writes the stable metrics that each run has as options of gate: " --metric copies.bytes". */
static void name_stable(char *text, size_t size, const struct compare_runs *runs)
{
	static const char *const names[] = {"launches_per_step", "kernels_per_step",
					    "syncs_per_step", "copies.bytes"};
	size_t n = 0;
	*text = '\0';
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct hwy_arena arena = {0};
		struct hwy_err err;
		struct metric_request metric;
		bool has = metric_find(&metric, names[i], strlen(names[i]), NULL, &arena, &err);
		for (uint32_t k = 0; k < runs->n && has; k++) {
			double value;
			has = metric_value(&metric, &runs->runs[k], &runs->runs[k].phases[0],
					   &value, &err) &&
			      value > 0;
		}
		if (has && n < size)
			n += (size_t)snprintf(text + n, size - n, " --metric %s", names[i]);
		hwy_arena_free(&arena);
	}
}

/* Says what was written to a file, and where the runs differ so much that their times are no
 * measure. */
static void say_what_it_holds(const char *path, const struct compare_runs *runs)
{
	const struct compare_summary *first = &runs->runs[0];
	int64_t least = INT64_MAX, most = 0;
	for (uint32_t i = 0; i < runs->n; i++) {
		int64_t step = runs->runs[i].phases[0].p50;
		least = step < least ? step : least;
		most = step > most ? step : most;
	}
	bool is_file = path && strcmp(path, "-") != 0;
	const char *program = *first->program ? first->program : "?";
	if (is_file && runs->n == 1)
		cli_say("%s: one run of %s, a step takes %s", path, program,
			hwy_say_time3(most).text);
	else if (is_file)
		cli_say("%s: %u runs of %s, a step takes %s … %s", path, runs->n, program,
			hwy_say_time3(least).text, hwy_say_time3(most).text);
	if ((double)most <= (1 + far_apart) * (double)least)
		return;
	char stable[160];
	name_stable(stable, sizeof stable, runs);
	cli_say("the runs differ by a factor of %.1f: as a baseline of times they let slowdowns pass; record them on an idle machine, or gate only what no clock changes:%s",
		(double)most / (double)(least > 0 ? least : 1), stable);
}

static int run_baseline(int argc, char **argv)
{
	struct options options = {0};
	cli_read(&cmd_baseline, argc, argv, &options);
	if (options.files.n == 0)
		cli_misuse(&cmd_baseline, "which file?");
	for (uint32_t i = 0; i < options.files.n; i++)
		cli_keep_input(options.files.texts[i], options.output);
	struct cli_output output = cli_output_open(options.output, options.force);
	struct compare_runs runs = {0};
	for (uint32_t i = 0; i < options.files.n; i++)
		compare_open(&runs, options.files.texts[i], options.step);
	summary_write(output.out, runs.runs, runs.n);
	cli_output_close(&output);
	say_what_it_holds(options.output, &runs);
	compare_close(&runs);
	free(options.files.texts);
	return 0;
}

const struct cli_command cmd_baseline = {
	.name = "baseline",
	.summary = "the small summary of some runs that diff and gate take",
	.usage = "headway baseline [options] FILE…",
	.about = "Writes what gate and diff need of some runs of a program: step times, states of "
		 "the GPU, counts, kernels, findings with their predictions. A few kB of JSON and "
		 "no trace: it can be kept beside the program and stand wherever a recording can. "
		 "Three or more runs make comparisons surer.",
	.options = option_table,
	.footer = "Examples:\n"
		  "  headway baseline -o baseline.json run1.hwy run2.hwy run3.hwy\n"
		  "  headway gate --baseline baseline.json new.hwy\n",
	.operands = CLI_FILES,
	.operands_offset = offsetof(struct options, files),
	.run = run_baseline,
};
