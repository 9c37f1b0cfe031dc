/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_rows.c - see parquet_rows.h. */
#include "export/parquet/parquet_rows.h"

#include <stdlib.h>

#include "base/mem.h"

static uint32_t strip_number(const struct parquet_rows *rows, const struct hwy_strip *strip)
{
	return (uint32_t)(strip - rows->x->trace->strips);
}

/* Moves to the next row that is exported, from row 'next' on. False at the end of the strip. */
static bool cursor_settle(struct parquet_rows *rows, struct parquet_cursor *cursor, uint32_t chunk)
{
	struct export *x = rows->x;
	const struct hwy_strip *strip = cursor->strip;
	uint64_t columns =
		filter_columns(&x->filter) | HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR);
	for (; cursor->next < strip->rows; cursor->next++) {
		if (cursor->next >> HWY_CHUNK_BITS != chunk) {
			chunk = cursor->next >> HWY_CHUNK_BITS;
			if (!hwy_need_chunk(x->trace, strip_number(rows, strip), chunk, columns,
					    x->err)) {
				x->failed = true;
				return false;
			}
		}
		if (export_keeps(x, strip, cursor->next)) {
			cursor->start = hwy_get(strip, HWY_START, cursor->next);
			return true;
		}
	}
	return false;
}

/* ---- the heap -------------------------------------------------------------------------------- */

/* Of two spans that start together that with the smaller id comes first. */
static bool is_before(const struct parquet_cursor *a, const struct parquet_cursor *b)
{
	return a->start != b->start ? a->start < b->start : a->strip < b->strip;
}

static void swap_cursors(struct parquet_cursor *a, struct parquet_cursor *b)
{
	struct parquet_cursor kept = *a;
	*a = *b;
	*b = kept;
}

static void sift_down(struct parquet_rows *rows, uint32_t at)
{
	struct parquet_cursor *heap = rows->cursors;
	for (uint32_t child; (child = 2 * at + 1) < rows->n_left; at = child) {
		if (child + 1 < rows->n_left && is_before(&heap[child + 1], &heap[child]))
			child++;
		if (!is_before(&heap[child], &heap[at]))
			return;
		swap_cursors(&heap[child], &heap[at]);
	}
}

/* The cursor that comes after the first one, or NULL. */
static const struct parquet_cursor *second(const struct parquet_rows *rows)
{
	const struct parquet_cursor *heap = rows->cursors;
	if (rows->n_left < 2)
		return NULL;
	return rows->n_left > 2 && is_before(&heap[2], &heap[1]) ? &heap[2] : &heap[1];
}

void parquet_rows_open(struct parquet_rows *rows, struct export *x, int kind, uint32_t most)
{
	*rows = (struct parquet_rows){.x = x, .most = most};
	rows->cursors = hwy_array(x->trace->n_strips, sizeof *rows->cursors);
	for (uint32_t s = 0; s < x->trace->n_strips && !x->failed; s++) {
		const struct hwy_strip *strip = &x->trace->strips[s];
		struct parquet_cursor cursor = {.strip = strip};
		if ((int)strip->kind == kind && export_keeps_strip(x, strip) &&
		    cursor_settle(rows, &cursor, UINT32_MAX))
			rows->cursors[rows->n_cursors++] = cursor;
	}
	rows->n_left = rows->n_cursors;
	for (uint32_t i = rows->n_left / 2; i-- > 0;)
		sift_down(rows, i);
}

void parquet_rows_close(struct parquet_rows *rows)
{
	free(rows->cursors);
	free(rows->runs);
}

/* ---- row groups ------------------------------------------------------------------------------ */

/* Adds a row, as a part of the last run where it follows it. */
static void group_add_row(struct parquet_rows *rows, const struct hwy_strip *strip, uint32_t row)
{
	struct parquet_run *last = rows->n_runs ? &rows->runs[rows->n_runs - 1] : NULL;
	if (last && last->strip == strip && last->first + last->n == row) {
		last->n++;
	} else {
		HWY_GROW(rows->runs, rows->n_runs, rows->cap_runs);
		rows->runs[rows->n_runs++] = (struct parquet_run){strip, row, 1, rows->n};
	}
	rows->n++;
}

