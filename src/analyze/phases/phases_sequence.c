/* phases_sequence.c - phases without marks: steps are the periods of the sequence of launches and waits.
 *
 * Steps begin at an anchor: a token (with some context) that occurs once a period; after a wait where there
 * is one, else where the CPU pauses longest before it. So a call more or less shifts nothing. A constant
 * sequence is cut after its waits, where they are regular.
 *
 * A model of nothing but equal layers has no calls that tell where it begins. Where a period is as short as a
 * layer's and the CPU pauses longer before every m-th of them (it returns from one call of the model and makes
 * the next), m of them are the step.
 */
#include <assert.h>
#include <stdlib.h>

#include "analyze/phases/phases_period.h"

enum {
	FEWEST_CONSTANT = 16, /* calls of a constant sequence */
	LAYER = 16,           /* calls of a period that may be a layer */
	FEWEST_LAYERS = 4,
	MOST_LAYERS = 64,
	FEWEST_OF_EACH = 10, /* pauses that tell */
	MOST_PAUSES = 2048,  /* looked at, of the last steps */
	LEAST_PAUSE = 1000,  /* ns longer */
};

/* ---- anchors --------------------------------------------------------------------------------- */

struct anchor { /* a token with its context */
	uint64_t hash;
	uint32_t count, after_wait;
	double pause;   /* ns of CPU before it, in all */
	uint32_t place; /* one of them */
	bool is_wait;
};

static int64_t pause_before(const struct phases_track *track, uint32_t place)
{
	if (place == 0)
		return 0;
	int64_t pause = track_call(track, place)->start - track_call(track, place - 1)->end;
	return pause > 0 ? pause : 0;
}

/* Of the token before the place too: the first of ten equal chunks is the one after a wait, whatever wait. */
static uint64_t context_hash(const uint32_t *tokens, uint32_t place, uint32_t context, uint32_t to)
{
	uint32_t before = place ? tokens[place - 1] : 0;
	uint64_t hash = hwy_mix(before & TOKEN_WAIT ? TOKEN_WAIT : before);
	for (uint32_t i = place; i < place + context && i < to; i++)
		hash = hwy_mix(hash + tokens[i]);
	return hash;
}

struct anchors {
	struct anchor *v;
	uint32_t n, cap;
};

static void count_anchors(const struct phases_track *track, const struct period *fit,
			  uint32_t context, struct anchors *into)
{
	struct hwy_map by_hash = {0};
	for (uint32_t i = period_recent(fit); i < fit->to; i++) {
		uint64_t hash = context_hash(track->tokens, i, context, fit->to);
		bool fresh;
		uint32_t *at = hwy_map_put(&by_hash, hash, &fresh);
		if (fresh) {
			HWY_GROW(into->v, into->n, into->cap);
			into->v[into->n] = (struct anchor){hash, .place = i,
							   .is_wait = track_is_wait(track, i)};
			*at = into->n++;
		}
		assert(into->v);
		struct anchor *anchor = &into->v[*at];
		anchor->count++;
		anchor->after_wait += i > 0 && track_is_wait(track, i - 1);
		anchor->pause += (double)pause_before(track, i);
	}
	hwy_map_free(&by_hash);
}

/* Whether it occurs once a period. A wait ends a step, and begins none. */
static bool is_anchor(const struct anchor *anchor, double periods)
{
	return !anchor->is_wait && anchor->count >= periods * 0.8 - 1 &&
	       anchor->count <= periods * 1.1 + 1;
}

static bool is_better(const struct anchor *a, const struct anchor *b)
{
	bool waits = a->after_wait * 2 > a->count, b_waits = b->after_wait * 2 > b->count;
	return b->count == 0 || (waits && !b_waits) || (waits == b_waits && a->pause > b->pause);
}

/* The best of those that occur once a period, each with 'context' tokens; count 0: none does. One that is
 * missing in some periods would make two of them one step. */
static struct anchor choose_anchor(const struct phases_track *track, const struct period *fit,
				   uint32_t context)
{
	struct anchors all = {0};
	struct anchor best = {0};
	double periods = (double)(fit->to - period_recent(fit)) / fit->lag;
	uint32_t most = 0;
	count_anchors(track, fit, context, &all);
	for (uint32_t i = 0; i < all.n; i++)
		if (is_anchor(&all.v[i], periods) && all.v[i].count > most)
			most = all.v[i].count;
	for (uint32_t i = 0; i < all.n; i++)
		if (is_anchor(&all.v[i], periods) && all.v[i].count + 1 >= most - most / 50 &&
		    is_better(&all.v[i], &best))
			best = all.v[i];
	free(all.v);
	return best;
}

