/* SPDX-License-Identifier: Apache-2.0 */
/* append.c - the spans of append.h; records are appended by append_tables.c.
 *
 * Links are not copied: a linked span gets back the correlation id of its call, and finishing
 * links it again in the same way. So links need no numbers of spans, which exist only when the
 * trace is finished.
 */
#include "trace/append.h"

#include <stdlib.h>

#include "trace/append_internal.h"
#include "trace/columns.h"

/* Times of records may be anything (trace.h); what is no time of a recording stays as it is. */
int64_t append_time(const struct append *a, int64_t time)
{
	if (!a->how->map || time <= -2 * HWY_TIME_LIMIT || time >= 2 * HWY_TIME_LIMIT)
		return time;
	int64_t mapped = a->how->map(a->how->clock, time);
	if (mapped <= -HWY_TIME_LIMIT)
		return -HWY_TIME_LIMIT + 1;
	return mapped >= HWY_TIME_LIMIT ? HWY_TIME_LIMIT - 1 : mapped;
}

bool hwy_appended(const struct hwy_trace *trace, const struct hwy_ref *places, int64_t span,
		  struct hwy_ref *ref)
{
	uint32_t row;
	if (span < 0 || span >= trace->n_spans)
		return false;
	const struct hwy_strip *strip = hwy_strip_of(trace, (uint32_t)span, &row);
	*ref = places[strip - trace->strips];
	if (ref->strip == APPEND_NONE)
		return false;
	ref->row += row;
	return true;
}

int64_t append_span(const struct append *a, int64_t id)
{
	struct hwy_ref ref;
	int64_t packed = HWY_NONE;
	uint32_t row, at;
	if (!hwy_appended(a->from, a->strips, id, &ref))
		return packed;
	if (a->rows) {
		uint32_t s =
			(uint32_t)(hwy_strip_of(a->from, (uint32_t)id, &row) - a->from->strips);
		if (!append_rows_find(&a->rows[s], row, &at))
			return packed;
		ref.row = a->strips[s].row + at;
	}
	hwy_message_at(&packed, ref);
	return packed;
}

/* ---- one span -------------------------------------------------------------------------------- */

/* What a column's number becomes. Start and duration belong together: see place_in_time. */
static int64_t append_value(struct append *a, enum hwy_col col, int64_t stored)
{
	const struct hwy_column_info *info = &hwy_columns[col];
	uint32_t index;
	if (stored == 0)
		return 0;
	switch (info->meaning) {
	case HWY_MEANS_TEXT: return append_text(a, stored);
	case HWY_MEANS_TIME: {
		/* 0 would say that the time is not known. */
		int64_t time = append_time(a, stored);
		return time ? time : 1;
	}
	case HWY_MEANS_RECORD: {
		int64_t now = hwy_ref_to_index(stored, &index) ? append_index(a, info->table, index)
							       : HWY_NONE;
		return now == HWY_NONE ? 0 : hwy_ref(now);
	}
	default: return stored;
	}
}

static void place_in_time(const struct append *a, int64_t start, int64_t duration,
			  struct hwy_row *row)
{
	int64_t end = start + duration;
	row->v[HWY_START] = append_time(a, start);
	/* An end beyond the limit of starts has no place on the other clock. */
	row->v[HWY_DUR] = end < HWY_TIME_LIMIT ? append_time(a, end) - row->v[HWY_START] : duration;
}

/* ---- strips ---------------------------------------------------------------------------------- */

struct strip_reader {
	const struct hwy_strip *strip;
	uint32_t n;
	enum hwy_col cols[HWY_COLS]; /* the columns that are copied one by one */
	struct hwy_reader readers[HWY_COLS];
	struct hwy_reader start, duration;
};

static void strip_reader_open(struct strip_reader *r, const struct hwy_strip *strip)
{
	r->strip = strip;
	r->n = 0;
	r->start = column_reader(strip->columns[HWY_START]);
	r->duration = column_reader(strip->columns[HWY_DUR]);
	for (enum hwy_col c = 0; c < HWY_COLS; c++)
		if (strip->columns[c] && c != HWY_START && c != HWY_DUR && c != HWY_LINK) {
			r->cols[r->n] = c;
			r->readers[r->n++] = column_reader(strip->columns[c]);
		}
}

