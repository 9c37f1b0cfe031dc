/* cmd_diff.c - headway diff: did it help, where, and is it real. Exit status: 0 faster, the same or not told, 1 slower. */
#include <stdlib.h>
#include <string.h>

#include "cli/compare_print.h"
#include "cli/kit/cli.h"

enum { FORMAT, OUTPUT, FORCE, STEP, RUN_NOISE, HALVES };
static const struct cli_option options[] = {
	[FORMAT] = {0, "format", "FORMAT", "text (default), json, markdown or html"},
	[OUTPUT] = {'o', "output", "FILE", "write there instead of to standard output"},
	[FORCE] = {'f', "force", NULL, "overwrite that file if it exists"},
	[STEP] = {0, "step", "NAME",
		  "the marks that delimit steps: 'step_', 'ProfilerStep#', any range that repeats"},
	[RUN_NOISE] =
		{0, "run-noise", "SHARE",
		 "how far a run's mean commonly lies from the program's, assumed with fewer than "
		 "three runs a side (default: 2%)"},
	[HALVES] = {0, "halves", NULL,
		    "compare the two halves of one recording: does it drift while it runs?"},
	{0},
};

static const char *const formats[] = {"text", "json", "markdown", "html", NULL};
static void (*const printers[])(FILE *, const struct compare_diff *) = {
	diff_print_text, diff_print_json, diff_print_markdown, diff_print_html};

struct wishes {
	const char **paths;
	uint32_t n, cap;
	uint32_t before; /* how many of them; 0: no "--" was there */
	const char *output, *step;
	double run_noise;
	int format;
	bool force, halves;
};

/* "A1 A2 -- B1 B2": cli_next takes "--" for the end of the options, so it is looked for here. */
static struct wishes diff_read_wishes(struct cli *cli)
{
	struct wishes wishes = {.run_noise = STATISTICS_RUN_NOISE};
	const char *value;
	for (int option; (option = cli_next(cli, &value)) != CLI_END;)
		switch (option) {
		case FORMAT: wishes.format = cli_word(cli, "format", value, formats); break;
		case OUTPUT: wishes.output = value; break;
		case FORCE: wishes.force = true; break;
		case STEP: wishes.step = value; break;
		case RUN_NOISE: wishes.run_noise = compare_share(cli, "run-noise", value); break;
		case HALVES: wishes.halves = true; break;
		default:
			if (cli->at >= 2 && cli->operands_only && wishes.before == 0 &&
			    wishes.n > 0 && strcmp(cli->argv[cli->at - 2], "--") == 0)
				wishes.before = wishes.n;
			HWY_GROW(wishes.paths, wishes.n, wishes.cap);
			wishes.paths[wishes.n++] = value;
		}
	if (wishes.halves && wishes.n != 1)
		cli_misuse(cli, "--halves takes one recording");
	if (!wishes.halves && wishes.n < 2)
		cli_misuse(cli, "which two? before, then after");
	if (!wishes.halves && wishes.n > 2 && wishes.before == 0)
		cli_misuse(
			cli,
			"which of them are before? several runs a side stand around '--': A1 A2 -- B1 B2");
	if (wishes.before == 0)
		wishes.before = 1;
	return wishes;
}

int cmd_diff(int argc, char **argv)
{
	struct cli cli = {
		.command = "diff",
		.usage = "headway diff [options] BEFORE AFTER\n"
			 "       headway diff [options] BEFORE… -- AFTER…",
		.about =
			"Says whether a program became faster, by how much and how sure that is, which state of the GPU the "
			"change comes from (the parts add up exactly), and whether it is what had been predicted. Each side "
			"is a recording, several runs of the same program, or a baseline file. Exit status 1 when it became "
			"slower.",
		.options = options,
		.footer =
			"Examples:\n"
			"  headway diff before.hwy after.hwy\n"
			"  headway diff a1.hwy a2.hwy a3.hwy -- b1.hwy b2.hwy b3.hwy   three runs a side: surer\n"
			"  headway diff --format json before.hwy after.hwy | jq .verdict\n",
		.argc = argc,
		.argv = argv,
	};
	struct wishes wishes = diff_read_wishes(&cli);
	for (uint32_t i = 0; i < wishes.n; i++)
		cli_keep_input(wishes.paths[i], wishes.output);
	struct cli_output output = cli_output_open(wishes.output, wishes.force);
	struct compare_runs before = {0}, after = {0};
	if (wishes.halves)
		compare_open_halves(&before, &after, wishes.paths[0], wishes.step);
	for (uint32_t i = 0; !wishes.halves && i < wishes.n; i++)
		compare_open(i < wishes.before ? &before : &after, wishes.paths[i], wishes.step);
	struct compare_side a = compare_side(&before), b = compare_side(&after);
	struct compare_diff diff;
	struct hwy_err err;
	if (!(wishes.halves ? diff_make_halves : diff_make)(&diff, &a, &b, wishes.run_noise, &err))
		cli_die("%s", err.text);
	printers[wishes.format](output.out, &diff);
	cli_output_close(&output);
	int status = diff.step.verdict == VERDICT_SLOWER;
	diff_free(&diff);
	compare_side_free(&a);
	compare_side_free(&b);
	compare_close(&before);
	compare_close(&after);
	free(wishes.paths);
	return status;
}
