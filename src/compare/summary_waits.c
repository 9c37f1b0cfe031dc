/* SPDX-License-Identifier: Apache-2.0 */
/* summary_waits.c - which calls wait for the device, and at which line; and which wait came with
 * a change.
 *
 * A count alone does not say which call a change added. The calls of a phase are counted by their
 * name and line, as many as a baseline keeps. Lines move when others are added above them: a line
 * that is gone is the nearest new one of the same call and file.
 */
#include "compare/summary_waits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/place.h"
#include "base/index.h"
#include "base/lang.h"
#include "base/path.h"
#include "base/say.h"

enum { MOST_CALLS = 200000, KEY_BYTES = 300 };
/* A call that waits less often than this in a step, or whose waits rose by less, is none that a
 * change added. */
static const double least_rise = 0.05;

static int compare_waits(const void *a, const void *b)
{
	const struct compare_wait *x = a, *y = b;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	int order = strcmp(x->call, y->call);
	return order ? order : strcmp(x->place, y->place);
}

static void add_wait(struct compare_phase *into, struct hwy_index *by_text,
		     struct hwy_arena *arena, const struct hwy_place *at, uint32_t *cap)
{
	char place[KEY_BYTES / 2] = "", key[KEY_BYTES];
	bool is_new;
	if (*at->file && at->line > 0)
		snprintf(place, sizeof place, "%s:%" PRId64, hwy_basename(at->file), at->line);
	int n = snprintf(key, sizeof key, "%.140s %s", at->api, place);
	uint32_t *index = hwy_index_put(by_text, key, (size_t)n, &is_new);
	if (is_new) {
		*index = into->n_waits;
		HWY_GROW(into->waits, into->n_waits, *cap);
		into->waits[into->n_waits++] =
			(struct compare_wait){hwy_arena_text(arena, at->api, strlen(at->api)),
					      hwy_arena_text(arena, place, strlen(place)), 0};
	}
	into->waits[*index].count++;
}

bool summary_waits(struct compare_phase *into, struct hwy_arena *arena,
		   struct hwy_analysis *analysis, const struct hwy_phase *phase,
		   const struct hwy_waits *waits, struct hwy_err *err)
{
	const struct phase_step *first = &phase->steps[phase->first_steady],
				*last = first + phase->n_steady - 1;
	struct hwy_places *places = waits->n ? places_open(analysis->trace, err) : NULL;
	struct hwy_index by_text = {0};
	uint32_t cap = 0;
	if (!waits->n)
		return true;
	if (!places)
		return false;
	for (uint32_t i = 0; i < waits->n && i < MOST_CALLS; i++) {
		uint32_t call = waits->waits[i].call;
		if (call < first->first_call || call >= last->first_call + last->n_calls)
			continue;
		struct hwy_place at = place_of(places, analysis->flow.calls[call].span);
		add_wait(into, &by_text, arena, &at, &cap);
	}
	if (into->n_waits)
		qsort(into->waits, into->n_waits, sizeof *into->waits, compare_waits);
	if (into->n_waits > COMPARE_ROWS)
		into->n_waits = COMPARE_ROWS;
	struct compare_wait *made = into->waits;
	into->waits = hwy_arena_array(arena, into->n_waits, sizeof *into->waits);
	if (into->n_waits)
		memcpy(into->waits, made, into->n_waits * sizeof *made);
	free(made);
	hwy_index_free(&by_text);
	places_close(places);
	return true;
}

/* ---- what a change added ---- */

/* The line of a place, and the length of its file's name; 0 where it has no line. */
static int64_t line_of(const char *place, size_t *file)
{
	const char *colon = strrchr(place, ':');
	*file = colon ? (size_t)(colon - place) : 0;
	return colon ? strtoll(colon + 1, NULL, 10) : 0;
}

static bool is_same_line(const struct compare_wait *a, const struct compare_wait *b)
{
	return strcmp(a->call, b->call) == 0 && strcmp(a->place, b->place) == 0;
}

static const struct compare_wait *wait_with(const struct compare_phase *phase,
					    const struct compare_wait *wanted)
{
	for (uint32_t i = 0; i < phase->n_waits; i++)
		if (is_same_line(&phase->waits[i], wanted))
			return &phase->waits[i];
	return NULL;
}

