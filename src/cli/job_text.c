/* SPDX-License-Identifier: Apache-2.0 */
/* job_text.c - the analysis of a job for people on one screen: what holds it back, what each
 * rank does with a step, who is late when, who waits for whom, and the findings of all ranks. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/mem.h"
#include "base/memory_text.h"
#include "base/say.h"
#include "base/shell_word.h"
#include "cli/job_print.h"
#include "cli/kit/lines.h"
#include "cli/kit/paint.h"
#include "cli/kit/table.h"

enum { DEFAULT_WIDTH = 100, LEAST_WIDTH = 60, MOST_MAP_COLUMNS = 64 };
/* The most rows of each part, so that the report fits a screen; -v prints more. */
enum { ROWS = 16, MAP_ROWS = 12, MATRIX_RANKS = 8, PAIRS = 5, FINDINGS = 4, ALL = 100000 };

/* An imbalance of compute below this share is usual. */
#define WORTH_SAYING 0.05

struct job_page {
	FILE *out;
	const struct analyze_view *view;
	const struct job_view *job;
	int width;
};

static const char *job_paint(const struct job_page *page, enum paint which)
{
	return paint(page->view->colour, which);
}

/* ---- the head -------------------------------------------------------------------------------- */

static void print_head(const struct job_page *page)
{
	const struct job_answer *answer = &page->job->answer;
	fprintf(page->out, " %s", job_paint(page, PAINT_BOLD));
	analyze_put(page->out, job_program(page->job).text);
	fprintf(page->out, "%s · ", job_paint(page, PAINT_PLAIN));
	job_put_title(page->out, page->job);
	fputs("\n\n", page->out);
	bool is_gpu = answer->word == VERDICT_GPU;
	fprintf(page->out, " %s%s%s", is_gpu ? job_paint(page, PAINT_GREEN) : "",
		is_gpu ? "✓  " : "   ", job_paint(page, PAINT_BOLD));
	cli_wrap(page->out, answer->says, 4, page->width);
	fputs(job_paint(page, PAINT_PLAIN), page->out);
	if (*answer->late_says && answer->late_says != answer->says) {
		fputs("    ", page->out);
		cli_wrap(page->out, answer->late_says, 4, page->width);
	}
}

/* ---- the table of ranks ---------------------------------------------------------------------- */

static void print_legend(const struct job_page *page)
{
	const struct job_ranks *ranks = &page->job->answer.ranks;
	bool has_start = false, has_hidden = false;
	char *text;
	for (uint32_t r = 0; r < ranks->n; r++) {
		has_start |= (double)ranks->rows[r].parts[RANK_START] >=
			     JOB_COLUMN_SHARE * (double)ranks->step;
		has_hidden |=
			(double)ranks->rows[r].hidden >= JOB_COLUMN_SHARE * (double)ranks->step;
	}
	if (asprintf(
		    &text,
		    hwy_tr("%swaits: only waits for other ranks. %scosts: what one other rank waits for this one. late: in how many steps."),
		    hwy_tr(has_hidden ? "hidden: communication beside compute. " : ""),
		    hwy_tr(has_start
				   ? "start: waits in its first collective, which shows when each recording began. "
				   : "")) < 0)
		cli_die("out of memory");
	fprintf(page->out, "%s   ", job_paint(page, PAINT_FAINT));
	cli_wrap(page->out, text, 3, page->width);
	free(text);
}

static void print_ranks(const struct job_page *page)
{
	const struct job_ranks *ranks = &page->job->answer.ranks;
	struct table table = {
		.indent = "   ",
		.colour = page->view->colour,
		.hides_empty = true,
		.is_ascii = !page->view->utf8,
		.width = page->width,
	};
	if (ranks->n_steps == 0) {
		fputs(hwy_tr("\n   The ranks have no steady steps in common: they are not compared step by step.\n"),
		      page->out);
		return;
	}
	fprintf(page->out, hwy_tr("\n   %sa step of each rank, in %s%s%s\n"),
		job_paint(page, PAINT_BOLD), job_unit(page->job), job_paint(page, PAINT_PLAIN),
		hwy_tr(ranks->is_cut ? " (the first steps of a long run)" : ""));
	uint32_t left_out = job_fill_table(&table, page->job, page->view->verbose ? ALL : ROWS,
					   page->view->verbose);
	table_print(&table, page->out);
	if (left_out > 0)
		fprintf(page->out, hwy_tr("   and %" PRIu32 " more ranks between these: -v\n"),
			left_out);
	print_legend(page);
	if (ranks->is_guessed)
		fputs(hwy_tr("   What the ranks exchanged is not recorded: who communicates least in a step is taken to come last.\n"),
		      page->out);
	if (ranks->imbalance >= WORTH_SAYING)
		fprintf(page->out,
			hwy_tr("   The rank that computes longest computes %s longer than the mean.\n"),
			hwy_say_share(ranks->imbalance / (1 - ranks->imbalance)).text);
	fputs(hwy_tr("   clocks: "), page->out);
	job_put_clocks(page->out, page->job);
	fprintf(page->out, "\n%s", job_paint(page, PAINT_PLAIN));
}

