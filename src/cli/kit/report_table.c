/* SPDX-License-Identifier: Apache-2.0 */
/* report_table.c - see report_table.h. The formats for programs write each row as it comes: a
 * report may have millions of rows. The format for people (text_table.c) keeps the rows that it
 * will show, since columns are as wide as their widest cell.
 */
#include "cli/kit/report_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/kit/text_table.h"

const char *const report_table_format_names[REPORT_TABLE_FORMATS + 1] = {"table", "csv", "tsv",
									 "json", "markdown"};

enum { HEADING_BYTES = 96 };

struct report_table {
	struct report_table_options options;
	struct stats_sink sink;
	const struct stats_report *report;
	const struct stats_column *columns;
	uint32_t n;
	uint64_t rows;    /* rows of this report, also those that are not shown */
	uint32_t reports; /* number of reports that had rows, so far */
	struct text_table text_table;
	struct hwy_json json;
	char (*headings)[HEADING_BYTES];
};

/* ---- one cell -------------------------------------------------------------------------------- */

/* Writes text with quotes only where it needs them, as Python's csv module does, and nsys with
 * it. */
static void csv_text(FILE *out, struct hwy_text text)
{
	bool plain = true;
	for (uint32_t i = 0; i < text.length && plain; i++) {
		char c = text.at[i];
		plain = c != ',' && c != '"' && c != '\n' && c != '\r';
	}
	if (plain) {
		fwrite_unlocked(text.at, 1, text.length, out);
		return;
	}
	putc_unlocked('"', out);
	for (uint32_t i = 0; i < text.length; i++) {
		if (text.at[i] == '"')
			putc_unlocked('"', out);
		putc_unlocked(text.at[i], out);
	}
	putc_unlocked('"', out);
}

/* Writes text with spaces for tabs and newlines, which would end a cell or a row. In Markdown '|'
 * would end the cell, and other characters would be markup: they are escaped. */
static void flat_text(FILE *out, struct hwy_text text, bool markdown)
{
	char *flat = hwy_copy(text.at, text.length);
	for (uint32_t i = 0; i < text.length; i++)
		if (flat[i] == '\t' || flat[i] == '\n' || flat[i] == '\r')
			flat[i] = ' ';
	hwy_sanitize(flat, text.length);
	for (uint32_t i = 0; i < text.length; i++) {
		char c = flat[i];
		if (markdown && strchr("|\\<*_`", c))
			putc_unlocked('\\', out);
		putc_unlocked(c, out);
	}
	free(flat);
}

static void json_cell(struct report_table *table, uint32_t i, const struct stats_cell *cell)
{
	char text[STATS_NUMBER_BYTES];
	json_key(&table->json, table->headings[i]);
	if (cell->empty) {
		json_null(&table->json);
	} else if (stats_is_text(&table->columns[i])) {
		json_text(&table->json, cell->text.at, cell->text.length);
	} else {
		stats_number(&table->columns[i], cell, table->options.unit, text);
		json_number(&table->json, text);
	}
}

static void report_table_put_cell(struct report_table *table, uint32_t i,
				  const struct stats_cell *cell)
{
	FILE *out = table->options.out;
	if (!stats_is_text(&table->columns[i])) {
		char text[STATS_NUMBER_BYTES];
		size_t length = stats_number(&table->columns[i], cell, table->options.unit, text);
		fwrite_unlocked(text, 1, length, out);
	} else if (!cell->empty && table->options.format == REPORT_TABLE_CSV) {
		csv_text(out, cell->text);
	} else if (!cell->empty) {
		flat_text(out, cell->text, table->options.format == REPORT_TABLE_MARKDOWN);
	}
}

/* ---- a report -------------------------------------------------------------------------------- */

static void begin_json(struct report_table *table)
{
	if (table->options.several)
		json_key(&table->json, table->report->name);
	json_begin_array(&table->json);
}

