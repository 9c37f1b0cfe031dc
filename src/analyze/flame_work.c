/* SPDX-License-Identifier: Apache-2.0 */
/* flame_work.c - see flame.h: device work by the stack of the call that enqueued it.
 *
 * Work of a CUDA graph has the stack that captured it, where that is known. A call without a stack
 * has that of the operator around it, or of that operator's forward operator; else the functions
 * that a tracer recorded around it serve as its stack. Where there is none of these, the operators
 * themselves stand under a node that says so.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/flame.h"
#include "analyze/graph_nodes.h"
#include "analyze/nest.h"
#include "analyze/place.h"
#include "analyze/work.h"
#include "base/ref.h"
#include "base/saturating.h"

/* On each lane, at most so many spans around a call are looked at. */
enum { MOST_AROUND = 256 };

struct flame_work {
	struct flame_filling *filling;
	struct hwy_nests nests;   /* operators and traced functions */
	struct hwy_map functions; /* from (nest, row) of a function to a reference to its node */
	struct hwy_map names;     /* from tree_leaf_code to a reference to a text of the flame */
	/* from the id of a backward operator to a reference to its forward operator */
	struct hwy_map forward;
	uint32_t no_stack; /* id of the text "no stack was recorded" */
};

struct launch { /* when and on which thread work was enqueued or captured */
	int64_t thread, from, to, stack;
};

static bool find_launch(const struct flame_work *w, const struct hwy_strip *strip, uint32_t row,
			struct launch *launch)
{
	const struct hwy_trace *trace = w->filling->trace;
	const struct hwy_node *node = graph_nodes_of_work(trace, strip, row);
	uint32_t call, at;
	if (node) {
		*launch = (struct launch){node->thread, node->time, node->time, node->stack};
		return true;
	}
	if (!hwy_get_index(strip, HWY_LINK, row, &call) || call >= trace->n_spans)
		return false;
	const struct hwy_strip *calls = hwy_strip_of(trace, call, &at);
	*launch = (struct launch){trace->lanes[calls->lane].thread, hwy_get(calls, HWY_START, at),
				  hwy_end(calls, at), 0};
	if (calls->kind == HWY_API)
		launch->stack = hwy_get(calls, HWY_STACK, at);
	return true;
}

/* ---- operators ------------------------------------------------------------------------------- */

/* A span that encloses a launch, as a row of a nest. find_around lists such spans of one kind:
 * one lane after the other, and on each lane the innermost span first. */
struct around {
	struct hwy_nest *nest;
	uint32_t row;
};

static uint32_t find_around(struct flame_work *w, const struct launch *launch, enum hwy_kind kind,
			    struct around *around)
{
	const struct hwy_trace *trace = w->filling->trace;
	uint32_t n = 0;
	if (launch->thread < 0 || launch->thread >= trace->n_threads)
		return 0;
	for (uint32_t i = w->nests.first[launch->thread]; i < w->nests.first[launch->thread + 1];
	     i++) {
		struct hwy_nest *nest = &w->nests.nests[i];
		if (nest->strip->kind != kind)
			continue;
		uint32_t row = nest_around(nest, launch->from, launch->to);
		for (; row != NEST_NONE && n < MOST_AROUND; row = nest_parent(nest, row))
			/* A function whose end the tracer did not see lasts longer than its
			 * callers: a caller that ended before the launch is not around it. */
			if (hwy_end(nest->strip, row) >= launch->from)
				around[n++] = (struct around){nest, row};
	}
	return n;
}

/* The stack of the innermost operator that has one. */
static int64_t innermost_stack(const struct around *around, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		int64_t stack = hwy_get(around[i].nest->strip, HWY_STACK, around[i].row);
		if (hwy_ref_is_set(stack))
			return stack;
	}
	return HWY_REF_NONE;
}

/* The stack of the forward operator of the innermost operator that has one, or of the operators
 * around the forward operator. */
