/* SPDX-License-Identifier: Apache-2.0 */
/* sql_print.c - see sql_print.h. CSV and JSON are written row by row, since an answer may have
 * millions of rows. Tables for people are kept until their columns' widths are known. An answer
 * with more columns than a terminal has room for is printed a column a line. */
#include "cli/sql_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/kit/cli.h"
#include "cli/kit/paint.h"

const char *const sql_format_names[] = {"table", "csv", "json", "markdown", NULL};

enum { LONGEST_NUMBER = 32, ROOM_A_COLUMN = 10 };

/* Writes a number with as few digits as tell it from every other. */
static void real_digits(double value, char text[LONGEST_NUMBER])
{
	snprintf(text, LONGEST_NUMBER, "%.15g", value);
	if (strtod(text, NULL) != value)
		snprintf(text, LONGEST_NUMBER, "%.17g", value);
	/* A sum of reals that happens to be whole stays recognisable as a real. */
	if (!strpbrk(text, ".eEni"))
		strcat(text, ".0");
}

/* Writes a number as a person reads it: six digits, but all before the point. */
static void short_digits(double value, char text[LONGEST_NUMBER])
{
	bool is_large = (value >= 1e5 || value <= -1e5) && value < 1e15 && value > -1e15;
	snprintf(text, LONGEST_NUMBER, is_large ? "%.1f" : "%.6g", value);
}

static void number_digits(const struct hwy_cell *cell, char text[LONGEST_NUMBER])
{
	if (cell->type == HWY_CELL_REAL)
		real_digits(cell->real, text);
	else
		snprintf(text, LONGEST_NUMBER, "%" PRId64, cell->number);
}

/* ---- CSV and JSON ---------------------------------------------------------------------------- */

static void csv_put(FILE *out, const char *text, uint32_t length)
{
	bool is_plain = true;
	for (uint32_t i = 0; i < length && is_plain; i++)
		is_plain = !strchr(",\"\n\r", text[i]) || text[i] == '\0';
	if (is_plain) {
		fwrite_unlocked(text, 1, length, out);
		return;
	}
	putc_unlocked('"', out);
	for (uint32_t i = 0; i < length; i++) {
		if (text[i] == '"')
			putc_unlocked('"', out);
		putc_unlocked(text[i], out);
	}
	putc_unlocked('"', out);
}

static void csv_row(const struct sql_print *print, const struct hwy_cell *cells)
{
	char digits[LONGEST_NUMBER];
	for (uint32_t i = 0; i < print->n; i++) {
		if (i)
			putc_unlocked(',', print->out);
		if (cells[i].type == HWY_CELL_TEXT) {
			csv_put(print->out, cells[i].text.at, cells[i].text.length);
		} else if (cells[i].type != HWY_CELL_NONE) {
			number_digits(&cells[i], digits);
			fputs_unlocked(digits, print->out);
		}
	}
	putc_unlocked('\n', print->out);
}

