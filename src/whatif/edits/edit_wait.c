/* SPDX-License-Identifier: Apache-2.0 */
/* edit_wait.c - waits are removed: all of them, those of one place, or all but those of every
 * Nth step; and waits for a value that Python decides by, where the device decides instead.
 *
 * Two waits for the same work are one: with a wait of a place go later waits that would wait in
 * its place. A synchronise call is removed whole. So is the copy of a value that it waits for
 * (PyTorch's .item()), with the CPU's work to get to the copy and back: a program that no longer
 * reads the value no longer copies it. A larger copy that blocks stays, and its call returns as
 * soon as the copy is enqueued: its data is read later. A wait that put the work of two streams
 * in order becomes an event between them. The launch queue's limit still holds the CPU back. A
 * value that is read a step late waits for the work that the same wait of the step before had
 * waited for. Calls that allocate, free, pin or load code may wait as well, but nobody makes them
 * in order to wait: they stay.
 */
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "whatif/edits/edits.h"

enum {
	/* The ns of a call that records an event, or that makes a stream wait for an event. */
	EVENT_CALL_NS = 400,
	VALUE_BYTES = 64,   /* a larger copy is not one value, but data that the program needs */
	AT_ONCE_NS = 20000, /* a longer time between a copy and its wait is the CPU's own work */
	READING_NS = 8000,  /* CPU time from Python's .item() to the copy, and back from the wait */
	COLDER_DIVISOR = 12,    /* 1/12 of the CPU's work after a wait is due to cold caches */
	COLDER_MOST_NS = 16000, /* after one wait, cold caches cost at most this */
	/* At most so many kernels compute a value that the program branches on. */
	MOST_KERNELS_OF_VALUE = 3,
	SMALL_KERNEL_NS = 1200,
};

/* Where the next op after a removed wait is on another stream than the awaited op, the wait had put
 * the two in order: adds an edge between them, for an event on the device. Yields whether an edge
 * was added. */
static bool order_on_device(struct editing *e, uint32_t back, uint32_t awaited)
{
	const struct graph_node *nodes = e->graph->nodes;
	if (awaited == GRAPH_NONE || nodes[awaited].kind != GRAPH_OP)
		return false;
	uint32_t lane = e->flow->ops[nodes[awaited].flow_index].lane, wait = nodes[back].flow_index;
	for (uint32_t i = back + 1; i < e->graph->n && i < back + EDIT_LOOK_AHEAD_NODES; i++) {
		if (nodes[i].kind != GRAPH_OP)
			continue;
		const struct flow_op *op = &e->flow->ops[nodes[i].flow_index];
		if (op->call == FLOW_NONE || op->call < wait ||
		    e->flow->calls[op->call].process != e->flow->calls[wait].process)
			continue;
		/* Both ops are on one stream, which keeps their order anyway. */
		if (op->lane == lane)
			return false;
		graph_add_edge(e->graph, i, awaited, (uint32_t)e->graph->fit.next);
		return true;
	}
	return false;
}

/* ns of the calls for an event that take the place of a wait; 0 where no event is needed. A program
 * that waited for an event has recorded it already. */
static int64_t instead_of_waiting(const struct editing *e, uint32_t call, bool by_event)
{
	if (!by_event)
		return 0;
	struct hwy_place place = place_of(e->places, e->flow->calls[call].span);
	return strstr(place.api, "Event") ? EVENT_CALL_NS : 2 * EVENT_CALL_NS;
}

/* The node 'op' where it is the copy of a single value to the host, enqueued by 'call'; else
 * NULL. */
static struct graph_node *value_copied(const struct editing *e, uint32_t op, uint32_t call)
{
	struct graph_node *node = op == GRAPH_NONE ? NULL : &e->graph->nodes[op];
	if (!node || node->kind != GRAPH_OP || e->flow->ops[node->flow_index].kind != HWY_COPY ||
	    e->flow->ops[node->flow_index].call != call)
		return NULL;
	struct edit_copy copy = edit_copy_of(e, node->flow_index);
	/* A size of 0 bytes means that the size is not known. */
	bool is_value = copy.bytes > 0 && copy.bytes <= VALUE_BYTES;
	return copy.direction == HWY_D2H && is_value ? node : NULL;
}

/* What takes the place of a wait for a value. */
struct instead {
	int64_t work; /* ns of CPU work */
	bool decides; /* kernels that decide on the device take the place of the value's copy */
};

/* ns that the device takes to decide: a small kernel, and one that goes over the data as the
 * kernels did that computed the value (of x.abs().max() > LIMIT, say). Those are the last kernels
 * before the copy, three at most; the second longest of three is taken, else the longest. */
