/* SPDX-License-Identifier: Apache-2.0 */
/* costs.c - takes what recording cost out of a graph.
 *
 * The cost of recording a call is taken from three places: a little from the CPU's work before the
 * call, then from the call's length, the rest again from the CPU's work before it. Ranges and
 * operators cost the thread that makes them: their cost is taken from the CPU's work before the
 * next call. The time that the recorder measured of itself, above all for taking stacks, is taken
 * out where it lies. On the device a recorded kernel begins a little later after its launch and
 * after the kernel before it. Nothing becomes negative, and nothing but calls, lags and the CPU's
 * own work is touched.
 */
#include <stdlib.h>
#include <string.h>

#include "whatif/whatif.h"

enum { LOOK_AROUND_CALLS = 64 }; /* so many calls around a span are searched */

/* Recording time in ns that is charged to each call, beside the usual cost of recording a call. */
struct charges {
	int64_t *before; /* for each call, the ns to take from the CPU's work before the call */
	int64_t *within; /* for each call, the ns to take from the call's length */
};

/* The calibration launches in a loop, where the recorder's code and data are in the CPU's caches.
 * After other work they are not: PyTorch programs that never wait paid 1.7 to 4.9 µs a launch
 * (H200, launches of 3.5 µs, on calm CPUs; 3.5 in the middle) where the loop pays 1.35. */
/* constants of cost_when_cold, in ns */
enum { COLD_COST_NS = 2000, COLD_LAUNCH_NS = 3500, COLD_FROM_NS = 4000 };

static int64_t cost_when_cold(const struct whatif_machine *machine, int64_t work_before)
{
	if (!machine->is_measured)
		return 0; /* costs from the table were measured with cold caches already */
	int64_t most = COLD_COST_NS * machine->launch / COLD_LAUNCH_NS;
	return work_before < COLD_FROM_NS ? most * work_before / COLD_FROM_NS : most;
}

static int64_t cost_of_call(const struct whatif_machine *machine, const struct flow_call *call,
			    int64_t work_before)
{
	if (graph_is_comm_call(call))
		return 0;
	switch (call->role) {
	case HWY_ROLE_LAUNCH:
	case HWY_ROLE_COPY:
	case HWY_ROLE_FILL: return machine->cost.launch + cost_when_cold(machine, work_before);
	case HWY_ROLE_GRAPH_LAUNCH: return machine->cost.graph_launch;
	default: return machine->cost.sync;
	}
}

static int64_t lessened(int64_t value, int64_t by)
{
	return value > by ? value - by : 0;
}

/* Takes up to 'most' from *value, not below 0, and yields how much was taken. */
static int64_t take_from(int64_t *value, int64_t most)
{
	int64_t taken = *value < most ? *value : most;
	*value -= taken;
	return taken;
}

/* The part of a call's recording cost that lies before the call's recorded begin: where a program
 * does nothing but call, its calls are recorded 0.3 to 0.5 µs apart (H200). */
enum { OUTSIDE_NS = 400 };

static void lessen_call(struct whatif *w, uint32_t index, int64_t before, int64_t within)
{
	struct graph_node *node = &w->graph.nodes[index];
	const int64_t work = whatif_work_before(w, &w->graph, index);
	int64_t left = work;
	take_from(&left, before);
	take_from(&node->length, within);
	int64_t cost = cost_of_call(&w->machine, &w->flow->calls[node->flow_index], left);
	cost -= take_from(&left, cost < OUTSIDE_NS ? cost : OUTSIDE_NS);
	cost -= take_from(&node->length, cost < node->length / 2 ? cost : node->length / 2);
	take_from(&left, cost);
	node->delay -= work - left;
}

static void lessen_op(struct graph_node *node, const struct whatif_machine *machine)
{
	if (!graph_overlaps(node))
		node->lag[GRAPH_ORDER] =
			(uint16_t)lessened(node->lag[GRAPH_ORDER], machine->cost.next);
	node->lag[GRAPH_CAUSE] = (uint16_t)lessened(node->lag[GRAPH_CAUSE], machine->cost.latency);
}

/* The next call of a process at or after a time, or n_calls. Looks at a few calls only: those of
 * other processes are few, or far away. */
static uint32_t next_call(const struct hwy_flow *flow, int64_t process, int64_t time)
{
	uint32_t call = flow_call_at(flow, time);
	for (int i = 0; i < LOOK_AROUND_CALLS && call < flow->n_calls; i++, call++)
		if (flow->calls[call].process == process)
			return call;
	return flow->n_calls;
}