static int64_t forward_stack(struct flame_work *w, const struct around *around, uint32_t n)
{
	const struct hwy_trace *trace = w->filling->trace;
	struct around forward[MOST_AROUND];
	for (uint32_t i = 0; i < n; i++) {
		uint32_t row;
		const uint32_t *from =
			hwy_map_get(&w->forward, around[i].nest->strip->first + around[i].row);
		if (!from)
			continue;
		const struct hwy_strip *strip = hwy_strip_of(trace, hwy_ref32_index(*from), &row);
		if (strip->kind != HWY_OP)
			continue;
		struct launch at = {trace->lanes[strip->lane].thread,
				    hwy_get(strip, HWY_START, row), hwy_end(strip, row), 0};
		int64_t stack = innermost_stack(forward, find_around(w, &at, HWY_OP, forward));
		if (hwy_ref_is_set(stack))
			return stack;
	}
	return HWY_REF_NONE;
}

static void note_forward(struct flame_work *w)
{
	const struct hwy_trace *trace = w->filling->trace;
	for (uint32_t e = 0; e < trace->n_edges; e++) {
		const struct hwy_edge *edge = &trace->edges[e];
		if (edge->kind == HWY_EDGE_FORWARD && edge->from >= 0 && edge->to >= 0 &&
		    edge->from < trace->n_spans)
			*hwy_map_put(&w->forward, (uint64_t)edge->to, NULL) =
				hwy_ref32((uint32_t)edge->from);
	}
}

/* ---- functions that a tracer recorded -------------------------------------------------------- */

static uint32_t put_function(struct flame_work *w, uint32_t outer, const struct around *at)
{
	struct hwy_flame *flame = w->filling->flame;
	const char *name = hwy_str(w->filling->trace, hwy_get(at->nest->strip, HWY_NAME, at->row));
	const char *function;
	size_t length;
	int64_t line;
	if (!place_traced_function(name, &length, &line, &function))
		return flame_put(flame, outer,
				 strncmp(name, "nn.Module: ", 11) == 0
					 ? (enum flame_node_kind)TREE_MODULE
					 : FLAME_NATIVE,
				 hwy_intern_z(&flame->texts, name), 0);
	uint32_t file = hwy_intern(&flame->texts, name, length);
	bool is_library = place_is_library(flame->texts.texts[file].at);
	return flame_put(flame, outer, is_library ? FLAME_PYTHON_LIBRARY : FLAME_PYTHON,
			 hwy_intern_z(&flame->texts, function), file);
}

/* Puts functions, the innermost of which comes first, under the node of their thread. */
static uint32_t put_functions(struct flame_work *w, uint32_t node, const struct around *around,
			      uint32_t n)
{
	uint32_t known = 0;
	for (; known < n; known++) {
		uint64_t key = (uint64_t)(around[known].nest - w->nests.nests) << 32;
		const uint32_t *found = hwy_map_get(&w->functions, key | around[known].row);
		if (found) {
			node = hwy_ref32_index(*found);
			break;
		}
	}
	while (known-- > 0) {
		uint64_t key = (uint64_t)(around[known].nest - w->nests.nests) << 32;
		node = put_function(w, node, &around[known]);
		*hwy_map_put(&w->functions, key | around[known].row, NULL) = hwy_ref32(node);
	}
	return node;
}

/* ---- work ------------------------------------------------------------------------------------ */

/* Yields the node in which work of a launch stands. */
static uint32_t node_of_launch(struct flame_work *w, const struct launch *launch)
{
	struct hwy_flame *flame = w->filling->flame;
	struct around around[MOST_AROUND];
	uint32_t node = flame_put_thread(w->filling, launch->thread), n;
	if (hwy_ref_is_set(launch->stack))
		return flame_put_stack(w->filling, node, launch->stack);
	n = find_around(w, launch, HWY_OP, around);
	int64_t stack = innermost_stack(around, n);
	if (!hwy_ref_is_set(stack))
		stack = forward_stack(w, around, n);
	if (hwy_ref_is_set(stack))
		return flame_put_stack(w->filling, node, stack);
	struct around functions[MOST_AROUND];
	uint32_t n_functions = find_around(w, launch, HWY_CALL, functions);
	if (n_functions)
		return put_functions(w, node, functions, n_functions);
	flame->unknown++;
	node = flame_put(flame, node, (enum flame_node_kind)TREE_NOTHING, w->no_stack, 0);
	while (n-- > 0) {
		const char *name = hwy_str(w->filling->trace,
					   hwy_get(around[n].nest->strip, HWY_NAME, around[n].row));
		node = flame_put(flame, node, (enum flame_node_kind)TREE_OPERATOR,
				 hwy_intern_z(&flame->texts, name), 0);
	}
	return node;
}