static void strip_reader_row(struct strip_reader *r, struct append *a, uint32_t at,
			     struct hwy_row *row)
{
	*row = (struct hwy_row){0};
	place_in_time(a, reader_get(&r->start, at), reader_get(&r->duration, at), row);
	for (uint32_t i = 0; i < r->n; i++)
		row->v[r->cols[i]] = append_value(a, r->cols[i], reader_get(&r->readers[i], at));
	if (r->strip->columns[HWY_LINK])
		row->v[HWY_CORR] = hwy_corr(a->from, r->strip, at);
	int64_t type = row->v[HWY_PAYLOAD_TYPE];
	if (type == HWY_PAYLOAD_JSON || type == HWY_PAYLOAD_BINARY)
		row->v[HWY_PAYLOAD] = append_text(a, row->v[HWY_PAYLOAD]);
}

/* Appends the rows of a strip that were chosen, a chunk in memory at a time. */
static bool append_chosen(struct append *a, uint32_t s, uint32_t lane, struct strip_reader *r,
			  struct hwy_err *err)
{
	const struct hwy_strip *strip = &a->from->strips[s];
	const struct append_rows *rows = &a->rows[s];
	for (uint32_t i = 0; i < rows->n;) {
		uint32_t chunk = rows->v[i] >> HWY_CHUNK_BITS;
		if (!hwy_need_chunk(a->from, s, chunk, ~UINT64_C(0), err))
			return false;
		strip_reader_open(r, strip);
		for (; i < rows->n && rows->v[i] >> HWY_CHUNK_BITS == chunk; i++) {
			struct hwy_row row;
			strip_reader_row(r, a, rows->v[i], &row);
			struct hwy_ref ref = hwy_add_span(a->b, lane, strip->kind, &row);
			if (i == 0)
				a->strips[s] = ref;
		}
		hwy_forget_chunk(a->from, s, chunk, ~HWY_COL_BIT(HWY_CORR));
	}
	return true;
}

static bool append_strip(struct append *a, uint32_t s, struct strip_reader *r, struct hwy_err *err)
{
	const struct hwy_strip *strip = &a->from->strips[s];
	int64_t lane = append_index(a, HWY_TABLE_lanes, strip->lane);
	a->strips[s] = (struct hwy_ref){APPEND_NONE, 0};
	if (lane == HWY_NONE || strip->rows == 0)
		return true;
	if (a->rows)
		return append_chosen(a, s, (uint32_t)lane, r, err);
	if (!hwy_need_strip(a->from, s, ~UINT64_C(0), err))
		return false;
	strip_reader_open(r, strip);
	for (uint32_t i = 0; i < strip->rows; i++) {
		struct hwy_row row;
		strip_reader_row(r, a, i, &row);
		struct hwy_ref ref = hwy_add_span(a->b, (uint32_t)lane, strip->kind, &row);
		if (i == 0)
			a->strips[s] = ref;
	}
	/* Links of later strips lead to calls, whose correlation ids they need. */
	hwy_forget_strip(a->from, s, ~HWY_COL_BIT(HWY_CORR));
	return true;
}

bool hwy_append(struct hwy_builder *b, struct hwy_trace *trace, const struct hwy_append *how,
		struct hwy_err *err)
{
	struct append a = {
		.b = b,
		.to = hwy_builder_trace(b),
		.from = trace,
		.how = how,
		.texts = hwy_array(trace->strings.n, sizeof *a.texts),
		.is_used = hwy_zarray(trace->n_devices, sizeof *a.is_used),
		.strips = hwy_array(trace->n_strips, sizeof *a.strips),
		.n_lanes_before = hwy_builder_trace(b)->n_lanes,
	};
	memset(a.texts, 0xff, trace->strings.n * sizeof *a.texts);
	if (a.to->wall == HWY_NONE && trace->wall != HWY_NONE &&
	    __builtin_sub_overflow(trace->wall, append_time(&a, 0), &a.to->wall))
		a.to->wall = HWY_NONE;
	append_places(&a);
	struct strip_reader *reader = hwy_alloc(sizeof *reader);
	bool done = (!how->part || append_rows_choose(&a, err)) &&
		    hwy_need(trace, HWY_KIND_BIT(HWY_API), HWY_COL_BIT(HWY_CORR), err);
	for (uint32_t s = 0; s < trace->n_strips && done; s++)
		done = append_strip(&a, s, reader, err);
	free(reader);
	if (done)
		append_stories(&a);
	for (size_t t = 0; t < APPEND_TABLES; t++)
		free(a.maps[t]);
	append_rows_free(a.rows, trace->n_strips);
	free(a.texts);
	free(a.is_used);
	if (how->places && done)
		*how->places = a.strips;
	else
		free(a.strips);
	return done;
}
