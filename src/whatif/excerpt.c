/* SPDX-License-Identifier: Apache-2.0 */
/* excerpt.c - see excerpt.h. The chosen steps follow each other, and their mean is as near as
 * possible to the mean of the phase. The step after them is taken along, so that the end of the
 * last chosen step is known. */
#include "whatif/excerpt.h"

#include <stdlib.h>

/* A recording with more calls and ops than LARGE_CALLS_AND_OPS is large. */
enum { LEAST_STEPS = 3, LARGE_CALLS_AND_OPS = 300000 };

bool excerpt_is_large(const struct hwy_flow *flow)
{
	return (uint64_t)flow->n_calls + flow->n_ops > LARGE_CALLS_AND_OPS;
}

struct choice { /* the steps of a phase that an excerpt takes */
	/* The index of the first steady step that is taken, and how many are taken. */
	uint32_t first, n;
	uint32_t after; /* 1 where the step after the n taken steps is taken, too; else 0 */
	uint32_t first_call, end_call;
};

static uint32_t excerpt_end_of(const struct phase_step *step)
{
	return step->first_call + step->n_calls;
}

static int64_t mean_of(const struct hwy_phase *phase, uint32_t first, uint32_t n)
{
	int64_t to = first + n < phase->n_steps ? phase->steps[first + n].device.from
						: phase->steps[first + n - 1].device.to;
	return (to - phase->steps[first].device.from) / n;
}

/* The first of the n steady steps in a row whose mean is nearest to the phase's; of equals those
 * nearest the middle. */
static uint32_t most_usual(const struct hwy_phase *phase, uint32_t n)
{
	uint32_t room = phase->n_steady - n, middle = phase->first_steady + room / 2, best = middle;
	int64_t least = INT64_MAX;
	for (uint32_t i = 0; i <= room; i++) {
		uint32_t first = i % 2 ? middle + (i + 1) / 2 : middle - i / 2;
		if (n == 0 || first < phase->first_steady || first > phase->first_steady + room)
			continue;
		int64_t apart = llabs(mean_of(phase, first, n) - phase->mean);
		if (apart < least) {
			least = apart;
			best = first;
		}
	}
	return best;
}

/* Chooses as many steady steps as have 'most' calls and ops; yields false where no excerpt is
 * needed. */
static bool choose_most(const struct hwy_phase *phase, const struct hwy_flow *flow, uint32_t most,
			struct choice *choice)
{
	if ((uint64_t)flow->n_calls + flow->n_ops <= most)
		return false;
	uint32_t first = phase->first_steady, last = first + phase->n_steady - 1;
	double calls =
		(double)(excerpt_end_of(&phase->steps[last]) - phase->steps[first].first_call);
	double ops_per_call = (double)flow->n_ops / (flow->n_calls > 0 ? flow->n_calls : 1);
	double per_step = calls / phase->n_steady * (1 + ops_per_call);
	double n = per_step > 0 ? (double)most / per_step : phase->n_steady;
	if (n >= phase->n_steady && !excerpt_is_large(flow))
		return false;
	n = n < LEAST_STEPS ? LEAST_STEPS : n;
	choice->n = n < phase->n_steady ? (uint32_t)n : phase->n_steady;
	choice->first = most_usual(phase, choice->n);
	return true;
}

static void choose_within(const struct hwy_phase *phase, const struct hwy_interval *window,
			  struct choice *choice)
{
	choice->first = phase->first_steady;
	uint32_t end = choice->first + phase->n_steady;
	while (choice->first < end && phase->steps[choice->first].device.from < window->from)
		choice->first++;
	choice->n = 0;
	while (choice->first + choice->n < end &&
	       phase->steps[choice->first + choice->n].device.from < window->to)
		choice->n++;
}

