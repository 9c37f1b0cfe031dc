/* SPDX-License-Identifier: Apache-2.0 */
/* waits.c - see waits.h.
 *
 * A synchronising call waits for the work that its process had launched before: on the stream
 * that the driver's record of the wait names, up to the event that the record names, else on all
 * streams. A copy waits for the work of its stream, and for itself. The calls are visited in
 * order of time, and two cursors follow along every stream: up to where work has been launched,
 * and up to where it has ended. Only streams with pending work are visited.
 */
#include "analyze/waits.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/lanes.h"
#include "analyze/nest.h"
#include "base/hash.h"
#include "base/heap.h"
#include "base/ref.h"
#include "base/search.h"

#define BIT(col) HWY_COL_BIT(HWY_##col)
enum { BLOCKING_STREAM = 1, NULL_STREAM = 3 }; /* flags of a stream, see model.h */

struct stream_cursor { /* one stream at the moment that the finder has reached */
	/* How many ops of the lane have been launched, and how many have ended. */
	uint32_t launched, ended;
	uint32_t latest; /* of the launched ops, the one that ends last; or FLOW_NONE */
	bool is_pending; /* the lane is in finder.pending */
};

struct finder {
	const struct hwy_flow *flow;
	const struct hwy_phase *phase;
	struct flow_lanes lanes;
	struct stream_cursor *streams; /* parallel to lanes */
	/* Lanes, ordered by the moment at which the lane's next op is launched. */
	struct hwy_heap coming;
	uint32_t *pending; /* lanes with work that was launched and has not ended */
	uint32_t n_pending;
	/* Maps the id of a call's span to the id of the driver's record of the call's wait. */
	struct hwy_map sync;
	/* Maps the id of a record of a wait for an event to a reference to the edge that leads
	 * to the record. */
	struct hwy_map edge;
	struct hwy_waits *waits;
	uint32_t cap;
};

/* ---- what the driver recorded ---------------------------------------------------------------- */

/* Fills finder.sync and finder.edge with the driver's records of waits that began between two
 * times. */
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
			int64_t type = hwy_get(strip, HWY_SYNC_TYPE, row);
			uint32_t call, id = strip->first + row;
			if (!hwy_get_index(strip, HWY_LINK, row, &call) || call >= trace->n_spans ||
			    type == HWY_SYNC_STREAM_WAIT)
				continue;
			*hwy_map_put(&f->sync, call, NULL) = id;
			if (type == HWY_SYNC_EVENT)
				hwy_map_put(&f->edge, id, NULL);
			events |= type == HWY_SYNC_EVENT;
		}
	}
	for (uint32_t i = 0; events && i < trace->n_edges; i++)
		if (trace->edges[i].kind == HWY_EDGE_EVENT &&
		    hwy_map_get(&f->edge, (uint64_t)trace->edges[i].to))
			*hwy_map_put(&f->edge, (uint64_t)trace->edges[i].to, NULL) = hwy_ref32(i);
}

struct target {          /* the work that a call waits for */
	int64_t process; /* index into the trace's processes */
	/* Index into the trace's streams; HWY_NONE stands for all streams of the process. */
	int64_t stream;
	bool is_legacy; /* 'stream' is the default stream, which waits for all blocking streams */
	int64_t before; /* the call waits only for work that was launched before this moment */
};

/* The moment at which the event of a wait was recorded, at most 'otherwise'; 'span' is the
 * driver's record of the wait. 'otherwise' where the recording does not tell. */
