/* nsys_metrics.c - GPU metrics: one counter lane a metric and GPU.
 *
 * Metric numbers differ between GPUs and releases; TARGET_INFO_GPU_METRICS names them. The GPU is in the low
 * byte of typeId, the host in its top 16 bits.
 */
#include <stdlib.h>
#include <string.h>

#include "import/nsys.h"

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

static void read_values(struct nsys *n, const struct hwy_map *names, struct hwy_map *lanes)
{
	struct nsys_query q;
	struct hwy_row row = {0};
	if (!nsys_select(n, &q, "GPU_METRICS", "!timestamp typeId metricId value", NULL))
		return;
	while (nsys_next(&q)) {
		if (!nsys_moment(&q, &row))
			continue;
		uint64_t key = metric_key(nsys_int(&q, 1), nsys_int(&q, 2));
		uint32_t *lane = hwy_map_put(lanes, key, NULL);
		if (!*lane) {
			const uint32_t *name = hwy_map_get(names, key);
			char number[48];
			sqlite3_snprintf(sizeof number, number, "metric %lld",
					 (long long)nsys_int(&q, 2));
			*lane = 1 + counter_lane(n, nsys_int(&q, 1),
						 name ? *name : hwy_text_id(n->b, number));
		}
		row.v[HWY_VALUE] = nsys_int(&q, 3);
		hwy_add_span(n->b, *lane - 1, HWY_COUNTER, &row);
	}
}

void nsys_read_gpu_metrics(struct nsys *n)
{
	struct nsys_query q;
	struct hwy_map names = {0}, lanes = {0};
	if (nsys_select(n, &q, "TARGET_INFO_GPU_METRICS", "typeId metricId metricName", NULL)) {
		while (nsys_next(&q))
			*hwy_map_put(&names, metric_key(nsys_int(&q, 0), nsys_int(&q, 1)), NULL) =
				nsys_text(&q, 2);
	}
	read_values(n, &names, &lanes);
	hwy_map_free(&names);
	hwy_map_free(&lanes);
}
