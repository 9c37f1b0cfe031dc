/* phases_period.c - see phases_period.h.
 *
 * A call is a token: what it enqueued (kind, name, direction), on which stream; a wait is a token of its own.
 * A lag L fits a stretch when most tokens equal the one L places on. Stretches are grown token by token, +1
 * for equal and -3 for not, and end when they lose more than two periods' worth: a check-point or one odd
 * step is bridged, another loop is not. A stretch must hold three periods.
 *
 * Lags to try are distances between neighbours of equal context (1, 4 and 16 tokens), by how much of the
 * sequence each spans. Of the lags that explain at least 85 % of what the best does, the smallest is the
 * period: a loop in a step (its layers) mostly explains less, several steps together no more. Two exceptions:
 * - a model of equal layers is explained by them. A lag at least three times as long, with three or more
 *   kernels that run once in it, is then the step, if it explains 60 %; a check-point's copies and waits are no
 *   kernels;
 * - a lag of at most 4 tokens without a wait is no step but a constant sequence. In one, any lag fits: a period
 *   then has something that comes once in it, a wait at least.
 */
#include "analyze/phases/phases_period.h"

#include <assert.h>
#include <stdlib.h>

enum {
	LAGS = 12,
	CONSTANT = 4, /* tokens of a constant sequence's period */
	TABLE_BITS = 18,
	ODD = 3,            /* what a token that differs costs */
	SHARE = 85,         /* percent of what the best lag explains that a period does */
	SHARE_OF_STEP = 60, /* and the step around it */
};

/* ---- tokens ---------------------------------------------------------------------------------- */

static uint32_t token_of(const struct phases_track *track, uint32_t place,
			 const struct hwy_strip **strip)
{
	const struct hwy_trace *trace = track->flow->trace;
	if (track_is_wait(track, place))
		return (uint32_t)hwy_mix(track_wait_kind(track, place)) | TOKEN_WAIT;
	const struct flow_op *op = &track->flow->ops[track_call(track, place)->op];
	uint32_t row = op->span - (*strip)->first;
	if (op->span < (*strip)->first || row >= (*strip)->rows)
		*strip = hwy_strip_of(trace, op->span, &row);
	uint64_t what = (uint64_t)hwy_get(*strip, HWY_NAME, row);
	if (op->kind == HWY_COPY)
		what = (uint64_t)hwy_get(*strip, HWY_DIRECTION, row);
	uint32_t token = (uint32_t)hwy_mix(hwy_mix(what << 8 | op->kind) + op->lane);
	return token & ~(uint32_t)TOKEN_WAIT;
}

static void make_tokens(struct phases_track *track)
{
	const struct hwy_strip *strip = track->flow->trace->strips;
	track->tokens = hwy_alloc((track->n + 1) * sizeof *track->tokens);
	for (uint32_t i = 0; i < track->n; i++)
		track->tokens[i] = token_of(track, i, &strip);
}

/* ---- lags worth trying ----------------------------------------------------------------------- */

/* Counts the distances between neighbours whose last 'context' tokens are equal. The table forgets on a
 * clash: that costs a distance, and bounds the memory. */
