/* SPDX-License-Identifier: Apache-2.0 */
/* search.c - finds spans by a part of their name: first the names that match, then the spans
 * that have them. */
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

/* Yields by id of a name: 1 where the name contains 'text'; NULL where the search is to be given up.
 * *n becomes the number of such names. */
static uint8_t *find_names(const struct view_trace *view, const char *text, uint32_t *n,
			   struct hwy_err *err)
{
	size_t length = strlen(text);
	char *wanted = hwy_copy(text, length + 1);
	for (size_t i = 0; i < length; i++)
		wanted[i] = lower(wanted[i]);
	uint32_t n_names = view->trace->strings.n + SPAN_NAMES_MADE;
	uint8_t *found = hwy_zarray(n_names, 1);
	struct hwy_bytes room = {0};
	bool ok = true;
	*n = 0;
	for (uint32_t i = 1; ok && length > 0 && i < n_names; i++) {
		ok = i % NAMES_BETWEEN_PAUSES != 0 || view_pause(view, err);
		found[i] = contains_ignoring_case(span_names_text(view->trace, i), wanted, length,
						  &room);
		*n += found[i];
	}
	hwy_bytes_free(&room);
	free(wanted);
	if (!ok)
		free(found);
	return ok ? found : NULL;
}

/* What a search found on one lane; the marks count the hits of all lanes. */
struct hits {
	const uint8_t *names; /* by id of a name: 1 where spans of this name are hits */
	int64_t from, to;     /* the window that the marks divide evenly */
	uint32_t *marks;      /* hits in each part of the window */
	uint32_t n_marks;
	uint64_t count;    /* hits on this lane */
	uint32_t n_listed; /* spans of all lanes that were listed */
	bool is_cut;       /* spans were not listed because LISTED_IN_ALL were */
	struct view_span first[LISTED_SPANS];
};

static void add_hit(struct hits *hits, const struct hwy_strip *strip, uint32_t number, uint32_t row)
{
	int64_t start = hwy_get(strip, HWY_START, row);
	if (hits->count < LISTED_SPANS)
		hits->first[hits->count] = (struct view_span){start, 0, number, row, 0};
	hits->count++;
	if (start >= hits->from && start < hits->to) {
		double share = (double)(start - hits->from) / (double)(hits->to - hits->from);
		uint32_t mark = (uint32_t)(share * hits->n_marks);
		hits->marks[mark < hits->n_marks ? mark : hits->n_marks - 1]++;
	}
}

static bool search_lane(struct view_trace *view, uint32_t lane, struct hits *hits,
			struct hwy_err *err)
{
	const struct view_lane *on_lane = &view->lanes[lane];
	hits->count = 0;
	for (uint32_t s = on_lane->first; s < on_lane->first + on_lane->n; s++) {
		const struct hwy_strip *strip = &view->trace->strips[s];
		uint64_t columns = HWY_COL_BIT(HWY_NAME) | HWY_COL_BIT(HWY_START) |
				   HWY_COL_BIT(span_names_column(strip->kind));
		for (uint32_t first = 0, n; first < strip->rows; first += n) {
			if (!view_pause(view, err))
				return false;
			view_trim(view);
			n = strip->rows - first < HWY_CHUNK_ROWS ? strip->rows - first
								 : HWY_CHUNK_ROWS;
			if (!view_need_rows(view, s, columns, first, n, err))
				return false;
			for (uint32_t row = first; row < first + n; row++)
				if (hits->names[span_names_id(view->trace, strip, row)])
					add_hit(hits, strip, s, row);
		}
	}
	return true;
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
	for (uint32_t i = 0; ok && i < hits->count && i < LISTED_SPANS; i++) {
		hits->is_cut |= hits->n_listed >= LISTED_IN_ALL;
		if (hits->is_cut)
			break;
		hits->n_listed++;
		ok = view_pause(view, err) &&
		     detail_put_span(view, json, view_span_id(view, &hits->first[i]), err);
	}
	json_end_array(json);
	json_end_object(json);
	return ok;
}

bool search_answer(struct view_trace *view, struct hwy_json *json, const char *text, int64_t from,
		   int64_t to, uint32_t marks, struct hwy_err *err)
{
	uint32_t n_names;
	uint64_t count = 0;
	uint8_t *names = find_names(view, text, &n_names, err);
	if (!names)
		return false;
	struct hits hits = {
		.names = names,
		.from = from + view->origin,
		.to = to + view->origin,
		.marks = hwy_zarray(marks, sizeof *hits.marks),
		.n_marks = marks,
	};
	bool ok = true;
	json_begin_object(json);
	json_put_text(json, "q", text);
	json_put_int(json, "names", n_names);
	json_key(json, "lanes");
	json_begin_array(json);
	for (uint32_t lane = 0; ok && n_names > 0 && lane < view->trace->n_lanes; lane++) {
		if (view->lanes[lane].n == 0)
			continue;
		ok = search_lane(view, lane, &hits, err);
		count += hits.count;
		if (ok && hits.count > 0)
			ok = put_hits(view, json, lane, &hits, err);
	}
	json_end_array(json);
	json_put_int(json, "hits", (int64_t)count);
	json_put_bool(json, "more", hits.is_cut);
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
