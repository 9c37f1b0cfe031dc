/* SPDX-License-Identifier: Apache-2.0 */
/* edit_fill.c - kernels that leave most multiprocessors without work spread it over all of them.
 *
 * How many have work is what counters say while the kernel runs; without them, the blocks of its
 * grid, where it runs alone. The kernel then takes that share of its time, but no less than its
 * bytes need: where counters show the memory's level, it cannot be driven above FILL_MOST_DRAM.
 * Left out are kernels below FILL_SHORT_NS, and kernels that run through the whole phase, whose
 * length is not their work's.
 */
#include <stdlib.h>

#include "analyze/device_metrics.h"
#include "base/lang.h"
#include "whatif/edits/edits.h"

#define FILL_SHORT_NS 20000
#define FILL_SMALL_SHARE 0.5
#define FILL_MOST_DRAM 90.0
#define FILL_WHOLE_PHASE_SHARE 0.9

/* Counters tell about a kernel where samples cover this share of it, and it is at least this
 * many distances long. */
#define FILL_COVERED_SHARE 0.75

struct filling {
	struct editing *e;
	struct hwy_metrics metrics;
	int64_t *reach; /* by device: the latest end of the ops so far */
};

/* An excerpt's flow has no devices of its own. */
static int64_t device_of_op(const struct filling *f, const struct flow_op *op)
{
	return f->e->w->analysis->flow.devices[op->device].device;
}

/* The mean of a metric while an op runs; -1 where the samples do not tell. */
static double level_while(struct filling *f, const struct flow_op *op, enum hwy_metric metric)
{
	int64_t device = device_of_op(f, op), ns;
	struct metric_percent percent = metrics_percent(&f->metrics, device, metric);
	if (!percent.series || op->end - op->start < percent.series->period)
		return -1;
	double mean = percent.factor * metric_mean_between(percent.series, op->start, op->end, &ns);
	return (double)ns >= FILL_COVERED_SHARE * (double)(op->end - op->start) ? mean : -1;
}

static double share_of_blocks(const struct filling *f, const struct flow_op *op)
{
	const struct hwy_trace *trace = f->e->flow->trace;
	int64_t sms = trace->devices[device_of_op(f, op)].sms;
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(trace, op->span, &row);
	const struct hwy_shape *shape = hwy_get_shape(trace, strip, row);
	if (!shape || sms <= 0 || shape->grid_x <= 0 || shape->grid_y <= 0 || shape->grid_z <= 0 ||
	    shape->grid_x > INT32_MAX || shape->grid_y > 65535 || shape->grid_z > 65535)
		return 1;
	return (double)(shape->grid_x * shape->grid_y * shape->grid_z) / (double)sms;
}

/* Whether no op of the device begins while op 'index' runs, and none that began before still
 * does. */
static bool runs_alone(const struct filling *f, uint32_t index)
{
	const struct hwy_flow *flow = f->e->flow;
	const struct flow_op *op = &flow->ops[index];
	if (f->reach[op->device] > op->start)
		return false;
	for (uint32_t i = index + 1; i < flow->n_ops && flow->ops[i].start < op->end; i++)
		if (flow->ops[i].device == op->device)
			return false;
	return true;
}

/* The share of its time that a kernel takes on all multiprocessors; 1 where it fills them
 * already. */
static double share_when_filled(struct filling *f, uint32_t index)
{
	const struct flow_op *op = &f->e->flow->ops[index];
	const struct hwy_interval *window = &f->e->w->phase->window;
	int64_t device = device_of_op(f, op), ns = op->end - op->start;
	if (op->kind != HWY_KERNEL || op->class != HWY_COMPUTE || ns < FILL_SHORT_NS ||
	    device < 0 ||
	    (double)ns >= FILL_WHOLE_PHASE_SHARE * (double)(window->to - window->from))
		return 1;
	double sms = level_while(f, op, METRIC_SMS_ACTIVE);
	double share = sms >= 0 ? sms / 100 : runs_alone(f, index) ? share_of_blocks(f, op) : 1;
	if (share >= FILL_SMALL_SHARE)
		return 1;
	double read = level_while(f, op, METRIC_DRAM_READ),
	       write = level_while(f, op, METRIC_DRAM_WRITE);
	double moved = ((read > 0 ? read : 0) + (write > 0 ? write : 0)) / FILL_MOST_DRAM;
	return moved > share ? moved < 1 ? moved : 1 : share;
}

static bool edit_fill_apply(struct editing *e, const char *arguments, struct hwy_err *err)
{
	(void)arguments;
	if (!hwy_need(e->flow->trace, HWY_KIND_BIT(HWY_KERNEL), HWY_COL_BIT(HWY_SHAPE), err))
		return false;
	struct filling f = {.e = e, .reach = hwy_array(e->flow->n_devices, sizeof *f.reach)};
	uint32_t found = 0;
	metrics_open(&f.metrics, e->flow->trace);
	for (uint32_t d = 0; d < e->flow->n_devices; d++)
		f.reach[d] = INT64_MIN;
	for (uint32_t i = 0; i < e->flow->n_ops; i++) {
		const struct flow_op *op = &e->flow->ops[i];
		double share = e->w->step_of[i] ? share_when_filled(&f, i) : 1;
		if (op->end > f.reach[op->device])
			f.reach[op->device] = op->end;
		if (share >= 1)
			continue;
		struct graph_node *node = &e->graph->nodes[graph_op(e->graph, i)];
		node->length = (int64_t)((double)node->length * share);
		found++;
	}
	metrics_close(&f.metrics);
	free(f.reach);
	return found > 0 || hwy_fail(err, hwy_tr("no long kernel of the phase leaves half of the "
						 "multiprocessors without work; one that runs "
						 "through the whole phase does not count"));
}

const struct edit_kind edit_fill = {
	.id = "fill-gpu",
	.arguments = "",
	.about = HWY_KEY(
		"long kernels that use few multiprocessors spread their work over all of them"),
	.only_removes = true,
	.apply = edit_fill_apply,
};
