/* flow.c - see flow.h.
 *
 * Two merges, one over the calls' lanes and one over the streams', each a single pass; then every op
 * finds its call through one array by span id. What is not kept (nested calls, calls without a role)
 * costs no memory: the arrays are reserved for the most there can be, and only what is written counts.
 *
 * Made inside another call and still kept: allocation and module loading inside a call that enqueues work
 * (lazy loading is why such a launch takes milliseconds), and everything inside a communication library's
 * call (which is not a call into the vendor's runtime). Kept without a role: a call that enqueued work; it
 * gets the role of that work.
 *
 * Blocking, where the name does not promise it:
 * - a copy from or to pageable memory, or memory of unknown kind, whose work began inside the call and was
 *   all but over (7/8; the last chunk of a staged copy is still on its way) when it returned. A copy to the
 *   device that took less than 10 us proves nothing: it is staged, and may be done by chance;
 * - any call that returned after work of at least 10 us that it enqueued (CUDA_LAUNCH_BLOCKING=1);
 * - a call to which the driver recorded a wait.
 */
#include "analyze/flow.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/sweep.h"
#include "analyze/work.h"

#define BIT(col) HWY_COL_BIT(HWY_##col)
#define LONG_WORK 10000 /* ns */
#define LATENCY 3000    /* ns; where nothing tells */

enum { CELL = 32 /* ns */, CELLS = 2048, LEAST = 32 /* launches that tell */ };

struct opening {
	struct hwy_flow *flow;
	struct hwy_trace *trace;
	struct hwy_work work;
	uint8_t *enqueues; /* a bit for each span: some work is linked to it */
	uint32_t *call_of; /* by span id, the call it is or lies in, plus one */
	/* by index into trace.devices (the last: not known): index into flow.devices, plus one */
	uint16_t *devices;
	int64_t *reach, latest; /* by device of the flow, and of all: the latest end so far */
	uint32_t delays[CELLS]; /* from calls that found the device idle to their kernels */
	uint32_t n_delays;
};

/* ---- calls ----------------------------------------------------------------------------------- */

static bool is_set(const uint8_t *bits, uint32_t id)
{
	return bits[id >> 3] >> (id & 7) & 1;
}

static void find_enqueuing(struct opening *opening)
{
	const struct hwy_trace *trace = opening->trace;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (!work_is_on(&opening->work, strip) || !strip->columns[HWY_LINK])
			continue;
		struct hwy_reader links = column_reader(strip->columns[HWY_LINK]);
		for (uint32_t row = 0; row < strip->rows; row++) {
			int64_t link = reader_get(&links, row);
			if (link > 0 && link <= trace->n_spans)
				opening->enqueues[(link - 1) >> 3] |=
					(uint8_t)(1 << ((link - 1) & 7));
		}
	}
}

static bool role_enqueues(unsigned role)
{
	return role == HWY_ROLE_LAUNCH || role == HWY_ROLE_COPY || role == HWY_ROLE_FILL ||
	       role == HWY_ROLE_GRAPH_LAUNCH;
}

static bool role_prepares(unsigned role)
{
	return role == HWY_ROLE_ALLOC || role == HWY_ROLE_PIN || role == HWY_ROLE_MODULE;
}

struct outer { /* the last call of a strip that was not made inside another */
	int64_t end;
	uint32_t call; /* plus one; 0: none yet */
	unsigned role;
};

/* Whether a call that lies in 'outer' is a call of its own. */
static bool says_something_new(const struct outer *outer, unsigned role)
{
	return role_prepares(role) && role_enqueues(outer->role);
}

static struct flow_call make_call(const struct hwy_trace *trace, const struct hwy_sweep *sweep,
				  unsigned role)
{
	const struct hwy_lane *lane = &trace->lanes[sweep->strip->lane];
	bool has_process = lane->process >= 0 && lane->process < FLOW_NO_PROCESS;
	return (struct flow_call){
		.start = sweep->start,
		.end = sweep->end,
		.span = sweep->strip->first + sweep->row,
		.thread = lane->thread >= 0 ? (uint32_t)lane->thread : FLOW_NONE,
		.op = FLOW_NONE,
		.process = has_process ? (uint16_t)lane->process : FLOW_NO_PROCESS,
		.role = (uint8_t)HWY_ROLE_OF(role),
		.blocks = (role & HWY_ROLE_BLOCKS) != 0,
	};
}

