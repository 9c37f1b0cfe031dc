/* SPDX-License-Identifier: Apache-2.0 */
/* tiles.c - see tiles.h. */
#include "serve/tiles.h"

#include "serve/projected.h"

#include <stdlib.h>

#include "trace/pyramid.h"

/* ---- spans ----------------------------------------------------------------------------------- */

static void tiles_put_spans(const struct view_trace *view, const struct view_spans *spans,
			    int64_t from, struct hwy_bytes *out)
{
	int64_t id_before = 0, start_before = from;
	for (uint32_t i = 0; i < spans->n; i++) {
		const struct view_span *span = &spans->v[i];
		const struct hwy_strip *strip = &view->trace->strips[span->strip];
		int64_t id = view_span_id(view, span), name = hwy_get(strip, HWY_NAME, span->row);
		int64_t flags = hwy_get(strip, HWY_FLAGS, span->row);
		unsigned color = span_color(view->trace, strip->kind, name);
		color |= flags & HWY_FLAG_MARK ? VIEW_MARK : 0u;
		color |= flags & HWY_FLAG_UNFINISHED ? VIEW_UNFINISHED : 0u;
		hwy_bytes_put_zigzag(out, id - id_before);
		hwy_bytes_put_zigzag(out, span->start - start_before);
		hwy_bytes_put_varint(out, (uint64_t)span->dur);
		hwy_bytes_put_varint(out, (uint64_t)span_names_id(view->trace, strip, span->row));
		hwy_bytes_put_byte(out, (uint8_t)color);
		hwy_bytes_put_byte(out, span->depth);
		id_before = id;
		start_before = span->start;
	}
}

/* ---- summaries ------------------------------------------------------------------------------- */

static void add_bucket_cover(const struct summary *summary, int64_t cover[VIEW_BUCKETS],
			     int64_t from, int64_t to)
{
	int64_t end = summary->from + summary->width * VIEW_BUCKETS;
	from = from > summary->from ? from : summary->from;
	to = to < end ? to : end;
	while (from < to) {
		int64_t bucket = (from - summary->from) >> summary->level;
		int64_t next = summary->from + (bucket + 1) * summary->width;
		next = next < to ? next : to;
		cover[bucket] += next - from;
		from = next;
	}
}

void tiles_add_cover(struct summary *summary, unsigned class, int64_t from, int64_t to)
{
	add_bucket_cover(summary, summary->cover[class], from, to);
}

/* Moves the end of each class to the latest end of the rows row … end - 1; only ends later than
 * 'after' count. */
static void widen_ends(struct view_trace *view, const struct hwy_strip *strip, uint32_t row,
		       uint32_t end, int64_t after, int64_t ends[HWY_BUSY_CLASSES])
{
	for (; row < end; row++) {
		int64_t reach = hwy_end(strip, row);
		if (reach <= after)
			continue;
		unsigned c = span_color_busy_class(view->trace, strip->kind,
						   hwy_get(strip, HWY_NAME, row));
		ends[c] = reach > ends[c] ? reach : ends[c];
	}
}

/* Finds for each class of work the latest end of the spans that start in the bucket [from, to); at
 * least 'to'. */
static void class_ends(struct view_trace *view, uint32_t lane, int64_t from, int64_t to,
		       int64_t ends[HWY_BUSY_CLASSES])
{
	const struct view_lane *on_lane = &view->lanes[lane];
	for (unsigned c = 0; c < HWY_BUSY_CLASSES; c++)
		ends[c] = to;
	for (uint32_t s = 0; s < on_lane->n; s++) {
		const struct view_strip *index = &on_lane->strips[s];
		const struct hwy_strip *strip = &view->trace->strips[on_lane->first + s];
		uint32_t first = view_row_at(strip, from), row = view_row_at(strip, to);
		while (row > first) {
			uint32_t block = (row - 1) >> INDEX_BITS;
			uint32_t begin = block << INDEX_BITS;
			begin = begin > first ? begin : first;
			if (index->indexed[begin >> HWY_CHUNK_BITS] &&
			    index->blocks[block].reach > to)
				widen_ends(view, strip, begin, row, to, ends);
			row = begin;
		}
	}
}

