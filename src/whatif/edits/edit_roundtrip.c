/* SPDX-License-Identifier: Apache-2.0 */
/* edit_roundtrip.c - data stays on the device instead of visiting the host.
 *
 * A round trip is a copy to the host and, in the same step or the next, a copy of the same size
 * back. Both copies are removed, with the waits for them and the CPU's work in between. What the
 * CPU computed there is then the device's work, whose length the trace cannot know: it is assumed
 * to be two kernels in place of the two copies, each of which goes over the data once. A large trip
 * had swept the CPU's caches: the step's launches now find the caches warm, and take no longer than
 * launches do on this machine.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/lang.h"
#include "base/ref.h"
#include "whatif/edits/edits.h"

/* The assumed bandwidth of device memory where the recording does not tell it. */
#define DEFAULT_BYTES_PER_S 1e12

/* A trip of so many bytes pushes most other data out of the caches of a CPU's core. */
enum { SWEEPS_CACHES_BYTES = 1 << 20 };

struct trip {
	uint32_t step; /* reference (base/ref.h) to the step in which the trip began */
	bool is_large;
	/* The calls that copy the data out and back; 'back' is FLOW_NONE until the data has come
	 * back. */
	uint32_t out, back;
	uint32_t next; /* reference (base/ref.h) to the next open trip with as many bytes */
};

static void shorten(int64_t *value, int64_t to)
{
	if (*value > to)
		*value = to;
}

/* ns that a kernel takes to read and write a copy's bytes, at the speed of the device's memory. */
static int64_t length_of_pass(const struct editing *e, uint32_t op)
{
	const struct hwy_trace *trace = e->flow->trace;
	int64_t device = trace->lanes[e->flow->ops[op].lane].device;
	double rate = device >= 0 && device < trace->n_devices
			      ? (double)trace->devices[device].memory_bandwidth
			      : 0;
	return edit_time_of(2 * (double)edit_copy_of(e, op).bytes,
			    rate > 0 ? rate : DEFAULT_BYTES_PER_S);
}

/* Turns a copy's node into a kernel, or the copy's call into a launch, or removes the wait for
 * the copy. */
static void replace(struct editing *e, uint32_t index, int64_t usual_delay)
{
	struct graph_node *node = &e->graph->nodes[index];
	if (node->kind == GRAPH_RETURN) {
		edit_no_wait(e, index);
		return;
	}
	int64_t length = 0, delay = 0; /* length and delay stay 0 for a call that only waits */
	if (node->kind == GRAPH_OP) {
		length = length_of_pass(e, node->flow_index);
	} else if (e->flow->calls[node->flow_index].op != FLOW_NONE) {
		length = e->w->machine.launch;
		delay = usual_delay;
	}
	shorten(&node->length, length);
	if (node->before[GRAPH_ORDER] != GRAPH_NONE)
		shorten(&node->delay, delay);
}

struct trips {
	struct trip *list;
	uint32_t n, cap;
	/* Both map a size in bytes to a reference: to the first, and to the last, open trip of
	 * that size. */
	struct hwy_map first, last;
};

static void open_trip(struct trips *trips, struct trip trip, uint64_t bytes)
{
	HWY_GROW(trips->list, trips->n, trips->cap);
	trips->list[trips->n++] = trip;
	uint32_t *last = hwy_map_put(&trips->last, bytes, NULL);
	if (hwy_ref32_is_set(*last))
		trips->list[hwy_ref32_index(*last)].next = hwy_ref32(trips->n - 1);
	*last = hwy_ref32(trips->n - 1);
	uint32_t *first = hwy_map_put(&trips->first, bytes, NULL);
	if (!hwy_ref32_is_set(*first))
		*first = hwy_ref32(trips->n - 1);
}

/* Closes the oldest open trip with as many bytes that went out in this step or the one before. */
static void close_trip(struct trips *trips, uint32_t step, uint64_t bytes, uint32_t call)
{
	uint32_t *first = hwy_map_put(&trips->first, bytes, NULL);
	while (hwy_ref32_is_set(*first) && trips->list[hwy_ref32_index(*first)].step + 1 < step)
		*first = trips->list[hwy_ref32_index(*first)].next;
	if (!hwy_ref32_is_set(*first))
		return;
	struct trip *trip = &trips->list[hwy_ref32_index(*first)];
	trip->back = call;
	*first = trip->next;
}

static void see_copy(const struct editing *e, struct trips *trips, uint32_t op)
{
	uint32_t call = e->flow->ops[op].call;
	uint32_t step = call == FLOW_NONE ? 0 : edit_step_of(e, call);
	if (step == 0)
		return;
	struct edit_copy copy = edit_copy_of(e, op);
	if (copy.direction == HWY_D2H)
		open_trip(trips,
			  (struct trip){.step = step,
					.is_large = copy.bytes >= SWEEPS_CACHES_BYTES,
					.out = call,
					.back = FLOW_NONE},
			  (uint64_t)copy.bytes);
	else if (copy.direction == HWY_H2D)
		close_trip(trips, step, (uint64_t)copy.bytes, call);
}

