/* SPDX-License-Identifier: Apache-2.0 */
/* drawing.c - see drawing.h.
 *
 * A row is a label, the cells, and a note. A cell whose state takes less than half of its time
 * gets the small mark: many short kernels look like a dotted line, one long kernel looks like a
 * bar. In rows of names a name stands behind a bar; where a name has no room its number is shown
 * (12 for step_12), or nothing.
 */
#include "cli/kit/drawing.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/lang.h"
#include "base/mem.h"
#include "base/say.h"
#include "base/utf8.h"
#include "cli/kit/cli.h"
#include "cli/kit/paint.h"

enum { LABEL = 12, NOTE = 14, FEWEST = 20 }; /* widths in columns */
enum { SMALL = 128 }; /* of 255: a state that fills less of its cell gets the small mark */

static const struct look {
	const char *full, *small; /* the marks in UTF-8, for a cell and for less than half a cell */
	char plain, plain_small;
	enum paint paint;
	const char *name;
} looks[PICTURE_STATES] = {
	[PICTURE_NOTHING] = {"·", "·", '.', '.', PAINT_FAINT, NULL},
	[PICTURE_WAIT] = {"░", "░", 'w', 'w', PAINT_RED, HWY_KEY("legend|waits for the GPU")},
	[PICTURE_CALL] = {"█", "▪", '#', '+', PAINT_BLUE, HWY_KEY("legend|calls")},
	[PICTURE_OS] = {"─", "╴", '~', '~', PAINT_MAGENTA, HWY_KEY("legend|in the OS")},
	[PICTURE_RUN] = {"█", "▪", '#', '+', PAINT_GREEN, HWY_KEY("legend|runs")},
	[PICTURE_COMPUTE] = {"█", "▪", '#', '+', PAINT_GREEN, HWY_KEY("legend|kernels")},
	[PICTURE_COMM] = {"▓", "▪", '@', '+', PAINT_MAGENTA, HWY_KEY("legend|communication")},
	[PICTURE_COPY] = {"▒", "▫", '=', '-', PAINT_YELLOW, HWY_KEY("legend|copies")},
	[PICTURE_FILL] = {"▚", "▫", 'f', '-', PAINT_CYAN, HWY_KEY("legend|fills")},
};

uint32_t drawing_cells(int width, const char *indent)
{
	int cells = width - (int)strlen(indent) - LABEL - NOTE;
	return (uint32_t)(cells < FEWEST ? FEWEST : cells);
}

/* ---- cells ----------------------------------------------------------------------------------- */

static const char *cell_text(const struct drawing *drawing, struct picture_cell cell, char *plain)
{
	const struct look *look = &looks[cell.state];
	bool small = cell.part < SMALL;
	if (drawing->utf8)
		return small ? look->small : look->full;
	plain[0] = small ? look->plain_small : look->plain;
	plain[1] = '\0';
	return plain;
}

static void print_cells(const struct drawing *drawing, const struct picture_row *row)
{
	uint8_t state = PICTURE_STATES;
	char plain[2];
	for (uint32_t c = 0; c < drawing->picture->cells; c++) {
		struct picture_cell cell = row->cells[c];
		if (cell.state != state)
			fprintf(drawing->out, "%s%s", paint(drawing->colour, PAINT_PLAIN),
				paint(drawing->colour, looks[cell.state].paint));
		state = cell.state;
		fputs(cell_text(drawing, cell, plain), drawing->out);
	}
	fputs(paint(drawing->colour, PAINT_PLAIN), drawing->out);
}

/* ---- names ----------------------------------------------------------------------------------- */

static uint32_t cell_of(const struct hwy_picture *picture, int64_t time)
{
	__int128 cells = (__int128)(time - picture->from) * picture->cells;
	return (uint32_t)(cells / (picture->to - picture->from));
}

/* A line that is written cell by cell: a cell holds one character of UTF-8 with its marks. The cell
 * behind a character of two columns holds nothing. */
struct line {
	char (*cells)[8];
	uint32_t n;
};

