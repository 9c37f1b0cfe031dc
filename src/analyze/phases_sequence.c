/* phases_sequence.c - phases without marks: the period of the sequence of launches and waits.
 *
 * A call is a token: what it enqueued (kind, name, direction), on which stream; a wait is a token of its own.
 * A lag L fits a stretch when most tokens equal the one L places on. Stretches are grown token by token, +1
 * for equal and -3 for not, and end when they lose more than two periods' worth: a check-point or one odd
 * step is bridged, another loop is not. A stretch must hold three periods.
 *
 * Lags to try are distances between neighbours of equal context (1, 4 and 16 tokens), by how much of the
 * sequence each spans. Of the lags that explain at least 85 % of what the best does, the smallest is the
 * period: a loop in a step (its layers) explains less, several steps together no more. A lag of at most 4
 * tokens without a wait is no step but a constant sequence; its waits delimit it, where they are regular.
 *
 * Steps begin at an anchor: a token (with some context) that occurs once a period; after a wait where there
 * is one, else where the CPU pauses longest before it. So a call more or less shifts nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/phases_parts.h"

enum {
	LAGS = 12,
	CONSTANT = 4, /* tokens of a constant sequence's period */
	TABLE_BITS = 18,
	ODD = 3,         /* what a token that differs costs */
	FEWEST = 3,      /* periods */
	LEAST_PART = 10, /* a phase has at least 1/10 of the process's calls or work */
	WAIT = 1,        /* the token */
};

struct fit {
	uint32_t lag, from, to; /* places; 'to' includes the last period */
	uint32_t explained;
	bool is_constant;
};

/* ---- tokens ---------------------------------------------------------------------------------- */

