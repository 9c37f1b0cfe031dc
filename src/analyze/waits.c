/* calls.c - see calls.h.
 *
 * A synchronising call waits for what its process had asked for before: on the stream that the driver's record
 * names, up to the record of the event that it names, else on all streams. A copy waits for what its stream
 * held, and for itself. The calls are looked at in order of time, and for every stream two cursors follow:
 * what has been asked for, and what has ended. Only streams that have something pending are looked at.
 */
#include "analyze/waits.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/lanes.h"
#include "analyze/nest.h"
#include "base/hash.h"
#include "base/heap.h"

#define BIT(col) HWY_COL_BIT(HWY_##col)
enum { BLOCKING_STREAM = 1, NULL_STREAM = 3 }; /* flags of a stream, see model.h */

struct asked {                 /* of one stream, at the moment that is being looked at */
	uint32_t asked, ended; /* ops of the lane before these have been */
	uint32_t latest;       /* op: of those asked for, the one that ends last; FLOW_NONE */
	bool is_pending;       /* stands in finder.pending */
};

struct finder {
	const struct hwy_flow *flow;
	const struct hwy_phase *phase;
	struct flow_lanes lanes;
	struct asked *at;       /* parallel to lanes */
	struct hwy_heap coming; /* lanes, by when their next op is asked for */
	uint32_t *pending;      /* lanes with work that was asked for and has not ended */
	uint32_t n_pending;
	struct hwy_map
		sync; /* id of a call's span -> of the driver's record of its wait, plus one */
	struct hwy_map edge; /* id of such a record -> index of the edge to it, plus one */
	struct hwy_waits *waits;
	uint32_t cap;
};

/* ---- what the driver recorded -------------------------------------------------------------------- */

/* Of the waits that began in a stretch of time. */
static void find_records(struct finder *f, int64_t from, int64_t to)
{
	const struct hwy_trace *trace = f->flow->trace;
	bool events = false;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (strip->kind != HWY_SYNC)
			continue;
		uint32_t row = nest_at(&(struct hwy_nest){.strip = strip}, from);
		for (; row < strip->rows && hwy_get(strip, HWY_START, row) < to; row++) {
			int64_t link = hwy_get(strip, HWY_LINK, row);
			int64_t type = hwy_get(strip, HWY_SYNC_TYPE, row);
			if (link <= 0 || link > trace->n_spans || type == HWY_SYNC_STREAM_WAIT)
				continue;
			uint32_t id = strip->first + row;
			*hwy_map_put(&f->sync, (uint64_t)link - 1, NULL) = id + 1;
			if (type == HWY_SYNC_EVENT)
				hwy_map_put(&f->edge, id, NULL);
			events |= type == HWY_SYNC_EVENT;
		}
	}
	for (uint32_t i = 0; events && i < trace->n_edges; i++)
		if (trace->edges[i].kind == HWY_EDGE_EVENT &&
		    hwy_map_get(&f->edge, (uint64_t)trace->edges[i].to))
			*hwy_map_put(&f->edge, (uint64_t)trace->edges[i].to, NULL) = i + 1;
}

struct target {
	int64_t process; /* index */
	int64_t stream;  /* index, or HWY_NONE: all of the process */
	bool is_legacy;  /* the stream that all blocking streams wait for, and it for them */
	int64_t before;  /* what was asked for before this moment */
};

/* The moment at which the event of a wait was recorded, where that is known. */
static int64_t recorded_at(const struct finder *f, uint64_t span, int64_t otherwise)
{
	const struct hwy_trace *trace = f->flow->trace;
	const uint32_t *edge = hwy_map_get(&f->edge, span);
	if (!edge || !*edge || trace->edges[*edge - 1].from < 0 ||
	    trace->edges[*edge - 1].from >= trace->n_spans)
		return otherwise;
	uint32_t row;
	const struct hwy_strip *strip =
		hwy_strip_of(trace, (uint32_t)trace->edges[*edge - 1].from, &row);
	/* The record as a mark on the stream, or the call that asked for it. */
	int64_t link = strip->kind == HWY_EVENT ? hwy_get(strip, HWY_LINK, row) : 0;
	if (link > 0 && link <= trace->n_spans)
		strip = hwy_strip_of(trace, (uint32_t)(link - 1), &row);
	if (strip->kind != HWY_API)
		return otherwise;
	int64_t at = hwy_get(strip, HWY_START, row);
	return at < otherwise ? at : otherwise;
}