/* Charges half of 'cost' for the begin of each span of a strip and half for its end to the next
 * call. What lies before 'from' is not charged: no call comes before it, and the steps begin
 * there. */
static void charge(const struct hwy_flow *flow, const struct hwy_strip *strip, int64_t cost,
		   int64_t from, int64_t *before)
{
	int64_t process = flow->trace->lanes[strip->lane].process;
	for (uint32_t row = 0; row < strip->rows; row++) {
		int64_t start = hwy_get(strip, HWY_START, row), end = hwy_end(strip, row);
		if (start >= from)
			before[next_call(flow, process, start)] += cost / 2;
		if (end >= from)
			before[next_call(flow, process, end)] += cost - cost / 2;
	}
}

static bool is_own_time(const struct hwy_trace *trace, const struct hwy_strip *strip)
{
	const struct hwy_lane *lane = &trace->lanes[strip->lane];
	return strip->kind == HWY_OVERHEAD && lane->thread != HWY_NONE &&
	       strcmp(hwy_str(trace, lane->name), "profiler") == 0;
}

/* The nearest call of a thread, counted from the call 'from' forwards (step 1) or backwards (-1),
 * or n_calls. */
static uint32_t call_of_thread(const struct hwy_flow *flow, int64_t thread, int64_t from, int step)
{
	for (int i = 0; i < LOOK_AROUND_CALLS && from >= 0 && from < flow->n_calls;
	     i++, from += step)
		if (flow->calls[from].thread == thread)
			return (uint32_t)from;
	return flow->n_calls;
}

/* Charges the recorder's own time on a thread to the call around it, else to the thread's next
 * call. Time that two spans cover is charged once; time before 'from' (the first call of an
 * excerpt, say) is not charged. */
static void charge_own_time(const struct hwy_flow *flow, const struct hwy_strip *strip,
			    int64_t from, const struct charges *charges)
{
	int64_t thread = flow->trace->lanes[strip->lane].thread;
	/* The time up to which the recorder's own time is charged already. */
	int64_t charged = from;
	for (uint32_t row = 0; row < strip->rows; row++) {
		int64_t start = hwy_get(strip, HWY_START, row), end = hwy_end(strip, row);
		start = start > charged ? start : charged;
		if (end <= start)
			continue;
		charged = end;
		int64_t first_after = flow_call_at(flow, start);
		uint32_t around = call_of_thread(flow, thread, first_after - 1, -1);
		if (around < flow->n_calls && flow->calls[around].end >= end)
			charges->within[around] += end - start;
		else
			charges->before[call_of_thread(flow, thread, first_after, 1)] +=
				end - start;
	}
}

void costs_take_out(struct whatif *w)
{
	const struct hwy_flow *flow = w->flow;
	const struct whatif_cost *cost = &w->machine.cost;
	bool begins_with_lead = w->lead.is_set && w->lead.after == GRAPH_NONE;
	int64_t from = begins_with_lead ? w->lead.offset : INT64_MIN;
	int64_t own_from = flow->n_calls > 0 ? flow->calls[0].start : INT64_MAX;
	/* One element more: time that lies before no call of the process is charged to
	 * [n_calls]. */
	struct charges charges = {hwy_zarray(flow->n_calls + 1, sizeof *charges.before),
				  hwy_zarray(flow->n_calls + 1, sizeof *charges.within)};
	for (uint32_t s = 0; s < flow->trace->n_strips; s++) {
		const struct hwy_strip *strip = &flow->trace->strips[s];
		if (strip->kind == HWY_RANGE && cost->range > 0)
			charge(flow, strip, cost->range, from, charges.before);
		if (strip->kind == HWY_OP && cost->op > 0)
			charge(flow, strip, cost->op, from, charges.before);
		if (is_own_time(flow->trace, strip))
			charge_own_time(flow, strip, begins_with_lead ? from : own_from, &charges);
	}
	for (uint32_t i = 0; i < w->graph.n; i++) {
		struct graph_node *node = &w->graph.nodes[i];
		if (node->kind == GRAPH_CALL)
			lessen_call(w, i, charges.before[node->flow_index],
				    charges.within[node->flow_index]);
		else if (node->kind == GRAPH_OP)
			lessen_op(node, &w->machine);
	}
	free(charges.before);
	free(charges.within);
}