static void count_distances(const uint32_t *tokens, uint32_t n, uint32_t context, uint32_t *counts)
{
	uint32_t bits = 4;
	while (bits < TABLE_BITS && n >> (bits - 2))
		bits++;
	struct {
		uint32_t hash, place;
	} *table = hwy_zalloc(sizeof *table << bits);
	const uint64_t base = 0x9e3779b97f4a7c15u;
	uint64_t hash = 0, gone = 1;
	for (uint32_t i = 0; i < context; i++)
		gone *= base;
	for (uint32_t i = 0; i < n; i++) {
		hash = hash * base + tokens[i];
		if (i >= context)
			hash -= gone * tokens[i - context];
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

/* The median distance between waits; 0: fewer than PERIOD_FEWEST of them. */
static uint32_t wait_distance(const uint32_t *tokens, uint32_t n)
{
	uint32_t *distances = NULL, count = 0, cap = 0, last = UINT32_MAX;
	for (uint32_t i = 0; i < n; i++) {
		if (!(tokens[i] & TOKEN_WAIT))
			continue;
		if (last != UINT32_MAX) {
			HWY_GROW(distances, count, cap);
			distances[count++] = i - last;
		}
		last = i;
	}
	uint32_t middle = 0;
	if (count >= PERIOD_FEWEST) {
		qsort(distances, count, sizeof *distances, ascending);
		middle = distances[count / 2];
	}
	free(distances);
	return middle;
}

/* At most LAGS, in ascending order. */
static uint32_t find_lags(const uint32_t *tokens, uint32_t n, uint32_t *lags)
{
	uint32_t *counts = hwy_zalloc((n + 1) * sizeof *counts), n_lags = 0;
	for (uint32_t context = 1; context <= 16; context *= 4)
		count_distances(tokens, n, context, counts);
	uint64_t spans[LAGS];
	for (uint32_t lag = 1; lag <= n / PERIOD_FEWEST; lag++) {
		uint64_t span = (uint64_t)counts[lag] * lag;
		if (counts[lag] < 2 || span * 20 < n)
			continue;
		uint32_t at = n_lags < LAGS - 1 ? n_lags++ : LAGS - 1;
		if (at == LAGS - 1 && spans[at - 1] >= span)
			continue;
		at -= at == LAGS - 1;
		for (; at > 0 && spans[at - 1] < span; at--) {
			spans[at] = spans[at - 1];
			lags[at] = lags[at - 1];
		}
		spans[at] = span;
		lags[at] = lag;
	}
	free(counts);
	uint32_t waits = wait_distance(tokens, n);
	if (waits && waits <= n / PERIOD_FEWEST)
		lags[n_lags++] = waits;
	if (n_lags)
		qsort(lags, n_lags, sizeof *lags, ascending);
	return n_lags;
}

/* ---- fitting a lag --------------------------------------------------------------------------- */

static bool holds_a_wait_each(const uint32_t *tokens, const struct period *fit)
{
	uint64_t waits = 0;
	for (uint32_t i = fit->from; i < fit->to; i++)
		waits += tokens[i] & TOKEN_WAIT;
	return waits * fit->lag * 2 >= fit->to - fit->from;
}

static void keep_if_better(struct period *best, uint32_t lag, uint32_t from, uint32_t to,
			   uint32_t equal)
{
	uint32_t explained = equal + lag;
	if (to - from >= (PERIOD_FEWEST - 1) * lag && equal >= (to - from) / 10 * 7 &&
	    explained > best->explained)
		*best = (struct period){
			.lag = lag, .from = from, .to = to + lag, .explained = explained};
}

/* The longest stretch of [from, to) that has this period; explained 0: none. */
static struct period fit_lag(const uint32_t *tokens, uint32_t from, uint32_t to, uint32_t lag)
{
	struct period best = {0};
	const int64_t most_lost = ODD * (2 * (int64_t)lag + 16);
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
			score -= ODD;
			if (score > 0 && peak - score <= most_lost)
				continue;
			keep_if_better(&best, lag, begin, peak_at, equal_at_peak);
			score = 0;
		}
	}
	if (score > 0)
		keep_if_better(&best, lag, begin, peak_at, equal_at_peak);
	best.is_constant = best.explained && lag <= CONSTANT && !holds_a_wait_each(tokens, &best);
	return best;
}

bool period_is_kernel(const struct phases_track *track, uint32_t place)
{
	uint32_t op = track_call(track, place)->op;
	return op != FLOW_NONE &&
	       (track->flow->ops[op].kind == HWY_KERNEL || track->flow->ops[op].kind == HWY_GRAPH);
}

struct kind_of_call {
	uint32_t n, last, regular; /* regular: as far from the one before as the lag, to a fifth */
};

