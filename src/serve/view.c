/* view.c - see view.h. */
#include "serve/view.h"

#include <stdlib.h>

#include "serve/tiles.h"
#include "trace/pyramid.h"

enum {
	WHOLE = 1 << 20,
	MOST_HELD = 48 << 20, /* bytes */
	PART_BITS = 9, /* levels above the pyramid's leaf at which a bucket is some chunk long */
};

/* ---- opening -------------------------------------------------------------------------------------- */

/* First start and last end without the columns of large lanes: the first row of each strip, and the top of the
 * pyramid. */
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
	if (!hwy_pyramid_level(view->trace, lane, 61, INT64_MIN, INT64_MAX, &top, err))
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
		.whole = WHOLE,
		.most_held = MOST_HELD,
		.looks = hwy_zalloc(VIEW_LOOKS * sizeof *view->looks),
		.lanes = hwy_zalloc((trace->n_lanes + 1) * sizeof *view->lanes),
		.devices = hwy_zalloc((trace->n_devices + 1) * sizeof *view->devices),
	};
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
		free(lane->strips[s].far);
		free(lane->strips[s].rows);
		free(lane->strips[s].there);
	}
	free(lane->strips);
}

void view_close(struct view_trace *view)
{
	for (uint32_t l = 0; view->lanes && l < view->trace->n_lanes; l++)
		free_lane(&view->lanes[l]);
	hardware_close(view);
	free(view->lanes);
	free(view->looks);
	*view = (struct view_trace){0};
}

/* ---- the index of a lane ----------------------------------------------------------------------------- */

static struct view_block *new_blocks(uint32_t n)
{
	struct view_block *blocks = hwy_alloc(n * sizeof *blocks);
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
	index->far = new_blocks((n >> INDEX_BITS) + 1);
	index->there = hwy_zalloc(strip_chunks(strip) + 1);
}

static void index_chunk(const struct hwy_strip *strip, struct view_strip *index, uint32_t chunk)
{
	uint32_t row = chunk << HWY_CHUNK_BITS;
	uint32_t end = strip->rows - row > HWY_CHUNK_ROWS ? row + HWY_CHUNK_ROWS : strip->rows;
	for (; row < end; row++) {
		int64_t dur = hwy_get(strip, HWY_DUR, row);
		int64_t reach = hwy_get(strip, HWY_START, row) + dur;
		widen(&index->blocks[row >> INDEX_BITS], reach, dur);
		widen(&index->far[row >> 2 * INDEX_BITS], reach, dur);
	}
	index->there[chunk] = 1;
}

static void view_put_row(struct view_trace *view, struct view_lane *lane,
			 const struct hwy_walk *walk, uint32_t row)
{
	struct view_strip *index = &lane->strips[walk->strip - view->trace->strips - lane->first];
	if (row == 0)
		return;
	if (!index->rows)
		index->rows = hwy_zalloc(walk->strip->rows);
	index->rows[walk->row] = (uint8_t)row;
}

/* Every span to the first row that is free: where spans nest that is their depth. */
struct rows {
	int64_t ends[250];
	uint32_t n;
};

static uint8_t rows_take(struct rows *rows, int64_t start, int64_t dur)
{
	enum { MOST = sizeof rows->ends / sizeof *rows->ends };
	uint32_t row = 0;
	while (row < rows->n && rows->ends[row] > start)
		row++;
	if (row == MOST)
		row--; /* deeper than anybody can see */
	rows->n = row >= rows->n ? row + 1 : rows->n;
	rows->ends[row] = start + dur;
	return (uint8_t)row;
}

static void assign_rows(struct view_trace *view, uint32_t number)
{
	struct view_lane *lane = &view->lanes[number];
	struct rows rows = {.n = 0};
	struct hwy_walk walk = hwy_walk(view->trace, number, UINT32_MAX);
	while (hwy_walk_next(&walk))
		view_put_row(view, lane, &walk,
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
	assign_rows(view, number);
	lane->is_ready = true;
	return true;
}

/* ---- large lanes, by parts ----------------------------------------------------------------------------- */

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
			view->held += (uint64_t)strip->columns[c]->chunks[i].width
				      << HWY_CHUNK_BITS;
	return true;
}

