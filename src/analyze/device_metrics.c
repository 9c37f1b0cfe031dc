/* SPDX-License-Identifier: Apache-2.0 */
/* device_metrics.c - see device_metrics.h.
 *
 * A value that is not a number, one that no device can have, and a sample without length (two
 * with one stamp) hold for no time: they count nowhere.
 */
#include "analyze/device_metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantile.h"
#include "base/search.h"

/* Names are compared up to " [", which begins nsys's unit. Several names stand for one metric:
 * releases of nsys differ. */
static const struct {
	const char *name, *unit;
	enum hwy_metric metric;
} names[] = {
	{"GR Active", "%", METRIC_GR_ACTIVE},
	{"SMs Active", "%", METRIC_SMS_ACTIVE},
	{"SM Active", "%", METRIC_SMS_ACTIVE},
	{"SM Utilization", "%", METRIC_SMS_ACTIVE},
	{"SM Issue", "%", METRIC_SM_ISSUE},
	{"SM Instructions", "%", METRIC_SM_ISSUE},
	{"SM Throughput", "%", METRIC_SM_THROUGHPUT},
	{"Tensor Active", "%", METRIC_TENSOR},
	{"Tensor Active / FP16 Active", "%", METRIC_TENSOR},
	{"HMMA Active", "%", METRIC_HMMA},
	{"IMMA Active", "%", METRIC_IMMA},
	{"FP64 Active", "%", METRIC_FP64},
	{"FP32 Active", "%", METRIC_FP32},
	{"FP16 Active", "%", METRIC_FP16},
	{"FMA Pipe Active", "%", METRIC_FMA},
	{"ALU Pipe Active", "%", METRIC_ALU},
	{"Compute Warps in Flight", "%", METRIC_WARPS},
	{"CS Warps in Flight", "%", METRIC_WARPS},
	{"SM Occupancy", "%", METRIC_WARPS},
	{"Unallocated Warps in Active SMs", "%", METRIC_UNALLOCATED},
	{"Unallocated Warps in Active SM", "%", METRIC_UNALLOCATED},
	{"DRAM Bandwidth", "%", METRIC_DRAM},
	{"DRAM Read Bandwidth", "%", METRIC_DRAM_READ},
	{"DRAM Read Throughput", "%", METRIC_DRAM_READ},
	{"DRAM Write Bandwidth", "%", METRIC_DRAM_WRITE},
	{"DRAM Write Throughput", "%", METRIC_DRAM_WRITE},
	{"DRAM Read", "B/s", METRIC_DRAM_READ_RATE},
	{"DRAM Write", "B/s", METRIC_DRAM_WRITE_RATE},
	{"L2 Throughput", "%", METRIC_L2},
	{"L2 Hit Rate", "%", METRIC_L2_HITS},
	{"L1 Throughput", "%", METRIC_L1},
	{"PCIe RX Throughput", "%", METRIC_PCIE_RX},
	{"PCIe TX Throughput", "%", METRIC_PCIE_TX},
	{"PCIe Read", "B/s", METRIC_PCIE_RX_RATE},
	{"PCIe RX", "B/s", METRIC_PCIE_RX_RATE},
	{"PCIe Write", "B/s", METRIC_PCIE_TX_RATE},
	{"PCIe TX", "B/s", METRIC_PCIE_TX_RATE},
	{"NVLink RX Bandwidth", "%", METRIC_NVLINK_RX},
	{"NVLink TX Bandwidth", "%", METRIC_NVLINK_TX},
	{"NVLink bytes received", "%", METRIC_NVLINK_RX},
	{"NVLink bytes transmitted", "%", METRIC_NVLINK_TX},
	{"NVLink RX", "B/s", METRIC_NVLINK_RX_RATE},
	{"NVLink TX", "B/s", METRIC_NVLINK_TX_RATE},
	{"Copy Engine Active", "%", METRIC_COPY_ENGINES},
	{"Front End Idle", "%", METRIC_FRONT_END_IDLE},
	{"GPC Clock Frequency", "Hz", METRIC_GPC_CLOCK},
	{"SYS Clock Frequency", "Hz", METRIC_SYS_CLOCK},
	{"DRAM Clock", "Hz", METRIC_DRAM_CLOCK},
	{"SM Clock", "Hz", METRIC_SM_CLOCK},
	{"Memory Clock", "Hz", METRIC_MEMORY_CLOCK},
	{"Power", "W", METRIC_POWER},
	{"Temperature", "°C", METRIC_TEMPERATURE},
	{"Throttle Reasons", "", METRIC_LIMITS},
};