/* How far a line moved, where one can be the other; -1: these are two. */
static int64_t distance(const struct compare_wait *a, const struct compare_wait *b)
{
	size_t n, m;
	int64_t x = line_of(a->place, &n), y = line_of(b->place, &m);
	if (strcmp(a->call, b->call) != 0 || n != m || memcmp(a->place, b->place, n) != 0)
		return -1;
	return x < y ? y - x : x - y;
}

/* Marks the new line that a line which is gone has become: the nearest one. */
static void pair_moved(const struct compare_phase *before, const struct compare_phase *after,
		       const struct compare_wait **was)
{
	for (uint32_t i = 0; i < before->n_waits; i++) {
		const struct compare_wait *gone = &before->waits[i];
		uint32_t best = UINT32_MAX;
		int64_t least = INT64_MAX;
		if (wait_with(after, gone))
			continue;
		for (uint32_t k = 0; k < after->n_waits; k++) {
			int64_t far = distance(gone, &after->waits[k]);
			if (!was[k] && far >= 0 && far < least) {
				least = far;
				best = k;
			}
		}
		if (best != UINT32_MAX)
			was[best] = gone;
	}
}

static double per_step(const struct compare_phase *phase, uint64_t count)
{
	return phase->n_steady ? (double)count / phase->n_steady : 0;
}

/* How often a call waits in a step at all its lines, or only where the line is not known: calls
 * that are short are recorded without a stack. */
static double call_per_step(const struct compare_phase *phase, const char *call, bool unplaced_only)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < phase->n_waits; i++)
		if (strcmp(phase->waits[i].call, call) == 0 &&
		    (!unplaced_only || !*phase->waits[i].place))
			count += phase->waits[i].count;
	return per_step(phase, count);
}

/* The call of which the most came; NULL: of none did any come. */
static const char *risen_call(const struct compare_phase *before, const struct compare_phase *after)
{
	const char *call = NULL;
	double most = least_rise;
	for (uint32_t i = 0; i < after->n_waits; i++) {
		double rise = call_per_step(after, after->waits[i].call, false) -
			      call_per_step(before, after->waits[i].call, false);
		if (rise > most) {
			most = rise;
			call = after->waits[i].call;
		}
	}
	return call;
}

/* The line of a call that waits most often more than before; UINT32_MAX: not known. */
static uint32_t risen_line(const struct compare_phase *before, const struct compare_phase *after,
			   const char *call, const struct compare_wait **was)
{
	uint32_t best = UINT32_MAX;
	double most = least_rise;
	for (uint32_t i = 0; i < after->n_waits; i++) {
		const struct compare_wait *now = &after->waits[i];
		double rise = per_step(after, now->count) -
			      (was[i] ? per_step(before, was[i]->count) : 0);
		if (strcmp(now->call, call) != 0 || !*now->place || rise <= most)
			continue;
		most = rise;
		best = i;
	}
	return best;
}

const char *summary_new_wait(const struct compare_phase *before, const struct compare_phase *after,
			     struct hwy_arena *arena)
{
	const struct compare_wait **was = hwy_arena_array(arena, after->n_waits, sizeof *was);
	const char *call = risen_call(before, after);
	/* A baseline of an older version has counts and no lines. */
	if (!call || (before->n_waits == 0 && before->counts[COUNT_WAITS] > 0))
		return "";
	for (uint32_t i = 0; i < after->n_waits; i++)
		was[i] = wait_with(before, &after->waits[i]);
	pair_moved(before, after, was);
	uint32_t line = risen_line(before, after, call, was);
	double old = call_per_step(before, call, false);
	bool is_new = old < least_rise ||
		      (line != UINT32_MAX && !was[line] &&
		       call_per_step(before, call, true) < least_rise);
	const char *place = line == UINT32_MAX || (!is_new && !was[line])
				    ? call
				    : hwy_arena_say(arena, "%s at %s", call,
						    after->waits[line].place);
	if (is_new)
		return hwy_arena_say(arena, "new wait: %s", place);
	return hwy_arena_say(arena, "more waits: %s; %s → %s a step of this call", place,
			     hwy_say_count_2decimals(old).text,
			     hwy_say_count_2decimals(call_per_step(after, call, false)).text);
}
