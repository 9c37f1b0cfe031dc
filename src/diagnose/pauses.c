/* SPDX-License-Identifier: Apache-2.0 */
/* pauses.c - the blocking calls of a phase as a person would count them.
 *
 * A framework reads one number with two calls, a copy and a synchronise call right after it: the
 * two are one pause. Small "asynchronous" copies of pageable memory count as reads too: their wait
 * costs time, not the kind of memory that they read. Only large copies make a pageable pause.
 */
#include <stdlib.h>

#include "base/search.h"
#include "diagnose/case.h"

/* Smaller copies travel with the command that enqueues them: pinning their memory would gain
 * nothing. */
#define PAGEABLE_BYTES 65536
/* A wait that begins so soon after the wait before it, on the same thread and with no launch
 * between, belongs to it. */
#define TOGETHER_NS 100000

static bool is_steady(const struct hwy_case *c, const struct hwy_wait *wait)
{
	return wait->call >= c->first_call && wait->call < c->end_call &&
	       wait->step >= c->phase->first_steady &&
	       wait->step < c->phase->first_steady + c->phase->n_steady;
}

static bool are_together(const struct hwy_case *c, const struct hwy_wait *before,
			 const struct hwy_wait *wait)
{
	const struct flow_call *a = &c->flow->calls[before->call];
	const struct flow_call *b = &c->flow->calls[wait->call];
	if (a->thread != b->thread || wait->is_copy || a->role == HWY_ROLE_FREE ||
	    b->start - a->end > TOGETHER_NS)
		return false;
	for (uint32_t i = before->call + 1; i < wait->call; i++) {
		const struct flow_call *between = &c->flow->calls[i];
		if (between->thread == a->thread &&
		    (between->role == HWY_ROLE_LAUNCH || between->role == HWY_ROLE_GRAPH_LAUNCH ||
		     between->role == HWY_ROLE_COPY))
			return false;
	}
	return true;
}

/* The call that copies the data which a wait is for: the waiting call itself, else a call right
 * before it that copied without blocking. FLOW_NONE where there is none. */
static uint32_t copy_call(const struct hwy_case *c, const struct hwy_wait *wait)
{
	enum { NEAR_CALLS = 32 };
	const struct flow_call *call = &c->flow->calls[wait->call];
	if (wait->is_copy || call->role == HWY_ROLE_COPY)
		return wait->call;
	for (uint32_t i = wait->call; i-- > 0 && wait->call - i < NEAR_CALLS;) {
		const struct flow_call *before = &c->flow->calls[i];
		if (before->thread != call->thread || before->role == HWY_ROLE_OTHER ||
		    before->role == HWY_ROLE_EVENT_RECORD)
			continue;
		return before->role == HWY_ROLE_COPY ? i : FLOW_NONE;
	}
	return FLOW_NONE;
}

uint32_t pause_copy(const struct hwy_case *c, const struct case_pause *pause)
{
	uint32_t call = copy_call(c, &c->measures->waits.waits[pause->first]);
	return call == FLOW_NONE ? FLOW_NONE : c->flow->calls[call].op;
}

static uint64_t bytes_of(const struct hwy_case *c, const struct hwy_wait *wait)
{
	uint32_t op = c->flow->calls[wait->call].op;
	if (op == FLOW_NONE || c->flow->ops[op].kind != HWY_COPY)
		return 0;
	int64_t bytes = case_get(c, c->flow->ops[op].span, HWY_BYTES);
	return bytes > 0 ? (uint64_t)bytes : 0;
}

static void pauses_begin(const struct hwy_case *c, struct case_pause *pause, uint32_t wait_index)
{
	const struct hwy_wait *wait = &c->measures->waits.waits[wait_index];
	*pause = (struct case_pause){
		.wait = wait_index,
		.first = wait_index,
		.n_waits = 1,
		.waited = wait->waited,
		.is_copy = copy_call(c, wait) != FLOW_NONE,
		.is_pageable = wait->is_pageable && bytes_of(c, wait) >= PAGEABLE_BYTES,
	};
	pause->is_release = c->flow->calls[wait->call].role == HWY_ROLE_FREE;
	pause->is_useless = !pause->is_copy && wait->op == FLOW_NONE &&
			    c->flow->calls[wait->call].role == HWY_ROLE_SYNC;
}

static void pauses_join(const struct hwy_case *c, struct case_pause *pause, uint32_t wait_index)
{
	const struct hwy_wait *wait = &c->measures->waits.waits[wait_index];
	pause->n_waits++;
	if (wait->waited > c->measures->waits.waits[pause->wait].waited)
		pause->wait = wait_index;
	pause->waited += wait->waited;
	pause->is_useless &= wait->op == FLOW_NONE;
}

struct case_pauses pauses_find(const struct hwy_case *c)
{
	const struct hwy_waits *waits = &c->measures->waits;
	struct case_pauses found = {
		.pauses = hwy_array(waits->n, sizeof *found.pauses),
		.by_wait = hwy_array(waits->n, sizeof *found.by_wait),
	};
	uint32_t last = FLOW_NONE;
	for (uint32_t i = 0; i < waits->n; i++) {
		found.by_wait[i] = FLOW_NONE;
		if (!is_steady(c, &waits->waits[i]))
			continue;
		if (last != FLOW_NONE && are_together(c, &waits->waits[last], &waits->waits[i]))
			pauses_join(c, &found.pauses[found.n - 1], i);
		else
			pauses_begin(c, &found.pauses[found.n++], i);
		found.by_wait[i] = found.n - 1;
		last = i;
	}
	return found;
}

void pauses_free(struct case_pauses *pauses)
{
	free(pauses->pauses);
	free(pauses->by_wait);
}

uint32_t pause_of_gap(const struct hwy_case *c, const struct case_pauses *pauses,
		      const struct hwy_gap *gap)
{
	const struct hwy_waits *waits = &c->measures->waits;
	if (gap->culprit == FLOW_NONE)
		return FLOW_NONE;
	uint32_t wait = HWY_FIRST(i, 0, waits->n, waits->waits[i].call >= gap->culprit);
	if (wait == waits->n || waits->waits[wait].call != gap->culprit)
		return FLOW_NONE;
	return pauses->by_wait[wait];
}

void pauses_blame(struct hwy_case *c, const struct case_pauses *pauses, struct claim *claim,
		  bool (*is_it)(const struct case_pause *pause))
{
	for (uint32_t g = 0; g < c->measures->gaps.n; g++) {
		const struct hwy_gap *gap = &c->measures->gaps.gaps[g];
		if (gap->cause != GAP_BLOCKED)
			continue;
		uint32_t index = pause_of_gap(c, pauses, gap);
		const struct case_pause *pause = index == FLOW_NONE ? NULL : &pauses->pauses[index];
		if (!is_it(pause))
			continue;
		uint32_t call = pause ? c->measures->waits.waits[pause->wait].call : gap->culprit;
		claim_gap(c, claim, g, CLAIM_ALL,
			  call == FLOW_NONE ? CLAIM_NOBODY : c->flow->calls[call].span);
	}
}