/* The chunk in which the first row at or after a time is, unless it begins the next one: bases are known without it. */
static uint32_t chunk_at(const struct hwy_strip *strip, int64_t time)
{
	const struct hwy_column *starts = strip->columns[HWY_START];
	uint32_t low = 0, high = starts ? starts->n_chunks : 0;
	while (high - low > 1 && high > 0) {
		uint32_t middle = low + (high - low) / 2;
		if (starts->chunks[middle].base < time)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The chunks that hold rows of [from, to), and those of both ends. */
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
			if (lane->strips[s].there[chunk])
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
		       int64_t least, struct hwy_err *err)
{
	unsigned level = (unsigned)view->lanes[number].leaf + PART_BITS;
	struct hwy_buckets buckets;
	level = level < 61 ? level : 61;
	if (!hwy_pyramid_level(view->trace, number, level, from, to, &buckets, err))
		return false;
	bool ok = need_between(view, number, from, from, err) &&
		  need_between(view, number, to, to, err);
	for (uint32_t i = 0; ok && i < buckets.n; i++) {
		int64_t begin = (int64_t)((uint64_t)buckets.v[i].index << level);
		if (buckets.v[i].longest_dur >= least)
			ok = need_between(view, number, begin, begin + (INT64_C(1) << level), err);
	}
	free(buckets.v);
	return ok;
}

bool view_need(struct view_trace *view, uint32_t number, int64_t from, int64_t to, int64_t least,
	       struct hwy_err *err)
{
	struct view_lane *lane = &view->lanes[number];
	if (lane->is_ready)
		return true;
	if (!lane->strips) {
		lane->strips = hwy_zalloc((lane->n + 1) * sizeof *lane->strips);
		for (uint32_t s = 0; s < lane->n; s++)
			index_begin(&view->trace->strips[lane->first + s], &lane->strips[s]);
	}
	return lane->spans <= view->whole || lane->leaf < 0
		       ? need_whole(view, number, err)
		       : need_parts(view, number, from, to, least, err);
}

void view_trim(struct view_trace *view)
{
	if (view->held <= view->most_held)
		return;
	for (uint32_t l = 0; l < view->trace->n_lanes; l++) {
		struct view_lane *lane = &view->lanes[l];
		for (uint32_t s = 0; !lane->is_ready && lane->spans > view->whole && s < lane->n;
		     s++) {
			hwy_forget_strip(view->trace, lane->first + s, VIEW_COLUMNS);
			if (lane->strips)
				memset(lane->strips[s].there, 0,
				       strip_chunks(&view->trace->strips[lane->first + s]));
		}
	}
	view->held = 0;
}

/* Among the spans of a list: what is around them is in it. */
static void assign_depths(struct view_lane *lane, struct view_spans *spans)
{
	struct rows rows = {.n = 0};
	for (uint32_t i = 0; i < spans->n; i++)
		spans->v[i].depth = rows_take(&rows, spans->v[i].start, spans->v[i].dur);
	uint8_t depth = (uint8_t)(rows.n ? rows.n : 1);
	lane->depth = lane->depth > depth ? lane->depth : depth;
}

bool span_find_depth(struct view_trace *view, struct view_span *span, struct hwy_err *err)
{
	uint32_t lane = view->trace->strips[span->strip].lane;
	struct view_spans around = {0};
	if (!view_need(view, lane, span->start, span->start + 1, 0, err))
		return false;
	spans_touching(view, lane, span->start, span->start + 1, 0, UINT32_MAX, &around);
	for (uint32_t i = 0; i < around.n; i++)
		if (around.v[i].strip == span->strip && around.v[i].row == span->row)
			span->depth = around.v[i].depth;
	free(around.v);
	return true;
}

/* ---- the spans of a window --------------------------------------------------------------------------- */

uint32_t view_row_at(const struct hwy_strip *strip, int64_t time)
{
	uint32_t chunk = chunk_at(strip, time), low = chunk << HWY_CHUNK_BITS;
	uint32_t high = strip->rows - low < HWY_CHUNK_ROWS ? strip->rows : low + HWY_CHUNK_ROWS;
	const struct hwy_column *starts = strip->columns[HWY_START];
	if (!starts)
		return time > 0 ? strip->rows : 0;
	if (!starts->chunks[chunk].loaded)
		return high;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (hwy_get(strip, HWY_START, middle) < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct touching {
	int64_t from, least; /* ends after 'from', or starts at or after it; and so long */
	uint32_t most;
	struct view_spans *out;
};

static bool add_block(const struct touching *t, const struct hwy_strip *strip, uint32_t number,
		      uint32_t row, uint32_t end)
{
	for (; row < end; row++) {
		int64_t start = hwy_get(strip, HWY_START, row), dur = hwy_get(strip, HWY_DUR, row);
		if (dur < t->least || (start < t->from && start + dur <= t->from))
			continue;
		if (t->out->n >= t->most)
			return false;
		HWY_GROW(t->out->v, t->out->n, t->out->cap);
		t->out->v[t->out->n++] = (struct view_span){start, dur, number, row, 0};
	}
	return true;
}

/* Whether a block that ends with row 'next' may hold any. */
static bool may_hold(const struct touching *t, const struct view_block *block, uint32_t next,
		     uint32_t lo)
{
	return block->longest >= t->least && (next > lo || block->reach > t->from);
}

/* Rows before 'end'; blocks that cannot hold any are passed over. 'lo': the first that starts in the window. */
static bool add_strip(const struct touching *t, const struct hwy_strip *strip,
		      const struct view_strip *index, uint32_t number, uint32_t lo, uint32_t end)
{
	const uint64_t far_rows = UINT64_C(1) << 2 * INDEX_BITS;
	for (uint64_t row = 0; row < end;) {
		uint64_t next = row + far_rows;
		if (row % far_rows == 0 && next <= end &&
		    !may_hold(t, &index->far[row / far_rows], (uint32_t)next, lo)) {
			row = next;
			continue;
		}
		next = row + INDEX_ROWS < end ? row + INDEX_ROWS : end;
		if (index->there[row >> HWY_CHUNK_BITS] &&
		    may_hold(t, &index->blocks[row >> INDEX_BITS], (uint32_t)next, lo) &&
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

void spans_sort(struct view_spans *spans)
{
	uint32_t i = 1;
	while (i < spans->n && by_order(&spans->v[i - 1], &spans->v[i]) <= 0)
		i++;
	if (i < spans->n)
		qsort(spans->v, spans->n, sizeof *spans->v, by_order);
}

bool spans_touching(struct view_trace *view, uint32_t lane, int64_t from, int64_t to, int64_t least,
		    uint32_t most, struct view_spans *out)
{
	struct view_lane *at = &view->lanes[lane];
	struct touching t = {from, least, most, out};
	uint32_t before = out->n;
	for (uint32_t s = 0; s < at->n; s++) {
		const struct hwy_strip *strip = &view->trace->strips[at->first + s];
		uint32_t lo = view_row_at(strip, from), hi = view_row_at(strip, to);
		if ((least == 0 && hi - lo > most) ||
		    !add_strip(&t, strip, &at->strips[s], at->first + s, lo, hi))
			return false;
	}
	if (at->n > 1 && before == 0)
		spans_sort(out);
	for (uint32_t i = before; at->is_ready && i < out->n; i++) {
		const uint8_t *rows = at->strips[out->v[i].strip - at->first].rows;
		out->v[i].depth = rows ? rows[out->v[i].row] : 0;
	}
	if (!at->is_ready && before == 0)
		assign_depths(at, out);
	return true;
}
