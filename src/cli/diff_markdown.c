/* diff_markdown.c - a comparison as Markdown (for a pull request) and as one page of HTML: the same tables. */
#include <math.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/compare.h"
#include "cli/html.h"

/* Where the tables go: Markdown, or HTML with everything escaped. */
struct page {
	FILE *out;
	bool html;
};

/* Text of a recording: no markup of its own gets through. */
static void put(const struct page *page, const char *text)
{
	if (page->html)
		html_text(page->out, text, 0);
	else
		cli_put_markdown(page->out, text);
}

static void title(const struct page *page, const char *text)
{
	fprintf(page->out, page->html ? "<h2>%s</h2>\n" : "\n### %s\n\n", text);
}

static void begin_table(const struct page *page, const char *const *heads)
{
	fputs(page->html ? "<table><tr>" : "|", page->out);
	for (const char *const *head = heads; *head; head++)
		fprintf(page->out, page->html ? "<th>%s</th>" : " %s |", *head);
	fputs(page->html ? "</tr>\n" : "\n|", page->out);
	for (const char *const *head = heads; !page->html && *head; head++)
		fputs(head == heads ? "---|" : "---:|", page->out);
	if (!page->html)
		fputc('\n', page->out);
}

static void end_table(const struct page *page)
{
	fputs(page->html ? "</table>\n" : "\n", page->out);
}

static void row(const struct page *page, const char *const *cells)
{
	fputs(page->html ? "<tr>" : "|", page->out);
	for (const char *const *cell = cells; *cell; cell++) {
		fputs(page->html ? "<td>" : " ", page->out);
		put(page, *cell);
		fputs(page->html ? "</td>" : " |", page->out);
	}
	fputs(page->html ? "</tr>\n" : "\n", page->out);
}

static void put_verdict(const struct page *page, const struct compare_diff *diff)
{
	const struct difference *step = &diff->step;
	fputs(page->html ? "<h1>" : "## ", page->out);
	put(page,
	    *side_run(diff->after)->program ? side_run(diff->after)->program : "headway diff");
	fprintf(page->out, ": %s", verdict_names[step->verdict]);
	fputs(page->html ? "</h1>\n<p>" : "\n\n", page->out);
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
	} else if (*diff->why) {
		fprintf(page->out, "; %s", diff->why);
	}
	fputs(page->html ? ".</p>\n" : ".\n", page->out);
}

static void put_notes(const struct page *page, const struct compare_diff *diff)
{
	static const char *const heads[] = {"not alike", "before", "after", NULL};
	if (diff->n_notes == 0)
		return;
	fputc('\n', page->out);
	begin_table(page, heads);
	for (uint32_t i = 0; i < diff->n_notes; i++) {
		const struct diff_note *note = &diff->notes[i];
		row(page, (const char *[]){note->what, note->before, note->after, NULL});
	}
	end_table(page);
}

static void put_split(const struct page *page, const struct compare_diff *diff)
{
	static const char *const heads[] = {"a step of the GPU", "before", "after", "change", NULL};
	title(page, "Where the change comes from");
	begin_table(page, heads);
	for (unsigned i = 0; i < PARTS; i++) {
		unsigned part = diff->order[i];
		int64_t a = diff->before->parts[part], b = diff->after->parts[part];
		if (a == 0 && b == 0)
			continue;
		row(page, (const char *[]){part_name(part), compare_time(a).at, compare_time(b).at,
					   compare_change(b - a).at, NULL});
	}
	row(page, (const char *[]){"together, exactly", compare_time(diff->before->step).at,
				   compare_time(diff->after->step).at,
				   compare_change(diff->change).at, NULL});
	end_table(page);
	static const char *const beside[] = {"beside it, a step", "before", "after", NULL};
	begin_table(page, beside);
	for (unsigned i = 0; i < COUNTS; i++) {
		struct compare_count_text text;
		if (compare_count_text(&diff->counts[i], &text))
			row(page,
			    (const char *[]){text.label, text.before.at, text.after.at, NULL});
	}
	end_table(page);
}

static void put_findings(const struct page *page, const struct compare_diff *diff)
{
	static const char *const heads[] = {"finding",    "",           "cost before",
					    "cost after", "prediction", NULL};
	if (diff->n_findings == 0)
		return;
	title(page, "Findings");
	begin_table(page, heads);
	for (uint32_t i = 0; i < diff->n_findings; i++) {
		const struct diff_finding *one = &diff->findings[i];
		char prediction[160];
		compare_prediction(one, prediction, sizeof prediction);
		row(page, (const char *[]){one->before ? one->before->id : one->after->id,
					   finding_change_names[one->change],
					   one->before ? compare_time(one->before->cost).at : "",
					   one->after ? compare_time(one->after->cost).at : "",
					   prediction, NULL});
	}
	end_table(page);
}

static void put_tables(const struct page *page, const struct compare_diff *diff)
{
	static const char *const heads[] = {"", "", "before, a step", "after, a step", NULL};
	static const char *const titles[TABLES] = {"Kernels", "Calls", "Ranges"};
	for (unsigned kind = 0; kind < TABLES; kind++) {
		const struct diff_table *table = &diff->tables[kind];
		if (table->n == 0)
			continue;
		title(page, titles[kind]);
		begin_table(page, heads);
		for (uint32_t i = 0; i < table->n; i++) {
			const struct diff_row *one = &table->rows[i];
			row(page, (const char *[]){one->before ? one->before : one->after,
						   one->is_renamed ? "renamed"
								   : row_change_names[one->change],
						   compare_time(one->ns_before).at,
						   compare_time(one->ns_after).at, NULL});
		}
		end_table(page);
	}
}

static void put_all(const struct page *page, const struct compare_diff *diff)
{
	put_verdict(page, diff);
	put_notes(page, diff);
	put_split(page, diff);
	put_findings(page, diff);
	put_tables(page, diff);
}

void diff_print_markdown(FILE *out, const struct compare_diff *diff)
{
	put_all(&(struct page){out, false}, diff);
}

void diff_print_html(FILE *out, const struct compare_diff *diff)
{
	fputs("<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>headway diff</title>\n"
	      "<style>body{font:15px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
	      "table{border-collapse:collapse;margin:.5em 0}th,td{padding:.2em .8em;text-align:right;"
	      "border-bottom:1px solid #8884}th:first-child,td:first-child{text-align:left;"
	      "overflow-wrap:anywhere}@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}}"
	      "</style>\n",
	      out);
	put_all(&(struct page){out, true}, diff);
	fputs("</html>\n", out);
}
