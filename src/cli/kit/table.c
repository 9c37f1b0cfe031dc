/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - see table.h. */
#include "cli/kit/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/say.h"
#include "base/utf8.h"
#include "cli/kit/cli.h"
#include "cli/kit/html.h"
#include "cli/kit/paint.h"

enum { BETWEEN_COLUMNS = 2, LEAST_CUT_COLUMNS = 16, LONGEST_RULE_COLUMNS = 100 };

/* ---- cells ----------------------------------------------------------------------------------- */

static void table_add(struct table *table, char *text)
{
	if (text && table->format == TABLE_TEXT)
		hwy_sanitize(text, strlen(text));
	HWY_GROW(table->cells, table->n_cells, table->cap);
	table->cells[table->n_cells++] = text;
}

void table_cell(struct table *table, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	char *text = NULL;
	if (vasprintf(&text, format, arguments) < 0)
		cli_die("out of memory");
	va_end(arguments);
	table_add(table, text);
}

void table_row(struct table *table, const char *const *texts)
{
	for (uint32_t i = 0; i < table->columns; i++)
		table_add(table, texts[i] ? hwy_copy(texts[i], strlen(texts[i]) + 1) : NULL);
}

void table_cut_text(struct table *table, const char *text, int most)
{
	size_t length = strlen(text);
	if (hwy_utf8_columns(text, length) <= most)
		table_cell(table, "%s", text);
	else
		table_cell(table, "%.*s…", (int)hwy_utf8_cut(text, length, most - 1), text);
}

void table_time(struct table *table, int64_t ns)
{
	table_cell(table, "%s", ns ? hwy_say_time4(ns).text : "–");
}

void table_count(struct table *table, uint64_t count)
{
	table_cell(table, "%s", count ? hwy_say_count_grouped(count).text : "–");
}

void table_percent(struct table *table, int64_t part, int64_t whole)
{
	table_cell(table, "%s", part ? hwy_say_part_1decimal(part, whole).text : "");
}

static const char *table_text(const struct table *table, uint32_t row, uint32_t column)
{
	const char *text = table->cells[(size_t)row * table->columns + column];
	return text ? text : "";
}

static bool column_is_number(const struct table *table, uint32_t column)
{
	const char *align = table->align ? table->align : "lr";
	size_t last = strlen(align) - 1;
	return align[column < last ? column : last] == 'r';
}

static uint32_t count_rows(const struct table *table)
{
	return table->n_cells / table->columns;
}

/* ---- text ------------------------------------------------------------------------------------ */

static int columns_of(const char *text)
{
	return hwy_utf8_columns(text, strlen(text));
}

/* Yields the columns of the terminal that a row takes. */
static int total_width(const struct table *table, const int *widths)
{
	int total = -BETWEEN_COLUMNS;
	for (uint32_t i = 0; i < table->columns; i++)
		total += widths[i] || !table->hides_empty ? widths[i] + BETWEEN_COLUMNS : 0;
	return total;
}

/* Cuts texts where the terminal is narrow, from the last column to the first: a text further
 * left tells more. */
static void fit_widths(const struct table *table, int *widths)
{
	int over = table->width ? total_width(table, widths) - table->width : 0;
	for (uint32_t i = table->columns; i-- > 0 && over > 0;) {
		if (column_is_number(table, i) || widths[i] <= LEAST_CUT_COLUMNS)
			continue;
		int gives =
			over < widths[i] - LEAST_CUT_COLUMNS ? over : widths[i] - LEAST_CUT_COLUMNS;
		widths[i] -= gives;
		over -= gives;
	}
}

/* Computes the widths of the columns; a column that is left out gets 0. */
static int *find_widths(const struct table *table)
{
	int *widths = hwy_zarray(table->columns, sizeof *widths);
	for (uint32_t i = 0; i < table->columns; i++) {
		for (uint32_t row = table->heads; row < count_rows(table); row++) {
			int width = columns_of(table_text(table, row, i));
			widths[i] = width > widths[i] ? width : widths[i];
		}
		if (table->heads == 0 || (table->hides_empty && widths[i] == 0))
			continue;
		int heading = columns_of(table_text(table, 0, i));
		widths[i] = heading > widths[i] ? heading : widths[i];
	}
	return widths;
}

int table_text_width(const struct table *table)
{
	int *widths = find_widths(table);
	int total = total_width(table, widths);
	free(widths);
	return total + (table->indent ? columns_of(table->indent) : 0);
}

