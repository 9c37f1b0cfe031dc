/* SPDX-License-Identifier: Apache-2.0 */
/* view.c - see view.h. */
#include "serve/view.h"

#include <stdlib.h>

#include "base/search.h"
#include "serve/event_table.h"
#include "serve/projected.h"
#include "serve/span_facts.h"
#include "serve/tiles.h"
#include "serve/view_ranks.h"
#include "trace/pyramid.h"

enum {
	WHOLE_SPANS = 1 << 20,
	MOST_HELD_BYTES = 48 << 20,
	/* This many levels above a pyramid's lowest level, a bucket lasts about as long as a
	 * chunk. */
	PART_LEVELS = 9,
	TOP_LEVEL = 61, /* highest level of a pyramid: a bucket of 2^61 ns holds everything */
};

/* ---- opening --------------------------------------------------------------------------------- */

/* Finds the first start and the last end on a lane without reading its columns: from the first
 * row of each strip and from the top of the pyramid. */
static bool measure_lane(struct view_trace *view, uint32_t lane, struct hwy_err *err)
{
	struct view_lane *at = &view->lanes[lane];
	at->leaf = hwy_pyramid_leaf(view->trace, lane);
	at->from = INT64_MAX;
	at->to = INT64_MIN;
	for (uint32_t s = at->first; s < at->first + at->n; s++) {
		int64_t start;
		if (!hwy_peek(view->trace, s, HWY_START, 0, &start, err))
			return false;
		at->from = start < at->from ? start : at->from;
	}
	struct hwy_buckets top;
	if (!hwy_pyramid_level(view->trace, lane, TOP_LEVEL, INT64_MIN, INT64_MAX, &top, err))
		return false;
	for (uint32_t i = 0; i < top.n; i++) {
		at->to = top.v[i].end > at->to ? top.v[i].end : at->to;
		for (unsigned c = 0; c < HWY_BUSY_CLASSES; c++)
			at->classes |= (uint8_t)((top.v[i].busy[c] != 0) << c);
	}
	free(top.v);
	return true;
}

bool view_open(struct view_trace *view, struct hwy_trace *trace, const char *source,
	       struct hwy_err *err)
{
	*view = (struct view_trace){
		.trace = trace,
		.source = source,
		.from = INT64_MAX,
		.to = INT64_MIN,
		.whole_spans = WHOLE_SPANS,
		.most_held_bytes = MOST_HELD_BYTES,
		.known_colors = hwy_zarray(VIEW_KNOWN_COLORS, sizeof *view->known_colors),
		.lanes = hwy_zarray(trace->n_lanes, sizeof *view->lanes),
	};
	ranks_open(view);
	view->devices = hwy_zarray(view_unions(view), sizeof *view->devices);
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		struct view_lane *lane = &view->lanes[trace->strips[s].lane];
		if (trace->strips[s].rows == 0)
			continue;
		lane->first = lane->n ? lane->first : s;
		lane->n = s - lane->first + 1;
		lane->spans += trace->strips[s].rows;
	}
	for (uint32_t l = 0; l < trace->n_lanes; l++) {
		if (view->lanes[l].n == 0)
			continue;
		if (!measure_lane(view, l, err))
			return false;
		view->from = view->lanes[l].from < view->from ? view->lanes[l].from : view->from;
		view->to = view->lanes[l].to > view->to ? view->lanes[l].to : view->to;
	}
	if (view->from > view->to)
		view->from = view->to = 0;
	view->origin = (int64_t)((uint64_t)(view->from >> VIEW_ORIGIN_BITS) << VIEW_ORIGIN_BITS);
	if ((uint64_t)view->to - (uint64_t)view->origin >= UINT64_C(1) << 53)
		return hwy_fail(err, "%s: lasts longer than 100 days, which the viewer cannot show",
				source);
	return true;
}