/* Puts a text into at most 'room' cells, from 'first' on. */
static void drawing_put_text(struct line *line, uint32_t first, const char *text, uint32_t room)
{
	uint32_t cell = first, end = room < line->n - first ? first + room : line->n;
	for (size_t left = strlen(text), length; left > 0; text += length, left -= length) {
		uint32_t code;
		length = hwy_utf8_decode(text, left, &code);
		length = length ? length : 1;
		uint32_t columns = (uint32_t)hwy_utf8_code_columns(code);
		char *character = line->cells[columns || cell == first ? cell : cell - 1];
		if (cell + columns > end || cell == line->n)
			return;
		size_t used = columns || cell == first ? 0 : strlen(character);
		if (used + length >= sizeof *line->cells)
			continue; /* a cell has room for one or two marks */
		snprintf(character + used, sizeof *line->cells - used, "%.*s", (int)length, text);
		if (columns == 2)
			*line->cells[cell + 1] = '\0';
		cell += columns;
	}
}

/* Puts into 'into' what of a name fits 'room' columns: the name, its number, its beginning, or
 * "". */
static void fit(const struct drawing *drawing, const char *name, uint32_t room, char *into,
		size_t size)
{
	snprintf(into, size, "%s", name);
	hwy_sanitize(into, strlen(into));
	if ((uint32_t)hwy_utf8_columns(into, strlen(into)) <= room)
		return;
	size_t length = strlen(into), digits = length;
	while (digits && isdigit((unsigned char)into[digits - 1]))
		digits--;
	/* Some names end with a separate number: step_12, step 12, step#12. Backward0 does not. */
	if (digits < length && digits && !isalnum((unsigned char)into[digits - 1])) {
		memmove(into, into + digits, length - digits + 1);
		if (length - digits > room)
			*into = '\0';
		return;
	}
	if (room < 3) {
		*into = '\0';
		return;
	}
	size_t kept = hwy_utf8_cut(into, length, (int)room - 1);
	strcpy(into + kept, drawing->utf8 ? "…" : "~");
}

static void drawing_print_line(const struct drawing *drawing, const struct line *line)
{
	uint32_t last = line->n;
	while (last && strcmp(line->cells[last - 1], " ") == 0)
		last--;
	for (uint32_t c = 0; c < last; c++)
		fputs(line->cells[c], drawing->out);
}

static struct line new_line(uint32_t n)
{
	struct line line = {hwy_array(n, sizeof *line.cells), n};
	for (uint32_t c = 0; c < n; c++)
		strcpy(line.cells[c], " ");
	return line;
}

static void print_names(const struct drawing *drawing, const struct picture_row *row)
{
	const struct hwy_picture *picture = drawing->picture;
	struct line line = new_line(picture->cells);
	const char *bar = drawing->utf8 ? "▕" : "|";
	for (uint32_t i = 0; i < row->n_labels; i++) {
		const struct picture_label *label = &row->labels[i];
		uint32_t from = cell_of(picture, label->at.from),
			 to = cell_of(picture, label->at.to);
		char text[512];
		/* A bar marks where the range begins, and where it ends unless the next range
		 * begins. */
		bool follows = i + 1 < row->n_labels &&
			       cell_of(picture, row->labels[i + 1].at.from) <= to + 1;
		if (to < line.n && !follows)
			drawing_put_text(&line, to, bar, 1);
		drawing_put_text(&line, from, bar, 1);
		if (to <= from + 1)
			continue;
		fit(drawing, hwy_str(drawing->trace, label->name), to - from - 1, text,
		    sizeof text - 4);
		drawing_put_text(&line, from + 1, text, to - from - 1);
	}
	fputs(paint(drawing->colour, PAINT_FAINT), drawing->out);
	drawing_print_line(drawing, &line);
	fputs(paint(drawing->colour, PAINT_PLAIN), drawing->out);
	free(line.cells);
}

/* ---- labels and notes ------------------------------------------------------------------------ */

/* Yields how many rows of a type there are. */
static uint32_t rows_of(const struct drawing *drawing, enum picture_row_type type)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < drawing->picture->n; i++)
		n += drawing->picture->rows[i].type == type;
	return n;
}

/* Whether the thread can be told by the rank of its process: no other thread of that rank is
 * drawn. */
static bool is_thread_of_rank(const struct drawing *drawing, const struct hwy_thread *thread)
{
	const struct hwy_trace *trace = drawing->trace;
	if (!hwy_has_ranks(trace) || thread->process < 0 || thread->process >= trace->n_processes ||
	    trace->processes[thread->process].rank == HWY_NONE)
		return false;
	uint32_t n = 0;
	for (uint32_t i = 0; i < drawing->picture->n; i++) {
		const struct picture_row *row = &drawing->picture->rows[i];
		n += row->type == PICTURE_THREAD &&
		     trace->threads[row->index].process == thread->process;
	}
	return n == 1;
}

