/* SPDX-License-Identifier: Apache-2.0 */
/* edit_calls.c - calls and work that take less time, or none.
 *
 * no-alloc, no-module, no-graph-build: calls that allocate, load code or build graphs are made
 * once, before the steps.
 */
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "whatif/edits/edits.h"

/* ---- calls that are made before the steps ---------------------------------------------------- */

#define ROLE(role) (1u << HWY_ROLE_##role)

/* Removes the calls of these roles (bits) from the steps, and their waits for the device. */
static bool take_out(struct editing *e, unsigned roles, const char *place, const char *what,
		     struct hwy_err *err)
{
	uint32_t found = 0;
	for (uint32_t i = 0; i < e->graph->n; i++) {
		struct graph_node *node = &e->graph->nodes[i];
		if (node->kind == GRAPH_OP ||
		    !(roles >> e->flow->calls[node->flow_index].role & 1) ||
		    !edit_step_of(e, node->flow_index) || !edit_is_at(e, node->flow_index, place))
			continue;
		found++;
		if (node->kind == GRAPH_RETURN)
			edit_no_wait(e, i);
		else
			node->length = 0;
	}
	return found > 0 ||
	       hwy_fail(err, "%s%s%s", hwy_tr(what), hwy_tr(*place ? " at " : ""), place);
}

static bool apply_no_alloc(struct editing *e, const char *place, struct hwy_err *err)
{
	return take_out(e, ROLE(ALLOC) | ROLE(FREE) | ROLE(PIN), place,
			HWY_KEY("the phase allocates nothing"), err);
}

static bool apply_no_module(struct editing *e, const char *place, struct hwy_err *err)
{
	return take_out(e, ROLE(MODULE), place, HWY_KEY("the phase loads no modules"), err);
}

static const char *name_of_call(const struct editing *e, uint32_t call)
{
	uint32_t row;
	const struct hwy_strip *strip =
		hwy_strip_of(e->flow->trace, e->flow->calls[call].span, &row);
	return hwy_str(e->flow->trace, hwy_get(strip, HWY_NAME, row));
}

/* Whether a call is part of a capture, or is the first launch of a new graph, which uploads it to
 * the device. */
enum { NOTHING, CAPTURED, UPLOADS };

struct capture {
	bool is_open;  /* a capture has begun and has not ended */
	bool is_fresh; /* a graph was instantiated and has not been launched yet */
};

static uint8_t in_capture(const struct editing *e, uint32_t call, const char *place,
			  struct capture *capture)
{
	enum hwy_role role = e->flow->calls[call].role;
	bool uploads = role == HWY_ROLE_GRAPH_LAUNCH && capture->is_fresh;
	if (role == HWY_ROLE_GRAPH_LAUNCH)
		capture->is_fresh = false;
	if (role != HWY_ROLE_GRAPH_BUILD)
		return uploads ? UPLOADS : capture->is_open ? CAPTURED : NOTHING;
	const char *name = name_of_call(e, call);
	if (strstr(name, "BeginCapture")) {
		capture->is_open = edit_is_at(e, call, place);
		return NOTHING; /* the CPU's work before this call is not part of the capture */
	}
	bool was_open = capture->is_open;
	if (strstr(name, "EndCapture"))
		capture->is_open = false;
	else if (strstr(name, "Instantiate"))
		capture->is_fresh = edit_is_at(e, call, place);
	return was_open ? CAPTURED : NOTHING;
}

/* NOTHING, CAPTURED or UPLOADS for each call; to be freed. What a thread does from the begin of a
 * capture to its end only builds the graph, and the first launch of a new graph uploads it. */
static uint8_t *find_captured(const struct editing *e, const char *place)
{
	uint8_t *found = hwy_zarray(e->flow->n_calls, sizeof *found);
	struct capture *captures = hwy_zarray(e->flow->trace->n_threads, sizeof *captures);
	for (uint32_t i = 0; i < e->flow->n_calls; i++)
		if (e->flow->calls[i].thread < e->flow->trace->n_threads)
			found[i] = in_capture(e, i, place, &captures[e->flow->calls[i].thread]);
	free(captures);
	return found;
}

/* Shortens a captured call to nothing, and a launch that uploads a graph, with the begin of its
 * work, to a usual one. */
static void shorten(struct editing *e, struct graph_node *node, uint32_t call, uint8_t why)
{
	const struct flow_call *was = &e->flow->calls[call];
	int64_t most = why == UPLOADS ? e->w->machine.graph_launch : 0;
	int64_t saved = was->end - was->start - most;
	if (node->kind == GRAPH_OP && why == UPLOADS && saved > 0) {
		int64_t left = node->lag[GRAPH_CAUSE] - saved;
		node->lag[GRAPH_CAUSE] = (uint16_t)(left > 0 ? left : 0);
	} else if (node->kind == GRAPH_CALL) {
		node->length = node->length < most ? node->length : most;
		if (why == CAPTURED && node->before[GRAPH_ORDER] != GRAPH_NONE)
			node->delay = 0;
	}
}

static bool apply_no_graph_build(struct editing *e, const char *place, struct hwy_err *err)
{
	uint8_t *captured = find_captured(e, place);
	for (uint32_t i = 0; i < e->graph->n; i++) {
		struct graph_node *node = &e->graph->nodes[i];
		uint32_t call = node->kind == GRAPH_OP ? e->flow->ops[node->flow_index].call
						       : node->flow_index;
		if (call != FLOW_NONE && captured[call] && edit_step_of(e, call))
			shorten(e, node, call, captured[call]);
	}
	free(captured);
	return take_out(e, ROLE(GRAPH_BUILD), place, HWY_KEY("the phase builds no graphs"), err);
}

const struct edit_kind edit_no_alloc = {
	.id = "no-alloc",
	.arguments = "[:PLACE]",
	.about = HWY_KEY("memory is allocated once, before the steps"),
	.only_removes = true,
	.apply = apply_no_alloc,
};

const struct edit_kind edit_no_module = {
	.id = "no-module",
	.arguments = "[:PLACE]",
	.about = HWY_KEY("code is loaded and compiled before the steps"),
	.only_removes = true,
	.apply = apply_no_module,
};

const struct edit_kind edit_no_graph_build = {
	.id = "no-graph-build",
	.arguments = "[:PLACE]",
	.about = HWY_KEY("graphs are captured and instantiated once, before the steps"),
	.only_removes = true,
	.apply = apply_no_graph_build,
};