/* The pyramid charges a span's whole time to the bucket in which the span starts. What such
 * spans cover after the end of the bucket goes to the buckets that follow. 'covered' is, for
 * each class, the latest end of the spans that started in earlier buckets: nothing before it is
 * counted twice. */
static bool cover_bucket(struct view_trace *view, uint32_t lane, const struct hwy_bucket *bucket,
			 struct summary *summary, int64_t covered[HWY_BUSY_CLASSES],
			 struct hwy_err *err)
{
	int64_t from = (int64_t)((uint64_t)bucket->index << summary->level);
	int64_t to = from + summary->width, ends[HWY_BUSY_CLASSES];
	unsigned classes = view->lanes[lane].classes;
	bool is_one = (classes & (classes - 1)) == 0;
	for (unsigned c = 0; c < HWY_BUSY_CLASSES; c++)
		ends[c] = bucket->end;
	if (!is_one && bucket->end > to) {
		if (!view_need(view, lane, to, to + 1, 0, err))
			return false;
		class_ends(view, lane, from, to, ends);
	}
	for (unsigned c = 0; c < HWY_BUSY_CLASSES; c++) {
		if (bucket->busy[c] == 0)
			continue;
		int64_t after = covered[c] > to ? covered[c] : to;
		int64_t rest = ends[c] > after ? ends[c] - after : 0;
		int64_t inside = bucket->busy[c] - rest;
		/* A damaged report may claim any busy time, so the time is limited to the
		 * bucket. */
		inside = inside < 0 ? 0 : inside > summary->width ? summary->width : inside;
		if (from >= summary->from)
			summary->cover[c][(from - summary->from) >> summary->level] += inside;
		tiles_add_cover(summary, c, after, after + rest);
		covered[c] = ends[c] > covered[c] ? ends[c] : covered[c];
	}
	return true;
}

static bool summarize_buckets(struct view_trace *view, uint32_t lane,
			      const struct hwy_buckets *buckets, struct summary *summary,
			      struct hwy_err *err)
{
	int64_t covered[HWY_BUSY_CLASSES] = {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN};
	for (uint32_t i = 0; i < buckets->n; i++) {
		const struct hwy_bucket *bucket = &buckets->v[i];
		int64_t offset = bucket->index - (summary->from >> summary->level);
		if (!cover_bucket(view, lane, bucket, summary, covered, err))
			return false;
		if (offset < 0 || offset >= VIEW_BUCKETS)
			continue;
		summary->counts[offset] = bucket->count;
		summary->longest[offset] = bucket->longest_dur;
		summary->ids[offset] = bucket->longest;
	}
	return true;
}

/* Yields the row of a summary to which a span belongs: its depth, or whether its thread ran. */
static unsigned summary_row(struct view_trace *view, const struct view_span *span)
{
	const struct hwy_strip *strip = &view->trace->strips[span->strip];
	if (strip->kind == HWY_STATE)
		return span_color(view->trace, HWY_STATE, hwy_get(strip, HWY_NAME, span->row)) ==
		       COLOR_STOPPED;
	return span->depth < VIEW_PARTS ? span->depth : VIEW_PARTS - 1;
}

static void summarize_rows(struct view_trace *view, const struct view_spans *spans,
			   struct summary *summary)
{
	int64_t covered[VIEW_PARTS];
	for (unsigned r = 0; r < VIEW_PARTS; r++)
		covered[r] = INT64_MIN;
	for (uint32_t i = 0; i < spans->n; i++) {
		const struct view_span *span = &spans->v[i];
		int64_t end = span->start + span->dur;
		unsigned r = summary_row(view, span);
		add_bucket_cover(summary, summary->rows[r],
				 span->start > covered[r] ? span->start : covered[r], end);
		covered[r] = end > covered[r] ? end : covered[r];
		summary->n_rows = r >= summary->n_rows ? r + 1 : summary->n_rows;
	}
}

