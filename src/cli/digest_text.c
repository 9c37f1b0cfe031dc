/* SPDX-License-Identifier: Apache-2.0 */
/* digest_text.c - the analysis of a job from its digests for people on one screen: what holds it
 * back, the ranks folded by likeness, who is late when, and what is to be looked at. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/memory_text.h"
#include "base/path.h"
#include "base/say.h"
#include "base/shell_word.h"
#include "cli/digest_print.h"
#include "cli/kit/lines.h"
#include "cli/kit/paint.h"
#include "cli/kit/table.h"

enum { DEFAULT_WIDTH = 100, LEAST_WIDTH = 60, FOLDS = 12, MAP_ROWS = 16, FINDINGS = 4, LINKS = 5 };
enum { ALL = 100000, MAP_LABEL = 16, MOST_MAP_COLUMNS = 128, BRIEF_BYTES = 2000 };

struct digest_page {
	FILE *out;
	const struct analyze_view *how;
	const struct digest_view *view;
	int width;
};

static const char *digest_paint(const struct digest_page *page, enum paint which)
{
	return paint(page->how->colour, which);
}

/* ---- the head -------------------------------------------------------------------------------- */

static void put_name(FILE *out, const struct digest_view *view)
{
	const struct digest_answer *answer = &view->answer;
	analyze_put(out, *answer->program ? answer->program
			 : *answer->id    ? answer->id
					  : hwy_basename(view->name));
}

/* A sentence of the head, below the verdict. */
static void print_sentence(const struct digest_page *page, const char *text)
{
	if (!*text)
		return;
	fputs("    ", page->out);
	cli_wrap(page->out, text, 4, page->width);
}

static void print_digest_head(const struct digest_page *page)
{
	const struct digest_answer *answer = &page->view->answer;
	const struct job_answer *job = &answer->job;
	fprintf(page->out, " %s", digest_paint(page, PAINT_BOLD));
	put_name(page->out, page->view);
	fprintf(page->out, "%s · ", digest_paint(page, PAINT_PLAIN));
	digest_put_title(page->out, page->view);
	fputs("\n\n", page->out);
	bool is_gpu = job->word == VERDICT_GPU;
	fprintf(page->out, " %s%s%s", is_gpu ? digest_paint(page, PAINT_GREEN) : "",
		is_gpu ? "✓  " : "   ", digest_paint(page, PAINT_BOLD));
	cli_wrap(page->out, job->says, 4, page->width);
	fputs(digest_paint(page, PAINT_PLAIN), page->out);
	if (job->late_says != job->says)
		print_sentence(page, job->late_says);
	print_sentence(page, answer->gain_says);
	print_sentence(page, answer->clock_says);
	print_sentence(page, answer->slowing_says);
	print_sentence(page, answer->trend_says);
	print_sentence(page, answer->link_says);
	print_sentence(page, answer->role_says);
}

/* ---- the table ------------------------------------------------------------------------------- */

static void print_folds(const struct digest_page *page)
{
	struct table table = {
		.indent = "   ",
		.colour = page->how->colour,
		.hides_empty = true,
		.is_ascii = !page->how->utf8,
		.width = page->width,
	};
	if (page->view->answer.matrix.n_buckets == 0) {
		fputs(hwy_tr("\n   The ranks have no steady steps in common: they are not compared step by step.\n"),
		      page->out);
		return;
	}
	fprintf(page->out, hwy_tr("\n   %sthe ranks, folded by likeness: a step in %s%s\n"),
		digest_paint(page, PAINT_BOLD), job_unit(&page->view->shell),
		digest_paint(page, PAINT_PLAIN));
	uint32_t left_out = digest_fill_table(&table, page->view, page->how->verbose ? ALL : FOLDS);
	table_print(&table, page->out);
	if (left_out > 0)
		fprintf(page->out, hwy_tr("   and %s more: -v\n"),
			hwy_say_count_grouped(left_out).text);
	fprintf(page->out, "%s   ", digest_paint(page, PAINT_FAINT));
	cli_wrap(
		page->out,
		hwy_tr("own: without the time that a rank only communicates. waits: what it communicates longer than "
		       "who comes last. costs: by how much it makes the others wait."),
		3, page->width);
	fputs(digest_paint(page, PAINT_PLAIN), page->out);
}

/* ---- the map --------------------------------------------------------------------------------- */

static void print_degree(const struct digest_page *page, unsigned degree)
{
	static const char *const shades[JOB_DEGREES] = {"·", "░", "▒", "▓", "█"};
	static const char *const ascii[JOB_DEGREES] = {".", ":", "+", "#", "@"};
	static const enum paint paints[JOB_DEGREES] = {PAINT_FAINT, PAINT_PLAIN, PAINT_YELLOW,
						       PAINT_RED, PAINT_RED};
	fprintf(page->out, "%s%s%s", digest_paint(page, paints[degree]),
		page->how->utf8 ? shades[degree] : ascii[degree], digest_paint(page, PAINT_PLAIN));
}