static const char *label_of(const struct drawing *drawing, const struct picture_row *row,
			    char *text, size_t size)
{
	const struct hwy_trace *trace = drawing->trace;
	*text = '\0';
	if (row->type == PICTURE_THREAD) {
		const struct hwy_thread *thread = &trace->threads[row->index];
		if (rows_of(drawing, PICTURE_THREAD) == 1)
			snprintf(text, size, "CPU");
		else if (is_thread_of_rank(drawing, thread))
			snprintf(text, size, "rank %" PRId64,
				 trace->processes[thread->process].rank);
		else if (thread->tid != HWY_NONE)
			snprintf(text, size, "CPU %" PRId64, thread->tid);
		else
			snprintf(text, size, "CPU %s", hwy_str(trace, thread->source_name));
	} else if (row->type == PICTURE_DEVICE) {
		bool has_number = row->index >= 0 && row->index < trace->n_devices &&
				  trace->devices[row->index].ordinal != HWY_NONE;
		if (has_number)
			snprintf(text, size, "GPU %" PRId64, trace->devices[row->index].ordinal);
		else
			snprintf(text, size, "GPU");
	} else if (row->type == PICTURE_STREAM) {
		int64_t stream = trace->lanes[row->index].stream;
		bool has_number = stream >= 0 && stream < trace->n_streams &&
				  trace->streams[stream].number != HWY_NONE;
		if (has_number)
			snprintf(text, size, hwy_tr(" stream %" PRId64),
				 trace->streams[stream].number);
		else
			snprintf(text, size, "%s", hwy_tr(" stream"));
	}
	return text;
}

static void print_note(const struct drawing *drawing, const struct picture_row *row)
{
	const struct hwy_picture *picture = drawing->picture;
	int64_t whole = picture->to - picture->from;
	if (row->type == PICTURE_DEVICE)
		fprintf(drawing->out, hwy_tr("  busy %s"),
			hwy_say_part_1decimal(whole - row->time[PICTURE_NOTHING], whole).text);
	else if (row->type == PICTURE_THREAD && row->time[PICTURE_WAIT])
		fprintf(drawing->out, hwy_tr("  waits %s"),
			row->time[PICTURE_WAIT] == whole /* "100.0 %" would be too long */
				? "100 %"
				: hwy_say_part_1decimal(row->time[PICTURE_WAIT], whole).text);
	else if (row->type == PICTURE_THREAD && row->time[PICTURE_RUN])
		fprintf(drawing->out, hwy_tr("  runs %s"),
			hwy_say_part_1decimal(row->time[PICTURE_RUN], whole).text);
}

/* Prints the CPU's lead over each device: how many launches are enqueued and have not ended. */
static void print_lead(const struct drawing *drawing)
{
	for (uint32_t i = 0; i < drawing->picture->n; i++) {
		const struct picture_row *row = &drawing->picture->rows[i];
		char label[64];
		if (row->type != PICTURE_DEVICE || !row->n_ahead)
			continue;
		label_of(drawing, row, label, sizeof label);
		fprintf(drawing->out, "%s%*s%s", drawing->indent, LABEL, "", hwy_tr("headway"));
		if (rows_of(drawing, PICTURE_DEVICE) > 1)
			fprintf(drawing->out, hwy_tr(" of %s"), label);
		fprintf(drawing->out,
			hwy_tr(": the CPU is %.1f launches ahead on average, at most %" PRIu32
			       "\n"),
			row->mean_ahead, row->most_ahead);
	}
}

/* ---- the ruler ------------------------------------------------------------------------------- */

/* The distance of a ruler's marks: the smallest of 1, 2, 5, 10, … ns of which at most 'most' fit
 * into 'span' ns. */
static int64_t tick_of(int64_t span, int64_t most)
{
	static const int64_t factors[] = {2, 5, 10};
	int64_t decade = 1, tick = 1;
	for (int i = 0; span / tick > most && decade < HWY_TIME_LIMIT / 10; i++) {
		tick = decade * factors[i % 3];
		if (i % 3 == 2)
			decade *= 10;
	}
	return tick;
}

