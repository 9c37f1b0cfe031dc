/* collectives.c - see collectives.h.
 *
 * Two collectives can be one when their kernel's name and, where the recorder tells, what they do and for which
 * process group are the same. Those of a group come in the same order on every rank, so their number in that order
 * decides, if both ranks have as many of each, their clocks then keep the same distance throughout, and that is not
 * at odds with what the clocks say. Otherwise, in recordings that lost some or began at different steps, those are
 * one whose ends meet; where the clocks are no help the shift at which most meet is looked for.
 */
#include "analyze/collectives.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* Ends this near are ends of one collective; kernels of two in a row are farther apart. */
#define SAME_END_NS 200000
/* Clocks that are kept by NTP differ by less. */
#define SAME_CLOCK_NS 1000000
/* As many of the shorter list must meet for clocks to be believed; without them, for an order or a shift to be. */
#define MEET 0.3
#define MEET_UNSURE 0.6
#define FEWEST_MEETINGS 2
/* The straggler waits at most this part of what the others wait; else they take turns at being late. */
#define CLEARLY 0.7
/* Clocks that are farther apart are not those of one run; sums of times and shifts stay in range. */
#define FARTHEST ((int64_t)1 << 61)

#define NO_MEETING UINT32_MAX

enum {
	/* Comparisons from one collective: long recordings are not searched for ever. */
	SEARCH_WORK = 5000000,
	/* A rank's clock is searched for beside so many first ones and so many neighbours. */
	SEARCH_RANKS = 3,
};

struct one {
	uint64_t key;
	int64_t end; /* on the rank's clock */
	uint32_t op;
	uint32_t meeting;
};

struct list { /* by key, then end */
	struct one *at;
	uint32_t n, cap;
};

struct pair {
	uint32_t a, b;
};

struct pairs {
	struct pair *at;
	uint32_t n, cap;
};

/* ---- lists --------------------------------------------------------------------------------------- */

/* The value of a key in a recorder's JSON, as text: up to the next comma outside brackets. */
static uint64_t hash_of_value(struct hwy_text args, const char *key)
{
	const char *at = memmem(args.at, args.length, key, strlen(key));
	if (!at)
		return 0;
	const char *end = args.at + args.length, *to = at + strlen(key);
	int depth = 0;
	for (; to < end && (depth > 0 || (*to != ',' && *to != '}')); to++)
		depth += (*to == '[') - (*to == ']');
	return hwy_hash(at, (size_t)(to - at));
}

static uint64_t collectives_key_of(const struct hwy_trace *trace, const struct hwy_strip *strip,
				   uint32_t row)
{
	struct hwy_text name = hwy_text(trace, hwy_get(strip, HWY_NAME, row));
	struct hwy_text args = hwy_text(trace, hwy_get(strip, HWY_ARGS, row));
	uint64_t key = hwy_hash(name.at, name.length);
	key = hwy_mix(key ^ hash_of_value(args, "\"Collective name\""));
	key = hwy_mix(key ^ hash_of_value(args, "\"Process Group Name\""));
	return hwy_mix(key ^ hash_of_value(args, "\"Process Group Ranks\""));
}

