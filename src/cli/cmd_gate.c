/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_gate.c - headway gate: a check for CI. Exit status: 0 where the run passes, 1 where it
 * does not, 2 where steps, metrics or a readable file are missing and no verdict is possible. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "cli/commands.h"
#include "cli/compare_print.h"

static const char *const formats[] = {"text", "markdown", "junit", "json", NULL};
static void (*const printers[])(FILE *, const struct compare_gate *) = {
	gate_print_text, gate_print_markdown, gate_print_junit, gate_print_json};

static const char *metric_name(size_t i)
{
	return metrics[i].name;
}

struct options {
	struct cli_texts files, baselines, metrics;
	const char *budget, *output, *step, *junit, *summary;
	double limit, run_noise;
	int format;
	bool force, strict, list;
};

static const struct cli_option option_table[] = {
	{0, "baseline", "FILE",
	 "the recording or baseline file to compare with; may be given several times", CLI_TEXTS,
	 CLI_AT(baselines)},
	{0, "max-regression", "SHARE", "how much worse than the baseline may be (default: 3%)",
	 CLI_SHARE, CLI_AT(limit)},
	{0, "metric", "NAME",
	 "what to compare (default: step.p50, and syncs_per_step and copies.bytes where the baseline has them); may be given several times",
	 CLI_TEXTS, CLI_AT(metrics), .word = metric_name},
	{0, "budget", "FILE", "rules that must hold: step.p50 <= 12ms, gpu.busy >= 90% …", CLI_TEXT,
	 CLI_AT(budget)},
	{0, "strict", NULL, "what cannot be told does not pass", CLI_SWITCH, CLI_AT(strict)},
	CLI_FORMAT(formats, "text (default), markdown, junit or json"),
	CLI_OUTPUT_BY_ENDING,
	CLI_FORCE,
	{0, "junit", "FILE", "write JUnit XML there too", CLI_TEXT, CLI_AT(junit)},
	{0, "summary", "FILE", "append Markdown there too: \"$GITHUB_STEP_SUMMARY\"", CLI_TEXT,
	 CLI_AT(summary)},
	CLI_STEP,
	COMPARE_RUN_NOISE,
	{0, "list", NULL, "name the metrics", CLI_SWITCH, CLI_AT(list)},
	CLI_END_OF_OPTIONS,
};

static void gate_check_options(const struct options *options)
{
	if (options->files.n == 0)
		cli_misuse(&cmd_gate, "which file?");
	if (options->baselines.n == 0 && !options->budget)
		cli_misuse(&cmd_gate, "against what? --baseline FILE, or --budget FILE");
	if (options->metrics.n > 0 && options->baselines.n == 0)
		cli_misuse(&cmd_gate, "--metric is for --baseline; a budget names its own");
}

static void list_metric(const char *name, bool is_stable, const char *about)
{
	printf("  %-26s ", name);
	cli_put_column(stdout, is_stable ? hwy_tr("stable") : "", 7);
	printf(" %s\n", hwy_tr(about));
}

static int list_metrics(void)
{
	for (const struct metric *metric = metrics; metric->name; metric++)
		list_metric(metric->name, metric->is_stable, metric->about);
	list_metric("kernel[\"NAME\"].mean", false,
		    HWY_KEY("time of a launch of the kernels with NAME in their name"));
	list_metric("kernel[\"NAME\"].time", false, HWY_KEY("their time a step"));
	list_metric("kernel[\"NAME\"].count", true, HWY_KEY("their launches a step"));
	list_metric("kernel[\"NAME\"].share", true, HWY_KEY("their share of all kernels' time"));
	list_metric("findings.forbid = [\"ID\"]", true,
		    HWY_KEY("budgets only: findings there must not be"));
	puts(hwy_tr("\nStable ones do not depend on the clock of the machine."));
	return 0;
}

/* ---- budgets and baselines ------------------------------------------------------------------ */

static void read_budget(struct compare_budget *budget, const char *path)
{
	enum { LARGEST_BYTES = 1 << 20 };
	FILE *file = fopen(path, "rb");
	if (!file)
		cli_die("%s: cannot be opened: %s", path, hwy_strerror(errno));
	char *text = hwy_alloc(LARGEST_BYTES);
	size_t n = fread(text, 1, LARGEST_BYTES, file);
	if (ferror(file) || n == LARGEST_BYTES)
		cli_die("%s: %s", path,
			hwy_tr(n == LARGEST_BYTES ? "too large for a budget" : "cannot be read"));
	fclose(file);
	struct hwy_err err;
	if (!budget_read(budget, path, text, n, cli_nearest, &err))
		cli_die("%s", err.text);
	free(text);
}

static void hold_budget(struct compare_gate *gate, const struct compare_budget *budget,
			struct compare_runs *runs)
{
	struct hwy_err err;
	struct compare_side side = compare_side(runs);
	if (!gate_budget(gate, budget, &side, &err))
		cli_die("%s", err.text);
	compare_side_free(&side);
}

/* What is compared where nobody says it: the median step, which a few long steps do not move,
 * and the counts that no clock can change, where the baseline has any. Yields how many metrics
 * it put. */
