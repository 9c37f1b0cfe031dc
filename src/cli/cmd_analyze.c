/* cmd_analyze.c - headway analyze: what holds the program back, where, what it costs, and what is innocent.
 *
 * Several files are ranks of one run when their ranks differ, else runs of one program, of which the one with
 * the middle step time is shown.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "cli/analyze_print.h"
#include "cli/html_page.h"
#include "cli/kit/cli.h"
#include "cli/recordings.h"

enum { FORMAT, OUTPUT, FORCE, STEP, MAX_SIZE, VERBOSE };
static const struct cli_option options[] = {
	[FORMAT] = {0, "format", "FORMAT",
		    "text (default), brief (under 2 kB, for scripts and language models), json, "
		    "markdown or html (the page of headway view --html)"},
	[OUTPUT] = {'o', "output", "FILE", "write there instead of to standard output"},
	[FORCE] = {'f', "force", NULL, "overwrite that file if it exists"},
	[STEP] = {0, "step", "NAME",
		  "the marks that delimit steps: 'step_', 'ProfilerStep#', any range that repeats"},
	[MAX_SIZE] = {0, "max-size", "MB", PAGE_SIZE_HELP},
	[VERBOSE] = {'v', "verbose", NULL, "show the evidence: all places, causes, outlier steps"},
	{0},
};

static void analyze_page(FILE *out, const struct analyze_view *view)
{
	page_write(out, view, 1, view->max_mb);
}

/* A new face: its name and its printer, which gets everything in one view (analyze_print.h). */
static const char *const formats[] = {"text", "brief", "json", "markdown", "html", NULL};
static void (*const printers[])(FILE *, const struct analyze_view *) = {
	analyze_print_text, analyze_print_brief, analyze_print_json, analyze_print_markdown,
	analyze_page};

struct wishes {
	struct cli_paths paths;
	const char *output, *step;
	int format;
	uint64_t max_mb;
	bool force, verbose;
};

static struct wishes analyze_read_wishes(struct cli *cli)
{
	struct wishes wishes = {0};
	const char *value;
	for (int option; (option = cli_next(cli, &value)) != CLI_END;)
		switch (option) {
		case FORMAT: wishes.format = cli_word(cli, "format", value, formats); break;
		case OUTPUT: wishes.output = value; break;
		case FORCE: wishes.force = true; break;
		case STEP: wishes.step = value; break;
		case MAX_SIZE: wishes.max_mb = page_size(cli, value); break;
		case VERBOSE: wishes.verbose = true; break;
		default: cli_paths_add(&wishes.paths, value);
		}
	if (wishes.paths.n == 0)
		cli_misuse(cli, "which file?");
	return wishes;
}

/* ---- ranks ------------------------------------------------------------------------------------- */