static void summarize_spans(struct view_trace *view, const struct view_spans *spans,
			    struct summary *summary)
{
	summarize_rows(view, spans, summary);
	int64_t covered[HWY_BUSY_CLASSES] = {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN};
	for (uint32_t i = 0; i < spans->n; i++) {
		const struct view_span *span = &spans->v[i];
		const struct hwy_strip *strip = &view->trace->strips[span->strip];
		int64_t end = span->start + span->dur;
		unsigned c = span_color_busy_class(view->trace, strip->kind,
						   hwy_get(strip, HWY_NAME, span->row));
		tiles_add_cover(summary, c, span->start > covered[c] ? span->start : covered[c],
				end);
		covered[c] = end > covered[c] ? end : covered[c];
		if (span->start < summary->from)
			continue;
		int64_t bucket = (span->start - summary->from) >> summary->level;
		if (summary->counts[bucket]++ == 0 || span->dur > summary->longest[bucket]) {
			summary->longest[bucket] = span->dur;
			summary->ids[bucket] = view_span_id(view, span);
		}
	}
}

/* Finds the colour of one span. The colours of spans on large lanes are kept, because tiles of
 * coarse levels ask for the same spans again. */
static bool find_color(struct view_trace *view, uint32_t id, uint8_t *color, struct hwy_err *err)
{
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(view->trace, id, &row);
	uint32_t number = (uint32_t)(strip - view->trace->strips);
	if (strip->kind != HWY_API && strip->kind != HWY_STATE) {
		*color = span_color(view->trace, strip->kind, 0);
		return true;
	}
	struct known_color *known = &view->known_colors[id % VIEW_KNOWN_COLORS];
	bool is_small = view->lanes[strip->lane].spans <= view->whole_spans;
	if (!is_small && known->span_ref == hwy_ref32(id)) {
		*color = known->color;
		return true;
	}
	if (is_small ? !view_need(view, strip->lane, 0, 0, 0, err)
		     : !view_need_rows(view, number, HWY_COL_BIT(HWY_NAME), row, 1, err))
		return false;
	*color = span_color(view->trace, strip->kind, hwy_get(strip, HWY_NAME, row));
	if (!is_small)
		*known = (struct known_color){hwy_ref32(id), *color};
	return true;
}

static bool put_colors(struct view_trace *view, const struct summary *summary,
		       const uint8_t *offsets, uint32_t n, struct hwy_bytes *out,
		       struct hwy_err *err)
{
	for (uint32_t i = 0; i < n; i++) {
		unsigned bucket = offsets[i];
		uint8_t color = 0xff; /* 0xff: no span starts in the bucket */
		if (summary->counts[bucket] > 0 &&
		    !find_color(view, summary->ids[bucket], &color, err))
			return false;
		hwy_bytes_put_byte(out, color);
	}
	return true;
}

/* Yields the covered share of a bucket in units of 1/255; a share above 0 yields at least 1. */
static uint8_t share_of_bucket(int64_t cover, int64_t width)
{
	if (cover <= 0)
		return 0;
	double share = 255.0 * (double)cover / (double)width + 0.5;
	return (uint8_t)(share < 1 ? 1 : share > 255 ? 255 : share);
}

/* Finds the spans that last at least VIEW_LONG buckets. Where a pyramid says that there are
 * none, nothing is read. */