static bool excerpt_choose(const struct hwy_phase *phase, const struct hwy_flow *flow,
			   uint32_t most, const struct hwy_interval *window, struct choice *choice)
{
	*choice = (struct choice){0};
	if (phase->n_steady < LEAST_STEPS)
		return false;
	if (window)
		choose_within(phase, window, choice);
	else if (!choose_most(phase, flow, most, choice))
		return false;
	if (choice->n < LEAST_STEPS)
		return false;
	choice->after = choice->first + choice->n < phase->n_steps;
	choice->first_call = phase->steps[choice->first].first_call;
	choice->end_call =
		excerpt_end_of(&phase->steps[choice->first + choice->n + choice->after - 1]);
	return choice->end_call > choice->first_call && choice->end_call <= flow->n_calls;
}

static void take_flow(struct hwy_flow *to, const struct hwy_flow *from, const struct choice *choice)
{
	*to = *from;
	to->n_calls = choice->end_call - choice->first_call;
	to->calls =
		hwy_copy_array(from->calls + choice->first_call, to->n_calls, sizeof *to->calls);
	to->ops = NULL;
	to->n_ops = 0;
	to->devices = NULL; /* the edits use only n_devices */
	to->by_device = to->by_lane = NULL;
	to->lanes = NULL;
	to->reach = NULL;
	to->n_lanes = 0;
	for (uint32_t i = 0; i < to->n_calls; i++)
		to->calls[i].op = FLOW_NONE;
	uint32_t cap = 0, first = from->n_ops;
	for (uint32_t i = choice->first_call; i < choice->end_call; i++)
		if (from->calls[i].op < first)
			first = from->calls[i].op;
	for (uint32_t i = first; i < from->n_ops; i++) {
		struct flow_op op = from->ops[i];
		if (op.call == FLOW_NONE || op.call < choice->first_call ||
		    op.call >= choice->end_call)
			continue;
		op.call -= choice->first_call;
		if (to->calls[op.call].op == FLOW_NONE)
			to->calls[op.call].op = to->n_ops;
		HWY_GROW(to->ops, to->n_ops, cap);
		to->ops[to->n_ops++] = op;
	}
}

static void take_phase(struct hwy_phase *to, const struct hwy_phase *from,
		       const struct choice *choice)
{
	*to = *from;
	to->n_steps = choice->n + choice->after;
	to->steps = hwy_copy_array(from->steps + choice->first, to->n_steps, sizeof *to->steps);
	for (uint32_t i = 0; i < to->n_steps; i++)
		to->steps[i].first_call -= choice->first_call;
	to->first_steady = 0;
	to->n_steady = choice->n;
	to->window =
		(struct hwy_interval){to->steps[0].device.from, to->steps[choice->n - 1].device.to};
}

uint32_t excerpt_op(const struct hwy_flow *flow, const struct flow_op *op)
{
	for (uint32_t i = flow_op_at(flow, op->start);
	     i < flow->n_ops && flow->ops[i].start == op->start; i++)
		if (flow->ops[i].span == op->span)
			return i;
	return FLOW_NONE;
}

static void take_gaps(struct excerpt *excerpt, const struct hwy_gaps *from,
		      const struct hwy_flow *flow)
{
	if (excerpt->flow.n_ops == 0)
		return;
	int64_t first = excerpt->flow.ops[0].start;
	int64_t last = excerpt->flow.ops[excerpt->flow.n_ops - 1].start;
	uint32_t cap = 0;
	for (uint32_t i = 0; i < from->n; i++) {
		struct hwy_gap gap = from->gaps[i];
		if (gap.at.to < first || gap.at.from > last)
			continue;
		gap.op = gap.op == FLOW_NONE ? FLOW_NONE
					     : excerpt_op(&excerpt->flow, &flow->ops[gap.op]);
		if (gap.op == FLOW_NONE)
			continue;
		gap.culprit = FLOW_NONE; /* no edit looks at the culprit */
		HWY_GROW(excerpt->gaps.gaps, excerpt->gaps.n, cap);
		excerpt->gaps.gaps[excerpt->gaps.n++] = gap;
	}
}

