/* SPDX-License-Identifier: Apache-2.0 */
/* projected.c - see projected.h.
 *
 * The calls of a thread and its ranges are both in order of start. One walk over both keeps a short
 * list of the ranges that are still open, so the ranges around a call are known without a search:
 * the time is in proportion to the number of calls times the depth of the ranges.
 */
#include "serve/projected.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/search.h"
#include "serve/answers.h"

#define WORK_KINDS (HWY_KIND_BIT(HWY_KERNEL) | HWY_KIND_BIT(HWY_COPY) | HWY_KIND_BIT(HWY_FILL))
#define TIMES (HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR))

enum { MOST_ROWS = 255 };

/* Device work, and the call that enqueued it. */
struct projected_work {
	int64_t thread, call_start, call_end, start, end;
	uint32_t device;
};
struct projected_works {
	struct projected_work *v;
	uint32_t n, cap;
};

static int by_thread_and_call(const void *left, const void *right)
{
	const struct projected_work *a = left, *b = right;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->call_start > b->call_start) - (a->call_start < b->call_start);
}

/* ---- making ---------------------------------------------------------------------------------- */

/* Whether the recording has projected ranges of its own. */
static bool has_own(const struct hwy_trace *trace)
{
	for (uint32_t lane = 0; lane < trace->n_lanes; lane++)
		if (trace->lanes[lane].type == HWY_LANE_DEVICE_RANGE)
			return true;
	return false;
}

static bool gather_works(struct view_trace *view, struct projected_works *works,
			 struct hwy_err *err)
{
	const struct hwy_trace *trace = view->trace;
	if (!hwy_need(view->trace, WORK_KINDS, TIMES | HWY_COL_BIT(HWY_LINK), err) ||
	    !hwy_need(view->trace, HWY_KIND_BIT(HWY_API), TIMES, err))
		return false;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		int64_t device = trace->lanes[strip->lane].device;
		if (!(HWY_KIND_BIT(strip->kind) & WORK_KINDS) || device == HWY_NONE)
			continue;
		for (uint32_t row = 0; row < strip->rows; row++) {
			uint32_t call, call_row;
			if (!hwy_get_index(strip, HWY_LINK, row, &call))
				continue;
			const struct hwy_strip *calls = hwy_strip_of(trace, call, &call_row);
			HWY_GROW(works->v, works->n, works->cap);
			works->v[works->n++] = (struct projected_work){
				trace->lanes[calls->lane].thread,
				hwy_get(calls, HWY_START, call_row),
				hwy_end(calls, call_row),
				hwy_get(strip, HWY_START, row),
				hwy_end(strip, row),
				(uint32_t)device,
			};
		}
	}
	if (works->n)
		qsort(works->v, works->n, sizeof *works->v, by_thread_and_call);
	return true;
}

static void widen_projection(struct view_span *projection, const struct projected_work *work)
{
	bool is_first = projection->dur < 0;
	int64_t end = projection->start + projection->dur;
	int64_t start =
		is_first || work->start < projection->start ? work->start : projection->start;
	end = is_first || work->end > end ? work->end : end;
	projection->start = start;
	projection->dur = end - start;
}

/* Sweeps the work of one thread on one device over the ranges of a strip. 'made' has an entry
 * for each range; DUR is negative where there is no work. */
static void sweep_ranges(const struct hwy_strip *ranges, const struct projected_work *works,
			 uint32_t n, uint32_t device, struct view_span *made, uint32_t *open)
{
	uint32_t next = 0, n_open = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct projected_work *work = &works[i];
		uint32_t kept = 0;
		if (work->device != device)
			continue;
		for (; next < ranges->rows && hwy_get(ranges, HWY_START, next) <= work->call_start;
		     next++)
			if (!(hwy_get(ranges, HWY_FLAGS, next) & HWY_FLAGS_NO_SPAN))
				open[n_open++] = next;
		for (uint32_t k = 0; k < n_open; k++) {
			int64_t end = hwy_end(ranges, open[k]);
			if (end < work->call_start)
				continue;
			if (end >= work->call_end)
				widen_projection(&made[open[k]], work);
			open[kept++] = open[k];
		}
		n_open = kept;
	}
}

