/* SPDX-License-Identifier: Apache-2.0 */
/* selection_threads.c - what the threads of a selection did: their states, who woke whom, and
 * where samples found them. */
#include <stdlib.h>

#include "base/json_fields.h"
#include "serve/lane_titles.h"
#include "serve/selection.h"

enum {
	SHOWN_THREADS = 40,
	SHOWN_STATES = 8, /* the most states of a thread that are listed */
	SHOWN_FUNCTIONS = 50,
	SHOWN_WAKES = 50,
	EDGES_BETWEEN_PAUSES = 4096,
};

/* A count by a pair of numbers: a thread's state, or a waker and who was woken. */
struct pair {
	int64_t first, second;
	uint64_t count;
	int64_t ns;
};
struct pairs {
	struct pair *v;
	uint32_t n, cap;
	struct hwy_map index; /* from both numbers to the index in 'v' */
};

static void pairs_add(struct pairs *pairs, uint32_t first, uint32_t second, int64_t ns)
{
	bool fresh;
	uint32_t *index = hwy_map_put(&pairs->index, (uint64_t)first << 32 | second, &fresh);
	if (fresh) {
		HWY_GROW(pairs->v, pairs->n, pairs->cap);
		*index = pairs->n;
		pairs->v[pairs->n++] = (struct pair){.first = first, .second = second};
	}
	pairs->v[*index].count++;
	pairs->v[*index].ns += ns;
}

static void pairs_free(struct pairs *pairs)
{
	free(pairs->v);
	hwy_map_free(&pairs->index);
}

static int by_time_then_count(const void *left, const void *right)
{
	const struct pair *a = left, *b = right;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return (a->second > b->second) - (a->second < b->second);
}

static const struct json_field pair_fields[] = {
	{JSON_FIELD_INT(struct pair, count, "count")},
	{JSON_FIELD_INT(struct pair, ns, "total")},
};

/* ---- states ---------------------------------------------------------------------------------- */

static void add_state(void *self, const struct hwy_strip *strip, uint32_t row, int64_t length)
{
	int64_t name = hwy_get(strip, HWY_NAME, row);
	pairs_add(self, strip->lane, (uint32_t)name, length);
}

