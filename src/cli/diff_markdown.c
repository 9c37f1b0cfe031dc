/* SPDX-License-Identifier: Apache-2.0 */
/* diff_markdown.c - a comparison as Markdown (for a pull request) and as one page of HTML: the
 * same tables. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/say.h"
#include "cli/compare_print.h"
#include "cli/kit/cli.h"
#include "cli/kit/html.h"
#include "cli/kit/table.h"
#include "whatif/path.h"

/* The stream that the comparison is written to, and its format. */
struct page {
	FILE *out;
	bool html;
};

static void diff_markdown_put(const struct page *page, const char *text)
{
	if (page->html)
		html_text(page->out, text, 0);
	else
		cli_put_markdown(page->out, text);
}

/* Writes 'html' where the page is HTML, else 'markdown'. */
static void put_markup(const struct page *page, const char *markdown, const char *html)
{
	fputs(page->html ? html : markdown, page->out);
}

static void put_title(const struct page *page, const char *text)
{
	fprintf(page->out, page->html ? "<h2>%s</h2>\n" : "\n### %s\n", text);
}

/* Begins a table with its headings, which are keys of base/lang.h; 'align' is as in struct
 * table. */
static struct table begin_table(const struct page *page, const char *align,
				const char *const *headings)
{
	struct table table = {
		.format = page->html ? TABLE_HTML : TABLE_MARKDOWN,
		.columns = (uint32_t)strlen(align),
		.align = align,
		.heads = 1,
	};
	for (uint32_t i = 0; i < table.columns; i++)
		/* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): one for each column */
		table_cell(&table, "%s", hwy_tr_word(headings[i]));
	return table;
}

static void put_head(const struct page *page, const struct compare_diff *diff)
{
	const struct compare_summary *run = side_run(diff->after);
	put_markup(page, "## ", "<header><h1>");
	diff_markdown_put(page, *run->program ? run->program : hwy_tr("two recordings"));
	fprintf(page->out, hwy_tr(": %s"), compare_verdict_word(diff->step.verdict));
	struct compare_sentence found = compare_new_finding(diff);
	if (*found.text) {
		fputs(hwy_tr("; "), page->out);
		diff_markdown_put(page, found.text);
	}
	put_markup(page, "\n\n", "</h1>\n<p class=\"soft\">");
	diff_markdown_put(page, compare_about(diff).text);
	put_markup(page, "\n", "</p>\n</header>\n<main>\n");
}

static void put_notes(const struct page *page, const struct compare_diff *diff)
{
	if (diff->n_notes == 0)
		return;
	struct table table = begin_table(
		page, "lll",
		(const char *[]){HWY_KEY("not alike"), HWY_KEY("before"), HWY_KEY("after")});
	for (uint32_t i = 0; i < diff->n_notes; i++) {
		const struct diff_note *note = &diff->notes[i];
		table_cell(&table, "%s", hwy_tr(note->what));
		table_cell(&table, "%s", note->before);
		table_cell(&table, "%s%s%s", note->after, hwy_tr(*note->so ? ": " : ""),
			   hwy_tr(note->so));
	}
	table_print(&table, page->out);
}

static void put_verdict(const struct page *page, const struct compare_diff *diff)
{
	const struct difference *step = &diff->step;
	put_markup(page, "\n",
		   step->verdict == VERDICT_SLOWER
			   ? "<p class=\"verdict\" style=\"border-color:var(--bad)\">"
			   : "<p class=\"verdict\">");
	fprintf(page->out, hwy_tr("%s → %s a step, %s"),
		hwy_say_time3_signed(diff->before->step).text,
		hwy_say_time3_signed(diff->after->step).text,
		hwy_say_share_change(step->change / step->before).text);
	if (isfinite(step->low))
		fprintf(page->out, hwy_tr(" (95 %% interval %s … %s, %s)"),
			hwy_say_share_change(step->low / step->before).text,
			hwy_say_share_change(step->high / step->before).text, hwy_tr(step->method));
	if (step->verdict >= VERDICT_FASTER) {
		fputs(hwy_tr("; cause: "), page->out);
		compare_put_cause(page->out, diff);
	}
	fputs(hwy_tr("; verdict: "), page->out);
	compare_put_verdicts(page->out, diff);
	struct compare_sentence why = compare_why(diff);
	struct compare_sentence long_steps = compare_long_steps(diff);
	const char *const more[] = {why.text, long_steps.text, compare_less_sure(diff)};
	for (size_t i = 0; i < sizeof more / sizeof *more; i++)
		fprintf(page->out, "%s%s", *more[i] ? hwy_tr("; ") : "", more[i]);
	fputs(hwy_tr("."), page->out);
	put_markup(page, "\n", "</p>\n");
}

static void put_split(const struct page *page, const struct compare_diff *diff)
{
	put_title(page, hwy_tr("Where the change comes from"));
	struct table table =
		begin_table(page, "lrrr",
			    (const char *[]){HWY_KEY("a step of the GPU"), HWY_KEY("before"),
					     HWY_KEY("after"), HWY_KEY("change")});
	for (unsigned i = 0; i < PARTS; i++) {
		unsigned part = diff->order[i];
		int64_t a = diff->before->parts[part], b = diff->after->parts[part];
		if (a || b)
			table_row(&table, (const char *[]){summary_part_name(part),
							   hwy_say_time3_signed(a).text,
							   hwy_say_time3_signed(b).text,
							   hwy_say_time3_change(b - a).text});
	}
	table_row(&table, (const char *[]){hwy_tr("together, exactly"),
					   hwy_say_time3_signed(diff->before->step).text,
					   hwy_say_time3_signed(diff->after->step).text,
					   hwy_say_time3_change(diff->change).text});
	table_print(&table, page->out);
}

