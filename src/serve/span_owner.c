/* SPDX-License-Identifier: Apache-2.0 */
/* span_owner.c - to what a span belongs: the operator around its call, that operator's stack, and
 * the module of the model.
 *
 * The rules are those of analyze/owners.h. That file reads all operators of a recording; this one
 * answers a click on one span, and reads only what is around it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ref.h"
#include "serve/answers.h"

#define KINETO_MODULE "nn.Module: "

/* Sets the innermost operator, and the stack of the innermost operator that has one. */
static bool find_operator(struct view_trace *view, const struct view_spans *around,
			  struct span_owner *owner, struct hwy_err *err)
{
	for (uint32_t i = around->n; i-- > 0;) {
		const struct view_span *span = &around->v[i];
		int64_t flags, stack, name;
		if (view->trace->strips[span->strip].kind != HWY_OP)
			continue;
		if (!hwy_peek(view->trace, span->strip, HWY_FLAGS, span->row, &flags, err) ||
		    !hwy_peek(view->trace, span->strip, HWY_STACK, span->row, &stack, err) ||
		    !hwy_peek(view->trace, span->strip, HWY_NAME, span->row, &name, err))
			return false;
		if (!owner->has_op && !(flags & HWY_FLAG_SCOPE)) {
			owner->has_op = true;
			owner->op_name = name;
		}
		if (!owner->stack)
			owner->stack = stack;
	}
	return true;
}

/* Sets the module: that of the innermost module's frame in the stack, else the functions around
 * the span that Kineto named after modules. */
static void find_module(struct view_trace *view, const struct view_spans *around,
			struct span_owner *owner)
{
	const struct hwy_trace *trace = view->trace;
	int64_t stack = owner->stack;
	for (uint32_t i = 0; hwy_ref_is_set(stack) && i < trace->n_stacks; i++) {
		const struct hwy_frame *frame = hwy_stack_frame(trace, stack);
		if (frame->flags > 0 && (frame->flags & HWY_FRAME_LAYER)) {
			snprintf(owner->module, sizeof owner->module, "%s",
				 hwy_str(trace, frame->function));
			return;
		}
		stack = hwy_stack_caller(trace, stack);
	}
	size_t lead = strlen(KINETO_MODULE), n = 0;
	for (uint32_t i = 0; i < around->n && n + 1 < sizeof owner->module; i++) {
		const struct hwy_strip *strip = &trace->strips[around->v[i].strip];
		if (strip->kind != HWY_CALL)
			continue;
		const char *name = hwy_str(trace, hwy_get(strip, HWY_NAME, around->v[i].row));
		if (strncmp(name, KINETO_MODULE, lead) != 0)
			continue;
		int got = snprintf(owner->module + n, sizeof owner->module - n, "%s%s",
				   n ? "." : "", name + lead);
		n += got > 0 ? (size_t)got : 0;
	}
}

/* Yields a reference to the forward operator of one of the operators, the innermost first; 0
 * where there is none. */
static uint32_t forward_of(const struct view_trace *view, const struct view_spans *around)
{
	const struct hwy_trace *trace = view->trace;
	for (uint32_t i = around->n; i-- > 0;) {
		int64_t id = view_span_id(view, &around->v[i]);
		for (uint32_t e = 0;
		     trace->strips[around->v[i].strip].kind == HWY_OP && e < trace->n_edges; e++)
			if (trace->edges[e].kind == HWY_EDGE_FORWARD && trace->edges[e].to == id &&
			    trace->edges[e].from >= 0 && trace->edges[e].from < trace->n_spans)
				return hwy_ref32((uint32_t)trace->edges[e].from);
	}
	return HWY_REF_NONE;
}

/* Finds the module and the stack of a forward operator. */
static bool find_forward(struct view_trace *view, uint32_t id, struct span_owner *owner,
			 struct hwy_err *err)
{
	struct view_spans around = {0};
	struct view_span span;
	if (!detail_find_span(view, id, &span, err))
		return false;
	int64_t thread = view->trace->lanes[view->trace->strips[span.strip].lane].thread;
	bool found = detail_find_around(view, &span, thread, &around, err);
	if (found) {
		HWY_GROW(around.v, around.n, around.cap);
		around.v[around.n++] = span;
		found = find_operator(view, &around, owner, err);
	}
	if (found)
		find_module(view, &around, owner);
	free(around.v);
	return found;
}

bool span_owner_find(struct view_trace *view, const struct view_spans *around,
		     struct span_owner *owner, struct hwy_err *err)
{
	*owner = (struct span_owner){0};
	if (!find_operator(view, around, owner, err))
		return false;
	find_module(view, around, owner);
	uint32_t forward = forward_of(view, around);
	struct span_owner of_forward = {0};
	if (*owner->module || !hwy_ref32_is_set(forward))
		return true;
	if (!find_forward(view, hwy_ref32_index(forward), &of_forward, err))
		return false;
	memcpy(owner->module, of_forward.module, sizeof owner->module);
	owner->stack = of_forward.stack ? of_forward.stack : owner->stack;
	return true;
}
