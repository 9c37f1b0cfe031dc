/* SPDX-License-Identifier: Apache-2.0 */
/* span_chain.c - the spans that a span is connected to: the call that enqueued it, what its call
 * enqueued, the device work that was launched inside of a range or an operator, forward and
 * backward operators, and the thread that woke it. */
#include <stdlib.h>

#include "serve/answers.h"

/* As many as a query of the page can name. */
enum { MOST_SPANS = 400 };

struct chain {
	struct view_trace *view;
	uint32_t v[MOST_SPANS];
	uint32_t n;
	bool is_cut; /* there are more spans than MOST_SPANS */
};

static void chain_add(struct chain *chain, int64_t id)
{
	if (id < 0 || id >= chain->view->trace->n_spans)
		return;
	for (uint32_t i = 0; i < chain->n; i++)
		if (chain->v[i] == id)
			return;
	if (chain->n == MOST_SPANS)
		chain->is_cut = true;
	else
		chain->v[chain->n++] = (uint32_t)id;
}

/* A stretch of time on a thread; work belongs to it where its call lies inside. */
struct chain_stretch {
	int64_t thread, from, to;
};

static bool is_inside(struct chain *chain, const struct chain_stretch *stretch, uint32_t call,
		      struct hwy_peeks *peeks, bool *ok, struct hwy_err *err)
{
	uint32_t row;
	int64_t start, dur;
	struct hwy_trace *trace = chain->view->trace;
	const struct hwy_strip *strip = hwy_strip_of(trace, call, &row);
	uint32_t number = (uint32_t)(strip - trace->strips);
	if (trace->lanes[strip->lane].thread != stretch->thread)
		return false;
	*ok = hwy_peek_near(trace, peeks, number, HWY_START, row, &start, err) &&
	      hwy_peek_near(trace, peeks, number, HWY_DUR, row, &dur, err);
	return *ok && start >= stretch->from && start + dur <= stretch->to;
}

/* Adds device work and its calls: the work whose call lies in the stretch, or, where 'stretch'
 * is NULL, the work that the span 'call' enqueued. */
static bool add_works(struct chain *chain, uint32_t call, const struct chain_stretch *stretch,
		      struct hwy_err *err)
{
	struct view_trace *view = chain->view;
	struct hwy_peeks peeks = {0};
	bool ok = true;
	for (uint32_t s = 0; ok && s < view->trace->n_strips; s++) {
		const struct hwy_strip *strip = &view->trace->strips[s];
		if (!(HWY_KIND_BIT(strip->kind) & HWY_DEVICE_KINDS) || !strip->columns[HWY_LINK])
			continue;
		/* The column LINK stays in memory during pauses: view_trim frees only
		 * VIEW_COLUMNS. */
		ok = hwy_need_strip(view->trace, s, HWY_COL_BIT(HWY_LINK), err);
		for (uint32_t row = 0; ok && row < strip->rows && !chain->is_cut; row++) {
			uint32_t its;
			if (row % HWY_CHUNK_ROWS == 0 && !view_pause(view, err))
				ok = false;
			if (!ok || !hwy_get_index(strip, HWY_LINK, row, &its) ||
			    (stretch ? !is_inside(chain, stretch, its, &peeks, &ok, err)
				     : its != call))
				continue;
			chain_add(chain, its);
			chain_add(chain, strip->first + row);
		}
	}
	hwy_peeks_free(&peeks);
	return ok;
}

static void add_edges(struct chain *chain, uint32_t id)
{
	const struct hwy_trace *trace = chain->view->trace;
	for (uint32_t e = 0; e < trace->n_edges; e++) {
		if (trace->edges[e].from == id)
			chain_add(chain, trace->edges[e].to);
		else if (trace->edges[e].to == id)
			chain_add(chain, trace->edges[e].from);
	}
}

static bool find_chain(struct chain *chain, uint32_t id, struct hwy_err *err)
{
	struct view_span span;
	int64_t link;
	uint32_t call = id;
	if (!detail_find_span(chain->view, id, &span, err))
		return false;
	struct hwy_trace *trace = chain->view->trace;
	const struct hwy_strip *strip = &trace->strips[span.strip];
	chain_add(chain, id);
	add_edges(chain, id);
	if (HWY_KIND_BIT(strip->kind) & HWY_DEVICE_KINDS) {
		if (!hwy_peek(trace, span.strip, HWY_LINK, span.row, &link, err))
			return false;
		return !hwy_ref_to_index(link, &call) || add_works(chain, call, NULL, err);
	}
	struct chain_stretch stretch = {trace->lanes[strip->lane].thread, span.start,
					span.start + span.dur};
	bool holds_calls =
		strip->kind == HWY_RANGE || strip->kind == HWY_OP || strip->kind == HWY_CALL;
	return (strip->kind != HWY_API && !holds_calls) ||
	       (holds_calls && stretch.thread == HWY_NONE) ||
	       add_works(chain, call, holds_calls ? &stretch : NULL, err);
}

bool span_chain_answer(struct view_trace *view, struct hwy_json *json, uint32_t id,
		       struct hwy_err *err)
{
	struct chain chain = {.view = view};
	if (!find_chain(&chain, id, err))
		return false;
	json_begin_object(json);
	json_key(json, "ids");
	json_begin_array(json);
	for (uint32_t i = 0; i < chain.n; i++)
		json_int(json, chain.v[i]);
	json_end_array(json);
	json_put_bool(json, "more", chain.is_cut);
	json_end_object(json);
	return true;
}
