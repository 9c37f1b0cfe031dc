/* tiles.c - see tiles.h. */
#include "serve/tiles.h"

#include <stdlib.h>

#include "trace/pyramid.h"

/* ---- spans ------------------------------------------------------------------------------------------ */

static void put_spans(const struct view_trace *view, const struct view_spans *spans, int64_t from,
		      struct packed *out)
{
	int64_t id_before = 0, start_before = from;
	for (uint32_t i = 0; i < spans->n; i++) {
		const struct view_span *span = &spans->v[i];
		const struct hwy_strip *strip = &view->trace->strips[span->strip];
		int64_t id = span_id(view, span), name = hwy_get(strip, HWY_NAME, span->row);
		int64_t flags = hwy_get(strip, HWY_FLAGS, span->row);
		unsigned look = look_of(view->trace, strip->kind, name);
		look |= flags & HWY_FLAG_MARK ? VIEW_MARK : 0u;
		look |= flags & HWY_FLAG_UNFINISHED ? VIEW_UNFINISHED : 0u;
		packed_zigzag(out, id - id_before);
		packed_zigzag(out, span->start - start_before);
		packed_varint(out, (uint64_t)span->dur);
		packed_varint(out, (uint64_t)span_name(view->trace, strip, span->row));
		packed_number(out, look, 1);
		packed_number(out, span->depth, 1);
		id_before = id;
		start_before = span->start;
	}
}

/* ---- summaries ---------------------------------------------------------------------------------------- */

void summary_cover(struct summary *summary, unsigned class, int64_t from, int64_t to)
{
	int64_t end = summary->from + summary->width * VIEW_BUCKETS;
	from = from > summary->from ? from : summary->from;
	to = to < end ? to : end;
	while (from < to) {
		int64_t at = (from - summary->from) >> summary->level;
		int64_t next = summary->from + (at + 1) * summary->width;
		next = next < to ? next : to;
		summary->cover[class][at] += next - from;
		from = next;
	}
}

static void widen_ends(struct view_trace *view, const struct hwy_strip *strip, uint32_t row,
		       uint32_t end, int64_t after, int64_t ends[HWY_BUSY_CLASSES])
{
	for (; row < end; row++) {
		int64_t reach = hwy_end(strip, row);
		if (reach <= after)
			continue;
		unsigned c = busy_class(view->trace, strip->kind, hwy_get(strip, HWY_NAME, row));
		ends[c] = reach > ends[c] ? reach : ends[c];
	}
}

/* Until when the spans that start in a bucket, and end after it, cover each class. */
static void class_ends(struct view_trace *view, uint32_t lane, int64_t from, int64_t to,
		       int64_t ends[HWY_BUSY_CLASSES])
{
	const struct view_lane *at = &view->lanes[lane];
	for (unsigned c = 0; c < HWY_BUSY_CLASSES; c++)
		ends[c] = to;
	for (uint32_t s = 0; s < at->n; s++) {
		const struct hwy_strip *strip = &view->trace->strips[at->first + s];
		uint32_t first = view_row_at(strip, from), row = view_row_at(strip, to);
		while (row > first) {
			uint32_t block = (row - 1) >> INDEX_BITS;
			uint32_t begin = block << INDEX_BITS;
			begin = begin > first ? begin : first;
			if (at->strips[s].there[begin >> HWY_CHUNK_BITS] &&
			    at->strips[s].blocks[block].reach > to)
				widen_ends(view, strip, begin, row, to, ends);
			row = begin;
		}
	}
}

/* A bucket's busy time is that of the spans that start in it; what they cover after its end goes to the buckets
 * that follow. 'covered': until when earlier ones did. */
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
		/* A hostile report may claim anything. */
		inside = inside < 0 ? 0 : inside > summary->width ? summary->width : inside;
		if (from >= summary->from)
			summary->cover[c][(from - summary->from) >> summary->level] += inside;
		summary_cover(summary, c, after, after + rest);
		covered[c] = ends[c] > covered[c] ? ends[c] : covered[c];
	}
	return true;
}

static bool summary_of_buckets(struct view_trace *view, uint32_t lane,
			       const struct hwy_buckets *buckets, struct summary *summary,
			       struct hwy_err *err)
{
	int64_t covered[HWY_BUSY_CLASSES] = {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN};
	for (uint32_t i = 0; i < buckets->n; i++) {
		const struct hwy_bucket *bucket = &buckets->v[i];
		int64_t at = bucket->index - (summary->from >> summary->level);
		if (!cover_bucket(view, lane, bucket, summary, covered, err))
			return false;
		if (at < 0 || at >= VIEW_BUCKETS)
			continue;
		summary->counts[at] = bucket->count;
		summary->longest[at] = bucket->longest_dur;
		summary->ids[at] = bucket->longest;
	}
	return true;
}

