/* SPDX-License-Identifier: Apache-2.0 */
/* roofline_plot.c - a roofline in characters: operations a second over operations a byte, both
 * logarithmic.
 *
 * The slope is the memory's bandwidth, a flat line the peak of a unit that one of the kernels
 * uses. A kernel is drawn as its mark in the list above the plot; where several fall on one
 * place, the one that could gain most is seen. Kernels without operations or bytes have no
 * place.
 */
#include <math.h>
#include <string.h>

#include "base/lang.h"
#include "cli/kernels_print.h"
#include "cli/kit/cli.h"
#include "cli/kit/paint.h"

enum { PLOT_ROWS = 14, PLOT_COLUMNS = 64, MOST_ROOFS = 6, MOST_MARKS = 35 };

struct plot {
	double x0, x1, y0, y1; /* log10 of the edges */
	double bytes_per_s;
	struct plot_roof {
		double flop_per_s;
		char name[64];
	} roofs[MOST_ROOFS];
	uint32_t n_roofs;
	uint32_t points; /* kernels that have a place */
	/* What stands at a place: 0 nothing, '/' the memory's roof, '-' another roof, else a
	 * kernel's mark. */
	char cells[PLOT_ROWS][PLOT_COLUMNS];
};

char kernels_mark(uint32_t i)
{
	return i < 9 ? (char)('1' + i) : i < MOST_MARKS ? (char)('a' + (i - 9)) : ' ';
}

static bool can_draw(const struct known_kernel *kernel, uint32_t device)
{
	return kernel->point.device == device && kernel->point.intensity > 0 &&
	       kernel->point.flop_per_s > 0 && isfinite(kernel->point.intensity);
}

static void add_roof(struct plot *plot, const struct known_kernel *kernel, double flop_per_s)
{
	char name[sizeof plot->roofs->name];
	snprintf(name, sizeof name, "%s", kernels_say_precision(kernel).text);
	for (uint32_t i = 0; i < plot->n_roofs; i++)
		if (strcmp(plot->roofs[i].name, name) == 0)
			return;
	if (!(flop_per_s > 0) || plot->n_roofs == MOST_ROOFS)
		return;
	plot->roofs[plot->n_roofs].flop_per_s = flop_per_s;
	memcpy(plot->roofs[plot->n_roofs++].name, name, sizeof name);
}

static void collect_roofs(struct plot *plot, const struct kernels_view *view, uint32_t device)
{
	const struct hwy_peaks *peaks = NULL;
	for (uint32_t i = 0; i < view->table->roofline.n_devices; i++)
		if (view->table->roofline.devices[i].device == device)
			peaks = &view->table->roofline.devices[i].peaks;
	if (!peaks)
		return;
	plot->bytes_per_s = peaks->bytes_per_s;
	for (uint32_t i = 0; i < view->n; i++) {
		const struct known_kernel *kernel = &view->table->kernels[view->chosen[i]];
		if (can_draw(kernel, device) && kernels_mark(i) != ' ') {
			plot->points++;
			add_roof(plot, kernel,
				 peaks_rate(peaks, kernel->point.precision, kernel->point.tensor));
		}
	}
}

/* Chooses edges so that all kernels, the ridges and the roofs are inside. */
static void choose_edges(struct plot *plot, const struct kernels_view *view, uint32_t device)
{
	plot->x0 = plot->y0 = INFINITY;
	plot->x1 = plot->y1 = -INFINITY;
	for (uint32_t i = 0; i < view->n; i++) {
		const struct known_kernel *kernel = &view->table->kernels[view->chosen[i]];
		if (!can_draw(kernel, device) || kernels_mark(i) == ' ')
			continue;
		double x = log10(kernel->point.intensity), y = log10(kernel->point.flop_per_s);
		plot->x0 = fmin(plot->x0, x);
		plot->x1 = fmax(plot->x1, x);
		plot->y0 = fmin(plot->y0, y);
		plot->y1 = fmax(plot->y1, y);
	}
	for (uint32_t i = 0; i < plot->n_roofs; i++) {
		double ridge = log10(plot->roofs[i].flop_per_s / plot->bytes_per_s);
		plot->x0 = fmin(plot->x0, ridge - 1);
		plot->x1 = fmax(plot->x1, ridge + 0.7);
		plot->y1 = fmax(plot->y1, log10(plot->roofs[i].flop_per_s));
	}
	/* Three decades of operations are enough to see a roof; five are the most that fourteen
	 * rows can show. */
	plot->y0 = fmax(fmin(plot->y0, plot->y1 - 3), plot->y1 - 5);
	plot->x0 = fmax(plot->x0, plot->x1 - 6) - 0.1;
	plot->x1 += 0.1;
	plot->y1 += 0.2;
	plot->y0 -= 0.1;
}

static void set_cell(struct plot *plot, double x, double y, char what)
{
	int column = (int)lround((x - plot->x0) / (plot->x1 - plot->x0) * (PLOT_COLUMNS - 1));
	int row = (int)lround((plot->y1 - y) / (plot->y1 - plot->y0) * (PLOT_ROWS - 1));
	bool is_mark = what != '/' && what != '-';
	column = column < 0 && is_mark ? 0 : column;
	row = row >= PLOT_ROWS && is_mark ? PLOT_ROWS - 1 : row;
	if (column < 0 || column >= PLOT_COLUMNS || row < 0 || row >= PLOT_ROWS)
		return;
	char *cell = &plot->cells[row][column];
	if (is_mark ? *cell == '\0' || *cell == '/' || *cell == '-' : *cell == '\0')
		*cell = what;
}