/* ---- the heat map ---------------------------------------------------------------------------- */

static const char *const shades[JOB_DEGREES] = {"·", "░", "▒", "▓", "█"};
static const char *const ascii_shades[JOB_DEGREES] = {".", ":", "+", "#", "@"};
static const enum paint shade_paints[JOB_DEGREES] = {PAINT_FAINT, PAINT_PLAIN, PAINT_YELLOW,
						     PAINT_RED, PAINT_RED};

static void print_shade(const struct job_page *page, unsigned degree)
{
	/* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): below JOB_DEGREES */
	fputs(page->view->utf8 ? shades[degree] : ascii_shades[degree], page->out);
}

static void print_map_row(const struct job_page *page, const struct job_map *map, uint32_t row)
{
	const struct rank_row *rank = &page->job->answer.ranks.rows[map->members[row]];
	uint8_t before = JOB_DEGREES;
	fprintf(page->out, "   %4" PRId64 "  ", rank->rank);
	for (uint32_t c = 0; c < map->columns; c++) {
		uint8_t degree = map->cells[(size_t)row * map->columns + c];
		if (degree != before)
			fprintf(page->out, "%s%s", job_paint(page, PAINT_PLAIN),
				job_paint(page, shade_paints[degree]));
		before = degree;
		print_shade(page, degree);
	}
	fprintf(page->out, "%s\n", job_paint(page, PAINT_PLAIN));
}

static void print_map(const struct job_page *page)
{
	struct job_map map;
	int most = page->width - 12 < MOST_MAP_COLUMNS ? page->width - 12 : MOST_MAP_COLUMNS;
	if (!job_map_make(&map, page->job, page->view->verbose ? ALL : MAP_ROWS, (uint32_t)most))
		return;
	fprintf(page->out, hwy_tr("\n   %show late each rank is, step by step%s"),
		job_paint(page, PAINT_BOLD), job_paint(page, PAINT_PLAIN));
	if (map.group > 1)
		fprintf(page->out, hwy_tr(", %" PRIu32 " steps a cell"), map.group);
	fputs("\n         ", page->out);
	for (unsigned d = 0; d < JOB_DEGREES; d++) {
		print_shade(page, d);
		if (d == 0)
			fprintf(page->out, hwy_tr(" less than %.0f %% of a step"),
				100 * job_degrees[1]);
		else if (d + 1 < JOB_DEGREES)
			fprintf(page->out, hwy_tr(" to %.0f %%"), 100 * job_degrees[d + 1]);
		else
			fputs(hwy_tr(" more"), page->out);
		fputs(d + 1 < JOB_DEGREES ? "   " : "\n", page->out);
	}
	for (uint32_t r = 0; r < map.rows; r++)
		print_map_row(page, &map, r);
	if (map.left_out > 0)
		fprintf(page->out, hwy_tr("   and %" PRIu32 " more ranks: -v\n"), map.left_out);
	job_map_free(&map);
}

/* ---- who waits for whom ---------------------------------------------------------------------- */

static bool has_waits(const struct job_page *page)
{
	const struct job_ranks *ranks = &page->job->answer.ranks;
	for (uint32_t i = 0; i < ranks->n * ranks->n; i++)
		if ((double)ranks->waits[i] >= 0.005 * (double)ranks->step && ranks->waits[i] > 0)
			return true;
	return false;
}

