/* SPDX-License-Identifier: Apache-2.0 */
/* api_columns.c - the spans of one kind as arrays that other libraries can read in place.
 *
 * A trace keeps its columns packed and apart for each lane. Here the values of all lanes are
 * unpacked behind one another, once, with the meaning that hwy_column_cell gives them; the trace
 * owns the arrays.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_trace.h"
#include "base/bytes.h"
#include "base/utf8.h"
#include "trace/columns.h"

/* Columns that every span has without the trace storing them, before those of the model. */
enum {
	COLUMN_ID,
	COLUMN_KIND,
	COLUMN_LANE,
	/* Facts about the span's lane. */
	COLUMN_PID,
	COLUMN_TID,
	COLUMN_DEVICE,
	COLUMN_STREAM,
	OWN_COLUMNS
};
static const char *const own_names[OWN_COLUMNS] = {"id",  "kind",   "lane",  "pid",
						   "tid", "device", "stream"};
/* OPEN_WORDS: a value of an open list from this number on is left out. */
enum { ALL_KINDS = HWY_KINDS, NAME_BYTES = 64, OPEN_WORDS = 256 };

/* A column, and the memory of what it points to. */
struct api_column {
	struct headway_column shown;
	unsigned kind, col;
	int64_t *values;
	uint8_t *present;
};

struct api_words {
	struct headway_words shown;
	struct hwy_bytes bytes;
	int64_t *offsets;
};

struct api_columns {
	struct api_column **list;
	uint32_t n, cap;
	/* The words of columns: of all texts, of kinds, and of each column of the model that has
	 * a list of names. */
	struct api_words texts, kinds, names[HWY_COLS];
	char name[OWN_COLUMNS + HWY_COLS][NAME_BYTES];
};

/* ---- names ----------------------------------------------------------------------------------- */

/* What was made for the trace so far, with the names of columns as `headway sql` has them:
 * identifiers. */
static struct api_columns *api_columns_of(struct headway_trace *trace)
{
	if (trace->columns)
		return trace->columns;
	trace->columns = hwy_zalloc(sizeof *trace->columns);
	for (unsigned col = 0; col < OWN_COLUMNS + HWY_COLS; col++) {
		char *name = trace->columns->name[col];
		const char *known = col < OWN_COLUMNS ? own_names[col]
				    : col == OWN_COLUMNS + HWY_LINK
					    ? "call"
					    : hwy_columns[col - OWN_COLUMNS].name;
		snprintf(name, NAME_BYTES, "%s", known);
		for (char *at = name; *at; at++)
			if (*at == '-')
				*at = '_';
	}
	return trace->columns;
}

/* Whether spans of this kind have the column in this recording. */
static bool column_is_there(const struct hwy_trace *trace, unsigned kind, unsigned col)
{
	uint64_t always = HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_NAME);
	if (col < OWN_COLUMNS)
		return true;
	uint64_t bit = HWY_COL_BIT(col - OWN_COLUMNS);
	if (kind == ALL_KINDS || (hwy_kind_columns[kind] & bit & always))
		return (bit & (always | HWY_COL_BIT(HWY_LINK))) != 0;
	for (uint32_t i = 0; i < trace->n_strips; i++)
		if (trace->strips[i].kind == kind && trace->strips[i].columns[col - OWN_COLUMNS])
			return true;
	return false;
}

static unsigned kind_of(const char *kind)
{
	unsigned number = kind ? api_kind(kind) : ALL_KINDS;
	return kind && number == HWY_KINDS ? UINT32_MAX : number;
}

static struct api_column *column_find(const struct api_columns *columns, unsigned kind,
				      unsigned col)
{
	for (uint32_t i = 0; i < columns->n; i++)
		if (columns->list[i]->kind == kind && columns->list[i]->col == col)
			return columns->list[i];
	return NULL;
}

const char *headway_column_name(struct headway_trace *trace, const char *kind, unsigned index)
{
	unsigned number = kind_of(kind);
	pthread_mutex_lock(&trace->lock);
	const struct api_columns *columns = api_columns_of(trace);
	pthread_mutex_unlock(&trace->lock);
	for (unsigned col = 0; number <= ALL_KINDS && col < OWN_COLUMNS + HWY_COLS; col++)
		if (column_is_there(trace->inside, number, col) && index-- == 0)
			return columns->name[col];
	return NULL;
}

