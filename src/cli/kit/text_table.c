/* SPDX-License-Identifier: Apache-2.0 */
/* text_table.c - see text_table.h. */
#include "cli/kit/text_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/lang.h"
#include "base/mem.h"
#include "base/say.h"
#include "cli/kit/paint.h"

enum { HEADING_BYTES = 128 };

static void put_heading(const struct text_table *text_table, uint32_t i, char text[HEADING_BYTES])
{
	struct stats_column column = text_table->columns[i];
	char key[HEADING_BYTES];
	snprintf(key, sizeof key, "column|%s", column.name);
	column.name = hwy_tr_word(key);
	/* Each cell has its unit; where the user chose one unit with an option, the heading has the
	 * unit instead. */
	bool is_time = column.type == STATS_TIME || column.type == STATS_MOMENT ||
		       column.type == STATS_TIME_MEAN;
	if (!(is_time && text_table->options->unit_given))
		column.type = STATS_TEXT;
	stats_heading(&column, text_table->options->unit, text, HEADING_BYTES);
}

void text_table_begin(struct text_table *text_table, const struct stats_column *columns, uint32_t n)
{
	const struct report_table_options *options = text_table->options;
	text_table_free(text_table);
	text_table->columns = columns;
	text_table->align = hwy_alloc((size_t)n + 1);
	for (uint32_t i = 0; i < n; i++)
		text_table->align[i] = stats_is_text(&columns[i]) ? 'l' : 'r';
	text_table->align[n] = '\0';
	text_table->table = (struct table){
		.columns = n,
		.align = text_table->align,
		.heads = 1,
		.colour = options->colour,
		.is_ruled = true,
		.hides_empty = true,
		.is_ascii = !options->utf8,
		.width = options->width,
	};
	for (uint32_t i = 0; i < n; i++) {
		char heading[HEADING_BYTES];
		put_heading(text_table, i, heading);
		table_cell(&text_table->table, "%s", heading);
	}
}

/* ---- cells ----------------------------------------------------------------------------------- */

static bool is_zero(const struct stats_column *column, const struct stats_cell *cell)
{
	switch (column->type) {
	case STATS_TIME:
	case STATS_BYTES:
	case STATS_RATE: return cell->number == 0;
	case STATS_TIME_MEAN:
	case STATS_BYTES_MEAN: return cell->real < 0.5;
	default: return false;
	}
}

static int64_t rounded(const struct stats_column *column, const struct stats_cell *cell)
{
	bool is_mean = column->type == STATS_TIME_MEAN || column->type == STATS_BYTES_MEAN;
	return is_mean ? (int64_t)(cell->real + 0.5) : cell->number;
}

static void add_number(struct text_table *text_table, const struct stats_column *column,
		       const struct stats_cell *cell)
{
	struct table *table = &text_table->table;
	const struct report_table_options *options = text_table->options;
	char digits[STATS_NUMBER_BYTES];
	/* A zero is shown as a dash, so that other numbers stand out. */
	if (is_zero(column, cell)) {
		table_cell(table, "%s", options->utf8 ? "–" : "-");
		return;
	}
	bool is_second = column->type == STATS_MOMENT && !options->unit_given;
	stats_number(column, cell, is_second ? STATS_S : options->unit, digits);
	switch (column->type) {
	case STATS_TIME:
	case STATS_TIME_MEAN:
		table_cell(table, "%s",
			   options->unit_given ? hwy_say_digits_grouped(digits).text
					       : hwy_say_time4(rounded(column, cell)).text);
		break;
	case STATS_MOMENT:
		table_cell(table, "%s%s", hwy_say_digits_grouped(digits).text,
			   is_second ? " s" : "");
		break;
	case STATS_BYTES:
	case STATS_BYTES_MEAN:
		table_cell(table, "%s", hwy_say_bytes3_signed(rounded(column, cell)).text);
		break;
	case STATS_RATE: table_cell(table, "%s/s", hwy_say_bytes3_signed(cell->number).text); break;
	case STATS_PERCENT: table_cell(table, "%s %%", digits); break;
	case STATS_COUNT:
	case STATS_MEAN:
	case STATS_REAL: table_cell(table, "%s", hwy_say_digits_grouped(digits).text); break;
	case STATS_ID:
	case STATS_TEXT:
	case STATS_WORD: table_cell(table, "%s", digits); break;
	}
}

static void add_text(struct text_table *text_table, struct hwy_text text)
{
	/* Nearly every kernel returns void, so the word void is the first part of a name that is
	 * left out to save room. */
	uint32_t skipped = text.length > 5 && memcmp(text.at, "void ", 5) == 0 ? 5 : 0;
	char *copy = hwy_copy(text.at + skipped, text.length - skipped);
	hwy_sanitize(copy, text.length - skipped); /* also replaces a 0 inside the text */
	table_cell(&text_table->table, "%.*s", (int)(text.length - skipped), copy);
	free(copy);
}

static void add_table_word(struct text_table *text_table, struct hwy_text text)
{
	char *word = hwy_copy(text.at, text.length + 1u);
	word[text.length] = '\0';
	table_cell(&text_table->table, "%s", hwy_tr(word));
	free(word);
}

void text_table_row(struct text_table *text_table, const struct stats_cell *cells)
{
	for (uint32_t i = 0; i < text_table->table.columns; i++)
		if (cells[i].empty)
			table_cell(&text_table->table, "%s", "");
		else if (text_table->columns[i].type == STATS_WORD)
			add_table_word(text_table, cells[i].text);
		else if (text_table->columns[i].type == STATS_TEXT)
			add_text(text_table, cells[i].text);
		else
			add_number(text_table, &text_table->columns[i], &cells[i]);
}

/* ---- printing -------------------------------------------------------------------------------- */

void text_table_end(struct text_table *text_table, const struct stats_report *report, uint64_t rows,
		    bool is_first)
{
	const struct report_table_options *options = text_table->options;
	FILE *out = options->out;
	bool colour = options->colour;
	uint32_t shown = text_table->table.n_cells / text_table->table.columns - 1;
	fprintf(out, "%s%s%s%s  %s%s%s\n", is_first ? "" : "\n", paint(colour, PAINT_BOLD),
		hwy_tr(report->title), paint(colour, PAINT_PLAIN), paint(colour, PAINT_FAINT),
		report->name, paint(colour, PAINT_PLAIN));
	table_print(&text_table->table, out);
	if (rows > shown)
		fprintf(out, hwy_tr("%s%s %s more; --rows 0 shows all%s\n"),
			paint(colour, PAINT_FAINT), options->utf8 ? "…" : "...",
			hwy_say_count_grouped(rows - shown).text, paint(colour, PAINT_PLAIN));
	text_table_free(text_table);
}

void text_table_free(struct text_table *text_table)
{
	table_free(&text_table->table);
	free(text_table->align);
	text_table->align = NULL;
}
