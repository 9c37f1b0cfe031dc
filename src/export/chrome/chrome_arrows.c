/* SPDX-License-Identifier: Apache-2.0 */
/* chrome_arrows.c - the arrows between events: from calls to their work, from forward to
 * backward operators, and from rank to rank: a message from who sends it to who receives it, a
 * collective from the last rank that came to those that waited. */
#include "export/chrome/chrome.h"
#include "export/message_args.h"

static void put_arrow(struct chrome *c, const char *phase, const char *cat, int64_t id,
		      uint32_t lane, uint32_t nest_row, int64_t time)
{
	struct out *out = &c->out;
	chrome_next(c);
	out_literal(out, "{\"ph\": \"");
	out_z(out, phase);
	out_literal(out, "\", \"id\": ");
	out_int(out, id);
	chrome_spans_put_place(out, &c->lanes[lane], nest_row);
	out_literal(out, ", \"ts\": ");
	out_us(out, time + c->shift);
	out_literal(out, ", \"cat\": \"");
	out_z(out, cat);
	out_literal(out, "\", \"name\": \"");
	out_z(out, cat);
	if (*phase == 'f')
		out_literal(out, "\", \"bp\": \"e\"}");
	else
		out_literal(out, "\"}");
}

/* Writes the arrow from a call to its work. As in Kineto's files the arrow's id is the
 * correlation id. Several processes may use the same correlation ids: then the id is a reference
 * to the call. */
void chrome_arrows_put_launch(struct chrome *c, const struct hwy_strip *strip, uint32_t row,
			      uint32_t nest_row)
{
	const struct hwy_trace *trace = c->x.trace;
	uint32_t call_row, call_id;
	if (!hwy_get_index(strip, HWY_LINK, row, &call_id))
		return;
	const struct hwy_strip *call = hwy_strip_of(trace, call_id, &call_row);
	if (!export_keeps_strip(&c->x, call))
		return;
	int64_t correlation = export_peek(&c->x, call, HWY_CORR, call_row);
	int64_t id = c->many_processes || correlation <= 0 ? hwy_ref32(call_id) : correlation;
	if (!c->sources[call_id])
		put_arrow(c, "s", "ac2g", id, call->lane, 0,
			  export_peek(&c->x, call, HWY_START, call_row));
	c->sources[call_id] = 1;
	put_arrow(c, "f", "ac2g", id, strip->lane, nest_row, hwy_get(strip, HWY_START, row));
}

static void write_forward_arrows(struct chrome *c)
{
	struct hwy_trace *trace = c->x.trace;
	bool any = false;
	for (uint32_t i = 0; i < trace->n_edges && !any; i++)
		any = trace->edges[i].kind == HWY_EDGE_FORWARD;
	if (!any || c->x.failed || c->x.filtered || c->x.lanes ||
	    !(c->x.options->kinds & HWY_KIND_BIT(HWY_OP)))
		return;
	for (uint32_t i = 0; i < trace->n_edges; i++) {
		const struct hwy_edge *edge = &trace->edges[i];
		uint32_t from, to;
		if (edge->kind != HWY_EDGE_FORWARD)
			continue;
		const struct hwy_strip *a = hwy_strip_of(trace, (uint32_t)edge->from, &from);
		const struct hwy_strip *b = hwy_strip_of(trace, (uint32_t)edge->to, &to);
		if (a->kind != HWY_OP || b->kind != HWY_OP)
			continue;
		put_arrow(c, "s", "fwdbwd", edge->id, a->lane, 0,
			  export_peek(&c->x, a, HWY_START, from));
		put_arrow(c, "f", "fwdbwd", edge->id, b->lane, 0,
			  export_peek(&c->x, b, HWY_START, to));
	}
}

static void write_rank_arrows(struct chrome *c)
{
	struct hwy_trace *trace = c->x.trace;
	for (uint32_t i = 0; i < trace->n_edges && !c->x.failed; i++) {
		const struct hwy_edge *edge = &trace->edges[i];
		bool is_message = edge->kind == HWY_EDGE_MESSAGE;
		uint32_t from, to;
		if (!is_message && edge->kind != HWY_EDGE_COLLECTIVE)
			continue;
		const struct hwy_strip *a = hwy_strip_of(trace, (uint32_t)edge->from, &from);
		const struct hwy_strip *b = hwy_strip_of(trace, (uint32_t)edge->to, &to);
		int64_t begin = export_peek(&c->x, a, HWY_START, from);
		int64_t start = export_peek(&c->x, b, HWY_START, to);
		int64_t end = export_add(start, export_peek(&c->x, b, HWY_DUR, to));
		const char *cat = is_message ? "message" : "collective";
		/* Ids of arrows of one category are its own: the number of the edge. */
		put_arrow(c, "s", cat, (int64_t)i + 1, a->lane, 0, begin);
		put_arrow(c, "f", cat, (int64_t)i + 1, b->lane, 0,
			  export_arrow_end(begin, start, end));
	}
}

void chrome_arrows_write(struct chrome *c)
{
	write_forward_arrows(c);
	if (!c->x.failed && !export_is_cut(&c->x))
		write_rank_arrows(c);
}