/* ---- steps ----------------------------------------------------------------------------------- */

struct starts {
	uint32_t *v;
	uint32_t n, cap;
};

static void add_start(struct starts *starts, uint32_t place)
{
	HWY_GROW(starts->v, starts->n, starts->cap);
	starts->v[starts->n++] = place;
}

/* After each wait. False where the waits are not regular. */
static bool start_after_waits(const struct phases_track *track, const struct period *fit,
			      struct starts *starts)
{
	for (uint32_t i = fit->from; i < fit->to; i++)
		if (!track_is_wait(track, i) && (i == fit->from || track_is_wait(track, i - 1)))
			add_start(starts, i);
	uint32_t alike = 0;
	for (uint32_t i = 0; i + 1 < starts->n; i++)
		alike += llabs((int64_t)starts->v[i + 1] - starts->v[i] - fit->lag) * 5 <= fit->lag;
	if (starts->n >= PERIOD_FEWEST && alike * 10 >= (starts->n - 1) * 6)
		return true;
	starts->n = 0;
	return false;
}

/* Whether the stretch begins with a step: nothing stands before it that an anchor could be known by. */
static bool begins_at(const struct phases_track *track, const struct period *fit, uint32_t place)
{
	uint32_t equal = 0;
	for (uint32_t i = 0; i < fit->lag && place + i < fit->to; i++)
		equal += track->tokens[fit->from + i] == track->tokens[place + i];
	return equal >= fit->lag - fit->lag / 10;
}

static void start_at_anchors(const struct phases_track *track, const struct period *fit,
			     struct starts *starts)
{
	struct anchor anchor = {0};
	uint32_t context = 1;
	for (; context <= 64; context *= 4) {
		anchor = choose_anchor(track, fit, context);
		if (anchor.count)
			break;
	}
	if (anchor.count && begins_at(track, fit, anchor.place) &&
	    context_hash(track->tokens, fit->from, context, fit->to) != anchor.hash)
		add_start(starts, fit->from);
	for (uint32_t i = fit->from; i < fit->to; i++)
		if (anchor.count ? context_hash(track->tokens, i, context, fit->to) == anchor.hash
				 : (i - fit->from) % fit->lag == 0)
			add_start(starts, i);
}

/* ---- layers that only the CPU's pauses tell from steps --------------------------------------- */

static int phases_sequence_by_time(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
	return (a > b) - (a < b);
}

struct usual { /* of the pauses before every m-th of the starts: noise only adds */
	int64_t quarter, half;
};

static struct usual usual_pause(const int64_t *pauses, uint32_t n, uint32_t m, uint32_t rest,
				int64_t *room)
{
	uint32_t count = 0;
	for (uint32_t i = rest; i < n; i += m)
		room[count++] = pauses[i];
	qsort(room, count, sizeof *room, phases_sequence_by_time);
	return (struct usual){room[count / 4], room[count / 2]};
}

static bool is_longer(int64_t a, int64_t b)
{
	return a > b + b / 10 && a - b >= LEAST_PAUSE;
}

/* Which of every m starts has a longer pause than all others; m: none has. */
static uint32_t longer_pause(const int64_t *pauses, uint32_t n, uint32_t m, int64_t *room)
{
	struct usual most = {-1, -1}, high = {-1, -1};
	int64_t low = INT64_MAX;
	uint32_t at = m;
	for (uint32_t rest = 0; rest < m; rest++) {
		struct usual usual = usual_pause(pauses, n, m, rest, room), less = usual;
		if (usual.quarter > most.quarter) {
			less = most;
			most = usual;
			at = rest;
		}
		if (less.quarter < 0)
			continue;
		low = less.quarter < low ? less.quarter : low;
		high.quarter = less.quarter > high.quarter ? less.quarter : high.quarter;
		high.half = less.half > high.half ? less.half : high.half;
	}
	/* Longer than the others by twice what they differ by. */
	bool stands_out = most.quarter - high.quarter >= 2 * (high.quarter - low);
	return stands_out && is_longer(most.quarter, high.quarter) &&
			       is_longer(most.half, high.half)
		       ? at
		       : m;
}

/* The same of both halves alike: chance seldom does. */
static uint32_t always_longer_pause(const int64_t *pauses, uint32_t n, uint32_t m, int64_t *room)
{
	uint32_t half = n / 2 / m * m;
	uint32_t at = longer_pause(pauses, half, m, room);
	return longer_pause(pauses + half, n - half, m, room) == at ? at : m;
}