static uint32_t token_of(const struct phases_track *track, uint32_t place,
			 const struct hwy_strip **strip)
{
	if (track_is_wait(track, place))
		return WAIT;
	const struct hwy_trace *trace = track->flow->trace;
	const struct flow_op *op = &track->flow->ops[track_call(track, place)->op];
	uint32_t row = op->span - (*strip)->first;
	if (op->span < (*strip)->first || row >= (*strip)->rows)
		*strip = hwy_strip_of(trace, op->span, &row);
	uint64_t what = (uint64_t)hwy_get(*strip, HWY_NAME, row);
	if (op->kind == HWY_COPY)
		what = (uint64_t)hwy_get(*strip, HWY_DIRECTION, row);
	uint32_t token = (uint32_t)hwy_mix(hwy_mix(what << 8 | op->kind) + op->lane);
	return token > WAIT ? token : token + 2;
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
	struct {
		uint32_t hash, place;
	} *table = hwy_zalloc(sizeof *table << TABLE_BITS);
	const uint64_t base = 0x9e3779b97f4a7c15u;
	uint64_t hash = 0, gone = 1;
	for (uint32_t i = 0; i < context; i++)
		gone *= base;
	for (uint32_t i = 0; i < n; i++) {
		hash = hash * base + tokens[i];
		if (i >= context)
			hash -= gone * tokens[i - context];
		uint64_t mixed = hwy_mix(hash);
		uint32_t slot = (uint32_t)(mixed >> (64 - TABLE_BITS));
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

/* The median distance between waits; 0: fewer than FEWEST of them. */
static uint32_t wait_distance(const uint32_t *tokens, uint32_t n)
{
	uint32_t *distances = NULL, count = 0, cap = 0, last = UINT32_MAX;
	for (uint32_t i = 0; i < n; i++) {
		if (tokens[i] != WAIT)
			continue;
		if (last != UINT32_MAX) {
			HWY_GROW(distances, count, cap);
			distances[count++] = i - last;
		}
		last = i;
	}
	uint32_t middle = 0;
	if (count >= FEWEST) {
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
	for (uint32_t lag = 1; lag <= n / FEWEST; lag++) {
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
	if (waits && waits <= n / FEWEST)
		lags[n_lags++] = waits;
	if (n_lags)
		qsort(lags, n_lags, sizeof *lags, ascending);
	return n_lags;
}

/* ---- fitting a lag --------------------------------------------------------------------------- */

static bool holds_a_wait_each(const uint32_t *tokens, const struct fit *fit)
{
	uint64_t waits = 0;
	for (uint32_t i = fit->from; i < fit->to; i++)
		waits += tokens[i] == WAIT;
	return waits * fit->lag * 2 >= fit->to - fit->from;
}

static void keep_if_better(struct fit *best, uint32_t lag, uint32_t from, uint32_t to,
			   uint32_t equal)
{
	uint32_t explained = equal + lag;
	if (to - from >= (FEWEST - 1) * lag && equal >= (to - from) / 10 * 7 &&
	    explained > best->explained)
		*best = (struct fit){lag, from, to + lag, explained, false};
}

/* The longest stretch of [from, to) that has this period; explained 0: none. */
static struct fit fit_lag(const uint32_t *tokens, uint32_t from, uint32_t to, uint32_t lag)
{
	struct fit best = {0};
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

/* The period of [from, to); explained 0: none. */
static struct fit find_period(const uint32_t *tokens, uint32_t from, uint32_t to, bool *by_waits)
{
	uint32_t lags[LAGS], best = 0;
	uint32_t n = find_lags(tokens + from, to - from, lags);
	struct fit fits[LAGS], chosen = {0}, constant = {0};
	for (uint32_t i = 0; i < n; i++) {
		fits[i] = fit_lag(tokens, from, to, lags[i]);
		best = fits[i].explained > best ? fits[i].explained : best;
	}
	for (uint32_t i = n; i-- > 0;) {
		if (fits[i].explained == 0 ||
		    (uint64_t)fits[i].explained * 100 < (uint64_t)best * 85)
			continue;
		if (fits[i].is_constant)
			constant = fits[i];
		else
			chosen = fits[i];
	}
	*by_waits = constant.explained != 0;
	return chosen.explained ? chosen : constant;
}

/* ---- anchors --------------------------------------------------------------------------------- */

struct anchor {
	uint64_t hash;
	uint32_t count, after_wait;
	int64_t pause; /* ns of CPU before it, in all */
};

static int64_t pause_before(const struct phases_track *track, uint32_t place)
{
	if (place == 0)
		return 0;
	int64_t pause = track_call(track, place)->start - track_call(track, place - 1)->end;
	return pause > 0 ? pause : 0;
}

static uint64_t context_hash(const uint32_t *tokens, uint32_t place, uint32_t context, uint32_t to)
{
	uint64_t hash = 0;
	for (uint32_t i = place; i < place + context && i < to; i++)
		hash = hwy_mix(hash + tokens[i]);
	return hash;
}

/* The best token of those that occur once a period, each with 'context' tokens; count 0: none does. */
static struct anchor choose_anchor(const struct phases_track *track, const struct fit *fit,
				   uint32_t context)
{
	struct hwy_map by_hash = {0};
	struct anchor *all = NULL, best = {0};
	uint32_t n = 0, cap = 0;
	double periods = (double)(fit->to - fit->from) / fit->lag;
	for (uint32_t i = fit->from; i < fit->to; i++) {
		uint64_t hash = context_hash(track->tokens, i, context, fit->to);
		bool fresh;
		uint32_t *at = hwy_map_put(&by_hash, hash, &fresh);
		if (fresh) {
			HWY_GROW(all, n, cap);
			all[n] = (struct anchor){.hash = hash};
			*at = n++;
		}
		all[*at].count++;
		all[*at].after_wait += i > 0 && track->tokens[i - 1] == WAIT;
		all[*at].pause += pause_before(track, i);
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct anchor *one = &all[i];
		/* A wait ends a step. */
		if (one->count < periods * 0.8 - 1 || one->count > periods * 1.1 + 1 ||
		    one->hash == context_hash((uint32_t[]){WAIT}, 0, 1, 1))
			continue;
		bool waits = one->after_wait * 2 > one->count;
		bool best_waits = best.after_wait * 2 > best.count;
		if (best.count == 0 || (waits && !best_waits) ||
		    (waits == best_waits && one->pause > best.pause))
			best = *one;
	}
	free(all);
	hwy_map_free(&by_hash);
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
static bool start_after_waits(const struct phases_track *track, const struct fit *fit,
			      struct starts *starts)
{
	for (uint32_t i = fit->from; i < fit->to; i++)
		if (track->tokens[i] != WAIT && (i == fit->from || track->tokens[i - 1] == WAIT))
			add_start(starts, i);
	uint32_t alike = 0;
	for (uint32_t i = 0; i + 1 < starts->n; i++)
		alike += llabs((int64_t)starts->v[i + 1] - starts->v[i] - fit->lag) * 5 <= fit->lag;
	if (starts->n >= FEWEST && alike * 10 >= (starts->n - 1) * 6)
		return true;
	starts->n = 0;
	return false;
}

static void start_at_anchors(const struct phases_track *track, const struct fit *fit,
			     struct starts *starts)
{
	struct anchor anchor = {0};
	uint32_t context = 1;
	for (; context <= 64; context *= 4) {
		anchor = choose_anchor(track, fit, context);
		if (anchor.count)
			break;
	}
	for (uint32_t i = fit->from; i < fit->to; i++)
		if (anchor.count ? context_hash(track->tokens, i, context, fit->to) == anchor.hash
				 : (i - fit->from) % fit->lag == 0)
			add_start(starts, i);
}

static bool has_kernel(const struct phases_track *track, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		uint32_t op = track_call(track, i)->op;
		if (op != FLOW_NONE && (track->flow->ops[op].kind == HWY_KERNEL ||
					track->flow->ops[op].kind == HWY_GRAPH))
			return true;
	}
	return false;
}

static void add_phase(const struct phases_track *track, const struct fit *fit,
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
		uint32_t end = i + 1 < starts->n ? starts->v[i + 1] : place + fit->lag;
		end = end < fit->to ? end : fit->to;
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

static bool is_large_enough(const struct phases_track *track, uint32_t from, uint32_t to)
{
	int64_t work = track->work[to] - track->work[from];
	return to - from >= FEWEST && ((uint64_t)(to - from) * LEAST_PART >= track->n ||
				       work >= track->work[track->n] / LEAST_PART);
}

void sequence_cut(struct phases_track *track, uint32_t from, uint32_t to, struct phases_cuts *cuts)
{
	if (!is_large_enough(track, from, to))
		return;
	if (!track->tokens)
		make_tokens(track);
	bool by_waits;
	struct fit fit = find_period(track->tokens, from, to, &by_waits);
	if (fit.explained == 0)
		return;
	struct starts starts = {0};
	enum phase_source source = PHASE_SEQUENCE;
	if (by_waits && start_after_waits(track, &fit, &starts))
		source = PHASE_WAITS;
	else
		start_at_anchors(track, &fit, &starts);
	if (starts.n >= FEWEST && is_large_enough(track, fit.from, fit.to) &&
	    (has_kernel(track, fit.from, fit.to) || !has_kernel(track, 0, track->n)))
		add_phase(track, &fit, &starts, source, cuts);
	free(starts.v);
	sequence_cut(track, from, fit.from, cuts);
	sequence_cut(track, fit.to, to, cuts);
}
