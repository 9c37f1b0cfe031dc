/* SPDX-License-Identifier: Apache-2.0 */
/* edit_shared.c - see edits.h: questions that several edits ask about calls, copies and usual
 * delays. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/quantile.h"
#include "base/ref.h"
#include "base/search.h"
#include "whatif/edits/edits.h"

uint32_t edit_step_of(const struct editing *e, uint32_t call)
{
	const struct hwy_phase *phase = e->w->phase;
	if (phase->n_steps == 0 || e->flow->calls[call].process != phase->process)
		return HWY_REF_NONE;
	uint32_t after = HWY_FIRST(i, 0, phase->n_steps, phase->steps[i].first_call > call);
	/* The call precedes the first step; calls that launch nothing may do so inside the
	 * window. */
	if (after == 0)
		return e->w->lead.is_set &&
				       e->flow->calls[call].start >= phase->steps[0].device.from
			       ? hwy_ref32(0)
			       : HWY_REF_NONE;
	const struct phase_step *step = &phase->steps[after - 1];
	return call < step->first_call + step->n_calls ? hwy_ref32(after - 1) : HWY_REF_NONE;
}

static bool ends_with_place(const struct hwy_place *place, const char *wanted)
{
	char text[512];
	snprintf(text, sizeof text, "%s:%lld", hwy_basename(place->file), (long long)place->line);
	return *place->file && place->line > 0 && strcmp(text, wanted) == 0;
}

bool edit_is_at(const struct editing *e, uint32_t call, const char *wanted)
{
	if (!*wanted)
		return true;
	struct hwy_place place = place_of(e->places, e->flow->calls[call].span);
	return ends_with_place(&place, wanted) || strcmp(place.function, wanted) == 0 ||
	       strcmp(place.api, wanted) == 0 || strstr(place.range, wanted) != NULL;
}

struct edit_copy edit_copy_of(const struct editing *e, uint32_t op)
{
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(e->flow->trace, e->flow->ops[op].span, &row);
	return (struct edit_copy){
		.bytes = hwy_get(strip, HWY_BYTES, row),
		.direction = hwy_get(strip, HWY_DIRECTION, row),
		.is_pageable = hwy_copies_pageable(strip, row),
	};
}

int64_t edit_time_of(double bytes, double rate)
{
	double ns = bytes / rate * 1e9;
	return ns < (double)INT64_MAX ? (int64_t)ns : INT64_MAX;
}

bool edit_number(const char *arguments, uint32_t *number, const char **rest)
{
	char *end;
	unsigned long value = strtoul(arguments, &end, 10);
	if (end == arguments || value == 0 || value > UINT32_MAX || (*end && *end != ':'))
		return false;
	*number = (uint32_t)value;
	*rest = *end ? end + 1 : end;
	return true;
}

int64_t edit_warm(const struct editing *e, struct graph_node *call)
{
	int64_t length = call->length, launch = e->w->machine.launch;
	if (e->flow->calls[call->flow_index].role == HWY_ROLE_LAUNCH && length > launch)
		call->length = launch;
	return length - call->length;
}

struct graph_node *edit_next_call(const struct editing *e, uint32_t before)
{
	for (uint32_t i = before + 1; i < e->graph->n && i < before + EDIT_LOOK_AHEAD_NODES; i++) {
		struct graph_node *node = &e->graph->nodes[i];
		if (node->kind == GRAPH_CALL && node->before[GRAPH_ORDER] == before)
			return node;
	}
	return NULL;
}

void edit_warm_next(const struct editing *e, uint32_t before)
{
	struct graph_node *next = edit_next_call(e, before);
	if (next)
		edit_warm(e, next);
}

int64_t edit_work_before(const struct editing *e, uint32_t node)
{
	int64_t cut = node == e->w->lead_call ? e->lead_cut : 0;
	return whatif_work_before(e->w, e->graph, node) - cut;
}

void edit_shorten_before(struct editing *e, uint32_t node, int64_t ns)
{
	if (e->graph->nodes[node].before[GRAPH_ORDER] != GRAPH_NONE)
		e->graph->nodes[node].delay -= ns;
	else if (node == e->w->lead_call)
		e->lead_cut += ns;
}

void edit_no_wait(struct editing *e, uint32_t back)
{
	e->graph->nodes[back].before[GRAPH_CAUSE] = GRAPH_NONE;
	e->graph->nodes[back].delay = 0;
	edit_warm_next(e, back);
}

static bool has_delay(const struct editing *e, const struct graph_node *node, int64_t *delay)
{
	*delay = node->delay;
	return node->kind == GRAPH_CALL && node->before[GRAPH_ORDER] != GRAPH_NONE &&
	       edit_step_of(e, node->flow_index);
}

static bool is_dispatched(const struct editing *e, const struct graph_node *node, int64_t *delay)
{
	return has_delay(e, node, delay) &&
	       e->flow->calls[node->flow_index].role == HWY_ROLE_LAUNCH;
}

/* The quartile (1 … 3) of the values, in ns, that 'take' yields for the nodes it accepts; 0 where
 * it accepts none. */
static int64_t quartile_of(const struct editing *e, unsigned quartile,
			   bool (*take)(const struct editing *, const struct graph_node *,
					int64_t *))
{
	int64_t *values = hwy_array(e->graph->n, sizeof *values);
	uint32_t n = 0;
	for (uint32_t i = 0; i < e->graph->n; i++)
		n += take(e, &e->graph->nodes[i], &values[n]);
	hwy_sort(values, n);
	int64_t found = hwy_rank_above(values, n, 25 * quartile);
	free(values);
	return found;
}

int64_t edit_usual_delay(const struct editing *e)
{
	return quartile_of(e, 2, has_delay);
}

int64_t edit_usual_dispatch(const struct editing *e, unsigned quartile)
{
	return quartile_of(e, quartile, is_dispatched);
}
