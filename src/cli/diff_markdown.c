/* diff_markdown.c - a comparison as Markdown (for a pull request) and as one page of HTML: the same tables. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/compare_print.h"
#include "cli/kit/cli.h"
#include "cli/kit/html.h"

/* Where the tables go. */
struct page {
	FILE *out;
	bool html;
	const char *const *heads; /* of the table that is open; those of numbers begin with '>' */
};

static void diff_markdown_put(const struct page *page, const char *text)
{
	if (page->html)
		html_text(page->out, text, 0);
	else
		cli_put_markdown(page->out, text);
}

/* Markdown, or the HTML instead. */
static void put_markup(const struct page *page, const char *markdown, const char *html)
{
	fputs(page->html ? html : markdown, page->out);
}

static void title(const struct page *page, const char *text)
{
	fprintf(page->out, page->html ? "<h2>%s</h2>\n" : "\n### %s\n", text);
}

static void diff_markdown_put_cell(const struct page *page, const char *head, const char *tag,
				   const char *text)
{
	if (page->html)
		fprintf(page->out, "<%s%s>", tag, *head == '>' ? " class=\"n\"" : "");
	else
		fputc(' ', page->out);
	diff_markdown_put(page, text);
	if (page->html)
		fprintf(page->out, "</%s>", tag);
	else
		fputs(" |", page->out);
}

static void begin_table(struct page *page, const char *const *heads)
{
	page->heads = heads;
	put_markup(page, "\n|", "<article><table><tr>");
	for (const char *const *head = heads; *head; head++)
		diff_markdown_put_cell(page, *head, "th", *head + (**head == '>'));
	put_markup(page, "\n|", "</tr>\n");
	for (const char *const *head = heads; !page->html && *head; head++)
		fputs(**head == '>' ? "---:|" : "---|", page->out);
	put_markup(page, "\n", "");
}

static void end_table(const struct page *page)
{
	put_markup(page, "", "</table></article>\n");
}

static void row(const struct page *page, const char *const *cells)
{
	put_markup(page, "|", "<tr>");
	for (uint32_t i = 0; page->heads[i]; i++)
		diff_markdown_put_cell(page, page->heads[i], "td", cells[i]);
	put_markup(page, "\n", "</tr>\n");
}

static void put_head(const struct page *page, const struct compare_diff *diff)
{
	const struct compare_summary *run = side_run(diff->after);
	put_markup(page, "## ", "<header><h1>");
	diff_markdown_put(page, *run->program ? run->program : "two recordings");
	fprintf(page->out, ": %s", statistics_verdict_names[diff->step.verdict]);
	put_markup(page, "\n\n", "</h1>\n<p class=\"soft\">");
	diff_markdown_put(page, compare_about(diff).at);
	put_markup(page, "\n", "</p>\n</header>\n<main>\n");
}

static void put_notes(struct page *page, const struct compare_diff *diff)
{
	static const char *const heads[] = {"not alike", "before", "after", NULL};
	if (diff->n_notes == 0)
		return;
	begin_table(page, heads);
	for (uint32_t i = 0; i < diff->n_notes; i++) {
		const struct diff_note *note = &diff->notes[i];
		row(page, (const char *[]){note->what, note->before, note->after});
	}
	end_table(page);
}

static void put_verdict(const struct page *page, const struct compare_diff *diff)
{
	const struct difference *step = &diff->step;
	put_markup(page, "\n",
		   step->verdict == VERDICT_SLOWER
			   ? "<p class=\"verdict\" style=\"border-color:var(--bad)\">"
			   : "<p class=\"verdict\">");
	fprintf(page->out, "%s → %s a step, %s", compare_time(diff->before->step).at,
		compare_time(diff->after->step).at,
		compare_percent(step->change / step->before).at);
	if (isfinite(step->low))
		fprintf(page->out, " (95 %% interval %s … %s, %s)",
			compare_percent(step->low / step->before).at,
			compare_percent(step->high / step->before).at, step->method);
	if (step->verdict >= VERDICT_FASTER) {
		fputs("; cause: ", page->out);
		compare_put_cause(page->out, diff);
	}
	struct compare_sentence why = compare_why(diff);
	fprintf(page->out, "%s%s.", *why.at ? "; " : "", why.at);
	put_markup(page, "\n", "</p>\n");
}

