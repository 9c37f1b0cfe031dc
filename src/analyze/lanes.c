/* lanes.c - see lanes.h. A counting sort. */
#include "analyze/lanes.h"

#include <stdlib.h>

void lanes_open(struct flow_lanes *lanes, const struct hwy_flow *flow, uint32_t device,
		uint32_t first, uint32_t end)
{
	bool all = device == LANES_ALL;
	uint32_t n = 0, at = 0;
	uint32_t *place = hwy_zalloc(((size_t)flow->trace->n_lanes + 1) * sizeof *place);
	*lanes = (struct flow_lanes){0};
	for (uint32_t i = first; i < end; i++) {
		if (!all && flow->ops[i].device != device)
			continue;
		lanes->n += place[flow->ops[i].lane]++ == 0;
		n++;
	}
	lanes->ops = hwy_alloc(((size_t)n + 1) * sizeof *lanes->ops);
	lanes->lanes = hwy_alloc(((size_t)lanes->n + 1) * sizeof *lanes->lanes);
	lanes->n = 0;
	for (uint32_t l = 0; l < flow->trace->n_lanes; l++) {
		if (place[l] == 0)
			continue;
		lanes->lanes[lanes->n++] = (struct flow_lane){l, at, place[l]};
		at += place[l];
		place[l] = at - place[l];
	}
	for (uint32_t i = first; i < end; i++)
		if (all || flow->ops[i].device == device)
			lanes->ops[place[flow->ops[i].lane]++] = i;
	free(place);
}

void lanes_close(struct flow_lanes *lanes)
{
	free(lanes->ops);
	free(lanes->lanes);
	*lanes = (struct flow_lanes){0};
}

uint32_t lanes_place(const uint32_t *order, uint32_t n, uint32_t op)
{
	uint32_t low = 0, high = n;
	if (!order)
		return op < n ? op : n;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (order[middle] < op)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