/* Sets the row of each span: the first that is free where the span starts. */
static void set_rows(struct projected_lane *lane)
{
	int64_t until[MOST_ROWS] = {0};
	lane->reach = hwy_array((size_t)lane->n + 1, sizeof *lane->reach);
	for (uint32_t i = 0; i < lane->n; i++) {
		struct view_span *span = &lane->v[i];
		int64_t end = span->start + span->dur;
		unsigned row = 0;
		while (row < lane->rows && row < MOST_ROWS - 1 && until[row] > span->start)
			row++;
		span->depth = (uint8_t)row;
		until[row] = row < lane->rows && until[row] > end ? until[row] : end;
		lane->rows = row + 1 > lane->rows ? row + 1 : lane->rows;
		lane->reach[i] = i && lane->reach[i - 1] > end ? lane->reach[i - 1] : end;
	}
}

static void project_strip(struct view_trace *view, const struct hwy_strip *ranges,
			  const struct projected_work *works, uint32_t n, uint32_t device)
{
	uint32_t number = (uint32_t)(ranges - view->trace->strips);
	struct view_span *made = hwy_array(ranges->rows, sizeof *made);
	uint32_t *open = hwy_array(ranges->rows, sizeof *open);
	struct projected_lane lane = {.device = device, .lane = ranges->lane};
	for (uint32_t row = 0; row < ranges->rows; row++)
		made[row] = (struct view_span){.dur = -1, .strip = number, .row = row};
	sweep_ranges(ranges, works, n, device, made, open);
	for (uint32_t row = 0; row < ranges->rows; row++) {
		if (made[row].dur < 0)
			continue;
		HWY_GROW(lane.v, lane.n, lane.cap);
		lane.v[lane.n++] = made[row];
	}
	free(made);
	free(open);
	if (lane.n == 0)
		return;
	struct view_spans spans = {lane.v, lane.n, lane.cap};
	view_spans_sort(&spans);
	set_rows(&lane);
	struct projected *all = &view->projected;
	HWY_GROW(all->v, all->n, all->cap);
	all->v[all->n++] = lane;
}

bool projected_need(struct view_trace *view, struct hwy_err *err)
{
	const struct hwy_trace *trace = view->trace;
	struct projected_works works = {0};
	if (view->projected.is_made)
		return true;
	if (trace->n_spans > PROJECTED_SPANS || has_own(trace)) {
		view->projected.is_made = true;
		return true;
	}
	bool ok = hwy_need(view->trace, HWY_KIND_BIT(HWY_RANGE), TIMES | HWY_COL_BIT(HWY_FLAGS),
			   err) &&
		  gather_works(view, &works, err);
	for (uint32_t s = 0; ok && s < trace->n_strips; s++) {
		const struct hwy_strip *ranges = &trace->strips[s];
		const struct hwy_lane *lane = &trace->lanes[ranges->lane];
		if (ranges->kind != HWY_RANGE || lane->type != HWY_LANE_RANGE ||
		    lane->thread == HWY_NONE)
			continue;
		uint32_t first = HWY_FIRST(i, 0u, works.n, works.v[i].thread >= lane->thread);
		uint32_t end = HWY_FIRST(i, first, works.n, works.v[i].thread > lane->thread);
		for (uint32_t d = 0; d < trace->n_devices && end > first; d++)
			project_strip(view, ranges, &works.v[first], end - first, d);
	}
	free(works.v);
	view->projected.is_made = ok;
	return ok;
}

void projected_close(struct view_trace *view)
{
	for (uint32_t i = 0; i < view->projected.n; i++) {
		free(view->projected.v[i].v);
		free(view->projected.v[i].reach);
	}
	free(view->projected.v);
	view->projected = (struct projected){0};
}

/* ---- asking ---------------------------------------------------------------------------------- */

const struct projected_lane *projected_find(const struct view_trace *view, uint32_t number)
{
	uint32_t index = number & ~VIEW_PROJECTED;
	return (number & VIEW_PROJECTED) && index < view->projected.n ? &view->projected.v[index]
								      : NULL;
}

bool projected_touching(struct view_trace *view, const struct projected_lane *lane, int64_t from,
			int64_t to, uint32_t most, struct view_spans *out, bool *ok,
			struct hwy_err *err)
{
	uint32_t i = HWY_FIRST(k, 0u, lane->n, lane->reach[k] > from);
	*ok = true;
	for (; i < lane->n && lane->v[i].start < to; i++) {
		const struct view_span *span = &lane->v[i];
		if (span->start + span->dur <= from && span->start < from)
			continue;
		if (out->n == most)
			return false;
		*ok = hwy_need_rows(view->trace, span->strip, VIEW_COLUMNS, span->row, 1, err);
		if (!*ok)
			return false;
		HWY_GROW(out->v, out->n, out->cap);
		out->v[out->n++] = *span;
	}
	return true;
}