static void add_length(struct hwy_flow *flow, int64_t length)
{
	if (__builtin_add_overflow(flow->length, (uint64_t)length, &flow->length))
		flow->length = UINT64_MAX;
}

static void flow_add_call(struct opening *opening, const struct hwy_sweep *sweep,
			  struct outer *outer)
{
	struct hwy_flow *flow = opening->flow;
	uint32_t id = sweep->strip->first + sweep->row;
	unsigned role = hwy_role(opening->trace, hwy_get(sweep->strip, HWY_NAME, sweep->row));
	bool inside = outer->call && sweep->end <= outer->end && sweep->start < outer->end;
	if (inside && !says_something_new(outer, HWY_ROLE_OF(role))) {
		opening->call_of[id] = outer->call;
		return;
	}
	if (HWY_ROLE_OF(role) == HWY_ROLE_OTHER && !is_set(opening->enqueues, id))
		return;
	flow->calls[flow->n_calls++] = make_call(opening->trace, sweep, role);
	flow->is_mixed |= flow->calls[flow->n_calls - 1].process != flow->calls[0].process;
	add_length(flow, sweep->end - sweep->start);
	opening->call_of[id] = flow->n_calls;
	if (!inside && HWY_ROLE_OF(role) != HWY_ROLE_COMM)
		*outer = (struct outer){sweep->end, flow->n_calls, HWY_ROLE_OF(role)};
}

static void put_calls_in_order(struct opening *opening)
{
	const struct hwy_trace *trace = opening->trace;
	struct hwy_flow *flow = opening->flow;
	struct outer *outers = hwy_zalloc((trace->n_strips + 1) * sizeof *outers);
	struct hwy_sweep sweep = {0};
	size_t most = 0;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		if (trace->strips[s].kind != HWY_API)
			continue;
		sweep_add(&sweep, &trace->strips[s], s);
		most += trace->strips[s].rows;
	}
	flow->calls = hwy_alloc((most + 1) * sizeof *flow->calls);
	while (sweep_next(&sweep))
		flow_add_call(opening, &sweep, &outers[sweep.tag]);
	flow->calls = hwy_realloc(flow->calls, (flow->n_calls + 1) * sizeof *flow->calls);
	sweep_free(&sweep);
	free(outers);
}

/* ---- what blocks ----------------------------------------------------------------------------- */

static bool is_host(int64_t memory)
{
	return memory != HWY_MEM_DEVICE && memory != HWY_MEM_ARRAY &&
	       memory != HWY_MEM_DEVICE_STATIC;
}

struct copy_kind {
	bool to_device;
	bool may_block; /* host memory that is not known to be pinned takes part */
};

static struct copy_kind kind_of_copy(const struct hwy_trace *trace, const struct flow_op *op)
{
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(trace, op->span, &row);
	int64_t from = hwy_get(strip, HWY_SRC_MEMORY, row);
	int64_t to = hwy_get(strip, HWY_DST_MEMORY, row);
	int64_t direction = hwy_get(strip, HWY_DIRECTION, row);
	if (direction == HWY_D2D || direction == HWY_P2P)
		return (struct copy_kind){false, false};
	bool to_device = direction == HWY_H2D || direction == HWY_H2A;
	bool is_from = from == HWY_MEM_PINNED || !is_host(from);
	bool is_to = to == HWY_MEM_PINNED || !is_host(to);
	return (struct copy_kind){to_device, !(is_from && is_to)};
}

static bool returned_after(const struct hwy_trace *trace, const struct flow_call *call,
			   const struct flow_op *op)
{
	int64_t length = op->end - op->start;
	if (length >= LONG_WORK && call->end >= op->end)
		return true;
	if (op->kind != HWY_COPY || op->start >= call->end || op->end - call->end > length / 8)
		return false;
	struct copy_kind kind = kind_of_copy(trace, op);
	return kind.may_block && (!kind.to_device || length >= LONG_WORK);
}

