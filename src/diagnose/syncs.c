/* SPDX-License-Identifier: Apache-2.0 */
/* syncs.c - see syncs.h. Pauses of pageable copies, of released memory, and pauses with nothing
 * pending belong to other findings. */
#include "diagnose/syncs.h"

#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/say.h"
#include "diagnose/findings/findings.h"

/* What takes a smaller share of the idle time behind the waits is not named. */
#define MEANWHILE_SHARE 0.2
/* A wait shorter than this found the device's work done: its length is the time that the call
 * itself takes. */
#define FINISHED_NS 10000

static bool is_sync(const struct case_pause *pause)
{
	return !pause || (!pause->is_pageable && !pause->is_useless && !pause->is_release);
}

static bool moves_data(const struct hwy_case *c, const struct case_pause *pause)
{
	uint32_t copy = pause_copy(c, pause);
	return copy != FLOW_NONE &&
	       case_get(c, c->flow->ops[copy].span, HWY_BYTES) >= SYNCS_DATA_BYTES;
}

static bool is_blamed(const struct case_pause *pause)
{
	return !pause || (!pause->is_pageable && !pause->is_release);
}

/* By thread: 1 where it launches kernels or graphs in the steady steps. The caller frees it. */
static uint8_t *find_launching(const struct hwy_case *c)
{
	uint8_t *launching = hwy_zarray(c->trace->n_threads + 1u, sizeof *launching);
	for (uint32_t i = c->first_call; i < c->end_call; i++) {
		const struct flow_call *call = &c->flow->calls[i];
		if ((call->role == HWY_ROLE_LAUNCH || call->role == HWY_ROLE_GRAPH_LAUNCH) &&
		    call->thread < c->trace->n_threads)
			launching[call->thread] = 1;
	}
	return launching;
}

struct syncs syncs_look(struct hwy_case *c)
{
	struct syncs syncs = {.pauses = pauses_find(c)};
	uint8_t *launching = find_launching(c);
	struct hwy_interval window = c->phase->window;
	int64_t reach = window.from;
	for (uint32_t i = 0; i < syncs.pauses.n; i++) {
		const struct case_pause *pause = &syncs.pauses.pauses[i];
		if (!is_sync(pause))
			continue;
		const struct hwy_wait *last =
			&c->measures->waits.waits[pause->first + pause->n_waits - 1];
		syncs.n++;
		/* Time in which several threads wait counts once; time outside of the judged steps,
		 * in which the first of these waits may have begun, not at all. */
		int64_t end = c->flow->calls[last->call].end, from = end - pause->waited;
		int64_t to = end < window.to ? end : window.to;
		syncs.waited += to > reach ? to - (from > reach ? from : reach) : 0;
		reach = to > reach ? to : reach;
		syncs.finished += pause->waited < FINISHED_NS;
		syncs.with_data += moves_data(c, pause);
		uint32_t thread = c->flow->calls[last->call].thread;
		syncs.for_others += thread < c->trace->n_threads && !launching[thread];
	}
	free(launching);
	syncs.each = case_count_per_step(c, syncs.n);
	pauses_blame(c, &syncs.pauses, &syncs.claim, is_blamed);
	return syncs;
}

void syncs_free(struct hwy_case *c, struct syncs *syncs)
{
	claim_drop(c, &syncs->claim);
	pauses_free(&syncs->pauses);
}

/* The part of the claim that costs most and has a place, or NULL. */
static const struct claim_item *dearest(const struct syncs *syncs)
{
	const struct claim_item *most = NULL;
	for (uint32_t i = 0; i < syncs->claim.n; i++)
		if (syncs->claim.items[i].span != CLAIM_NOBODY &&
		    (!most || syncs->claim.items[i].ns > most->ns))
			most = &syncs->claim.items[i];
	return most;
}

