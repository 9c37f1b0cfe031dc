/* SPDX-License-Identifier: Apache-2.0 */
/* gaps.c - see gaps.h.
 *
 * One pass over a device's ops in order of start. Busy time is the union of the ops inside the
 * window; a gap is where an op starts later than all ops before it have ended. The exclusive
 * states are differences of nested unions (compute; compute and comm; these and copies; these
 * and fills), so that the states add up by construction. Unions are computed only where ops
 * overlap. gaps_cause.c tells the cause of each gap; the pass begins some time before the
 * window, so that a wait just before the window can be blamed.
 */
#include "analyze/gaps/gaps.h"

#include <stdlib.h>

#include "analyze/gaps/gaps_cause.h"
#include "analyze/lanes.h"
#include "base/lang.h"

const char *const gap_cause_names[GAP_CAUSES] = {
	[GAP_BLOCKED] = HWY_KEY("blocked"),
	[GAP_LAUNCH] = HWY_KEY("launch"),
	[GAP_INPUT] = HWY_KEY("input"),
	[GAP_OS] = HWY_KEY("os"),
	[GAP_CPU] = HWY_KEY("cpu"),
	[GAP_DEPENDENCY] = HWY_KEY("dependency"),
	[GAP_ALLOC] = HWY_KEY("alloc"),
	[GAP_MODULE] = HWY_KEY("module"),
	[GAP_DRAIN] = HWY_KEY("drain"),
	[GAP_UNKNOWN] = HWY_KEY("unknown"),
	[GAP_FIRST_USE] = HWY_KEY("first-use"),
	[GAP_MISSING] = HWY_KEY("missing"),
	[GAP_COMM] = HWY_KEY("comm"),
	[GAP_GC] = HWY_KEY("gc"),
	[GAP_GIL] = HWY_KEY("gil"),
};

/* The classes of work in the order in which they hide each other. */
enum { COMPUTE, COMM, COPY, DEVICE_COPY, FILL, CLASSES };

/* Unions of classes, each as a set of class bits. Union c, for a class c, holds c and all
 * classes before c. */
enum { ONLY_COMM = CLASSES, ONLY_COPY, COMPUTE_COPY, UNIONS };
static const uint8_t unions[UNIONS] = {
	[COMPUTE] = 1 << COMPUTE,
	[COMM] = 1 << COMPUTE | 1 << COMM,
	[COPY] = 1 << COMPUTE | 1 << COMM | 1 << COPY,
	[DEVICE_COPY] = 1 << COMPUTE | 1 << COMM | 1 << COPY | 1 << DEVICE_COPY,
	[FILL] = 1 << COMPUTE | 1 << COMM | 1 << COPY | 1 << DEVICE_COPY | 1 << FILL,
	[ONLY_COMM] = 1 << COMM,
	[ONLY_COPY] = 1 << COPY | 1 << DEVICE_COPY,
	[COMPUTE_COPY] = 1 << COMPUTE | 1 << COPY | 1 << DEVICE_COPY,
};

struct gaps_sweep { /* the pass over one device's ops */
	struct gaps_judge judge;
	const struct hwy_phase *phase;
	struct hwy_interval window;
	uint16_t device;        /* index into flow.devices */
	struct hwy_gaps *gaps;  /* the result: the list of gaps that grows */
	uint32_t cap;           /* how many gaps the allocated list of gaps can hold */
	uint32_t step;          /* the first step of the phase whose window has not passed yet */
	int64_t alone[CLASSES]; /* ns of ops that start when nothing else runs, by class */
	/* The time that is covered by ops which start while other ops run, by union of classes. */
	struct hwy_cover covers[UNIONS];
	int64_t reach; /* the latest end of an op so far, cut to the window */
	/* The class of the op that ends at 'reach', where that op is counted in 'alone'; else
	 * CLASSES. */
	unsigned last;
	struct gap_states states;
};

static unsigned gaps_class_of(const struct hwy_flow *flow, const struct flow_op *op)
{
	if (op->class == HWY_COMM)
		return COMM;
	if (op->kind != HWY_COPY)
		return op->kind == HWY_FILL ? FILL : COMPUTE;
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(flow->trace, op->span, &row);
	return hwy_get(strip, HWY_DIRECTION, row) == HWY_D2D ? DEVICE_COPY : COPY;
}

/* Adds [from, to) to every union that holds the class. */
static void cover_classes(struct gaps_sweep *sweep, unsigned class, int64_t from, int64_t to)
{
	struct hwy_interval fresh;
	for (unsigned u = 0; u < UNIONS; u++)
		if (unions[u] & 1u << class)
			cover_add(&sweep->covers[u], from, to, &fresh);
}