/* How many kinds of calls, or of kernels alone, come once a period. */
static uint32_t count_unique(const struct phases_track *track, const struct period *fit,
			     bool kernels_alone)
{
	struct hwy_map by_token = {0};
	struct kind_of_call *kinds = NULL;
	uint32_t n = 0, cap = 0, unique = 0;
	const uint32_t from = period_recent(fit);
	for (uint32_t i = from; i < fit->to; i++) {
		bool fresh;
		if (kernels_alone && !period_is_kernel(track, i))
			continue;
		uint32_t *at = hwy_map_put(&by_token, track->tokens[i], &fresh);
		if (fresh) {
			HWY_GROW(kinds, n, cap);
			kinds[n] = (struct kind_of_call){0};
			*at = n++;
		}
		assert(kinds);
		struct kind_of_call *kind = &kinds[*at];
		uint32_t apart = i - kind->last;
		kind->regular += kind->n && apart <= fit->lag + fit->lag / 5 &&
				 apart >= fit->lag - fit->lag / 5;
		kind->last = i;
		kind->n++;
	}
	for (uint32_t i = 0; i < n; i++)
		unique += kinds[i].regular * (uint64_t)fit->lag * 10 >=
				  (uint64_t)(fit->to - from - fit->lag) * 7 &&
			  kinds[i].n - kinds[i].regular <= kinds[i].n / 4 + 1;
	free(kinds);
	hwy_map_free(&by_token);
	return unique;
}

static bool explains(const struct period *fit, uint32_t best, uint32_t percent)
{
	return fit->explained && (uint64_t)fit->explained * 100 >= (uint64_t)best * percent;
}

/* The step where the period is a layer; 'period' itself where it is not. */
static struct period step_of_layers(const struct phases_track *track, const struct period *fits,
				    uint32_t n, uint32_t best, struct period period)
{
	for (uint32_t i = 0; i < n; i++)
		if (period.explained && explains(&fits[i], best, SHARE_OF_STEP) &&
		    fits[i].lag / 3 >= period.lag && count_unique(track, &fits[i], true) >= 3)
			return fits[i];
	return period;
}

/* A lag fits a loop of shorter steps too where it is a multiple of theirs: such a loop at an end of the stretch
 * is another phase. It is known by lasting for three periods, which no loop inside a step does. 'shorter' are
 * the fits of shorter lags. */
static void leave_out_shorter(const struct period *shorter, uint32_t n, struct period *fit)
{
	uint32_t whole = fit->to - fit->from, least = PERIOD_FEWEST * fit->lag;
	for (uint32_t i = 0; i < n && fit->explained; i++) {
		const struct period *other = &shorter[i];
		if (other->explained < least || other->lag > fit->lag / 2 ||
		    other->from >= fit->to || other->to <= fit->from)
			continue;
		if (other->from > fit->from && other->from - fit->from >= least)
			fit->to = other->from;
		else if (other->to < fit->to && fit->to - other->to >= least)
			fit->from = other->to;
	}
	if (fit->explained)
		fit->explained =
			(uint32_t)((uint64_t)fit->explained * (fit->to - fit->from) / whole);
}

struct period period_find(struct phases_track *track, uint32_t from, uint32_t to)
{
	if (!track->tokens)
		make_tokens(track);
	uint32_t lags[LAGS], best = 0;
	uint32_t n = find_lags(track->tokens + from, to - from, lags);
	struct period fits[LAGS], chosen = {0}, constant = {0};
	for (uint32_t i = 0; i < n; i++) {
		fits[i] = fit_lag(track->tokens, from, to, lags[i]);
		leave_out_shorter(fits, i, &fits[i]);
		best = fits[i].explained > best ? fits[i].explained : best;
	}
	for (uint32_t i = n; i-- > 0;)
		if (fits[i].is_constant && explains(&fits[i], best, SHARE))
			constant = fits[i];
	/* In a constant sequence any lag fits; a period has something of its own. */
	for (uint32_t i = n; i-- > 0;)
		if (!fits[i].is_constant && explains(&fits[i], best, SHARE) &&
		    (!constant.explained || count_unique(track, &fits[i], false)))
			chosen = fits[i];
	chosen = step_of_layers(track, fits, n, best, chosen);
	chosen = chosen.explained ? chosen : constant;
	chosen.limit = to;
	chosen.is_mostly_constant = constant.explained != 0;
	return chosen;
}
