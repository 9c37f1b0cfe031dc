/* SPDX-License-Identifier: Apache-2.0 */
/* phases_period.c - see phases_period.h.
 *
 * Every call becomes a token: a number for what the call enqueued (kind, name, direction), on
 * which stream, and from which place in the program where operators tell it. A wait is a token
 * too. A lag of L calls fits a stretch when most of its tokens equal the token L places later. A
 * stretch grows token by token; an equal token adds 1 to its score, another token takes 3 away,
 * and the stretch ends when it has lost more than two periods' worth. So a stretch bridges a
 * check-point or one odd step, but not another loop. It must hold three periods.
 *
 * The lags to try are the most common distances between places whose last 1, 4 or 16 tokens are
 * equal. The period is the smallest lag that explains at least 85 % of what the best lag
 * explains: a loop inside a step (its layers) mostly explains less, and several steps together
 * explain no more than one. Two exceptions:
 * - a model of equal layers is explained by one layer's lag. Then a lag that is at least three times as long, explains
 *   60 % and has three or more kernels that run once in each period is the step. (A check-point's copies and waits
 *   are not kernels.)
 * - a lag of at most 4 tokens without a wait is a constant sequence, and no step. Any lag fits a constant sequence, so a
 *   period there must have a call, a wait at least, that comes once in it.
 */
#include "analyze/phases/phases_period.h"

#include <assert.h>
#include <stdlib.h>

#include "analyze/phases/phases_places.h"

enum {
	LAGS = 12,           /* at most so many lags are tried */
	CONSTANT_TOKENS = 4, /* the period of a constant sequence has at most so many tokens */
	TABLE_BITS = 18,     /* the table of contexts has at most 2^18 slots */
	ODD_COST = 3, /* each token that differs lowers the score of a stretch by this much */
	/* A lag is a period only if it explains so many percent of the calls that the best lag
	 * explains. */
	PERIOD_SHARE_PERCENT = 85,
	/* a longer lag is the step around equal layers only if it explains so many percent of the
	 * calls that the best lag explains */
	STEP_SHARE_PERCENT = 60,
};

/* ---- tokens ---------------------------------------------------------------------------------- */

/* Yields the token of the call at a place. *strip caches the strip that was used last, which often
 * holds the next op, too. */
static uint32_t token_of(const struct phases_track *track, uint32_t place,
			 const struct hwy_strip **strip)
{
	const struct hwy_trace *trace = track->flow->trace;
	if (track_is_wait(track, place))
		return (uint32_t)hwy_mix(track_wait_kind(track, place)) | TOKEN_WAIT_BIT;
	const struct flow_op *op = &track->flow->ops[track_call(track, place)->op];
	uint32_t row = op->span - (*strip)->first;
	if (op->span < (*strip)->first || row >= (*strip)->rows)
		*strip = hwy_strip_of(trace, op->span, &row);
	uint64_t content = (uint64_t)hwy_get(*strip, HWY_NAME, row);
	if (op->kind == HWY_COPY)
		content = (uint64_t)hwy_get(*strip, HWY_DIRECTION, row);
	uint32_t token = (uint32_t)hwy_mix(hwy_mix(content << 8 | op->kind) + op->lane);
	return token & ~(uint32_t)TOKEN_WAIT_BIT;
}

static void make_tokens(struct phases_track *track)
{
	const struct hwy_strip *strip = track->flow->trace->strips;
	struct phases_places *places = phases_places_open(track->flow->trace);
	track->tokens = hwy_array(track->n, sizeof *track->tokens);
	for (uint32_t i = 0; i < track->n; i++) {
		const struct flow_call *call = track_call(track, i);
		uint32_t token = token_of(track, i, &strip);
		uint32_t place = places ? phases_places_at(places, call->thread, call->start) : 0;
		/* A wait stays a wait of its kind, wherever it is made. */
		if (place && !(token & TOKEN_WAIT_BIT))
			token = (uint32_t)hwy_mix(token + (uint64_t)place) &
				~(uint32_t)TOKEN_WAIT_BIT;
		track->tokens[i] = token;
	}
	phases_places_close(places);
}

/* ---- lags worth trying ----------------------------------------------------------------------- */

/* Adds to counts[d] how often two neighbouring places with the same last 'context' tokens are d
 * calls apart. A slot of the table holds only the context that came last: another context in the
 * same slot costs a distance, but bounds the memory. */
static void count_distances(const uint32_t *tokens, uint32_t n, uint32_t context, uint32_t *counts)
{
	uint32_t bits = 4;
	while (bits < TABLE_BITS && n >> (bits - 2))
		bits++;
	struct {
		uint32_t hash, place;
	} *table = hwy_zalloc(sizeof *table << bits);
	const uint64_t base = 0x9e3779b97f4a7c15u;
	uint64_t hash = 0, weight_of_oldest = 1;
	for (uint32_t i = 0; i < context; i++)
		weight_of_oldest *= base;
	for (uint32_t i = 0; i < n; i++) {
		hash = hash * base + tokens[i];
		if (i >= context)
			hash -= weight_of_oldest * tokens[i - context];
		uint64_t mixed = hwy_mix(hash);
		uint32_t slot = (uint32_t)(mixed >> (64 - bits));
		if (table[slot].hash == (uint32_t)mixed && table[slot].place)
			counts[i + 1 - table[slot].place]++;
		table[slot].hash = (uint32_t)mixed;
		table[slot].place = i + 1;
	}
	free(table);
}

