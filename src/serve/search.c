/* SPDX-License-Identifier: Apache-2.0 */
/* search.c - the spans that a query (query.h) asks for: as a list lane by lane, as marks on the
 * timeline, and as the next hit. */
#include <stdlib.h>

#include "serve/answers.h"
#include "serve/match.h"

enum {
	LISTED_SPANS = 50,    /* the most spans that are listed for a lane */
	LISTED_IN_ALL = 5000, /* the most spans that are listed for all lanes */
};

/* A query that is being answered. */
struct hunt {
	struct query query;
	struct matcher matcher;
};

/* False where the query is wrong or cannot be answered; hunt_end is needed in both cases. */
static bool hunt_begin(struct hunt *hunt, struct view_trace *view, const char *text,
		       struct step_times steps, struct hwy_err *err)
{
	hunt->matcher = (struct matcher){0};
	return query_parse(&hunt->query, text, err) &&
	       match_open(&hunt->matcher, view, &hunt->query, steps, err);
}

static void hunt_end(struct hunt *hunt)
{
	match_close(&hunt->matcher);
	query_free(&hunt->query);
}

/* An empty search finds nothing, although every span is an answer to an empty query. */
static bool hunt_is_empty(const struct hunt *hunt)
{
	return hunt->query.n == 0;
}

/* Goes through the hits of one lane. */
static bool hunt_lane(struct hunt *hunt, const struct match_scope *scope, uint32_t lane,
		      struct hwy_err *err)
{
	return hunt_is_empty(hunt) || match_scan_lane(&hunt->matcher, scope, lane, err);
}

/* Yields in which of n equal parts of the window [from, to) a time lies that is inside of it. */
static uint32_t part_of_window(int64_t from, int64_t to, uint32_t n, int64_t time)
{
	double share = (double)(time - from) / (double)(to - from);
	uint32_t part = (uint32_t)(share * n);
	return part < n ? part : n - 1;
}

/* ---- hits by lane ---------------------------------------------------------------------------- */

/* What a search found on one lane; the marks count the hits of all lanes. */
struct hits {
	int64_t from, to; /* the window that the marks divide evenly */
	uint32_t *marks;  /* hits in each part of the window */
	uint32_t n_marks;
	/* the first hits of the lane, which are not listed: the page has them already */
	uint64_t skip;
	uint64_t count;    /* hits on this lane */
	uint32_t n_listed; /* spans of all lanes that were listed */
	bool is_cut;       /* there are more spans, but LISTED_IN_ALL are listed */
	/* The first hits of each strip of the lane, skipped ones included: the first ones of the
	 * lane are among them. */
	struct hit {
		int64_t start;
		uint32_t id;
	} * first;
	uint32_t n_first, cap_first;
	const struct hwy_strip *strip; /* the strip of the last hit */
	uint64_t of_strip;             /* hits on it that are among the first */
	const struct hwy_trace *trace;
	/* By id of a name: 1 where a hit has it, and how many have one; NULL where no term is
	 * about names: texts that are no span's name do not count. */
	uint8_t *names;
	uint32_t n_names;
};