static void print_map_rows(const struct digest_page *page, const struct digest_map *map)
{
	const struct digest_judged *ranks = page->view->answer.ranks;
	bool was_apart = false;
	for (uint32_t i = 0; i < map->rows; i++) {
		const struct digest_map_row *row = &map->names[i];
		char label[64];
		if (row->is_apart && !was_apart)
			fputc('\n', page->out);
		was_apart = row->is_apart;
		if (row->is_one)
			snprintf(label, sizeof label, "%" PRId64, ranks[row->first].digest->rank);
		else
			snprintf(label, sizeof label, "%" PRId64 "–%" PRId64,
				 ranks[row->first].digest->rank, ranks[row->last].digest->rank);
		/* The dash has three bytes and one column. */
		fprintf(page->out, "   %*s  ", row->is_one ? 11 : 13, label);
		for (uint32_t c = 0; c < map->columns; c++)
			print_degree(page, map->cells[(size_t)i * map->columns + c]);
		fputc('\n', page->out);
	}
}

static void print_digest_map(const struct digest_page *page)
{
	struct digest_map map;
	int columns = page->width - MAP_LABEL;
	columns = columns > MOST_MAP_COLUMNS ? MOST_MAP_COLUMNS : columns;
	if (!digest_map_make(&map, page->view, MAP_ROWS, (uint32_t)columns))
		return;
	uint64_t steps = (uint64_t)map.group << page->view->answer.matrix.shift;
	bool is_folded = !map.names[0].is_one;
	fprintf(page->out, hwy_tr("\n   %show late ranks are, step by step%s"),
		digest_paint(page, PAINT_BOLD), digest_paint(page, PAINT_PLAIN));
	if (steps > 1)
		fprintf(page->out, hwy_tr(", %s steps a cell"), hwy_say_count_grouped(steps).text);
	if (is_folded) {
		fputc(';', page->out);
		lines_may_break(page->out, 3);
		fputs(hwy_tr(" a row: the latest of its ranks"), page->out);
	}
	fputs("\n                ", page->out);
	for (unsigned d = 0; d < JOB_DEGREES; d++) {
		print_degree(page, d);
		if (d == 0)
			fprintf(page->out, hwy_tr(" below %.0f %% of a step"),
				100 * job_degrees[1]);
		else if (d + 1 < JOB_DEGREES)
			fprintf(page->out, hwy_tr(" to %.0f %%"), 100 * job_degrees[d + 1]);
		else
			fputs(hwy_tr(" more"), page->out);
		fputs(d + 1 < JOB_DEGREES ? "  " : "\n", page->out);
	}
	print_map_rows(page, &map);
	digest_map_free(&map);
}

/* ---- links ----------------------------------------------------------------------------------- */

static void print_links(const struct digest_page *page)
{
	const struct digest_answer *answer = &page->view->answer;
	struct table table = {.columns = 5,
			      .align = "llrrr",
			      .heads = 1,
			      .indent = "   ",
			      .colour = page->how->colour,
			      .is_ascii = !page->how->utf8,
			      .width = page->width};
	uint32_t most = page->how->verbose ? ALL : LINKS;
	if (answer->n_slow == 0)
		return;
	fprintf(page->out, hwy_tr("\n   %sslow links%s, of %s that were compared\n"),
		digest_paint(page, PAINT_BOLD), digest_paint(page, PAINT_PLAIN),
		hwy_say_count_grouped(answer->n_links).text);
	table_row(&table, (const char *[]){hwy_tr_word("head|from → to"), hwy_tr_word("head|hosts"),
					   hwy_tr_word("head|rate"), hwy_tr_word("head|others"),
					   hwy_tr_word("head|costs a step")});
	for (uint32_t i = 0; i < answer->n_slow && i < most; i++) {
		const struct digest_link *link = &answer->links[i];
		const struct rank_digest *from = answer->ranks[link->from].digest,
					 *to = answer->ranks[link->to].digest;
		if (link->is_pair)
			table_cell(&table, "%" PRId64 " → %" PRId64, from->rank, to->rank);
		else
			table_cell(&table, hwy_tr("%s of %" PRId64 " ranks"), link->operation,
				   link->size);
		table_cell(&table, "%s%s%s", from->host, strcmp(from->host, to->host) ? " → " : "",
			   strcmp(from->host, to->host) ? to->host : "");
		table_cell(&table, "%s", hwy_say_rate3(link->rate).text);
		table_cell(&table, "%s", hwy_say_rate3(link->usual).text);
		table_cell(&table, "%s", hwy_say_time3(link->cost).text);
	}
	table_print(&table, page->out);
	if (answer->n_slow > most)
		fprintf(page->out, hwy_tr("   and %" PRIu32 " more: -v\n"), answer->n_slow - most);
}

