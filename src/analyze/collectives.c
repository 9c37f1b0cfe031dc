/* SPDX-License-Identifier: Apache-2.0 */
/* collectives.c - see collectives.h.
 *
 * Kernels on two ranks can be one collective where they have the same key: the kernel's name and,
 * where the recorder tells, the operation and the process group. The collectives of a group come in
 * the same order on every rank. So the number in that order decides which kernels are one, if both
 * ranks have as many of each key, if the distance of the two clocks then stays the same throughout,
 * and if that distance is not at odds with the wall clocks. Otherwise (some were lost, or the
 * recordings began at different steps) kernels are one where their ends meet, on the wall clocks,
 * or with the shift at which most ends meet.
 */
#include "analyze/collectives.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/index.h"
#include "base/quantile.h"

/* Ends that are this near to each other are ends of one collective; two collectives in a row are farther apart. */
#define SAME_END_NS 200000
/* Wall clocks that NTP keeps in step differ by less than this many ns. */
#define SAME_CLOCK_NS 1000000
/* Which share of the rank with fewer collectives must meet: for wall clocks to be believed, and
 * (UNSURE) without wall clocks for the order or a shift to be believed. */
#define MEET_SHARE 0.3
#define MEET_UNSURE_SHARE 0.6
#define FEWEST_MEETINGS 2
/* The straggler waits at most this share of what the next rank waits; else the ranks take turns at being late. */
#define STRAGGLER_WAIT_SHARE 0.7
/* Clocks that differ by more are not clocks of one run. With this limit no sum of a time and a shift overflows. */
#define FARTHEST_NS ((int64_t)1 << 61)

#define NO_MEETING UINT32_MAX

enum {
	/* How many pairs of collectives one search compares, so that long recordings are not
	 * searched for ever. */
	SEARCH_COMPARISONS = 5000000,
	/* The shift of a rank is searched against so many of the first ranks and so many ranks
	 * just before it. */
	SEARCH_RANKS = 3,
};

struct occurrence {       /* a collective on one rank */
	uint32_t key;     /* equal for all kernels that can be one collective */
	uint32_t op;      /* index into the ops of the rank's flow */
	int64_t end;      /* when the kernel ended, in ns on the rank's clock */
	uint32_t meeting; /* index into the list of matched collectives, or NO_MEETING */
};

struct occurrences { /* the collectives of one rank, by key, then by end */
	struct occurrence *items;
	uint32_t n, cap;
};

struct pair { /* indexes of two occurrences, on two ranks, that are one collective */
	uint32_t a, b;
};

struct pairs {
	struct pair *items;
	uint32_t n, cap;
};

/* ---- lists --------------------------------------------------------------------------------------- */

/* Appends a name and its value in a recorder's JSON, as text: up to the next comma outside
 * brackets. */
static void put_value(struct hwy_bytes *key, struct hwy_text args, const char *name)
{
	hwy_bytes_put_varint(key, 0); /* a 0 ends the text that was put before */
	const char *from = memmem(args.at, args.length, name, strlen(name));
	if (!from)
		return;
	const char *end = args.at + args.length, *to = from + strlen(name);
	int depth = 0;
	for (; to < end && (depth > 0 || (*to != ',' && *to != '}')); to++)
		depth += (*to == '[') - (*to == ']');
	hwy_bytes_put(key, from, (size_t)(to - from));
}

struct keys { /* the keys of all ranks */
	/* Maps each key to its number; numbers follow the order of first use. */
	struct hwy_index numbers;
	struct hwy_bytes buffer;
};

static uint32_t key_of_collective(struct keys *keys, const struct hwy_trace *trace,
				  const struct hwy_strip *strip, uint32_t row)
{
	struct hwy_text name = hwy_text(trace, hwy_get(strip, HWY_NAME, row));
	struct hwy_text args = hwy_text(trace, hwy_get(strip, HWY_ARGS, row));
	keys->buffer.n = 0;
	hwy_bytes_put(&keys->buffer, name.at, name.length);
	put_value(&keys->buffer, args, "\"Collective name\"");
	put_value(&keys->buffer, args, "\"Process Group Name\"");
	put_value(&keys->buffer, args, "\"Process Group Ranks\"");
	bool fresh;
	uint32_t n = keys->numbers.count;
	uint32_t *number =
		hwy_index_put(&keys->numbers, keys->buffer.bytes, keys->buffer.n, &fresh);
	if (fresh)
		*number = n;
	return *number;
}

