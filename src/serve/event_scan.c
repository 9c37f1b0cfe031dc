/* SPDX-License-Identifier: Apache-2.0 */
/* event_scan.c - finds the spans of a table, and the order of their rows. */
#include <stdlib.h>

#include "base/saturating.h"
#include "serve/event_table.h"
#include "serve/lane_choice.h"
#include "serve/view_ranks.h"

enum { NOT_KNOWN = -1 };

/* What is collected while the spans are found. */
struct collecting {
	struct view_trace *view;
	struct span_facts *facts;
	const struct event_request *request;
	struct event_result *result;
	/* what the span is sorted by; in a table of groups, the duration of the span */
	uint64_t *keys;
	uint32_t *ids; /* id of the span; in a table of groups, the key of its group */
	uint32_t n;
	uint32_t cap;      /* the most spans in both lists together */
	uint32_t *unknown; /* ids of spans that lack what the table is sorted by */
	uint32_t n_unknown, cap_unknown;
};

/* ---- keys ------------------------------------------------------------------------------------ */

/* Yields a key for a positive real number: keys have the same order as the numbers. */
static int64_t key_of_real(double value)
{
	int64_t bits;
	memcpy(&bits, &value, sizeof bits);
	return bits;
}

static bool span_bytes(struct collecting *c, const struct hwy_strip *strip, uint32_t row,
		       int64_t *bytes, struct hwy_err *err)
{
	*bytes = 0;
	return !(hwy_kind_columns[strip->kind] & HWY_COL_BIT(HWY_BYTES)) ||
	       span_facts_peek(c->facts, strip, HWY_BYTES, row, bytes, err);
}

/* Yields in *key what the span is sorted by, or NOT_KNOWN. Names and lines are replaced by their
 * rank afterwards. */
static bool sort_key(struct collecting *c, const struct hwy_strip *strip, uint32_t row,
		     int64_t *key, struct hwy_err *err)
{
	struct hwy_trace *trace = c->view->trace;
	int64_t bytes, dur;
	uint32_t number;
	switch (c->request->sort) {
	case EVENT_DUR: *key = hwy_get(strip, HWY_DUR, row); return true;
	case EVENT_NAME: *key = span_names_id(trace, strip, row); return true;
	case EVENT_KIND:
		*key = span_color(trace, strip->kind, hwy_get(strip, HWY_NAME, row));
		return true;
	case EVENT_LANE: *key = strip->lane; return true;
	case EVENT_STEP:
		number = span_facts_step(c->facts, &c->request->steps, strip,
					 hwy_get(strip, HWY_START, row));
		*key = number == STEP_TIMES_NONE ? NOT_KNOWN : (int64_t)number;
		return true;
	case EVENT_LATENCY:
		return span_facts_latency(c->facts, strip, row, hwy_get(strip, HWY_START, row), key,
					  err);
	case EVENT_BYTES:
	case EVENT_RATE:
		if (!span_bytes(c, strip, row, &bytes, err))
			return false;
		dur = c->request->sort == EVENT_RATE ? hwy_get(strip, HWY_DUR, row) : 1;
		*key = bytes <= 0 || dur <= 0           ? NOT_KNOWN
		       : c->request->sort == EVENT_RATE ? key_of_real((double)bytes / (double)dur)
							: bytes;
		return true;
	case EVENT_LINE:
		if (!span_facts_line(c->facts, strip, row, &number, err))
			return false;
		*key = number == 0 ? NOT_KNOWN : (int64_t)number;
		return true;
	default: *key = hwy_get(strip, HWY_START, row) - c->view->from; return true;
	}
}

/* Yields the key of the group to which a lane belongs. Not every lane has a thread, a GPU or a
 * rank: key 0 stands for none, and n + 1 for number n. */
static uint32_t key_of_lane(const struct collecting *c, uint32_t lane)
{
	const struct hwy_lane *at = &c->view->trace->lanes[lane];
	uint32_t rank = ranks_of_lane(c->view, at);
	switch (c->request->group) {
	case EVENT_BY_THREAD: return at->thread == HWY_NONE ? 0 : (uint32_t)at->thread + 1;
	case EVENT_BY_GPU: return at->device == HWY_NONE ? 0 : (uint32_t)at->device + 1;
	case EVENT_BY_RANK: return rank == RANKS_NOBODY ? 0 : rank + 1;
	default: return lane;
	}
}