static bool find_long(struct view_trace *view, uint32_t lane, const struct summary *summary,
		      bool may_have, struct view_spans *spans, struct hwy_err *err)
{
	enum { MOST = 4096 };
	int64_t least_ns =
		summary->width > INT64_MAX / VIEW_LONG ? INT64_MAX : summary->width * VIEW_LONG;
	int64_t from = summary->from, to = from + summary->width * VIEW_BUCKETS;
	if (!may_have)
		return true;
	if (!view_need(view, lane, from, to, least_ns, err))
		return false;
	view_spans_touching(view, lane, from, to, least_ns, MOST, spans);
	return true;
}

static bool put_summary(struct view_trace *view, uint32_t lane, const struct summary *summary,
			bool with_colors, const struct view_spans *spans, struct hwy_bytes *out,
			uint32_t *n_out, struct hwy_err *err)
{
	uint8_t offsets[VIEW_BUCKETS];
	unsigned mask = with_colors ? VIEW_HAS_COLORS : 0;
	uint32_t n = 0;
	bool with_counts = !(lane & VIEW_HARDWARE);
	mask |= with_counts ? VIEW_HAS_COUNTS : 0;
	for (unsigned bucket = 0; bucket < VIEW_BUCKETS; bucket++) {
		bool any = summary->counts[bucket] > 0;
		for (unsigned c = 0; c < 4; c++) {
			any |= summary->cover[c][bucket] > 0;
			mask |= (unsigned)(summary->cover[c][bucket] > 0) << c;
		}
		if (any)
			offsets[n++] = (uint8_t)bucket;
	}
	hwy_bytes_put_byte(out, (uint8_t)mask);
	hwy_bytes_put_byte(out, (uint8_t)summary->n_rows);
	hwy_bytes_put_little(out, spans->n, 2);
	hwy_bytes_put(out, offsets, n);
	for (unsigned c = 0; c < 4; c++)
		for (uint32_t i = 0; mask >> c & 1 && i < n; i++)
			hwy_bytes_put_byte(out, share_of_bucket(summary->cover[c][offsets[i]],
								summary->width));
	if (with_colors && !put_colors(view, summary, offsets, n, out, err))
		return false;
	for (uint32_t i = 0; with_counts && i < n; i++) {
		uint32_t count = summary->counts[offsets[i]];
		hwy_bytes_put_little(out, count < 65535 ? count : 65535, 2);
	}
	for (unsigned r = 0; r < summary->n_rows; r++)
		for (uint32_t i = 0; i < n; i++)
			hwy_bytes_put_byte(
				out, share_of_bucket(summary->rows[r][offsets[i]], summary->width));
	tiles_put_spans(view, spans, summary->from, out);
	*n_out = n;
	return true;
}

/* ---- a tile ---------------------------------------------------------------------------------- */

/* A tile that is being made. */
struct making {
	struct view_trace *view;
	uint32_t lane;
	struct summary *summary;
	struct hwy_bytes *out;
	enum view_form form;
	uint32_t n;    /* spans, buckets or points in the tile */
	unsigned rows; /* rows that the lane needs when it is drawn */
};

static bool has_colors(const struct view_trace *view, uint32_t lane)
{
	int64_t type = view->trace->lanes[lane].type;
	return type != HWY_LANE_STREAM && type != HWY_LANE_DEVICE_RANGE;
}

/* Whether spans of the lane may stand one under the other, or are states of a thread. */
static bool can_have_rows(const struct view_trace *view, uint32_t lane)
{
	enum {
		NEVER = HWY_KIND_BIT(HWY_SAMPLE) | HWY_KIND_BIT(HWY_MEMORY) |
			HWY_KIND_BIT(HWY_SYNC) | HWY_KIND_BIT(HWY_OVERHEAD),
	};
	const struct view_lane *on_lane = &view->lanes[lane];
	return on_lane->n > 0 && !(HWY_KIND_BIT(view->trace->strips[on_lane->first].kind) & NEVER);
}