static void print_matrix(const struct job_page *page)
{
	const struct job_ranks *ranks = &page->job->answer.ranks;
	struct table table = {
		.columns = ranks->n + 2,
		.align = "rr",
		.heads = 1,
		.indent = "   ",
		.colour = page->view->colour,
		.width = page->width,
	};
	table_cell(&table, "rank");
	for (uint32_t late = 0; late < ranks->n; late++)
		table_cell(&table, "%s%" PRId64, hwy_tr(late == 0 ? "for " : ""),
			   ranks->rows[late].rank);
	table_cell(&table, "%s", hwy_tr("in all"));
	for (uint32_t r = 0; r < ranks->n; r++) {
		table_cell(&table, "%" PRId64, ranks->rows[r].rank);
		for (uint32_t late = 0; late < ranks->n; late++) {
			int64_t ns = ranks->waits[(size_t)r * ranks->n + late];
			job_add_time(&table, page->job, ns);
		}
		job_add_time(&table, page->job, ranks->rows[r].waited);
	}
	table_print(&table, page->out);
}

/* For jobs of many ranks: whom others wait for longest, and how many do. */
static void print_culprits(const struct job_page *page)
{
	const struct job_ranks *ranks = &page->job->answer.ranks;
	bool *done = hwy_zarray(ranks->n, sizeof *done);
	for (uint32_t k = 0; k < (page->view->verbose ? 4 * PAIRS : PAIRS); k++) {
		uint32_t best = ranks->n, waiting = 0;
		int64_t most = 0, sum = 0;
		for (uint32_t late = 0; late < ranks->n; late++) {
			sum = 0;
			for (uint32_t r = 0; r < ranks->n && !done[late]; r++)
				sum += ranks->waits[(size_t)r * ranks->n + late];
			if (sum > most) {
				most = sum;
				best = late;
			}
		}
		if (best == ranks->n)
			break;
		done[best] = true;
		for (uint32_t r = 0; r < ranks->n; r++)
			waiting += ranks->waits[(size_t)r * ranks->n + best] > 0;
		fprintf(page->out,
			hwy_tr("   for rank %-5" PRId64 "%" PRIu32 " ranks wait %s each\n"),
			ranks->rows[best].rank, waiting, hwy_say_time3(most / waiting).text);
	}
	free(done);
}

static void print_waits(const struct job_page *page)
{
	const struct job_ranks *ranks = &page->job->answer.ranks;
	if (!has_waits(page))
		return;
	fprintf(page->out,
		hwy_tr("\n   %swho waits for whom, in %s a step%s (also beside compute)\n"),
		job_paint(page, PAINT_BOLD), job_unit(page->job), job_paint(page, PAINT_PLAIN));
	if (ranks->n <= MATRIX_RANKS) {
		print_matrix(page);
		return;
	}
	print_culprits(page);
}

/* ---- the path -------------------------------------------------------------------------------- */

/* Finds the rank with most of the path beside those that are done. */
static uint32_t next_rank(const struct hwy_run_path *path, bool *done)
{
	uint32_t best = path->n_ranks;
	for (uint32_t r = 0; r < path->n_ranks; r++)
		if (!done[r] && path->by_rank[r] > 0 &&
		    (best == path->n_ranks || path->by_rank[r] > path->by_rank[best]))
			best = r;
	if (best < path->n_ranks)
		done[best] = true;
	return best;
}