/* Keeps every m-th start where the CPU pauses longer before those. */
static void group_layers(const struct phases_track *track, struct period *fit,
			 struct starts *starts)
{
	uint32_t n = starts->n < MOST_PAUSES ? starts->n : MOST_PAUSES, first = starts->n - n;
	if (fit->lag > LAYER || n < 4 * FEWEST_OF_EACH)
		return;
	int64_t *pauses = hwy_alloc(2 * n * sizeof *pauses);
	for (uint32_t i = 0; i < n; i++)
		pauses[i] = pause_before(track, starts->v[first + i]);
	for (uint32_t m = FEWEST_LAYERS; m <= MOST_LAYERS && n / 2 / m >= FEWEST_OF_EACH; m++) {
		uint32_t at = always_longer_pause(pauses, n, m, pauses + n);
		if (at == m)
			continue;
		uint32_t kept = 0;
		for (uint32_t i = (first + at) % m; i < starts->n; i += m)
			starts->v[kept++] = starts->v[i];
		starts->n = kept;
		fit->lag *= m;
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

/* The end of the last step: a period after its start, and past the waits there where others end with one. */
static uint32_t end_of_last(const struct phases_track *track, const struct period *fit,
			    const struct starts *starts)
{
	uint32_t last = starts->v[starts->n - 1], end = last + fit->lag;
	end = end < fit->to ? end : fit->to;
	bool ends_waiting = starts->n > 1 && track_is_wait(track, last - 1);
	/* The lag may be a call shorter than this step. */
	for (uint32_t i = end; ends_waiting && i < fit->limit && i <= end + fit->lag / 8; i++)
		if (track_is_wait(track, i)) {
			end = i + 1;
			break;
		}
	while (ends_waiting && end < fit->limit && track_is_wait(track, end))
		end++;
	return end;
}

static void add_phase(const struct phases_track *track, const struct period *fit,
		      const struct starts *starts, enum phase_source source,
		      struct phases_cuts *cuts)
{
	struct phases_cut cut = {
		.source = source,
		.name = HWY_NONE,
		.steps = hwy_alloc(starts->n * sizeof *cut.steps),
		.n = starts->n,
	};
	for (uint32_t i = 0; i < starts->n; i++) {
		uint32_t place = starts->v[i];
		uint32_t end =
			i + 1 < starts->n ? starts->v[i + 1] : end_of_last(track, fit, starts);
		cut.steps[i] = (struct phases_cut_step){
			.cpu = {track_call(track, place)->start, track_call(track, end - 1)->end},
			.name = HWY_NONE,
			.place = place,
			.end = end,
		};
	}
	HWY_GROW(cuts->v, cuts->n, cuts->cap);
	cuts->v[cuts->n++] = cut;
}

static bool is_large_enough(const struct phases_track *track, uint32_t from, uint32_t to,
			    struct phases_least least)
{
	bool calls = (uint64_t)(to - from) * 100 >= (uint64_t)track->n * least.percent;
	bool work =
		track->work[to] - track->work[from] >= track->work[track->n] / 100 * least.percent;
	return to - from >= PERIOD_FEWEST && (least.of_both ? calls && work : calls || work);
}

/* Enough to be called a phase: not three small ops in a row, nor copies alone in a program that has more. */
static bool is_phase(const struct phases_track *track, const struct period *fit,
		     const struct starts *starts)
{
	if (starts->n < PERIOD_FEWEST ||
	    (fit->is_constant && fit->to - fit->from < FEWEST_CONSTANT))
		return false;
	return has_kernel(track, fit->from, fit->to) || !has_kernel(track, 0, track->n);
}

void sequence_cut(struct phases_track *track, uint32_t from, uint32_t to, struct phases_least least,
		  struct phases_cuts *cuts)
{
	if (!is_large_enough(track, from, to, least))
		return;
	struct period fit = period_find(track, from, to);
	/* The rest is smaller still. */
	if (fit.explained == 0 || !is_large_enough(track, fit.from, fit.to, least))
		return;
	struct starts starts = {0};
	enum phase_source source = PHASE_SEQUENCE;
	if (fit.is_mostly_constant && start_after_waits(track, &fit, &starts))
		source = PHASE_WAITS;
	else
		start_at_anchors(track, &fit, &starts);
	if (source == PHASE_SEQUENCE && !fit.is_constant)
		group_layers(track, &fit, &starts);
	if (is_phase(track, &fit, &starts))
		add_phase(track, &fit, &starts, source, cuts);
	uint32_t next = starts.n ? end_of_last(track, &fit, &starts) : fit.to;
	next = next > fit.to ? next : fit.to;
	free(starts.v);
	sequence_cut(track, from, fit.from, least, cuts);
	sequence_cut(track, next, to, least, cuts);
}
