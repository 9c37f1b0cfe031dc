/* SPDX-License-Identifier: Apache-2.0 */
/* nsys_metrics.c - reads GPU metrics: one counter lane for each metric of each GPU.
 *
 * The numbers of metrics differ between GPUs and releases; TARGET_INFO_GPU_METRICS has their names.
 * typeId has the GPU in its low byte and the host in its top 16 bits.
 */
#include <stdio.h>
#include <string.h>

#include "import/nsys/nsys.h"

struct metric_key { /* a key of a struct hwy_index, so it must have no padding */
	int64_t type, metric;
};

/* The unit, from the name of a metric: "SM Issue [Throughput %]" is in %. Clocks have [MHz] in
 * their name, but their values are in Hz. */
static uint32_t unit_of(struct nsys *n, const char *name)
{
	const char *open = strrchr(name, '[');
	size_t length = open ? strcspn(open + 1, "]") : 0;
	if (!length)
		return 0;
	if (open[length] == '%')
		return hwy_text_id(n->b, "%");
	if (length == 3 && !memcmp(open + 1, "MHz", 3))
		return hwy_text_id(n->b, "Hz");
	return hwy_text_id_n(n->b, open + 1, length);
}

static uint32_t counter_lane(struct nsys *n, int64_t type, uint32_t name)
{
	struct hwy_lane lane = hwy_lane_of(HWY_LANE_COUNTER, HWY_NONE, HWY_NONE);
	lane.device = nsys_gpu(n, nsys_host(n, type), type & 0xff);
	lane.name = name;
	lane.unit = unit_of(n, hwy_str(n->trace, name));
	lane.value_type = HWY_PAYLOAD_I64;
	return hwy_add_lane(n->b, lane);
}

struct metrics {
	/* 'names' maps a struct metric_key to the metric's name, a text of the trace. */
	struct hwy_index names;
	struct hwy_index lanes; /* maps a struct metric_key to the metric's lane */
};

static uint32_t metric_lane(struct nsys_query *q)
{
	struct metrics *metrics = q->user;
	struct metric_key key = {nsys_int(q, 1), nsys_int(q, 2)};
	bool fresh;
	uint32_t *lane = hwy_index_put(&metrics->lanes, &key, sizeof key, &fresh);
	if (fresh) {
		const uint32_t *name = hwy_index_get(&metrics->names, &key, sizeof key);
		char number[48];
		snprintf(number, sizeof number, "metric %lld", (long long)key.metric);
		*lane = counter_lane(q->nsys, key.type,
				     name ? *name : hwy_text_id(q->nsys->b, number));
	}
	return *lane;
}

/* A value that is no number is not 0: what is not known must not look like an idle GPU. Files
 * that other tools rewrote hold numbers as texts. */
static void add_value(struct nsys_query *q)
{
	int type = sqlite3_value_numeric_type(q->values[3]);
	if ((type != SQLITE_INTEGER && type != SQLITE_FLOAT) || !nsys_moment(q))
		return;
	q->row.v[HWY_VALUE] = nsys_int(q, 3);
	hwy_add_span(q->nsys->b, metric_lane(q), HWY_COUNTER, &q->row);
}

void nsys_read_gpu_metrics(struct nsys *n)
{
	struct nsys_query q;
	struct metrics metrics = {0};
	if (nsys_select(n, &q, "TARGET_INFO_GPU_METRICS", "typeId metricId metricName", NULL)) {
		while (nsys_next(&q)) {
			struct metric_key key = {nsys_int(&q, 0), nsys_int(&q, 1)};
			*hwy_index_put(&metrics.names, &key, sizeof key, NULL) = nsys_text(&q, 2);
		}
	}
	nsys_each(n, "GPU_METRICS", "~timestamp typeId metricId ~value", NULL, add_value, &metrics);
	hwy_index_free(&metrics.names);
	hwy_index_free(&metrics.lanes);
}