static int ascending(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	return (a > b) - (a < b);
}

/* The median distance between waits, in calls; 0 where there are fewer than PERIOD_FEWEST_TURNS
 * distances. */
static uint32_t wait_distance(const uint32_t *tokens, uint32_t n)
{
	uint32_t *distances = NULL, count = 0, cap = 0, last = UINT32_MAX;
	for (uint32_t i = 0; i < n; i++) {
		if (!(tokens[i] & TOKEN_WAIT_BIT))
			continue;
		if (last != UINT32_MAX) {
			HWY_GROW(distances, count, cap);
			distances[count++] = i - last;
		}
		last = i;
	}
	uint32_t middle = 0;
	if (count >= PERIOD_FEWEST_TURNS) {
		qsort(distances, count, sizeof *distances, ascending);
		middle = distances[count / 2];
	}
	free(distances);
	return middle;
}

/* Puts the lags worth trying, in ascending order, into 'lags', which has room for LAGS. Yields
 * the number of lags. */
static uint32_t find_lags(const uint32_t *tokens, uint32_t n, uint32_t *lags)
{
	uint32_t *counts = hwy_zarray(n, sizeof *counts), n_lags = 0;
	for (uint32_t context = 1; context <= 16; context *= 4)
		count_distances(tokens, n, context, counts);
	uint64_t spans[LAGS];
	for (uint32_t lag = 1; lag <= n / PERIOD_FEWEST_TURNS; lag++) {
		uint64_t span = (uint64_t)counts[lag] * lag;
		if (counts[lag] < 2 || span * 20 < n)
			continue;
		uint32_t slot = n_lags < LAGS - 1 ? n_lags++ : LAGS - 1;
		if (slot == LAGS - 1 && spans[slot - 1] >= span)
			continue;
		slot -= slot == LAGS - 1;
		for (; slot > 0 && spans[slot - 1] < span; slot--) {
			spans[slot] = spans[slot - 1];
			lags[slot] = lags[slot - 1];
		}
		spans[slot] = span;
		lags[slot] = lag;
	}
	free(counts);
	uint32_t waits = wait_distance(tokens, n);
	if (waits && waits <= n / PERIOD_FEWEST_TURNS)
		lags[n_lags++] = waits;
	if (n_lags)
		qsort(lags, n_lags, sizeof *lags, ascending);
	return n_lags;
}

/* ---- fitting a lag --------------------------------------------------------------------------- */

/* Whether the stretch has a wait in at least every second period. */
static bool has_waits_in_periods(const uint32_t *tokens, const struct period *period)
{
	uint64_t waits = 0;
	for (uint32_t i = period->from; i < period->to; i++)
		waits += tokens[i] & TOKEN_WAIT_BIT;
	return waits * period->lag * 2 >= period->to - period->from;
}

/* Replaces the best stretch of this lag by [from, to + lag) where that is a better one. 'equal'
 * tokens of [from, to) equal the token one lag later. */
static void keep_if_better(struct period *best, uint32_t lag, uint32_t from, uint32_t to,
			   uint32_t equal)
{
	uint32_t explained = equal + lag;
	if (to - from >= (PERIOD_FEWEST_TURNS - 1) * lag && equal >= (to - from) / 10 * 7 &&
	    explained > best->explained)
		*best = (struct period){
			.lag = lag, .from = from, .to = to + lag, .explained = explained};
}

/* Yields the stretch of [from, to) that this lag explains best; the stretch's 'explained' is 0
 * where the lag explains nothing. */
static struct period fit_lag(const uint32_t *tokens, uint32_t from, uint32_t to, uint32_t lag)
{
	struct period best = {0};
	const int64_t most_lost = ODD_COST * (2 * (int64_t)lag + 16);
	int64_t score = 0, peak = 0;
	uint32_t begin = from, peak_at = from, equal = 0, equal_at_peak = 0;
	for (uint32_t i = from; i + lag < to; i++) {
		if (tokens[i] == tokens[i + lag]) {
			if (score == 0) {
				begin = i;
				equal = 0;
				peak = 0;
			}
			score++;
			equal++;
			if (score > peak) {
				peak = score;
				peak_at = i + 1;
				equal_at_peak = equal;
			}
		} else if (score > 0) {
			score -= ODD_COST;
			if (score > 0 && peak - score <= most_lost)
				continue;
			keep_if_better(&best, lag, begin, peak_at, equal_at_peak);
			score = 0;
		}
	}
	if (score > 0)
		keep_if_better(&best, lag, begin, peak_at, equal_at_peak);
	best.is_constant =
		best.explained && lag <= CONSTANT_TOKENS && !has_waits_in_periods(tokens, &best);
	return best;
}

