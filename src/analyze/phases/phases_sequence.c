/* SPDX-License-Identifier: Apache-2.0 */
/* phases_sequence.c - phases without marks: steps are the periods of the sequence of launches
 * and waits.
 *
 * A step begins at an anchor: a token, with some of the tokens behind it, that occurs once a
 * period. A token after a wait is preferred, then the token before which the CPU pauses longest.
 * With anchors, a call more or less in one step does not shift the steps behind. A constant
 * sequence is cut after its waits, where the waits are regular.
 *
 * A model of nothing but equal layers has no call that occurs once a step. Where a period is as
 * short as a layer's, and the CPU pauses longer before every m-th period (it returns from one
 * call of the model and makes the next), m periods are one step.
 */
#include <assert.h>
#include <stdlib.h>

#include "analyze/phases/phases_period.h"
#include "base/quantile.h"

enum {
	FEWEST_CONSTANT_CALLS = 16, /* a shorter constant sequence is no phase */
	MOST_LAYER_CALLS = 16,      /* a period with more calls is not one layer */
	FEWEST_LAYERS = 4,
	MOST_LAYERS = 64,
	FEWEST_PAUSES = 10,  /* fewer pauses before every m-th period prove nothing */
	MOST_PAUSES = 2048,  /* only the last so many pauses are compared */
	LONGER_BY_NS = 1000, /* a difference below this between two pauses is noise */
	MOST_CONTEXT = 64,   /* the context of an anchor is at most this many tokens */
};

/* ---- anchors --------------------------------------------------------------------------------- */

struct anchor {              /* the places with one token and one context */
	uint64_t hash;       /* hash of the anchor's token and context */
	uint32_t count;      /* how many places have the anchor's token and context */
	uint32_t after_wait; /* how many of the anchor's places follow a wait */
	double pause;        /* ns that the CPU paused before all of the anchor's places together */
	uint32_t place;      /* the first of the anchor's places */
	bool is_wait;
};

/* How long the CPU made no call before the call at this place, in ns. */
static int64_t sequence_pause_before(const struct phases_track *track, uint32_t place)
{
	if (place == 0)
		return 0;
	int64_t pause = track_call(track, place)->start - track_call(track, place - 1)->end;
	return pause > 0 ? pause : 0;
}

/* A hash of 'context' tokens from a place on, and of the token before it: of ten equal copies,
 * the first is the one that follows a wait, whatever kind of wait. */
static uint64_t context_hash(const uint32_t *tokens, uint32_t place, uint32_t context, uint32_t to)
{
	uint32_t before = place ? tokens[place - 1] : 0;
	uint64_t hash = hwy_mix(before & TOKEN_WAIT_BIT ? TOKEN_WAIT_BIT : before);
	for (uint32_t i = place; i < place + context && i < to; i++)
		hash = hwy_mix(hash + tokens[i]);
	return hash;
}

struct anchors {
	struct anchor *anchors;
	uint32_t n, cap;
};

/* Adds every token and context that occurs in the last part of the period's stretch. */
static void count_anchors(const struct phases_track *track, const struct period *period,
			  uint32_t context, struct anchors *into)
{
	struct hwy_map by_hash = {0};
	for (uint32_t i = period_recent(period); i < period->to; i++) {
		uint64_t hash = context_hash(track->tokens, i, context, period->to);
		bool fresh;
		uint32_t *index = hwy_map_put(&by_hash, hash, &fresh);
		if (fresh) {
			HWY_GROW(into->anchors, into->n, into->cap);
			into->anchors[into->n] = (struct anchor){
				hash, .place = i, .is_wait = track_is_wait(track, i)};
			*index = into->n++;
		}
		assert(into->anchors);
		struct anchor *anchor = &into->anchors[*index];
		anchor->count++;
		anchor->after_wait += i > 0 && track_is_wait(track, i - 1);
		anchor->pause += (double)sequence_pause_before(track, i);
	}
	hwy_map_free(&by_hash);
}