static void cover_op(struct gaps_sweep *sweep, const struct flow_op *op)
{
	int64_t from = op->start > sweep->window.from ? op->start : sweep->window.from;
	int64_t to = op->end < sweep->window.to ? op->end : sweep->window.to;
	unsigned class = gaps_class_of(sweep->judge.flow, op);
	if (to <= from)
		return;
	if (from >= sweep->reach) {
		sweep->alone[class] += to - from;
		sweep->last = class;
		sweep->reach = to;
		return;
	}
	/* An op that has run alone is in no union yet: add its end to the unions of its class
	 * before a second op overlaps it. */
	if (sweep->last != CLASSES)
		cover_classes(sweep, sweep->last, sweep->reach, sweep->reach);
	sweep->last = CLASSES;
	cover_classes(sweep, class, from, to);
	sweep->reach = to > sweep->reach ? to : sweep->reach;
}

/* Yields how many ns of the window the union u covers. */
static int64_t total_of(const struct gaps_sweep *sweep, unsigned u)
{
	int64_t total = sweep->covers[u].total;
	for (unsigned class = 0; class < CLASSES; class ++)
		if (unions[u] & 1u << class)
			total += sweep->alone[class];
	return total;
}

/* Sets *step to the step whose device window holds the moment; false where the moment lies in no
 * step. A phase without steps counts as one step. */
static bool step_at(struct gaps_sweep *sweep, int64_t moment, uint32_t *step)
{
	const struct hwy_phase *phase = sweep->phase;
	*step = 0;
	if (phase->n_steps == 0)
		return true;
	while (sweep->step < phase->n_steps && phase->steps[sweep->step].device.to <= moment)
		sweep->step++;
	*step = sweep->step < phase->n_steps ? sweep->step : phase->n_steps - 1;
	return sweep->step < phase->n_steps && phase->steps[sweep->step].device.from <= moment;
}

enum {
	FOLD_FROM_GAPS = 65536, /* the first so many gaps are all listed one by one */
	FOLD_GAP_NS = 2000,     /* only gaps that are shorter than this are joined into one */
	FOLD_SUM_NS = 100000,   /* a joined gap gets no further gaps once it is this long */
};

/* Whether a gap is listed as part of the gap before it. This bounds the list: between the nodes
 * of graphs a long recording has millions of gaps, all alike. */
static bool joins_last(const struct hwy_gaps *gaps, const struct hwy_gap *gap)
{
	if (gaps->n < FOLD_FROM_GAPS || gap->cause != GAP_DEPENDENCY ||
	    gap->at.to - gap->at.from >= FOLD_GAP_NS)
		return false;
	const struct hwy_gap *last = &gaps->gaps[gaps->n - 1];
	return last->cause == GAP_DEPENDENCY && last->device == gap->device &&
	       last->step == gap->step && last->at.to - last->at.from < FOLD_SUM_NS;
}

static void list_gap(struct gaps_sweep *sweep, const struct hwy_gap *gap)
{
	sweep->states.causes[gap->cause] += gap->at.to - gap->at.from;
	if (joins_last(sweep->gaps, gap)) {
		struct hwy_gap *last = &sweep->gaps->gaps[sweep->gaps->n - 1];
		last->at.to += gap->at.to - gap->at.from;
		last->op = gap->op;
		return;
	}
	HWY_GROW(sweep->gaps->gaps, sweep->gaps->n, sweep->cap);
	sweep->gaps->gaps[sweep->gaps->n++] = *gap;
}

/* Adds the gap that begins at 'from' and that op i of the judge's order ends; i is judge->n
 * where no op follows. */
static void add_gap(struct gaps_sweep *sweep, uint32_t i, int64_t from)
{
	struct gaps_judge *judge = &sweep->judge;
	const struct hwy_interval *window = &sweep->window;
	struct hwy_gap gap = {
		.at = {from > window->from ? from : window->from, window->to},
		.op = FLOW_NONE,
		.culprit = FLOW_NONE,
		.cause = GAP_DRAIN,
		.device = sweep->device,
	};
	if (i < judge->n) {
		const struct flow_op *x = gaps_op(judge, i);
		gap.op = (uint32_t)(x - judge->flow->ops);
		gap.at.to = x->start < window->to ? x->start : window->to;
		/* Where no op ran before the gap, the gap begins where the window begins. */
		gaps_judge_gap(judge, i, from == INT64_MIN ? window->from : from, &gap);
	}
	if (gap.at.to <= gap.at.from)
		return;
	if (!step_at(sweep, gap.at.from, &gap.step)) {
		gap.cause = GAP_DRAIN;
		gap.culprit = FLOW_NONE;
		gap.span = 0;
		gap.is_preempted = false;
	}
	list_gap(sweep, &gap);
}

/* The moment at which the pass begins: a step, or an eighth of the window, before the window, so
 * that waits there can be blamed. */
static int64_t run_up(const struct hwy_phase *phase)
{
	uint32_t first = phase->first_steady;
	if (first > 0 && first <= phase->n_steps)
		return phase->steps[first - 1].device.from;
	return phase->window.from - (phase->window.to - phase->window.from) / 8;
}