static int64_t deciding(const struct editing *e, const struct graph_node *copy)
{
	int64_t longest = 0, second = 0;
	uint32_t before = copy->before[GRAPH_ORDER];
	int n = 0;
	for (; n < MOST_KERNELS_OF_VALUE && before != GRAPH_NONE;
	     n++, before = e->graph->nodes[before].before[GRAPH_ORDER]) {
		const struct graph_node *node = &e->graph->nodes[before];
		if (node->kind != GRAPH_OP || e->flow->ops[node->flow_index].kind != HWY_KERNEL)
			break;
		if (node->length > longest)
			second = longest, longest = node->length;
		else if (node->length > second)
			second = node->length;
	}
	return (n == MOST_KERNELS_OF_VALUE ? second : longest) + e->graph->fit.next +
	       SMALL_KERNEL_NS;
}

/* The node of the call that the same thread made right before the call that waits; GRAPH_NONE where
 * there is none, or where it waits itself and that wait was not removed. */
static uint32_t call_before(const struct editing *e, const struct graph_node *call)
{
	const struct graph_node *nodes = e->graph->nodes;
	uint32_t before = call->before[GRAPH_ORDER];
	if (before == GRAPH_NONE || graph_counts_from_begin(call, GRAPH_ORDER) ||
	    call->delay > AT_ONCE_NS ||
	    e->flow->calls[nodes[before].flow_index].thread !=
		    e->flow->calls[call->flow_index].thread)
		return GRAPH_NONE;
	if (nodes[before].kind != GRAPH_RETURN)
		return before;
	return nodes[before].before[GRAPH_CAUSE] == GRAPH_NONE ? nodes[before].before[GRAPH_ORDER]
							       : GRAPH_NONE;
}

/* ns that the CPU needed to read a value: the shorter of the pauses before the call that copies and
 * after the wait, READING_NS at most. A program that calls the driver itself, not through a
 * framework, pauses for next to nothing on one side at least. */
static int64_t reading(const struct editing *e, const struct graph_node *copying, uint32_t back)
{
	const struct graph_node *next = edit_next_call(e, back);
	if (!next || copying->before[GRAPH_ORDER] == GRAPH_NONE)
		return 0;
	int64_t shorter = copying->delay < next->delay ? copying->delay : next->delay;
	return shorter < READING_NS ? shorter : READING_NS;
}

/* Removes the copy of a value that a wait is for: its op and the call that enqueued it. That call
 * is the one that waits, or the one right before; in the latter case the CPU's work to read the
 * value is removed too. With 'decides' kernels take the place of the op. Yields whether there was
 * such a copy. */
static bool remove_copy(struct editing *e, uint32_t back, bool decides)
{
	struct graph_node *nodes = e->graph->nodes, *call = &nodes[nodes[back].before[GRAPH_ORDER]];
	uint32_t awaited = nodes[back].before[GRAPH_CAUSE];
	struct graph_node *copy = value_copied(e, awaited, nodes[back].flow_index);
	uint32_t before = copy ? GRAPH_NONE : call_before(e, call);
	if (before != GRAPH_NONE) {
		copy = value_copied(e, awaited, nodes[before].flow_index);
		if (copy) {
			nodes[before].delay -= reading(e, &nodes[before], back);
			nodes[before].length = call->delay = 0;
		}
		/* A wait between the copy and this call was removed: the CPU's work is done
		 * once, after both. */
		if (copy && call->before[GRAPH_ORDER] != before)
			nodes[call->before[GRAPH_ORDER]].delay = 0;
	}
	if (copy) {
		copy->length = decides ? deciding(e, copy) : 0;
		copy->delay = copy->lag[GRAPH_ORDER] = 0;
	}
	return copy != NULL;
}

/* Shortens the CPU's work after a removed wait. A wait, with the driver's code, pushes the
 * program's code and data out of the CPU's caches: what follows is slower until they are back, or
 * until the next wait. PyTorch's calls were 8 % further apart after an .item() that had nothing to
 * wait for, over a step of 0.2 ms (H200, runs with and without it by turns in one process). */
static void warm_after(struct editing *e, uint32_t back)
{
	struct graph_node *nodes = e->graph->nodes;
	int64_t process = e->flow->calls[nodes[back].flow_index].process, left = COLDER_MOST_NS;
	for (uint32_t i = back + 1; i < e->graph->n && i < back + EDIT_LOOK_AHEAD_NODES; i++) {
		if (nodes[i].kind == GRAPH_OP ||
		    e->flow->calls[nodes[i].flow_index].process != process)
			continue;
		if (nodes[i].kind == GRAPH_RETURN)
			return;
		if (nodes[i].before[GRAPH_ORDER] == GRAPH_NONE)
			continue;
		int64_t part = nodes[i].delay / COLDER_DIVISOR;
		part = part < left ? part : left;
		nodes[i].delay -= part;
		left -= part;
	}
}