struct excerpt *excerpt_make(const struct hwy_analysis *analysis, uint32_t phase, uint32_t most,
			     const struct hwy_interval *window)
{
	struct choice choice;
	if (!excerpt_choose(&analysis->phases.phases[phase], &analysis->flow, most, window,
			    &choice))
		return NULL;
	struct excerpt *excerpt = hwy_zalloc(sizeof *excerpt);
	take_flow(&excerpt->flow, &analysis->flow, &choice);
	take_phase(&excerpt->phase, &analysis->phases.phases[phase], &choice);
	take_gaps(excerpt, &analysis->measures[phase].gaps, &analysis->flow);
	return excerpt;
}

/* ---- calls that communicate ------------------------------------------------------------------ */

static struct excerpt *take_whole_flow(const struct hwy_flow *flow)
{
	struct excerpt *excerpt = hwy_zalloc(sizeof *excerpt);
	excerpt->is_whole = true;
	excerpt->flow = *flow;
	excerpt->flow.calls = hwy_copy_array(flow->calls, flow->n_calls, sizeof *flow->calls);
	excerpt->flow.ops = hwy_copy_array(flow->ops, flow->n_ops, sizeof *flow->ops);
	return excerpt;
}

struct excerpt *excerpt_of_run(const struct hwy_flow *flow, uint32_t process, struct hwy_err *err)
{
	struct excerpt *excerpt = take_whole_flow(flow);
	struct hwy_interval always = {INT64_MIN, INT64_MAX};
	if (comm_calls_add(&excerpt->comm, &excerpt->flow, process, &always, err))
		return excerpt;
	excerpt_free(excerpt);
	return NULL;
}

static struct excerpt *take_all(const struct hwy_analysis *analysis, uint32_t phase)
{
	const struct hwy_flow *flow = &analysis->flow;
	const struct hwy_phase *whole = &analysis->phases.phases[phase];
	struct excerpt *excerpt = take_whole_flow(flow);
	excerpt->phase = *whole;
	excerpt->phase.steps = hwy_copy_array(whole->steps, whole->n_steps, sizeof *whole->steps);
	take_gaps(excerpt, &analysis->measures[phase].gaps, flow);
	return excerpt;
}

static struct hwy_interval window_of_calls(const struct excerpt *excerpt)
{
	const struct hwy_flow *flow = &excerpt->flow;
	struct hwy_interval window = {INT64_MIN, INT64_MAX};
	if (excerpt->is_whole || flow->n_calls == 0)
		return window;
	return (struct hwy_interval){flow->calls[0].start, flow->calls[flow->n_calls - 1].end};
}

bool excerpt_add_comm(struct excerpt **excerpt, const struct hwy_analysis *analysis, uint32_t phase,
		      uint32_t process, struct hwy_err *err)
{
	struct excerpt *to = *excerpt ? *excerpt : take_all(analysis, phase);
	struct hwy_interval window = window_of_calls(to);
	bool done = comm_calls_add(&to->comm, &to->flow, process, &window, err);
	const uint32_t *moved = to->comm.moved;
	for (uint32_t i = 0; i < to->phase.n_steps && moved; i++) {
		struct phase_step *step = &to->phase.steps[i];
		uint32_t end = moved[step->first_call + step->n_calls];
		step->first_call = moved[step->first_call];
		step->n_calls = end - step->first_call;
	}
	if (*excerpt || to->comm.n > 0)
		*excerpt = to;
	else
		excerpt_free(to);
	return done;
}

void excerpt_free(struct excerpt *excerpt)
{
	if (!excerpt)
		return;
	free(excerpt->flow.calls);
	free(excerpt->flow.ops);
	free(excerpt->phase.steps);
	free(excerpt->gaps.gaps);
	comm_calls_free(&excerpt->comm);
	free(excerpt);
}