static bool blocks_by_contract(const struct opening *opening, const struct flow_call *call)
{
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(opening->trace, call->span, &row);
	return hwy_role(opening->trace, hwy_get(strip, HWY_NAME, row)) & HWY_ROLE_BLOCKS;
}

static enum hwy_role role_of_work(const struct flow_op *op)
{
	switch (op->kind) {
	case HWY_COPY: return HWY_ROLE_COPY;
	case HWY_FILL: return HWY_ROLE_FILL;
	case HWY_GRAPH: return HWY_ROLE_GRAPH_LAUNCH;
	default: return HWY_ROLE_LAUNCH;
	}
}

/* What an op tells about the call that enqueued it; those before it have been looked at. */
static void flow_look_at_work(const struct opening *opening, uint32_t index, struct flow_call *call)
{
	const struct flow_op *op = &opening->flow->ops[index];
	if (call->role == HWY_ROLE_OTHER)
		call->role = (uint8_t)role_of_work(op);
	if (call->op == index)
		call->blocks |= returned_after(opening->trace, call, op);
	else if (call->blocks && op->end > call->end && !returned_after(opening->trace, call, op))
		call->blocks = blocks_by_contract(opening, call);
}

/* What the driver recorded as a wait of a call. */
static void look_at_waits(struct opening *opening)
{
	const struct hwy_trace *trace = opening->trace;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		for (uint32_t row = 0; strip->kind == HWY_SYNC && row < strip->rows; row++) {
			int64_t link = hwy_get(strip, HWY_LINK, row);
			int64_t type = hwy_get(strip, HWY_SYNC_TYPE, row);
			if (link <= 0 || link > trace->n_spans || !opening->call_of[link - 1] ||
			    type == HWY_SYNC_STREAM_WAIT || type == HWY_SYNC_UNKNOWN)
				continue;
			struct flow_call *call =
				&opening->flow->calls[opening->call_of[link - 1] - 1];
			call->blocks |=
				call->role != HWY_ROLE_QUERY && call->role != HWY_ROLE_STREAM_WAIT;
		}
	}
}

/* ---- the launch latency ---------------------------------------------------------------------- */

/* The delay of a kernel whose launch found the device idle tells; the op is the latest of its device. */
static void note_delay(struct opening *opening, const struct flow_op *op,
		       const struct flow_call *call)
{
	if (op->kind != HWY_KERNEL || opening->reach[op->device] >= call->start)
		return;
	int64_t delay = op->start - call->end;
	delay = delay < 0 ? 0 : delay / CELL;
	opening->delays[delay < CELLS ? delay : CELLS - 1]++;
	opening->n_delays++;
}

/* The lower quartile of the delays. */
static int64_t latency_seen(const struct opening *opening)
{
	uint32_t at = 0, below = opening->delays[0];
	while (at + 1 < CELLS && below < opening->n_delays / 4)
		below += opening->delays[++at];
	/* Work that began before its launch returned tells nothing about the time after. */
	return opening->n_delays < LEAST || at == 0 ? LATENCY : at * CELL;
}

static int64_t latency_of(const struct opening *opening)
{
	const struct hwy_trace *trace = opening->trace;
	for (uint32_t i = 0; i < trace->n_calibrations; i++) {
		const struct hwy_calibration *one = &trace->calibrations[i];
		if (strcmp(hwy_str(trace, one->name), "machine.launch_latency_after_return") == 0 &&
		    strcmp(hwy_str(trace, one->unit), "ns") == 0 && one->value >= 0)
			return one->value;
	}
	return latency_seen(opening);
}

/* ---- ops ------------------------------------------------------------------------------------- */

struct op_source { /* a strip of work */
	struct hwy_reader links, names;
	uint32_t lane;   /* of the flow */
	uint16_t device; /* of the flow, plus one; 0 before its first op */
};

static uint32_t call_of_work(const struct opening *opening, int64_t link)
{
	if (link <= 0 || link > opening->trace->n_spans)
		return FLOW_NONE;
	return opening->call_of[link - 1] - 1; /* 0 becomes FLOW_NONE */
}

