/* SPDX-License-Identifier: Apache-2.0 */
/* inside_device.c - see inside_device.h. */
#include "analyze/inside_device.h"
#include "base/lang.h"

#include <math.h>
#include <stdlib.h>

const char *const inside_words[INSIDE_WORDS] = {"unknown", "compute",   "memory",
						"latency", "occupancy", "communication"};
const char *const inside_sources[INSIDE_SOURCES] = {"none", "metrics", "counters", "shapes"};

/* The metrics that levels are made of. */
static const enum hwy_metric level_metrics[] = {
	METRIC_SMS_ACTIVE,
	METRIC_SM_ISSUE,
	METRIC_SM_THROUGHPUT,
	METRIC_TENSOR,
	METRIC_FP64,
	METRIC_FP32,
	METRIC_FP16,
	METRIC_FMA,
	METRIC_ALU,
	METRIC_WARPS,
	METRIC_DRAM,
	METRIC_DRAM_READ,
	METRIC_DRAM_WRITE,
	METRIC_DRAM_READ_RATE,
	METRIC_DRAM_WRITE_RATE,
	METRIC_L2,
	METRIC_L1,
	METRIC_PCIE_RX,
	METRIC_PCIE_TX,
	METRIC_NVLINK_RX,
	METRIC_NVLINK_TX,
};
enum { LEVEL_METRICS = sizeof level_metrics / sizeof *level_metrics };

/* ---- one set of levels ----------------------------------------------------------------------- */

/* The larger of two values of which either may be unknown. */
static double larger(double a, double b)
{
	return isnan(a) || b > a ? b : a;
}

static double added(double a, double b)
{
	return isnan(a) ? b : isnan(b) ? a : a + b;
}

/* Levels of single values by metric; not a number where a value is not known. */
static struct inside_levels levels_of_values(const double values[METRICS])
{
	double pipe = values[METRIC_SM_ISSUE];
	pipe = larger(pipe, values[METRIC_SM_THROUGHPUT]);
	pipe = larger(pipe, values[METRIC_FP64]);
	pipe = larger(pipe, values[METRIC_FP32]);
	pipe = larger(pipe, values[METRIC_FP16]);
	pipe = larger(pipe, values[METRIC_FMA]);
	pipe = larger(pipe, values[METRIC_ALU]);
	double dram = larger(values[METRIC_DRAM],
			     added(values[METRIC_DRAM_READ], values[METRIC_DRAM_WRITE]));
	return (struct inside_levels){
		.sms = values[METRIC_SMS_ACTIVE],
		.warps = values[METRIC_WARPS],
		.issue = values[METRIC_SM_ISSUE],
		.tensor = values[METRIC_TENSOR],
		.pipe = pipe,
		.dram = dram,
		.cache = larger(values[METRIC_L2], values[METRIC_L1]),
		.link = larger(larger(values[METRIC_PCIE_RX], values[METRIC_PCIE_TX]),
			       larger(values[METRIC_NVLINK_RX], values[METRIC_NVLINK_TX])),
	};
}

enum inside_word inside_classify(const struct inside_levels *levels)
{
	/* Without these a level below all limits means nothing. */
	if (isnan(levels->sms) || isnan(levels->dram) || isnan(levels->pipe))
		return INSIDE_UNKNOWN;
	const struct {
		double of_limit;
		enum inside_word word;
	} units[] = {
		{levels->pipe / INSIDE_COMPUTE_LIMIT, INSIDE_COMPUTE},
		{levels->tensor / INSIDE_TENSOR_LIMIT, INSIDE_COMPUTE},
		{levels->dram / INSIDE_DRAM_LIMIT, INSIDE_MEMORY},
		{levels->cache / INSIDE_CACHE_LIMIT, INSIDE_MEMORY},
		{levels->link / INSIDE_LINK_LIMIT, INSIDE_COMMUNICATION},
	};
	size_t nearest = 0;
	for (size_t i = 1; i < sizeof units / sizeof *units; i++)
		if (units[i].of_limit > units[nearest].of_limit)
			nearest = i;
	if (units[nearest].of_limit >= 1)
		return units[nearest].word;
	if (levels->sms < INSIDE_FEW_SMS)
		return INSIDE_OCCUPANCY;
	if (isnan(levels->warps))
		return INSIDE_UNKNOWN;
	return levels->warps < INSIDE_FEW_WARPS / 100.0 * levels->sms ? INSIDE_OCCUPANCY
								      : INSIDE_LATENCY;
}

/* ---- means ----------------------------------------------------------------------------------- */

