/* SPDX-License-Identifier: Apache-2.0 */
/* device_clocks.c - see device_clocks.h. */
#include "analyze/device_clocks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/mem.h"
#include "base/quantile.h"

const char *const device_clocks_keys[CLOCK_LIMITS] = {
	[LIMIT_POWER_CAP] = "power_cap",     [LIMIT_SYNC_BOOST] = "sync_boost",
	[LIMIT_SW_THERMAL] = "sw_thermal",   [LIMIT_HW_THERMAL] = "hw_thermal",
	[LIMIT_POWER_BRAKE] = "power_brake",
};

const char *const device_clocks_words[CLOCK_LIMITS] = {
	[LIMIT_POWER_CAP] = HWY_KEY("the power limit"),
	[LIMIT_SYNC_BOOST] = HWY_KEY("slower GPUs of its group"),
	[LIMIT_SW_THERMAL] = HWY_KEY("heat"),
	[LIMIT_HW_THERMAL] = HWY_KEY("heat (hardware)"),
	[LIMIT_POWER_BRAKE] = HWY_KEY("the power supply"),
};

int64_t device_clocks_fact(const struct hwy_trace *trace, int64_t device, const char *name)
{
	char key[64], *end;
	snprintf(key, sizeof key, "gpu.%lld.%s", (long long)device, name);
	const char *text = hwy_property(trace, key);
	if (!text || *text < '0' || *text > '9')
		return HWY_NONE;
	long long value = strtoll(text, &end, 10);
	return *end ? HWY_NONE : value;
}

static struct clock_values values_of(struct hwy_metrics *metrics, int64_t device,
				     enum hwy_metric metric)
{
	struct clock_values found = {0};
	const struct metric_series *series = metrics_get(metrics, device, metric);
	double *sorted = hwy_array(series ? series->n : 0, sizeof *sorted);
	for (uint32_t i = 0; series && i < series->n; i++)
		if (isfinite(series->values[i])) {
			sorted[found.samples++] = series->values[i];
			found.mean += series->values[i];
		}
	if (found.samples) {
		hwy_sort_real(sorted, found.samples);
		found.least = sorted[0];
		found.most = sorted[found.samples - 1];
		found.median = hwy_median_between_real(sorted, found.samples);
		found.mean /= found.samples;
	}
	free(sorted);
	return found;
}

/* A device adds up its lost time a little before the first record and behind the last one. */
#define LOST_SLACK_NS INT64_C(1000000000)

/* Whether so much time can have been lost: not more than the recording lasted. The samples tell
 * that first, since all spans of a long recording take time to look through. */
static bool can_be_lost(struct hwy_metrics *metrics, int64_t device, int64_t ns)
{
	const struct metric_series *series = device_clocks_series(metrics, device);
	uint32_t kinds = HWY_KIND_BIT(HWY_KINDS) - 1;
	uint64_t columns = HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR);
	int64_t from, to, lasted;
	struct hwy_err err;
	if (ns <= LOST_SLACK_NS)
		return true;
	if (series && series->n &&
	    ns - LOST_SLACK_NS <= series->starts[series->n - 1] - series->starts[0])
		return true;
	return hwy_need(metrics->trace, kinds, columns, &err) &&
	       hwy_extent(metrics->trace, kinds, &from, &to) &&
	       !__builtin_sub_overflow(to, from, &lasted) && ns - LOST_SLACK_NS <= lasted;
}

bool device_clocks_read(struct device_clocks *clocks, struct hwy_metrics *metrics, int64_t device)
{
	const struct hwy_trace *trace = metrics->trace;
	*clocks = (struct device_clocks){
		.sm = values_of(metrics, device, METRIC_SM_CLOCK),
		.memory = values_of(metrics, device, METRIC_MEMORY_CLOCK),
		.power = values_of(metrics, device, METRIC_POWER),
		.temperature = values_of(metrics, device, METRIC_TEMPERATURE),
		.energy_mj = device_clocks_fact(trace, device, "energy_mj"),
	};
	if (!clocks->sm.samples)
		clocks->sm = values_of(metrics, device, METRIC_GPC_CLOCK);
	int64_t most = device_clocks_fact(trace, device, "most_sm_clock_hz");
	int64_t limit = device_clocks_fact(trace, device, "power_limit_mw");
	clocks->most_sm = most > 0 ? (double)most : 0;
	clocks->power_limit = limit > 0 ? (double)limit / 1e3 : 0;
	for (unsigned i = 0; i < CLOCK_LIMITS; i++) {
		char name[48];
		snprintf(name, sizeof name, "lost.%s_ns", device_clocks_keys[i]);
		clocks->lost[i] = device_clocks_fact(trace, device, name);
		if (clocks->lost[i] != HWY_NONE && !can_be_lost(metrics, device, clocks->lost[i]))
			clocks->lost[i] = HWY_NONE;
	}
	return clocks->sm.samples || clocks->power.samples;
}

const struct metric_series *device_clocks_series(struct hwy_metrics *metrics, int64_t device)
{
	const struct metric_series *series = metrics_get(metrics, device, METRIC_SM_CLOCK);
	return series ? series : metrics_get(metrics, device, METRIC_GPC_CLOCK);
}

struct hwy_interval *device_clocks_busy_times(const struct hwy_flow *flow, uint32_t flow_device,
					      struct hwy_interval window, uint32_t *n)
{
	const struct flow_device *device = &flow->devices[flow_device];
	struct hwy_interval *times = NULL;
	uint32_t cap = 0;
	*n = 0;
	for (uint32_t i = device->first; i < device->first + device->n; i++) {
		const struct flow_op *op = &flow->ops[flow->by_device ? flow->by_device[i] : i];
		int64_t from = op->start > window.from ? op->start : window.from;
		int64_t to = op->end < window.to ? op->end : window.to;
		if (from >= to)
			continue;
		if (*n && from <= times[*n - 1].to) {
			if (to > times[*n - 1].to)
				times[*n - 1].to = to;
			continue;
		}
		HWY_GROW(times, *n, cap);
		times[(*n)++] = (struct hwy_interval){from, to};
	}
	return times;
}

double device_clocks_busy(const struct hwy_flow *flow, const bool *uses, struct hwy_interval window)
{
	struct metric_sum sum = {0};
	struct hwy_metrics metrics;
	metrics_open(&metrics, flow->trace);
	for (uint32_t d = 0; d < flow->n_devices; d++) {
		int64_t device = flow->devices[d].device;
		const struct metric_series *series =
			device == HWY_NONE || (uses && !uses[d])
				? NULL
				: device_clocks_series(&metrics, device);
		if (!series)
			continue;
		uint32_t n;
		struct hwy_interval *times = device_clocks_busy_times(flow, d, window, &n);
		metric_add(&sum, series, times, n, 0);
		free(times);
	}
	metrics_close(&metrics);
	return sum.samples >= METRICS_FEWEST_SAMPLES ? metric_mean(&sum) : 0;
}
