/* SPDX-License-Identifier: Apache-2.0 */
/* flow.c - see flow.h.
 *
 * One pass merges the lanes of calls and one the streams, each in order of start; an array from
 * span ids to calls gives every op its call. The arrays are reserved for the most calls and ops
 * that there can be, and cut afterwards: memory that was never written costs nothing.
 *
 * Calls inside another call that are kept: allocation and module loading inside a call that
 * enqueues work (lazy loading is why such a launch takes milliseconds), and everything inside a
 * communication library's call (which is not a call into the vendor's runtime). A call without a
 * role that enqueued work is kept, and gets the role of that work.
 *
 * A call whose name does not promise that it blocks is taken to block where it is
 * - a copy from or to memory that is not known to be pinned, whose work began inside the call and was 7/8 over when the
 *   call returned (the last chunk of a staged copy is still on its way then). A copy to the device of less than 10 us
 *   proves nothing: it is staged, and may be done by chance;
 * - any call that returned after work of at least 10 us that it enqueued (CUDA_LAUNCH_BLOCKING=1);
 *   a launch only where half of all launches of its process returned after their work: others lost
 *   their CPU meanwhile, or loaded code;
 * - a call for which the driver recorded a wait;
 * - a copy to the host in a program of XLA that the program waits for (flow_reads.h). Such a call ends with its copy.
 */
#include "analyze/flow.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/flow_first.h"
#include "analyze/flow_reads.h"
#include "analyze/sweep.h"
#include "analyze/work.h"
#include "base/ref.h"
#include "base/search.h"

#define BIT(col) HWY_COL_BIT(HWY_##col)
#define LONG_WORK_NS 10000
#define LATENCY_NS 3000 /* the launch latency where neither a calibration nor the trace tells one */

/* The histogram of launch latencies: cells of CELL_NS each, believed from LEAST_LAUNCHES
 * launches on. */
enum { CELL_NS = 32, CELLS = 2048, LEAST_LAUNCHES = 32 };

struct opening { /* the state of flow_open while it makes a flow */
	struct hwy_flow *flow;
	struct hwy_trace *trace;
	struct hwy_work work;
	uint8_t *enqueues; /* a bit for each span: some device work is linked to this span */
	/* For each span id a reference (base/ref.h) to the call that the span is, or lies in. */
	uint32_t *call_of;
	/* For each device of the trace, and one more for work whose device is not known: a
	 * reference to the device of the flow. */
	uint32_t *devices;
	int64_t *reach; /* for each device of the flow the latest end of an op so far */
	int64_t latest; /* the latest end of an op so far, of all devices */
	/* Histogram of the times from the end of a call that found the device idle to the start
	 * of its kernel. */
	uint32_t delays[CELLS];
	uint32_t n_delays;
	/* The devices are CPUs: their threads and the program's take turns, so when a call returns
	 * says little of what it waited for. */
	bool are_cpus;
};

/* ---- calls ----------------------------------------------------------------------------------- */

static bool is_set(const uint8_t *bits, uint32_t id)
{
	return bits[id >> 3] >> (id & 7) & 1;
}

/* Marks the spans that some device work is linked to. */
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

struct outer { /* the last call of a strip that was not made inside another call */
	int64_t end;
	/* Reference (base/ref.h) to the outer call, unset before the strip's first call. */
	uint32_t call;
	unsigned role;
};

/* Whether a call of this role that was made inside the call 'outer' is kept. */
static bool is_kept_inside(const struct outer *outer, unsigned role)
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
	bool inside = hwy_ref32_is_set(outer->call) && sweep->end <= outer->end &&
		      sweep->start < outer->end;
	if (inside && !is_kept_inside(outer, HWY_ROLE_OF(role))) {
		opening->call_of[id] = outer->call;
		return;
	}
	if (HWY_ROLE_OF(role) == HWY_ROLE_OTHER && !is_set(opening->enqueues, id))
		return;
	flow->calls[flow->n_calls++] = make_call(opening->trace, sweep, role);
	flow->has_host_callbacks |= HWY_ROLE_OF(role) == HWY_ROLE_HOST_CALLBACK;
	flow->is_mixed |= flow->calls[flow->n_calls - 1].process != flow->calls[0].process;
	add_length(flow, sweep->end - sweep->start);
	opening->call_of[id] = hwy_ref32(flow->n_calls - 1);
	if (!inside && HWY_ROLE_OF(role) != HWY_ROLE_COMM)
		*outer = (struct outer){sweep->end, opening->call_of[id], HWY_ROLE_OF(role)};
}

