/* SPDX-License-Identifier: Apache-2.0 */
/* interpreter.c - see interpreter.h. */
#include "diagnose/interpreter.h"

#include <stdlib.h>
#include <string.h>

/* For each thread of the trace whether it enqueues device work in the phase. */
static bool *launching_threads(const struct hwy_case *c)
{
	bool *launches = hwy_zalloc(c->trace->n_threads + 1u);
	for (uint32_t i = c->first_call; i < c->end_call; i++) {
		const struct flow_call *call = &c->flow->calls[i];
		if (case_call_is_ours(c, i) && call->op != FLOW_NONE &&
		    call->thread < c->trace->n_threads)
			launches[call->thread] = true;
	}
	return launches;
}

static int compare_spans(const void *left, const void *right)
{
	const struct claim_stretch *a = &((const struct interpreter_span *)left)->stretch,
				   *b = &((const struct interpreter_span *)right)->stretch;
	if (a->at.from != b->at.from)
		return a->at.from < b->at.from ? -1 : 1;
	return (a->span > b->span) - (a->span < b->span);
}

/* Adds the spans of a strip that overlap the window; 'name': only those with this text as their
 * name, -1: all. */
static void interpreter_add_strip(const struct hwy_case *c, struct interpreter_spans *spans,
				  const struct hwy_strip *strip, int64_t name, bool launches)
{
	for (uint32_t row = 0; row < strip->rows; row++) {
		struct hwy_interval at = {hwy_get(strip, HWY_START, row), hwy_end(strip, row)};
		int64_t text = hwy_get(strip, HWY_NAME, row);
		if (at.to <= c->phase->window.from || at.from >= c->phase->window.to ||
		    (name >= 0 && text != name))
			continue;
		HWY_GROW(spans->list, spans->n, spans->cap);
		spans->list[spans->n++] = (struct interpreter_span){
			.stretch = {at, strip->first + row},
			.thread = (uint32_t)c->trace->lanes[strip->lane].thread,
			.name = text,
			.launches = launches,
		};
	}
}

/* The process's spans of a kind, on lanes named by the text 'lane_name', with the text 'name' as
 * their name; -1: any. */
static struct interpreter_spans spans_of(const struct hwy_case *c, enum hwy_kind kind,
					 int64_t lane_name, int64_t name)
{
	struct interpreter_spans spans = {0};
	struct hwy_err err;
	if (!hwy_need(c->trace, HWY_KIND_BIT(kind),
		      HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_NAME), &err))
		return spans;
	bool *launches = launching_threads(c);
	for (uint32_t s = 0; s < c->trace->n_strips; s++) {
		const struct hwy_strip *strip = &c->trace->strips[s];
		const struct hwy_lane *lane = &c->trace->lanes[strip->lane];
		if (strip->kind == kind && lane->process == (int64_t)c->phase->process &&
		    lane->thread >= 0 && lane->thread < c->trace->n_threads &&
		    (lane_name < 0 || lane->name == lane_name))
			interpreter_add_strip(c, &spans, strip, name, launches[lane->thread]);
	}
	free(launches);
	if (spans.n)
		qsort(spans.list, spans.n, sizeof *spans.list, compare_spans);
	return spans;
}

/* The id of a text of the trace; -1: the trace has no such text, and so nothing that is named by
 * it. */
static int64_t text_of(const struct hwy_trace *trace, const char *text)
{
	for (uint32_t i = 1; i < trace->strings.n; i++)
		if (strcmp(trace->strings.texts[i].at, text) == 0)
			return i;
	return -1;
}

struct interpreter_spans interpreter_collections(const struct hwy_case *c)
{
	int64_t domain = text_of(c->trace, HWY_DOMAIN_PYTHON);
	return domain < 0 ? (struct interpreter_spans){0} : spans_of(c, HWY_RANGE, domain, -1);
}

struct interpreter_spans interpreter_lock_waits(const struct hwy_case *c)
{
	int64_t name = text_of(c->trace, HWY_GIL_NAME);
	return name < 0 ? (struct interpreter_spans){0} : spans_of(c, HWY_OS, -1, name);
}

void interpreter_free(struct interpreter_spans *spans)
{
	free(spans->list);
	*spans = (struct interpreter_spans){0};
}

int64_t interpreter_length(const struct hwy_case *c, const struct interpreter_span *span)
{
	struct hwy_interval at = span->stretch.at, window = c->phase->window;
	int64_t from = at.from > window.from ? at.from : window.from;
	int64_t to = at.to < window.to ? at.to : window.to;
	return to > from ? to - from : 0;
}

void interpreter_claim(struct hwy_case *c, struct claim *claim,
		       const struct interpreter_spans *spans, bool launches, unsigned causes)
{
	uint32_t n = 0;
	struct claim_stretch *stretches = hwy_array(spans->n, sizeof *stretches);
	for (uint32_t i = 0; i < spans->n; i++)
		if (spans->list[i].launches == launches)
			stretches[n++] = spans->list[i].stretch;
	claim_stretches(c, claim, stretches, n, causes);
	free(stretches);
}
