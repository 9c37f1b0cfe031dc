/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_text.c - `headway kernels` for people: a table by time to be gained, a roofline, then
 * kernel by kernel what it waits for, the counters that say so, and what to do. Markdown has the
 * same table and the same words.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/path.h"
#include "base/say.h"
#include "base/utf8.h"
#include "cli/kernels_print.h"
#include "cli/kit/cli.h"
#include "cli/kit/paint.h"
#include "cli/kit/table.h"
#include "compare/kernel_names.h"

enum { TEXT_WIDTH = 110, LABEL_WIDTH = 10, DETAIL_INDENT = 4, MOST_SOURCE_LINES = 6 };
/* Columns of a name in the table, in the table of a narrow terminal, and above the lines of a
 * kernel. */
enum { NAME_COLUMNS = 48, NARROW_NAME_COLUMNS = 28, TITLE_COLUMNS = 64 };

/* The columns of the table; those that a narrow terminal does without, the first first. */
enum {
	COLUMN_MARK,
	COLUMN_GAIN,
	COLUMN_TIME,
	COLUMN_SHARE,
	COLUMN_LAUNCHES,
	COLUMN_BOUND,
	COLUMN_ROOF,
	COLUMN_SM,
	COLUMN_DRAM,
	COLUMN_OCCUPANCY,
	COLUMN_WAVES,
	COLUMN_NUMBERS,
	COLUMN_NAME,
	COLUMNS
};
static const int spare_columns[] = {COLUMN_WAVES, COLUMN_NUMBERS, COLUMN_OCCUPANCY, COLUMN_LAUNCHES,
				    COLUMN_SHARE, COLUMN_SM,      COLUMN_DRAM};
enum { SPARE_COLUMNS = sizeof spare_columns / sizeof *spare_columns };

static const struct known_kernel *kernel_at(const struct kernels_view *view, uint32_t i)
{
	return &view->table->kernels[view->chosen[i]];
}

static bool has_any_roof(const struct kernels_view *view)
{
	for (uint32_t i = 0; i < view->n; i++)
		if (kernel_at(view, i)->has_gain)
			return true;
	return false;
}

/* What bounds a kernel, in the reader's language. */
static const char *bound_word(const struct known_kernel *kernel)
{
	return kernel->is_endless ? hwy_tr_word(HWY_KEY("bound|waits"))
				  : hwy_tr(kernel_bound_name(kernel));
}

/* ---- the head -------------------------------------------------------------------------------- */

static void say_head(FILE *text, const struct kernels_view *view)
{
	const struct kernel_table *table = view->table;
	const struct hwy_trace *trace = table->trace;
	uint32_t measured = 0, shapes = 0;
	for (uint32_t i = 0; i < table->n; i++) {
		measured += table->kernels[i].is_measured;
		shapes += !table->kernels[i].is_measured && table->kernels[i].has_gain;
	}
	if (trace->n_devices && *hwy_str(trace, trace->devices[0].name))
		fprintf(text, " · %s", hwy_str(trace, trace->devices[0].name));
	fprintf(text, hwy_tr(" · %" PRIu32 " kernel%s, %s"), table->n, table->n == 1 ? "" : "s",
		hwy_say_time3(table->ns).text);
	if (measured > 0 && table->has_launches)
		fprintf(text, hwy_tr(" · counters of %" PRIu32 ", %s of the time"), measured,
			hwy_say_part_1decimal(table->measured_ns, table->ns).text);
	else if (measured > 0)
		fputs(hwy_tr(" · counters, without a recording"), text);
	else
		fputs(hwy_tr(shapes ? HWY_KEY(" · no counters; work by the shapes of operators")
				    : HWY_KEY(" · no counters")),
		      text);
}

static void kernels_put_head(FILE *out, const struct kernels_view *view, bool colour)
{
	char *text = NULL;
	size_t size;
	FILE *memory = open_memstream(&text, &size);
	if (!memory)
		cli_die("out of memory");
	say_head(memory, view);
	fclose(memory);
	const char *name = hwy_basename(view->path);
	fprintf(out, " %s", paint(colour, PAINT_BOLD));
	cli_put(out, name, strlen(name));
	fputs(paint(colour, PAINT_PLAIN), out);
	cli_put(out, text, strlen(text));
	fputs("\n\n", out);
	free(text);
}