static void print_path(const struct job_page *page)
{
	enum { NAMED = 4, CLASSES = 3 };
	const struct hwy_run_path *path = &page->job->answer.path;
	double whole = (double)(path->window.to - path->window.from);
	if (path->n == 0 || whole <= 0)
		return;
	bool *done = hwy_zarray(path->n_ranks, sizeof *done), taken[PATH_CLASSES] = {false};
	fprintf(page->out, hwy_tr("\n   %sthe critical path%s"), job_paint(page, PAINT_BOLD),
		job_paint(page, PAINT_PLAIN));
	for (unsigned k = 0; k < NAMED; k++) {
		uint32_t r = next_rank(path, done);
		if (r == path->n_ranks || (double)path->by_rank[r] < 0.01 * whole)
			break;
		if (k > 0)
			fputs(hwy_tr_word(HWY_KEY("list|,")), page->out);
		lines_may_break(page->out, 3);
		fprintf(page->out, hwy_tr("%s rank %" PRId64 " %s"),
			k == 0 ? hwy_tr(" runs on") : "", page->job->members[r].rank,
			hwy_say_share((double)path->by_rank[r] / whole).text);
	}
	free(done);
	for (unsigned k = 0; k < CLASSES; k++) {
		unsigned best = PATH_CLASSES;
		for (unsigned c = 0; c < PATH_CLASSES; c++)
			if (!taken[c] &&
			    (best == PATH_CLASSES || path->classes[c] > path->classes[best]))
				best = c;
		taken[best] = true;
		if ((double)path->classes[best] < 0.05 * whole)
			break;
		fputs(hwy_tr_word(k == 0 ? HWY_KEY("list|;") : HWY_KEY("list|,")), page->out);
		lines_may_break(page->out, 3);
		fprintf(page->out, hwy_tr(" %s %s"), path_class_word(path_class_names[best]),
			hwy_say_share((double)path->classes[best] / whole).text);
	}
	uint32_t steps = page->job->answer.ranks.n_steps;
	fputs(hwy_tr_word(HWY_KEY("list|;")), page->out);
	lines_may_break(page->out, 3);
	if (path->n_crossings == 0)
		fputs(hwy_tr(" it stays there\n"), page->out);
	else if (steps == 0)
		fprintf(page->out, hwy_tr(" it changes ranks %s\n"),
			hwy_say_count_times((double)path->n_crossings).text);
	else
		fprintf(page->out, hwy_tr(" it changes ranks %s a step\n"),
			hwy_say_count_times(steps ? (double)path->n_crossings / steps : 0).text);
}

/* ---- findings -------------------------------------------------------------------------------- */

static void print_job_advice(const struct job_page *page, const char *advice, bool all)
{
	struct analyze_line line;
	while (analyze_next_line(&advice, &line)) {
		char *text;
		if (asprintf(&text, "%s%.*s", line.is_code ? "  " : "", line.length, line.text) < 0)
			cli_die("out of memory");
		fputs(line.is_code ? "      " : "    ▸ ", page->out);
		cli_wrap(page->out, text, 6, page->width);
		free(text);
		if (!all)
			break;
	}
}

static void print_job_finding(const struct job_page *page, const struct job_finding *one,
			      uint32_t number)
{
	const struct hwy_finding *finding = one->finding;
	fprintf(page->out, " %s%" PRIu32 "  %s%s%s", job_paint(page, PAINT_BOLD), number,
		finding->kind->id, job_paint(page, PAINT_PLAIN), one->n_members > 0 ? "   " : "");
	job_put_finding_ranks(page->out, page->job, one);
	lines_may_break(page->out, 4);
	fprintf(page->out, "   %s", job_paint(page, PAINT_RED));
	job_put_cost(page->out, page->job, one);
	fprintf(page->out, "%s\n", job_paint(page, PAINT_PLAIN));
	if (finding->n_places) {
		fputs(hwy_tr("    at "), page->out);
		analyze_put_place(page->out, &finding->places[0].at);
		lines_may_break(page->out, 7);
		if (*finding->places[0].layer) {
			fputs(hwy_tr(" in "), page->out);
			analyze_put(page->out, finding->places[0].layer);
			lines_may_break(page->out, 7);
		}
		if (finding->n_places > 1)
			fprintf(page->out, hwy_tr(" and %" PRIu32 " more"), finding->n_places - 1);
		fputc('\n', page->out);
	}
	char *text = NULL;
	if (asprintf(&text, hwy_tr("On rank %" PRId64 ": %s"), page->job->members[one->member].rank,
		     finding->says) < 0)
		cli_die("out of memory");
	/* The head has said it where it is the verdict. */
	if (finding->says != page->job->answer.says &&
	    finding->says != page->job->answer.late_says) {
		fputs("    ", page->out);
		cli_wrap(page->out, one->n_members > 1 && !one->is_joint ? text : finding->says, 4,
			 page->width);
	}
	free(text);
	print_job_advice(page, finding->advice, number == 1 || page->view->verbose);
}

static void print_job_findings(const struct job_page *page)
{
	const struct job_answer *answer = &page->job->answer;
	if (answer->n_findings > 0)
		fputc('\n', page->out);
	for (uint32_t i = 0; i < answer->n_findings; i++) {
		if (i == FINDINGS && !page->view->verbose) {
			fprintf(page->out, hwy_tr("    and %" PRIu32 " more: -v\n"),
				answer->n_findings - i);
			return;
		}
		print_job_finding(page, &answer->findings[i], i + 1);
	}
}