static struct target target_of(const struct finder *f, const struct flow_call *call)
{
	const struct hwy_trace *trace = f->flow->trace;
	struct target target = {call->process, HWY_NONE, false, call->start};
	if (call->op != FLOW_NONE) {
		target.stream = trace->lanes[f->flow->ops[call->op].lane].stream;
		return target;
	}
	const uint32_t *sync = hwy_map_get(&f->sync, call->span);
	if (!sync)
		return target;
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(trace, *sync - 1, &row);
	int64_t waited = hwy_get(strip, HWY_WAITED, row);
	int64_t type = hwy_get(strip, HWY_SYNC_TYPE, row);
	if (waited > 0 && waited <= trace->n_streams && type != HWY_SYNC_CONTEXT)
		target.stream = waited - 1;
	target.is_legacy =
		target.stream != HWY_NONE && trace->streams[target.stream].flags == NULL_STREAM;
	if (type == HWY_SYNC_EVENT)
		target.before = recorded_at(f, *sync - 1, call->start);
	return target;
}

/* ---- what was pending ---------------------------------------------------------------------------- */

static const struct flow_op *op_on(const struct finder *f, uint32_t lane, uint32_t i)
{
	return &f->flow->ops[f->flow->by_lane[f->lanes.lanes[lane].first + i]];
}

/* Of two, the one that ends later; of lanes, the first. */
static uint32_t calls_later(const struct hwy_flow *flow, uint32_t a, uint32_t b)
{
	if (a == FLOW_NONE || b == FLOW_NONE)
		return a == FLOW_NONE ? b : a;
	const struct flow_op *x = &flow->ops[a], *y = &flow->ops[b];
	return y->end > x->end || (y->end == x->end && y->lane < x->lane) ? b : a;
}

static void ask(struct finder *f, uint32_t l, int64_t moment)
{
	struct asked *at = &f->at[l];
	const struct flow_lane *lane = &f->lanes.lanes[l];
	for (; at->asked < lane->n && lanes_asked(f->flow, op_on(f, l, at->asked)) < moment;
	     at->asked++)
		at->latest =
			calls_later(f->flow, at->latest, f->flow->by_lane[lane->first + at->asked]);
	if (!at->is_pending)
		f->pending[f->n_pending++] = l;
	at->is_pending = true;
}

static void advance(struct finder *f, int64_t moment)
{
	uint32_t kept = 0;
	while (f->coming.n && f->coming.at[0].time < moment) {
		uint32_t l = f->coming.at[0].what;
		ask(f, l, moment);
		if (f->at[l].asked == f->lanes.lanes[l].n) {
			hwy_heap_drop(&f->coming);
			continue;
		}
		f->coming.at[0].time = lanes_asked(f->flow, op_on(f, l, f->at[l].asked));
		hwy_heap_sink(&f->coming);
	}
	for (uint32_t i = 0; i < f->n_pending; i++) {
		struct asked *at = &f->at[f->pending[i]];
		while (at->ended < at->asked && op_on(f, f->pending[i], at->ended)->end <= moment)
			at->ended++;
		at->is_pending = at->ended < at->asked;
		if (at->is_pending)
			f->pending[kept++] = f->pending[i];
	}
	f->n_pending = kept;
}