/* Writes the table of counts, and of the classes of the critical path that changed. */
static void put_beside(const struct page *page, const struct compare_diff *diff)
{
	const struct compare_phase *a = side_phase(diff->before), *b = side_phase(diff->after);
	struct table table = begin_table(page, "lrr",
					 (const char *[]){HWY_KEY("beside it, a step"),
							  HWY_KEY("before"), HWY_KEY("after")});
	for (unsigned i = 0; i < COUNTS; i++) {
		struct compare_count_text text;
		if (compare_count_text(&diff->counts[i], &text))
			table_row(&table,
				  (const char *[]){text.label, text.before.text, text.after.text});
	}
	for (uint32_t i = 0; i < a->n_path && i < b->n_path; i++) {
		char name[64];
		snprintf(name, sizeof name, hwy_tr("critical path: %s"),
			 path_class_word(a->path[i].name));
		if (llabs(b->path[i].ns - a->path[i].ns) >= diff->before->step / 100)
			table_row(&table,
				  (const char *[]){name, hwy_say_time3_signed(a->path[i].ns).text,
						   hwy_say_time3_signed(b->path[i].ns).text});
	}
	table_print(&table, page->out);
}

static void put_findings(const struct page *page, const struct compare_diff *diff)
{
	if (diff->n_findings == 0)
		return;
	put_title(page, hwy_tr("Findings"));
	struct table table = begin_table(
		page, "lllrrl",
		(const char *[]){HWY_KEY("finding"), "", HWY_KEY("where"), HWY_KEY("cost before"),
				 HWY_KEY("cost after"), HWY_KEY("prediction")});
	for (uint32_t i = 0; i < diff->n_findings; i++) {
		const struct diff_finding *one = &diff->findings[i];
		char prediction[160];
		compare_prediction(one, prediction, sizeof prediction);
		table_row(&table,
			  (const char *[]){
				  diff_finding_either(one)->id,
				  hwy_tr(diff_finding_change_names[one->change]),
				  one->after ? one->after->place : one->before->place,
				  one->before ? hwy_say_time3_signed(one->before->cost).text : "",
				  one->after ? hwy_say_time3_signed(one->after->cost).text : "",
				  prediction});
	}
	table_print(&table, page->out);
}

static void diff_markdown_add_row(struct table *table, const struct diff_row *one)
{
	char name[256], count[160] = "";
	snprintf(name, sizeof name, "%s%s%s", diff_row_name(one), one->is_renamed ? " → " : "",
		 one->is_renamed ? one->after : "");
	if (one->change == ROW_MORE || one->change == ROW_FEWER)
		snprintf(count, sizeof count, "%s → %s",
			 hwy_say_count_2decimals(one->count_before).text,
			 hwy_say_count_2decimals(one->count_after).text);
	table_row(table, (const char *[]){name,
					  one->is_renamed && one->change == ROW_SAME
						  ? hwy_tr("renamed")
						  : hwy_tr(diff_row_change_names[one->change]),
					  count, hwy_say_time3_signed(one->ns_before).text,
					  hwy_say_time3_signed(one->ns_after).text});
}

static void put_tables(const struct page *page, const struct compare_diff *diff)
{
	static const char *const headings[TABLES][5] = {
		{HWY_KEY("head|kernel"), "", HWY_KEY("head|launches"), HWY_KEY("before, a step"),
		 HWY_KEY("after, a step")},
		{HWY_KEY("call"), "", HWY_KEY("head|times"), HWY_KEY("before, a step"),
		 HWY_KEY("after, a step")},
		{HWY_KEY("range"), "", HWY_KEY("head|times"), HWY_KEY("before, a step"),
		 HWY_KEY("after, a step")},
		{HWY_KEY("module"), "", HWY_KEY("head|steps"), HWY_KEY("before, a step"),
		 HWY_KEY("after, a step")}};
	static const char *const titles[TABLES] = {HWY_KEY("Kernels"), HWY_KEY("Calls"),
						   HWY_KEY("Ranges"), HWY_KEY("Modules")};
	for (unsigned kind = 0; kind < TABLES; kind++) {
		const struct diff_table *rows = &diff->tables[kind];
		if (rows->n == 0)
			continue;
		put_title(page, hwy_tr(titles[kind]));
		struct table table = begin_table(page, "llrrr", headings[kind]);
		for (uint32_t i = 0; i < rows->n; i++)
			diff_markdown_add_row(&table, &rows->rows[i]);
		table_print(&table, page->out);
	}
}

static void diff_markdown_put_all(const struct page *page, const struct compare_diff *diff)
{
	put_head(page, diff);
	put_notes(page, diff);
	put_verdict(page, diff);
	put_split(page, diff);
	put_beside(page, diff);
	if (*diff->new_wait) {
		put_markup(page, "\n", "<p>");
		diff_markdown_put(page, diff->new_wait);
		put_markup(page, "\n", "</p>\n");
	}
	put_findings(page, diff);
	put_tables(page, diff);
	if (diff->jobs) {
		put_title(page, hwy_tr("Ranks"));
		diff_jobs_put_tables(page->out, diff->jobs, page->html);
	}
}

void diff_print_markdown(FILE *out, const struct compare_diff *diff)
{
	diff_markdown_put_all(&(struct page){.out = out}, diff);
}

void diff_print_html(FILE *out, const struct compare_diff *diff)
{
	const char *program = side_run(diff->after)->program;
	html_begin(out, *program ? program : hwy_tr("two recordings"), "headway diff");
	diff_markdown_put_all(&(struct page){.out = out, .html = true}, diff);
	fputs("</main>\n", out);
	html_end(out);
}