static void free_lane(struct view_lane *lane)
{
	for (uint32_t s = 0; lane->strips && s < lane->n; s++) {
		free(lane->strips[s].blocks);
		free(lane->strips[s].far_blocks);
		free(lane->strips[s].depths);
		free(lane->strips[s].indexed);
	}
	free(lane->strips);
}

void view_close(struct view_trace *view)
{
	for (uint32_t l = 0; view->lanes && l < view->trace->n_lanes; l++)
		free_lane(&view->lanes[l]);
	hardware_close(view);
	projected_close(view);
	span_facts_free(view->facts);
	event_results_free(view);
	ranks_close(view);
	free(view->lanes);
	free(view->known_colors);
	*view = (struct view_trace){0};
}

/* ---- the index of a lane --------------------------------------------------------------------- */

static struct view_block *new_blocks(uint32_t n)
{
	struct view_block *blocks = hwy_array(n, sizeof *blocks);
	for (uint32_t i = 0; i < n; i++)
		blocks[i] = (struct view_block){INT64_MIN, 0};
	return blocks;
}

static void widen(struct view_block *block, int64_t end, int64_t dur)
{
	block->reach = end > block->reach ? end : block->reach;
	block->longest = dur > block->longest ? dur : block->longest;
}

static uint32_t strip_chunks(const struct hwy_strip *strip)
{
	return (strip->rows + HWY_CHUNK_ROWS - 1) >> HWY_CHUNK_BITS;
}

static void index_begin(const struct hwy_strip *strip, struct view_strip *index)
{
	uint32_t n = (strip->rows >> INDEX_BITS) + 1;
	index->blocks = new_blocks(n);
	index->far_blocks = new_blocks((n >> INDEX_BITS) + 1);
	index->indexed = hwy_zarray(strip_chunks(strip), 1);
}

static void index_chunk(const struct hwy_strip *strip, struct view_strip *index, uint32_t chunk)
{
	uint32_t row = chunk << HWY_CHUNK_BITS;
	uint32_t end = strip->rows - row > HWY_CHUNK_ROWS ? row + HWY_CHUNK_ROWS : strip->rows;
	for (; row < end; row++) {
		int64_t dur = hwy_get(strip, HWY_DUR, row);
		int64_t reach = hwy_get(strip, HWY_START, row) + dur;
		widen(&index->blocks[row >> INDEX_BITS], reach, dur);
		widen(&index->far_blocks[row >> 2 * INDEX_BITS], reach, dur);
	}
	index->indexed[chunk] = 1;
}

static void put_depth(struct view_trace *view, struct view_lane *lane, const struct hwy_walk *walk,
		      uint32_t depth)
{
	struct view_strip *index = &lane->strips[walk->strip - view->trace->strips - lane->first];
	if (depth == 0)
		return;
	if (!index->depths)
		index->depths = hwy_zarray(walk->strip->rows, 1);
	index->depths[walk->row] = (uint8_t)depth;
}

/* The rows of a lane that is being drawn. Every span goes to the first row that is free at its
 * start: where spans nest, that row is the depth of the nesting. */
struct rows {
	int64_t ends[250]; /* by row: the end of the row's last span */
	uint32_t n;        /* number of rows in use */
};

static uint8_t rows_take(struct rows *rows, int64_t start, int64_t dur)
{
	enum { MOST = sizeof rows->ends / sizeof *rows->ends };
	uint32_t row = 0;
	while (row < rows->n && rows->ends[row] > start)
		row++;
	if (row == MOST)
		row--; /* the last row takes all further spans */
	rows->n = row >= rows->n ? row + 1 : rows->n;
	rows->ends[row] = start + dur;
	return (uint8_t)row;
}

static void assign_lane_depths(struct view_trace *view, uint32_t number)
{
	struct view_lane *lane = &view->lanes[number];
	struct rows rows = {.n = 0};
	struct hwy_walk walk = hwy_walk(view->trace, number, UINT32_MAX);
	while (hwy_walk_next(&walk))
		put_depth(view, lane, &walk,
			  rows_take(&rows, hwy_get(walk.strip, HWY_START, walk.row),
				    hwy_get(walk.strip, HWY_DUR, walk.row)));
	lane->depth = (uint8_t)(rows.n ? rows.n : 1);
}

