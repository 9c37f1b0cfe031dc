/* SPDX-License-Identifier: Apache-2.0 */
/* owners_sweep.c - goes through operators, ranges, functions and calls in order of time, and
 * notes who owns each.
 *
 * Calls and operators of all threads come in one order of time: when a backward operator begins,
 * its forward operator has been seen, on whichever thread it ran. Each thread keeps two stacks:
 * the operators and ranges that are open, with their owners, and the traced functions that are
 * open, with the module and the line that they tell. A span is open at a moment where start <=
 * moment < end.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/owners_internal.h"
#include "analyze/sweep.h"
#include "base/ref.h"

struct cursor { /* the next row of a strip that is not open yet */
	const struct hwy_strip *strip;
	uint32_t next;
};

struct opened { /* an operator or a range */
	int64_t start, end;
	uint32_t owner;
	uint32_t op; /* reference to the innermost operator's span */
};

struct opened_call { /* a traced function */
	int64_t end;
	struct owner_context context;
};

struct owner_thread {
	struct cursor *cursors; /* strips of operators and ranges */
	uint32_t n_cursors, cap_cursors;
	struct cursor *calls; /* strips of traced functions */
	uint32_t n_calls, cap_calls;
	struct opened *open;
	uint32_t n_open, cap_open;
	struct opened_call *open_calls;
	uint32_t n_open_calls, cap_open_calls;
	uint32_t base; /* the owner of a moment at which nothing is open */
	bool has_ops;  /* the thread's process has operators */
};

struct owner_sweep {
	struct hwy_owners *owners;
	struct owner_names *names;
	struct owner_thread *threads;
	struct hwy_map forward; /* from the span of a backward operator to its forward operator's */
	/* From the sequence number that emit_nvtx writes, mixed with the process, to a reference
	 * to the owner of the first operator with that number: the forward operator. */
	struct hwy_map by_sequence;
};

/* ---- threads --------------------------------------------------------------------------------- */

static bool is_thread(const struct hwy_trace *trace, const struct hwy_strip *strip,
		      uint32_t *thread)
{
	int64_t index = trace->lanes[strip->lane].thread;
	if (index < 0 || index >= trace->n_threads)
		return false;
	*thread = (uint32_t)index;
	return true;
}

/* Whether the ranges of a lane are scopes: those of users, which are in the default domain, and
 * those of XLA. */
static bool has_scopes(const struct hwy_trace *trace, uint32_t lane)
{
	const char *domain = hwy_str(trace, trace->lanes[lane].name);
	return trace->lanes[lane].type == HWY_LANE_RANGE &&
	       (!*domain || strcmp(domain, "TSL") == 0);
}

static void add_strip(struct owner_sweep *sweep, const struct hwy_strip *strip)
{
	const struct hwy_trace *trace = sweep->owners->trace;
	uint32_t index;
	if (!is_thread(trace, strip, &index) || hwy_lane_is_library(trace, strip->lane))
		return;
	struct owner_thread *thread = &sweep->threads[index];
	if (strip->kind == HWY_CALL) {
		HWY_GROW(thread->calls, thread->n_calls, thread->cap_calls);
		thread->calls[thread->n_calls++] = (struct cursor){strip, 0};
	} else if (strip->kind == HWY_OP ||
		   (strip->kind == HWY_RANGE && has_scopes(trace, strip->lane))) {
		HWY_GROW(thread->cursors, thread->n_cursors, thread->cap_cursors);
		thread->cursors[thread->n_cursors++] = (struct cursor){strip, 0};
	}
}

static void open_threads(struct owner_sweep *sweep)
{
	struct hwy_owners *o = sweep->owners;
	const struct hwy_trace *trace = o->trace;
	bool *has_ops = hwy_zarray((size_t)trace->n_processes + 1, sizeof *has_ops);
	sweep->threads = hwy_zarray(trace->n_threads, sizeof *sweep->threads);
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		int64_t process = trace->lanes[trace->strips[s].lane].process;
		add_strip(sweep, &trace->strips[s]);
		if (trace->strips[s].kind == HWY_OP && process >= 0 && process < trace->n_processes)
			has_ops[process] = true;
	}
	for (uint32_t t = 0; t < trace->n_threads; t++) {
		int64_t process = trace->threads[t].process;
		struct owner_thread *thread = &sweep->threads[t];
		thread->has_ops = process >= 0 && process < trace->n_processes && has_ops[process];
		struct hwy_owner base = {
			.thread = t, .why = thread->has_ops ? OWNER_OUTSIDE : OWNER_NO_OPERATORS};
		thread->base = owners_put(o, base);
	}
	free(has_ops);
}