static void fill_cells(struct plot *plot, const struct kernels_view *view, uint32_t device)
{
	double highest = 0;
	for (uint32_t i = 0; i < view->n; i++) {
		const struct known_kernel *kernel = &view->table->kernels[view->chosen[i]];
		if (can_draw(kernel, device) && kernels_mark(i) != ' ')
			set_cell(plot, log10(kernel->point.intensity),
				 log10(kernel->point.flop_per_s), kernels_mark(i));
	}
	for (uint32_t i = 0; i < plot->n_roofs; i++)
		highest = fmax(highest, plot->roofs[i].flop_per_s);
	for (int column = 0; column < PLOT_COLUMNS; column++) {
		double x = plot->x0 + (plot->x1 - plot->x0) * column / (PLOT_COLUMNS - 1);
		double slope = pow(10, x) * plot->bytes_per_s;
		for (uint32_t i = 0; i < plot->n_roofs; i++)
			if (plot->roofs[i].flop_per_s <= slope)
				set_cell(plot, x, log10(plot->roofs[i].flop_per_s), '-');
		if (slope < highest)
			set_cell(plot, x, log10(slope), '/');
	}
}

/* ---- printing -------------------------------------------------------------------------------- */

static void print_cell(FILE *out, char cell, bool utf8, bool colour)
{
	if (cell == '\0')
		fputc(' ', out);
	else if (cell == '/')
		fputs(utf8 ? "╱" : "/", out);
	else if (cell == '-')
		fputs(utf8 ? "─" : "-", out);
	else
		fprintf(out, "%s%c%s", paint(colour, PAINT_BOLD), cell, paint(colour, PAINT_PLAIN));
}

/* The label of the roof that ends in a row, or of the decade that lies in it. */
static void print_row(FILE *out, const struct plot *plot, int row, bool utf8, bool colour)
{
	double step = (plot->y1 - plot->y0) / (PLOT_ROWS - 1);
	double y = plot->y1 - step * row;
	double decade = floor(y + step / 2);
	bool has_tick = decade > y - step / 2;
	char tick[64] = "";
	if (has_tick)
		snprintf(tick, sizeof tick, "%s",
			 kernels_say_flop_rate(pow(10, decade) * 1.0001).text);
	/* "1.00 TFLOP/s" and "10.0 TFLOP/s" as "1 TFLOP/s" and "10 TFLOP/s" */
	char *point = strchr(tick, '.'), *unit = strchr(tick, ' ');
	if (point && unit)
		memmove(point, unit, strlen(unit) + 1);
	fprintf(out, "  %12s %s", tick, utf8 ? (has_tick ? "┤" : "│") : "|");
	for (int column = 0; column < PLOT_COLUMNS; column++)
		print_cell(out, plot->cells[row][column], utf8, colour);
	for (uint32_t i = 0; i < plot->n_roofs; i++)
		if (lround((plot->y1 - log10(plot->roofs[i].flop_per_s)) / step) == row)
			fprintf(out, " %s %s", plot->roofs[i].name,
				kernels_say_flop_rate(plot->roofs[i].flop_per_s).text);
	fputc('\n', out);
}

static void print_axis(FILE *out, const struct plot *plot, bool utf8)
{
	char ticks[PLOT_COLUMNS + 16];
	memset(ticks, ' ', sizeof ticks);
	ticks[sizeof ticks - 1] = '\0';
	fprintf(out, "  %12s %s", "", utf8 ? "└" : "+");
	for (int column = 0; column < PLOT_COLUMNS; column++) {
		double step = (plot->x1 - plot->x0) / (PLOT_COLUMNS - 1);
		double x = plot->x0 + step * column, decade = floor(x + step / 2);
		bool has_tick = decade > x - step / 2;
		fputs(utf8 ? (has_tick ? "┴" : "─") : has_tick ? "+" : "-", out);
		if (has_tick) {
			char text[16];
			int n = snprintf(text, sizeof text, "%g", pow(10, decade));
			memcpy(ticks + column, text, (size_t)(n < 16 ? n : 15));
		}
	}
	size_t n = strlen(ticks);
	while (n > 0 && ticks[n - 1] == ' ')
		ticks[--n] = '\0';
	fprintf(out, hwy_tr("\n  %12s  %s  FLOP/byte; the slope is %s\n"), "", ticks,
		kernels_say_byte_rate(plot->bytes_per_s).text);
}

void roofline_plot(FILE *out, const struct kernels_view *view, uint32_t device)
{
	struct plot plot = {0};
	bool utf8 = cli_utf8(), colour = cli_colour(out);
	collect_roofs(&plot, view, device);
	if (plot.points == 0 || plot.n_roofs == 0 || !(plot.bytes_per_s > 0))
		return;
	choose_edges(&plot, view, device);
	fill_cells(&plot, view, device);
	fputc('\n', out);
	for (int row = 0; row < PLOT_ROWS; row++)
		print_row(out, &plot, row, utf8, colour);
	print_axis(out, &plot, utf8);
}
