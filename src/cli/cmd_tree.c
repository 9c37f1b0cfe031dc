/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_tree.c - headway tree: the GPU's time by module, operator and kernel. */
#include <inttypes.h>
#include <stdio.h>

#include "base/lang.h"
#include "cli/commands.h"
#include "cli/phase.h"
#include "cli/tree_print.h"

#define MIN_SHARE 0.01 /* of the GPU time and of the idle time, by default */

struct options {
	const char *path, *output, *step;
	uint64_t step_number, phase, depth;
	double min_share;
	int64_t from, to;
	int by, format;
	bool force, each_layer;
};

static const char *const tree_formats[] = {"text", "json", "folded", NULL};
enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_FOLDED };

static const struct cli_option option_table[] = {
	{0, "by", "WHAT",
	 "what is above the operators: module (default; scopes and lines outside of modules), operator (nothing), line, or "
	 "scope (ranges, record_function, Optimizer.step)",
	 CLI_WORD, CLI_AT(by), .words = tree_by_names},
	{0, "each-layer", NULL,
	 "list numbered modules and scopes one by one; else layers of one class are one line: blocks.* ×32",
	 CLI_SWITCH, CLI_AT(each_layer)},
	{0, "depth", "N", "show N levels (default: all)", CLI_COUNT, CLI_AT(depth), .most = 1000},
	{0, "min-share", "SHARE",
	 "leave out what has less of the GPU time and of the idle time (default: 1%); text only",
	 CLI_SHARE, CLI_AT(min_share)},
	PHASE_OPTION,
	CLI_STEP,
	{0, "step-number", "N", "look only at step N of the phase, counted from 0", CLI_COUNT,
	 CLI_AT(step_number)},
	{0, "from", "TIME",
	 "look only at what happens from this time of the recording on (1.5s, 20ms, …)", CLI_TIME,
	 CLI_AT(from)},
	{0, "to", "TIME", "… and up to this time", CLI_TIME, CLI_AT(to)},
	CLI_FORMAT(tree_formats, "text (default), json, or folded: stacks and ns for flame graphs"),
	CLI_OUTPUT_BY_ENDING,
	CLI_FORCE,
	CLI_END_OF_OPTIONS,
};

static struct options tree_read_options(int argc, char **argv)
{
	struct options options = {.min_share = MIN_SHARE,
				  .step_number = CLI_NOT_GIVEN,
				  .from = HWY_NONE,
				  .to = HWY_NONE};
	cli_read(&cmd_tree, argc, argv, &options);
	if (!options.path)
		cli_misuse(&cmd_tree, "which file?");
	bool by_time = options.from != HWY_NONE || options.to != HWY_NONE;
	if (options.from != HWY_NONE && options.to != HWY_NONE && options.from >= options.to)
		cli_misuse(&cmd_tree, "--from must be before --to");
	if (by_time && (options.phase || options.step || options.step_number != CLI_NOT_GIVEN))
		cli_misuse(&cmd_tree, "give a phase or step, or --from and --to, not both");
	return options;
}

/* Sets the windows to the steady steps of the phase, or to one of its steps; 'what' says which. */
static void choose_steps(const struct options *options, const struct hwy_phases *phases,
			 struct tree_options *chosen, char *what, size_t size)
{
	if (phases->n == 0)
		cli_die("%s: no device work: there are no steps", options->path);
	if (options->phase > phases->n)
		cli_die("%s: has %u phase%s", options->path, phases->n, phases->n == 1 ? "" : "s");
	const struct hwy_phase *phase =
		&phases->phases[options->phase ? options->phase - 1 : phases->main];
	const struct phase_step *first = &phase->steps[phase->first_steady], *last;
	last = first + (phase->n_steady ? phase->n_steady - 1 : 0);
	if (options->step_number == CLI_NOT_GIVEN) {
		snprintf(what, size, hwy_tr("%" PRIu32 " steady step%s"), phase->n_steady,
			 phase->n_steady == 1 ? "" : "s");
		chosen->device = phase->window;
	} else {
		if (options->step_number >= phase->n_steps)
			cli_die("%s: the phase has steps 0 to %" PRIu32, options->path,
				phase->n_steps - 1);
		first = last = &phase->steps[options->step_number];
		snprintf(what, size, hwy_tr("step %" PRIu64 " of %" PRIu32), options->step_number,
			 phase->n_steps);
		chosen->device = first->device;
	}
	chosen->cpu = (struct hwy_interval){first->cpu.from, last->cpu.to};
}

static struct tree_options tree_choose(const struct options *options, const struct hwy_flow *flow,
				       char *what, size_t size)
{
	struct tree_options chosen = {.by = (enum tree_by)options->by,
				      .merges_layers = !options->each_layer,
				      .device = {options->from, options->to},
				      .cpu = {options->from, options->to}};
	if (!options->phase && !options->step && options->step_number == CLI_NOT_GIVEN)
		return chosen;
	struct phases_options how = {.step = options->step};
	struct hwy_phases phases;
	struct hwy_err err;
	if (!phases_find(flow, &how, &phases, &err))
		cli_die("%s: %s", options->path, err.text);
	choose_steps(options, &phases, &chosen, what, size);
	phases_free(&phases);
	return chosen;
}

static int run_tree(int argc, char **argv)
{
	struct options options = tree_read_options(argc, argv);
	cli_keep_input(options.path, options.output);
	struct cli_output output = cli_output_open(options.output, options.force);
	struct hwy_trace *trace = cli_open(options.path);
	struct hwy_flow flow;
	struct hwy_tree tree;
	struct hwy_err err;
	char what[64] = "";
	if (!flow_open(&flow, trace, &err))
		cli_die("%s: %s", options.path, err.text);
	struct tree_options chosen = tree_choose(&options, &flow, what, sizeof what);
	if (!tree_make(&tree, &flow, &chosen, &err))
		cli_die("%s: %s", options.path, err.text);
	struct tree_view view = {.trace = trace,
				 .tree = &tree,
				 .options = &chosen,
				 .path = options.path,
				 .what = what,
				 .depth = (uint32_t)options.depth,
				 .min_share = options.min_share};
	if (options.format == FORMAT_JSON)
		tree_print_json(output.out, &view);
	else if (options.format == FORMAT_FOLDED)
		tree_print_folded(output.out, &view);
	else
		tree_print_text(output.out, &view);
	cli_output_close(&output);
	tree_free(&tree);
	flow_close(&flow);
	hwy_trace_free(trace);
	return 0;
}

const struct cli_command cmd_tree = {
	.name = "tree",
	.summary = "the GPU's time by module, operator and kernel",
	.usage = "headway tree [options] FILE|JOB",
	.about =
		"Whose the GPU's time is: modules of the model, the operators that they called, and "
		"the kernels that these launched; with the CPU's time in operators and the idle "
		"time that each caused. Every kernel, copy and fill is in one place: the GPU time "
		"adds up to all of it. Kernels of the backward pass stand in the module of their "
		"forward operator, those of CUDA graphs where they were captured.",
	.options = option_table,
	.footer = "Examples:\n"
		  "  headway tree report1.hwy\n"
		  "  headway tree --phase 1 --depth 3 report1.hwy\n"
		  "  headway tree --by line trace.json.gz\n"
		  "  headway tree --format folded report1.hwy | flamegraph.pl > gpu.svg\n",
	.operands = CLI_FILE,
	.operands_offset = offsetof(struct options, path),
	.run = run_tree,
};
