/* grid.c - see grid.h. */
#include "cli/kit/grid.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/kit/units.h"

int grid_columns_of(const char *text)
{
	int columns = 0;
	for (; *text; text++)
		columns += ((unsigned char)*text & 0xc0) != 0x80;
	return columns;
}

const char *grid_time_text(char *text, int64_t ns)
{
	return strcpy(text, units_time(ns).at);
}

const char *grid_percent_text(char *text, int64_t part, int64_t whole)
{
	double share = whole ? (double)part * 100 / (double)whole : 0;
	if (part > 0 && share < 0.05)
		snprintf(text, GRID_TEXT, "<0.1 %%");
	else
		snprintf(text, GRID_TEXT, "%.1f %%", share);
	return text;
}

void grid_cell(struct grid *grid, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	char *text = NULL;
	if (vasprintf(&text, format, arguments) < 0)
		text = hwy_copy("?", 2);
	va_end(arguments);
	hwy_sanitize(text, strlen(text));
	HWY_GROW(grid->cells, grid->n, grid->cap);
	grid->cells[grid->n++] = text;
}

void grid_text(struct grid *grid, const char *text, int most)
{
	int columns = 0;
	size_t n = 0,
	       kept = 0; /* bytes: looked at, and of the most that leaves room for the mark */
	for (; text[n]; n++) {
		columns += ((unsigned char)text[n] & 0xc0) != 0x80;
		if (columns > most)
			break;
		if (columns < most)
			kept = n + 1;
	}
	grid_cell(grid, "%.*s%s", (int)(text[n] ? kept : n), text, text[n] ? "…" : "");
}

void grid_time(struct grid *grid, int64_t ns)
{
	char text[GRID_TEXT];
	grid_cell(grid, "%s", ns ? grid_time_text(text, ns) : "–");
}

void grid_count(struct grid *grid, uint64_t count)
{
	grid_cell(grid, "%s", count ? units_count(count).at : "–");
}

void grid_percent(struct grid *grid, int64_t part, int64_t whole)
{
	char text[GRID_TEXT];
	grid_cell(grid, "%s", part ? grid_percent_text(text, part, whole) : "");
}

static void print_row(const struct grid *grid, const int *widths, uint32_t row, FILE *out)
{
	/* No spaces at the end of a line: they would show in what people paste. */
	uint32_t last = grid->columns;
	while (last > 1 && !*grid->cells[row * grid->columns + last - 1])
		last--;
	for (uint32_t c = 0; c < last; c++) {
		const char *text = grid->cells[row * grid->columns + c];
		int pad = widths[c] - grid_columns_of(text);
		if (c == 0)
			fprintf(out, "%s%*s", text, last > 1 ? pad : 0, "");
		else if (c + 1 == grid->columns && grid->ends_in_text)
			fprintf(out, "  %s", text);
		else
			fprintf(out, "  %*s%s", pad, "", text);
	}
}

void grid_print(struct grid *grid, FILE *out, const char *indent)
{
	uint32_t rows = grid->n / grid->columns;
	int *widths = hwy_zalloc(grid->columns * sizeof *widths);
	for (uint32_t i = 0; i < rows * grid->columns; i++) {
		int width = grid_columns_of(grid->cells[i]);
		if (width > widths[i % grid->columns])
			widths[i % grid->columns] = width;
	}
	for (uint32_t row = 0; row < rows; row++) {
		bool faint = grid->colour && row < grid->head;
		fprintf(out, "%s%s", indent, faint ? "\033[2m" : "");
		print_row(grid, widths, row, out);
		fprintf(out, "%s\n", faint ? "\033[0m" : "");
	}
	for (uint32_t i = 0; i < grid->n; i++)
		free(grid->cells[i]);
	free(grid->cells);
	free(widths);
	*grid = (struct grid){.columns = grid->columns};
}
