/* SPDX-License-Identifier: Apache-2.0 */
/* span_rows.c - see span_rows.h. */
#include "sql/span_rows.h"

#include <stdlib.h>

#include "base/search.h"

#define START_BIT HWY_COL_BIT(HWY_START)

/* ---- which rows of a strip ------------------------------------------------------------------- */

/* Yields in *row the first row of a strip that starts at 'time' or later. The starts of a strip
 * ascend, and a chunk's base is its smallest value, so that one chunk is read at most. */
static bool first_start(struct sql_source *source, uint32_t index, int64_t time, uint32_t *row,
			struct hwy_err *err)
{
	const struct hwy_strip *strip = &source->trace->strips[index];
	const struct hwy_column *starts = strip->columns[HWY_START];
	if (!starts) {
		*row = time <= 0 ? 0 : strip->rows;
		return true;
	}
	uint32_t chunks = chunks_of(strip->rows);
	uint32_t later = HWY_FIRST(i, 0u, chunks, starts->chunks[i].base >= time);
	if (later == 0) {
		*row = 0;
		return true;
	}
	if (!hwy_need_chunk(source->trace, index, later - 1, START_BIT, err))
		return false;
	uint32_t from = (later - 1) << HWY_CHUNK_BITS;
	uint32_t to = later < chunks ? later << HWY_CHUNK_BITS : strip->rows;
	*row = HWY_FIRST(r, from, to, column_get(starts, r) >= time);
	return true;
}

/* Yields the latest end of each chunk of a strip. Found when it is first asked for. */
static const int64_t *span_ends(struct sql_source *source, uint32_t index, struct hwy_err *err)
{
	struct hwy_trace *trace = source->trace;
	const struct hwy_strip *strip = &trace->strips[index];
	if (!source->ends)
		source->ends = hwy_zarray(trace->n_strips, sizeof *source->ends);
	if (source->ends[index])
		return source->ends[index];
	if (!hwy_need_strip(trace, index, START_BIT | HWY_COL_BIT(HWY_DUR), err))
		return NULL;
	int64_t *ends = hwy_array(chunks_of(strip->rows), sizeof *ends);
	for (uint32_t row = 0; row < strip->rows; row++) {
		int64_t *end = &ends[row >> HWY_CHUNK_BITS], at = hwy_end(strip, row);
		*end = !(row & (HWY_CHUNK_ROWS - 1)) || at > *end ? at : *end;
	}
	return source->ends[index] = ends;
}

static void keep_rows(struct span_rows *rows, uint32_t strip, uint32_t from, uint32_t to)
{
	if (from >= to)
		return;
	HWY_GROW(rows->pieces, rows->n_pieces, rows->cap_pieces);
	rows->pieces[rows->n_pieces++] = (struct span_piece){strip, from, to};
}

/* Adds the rows of a strip that may end late enough: chunks whose spans all end earlier are left
 * out. */
static bool keep_late_rows(struct span_rows *rows, uint32_t index, uint32_t from, uint32_t to,
			   struct hwy_err *err)
{
	const int64_t *ends = span_ends(rows->source, index, err);
	if (!ends)
		return false;
	for (uint32_t next; from < to; from = next) {
		uint32_t chunk = from >> HWY_CHUNK_BITS;
		uint64_t border = ((uint64_t)chunk + 1) << HWY_CHUNK_BITS;
		next = border < to ? (uint32_t)border : to;
		if (ends[chunk] >= rows->filter.end.low)
			keep_rows(rows, index, from, next);
	}
	return true;
}

static bool keep_strip(struct span_rows *rows, uint32_t index, struct hwy_err *err)
{
	const struct hwy_strip *strip = &rows->source->trace->strips[index];
	const struct span_filter *filter = &rows->filter;
	/* A span that ends by some time starts by that time. */
	int64_t latest =
		filter->start.high < filter->end.high ? filter->start.high : filter->end.high;
	uint32_t from = 0, to = strip->rows;
	if (filter->id.low > strip->first)
		from = (uint32_t)(filter->id.low - strip->first);
	if (filter->id.high < (int64_t)strip->first + to - 1)
		to = (uint32_t)(filter->id.high - strip->first + 1);
	if (from < to && filter->start.low > INT64_MIN) {
		uint32_t first;
		if (!first_start(rows->source, index, filter->start.low, &first, err))
			return false;
		from = first > from ? first : from;
	}
	if (from < to && latest < INT64_MAX) {
		uint32_t first;
		if (!first_start(rows->source, index, latest + 1, &first, err))
			return false;
		to = first < to ? first : to;
	}
	if (from < to && filter->end.low > INT64_MIN)
		return keep_late_rows(rows, index, from, to, err);
	keep_rows(rows, index, from, to);
	return true;
}