/* ---- the foot -------------------------------------------------------------------------------- */

static void print_foot(const struct job_page *page)
{
	const struct job_view *job = page->job;
	const struct job_answer *answer = &job->answer;
	for (uint32_t i = 0; i < job->job.n_problems; i++) {
		fprintf(page->out, "%s ! ", i == 0 ? "\n" : "");
		cli_wrap(page->out, job->job.problems[i], 3, page->width);
	}
	uint32_t look_at = answer->ranks.lateness == RANKS_REPEAT ? answer->ranks.late_ranks[0]
								  : answer->typical;
	if (look_at >= answer->n)
		return;
	/* Ranks of one recording cannot be analysed alone, but they can be looked at. */
	bool is_one_file = answer->n > 1 && strcmp(job->runs[0]->path, job->runs[1]->path) == 0;
	if (is_one_file)
		fputs(hwy_tr("\n   next: headway view "), page->out);
	else
		fprintf(page->out, hwy_tr("\n   next: rank %" PRId64 " alone: headway analyze "),
			job->members[look_at].rank);
	analyze_put(page->out, hwy_shell_word(job->runs[look_at]->path).text);
	fputc('\n', page->out);
}

/* A job without device work: what its ranks lose to each other, over the whole recording. */
static void print_cpu(const struct job_page *page)
{
	const struct job_answer *answer = &page->job->answer;
	struct table table = {.indent = "   ", .colour = page->view->colour, .width = page->width};
	fprintf(page->out, "\n   %s%s%s\n", job_paint(page, PAINT_BOLD), job_cpu_window(page->job),
		job_paint(page, PAINT_PLAIN));
	job_fill_cpu_table(&table, page->job, page->view->verbose ? answer->n : ROWS);
	table_print(&table, page->out);
	if (answer->n > ROWS && !page->view->verbose)
		fprintf(page->out, hwy_tr("   and %" PRIu32 " more ranks: -v\n"), answer->n - ROWS);
	print_path(page);
	fputs(hwy_tr("\n   next: headway stats -r wait_state_sum "), page->out);
	analyze_put(page->out, hwy_shell_word(page->job->name).text);
	fputs(hwy_tr("   (by call and place)\n"), page->out);
}

static void print_job(const struct job_page *page)
{
	print_head(page);
	if (page->job->answer.typical < page->job->answer.n) {
		print_ranks(page);
		print_map(page);
		print_waits(page);
		print_path(page);
		print_job_findings(page);
	} else if (page->job->answer.cpu) {
		print_cpu(page);
	}
	print_foot(page);
}

static void through_memory(FILE *out, const struct analyze_view *view, const struct job_view *job,
			   void (*print)(const struct job_page *page))
{
	struct memory_text memory;
	struct job_page page = {
		.out = memory_text_begin(&memory),
		.view = view,
		.job = job,
		.width = view->width ? view->width : DEFAULT_WIDTH,
	};
	page.width = page.width < LEAST_WIDTH ? LEAST_WIDTH : page.width;
	print(&page);
	char *text = memory_text_end(&memory);
	lines_put(out, text, page.width, view->utf8);
	free(text);
}

void job_print_text(FILE *out, const struct analyze_view *view)
{
	through_memory(out, view, view->job, print_job);
}

/* ---- the end of `headway profile` ------------------------------------------------------------ */

static void print_job_short(const struct job_page *page)
{
	enum { FEW = 3 };
	const struct job_answer *answer = &page->job->answer;
	if (answer->typical >= answer->n && !answer->cpu)
		return;
	print_head(page);
	for (uint32_t i = 0; i < answer->n_findings && i < FEW; i++) {
		const struct job_finding *one = &answer->findings[i];
		fprintf(page->out, " %" PRIu32 "  %s%s", i + 1, one->finding->kind->id,
			one->n_members > 0 ? "   " : "");
		job_put_finding_ranks(page->out, page->job, one);
		lines_may_break(page->out, 4);
		fputs("   ", page->out);
		job_put_cost(page->out, page->job, one);
		fputc('\n', page->out);
		if (one->finding->n_places) {
			fputs(hwy_tr("    at "), page->out);
			analyze_put_place(page->out, &one->finding->places[0].at);
			fputc('\n', page->out);
		}
	}
}

void job_print_few(FILE *out, const struct analyze_view *view)
{
	through_memory(out, view, view->job, print_job_short);
}