static int64_t event_recorded_at(const struct finder *f, uint64_t span, int64_t otherwise)
{
	const struct hwy_trace *trace = f->flow->trace;
	const uint32_t *edge = hwy_map_get(&f->edge, span);
	if (!edge || !hwy_ref32_is_set(*edge))
		return otherwise;
	int64_t from = trace->edges[hwy_ref32_index(*edge)].from;
	if (from < 0 || from >= trace->n_spans)
		return otherwise;
	uint32_t row, call;
	const struct hwy_strip *strip = hwy_strip_of(trace, (uint32_t)from, &row);
	/* The edge begins at the event's mark on the stream, which links to its call, or at the
	 * call itself. */
	if (strip->kind == HWY_EVENT && hwy_get_index(strip, HWY_LINK, row, &call) &&
	    call < trace->n_spans)
		strip = hwy_strip_of(trace, call, &row);
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
	const struct hwy_strip *strip = hwy_strip_of(trace, *sync, &row);
	uint32_t stream;
	int64_t type = hwy_get(strip, HWY_SYNC_TYPE, row);
	if (type != HWY_SYNC_CONTEXT && hwy_get_index(strip, HWY_WAITED, row, &stream) &&
	    stream < trace->n_streams)
		target.stream = stream;
	target.is_legacy =
		target.stream != HWY_NONE && trace->streams[target.stream].flags == NULL_STREAM;
	if (type == HWY_SYNC_EVENT)
		target.before = event_recorded_at(f, *sync, call->start);
	return target;
}

/* ---- what was pending ------------------------------------------------------------------------ */

static const struct flow_op *op_on(const struct finder *f, uint32_t lane, uint32_t i)
{
	return &f->flow->ops[f->flow->by_lane[f->lanes.lanes[lane].first + i]];
}

/* Yields the op that ends later of two ops; where both ops end at one time, the op of the first
 * lane. */
static uint32_t op_that_ends_later(const struct hwy_flow *flow, uint32_t a, uint32_t b)
{
	if (a == FLOW_NONE || b == FLOW_NONE)
		return a == FLOW_NONE ? b : a;
	const struct flow_op *x = &flow->ops[a], *y = &flow->ops[b];
	return y->end > x->end || (y->end == x->end && y->lane < x->lane) ? b : a;
}

static void ask_for_ops(struct finder *f, uint32_t l, int64_t moment)
{
	struct stream_cursor *stream = &f->streams[l];
	const struct flow_lane *lane = &f->lanes.lanes[l];
	for (; stream->launched < lane->n &&
	       lanes_launch_time(f->flow, op_on(f, l, stream->launched)) < moment;
	     stream->launched++)
		stream->latest = op_that_ends_later(
			f->flow, stream->latest, f->flow->by_lane[lane->first + stream->launched]);
	if (!stream->is_pending)
		f->pending[f->n_pending++] = l;
	stream->is_pending = true;
}

static void advance(struct finder *f, int64_t moment)
{
	uint32_t kept = 0;
	while (f->coming.n && f->coming.at[0].time < moment) {
		uint32_t l = f->coming.at[0].what;
		ask_for_ops(f, l, moment);
		if (f->streams[l].launched == f->lanes.lanes[l].n) {
			hwy_heap_drop(&f->coming);
			continue;
		}
		f->coming.at[0].time =
			lanes_launch_time(f->flow, op_on(f, l, f->streams[l].launched));
		hwy_heap_sink(&f->coming);
	}
	for (uint32_t i = 0; i < f->n_pending; i++) {
		struct stream_cursor *stream = &f->streams[f->pending[i]];
		while (stream->ended < stream->launched &&
		       op_on(f, f->pending[i], stream->ended)->end <= moment)
			stream->ended++;
		stream->is_pending = stream->ended < stream->launched;
		if (stream->is_pending)
			f->pending[kept++] = f->pending[i];
	}
	f->n_pending = kept;
}