/* ---- the table ------------------------------------------------------------------------------- */

static void add_share_cell(struct table *table, bool is_known, double share)
{
	if (is_known && !isnan(share))
		table_cell(table, "%.0f %%", 100 * share);
	else
		table_cell(table, "%s", "");
}

/* How often the grid fills the device; two digits are enough to see whether it does. */
static void add_waves(struct table *table, const struct known_kernel *kernel)
{
	double waves = kernel->has_occupancy ? kernel->occupancy.waves
		       : kernel->is_measured ? kernel->counters.waves
					     : 0;
	if (waves >= 9.95)
		table_cell(table, "%.0f", waves);
	else if (waves >= 0.01)
		table_cell(table, "%.2g", waves);
	else
		table_cell(table, "%s", waves > 0 ? "<0.01" : "");
}

struct kernels_name {
	char text[KERNEL_NAME_BYTES];
};

/* A kernel's name in at most so many columns. Names of libraries differ at both ends, so that
 * the middle is left out. */
static struct kernels_name shown_name(const struct known_kernel *kernel, int columns)
{
	struct kernels_name name;
	kernel_name_short(kernel->point.name, name.text);
	size_t length = strlen(name.text), tail = (size_t)columns / 3;
	if (hwy_utf8_columns(name.text, length) <= columns)
		return name;
	struct kernels_name cut;
	const char *mark = cli_utf8() ? "…" : "~";
	size_t head = hwy_utf8_cut(name.text, length, columns - 1 - (int)tail);
	const char *end = name.text + (length > tail ? length - tail : 0);
	while (((unsigned char)*end & 0xc0) == 0x80) /* inside of a character */
		end++;
	snprintf(cut.text, sizeof cut.text, "%.*s%s%s", (int)head, name.text, mark, end);
	return cut;
}

static void add_row(struct table *table, const struct known_kernel *kernel, uint32_t i,
		    int name_columns)
{
	const struct roofline_point *point = &kernel->point;
	const struct kernel_counters *c = &kernel->counters;
	table_cell(table, "%c", kernels_mark(i));
	table_cell(table, "%s", kernel->has_gain ? hwy_say_time3(point->gain_ns).text : "");
	table_cell(table, "%s", hwy_say_time3(point->ns).text);
	table_cell(table, "%s", hwy_say_share(point->share).text);
	table_cell(table, "%s", hwy_say_count_grouped(point->count).text);
	table_cell(table, "%s", bound_word(kernel));
	add_share_cell(table, true, point->of_peak);
	add_share_cell(table, kernel->is_measured, c->of_sm);
	add_share_cell(table, kernel->is_measured, c->of_dram);
	table_cell(table, "%s", kernels_say_occupancy(kernel).text);
	add_waves(table, kernel);
	table_cell(table, "%s", kernels_say_precision(kernel).text);
	table_cell(table, "%s", shown_name(kernel, name_columns).text);
}

static void fill_table(struct table *table, const struct kernels_view *view, int name_columns)
{
	uint32_t rows = view->rows && view->rows < view->n ? view->rows : view->n;
	table_row(table, (const char *[]){"", hwy_tr("to gain"), hwy_tr("time"), hwy_tr("share"),
					  hwy_tr_word(HWY_KEY("head|launches")), hwy_tr("bound"),
					  hwy_tr("of roof"), "SM", "DRAM", hwy_tr("occupancy"),
					  hwy_tr("waves"), hwy_tr("numbers"),
					  hwy_tr_word(HWY_KEY("head|kernel"))});
	for (uint32_t i = 0; i < rows; i++)
		add_row(table, kernel_at(view, i), i, name_columns);
}

/* Empties a column, so that it is left out. */
static void drop_column(struct table *table, int column)
{
	for (uint32_t i = (uint32_t)column; i < table->n_cells; i += table->columns)
		table->cells[i][0] = '\0';
}

