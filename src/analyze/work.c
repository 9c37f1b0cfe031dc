/* SPDX-License-Identifier: Apache-2.0 */
/* work.c - see work.h. */
#include "analyze/work.h"

#define TIMES (HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR))

struct corr_key { /* a launch whose call was not recorded */
	int64_t corr, process;
};

/* The flag of the launch that a span belongs to; NULL where the launch is no graph's, or nothing
 * identifies it. A graph span and the nodes of the same launch share the link to the call, or
 * else the correlation id. */
static const uint32_t *graph_flag(const struct hwy_work *work, const struct hwy_strip *strip,
				  uint32_t row)
{
	uint32_t call;
	if (hwy_get_index(strip, HWY_LINK, row, &call))
		return hwy_map_get(&work->graphs_by_call, call);
	struct corr_key key = {hwy_get(strip, HWY_CORR, row),
			       work->trace->lanes[strip->lane].process};
	return key.corr ? hwy_index_get(&work->graphs_by_corr, &key, sizeof key) : NULL;
}

static void set_graph_flag(struct hwy_work *work, const struct hwy_strip *strip, uint32_t row,
			   uint32_t flag)
{
	uint32_t call;
	struct corr_key key = {hwy_get(strip, HWY_CORR, row),
			       work->trace->lanes[strip->lane].process};
	if (hwy_get_index(strip, HWY_LINK, row, &call))
		*hwy_map_put(&work->graphs_by_call, call, NULL) = flag;
	else if (key.corr)
		*hwy_index_put(&work->graphs_by_corr, &key, sizeof key, NULL) = flag;
}

static bool find_graphs_with_nodes(struct hwy_work *work, struct hwy_err *err)
{
	struct hwy_trace *trace = work->trace;
	for (uint32_t s = 0; s < trace->n_strips; s++)
		for (uint32_t row = 0;
		     trace->strips[s].kind == HWY_GRAPH && row < trace->strips[s].rows; row++)
			set_graph_flag(work, &trace->strips[s], row, 0);
	if (work->graphs_by_call.count == 0 && work->graphs_by_corr.count == 0)
		return true;
	uint32_t kinds = HWY_DEVICE_KINDS & ~HWY_KIND_BIT(HWY_GRAPH);
	if (!hwy_need(trace, kinds, HWY_COL_BIT(HWY_CORR), err))
		return false;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (!(kinds & HWY_KIND_BIT(strip->kind)))
			continue;
		for (uint32_t row = 0; row < strip->rows; row++) {
			const uint32_t *flag = graph_flag(work, strip, row);
			if (flag && !*flag)
				set_graph_flag(work, strip, row, 1);
		}
	}
	return true;
}

bool work_open(struct hwy_work *work, struct hwy_trace *trace, struct hwy_scope scope,
	       struct hwy_err *err)
{
	*work = (struct hwy_work){
		.trace = trace,
		.scope = scope,
		.from = scope.from == HWY_NONE ? INT64_MIN : scope.from,
		.to = scope.to == HWY_NONE ? INT64_MAX : scope.to,
	};
	uint64_t columns = TIMES | HWY_COL_BIT(HWY_NAME);
	return hwy_need(trace, HWY_DEVICE_KINDS, columns | HWY_COL_BIT(HWY_LINK), err) &&
	       hwy_need(trace, HWY_KIND_BIT(HWY_GRAPH), HWY_COL_BIT(HWY_CORR), err) &&
	       hwy_need(trace, HWY_KIND_BIT(HWY_API), columns, err) &&
	       find_graphs_with_nodes(work, err);
}

void work_close(struct hwy_work *work)
{
	hwy_map_free(&work->graphs_by_call);
	hwy_index_free(&work->graphs_by_corr);
}

static bool lane_is_on(const struct hwy_work *work, uint32_t lane)
{
	const struct hwy_trace *trace = work->trace;
	if (work->scope.device == HWY_NONE)
		return true;
	int64_t device = trace->lanes[lane].device;
	return device >= 0 && device < trace->n_devices &&
	       trace->devices[device].ordinal == work->scope.device;
}

bool work_is_on(const struct hwy_work *work, const struct hwy_strip *strip)
{
	return (HWY_DEVICE_KINDS & HWY_KIND_BIT(strip->kind)) && strip->rows &&
	       lane_is_on(work, strip->lane);
}

bool work_is_own(const struct hwy_work *work, const struct hwy_strip *strip, uint32_t row)
{
	if (strip->kind != HWY_GRAPH)
		return true;
	const uint32_t *has_nodes = graph_flag(work, strip, row);
	return !has_nodes || !*has_nodes;
}

bool work_counts(const struct hwy_work *work, const struct hwy_strip *strip, uint32_t row,
		 int64_t start, int64_t end, struct hwy_interval *at)
{
	/* A span of length 0 on the edge of the window counts; a longer span that only touches
	 * the window does not. */
	if (start > work->to || end < work->from ||
	    (start != end && (start == work->to || end == work->from)))
		return false;
	if (!work_is_own(work, strip, row))
		return false;
	at->from = start > work->from ? start : work->from;
	at->to = end < work->to ? end : work->to;
	return true;
}

bool work_call(struct hwy_work *work, const struct hwy_strip *strip, uint32_t row,
	       struct hwy_call *call)
{
	const struct hwy_trace *trace = work->trace;
	if (!hwy_get_index(strip, HWY_LINK, row, &call->id) || call->id >= trace->n_spans)
		return false;
	const struct hwy_strip *last = work->call;
	if (last && call->id >= last->first && call->id - last->first < last->rows) {
		call->strip = last;
		call->row = call->id - last->first;
	} else {
		call->strip = hwy_strip_of(trace, call->id, &call->row);
		work->call = call->strip;
	}
	if (call->strip->kind != HWY_API)
		return false;
	call->at.from = hwy_get(call->strip, HWY_START, call->row);
	call->at.to = call->at.from + hwy_get(call->strip, HWY_DUR, call->row);
	call->role = HWY_ROLE_OF(hwy_role(work->trace, hwy_get(call->strip, HWY_NAME, call->row)));
	return true;
}