static bool need_whole(struct view_trace *view, uint32_t number, struct hwy_err *err)
{
	struct view_lane *lane = &view->lanes[number];
	for (uint32_t s = 0; s < lane->n; s++) {
		const struct hwy_strip *strip = &view->trace->strips[lane->first + s];
		if (!hwy_need_strip(view->trace, lane->first + s, VIEW_COLUMNS, err))
			return false;
		for (uint32_t chunk = 0; chunk < strip_chunks(strip); chunk++)
			index_chunk(strip, &lane->strips[s], chunk);
	}
	assign_lane_depths(view, number);
	lane->is_whole = true;
	return true;
}

/* ---- large lanes, chunk by chunk ------------------------------------------------------------- */

bool view_need_rows(struct view_trace *view, uint32_t number, uint64_t columns, uint32_t first,
		    uint32_t n, struct hwy_err *err)
{
	const struct hwy_strip *strip = &view->trace->strips[number];
	uint32_t last = (first + n - 1) >> HWY_CHUNK_BITS;
	if (!hwy_need_rows(view->trace, number, columns, first, n, err))
		return false;
	for (unsigned c = 0; c < HWY_COLS; c++)
		for (uint32_t i = first >> HWY_CHUNK_BITS;
		     columns >> c & 1 && strip->columns[c] && i <= last; i++)
			view->held_bytes += (uint64_t)strip->columns[c]->chunks[i].width
					    << HWY_CHUNK_BITS;
	return true;
}

/* Yields the last chunk whose first start is before a time, else chunk 0. The first row that starts
 * at or after the time is in this chunk, or is the first row of the next chunk. The chunks need not
 * be in memory: their bases are. */
static uint32_t chunk_at(const struct hwy_strip *strip, int64_t time)
{
	const struct hwy_column *starts = strip->columns[HWY_START];
	uint32_t n_chunks = starts ? starts->n_chunks : 0;
	uint32_t first_later = HWY_FIRST(i, 1, n_chunks, starts->chunks[i].base >= time);
	return first_later - 1;
}

/* Reads the chunks that hold rows which start in [from, to), and the chunks at both ends of the
 * window. */
static bool need_between(struct view_trace *view, uint32_t number, int64_t from, int64_t to,
			 struct hwy_err *err)
{
	struct view_lane *lane = &view->lanes[number];
	for (uint32_t s = 0; s < lane->n; s++) {
		const struct hwy_strip *strip = &view->trace->strips[lane->first + s];
		if (strip->rows == 0)
			continue;
		uint32_t last =
			strip->columns[HWY_START] ? chunk_at(strip, to) : strip_chunks(strip) - 1;
		for (uint32_t chunk = chunk_at(strip, from); chunk <= last; chunk++) {
			uint32_t row = chunk << HWY_CHUNK_BITS, left = strip->rows - row;
			if (lane->strips[s].indexed[chunk])
				continue;
			if (!view_need_rows(view, lane->first + s, VIEW_COLUMNS, row,
					    left < HWY_CHUNK_ROWS ? left : HWY_CHUNK_ROWS, err))
				return false;
			index_chunk(strip, &lane->strips[s], chunk);
		}
	}
	return true;
}

static bool need_parts(struct view_trace *view, uint32_t number, int64_t from, int64_t to,
		       int64_t least_ns, struct hwy_err *err)
{
	unsigned level = (unsigned)view->lanes[number].leaf + PART_LEVELS;
	struct hwy_buckets buckets;
	level = level < TOP_LEVEL ? level : TOP_LEVEL;
	if (!hwy_pyramid_level(view->trace, number, level, from, to, &buckets, err))
		return false;
	bool ok = need_between(view, number, from, from, err) &&
		  need_between(view, number, to, to, err);
	for (uint32_t i = 0; ok && i < buckets.n; i++) {
		int64_t begin = (int64_t)((uint64_t)buckets.v[i].index << level);
		if (buckets.v[i].longest_dur >= least_ns)
			ok = need_between(view, number, begin, begin + (INT64_C(1) << level), err);
	}
	free(buckets.v);
	return ok;
}