/* Of the ops of a lane that were asked for: how many before a moment. */
static uint32_t asked_before(const struct finder *f, uint32_t lane, int64_t moment)
{
	uint32_t low = 0, high = f->at[lane].asked;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (lanes_asked(f->flow, op_on(f, lane, middle)) < moment)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_waited_for(const struct finder *f, uint32_t l, const struct target *target)
{
	const struct hwy_trace *trace = f->flow->trace;
	const struct hwy_lane *lane = &trace->lanes[f->lanes.lanes[l].lane];
	if (lane->process != target->process)
		return false;
	if (target->stream == HWY_NONE || lane->stream == target->stream)
		return true;
	return target->is_legacy && lane->stream >= 0 && lane->stream < trace->n_streams &&
	       trace->streams[lane->stream].flags == BLOCKING_STREAM;
}

static void look_at_lane(const struct finder *f, uint32_t l, const struct target *target,
			 int64_t now, struct hwy_wait *wait)
{
	const struct asked *at = &f->at[l];
	if (!is_waited_for(f, l, target))
		return;
	uint32_t asked = at->asked, latest = at->latest;
	if (target->before < now) {
		asked = asked_before(f, l, target->before);
		latest = asked ? f->flow->by_lane[f->lanes.lanes[l].first + asked - 1] : FLOW_NONE;
	}
	if (latest != FLOW_NONE && f->flow->ops[latest].end > now)
		wait->op = calls_later(f->flow, wait->op, latest);
}

/* The work that the call itself enqueued; a copy may be cut into several. */
static void look_at_own(const struct finder *f, uint32_t call, struct hwy_wait *wait)
{
	const struct hwy_flow *flow = f->flow;
	uint32_t op = flow->calls[call].op;
	for (uint32_t i = op; op != FLOW_NONE && i < flow->n_ops && i < op + 64; i++) {
		if (flow->ops[i].start >= flow->calls[call].end)
			break;
		if (flow->ops[i].call == call)
			wait->op = calls_later(flow, wait->op, i);
	}
}

/* ---- one call ------------------------------------------------------------------------------------ */

static bool is_pageable(const struct hwy_flow *flow, const struct flow_call *call)
{
	uint32_t row;
	if (call->op == FLOW_NONE || flow->ops[call->op].kind != HWY_COPY)
		return false;
	const struct hwy_strip *strip = hwy_strip_of(flow->trace, call->span, &row);
	if (!strstr(hwy_str(flow->trace, hwy_get(strip, HWY_NAME, row)), "Async"))
		return false;
	strip = hwy_strip_of(flow->trace, flow->ops[call->op].span, &row);
	return hwy_copies_pageable(strip, row);
}

static void calls_add_wait(struct finder *f, uint32_t index, uint32_t step)
{
	const struct flow_call *call = &f->flow->calls[index];
	struct hwy_wait wait = {
		.call = index,
		.op = FLOW_NONE,
		.length = call->end - call->start,
		.step = step,
		.is_copy = call->role == HWY_ROLE_COPY || call->role == HWY_ROLE_FILL,
		.is_pageable = is_pageable(f->flow, call),
	};
	struct target target = target_of(f, call);
	advance(f, call->start);
	for (uint32_t i = 0; i < f->n_pending; i++)
		look_at_lane(f, f->pending[i], &target, call->start, &wait);
	look_at_own(f, index, &wait);
	if (wait.op != FLOW_NONE) {
		int64_t waited = f->flow->ops[wait.op].end - call->start;
		wait.waited = waited < 0 ? 0 : waited < wait.length ? waited : wait.length;
	}
	HWY_GROW(f->waits->waits, f->waits->n, f->cap);
	f->waits->waits[f->waits->n++] = wait;
}

/* ---- a phase ------------------------------------------------------------------------------------- */

/* The calls of the steady steps; a phase without steps has those that begin in its window. */
static void calls_of(const struct hwy_flow *flow, const struct hwy_phase *phase, uint32_t *first,
		     uint32_t *end)
{
	*first = flow_call_at(flow, phase->window.from);
	*end = flow_call_at(flow, phase->window.to);
	if (phase->n_steps == 0 || phase->n_steady == 0)
		return;
	const struct phase_step *last = &phase->steps[phase->first_steady + phase->n_steady - 1];
	*first = phase->steps[phase->first_steady].first_call;
	*end = last->first_call + last->n_calls;
	*end = *end < flow->n_calls ? *end : flow->n_calls;
}

static void calls_find_all(struct finder *f, uint32_t first, uint32_t end)
{
	const struct hwy_flow *flow = f->flow;
	const struct hwy_phase *phase = f->phase;
	uint32_t step = phase->first_steady;
	for (uint32_t i = first; i < end; i++) {
		while (step + 1 < phase->n_steps && phase->steps[step + 1].first_call <= i)
			step++;
		if (flow->calls[i].blocks &&
		    (phase->n_steps == 0 || flow->calls[i].process == phase->process))
			calls_add_wait(f, i, step);
	}
}

bool waits_find(const struct hwy_flow *flow, const struct hwy_phase *phase, struct hwy_waits *waits,
		struct hwy_err *err)
{
	struct finder f = {.flow = flow, .phase = phase, .waits = waits};
	*waits = (struct hwy_waits){0};
	if (!hwy_need(flow->trace, HWY_KIND_BIT(HWY_SYNC),
		      BIT(START) | BIT(LINK) | BIT(SYNC_TYPE) | BIT(WAITED), err) ||
	    !hwy_need(flow->trace, HWY_KIND_BIT(HWY_EVENT), BIT(LINK), err))
		return false;
	uint32_t first, end;
	calls_of(flow, phase, &first, &end);
	if (first >= end)
		return true;
	/* Whatever a wait waits for begins before it ends, and it ends with the phase. */
	int64_t from = flow->calls[first].start, to = flow->calls[end - 1].end;
	to = to > phase->window.to ? to : phase->window.to;
	lanes_open(&f.lanes, flow, LANES_ALL, flow_op_unfinished(flow, from), flow_op_at(flow, to));
	f.at = hwy_zalloc(((size_t)f.lanes.n + 1) * sizeof *f.at);
	f.pending = hwy_alloc(((size_t)f.lanes.n + 1) * sizeof *f.pending);
	for (uint32_t l = 0; l < f.lanes.n; l++) {
		f.at[l].latest = FLOW_NONE;
		hwy_heap_add(&f.coming, lanes_asked(flow, op_on(&f, l, 0)), l);
	}
	find_records(&f, from, to);
	calls_find_all(&f, first, end);
	lanes_close(&f.lanes);
	hwy_map_free(&f.sync);
	hwy_map_free(&f.edge);
	free(f.at);
	free(f.pending);
	free(f.coming.at);
	return true;
}

void waits_free(struct hwy_waits *waits)
{
	free(waits->waits);
	*waits = (struct hwy_waits){0};
}