/* ---- words ----------------------------------------------------------------------------------- */

/* Appends a text; what is no UTF-8 in it becomes U+FFFD: readers of Arrow's texts rely on UTF-8. */
static void words_add(struct api_words *words, const char *text, size_t length)
{
	for (size_t at = 0; at < length;) {
		size_t size = hwy_utf8_length(text + at, length - at);
		uint8_t *to = hwy_bytes_reserve(&words->bytes, HWY_UTF8_BYTES);
		if (size)
			memcpy(to, text + at, size);
		words->bytes.n += size ? size : hwy_utf8_encode((char *)to, HWY_UTF8_REPLACEMENT);
		at += size ? size : 1;
	}
	words->offsets[++words->shown.n] = (int64_t)words->bytes.n;
}

static void words_begin(struct api_words *words, uint64_t n)
{
	words->offsets = hwy_zarray(n + 1, sizeof *words->offsets);
}

static const struct headway_words *words_end(struct api_words *words)
{
	words->shown.bytes = words->bytes.n ? (const char *)words->bytes.bytes : "";
	words->shown.offsets = words->offsets;
	return &words->shown;
}

static const struct headway_words *words_of_list(struct api_words *words, const char *const *list,
						 uint32_t n)
{
	if (!words->offsets) {
		words_begin(words, n);
		for (uint32_t i = 0; i < n; i++)
			words_add(words, list[i], strlen(list[i]));
	}
	return words_end(words);
}

/* The names of a column's values. An open list takes its numbers from the vendor: those without
 * a name are told as numbers. */
static const struct headway_words *words_of_enum(struct api_words *words,
						 const struct hwy_column_info *info)
{
	char number[16];
	if (words->offsets || !info->is_open)
		return words_of_list(words, info->names, info->n_names);
	words_begin(words, OPEN_WORDS);
	for (uint32_t i = 0; i < OPEN_WORDS; i++) {
		snprintf(number, sizeof number, "%u", i);
		const char *name = i < info->n_names ? info->names[i] : number;
		words_add(words, name, strlen(name));
	}
	return words_end(words);
}

static const struct headway_words *words_of_texts(struct api_words *words,
						  const struct hwy_trace *trace)
{
	if (!words->offsets) {
		words_begin(words, trace->strings.n);
		for (uint32_t i = 0; i < trace->strings.n; i++) {
			struct hwy_text text = hwy_text(trace, i);
			words_add(words, text.at, text.length);
		}
	}
	return words_end(words);
}

/* Whether the spans' values in a column of HWY_MEANS_TYPED are texts, all of them: a column holds
 * texts or numbers, and of a column that has both the texts are left out. */
static bool is_all_texts(const struct hwy_trace *trace, unsigned kind, enum hwy_col col)
{
	uint64_t n_texts = 0;
	for (uint32_t i = 0; i < trace->n_strips; i++) {
		const struct hwy_strip *strip = &trace->strips[i];
		for (uint32_t row = 0; strip->kind == kind && row < strip->rows; row++) {
			struct hwy_cell cell =
				hwy_column_cell(trace, strip, col, hwy_get(strip, col, row),
						hwy_get(strip, HWY_PAYLOAD_TYPE, row));
			if (cell.type != HWY_CELL_NONE && cell.type != HWY_CELL_TEXT)
				return false;
			n_texts += cell.type == HWY_CELL_TEXT;
		}
	}
	return n_texts > 0;
}

