/* SPDX-License-Identifier: Apache-2.0 */
/* span_edges.c - how a span is related to other spans: by recorded relations (forward and
 * backward, who woke whom, events, messages), and by the work that was ahead of it on its device
 * when it was launched. */
#include "serve/answers.h"
#include "serve/device_lead.h"

enum {
	SHOWN_EDGES = 32,
	EDGES_AT_ONCE = 1 << 16, /* edges that are looked at between two pauses */
};

bool span_edges_put(struct view_trace *view, struct hwy_json *json, uint32_t id,
		    struct hwy_err *err)
{
	const struct hwy_trace *trace = view->trace;
	uint32_t n = 0;
	bool ok = true;
	json_key(json, "edges");
	json_begin_array(json);
	for (uint32_t e = 0; ok && e < trace->n_edges && n < SHOWN_EDGES; e++) {
		const struct hwy_edge *edge = &trace->edges[e];
		if (e % EDGES_AT_ONCE == 0 && !view_pause(view, err))
			return false;
		if ((edge->from != id && edge->to != id) || edge->from == edge->to)
			continue;
		int64_t other = edge->from == id ? edge->to : edge->from;
		if (edge->kind < 0 || edge->kind >= HWY_EDGE_KINDS || other < 0 ||
		    other >= trace->n_spans)
			continue;
		n++;
		json_begin_object(json);
		json_put_text(json, "kind", hwy_edge_kind_names[edge->kind]);
		json_put_bool(json, "leaves", edge->from == id);
		json_key(json, "span");
		ok = detail_put_span(view, json, (uint32_t)other, err);
		json_end_object(json);
	}
	json_end_array(json);
	return ok;
}

bool span_edges_put_headway(struct view_trace *view, struct hwy_json *json,
			    const struct view_span *span, const struct view_span *call,
			    struct hwy_err *err)
{
	const struct hwy_strip *strip = &view->trace->strips[span->strip];
	int64_t device = view->trace->lanes[strip->lane].device;
	struct device_lead lead;
	json_key(json, "headway");
	if (!call || device == HWY_NONE || !(HWY_KIND_BIT(strip->kind) & HWY_DEVICE_KINDS)) {
		json_null(json);
		return true;
	}
	if (!device_lead_at(view, (uint32_t)device, call->start, &lead, err))
		return false;
	json_begin_object(json);
	json_put_int(json, "count", lead.count);
	json_put_int(json, "work", lead.work);
	json_end_object(json);
	return true;
}