static void put_calls_in_order(struct opening *opening)
{
	const struct hwy_trace *trace = opening->trace;
	struct hwy_flow *flow = opening->flow;
	struct outer *outers = hwy_zarray(trace->n_strips, sizeof *outers);
	struct hwy_sweep sweep = {0};
	size_t most = 0;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		if (trace->strips[s].kind != HWY_API)
			continue;
		sweep_add(&sweep, &trace->strips[s], s);
		most += trace->strips[s].rows;
	}
	flow->calls = hwy_array(most, sizeof *flow->calls);
	while (sweep_next(&sweep))
		flow_add_call(opening, &sweep, &outers[sweep.tag]);
	flow->calls = hwy_resize(flow->calls, flow->n_calls, sizeof *flow->calls);
	sweep_free(&sweep);
	free(outers);
}

/* ---- what blocks ----------------------------------------------------------------------------- */

/* Whether memory of this kind may be the host's. */
static bool is_host(int64_t memory)
{
	return memory != HWY_MEM_DEVICE && memory != HWY_MEM_ARRAY &&
	       memory != HWY_MEM_DEVICE_STATIC;
}

struct copy_kind {
	bool to_device;
	bool may_block; /* the copy reads or writes host memory that is not known to be pinned */
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
	bool from_is_pinned = from == HWY_MEM_PINNED || !is_host(from);
	bool to_is_pinned = to == HWY_MEM_PINNED || !is_host(to);
	return (struct copy_kind){to_device, !(from_is_pinned && to_is_pinned)};
}

/* Whether the call seems to have waited for the op that it enqueued. */
static bool returned_after(const struct hwy_trace *trace, const struct flow_call *call,
			   const struct flow_op *op)
{
	int64_t length = op->end - op->start;
	if (length >= LONG_WORK_NS && call->end >= op->end)
		return true;
	if (op->kind != HWY_COPY || op->start >= call->end || op->end - call->end > length / 8)
		return false;
	struct copy_kind kind = kind_of_copy(trace, op);
	return kind.may_block && (!kind.to_device || length >= LONG_WORK_NS);
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

/* Updates the role and the blocking of a call with what an op that it enqueued tells. Ops come
 * in order of start. */
static void learn_from_op(const struct opening *opening, uint32_t index, struct flow_call *call)
{
	const struct flow_op *op = &opening->flow->ops[index];
	if (call->role == HWY_ROLE_OTHER)
		call->role = (uint8_t)role_of_work(op);
	/* Where the devices are CPUs, OpenCL tells which calls wait (trace/roles.c). */
	if (opening->are_cpus)
		return;
	if (call->op == index)
		call->blocks |= returned_after(opening->trace, call, op);
	else if (call->blocks && op->end > call->end && !returned_after(opening->trace, call, op))
		call->blocks = blocks_by_contract(opening, call);
}

static bool is_launch_of_work(const struct flow_call *call)
{
	return call->op != FLOW_NONE &&
	       (call->role == HWY_ROLE_LAUNCH || call->role == HWY_ROLE_GRAPH_LAUNCH);
}

/* Takes back that launches block, in processes where less than half of all launches returned after
 * their work. Short work tells nothing about one launch, but it does about all of them. */
static void doubt_rare_blocking(struct hwy_flow *flow)
{
	struct {
		uint32_t launches, late;
	} *seen = hwy_zarray(FLOW_NO_PROCESS + 1u, sizeof *seen);
	for (uint32_t i = 0; i < flow->n_calls; i++) {
		const struct flow_call *call = &flow->calls[i];
		if (!is_launch_of_work(call))
			continue;
		const struct flow_op *op = &flow->ops[call->op];
		bool is_short = op->end - op->start < LONG_WORK_NS;
		seen[call->process].launches++;
		seen[call->process].late += call->blocks || (is_short && op->end <= call->end);
	}
	for (uint32_t i = 0; i < flow->n_calls; i++) {
		struct flow_call *call = &flow->calls[i];
		if (is_launch_of_work(call) &&
		    seen[call->process].late < (seen[call->process].launches + 1) / 2)
			call->blocks = false;
	}
	free(seen);
}

/* Marks as blocking every call for which the driver recorded a wait. */
static void learn_from_waits(struct opening *opening)
{
	const struct hwy_trace *trace = opening->trace;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		for (uint32_t row = 0; strip->kind == HWY_SYNC && row < strip->rows; row++) {
			int64_t link = hwy_get(strip, HWY_LINK, row);
			int64_t type = hwy_get(strip, HWY_SYNC_TYPE, row);
			if (link <= 0 || link > trace->n_spans ||
			    !hwy_ref32_is_set(opening->call_of[link - 1]) ||
			    type == HWY_SYNC_STREAM_WAIT || type == HWY_SYNC_UNKNOWN)
				continue;
			struct flow_call *call =
				&opening->flow->calls[hwy_ref32_index(opening->call_of[link - 1])];
			call->blocks |=
				call->role != HWY_ROLE_QUERY && call->role != HWY_ROLE_STREAM_WAIT;
		}
	}
}

