/* SPDX-License-Identifier: Apache-2.0 */
/* search.c - finds spans by words of their names: first the names that match, then the spans
 * that have them. A name matches where it contains every word, in any order and case. */
#include <stdlib.h>

#include "serve/answers.h"

enum {
	LISTED_SPANS = 50,    /* the most spans that are listed for a lane */
	LISTED_IN_ALL = 5000, /* the most spans that are listed for all lanes */
	NAMES_BETWEEN_PAUSES = 4096,
};

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

/* Whether a text contains 'wanted', which has no capital letters. memmem takes time in proportion to
 * the text's length, whatever both are made of. */
static bool contains_ignoring_case(struct hwy_text text, const char *wanted, size_t n,
				   struct hwy_bytes *room)
{
	if (n > text.length)
		return false;
	room->n = 0;
	char *small = (char *)hwy_bytes_add(room, text.length);
	for (size_t i = 0; i < text.length; i++)
		small[i] = lower(text.at[i]);
	return memmem(small, text.length, wanted, n) != NULL;
}

/* The most words of a search; more are left out. */
enum { MOST_WORDS = 32 };

struct words {
	char *text; /* the words in small letters, each ended by 0 */
	const char *v[MOST_WORDS];
	size_t lengths[MOST_WORDS];
	uint32_t n;
};

static void words_read(struct words *words, const char *text)
{
	*words = (struct words){.text = hwy_copy(text, strlen(text) + 1)};
	char *rest = words->text, *word;
	for (char *c = words->text; *c; c++)
		*c = lower(*c);
	while (words->n < MOST_WORDS && (word = strtok_r(rest, " \t", &rest))) {
		words->lengths[words->n] = strlen(word);
		words->v[words->n++] = word;
	}
}

static bool words_match(const struct words *words, struct hwy_text text, struct hwy_bytes *room)
{
	bool all = words->n > 0;
	for (uint32_t i = 0; all && i < words->n; i++)
		all = contains_ignoring_case(text, words->v[i], words->lengths[i], room);
	return all;
}

/* Yields by id of a name: 1 where the name has every word of 'text'; NULL where the search is to be given up.
 * *n becomes the number of such names. */
static uint8_t *find_names(const struct view_trace *view, const char *text, uint32_t *n,
			   struct hwy_err *err)
{
	struct words words;
	words_read(&words, text);
	uint32_t n_names = view->trace->strings.n + SPAN_NAMES_MADE;
	uint8_t *found = hwy_zarray(n_names, 1);
	struct hwy_bytes room = {0};
	bool ok = true;
	*n = 0;
	for (uint32_t i = 1; ok && words.n > 0 && i < n_names; i++) {
		ok = i % NAMES_BETWEEN_PAUSES != 0 || view_pause(view, err);
		found[i] = words_match(&words, span_names_text(view->trace, i), &room);
		*n += found[i];
	}
	hwy_bytes_free(&room);
	free(words.text);
	if (!ok)
		free(found);
	return ok ? found : NULL;
}

/* A walk over the hits of a lane, in order of time within each of its strips. */
struct hunt {
	struct view_trace *view;
	const uint8_t *names; /* by id of a name: 1 where spans of this name are hits */
	int64_t from, to;     /* only hits that start in this window count */
	void (*on_hit)(void *context, const struct hwy_strip *strip, uint32_t row);
	void *context;
};

static bool hunt_strip(const struct hunt *hunt, uint32_t number, uint32_t row, uint32_t end,
		       struct hwy_err *err)
{
	struct view_trace *view = hunt->view;
	const struct hwy_strip *strip = &view->trace->strips[number];
	uint64_t columns = HWY_COL_BIT(HWY_NAME) | HWY_COL_BIT(HWY_START) |
			   HWY_COL_BIT(span_names_column(strip->kind));
	while (row < end) {
		uint32_t stop = (row / HWY_CHUNK_ROWS + 1) * HWY_CHUNK_ROWS;
		stop = stop < end ? stop : end;
		if (!view_pause(view, err))
			return false;
		view_trim(view);
		if (!view_need_rows(view, number, columns, row, stop - row, err))
			return false;
		for (; row < stop; row++)
			if (hunt->names[span_names_id(view->trace, strip, row)])
				hunt->on_hit(hunt->context, strip, row);
	}
	return true;
}