static void kernels_put_table(FILE *out, const struct kernels_view *view, struct table table)
{
	fill_table(&table, view, table.format == TABLE_TEXT ? NAME_COLUMNS : KERNEL_NAME_BYTES);
	if (table.width && table_text_width(&table) > table.width) {
		table_free(&table);
		fill_table(&table, view, NARROW_NAME_COLUMNS);
	}
	for (int i = 0; i < SPARE_COLUMNS && table.width && table_text_width(&table) > table.width;
	     i++)
		drop_column(&table, spare_columns[i]);
	table_print(&table, out);
}

static void kernels_put_rest(FILE *out, const struct kernels_view *view)
{
	if (!view->rows || view->rows >= view->n)
		return;
	int64_t ns = 0;
	for (uint32_t i = view->rows; i < view->n; i++)
		ns += kernel_at(view, i)->point.ns;
	fprintf(out, hwy_tr("  … %" PRIu32 " more, %s of the time; --rows 0 lists all\n"),
		view->n - view->rows, hwy_say_part_1decimal(ns, view->table->ns).text);
}

/* ---- one kernel ------------------------------------------------------------------------------ */

static void kernels_put_title(FILE *out, const struct known_kernel *kernel, uint32_t i, bool colour)
{
	const struct roofline_point *point = &kernel->point;
	struct kernels_name name = shown_name(kernel, TITLE_COLUMNS);
	fprintf(out, "\n %c  %s", kernels_mark(i), paint(colour, PAINT_BOLD));
	cli_put(out, name.text, strlen(name.text));
	fprintf(out, "%s   %s", paint(colour, PAINT_PLAIN), hwy_say_time3(point->ns).text);
	if (kernel->has_gain)
		fprintf(out, hwy_tr(" → %s at best"), hwy_say_time3((int64_t)point->roof_ns).text);
	fputc('\n', out);
}

static void put_wrapped(FILE *out, const char *label, const char *text, int width)
{
	fprintf(out, "%*s", DETAIL_INDENT, "");
	cli_put_column(out, label, LABEL_WIDTH);
	cli_wrap(out, text, DETAIL_INDENT + LABEL_WIDTH, width);
}

static void put_source(FILE *out, const struct kernels_view *view,
		       const struct known_kernel *kernel)
{
	struct kernels_source_line *lines;
	int64_t all;
	uint32_t n = kernels_source_lines(view, kernel, &lines, &all);
	for (uint32_t i = 0; i < n && i < MOST_SOURCE_LINES; i++) {
		const char *file = *lines[i].file ? hwy_basename(lines[i].file)
						  : hwy_tr("no line information");
		fprintf(out, "%*s", DETAIL_INDENT, "");
		cli_put_column(out, i ? "" : hwy_tr("source"), LABEL_WIDTH);
		fprintf(out, "%6s  ", hwy_say_share((double)lines[i].samples / (double)all).text);
		cli_put(out, file, strlen(file));
		if (lines[i].line)
			fprintf(out, ":%" PRId64, lines[i].line);
		if (*lines[i].reason) {
			fputs("  ", out);
			cli_put(out, lines[i].reason, strlen(lines[i].reason));
		}
		fputc('\n', out);
	}
	free(lines);
}

static void kernels_put_one(FILE *out, const struct kernels_view *view, uint32_t i, int width,
			    bool colour)
{
	const struct known_kernel *kernel = kernel_at(view, i);
	char *says = NULL;
	kernels_put_title(out, kernel, i, colour);
	if (asprintf(&says, hwy_tr("%s: %s"), bound_word(kernel), kernel->point.says) < 0)
		cli_die("out of memory");
	fprintf(out, "%*s", DETAIL_INDENT, "");
	cli_wrap(out, says, DETAIL_INDENT, width);
	free(says);
	for (int line = 0; line < KERNELS_LINES; line++) {
		char *text = kernels_say_line(view, kernel, (enum kernels_fact_line)line);
		if (*text)
			put_wrapped(out, hwy_tr_word(kernels_line_names[line]), text, width);
		free(text);
	}
	put_source(out, view, kernel);
	for (uint32_t a = 0; a < kernels_shown_advice(view, kernel); a++) {
		fprintf(out, "%*s%s▸%s ", DETAIL_INDENT, "", paint(colour, PAINT_GREEN),
			paint(colour, PAINT_PLAIN));
		cli_wrap(out, kernel->advice[a], DETAIL_INDENT + 2, width);
	}
}