bool period_is_kernel(const struct phases_track *track, uint32_t place)
{
	uint32_t op = track_call(track, place)->op;
	return op != FLOW_NONE &&
	       (track->flow->ops[op].kind == HWY_KERNEL || track->flow->ops[op].kind == HWY_GRAPH);
}

struct kind_of_call { /* the calls with one token */
	uint32_t n;
	uint32_t last; /* the place of the latest call with this token */
	/* How many calls are about one lag, within a fifth of it, behind the previous call with
	 * this token. */
	uint32_t regular;
};

/* How many kinds of calls, or of kernels where 'kernels_alone' is set, come once a period. */
static uint32_t count_unique(const struct phases_track *track, const struct period *period,
			     bool kernels_alone)
{
	struct hwy_map by_token = {0};
	struct kind_of_call *kinds = NULL;
	uint32_t n = 0, cap = 0, unique = 0;
	const uint32_t from = period_recent(period);
	for (uint32_t i = from; i < period->to; i++) {
		bool fresh;
		if (kernels_alone && !period_is_kernel(track, i))
			continue;
		uint32_t *index = hwy_map_put(&by_token, track->tokens[i], &fresh);
		if (fresh) {
			HWY_GROW(kinds, n, cap);
			kinds[n] = (struct kind_of_call){0};
			*index = n++;
		}
		assert(kinds);
		struct kind_of_call *kind = &kinds[*index];
		uint32_t apart = i - kind->last;
		kind->regular += kind->n && apart <= period->lag + period->lag / 5 &&
				 apart >= period->lag - period->lag / 5;
		kind->last = i;
		kind->n++;
	}
	for (uint32_t i = 0; i < n; i++)
		unique += kinds[i].regular * (uint64_t)period->lag * 10 >=
				  (uint64_t)(period->to - from - period->lag) * 7 &&
			  kinds[i].n - kinds[i].regular <= kinds[i].n / 4 + 1;
	free(kinds);
	hwy_map_free(&by_token);
	return unique;
}

/* Whether a lag explains at least this percentage of what the best lag explains. */
static bool explains(const struct period *period, uint32_t best, uint32_t percent)
{
	return period->explained && (uint64_t)period->explained * 100 >= (uint64_t)best * percent;
}

/* Yields the period of the step where 'period' is the period of one layer of the step; else
 * 'period' itself. */
static struct period step_of_layers(const struct phases_track *track,
				    const struct period *stretches, uint32_t n, uint32_t best,
				    struct period period)
{
	for (uint32_t i = 0; i < n; i++)
		if (period.explained && explains(&stretches[i], best, STEP_SHARE_PERCENT) &&
		    stretches[i].lag / 3 >= period.lag &&
		    count_unique(track, &stretches[i], true) >= 3)
			return stretches[i];
	return period;
}

/* Takes a loop of shorter steps off an end of the stretch that a lag explains. The lag fits such
 * a loop too where it is a multiple of the shorter lag, but the loop is another phase. It lasts
 * for three periods of the lag; no loop inside a step does. 'shorter' has the stretches of the
 * shorter lags. */
static void leave_out_shorter(const struct period *shorter, uint32_t n, struct period *period)
{
	uint32_t whole = period->to - period->from, least = PERIOD_FEWEST_TURNS * period->lag;
	for (uint32_t i = 0; i < n && period->explained; i++) {
		const struct period *other = &shorter[i];
		if (other->explained < least || other->lag > period->lag / 2 ||
		    other->from >= period->to || other->to <= period->from)
			continue;
		if (other->from > period->from && other->from - period->from >= least)
			period->to = other->from;
		else if (other->to < period->to && period->to - other->to >= least)
			period->from = other->to;
	}
	if (period->explained)
		period->explained = (uint32_t)((uint64_t)period->explained *
					       (period->to - period->from) / whole);
}

struct period period_find(struct phases_track *track, uint32_t from, uint32_t to)
{
	if (!track->tokens)
		make_tokens(track);
	uint32_t lags[LAGS], best = 0;
	uint32_t n = find_lags(track->tokens + from, to - from, lags);
	struct period stretches[LAGS], chosen = {0}, constant = {0};
	for (uint32_t i = 0; i < n; i++) {
		stretches[i] = fit_lag(track->tokens, from, to, lags[i]);
		leave_out_shorter(stretches, i, &stretches[i]);
		best = stretches[i].explained > best ? stretches[i].explained : best;
	}
	for (uint32_t i = n; i-- > 0;)
		if (stretches[i].is_constant && explains(&stretches[i], best, PERIOD_SHARE_PERCENT))
			constant = stretches[i];
	/* Any lag fits a constant sequence. So a lag counts as a period only where some kind of
	 * call comes once in each period. */
	for (uint32_t i = n; i-- > 0;)
		if (!stretches[i].is_constant &&
		    explains(&stretches[i], best, PERIOD_SHARE_PERCENT) &&
		    (!constant.explained || count_unique(track, &stretches[i], false)))
			chosen = stretches[i];
	chosen = step_of_layers(track, stretches, n, best, chosen);
	chosen = chosen.explained ? chosen : constant;
	chosen.limit = to;
	chosen.is_mostly_constant = constant.explained != 0;
	return chosen;
}
