/* SPDX-License-Identifier: Apache-2.0 */
/* machine_limits.c - how fast the machine's link is, and what recording added: from the report's
 * calibration where there is one, else from the trace itself, else from what is usual. */
#include <string.h>

#include "base/search.h"
#include "diagnose/case.h"
#include "whatif/whatif.h"

/* A copy of so many bytes runs at the link's rate: its latency is only a few percent of its
 * time. */
#define LINK_BYTES (4u << 20)

bool machine_limits_calibrated(const struct hwy_trace *trace, const char *name, double *value)
{
	for (uint32_t i = 0; i < trace->n_calibrations; i++) {
		const struct hwy_calibration *one = &trace->calibrations[i];
		if (strcmp(hwy_str(trace, one->name), name) != 0 || one->value == HWY_NONE)
			continue;
		*value = (double)one->value;
		return true;
	}
	return false;
}

const char *machine_limits_link_key(enum hwy_direction direction)
{
	return direction == HWY_D2H ? "machine.copy_d2h_pinned_bandwidth"
				    : "machine.copy_h2d_pinned_bandwidth";
}

double machine_limits_link_rate(const struct hwy_case *c, enum hwy_direction direction,
				bool *is_known)
{
	double rate = 0;
	*is_known = true;
	if (machine_limits_calibrated(c->trace, machine_limits_link_key(direction), &rate) &&
	    rate > 0)
		return rate;
	for (uint32_t i = 0; i < c->n_transfers; i++) {
		const struct case_transfer *one = &c->transfers[i];
		const struct flow_op *op = &c->flow->ops[one->op];
		bool pinned = one->source == HWY_MEM_PINNED || one->target == HWY_MEM_PINNED;
		if (one->direction != direction || !pinned || one->bytes < LINK_BYTES ||
		    op->end <= op->start)
			continue;
		double seen = (double)one->bytes * 1e9 / (double)(op->end - op->start);
		rate = seen > rate ? seen : rate;
	}
	if (rate > 0)
		return rate;
	*is_known = false;
	for (uint32_t d = 0; d < c->flow->n_devices; d++)
		if (c->uses[d] && c->flow->devices[d].device != HWY_NONE)
			return machine_model_link_rate(
				&c->trace->devices[c->flow->devices[d].device]);
	return machine_model_link_rate(NULL);
}

/* How many operators began in the steady part of the phase. */
static uint64_t count_operators(const struct hwy_case *c)
{
	uint64_t n = 0;
	for (uint32_t s = 0; s < c->trace->n_strips; s++) {
		const struct hwy_strip *strip = &c->trace->strips[s];
		if (strip->kind != HWY_OP)
			continue;
		uint32_t from = HWY_FIRST(row, 0u, strip->rows,
					  hwy_get(strip, HWY_START, row) >= c->phase->window.from);
		uint32_t to = HWY_FIRST(row, from, strip->rows,
					hwy_get(strip, HWY_START, row) >= c->phase->window.to);
		n += to - from;
	}
	return n;
}

bool machine_limits_recording_cost(const struct hwy_case *c, int64_t *ns)
{
	double launch, sync = 0, graph = 0, sum;
	const uint64_t *calls = c->counts.calls;
	if (!machine_limits_calibrated(c->trace, "cost.launch", &launch))
		return false;
	machine_limits_calibrated(c->trace, "cost.sync", &sync);
	machine_limits_calibrated(c->trace, "cost.graph_launch", &graph);
	sum = launch * (double)(calls[HWY_ROLE_LAUNCH] + calls[HWY_ROLE_COPY] +
				calls[HWY_ROLE_FILL]) +
	      sync * (double)calls[HWY_ROLE_SYNC] + graph * (double)calls[HWY_ROLE_GRAPH_LAUNCH];
	int64_t operator_cost = machine_model_operator_cost(c->trace);
	if (operator_cost)
		sum += (double)operator_cost * (double)count_operators(c);
	*ns = (int64_t)sum;
	return true;
}