/* Whether this token and context occur once a period. A wait ends a step, and never begins one. */
static bool is_anchor(const struct anchor *anchor, double periods)
{
	return !anchor->is_wait && anchor->count >= periods * 0.8 - 1 &&
	       anchor->count <= periods * 1.1 + 1;
}

static bool is_better_anchor(const struct anchor *a, const struct anchor *b)
{
	bool a_waits = a->after_wait * 2 > a->count, b_waits = b->after_wait * 2 > b->count;
	return b->count == 0 || (a_waits && !b_waits) ||
	       (a_waits == b_waits && a->pause > b->pause);
}

/* The best anchor with 'context' tokens; its count is 0 where nothing occurs once a period. An
 * anchor that is missing in some periods would make one step of two periods, so the most
 * frequent anchors are preferred. */
static struct anchor choose_anchor(const struct phases_track *track, const struct period *period,
				   uint32_t context)
{
	struct anchors all = {0};
	struct anchor best = {0};
	double periods = (double)(period->to - period_recent(period)) / period->lag;
	uint32_t most = 0;
	count_anchors(track, period, context, &all);
	for (uint32_t i = 0; i < all.n; i++)
		if (is_anchor(&all.anchors[i], periods) && all.anchors[i].count > most)
			most = all.anchors[i].count;
	for (uint32_t i = 0; i < all.n; i++)
		if (is_anchor(&all.anchors[i], periods) &&
		    all.anchors[i].count + 1 >= most - most / 50 &&
		    is_better_anchor(&all.anchors[i], &best))
			best = all.anchors[i];
	free(all.anchors);
	return best;
}

/* ---- steps ----------------------------------------------------------------------------------- */

struct starts { /* the places at which steps begin */
	uint32_t *places;
	uint32_t n, cap;
};

static void add_start(struct starts *starts, uint32_t place)
{
	HWY_GROW(starts->places, starts->n, starts->cap);
	starts->places[starts->n++] = place;
}

/* Begins a step after each wait. False, and no steps, where the distances between waits are not
 * regular. */
static bool start_after_waits(const struct phases_track *track, const struct period *period,
			      struct starts *starts)
{
	for (uint32_t i = period->from; i < period->to; i++)
		if (!track_is_wait(track, i) && (i == period->from || track_is_wait(track, i - 1)))
			add_start(starts, i);
	uint32_t alike = 0;
	for (uint32_t i = 0; i + 1 < starts->n; i++)
		alike += llabs((int64_t)starts->places[i + 1] - starts->places[i] - period->lag) *
				 5 <=
			 period->lag;
	if (starts->n >= PERIOD_FEWEST_TURNS && alike * 10 >= (starts->n - 1) * 6)
		return true;
	starts->n = 0;
	return false;
}

/* Whether the stretch itself begins like the step at 'place': the stretch's first step may have
 * other tokens before it, and is then not found by its anchor. */
static bool begins_like_step(const struct phases_track *track, const struct period *period,
			     uint32_t place)
{
	uint32_t equal = 0;
	for (uint32_t i = 0; i < period->lag && place + i < period->to; i++)
		equal += track->tokens[period->from + i] == track->tokens[place + i];
	return equal >= period->lag - period->lag / 10;
}

/* Begins a step at each anchor; every lag calls where there is no anchor. */
static void start_at_anchors(const struct phases_track *track, const struct period *period,
			     struct starts *starts)
{
	struct anchor anchor = {0};
	uint32_t context = 1;
	for (; context <= MOST_CONTEXT; context *= 4) {
		anchor = choose_anchor(track, period, context);
		if (anchor.count)
			break;
	}
	if (anchor.count && begins_like_step(track, period, anchor.place) &&
	    context_hash(track->tokens, period->from, context, period->to) != anchor.hash)
		add_start(starts, period->from);
	for (uint32_t i = period->from; i < period->to; i++)
		if (anchor.count
			    ? context_hash(track->tokens, i, context, period->to) == anchor.hash
			    : (i - period->from) % period->lag == 0)
			add_start(starts, i);
}