static int compare_ranks(const void *a, const void *b)
{
	const struct analyze_run *x = a, *y = b;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

static int64_t step_time(const struct analyze_run *run)
{
	const struct hwy_phase *phase = analyze_main(run);
	return phase ? phase->mean : 0;
}

static int compare_times(const void *a, const void *b)
{
	int64_t x = step_time(a), y = step_time(b);
	return (x > y) - (x < y);
}

static bool communicates(const struct analyze_run *run)
{
	const struct hwy_flow *flow = &run->analysis.flow;
	uint32_t i = 0;
	while (i < flow->n_ops && flow->ops[i].class != HWY_COMM)
		i++;
	return i < flow->n_ops;
}

static void analyze_choose(struct analyze_view *view)
{
	for (uint32_t i = 1; i < view->n; i++)
		view->are_ranks |= view->runs[i].rank != view->runs[0].rank;
	if (!view->are_ranks) {
		qsort(view->runs, view->n, sizeof *view->runs, compare_times);
		view->shown = (view->n - 1) / 2;
		return;
	}
	qsort(view->runs, view->n, sizeof *view->runs, compare_ranks);
	struct joint_rank *ranks = hwy_alloc(view->n * sizeof *ranks);
	uint32_t n = 0, at = 0;
	bool meets = false;
	for (uint32_t i = 0; i < view->n; i++) {
		struct analyze_run *run = &view->runs[i];
		if (!analyze_main(run) || (n > 0 && run->rank == ranks[n - 1].rank))
			continue;
		/* The first with device work, or rather with collectives: a straggler costs nobody else. */
		if (n == 0 || (!meets && communicates(run))) {
			view->shown = i;
			at = n;
			meets = communicates(run);
		}
		ranks[n++] = (struct joint_rank){run->rank, &run->analysis,
						 run->analysis.phases.main, FLOW_NO_PROCESS};
	}
	diagnose_ranks(ranks, n, at, &view->runs[view->shown].diagnosis);
	free(ranks);
}

/* ---- the command ------------------------------------------------------------------------------- */

static void analyze_look_at(struct analyze_run *run, const char *step)
{
	struct hwy_err err;
	struct analysis_options wanted = {.step = step, .cells = ANALYZE_POINTS};
	if (!analysis_make(&run->analysis, run->trace, &wanted, &err) ||
	    !diagnose(&run->analysis, &run->diagnosis, &err))
		cli_die("%s: %s", run->path, err.text);
	run->rank = cli_rank(run->trace, run->path);
}

void analyze_open(struct analyze_run *run, const char *path, const char *step)
{
	*run = (struct analyze_run){.path = path, .trace = cli_open(path)};
	analyze_look_at(run, step);
}

static void open_runs(struct analyze_view *view, struct wishes *wishes)
{
	struct hwy_trace **traces = cli_paths_open(&wishes->paths);
	view->n = wishes->paths.n;
	view->runs = hwy_zalloc(view->n * sizeof *view->runs);
	for (uint32_t i = 0; i < view->n; i++) {
		view->runs[i].path = wishes->paths.at[i].name;
		view->runs[i].trace = traces[i];
		analyze_look_at(&view->runs[i], wishes->step);
	}
	free(traces);
}

void analyze_close(struct analyze_run *run)
{
	diagnosis_free(&run->diagnosis);
	analysis_free(&run->analysis);
	hwy_trace_free(run->trace);
}

int cmd_analyze(int argc, char **argv)
{
	struct cli cli = {
		.command = "analyze",
		.usage = "headway analyze [options] FILE…",
		.about =
			"Says what holds the program back: why the GPU idles, which lines are to blame, what that costs "
			"each step, what to do about it, and which suspects are innocent. Files of different ranks are "
			"compared; files of one rank, or of none, are runs of one program. A folder stands for the "
			"recordings in it; what cannot be read there is left out and named.",
		.options = options,
		.footer = "Examples:\n"
			  "  headway analyze report1.hwy\n"
			  "  headway analyze --format json run.sqlite | jq '.findings[0]'\n"
			  "  headway analyze --format html -o page.html report1.hwy\n"
			  "  headway analyze traces/            one file a rank: who is late?\n",
		.argc = argc,
		.argv = argv,
	};
	struct wishes wishes = analyze_read_wishes(&cli);
	for (uint32_t i = 0; i < wishes.paths.n; i++)
		cli_keep_input(wishes.paths.at[i].name, wishes.output);
	struct cli_output output = cli_output_open(wishes.output, wishes.force);
	struct analyze_view view = {
		.verbose = wishes.verbose,
		.max_mb = wishes.max_mb,
		.utf8 = cli_utf8(),
		.colour = cli_colour(output.out),
		.width = cli_width(output.out),
	};
	open_runs(&view, &wishes);
	analyze_choose(&view);
	printers[wishes.format](output.out, &view);
	cli_output_close(&output);
	for (uint32_t i = 0; i < view.n; i++)
		analyze_close(&view.runs[i]);
	free(view.runs);
	cli_paths_free(&wishes.paths);
	return 0;
}