bool view_need(struct view_trace *view, uint32_t number, int64_t from, int64_t to, int64_t least_ns,
	       struct hwy_err *err)
{
	struct view_lane *lane = &view->lanes[number];
	if (lane->is_whole)
		return true;
	if (!lane->strips) {
		lane->strips = hwy_zarray(lane->n, sizeof *lane->strips);
		for (uint32_t s = 0; s < lane->n; s++)
			index_begin(&view->trace->strips[lane->first + s], &lane->strips[s]);
	}
	return lane->spans <= view->whole_spans || lane->leaf < 0
		       ? need_whole(view, number, err)
		       : need_parts(view, number, from, to, least_ns, err);
}

void view_trim(struct view_trace *view)
{
	if (view->held_bytes <= view->most_held_bytes)
		return;
	for (uint32_t l = 0; l < view->trace->n_lanes; l++) {
		struct view_lane *lane = &view->lanes[l];
		for (uint32_t s = 0;
		     !lane->is_whole && lane->spans > view->whole_spans && s < lane->n; s++) {
			hwy_forget_strip(view->trace, lane->first + s, VIEW_COLUMNS);
			if (lane->strips)
				memset(lane->strips[s].indexed, 0,
				       strip_chunks(&view->trace->strips[lane->first + s]));
		}
	}
	view->held_bytes = 0;
}

/* Sets the depths of the spans in a list, which must hold every span that encloses another span of
 * the list. */
static void assign_list_depths(struct view_lane *lane, struct view_spans *spans)
{
	struct rows rows = {.n = 0};
	for (uint32_t i = 0; i < spans->n; i++)
		spans->v[i].depth = rows_take(&rows, spans->v[i].start, spans->v[i].dur);
	uint8_t depth = (uint8_t)(rows.n ? rows.n : 1);
	lane->depth = lane->depth > depth ? lane->depth : depth;
}

/* Yields the depth of a span on a lane that was read as a whole. */
static uint8_t depth_of_row(const struct view_lane *lane, uint32_t strip, uint32_t row)
{
	const uint8_t *depths = lane->strips[strip - lane->first].depths;
	return depths ? depths[row] : 0;
}

bool view_find_depth(struct view_trace *view, struct view_span *span, struct hwy_err *err)
{
	uint32_t lane = view->trace->strips[span->strip].lane;
	const struct view_lane *on_lane = &view->lanes[lane];
	struct view_spans around = {0};
	if (!view_need(view, lane, span->start, span->start + 1, 0, err))
		return false;
	if (on_lane->is_whole) {
		span->depth = depth_of_row(on_lane, span->strip, span->row);
		return true;
	}
	view_spans_touching(view, lane, span->start, span->start + 1, 0, UINT32_MAX, &around);
	for (uint32_t i = 0; i < around.n; i++)
		if (around.v[i].strip == span->strip && around.v[i].row == span->row)
			span->depth = around.v[i].depth;
	free(around.v);
	return true;
}

/* ---- the spans of a window ------------------------------------------------------------------- */

uint32_t view_row_at(const struct hwy_strip *strip, int64_t time)
{
	uint32_t chunk = chunk_at(strip, time), first = chunk << HWY_CHUNK_BITS;
	uint32_t end = strip->rows - first < HWY_CHUNK_ROWS ? strip->rows : first + HWY_CHUNK_ROWS;
	const struct hwy_column *starts = strip->columns[HWY_START];
	if (!starts)
		return time > 0 ? strip->rows : 0;
	if (!starts->chunks[chunk].loaded)
		return end;
	return HWY_FIRST(row, first, end, hwy_get(strip, HWY_START, row) >= time);
}

