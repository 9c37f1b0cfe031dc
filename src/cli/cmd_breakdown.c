/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_breakdown.c - headway breakdown: how the GPUs spent their time. */
#include <inttypes.h>

#include "cli/breakdown_print.h"
#include "cli/commands.h"

struct options {
	struct hwy_breakdown_options measured;
	const char *path, *output;
	int format;
	bool force, all_streams, all_steps;
};

/* Reads the number of a GPU. Numbers above INT32_MAX become INT32_MAX, which no GPU has. */
static void read_device(const struct cli_value *value)
{
	uint64_t number = cli_count(value);
	*(int64_t *)value->field = number < INT32_MAX ? (int64_t)number : INT32_MAX;
}

static const struct cli_option option_table[] = {
	CLI_TEXT_OR_JSON,
	CLI_OUTPUT_BY_ENDING,
	CLI_FORCE,
	{0, "from", "TIME",
	 "look only at what happens from this time of the recording on (1.5s, 20ms, …)", CLI_TIME,
	 CLI_AT(measured.scope.from)},
	{0, "to", "TIME", "… and up to this time", CLI_TIME, CLI_AT(measured.scope.to)},
	{0, "device", "N", "look only at GPU N", CLI_READ, CLI_AT(measured.scope.device),
	 .read = read_device},
	{0, "kernel-wait", "TIME",
	 "a stream's gap shorter than this is kernel wait, if the launch was in time (default: "
	 "30us)",
	 CLI_LENGTH, CLI_AT(measured.kernel_wait)},
	{0, "late", "TIME", "count launch delays above this (default: 100us)", CLI_LENGTH,
	 CLI_AT(measured.late)},
	{0, "all-streams", NULL, "list every stream, not only the first ones", CLI_SWITCH,
	 CLI_AT(all_streams)},
	{0, "all-steps", NULL, "list every step, not only the first ones", CLI_SWITCH,
	 CLI_AT(all_steps)},
	CLI_OLD_NAME("streams", "all-streams"),
	CLI_OLD_NAME("steps", "all-steps"),
	CLI_END_OF_OPTIONS,
};

static struct options breakdown_read_options(int argc, char **argv)
{
	struct options options = {.measured = HWY_BREAKDOWN_DEFAULTS};
	cli_read(&cmd_breakdown, argc, argv, &options);
	if (!options.path)
		cli_misuse(&cmd_breakdown, "which file?");
	const struct hwy_scope *scope = &options.measured.scope;
	if (scope->from != HWY_NONE && scope->to != HWY_NONE && scope->from >= scope->to)
		cli_misuse(&cmd_breakdown, "--from must be before --to");
	return options;
}

static void check_device(const struct hwy_trace *trace, const char *path, int64_t wanted)
{
	for (uint32_t d = 0; d < trace->n_devices; d++)
		if (trace->devices[d].ordinal == wanted)
			return;
	cli_die("%s: has no GPU %" PRId64, path, wanted);
}

static int run_breakdown(int argc, char **argv)
{
	struct options options = breakdown_read_options(argc, argv);
	cli_keep_input(options.path, options.output);
	struct cli_output output = cli_output_open(options.output, options.force);
	struct hwy_trace *trace = cli_open(options.path);
	if (options.measured.scope.device != HWY_NONE)
		check_device(trace, options.path, options.measured.scope.device);
	bool json = options.format == CLI_FORMAT_JSON;
	if (json)
		options.measured.series = 512;
	else
		options.measured.cells = BREAKDOWN_BAR;

	struct hwy_err err;
	struct hwy_breakdown breakdown;
	if (!breakdown_measure(trace, &options.measured, &breakdown, &err))
		cli_die("%s", err.text);
	struct breakdown_view view = {
		.trace = trace,
		.breakdown = &breakdown,
		.options = &options.measured,
		.path = options.path,
		.all_streams = options.all_streams,
		.all_steps = options.all_steps,
	};
	(json ? breakdown_print_json : breakdown_print_text)(output.out, &view);
	cli_output_close(&output);
	breakdown_free(&breakdown);
	hwy_trace_free(trace);
	return 0;
}

const struct cli_command cmd_breakdown = {
	.name = "breakdown",
	.summary = "where the device's time goes: compute, communication, copies, idle",
	.usage = "headway breakdown [options] FILE|JOB",
	.about = "Where the GPUs' time went, from the first device op to the last: busy and idle, "
		 "compute, communication, copies and fills of every device; what each stream "
		 "waited for; and for PyTorch traces the parts of every ProfilerStep.",
	.options = option_table,
	.footer = "Examples:\n"
		  "  headway breakdown trace.json.gz\n"
		  "  headway breakdown --from 1.2s --to 1.8s report.hwy\n"
		  "  headway breakdown --format json run.sqlite | jq .idle_ns\n",
	.operands = CLI_FILE,
	.operands_offset = offsetof(struct options, path),
	.run = run_breakdown,
};