static int by_key_and_end(const void *a, const void *b)
{
	const struct one *x = a, *y = b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

static bool list_rank(struct list *list, const struct collectives_rank *rank, struct hwy_err *err)
{
	const struct hwy_flow *flow = rank->flow;
	if (!hwy_need(flow->trace, HWY_KIND_BIT(HWY_KERNEL),
		      HWY_COL_BIT(HWY_NAME) | HWY_COL_BIT(HWY_ARGS), err))
		return false;
	for (uint32_t i = 0; i < flow->n_ops; i++) {
		uint32_t row;
		bool is_ours = rank->process == FLOW_NO_PROCESS ||
			       flow->trace->lanes[flow->ops[i].lane].process == rank->process;
		if (flow->ops[i].class != HWY_COMM || !is_ours)
			continue;
		const struct hwy_strip *strip = hwy_strip_of(flow->trace, flow->ops[i].span, &row);
		HWY_GROW(list->at, list->n, list->cap);
		list->at[list->n++] =
			(struct one){.key = collectives_key_of(flow->trace, strip, row),
				     .end = flow->ops[i].end,
				     .op = i,
				     .meeting = NO_MEETING};
	}
	if (list->n > 0)
		qsort(list->at, list->n, sizeof *list->at, by_key_and_end);
	return true;
}

/* ---- two ranks ----------------------------------------------------------------------------------- */

static void add_pair(struct pairs *pairs, uint32_t a, uint32_t b)
{
	HWY_GROW(pairs->at, pairs->n, pairs->cap);
	pairs->at[pairs->n++] = (struct pair){a, b};
}

enum meets { THEY_MEET, NOT_A, NOT_B };

/* Whether a's and b's next ones are one: same key, ends that meet, and no other that is nearer. */
static enum meets compare(const struct list *a, uint32_t i, const struct list *b, uint32_t j,
			  int64_t shift)
{
	const struct one *x = &a->at[i], *y = &b->at[j];
	if (x->key != y->key)
		return x->key < y->key ? NOT_A : NOT_B;
	int64_t apart = y->end + shift - x->end;
	if (llabs(apart) > SAME_END_NS)
		return apart > 0 ? NOT_A : NOT_B;
	if (apart < 0 && j + 1 < b->n && y[1].key == x->key &&
	    llabs(y[1].end + shift - x->end) < -apart)
		return NOT_B;
	if (apart > 0 && i + 1 < a->n && x[1].key == y->key &&
	    llabs(y->end + shift - x[1].end) < apart)
		return NOT_A;
	return THEY_MEET;
}

/* Pairs whose ends meet when 'shift' is added to those of b; yields how many. pairs: NULL to count only. */
static uint32_t meet(const struct list *a, const struct list *b, int64_t shift, struct pairs *pairs)
{
	uint32_t i = 0, j = 0, found = 0;
	while (i < a->n && j < b->n) {
		enum meets meets = compare(a, i, b, j, shift);
		if (meets == THEY_MEET && pairs)
			add_pair(pairs, i, j);
		found += meets == THEY_MEET;
		i += meets != NOT_B;
		j += meets != NOT_A;
	}
	return found;
}

static int64_t median_shift(const struct list *a, const struct list *b, const struct pairs *pairs)
{
	int64_t *apart = hwy_alloc((pairs->n + 1) * sizeof *apart);
	for (uint32_t i = 0; i < pairs->n; i++)
		apart[i] = a->at[pairs->at[i].a].end - b->at[pairs->at[i].b].end;
	qsort(apart, pairs->n, sizeof *apart, hwy_ascending);
	int64_t median = pairs->n > 0 ? apart[pairs->n / 2] : 0;
	free(apart);
	return median;
}

/* Whether both have as many of each; both are sorted. */
static bool is_alike(const struct list *a, const struct list *b)
{
	if (a->n != b->n)
		return false;
	for (uint32_t i = 0; i < a->n; i++)
		if (a->at[i].key != b->at[i].key)
			return false;
	return a->n > 0;
}

/* The shift at which most meet, tried for every way in which one of a, from its middle, can be one of b. */
static int64_t search(const struct list *a, const struct list *b, uint32_t *most)
{
	int64_t best = 0;
	uint32_t most_tried = 8 + SEARCH_WORK / (a->n + b->n);
	*most = 0;
	for (uint32_t quarter = 1; quarter <= 3; quarter++) {
		const struct one *x = &a->at[(uint64_t)a->n * quarter / 4];
		uint32_t tried = 0;
		for (uint32_t j = 0; j < b->n && tried < most_tried; j++) {
			if (b->at[j].key != x->key)
				continue;
			tried++;
			int64_t shift = x->end - b->at[j].end;
			uint32_t found = meet(a, b, shift, NULL);
			if (found > *most) {
				*most = found;
				best = shift;
			}
		}
	}
	return best;
}

/* Pairs by their number; yields whether these are one: the clocks stay as far apart from one to the next. */
static bool pair_in_order(const struct list *a, const struct list *b, struct pairs *pairs)
{
	uint32_t agree = 1;
	int64_t before = 0;
	for (uint32_t i = 0; i < a->n; i++) {
		int64_t apart = a->at[i].end - b->at[i].end;
		agree += i > 0 && llabs(apart - before) <= SAME_END_NS;
		before = apart;
		add_pair(pairs, i, i);
	}
	return agree >= MEET_UNSURE * a->n;
}

/* The pairs of two ranks, and what b's clock is to be shifted by; *shift comes as what the clocks say, or, where
 * nothing is to be searched, as what is known. */
static bool pair_ranks(const struct list *a, const struct list *b, bool may_search, int64_t *shift,
		       struct pairs *pairs)
{
	uint32_t shorter = a->n < b->n ? a->n : b->n;
	pairs->n = 0;
	if (shorter == 0)
		return false;
	uint32_t most = meet(a, b, *shift, NULL);
	bool is_found = most >= FEWEST_MEETINGS && most >= MEET * shorter;
	if (is_alike(a, b) && pair_in_order(a, b, pairs)) {
		int64_t in_order = median_shift(a, b, pairs);
		if ((!is_found && may_search) || llabs(in_order - *shift) <= SAME_CLOCK_NS) {
			*shift = in_order;
			return true;
		}
	}
	if (!is_found && !may_search)
		return false;
	if (!is_found) {
		*shift = search(a, b, &most);
		if (most < FEWEST_MEETINGS || most < MEET_UNSURE * shorter)
			return false;
	}
	pairs->n = 0;
	meet(a, b, *shift, pairs);
	*shift = median_shift(a, b, pairs);
	pairs->n = 0;
	return meet(a, b, *shift, pairs) > 0;
}

/* ---- all ranks ----------------------------------------------------------------------------------- */

struct matching {
	struct hwy_collectives *c;
	const struct collectives_rank *ranks;
	struct list *lists;
	uint32_t n;
	uint32_t cap_parts, cap_meetings;
	/* While matching: by part the next one of its meeting, and by meeting its first; NO_MEETING ends. */
	uint32_t *next, cap_next;
};

static void collectives_join(struct matching *m, uint32_t meeting, uint32_t rank, struct one *one)
{
	struct hwy_collectives *c = m->c;
	HWY_GROW(c->parts, c->n_parts, m->cap_parts);
	HWY_GROW(m->next, c->n_parts, m->cap_next);
	m->next[c->n_parts] = c->meetings[meeting].first;
	c->meetings[meeting].first = c->n_parts;
	c->meetings[meeting].n++;
	c->parts[c->n_parts++] = (struct meeting_part){rank, one->op};
	one->meeting = meeting;
}

static void add_pairs(struct matching *m, const struct pairs *pairs, uint32_t a, uint32_t b)
{
	struct hwy_collectives *c = m->c;
	for (uint32_t i = 0; i < pairs->n; i++) {
		struct one *x = &m->lists[a].at[pairs->at[i].a];
		struct one *y = &m->lists[b].at[pairs->at[i].b];
		if (y->meeting != NO_MEETING)
			continue;
		if (x->meeting == NO_MEETING) {
			HWY_GROW(c->meetings, c->n, m->cap_meetings);
			c->meetings[c->n] = (struct hwy_meeting){.first = NO_MEETING};
			collectives_join(m, c->n++, a, x);
		}
		/* Ranks come one after the other, so a second part of b's would be the first of the chain. */
		if (c->parts[c->meetings[x->meeting].first].rank != b)
			collectives_join(m, x->meeting, b, y);
	}
}

/* What the clocks say; 0 where they say nothing that could be true. */
static int64_t wall_apart(const struct hwy_flow *a, const struct hwy_flow *b)
{
	int64_t apart;
	if (a->trace->wall == HWY_NONE || b->trace->wall == HWY_NONE ||
	    __builtin_sub_overflow(b->trace->wall, a->trace->wall, &apart) ||
	    llabs(apart) > FARTHEST)
		return 0;
	return apart;
}

/* Each rank beside all before it: groups may be of some ranks only. */
static void pair_all(struct matching *m)
{
	struct pairs pairs = {0};
	int64_t *shift = m->c->shift;
	for (uint32_t b = 0; b < m->n; b++) {
		bool is_set = false;
		shift[b] = wall_apart(m->ranks[0].flow, m->ranks[b].flow);
		for (uint32_t a = 0; a < b; a++) {
			int64_t apart = shift[b] - shift[a];
			bool may_search = !is_set && (a < SEARCH_RANKS || b - a <= SEARCH_RANKS);
			if (!pair_ranks(&m->lists[a], &m->lists[b], may_search, &apart, &pairs) ||
			    llabs(shift[a] + apart) > FARTHEST)
				continue;
			if (!is_set)
				shift[b] = shift[a] + apart;
			is_set = true;
			add_pairs(m, &pairs, a, b);
		}
	}
	free(pairs.at);
}

static struct hwy_interval collectives_time_of(const struct matching *m,
					       const struct meeting_part *part)
{
	const struct flow_op *op = &m->ranks[part->rank].flow->ops[part->op];
	int64_t shift = m->c->shift[part->rank];
	return (struct hwy_interval){op->start + shift, op->end + shift};
}

/* Copies a meeting's parts to a row of their own, without those the last arrival contradicts. */
static void collectives_settle(struct matching *m, struct hwy_meeting *meeting,
			       struct meeting_part *to, uint32_t *n)
{
	struct hwy_collectives *c = m->c;
	struct hwy_meeting done = {.first = *n, .last = INT64_MIN, .transfer = INT64_MAX};
	assert(m->next); /* a meeting has parts */
	for (uint32_t i = meeting->first; i != NO_MEETING; i = m->next[i]) {
		int64_t from = collectives_time_of(m, &c->parts[i]).from;
		done.last = from > done.last ? from : done.last;
	}
	for (uint32_t i = meeting->first; i != NO_MEETING; i = m->next[i]) {
		struct hwy_interval at = collectives_time_of(m, &c->parts[i]);
		if (at.to < done.last) {
			c->n_contradicted++;
			continue;
		}
		to[done.first + done.n++] = c->parts[i];
		int64_t length = at.to - at.from;
		done.transfer = length < done.transfer ? length : done.transfer;
	}
	if (done.n >= 2)
		*n += done.n;
	else
		done.n = 0;
	*meeting = done;
}

static void settle_all(struct matching *m)
{
	struct hwy_collectives *c = m->c;
	struct meeting_part *parts = hwy_alloc((c->n_parts + 1) * sizeof *parts);
	uint32_t n = 0, kept = 0;
	for (uint32_t i = 0; i < c->n; i++) {
		struct hwy_meeting meeting = c->meetings[i];
		collectives_settle(m, &meeting, parts, &n);
		if (meeting.n == 0)
			continue;
		c->meetings[kept++] = meeting;
		for (uint32_t k = meeting.first; k < n; k++) {
			struct hwy_interval at = collectives_time_of(m, &parts[k]);
			c->waits[parts[k].rank] += at.to - at.from - meeting.transfer;
			c->n_of[parts[k].rank]++;
		}
	}
	free(c->parts);
	c->parts = parts;
	c->n_parts = n;
	c->n = kept;
}

bool collectives_match(struct hwy_collectives *c, const struct collectives_rank *ranks, uint32_t n,
		       struct hwy_err *err)
{
	*c = (struct hwy_collectives){.shift = hwy_zalloc((n + 1) * sizeof *c->shift),
				      .waits = hwy_zalloc((n + 1) * sizeof *c->waits),
				      .n_of = hwy_zalloc((n + 1) * sizeof *c->n_of)};
	struct matching m = {
		.c = c, .ranks = ranks, .n = n, .lists = hwy_zalloc((n + 1) * sizeof *m.lists)};
	bool done = true;
	for (uint32_t r = 0; r < n && done; r++)
		done = list_rank(&m.lists[r], &ranks[r], err);
	if (done) {
		pair_all(&m);
		settle_all(&m);
	} else {
		collectives_free(c);
	}
	for (uint32_t r = 0; r < n; r++)
		free(m.lists[r].at);
	free(m.lists);
	free(m.next);
	return done;
}

void collectives_free(struct hwy_collectives *c)
{
	free(c->meetings);
	free(c->parts);
	free(c->shift);
	free(c->waits);
	free(c->n_of);
	*c = (struct hwy_collectives){0};
}

uint32_t collectives_straggler(const struct hwy_collectives *c, uint32_t n)
{
	uint32_t late = n, next = n;
	for (uint32_t r = 0; r < n; r++) {
		if (c->n_of[r] == 0)
			continue;
		if (late == n || c->waits[r] < c->waits[late]) {
			next = late;
			late = r;
		} else if (next == n || c->waits[r] < c->waits[next]) {
			next = r;
		}
	}
	bool is_clear = next < n && c->waits[next] > 0 &&
			(double)c->waits[late] <= CLEARLY * (double)c->waits[next];
	return is_clear ? late : n;
}