/* Index into flow.devices, plus one. */
static uint16_t device_of(struct opening *opening, const struct hwy_strip *strip)
{
	struct hwy_flow *flow = opening->flow;
	int64_t device = opening->trace->lanes[strip->lane].device;
	bool known = device >= 0 && device < opening->trace->n_devices;
	uint16_t *place = &opening->devices[known ? device : opening->trace->n_devices];
	if (!*place) {
		opening->reach[flow->n_devices] = INT64_MIN;
		flow->devices[flow->n_devices++].device = known ? device : HWY_NONE;
		*place = (uint16_t)flow->n_devices;
	}
	return *place;
}

static void add_op(struct opening *opening, const struct hwy_sweep *sweep, struct op_source *source)
{
	struct hwy_flow *flow = opening->flow;
	struct flow_op *op = &flow->ops[flow->n_ops];
	struct flow_lane *lane = &flow->lanes[source->lane];
	if (!source->device)
		lane->device = (source->device = device_of(opening, sweep->strip)) - 1u;
	*op = (struct flow_op){
		.start = sweep->start,
		.end = sweep->end,
		.span = sweep->strip->first + sweep->row,
		.call = call_of_work(opening, reader_get(&source->links, sweep->row)),
		.lane = sweep->strip->lane,
		.device = (uint16_t)(source->device - 1),
		.kind = (uint8_t)sweep->strip->kind,
		.class = (uint8_t)hwy_class(opening->trace, (enum hwy_kind)sweep->strip->kind,
					    reader_get(&source->names, sweep->row)),
	};
	if (op->call != FLOW_NONE) {
		struct flow_call *call = &flow->calls[op->call];
		if (call->op == FLOW_NONE) {
			call->op = flow->n_ops;
			note_delay(opening, op, call);
		}
		flow_look_at_work(opening, flow->n_ops, call);
	}
	int64_t *reach = &opening->reach[op->device];
	*reach = op->end > *reach ? op->end : *reach;
	opening->latest = op->end > opening->latest ? op->end : opening->latest;
	flow->reach[flow->n_ops >> FLOW_BLOCK] = opening->latest;
	flow->by_lane[lane->first + lane->n++] = flow->n_ops;
	flow->devices[op->device].n++;
	flow->n_ops++;
	add_length(flow, op->end - op->start);
}

/* A strip's rows come after those of the strips before it in by_lane: strips are sorted by lane. */
static struct op_source open_source(struct hwy_flow *flow, const struct hwy_strip *strip,
				    uint32_t before)
{
	if (!flow->n_lanes || flow->lanes[flow->n_lanes - 1].lane != strip->lane)
		flow->lanes[flow->n_lanes++] =
			(struct flow_lane){.lane = strip->lane, .first = before};
	return (struct op_source){
		.links = column_reader(strip->columns[HWY_LINK]),
		.names = column_reader(strip->columns[HWY_NAME]),
		.lane = flow->n_lanes - 1,
	};
}

static void put_ops_in_order(struct opening *opening)
{
	const struct hwy_trace *trace = opening->trace;
	struct hwy_flow *flow = opening->flow;
	struct op_source *sources = hwy_alloc((trace->n_strips + 1) * sizeof *sources);
	struct hwy_sweep sweep = {0};
	uint32_t n = 0, most = 0;
	flow->lanes = hwy_alloc((trace->n_strips + 1) * sizeof *flow->lanes);
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (!work_is_on(&opening->work, strip))
			continue;
		sources[n] = open_source(flow, strip, most);
		sweep_add(&sweep, strip, n++);
		most += strip->rows;
	}
	flow->ops = hwy_alloc(((size_t)most + 1) * sizeof *flow->ops);
	flow->by_lane = hwy_alloc(((size_t)most + 1) * sizeof *flow->by_lane);
	flow->reach = hwy_alloc(((most >> FLOW_BLOCK) + 1u) * sizeof *flow->reach);
	while (sweep_next(&sweep))
		if (sweep.strip->kind != HWY_GRAPH ||
		    work_is_own(&opening->work, sweep.strip, sweep.row))
			add_op(opening, &sweep, &sources[sweep.tag]);
	flow->ops = hwy_realloc(flow->ops, (flow->n_ops + 1) * sizeof *flow->ops);
	sweep_free(&sweep);
	free(sources);
}