static uint32_t default_metrics(const struct compare_diff *diff, const char **names)
{
	static const char *const exact[] = {"syncs_per_step", "copies.bytes"};
	uint32_t n = 0;
	names[n++] = "step.p50";
	if (diff->counts[COUNT_WAITS].before > 0)
		names[n++] = exact[0];
	if (diff->counts[COUNT_COPY_BYTES].before > 0)
		names[n++] = exact[1];
	return n;
}

static void hold_baseline(struct compare_gate *gate, struct compare_diff *diff,
			  const struct options *options)
{
	struct hwy_err err;
	const char *defaults[3];
	uint32_t n = options->metrics.n ? options->metrics.n : default_metrics(diff, defaults);
	const char *const *names = options->metrics.n ? options->metrics.texts : defaults;
	struct metric_request *found = hwy_arena_array(&gate->arena, n, sizeof *found);
	for (uint32_t i = 0; i < n; i++)
		if (!metric_find(&found[i], names[i], strlen(names[i]), cli_nearest, &gate->arena,
				 &err))
			cli_die("%s", err.text);
	if (diff_is_other_program(diff))
		cli_die("%s: a baseline of another program: '%s', not '%s'",
			side_run(diff->before)->file,
			*side_run(diff->before)->program ? side_run(diff->before)->program
							 : "unnamed",
			*side_run(diff->after)->program ? side_run(diff->after)->program
							: "unnamed");
	if (!gate_baseline(gate, diff, found, n, options->limit, &err))
		cli_die("%s", err.text);
}

static void print_all(const struct compare_gate *gate, const struct options *options,
		      struct cli_output *output)
{
	printers[options->format](output->out, gate);
	cli_output_close(output);
	if (options->junit) {
		struct cli_output junit = cli_output_open(options->junit, options->force);
		gate_print_junit(junit.out, gate);
		cli_output_close(&junit);
	}
	if (options->summary && *options->summary) {
		int fd = open(options->summary, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
		FILE *summary = fd < 0 ? NULL : fdopen(fd, "a");
		if (!summary)
			cli_die("%s: cannot be opened: %s", options->summary, hwy_strerror(errno));
		gate_print_markdown(summary, gate);
		if (fclose(summary) != 0)
			cli_die("%s: cannot be written: %s", options->summary, hwy_strerror(errno));
	}
}

static int gate_compare(const struct options *options)
{
	struct compare_budget budget = {0};
	if (options->budget)
		read_budget(&budget, options->budget);
	for (uint32_t i = 0; i < options->files.n; i++)
		cli_keep_input(options->files.texts[i], options->output);
	struct cli_output output = cli_output_open(options->output, options->force);
	const char *step = options->step ? options->step : budget.step;
	struct compare_runs before = {0}, after = {0};
	for (uint32_t i = 0; i < options->baselines.n; i++)
		compare_open(&before, options->baselines.texts[i], step);
	for (uint32_t i = 0; i < options->files.n; i++)
		compare_open(&after, options->files.texts[i], step);
	struct compare_gate gate = {.subject = options->files.texts[0],
				    .against = options->baselines.n ? options->baselines.texts[0]
								    : options->budget,
				    .strict = options->strict};
	struct compare_side a = compare_side(&before), b = compare_side(&after);
	struct compare_diff diff = {0};
	struct hwy_err err;
	if (options->baselines.n) {
		if (!diff_make(&diff, &a, &b, options->run_noise, &err))
			cli_die("%s", err.text);
		hold_baseline(&gate, &diff, options);
	}
	if (options->budget)
		hold_budget(&gate, &budget, &after);
	print_all(&gate, options, &output);
	int status = gate.failed;
	gate_free(&gate);
	diff_free(&diff);
	budget_free(&budget);
	compare_side_free(&a);
	compare_side_free(&b);
	compare_close(&before);
	compare_close(&after);
	return status;
}

static int run_gate(int argc, char **argv)
{
	struct options options = {.limit = 0.03, .run_noise = STATISTICS_RUN_NOISE_BY_DRIFT};
	cli_read(&cmd_gate, argc, argv, &options);
	if (!options.list)
		gate_check_options(&options);
	int status = options.list ? list_metrics() : gate_compare(&options);
	free(options.files.texts);
	free(options.baselines.texts);
	free(options.metrics.texts);
	return status;
}

const struct cli_command cmd_gate = {
	.name = "gate",
	.summary = "a check for CI: against a baseline, or against a budget",
	.usage = "headway gate --baseline FILE [options] FILE…\n"
		 "       headway gate --budget FILE [options] FILE…",
	.about = "A check for CI. Against a baseline it fails when a regression is statistically "
		 "real and above the limit; against a budget, when a rule does not hold. Exit "
		 "status 0: passes, 1: does not, 2: could not be checked. docs/ci.md has examples "
		 "and says which metrics to trust on shared machines.",
	.options = option_table,
	.footer =
		"Examples:\n"
		"  headway gate --baseline main.json --max-regression 3% pr.hwy\n"
		"  headway gate --baseline main.json --metric step.p50 --metric syncs_per_step "
		"pr.hwy\n"
		"  headway gate --budget headway.toml --summary \"$GITHUB_STEP_SUMMARY\" run.hwy\n",
	.operands = CLI_FILES,
	.operands_offset = offsetof(struct options, files),
	.status = "The run does not pass.",
	.run = run_gate,
};
