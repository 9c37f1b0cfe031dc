/* SPDX-License-Identifier: Apache-2.0 */
/* edit_pin.c - host memory is pinned: copies run at the link's speed and no longer hold up the CPU.
 *
 * A copy takes the latency and bandwidth of pinned copies on this machine, never longer than it
 * took; its call becomes as short as a launch. Calls that are documented to wait until the copy is
 * over still wait.
 */
#include <string.h>

#include "base/lang.h"
#include "whatif/edits/edits.h"

static void pin(struct editing *e, uint32_t index)
{
	struct graph_node *node = &e->graph->nodes[index];
	struct edit_copy copy = edit_copy_of(e, node->flow_index);
	bool is_up = copy.direction == HWY_H2D || copy.direction == HWY_H2A;
	const struct whatif_link *link = is_up ? &e->w->machine.h2d : &e->w->machine.d2h;
	int64_t length = edit_time_of((double)copy.bytes, link->bandwidth);
	if (length < node->length)
		node->length = length;
	node->delay = 0; /* the delay was staging, which pinned memory does not need */
	if (node->lag[GRAPH_CAUSE] > link->latency)
		node->lag[GRAPH_CAUSE] = (uint16_t)link->latency;
}

static bool waits_by_contract(const struct editing *e, uint32_t call)
{
	uint32_t row;
	const struct hwy_strip *strip =
		hwy_strip_of(e->flow->trace, e->flow->calls[call].span, &row);
	return hwy_role(e->flow->trace, hwy_get(strip, HWY_NAME, row)) & HWY_ROLE_BLOCKS;
}

static void free_call(struct editing *e, uint32_t index)
{
	struct graph_node *node = &e->graph->nodes[index];
	if (node->kind == GRAPH_RETURN) {
		if (!waits_by_contract(e, node->flow_index))
			edit_no_wait(e, index);
		return;
	}
	if (node->length > e->w->machine.launch)
		node->length = e->w->machine.launch;
	edit_warm_next(e, index);
}

static bool is_pageable_call(const struct editing *e, uint32_t call)
{
	uint32_t op = e->flow->calls[call].op;
	return op != FLOW_NONE && e->flow->ops[op].kind == HWY_COPY &&
	       edit_copy_of(e, op).is_pageable;
}

static bool edit_pin_apply(struct editing *e, const char *place, struct hwy_err *err)
{
	uint32_t found = 0;
	for (uint32_t i = 0; i < e->graph->n; i++) {
		const struct graph_node *node = &e->graph->nodes[i];
		uint32_t call = node->kind == GRAPH_OP ? e->flow->ops[node->flow_index].call
						       : node->flow_index;
		if (call == FLOW_NONE || !edit_step_of(e, call) || !is_pageable_call(e, call) ||
		    !edit_is_at(e, call, place))
			continue;
		found++;
		if (node->kind == GRAPH_OP)
			pin(e, i);
		else
			free_call(e, i);
	}
	return found > 0 || hwy_fail(err, hwy_tr("the phase copies no pageable memory%s%s"),
				     hwy_tr(*place ? " at " : ""), place);
}

const struct edit_kind edit_pin = {
	.id = "pin",
	.arguments = "[:PLACE]",
	.overlaps = true,
	.about = HWY_KEY("host memory of copies is pinned"),
	.only_removes = true,
	.apply = edit_pin_apply,
};