void inside_add(struct inside_sums *sums, struct hwy_metrics *metrics, int64_t device,
		const struct hwy_interval *intervals, uint32_t n, double pure)
{
	for (unsigned m = 0; m < LEVEL_METRICS; m++)
		metric_add_percent(&sums->sums[level_metrics[m]],
				   metrics_percent(metrics, device, level_metrics[m]), intervals, n,
				   pure);
	sums->samples = sums->sums[METRIC_SMS_ACTIVE].samples;
}

struct inside_levels inside_levels_of(const struct inside_sums *sums)
{
	double values[METRICS];
	for (unsigned m = 0; m < METRICS; m++)
		values[m] = sums->sums[m].samples ? metric_mean(&sums->sums[m]) : (double)NAN;
	return levels_of_values(values);
}

/* ---- a phase --------------------------------------------------------------------------------- */

struct hwy_interval *inside_compute_time(const struct hwy_flow *flow, uint32_t device,
					 struct hwy_interval window, uint32_t *n)
{
	const struct flow_device *one = &flow->devices[device];
	struct hwy_interval *time = hwy_array(one->n, sizeof *time);
	struct hwy_cover cover = {0};
	*n = 0;
	for (uint32_t i = 0; i < one->n; i++) {
		const struct flow_op *op =
			&flow->ops[flow->by_device ? flow->by_device[one->first + i]
						   : one->first + i];
		int64_t from = op->start > window.from ? op->start : window.from;
		int64_t to = op->end < window.to ? op->end : window.to;
		if (op->class == HWY_COMPUTE && to > from)
			*n += cover_add(&cover, from, to, &time[*n]);
	}
	return time;
}

/* The parts of a window in which the device has no work of the recorded program, each without
 * 'margin' at both ends: clocks of samples and of kernels differ a little. */
static struct hwy_interval *inside_idle_time(const struct hwy_flow *flow, uint32_t device,
					     struct hwy_interval window, int64_t margin,
					     uint32_t *n)
{
	const struct flow_device *one = &flow->devices[device];
	struct hwy_interval *idle = hwy_array((size_t)one->n + 1, sizeof *idle);
	int64_t reach = window.from;
	*n = 0;
	for (uint32_t i = 0; i <= one->n && reach < window.to; i++) {
		const struct flow_op *op =
			i == one->n ? NULL
				    : &flow->ops[flow->by_device ? flow->by_device[one->first + i]
								 : one->first + i];
		int64_t next = op && op->start < window.to ? op->start : window.to;
		if (next > reach && next - reach > 2 * margin)
			idle[(*n)++] = (struct hwy_interval){reach + margin, next - margin};
		reach = op && op->end > reach ? op->end : reach;
	}
	return idle;
}

bool inside_is_shared(struct hwy_metrics *metrics, const struct hwy_flow *flow, uint32_t device,
		      struct hwy_interval window)
{
	const struct metric_series *sms =
		metrics_get(metrics, flow->devices[device].device, METRIC_SMS_ACTIVE);
	struct metric_sum sum = {0};
	uint32_t n;
	if (!sms || sms->period > (window.to - window.from) / 4)
		return false;
	struct hwy_interval *idle = inside_idle_time(flow, device, window, sms->period, &n);
	metric_add(&sum, sms, idle, n, METRIC_PURE_SHARE);
	free(idle);
	return sum.samples >= METRICS_FEWEST_SAMPLES && metric_mean(&sum) >= INSIDE_SHARED_SMS;
}

void inside_choose(struct inside *inside)
{
	enum inside_word first = INSIDE_COMPUTE;
	for (unsigned word = INSIDE_COMPUTE; word < INSIDE_WORDS; word++)
		first = inside->shares[word] > inside->shares[first] ? (enum inside_word)word
								     : first;
	double second = 0;
	for (unsigned word = INSIDE_COMPUTE; word < INSIDE_WORDS; word++)
		if (word != first && inside->shares[word] > second)
			second = inside->shares[word];
	bool leads = inside->shares[first] >= INSIDE_MAIN_SHARE &&
		     inside->shares[first] >= second + INSIDE_LEAD_SHARE;
	inside->word = leads ? first : INSIDE_UNKNOWN;
}

/* The value of a series while a sample of another series holds. Samplers take all metrics at
 * once, so that mostly the sample of the same number is the right one. */
static double value_beside(struct metric_percent percent, const struct metric_series *other,
			   uint32_t i)
{
	const struct metric_series *series = percent.series;
	if (!series)
		return (double)NAN;
	if (i < series->n && series->starts[i] == other->starts[i])
		return percent.factor * series->values[i];
	struct hwy_interval at = metric_holds(other, i);
	int64_t ns;
	double mean = metric_mean_between(series, at.from, at.to, &ns);
	return ns > 0 ? percent.factor * mean : (double)NAN;
}