static bool group_key(struct collecting *c, const struct hwy_strip *strip, uint32_t row,
		      uint32_t *key, struct hwy_err *err)
{
	uint32_t step;
	switch (c->request->group) {
	case EVENT_BY_NAME: *key = (uint32_t)span_names_id(c->view->trace, strip, row); return true;
	case EVENT_BY_KIND: *key = strip->kind; return true;
	case EVENT_BY_STEP:
		step = span_facts_step(c->facts, &c->request->steps, strip,
				       hwy_get(strip, HWY_START, row));
		*key = step == STEP_TIMES_NONE ? 0 : c->result->same_step[step] + 1;
		return true;
	case EVENT_BY_LINE: return span_facts_line(c->facts, strip, row, key, err);
	default: *key = key_of_lane(c, strip->lane); return true;
	}
}

static uint64_t columns_of(const struct event_request *request)
{
	uint64_t columns = HWY_COL_BIT(HWY_DUR), start = HWY_COL_BIT(HWY_START);
	uint64_t names = VIEW_COLUMNS & ~(start | columns | HWY_COL_BIT(HWY_FLAGS));
	if (request->group != EVENT_BY_NOTHING)
		return columns | (request->group == EVENT_BY_NAME   ? names
				  : request->group == EVENT_BY_STEP ? start
								    : 0);
	switch (request->sort) {
	case EVENT_NAME: return columns | names;
	case EVENT_KIND: return columns | HWY_COL_BIT(HWY_NAME);
	case EVENT_START:
	case EVENT_STEP:
	case EVENT_LATENCY: return columns | start;
	default: return columns;
	}
}

/* ---- collecting ------------------------------------------------------------------------------ */

void event_sums_add(struct event_sums *sums, int64_t duration)
{
	sums->least = sums->count == 0 || duration < sums->least ? duration : sums->least;
	sums->most = sums->count == 0 || duration > sums->most ? duration : sums->most;
	hwy_add_saturating(&sums->total, duration);
	sums->count++;
}

static void keep_unknown(struct collecting *c, uint32_t id)
{
	HWY_GROW(c->unknown, c->n_unknown, c->cap_unknown);
	c->unknown[c->n_unknown++] = id;
}

static bool collect_rows(void *context, const struct match_rows *rows, struct hwy_err *err)
{
	struct collecting *c = context;
	const struct hwy_strip *strip = rows->strip;
	for (uint32_t i = 0; i < rows->n; i++) {
		uint32_t row = rows->rows[i], group = 0;
		int64_t dur = hwy_get(strip, HWY_DUR, row), key = dur;
		event_sums_add(&c->result->sums, dur);
		if (c->n + c->n_unknown == c->cap)
			return hwy_fail(err, "more than %d spans: narrow the query or the interval",
					EVENT_MOST_ROWS);
		if (c->request->group != EVENT_BY_NOTHING) {
			if (!group_key(c, strip, row, &group, err))
				return false;
		} else if (!sort_key(c, strip, row, &key, err)) {
			return false;
		} else if (key == NOT_KNOWN) {
			keep_unknown(c, strip->first + row);
			continue;
		} else {
			group = strip->first + row;
		}
		c->keys[c->n] = (uint64_t)key;
		c->ids[c->n++] = group;
	}
	return true;
}

/* ---- ranks of texts -------------------------------------------------------------------------- */

int event_compare_texts(struct hwy_text a, struct hwy_text b)
{
	uint32_t n = a.length < b.length ? a.length : b.length;
	for (uint32_t i = 0; i < n; i++) {
		unsigned char x = (unsigned char)a.at[i], y = (unsigned char)b.at[i];
		x = (unsigned char)(x >= 'A' && x <= 'Z' ? x + 'a' - 'A' : x);
		y = (unsigned char)(y >= 'A' && y <= 'Z' ? y + 'a' - 'A' : y);
		if (x != y)
			return x < y ? -1 : 1;
	}
	return a.length != b.length ? (a.length < b.length ? -1 : 1) : memcmp(a.at, b.at, n);
}

struct ranked {
	struct hwy_text text;
	uint32_t line, id;
};

static int by_text(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	int order = event_compare_texts(x->text, y->text);
	if (order != 0)
		return order;
	return x->line != y->line ? (x->line < y->line ? -1 : 1)
				  : (x->id > y->id) - (x->id < y->id);
}