static uint32_t put_leaf(struct flame_work *w, uint32_t node, const struct hwy_strip *strip,
			 uint32_t row)
{
	struct hwy_flame *flame = w->filling->flame;
	char text[64];
	const char *name;
	enum tree_kind kind = tree_leaf(w->filling->trace, strip, row, text, sizeof text, &name);
	uint32_t *known = hwy_map_put(&w->names, tree_leaf_code(strip, row), NULL);
	if (!hwy_ref32_is_set(*known))
		*known = hwy_ref32(hwy_intern_z(&flame->texts, name));
	return flame_put(flame, node, (enum flame_node_kind)kind, hwy_ref32_index(*known), 0);
}

static void fill_strip_of_work(struct flame_work *w, const struct hwy_work *work,
			       const struct hwy_strip *strip)
{
	struct hwy_flame *flame = w->filling->flame;
	for (uint32_t row = 0; row < strip->rows; row++) {
		struct hwy_interval at;
		struct launch launch = {.thread = HWY_NONE};
		int64_t start = hwy_get(strip, HWY_START, row);
		if (!work_counts(work, strip, row, start, hwy_end(strip, row), &at))
			continue;
		bool is_known = find_launch(w, strip, row, &launch);
		if (!flame_wants(w->filling, strip->lane, launch.thread))
			continue;
		uint32_t node = is_known ? node_of_launch(w, &launch)
					 : flame_put_thread(w->filling, HWY_NONE);
		flame->unknown += !is_known;
		node = put_leaf(w, node, strip, row);
		hwy_add_saturating(&flame->nodes[node].self[0], at.to - at.from);
		flame->nodes[node].count++;
		flame_note_span(w->filling, node, strip->first + row, start, at.to - at.from);
	}
}

static bool need_columns(struct hwy_trace *trace, struct hwy_err *err)
{
	uint64_t timed = HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_NAME);
	uint64_t of_work = HWY_COL_BIT(HWY_LINK) | HWY_COL_BIT(HWY_DIRECTION) |
			   (trace->n_nodes ? HWY_COL_BIT(HWY_GRAPH_NODE) : 0);
	return hwy_need(trace, HWY_KIND_BIT(HWY_OP) | HWY_KIND_BIT(HWY_CALL), timed, err) &&
	       hwy_need(trace, HWY_KIND_BIT(HWY_OP) | HWY_KIND_BIT(HWY_API), HWY_COL_BIT(HWY_STACK),
			err) &&
	       hwy_need(trace, HWY_DEVICE_KINDS, of_work, err);
}

bool flame_fill_stacks(struct flame_filling *filling, struct hwy_err *err)
{
	struct hwy_trace *trace = filling->trace;
	struct hwy_scope scope = {filling->options->device.from, filling->options->device.to,
				  HWY_NONE};
	struct hwy_work work;
	if (!work_open(&work, trace, scope, err) || !need_columns(trace, err)) {
		work_close(&work);
		return false;
	}
	struct flame_work w = {.filling = filling};
	w.no_stack = hwy_intern_z(&filling->flame->texts, "no stack was recorded");
	nests_open(&w.nests, trace, HWY_KIND_BIT(HWY_OP) | HWY_KIND_BIT(HWY_CALL));
	note_forward(&w);
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if (work_is_on(&work, &trace->strips[s]))
			fill_strip_of_work(&w, &work, &trace->strips[s]);
	nests_close(&w.nests);
	hwy_map_free(&w.functions);
	hwy_map_free(&w.names);
	hwy_map_free(&w.forward);
	work_close(&work);
	return true;
}