/* Writes one thread: its states, the longest first. */
static void put_states_of(const struct view_trace *view, struct hwy_json *json,
			  const struct pair *states, uint32_t n)
{
	uint32_t lane = (uint32_t)states[0].first;
	int64_t thread = view->trace->lanes[lane].thread;
	json_begin_object(json);
	json_put_int(json, "lane", lane);
	json_key(json, "title");
	if (thread == HWY_NONE)
		json_textz(json, "thread");
	else
		lane_titles_put_thread(view, json, (uint32_t)thread);
	json_key(json, "states");
	json_begin_array(json);
	for (uint32_t i = 0; i < n && i < SHOWN_STATES; i++) {
		json_begin_object(json);
		json_key(json, "name");
		span_names_put(json, hwy_text(view->trace, states[i].second));
		json_put_int(json, "look", span_color(view->trace, HWY_STATE, states[i].second));
		json_put_fields(json, JSON_FIELDS(pair_fields), &states[i]);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
}

/* Threads are walked one after the other, so the states of a thread are neighbours. */
static bool put_states(struct view_trace *view, struct hwy_json *json,
		       const struct selection *selection, struct hwy_err *err)
{
	bool ok = true;
	uint32_t n_threads = 0;
	json_key(json, "threads");
	json_begin_array(json);
	for (uint32_t lane = 0; ok && lane < view->trace->n_lanes; lane++) {
		struct pairs states = {0};
		const struct view_lane *on_lane = &view->lanes[lane];
		if (view->trace->lanes[lane].type != HWY_LANE_STATE || on_lane->n == 0 ||
		    on_lane->from >= selection->to || on_lane->to <= selection->from ||
		    !lane_choice_has(selection->lanes, lane))
			continue;
		ok = selection_walk(view, selection, lane, HWY_KIND_BIT(HWY_STATE), add_state,
				    &states, err);
		if (states.n)
			qsort(states.v, states.n, sizeof *states.v, by_time_then_count);
		if (states.n && n_threads++ < SHOWN_THREADS)
			put_states_of(view, json, states.v, states.n);
		pairs_free(&states);
	}
	json_end_array(json);
	json_put_int(json, "thread_count", n_threads);
	return ok;
}

/* ---- wakes ----------------------------------------------------------------------------------- */

/* Yields the lane of a span that was woken, and when its thread goes on: at the begin of a span
 * that says that the thread runs, but at the end of an OS call, in which the thread had waited. */
static bool find_woken(struct view_trace *view, struct hwy_peeks *peeks, uint32_t id,
		       uint32_t *lane, int64_t *time, struct hwy_err *err)
{
	uint32_t row;
	int64_t dur = 0;
	const struct hwy_strip *strip = hwy_strip_of(view->trace, id, &row);
	uint32_t number = (uint32_t)(strip - view->trace->strips);
	*lane = strip->lane;
	if (!hwy_peek_near(view->trace, peeks, number, HWY_START, row, time, err) ||
	    (strip->kind == HWY_OS &&
	     !hwy_peek_near(view->trace, peeks, number, HWY_DUR, row, &dur, err)))
		return false;
	*time += dur;
	return true;
}

static bool add_wake(struct view_trace *view, const struct selection *selection,
		     const struct hwy_edge *edge, struct hwy_peeks *peeks, struct pairs *wakes,
		     struct hwy_err *err)
{
	uint32_t from, to, row;
	int64_t time;
	int64_t n_spans = view->trace->n_spans;
	if (edge->kind != HWY_EDGE_WAKE || edge->from < 0 || edge->to < 0 ||
	    edge->from >= n_spans || edge->to >= n_spans)
		return true;
	if (!find_woken(view, peeks, (uint32_t)edge->to, &to, &time, err))
		return false;
	from = hwy_strip_of(view->trace, (uint32_t)edge->from, &row)->lane;
	if (time < selection->from || time >= selection->to ||
	    (!lane_choice_has(selection->lanes, from) && !lane_choice_has(selection->lanes, to)))
		return true;
	int64_t waker = view->trace->lanes[from].thread, woken = view->trace->lanes[to].thread;
	if (waker != HWY_NONE && woken != HWY_NONE)
		pairs_add(wakes, (uint32_t)waker, (uint32_t)woken, 0);
	return true;
}

static bool put_wakes(struct view_trace *view, struct hwy_json *json,
		      const struct selection *selection, struct hwy_err *err)
{
	struct pairs wakes = {0};
	struct hwy_peeks peeks = {0};
	bool ok = true;
	for (uint32_t i = 0; ok && i < view->trace->n_edges; i++) {
		ok = (i % EDGES_BETWEEN_PAUSES || view_pause(view, err)) &&
		     add_wake(view, selection, &view->trace->edges[i], &peeks, &wakes, err);
	}
	hwy_peeks_free(&peeks);
	if (wakes.n)
		qsort(wakes.v, wakes.n, sizeof *wakes.v, by_time_then_count);
	json_key(json, "wakes");
	json_begin_array(json);
	for (uint32_t i = 0; i < wakes.n && i < SHOWN_WAKES; i++) {
		json_begin_object(json);
		json_put_int(json, "from_thread", wakes.v[i].first);
		json_put_int(json, "to_thread", wakes.v[i].second);
		json_key(json, "from");
		lane_titles_put_thread(view, json, (uint32_t)wakes.v[i].first);
		json_key(json, "to");
		lane_titles_put_thread(view, json, (uint32_t)wakes.v[i].second);
		json_put_int(json, "count", (int64_t)wakes.v[i].count);
		json_end_object(json);
	}
	json_end_array(json);
	pairs_free(&wakes);
	return ok;
}

/* ---- samples --------------------------------------------------------------------------------- */

struct sampling {
	const struct hwy_trace *trace;
	struct pairs functions; /* by text of the function, and of its module */
	uint64_t count;
};

static void add_sample(void *self, const struct hwy_strip *strip, uint32_t row, int64_t length)
{
	struct sampling *sampling = self;
	int64_t stack = hwy_get(strip, HWY_STACK, row), function = 0, module = 0;
	(void)length;
	sampling->count++;
	if (hwy_ref_is_set(stack)) {
		const struct hwy_frame *frame = hwy_stack_frame(sampling->trace, stack);
		function = frame->function > 0 ? frame->function : 0;
		module = frame->module > 0 ? frame->module : 0;
	}
	pairs_add(&sampling->functions, (uint32_t)function, (uint32_t)module, 0);
}

static bool walk_samples(struct view_trace *view, const struct selection *selection,
			 struct sampling *sampling, struct hwy_err *err)
{
	for (uint32_t lane = 0; lane < view->trace->n_lanes; lane++) {
		const struct hwy_strip *strip = hwy_strip_on(view->trace, lane, HWY_SAMPLE);
		if (!strip || !lane_choice_has(selection->lanes, lane))
			continue;
		if (!hwy_need_strip(view->trace, (uint32_t)(strip - view->trace->strips),
				    HWY_COL_BIT(HWY_STACK), err) ||
		    !selection_walk(view, selection, lane, HWY_KIND_BIT(HWY_SAMPLE), add_sample,
				    sampling, err))
			return false;
	}
	return true;
}

static bool put_samples(struct view_trace *view, struct hwy_json *json,
			const struct selection *selection, struct hwy_err *err)
{
	struct sampling sampling = {.trace = view->trace};
	bool ok = walk_samples(view, selection, &sampling, err);
	const struct pairs *functions = &sampling.functions;
	if (functions->n)
		qsort(functions->v, functions->n, sizeof *functions->v, by_time_then_count);
	json_key(json, "samples");
	json_begin_object(json);
	json_put_int(json, "count", (int64_t)sampling.count);
	json_put_int(json, "names", functions->n);
	json_key(json, "rows");
	json_begin_array(json);
	for (uint32_t i = 0; i < functions->n && i < SHOWN_FUNCTIONS; i++) {
		json_begin_object(json);
		json_key(json, "function");
		span_names_put(json, hwy_text(view->trace, functions->v[i].first));
		json_key(json, "module");
		span_names_put(json, hwy_text(view->trace, functions->v[i].second));
		json_put_int(json, "count", (int64_t)functions->v[i].count);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
	pairs_free(&sampling.functions);
	return ok;
}

bool selection_put_threads(struct view_trace *view, struct hwy_json *json,
			   const struct selection *selection, struct hwy_err *err)
{
	return put_states(view, json, selection, err) && put_wakes(view, json, selection, err) &&
	       put_samples(view, json, selection, err);
}