/* ---- the launch latency ---------------------------------------------------------------------- */

/* Notes the delay from the launch to the start of a kernel, where the launch found the device
 * idle. */
static void note_delay(struct opening *opening, const struct flow_op *op,
		       const struct flow_call *call)
{
	if (op->kind != HWY_KERNEL || opening->reach[op->device] >= call->start)
		return;
	int64_t delay = op->start - call->end;
	delay = delay < 0 ? 0 : delay / CELL_NS;
	opening->delays[delay < CELLS ? delay : CELLS - 1]++;
	opening->n_delays++;
}

/* The launch latency that the trace shows: the lower quartile of the noted delays, in ns. */
static int64_t latency_seen(const struct opening *opening)
{
	uint32_t cell = 0, below = opening->delays[0];
	while (cell + 1 < CELLS && below < opening->n_delays / 4)
		below += opening->delays[++cell];
	/* Cell 0 is for kernels that began before their launch returned: they tell nothing about
	 * the time after it. */
	return opening->n_delays < LEAST_LAUNCHES || cell == 0 ? LATENCY_NS : cell * CELL_NS;
}

static int64_t latency_of(const struct opening *opening)
{
	const struct hwy_trace *trace = opening->trace;
	for (uint32_t i = 0; i < trace->n_calibrations; i++) {
		const struct hwy_calibration *calibration = &trace->calibrations[i];
		if (strcmp(hwy_str(trace, calibration->name),
			   "machine.launch_latency_after_return") == 0 &&
		    strcmp(hwy_str(trace, calibration->unit), "ns") == 0 && calibration->value >= 0)
			return calibration->value;
	}
	return latency_seen(opening);
}

/* ---- ops ------------------------------------------------------------------------------------- */

struct op_source { /* a strip of device work */
	struct hwy_reader links, names;
	uint32_t lane; /* index into flow.lanes */
	/* Reference to the strip's device in the flow, unset before the first op. */
	uint32_t device;
};

static uint32_t call_of_work(const struct opening *opening, int64_t link)
{
	if (link <= 0 || link > opening->trace->n_spans)
		return FLOW_NONE;
	uint32_t call = opening->call_of[hwy_ref_index(link)];
	return hwy_ref32_is_set(call) ? hwy_ref32_index(call) : FLOW_NONE;
}

/* A reference to the device of the flow on which the strip's work runs. */
static uint32_t device_of(struct opening *opening, const struct hwy_strip *strip)
{
	struct hwy_flow *flow = opening->flow;
	int64_t device = opening->trace->lanes[strip->lane].device;
	bool is_named = device >= 0 && device < opening->trace->n_devices;
	uint32_t *reference = &opening->devices[is_named ? device : opening->trace->n_devices];
	if (!hwy_ref32_is_set(*reference)) {
		*reference = hwy_ref32(flow->n_devices);
		opening->reach[flow->n_devices] = INT64_MIN;
		flow->devices[flow->n_devices++].device = is_named ? device : HWY_NONE;
	}
	return *reference;
}

static void add_op(struct opening *opening, const struct hwy_sweep *sweep, struct op_source *source)
{
	struct hwy_flow *flow = opening->flow;
	struct flow_op *op = &flow->ops[flow->n_ops];
	struct flow_lane *lane = &flow->lanes[source->lane];
	if (!hwy_ref32_is_set(source->device)) {
		source->device = device_of(opening, sweep->strip);
		lane->device = hwy_ref32_index(source->device);
	}
	*op = (struct flow_op){
		.start = sweep->start,
		.end = sweep->end,
		.span = sweep->strip->first + sweep->row,
		.call = call_of_work(opening, reader_get(&source->links, sweep->row)),
		.lane = sweep->strip->lane,
		.device = (uint16_t)hwy_ref32_index(source->device),
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
		learn_from_op(opening, flow->n_ops, call);
	}
	int64_t *reach = &opening->reach[op->device];
	*reach = op->end > *reach ? op->end : *reach;
	opening->latest = op->end > opening->latest ? op->end : opening->latest;
	flow->reach[flow->n_ops >> FLOW_BLOCK_BITS] = opening->latest;
	flow->by_lane[lane->first + lane->n++] = flow->n_ops;
	flow->devices[op->device].n++;
	flow->n_ops++;
	add_length(flow, op->end - op->start);
}