static bool find_pieces(struct span_rows *rows, struct hwy_err *err)
{
	const struct hwy_trace *trace = rows->source->trace;
	const struct span_filter *filter = &rows->filter;
	/* Strips are in order of lane and of span ids. */
	uint32_t s = HWY_FIRST(i, 0u, trace->n_strips,
			       (int64_t)trace->strips[i].first + trace->strips[i].rows >
					       filter->id.low &&
				       trace->strips[i].lane >= filter->lane.low);
	for (; s < trace->n_strips && trace->strips[s].lane <= filter->lane.high &&
	       trace->strips[s].first <= filter->id.high;
	     s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (!(filter->kinds & HWY_KIND_BIT(strip->kind)) || strip->rows == 0 ||
		    (rows->skips && rows->skips[strip->lane]))
			continue;
		if (!keep_strip(rows, s, err))
			return false;
	}
	return true;
}

/* ---- in order -------------------------------------------------------------------------------- */

static int compare_texts(const void *left, const void *right, void *context)
{
	const struct hwy_text *texts = context;
	const struct hwy_text *a = &texts[*(const uint32_t *)left];
	const struct hwy_text *b = &texts[*(const uint32_t *)right];
	uint32_t shorter = a->length < b->length ? a->length : b->length;
	int order = memcmp(a->at, b->at, shorter);
	return order ? order : a->length < b->length ? -1 : a->length > b->length;
}

/* Some of the pieces, whose rows are sorted by name. */
struct name_run {
	const struct span_piece *pieces;
	uint32_t n;
};

/* Counts the rows of each name; 'counts' has an element for each text. */
static void count_names(const struct span_rows *rows, struct name_run run, uint32_t *counts)
{
	const struct span_filter *filter = &rows->filter;
	for (uint32_t p = 0; p < run.n; p++) {
		const struct span_piece *piece = &run.pieces[p];
		struct hwy_reader names =
			column_reader(rows->source->trace->strips[piece->strip].columns[HWY_NAME]);
		for (uint32_t row = piece->from; row < piece->to; row++) {
			int64_t name = reader_get(&names, row);
			counts[name] += !filter->has_name || name == filter->name;
		}
	}
}

/* Turns the counts into the places of each name's first row, names in order; yields the place
 * behind the last row. */
static uint32_t place_names(const struct hwy_strings *strings, uint32_t *counts, uint32_t place,
			    bool falls)
{
	uint32_t *used = hwy_array(strings->n, sizeof *used), n = 0;
	for (uint32_t i = 0; i < strings->n; i++)
		if (counts[i])
			used[n++] = i;
	qsort_r(used, n, sizeof *used, compare_texts, strings->texts);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t name = used[falls ? n - 1 - i : i];
		uint32_t count = counts[name];
		counts[name] = place;
		place += count;
	}
	free(used);
	return place;
}

static void sort_run(struct span_rows *rows, struct name_run run, bool falls)
{
	const struct hwy_trace *trace = rows->source->trace;
	uint32_t *places = hwy_zarray(trace->strings.n, sizeof *places);
	count_names(rows, run, places);
	rows->n_order = place_names(&trace->strings, places, rows->n_order, falls);
	for (uint32_t p = 0; p < run.n; p++) {
		const struct span_piece *piece = &run.pieces[p];
		const struct hwy_strip *strip = &trace->strips[piece->strip];
		struct hwy_reader names = column_reader(strip->columns[HWY_NAME]);
		for (uint32_t row = piece->from; row < piece->to; row++) {
			int64_t name = reader_get(&names, row);
			if (!rows->filter.has_name || name == rows->filter.name)
				rows->order[places[name]++] = strip->first + row;
		}
	}
	free(places);
}

/* As SQL compares values: NULL first, then numbers, then texts by their bytes. */
static int compare_cells(struct hwy_cell a, struct hwy_cell b)
{
	if (a.type != b.type)
		return a.type < b.type ? -1 : 1;
	if (a.type == HWY_CELL_INT)
		return a.number < b.number ? -1 : a.number > b.number;
	if (a.type != HWY_CELL_TEXT)
		return 0;
	struct hwy_text texts[] = {a.text, b.text};
	return compare_texts(&(uint32_t){0}, &(uint32_t){1}, texts);
}

struct key_context {
	struct sql_source *source;
	const struct span_order *order;
};

static int compare_keys(const struct key_context *context, const struct span_piece *a,
			const struct span_piece *b)
{
	const struct hwy_strip *strips = context->source->trace->strips;
	for (uint32_t i = 0; i < context->order->n_keys; i++) {
		const struct span_key *key = &context->order->keys[i];
		int order = compare_cells(
			span_cell(context->source, key->column, &strips[a->strip], 0),
			span_cell(context->source, key->column, &strips[b->strip], 0));
		if (order)
			return key->falls ? -order : order;
	}
	return 0;
}

