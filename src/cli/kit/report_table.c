/* report_table.c - see report_table.h. The formats for programs write each row as it comes; the one for people (text_table.c)
 * keeps those it will show, since columns are as wide as their widest cell.
 */
#include "cli/kit/report_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/kit/text_table.h"

const char *const table_format_names[TABLE_FORMATS + 1] = {"table", "csv", "tsv", "json",
							   "markdown"};

enum { HEADING_BYTES = 96 };

struct table {
	struct table_options options;
	struct stats_sink sink;
	const struct stats_report *report;
	const struct stats_column *columns;
	uint32_t n;
	uint64_t rows;    /* of this report, those not shown included */
	uint32_t reports; /* that had rows */
	struct people people;
	struct hwy_json json;
	char (*headings)[HEADING_BYTES];
};

/* ---- one cell ------------------------------------------------------------------------------------- */

/* As Python's csv module does it, and nsys with it: quotes only where they are needed. */
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

/* Tabs and newlines are what separates; they become spaces. In Markdown '|' would end the cell. */
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

static void json_cell(struct table *table, uint32_t i, const struct stats_cell *cell)
{
	char text[STATS_NUMBER_BYTES];
	json_key(&table->json, table->headings[i]);
	if (cell->empty) {
		json_null(&table->json);
	} else if (table->columns[i].type == STATS_TEXT) {
		json_text(&table->json, cell->text.at, cell->text.length);
	} else {
		stats_number(&table->columns[i], cell, table->options.unit, text);
		json_number(&table->json, text);
	}
}

static void report_table_put_cell(struct table *table, uint32_t i, const struct stats_cell *cell)
{
	FILE *out = table->options.out;
	if (table->columns[i].type != STATS_TEXT) {
		char text[STATS_NUMBER_BYTES];
		size_t length = stats_number(&table->columns[i], cell, table->options.unit, text);
		fwrite_unlocked(text, 1, length, out);
	} else if (!cell->empty && table->options.format == TABLE_CSV) {
		csv_text(out, cell->text);
	} else if (!cell->empty) {
		flat_text(out, cell->text, table->options.format == TABLE_MARKDOWN);
	}
}

/* ---- a report ------------------------------------------------------------------------------------- */

static void begin_json(struct table *table)
{
	if (table->options.several)
		json_key(&table->json, table->report->name);
	json_begin_array(&table->json);
}

static void begin_lines(struct table *table)
{
	FILE *out = table->options.out;
	bool markdown = table->options.format == TABLE_MARKDOWN;
	const char *between = markdown ? " | " : table->options.format == TABLE_CSV ? "," : "\t";
	if (table->reports)
		putc_unlocked('\n', out);
	if (markdown)
		fprintf(out, "### %s (`%s`)\n\n", table->report->title, table->report->name);
	for (uint32_t i = 0; i < table->n; i++)
		fprintf(out, "%s%s", i ? between : markdown ? "| " : "", table->headings[i]);
	fputs(markdown ? " |\n" : "\n", out);
	for (uint32_t i = 0; markdown && i < table->n; i++)
		fputs(table->columns[i].type == STATS_TEXT ? "| :-- " : "| --: ", out);
	fputs(markdown ? "|\n" : "", out);
}

static void report_table_begin(void *self, const struct stats_column *columns, uint32_t n)
{
	struct table *table = self;
	table->columns = columns;
	table->n = n;
	table->headings = hwy_realloc(table->headings, n * sizeof *table->headings);
	for (uint32_t i = 0; i < n; i++)
		stats_heading(&columns[i], table->options.unit, table->headings[i], HEADING_BYTES);
	if (table->options.format == TABLE_PEOPLE)
		people_begin(&table->people, columns, n);
	else if (table->options.format == TABLE_JSON)
		begin_json(table);
	else
		begin_lines(table);
}

static void row(void *self, const struct stats_cell *cells, uint32_t n)
{
	struct table *table = self;
	FILE *out = table->options.out;
	if (++table->rows > table->options.rows && table->options.rows)
		return;
	switch (table->options.format) {
	case TABLE_PEOPLE: people_row(&table->people, cells); return;
	case TABLE_JSON:
		json_begin_object(&table->json);
		table->json.pretty = false; /* a line a row */
		for (uint32_t i = 0; i < n; i++)
			json_cell(table, i, &cells[i]);
		json_end_object(&table->json);
		table->json.pretty = true;
		return;
	case TABLE_MARKDOWN:
		for (uint32_t i = 0; i < n; i++) {
			fputs(i ? " | " : "| ", out);
			report_table_put_cell(table, i, &cells[i]);
		}
		fputs(" |\n", out);
		return;
	case TABLE_CSV:
	case TABLE_TSV:
	case TABLE_FORMATS: break;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			putc_unlocked(table->options.format == TABLE_CSV ? ',' : '\t', out);
		report_table_put_cell(table, i, &cells[i]);
	}
	putc_unlocked('\n', out);
}

struct table *table_new(const struct table_options *options)
{
	struct table *table = hwy_zalloc(sizeof *table);
	table->options = *options;
	table->sink = (struct stats_sink){.self = table, .begin = report_table_begin, .row = row};
	table->json = (struct hwy_json){.out = options->out, .pretty = true, .fresh = true};
	table->people.options = options;
	if (options->format == TABLE_JSON && options->several)
		json_begin_object(&table->json);
	return table;
}

const struct stats_sink *table_sink(struct table *table)
{
	return &table->sink;
}

void table_report(struct table *table, const struct stats_report *report)
{
	table->report = report;
	table->rows = 0;
}

bool table_end(struct table *table)
{
	bool any = table->rows > 0;
	if (table->options.format == TABLE_JSON) {
		if (!any)
			begin_json(table);
		json_end_array(&table->json);
	}
	if (any && table->options.format == TABLE_PEOPLE)
		people_end(&table->people, table->report, table->rows, table->reports > 0);
	table->reports += any;
	return any;
}

void table_free(struct table *table)
{
	if (table->options.format == TABLE_JSON && table->options.several)
		json_end_object(&table->json);
	people_free(&table->people);
	free(table->headings);
	free(table);
}