static void close_threads(struct owner_sweep *sweep)
{
	for (uint32_t t = 0; t < sweep->owners->trace->n_threads; t++) {
		struct owner_thread *thread = &sweep->threads[t];
		free(thread->cursors);
		free(thread->calls);
		free(thread->open);
		free(thread->open_calls);
	}
	free(sweep->threads);
}

/* ---- traced functions ------------------------------------------------------------------------ */

/* Notes a call of a module: a function whose module is another one than that of its caller. */
static void note_module_call(struct hwy_owners *o, const struct owner_thread *thread, int64_t start,
			     struct owner_context outer, struct owner_context own)
{
	if (!own.module || own.module == outer.module)
		return;
	HWY_GROW(o->module_calls, o->n_module_calls, o->cap_module_calls);
	o->module_calls[o->n_module_calls++] =
		(struct owner_module_call){start, own.module, o->owners[thread->base].thread};
}

/* Opens the functions that begin until 'moment', closes those that have ended, and yields what
 * the open ones tell. */
static struct owner_context calls_until(struct owner_sweep *sweep, struct owner_thread *thread,
					int64_t moment)
{
	for (uint32_t i = 0; i < thread->n_calls; i++) {
		struct cursor *cursor = &thread->calls[i];
		const struct hwy_strip *strip = cursor->strip;
		for (; cursor->next < strip->rows; cursor->next++) {
			int64_t start = hwy_get(strip, HWY_START, cursor->next);
			if (start > moment)
				break;
			while (thread->n_open_calls &&
			       thread->open_calls[thread->n_open_calls - 1].end <= start)
				thread->n_open_calls--;
			uint32_t n = thread->n_open_calls;
			struct owner_context outer = {0, 0};
			int64_t end = hwy_end(strip, cursor->next);
			/* Kineto does not see the end of a built-in that raises, such as next()
			 * at the end of a list. No function outlives its caller. */
			if (n) {
				outer = thread->open_calls[n - 1].context;
				end = end < thread->open_calls[n - 1].end
					      ? end
					      : thread->open_calls[n - 1].end;
			}
			struct owner_context own = owner_context_of_call(
				sweep->names, outer, hwy_get(strip, HWY_NAME, cursor->next));
			note_module_call(sweep->owners, thread, start, outer, own);
			HWY_GROW(thread->open_calls, thread->n_open_calls, thread->cap_open_calls);
			thread->open_calls[thread->n_open_calls++] = (struct opened_call){end, own};
		}
	}
	while (thread->n_open_calls && thread->open_calls[thread->n_open_calls - 1].end <= moment)
		thread->n_open_calls--;
	return thread->n_open_calls ? thread->open_calls[thread->n_open_calls - 1].context
				    : (struct owner_context){0, 0};
}

/* ---- operators and ranges -------------------------------------------------------------------- */

/* Adds what a stack or functions tell to an owner. In a backward pass they count only where they
 * name a module: the functions around a backward pass are those that called backward(). */
static void add_context(struct hwy_owners *o, struct hwy_owner *owner, struct owner_context context)
{
	if (owner->is_backward && !context.module)
		return;
	/* A module that is called in a backward pass runs a part of the forward pass again: the
	 * functions around it are not those of the model. */
	if (owner->is_backward && owner->module)
		context.module = owners_graft(o, context.module, owner->module);
	owner->module = context.module ? context.module : owner->module;
	owner->line = context.line ? context.line : owner->line;
}

/* The forward operator's owner, as an index; 0 where the operator is not a backward one.
 * Autograd's node around a backward operator has none of its own: it takes that of the operator
 * that begins next inside of it. */
static uint32_t forward_owner(const struct owner_sweep *sweep, const struct hwy_strip *strip,
			      uint32_t row, bool is_engine)
{
	const struct hwy_owners *o = sweep->owners;
	const uint32_t *from = hwy_map_get(&sweep->forward, strip->first + row);
	if (!from && is_engine && row + 1 < strip->rows &&
	    hwy_get(strip, HWY_START, row + 1) < hwy_end(strip, row))
		from = hwy_map_get(&sweep->forward, strip->first + row + 1);
	if (!from)
		return 0;
	uint32_t from_row;
	const struct hwy_strip *from_strip = hwy_strip_of(o->trace, *from, &from_row);
	const uint32_t *of = o->owner_of[from_strip - o->trace->strips];
	return from_strip->kind == HWY_OP && of ? of[from_row] : 0;
}