static int compare_pieces(const void *left, const void *right, void *context)
{
	const struct span_piece *a = left, *b = right;
	int order = compare_keys(context, a, b);
	if (order)
		return order;
	if (a->strip != b->strip)
		return a->strip < b->strip ? -1 : 1;
	return a->from < b->from ? -1 : a->from > b->from;
}

/* Sorts the rows, for GROUP BY and ORDER BY: by columns that a whole strip shares, the strips
 * are sorted. By name, as names are numbers, two passes over one column are enough, where SQLite
 * would compare texts row by row. */
static bool sort_rows(struct span_rows *rows, const struct span_order *order, struct hwy_err *err)
{
	struct hwy_trace *trace = rows->source->trace;
	struct key_context context = {rows->source, order};
	uint64_t most = 0;
	if (order->n_keys && rows->n_pieces)
		qsort_r(rows->pieces, rows->n_pieces, sizeof *rows->pieces, compare_pieces,
			&context);
	if (!order->by_name)
		return true;
	for (uint32_t p = 0; p < rows->n_pieces; p++) {
		const struct span_piece *piece = &rows->pieces[p];
		most += piece->to - piece->from;
		if (!hwy_need_rows(trace, piece->strip, rows->needs, piece->from,
				   piece->to - piece->from, err))
			return false;
	}
	rows->order = hwy_array(most, sizeof *rows->order);
	for (uint32_t p = 0, n; p < rows->n_pieces; p += n) {
		for (n = 1; p + n < rows->n_pieces &&
			    compare_keys(&context, &rows->pieces[p], &rows->pieces[p + n]) == 0;
		     n++)
			;
		sort_run(rows, (struct name_run){&rows->pieces[p], n}, order->name_falls);
	}
	return true;
}

/* ---- row after row --------------------------------------------------------------------------- */

static bool turn_in_order(struct span_rows *rows)
{
	rows->is_done = rows->next == rows->n_order;
	if (rows->is_done)
		return true;
	uint32_t id = rows->order[rows->next++];
	if (rows->strip && id - rows->strip->first < rows->strip->rows)
		rows->row = id - rows->strip->first;
	else
		rows->strip = hwy_strip_of(rows->source->trace, id, &rows->row);
	return true;
}

/* Brings the next rows that are to be looked at into memory; false where reading fails. is_done
 * is set behind the last. */
static bool load_more(struct span_rows *rows, struct hwy_err *err)
{
	struct hwy_trace *trace = rows->source->trace;
	if (!rows->strip || rows->row == rows->end) {
		rows->is_done = rows->piece == rows->n_pieces;
		if (rows->is_done)
			return true;
		const struct span_piece *piece = &rows->pieces[rows->piece++];
		rows->strip = &trace->strips[piece->strip];
		rows->row = piece->from;
		rows->end = piece->to;
	}
	uint32_t chunk = rows->row >> HWY_CHUNK_BITS;
	uint64_t border = ((uint64_t)chunk + 1) << HWY_CHUNK_BITS;
	rows->loaded = border < rows->end ? (uint32_t)border : rows->end;
	return hwy_need_chunk(trace, (uint32_t)(rows->strip - trace->strips), chunk, rows->needs,
			      err);
}

/* Stays at a row that is wanted, else goes on to the next one. */
static bool settle(struct span_rows *rows, struct hwy_err *err)
{
	for (;;) {
		if ((!rows->strip || rows->row == rows->loaded) && !load_more(rows, err))
			return false;
		if (rows->is_done || !rows->filter.has_name)
			return true;
		const struct hwy_strip *strip = rows->strip;
		while (rows->row < rows->loaded &&
		       hwy_get(strip, HWY_NAME, rows->row) != rows->filter.name)
			rows->row++;
		if (rows->row < rows->loaded)
			return true;
	}
}

bool span_rows_turn(struct span_rows *rows, struct hwy_err *err)
{
	if (rows->order)
		return turn_in_order(rows);
	rows->row++;
	return settle(rows, err);
}

bool span_rows_begin(struct span_rows *rows, struct sql_source *source,
		     const struct span_filter *filter, uint64_t needs,
		     const struct span_order *order, struct hwy_err *err)
{
	rows->source = source;
	rows->filter = *filter;
	rows->needs = needs;
	if (filter->has_name || order->by_name)
		rows->needs |= HWY_COL_BIT(HWY_NAME);
	rows->n_pieces = rows->piece = rows->n_order = rows->next = 0;
	rows->strip = NULL;
	rows->row = rows->end = rows->loaded = 0;
	free(rows->order);
	rows->order = NULL;
	rows->is_done = filter->is_empty;
	if (filter->is_empty)
		return true;
	if (!find_pieces(rows, err) || !sort_rows(rows, order, err))
		return false;
	return rows->order ? turn_in_order(rows) : settle(rows, err);
}

void span_rows_free(struct span_rows *rows)
{
	free(rows->skips);
	free(rows->pieces);
	free(rows->order);
	*rows = (struct span_rows){0};
}