static void begin_lines(struct report_table *table)
{
	FILE *out = table->options.out;
	bool markdown = table->options.format == REPORT_TABLE_MARKDOWN;
	const char *between = markdown                                    ? " | "
			      : table->options.format == REPORT_TABLE_CSV ? ","
									  : "\t";
	if (table->reports)
		putc_unlocked('\n', out);
	if (markdown)
		fprintf(out, "### %s (`%s`)\n\n", table->report->title, table->report->name);
	for (uint32_t i = 0; i < table->n; i++)
		fprintf(out, "%s%s", i ? between : markdown ? "| " : "", table->headings[i]);
	fputs(markdown ? " |\n" : "\n", out);
	for (uint32_t i = 0; markdown && i < table->n; i++)
		fputs(stats_is_text(&table->columns[i]) ? "| :-- " : "| --: ", out);
	fputs(markdown ? "|\n" : "", out);
}

static void report_table_begin(void *self, const struct stats_column *columns, uint32_t n)
{
	struct report_table *table = self;
	table->columns = columns;
	table->n = n;
	table->headings = hwy_resize(table->headings, n, sizeof *table->headings);
	for (uint32_t i = 0; i < n; i++)
		stats_heading(&columns[i], table->options.unit, table->headings[i], HEADING_BYTES);
	if (table->options.format == REPORT_TABLE_TEXT)
		text_table_begin(&table->text_table, columns, n);
	else if (table->options.format == REPORT_TABLE_JSON)
		begin_json(table);
	else
		begin_lines(table);
}

static void report_table_row(void *self, const struct stats_cell *cells, uint32_t n)
{
	struct report_table *table = self;
	FILE *out = table->options.out;
	if (++table->rows > table->options.rows && table->options.rows)
		return;
	switch (table->options.format) {
	case REPORT_TABLE_TEXT: text_table_row(&table->text_table, cells); return;
	case REPORT_TABLE_JSON:
		json_begin_object(&table->json);
		table->json.pretty = false; /* each row stands on one line */
		for (uint32_t i = 0; i < n; i++)
			json_cell(table, i, &cells[i]);
		json_end_object(&table->json);
		table->json.pretty = true;
		return;
	case REPORT_TABLE_MARKDOWN:
		for (uint32_t i = 0; i < n; i++) {
			fputs(i ? " | " : "| ", out);
			report_table_put_cell(table, i, &cells[i]);
		}
		fputs(" |\n", out);
		return;
	case REPORT_TABLE_CSV:
	case REPORT_TABLE_TSV:
	case REPORT_TABLE_FORMATS: break;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			putc_unlocked(table->options.format == REPORT_TABLE_CSV ? ',' : '\t', out);
		report_table_put_cell(table, i, &cells[i]);
	}
	putc_unlocked('\n', out);
}

struct report_table *report_table_new(const struct report_table_options *options)
{
	struct report_table *table = hwy_zalloc(sizeof *table);
	table->options = *options;
	table->sink = (struct stats_sink){
		.self = table, .begin = report_table_begin, .row = report_table_row};
	table->json = (struct hwy_json){.out = options->out, .pretty = true, .fresh = true};
	table->text_table.options = options;
	if (options->format == REPORT_TABLE_JSON && options->several)
		json_begin_object(&table->json);
	return table;
}

const struct stats_sink *report_table_sink(struct report_table *table)
{
	return &table->sink;
}

void report_table_report(struct report_table *table, const struct stats_report *report)
{
	table->report = report;
	table->rows = 0;
}

bool report_table_end(struct report_table *table)
{
	bool any = table->rows > 0;
	if (table->options.format == REPORT_TABLE_JSON) {
		if (!any)
			begin_json(table);
		json_end_array(&table->json);
	}
	if (any && table->options.format == REPORT_TABLE_TEXT)
		text_table_end(&table->text_table, table->report, table->rows, table->reports == 0);
	table->reports += any;
	return any;
}

void report_table_free(struct report_table *table)
{
	if (table->options.format == REPORT_TABLE_JSON && table->options.several)
		json_end_object(&table->json);
	text_table_free(&table->text_table);
	free(table->headings);
	free(table);
}