static bool hunt_lane(const struct hunt *hunt, uint32_t lane, struct hwy_err *err)
{
	struct view_trace *view = hunt->view;
	const struct view_lane *on_lane = &view->lanes[lane];
	bool ok = true;
	if (on_lane->from >= hunt->to || on_lane->to < hunt->from)
		return true;
	for (uint32_t s = on_lane->first; ok && s < on_lane->first + on_lane->n; s++) {
		const struct hwy_strip *strip = &view->trace->strips[s];
		uint32_t first = 0, end = strip->rows;
		if (hunt->from > on_lane->from || hunt->to <= on_lane->to) {
			ok = view_need(view, lane, hunt->from, hunt->from, 0, err) &&
			     view_need(view, lane, hunt->to, hunt->to, 0, err);
			first = ok ? view_row_at(strip, hunt->from) : 0;
			end = ok ? view_row_at(strip, hunt->to) : 0;
		}
		ok = ok && hunt_strip(hunt, s, first, end, err);
	}
	return ok;
}

static struct hunt hunt_all(struct view_trace *view, const uint8_t *names)
{
	return (struct hunt){.view = view, .names = names, .from = INT64_MIN, .to = INT64_MAX};
}

/* ---- hits by lane ---------------------------------------------------------------------------- */

/* What a search found on one lane; the marks count the hits of all lanes. */
struct hits {
	int64_t from, to; /* the window that the marks divide evenly */
	uint32_t *marks;  /* hits in each part of the window */
	uint32_t n_marks;
	uint64_t skip;     /* hits of the lane that are not listed, because they were before */
	uint64_t count;    /* hits on this lane */
	uint32_t n_listed; /* spans of all lanes that were listed */
	bool is_cut;       /* spans were not listed because LISTED_IN_ALL were */
	uint32_t first[LISTED_SPANS]; /* ids */
};

static void add_hit(void *context, const struct hwy_strip *strip, uint32_t row)
{
	struct hits *hits = context;
	int64_t start = hwy_get(strip, HWY_START, row);
	if (hits->count >= hits->skip && hits->count - hits->skip < LISTED_SPANS)
		hits->first[hits->count - hits->skip] = strip->first + row;
	hits->count++;
	if (start >= hits->from && start < hits->to) {
		double share = (double)(start - hits->from) / (double)(hits->to - hits->from);
		uint32_t mark = (uint32_t)(share * hits->n_marks);
		hits->marks[mark < hits->n_marks ? mark : hits->n_marks - 1]++;
	}
}

static bool put_hits(struct view_trace *view, struct hwy_json *json, uint32_t lane,
		     struct hits *hits, struct hwy_err *err)
{
	bool ok = true;
	json_begin_object(json);
	json_put_int(json, "lane", lane);
	json_put_int(json, "count", (int64_t)hits->count);
	json_key(json, "first");
	json_begin_array(json);
	for (uint32_t i = 0; ok && hits->skip + i < hits->count && i < LISTED_SPANS; i++) {
		hits->is_cut |= hits->n_listed >= LISTED_IN_ALL;
		if (hits->is_cut)
			break;
		hits->n_listed++;
		ok = view_pause(view, err) && detail_put_span(view, json, hits->first[i], err);
	}
	json_end_array(json);
	json_end_object(json);
	return ok;
}