static void sort_by_device(struct hwy_flow *flow)
{
	uint32_t first = 0;
	for (uint32_t d = 0; d < flow->n_devices; d++) {
		flow->devices[d].first = first;
		first += flow->devices[d].n;
	}
	if (flow->n_devices < 2)
		return;
	flow->by_device = hwy_alloc(flow->n_ops * sizeof *flow->by_device);
	for (uint32_t d = 0; d < flow->n_devices; d++)
		flow->devices[d].n = 0;
	for (uint32_t i = 0; i < flow->n_ops; i++) {
		struct flow_device *device = &flow->devices[flow->ops[i].device];
		flow->by_device[device->first + device->n++] = i;
	}
}

/* ---- */

static bool need(struct hwy_trace *trace, struct hwy_err *err)
{
	return hwy_need(trace, HWY_KIND_BIT(HWY_COPY),
			BIT(SRC_MEMORY) | BIT(DST_MEMORY) | BIT(DIRECTION), err) &&
	       hwy_need(trace, HWY_KIND_BIT(HWY_SYNC), BIT(LINK) | BIT(SYNC_TYPE), err);
}

bool flow_open(struct hwy_flow *flow, struct hwy_trace *trace, struct hwy_err *err)
{
	*flow = (struct hwy_flow){.trace = trace};
	struct opening opening = {.flow = flow, .trace = trace, .latest = INT64_MIN};
	bool done = work_open(&opening.work, trace, HWY_SCOPE_ALL, err) && need(trace, err);
	if (done) {
		opening.enqueues = hwy_zalloc(trace->n_spans / 8 + 1);
		opening.call_of = hwy_zalloc((trace->n_spans + 1) * sizeof *opening.call_of);
		opening.devices = hwy_zalloc((trace->n_devices + 1) * sizeof *opening.devices);
		opening.reach = hwy_alloc((trace->n_devices + 1) * sizeof *opening.reach);
		flow->devices = hwy_zalloc((trace->n_devices + 1) * sizeof *flow->devices);
		find_enqueuing(&opening);
		put_calls_in_order(&opening);
		put_ops_in_order(&opening);
		sort_by_device(flow);
		look_at_waits(&opening);
		flow->latency = latency_of(&opening);
	}
	free(opening.enqueues);
	free(opening.call_of);
	free(opening.devices);
	free(opening.reach);
	work_close(&opening.work);
	return done;
}

void flow_close(struct hwy_flow *flow)
{
	free(flow->calls);
	free(flow->ops);
	free(flow->devices);
	free(flow->by_device);
	free(flow->lanes);
	free(flow->by_lane);
	free(flow->reach);
	*flow = (struct hwy_flow){0};
}

uint32_t flow_call_at(const struct hwy_flow *flow, int64_t time)
{
	uint32_t low = 0, high = flow->n_calls;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (flow->calls[middle].start < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t flow_op_at(const struct hwy_flow *flow, int64_t time)
{
	uint32_t low = 0, high = flow->n_ops;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (flow->ops[middle].start < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t flow_op_unfinished(const struct hwy_flow *flow, int64_t time)
{
	uint32_t low = 0, high = (flow->n_ops + (1u << FLOW_BLOCK) - 1) >> FLOW_BLOCK;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (flow->reach[middle] <= time)
			low = middle + 1;
		else
			high = middle;
	}
	uint32_t i = low << FLOW_BLOCK;
	while (i < flow->n_ops && flow->ops[i].end <= time)
		i++;
	return i < flow->n_ops ? i : flow->n_ops;
}

bool flow_adds_up(const struct hwy_flow *flow, uint32_t first_op, uint32_t end_op,
		  uint32_t first_call, uint32_t end_call)
{
	uint64_t sum = 0;
	for (uint32_t i = first_op; i < end_op && sum < FLOW_SUM_MOST; i++)
		sum += (uint64_t)(flow->ops[i].end - flow->ops[i].start);
	for (uint32_t i = first_call; i < end_call && sum < FLOW_SUM_MOST; i++)
		sum += (uint64_t)(flow->calls[i].end - flow->calls[i].start);
	return sum < FLOW_SUM_MOST;
}