/* Replaces keys that are ids of names, or of lines, by their ranks in the order of their texts. */
static void rank_keys(struct collecting *c)
{
	const struct span_facts *facts = c->facts;
	bool is_line = c->request->sort == EVENT_LINE;
	uint32_t n = is_line ? facts->n_lines : c->view->trace->strings.n + SPAN_NAMES_MADE,
		 used = 0;
	uint32_t *ranks = hwy_zarray(n, sizeof *ranks);
	for (uint32_t i = 0; i < c->n; i++)
		ranks[c->keys[i]] = 1;
	for (uint32_t id = 0; id < n; id++)
		used += ranks[id];
	struct ranked *list = hwy_array(used, sizeof *list);
	used = 0;
	for (uint32_t id = 0; id < n; id++)
		if (ranks[id])
			list[used++] =
				(struct ranked){is_line ? facts->texts.texts[facts->lines[id].file]
							: span_names_text(c->view->trace, id),
						is_line ? facts->lines[id].line : 0, id};
	qsort(list, used, sizeof *list, by_text);
	for (uint32_t i = 0; i < used; i++)
		ranks[list[i].id] = i;
	for (uint32_t i = 0; i < c->n; i++)
		c->keys[i] = ranks[c->keys[i]];
	free(list);
	free(ranks);
}

/* ---- the scan -------------------------------------------------------------------------------- */

static uint32_t most_rows(const struct view_trace *view, const uint8_t *lanes)
{
	uint64_t n = 0;
	for (uint32_t l = 0; l < view->trace->n_lanes; l++)
		n += !lanes || lanes[l] ? view->lanes[l].spans : 0;
	return n < EVENT_MOST_ROWS ? (uint32_t)n : EVENT_MOST_ROWS;
}

static void find_same_steps(const struct step_times *steps, struct event_result *result)
{
	struct hwy_index by_number = {0};
	result->same_step = hwy_array(steps->n, sizeof *result->same_step);
	for (uint32_t i = 0; i < steps->n; i++) {
		const uint32_t key[2] = {steps->v[i].phase, steps->v[i].number};
		bool fresh;
		uint32_t *first = hwy_index_put(&by_number, key, sizeof key, &fresh);
		if (fresh)
			*first = i;
		result->same_step[i] = *first;
	}
	hwy_index_free(&by_number);
}

static bool event_scan_finish(struct collecting *c, struct hwy_err *err)
{
	struct event_result *result = c->result;
	if (c->request->group != EVENT_BY_NOTHING)
		return event_groups_make(c->view, c->keys, c->ids, c->n, result, err);
	if (c->request->sort == EVENT_NAME || c->request->sort == EVENT_LINE)
		rank_keys(c);
	if (!event_sort(c->view, c->keys, c->ids, c->n, err))
		return false;
	result->n_known = c->n;
	result->n = c->n + c->n_unknown;
	result->ids = hwy_array(result->n, sizeof *result->ids);
	memcpy(result->ids, c->ids, c->n * sizeof *c->ids);
	if (c->n_unknown)
		memcpy(result->ids + c->n, c->unknown, c->n_unknown * sizeof *c->unknown);
	return true;
}

static bool needs_steps(const struct event_request *request)
{
	return request->group == EVENT_BY_STEP ||
	       (request->group == EVENT_BY_NOTHING && request->sort == EVENT_STEP);
}

bool event_scan(struct view_trace *view, const struct event_request *request,
		struct event_result *result, struct hwy_err *err)
{
	struct query query;
	struct matcher matcher = {0};
	struct collecting c = {.view = view, .request = request, .result = result};
	uint8_t *lanes = NULL;
	if (request->group == EVENT_BY_STEP)
		find_same_steps(&request->steps, result);
	bool ok = (!needs_steps(request) || request->steps.is_known ||
		   hwy_fail(err, "steps are not known yet: the diagnosis is not ready"));
	query.n = 0;
	ok = ok && lane_choice_read(view, request->lanes, &lanes, err) &&
	     query_parse(&query, request->text, err) &&
	     match_open(&matcher, view, &query, request->steps, err);
	if (ok) {
		c.facts = matcher.facts;
		c.cap = most_rows(view, lanes);
		/* The arrays have room for all spans although few may fit: memory that is never
		 * written takes none. */
		c.keys = hwy_array(c.cap, sizeof *c.keys);
		c.ids = hwy_array(c.cap, sizeof *c.ids);
		struct match_scope scope = {request->is_whole,
					    request->from + view->origin,
					    request->to + view->origin,
					    false,
					    lanes,
					    columns_of(request),
					    collect_rows,
					    &c};
		ok = match_scan(&matcher, &scope, err) && event_scan_finish(&c, err);
	}
	match_close(&matcher);
	query_free(&query);
	free(c.keys);
	free(c.ids);
	free(c.unknown);
	free(lanes);
	return ok;
}
