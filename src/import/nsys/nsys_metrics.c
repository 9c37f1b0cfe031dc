/* nsys_metrics.c - GPU metrics: one counter lane a metric and GPU.
 *
 * Metric numbers differ between GPUs and releases; TARGET_INFO_GPU_METRICS names them. The GPU is in the low
 * byte of typeId, the host in its top 16 bits.
 */
#include <stdio.h>
#include <string.h>

#include "import/nsys/nsys.h"

static uint64_t metric_key(int64_t type, int64_t metric)
{
	return hwy_mix((uint64_t)type) ^ (uint64_t)metric;
}

/* "SM Issue [Throughput %]" is in %; clocks are named [MHz] but stored in Hz. */
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
	struct hwy_map names; /* metric_key -> text */
	struct hwy_map lanes; /* metric_key -> lane + 1 */
};

static uint32_t lane_of(struct nsys_query *q)
{
	struct metrics *metrics = q->user;
	uint64_t key = metric_key(nsys_int(q, 1), nsys_int(q, 2));
	uint32_t *lane = hwy_map_put(&metrics->lanes, key, NULL);
	if (!*lane) {
		const uint32_t *name = hwy_map_get(&metrics->names, key);
		char number[48];
		snprintf(number, sizeof number, "metric %lld", (long long)nsys_int(q, 2));
		*lane = 1 + counter_lane(q->nsys, nsys_int(q, 1),
					 name ? *name : hwy_text_id(q->nsys->b, number));
	}
	return *lane - 1;
}

static void add_value(struct nsys_query *q)
{
	if (!nsys_moment(q))
		return;
	q->row.v[HWY_VALUE] = nsys_int(q, 3);
	hwy_add_span(q->nsys->b, lane_of(q), HWY_COUNTER, &q->row);
}

void nsys_read_gpu_metrics(struct nsys *n)
{
	struct nsys_query q;
	struct metrics metrics = {0};
	if (nsys_select(n, &q, "TARGET_INFO_GPU_METRICS", "typeId metricId metricName", NULL)) {
		while (nsys_next(&q))
			*hwy_map_put(&metrics.names, metric_key(nsys_int(&q, 0), nsys_int(&q, 1)),
				     NULL) = nsys_text(&q, 2);
	}
	nsys_each(n, "GPU_METRICS", "~timestamp typeId metricId value", NULL, add_value, &metrics);
	hwy_map_free(&metrics.names);
	hwy_map_free(&metrics.lanes);
}