/* Begins a strip of work whose ops stand behind 'before' other ops in flow.by_lane: strips are
 * sorted by lane. */
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
	struct op_source *sources = hwy_array(trace->n_strips, sizeof *sources);
	struct hwy_sweep sweep = {0};
	uint32_t n = 0, most = 0;
	flow->lanes = hwy_array(trace->n_strips, sizeof *flow->lanes);
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (!work_is_on(&opening->work, strip))
			continue;
		sources[n] = open_source(flow, strip, most);
		sweep_add(&sweep, strip, n++);
		most += strip->rows;
	}
	flow->ops = hwy_array((size_t)most, sizeof *flow->ops);
	flow->by_lane = hwy_array((size_t)most, sizeof *flow->by_lane);
	flow->reach = hwy_array((most >> FLOW_BLOCK_BITS) + 1, sizeof *flow->reach);
	while (sweep_next(&sweep))
		if (sweep.strip->kind != HWY_GRAPH ||
		    work_is_own(&opening->work, sweep.strip, sweep.row))
			add_op(opening, &sweep, &sources[sweep.tag]);
	flow->ops = hwy_resize(flow->ops, flow->n_ops, sizeof *flow->ops);
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
	flow->by_device = hwy_array(flow->n_ops, sizeof *flow->by_device);
	for (uint32_t d = 0; d < flow->n_devices; d++)
		flow->devices[d].n = 0;
	for (uint32_t i = 0; i < flow->n_ops; i++) {
		struct flow_device *device = &flow->devices[flow->ops[i].device];
		flow->by_device[device->first + device->n++] = i;
	}
}

/* ---- all ------------------------------------------------------------------------------------- */

static bool load_columns(struct hwy_trace *trace, struct hwy_err *err)
{
	return hwy_need(trace, HWY_KIND_BIT(HWY_COPY),
			BIT(SRC_MEMORY) | BIT(DST_MEMORY) | BIT(DIRECTION), err) &&
	       hwy_need(trace, HWY_KIND_BIT(HWY_SYNC), BIT(LINK) | BIT(SYNC_TYPE), err);
}

bool flow_open(struct hwy_flow *flow, struct hwy_trace *trace, struct hwy_err *err)
{
	*flow = (struct hwy_flow){.trace = trace};
	struct opening opening = {.flow = flow,
				  .trace = trace,
				  .latest = INT64_MIN,
				  .are_cpus = hwy_devices_are_cpus(trace)};
	bool done = work_open(&opening.work, trace, HWY_SCOPE_ALL, err) && load_columns(trace, err);
	if (done) {
		opening.enqueues = hwy_zalloc(trace->n_spans / 8 + 1);
		opening.call_of = hwy_zarray(trace->n_spans, sizeof *opening.call_of);
		opening.devices = hwy_zarray(trace->n_devices + 1, sizeof *opening.devices);
		opening.reach = hwy_array(trace->n_devices + 1, sizeof *opening.reach);
		flow->devices = hwy_zarray(trace->n_devices + 1, sizeof *flow->devices);
		find_enqueuing(&opening);
		put_calls_in_order(&opening);
		put_ops_in_order(&opening);
		sort_by_device(flow);
		doubt_rare_blocking(flow);
		learn_from_waits(&opening);
		flow->latency = latency_of(&opening);
		done = first_uses_find(&flow->first_uses, trace, err);
		if (done) {
			flow_forget_launched(flow);
			flow_learn_reads(flow);
		}
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
	first_uses_free(&flow->first_uses);
	*flow = (struct hwy_flow){0};
}

uint32_t flow_call_at(const struct hwy_flow *flow, int64_t time)
{
	return HWY_FIRST(i, 0u, flow->n_calls, flow->calls[i].start >= time);
}

uint32_t flow_op_at(const struct hwy_flow *flow, int64_t time)
{
	return HWY_FIRST(i, 0u, flow->n_ops, flow->ops[i].start >= time);
}

uint32_t flow_op_unfinished(const struct hwy_flow *flow, int64_t time)
{
	uint32_t blocks = (flow->n_ops + (1u << FLOW_BLOCK_BITS) - 1) >> FLOW_BLOCK_BITS;
	uint32_t low = HWY_FIRST(block, 0u, blocks, flow->reach[block] > time);
	uint32_t i = low << FLOW_BLOCK_BITS;
	while (i < flow->n_ops && flow->ops[i].end <= time)
		i++;
	return i < flow->n_ops ? i : flow->n_ops;
}

bool flow_adds_up(const struct hwy_flow *flow, uint32_t first_op, uint32_t end_op,
		  uint32_t first_call, uint32_t end_call)
{
	uint64_t sum = 0;
	for (uint32_t i = first_op; i < end_op && sum < FLOW_MOST_SUM_NS; i++)
		sum += (uint64_t)(flow->ops[i].end - flow->ops[i].start);
	for (uint32_t i = first_call; i < end_call && sum < FLOW_MOST_SUM_NS; i++)
		sum += (uint64_t)(flow->calls[i].end - flow->calls[i].start);
	return sum < FLOW_MOST_SUM_NS;
}