static void put_details(FILE *out, const struct kernels_view *view, int width, bool colour)
{
	uint32_t *rows, n = kernels_described(view, &rows);
	for (uint32_t i = 0; i < n; i++)
		kernels_put_one(out, view, rows[i], width, colour);
	free(rows);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* The text of --apply for the kernel that gains most: its name is cut where a part of it is
 * enough. */
static void put_next(FILE *out, const struct kernels_view *view)
{
	const struct known_kernel *first = view->n ? kernel_at(view, 0) : NULL;
	for (uint32_t i = 0; i < view->n_notes; i++) {
		fputs(hwy_tr("   note: "), out);
		cli_put(out, view->notes[i], strlen(view->notes[i]));
		fputc('\n', out);
	}
	if (view->measure) {
		fputs(hwy_tr("   counters say more; to measure them: "), out);
		cli_put(out, view->measure, strlen(view->measure));
		fputc('\n', out);
	}
	if (!first || !first->has_gain || first->point.gain_ns <= 0 || !view->table->has_launches)
		return;
	const char *part;
	size_t length = kernel_table_part(view->table, first, &part);
	fputs(hwy_tr("   what the program would gain: "), out);
	fputs("headway whatif --apply 'faster:", out);
	cli_put(out, part, length);
	fputs("' ", out);
	cli_put(out, view->path, strlen(view->path));
	fputc('\n', out);
}

void kernels_print_text(FILE *out, const struct kernels_view *view)
{
	bool colour = cli_colour(out);
	int width = cli_width(out);
	kernels_put_head(out, view, colour);
	if (view->n == 0) {
		fputs(hwy_tr("   no kernel\n"), out);
		return;
	}
	kernels_put_table(out, view,
			  (struct table){.format = TABLE_TEXT,
					 .columns = COLUMNS,
					 .align = "lrrrrlrrrrrll",
					 .heads = 1,
					 .indent = " ",
					 .colour = colour,
					 .hides_empty = true,
					 .is_ascii = !cli_utf8(),
					 .width = width});
	kernels_put_rest(out, view);
	for (uint32_t i = 0; i < view->table->roofline.n_devices; i++)
		roofline_plot(out, view, view->table->roofline.devices[i].device);
	put_details(out, view, width ? width : TEXT_WIDTH, colour);
	fputc('\n', out);
	put_next(out, view);
	if (has_any_roof(view))
		fputs(hwy_tr("   'at best' is the same operations and bytes at the device's peaks: a bound, not a promise\n"),
		      out);
}

void kernels_print_markdown(FILE *out, const struct kernels_view *view)
{
	char *head = NULL;
	size_t size;
	FILE *memory = open_memstream(&head, &size);
	if (!memory)
		cli_die("out of memory");
	say_head(memory, view);
	fclose(memory);
	fputs("## ", out);
	cli_put_markdown(out, hwy_basename(view->path));
	cli_put_markdown(out, head);
	fputs("\n\n", out);
	free(head);
	if (view->n == 0)
		return;
	kernels_put_table(out, view,
			  (struct table){.format = TABLE_MARKDOWN,
					 .columns = COLUMNS,
					 .align = "lrrrrlrrrrrll",
					 .heads = 1});
	uint32_t *rows, n = kernels_described(view, &rows);
	for (uint32_t i = 0; i < n; i++) {
		const struct known_kernel *kernel = kernel_at(view, rows[i]);
		fprintf(out, hwy_tr("\n**%c** %s: "), kernels_mark(rows[i]), bound_word(kernel));
		cli_put_markdown(out, kernel->point.says);
		fputc('\n', out);
		for (uint32_t a = 0; a < kernels_shown_advice(view, kernel); a++) {
			fputs("- ", out);
			cli_put_markdown(out, kernel->advice[a]);
			fputc('\n', out);
		}
	}
	free(rows);
}