enum { STAYS, GONE, FOLLOWS };

static bool is_wait(const struct editing *e, uint32_t call)
{
	return e->flow->calls[call].role == HWY_ROLE_SYNC &&
	       e->flow->calls[call].process == e->w->phase->process;
}

static uint32_t next_of_process(const struct editing *e, uint32_t call)
{
	do
		call++;
	while (call < e->flow->n_calls && e->flow->calls[call].process != e->w->phase->process);
	return call;
}

/* Marks as GONE the calls of the two copies, the waits between them and right after them; as
 * FOLLOWS the call after those, before which the CPU released what it had needed for the trip.
 * Yields the number of trips. */
static uint32_t mark(const struct editing *e, const struct trips *trips, uint8_t *gone)
{
	uint32_t found = 0, under_way = 0;
	/* begin[call] is by how much the number of open trips changes at the call */
	uint32_t *begin = hwy_zarray(e->flow->n_calls, sizeof *begin);
	for (uint32_t i = 0; i < trips->n; i++) {
		const struct trip *trip = &trips->list[i];
		if (trip->back == FLOW_NONE || trip->back <= trip->out)
			continue;
		found++;
		gone[trip->out] = gone[trip->back] = GONE;
		begin[trip->out]++;
		begin[trip->back]--;
		uint32_t next = next_of_process(e, trip->back);
		for (; next < e->flow->n_calls && is_wait(e, next); next = next_of_process(e, next))
			gone[next] = GONE;
		if (next < e->flow->n_calls && gone[next] == STAYS)
			gone[next] = FOLLOWS;
	}
	for (uint32_t call = 0; call < e->flow->n_calls; call++) {
		under_way += begin[call];
		if (under_way && is_wait(e, call))
			gone[call] = GONE;
	}
	free(begin);
	return found;
}

/* Shortens the launches of steps in which a trip had swept the caches; the work that they had
 * delayed begins sooner. */
static void warm(struct editing *e, const struct trips *trips)
{
	/* By reference to a step: [HWY_REF_NONE] is for calls outside of the phase, and stays 0. */
	uint8_t *is_swept = hwy_zarray(e->w->phase->n_steps + 1, sizeof *is_swept);
	/* For each call, the ns by which the edit shortens the call. */
	int64_t *saved = hwy_zarray(e->flow->n_calls, sizeof *saved);
	for (uint32_t i = 0; i < trips->n; i++)
		is_swept[trips->list[i].step] |=
			trips->list[i].is_large && trips->list[i].back != FLOW_NONE;
	for (uint32_t i = 0; i < e->graph->n; i++) {
		struct graph_node *node = &e->graph->nodes[i];
		if (node->kind == GRAPH_CALL && is_swept[edit_step_of(e, node->flow_index)]) {
			saved[node->flow_index] = edit_warm(e, node);
		} else if (node->kind == GRAPH_OP &&
			   e->flow->ops[node->flow_index].call != FLOW_NONE) {
			int64_t sooner = saved[e->flow->ops[node->flow_index].call];
			node->delay -= node->delay < sooner ? node->delay : sooner;
		}
	}
	free(saved);
	free(is_swept);
}

static bool edit_roundtrip_apply(struct editing *e, const char *arguments, struct hwy_err *err)
{
	(void)arguments;
	struct trips trips = {0};
	for (uint32_t i = 0; i < e->flow->n_ops; i++)
		if (e->flow->ops[i].kind == HWY_COPY)
			see_copy(e, &trips, i);
	uint8_t *gone = hwy_zarray(e->flow->n_calls, sizeof *gone);
	uint32_t found = mark(e, &trips, gone);
	/* Delays above the usual one are due to caches that a trip has swept. */
	int64_t usual = edit_usual_dispatch(e, 1);
	for (uint32_t i = 0; i < e->graph->n; i++) {
		struct graph_node *node = &e->graph->nodes[i];
		uint32_t call = node->kind == GRAPH_OP ? e->flow->ops[node->flow_index].call
						       : node->flow_index;
		if (call != FLOW_NONE && gone[call] == GONE)
			replace(e, i, usual);
		else if (node->kind == GRAPH_CALL && gone[call] == FOLLOWS)
			shorten(&node->delay, usual);
	}
	warm(e, &trips);
	free(gone);
	free(trips.list);
	hwy_map_free(&trips.first);
	hwy_map_free(&trips.last);
	return found > 0 || hwy_fail(err, hwy_tr("nothing of the phase goes to the host and back"));
}

const struct edit_kind edit_no_roundtrip = {
	.id = "no-roundtrip",
	.arguments = "",
	.about = HWY_KEY("data that went to the host and back stays on the device"),
	.only_removes = true,
	.apply = edit_roundtrip_apply,
};