/* forward_owner for a range of emit_nvtx: the first operator with a number is the forward one. */
static uint32_t forward_owner_of_range(struct owner_sweep *sweep, const struct hwy_owner *owner,
				       const struct owner_name *name, uint32_t **first)
{
	const struct hwy_trace *trace = sweep->owners->trace;
	if (name->sequence < 0)
		return 0;
	uint64_t process = (uint64_t)trace->threads[owner->thread].process;
	uint64_t key = (uint64_t)name->sequence ^ process << 48;
	bool fresh, is_backward = strstr(owners_text(sweep->owners, name->text), "Backward");
	uint32_t *known = hwy_map_put(&sweep->by_sequence, key, &fresh);
	if (!is_backward && !hwy_ref32_is_set(*known))
		*first = known;
	return is_backward && hwy_ref32_is_set(*known) ? hwy_ref32_index(*known) : 0;
}

/* The owner of what an operator or a range encloses. *first becomes the place where its number
 * must be noted, for a forward operator of emit_nvtx. */
static struct hwy_owner owner_inside(struct owner_sweep *sweep, struct owner_thread *thread,
				     const struct hwy_strip *strip, uint32_t row,
				     const struct owner_name *name, uint32_t **first)
{
	struct hwy_owners *o = sweep->owners;
	bool is_op = name->kind != OWNER_NAME_SCOPE, is_range = strip->kind == HWY_RANGE;
	struct hwy_owner owner =
		o->owners[thread->n_open ? thread->open[thread->n_open - 1].owner : thread->base];
	uint32_t outer_module = owner.module;
	struct owner_link link = {owner.chain, name->text, is_op};
	owner.chain = owners_put_link(o, link);
	if (is_op) {
		owner.op = owner.chain;
		owner.why = OWNER_KNOWN;
	}
	uint32_t forward = 0;
	if (is_op && is_range)
		forward = forward_owner_of_range(sweep, &owner, name, first);
	else if (is_op)
		forward = forward_owner(sweep, strip, row, name->kind == OWNER_NAME_ENGINE);
	if (forward) {
		const struct hwy_owner *from = &o->owners[forward];
		owner.module = from->module ? from->module : owner.module;
		owner.line = from->line ? from->line : owner.line;
	}
	owner.is_backward = owner.is_backward || forward || name->is_backward ||
			    name->kind == OWNER_NAME_ENGINE;
	struct owner_context own = calls_until(sweep, thread, hwy_get(strip, HWY_START, row));
	struct owner_context stack =
		owner_context_of_stack(sweep->names, hwy_get(strip, HWY_STACK, row));
	own.module = stack.module ? stack.module : own.module;
	own.line = stack.line ? stack.line : own.line ? own.line : name->line;
	if (name->module)
		own.module = owners_put_path(o, 0, o->texts.texts[name->module], 0);
	if (!forward)
		add_context(o, &owner, own);
	if (owner.module != outer_module)
		owner.inside = owner.chain;
	return owner;
}

/* Opens an operator or a range. */
static void owner_enter(struct owner_sweep *sweep, struct owner_thread *thread,
			const struct hwy_strip *strip, uint32_t row)
{
	struct hwy_owners *o = sweep->owners;
	bool is_range = strip->kind == HWY_RANGE;
	int64_t start = hwy_get(strip, HWY_START, row);
	while (thread->n_open && thread->open[thread->n_open - 1].end <= start)
		thread->n_open--;
	bool is_mark = is_range || (hwy_get(strip, HWY_FLAGS, row) & HWY_FLAG_SCOPE);
	const struct owner_name *name =
		owner_name_of(sweep->names, hwy_get(strip, HWY_NAME, row), is_mark);
	uint32_t outer = thread->n_open ? thread->open[thread->n_open - 1].op : HWY_REF_NONE;
	uint32_t id = thread->n_open ? thread->open[thread->n_open - 1].owner : thread->base;
	bool is_operator = name->kind == OWNER_NAME_OPERATOR || name->kind == OWNER_NAME_ENGINE;
	/* Ranges of emit_nvtx repeat the operators, where operators are recorded. */
	bool is_skipped =
		name->kind == OWNER_NAME_SKIPPED || (is_range && is_operator && thread->has_ops);
	if (!is_skipped) {
		uint32_t *first = NULL;
		id = owners_put(o, owner_inside(sweep, thread, strip, row, name, &first));
		if (first)
			*first = hwy_ref32(id);
		HWY_GROW(thread->open, thread->n_open, thread->cap_open);
		thread->open[thread->n_open++] =
			(struct opened){start, hwy_end(strip, row), id,
					is_operator ? hwy_ref32(strip->first + row) : outer};
	}
	if (!is_range) {
		o->owner_of[strip - o->trace->strips][row] = id;
		o->op_of[strip - o->trace->strips][row] = outer;
	}
}

/* The strip of the thread whose next row begins first, or NULL where none begins until 'moment'.
 * Of rows that begin at once the longest one is the outermost. */