static void sweep_ops(struct gaps_sweep *sweep)
{
	struct gaps_judge *judge = &sweep->judge;
	int64_t reach = INT64_MIN, begin = run_up(sweep->phase);
	uint32_t i = lanes_place(judge->order, judge->n, flow_op_unfinished(judge->flow, begin));
	i -= i > 0; /* start one op earlier: the end of that op is the begin of the first gap */
	gaps_judge_open(judge, begin);
	for (; i < judge->n && gaps_op(judge, i)->start < sweep->window.to; i++) {
		const struct flow_op *op = gaps_op(judge, i);
		if (op->start > reach && (reach > INT64_MIN || op->start > sweep->window.from))
			add_gap(sweep, i, reach);
		gaps_judge_regain(judge, op);
		reach = op->end > reach ? op->end : reach;
		cover_op(sweep, op);
	}
	if (reach < sweep->window.to)
		add_gap(sweep, i, reach);
	gaps_judge_close(judge);
}

/* Computes the time of each state, without overlap between the states, from the unions. */
static void conclude(struct gaps_sweep *sweep)
{
	struct gap_states *states = &sweep->states;
	int64_t compute = total_of(sweep, COMPUTE), comm = total_of(sweep, COMM);
	int64_t copy = total_of(sweep, DEVICE_COPY), busy = total_of(sweep, FILL);
	states->window = sweep->window.to - sweep->window.from;
	states->busy = busy;
	states->idle = states->window - busy;
	states->compute = compute;
	states->exposed_comm = comm - compute;
	states->exposed_copy = copy - comm;
	states->device_copy = copy - total_of(sweep, COPY);
	states->fill = busy - copy;
	states->copy_overlapped =
		total_of(sweep, ONLY_COPY) - (total_of(sweep, COMPUTE_COPY) - compute);
	states->comm_overlapped = total_of(sweep, ONLY_COMM) - (comm - compute);
}

static struct gap_states sweep_device(const struct hwy_flow *flow, const struct hwy_phase *phase,
				      struct gaps_sweep *sweep)
{
	sweep->judge.flow = flow;
	sweep->phase = phase;
	sweep->window = phase->window;
	sweep->reach = INT64_MIN;
	sweep->last = CLASSES;
	if (sweep->window.to > sweep->window.from)
		sweep_ops(sweep);
	conclude(sweep);
	return sweep->states;
}

struct gaps_cpu *gaps_cpu_new(const struct hwy_flow *flow)
{
	struct gaps_cpu *cpu = hwy_zalloc(sizeof *cpu);
	cpu->flow = flow;
	return cpu;
}

void gaps_cpu_free(struct gaps_cpu *cpu)
{
	gaps_cpu_close(cpu);
	free(cpu);
}

bool gaps_find_next(struct gaps_cpu *cpu, const struct hwy_phase *phase, struct hwy_gaps *gaps,
		    struct hwy_err *err)
{
	const struct hwy_flow *flow = cpu->flow;
	uint32_t cap = 0;
	cpu->err = err;
	int64_t launching_ns = gaps_launching_ns(flow, phase);
	*gaps = (struct hwy_gaps){0};
	if (!hwy_need(flow->trace, HWY_KIND_BIT(HWY_COPY), HWY_COL_BIT(HWY_BYTES), err))
		return false;
	gaps->devices = hwy_zarray(flow->n_devices, sizeof *gaps->devices);
	for (uint32_t d = 0; d < flow->n_devices; d++) {
		const struct flow_device *device = &flow->devices[d];
		struct gaps_sweep sweep = {
			.judge = {.cpu = cpu,
				  .n = device->n,
				  .is_cpu = hwy_device_is_cpu(flow->trace, device->device),
				  .launching_ns = launching_ns},
			.device = (uint16_t)d,
			.gaps = gaps,
			.cap = cap,
		};
		if (flow->by_device)
			sweep.judge.order = flow->by_device + device->first;
		gaps->devices[d] = sweep_device(flow, phase, &sweep);
		cap = sweep.cap;
	}
	if (cpu->is_bad)
		gaps_free(gaps);
	return !cpu->is_bad;
}

bool gaps_find(const struct hwy_flow *flow, const struct hwy_phase *phase, struct hwy_gaps *gaps,
	       struct hwy_err *err)
{
	struct gaps_cpu cpu = {.flow = flow};
	bool done = gaps_find_next(&cpu, phase, gaps, err);
	gaps_cpu_close(&cpu);
	return done;
}

void gap_states_add(struct gap_states *sum, const struct gap_states *one)
{
	sum->window += one->window;
	sum->busy += one->busy;
	sum->idle += one->idle;
	sum->compute += one->compute;
	sum->exposed_comm += one->exposed_comm;
	sum->exposed_copy += one->exposed_copy;
	sum->device_copy += one->device_copy;
	sum->fill += one->fill;
	sum->copy_overlapped += one->copy_overlapped;
	sum->comm_overlapped += one->comm_overlapped;
	for (unsigned cause = 0; cause < GAP_CAUSES; cause++)
		sum->causes[cause] += one->causes[cause];
}

void gaps_free(struct hwy_gaps *gaps)
{
	free(gaps->gaps);
	free(gaps->devices);
	*gaps = (struct hwy_gaps){0};
}
