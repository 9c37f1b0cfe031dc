/* SPDX-License-Identifier: Apache-2.0 */
/* graph_fit.c - the latencies of a machine, read off a trace.
 *
 * Each latency is the lower quartile over the work that nothing else held up. Where the trace has
 * too few observations, the figures of a recent GPU stand in.
 */
#include <stdlib.h>
#include <string.h>

#include "base/quantile.h"
#include "whatif/graph.h"

enum {
	CELL_NS = 16, /* width of a cell of the histograms */
	CELLS = 4096,
	LEAST_OBSERVATIONS = 16, /* a histogram with fewer observations has no usable quartile */
	DEFAULT_LAUNCH_NS = 5000,
	DEFAULT_NEXT_NS = 1000,
	DEFAULT_WAKE_NS = 3000,
	DEFAULT_SYNC_NS = 2000,
	DEFAULT_QUEUE_LAUNCHES = 1024,
};

struct tally { /* a histogram of times */
	uint32_t n, counts[CELLS];
};

static void tally_add(struct tally *tally, int64_t value)
{
	if (value < 0)
		return;
	tally->counts[value / CELL_NS < CELLS ? value / CELL_NS : CELLS - 1]++;
	tally->n++;
}

static int64_t tally_quartile(const struct tally *tally, int64_t otherwise)
{
	if (tally->n < LEAST_OBSERVATIONS)
		return otherwise;
	return (int64_t)hwy_histogram_cell(tally->counts, CELLS, tally->n, 25) * CELL_NS;
}

struct fitting {
	struct tally launch, next, wake, sync;
	uint32_t *last;   /* for each lane, the op that began last on the lane */
	uint32_t *recent; /* for each device, the op that began last on the device */
};

/* Whether 'recent', the op that began on the device just before 'op', may have held 'op' up: it is
 * of another stream and ended after 'last', the op before 'op' in its own stream. */
static bool is_held(const struct flow_op *recent, const struct flow_op *last,
		    const struct flow_op *op)
{
	return recent->lane != op->lane && recent->end > last->end && recent->end <= op->start;
}

static void look_at_op(struct fitting *f, const struct hwy_flow *flow, uint32_t i)
{
	const struct flow_op *op = &flow->ops[i];
	const struct flow_op *last =
		f->last[op->lane] == FLOW_NONE ? NULL : &flow->ops[f->last[op->lane]];
	uint32_t recent = f->recent[op->device];
	f->last[op->lane] = f->recent[op->device] = i;
	if (op->call == FLOW_NONE || flow->calls[op->call].op != i)
		return;
	const struct flow_call *call = &flow->calls[op->call];
	if (last && call->end + flow->latency <= last->end) {
		if (!is_held(&flow->ops[recent], last, op))
			tally_add(&f->next, op->start - last->end);
	} else if (!last || last->end <= call->start) {
		tally_add(&f->launch, op->start - call->start);
	}
	if (call->blocks && op->end > call->start)
		tally_add(&f->wake, call->end - op->end);
}

/* Takes synchronise calls that are shorter than twice the launch latency: those had nothing to wait
 * for. */
static void look_at_sync_calls(struct fitting *f, const struct hwy_flow *flow)
{
	for (uint32_t i = 0; i < flow->n_calls; i++) {
		const struct flow_call *call = &flow->calls[i];
		if (call->role == HWY_ROLE_SYNC && call->end - call->start < flow->latency * 2)
			tally_add(&f->sync, call->end - call->start);
	}
}

/* The most launches that waited in the queue of any stream; the machine's limit is at least
 * that. */
static uint32_t deepest(const struct hwy_flow *flow)
{
	uint32_t *begun = hwy_zarray(flow->trace->n_lanes, sizeof *begun);
	uint32_t *enqueued = hwy_zarray(flow->trace->n_lanes, sizeof *enqueued);
	uint32_t op = 0, most = 0;
	for (uint32_t i = 0; i < flow->n_calls; i++) {
		const struct flow_call *call = &flow->calls[i];
		if (call->op == FLOW_NONE)
			continue;
		for (; op < flow->n_ops && flow->ops[op].start < call->end; op++) {
			uint32_t by = flow->ops[op].call;
			if (by != FLOW_NONE && flow->calls[by].op == op)
				begun[flow->ops[op].lane]++;
		}
		uint32_t lane = flow->ops[call->op].lane;
		if (++enqueued[lane] > begun[lane] && enqueued[lane] - begun[lane] > most)
			most = enqueued[lane] - begun[lane];
	}
	free(begun);
	free(enqueued);
	return most;
}

/* The value in ns that the report's calibration has under this name, or 0. */
static int64_t calibrated(const struct hwy_trace *trace, const char *name)
{
	for (uint32_t i = 0; i < trace->n_calibrations; i++)
		if (strcmp(hwy_str(trace, trace->calibrations[i].name), name) == 0 &&
		    trace->calibrations[i].value > 0)
			return trace->calibrations[i].value;
	return 0;
}

void graph_fit(struct graph_fit *fit, const struct hwy_flow *flow)
{
	struct fitting *f = hwy_zalloc(sizeof *f);
	f->last = hwy_array(flow->trace->n_lanes, sizeof *f->last);
	for (uint32_t lane = 0; lane < flow->trace->n_lanes; lane++)
		f->last[lane] = FLOW_NONE;
	f->recent = hwy_zarray(flow->n_devices, sizeof *f->recent);
	for (uint32_t i = 0; i < flow->n_ops; i++)
		look_at_op(f, flow, i);
	look_at_sync_calls(f, flow);
	fit->launch = tally_quartile(&f->launch, DEFAULT_LAUNCH_NS);
	fit->next = tally_quartile(&f->next, DEFAULT_NEXT_NS);
	fit->wake = tally_quartile(&f->wake, DEFAULT_WAKE_NS);
	fit->sync = tally_quartile(&f->sync, DEFAULT_SYNC_NS);
	/* A short wait looks like a call that found nothing pending: a calibrated time is better
	 * than the fitted one. */
	int64_t sync = calibrated(flow->trace, "machine.sync");
	if (sync > 0)
		fit->sync = sync + calibrated(flow->trace, "cost.sync");
	fit->queue = deepest(flow);
	if (fit->queue < DEFAULT_QUEUE_LAUNCHES)
		fit->queue = DEFAULT_QUEUE_LAUNCHES;
	free(f->last);
	free(f->recent);
	free(f);
}
