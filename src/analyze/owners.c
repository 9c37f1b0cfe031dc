/* SPDX-License-Identifier: Apache-2.0 */
/* owners.c - see owners.h. Opens what the sweep needs, and gives each piece of device work the
 * owner of its call or, in a CUDA graph, of the moment of its capture. */
#include "analyze/owners.h"

#include <stdlib.h>

#include "analyze/graph_nodes.h"
#include "analyze/owners_internal.h"
#include "base/lang.h"
#include "base/ref.h"

const char *const owner_why_texts[OWNER_WHYS] = {
	[OWNER_KNOWN] = "",
	[OWNER_OUTSIDE] = HWY_KEY("outside of operators"),
	[OWNER_NO_OPERATORS] = HWY_KEY("no operators were recorded"),
	[OWNER_NO_CALL] = HWY_KEY("the call that launched it was not recorded"),
	[OWNER_NO_THREAD] = HWY_KEY("the thread that launched it is not known"),
};

#define BIT(col) HWY_COL_BIT(HWY_##col)
#define TIMED (BIT(START) | BIT(DUR))
#define SWEPT (HWY_KIND_BIT(HWY_OP) | HWY_KIND_BIT(HWY_API))

static bool owners_load(struct hwy_trace *trace, struct hwy_err *err)
{
	uint64_t stacked = TIMED | BIT(NAME) | BIT(STACK) | BIT(FLAGS);
	uint64_t work = BIT(LINK) | BIT(GRAPH_NODE) | BIT(GRAPH_ID);
	return hwy_need(trace, SWEPT | HWY_KIND_BIT(HWY_RANGE), stacked, err) &&
	       hwy_need(trace, HWY_KIND_BIT(HWY_CALL), TIMED | BIT(NAME), err) &&
	       hwy_need(trace, HWY_DEVICE_KINDS, work, err);
}

static void make_rooms(struct hwy_owners *o)
{
	const struct hwy_trace *trace = o->trace;
	o->owner_of = hwy_zarray(trace->n_strips, sizeof *o->owner_of);
	o->op_of = hwy_zarray(trace->n_strips, sizeof *o->op_of);
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (!((HWY_DEVICE_KINDS | SWEPT) & HWY_KIND_BIT(strip->kind)))
			continue;
		o->owner_of[s] = hwy_zarray(strip->rows, sizeof **o->owner_of);
		o->op_of[s] = hwy_zarray(strip->rows, sizeof **o->op_of);
	}
}

/* Makes the records at index 0: no chain, no module, no line, and the owner of work whose call
 * was not recorded. */
static void make_nothing(struct hwy_owners *o)
{
	hwy_strings_init(&o->texts);
	owners_put(o, (struct hwy_owner){.thread = OWNERS_NO_THREAD, .why = OWNER_NO_CALL});
	owners_put_link(o, (struct owner_link){0, 0, 0});
	owners_put_line(o, (struct owner_line){0, 0, 0});
	HWY_GROW(o->modules, o->n_modules, o->cap_modules);
	o->modules[o->n_modules++] = (struct owner_module){0};
}

static int moments_by_time(const void *left, const void *right)
{
	const struct owner_moment *a = left, *b = right;
	return (a->time > b->time) - (a->time < b->time);
}

/* ---- nodes of CUDA graphs -------------------------------------------------------------------- */

struct owned_node { /* who captured a node; parallel to the trace's nodes */
	uint32_t owner, op;
	bool is_known;
};

/* Sweeps over the moments of the capture of all nodes and the caller's moments, and yields who
 * captured the nodes. */
