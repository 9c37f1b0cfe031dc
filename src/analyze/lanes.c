/* SPDX-License-Identifier: Apache-2.0 */
/* lanes.c - see lanes.h. */
#include "analyze/lanes.h"

#include <stdlib.h>

#include "base/search.h"

void lanes_open(struct flow_lanes *lanes, const struct hwy_flow *flow, uint32_t device,
		uint32_t first, uint32_t end)
{
	*lanes = (struct flow_lanes){0};
	lanes->lanes = hwy_array(flow->n_lanes, sizeof *lanes->lanes);
	for (uint32_t l = 0; l < flow->n_lanes; l++) {
		struct flow_lane lane = flow->lanes[l];
		const uint32_t *ops = flow->by_lane + lane.first;
		uint32_t from = lanes_place(ops, lane.n, first), to = lanes_place(ops, lane.n, end);
		if (from >= to || (device != LANES_ALL && lane.device != device))
			continue;
		lane.first += from;
		lane.n = to - from;
		lanes->lanes[lanes->n++] = lane;
	}
}

void lanes_close(struct flow_lanes *lanes)
{
	free(lanes->lanes);
	*lanes = (struct flow_lanes){0};
}

uint32_t lanes_place(const uint32_t *order, uint32_t n, uint32_t op)
{
	if (!order)
		return op < n ? op : n;
	return HWY_FIRST(i, 0u, n, order[i] >= op);
}