enum hwy_metric metric_of_name(const char *name, const char *unit)
{
	const char *bracket = strstr(name, " [");
	size_t length = bracket ? (size_t)(bracket - name) : strlen(name);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strlen(names[i].name) == length &&
		    strncasecmp(names[i].name, name, length) == 0 &&
		    strcmp(names[i].unit, unit) == 0)
			return names[i].metric;
	return METRICS;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The median distance of the samples; of very many samples, that of some hundred of them. */
static int64_t usual_distance(const int64_t *starts, uint32_t n)
{
	enum { LOOKED_AT = 1001 };
	int64_t distances[LOOKED_AT];
	uint32_t every = 1 + n / LOOKED_AT, found = 0;
	for (uint32_t i = 1; i < n && found < LOOKED_AT; i += every)
		distances[found++] = starts[i] - starts[i - 1];
	hwy_sort(distances, found);
	return hwy_median_upper(distances, found);
}

struct hwy_interval metric_holds(const struct metric_series *series, uint32_t i)
{
	int64_t from = series->starts[i];
	return (struct hwy_interval){from, from + series->lengths[i + 1] - series->lengths[i]};
}

static void metric_series_sum_up(struct metric_series *series)
{
	/* A damaged recording may have any times: sums over some hundred series must not
	 * overflow. */
	int64_t most = INT64_MAX / 1024 / ((int64_t)series->n + 1);
	int64_t longest = series->period < most / METRIC_MOST_PERIODS
				  ? METRIC_MOST_PERIODS * series->period
				  : most;
	for (uint32_t i = 0; i < series->n; i++) {
		bool is_last = i + 1 == series->n;
		int64_t length =
			is_last ? series->period : series->starts[i + 1] - series->starts[i];
		length = length > longest ? longest : length;
		/* A NAN would spoil all sums behind it. */
		bool counts = isfinite(series->values[i]);
		length = counts ? length : 0;
		series->lengths[i + 1] = series->lengths[i] + length;
		series->sums[i + 1] =
			series->sums[i] + (counts ? series->values[i] * (double)length : 0);
	}
}

/* The most that a device can have, by unit; beyond it a recording is damaged. Shares a little
 * above 100 % are rounding. */
static const struct {
	const char *unit;
	double most;
} metric_limits[] = {{"%", 200}, {"Hz", 1e11}, {"B/s", 1e15}, {"W", 1e5}, {"°C", 1e3}};
#define METRIC_MOST_VALUE 1e18

static double metric_limit(const char *unit)
{
	for (size_t i = 0; i < sizeof metric_limits / sizeof *metric_limits; i++)
		if (strcmp(metric_limits[i].unit, unit) == 0)
			return metric_limits[i].most;
	return METRIC_MOST_VALUE;
}

static bool metric_is_possible(enum hwy_metric metric, double limit, double value)
{
	if (metric == METRICS)
		return fabs(value) <= METRIC_MOST_VALUE; /* false for what is not a number, too */
	return value >= (metric == METRIC_TEMPERATURE ? -limit : 0) && value <= limit;
}

bool metric_series_read(struct metric_series *series, struct hwy_trace *trace, uint32_t lane,
			struct hwy_err *err)
{
	const struct hwy_strip *strip = hwy_strip_on(trace, lane, HWY_COUNTER);
	*series = (struct metric_series){.lane = lane, .device = trace->lanes[lane].device};
	if (!strip || strip->rows == 0)
		return hwy_fail(err, "the counter has no values");
	if (!hwy_need_strip(trace, (uint32_t)(strip - trace->strips),
			    HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_VALUE), err))
		return false;
	series->n = strip->rows;
	series->starts = hwy_array(series->n, sizeof *series->starts);
	series->values = hwy_array(series->n, sizeof *series->values);
	series->sums = hwy_zarray((size_t)series->n + 1, sizeof *series->sums);
	series->lengths = hwy_zarray((size_t)series->n + 1, sizeof *series->lengths);
	const char *unit = hwy_str(trace, trace->lanes[lane].unit);
	enum hwy_metric metric = metric_of_name(hwy_str(trace, trace->lanes[lane].name), unit);
	bool is_real = trace->lanes[lane].value_type == HWY_PAYLOAD_DOUBLE;
	double limit = metric_limit(unit);
	for (uint32_t i = 0; i < series->n; i++) {
		int64_t value = hwy_get(strip, HWY_VALUE, i);
		series->starts[i] = hwy_get(strip, HWY_START, i);
		series->values[i] = (double)value;
		if (is_real)
			memcpy(&series->values[i], &value, sizeof value);
		if (!metric_is_possible(metric, limit, series->values[i]))
			series->values[i] = (double)NAN;
	}
	series->period = usual_distance(series->starts, series->n);
	metric_series_sum_up(series);
	series->is_read = true;
	return true;
}