static void json_row(struct sql_print *print, const struct hwy_cell *cells)
{
	struct hwy_json *json = &print->json;
	char digits[LONGEST_NUMBER];
	json_begin_object(json);
	json->pretty = false; /* each row stands on one line */
	for (uint32_t i = 0; i < print->n; i++) {
		json_key(json, print->names[i]);
		bool is_finite =
			cells[i].type != HWY_CELL_REAL || (cells[i].real - cells[i].real == 0);
		if (cells[i].type == HWY_CELL_TEXT) {
			json_text(json, cells[i].text.at, cells[i].text.length);
		} else if (cells[i].type == HWY_CELL_NONE || !is_finite) {
			json_null(json);
		} else {
			number_digits(&cells[i], digits);
			json_number(json, digits);
		}
	}
	json_end_object(json);
	json->pretty = true;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void add_flat_text(struct table *table, struct hwy_text text)
{
	char *flat = hwy_copy(text.at, text.length);
	for (uint32_t i = 0; i < text.length; i++)
		if (flat[i] == '\n' || flat[i] == '\r' || flat[i] == '\t' || flat[i] == '\0')
			flat[i] = ' ';
	table_cell(table, "%.*s", (int)text.length, flat);
	free(flat);
}

static void table_add_row(struct sql_print *print, const struct hwy_cell *cells)
{
	char digits[LONGEST_NUMBER];
	for (uint32_t i = 0; i < print->n; i++) {
		switch (cells[i].type) {
		case HWY_CELL_NONE: table_cell(&print->table, "%s", print->utf8 ? "–" : "-"); break;
		case HWY_CELL_TEXT:
			print->align[i] = 'l';
			add_flat_text(&print->table, cells[i].text);
			break;
		default:
			if (cells[i].type == HWY_CELL_REAL)
				short_digits(cells[i].real, digits);
			else
				number_digits(&cells[i], digits);
			table_cell(&print->table, "%s", digits);
			break;
		}
	}
}

/* A line for each column of each row, where a row has more columns than there is room for. */
static void print_upright(struct sql_print *print)
{
	struct table upright = {
		.columns = 2, .align = "ll", .indent = "  ", .is_ascii = !print->utf8};
	for (uint64_t row = 1; row <= print->rows; row++) {
		fprintf(print->out, "%srow %" PRIu64 "%s\n", paint(print->colour, PAINT_BOLD), row,
			paint(print->colour, PAINT_PLAIN));
		for (uint32_t i = 0; i < print->n; i++) {
			table_cell(&upright, "%s", print->names[i]);
			table_cell(&upright, "%s", print->table.cells[row * print->n + i]);
		}
		table_print(&upright, print->out);
	}
	table_free(&print->table);
}

static void print_table(struct sql_print *print)
{
	bool is_text = print->format == SQL_FORMAT_TABLE;
	if (is_text && print->width && (int)print->n * ROOM_A_COLUMN > print->width) {
		print_upright(print);
		return;
	}
	print->table.align = print->align;
	if (print->n == 1) /* nothing stands beside it: no text need be cut */
		print->table.width = 0;
	table_print(&print->table, print->out);
}

/* ---- the sink -------------------------------------------------------------------------------- */

static void end_answer(struct sql_print *print)
{
	if (!print->answers)
		return;
	if (print->format == SQL_FORMAT_JSON)
		json_end_array(&print->json);
	else if (print->format != SQL_FORMAT_CSV)
		print_table(print);
	for (uint32_t i = 0; i < print->n; i++)
		free(print->names[i]);
	print->n = 0;
}

static bool is_name_of_other(const struct sql_print *print, uint32_t column, const char *name)
{
	for (uint32_t i = 0; i < print->n; i++)
		if (i != column && strcmp(print->names[i], name) == 0)
			return true;
	return false;
}

/* The keys of an object are names of their own, or a reader loses all values but one: a.id and b.id
 * are id and id_2. */
static void make_names_unique(struct sql_print *print, const char *const *given)
{
	for (uint32_t i = 1; i < print->n; i++) {
		if (!is_name_of_other(print, i, print->names[i]))
			continue;
		uint32_t number = 1;
		for (uint32_t before = 0; before < i; before++)
			number += strcmp(given[before], given[i]) == 0;
		char *name = print->names[i];
		size_t room = strlen(name) + 16;
		print->names[i] = hwy_array(room, 1);
		snprintf(print->names[i], room, "%s", name);
		for (; is_name_of_other(print, i, print->names[i]); number++)
			snprintf(print->names[i], room, "%s_%u", name, number);
		free(name);
	}
}

static void begin_answer(void *self, const char *const *names, uint32_t n)
{
	struct sql_print *print = self;
	if (print->answers && print->format == SQL_FORMAT_JSON)
		cli_die("--format json prints one SELECT; the query has more");
	end_answer(print);
	if (print->answers++)
		putc('\n', print->out);
	print->rows = 0;
	print->n = n;
	print->names = hwy_resize(print->names, n, sizeof *print->names);
	print->align = hwy_resize(print->align, (size_t)n + 1, 1);
	memset(print->align, 'r', n);
	print->align[n] = '\0';
	for (uint32_t i = 0; i < n; i++) {
		print->names[i] = hwy_copy(names[i], strlen(names[i]) + 1);
		for (char *c = print->names[i]; *c; c++)
			*c = (char)(strchr("\n\r\t", *c) ? ' '
							 : *c); /* an expression of several lines */
	}
	bool is_markdown = print->format == SQL_FORMAT_MARKDOWN;
	print->table = (struct table){.format = is_markdown ? TABLE_MARKDOWN : TABLE_TEXT,
				      .columns = n,
				      .heads = 1,
				      .colour = print->colour,
				      .is_ruled = true,
				      .is_ascii = !print->utf8,
				      .width = print->width};
	if (print->format == SQL_FORMAT_JSON) {
		make_names_unique(print, names);
		print->json = (struct hwy_json){.out = print->out, .pretty = true, .fresh = true};
		json_begin_array(&print->json);
	} else if (print->format == SQL_FORMAT_CSV) {
		for (uint32_t i = 0; i < n; i++) {
			fputs(i ? "," : "", print->out);
			csv_put(print->out, print->names[i], (uint32_t)strlen(print->names[i]));
		}
		putc('\n', print->out);
	} else {
		table_row(&print->table, (const char *const *)print->names);
	}
}

static bool put_row(void *self, const struct hwy_cell *cells, uint32_t n)
{
	struct sql_print *print = self;
	(void)n;
	if (print->most_rows && print->rows == print->most_rows) {
		print->is_cut = true;
		return false;
	}
	print->rows++;
	switch (print->format) {
	case SQL_FORMAT_CSV: csv_row(print, cells); break;
	case SQL_FORMAT_JSON: json_row(print, cells); break;
	default: table_add_row(print, cells); break;
	}
	return !ferror(print->out);
}

struct sql_sink sql_print_sink(struct sql_print *print)
{
	return (struct sql_sink){print, begin_answer, put_row};
}

void sql_print_end(struct sql_print *print)
{
	end_answer(print);
	print->answers = 0;
	fflush(print->out);
}

void sql_print_free(struct sql_print *print)
{
	for (uint32_t i = 0; i < print->n; i++)
		free(print->names[i]);
	free(print->names);
	free(print->align);
	table_free(&print->table);
}