static bool finish_summary(struct making *m, bool may_have_long, struct hwy_err *err)
{
	struct view_spans spans = {0};
	if (!can_have_rows(m->view, m->lane))
		m->summary->n_rows = 0;
	bool ok = find_long(m->view, m->lane, m->summary, may_have_long, &spans, err) &&
		  put_summary(m->view, m->lane, m->summary, has_colors(m->view, m->lane), &spans,
			      m->out, &m->n, err);
	m->form = VIEW_SUMMARY;
	m->rows = m->view->lanes[m->lane].depth;
	free(spans.v);
	return ok;
}

/* Makes a summary from the pyramid. *done stays false where the tile has so few spans that they
 * are sent instead. */
static bool try_pyramid(struct making *m, bool *done, struct hwy_err *err)
{
	const struct summary *s = m->summary;
	struct hwy_buckets buckets;
	int64_t to = s->from + s->width * VIEW_BUCKETS;
	uint64_t starts = 0;
	bool may_have_long = false;
	if (!hwy_pyramid_level(m->view->trace, m->lane, s->level, s->from, to, &buckets, err))
		return false;
	for (uint32_t i = 0; i < buckets.n; i++) {
		starts += buckets.v[i].index >= s->from >> s->level ? buckets.v[i].count : 0;
		may_have_long |= buckets.v[i].longest_dur / VIEW_LONG >= s->width;
	}
	/* A pyramid does not know the rows of a lane: its spans are read where they are few. */
	*done = starts > (can_have_rows(m->view, m->lane) ? VIEW_PARTED : VIEW_TILE_SPANS);
	bool ok = !*done || (summarize_buckets(m->view, m->lane, &buckets, m->summary, err) &&
			     finish_summary(m, may_have_long, err));
	free(buckets.v);
	return ok;
}

static bool make_lane(struct making *m, struct hwy_err *err)
{
	struct view_lane *lane = &m->view->lanes[m->lane];
	const struct summary *s = m->summary;
	int64_t to = s->from + s->width * VIEW_BUCKETS;
	bool done = false;
	if (lane->leaf >= 0 && s->level >= (unsigned)lane->leaf && !try_pyramid(m, &done, err))
		return false;
	if (done)
		return true;
	if (!view_need(m->view, m->lane, s->from, to, 0, err))
		return false;
	struct view_spans spans = {0};
	bool ok = true;
	if (view_spans_touching(m->view, m->lane, s->from, to, 0, VIEW_TILE_SPANS, &spans)) {
		m->form = VIEW_SPANS;
		m->rows = lane->depth;
		m->n = spans.n;
		tiles_put_spans(m->view, &spans, s->from, m->out);
	} else {
		spans.n = 0;
		view_spans_touching(m->view, m->lane, s->from, to, 0, UINT32_MAX, &spans);
		summarize_spans(m->view, &spans, m->summary);
		ok = finish_summary(m, true, err);
	}
	free(spans.v);
	return ok;
}

static bool make_hardware(struct making *m, struct hwy_err *err)
{
	uint32_t device = m->lane & ~VIEW_HARDWARE;
	bool is_final;
	m->form = VIEW_SUMMARY;
	if (!hardware_cover(m->view, device, m->summary, &is_final, err))
		return false;
	m->rows = is_final;
	return put_summary(m->view, m->lane, m->summary, false, &(struct view_spans){0}, m->out,
			   &m->n, err);
}