static void remove_wait(struct editing *e, uint32_t back, struct instead instead)
{
	struct graph_node *node = &e->graph->nodes[back];
	struct graph_node *call = &e->graph->nodes[node->before[GRAPH_ORDER]];
	bool is_gone = remove_copy(e, back, instead.decides);
	bool by_event = order_on_device(e, back, node->before[GRAPH_CAUSE]);
	edit_no_wait(e, back);
	warm_after(e, back);
	node->flags |= GRAPH_WAIT_REMOVED;
	node->delay = instead.work;
	if (is_gone || e->flow->calls[node->flow_index].op == FLOW_NONE)
		call->length = instead_of_waiting(e, node->flow_index, by_event);
}

/* Why a wait is removed. */
enum removal { STAYS, IS_MEANT, WAITS_FOR_THE_SAME };

/* Whether the later wait 'other' would wait in place of the wait 'back': it waits for the same
 * op, or for an op before it on the same stream. */
static bool waits_for_same(const struct editing *e, uint32_t back, uint32_t other)
{
	const struct graph_node *nodes = e->graph->nodes;
	uint32_t op = nodes[back].before[GRAPH_CAUSE], others = nodes[other].before[GRAPH_CAUSE];
	if (nodes[other].kind != GRAPH_RETURN || op == GRAPH_NONE || others == GRAPH_NONE ||
	    nodes[op].kind != GRAPH_OP || nodes[others].kind != GRAPH_OP ||
	    e->flow->calls[nodes[other].flow_index].process !=
		    e->flow->calls[nodes[back].flow_index].process)
		return false;
	bool same_stream = e->flow->ops[nodes[op].flow_index].lane ==
			   e->flow->ops[nodes[others].flow_index].lane;
	return others <= op && same_stream;
}

/* Whether a program can leave out the wait of a return: one that it makes for the device's work,
 * not one inside a call that allocates, frees, pins or loads code. */
static bool can_be_left_out(const struct editing *e, const struct graph_node *node)
{
	switch (e->flow->calls[node->flow_index].role) {
	case HWY_ROLE_ALLOC:
	case HWY_ROLE_FREE:
	case HWY_ROLE_PIN:
	case HWY_ROLE_MODULE: return false;
	default: return true;
	}
}

/* Marks the waits soon after 'back' that would wait in its place: two waits for the same work
 * are one. An earlier wait for the same work stays: it is the one that waits, and 'back' costs
 * nothing. */
static void mark_same(const struct editing *e, uint32_t back, uint32_t every, uint8_t *removal)
{
	uint32_t end = e->graph->n - back > EDIT_LOOK_AHEAD_NODES ? back + EDIT_LOOK_AHEAD_NODES
								  : e->graph->n;
	for (uint32_t i = back + 1; i < end; i++) {
		if (removal[i] != STAYS || e->graph->nodes[i].kind != GRAPH_RETURN ||
		    !can_be_left_out(e, &e->graph->nodes[i]))
			continue;
		uint32_t step = edit_step_of(e, e->graph->nodes[i].flow_index);
		if (step != 0 && (every == 0 || step % every != 0) && waits_for_same(e, back, i))
			removal[i] = WAITS_FOR_THE_SAME;
	}
}

/* Sets, by node, why a wait is removed, and yields how many waits are at the place. */
static uint32_t find_waits(const struct editing *e, const char *place, uint32_t every,
			   uint8_t *removal)
{
	uint32_t found = 0;
	for (uint32_t i = 0; i < e->graph->n; i++) {
		const struct graph_node *node = &e->graph->nodes[i];
		if (node->kind != GRAPH_RETURN || node->before[GRAPH_ORDER] == GRAPH_NONE ||
		    !can_be_left_out(e, node))
			continue;
		uint32_t step = edit_step_of(e, node->flow_index);
		if (step == 0 || !edit_is_at(e, node->flow_index, place))
			continue;
		found++;
		if (every == 0 || step % every != 0)
			removal[i] = IS_MEANT;
	}
	for (uint32_t i = 0; *place && i < e->graph->n; i++)
		if (removal[i] == IS_MEANT)
			mark_same(e, i, every, removal);
	return found;
}

