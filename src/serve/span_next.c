/* SPDX-License-Identifier: Apache-2.0 */
/* span_next.c - the span before or after another one on its lane: any, or one of the same name. */
#include "base/json.h"
#include "serve/answers.h"

/* The span before or after one on its lane, of whatever kind: spans stand in order of start, those
 * that start together in order of id. *id is -1 where there is none. */
static bool find_beside(struct view_trace *view, const struct view_span *span, int direction,
			int64_t *id, struct hwy_err *err)
{
	struct hwy_trace *trace = view->trace;
	uint32_t lane = trace->strips[span->strip].lane;
	int64_t at = span->start, found = 0;
	*id = -1;
	if (!view_need(view, lane, at, at, 0, err) ||
	    !view_need(view, lane, at + 1, at + 1, 0, err))
		return false;
	for (uint32_t s = view->lanes[lane].first, n = view->lanes[lane].n; n > 0; n--, s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		/* Ids rise from strip to strip: what starts together with the span in an earlier
		 * strip stands before it. */
		int64_t start, row = strip->rows ? view_row_at(strip, at + (s < span->strip)) : 0;
		row -= direction < 0;
		if (s == span->strip)
			row = (int64_t)span->row + direction;
		if (row < 0 || row >= strip->rows)
			continue;
		if (!hwy_peek(trace, s, HWY_START, (uint32_t)row, &start, err))
			return false;
		if (*id >= 0 && (direction > 0 ? start >= found : start < found))
			continue;
		*id = strip->first + row;
		found = start;
	}
	return true;
}

/* The span before or after one that has its name and its kind, on its lane. */
static bool find_namesake(struct view_trace *view, const struct view_span *span, int direction,
			  int64_t *id, struct hwy_err *err)
{
	const struct hwy_strip *strip = &view->trace->strips[span->strip];
	if (!view_need_rows(view, span->strip, VIEW_COLUMNS, span->row, 1, err))
		return false;
	int64_t name = span_names_id(view->trace, strip, span->row), row = span->row;
	*id = -1;
	for (row += direction; row >= 0 && row < strip->rows; row += direction) {
		bool is_next = (row - direction) >> HWY_CHUNK_BITS != row >> HWY_CHUNK_BITS;
		if (is_next && !view_pause(view, err))
			return false;
		if (is_next)
			view_trim(view);
		if (is_next &&
		    !view_need_rows(view, span->strip, VIEW_COLUMNS, (uint32_t)row, 1, err))
			return false;
		if (span_names_id(view->trace, strip, (uint32_t)row) != name)
			continue;
		*id = strip->first + row;
		break;
	}
	return true;
}

bool detail_answer_next(struct view_trace *view, struct hwy_json *json, uint32_t id, int direction,
			bool any_name, struct hwy_err *err)
{
	struct view_span span;
	int64_t next;
	if (!detail_find_span(view, id, &span, err) ||
	    !(any_name ? find_beside(view, &span, direction, &next, err)
		       : find_namesake(view, &span, direction, &next, err)))
		return false;
	json_begin_object(json);
	json_key(json, "span");
	bool ok = true;
	if (next >= 0)
		ok = detail_put_span(view, json, (uint32_t)next, err);
	else
		json_null(json);
	json_end_object(json);
	return ok;
}