static struct cursor *next_to_enter(struct owner_thread *thread, int64_t moment)
{
	struct cursor *best = NULL;
	int64_t best_start = 0, best_end = 0;
	for (uint32_t i = 0; i < thread->n_cursors; i++) {
		struct cursor *cursor = &thread->cursors[i];
		if (cursor->next >= cursor->strip->rows)
			continue;
		int64_t start = hwy_get(cursor->strip, HWY_START, cursor->next);
		if (start > moment)
			continue;
		int64_t end = hwy_end(cursor->strip, cursor->next);
		if (!best || start < best_start || (start == best_start && end > best_end)) {
			best = cursor;
			best_start = start;
			best_end = end;
		}
	}
	return best;
}

static void enter_until(struct owner_sweep *sweep, struct owner_thread *thread, int64_t moment)
{
	struct cursor *cursor;
	while ((cursor = next_to_enter(thread, moment))) {
		owner_enter(sweep, thread, cursor->strip, cursor->next);
		cursor->next++;
	}
	while (thread->n_open && thread->open[thread->n_open - 1].end <= moment)
		thread->n_open--;
}

/* ---- moments --------------------------------------------------------------------------------- */

/* The owner of a moment of a thread. 'stack' is the stack of the call at that moment, or 0. */
static uint32_t owner_at(struct owner_sweep *sweep, uint32_t index, int64_t moment, int64_t stack,
			 uint32_t *op)
{
	struct hwy_owners *o = sweep->owners;
	struct owner_thread *thread = &sweep->threads[index];
	enter_until(sweep, thread, moment);
	const struct opened *top = thread->n_open ? &thread->open[thread->n_open - 1] : NULL;
	*op = top ? top->op : HWY_REF_NONE;
	uint32_t id = top ? top->owner : thread->base;
	struct hwy_owner owner = o->owners[id];
	if (owner.op && owner.module && owner.line)
		return id;
	struct owner_context context = owner_context_of_stack(sweep->names, stack);
	if (!owner.op) {
		struct owner_context calls = calls_until(sweep, thread, moment);
		context.module = context.module ? context.module : calls.module;
		context.line = context.line ? context.line : calls.line;
	}
	if (!context.module && !context.line)
		return id;
	if (!owner.is_backward) {
		owner.module = owner.module ? owner.module : context.module;
		owner.line = owner.line ? owner.line : context.line;
	}
	return owners_put(o, owner);
}

static void take_call(struct owner_sweep *sweep, const struct hwy_sweep *at)
{
	struct hwy_owners *o = sweep->owners;
	size_t s = (size_t)(at->strip - o->trace->strips);
	o->owner_of[s][at->row] =
		owner_at(sweep, at->tag, at->start, hwy_get(at->strip, HWY_STACK, at->row),
			 &o->op_of[s][at->row]);
}

static void take_moment(struct owner_sweep *sweep, struct owner_moment *moment)
{
	if (moment->thread >= sweep->owners->trace->n_threads)
		return;
	moment->owner = owner_at(sweep, moment->thread, moment->time, 0, &moment->op);
}

static void add_forward_edges(struct owner_sweep *sweep)
{
	const struct hwy_trace *trace = sweep->owners->trace;
	for (uint32_t i = 0; i < trace->n_edges; i++) {
		const struct hwy_edge *edge = &trace->edges[i];
		bool fresh;
		if (edge->kind != HWY_EDGE_FORWARD || edge->from < 0 || edge->to < 0 ||
		    edge->from >= trace->n_spans || edge->to >= trace->n_spans)
			continue;
		uint32_t *from = hwy_map_put(&sweep->forward, (uint64_t)edge->to, &fresh);
		if (fresh)
			*from = (uint32_t)edge->from;
	}
}

void owners_sweep(struct hwy_owners *owners, struct owner_names *names,
		  struct owner_moment *moments, uint32_t n_moments)
{
	struct hwy_trace *trace = owners->trace;
	struct owner_sweep sweep = {.owners = owners, .names = names};
	struct hwy_sweep order = {0};
	uint32_t moment = 0, thread;
	open_threads(&sweep);
	add_forward_edges(&sweep);
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if ((strip->kind == HWY_OP || strip->kind == HWY_API) && strip->rows &&
		    is_thread(trace, strip, &thread))
			sweep_add(&order, strip, thread);
	}
	while (sweep_next(&order)) {
		for (; moment < n_moments && moments[moment].time < order.start; moment++)
			take_moment(&sweep, &moments[moment]);
		if (order.strip->kind == HWY_API)
			take_call(&sweep, &order);
		else
			enter_until(&sweep, &sweep.threads[order.tag], order.start);
	}
	for (; moment < n_moments; moment++)
		take_moment(&sweep, &moments[moment]);
	sweep_free(&order);
	hwy_map_free(&sweep.forward);
	hwy_map_free(&sweep.by_sequence);
	close_threads(&sweep);
}