void metric_series_free(struct metric_series *series)
{
	free(series->starts);
	free(series->values);
	free(series->sums);
	free(series->lengths);
	series->starts = series->lengths = NULL;
	series->values = series->sums = NULL;
	series->n = 0;
	series->is_read = false;
}

static struct metric_series *metrics_find(const struct hwy_metrics *metrics, int64_t device,
					  enum hwy_metric metric)
{
	for (uint32_t i = 0; i < metrics->n; i++)
		if (metrics->list[i].device == device && metrics->list[i].metric == metric)
			return &metrics->list[i];
	return NULL;
}

void metrics_open(struct hwy_metrics *metrics, struct hwy_trace *trace)
{
	*metrics = (struct hwy_metrics){.trace = trace};
	for (uint32_t lane = 0; lane < trace->n_lanes; lane++) {
		const struct hwy_lane *one = &trace->lanes[lane];
		if (one->type != HWY_LANE_COUNTER || one->device < 0 ||
		    one->device >= trace->n_devices || !hwy_strip_on(trace, lane, HWY_COUNTER))
			continue;
		enum hwy_metric metric =
			metric_of_name(hwy_str(trace, one->name), hwy_str(trace, one->unit));
		if (metric == METRICS || metrics_find(metrics, one->device, metric))
			continue;
		HWY_GROW(metrics->list, metrics->n, metrics->cap);
		metrics->list[metrics->n++] = (struct metric_series){
			.metric = metric, .device = one->device, .lane = lane};
	}
}

void metrics_close(struct hwy_metrics *metrics)
{
	for (uint32_t i = 0; i < metrics->n; i++)
		metric_series_free(&metrics->list[i]);
	free(metrics->list);
	*metrics = (struct hwy_metrics){0};
}

const struct metric_series *metrics_get(struct hwy_metrics *metrics, int64_t device,
					enum hwy_metric metric)
{
	struct metric_series *series = metrics_find(metrics, device, metric);
	struct hwy_err err;
	if (series && !series->is_read) {
		if (!metric_series_read(series, metrics->trace, series->lane, &err))
			metric_series_free(series);
		series->metric = metric;
		series->is_read = true; /* a lane that cannot be read is not tried again */
	}
	return series && series->n > 0 ? series : NULL;
}

/* ---- shares of what is possible -------------------------------------------------------------- */

/* Bytes a second that a x16 slot reaches in practice. GPUs of compute capability up to 7.x came
 * with PCIe generation 3, those of 8.x with 4, later ones with 5. */
#define PCIE3_BYTES_PER_S 12e9
#define PCIE4_BYTES_PER_S 24e9
#define PCIE5_BYTES_PER_S 50e9

double metric_pcie_rate(const struct hwy_device *device)
{
	if (!device)
		return PCIE3_BYTES_PER_S;
	if (device->pcie_generation >= 3 && device->pcie_generation <= 7 &&
	    device->pcie_width > 0 && device->pcie_width <= 32)
		/* A lane has 1 GB/s a direction in generation 3, twice that in each later one;
		 * copies reach 80 % of it. */
		return 0.8e9 * (double)device->pcie_width *
		       (double)(1 << (device->pcie_generation - 3));
	if (device->compute_major >= 8)
		return device->compute_major >= 9 ? PCIE5_BYTES_PER_S : PCIE4_BYTES_PER_S;
	return PCIE3_BYTES_PER_S;
}

double metric_nvlink_rate(const struct hwy_device *device)
{
	switch (device->compute_major) {
	case 7: return device->compute_minor == 0 ? 150e9 : 0; /* V100: 6 links */
	case 8: return device->compute_minor == 0 ? 300e9 : 0; /* A100: 12 links */
	case 9: return 450e9;                                  /* H100, H200: 18 links */
	case 10: return 900e9;                                 /* B200: 18 links */
	default: return 0;
	}
}