struct judging {
	struct metric_percent series[METRICS];
	double ns[INSIDE_WORDS];
};

static void judge_sample(struct judging *judging, uint32_t sample, int64_t covered)
{
	double values[METRICS];
	for (unsigned m = 0; m < METRICS; m++)
		values[m] = value_beside(judging->series[m],
					 judging->series[METRIC_SMS_ACTIVE].series, sample);
	struct inside_levels levels = levels_of_values(values);
	judging->ns[inside_classify(&levels)] += (double)covered;
}

/* Judges the samples that the device's compute time covers. */
static void judge_device(struct judging *judging, const struct hwy_interval *time, uint32_t n)
{
	const struct metric_series *sms = judging->series[METRIC_SMS_ACTIVE].series;
	uint32_t k = 0;
	for (uint32_t i = 0; n && i < sms->n && k < n; i++) {
		struct hwy_interval at = metric_holds(sms, i);
		int64_t covered = 0;
		while (k < n && time[k].to <= at.from)
			k++;
		for (uint32_t j = k; j < n && time[j].from < at.to; j++) {
			int64_t from = time[j].from > at.from ? time[j].from : at.from;
			int64_t to = time[j].to < at.to ? time[j].to : at.to;
			covered += to - from;
		}
		if (covered > 0 && (double)covered >= METRIC_PURE_SHARE * (double)(at.to - at.from))
			judge_sample(judging, i, covered);
	}
}

/* What all devices were seen to do. */
struct inside_view {
	struct inside_sums sums;
	double ns[INSIDE_WORDS], judged; /* of samples */
	double computed, covered;        /* ns of computing, and those of them that samples cover */
	bool is_shared;
};

static void view_device(struct inside_view *view, struct hwy_metrics *metrics,
			const struct hwy_flow *flow, uint32_t d, struct hwy_interval window)
{
	int64_t device = flow->devices[d].device;
	struct judging judging = {0};
	struct metric_sum covered = {0};
	uint32_t n;
	struct hwy_interval *time = inside_compute_time(flow, d, window, &n);
	for (uint32_t i = 0; i < n; i++)
		view->computed += (double)(time[i].to - time[i].from);
	for (unsigned m = 0; m < LEVEL_METRICS; m++)
		judging.series[level_metrics[m]] =
			metrics_percent(metrics, device, level_metrics[m]);
	if (judging.series[METRIC_SMS_ACTIVE].series) {
		metric_add(&covered, judging.series[METRIC_SMS_ACTIVE].series, time, n, 0);
		judge_device(&judging, time, n);
		inside_add(&view->sums, metrics, device, time, n, METRIC_PURE_SHARE);
		view->is_shared |= inside_is_shared(metrics, flow, d, window);
	}
	free(time);
	view->covered += (double)covered.ns;
	for (unsigned word = 0; word < INSIDE_WORDS; word++) {
		view->ns[word] += judging.ns[word];
		view->judged += judging.ns[word];
	}
}

struct inside inside_from_metrics(struct hwy_metrics *metrics, const struct hwy_flow *flow,
				  struct hwy_interval window, const bool *uses)
{
	struct inside inside = {0};
	struct inside_view view = {0};
	for (uint32_t d = 0; metrics->n && d < flow->n_devices; d++) {
		int64_t device = flow->devices[d].device;
		if (device >= 0 && device < flow->trace->n_devices && (!uses || uses[d]))
			view_device(&view, metrics, flow, d, window);
	}
	if (view.is_shared)
		inside.why_not =
			HWY_KEY("others work on the GPU, too, and its counters count their work");
	else if (view.covered > 0 && view.covered < INSIDE_SAMPLED_SHARE * view.computed)
		inside.why_not =
			HWY_KEY("the GPU's counters were sampled for too little of that time");
	if (inside.why_not || view.sums.samples < METRICS_FEWEST_SAMPLES || view.judged <= 0)
		return inside;
	for (unsigned word = 0; word < INSIDE_WORDS; word++)
		inside.shares[word] = view.ns[word] / view.judged;
	inside.source = INSIDE_METRICS;
	inside.samples = view.sums.samples;
	inside.sampled = view.covered / view.computed;
	inside.levels = inside_levels_of(&view.sums);
	inside.known = 1 - inside.shares[INSIDE_UNKNOWN];
	inside_choose(&inside);
	return inside;
}