static struct owned_node *sweep_with_nodes(struct hwy_owners *o, struct owner_names *names,
					   struct owner_moment *moments, uint32_t n_moments)
{
	const struct hwy_trace *trace = o->trace;
	uint32_t n = 0;
	struct owned_node *nodes = hwy_zarray(trace->n_nodes, sizeof *nodes);
	struct owner_moment *all = hwy_array((size_t)trace->n_nodes + n_moments, sizeof *all);
	/* While the moments are sorted, 'owner' is the number of a node, or n_nodes plus the
	 * number of a caller's moment. */
	for (uint32_t i = 0; i < trace->n_nodes; i++)
		if (trace->nodes[i].thread >= 0 && trace->nodes[i].thread < trace->n_threads &&
		    trace->nodes[i].time != HWY_NONE)
			all[n++] = (struct owner_moment){.time = trace->nodes[i].time,
							 .thread = (uint32_t)trace->nodes[i].thread,
							 .owner = i};
	for (uint32_t i = 0; i < n_moments; i++) {
		all[n] = moments[i];
		all[n++].owner = trace->n_nodes + i;
	}
	qsort(all, n, sizeof *all, moments_by_time);
	uint32_t *from = hwy_array(n, sizeof *from);
	for (uint32_t i = 0; i < n; i++) {
		from[i] = all[i].owner;
		all[i].owner = 0;
	}
	owners_sweep(o, names, all, n);
	for (uint32_t i = 0; i < n; i++) {
		if (from[i] >= trace->n_nodes) {
			moments[from[i] - trace->n_nodes] = all[i];
			continue;
		}
		struct owned_node *node = &nodes[from[i]];
		struct hwy_owner owner = o->owners[all[i].owner];
		struct owner_context stack =
			owner_context_of_stack(names, trace->nodes[from[i]].stack);
		owner.is_captured = true;
		owner.inside = owner.module ? owner.inside : 0;
		owner.module = owner.module ? owner.module : stack.module;
		owner.line = owner.line ? owner.line : stack.line;
		*node = (struct owned_node){owners_put(o, owner), all[i].op, true};
	}
	free(from);
	free(all);
	return nodes;
}

/* ---- device work ----------------------------------------------------------------------------- */

/* The owner of a call that may lie on a lane without a thread; 0 where the span is not a call. */
static uint32_t owner_of_call(struct hwy_owners *o, uint32_t call, uint32_t *op)
{
	uint32_t row;
	if (call >= o->trace->n_spans)
		return 0;
	const struct hwy_strip *strip = hwy_strip_of(o->trace, call, &row);
	size_t s = (size_t)(strip - o->trace->strips);
	if (strip->kind != HWY_API)
		return 0;
	*op = o->op_of[s][row];
	if (o->owner_of[s][row])
		return o->owner_of[s][row];
	return owners_put(o,
			  (struct hwy_owner){.thread = OWNERS_NO_THREAD, .why = OWNER_NO_THREAD});
}

static void own_strip(struct hwy_owners *o, uint32_t s, const struct owned_node *nodes)
{
	const struct hwy_trace *trace = o->trace;
	const struct hwy_strip *strip = &trace->strips[s];
	uint32_t replayed = 0, replayed_from = 0;
	for (uint32_t row = 0; row < strip->rows; row++) {
		uint32_t call, *owner = &o->owner_of[s][row], *op = &o->op_of[s][row];
		const struct hwy_node *node =
			trace->n_nodes ? graph_nodes_of_work(trace, strip, row) : NULL;
		if (node && nodes[node - trace->nodes].is_known) {
			*owner = nodes[node - trace->nodes].owner;
			*op = nodes[node - trace->nodes].op;
			continue;
		}
		if (!hwy_get_index(strip, HWY_LINK, row, &call))
			continue;
		*owner = owner_of_call(o, call, op);
		if (strip->kind != HWY_GRAPH && !hwy_get(strip, HWY_GRAPH_ID, row) &&
		    !hwy_get(strip, HWY_GRAPH_NODE, row))
			continue;
		if (!replayed || replayed_from != *owner) {
			struct hwy_owner launched = o->owners[*owner];
			launched.is_replayed = true;
			replayed_from = *owner;
			replayed = owners_put(o, launched);
		}
		*owner = replayed;
	}
}

bool owners_open(struct hwy_owners *owners, struct hwy_trace *trace, struct owner_moment *moments,
		 uint32_t n_moments, struct hwy_err *err)
{
	*owners = (struct hwy_owners){.trace = trace};
	if (!owners_load(trace, err))
		return false;
	make_nothing(owners);
	make_rooms(owners);
	struct owner_names names;
	owner_names_open(&names, owners);
	struct owned_node *nodes = sweep_with_nodes(owners, &names, moments, n_moments);
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if (HWY_DEVICE_KINDS & HWY_KIND_BIT(trace->strips[s].kind))
			own_strip(owners, s, nodes);
	free(nodes);
	owner_names_close(&names);
	return true;
}

void owners_close(struct hwy_owners *owners)
{
	for (uint32_t s = 0; owners->owner_of && s < owners->trace->n_strips; s++) {
		free(owners->owner_of[s]);
		free(owners->op_of[s]);
	}
	free(owners->owner_of);
	free(owners->op_of);
	owners_records_free(owners);
	*owners = (struct hwy_owners){0};
}

const struct hwy_owner *owners_of_span(const struct hwy_owners *owners, uint32_t span)
{
	uint32_t row;
	if (span >= owners->trace->n_spans)
		return &owners->owners[0];
	const struct hwy_strip *strip = hwy_strip_of(owners->trace, span, &row);
	return owners_of(owners, strip, row);
}