static int projected_by_duration(const void *left, const void *right)
{
	const struct view_span *a = left, *b = right;
	return (a->dur < b->dur) - (a->dur > b->dur);
}

bool projected_answer_window(struct view_trace *view, struct hwy_json *json, uint32_t number,
			     int64_t from, int64_t to, struct hwy_err *err)
{
	enum { SHOWN = 16 };
	struct view_spans spans = {0};
	bool ok = projected_need(view, err);
	const struct projected_lane *lane = ok ? projected_find(view, number) : NULL;
	if (ok && !lane)
		return hwy_fail(err, "there is no lane %u", number);
	ok = ok && projected_touching(view, lane, from + view->origin, to + view->origin,
				      UINT32_MAX, &spans, &ok, err);
	if (ok && spans.n)
		qsort(spans.v, spans.n, sizeof *spans.v, projected_by_duration);
	json_begin_object(json);
	json_put_int(json, "count", spans.n);
	json_key(json, "busy");
	json_begin_array(json);
	json_end_array(json);
	json_key(json, "longest");
	if (ok && spans.n)
		ok = detail_put_span(view, json, view_span_id(view, &spans.v[0]), err);
	else
		json_null(json);
	json_key(json, "spans");
	json_begin_array(json);
	for (uint32_t i = 0; ok && i < spans.n && i < SHOWN; i++)
		ok = detail_put_span(view, json, view_span_id(view, &spans.v[i]), err);
	json_end_array(json);
	json_end_object(json);
	free(spans.v);
	return ok;
}

bool projected_put_span(struct view_trace *view, struct hwy_json *json, uint32_t id,
			struct hwy_err *err)
{
	uint32_t row;
	bool is_range = hwy_strip_of(view->trace, id, &row)->kind == HWY_RANGE;
	if (is_range && !projected_need(view, err))
		return false;
	json_key(json, "projected");
	json_begin_array(json);
	for (uint32_t l = 0; is_range && l < view->projected.n; l++) {
		const struct projected_lane *lane = &view->projected.v[l];
		for (uint32_t i = 0; i < lane->n; i++) {
			if (view_span_id(view, &lane->v[i]) != id)
				continue;
			json_begin_object(json);
			json_put_int(json, "lane", (int64_t)(VIEW_PROJECTED | l));
			json_put_int(json, "start", lane->v[i].start - view->origin);
			json_put_int(json, "dur", lane->v[i].dur);
			json_put_int(json, "row", lane->v[i].depth);
			json_end_object(json);
		}
	}
	json_end_array(json);
	return true;
}

void projected_put_lane(const struct view_trace *view, struct hwy_json *json, uint32_t index)
{
	const struct projected_lane *lane = &view->projected.v[index];
	const struct hwy_lane *ranges = &view->trace->lanes[lane->lane];
	const char *domain = hwy_str(view->trace, ranges->name);
	const char *thread = hwy_str(view->trace, view->trace->threads[ranges->thread].name);
	char title[300];
	snprintf(title, sizeof title, "%.100s on the GPU%s%.100s%s", *domain ? domain : "ranges",
		 *thread ? " (" : "", thread, *thread ? ")" : "");
	json_begin_object(json);
	json_put_int(json, "lane", (int64_t)(VIEW_PROJECTED | index));
	json_put_text(json, "type", "projected");
	json_put_text(json, "title", title);
	json_put_int(json, "device", lane->device);
	json_put_int(json, "of", lane->lane);
	json_put_int(json, "spans", lane->n);
	json_put_bool(json, "nests", true);
	json_put_bool(json, "marks", false);
	json_put_int(json, "start", lane->v[0].start - view->origin);
	json_put_int(json, "end", lane->reach[lane->n - 1] - view->origin);
	json_put_int(json, "detail", VIEW_LEVELS - 1);
	json_key(json, "looks");
	json_begin_array(json);
	json_int(json, COLOR_RANGE);
	json_end_array(json);
	json_end_object(json);
}
