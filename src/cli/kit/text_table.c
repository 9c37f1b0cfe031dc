/* text_table.c - see text_table.h. */
#include "cli/kit/text_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/kit/grid.h"
#include "cli/kit/units.h"

enum { LEAST_NAME = 16, BETWEEN = 2 };

void people_begin(struct people *people, const struct stats_column *columns, uint32_t n)
{
	people->columns = columns;
	people->n = n;
}

/* Names from recordings hold anything; a table has one line a row. */
static char *text_of(struct hwy_text text)
{
	/* What every kernel returns is the first thing to save room with. */
	if (text.length > 5 && memcmp(text.at, "void ", 5) == 0)
		text = (struct hwy_text){text.at + 5, text.length - 5};
	char *copy = hwy_alloc((size_t)text.length + 1);
	memcpy(copy, text.at, text.length);
	copy[text.length] = 0;
	hwy_sanitize(copy, text.length);
	return copy;
}

enum { NUMBER_BYTES = 2 * STATS_NUMBER_BYTES };

/* "1234567.8" -> "1,234,567.8" */
static void group_digits(const char *digits, const char *unit, char text[NUMBER_BYTES])
{
	size_t sign = digits[0] == '-', whole = strcspn(digits + sign, ".");
	memcpy(text, digits, sign);
	char *to = text + sign;
	for (size_t i = 0; i < whole; i++) {
		if (i && (whole - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[sign + i];
	}
	snprintf(to, (size_t)(text + NUMBER_BYTES - to), "%s%s", digits + sign + whole, unit);
}

static void bytes_text(int64_t bytes, const char *per, char text[NUMBER_BYTES])
{
	uint64_t size = bytes < 0 ? 0 - (uint64_t)bytes : (uint64_t)bytes;
	snprintf(text, NUMBER_BYTES, "%s%s%s", bytes < 0 ? "-" : "", units_bytes(size).at, per);
}

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

static void text_table_number_of(const struct people *people, const struct stats_column *column,
				 const struct stats_cell *cell, char text[NUMBER_BYTES])
{
	char digits[STATS_NUMBER_BYTES];
	bool suit = !people->options->unit_given;
	stats_number(column, cell, people->options->unit, digits);
	if (is_zero(column, cell)) { /* a column of zeros should not look like one of numbers */
		snprintf(text, NUMBER_BYTES, "%s", people->options->utf8 ? "\u2013" : "-");
		return;
	}
	switch (column->type) {
	case STATS_TIME:
	case STATS_TIME_MEAN:
		if (suit)
			grid_time_text(text, column->type == STATS_TIME
						     ? cell->number
						     : (int64_t)(cell->real + 0.5));
		else
			group_digits(digits, "", text);
		break;
	case STATS_MOMENT:
		if (suit)
			stats_number(column, cell, STATS_S, digits);
		group_digits(digits, suit ? " s" : "", text);
		break;
	case STATS_BYTES: bytes_text(cell->number, "", text); break;
	case STATS_BYTES_MEAN: bytes_text((int64_t)(cell->real + 0.5), "", text); break;
	case STATS_RATE: bytes_text(cell->number, "/s", text); break;
	case STATS_PERCENT: snprintf(text, NUMBER_BYTES, "%s %%", digits); break;
	case STATS_COUNT:
	case STATS_MEAN: group_digits(digits, "", text); break;
	case STATS_ID:
	case STATS_TEXT: snprintf(text, NUMBER_BYTES, "%s", digits); break;
	}
}

void people_row(struct people *people, const struct stats_cell *cells)
{
	for (uint32_t i = 0; i < people->n; i++) {
		char text[NUMBER_BYTES] = "";
		HWY_GROW(people->cells, people->n_cells, people->cap);
		char **cell = &people->cells[people->n_cells++];
		if (!cells[i].empty && people->columns[i].type == STATS_TEXT) {
			*cell = text_of(cells[i].text);
			continue;
		}
		if (!cells[i].empty)
			text_table_number_of(people, &people->columns[i], &cells[i], text);
		*cell = hwy_copy(text, strlen(text) + 1);
	}
}

/* ---- printing ------------------------------------------------------------------------------------- */

static void print_heading(const struct people *people, uint32_t i, char text[128])
{
	struct stats_column column = people->columns[i];
	/* Cells carry their unit; the heading does where one unit was asked for. */
	bool timed = column.type == STATS_TIME || column.type == STATS_MOMENT ||
		     column.type == STATS_TIME_MEAN;
	if (!(timed && people->options->unit_given))
		column.type = STATS_TEXT;
	stats_heading(&column, people->options->unit, text, 128);
}

/* A text cut to 'width' columns. */
static void print_cut(FILE *out, const char *text, int width, bool utf8)
{
	if (grid_columns_of(text) <= width) {
		fputs(text, out);
		return;
	}
	const char *dots = utf8 ? "\u2026" : "..";
	int room = width - grid_columns_of(dots);
	for (; *text && (room > 0 || ((unsigned char)*text & 0xc0) == 0x80); text++) {
		room -= ((unsigned char)text[0] & 0xc0) != 0x80;
		putc(*text, out);
		if (room == 0 && ((unsigned char)text[1] & 0xc0) != 0x80)
			break;
	}
	fputs(dots, out);
}

/* Widths of the columns; 0: no row has anything there, and it is not shown. The last text gives way when the
 * terminal is narrow. */
static int *widths_of(const struct people *people)
{
	int *widths = hwy_zalloc((people->n + 1) * sizeof *widths);
	int total = -BETWEEN, last_text = -1;
	for (uint32_t i = 0; i < people->n_cells; i++) {
		int width = grid_columns_of(people->cells[i]);
		if (width > widths[i % people->n])
			widths[i % people->n] = width;
	}
	for (uint32_t i = 0; i < people->n; i++) {
		char heading[128];
		print_heading(people, i, heading);
		if (widths[i] == 0)
			continue;
		widths[i] =
			grid_columns_of(heading) > widths[i] ? grid_columns_of(heading) : widths[i];
		total += widths[i] + BETWEEN;
		if (people->columns[i].type == STATS_TEXT)
			last_text = (int)i;
	}
	int over = people->options->width ? total - people->options->width : 0;
	/* From the last text to the first: the rest is more telling the further left it stands. */
	for (int i = last_text; i >= 0 && over > 0; i--) {
		if (people->columns[i].type != STATS_TEXT || widths[i] <= LEAST_NAME)
			continue;
		int gives = over < widths[i] - LEAST_NAME ? over : widths[i] - LEAST_NAME;
		widths[i] -= gives;
		over -= gives;
	}
	return widths;
}

static void text_table_print_line(const struct people *people, char *const *cells,
				  const int *widths)
{
	FILE *out = people->options->out;
	uint32_t last = people->n;
	bool first = true;
	while (last > 1 && (!*cells[last - 1] || widths[last - 1] == 0))
		last--;
	for (uint32_t i = 0; i < last; i++) {
		if (widths[i] == 0)
			continue;
		bool text = people->columns[i].type == STATS_TEXT;
		int pad = widths[i] - grid_columns_of(cells[i]);
		fprintf(out, "%*s", first ? 0 : BETWEEN, "");
		first = false;
		if (!text && pad > 0)
			fprintf(out, "%*s", pad, "");
		print_cut(out, cells[i], widths[i], people->options->utf8);
		if (text && pad > 0 && i + 1 < last)
			fprintf(out, "%*s", pad, "");
	}
}

static void text_table_print_head(const struct people *people, const int *widths)
{
	FILE *out = people->options->out;
	const char *faint = people->options->colour ? "\033[2m" : "";
	const char *plain = people->options->colour ? "\033[0m" : "";
	char(*headings)[128] = hwy_alloc(people->n * sizeof *headings);
	char **cells = hwy_alloc(people->n * sizeof *cells);
	int total = -BETWEEN;
	for (uint32_t i = 0; i < people->n; i++) {
		print_heading(people, i, headings[i]);
		cells[i] = headings[i];
		total += widths[i] ? widths[i] + BETWEEN : 0;
	}
	fputs(faint, out);
	text_table_print_line(people, cells, widths);
	putc('\n', out);
	int width = people->options->width;
	for (int i = 0; i < (width && total > width ? width
			     : total < 100 || width ? total
						    : 100);
	     i++)
		fputs(people->options->utf8 ? "\u2500" : "-", out);
	fprintf(out, "%s\n", plain);
	free(cells);
	free(headings);
}

void people_end(struct people *people, const struct stats_report *report, uint64_t rows, bool later)
{
	FILE *out = people->options->out;
	const char *bold = people->options->colour ? "\033[1m" : "";
	const char *faint = people->options->colour ? "\033[2m" : "";
	const char *plain = people->options->colour ? "\033[0m" : "";
	uint32_t shown = people->n_cells / people->n;
	int *widths = widths_of(people);
	fprintf(out, "%s%s%s%s  %s%s%s\n", later ? "\n" : "", bold, report->title, plain, faint,
		report->name, plain);
	text_table_print_head(people, widths);
	for (uint32_t row = 0; row < shown; row++) {
		text_table_print_line(people, people->cells + (size_t)row * people->n, widths);
		putc('\n', out);
	}
	if (rows > shown)
		fprintf(out, "%s%s %s more; --rows 0 shows all%s\n", faint,
			people->options->utf8 ? "\u2026" : "...", units_count(rows - shown).at,
			plain);
	free(widths);
	people_free(people);
}

void people_free(struct people *people)
{
	for (uint32_t i = 0; i < people->n_cells; i++)
		free(people->cells[i]);
	free(people->cells);
	people->cells = NULL;
	people->n_cells = people->cap = 0;
}