static int by_start_then_id(const void *left, const void *right)
{
	const struct hit *a = left, *b = right;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

static void add_hit(struct hits *hits, const struct hwy_strip *strip, uint32_t row)
{
	int64_t start = hwy_get(strip, HWY_START, row);
	if (hits->strip != strip)
		hits->of_strip = 0;
	hits->strip = strip;
	if (hits->of_strip < hits->skip + LISTED_SPANS) {
		HWY_GROW(hits->first, hits->n_first, hits->cap_first);
		hits->first[hits->n_first++] = (struct hit){start, strip->first + row};
		hits->of_strip++;
	}
	hits->count++;
	uint8_t *name = hits->names ? &hits->names[span_names_id(hits->trace, strip, row)] : NULL;
	if (name && !*name) {
		*name = 1;
		hits->n_names++;
	}
	if (start >= hits->from && start < hits->to)
		hits->marks[part_of_window(hits->from, hits->to, hits->n_marks, start)]++;
}

static bool add_hits(void *context, const struct match_rows *rows, struct hwy_err *err)
{
	(void)err;
	for (uint32_t i = 0; i < rows->n; i++)
		add_hit(context, rows->strip, rows->rows[i]);
	return true;
}

static bool put_hits(struct view_trace *view, struct hwy_json *json, uint32_t lane,
		     struct hits *hits, struct hwy_err *err)
{
	bool ok = true;
	qsort(hits->first, hits->n_first, sizeof *hits->first, by_start_then_id);
	json_begin_object(json);
	json_put_int(json, "lane", lane);
	json_put_int(json, "count", (int64_t)hits->count);
	json_key(json, "first");
	json_begin_array(json);
	for (uint64_t i = hits->skip; ok && i < hits->n_first && i - hits->skip < LISTED_SPANS;
	     i++) {
		hits->is_cut |= hits->n_listed >= LISTED_IN_ALL;
		if (hits->is_cut)
			break;
		hits->n_listed++;
		ok = view_pause(view, err) && detail_put_span(view, json, hits->first[i].id, err);
	}
	json_end_array(json);
	json_end_object(json);
	return ok;
}

static bool put_hits_of_lanes(struct view_trace *view, struct hwy_json *json, struct hunt *hunt,
			      const struct search *search, struct hits *hits, struct hwy_err *err)
{
	struct match_scope scope = {.is_whole = true,
				    .columns = HWY_COL_BIT(HWY_START),
				    .on_rows = add_hits,
				    .context = hits};
	uint64_t count = 0;
	bool ok = true;
	json_key(json, "lanes");
	json_begin_array(json);
	for (uint32_t lane = 0; ok && lane < view->trace->n_lanes; lane++) {
		if (view->lanes[lane].n == 0 || (search->lane >= 0 && search->lane != lane))
			continue;
		hits->count = hits->n_first = 0;
		hits->strip = NULL;
		ok = hunt_lane(hunt, &scope, lane, err);
		count += hits->count;
		if (ok && hits->count > 0)
			ok = put_hits(view, json, lane, hits, err);
	}
	json_end_array(json);
	json_put_int(json, "hits", (int64_t)count);
	json_put_bool(json, "more", hits->is_cut);
	return ok;
}

bool search_answer(struct view_trace *view, struct hwy_json *json, const struct search *search,
		   struct hwy_err *err)
{
	uint32_t marks = search->n;
	struct hunt hunt;
	if (!hunt_begin(&hunt, view, search->text, search->steps, err)) {
		hunt_end(&hunt);
		return false;
	}
	struct hits hits = {
		.from = search->from + view->origin,
		.to = search->to + view->origin,
		.marks = hwy_zarray(marks, sizeof *hits.marks),
		.n_marks = marks,
		.skip = search->skip,
		.trace = view->trace,
		.names = hunt.matcher.names
				 ? hwy_zarray(view->trace->strings.n + SPAN_NAMES_MADE, 1)
				 : NULL,
	};
	json_begin_object(json);
	json_put_text(json, "q", search->text);
	bool ok = put_hits_of_lanes(view, json, &hunt, search, &hits, err);
	json_put_int(json, "names", hits.n_names);
	json_key(json, "marks");
	json_begin_array(json);
	for (uint32_t i = 0; i < marks; i++)
		json_int(json, hits.marks[i]);
	json_end_array(json);
	json_end_object(json);
	free(hits.first);
	free(hits.marks);
	free(hits.names);
	hunt_end(&hunt);
	return ok;
}

/* ---- where hits are on the screen ------------------------------------------------------------ */

struct pixels {
	int64_t from, to;
	uint8_t *v; /* by pixel: 1 where a hit starts */
	uint32_t n;
	bool any;
};

static void mark_pixel(struct pixels *pixels, const struct hwy_strip *strip, uint32_t row)
{
	int64_t start = hwy_get(strip, HWY_START, row);
	if (start < pixels->from || start >= pixels->to)
		return;
	pixels->v[part_of_window(pixels->from, pixels->to, pixels->n, start)] = 1;
	pixels->any = true;
}

static bool mark_pixels(void *context, const struct match_rows *rows, struct hwy_err *err)
{
	(void)err;
	for (uint32_t i = 0; i < rows->n; i++)
		mark_pixel(context, rows->strip, rows->rows[i]);
	return true;
}

/* Writes the marked pixels as runs: the first pixel of a run, then the run's length. */
static void put_runs(struct hwy_json *json, uint32_t lane, const struct pixels *pixels)
{
	json_begin_object(json);
	json_put_int(json, "lane", lane);
	json_key(json, "runs");
	json_begin_array(json);
	for (uint32_t i = 0; i < pixels->n; i++) {
		uint32_t first = i;
		while (i < pixels->n && pixels->v[i])
			i++;
		if (i == first)
			continue;
		json_int(json, first);
		json_int(json, i - first);
	}
	json_end_array(json);
	json_end_object(json);
}

bool search_answer_marks(struct view_trace *view, struct hwy_json *json,
			 const struct search *search, struct hwy_err *err)
{
	struct hunt hunt;
	struct pixels pixels = {.from = search->from + view->origin,
				.to = search->to + view->origin,
				.v = hwy_zarray(search->n, 1),
				.n = search->n};
	struct match_scope scope = {.from = pixels.from,
				    .to = pixels.to,
				    .starts_inside = true,
				    .columns = HWY_COL_BIT(HWY_START),
				    .on_rows = mark_pixels,
				    .context = &pixels};
	bool ok = hunt_begin(&hunt, view, search->text, search->steps, err);
	json_begin_object(json);
	json_put_text(json, "q", search->text);
	json_key(json, "lanes");
	json_begin_array(json);
	for (uint32_t lane = 0; ok && lane < view->trace->n_lanes; lane++) {
		if (view->lanes[lane].n == 0)
			continue;
		memset(pixels.v, 0, pixels.n);
		pixels.any = false;
		ok = hunt_lane(&hunt, &scope, lane, err);
		if (ok && pixels.any)
			put_runs(json, lane, &pixels);
	}
	json_end_array(json);
	json_end_object(json);
	hunt_end(&hunt);
	free(pixels.v);
	return ok;
}

/* ---- the next hit ---------------------------------------------------------------------------- */

/* A place in the order of all hits: by start, then by id. */
struct place_of_hit {
	int64_t start, id;
};

static bool comes_before(struct place_of_hit a, struct place_of_hit b)
{
	return a.start < b.start || (a.start == b.start && a.id < b.id);
}

struct next_hit {
	struct place_of_hit at, best;
	bool is_found;
	int direction;
	uint64_t before, count; /* hits before 'at', and all hits */
	bool is_hit;            /* 'at' is a hit itself */
};

static void look_at_hit(struct next_hit *next, const struct hwy_strip *strip, uint32_t row)
{
	struct place_of_hit hit = {hwy_get(strip, HWY_START, row), (int64_t)strip->first + row};
	bool before = comes_before(hit, next->at), after = comes_before(next->at, hit);
	next->count++;
	next->before += before;
	next->is_hit |= !before && !after;
	if (next->direction > 0 ? !after : !before)
		return;
	if (!next->is_found ||
	    (next->direction > 0 ? comes_before(hit, next->best) : comes_before(next->best, hit)))
		next->best = hit;
	next->is_found = true;
}

static bool look_at_hits(void *context, const struct match_rows *rows, struct hwy_err *err)
{
	(void)err;
	for (uint32_t i = 0; i < rows->n; i++)
		look_at_hit(context, rows->strip, rows->rows[i]);
	return true;
}

bool search_answer_hit(struct view_trace *view, struct hwy_json *json, const char *text,
		       struct step_times steps, struct search_place from, int direction,
		       struct hwy_err *err)
{
	struct hunt hunt;
	struct next_hit next = {.at = {from.time + view->origin, from.id}, .direction = direction};
	struct view_span span;
	if (from.id >= 0) {
		if (!detail_find_span(view, (uint32_t)from.id, &span, err))
			return false;
		next.at.start = span.start;
	}
	struct match_scope scope = {.is_whole = true,
				    .columns = HWY_COL_BIT(HWY_START),
				    .on_rows = look_at_hits,
				    .context = &next};
	bool ok = hunt_begin(&hunt, view, text, steps, err) &&
		  (hunt_is_empty(&hunt) || match_scan(&hunt.matcher, &scope, err));
	hunt_end(&hunt);
	json_begin_object(json);
	json_key(json, "span");
	if (ok && next.is_found)
		ok = detail_put_span(view, json, (uint32_t)next.best.id, err);
	else
		json_null(json);
	json_put_int(json, "number",
		     (int64_t)(direction > 0 ? next.before + next.is_hit + 1 : next.before));
	json_put_int(json, "hits", (int64_t)next.count);
	json_end_object(json);
	return ok;
}