static const struct headway_words *words_of_column(struct api_columns *columns,
						   const struct hwy_trace *trace, unsigned kind,
						   unsigned col)
{
	if (col == COLUMN_KIND)
		return words_of_list(&columns->kinds, hwy_kind_names, HWY_KINDS);
	if (col < OWN_COLUMNS)
		return NULL;
	const struct hwy_column_info *info = &hwy_columns[col - OWN_COLUMNS];
	if (info->meaning == HWY_MEANS_TEXT ||
	    (info->meaning == HWY_MEANS_TYPED &&
	     is_all_texts(trace, kind, (enum hwy_col)(col - OWN_COLUMNS))))
		return words_of_texts(&columns->texts, trace);
	if (info->meaning == HWY_MEANS_ENUM)
		return words_of_enum(&columns->names[col - OWN_COLUMNS], info);
	return NULL;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* The value of a column that the trace does not store for each span; HWY_NONE: the span has
 * none. */
static int64_t own_value(const struct hwy_trace *trace, const struct hwy_strip *strip, unsigned col,
			 uint32_t row)
{
	const struct hwy_lane *lane = &trace->lanes[strip->lane];
	switch (col) {
	case COLUMN_ID: return (int64_t)strip->first + row;
	case COLUMN_KIND: return strip->kind;
	case COLUMN_LANE: return strip->lane;
	case COLUMN_PID:
		return lane->process == HWY_NONE ? HWY_NONE : trace->processes[lane->process].pid;
	case COLUMN_TID:
		return lane->thread == HWY_NONE ? HWY_NONE : trace->threads[lane->thread].tid;
	case COLUMN_DEVICE:
		return lane->device == HWY_NONE ? HWY_NONE : trace->devices[lane->device].ordinal;
	default: return lane->stream == HWY_NONE ? HWY_NONE : trace->streams[lane->stream].number;
	}
}

static void column_put_real(struct api_column *column, uint64_t row, double real)
{
	memcpy(&column->values[row], &real, sizeof real);
}

/* Turns the integers so far into reals: a value is one, or does not fit an int64_t. */
static void column_become_real(struct api_column *column, uint64_t rows)
{
	if (column->shown.type == HEADWAY_REALS)
		return;
	column->shown.type = HEADWAY_REALS;
	for (uint64_t row = 0; row < rows; row++)
		column_put_real(column, row, (double)column->values[row]);
}

/* Puts the value that a cell has; false where it has none that a column of numbers can hold. */
static bool column_put(struct api_column *column, uint64_t row, const struct hwy_cell *cell,
		       int64_t stored)
{
	if (cell->type == HWY_CELL_INT && column->shown.words &&
	    (cell->number < 0 || cell->number >= (int64_t)column->shown.words->n))
		return false;
	bool is_large = cell->type == HWY_CELL_UINT && cell->number < 0;
	if (cell->type == HWY_CELL_REAL || is_large)
		column_become_real(column, row);
	switch (cell->type) {
	case HWY_CELL_NONE: return false;
	case HWY_CELL_TEXT: column->values[row] = stored; return column->shown.words != NULL;
	case HWY_CELL_REAL: column_put_real(column, row, cell->real); return true;
	case HWY_CELL_INT:
	case HWY_CELL_UINT: break;
	}
	if (column->shown.type == HEADWAY_REALS)
		column_put_real(column, row,
				is_large ? (double)(uint64_t)cell->number : (double)cell->number);
	else
		column->values[row] = cell->number;
	return true;
}

static bool column_put_row(struct api_column *column, const struct hwy_trace *trace,
			   const struct hwy_strip *strip, uint32_t row, uint64_t at)
{
	if (column->col < OWN_COLUMNS) {
		column->values[at] = own_value(trace, strip, column->col, row);
		return column->values[at] != HWY_NONE;
	}
	enum hwy_col col = (enum hwy_col)(column->col - OWN_COLUMNS);
	bool is_typed = hwy_columns[col].meaning == HWY_MEANS_TYPED;
	int64_t stored = hwy_get(strip, col, row);
	int64_t payload = is_typed ? hwy_get(strip, HWY_PAYLOAD_TYPE, row) : 0;
	struct hwy_cell cell = hwy_column_cell(trace, strip, col, stored, payload);
	return column_put(column, at, &cell, stored);
}

static void column_fill_strip(struct api_column *column, const struct hwy_trace *trace,
			      const struct hwy_strip *strip, uint64_t at)
{
	for (uint32_t row = 0; row < strip->rows; row++, at++) {
		if (column_put_row(column, trace, strip, row, at))
			continue;
		column->values[at] = 0; /* the bits of 0.0 too */
		column->present[at / 8] &= (uint8_t) ~(1u << at % 8);
		column->shown.absent++;
	}
}

static void column_fill(struct api_column *column, const struct hwy_trace *trace)
{
	uint64_t rows = 0;
	for (uint32_t i = 0; i < trace->n_strips; i++)
		if (column->kind == ALL_KINDS || trace->strips[i].kind == column->kind)
			rows += trace->strips[i].rows;
	column->values = hwy_zarray(rows, sizeof *column->values);
	column->present = hwy_zarray(rows / 8 + 1, 1);
	memset(column->present, 0xff, rows / 8 + 1);
	for (uint32_t i = 0; i < trace->n_strips; i++) {
		const struct hwy_strip *strip = &trace->strips[i];
		if (column->kind != ALL_KINDS && strip->kind != column->kind)
			continue;
		column_fill_strip(column, trace, strip, column->shown.rows);
		column->shown.rows += strip->rows;
	}
	column->shown.values = column->values;
	column->shown.present = column->shown.absent ? column->present : NULL;
}

static struct api_column *column_make(struct headway_trace *trace, unsigned kind, unsigned col)
{
	struct api_columns *columns = api_columns_of(trace);
	struct api_column *column = hwy_zalloc(sizeof *column);
	column->kind = kind;
	column->col = col;
	column->shown.name = columns->name[col];
	column->shown.words = words_of_column(columns, trace->inside, kind, col);
	column_fill(column, trace->inside);
	HWY_GROW(columns->list, columns->n, columns->cap);
	columns->list[columns->n++] = column;
	return column;
}

/* Loads what the column is made of. */
static bool column_need(struct hwy_trace *trace, unsigned kind, unsigned col, struct hwy_err *err)
{
	uint32_t kinds =
		kind == ALL_KINDS ? HWY_KIND_BIT(HWY_KINDS) - 1 : (uint32_t)HWY_KIND_BIT(kind);
	if (col < OWN_COLUMNS)
		return true;
	uint64_t needed = HWY_COL_BIT(col - OWN_COLUMNS);
	if (hwy_columns[col - OWN_COLUMNS].meaning == HWY_MEANS_TYPED)
		needed |= HWY_COL_BIT(HWY_PAYLOAD_TYPE);
	return hwy_need(trace, kinds, needed, err);
}

static const struct headway_column *column_find_or_make(struct headway_trace *trace,
							const char *kind, const char *name,
							char *why, size_t why_size)
{
	struct hwy_err err;
	const struct api_columns *columns = api_columns_of(trace);
	unsigned number = kind_of(kind), col = 0;
	if (number > ALL_KINDS) {
		api_put_reason(why, why_size, "no such kind of span");
		return NULL;
	}
	while (col < OWN_COLUMNS + HWY_COLS && strcmp(columns->name[col], name) != 0)
		col++;
	if (col == OWN_COLUMNS + HWY_COLS || !column_is_there(trace->inside, number, col)) {
		api_put_reason(why, why_size, "no such column");
		return NULL;
	}
	struct api_column *column = column_find(columns, number, col);
	if (!column && !column_need(trace->inside, number, col, &err)) {
		api_put_reason(why, why_size, err.text);
		return NULL;
	}
	return &(column ? column : column_make(trace, number, col))->shown;
}

const struct headway_column *headway_trace_column(struct headway_trace *trace, const char *kind,
						  const char *name, char *why, size_t why_size)
{
	pthread_mutex_lock(&trace->lock);
	const struct headway_column *column = column_find_or_make(trace, kind, name, why, why_size);
	pthread_mutex_unlock(&trace->lock);
	return column;
}

static void words_free(struct api_words *words)
{
	hwy_bytes_free(&words->bytes);
	free(words->offsets);
}

void api_columns_free(struct api_columns *columns)
{
	if (!columns)
		return;
	for (uint32_t i = 0; i < columns->n; i++) {
		free(columns->list[i]->values);
		free(columns->list[i]->present);
		free(columns->list[i]);
	}
	words_free(&columns->texts);
	words_free(&columns->kinds);
	for (unsigned col = 0; col < HWY_COLS; col++)
		words_free(&columns->names[col]);
	free(columns->list);
	free(columns);
}