/* What view_spans_touching looks for. */
struct touching {
	int64_t from;     /* a span must end after this time, or start at or after it */
	int64_t least_ns; /* the shortest duration of a span, ns */
	uint32_t most;    /* the largest number of spans in 'out' */
	struct view_spans *out;
};

static bool add_block(const struct touching *t, const struct hwy_strip *strip, uint32_t number,
		      uint32_t row, uint32_t end)
{
	for (; row < end; row++) {
		int64_t start = hwy_get(strip, HWY_START, row), dur = hwy_get(strip, HWY_DUR, row);
		if (dur < t->least_ns || (start < t->from && start + dur <= t->from))
			continue;
		if (t->out->n >= t->most)
			return false;
		HWY_GROW(t->out->v, t->out->n, t->out->cap);
		t->out->v[t->out->n++] = (struct view_span){start, dur, number, row, 0};
	}
	return true;
}

/* Whether a block of the index whose last row is next - 1 may hold spans that are looked for.
 * Rows from 'first_inside' on start inside the window. */
static bool may_hold(const struct touching *t, const struct view_block *block, uint32_t next,
		     uint32_t first_inside)
{
	return block->longest >= t->least_ns && (next > first_inside || block->reach > t->from);
}

/* Adds the spans among the rows 0 … end - 1 of a strip. Blocks that cannot hold such spans are
 * skipped. 'first_inside' is the first row that starts inside the window. */
static bool add_strip(const struct touching *t, const struct hwy_strip *strip,
		      const struct view_strip *index, uint32_t number, uint32_t first_inside,
		      uint32_t end)
{
	const uint64_t far_rows = UINT64_C(1) << 2 * INDEX_BITS;
	for (uint64_t row = 0; row < end;) {
		uint64_t next = row + far_rows;
		if (row % far_rows == 0 && next <= end &&
		    !may_hold(t, &index->far_blocks[row / far_rows], (uint32_t)next,
			      first_inside)) {
			row = next;
			continue;
		}
		next = row + INDEX_ROWS < end ? row + INDEX_ROWS : end;
		if (index->indexed[row >> HWY_CHUNK_BITS] &&
		    may_hold(t, &index->blocks[row >> INDEX_BITS], (uint32_t)next, first_inside) &&
		    !add_block(t, strip, number, (uint32_t)row, (uint32_t)next))
			return false;
		row = next;
	}
	return true;
}

static int by_order(const void *a, const void *b)
{
	const struct view_span *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->dur != y->dur)
		return x->dur > y->dur ? -1 : 1;
	if (x->strip != y->strip)
		return x->strip < y->strip ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

void view_spans_sort(struct view_spans *spans)
{
	uint32_t i = 1;
	while (i < spans->n && by_order(&spans->v[i - 1], &spans->v[i]) <= 0)
		i++;
	if (i < spans->n)
		qsort(spans->v, spans->n, sizeof *spans->v, by_order);
}

bool view_spans_touching(struct view_trace *view, uint32_t lane, int64_t from, int64_t to,
			 int64_t least_ns, uint32_t most, struct view_spans *out)
{
	struct view_lane *at = &view->lanes[lane];
	struct touching t = {from, least_ns, most, out};
	uint32_t before = out->n;
	for (uint32_t s = 0; s < at->n; s++) {
		const struct hwy_strip *strip = &view->trace->strips[at->first + s];
		uint32_t first_inside = view_row_at(strip, from), end = view_row_at(strip, to);
		if ((least_ns == 0 && end - first_inside > most) ||
		    !add_strip(&t, strip, &at->strips[s], at->first + s, first_inside, end))
			return false;
	}
	if (at->n > 1 && before == 0)
		view_spans_sort(out);
	for (uint32_t i = before; at->is_whole && i < out->n; i++)
		out->v[i].depth = depth_of_row(at, out->v[i].strip, out->v[i].row);
	if (!at->is_whole && before == 0)
		assign_list_depths(at, out);
	return true;
}
