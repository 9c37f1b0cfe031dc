/* SPDX-License-Identifier: Apache-2.0 */
/* view_walk.c - see view.h: all spans of a window, however many, in bounded memory. */
#include "serve/view.h"

/* Lets other requests have the lock, then brings the chunk of each strip's next row into memory. */
static bool walk_turn(struct view_walk *walk, struct hwy_err *err)
{
	struct view_trace *view = walk->view;
	if (!view_pause(view, err))
		return false;
	view_trim(view);
	for (uint32_t i = 0; i < walk->n; i++) {
		const struct view_walk_head *head = &walk->heads[i];
		uint32_t number = (uint32_t)(head->strip - view->trace->strips);
		if (head->next < head->end &&
		    !view_need_rows(view, number, VIEW_COLUMNS, head->next, 1, err))
			return false;
	}
	return true;
}

bool view_walk_begin(struct view_walk *walk, struct view_trace *view, uint32_t lane, uint32_t kinds,
		     int64_t from, int64_t to, struct hwy_err *err)
{
	const struct view_lane *on_lane = &view->lanes[lane];
	*walk = (struct view_walk){.view = view};
	if (!view_need(view, lane, from, from, 0, err) || !view_need(view, lane, to, to, 0, err))
		return false;
	for (uint32_t s = on_lane->first; s < on_lane->first + on_lane->n; s++) {
		const struct hwy_strip *strip = &view->trace->strips[s];
		if (strip->rows > 0 && kinds & HWY_KIND_BIT(strip->kind))
			walk->heads[walk->n++] = (struct view_walk_head){
				strip, view_row_at(strip, from), view_row_at(strip, to)};
	}
	return walk_turn(walk, err);
}

bool view_walk_next(struct view_walk *walk, bool *ok, struct hwy_err *err)
{
	struct view_walk_head *first = NULL;
	int64_t start = 0, dur = 0;
	/* Pauses here and not in the call that found the current row: the caller was using that
	 * row. */
	if (walk->needs_turn && !walk_turn(walk, err))
		return *ok = false;
	walk->needs_turn = false;
	for (uint32_t i = 0; i < walk->n; i++) {
		struct view_walk_head *head = &walk->heads[i];
		if (head->next >= head->end)
			continue;
		int64_t its_start = hwy_get(head->strip, HWY_START, head->next);
		int64_t its_dur = hwy_get(head->strip, HWY_DUR, head->next);
		if (first && (its_start > start || (its_start == start && its_dur <= dur)))
			continue;
		first = head;
		start = its_start;
		dur = its_dur;
	}
	if (!first)
		return false;
	walk->strip = first->strip;
	walk->row = first->next++;
	walk->needs_turn = first->next % HWY_CHUNK_ROWS == 0;
	return true;
}