static void put_split(struct page *page, const struct compare_diff *diff)
{
	static const char *const heads[] = {"a step of the GPU", ">before", ">after", ">change",
					    NULL};
	title(page, "Where the change comes from");
	begin_table(page, heads);
	for (unsigned i = 0; i < PARTS; i++) {
		unsigned part = diff->order[i];
		int64_t a = diff->before->parts[part], b = diff->after->parts[part];
		if (a || b)
			row(page, (const char *[]){summary_part_name(part), compare_time(a).at,
						   compare_time(b).at, compare_change(b - a).at});
	}
	row(page,
	    (const char *[]){"together, exactly", compare_time(diff->before->step).at,
			     compare_time(diff->after->step).at, compare_change(diff->change).at});
	end_table(page);
}

/* Counts, and the classes of the critical path. */
static void put_beside(struct page *page, const struct compare_diff *diff)
{
	static const char *const heads[] = {"beside it, a step", ">before", ">after", NULL};
	const struct compare_phase *a = side_phase(diff->before), *b = side_phase(diff->after);
	begin_table(page, heads);
	for (unsigned i = 0; i < COUNTS; i++) {
		struct compare_count_text text;
		if (compare_count_text(&diff->counts[i], &text))
			row(page, (const char *[]){text.label, text.before.at, text.after.at});
	}
	for (uint32_t i = 0; i < a->n_path && i < b->n_path; i++) {
		char name[64];
		snprintf(name, sizeof name, "critical path: %s", a->path[i].name);
		if (llabs(b->path[i].ns - a->path[i].ns) >= diff->before->step / 100)
			row(page, (const char *[]){name, compare_time(a->path[i].ns).at,
						   compare_time(b->path[i].ns).at});
	}
	end_table(page);
}

static void put_findings(struct page *page, const struct compare_diff *diff)
{
	static const char *const heads[] = {"finding",     "",           ">cost before",
					    ">cost after", "prediction", NULL};
	if (diff->n_findings == 0)
		return;
	title(page, "Findings");
	begin_table(page, heads);
	for (uint32_t i = 0; i < diff->n_findings; i++) {
		const struct diff_finding *one = &diff->findings[i];
		char prediction[160];
		compare_prediction(one, prediction, sizeof prediction);
		row(page, (const char *[]){one->before ? one->before->id : one->after->id,
					   diff_finding_change_names[one->change],
					   one->before ? compare_time(one->before->cost).at : "",
					   one->after ? compare_time(one->after->cost).at : "",
					   prediction});
	}
	end_table(page);
}

static void diff_markdown_put_row(const struct page *page, const struct diff_row *one)
{
	char name[256], count[160] = "";
	snprintf(name, sizeof name, "%s%s%s", one->before ? one->before : one->after,
		 one->is_renamed ? " → " : "", one->is_renamed ? one->after : "");
	if (one->change == ROW_MORE || one->change == ROW_FEWER)
		snprintf(count, sizeof count, "%s → %s", compare_number(one->count_before).at,
			 compare_number(one->count_after).at);
	row(page, (const char *[]){name,
				   one->is_renamed && one->change == ROW_SAME
					   ? "renamed"
					   : diff_row_change_names[one->change],
				   count, compare_time(one->ns_before).at,
				   compare_time(one->ns_after).at});
}

static void put_tables(struct page *page, const struct compare_diff *diff)
{
	static const char *const heads[TABLES][6] = {
		{"kernel", "", ">launches", ">before, a step", ">after, a step", NULL},
		{"call", "", ">times", ">before, a step", ">after, a step", NULL},
		{"range", "", ">times", ">before, a step", ">after, a step", NULL}};
	static const char *const titles[TABLES] = {"Kernels", "Calls", "Ranges"};
	for (unsigned kind = 0; kind < TABLES; kind++) {
		const struct diff_table *table = &diff->tables[kind];
		if (table->n == 0)
			continue;
		title(page, titles[kind]);
		begin_table(page, heads[kind]);
		for (uint32_t i = 0; i < table->n; i++)
			diff_markdown_put_row(page, &table->rows[i]);
		end_table(page);
	}
}

static void diff_markdown_put_all(struct page *page, const struct compare_diff *diff)
{
	put_head(page, diff);
	put_notes(page, diff);
	put_verdict(page, diff);
	put_split(page, diff);
	put_beside(page, diff);
	put_findings(page, diff);
	put_tables(page, diff);
}

void diff_print_markdown(FILE *out, const struct compare_diff *diff)
{
	diff_markdown_put_all(&(struct page){.out = out}, diff);
}

void diff_print_html(FILE *out, const struct compare_diff *diff)
{
	const char *program = side_run(diff->after)->program;
	html_begin(out, *program ? program : "two recordings", "headway diff");
	diff_markdown_put_all(&(struct page){.out = out, .html = true}, diff);
	fputs("</main>\n", out);
	html_end(out);
}
