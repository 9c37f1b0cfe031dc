/* cmd_breakdown.c - headway breakdown: where the GPUs' time went. */
#include <inttypes.h>

#include "cli/breakdown_print.h"
#include "cli/kit/cli.h"

enum { FORMAT, OUTPUT, FORCE, FROM, TO, DEVICE, KERNEL_WAIT, LATE, STREAMS, STEPS };

static const struct cli_option options[] = {
	[FORMAT] = {0, "format", "FORMAT", "text (default) or json"},
	[OUTPUT] = {'o', "output", "FILE", "write there instead of to standard output"},
	[FORCE] = {'f', "force", NULL, "overwrite that file if it exists"},
	[FROM] = {0, "from", "TIME",
		  "look only at what happens from this time of the recording on (1.5s, 20ms, …)"},
	[TO] = {0, "to", "TIME", "… and up to this time"},
	[DEVICE] = {0, "device", "N", "look only at GPU N"},
	[KERNEL_WAIT] =
		{0, "kernel-wait", "TIME",
		 "a stream's gap shorter than this is kernel wait, if the launch was in time (default: 30us)"},
	[LATE] = {0, "late", "TIME", "count launch delays above this (default: 100us)"},
	[STREAMS] = {0, "streams", NULL, "list every stream, not only the first ones"},
	[STEPS] = {0, "steps", NULL, "list every step, not only the first ones"},
	{0},
};

/* No GPU has a number as large as the one that larger ones become. */
static int64_t device_number(const struct cli *cli, const char *text)
{
	uint64_t number = cli_count(cli, "device", text);
	return number < INT32_MAX ? (int64_t)number : INT32_MAX;
}

struct wishes {
	struct hwy_breakdown_options options;
	const char *path, *output;
	bool json, force, all_streams, all_steps;
};

static void breakdown_read_option(const struct cli *cli, int option, const char *value,
				  struct wishes *wishes)
{
	static const char *const formats[] = {"text", "json", NULL};
	struct hwy_breakdown_options *wanted = &wishes->options;
	switch (option) {
	case FORMAT: wishes->json = cli_word(cli, "format", value, formats); break;
	case OUTPUT: wishes->output = value; break;
	case FORCE: wishes->force = true; break;
	case FROM: wanted->scope.from = cli_time(cli, "from", value); break;
	case TO: wanted->scope.to = cli_time(cli, "to", value); break;
	case DEVICE: wanted->scope.device = device_number(cli, value); break;
	case KERNEL_WAIT: wanted->kernel_wait = cli_length(cli, "kernel-wait", value); break;
	case LATE: wanted->late = cli_length(cli, "late", value); break;
	case STREAMS: wishes->all_streams = true; break;
	case STEPS: wishes->all_steps = true; break;
	default: cli_file(cli, &wishes->path, value);
	}
}

static struct wishes breakdown_read_wishes(struct cli *cli)
{
	struct wishes wishes = {.options = HWY_BREAKDOWN_DEFAULTS};
	const char *value;
	for (int option; (option = cli_next(cli, &value)) != CLI_END;)
		breakdown_read_option(cli, option, value, &wishes);
	if (!wishes.path)
		cli_misuse(cli, "which file?");
	const struct hwy_scope *scope = &wishes.options.scope;
	if (scope->from != HWY_NONE && scope->to != HWY_NONE && scope->from >= scope->to)
		cli_misuse(cli, "--from must be before --to");
	return wishes;
}

static void check_device(const struct hwy_trace *trace, const char *path, int64_t wanted)
{
	for (uint32_t d = 0; d < trace->n_devices; d++)
		if (trace->devices[d].ordinal == wanted)
			return;
	cli_die("%s: has no GPU %" PRId64, path, wanted);
}

int cmd_breakdown(int argc, char **argv)
{
	struct cli cli = {
		.command = "breakdown",
		.usage = "headway breakdown [options] FILE",
		.about =
			"Where the GPUs' time went, from the first device op to the last: busy and idle, compute, "
			"communication, copies and fills of every device; what each stream waited for; and for "
			"PyTorch traces the parts of every ProfilerStep.",
		.options = options,
		.footer = "Examples:\n"
			  "  headway breakdown trace.json.gz\n"
			  "  headway breakdown --from 1.2s --to 1.8s report.hwy\n"
			  "  headway breakdown --format json run.sqlite | jq .idle_ns\n",
		.argc = argc,
		.argv = argv,
	};
	struct wishes wishes = breakdown_read_wishes(&cli);
	cli_keep_input(wishes.path, wishes.output);
	struct cli_output output = cli_output_open(wishes.output, wishes.force);
	struct hwy_trace *trace = cli_open(wishes.path);
	if (wishes.options.scope.device != HWY_NONE)
		check_device(trace, wishes.path, wishes.options.scope.device);
	if (wishes.json)
		wishes.options.series = 512;
	else
		wishes.options.cells = BREAKDOWN_BAR;

	struct hwy_err err;
	struct hwy_breakdown breakdown;
	if (!breakdown_measure(trace, &wishes.options, &breakdown, &err))
		cli_die("%s", err.text);
	struct breakdown_view view = {
		.trace = trace,
		.breakdown = &breakdown,
		.options = &wishes.options,
		.path = wishes.path,
		.all_streams = wishes.all_streams,
		.all_steps = wishes.all_steps,
	};
	(wishes.json ? breakdown_print_json : breakdown_print_text)(output.out, &view);
	cli_output_close(&output);
	breakdown_free(&breakdown);
	hwy_trace_free(trace);
	return 0;
}
