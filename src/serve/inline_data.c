/* SPDX-License-Identifier: Apache-2.0 */
/* inline_data.c - what the self-contained page holds about spans beside tiles: links, stacks and
 * columns.
 *
 * When a span is clicked, the page makes of these what detail_answer_span would answer
 * (web/src/data/inline_index.ts).
 */
#include "analyze/place.h"
#include "serve/answers.h"
#include "serve/span_facts.h"

/* Links are written as differences to the row before: calls and their work are mostly in the
 * same order, so the differences are small and compress well. */
bool inline_data_put_links(struct view_trace *view, struct hwy_json *json, struct hwy_err *err)
{
	struct hwy_trace *trace = view->trace;
	if (!hwy_need(trace, UINT32_MAX, HWY_COL_BIT(HWY_LINK), err))
		return false;
	json_begin_array(json);
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (!strip->columns[HWY_LINK])
			continue;
		int64_t before = 0;
		json_begin_array(json);
		json_int(json, strip->first);
		for (uint32_t row = 0; row < strip->rows; row++) {
			int64_t link = hwy_get(strip, HWY_LINK, row);
			json_int(json, link - before);
			before = link;
		}
		json_end_array(json);
	}
	json_end_array(json);
	return true;
}

static void put_frames(const struct hwy_trace *trace, struct hwy_json *json)
{
	json_key(json, "frames");
	json_begin_array(json);
	for (uint32_t f = 0; f < trace->n_frames; f++) {
		const struct hwy_frame *frame = &trace->frames[f];
		json_begin_array(json);
		span_names_put(json, hwy_text(trace, frame->function));
		span_names_put(json, hwy_text(trace, frame->file));
		json_int(json, frame->line > 0 ? frame->line : 0);
		span_names_put(json, hwy_text(trace, frame->module));
		json_end_array(json);
	}
	json_end_array(json);
}

void inline_data_put_stacks(const struct view_trace *view, struct hwy_json *json)
{
	const struct hwy_trace *trace = view->trace;
	json_begin_object(json);
	put_frames(trace, json);
	json_key(json, "stacks");
	json_begin_array(json);
	for (uint32_t s = 0; s < trace->n_stacks; s++) {
		const struct hwy_frame *place = place_frame(trace, hwy_ref(s));
		json_begin_array(json);
		json_int(json, trace->stacks[s].frame);
		json_int(json, trace->stacks[s].parent);
		json_int(json, place ? hwy_ref(place - trace->frames) : HWY_REF_NONE);
		json_end_array(json);
	}
	json_end_array(json);
	json_end_object(json);
}

/* The place that a query with "line:" and the table name, where there is one. */
static bool put_called_from(struct view_trace *view, struct hwy_json *json,
			    const struct hwy_strip *strip, uint32_t row, struct hwy_err *err)
{
	struct span_facts *facts = span_facts_of(view);
	uint32_t number;
	if (!span_facts_line(facts, strip, row, &number, err))
		return false;
	if (number == 0)
		return true;
	const struct span_line *line = &facts->lines[number];
	json_key(json, "line");
	json_begin_array(json);
	span_names_put(json, facts->texts.texts[line->file]);
	json_int(json, line->line);
	span_names_put(json, facts->texts.texts[line->function]);
	json_end_array(json);
	return true;
}

bool inline_data_put_rows(struct view_trace *view, struct hwy_json *json, uint32_t number,
			  uint32_t row, uint32_t n, struct hwy_err *err)
{
	const struct hwy_strip *strip = &view->trace->strips[number];
	if (!hwy_need_strip(view->trace, number, ~UINT64_C(0), err))
		return false;
	bool ok = true;
	json_begin_object(json);
	json_put_text(json, "kind", hwy_kind_names[strip->kind]);
	json_key(json, "rows");
	json_begin_array(json);
	for (uint32_t end = row + n; ok && row < end; row++) {
		json_begin_object(json);
		int64_t stack = hwy_get(strip, HWY_STACK, row);
		if (hwy_ref_is_set(stack))
			json_put_int(json, "stack", stack);
		ok = put_called_from(view, json, strip, row, err) &&
		     detail_put_fields(view, json, number, row, err);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
	return ok;
}