static void print_ruler(const struct drawing *drawing)
{
	const struct hwy_picture *picture = drawing->picture;
	struct line line = new_line(picture->cells);
	int64_t span = picture->to - picture->from, tick = tick_of(span, picture->cells / 12 + 1);
	for (int64_t at = 0; at < span; at += tick) {
		uint32_t cell = cell_of(picture, picture->from + at);
		struct hwy_words text = hwy_say_time_on_ruler(at, tick, drawing->utf8);
		if (cell + 1 + (uint32_t)hwy_utf8_columns(text.text, strlen(text.text)) > line.n)
			break;
		drawing_put_text(&line, cell, drawing->utf8 ? "╷" : "'", 1);
		drawing_put_text(&line, cell + 1, text.text, line.n);
	}
	fprintf(drawing->out, "%s%s%*s", drawing->indent, paint(drawing->colour, PAINT_FAINT),
		LABEL, "");
	drawing_print_line(drawing, &line);
	fprintf(drawing->out, "%s\n", paint(drawing->colour, PAINT_PLAIN));
	free(line.cells);
}

/* ---- the legend ------------------------------------------------------------------------------ */

static bool occurs(const struct drawing *drawing, enum picture_state state, bool *small)
{
	bool there = false;
	for (uint32_t i = 0; i < drawing->picture->n; i++) {
		const struct picture_row *row = &drawing->picture->rows[i];
		for (uint32_t c = 0; row->cells && c < drawing->picture->cells; c++)
			if (row->cells[c].state == state) {
				there = true;
				*small = *small || row->cells[c].part < SMALL;
			}
	}
	return there;
}

static void print_legend_of(const struct drawing *drawing, const char *who,
			    enum picture_state first, enum picture_state last, const char *nothing)
{
	FILE *out = drawing->out;
	fprintf(out, "%s%s%*s%s", drawing->indent, paint(drawing->colour, PAINT_FAINT), LABEL, "",
		who);
	for (enum picture_state state = first; state <= last; state++) {
		bool small = false;
		char plain[2];
		if (!occurs(drawing, state, &small))
			continue;
		const struct look *look = &looks[state];
		fprintf(out, "  %s",
			cell_text(drawing, (struct picture_cell){(uint8_t)state, 255}, plain));
		if (small && strcmp(look->small, look->full) != 0)
			fprintf(out, " %s",
				cell_text(drawing, (struct picture_cell){(uint8_t)state, 1},
					  plain));
		fprintf(out, " %s", hwy_tr_word(look->name));
	}
	fprintf(out, "  %s %s%s\n", drawing->utf8 ? "·" : ".", nothing,
		paint(drawing->colour, PAINT_PLAIN));
}

/* Whether rows tell when threads ran. */
static bool runs(const struct drawing *drawing)
{
	bool small = false;
	return occurs(drawing, PICTURE_RUN, &small);
}

void drawing_print(const struct drawing *drawing)
{
	const struct hwy_picture *picture = drawing->picture;
	bool threads = false, devices = false;
	if (drawing->ruler)
		print_ruler(drawing);
	for (uint32_t i = 0; i < picture->n; i++) {
		const struct picture_row *row = &picture->rows[i];
		char label[64];
		threads = threads || row->type == PICTURE_THREAD;
		devices = devices || row->type == PICTURE_DEVICE;
		label_of(drawing, row, label, sizeof label);
		if (!row->cells && !row->n_labels)
			continue;
		label[hwy_utf8_cut(label, strlen(label), LABEL - 1)] = '\0';
		fputs(drawing->indent, drawing->out);
		cli_put_column(drawing->out, label, LABEL);
		if (row->cells)
			print_cells(drawing, row);
		else
			print_names(drawing, row);
		print_note(drawing, row);
		fputc('\n', drawing->out);
	}
	if (drawing->lead)
		print_lead(drawing);
	if (drawing->legend && threads)
		print_legend_of(drawing, "CPU", PICTURE_WAIT, PICTURE_RUN,
				hwy_tr(runs(drawing) ? "neither" : "between calls"));
	if (drawing->legend && devices)
		print_legend_of(drawing, "GPU", PICTURE_COMPUTE, PICTURE_FILL, hwy_tr("idle"));
}