static bool remove_waits(struct editing *e, const char *place, uint32_t every,
			 struct instead instead, struct hwy_err *err)
{
	uint8_t *removal = hwy_zarray(e->graph->n, sizeof *removal);
	uint32_t found = find_waits(e, place, every, removal);
	for (uint32_t i = 0; i < e->graph->n; i++)
		if (removal[i] != STAYS && !(e->graph->nodes[i].flags & GRAPH_WAIT_REMOVED))
			remove_wait(e, i, removal[i] == IS_MEANT ? instead : (struct instead){0});
	free(removal);
	graph_settle(e->graph);
	if (found == 0)
		return *place ? hwy_fail(err, hwy_tr("no wait of the phase is at '%s'"), place)
			      : hwy_fail(err, hwy_tr("the phase has no waits"));
	return true;
}

static bool apply_remove(struct editing *e, const char *place, struct hwy_err *err)
{
	return remove_waits(e, place, 0, (struct instead){0}, err);
}

/* The device decides with torch.where, a mask or a clamp: the value is no longer copied, and two
 * more kernels are launched, a short one that decides and one that does what was decided. */
static bool apply_decide(struct editing *e, const char *place, struct hwy_err *err)
{
	int64_t launch = edit_usual_dispatch(e, 2) + e->w->machine.launch;
	struct instead instead = {.work = 2 * launch, .decides = true};
	return remove_waits(e, place, 0, instead, err);
}

static bool read_every(const char *arguments, uint32_t *every, const char **place,
		       struct hwy_err *err)
{
	return edit_number(arguments, every, place) ||
	       hwy_fail(err, "wait-every needs a number of steps: wait-every:10[:PLACE]");
}

static bool check_every(const char *arguments, struct hwy_err *err)
{
	uint32_t every;
	const char *place;
	return read_every(arguments, &every, &place, err);
}

static bool apply_every(struct editing *e, const char *arguments, struct hwy_err *err)
{
	uint32_t every;
	const char *place;
	return read_every(arguments, &every, &place, err) &&
	       remove_waits(e, place, every, (struct instead){0}, err);
}

/* Makes the k-th wait of each step wait for the work that the k-th wait of the step before had
 * waited for. */
static bool apply_late(struct editing *e, const char *place, struct hwy_err *err)
{
	uint32_t *before = NULL, *now = NULL;
	uint32_t n_before = 0, n_now = 0, cap_before = 0, cap_now = 0, step = 0, found = 0;
	for (uint32_t i = 0; i < e->graph->n; i++) {
		struct graph_node *node = &e->graph->nodes[i];
		uint32_t in = node->kind == GRAPH_RETURN && can_be_left_out(e, node)
				      ? edit_step_of(e, node->flow_index)
				      : 0;
		if (in == 0 || !edit_is_at(e, node->flow_index, place))
			continue;
		if (in != step) {
			uint32_t *list = before, cap = cap_before;
			before = now, n_before = in == step + 1 ? n_now : 0, cap_before = cap_now;
			now = list, n_now = 0, cap_now = cap;
			step = in;
		}
		order_on_device(e, i, node->before[GRAPH_CAUSE]);
		HWY_GROW(now, n_now, cap_now);
		now[n_now] = node->before[GRAPH_CAUSE];
		node->before[GRAPH_CAUSE] = n_now < n_before ? before[n_now] : GRAPH_NONE;
		node->delay = 0;
		n_now++;
		found++;
	}
	free(before);
	free(now);
	graph_settle(e->graph);
	return found > 0 || hwy_fail(err, hwy_tr("the phase has no waits%s%s"),
				     hwy_tr(*place ? " at " : ""), place);
}

const struct edit_kind edit_read_late = {
	.id = "read-late",
	.arguments = "[:PLACE]",
	.about = HWY_KEY("a value is read one step after it was computed"),
	.only_removes = true,
	.apply = apply_late,
};

const struct edit_kind edit_remove_wait = {
	.id = "remove-wait",
	.arguments = "[:PLACE]",
	.about = HWY_KEY("the CPU no longer waits for the device there, nor reads the value"),
	.only_removes = true,
	.apply = apply_remove,
};

const struct edit_kind edit_decide = {
	.id = "decide-on-gpu",
	.arguments = "[:PLACE]",
	.about = HWY_KEY("the GPU decides what the CPU had waited for a value to decide"),
	.apply = apply_decide,
};

const struct edit_kind edit_wait_every = {
	.id = "wait-every",
	.arguments = ":N[:PLACE]",
	.about = HWY_KEY("it waits in every Nth step only"),
	.only_removes = true,
	.check = check_every,
	.apply = apply_every,
};
