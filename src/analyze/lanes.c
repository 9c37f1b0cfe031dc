/* lanes.c - see lanes.h. A counting sort. */
#include "analyze/lanes.h"

#include <stdlib.h>

void lanes_open(struct flow_lanes *lanes, const struct hwy_flow *flow, uint32_t device)
{
	bool all = device == LANES_ALL || !flow->by_device;
	uint32_t n = all ? flow->n_ops : flow->devices[device].n, first = 0;
	const uint32_t *order = all ? NULL : flow->by_device + flow->devices[device].first;
	uint32_t *place = hwy_zalloc(((size_t)flow->trace->n_lanes + 1) * sizeof *place);
	*lanes = (struct flow_lanes){.ops = hwy_alloc(((size_t)n + 1) * sizeof *lanes->ops)};
	for (uint32_t i = 0; i < n; i++) {
		uint32_t lane = flow->ops[order ? order[i] : i].lane;
		lanes->n += place[lane]++ == 0;
	}
	lanes->lanes = hwy_alloc(((size_t)lanes->n + 1) * sizeof *lanes->lanes);
	lanes->n = 0;
	for (uint32_t l = 0; l < flow->trace->n_lanes; l++) {
		if (place[l] == 0)
			continue;
		lanes->lanes[lanes->n++] = (struct flow_lane){l, first, place[l]};
		first += place[l];
		place[l] = first - place[l];
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t op = order ? order[i] : i;
		lanes->ops[place[flow->ops[op].lane]++] = op;
	}
	free(place);
}

void lanes_close(struct flow_lanes *lanes)
{
	free(lanes->ops);
	free(lanes->lanes);
	*lanes = (struct flow_lanes){0};
}
