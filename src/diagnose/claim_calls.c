/* SPDX-License-Identifier: Apache-2.0 */
/* claim_calls.c - how often the steady steps call what a finding names at each of its places.
 *
 * A finding is charged to some spans of a place: to the wait behind each gap, to one kernel of a
 * name. How many of these there are says little to a reader, who counts the calls in the source
 * or in another tool. So the calls are counted: those of the names that the finding is charged
 * to, made at the place by the steady steps. Work of a device counts as the call that enqueued
 * it. The number is left out (0) where it cannot be had: of samples, where only some of the
 * calls have a stack, and where there would be too many to look at.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/nest.h"
#include "base/hash.h"
#include "base/ref.h"
#include "diagnose/case.h"

enum {
	MOST_LOOKS = 1 << 16, /* so many calls are looked at for a finding */
	MOST_APIS = 32,       /* names of calls of which is noted which have stacks */
};

#define COUNTED                                                                                    \
	(HWY_KIND_BIT(HWY_API) | HWY_KIND_BIT(HWY_OS) | HWY_KIND_BIT(HWY_RANGE) |                  \
	 HWY_KIND_BIT(HWY_OP) | HWY_KIND_BIT(HWY_CALL) | HWY_DEVICE_KINDS)

enum { WITH_STACK = 1, WITHOUT_STACK = 2 };

struct counting {
	struct hwy_case *c;
	struct hwy_finding *finding;
	struct hwy_map names; /* the keys are kinds and names of the spans that were charged */
	uint32_t kinds;       /* a bit for each of these kinds */
	uint32_t looks;
	uint64_t *counts; /* parallel to the finding's places */
	uint32_t *last;   /* parallel to the places: a reference to the last call counted */
	struct {
		const char *name;
		unsigned stacks;
	} apis[MOST_APIS];
	uint32_t n_apis;
};

static uint64_t key_of(unsigned kind, int64_t name)
{
	return (uint64_t)name << 8 | kind;
}

static void note_names(struct counting *counting, const struct claim *claim, uint32_t every)
{
	for (uint32_t i = 0; i < claim->n; i += every) {
		uint32_t row;
		if (claim->items[i].span == CLAIM_NOBODY)
			continue;
		const struct hwy_strip *strip =
			hwy_strip_of(counting->c->trace, claim->items[i].span, &row);
		counting->kinds |= HWY_KIND_BIT(strip->kind);
		hwy_map_put(&counting->names, key_of(strip->kind, hwy_get(strip, HWY_NAME, row)),
			    NULL);
	}
}

static bool is_charged(const struct counting *counting, const struct hwy_strip *strip, uint32_t row)
{
	return hwy_map_get(&counting->names, key_of(strip->kind, hwy_get(strip, HWY_NAME, row))) !=
	       NULL;
}

/* Notes whether a call has a stack: where some calls of a name have one and others have none, the
 * places with a line do not hold all calls that were made there. */
static void note_stack(struct counting *counting, const char *api, uint32_t call)
{
	uint32_t row, i = 0;
	const struct hwy_strip *strip = hwy_strip_of(counting->c->trace, call, &row);
	if (strip->kind != HWY_API)
		return;
	while (i < counting->n_apis && strcmp(counting->apis[i].name, api) != 0)
		i++;
	if (i == MOST_APIS)
		return;
	if (i == counting->n_apis) {
		counting->apis[i].name = api;
		counting->apis[counting->n_apis++].stacks = 0;
	}
	counting->apis[i].stacks |= hwy_get(strip, HWY_STACK, row) ? WITH_STACK : WITHOUT_STACK;
}

/* Counts a span at its place; 'call' is the span itself, or the call that enqueued it. */
static void count_span(struct counting *counting, uint32_t span, uint32_t call)
{
	if (counting->looks++ >= MOST_LOOKS)
		return;
	struct hwy_place place = claim_place(counting->c, span);
	note_stack(counting, place.api, call);
	for (uint32_t i = 0; i < counting->finding->n_places; i++) {
		if (!place_equal(&counting->finding->places[i].at, &place) ||
		    counting->last[i] == hwy_ref32(call))
			continue;
		counting->counts[i]++;
		counting->last[i] = hwy_ref32(call);
		return;
	}
}