/* Yields how many ops of a lane were launched before a moment that the cursor has passed. */
static uint32_t count_launched_before(const struct finder *f, uint32_t lane, int64_t moment)
{
	return HWY_FIRST(i, 0u, f->streams[lane].launched,
			 lanes_launch_time(f->flow, op_on(f, lane, i)) >= moment);
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

static void wait_for_lane(const struct finder *f, uint32_t l, const struct target *target,
			  int64_t now, struct hwy_wait *wait)
{
	const struct stream_cursor *stream = &f->streams[l];
	if (!is_waited_for(f, l, target))
		return;
	uint32_t latest = stream->latest;
	if (target->before < now) {
		uint32_t launched = count_launched_before(f, l, target->before);
		latest = launched ? f->flow->by_lane[f->lanes.lanes[l].first + launched - 1]
				  : FLOW_NONE;
	}
	if (latest != FLOW_NONE && f->flow->ops[latest].end > now)
		wait->op = op_that_ends_later(f->flow, wait->op, latest);
}

/* Sets wait->op to the last op that the call itself enqueued: there are several where the driver
 * cut a copy into pieces. */
static void wait_for_own_work(const struct finder *f, uint32_t call, struct hwy_wait *wait)
{
	const struct hwy_flow *flow = f->flow;
	uint32_t op = flow->calls[call].op;
	for (uint32_t i = op; op != FLOW_NONE && i < flow->n_ops && i < op + 64; i++) {
		if (flow->ops[i].start >= flow->calls[call].end)
			break;
		if (flow->ops[i].call == call)
			wait->op = op_that_ends_later(flow, wait->op, i);
	}
}

/* ---- one call -------------------------------------------------------------------------------- */

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

static void waits_add(struct finder *f, uint32_t index, uint32_t step)
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
		wait_for_lane(f, f->pending[i], &target, call->start, &wait);
	wait_for_own_work(f, index, &wait);
	if (wait.op != FLOW_NONE) {
		int64_t waited = f->flow->ops[wait.op].end - call->start;
		wait.waited = waited < 0 ? 0 : waited < wait.length ? waited : wait.length;
	}
	HWY_GROW(f->waits->waits, f->waits->n, f->cap);
	f->waits->waits[f->waits->n++] = wait;
}

/* ---- a phase --------------------------------------------------------------------------------- */

/* Sets [*first, *end) to the calls of the steady steps; where the phase has no steps, the calls
 * that begin in the phase's window. */
static void calls_of_phase(const struct hwy_flow *flow, const struct hwy_phase *phase,
			   uint32_t *first, uint32_t *end)
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

static void waits_find_all(struct finder *f, uint32_t first, uint32_t end)
{
	const struct hwy_flow *flow = f->flow;
	const struct hwy_phase *phase = f->phase;
	uint32_t step = phase->first_steady;
	for (uint32_t i = first; i < end; i++) {
		while (step + 1 < phase->n_steps && phase->steps[step + 1].first_call <= i)
			step++;
		if (flow->calls[i].blocks &&
		    (phase->n_steps == 0 || flow->calls[i].process == phase->process))
			waits_add(f, i, step);
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
	calls_of_phase(flow, phase, &first, &end);
	if (first >= end)
		return true;
	/* A wait of the phase can only wait for ops that begin before the phase's last wait
	 * ends. */
	int64_t from = flow->calls[first].start, to = flow->calls[end - 1].end;
	to = to > phase->window.to ? to : phase->window.to;
	lanes_open(&f.lanes, flow, LANES_ALL, flow_op_unfinished(flow, from), flow_op_at(flow, to));
	f.streams = hwy_zarray(f.lanes.n, sizeof *f.streams);
	f.pending = hwy_array(f.lanes.n, sizeof *f.pending);
	for (uint32_t l = 0; l < f.lanes.n; l++) {
		f.streams[l].latest = FLOW_NONE;
		hwy_heap_add(&f.coming, lanes_launch_time(flow, op_on(&f, l, 0)), l);
	}
	find_records(&f, from, to);
	waits_find_all(&f, first, end);
	lanes_close(&f.lanes);
	hwy_map_free(&f.sync);
	hwy_map_free(&f.edge);
	free(f.streams);
	free(f.pending);
	free(f.coming.at);
	return true;
}

void waits_free(struct hwy_waits *waits)
{
	free(waits->waits);
	*waits = (struct hwy_waits){0};
}
