/* SPDX-License-Identifier: Apache-2.0 */
/* make_metrics.h - counters of a device for tests: lanes as samplers write them. */
#ifndef HWY_TESTS_MAKE_METRICS_H
#define HWY_TESTS_MAKE_METRICS_H

#include "make_trace.h"

static inline uint32_t metric_lane_of(struct hwy_builder *b, uint32_t device, const char *name,
				      const char *unit, int64_t type)
{
	struct hwy_lane lane = hwy_lane_of(HWY_LANE_COUNTER, HWY_NONE, HWY_NONE);
	lane.device = device;
	lane.name = hwy_text_id(b, name);
	lane.unit = hwy_text_id(b, unit);
	lane.value_type = type;
	return hwy_add_lane(b, lane);
}

static inline void metric_sample(struct hwy_builder *b, uint32_t lane, int64_t time, double value)
{
	struct hwy_row row = {0};
	int64_t bits = (int64_t)value;
	if (hwy_builder_trace(b)->lanes[lane].value_type == HWY_PAYLOAD_DOUBLE)
		memcpy(&bits, &value, sizeof bits);
	row.v[HWY_START] = time;
	row.v[HWY_VALUE] = bits;
	hwy_add_span(b, lane, HWY_COUNTER, &row);
}

/* A metric in % that has one value from 'from' to 'to', sampled every 100 us as nsys does. */
static inline void metric_level(struct hwy_builder *b, uint32_t device, const char *name,
				int64_t from, int64_t to, double value)
{
	uint32_t lane = metric_lane_of(b, device, name, "%", HWY_PAYLOAD_DOUBLE);
	for (int64_t time = from; time < to; time += 100000)
		metric_sample(b, lane, time, value);
}

#endif
