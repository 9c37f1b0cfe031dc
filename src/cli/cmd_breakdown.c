/* cmd_breakdown.c - headway breakdown: where the GPUs' time went. */
#include <stdlib.h>
#include <string.h>

#include "cli/breakdown.h"
#include "cli/cli.h"

enum { FORMAT, OUTPUT, FORCE, FROM, TO, DEVICE, KERNEL_WAIT, LATE, STREAMS, STEPS };

static const struct cli_option options[] = {
	[FORMAT] = {0, "format", "text|json", "how to print (default: text)"},
	[OUTPUT] = {'o', "output", "FILE", "write to FILE instead of the terminal"},
	[FORCE] = {'f', "force", NULL, "overwrite FILE"},
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

static int64_t device_number(const struct cli *cli, const char *text)
{
	char *end;
	long number = strtol(text, &end, 10);
	if (end == text || *end || number < 0 || number > INT32_MAX)
		cli_misuse(cli, "--device: '%s' is not the number of a GPU", text);
	return number;
}

static bool is_json(const struct cli *cli, const char *format)
{
	if (strcmp(format, "json") == 0)
		return true;
	if (strcmp(format, "text") != 0)
		cli_misuse(cli, "--format: '%s' is neither text nor json", format);
	return false;
}

struct wishes {
	struct hwy_breakdown_options options;
	const char *path, *output;
	bool json, force, all_streams, all_steps;
};

static void read_option(const struct cli *cli, int option, const char *value, struct wishes *wishes)
{
	struct hwy_breakdown_options *wanted = &wishes->options;
	switch (option) {
	case FORMAT: wishes->json = is_json(cli, value); break;
	case OUTPUT: wishes->output = value; break;
	case FORCE: wishes->force = true; break;
	case FROM: wanted->scope.from = cli_time(cli, "--from", value); break;
	case TO: wanted->scope.to = cli_time(cli, "--to", value); break;
	case DEVICE: wanted->scope.device = device_number(cli, value); break;
	case KERNEL_WAIT: wanted->kernel_wait = cli_time(cli, "--kernel-wait", value); break;
	case LATE: wanted->late = cli_time(cli, "--late", value); break;
	case STREAMS: wishes->all_streams = true; break;
	case STEPS: wishes->all_steps = true; break;
	default: /* an operand */
		if (wishes->path)
			cli_misuse(cli, "one file at a time: '%s' comes after '%s'", value,
				   wishes->path);
		wishes->path = value;
	}
}

static struct wishes read_wishes(struct cli *cli)
{
	struct wishes wishes = {.options = HWY_BREAKDOWN_DEFAULTS};
	const char *value;
	for (int option; (option = cli_next(cli, &value)) != CLI_END;)
		read_option(cli, option, value, &wishes);
	if (!wishes.path)
		cli_misuse(cli, "which file?");
	const struct hwy_scope *scope = &wishes.options.scope;
	if (scope->from != HWY_NONE && scope->to != HWY_NONE && scope->from >= scope->to)
		cli_misuse(cli, "--from must come before --to");
	return wishes;
}

static void check_device(const struct hwy_trace *trace, const char *path, int64_t wanted)
{
	for (uint32_t d = 0; d < trace->n_devices; d++)
		if (trace->devices[d].ordinal == wanted)
			return;
	cli_die("%s: has no GPU %ld", path, (long)wanted);
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
	struct wishes wishes = read_wishes(&cli);
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
	struct cli_output output = cli_output_open(wishes.output, wishes.force);
	(wishes.json ? breakdown_print_json : breakdown_print_text)(output.out, &view);
	cli_output_close(&output);
	breakdown_free(&breakdown);
	hwy_trace_free(trace);
	return 0;
}
