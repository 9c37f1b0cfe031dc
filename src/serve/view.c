/* view.c - see view.h. */
#include "serve/view.h"

#include <stdlib.h>

#include "serve/tiles.h"
#include "trace/pyramid.h"

#define COLUMNS                                                                                    \
	(HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_NAME) |                   \
	 HWY_COL_BIT(HWY_FLAGS) | HWY_COL_BIT(HWY_DIRECTION) | HWY_COL_BIT(HWY_SYNC_TYPE) |        \
	 HWY_COL_BIT(HWY_OPERATION))

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
	}
	free(lane->strips);
}

void view_close(struct view_trace *view)
{
	for (uint32_t l = 0; view->lanes && l < view->trace->n_lanes; l++)
		free_lane(&view->lanes[l]);
	hardware_close(view);
	free(view->lanes);
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

static void index_strip(const struct hwy_strip *strip, struct view_strip *index)
{
	uint32_t n = (strip->rows >> INDEX_BITS) + 1;
	index->blocks = new_blocks(n);
	index->far = new_blocks((n >> INDEX_BITS) + 1);
	for (uint32_t row = 0; row < strip->rows; row++) {
		int64_t dur = hwy_get(strip, HWY_DUR, row);
		widen(&index->blocks[row >> INDEX_BITS], hwy_get(strip, HWY_START, row) + dur, dur);
	}
	for (uint32_t i = 0; i < n; i++)
		widen(&index->far[i >> INDEX_BITS], index->blocks[i].reach,
		      index->blocks[i].longest);
}

static void put_row(struct view_trace *view, struct view_lane *lane, const struct hwy_walk *walk,
		    uint32_t row)
{
	struct view_strip *index = &lane->strips[walk->strip - view->trace->strips - lane->first];
	if (row == 0)
		return;
	if (!index->rows)
		index->rows = hwy_zalloc(walk->strip->rows);
	index->rows[walk->row] = (uint8_t)row;
}

/* Every span to the first row that is free: where spans nest that is their depth. */
static void assign_rows(struct view_trace *view, uint32_t number)
{
	enum { MOST = 250 };
	struct view_lane *lane = &view->lanes[number];
	int64_t ends[MOST];
	uint32_t n = 0;
	struct hwy_walk walk = hwy_walk(view->trace, number, UINT32_MAX);
	while (hwy_walk_next(&walk)) {
		int64_t start = hwy_get(walk.strip, HWY_START, walk.row);
		uint32_t row = 0;
		while (row < n && ends[row] > start)
			row++;
		if (row == MOST)
			row--; /* deeper than anybody can see */
		n = row >= n ? row + 1 : n;
		ends[row] = start + hwy_get(walk.strip, HWY_DUR, walk.row);
		put_row(view, lane, &walk, row);
	}
	lane->depth = (uint8_t)(n ? n : 1);
}

bool view_need(struct view_trace *view, uint32_t number, struct hwy_err *err)
{
	struct view_lane *lane = &view->lanes[number];
	if (lane->is_ready)
		return true;
	for (uint32_t s = lane->first; s < lane->first + lane->n; s++)
		if (!hwy_need_strip(view->trace, s, COLUMNS, err))
			return false;
	lane->strips = hwy_zalloc((lane->n + 1) * sizeof *lane->strips);
	for (uint32_t s = 0; s < lane->n; s++)
		index_strip(&view->trace->strips[lane->first + s], &lane->strips[s]);
	assign_rows(view, number);
	lane->is_ready = true;
	return true;
}

uint8_t span_row(const struct view_trace *view, const struct view_span *span)
{
	const struct view_lane *lane = &view->lanes[view->trace->strips[span->strip].lane];
	const uint8_t *rows = lane->strips ? lane->strips[span->strip - lane->first].rows : NULL;
	return rows ? rows[span->row] : 0;
}

/* ---- the spans of a window --------------------------------------------------------------------------- */

uint32_t view_row_at(const struct hwy_strip *strip, int64_t time)
{
	uint32_t low = 0, high = strip->rows;
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
		t->out->v[t->out->n++] = (struct view_span){start, dur, number, row};
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
		if (may_hold(t, &index->blocks[row >> INDEX_BITS], (uint32_t)next, lo) &&
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
	if (spans->n)
		qsort(spans->v, spans->n, sizeof *spans->v, by_order);
}

bool spans_touching(const struct view_trace *view, uint32_t lane, int64_t from, int64_t to,
		    int64_t least, uint32_t most, struct view_spans *out)
{
	const struct view_lane *at = &view->lanes[lane];
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
	return true;
}