static bool put_hits_of_lanes(struct view_trace *view, struct hwy_json *json, const uint8_t *names,
			      const struct search *search, struct hits *hits, struct hwy_err *err)
{
	struct hunt hunt = hunt_all(view, names);
	hunt.on_hit = add_hit;
	hunt.context = hits;
	uint64_t count = 0;
	bool ok = true;
	json_key(json, "lanes");
	json_begin_array(json);
	for (uint32_t lane = 0; ok && lane < view->trace->n_lanes; lane++) {
		if (view->lanes[lane].n == 0 || (search->lane >= 0 && search->lane != lane))
			continue;
		hits->count = 0;
		ok = hunt_lane(&hunt, lane, err);
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
	uint32_t n_names, marks = search->n;
	uint8_t *names = find_names(view, search->text, &n_names, err);
	if (!names)
		return false;
	struct hits hits = {
		.from = search->from + view->origin,
		.to = search->to + view->origin,
		.marks = hwy_zarray(marks, sizeof *hits.marks),
		.n_marks = marks,
		.skip = search->skip,
	};
	json_begin_object(json);
	json_put_text(json, "q", search->text);
	json_put_int(json, "names", n_names);
	bool ok = put_hits_of_lanes(view, json, names, search, &hits, err);
	json_key(json, "marks");
	json_begin_array(json);
	for (uint32_t i = 0; i < marks; i++)
		json_int(json, hits.marks[i]);
	json_end_array(json);
	json_end_object(json);
	free(hits.marks);
	free(names);
	return ok;
}

/* ---- where hits are on the screen ------------------------------------------------------------ */

struct pixels {
	int64_t from, to;
	uint8_t *v; /* by pixel: 1 where a hit starts */
	uint32_t n;
	bool any;
};

static void mark_pixel(void *context, const struct hwy_strip *strip, uint32_t row)
{
	struct pixels *pixels = context;
	int64_t start = hwy_get(strip, HWY_START, row);
	if (start < pixels->from || start >= pixels->to)
		return;
	double share = (double)(start - pixels->from) / (double)(pixels->to - pixels->from);
	uint32_t pixel = (uint32_t)(share * pixels->n);
	pixels->v[pixel < pixels->n ? pixel : pixels->n - 1] = 1;
	pixels->any = true;
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
	uint32_t n_names;
	uint8_t *names = find_names(view, search->text, &n_names, err);
	if (!names)
		return false;
	struct pixels pixels = {.from = search->from + view->origin,
				.to = search->to + view->origin,
				.v = hwy_zarray(search->n, 1),
				.n = search->n};
	struct hunt hunt = {view, names, pixels.from, pixels.to, mark_pixel, &pixels};
	bool ok = true;
	json_begin_object(json);
	json_put_text(json, "q", search->text);
	json_key(json, "lanes");
	json_begin_array(json);
	for (uint32_t lane = 0; ok && n_names > 0 && lane < view->trace->n_lanes; lane++) {
		if (view->lanes[lane].n == 0)
			continue;
		memset(pixels.v, 0, pixels.n);
		pixels.any = false;
		ok = hunt_lane(&hunt, lane, err);
		if (ok && pixels.any)
			put_runs(json, lane, &pixels);
	}
	json_end_array(json);
	json_end_object(json);
	free(pixels.v);
	free(names);
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

static void look_at_hit(void *context, const struct hwy_strip *strip, uint32_t row)
{
	struct next_hit *next = context;
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

bool search_answer_hit(struct view_trace *view, struct hwy_json *json, const char *text,
		       struct search_place from, int direction, struct hwy_err *err)
{
	uint32_t n_names;
	struct next_hit next = {.at = {from.time + view->origin, from.id}, .direction = direction};
	struct view_span span;
	if (from.id >= 0) {
		if (!detail_find_span(view, (uint32_t)from.id, &span, err))
			return false;
		next.at.start = span.start;
	}
	uint8_t *names = find_names(view, text, &n_names, err);
	if (!names)
		return false;
	struct hunt hunt = hunt_all(view, names);
	hunt.on_hit = look_at_hit;
	hunt.context = &next;
	bool ok = true;
	for (uint32_t lane = 0; ok && n_names > 0 && lane < view->trace->n_lanes; lane++)
		ok = view->lanes[lane].n == 0 || hunt_lane(&hunt, lane, err);
	free(names);
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