/* Takes rows of the first cursor as long as it is the first. */
static void take_rows(struct parquet_rows *rows)
{
	struct parquet_cursor *first = &rows->cursors[0];
	const struct parquet_cursor *other = second(rows);
	if (!other && !rows->x->filtered) { /* all that is left is of one strip */
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a row is left */
		uint32_t left = first->strip->rows - first->next, room = rows->most - rows->n;
		uint32_t n = left < room ? left : room;
		group_add_row(rows, first->strip, first->next);
		rows->runs[rows->n_runs - 1].n += n - 1;
		rows->n += n - 1;
		first->next += n;
		if (cursor_settle(rows, first, UINT32_MAX))
			return;
	} else {
		bool goes_on = true;
		while (goes_on && rows->n < rows->most && (!other || is_before(first, other))) {
			/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a row is left */
			uint32_t chunk = first->next >> HWY_CHUNK_BITS;
			group_add_row(rows, first->strip, first->next++);
			goes_on = cursor_settle(rows, first, chunk);
		}
		if (goes_on) {
			sift_down(rows, 0);
			return;
		}
	}
	/* The strip has no row left: it stands behind the heap. */
	swap_cursors(first, &rows->cursors[--rows->n_left]);
	sift_down(rows, 0);
}

/* Frees the chunks that no later row group needs. */
static void forget_chunks(struct parquet_rows *rows)
{
	for (uint32_t i = 0; i < rows->n_cursors; i++) {
		struct parquet_cursor *cursor = &rows->cursors[i];
		uint64_t held = cursor->strip->kind == HWY_API ? rows->x->held : 0;
		uint32_t end = cursor->next < cursor->strip->rows ? cursor->next >> HWY_CHUNK_BITS
								  : chunks_of(cursor->strip->rows);
		for (uint32_t c = cursor->first >> HWY_CHUNK_BITS; c < end; c++)
			hwy_forget_chunk(rows->x->trace, strip_number(rows, cursor->strip), c,
					 ~held);
		cursor->first = cursor->next;
	}
}

bool parquet_rows_next(struct parquet_rows *rows)
{
	forget_chunks(rows);
	rows->n = rows->n_runs = 0;
	while (rows->n_left && rows->n < rows->most && !rows->x->failed)
		take_rows(rows);
	return rows->n > 0 && !rows->x->failed;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* Whether all rows of the row group have one value in this column, which is loaded. */
static bool column_is_constant(const struct parquet_rows *rows, enum hwy_col col, int64_t *value)
{
	bool any = false;
	for (uint32_t i = 0; i < rows->n_cursors; i++) {
		const struct parquet_cursor *cursor = &rows->cursors[i];
		const struct hwy_column *column = cursor->strip->columns[col];
		if (cursor->next == cursor->first)
			continue;
		uint32_t last = (cursor->next - 1) >> HWY_CHUNK_BITS;
		for (uint32_t c = cursor->first >> HWY_CHUNK_BITS; c <= last; c++) {
			int64_t base = column ? column->chunks[c].base : 0;
			if ((column && column->chunks[c].width) || (any && base != *value))
				return false;
			*value = base;
			any = true;
			if (!column)
				break;
		}
	}
	return any;
}

static void read_run(const struct parquet_run *run, enum hwy_col col, int64_t *to)
{
	const struct hwy_column *column = run->strip->columns[col];
	if (!column) {
		memset(to, 0, run->n * sizeof *to);
		return;
	}
	if (run->n < 4) {
		for (uint32_t i = 0; i < run->n; i++)
			to[i] = column_get(column, run->first + i);
		return;
	}
	for (uint32_t done = 0; done < run->n;) {
		uint32_t row = run->first + done;
		uint32_t room = HWY_CHUNK_ROWS - (row & (HWY_CHUNK_ROWS - 1));
		uint32_t n = run->n - done < room ? run->n - done : room;
		column_read(column, row, n, to + done);
		done += n;
	}
}

bool parquet_rows_read(struct parquet_rows *rows, enum hwy_col col, int64_t *values,
		       bool *is_constant)
{
	struct export *x = rows->x;
	*is_constant = false;
	for (uint32_t i = 0; i < rows->n_cursors; i++) {
		const struct parquet_cursor *cursor = &rows->cursors[i];
		if (cursor->next == cursor->first || !cursor->strip->columns[col])
			continue;
		if (!hwy_need_rows(x->trace, strip_number(rows, cursor->strip), HWY_COL_BIT(col),
				   cursor->first, cursor->next - cursor->first, x->err)) {
			x->failed = true;
			return false;
		}
	}
	if (column_is_constant(rows, col, &values[0])) {
		*is_constant = true;
		return true;
	}
	for (uint32_t i = 0; i < rows->n_runs; i++)
		read_run(&rows->runs[i], col, values + rows->runs[i].at);
	return true;
}