static void summary_of_spans(struct view_trace *view, const struct view_spans *spans,
			     struct summary *summary)
{
	int64_t covered[HWY_BUSY_CLASSES] = {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN};
	for (uint32_t i = 0; i < spans->n; i++) {
		const struct view_span *span = &spans->v[i];
		const struct hwy_strip *strip = &view->trace->strips[span->strip];
		int64_t end = span->start + span->dur;
		unsigned c =
			busy_class(view->trace, strip->kind, hwy_get(strip, HWY_NAME, span->row));
		summary_cover(summary, c, span->start > covered[c] ? span->start : covered[c], end);
		covered[c] = end > covered[c] ? end : covered[c];
		if (span->start < summary->from)
			continue;
		int64_t at = (span->start - summary->from) >> summary->level;
		if (summary->counts[at]++ == 0 || span->dur > summary->longest[at]) {
			summary->longest[at] = span->dur;
			summary->ids[at] = span_id(view, span);
		}
	}
}

/* The look of one span; those of large lanes are remembered, since coarse tiles ask for the same ones again. */
static bool find_look(struct view_trace *view, uint32_t id, unsigned *look, struct hwy_err *err)
{
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(view->trace, id, &row);
	uint32_t number = (uint32_t)(strip - view->trace->strips);
	if (strip->kind != HWY_API && strip->kind != HWY_STATE) {
		*look = look_of(view->trace, strip->kind, 0);
		return true;
	}
	struct known_look *known = &view->looks[id % VIEW_LOOKS];
	bool is_small = view->lanes[strip->lane].spans <= view->whole;
	if (!is_small && known->id == id + 1) {
		*look = known->look;
		return true;
	}
	if (is_small ? !view_need(view, strip->lane, 0, 0, 0, err)
		     : !view_need_rows(view, number, HWY_COL_BIT(HWY_NAME), row, 1, err))
		return false;
	*look = look_of(view->trace, strip->kind, hwy_get(strip, HWY_NAME, row));
	if (!is_small)
		*known = (struct known_look){id + 1, (uint8_t)*look};
	return true;
}

static bool put_looks(struct view_trace *view, const struct summary *summary,
		      const uint8_t *offsets, uint32_t n, struct packed *out, struct hwy_err *err)
{
	for (uint32_t i = 0; i < n; i++) {
		unsigned at = offsets[i], look = 0xff;
		if (summary->counts[at] > 0 && !find_look(view, summary->ids[at], &look, err))
			return false;
		packed_number(out, look, 1);
	}
	return true;
}

static uint8_t share_of(int64_t cover, int64_t width)
{
	if (cover <= 0)
		return 0;
	double share = 255.0 * (double)cover / (double)width + 0.5;
	return (uint8_t)(share < 1 ? 1 : share > 255 ? 255 : share);
}

/* Long spans are looked for only where the lane is there already, or a bucket says that one begins there. */
static bool find_long(struct view_trace *view, uint32_t lane, const struct summary *summary,
		      bool may_have, struct view_spans *spans, struct hwy_err *err)
{
	enum { MOST = 4096 };
	int64_t least =
		summary->width > INT64_MAX / VIEW_LONG ? INT64_MAX : summary->width * VIEW_LONG;
	int64_t from = summary->from, to = from + summary->width * VIEW_BUCKETS;
	if (!may_have)
		return true;
	if (!view_need(view, lane, from, to, least, err))
		return false;
	spans_touching(view, lane, from, to, least, MOST, spans);
	return true;
}

static bool put_summary(struct view_trace *view, uint32_t lane, const struct summary *summary,
			bool with_looks, const struct view_spans *spans, struct packed *out,
			uint32_t *n_out, struct hwy_err *err)
{
	uint8_t offsets[VIEW_BUCKETS];
	unsigned mask = with_looks ? VIEW_HAS_LOOKS : 0;
	uint32_t n = 0;
	bool with_counts = !(lane & VIEW_HARDWARE) && view->lanes[lane].classes == 0;
	mask |= with_counts ? VIEW_HAS_COUNTS : 0;
	for (unsigned at = 0; at < VIEW_BUCKETS; at++) {
		bool any = summary->counts[at] > 0;
		for (unsigned c = 0; c < 4; c++) {
			any |= summary->cover[c][at] > 0;
			mask |= (unsigned)(summary->cover[c][at] > 0) << c;
		}
		if (any)
			offsets[n++] = (uint8_t)at;
	}
	packed_number(out, mask, 1);
	packed_number(out, 0, 1);
	packed_number(out, spans->n, 2);
	packed_put(out, offsets, n);
	for (unsigned c = 0; c < 4; c++)
		for (uint32_t i = 0; mask >> c & 1 && i < n; i++)
			packed_number(out, share_of(summary->cover[c][offsets[i]], summary->width),
				      1);
	if (with_looks && !put_looks(view, summary, offsets, n, out, err))
		return false;
	for (uint32_t i = 0; with_counts && i < n; i++) {
		uint32_t count = summary->counts[offsets[i]];
		packed_number(out, count < 65535 ? count : 65535, 2);
	}
	put_spans(view, spans, summary->from, out);
	*n_out = n;
	return true;
}

