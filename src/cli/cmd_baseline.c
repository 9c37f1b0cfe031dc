/* cmd_baseline.c - headway baseline: the small summary of some runs, to be kept in a repository. */
#include <stdlib.h>

#include "cli/compare_print.h"
#include "cli/kit/cli.h"

enum { OUTPUT, FORCE, STEP };
static const struct cli_option options[] = {
	[OUTPUT] = {'o', "output", "FILE", "write there instead of to standard output"},
	[FORCE] = {'f', "force", NULL, "overwrite that file if it exists"},
	[STEP] = {0, "step", "NAME",
		  "the marks that delimit steps: 'step_', 'ProfilerStep#', any range that repeats"},
	{0},
};

int cmd_baseline(int argc, char **argv)
{
	struct cli cli = {
		.command = "baseline",
		.usage = "headway baseline [options] FILE…",
		.about =
			"Writes what gate and diff need of some runs of a program: step times, states of the GPU, counts, "
			"kernels, findings with their predictions. A few kB of JSON and no trace: it can be kept beside the "
			"program and stand wherever a recording can. Three or more runs make comparisons surer.",
		.options = options,
		.footer = "Examples:\n"
			  "  headway baseline -o baseline.json run1.hwy run2.hwy run3.hwy\n"
			  "  headway gate --baseline baseline.json new.hwy\n",
		.argc = argc,
		.argv = argv,
	};
	const char *output_path = NULL, *step = NULL, *value;
	const char **paths = NULL;
	uint32_t n = 0, cap = 0;
	bool force = false;
	for (int option; (option = cli_next(&cli, &value)) != CLI_END;)
		switch (option) {
		case OUTPUT: output_path = value; break;
		case FORCE: force = true; break;
		case STEP: step = value; break;
		default: HWY_GROW(paths, n, cap); paths[n++] = value;
		}
	if (n == 0)
		cli_misuse(&cli, "which file?");
	for (uint32_t i = 0; i < n; i++)
		cli_keep_input(paths[i], output_path);
	struct cli_output output = cli_output_open(output_path, force);
	struct compare_runs runs = {0};
	for (uint32_t i = 0; i < n; i++)
		compare_open(&runs, paths[i], step);
	summary_write(output.out, runs.runs, runs.n);
	cli_output_close(&output);
	compare_close(&runs);
	free(paths);
	return 0;
}