static void count_device(struct counting *counting)
{
	const struct hwy_case *c = counting->c;
	for (uint32_t i = c->first_op; i < c->end_op && counting->looks < MOST_LOOKS; i++) {
		const struct flow_op *op = &c->flow->ops[i];
		uint32_t row;
		if (!(counting->kinds & HWY_KIND_BIT(op->kind)) || !case_op_is_ours(c, i))
			continue;
		const struct hwy_strip *strip = hwy_strip_of(c->trace, op->span, &row);
		if (is_charged(counting, strip, row))
			count_span(counting, op->span,
				   op->call == FLOW_NONE ? op->span
							 : c->flow->calls[op->call].span);
	}
}

static void count_vendor_calls(struct counting *counting)
{
	const struct hwy_case *c = counting->c;
	for (uint32_t i = c->first_call; i < c->end_call && counting->looks < MOST_LOOKS; i++) {
		uint32_t span = c->flow->calls[i].span, row;
		if (!case_call_is_ours(c, i))
			continue;
		const struct hwy_strip *strip = hwy_strip_of(c->trace, span, &row);
		if (is_charged(counting, strip, row))
			count_span(counting, span, span);
	}
}

/* Counts OS calls, ranges, operators and functions of the phase's process. */
static void count_others(struct counting *counting, uint32_t kinds)
{
	const struct hwy_case *c = counting->c;
	uint32_t end = c->phase->first_steady + c->phase->n_steady;
	int64_t from = c->phase->steps[c->phase->first_steady].cpu.from;
	/* What happens behind a step's mark, up to the next mark, is the step's. */
	int64_t to = end < c->phase->n_steps ? c->phase->steps[end].cpu.from
					     : c->phase->steps[end - 1].cpu.to;
	for (uint32_t s = 0; s < c->trace->n_strips; s++) {
		const struct hwy_strip *strip = &c->trace->strips[s];
		if (!(kinds & HWY_KIND_BIT(strip->kind)) ||
		    c->trace->lanes[strip->lane].process != c->phase->process)
			continue;
		for (uint32_t row = nest_at(&(struct hwy_nest){.strip = strip}, from);
		     row < strip->rows && hwy_get(strip, HWY_START, row) < to &&
		     counting->looks < MOST_LOOKS;
		     row++)
			if (is_charged(counting, strip, row))
				count_span(counting, strip->first + row, strip->first + row);
	}
}

/* Whether only some of the calls of a place with a line have the stack that tells it. */
static bool has_some_stacks(const struct counting *counting, const struct hwy_place *place)
{
	if (!*place->file && !*place->function)
		return false;
	for (uint32_t i = 0; i < counting->n_apis; i++)
		if (strcmp(counting->apis[i].name, place->api) == 0)
			return counting->apis[i].stacks == (WITH_STACK | WITHOUT_STACK);
	return false;
}

void claim_count_calls(struct hwy_case *c, struct hwy_finding *finding, const struct claim *claim,
		       uint32_t every)
{
	struct counting counting = {.c = c, .finding = finding};
	counting.counts = hwy_zarray(finding->n_places, sizeof *counting.counts);
	counting.last = hwy_zarray(finding->n_places, sizeof *counting.last);
	note_names(&counting, claim, every);
	if (counting.kinds & HWY_DEVICE_KINDS)
		count_device(&counting);
	if (counting.kinds & HWY_KIND_BIT(HWY_API))
		count_vendor_calls(&counting);
	uint32_t others = counting.kinds & COUNTED & ~(HWY_DEVICE_KINDS | HWY_KIND_BIT(HWY_API));
	if (others && c->phase->n_steps > 0 && c->phase->n_steady > 0)
		count_others(&counting, others);
	for (uint32_t i = 0; i < finding->n_places; i++) {
		struct hwy_finding_place *place = &finding->places[i];
		bool is_known = counting.looks < MOST_LOOKS && !(counting.kinds & ~COUNTED) &&
				!has_some_stacks(&counting, &place->at);
		place->count = is_known ? counting.counts[i] : 0;
	}
	hwy_map_free(&counting.names);
	free(counting.counts);
	free(counting.last);
}
