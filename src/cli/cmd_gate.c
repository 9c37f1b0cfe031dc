/* cmd_gate.c - headway gate: a check for CI. Exit status: 0 passes, 1 does not, 2 could not be told for want of
 * steps, metrics, or a readable file. */
#include <stdlib.h>
#include <string.h>

#include "cli/compare_print.h"
#include "cli/kit/cli.h"

enum {
	BASELINE,
	MAX_REGRESSION,
	METRIC,
	BUDGET,
	STRICT,
	FORMAT,
	OUTPUT,
	FORCE,
	STEP,
	RUN_NOISE,
	JUNIT,
	SUMMARY,
	LIST
};
static const struct cli_option options[] = {
	[BASELINE] = {0, "baseline", "FILE",
		      "the recording or baseline file to compare with; may be given several times"},
	[MAX_REGRESSION] = {0, "max-regression", "SHARE",
			    "how much worse than the baseline may be (default: 3%)"},
	[METRIC] = {0, "metric", "NAME",
		    "what to compare (default: step.mean); may be given several times"},
	[BUDGET] = {0, "budget", "FILE",
		    "rules that must hold: step.p50 <= 12ms, gpu.busy >= 90% …"},
	[STRICT] = {0, "strict", NULL, "what cannot be told does not pass"},
	[FORMAT] = {0, "format", "FORMAT", "text (default), markdown, junit or json"},
	[OUTPUT] = {'o', "output", "FILE", "write there instead of to standard output"},
	[FORCE] = {'f', "force", NULL, "overwrite files that exist"},
	[JUNIT] = {0, "junit", "FILE", "write JUnit XML there too"},
	[SUMMARY] = {0, "summary", "FILE", "append Markdown there too: \"$GITHUB_STEP_SUMMARY\""},
	[STEP] = {0, "step", "NAME",
		  "the marks that delimit steps: 'step_', 'ProfilerStep#', any range that repeats"},
	[RUN_NOISE] =
		{0, "run-noise", "SHARE",
		 "how far a run's mean commonly lies from the program's, assumed with fewer than "
		 "three runs a side (default: 2%)"},
	[LIST] = {0, "list", NULL, "name the metrics"},
	{0},
};

static const char *const formats[] = {"text", "markdown", "junit", "json", NULL};
static void (*const printers[])(FILE *, const struct compare_gate *) = {
	gate_print_text, gate_print_markdown, gate_print_junit, gate_print_json};

struct wishes {
	const char **paths, **baselines, **metrics;
	uint32_t n, cap, n_baselines, cap_baselines, n_metrics, cap_metrics;
	const char *budget, *output, *step, *junit, *summary;
	double limit, run_noise;
	int format;
	bool force, strict, list;
};

static void gate_read_option(const struct cli *cli, int option, const char *value,
			     struct wishes *wishes)
{
	switch (option) {
	case BASELINE:
		HWY_GROW(wishes->baselines, wishes->n_baselines, wishes->cap_baselines);
		wishes->baselines[wishes->n_baselines++] = value;
		break;
	case METRIC:
		HWY_GROW(wishes->metrics, wishes->n_metrics, wishes->cap_metrics);
		wishes->metrics[wishes->n_metrics++] = value;
		break;
	case MAX_REGRESSION: wishes->limit = compare_share(cli, "max-regression", value); break;
	case RUN_NOISE: wishes->run_noise = compare_share(cli, "run-noise", value); break;
	case BUDGET: wishes->budget = value; break;
	case STRICT: wishes->strict = true; break;
	case FORMAT: wishes->format = cli_word(cli, "format", value, formats); break;
	case OUTPUT: wishes->output = value; break;
	case FORCE: wishes->force = true; break;
	case JUNIT: wishes->junit = value; break;
	case SUMMARY: wishes->summary = value; break;
	case STEP: wishes->step = value; break;
	case LIST: wishes->list = true; break;
	default:
		HWY_GROW(wishes->paths, wishes->n, wishes->cap);
		wishes->paths[wishes->n++] = value;
	}
}

static struct wishes gate_read_wishes(struct cli *cli)
{
	struct wishes wishes = {.limit = 0.03, .run_noise = STATISTICS_RUN_NOISE};
	const char *value;
	for (int option; (option = cli_next(cli, &value)) != CLI_END;)
		gate_read_option(cli, option, value, &wishes);
	if (wishes.list)
		return wishes;
	if (wishes.n == 0)
		cli_misuse(cli, "which file?");
	if (wishes.n_baselines == 0 && !wishes.budget)
		cli_misuse(cli, "against what? --baseline FILE, or --budget FILE");
	if (wishes.n_metrics > 0 && wishes.n_baselines == 0)
		cli_misuse(cli, "--metric is for --baseline; a budget names its own");
	return wishes;
}

static void list_metric(const char *name, bool is_stable, const char *about)
{
	printf("  %-26s %-7s %s\n", name, is_stable ? "stable" : "", about);
}