struct metric_percent metrics_percent(struct hwy_metrics *metrics, int64_t device,
				      enum hwy_metric metric)
{
	const struct metric_series *series = metrics_get(metrics, device, metric);
	if (series || device < 0 || device >= metrics->trace->n_devices)
		return (struct metric_percent){series, 1};
	const struct hwy_device *one = &metrics->trace->devices[device];
	enum hwy_metric rate = METRICS;
	double most = 0;
	switch (metric) {
	case METRIC_DRAM_READ: rate = METRIC_DRAM_READ_RATE; break;
	case METRIC_DRAM_WRITE: rate = METRIC_DRAM_WRITE_RATE; break;
	case METRIC_PCIE_RX: rate = METRIC_PCIE_RX_RATE; break;
	case METRIC_PCIE_TX: rate = METRIC_PCIE_TX_RATE; break;
	case METRIC_NVLINK_RX: rate = METRIC_NVLINK_RX_RATE; break;
	case METRIC_NVLINK_TX: rate = METRIC_NVLINK_TX_RATE; break;
	default: return (struct metric_percent){NULL, 1};
	}
	if (metric == METRIC_DRAM_READ || metric == METRIC_DRAM_WRITE)
		most = (double)one->memory_bandwidth;
	else if (metric == METRIC_PCIE_RX || metric == METRIC_PCIE_TX)
		most = metric_pcie_rate(one);
	else
		most = metric_nvlink_rate(one);
	if (most <= 0)
		return (struct metric_percent){NULL, 1};
	return (struct metric_percent){metrics_get(metrics, device, rate), 100 / most};
}

/* ---- means ----------------------------------------------------------------------------------- */

/* The first sample that holds after 'time'. */
static uint32_t first_after(const struct metric_series *series, int64_t time)
{
	return HWY_FIRST(i, 0, series->n, metric_holds(series, i).to > time);
}

/* first_after for a time that is not before the sample 'from': mostly a step or two behind it. */
static uint32_t next_after(const struct metric_series *series, uint32_t from, int64_t time)
{
	enum { STEPS = 8 };
	for (int step = 0; step < STEPS; step++, from++)
		if (from >= series->n || metric_holds(series, from).to > time)
			return from;
	return HWY_FIRST(i, from, series->n, metric_holds(series, i).to > time);
}

/* Value times ns, and ns, of all samples up to a time. */
static double sum_until(const struct metric_series *series, int64_t time, int64_t *ns)
{
	uint32_t i = first_after(series, time);
	*ns = series->lengths[i];
	double sum = series->sums[i];
	if (i == series->n || series->starts[i] >= time)
		return sum;
	*ns += time - series->starts[i];
	return sum + series->values[i] * (double)(time - series->starts[i]);
}

double metric_mean_between(const struct metric_series *series, int64_t from, int64_t to,
			   int64_t *ns)
{
	int64_t before, until;
	double sum = -sum_until(series, from, &before);
	sum += sum_until(series, to, &until);
	*ns = to > from ? until - before : 0;
	return *ns > 0 ? sum / (double)*ns : 0;
}

static void metric_count(struct metric_sum *sum, double value, int64_t covered)
{
	sum->least = sum->samples == 0 || value < sum->least ? value : sum->least;
	sum->most = sum->samples == 0 || value > sum->most ? value : sum->most;
	sum->samples++;
	sum->ns += covered;
	sum->weighed += value * (double)covered;
}

void metric_add(struct metric_sum *sum, const struct metric_series *series,
		const struct hwy_interval *intervals, uint32_t n, double pure)
{
	uint32_t sample = n ? first_after(series, intervals[0].from) : 0;
	for (uint32_t k = 0; k < n;) {
		sample = next_after(series, sample, intervals[k].from);
		if (sample >= series->n)
			return;
		/* All intervals that cover a part of this sample; the last one may cover the
		 * next samples, too. */
		struct hwy_interval at = metric_holds(series, sample);
		int64_t covered = 0;
		while (k < n && intervals[k].from < at.to) {
			int64_t from = intervals[k].from > at.from ? intervals[k].from : at.from;
			int64_t to = intervals[k].to < at.to ? intervals[k].to : at.to;
			covered += to > from ? to - from : 0;
			if (intervals[k].to > at.to)
				break;
			k++;
		}
		if (covered > 0 && (double)covered >= pure * (double)(at.to - at.from))
			metric_count(sum, series->values[sample], covered);
		sample++;
	}
}

void metric_add_percent(struct metric_sum *sum, struct metric_percent percent,
			const struct hwy_interval *intervals, uint32_t n, double pure)
{
	struct metric_sum own = {0};
	if (!percent.series)
		return;
	metric_add(&own, percent.series, intervals, n, pure);
	if (own.samples == 0)
		return;
	double least = own.least * percent.factor, most = own.most * percent.factor;
	sum->least = sum->samples == 0 || least < sum->least ? least : sum->least;
	sum->most = sum->samples == 0 || most > sum->most ? most : sum->most;
	sum->samples += own.samples;
	sum->ns += own.ns;
	sum->weighed += own.weighed * percent.factor;
}
