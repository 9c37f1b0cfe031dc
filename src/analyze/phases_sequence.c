/* phases_sequence.c - phases without marks: the period of the sequence of launches and waits.
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
 *   kernels that run once in it, is then the step; a check-point's copies and waits are no kernels;
 * - a lag of at most 4 tokens without a wait is no step but a constant sequence; its waits delimit it, where
 *   they are regular.
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
	ODD = 3,              /* what a token that differs costs */
	FEWEST = 3,           /* periods */
	FEWEST_CONSTANT = 16, /* calls of a constant sequence */
};

/* The lowest bit of a token. */
enum { WAIT = 1 };

struct fit {
	uint32_t lag, from, to; /* places; 'to' includes the last period */
	uint32_t explained;
	bool is_constant;
	uint32_t limit; /* the end of what was searched */
};

/* ---- tokens ---------------------------------------------------------------------------------- */

static uint32_t token_of(const struct phases_track *track, uint32_t place,
			 const struct hwy_strip **strip)
{
	const struct hwy_trace *trace = track->flow->trace;
	if (track_is_wait(track, place))
		return (uint32_t)hwy_mix(track_wait_kind(track, place)) | WAIT;
	const struct flow_op *op = &track->flow->ops[track_call(track, place)->op];
	uint32_t row = op->span - (*strip)->first;
	if (op->span < (*strip)->first || row >= (*strip)->rows)
		*strip = hwy_strip_of(trace, op->span, &row);
	uint64_t what = (uint64_t)hwy_get(*strip, HWY_NAME, row);
	if (op->kind == HWY_COPY)
		what = (uint64_t)hwy_get(*strip, HWY_DIRECTION, row);
	uint32_t token = (uint32_t)hwy_mix(hwy_mix(what << 8 | op->kind) + op->lane);
	return token & ~(uint32_t)WAIT;
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

/* The median distance between waits; 0: fewer than FEWEST of them. */
static uint32_t wait_distance(const uint32_t *tokens, uint32_t n)
{
	uint32_t *distances = NULL, count = 0, cap = 0, last = UINT32_MAX;
	for (uint32_t i = 0; i < n; i++) {
		if (!(tokens[i] & WAIT))
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
		waits += tokens[i] & WAIT;
	return waits * fit->lag * 2 >= fit->to - fit->from;
}

static void keep_if_better(struct fit *best, uint32_t lag, uint32_t from, uint32_t to,
			   uint32_t equal)
{
	uint32_t explained = equal + lag;
	if (to - from >= (FEWEST - 1) * lag && equal >= (to - from) / 10 * 7 &&
	    explained > best->explained)
		*best = (struct fit){lag, from, to + lag, explained, false, 0};
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

static bool is_kernel(const struct phases_track *track, uint32_t place)
{
	uint32_t op = track_call(track, place)->op;
	return op != FLOW_NONE &&
	       (track->flow->ops[op].kind == HWY_KERNEL || track->flow->ops[op].kind == HWY_GRAPH);
}

/* How many kinds of calls, or of kernels alone, come once a period. */
static uint32_t count_unique(const struct phases_track *track, const struct fit *fit,
			     bool kernels_alone)
{
	struct hwy_map counts = {0};
	double periods = (double)(fit->to - fit->from) / fit->lag;
	for (uint32_t i = fit->from; i < fit->to; i++)
		if (!kernels_alone || is_kernel(track, i))
			++*hwy_map_put(&counts, track->tokens[i], NULL);
	uint32_t unique = 0;
	for (uint32_t i = 0; counts.count && i <= counts.mask; i++)
		unique += counts.slots[i].used && counts.slots[i].value >= periods * 0.8 - 1 &&
			  counts.slots[i].value <= periods * 1.2 + 1;
	hwy_map_free(&counts);
	return unique;
}

static bool explains(const struct fit *fit, uint32_t best)
{
	return fit->explained && (uint64_t)fit->explained * 100 >= (uint64_t)best * 85;
}

/* The step where the period is a layer; 'period' itself where it is not. */
static struct fit step_of_layers(const struct phases_track *track, const struct fit *fits,
				 uint32_t n, uint32_t best, struct fit period)
{
	for (uint32_t i = 0; i < n; i++)
		if (period.explained && explains(&fits[i], best) && fits[i].lag / 3 >= period.lag &&
		    count_unique(track, &fits[i], true) >= 3)
			return fits[i];
	return period;
}

/* The period of [from, to); explained 0: none. */
static struct fit find_period(const struct phases_track *track, uint32_t from, uint32_t to,
			      bool *is_constant)
{
	uint32_t lags[LAGS], best = 0;
	uint32_t n = find_lags(track->tokens + from, to - from, lags);
	struct fit fits[LAGS], chosen = {0}, constant = {0};
	for (uint32_t i = 0; i < n; i++) {
		fits[i] = fit_lag(track->tokens, from, to, lags[i]);
		best = fits[i].explained > best ? fits[i].explained : best;
	}
	for (uint32_t i = n; i-- > 0;)
		if (fits[i].is_constant && explains(&fits[i], best))
			constant = fits[i];
	*is_constant = constant.explained != 0;
	/* In a constant sequence any lag fits; a period has something of its own. */
	for (uint32_t i = n; i-- > 0;)
		if (!fits[i].is_constant && explains(&fits[i], best) &&
		    (!*is_constant || count_unique(track, &fits[i], false)))
			chosen = fits[i];
	chosen = step_of_layers(track, fits, n, best, chosen);
	chosen = chosen.explained ? chosen : constant;
	chosen.limit = to;
	return chosen;
}

/* ---- anchors --------------------------------------------------------------------------------- */

struct anchor { /* a token with its context */
	uint64_t hash;
	uint32_t count, after_wait;
	double pause;   /* ns of CPU before it, in all */
	uint32_t place; /* the first of them */
	bool is_wait;
};

static int64_t pause_before(const struct phases_track *track, uint32_t place)
{
	if (place == 0)
		return 0;
	int64_t pause = track_call(track, place)->start - track_call(track, place - 1)->end;
	return pause > 0 ? pause : 0;
}

/* Of the token before the place too: the first of ten equal chunks is the one after a wait. */
static uint64_t context_hash(const uint32_t *tokens, uint32_t place, uint32_t context, uint32_t to)
{
	uint64_t hash = place ? hwy_mix(tokens[place - 1]) : 0;
	for (uint32_t i = place; i < place + context && i < to; i++)
		hash = hwy_mix(hash + tokens[i]);
	return hash;
}

struct anchors {
	struct anchor *v;
	uint32_t n, cap;
};

static void count_anchors(const struct phases_track *track, const struct fit *fit, uint32_t context,
			  struct anchors *into)
{
	struct hwy_map by_hash = {0};
	for (uint32_t i = fit->from; i < fit->to; i++) {
		uint64_t hash = context_hash(track->tokens, i, context, fit->to);
		bool fresh;
		uint32_t *at = hwy_map_put(&by_hash, hash, &fresh);
		if (fresh) {
			HWY_GROW(into->v, into->n, into->cap);
			into->v[into->n] = (struct anchor){hash, .place = i,
							   .is_wait = track_is_wait(track, i)};
			*at = into->n++;
		}
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
static struct anchor choose_anchor(const struct phases_track *track, const struct fit *fit,
				   uint32_t context)
{
	struct anchors all = {0};
	struct anchor best = {0};
	double periods = (double)(fit->to - fit->from) / fit->lag;
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
static bool start_after_waits(const struct phases_track *track, const struct fit *fit,
			      struct starts *starts)
{
	for (uint32_t i = fit->from; i < fit->to; i++)
		if (!track_is_wait(track, i) && (i == fit->from || track_is_wait(track, i - 1)))
			add_start(starts, i);
	uint32_t alike = 0;
	for (uint32_t i = 0; i + 1 < starts->n; i++)
		alike += llabs((int64_t)starts->v[i + 1] - starts->v[i] - fit->lag) * 5 <= fit->lag;
	if (starts->n >= FEWEST && alike * 10 >= (starts->n - 1) * 6)
		return true;
	starts->n = 0;
	return false;
}

/* Whether the stretch begins with a step: nothing stands before it that an anchor could be known by. */
static bool begins_at(const struct phases_track *track, const struct fit *fit, uint32_t place)
{
	uint32_t equal = 0;
	for (uint32_t i = 0; i < fit->lag && place + i < fit->to; i++)
		equal += track->tokens[fit->from + i] == track->tokens[place + i];
	return equal >= fit->lag - fit->lag / 10;
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
	if (anchor.count && anchor.place > fit->from && begins_at(track, fit, anchor.place))
		add_start(starts, fit->from);
	for (uint32_t i = fit->from; i < fit->to; i++)
		if (anchor.count ? context_hash(track->tokens, i, context, fit->to) == anchor.hash
				 : (i - fit->from) % fit->lag == 0)
			add_start(starts, i);
}

static bool has_kernel(const struct phases_track *track, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		if (is_kernel(track, i))
			return true;
	return false;
}

/* The end of the last step: a period after its start, and past the waits there where others end with one. */
static uint32_t end_of_last(const struct phases_track *track, const struct fit *fit,
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
	return to - from >= FEWEST && (least.of_both ? calls && work : calls || work);
}

/* Enough to be called a phase: not three small ops in a row, nor copies alone in a program that has more. */
static bool is_phase(const struct phases_track *track, const struct fit *fit,
		     const struct starts *starts)
{
	if (starts->n < FEWEST || (fit->is_constant && fit->to - fit->from < FEWEST_CONSTANT))
		return false;
	return has_kernel(track, fit->from, fit->to) || !has_kernel(track, 0, track->n);
}

void sequence_cut(struct phases_track *track, uint32_t from, uint32_t to, struct phases_least least,
		  struct phases_cuts *cuts)
{
	if (!is_large_enough(track, from, to, least))
		return;
	if (!track->tokens)
		make_tokens(track);
	bool is_constant;
	struct fit fit = find_period(track, from, to, &is_constant);
	/* The rest is smaller still. */
	if (fit.explained == 0 || !is_large_enough(track, fit.from, fit.to, least))
		return;
	struct starts starts = {0};
	enum phase_source source = PHASE_SEQUENCE;
	if (is_constant && start_after_waits(track, &fit, &starts))
		source = PHASE_WAITS;
	else
		start_at_anchors(track, &fit, &starts);
	if (is_phase(track, &fit, &starts))
		add_phase(track, &fit, &starts, source, cuts);
	uint32_t next = starts.n ? end_of_last(track, &fit, &starts) : fit.to;
	next = next > fit.to ? next : fit.to;
	free(starts.v);
	sequence_cut(track, from, fit.from, least, cuts);
	sequence_cut(track, next, to, least, cuts);
}