/* ---- findings -------------------------------------------------------------------------------- */

static void print_digest_finding(const struct digest_page *page, const struct digest_finding *one,
				 uint32_t number)
{
	const struct digest_answer *answer = &page->view->answer;
	struct hwy_arena arena = {0};
	double share = answer->job.step > 0 ? (double)one->cost / (double)answer->job.step : 0;
	fprintf(page->out, " %s%" PRIu32 "  %s%s%s%s", digest_paint(page, PAINT_BOLD), number,
		one->id, digest_paint(page, PAINT_PLAIN), one->n > 0 ? "   " : "",
		one->n > 0 ? answer_say_ranks(&arena, &answer->job.ranks, one->ranks, one->n) : "");
	hwy_arena_free(&arena);
	lines_may_break(page->out, 4);
	fprintf(page->out, hwy_tr("   %s%s of %s a step (%s)%s\n"), digest_paint(page, PAINT_RED),
		hwy_say_time3(one->cost).text, hwy_say_time3(answer->job.step).text,
		hwy_say_share(share).text, digest_paint(page, PAINT_PLAIN));
	if (*one->place) {
		fputs(hwy_tr("    at "), page->out);
		analyze_put(page->out, one->place);
		fputc('\n', page->out);
	}
	bool is_said = one->says == answer->job.late_says || one->says == answer->link_says;
	if (!is_said && *one->says) {
		char *text;
		if (asprintf(&text, hwy_tr("On rank %" PRId64 ": %s"),
			     answer->ranks[one->worst].digest->rank, one->says) < 0)
			cli_die("out of memory");
		print_sentence(page, text);
		free(text);
	}
}

static void print_digest_findings(const struct digest_page *page)
{
	const struct digest_answer *answer = &page->view->answer;
	const char *advice = answer->job.ranks.lateness == RANKS_REPEAT ||
					     answer->job.ranks.lateness == RANKS_TAKE_TURNS
				     ? answer_advice(&answer->job)
				     : NULL;
	if (answer->n_findings > 0)
		fputc('\n', page->out);
	for (uint32_t i = 0; i < answer->n_findings; i++) {
		const struct digest_finding *one = &answer->findings[i];
		if (i == FINDINGS && !page->how->verbose) {
			fprintf(page->out, hwy_tr("    and %" PRIu32 " more: -v\n"),
				answer->n_findings - i);
			break;
		}
		print_digest_finding(page, one, i + 1);
		if (advice && one->says == answer->job.late_says) {
			fputs("    ▸ ", page->out);
			cli_wrap(page->out, hwy_tr(advice), 6, page->width);
		}
	}
}

/* ---- the reports that were opened ------------------------------------------------------------ */

static void print_reports(const struct digest_page *page)
{
	const struct digest_view *view = page->view;
	const struct job_view *job = view->reports.job;
	if (!job)
		return;
	fprintf(page->out, hwy_tr("\n   %sfrom the reports of ranks"),
		digest_paint(page, PAINT_BOLD));
	for (uint32_t i = 0; i < view->n_opened; i++)
		fprintf(page->out, "%s%" PRId64, i == 0 ? " " : hwy_tr(", "),
			view->answer.ranks[view->opened[i]].digest->rank);
	fprintf(page->out, "%s\n", digest_paint(page, PAINT_PLAIN));
	print_sentence(page, *job->answer.late_says ? job->answer.late_says : job->answer.says);
	for (uint32_t i = 0; i < job->answer.n_findings; i++) {
		const struct job_finding *one = &job->answer.findings[i];
		if (!one->is_joint || one->finding->n_places == 0)
			continue;
		fputs(hwy_tr("    at "), page->out);
		analyze_put_finding_place(page->out, &one->finding->places[0]);
		fputc('\n', page->out);
	}
}

/* ---- the foot -------------------------------------------------------------------------------- */