/* Makes a tile of a lane of projected ranges, whose spans are in memory. */
static bool make_projected(struct making *m, struct hwy_err *err)
{
	const struct projected_lane *lane = projected_find(m->view, m->lane);
	const struct summary *s = m->summary;
	int64_t to = s->from + s->width * VIEW_BUCKETS;
	struct view_spans spans = {0};
	bool ok;
	m->rows = lane->rows;
	if (projected_touching(m->view, lane, s->from, to, VIEW_TILE_SPANS, &spans, &ok, err)) {
		m->form = VIEW_SPANS;
		m->n = spans.n;
		tiles_put_spans(m->view, &spans, s->from, m->out);
	} else if (ok) {
		spans.n = 0;
		projected_touching(m->view, lane, s->from, to, UINT32_MAX, &spans, &ok, err);
		summarize_spans(m->view, &spans, m->summary);
		uint32_t n = spans.n;
		spans.n = 0;
		for (uint32_t i = 0; i < n && spans.n < UINT16_MAX; i++)
			if (spans.v[i].dur / VIEW_LONG >= s->width)
				spans.v[spans.n++] = spans.v[i];
		m->form = VIEW_SUMMARY;
		ok = ok &&
		     put_summary(m->view, m->lane, m->summary, false, &spans, m->out, &m->n, err);
	}
	free(spans.v);
	return ok;
}

static bool tiles_make(struct making *m, struct hwy_err *err)
{
	if (m->lane & VIEW_HARDWARE)
		return make_hardware(m, err);
	if (m->lane & VIEW_PROJECTED)
		return make_projected(m, err);
	if (m->view->trace->lanes[m->lane].type == HWY_LANE_COUNTER) {
		m->form = VIEW_COUNTER;
		m->rows = 1;
		return counters_put(m->view, m->lane, m->summary->from, m->summary->level, m->out,
				    &m->n, err);
	}
	return make_lane(m, err);
}

/* Whether the tile can hold spans: its lane exists, and the page can express its time. */
static bool can_have_spans(const struct view_trace *view, const struct tile *tile)
{
	if (!(tile->lane & VIEW_HARDWARE) && (tile->lane & VIEW_PROJECTED) &&
	    !projected_find(view, tile->lane))
		return false;
	if (tile->level >= VIEW_LEVELS || tile->index < 0 ||
	    tile->index > (INT64_C(1) << 53) >> (tile->level + VIEW_TILE_BITS))
		return false;
	if (tile->lane & VIEW_HARDWARE)
		return (tile->lane & ~VIEW_HARDWARE) < view_unions(view);
	return (tile->lane & VIEW_PROJECTED) ||
	       (tile->lane < view->trace->n_lanes && view->lanes[tile->lane].n > 0);
}

bool tiles_put(struct view_trace *view, const struct tile *tile, struct hwy_bytes *out,
	       struct hwy_err *err)
{
	size_t head = out->n;
	memset(hwy_bytes_add(out, VIEW_TILE_HEAD), 0, VIEW_TILE_HEAD);
	view_trim(view);
	struct making m = {.view = view, .lane = tile->lane, .out = out, .form = VIEW_NOTHING};
	bool ok = true;
	if ((tile->lane & VIEW_PROJECTED) && !projected_need(view, err))
		return false;
	if (can_have_spans(view, tile)) {
		m.summary = hwy_zalloc(sizeof *m.summary);
		m.summary->level = tile->level;
		m.summary->width = INT64_C(1) << tile->level;
		m.summary->from = view->origin + tile->index * (m.summary->width << VIEW_TILE_BITS);
		ok = tiles_make(&m, err);
		free(m.summary);
	}
	if (m.n == 0 && m.form != VIEW_COUNTER) {
		m.form = VIEW_NOTHING;
		out->n = head + VIEW_TILE_HEAD;
	}
	while ((out->n - head) % 4)
		hwy_bytes_put_byte(out, 0);
	uint8_t *to = out->bytes + head;
	hwy_little_write(to, out->n - head, 4);
	to[VIEW_TILE_FORM_AT] = (uint8_t)m.form;
	to[5] = (uint8_t)tile->trace;
	to[6] = (uint8_t)tile->level;
	to[7] = (uint8_t)m.rows;
	hwy_little_write(to + 8, tile->lane, 4);
	hwy_little_write(to + VIEW_TILE_COUNT_AT, m.n, 4);
	hwy_little_write(to + 16, (uint64_t)tile->index, 8);
	return ok;
}