/* ---- layers that only the CPU's pauses tell from steps --------------------------------------- */

/* quantiles of the pauses before every m-th step, in ns: noise makes pauses longer only */
struct usual_pause {
	int64_t quarter, half;
};

/* The usual pause before the steps rest, rest + m, rest + 2 m … 'room' has room for n values. */
static struct usual_pause usual_pause_of(const int64_t *pauses, uint32_t n, uint32_t m,
					 uint32_t rest, int64_t *room)
{
	uint32_t count = 0;
	for (uint32_t i = rest; i < n; i += m)
		room[count++] = pauses[i];
	hwy_sort(room, count);
	return (struct usual_pause){hwy_rank_above(room, count, 25), hwy_median_upper(room, count)};
}

static bool is_longer(int64_t a, int64_t b)
{
	return a > b + b / 10 && a - b >= LONGER_BY_NS;
}

/* Which of every m steps has a longer pause before it than the others, as a number below m; m
 * where none has. */
static uint32_t longer_pause(const int64_t *pauses, uint32_t n, uint32_t m, int64_t *room)
{
	struct usual_pause most = {-1, -1}, high = {-1, -1};
	int64_t low = INT64_MAX;
	uint32_t longest = m;
	for (uint32_t rest = 0; rest < m; rest++) {
		struct usual_pause usual = usual_pause_of(pauses, n, m, rest, room), less = usual;
		if (usual.quarter > most.quarter) {
			less = most;
			most = usual;
			longest = rest;
		}
		if (less.quarter < 0)
			continue;
		low = less.quarter < low ? less.quarter : low;
		high.quarter = less.quarter > high.quarter ? less.quarter : high.quarter;
		high.half = less.half > high.half ? less.half : high.half;
	}
	/* The longest pause differs from the others at least twice as much as the others differ
	 * among themselves. */
	bool stands_out = most.quarter - high.quarter >= 2 * (high.quarter - low);
	return stands_out && is_longer(most.quarter, high.quarter) &&
			       is_longer(most.half, high.half)
		       ? longest
		       : m;
}

/* Which of every m steps has the longer pause in both halves of the pauses, since chance seldom
 * repeats itself; m where none has. */
static uint32_t always_longer_pause(const int64_t *pauses, uint32_t n, uint32_t m, int64_t *room)
{
	uint32_t half = n / 2 / m * m;
	uint32_t longest = longer_pause(pauses, half, m, room);
	return longer_pause(pauses + half, n - half, m, room) == longest ? longest : m;
}

/* Where the CPU pauses longer before every m-th period, takes the periods for layers and makes m
 * of them one step. */
static void group_layers(const struct phases_track *track, struct period *period,
			 struct starts *starts)
{
	uint32_t n = starts->n < MOST_PAUSES ? starts->n : MOST_PAUSES, first = starts->n - n;
	if (period->lag > MOST_LAYER_CALLS || n < 4 * FEWEST_PAUSES)
		return;
	int64_t *pauses = hwy_array(2 * n, sizeof *pauses);
	for (uint32_t i = 0; i < n; i++)
		pauses[i] = sequence_pause_before(track, starts->places[first + i]);
	for (uint32_t m = FEWEST_LAYERS; m <= MOST_LAYERS && n / 2 / m >= FEWEST_PAUSES; m++) {
		uint32_t longest = always_longer_pause(pauses, n, m, pauses + n);
		if (longest == m)
			continue;
		uint32_t kept = 0;
		for (uint32_t i = (first + longest) % m; i < starts->n; i += m)
			starts->places[kept++] = starts->places[i];
		starts->n = kept;
		period->lag *= m;
		break;
	}
	free(pauses);
}

static bool has_kernel(const struct phases_track *track, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		if (period_is_kernel(track, i))
			return true;
	return false;
}

/* The place behind the last step: a period after its start, and behind the waits there where the
 * other steps end with a wait. */
