/* SPDX-License-Identifier: Apache-2.0 */
/* append_part.c - which rows hwy_append takes where only a part of a trace is wanted: spans that
 * touch the window, on the lanes that were chosen, and the calls that enqueued the device work
 * among them, whatever lanes these are on: without its launch, device work says little to an
 * analysis.
 *
 * Of a report only the columns of times and links are read, a chunk at a time.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/search.h"
#include "trace/append_internal.h"

enum { CHUNK_ROWS = 1 << HWY_CHUNK_BITS };

#define PART_COLUMNS (HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_LINK))

static void rows_add(struct append_rows *rows, uint32_t row)
{
	HWY_GROW(rows->v, rows->n, rows->cap);
	rows->v[rows->n++] = row;
}

static bool touches(const struct hwy_append_part *part, int64_t start, int64_t duration)
{
	return start < part->to && (start >= part->from || start + duration > part->from);
}

/* Adds the rows of a strip that touch the window, and the ids of the calls that these link to. */
static bool choose_rows(struct hwy_trace *trace, uint32_t s, const struct hwy_append_part *part,
			struct append_rows *rows, struct append_rows *calls, struct hwy_err *err)
{
	const struct hwy_strip *strip = &trace->strips[s];
	for (uint32_t first = 0; first < strip->rows; first += CHUNK_ROWS) {
		uint32_t end = strip->rows - first < CHUNK_ROWS ? strip->rows : first + CHUNK_ROWS;
		uint32_t chunk = first >> HWY_CHUNK_BITS, call;
		if (!hwy_need_chunk(trace, s, chunk, PART_COLUMNS, err))
			return false;
		bool is_behind = hwy_get(strip, HWY_START, first) >= part->to;
		for (uint32_t row = first; row < end && !is_behind; row++) {
			if (!touches(part, hwy_get(strip, HWY_START, row),
				     hwy_get(strip, HWY_DUR, row)))
				continue;
			rows_add(rows, row);
			if (hwy_get_index(strip, HWY_LINK, row, &call))
				rows_add(calls, call);
		}
		hwy_forget_chunk(trace, s, chunk, PART_COLUMNS);
		if (is_behind)
			break;
	}
	return true;
}

static int part_by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static void sort_rows(struct append_rows *rows)
{
	uint32_t n = 0;
	if (rows->n)
		qsort(rows->v, rows->n, sizeof *rows->v, part_by_number);
	for (uint32_t i = 0; i < rows->n; i++)
		if (n == 0 || rows->v[n - 1] != rows->v[i])
			rows->v[n++] = rows->v[i];
	rows->n = n;
}

/* Adds the calls among the spans of a strip; 'calls' is in order. */
static void part_add_calls(const struct hwy_strip *strip, const struct append_rows *calls,
			   struct append_rows *rows)
{
	uint32_t before = rows->n;
	for (uint32_t i = HWY_FIRST(k, 0, calls->n, calls->v[k] >= strip->first);
	     i < calls->n && calls->v[i] - strip->first < strip->rows; i++)
		rows_add(rows, calls->v[i] - strip->first);
	if (rows->n > before)
		sort_rows(rows);
}

/* Yields by strip the rows that are taken; NULL on failure. */
static struct append_rows *part_choose(struct hwy_trace *trace, const struct hwy_append_part *part,
				       uint64_t *n, struct hwy_err *err)
{
	struct append_rows *rows = hwy_zarray(trace->n_strips, sizeof *rows), calls = {0};
	bool ok = true;
	for (uint32_t s = 0; s < trace->n_strips && ok; s++)
		if (!part->lanes || part->lanes[trace->strips[s].lane])
			ok = choose_rows(trace, s, part, &rows[s], &calls, err);
	sort_rows(&calls);
	*n = 0;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		part_add_calls(&trace->strips[s], &calls, &rows[s]);
		*n += rows[s].n;
	}
	free(calls.v);
	if (ok)
		return rows;
	append_rows_free(rows, trace->n_strips);
	return NULL;
}

void append_rows_free(struct append_rows *rows, uint32_t n_strips)
{
	for (uint32_t s = 0; rows && s < n_strips; s++)
		free(rows[s].v);
	free(rows);
}

bool append_rows_choose(struct append *a, struct hwy_err *err)
{
	uint64_t n;
	a->rows = part_choose(a->from, a->how->part, &n, err);
	return a->rows != NULL;
}

bool append_rows_find(const struct append_rows *rows, uint32_t row, uint32_t *at)
{
	const uint32_t *found =
		rows->n ? bsearch(&row, rows->v, rows->n, sizeof row, part_by_number) : NULL;
	*at = found ? (uint32_t)(found - rows->v) : 0;
	return found != NULL;
}

bool hwy_append_count(struct hwy_trace *trace, const struct hwy_append_part *part, uint64_t *n,
		      struct hwy_err *err)
{
	struct append_rows *rows = part_choose(trace, part, n, err);
	append_rows_free(rows, trace->n_strips);
	return rows != NULL;
}