static int by_key_and_end(const void *a, const void *b)
{
	const struct occurrence *x = a, *y = b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

static bool list_rank(struct occurrences *list, const struct collectives_rank *rank,
		      struct keys *keys, struct hwy_err *err)
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
		HWY_GROW(list->items, list->n, list->cap);
		list->items[list->n++] =
			(struct occurrence){.key = key_of_collective(keys, flow->trace, strip, row),
					    .end = flow->ops[i].end,
					    .op = i,
					    .meeting = NO_MEETING};
	}
	if (list->n > 0)
		qsort(list->items, list->n, sizeof *list->items, by_key_and_end);
	return true;
}

/* ---- two ranks ----------------------------------------------------------------------------------- */

static void add_pair(struct pairs *pairs, uint32_t a, uint32_t b)
{
	HWY_GROW(pairs->items, pairs->n, pairs->cap);
	pairs->items[pairs->n++] = (struct pair){a, b};
}

enum meets { THEY_MEET, NOT_A, NOT_B };

/* Whether the i-th occurrence of a and the j-th of b are one collective: they have the same key, their ends meet, and
 * the end of the occurrence after is not nearer. NOT_A: the one of a meets none of b; NOT_B the other way round. */
static enum meets compare_next(const struct occurrences *a, uint32_t i, const struct occurrences *b,
			       uint32_t j, int64_t shift)
{
	const struct occurrence *x = &a->items[i], *y = &b->items[j];
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

/* How many occurrences of a and b are one collective when 'shift' is added to the times of b; adds them to 'pairs',
 * which may be NULL. */
static uint32_t match_ends(const struct occurrences *a, const struct occurrences *b, int64_t shift,
			   struct pairs *pairs)
{
	uint32_t i = 0, j = 0, found = 0;
	while (i < a->n && j < b->n) {
		enum meets meets = compare_next(a, i, b, j, shift);
		if (meets == THEY_MEET && pairs)
			add_pair(pairs, i, j);
		found += meets == THEY_MEET;
		i += meets != NOT_B;
		j += meets != NOT_A;
	}
	return found;
}

static int64_t median_shift(const struct occurrences *a, const struct occurrences *b,
			    const struct pairs *pairs)
{
	int64_t *apart = hwy_array(pairs->n, sizeof *apart);
	for (uint32_t i = 0; i < pairs->n; i++)
		apart[i] = a->items[pairs->items[i].a].end - b->items[pairs->items[i].b].end;
	hwy_sort(apart, pairs->n);
	int64_t median = hwy_median_upper(apart, pairs->n);
	free(apart);
	return median;
}

/* Whether the two ranks have the same number of occurrences of each key. */
static bool is_alike(const struct occurrences *a, const struct occurrences *b)
{
	if (a->n != b->n)
		return false;
	for (uint32_t i = 0; i < a->n; i++)
		if (a->items[i].key != b->items[i].key)
			return false;
	return a->n > 0;
}

/* The shift at which most collectives meet, and (*most) how many do. Three occurrences of a are
 * compared with all of b that have the same key: each such pair gives a shift to try. */
static int64_t search_shift(const struct occurrences *a, const struct occurrences *b,
			    uint32_t *most)
{
	int64_t best = 0;
	uint32_t most_tried = 8 + SEARCH_COMPARISONS / (a->n + b->n);
	*most = 0;
	for (uint32_t quarter = 1; quarter <= 3; quarter++) {
		const struct occurrence *x = &a->items[(uint64_t)a->n * quarter / 4];
		uint32_t tried = 0;
		for (uint32_t j = 0; j < b->n && tried < most_tried; j++) {
			if (b->items[j].key != x->key)
				continue;
			tried++;
			int64_t shift = x->end - b->items[j].end;
			uint32_t found = match_ends(a, b, shift, NULL);
			if (found > *most) {
				*most = found;
				best = shift;
			}
		}
	}
	return best;
}

/* Pairs the i-th occurrence of a with the i-th of b. Yields whether these are one collective
 * each: then the distance of the two clocks hardly changes from one pair to the next. */
static bool pair_in_order(const struct occurrences *a, const struct occurrences *b,
			  struct pairs *pairs)
{
	uint32_t agree = 1;
	int64_t before = 0;
	for (uint32_t i = 0; i < a->n; i++) {
		int64_t apart = a->items[i].end - b->items[i].end;
		agree += i > 0 && llabs(apart - before) <= SAME_END_NS;
		before = apart;
		add_pair(pairs, i, i);
	}
	return agree >= MEET_UNSURE_SHARE * a->n;
}

/* The pairs of two ranks, and (*shift) what is added to the times of b; false where they have none. *shift comes in as
 * the distance of the wall clocks, or as the distance that was found with another rank. */
static bool pair_ranks(const struct occurrences *a, const struct occurrences *b, bool may_search,
		       int64_t *shift, struct pairs *pairs)
{
	uint32_t shorter = a->n < b->n ? a->n : b->n;
	pairs->n = 0;
	if (shorter == 0)
		return false;
	uint32_t most = match_ends(a, b, *shift, NULL);
	bool is_found = most >= FEWEST_MEETINGS && most >= MEET_SHARE * shorter;
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
		*shift = search_shift(a, b, &most);
		if (most < FEWEST_MEETINGS || most < MEET_UNSURE_SHARE * shorter)
			return false;
	}
	pairs->n = 0;
	match_ends(a, b, *shift, pairs);
	*shift = median_shift(a, b, pairs);
	pairs->n = 0;
	return match_ends(a, b, *shift, pairs) > 0;
}