static int list_metrics(void)
{
	for (const struct metric *metric = metrics; metric->name; metric++)
		list_metric(metric->name, metric->is_stable, metric->about);
	list_metric("kernel[\"NAME\"].mean", false,
		    "time of a launch of the kernels with NAME in their name");
	list_metric("kernel[\"NAME\"].time", false, "their time a step");
	list_metric("kernel[\"NAME\"].count", true, "their launches a step");
	list_metric("kernel[\"NAME\"].share", true, "their share of all kernels' time");
	list_metric("findings.forbid = [\"ID\"]", true, "budgets only: findings there must not be");
	puts("\nStable ones do not depend on the clock of the machine.");
	return 0;
}

/* ---- the two ways ---------------------------------------------------------------------------------- */

static void read_budget(struct compare_budget *budget, const char *path)
{
	enum { LARGEST = 1 << 20 };
	FILE *file = fopen(path, "rb");
	if (!file)
		cli_die("%s: cannot be opened: %m", path);
	char *text = hwy_alloc(LARGEST);
	size_t n = fread(text, 1, LARGEST, file);
	if (ferror(file) || n == LARGEST)
		cli_die("%s: %s", path, n == LARGEST ? "too large for a budget" : "cannot be read");
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

static void hold_baseline(struct compare_gate *gate, struct compare_diff *diff,
			  const struct wishes *wishes)
{
	struct hwy_err err;
	static const char *const step[] = {"step.mean"};
	uint32_t n = wishes->n_metrics ? wishes->n_metrics : 1;
	const char *const *names = wishes->n_metrics ? wishes->metrics : step;
	struct metric_wish *found = hwy_arena_alloc(&gate->arena, n * sizeof *found);
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
	if (!gate_baseline(gate, diff, found, n, wishes->limit, &err))
		cli_die("%s", err.text);
}

static void print_all(const struct compare_gate *gate, const struct wishes *wishes,
		      struct cli_output *output)
{
	printers[wishes->format](output->out, gate);
	cli_output_close(output);
	if (wishes->junit) {
		struct cli_output junit = cli_output_open(wishes->junit, wishes->force);
		gate_print_junit(junit.out, gate);
		cli_output_close(&junit);
	}
	if (wishes->summary && *wishes->summary) {
		FILE *summary = fopen(wishes->summary, "a");
		if (!summary)
			cli_die("%s: cannot be opened: %m", wishes->summary);
		gate_print_markdown(summary, gate);
		if (fclose(summary) != 0)
			cli_die("%s: cannot be written: %m", wishes->summary);
	}
}

static int gate_run(const struct wishes *wishes)
{
	struct compare_budget budget = {0};
	if (wishes->budget)
		read_budget(&budget, wishes->budget);
	for (uint32_t i = 0; i < wishes->n; i++)
		cli_keep_input(wishes->paths[i], wishes->output);
	struct cli_output output = cli_output_open(wishes->output, wishes->force);
	const char *step = wishes->step ? wishes->step : budget.step;
	struct compare_runs before = {0}, after = {0};
	for (uint32_t i = 0; i < wishes->n_baselines; i++)
		compare_open(&before, wishes->baselines[i], step);
	for (uint32_t i = 0; i < wishes->n; i++)
		compare_open(&after, wishes->paths[i], step);
	struct compare_gate gate = {.subject = wishes->paths[0],
				    .against = wishes->n_baselines ? wishes->baselines[0]
								   : wishes->budget,
				    .strict = wishes->strict};
	struct compare_side a = compare_side(&before), b = compare_side(&after);
	struct compare_diff diff = {0};
	struct hwy_err err;
	if (wishes->n_baselines) {
		if (!diff_make(&diff, &a, &b, wishes->run_noise, &err))
			cli_die("%s", err.text);
		hold_baseline(&gate, &diff, wishes);
	}
	if (wishes->budget)
		hold_budget(&gate, &budget, &after);
	print_all(&gate, wishes, &output);
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

int cmd_gate(int argc, char **argv)
{
	struct cli cli = {
		.command = "gate",
		.usage = "headway gate --baseline FILE [options] FILE…\n"
			 "       headway gate --budget FILE [options] FILE…",
		.about =
			"A check for CI. Against a baseline it fails when a regression is statistically real and above the "
			"limit; against a budget, when a rule does not hold. Exit status 0: passes, 1: does not, 2: could "
			"not be checked. docs/ci.md has examples and says which metrics to trust on shared machines.",
		.options = options,
		.footer =
			"Examples:\n"
			"  headway gate --baseline main.json --max-regression 3% pr.hwy\n"
			"  headway gate --baseline main.json --metric step.p50 --metric syncs_per_step pr.hwy\n"
			"  headway gate --budget headway.toml --summary \"$GITHUB_STEP_SUMMARY\" run.hwy\n",
		.argc = argc,
		.argv = argv,
	};
	struct wishes wishes = gate_read_wishes(&cli);
	int status = wishes.list ? list_metrics() : gate_run(&wishes);
	free(wishes.paths);
	free(wishes.baselines);
	free(wishes.metrics);
	return status;
}