static void print_digest_foot(const struct digest_page *page)
{
	const struct digest_view *view = page->view;
	const struct digest_answer *answer = &view->answer;
	for (uint32_t i = 0; i < answer->n_problems; i++) {
		fprintf(page->out, "%s ! ", i == 0 ? "\n" : "");
		cli_wrap(page->out, answer->problems[i], 3, page->width);
	}
	if (*view->not_opened)
		fprintf(page->out, " ! %s\n", view->not_opened);
	bool is_late = answer->job.ranks.n_late_ranks > 0;
	uint32_t look_at = is_late                 ? answer->job.ranks.cause.member
			   : answer->n_slowing > 0 ? answer->slowing[0]
						   : answer->job.typical;
	char *report = look_at < answer->n ? digest_view_report(view, look_at) : NULL;
	if (!report)
		return;
	fprintf(page->out, hwy_tr("\n   next: rank %" PRId64 " alone: headway analyze "),
		answer->ranks[look_at].digest->rank);
	analyze_put(page->out, hwy_shell_word(report).text);
	fputs(hwy_tr("\n         beside a typical one: headway view "), page->out);
	analyze_put(page->out, hwy_shell_word(view->name).text);
	fputc('\n', page->out);
	free(report);
}

static void print_digests(const struct digest_page *page)
{
	print_digest_head(page);
	print_folds(page);
	print_digest_map(page);
	print_links(page);
	print_digest_findings(page);
	print_reports(page);
	print_digest_foot(page);
}

static void print_through_memory(FILE *out, const struct analyze_view *how,
				 const struct digest_view *view,
				 void (*print)(const struct digest_page *page))
{
	struct memory_text memory;
	struct digest_page page = {
		.out = memory_text_begin(&memory),
		.how = how,
		.view = view,
		.width = how->width ? how->width : DEFAULT_WIDTH,
	};
	page.width = page.width < LEAST_WIDTH ? LEAST_WIDTH : page.width;
	print(&page);
	char *text = memory_text_end(&memory);
	lines_put(out, text, page.width, how->utf8);
	free(text);
}

void digest_print_text(FILE *out, const struct analyze_view *how, const struct digest_view *view)
{
	print_through_memory(out, how, view, print_digests);
}

void digest_print_short(FILE *out, const char *folder)
{
	struct analyze_view how = {
		.utf8 = cli_utf8(),
		.colour = cli_colour(out),
		.width = cli_width(out),
	};
	struct digest_view view;
	digest_view_open(&view, &(struct cli_texts){.texts = &folder, .n = 1});
	print_through_memory(out, &how, &view, print_digest_head);
	digest_view_close(&view);
}

/* ---- brief ----------------------------------------------------------------------------------- */

static void brief_put_line(FILE *out, const char *name, const char *text)
{
	if (*text)
		fprintf(out, hwy_tr("%s: %s\n"), hwy_tr_word(name), text);
}

void digest_print_brief(FILE *out, const struct analyze_view *how, const struct digest_view *view)
{
	const struct digest_answer *answer = &view->answer;
	struct memory_text memory;
	FILE *to = memory_text_begin(&memory);
	(void)how;
	put_name(to, view);
	fputs(hwy_tr(": "), to);
	digest_put_title(to, view);
	fprintf(to, hwy_tr("\nVerdict: %s. %s\n"), verdict_said(answer->job.word),
		answer->job.says);
	if (answer->job.late_says != answer->job.says)
		brief_put_line(to, HWY_KEY("brief|Late"), answer->job.late_says);
	brief_put_line(to, HWY_KEY("brief|Gain"), answer->gain_says);
	brief_put_line(to, HWY_KEY("brief|Clock"), answer->clock_says);
	brief_put_line(to, HWY_KEY("brief|Slows down"), answer->slowing_says);
	brief_put_line(to, HWY_KEY("brief|Trend"), answer->trend_says);
	brief_put_line(to, HWY_KEY("brief|Link"), answer->link_says);
	brief_put_line(to, HWY_KEY("brief|Uneven"), answer->role_says);
	fprintf(to, hwy_tr("Step: %s; of it waiting %s, transfer %s\n"),
		hwy_say_time3(answer->job.step).text, hwy_say_time3(answer->wait).text,
		hwy_say_time3(answer->transfer).text);
	for (uint32_t i = 0; i < answer->n_findings && i < FINDINGS; i++)
		fprintf(to, hwy_tr("%" PRIu32 ". %s (%" PRIu32 " ranks): %s a step%s%s\n"), i + 1,
			answer->findings[i].id, answer->findings[i].n,
			hwy_say_time3(answer->findings[i].cost).text,
			hwy_tr(*answer->findings[i].place ? " at " : ""),
			answer->findings[i].place);
	for (uint32_t i = 0; i < answer->n_problems; i++)
		brief_put_line(to, HWY_KEY("brief|Note"), answer->problems[i]);
	char *text = memory_text_end(&memory);
	size_t size = memory.length;
	if (size >= BRIEF_BYTES) /* the brief ends with the last whole line that fits */
		for (size = BRIEF_BYTES - 1; size && text[size - 1] != '\n';)
			size--;
	fwrite(text, 1, size, out);
	free(text);
}