/* ---- all ranks ----------------------------------------------------------------------------------- */

struct matching {
	struct hwy_collectives *c;
	const struct collectives_rank *ranks;
	struct occurrences *lists;
	uint32_t n;
	uint32_t cap_parts, cap_meetings;
	/* The parts of a meeting are a chain while matching: by part the next part of the same meeting, or NO_MEETING;
	 * hwy_meeting.first is the first. */
	uint32_t *next, cap_next;
};

static void join_meeting(struct matching *m, uint32_t meeting, uint32_t rank,
			 struct occurrence *occurrence)
{
	struct hwy_collectives *c = m->c;
	HWY_GROW(c->parts, c->n_parts, m->cap_parts);
	HWY_GROW(m->next, c->n_parts, m->cap_next);
	m->next[c->n_parts] = c->meetings[meeting].first;
	c->meetings[meeting].first = c->n_parts;
	c->meetings[meeting].n++;
	c->parts[c->n_parts++] = (struct meeting_part){rank, occurrence->op};
	occurrence->meeting = meeting;
}

static void add_pairs(struct matching *m, const struct pairs *pairs, uint32_t a, uint32_t b)
{
	struct hwy_collectives *c = m->c;
	for (uint32_t i = 0; i < pairs->n; i++) {
		struct occurrence *x = &m->lists[a].items[pairs->items[i].a];
		struct occurrence *y = &m->lists[b].items[pairs->items[i].b];
		if (y->meeting != NO_MEETING)
			continue;
		if (x->meeting == NO_MEETING) {
			HWY_GROW(c->meetings, c->n, m->cap_meetings);
			c->meetings[c->n] = (struct hwy_meeting){.first = NO_MEETING};
			join_meeting(m, c->n++, a, x);
		}
		/* Ranks are added one after the other, so a part of rank b can only be the first in
		 * the collective's chain of parts. */
		if (c->parts[c->meetings[x->meeting].first].rank != b)
			join_meeting(m, x->meeting, b, y);
	}
}

/* The difference of the wall clocks of two recordings in ns; 0 where a recording has no wall clock
 * or the difference is implausibly large. */
static int64_t wall_apart(const struct hwy_flow *a, const struct hwy_flow *b)
{
	int64_t apart;
	if (a->trace->wall == HWY_NONE || b->trace->wall == HWY_NONE ||
	    __builtin_sub_overflow(b->trace->wall, a->trace->wall, &apart) ||
	    llabs(apart) > FARTHEST_NS)
		return 0;
	return apart;
}

/* Pairs each rank with all ranks before it, since a process group may be of some ranks only. */
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
			    llabs(shift[a] + apart) > FARTHEST_NS)
				continue;
			if (!is_set)
				shift[b] = shift[a] + apart;
			is_set = true;
			add_pairs(m, &pairs, a, b);
		}
	}
	free(pairs.items);
}

static struct hwy_interval time_of_part(const struct matching *m, const struct meeting_part *part)
{
	const struct flow_op *op = &m->ranks[part->rank].flow->ops[part->op];
	int64_t shift = m->c->shift[part->rank];
	return (struct hwy_interval){op->start + shift, op->end + shift};
}

/* Copies the parts of a meeting to 'to', one after the other, but for parts that ended before
 * the last rank came: those were no part of it. A meeting that is left with fewer than two parts
 * has none. */
