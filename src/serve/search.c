/* SPDX-License-Identifier: Apache-2.0 */
/* search.c - finds spans by a part of their name: first the names that match, then the spans
 * that have them. */
#include <stdlib.h>

#include "serve/answers.h"

enum { LISTED_SPANS = 50 }; /* the most spans that are listed for a lane */

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

static bool contains_ignoring_case(struct hwy_text text, const char *wanted, size_t n)
{
	for (size_t i = 0; i + n <= text.length; i++) {
		size_t k = 0;
		while (k < n && lower(text.at[i + k]) == wanted[k])
			k++;
		if (k == n)
			return true;
	}
	return false;
}

/* Yields by id of a name: 1 where the name contains 'text'. *n becomes the number of such names. */
static uint8_t *find_names(const struct hwy_trace *trace, const char *text, uint32_t *n)
{
	size_t length = strlen(text);
	char *wanted = hwy_copy(text, length + 1);
	for (size_t i = 0; i < length; i++)
		wanted[i] = lower(wanted[i]);
	uint32_t n_names = trace->strings.n + SPAN_NAMES_MADE;
	uint8_t *found = hwy_zarray(n_names, 1);
	*n = 0;
	for (uint32_t i = 1; length > 0 && i < n_names; i++) {
		found[i] = contains_ignoring_case(span_names_text(trace, i), wanted, length);
		*n += found[i];
	}
	free(wanted);
	return found;
}

/* What a search found on one lane; the marks count the hits of all lanes. */
struct hits {
	const uint8_t *names; /* by id of a name: 1 where spans of this name are hits */
	int64_t from, to;     /* the window that the marks divide evenly */
	uint32_t *marks;      /* hits in each part of the window */
	uint32_t n_marks;
	uint64_t count; /* hits on this lane */
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
		     const struct hits *hits, struct hwy_err *err)
{
	bool ok = true;
	json_begin_object(json);
	json_put_int(json, "lane", lane);
	json_put_int(json, "count", (int64_t)hits->count);
	json_key(json, "first");
	json_begin_array(json);
	for (uint32_t i = 0; ok && i < hits->count && i < LISTED_SPANS; i++)
		ok = detail_put_span(view, json, view_span_id(view, &hits->first[i]), err);
	json_end_array(json);
	json_end_object(json);
	return ok;
}

bool search_answer(struct view_trace *view, struct hwy_json *json, const char *text, int64_t from,
		   int64_t to, uint32_t marks, struct hwy_err *err)
{
	uint32_t n_names;
	uint64_t count = 0;
	uint8_t *names = find_names(view->trace, text, &n_names);
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
	json_put_bool(json, "more", false);
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