const char *syncs_callback_advice(const struct hwy_case *c, const struct syncs *syncs)
{
	const struct claim_item *most = dearest(syncs);
	const char *range = most ? place_of(c->analysis->places, most->span).range : "";
	if (!strstr(range, " (callback)"))
		return NULL;
	return "The compiled function calls Python (pure_callback, io_callback, jax.debug.print), and the GPU waits until Python has "
	       "answered: write that part with jax.numpy, take it out of the loop, or call it every N steps.\n"
	       "  jax.lax.cond(i % 100 == 0, log, lambda x: None, x)   # inside the jitted step";
}

const char *syncs_meanwhile(struct hwy_case *c, const struct syncs *syncs)
{
	int64_t in_top;
	uint32_t span;
	const char *name = claim_top_work(c, &syncs->claim, &in_top, &span);
	if (!*name || (double)in_top < MEANWHILE_SHARE * (double)syncs->claim.total)
		return "";
	return hwy_arena_say(
		&c->diagnosis->arena,
		in_top > syncs->claim.total / 2
			? " Most of that idle time, %s, the CPU is in %.80s."
			: " The largest part of that idle time, %s, the CPU is in %.80s.",
		hwy_say_time3(case_per_step(c, in_top)).text, name);
}

/* Whether the pause is one that copies to the device. */
static bool pause_sends(const struct hwy_case *c, const struct case_pause *pause)
{
	uint32_t copy = pause_copy(c, pause);
	return copy != FLOW_NONE && case_get(c, c->flow->ops[copy].span, HWY_DIRECTION) == HWY_H2D;
}

/* The idle time that is charged to waits for copies to the device, in ns. */
static int64_t idle_by_sending(const struct hwy_case *c, const struct syncs *syncs)
{
	int64_t sending = 0;
	for (uint32_t i = 0; i < syncs->claim.n; i++) {
		const struct claim_item *item = &syncs->claim.items[i];
		uint32_t pause = FLOW_NONE;
		if (item->purse == CLAIM_GAP)
			pause = pause_of_gap(c, &syncs->pauses,
					     &c->measures->gaps.gaps[item->index]);
		if (pause != FLOW_NONE && pause_sends(c, &syncs->pauses.pauses[pause]))
			sending += item->ns;
	}
	return sending;
}

bool syncs_send(const struct hwy_case *c, const struct syncs *syncs)
{
	if (syncs->claim.total > 0)
		return idle_by_sending(c, syncs) > syncs->claim.total / 2;
	int64_t sending = 0;
	for (uint32_t i = 0; i < syncs->pauses.n; i++) {
		const struct case_pause *pause = &syncs->pauses.pauses[i];
		if (is_sync(pause) && pause_sends(c, pause))
			sending += pause->waited;
	}
	return sending > syncs->waited / 2;
}

bool syncs_are_in_forward(const struct hwy_case *c, const struct syncs *syncs)
{
	const struct claim_item *most = dearest(syncs);
	if (!most)
		return false;
	const char *function = place_of(c->analysis->places, most->span).function;
	/* Skip the class before the method's name. */
	const char *dot = function ? strrchr(function, '.') : NULL;
	return function && strcmp(dot ? dot + 1 : function, "forward") == 0;
}

void syncs_note(const struct hwy_case *c, const struct syncs *syncs, struct claim *claim)
{
	for (uint32_t i = 0; i < syncs->pauses.n; i++) {
		const struct case_pause *pause = &syncs->pauses.pauses[i];
		if (is_sync(pause))
			claim_note(claim,
				   c->flow->calls[c->measures->waits.waits[pause->wait].call].span);
	}
}

bool syncs_are_accused(const struct hwy_case *c)
{
	for (uint32_t i = 0; i < c->diagnosis->n; i++) {
		const struct hwy_finding *finding = &c->diagnosis->findings[i];
		if (finding->phase == c->index && (finding->kind == &finding_sync_in_model ||
						   finding->kind == &finding_staircase ||
						   finding->kind == &finding_sync_useless ||
						   finding->kind == &finding_copy_roundtrip))
			return true;
	}
	return false;
}