static uint32_t sequence_end_of_last(const struct phases_track *track, const struct period *period,
				     const struct starts *starts)
{
	uint32_t last = starts->places[starts->n - 1], end = last + period->lag;
	end = end < period->to ? end : period->to;
	bool ends_waiting = starts->n > 1 && track_is_wait(track, last - 1);
	/* A step that ends with a wait may have some calls more than the lag, because the wait may
	 * come a little later. */
	for (uint32_t i = end; ends_waiting && i < period->limit && i <= end + period->lag / 8; i++)
		if (track_is_wait(track, i)) {
			end = i + 1;
			break;
		}
	while (ends_waiting && end < period->limit && track_is_wait(track, end))
		end++;
	return end;
}

static void sequence_add_phase(const struct phases_track *track, const struct period *period,
			       const struct starts *starts, enum phase_source source,
			       struct phases_cuts *cuts)
{
	struct phases_cut cut = {
		.source = source,
		.name = HWY_NONE,
		.steps = hwy_array(starts->n, sizeof *cut.steps),
		.n = starts->n,
	};
	for (uint32_t i = 0; i < starts->n; i++) {
		uint32_t place = starts->places[i];
		uint32_t end = i + 1 < starts->n ? starts->places[i + 1]
						 : sequence_end_of_last(track, period, starts);
		cut.steps[i] = (struct phases_cut_step){
			.cpu = {track_call(track, place)->start, track_call(track, end - 1)->end},
			.name = HWY_NONE,
			.place = place,
			.end = end,
		};
	}
	HWY_GROW(cuts->cuts, cuts->n, cuts->cap);
	cuts->cuts[cuts->n++] = cut;
}

/* Whether the calls [from, to) have the least share of the process's calls and device work that
 * a phase must have. */
static bool is_large_enough(const struct phases_track *track, uint32_t from, uint32_t to,
			    struct phases_least least)
{
	bool calls = (uint64_t)(to - from) * 100 >= (uint64_t)track->n * least.percent;
	bool work =
		track->work[to] - track->work[from] >= track->work[track->n] / 100 * least.percent;
	return to - from >= PERIOD_FEWEST_TURNS && (least.of_both ? calls && work : calls || work);
}

/* Whether a period that was found is a phase: three small ops in a row are none, nor are copies
 * alone in a program that has kernels. */
static bool is_phase(const struct phases_track *track, const struct period *period,
		     const struct starts *starts)
{
	if (starts->n < PERIOD_FEWEST_TURNS ||
	    (period->is_constant && period->to - period->from < FEWEST_CONSTANT_CALLS))
		return false;
	return has_kernel(track, period->from, period->to) || !has_kernel(track, 0, track->n);
}

void phases_sequence_cut(struct phases_track *track, uint32_t from, uint32_t to,
			 struct phases_least least, struct phases_cuts *cuts)
{
	if (!is_large_enough(track, from, to, least))
		return;
	struct period period = period_find(track, from, to);
	/* period_find yields the largest stretch, so where that stretch is too small every other
	 * one is too small. */
	if (period.explained == 0 || !is_large_enough(track, period.from, period.to, least))
		return;
	struct starts starts = {0};
	enum phase_source source = PHASE_SEQUENCE;
	if (period.is_mostly_constant && start_after_waits(track, &period, &starts))
		source = PHASE_WAITS;
	else
		start_at_anchors(track, &period, &starts);
	if (source == PHASE_SEQUENCE && !period.is_constant)
		group_layers(track, &period, &starts);
	if (is_phase(track, &period, &starts))
		sequence_add_phase(track, &period, &starts, source, cuts);
	uint32_t next = starts.n ? sequence_end_of_last(track, &period, &starts) : period.to;
	next = next > period.to ? next : period.to;
	free(starts.places);
	phases_sequence_cut(track, from, period.from, least, cuts);
	phases_sequence_cut(track, next, to, least, cuts);
}