static void settle_meeting(struct matching *m, struct hwy_meeting *meeting, struct meeting_part *to,
			   uint32_t *n)
{
	struct hwy_collectives *c = m->c;
	struct hwy_meeting done = {.first = *n, .last = INT64_MIN, .transfer = INT64_MAX};
	assert(m->next); /* a matched collective always has at least one part */
	for (uint32_t i = meeting->first; i != NO_MEETING; i = m->next[i]) {
		int64_t from = time_of_part(m, &c->parts[i]).from;
		done.last = from > done.last ? from : done.last;
	}
	for (uint32_t i = meeting->first; i != NO_MEETING; i = m->next[i]) {
		struct hwy_interval at = time_of_part(m, &c->parts[i]);
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

static int by_last_arrival(const void *a, const void *b)
{
	const struct hwy_meeting *x = a, *y = b;
	return (x->last > y->last) - (x->last < y->last);
}

/* Adds up what each rank waits. The first meeting of a rank shows when the ranks were recorded
 * from, not that one of them is slow: a meeting counts once each of its ranks has met before. */
static void count_waits(struct matching *m)
{
	struct hwy_collectives *c = m->c;
	bool *has_met = hwy_zarray(m->n, sizeof *has_met);
	if (c->n > 0)
		qsort(c->meetings, c->n, sizeof *c->meetings, by_last_arrival);
	for (uint32_t i = 0; i < c->n; i++) {
		const struct hwy_meeting *meeting = &c->meetings[i];
		bool counts = true;
		for (uint32_t k = 0; k < meeting->n; k++)
			counts &= has_met[c->parts[meeting->first + k].rank];
		c->n_counted += counts;
		for (uint32_t k = 0; k < meeting->n; k++) {
			const struct meeting_part *part = &c->parts[meeting->first + k];
			struct hwy_interval at = time_of_part(m, part);
			if (counts)
				c->waits[part->rank] += at.to - at.from - meeting->transfer;
			c->n_meetings[part->rank]++;
			has_met[part->rank] = true;
		}
	}
	free(has_met);
}

static void settle_all(struct matching *m)
{
	struct hwy_collectives *c = m->c;
	struct meeting_part *parts = hwy_array(c->n_parts, sizeof *parts);
	uint32_t n = 0, kept = 0;
	for (uint32_t i = 0; i < c->n; i++) {
		struct hwy_meeting meeting = c->meetings[i];
		settle_meeting(m, &meeting, parts, &n);
		if (meeting.n == 0)
			continue;
		c->meetings[kept++] = meeting;
	}
	free(c->parts);
	c->parts = parts;
	c->n_parts = n;
	c->n = kept;
	count_waits(m);
}

bool collectives_match(struct hwy_collectives *c, const struct collectives_rank *ranks, uint32_t n,
		       struct hwy_err *err)
{
	*c = (struct hwy_collectives){.shift = hwy_zarray(n, sizeof *c->shift),
				      .waits = hwy_zarray(n, sizeof *c->waits),
				      .n_meetings = hwy_zarray(n, sizeof *c->n_meetings)};
	struct matching m = {
		.c = c, .ranks = ranks, .n = n, .lists = hwy_zarray(n, sizeof *m.lists)};
	struct keys keys = {0};
	bool done = true;
	for (uint32_t r = 0; r < n && done; r++)
		done = list_rank(&m.lists[r], &ranks[r], &keys, err);
	hwy_index_free(&keys.numbers);
	hwy_bytes_free(&keys.buffer);
	if (done) {
		pair_all(&m);
		settle_all(&m);
	} else {
		collectives_free(c);
	}
	for (uint32_t r = 0; r < n; r++)
		free(m.lists[r].items);
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
	free(c->n_meetings);
	*c = (struct hwy_collectives){0};
}

uint32_t collectives_straggler(const struct hwy_collectives *c, uint32_t n)
{
	uint32_t late = n, next = n;
	for (uint32_t r = 0; r < n; r++) {
		if (c->n_meetings[r] == 0)
			continue;
		if (late == n || c->waits[r] < c->waits[late]) {
			next = late;
			late = r;
		} else if (next == n || c->waits[r] < c->waits[next]) {
			next = r;
		}
	}
	bool is_clear = next < n && c->waits[next] > 0 &&
			(double)c->waits[late] <= STRAGGLER_WAIT_SHARE * (double)c->waits[next];
	return is_clear ? late : n;
}