static void print_cut(const struct table *table, FILE *out, const char *text, int width)
{
	if (columns_of(text) <= width) {
		fputs(text, out);
		return;
	}
	const char *mark = table->is_ascii ? ".." : "…";
	size_t length = hwy_utf8_cut(text, strlen(text), width - columns_of(mark));
	fprintf(out, "%.*s%s", (int)length, text, mark);
}

static void print_text_row(const struct table *table, FILE *out, uint32_t row, const int *widths)
{
	/* Lines do not end with spaces, which would show where people paste the table. */
	uint32_t end = table->columns;
	while (end > 1 &&
	       (!*table_text(table, row, end - 1) || (table->hides_empty && widths[end - 1] == 0)))
		end--;
	bool is_first = true;
	for (uint32_t i = 0; i < end; i++) {
		if (table->hides_empty && widths[i] == 0)
			continue;
		const char *text = table_text(table, row, i);
		bool is_number = column_is_number(table, i);
		int pad = widths[i] - columns_of(text);
		pad = pad > 0 ? pad : 0;
		fprintf(out, "%*s", (is_first ? 0 : BETWEEN_COLUMNS) + (is_number ? pad : 0), "");
		is_first = false;
		print_cut(table, out, text, widths[i]);
		fprintf(out, "%*s", !is_number && i + 1 < end ? pad : 0, "");
	}
}

static void print_rule(const struct table *table, FILE *out, const int *widths)
{
	int total = total_width(table, widths);
	int most = table->width ? table->width : LONGEST_RULE_COLUMNS;
	fputc('\n', out);
	for (int i = 0; i < total && i < most; i++)
		fputs(table->is_ascii ? "-" : "─", out);
}

static void print_as_text(const struct table *table, FILE *out)
{
	int *widths = find_widths(table);
	fit_widths(table, widths);
	for (uint32_t row = 0; row < count_rows(table); row++) {
		bool is_head = row < table->heads;
		fprintf(out, "%s%s", table->indent ? table->indent : "",
			paint(is_head && table->colour, PAINT_FAINT));
		print_text_row(table, out, row, widths);
		if (is_head && table->is_ruled)
			print_rule(table, out, widths);
		fprintf(out, "%s\n", paint(is_head && table->colour, PAINT_PLAIN));
	}
	free(widths);
}

/* ---- Markdown -------------------------------------------------------------------------------- */

static void print_as_markdown(const struct table *table, FILE *out)
{
	const char *left = table->left_rule ? table->left_rule : "---";
	const char *right = table->right_rule ? table->right_rule : "---:";
	fputc('\n', out); /* a table begins after an empty line */
	for (uint32_t row = 0; row < count_rows(table); row++) {
		fputc('|', out);
		for (uint32_t i = 0; i < table->columns; i++) {
			const char *text = table->cells[(size_t)row * table->columns + i];
			if (text && table->is_markup)
				fprintf(out, " %s", text);
			else if (text) {
				fputc(' ', out);
				cli_put_markdown(out, text);
			}
			fputs(" |", out);
		}
		fputc('\n', out);
		if (row > 0)
			continue;
		for (uint32_t i = 0; i < table->columns; i++)
			fprintf(out, "|%s", column_is_number(table, i) ? right : left);
		fputs("|\n", out);
	}
}

/* ---- HTML ------------------------------------------------------------------------------------ */

static void print_as_html(const struct table *table, FILE *out)
{
	fputs("<article><table>", out);
	for (uint32_t row = 0; row < count_rows(table); row++) {
		const char *tag = row < table->heads ? "th" : "td";
		fputs("<tr>", out);
		for (uint32_t i = 0; i < table->columns; i++) {
			fprintf(out, "<%s%s>", tag,
				column_is_number(table, i) ? " class=\"n\"" : "");
			html_text(out, table_text(table, row, i), 0);
			fprintf(out, "</%s>", tag);
		}
		fputs("</tr>\n", out);
	}
	fputs("</table></article>\n", out);
}

void table_print(struct table *table, FILE *out)
{
	switch (table->format) {
	case TABLE_TEXT: print_as_text(table, out); break;
	case TABLE_MARKDOWN: print_as_markdown(table, out); break;
	case TABLE_HTML: print_as_html(table, out); break;
	}
	table_free(table);
}

void table_free(struct table *table)
{
	for (uint32_t i = 0; i < table->n_cells; i++)
		free(table->cells[i]);
	free(table->cells);
	table->cells = NULL;
	table->n_cells = table->cap = 0;
}