/* ---- a tile -------------------------------------------------------------------------------------------- */

struct making {
	struct view_trace *view;
	uint32_t lane;
	struct summary *summary;
	struct packed *out;
	enum view_form form;
	uint32_t n;
	unsigned rows;
};

static bool has_looks(const struct view_trace *view, uint32_t lane)
{
	int64_t type = view->trace->lanes[lane].type;
	return type != HWY_LANE_STREAM && type != HWY_LANE_DEVICE_RANGE;
}

static bool finish_summary(struct making *m, bool may_have_long, struct hwy_err *err)
{
	struct view_spans spans = {0};
	bool ok = find_long(m->view, m->lane, m->summary, may_have_long, &spans, err) &&
		  put_summary(m->view, m->lane, m->summary, has_looks(m->view, m->lane), &spans,
			      m->out, &m->n, err);
	m->form = VIEW_SUMMARY;
	m->rows = m->view->lanes[m->lane].depth;
	free(spans.v);
	return ok;
}

/* From the pyramid; *done is false where the spans themselves are to be drawn. */
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
	*done = starts > VIEW_TILE_SPANS;
	bool ok = !*done || (summary_of_buckets(m->view, m->lane, &buckets, m->summary, err) &&
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
	if (spans_touching(m->view, m->lane, s->from, to, 0, VIEW_TILE_SPANS, &spans)) {
		m->form = VIEW_SPANS;
		m->rows = lane->depth;
		m->n = spans.n;
		put_spans(m->view, &spans, s->from, m->out);
	} else {
		spans.n = 0;
		spans_touching(m->view, m->lane, s->from, to, 0, UINT32_MAX, &spans);
		summary_of_spans(m->view, &spans, m->summary);
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

static bool tiles_make(struct making *m, struct hwy_err *err)
{
	if (m->lane & VIEW_HARDWARE)
		return make_hardware(m, err);
	if (m->view->trace->lanes[m->lane].type == HWY_LANE_COUNTER) {
		m->form = VIEW_COUNTER;
		m->rows = 1;
		return counters_put(m->view, m->lane, m->summary->from, m->summary->level, m->out,
				    &m->n, err);
	}
	return make_lane(m, err);
}

/* Whether anything can be there. */
static bool tiles_is_known(const struct view_trace *view, const struct tile *tile)
{
	if (tile->level >= VIEW_LEVELS || tile->index < 0 ||
	    tile->index > (INT64_C(1) << 53) >> (tile->level + VIEW_TILE_BITS))
		return false;
	if (tile->lane & VIEW_HARDWARE)
		return (tile->lane & ~VIEW_HARDWARE) < view->trace->n_devices;
	return tile->lane < view->trace->n_lanes && view->lanes[tile->lane].n > 0;
}

bool tile_put(struct view_trace *view, const struct tile *tile, struct packed *out,
	      struct hwy_err *err)
{
	size_t head = out->n;
	memset(packed_room(out, VIEW_TILE_HEAD), 0, VIEW_TILE_HEAD);
	view_trim(view);
	struct making m = {.view = view, .lane = tile->lane, .out = out, .form = VIEW_NOTHING};
	bool ok = true;
	if (tiles_is_known(view, tile)) {
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
		packed_number(out, 0, 1);
	struct packed at = {.v = out->v + head, .cap = VIEW_TILE_HEAD};
	packed_number(&at, out->n - head, 4);
	packed_number(&at, m.form, 1);
	packed_number(&at, tile->trace, 1);
	packed_number(&at, tile->level, 1);
	packed_number(&at, m.rows, 1);
	packed_number(&at, tile->lane, 4);
	packed_number(&at, m.n, 4);
	packed_number(&at, (uint64_t)tile->index, 8);
	return ok;
}
