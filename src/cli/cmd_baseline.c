/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_baseline.c - headway baseline: writes a small summary of some runs, to be kept in a
 * repository. */
#include <stdlib.h>

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
