/* SPDX-License-Identifier: Apache-2.0 */
/* collectives.c - see collectives.h.
 *
 * First the numbered collectives of all ranks are joined by their keys, and their ends set the
 * clocks where nobody else has. Then each rank is paired with the ranks before it by order and
 * ends. Last, what contradicts the clocks is left out, and what each rank waits is added up.
 */
#include "analyze/collectives.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/collectives_internal.h"
#include "base/quantile.h"

/* The straggler waits at most this share of what the next rank waits; else the ranks take turns
 * at being late. */
#define STRAGGLER_WAIT_SHARE 0.7
/* Clocks that differ by more are not clocks of one run. With this limit no sum of a time and a
 * shift overflows. */
#define FARTHEST_NS ((int64_t)1 << 61)

/* The shift of a rank is searched against so many of the first ranks and so many ranks just
 * before it. */
enum { SEARCH_RANKS = 3 };

struct matching {
	struct hwy_collectives *c;
	const struct collectives_rank *ranks;
	struct rank_list *lists;
	uint32_t n;
	uint32_t cap_parts, cap_meetings;
	/* The parts of a meeting are a chain while matching, from the last rank to the first: by
	 * part the next part of the same meeting, or NO_MEETING; hwy_meeting.first is the first
	 * of the chain. */
	uint32_t *next, cap_next;
	int64_t *root; /* by meeting: the rank of the job that is the root, or HWY_NONE */
	uint32_t cap_root;
	bool *is_set; /* by rank: its shift is known */
};

/* ---- meetings -------------------------------------------------------------------------------- */

static uint32_t new_meeting(struct matching *m, const struct occurrence *first)
{
	struct hwy_collectives *c = m->c;
	HWY_GROW(c->meetings, c->n, m->cap_meetings);
	HWY_GROW(m->root, c->n, m->cap_root);
	m->root[c->n] = first->root;
	c->meetings[c->n] =
		(struct hwy_meeting){.first = NO_MEETING,
				     .kind = first->kind,
				     .is_barrier = first->is_barrier,
				     .root = c->n}; /* for m->root; see settle_meeting */
	return c->n++;
}

static void join_meeting(struct matching *m, uint32_t meeting, uint32_t rank,
			 struct occurrence *occurrence)
{
	struct hwy_collectives *c = m->c;
	HWY_GROW(c->parts, c->n_parts, m->cap_parts);
	HWY_GROW(m->next, c->n_parts, m->cap_next);
	m->next[c->n_parts] = c->meetings[meeting].first;
	c->meetings[meeting].first = c->n_parts;
	c->meetings[meeting].n++;
	/* Where one rank has a kernel and another a call, nobody is taken to wait. */
	if (occurrence->kind != c->meetings[meeting].kind)
		c->meetings[meeting].kind = EXCHANGE_LOOSE;
	c->parts[c->n_parts++] = (struct meeting_part){.rank = rank,
						       .op = occurrence->op,
						       .message = occurrence->message,
						       .at = {occurrence->start, occurrence->end}};
	occurrence->meeting = meeting;
}

/* ---- numbered collectives -------------------------------------------------------------------- */

static void join_numbered(struct matching *m, uint32_t n_keys)
{
	struct hwy_collectives *c = m->c;
	uint32_t *meeting_of = hwy_array(n_keys, sizeof *meeting_of);
	for (uint32_t i = 0; i < n_keys; i++)
		meeting_of[i] = NO_MEETING;
	for (uint32_t r = 0; r < m->n; r++) {
		struct occurrences *list = &m->lists[r].numbered;
		for (uint32_t i = 0; i < list->n; i++) {
			uint32_t *meeting = &meeting_of[list->items[i].key];
			if (*meeting == NO_MEETING)
				*meeting = new_meeting(m, &list->items[i]);
			/* Ranks come one after the other: a second part of a rank would stand
			 * first in the chain. */
			uint32_t newest = c->meetings[*meeting].first;
			if (newest == NO_MEETING || c->parts[newest].rank != r)
				join_meeting(m, *meeting, r, &list->items[i]);
		}
	}
	free(meeting_of);
}

struct apart { /* how far two clocks are apart, by one collective's ends */
	uint32_t rank, first;
	int64_t ns; /* to be added to the times of 'rank' to get the times of 'first' */
};

static int by_rank_of_apart(const void *a, const void *b)
{
	const struct apart *x = a, *y = b;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Compares the end of each part with that of the meeting's first rank. */
static struct apart *compare_ends(const struct matching *m, uint32_t *n)
{
	const struct hwy_collectives *c = m->c;
	struct apart *list = hwy_array(c->n_parts, sizeof *list);
	*n = 0;
	for (uint32_t i = 0; m->next && i < c->n; i++) {
		uint32_t first = c->meetings[i].first;
		if (c->meetings[i].kind != EXCHANGE_ALL)
			continue;
		while (m->next[first] != NO_MEETING)
			first = m->next[first];
		for (uint32_t p = c->meetings[i].first; p != first; p = m->next[p])
			list[(*n)++] = (struct apart){c->parts[p].rank, c->parts[first].rank,
						      c->parts[first].at.to - c->parts[p].at.to};
	}
	if (*n > 0)
		qsort(list, *n, sizeof *list, by_rank_of_apart);
	return list;
}

/* The shifts that the ends of numbered collectives tell: of each rank the median against ranks
 * before it. */
static void set_clocks_by_ends(struct matching *m)
{
	uint32_t n, i = 0;
	struct apart *list = compare_ends(m, &n);
	int64_t *found = hwy_array(n, sizeof *found);
	m->is_set[0] = true;
	while (i < n) {
		uint32_t rank = list[i].rank, n_found = 0;
		for (; i < n && list[i].rank == rank; i++)
			if (m->is_set[list[i].first])
				found[n_found++] = m->c->shift[list[i].first] + list[i].ns;
		if (n_found == 0)
			continue;
		hwy_sort(found, n_found);
		int64_t median = hwy_median_upper(found, n_found);
		m->is_set[rank] = llabs(median) <= FARTHEST_NS;
		if (m->is_set[rank])
			m->c->shift[rank] = median;
	}
	free(found);
	free(list);
}

static int64_t shift_at(const struct collectives_rank *rank, int64_t shift, int64_t time)
{
	return rank->clock ? rank->clock->map(rank->clock->user, time) - time : shift;
}

/* Takes the given clocks; a rank's shift is that at its first collective. */
static void set_clocks_as_given(struct matching *m)
{
	for (uint32_t r = 0; r < m->n; r++) {
		const struct rank_list *list = &m->lists[r];
		int64_t at = list->numbered.n > 0  ? list->numbered.items[0].start
			     : list->ordered.n > 0 ? list->ordered.items[0].start
						   : 0;
		m->c->shift[r] = shift_at(&m->ranks[r], 0, at);
		m->is_set[r] = true;
	}
}

/* ---- ordered collectives --------------------------------------------------------------------- */

static void add_pairs(struct matching *m, const struct pairs *pairs, uint32_t a, uint32_t b)
{
	struct hwy_collectives *c = m->c;
	for (uint32_t i = 0; i < pairs->n; i++) {
		struct occurrence *x = &m->lists[a].ordered.items[pairs->items[i].a];
		struct occurrence *y = &m->lists[b].ordered.items[pairs->items[i].b];
		if (y->meeting != NO_MEETING)
			continue;
		if (x->meeting == NO_MEETING)
			join_meeting(m, new_meeting(m, x), a, x);
		/* Ranks are added one after the other, so a part of rank b can only be the first in
		 * the collective's chain of parts. */
		if (c->parts[c->meetings[x->meeting].first].rank != b)
			join_meeting(m, x->meeting, b, y);
	}
}

/* The difference of the wall clocks of two recordings in ns; 0 where a recording has no wall clock
 * or the difference is implausibly large. */
static int64_t wall_apart(const struct hwy_trace *a, const struct hwy_trace *b)
{
	int64_t apart;
	if (a->wall == HWY_NONE || b->wall == HWY_NONE ||
	    __builtin_sub_overflow(b->wall, a->wall, &apart) || llabs(apart) > FARTHEST_NS)
		return 0;
	return apart;
}

/* Pairs each rank with all ranks before it, since a process group may be of some ranks only. */
static void pair_all(struct matching *m)
{
	struct pairs pairs = {0};
	int64_t *shift = m->c->shift;
	for (uint32_t b = 0; b < m->n; b++) {
		bool is_set = b > 0 && m->is_set[b];
		if (!is_set)
			shift[b] = wall_apart(collectives_trace(&m->ranks[0]),
					      collectives_trace(&m->ranks[b]));
		for (uint32_t a = 0; a < b; a++) {
			int64_t apart = shift[b] - shift[a];
			bool may_search = !is_set && (a < SEARCH_RANKS || b - a <= SEARCH_RANKS);
			if (!collectives_pair_ends(&m->lists[a].ordered, &m->lists[b].ordered,
						   may_search, &apart, &pairs) ||
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

/* ---- settling -------------------------------------------------------------------------------- */

/* Whether the part 'waiting' cannot end before the part 'other' has begun; both are of one
 * meeting. */
static bool must_wait(const struct hwy_meeting *meeting, uint32_t waiting, uint32_t other)
{
	switch (meeting->kind) {
	case EXCHANGE_ALL: return true;
	case EXCHANGE_FROM_ROOT: return other == meeting->root;
	case EXCHANGE_TO_ROOT: return waiting == meeting->root;
	case EXCHANGE_PREFIX: return other < waiting;
	default: return false;
	}
}

int64_t collectives_awaited(const struct hwy_collectives *c, const struct hwy_meeting *meeting,
			    uint32_t part, uint32_t *culprit)
{
	int64_t last = INT64_MIN;
	if (meeting->kind == EXCHANGE_ALL && part != meeting->latest) {
		if (culprit)
			*culprit = meeting->latest;
		return meeting->last;
	}
	if (meeting->kind == EXCHANGE_ALL || meeting->kind == EXCHANGE_LOOSE)
		return last;
	for (uint32_t i = meeting->first; i < meeting->first + meeting->n; i++) {
		int64_t from = collectives_at(&c->parts[i]).from;
		if (i == part || !must_wait(meeting, part, i) || from <= last)
			continue;
		last = from;
		if (culprit)
			*culprit = i;
	}
	return last;
}

/* Copies the parts of a meeting to 'to', one after the other, in order of ranks. */
static void copy_parts(struct matching *m, const struct hwy_meeting *meeting,
		       struct meeting_part *to)
{
	uint32_t place = meeting->n;
	assert(m->next); /* a matched collective always has at least one part */
	for (uint32_t i = meeting->first; i != NO_MEETING; i = m->next[i]) {
		struct meeting_part *part = &to[--place];
		*part = m->c->parts[i];
		part->shift =
			shift_at(&m->ranks[part->rank], m->c->shift[part->rank], part->at.from);
	}
}

static uint32_t find_root(const struct matching *m, const struct meeting_part *parts,
			  uint32_t first, uint32_t n, int64_t root)
{
	for (uint32_t i = first; i < first + n && root != HWY_NONE; i++) {
		const struct collectives_rank *rank = &m->ranks[parts[i].rank];
		if (parts[i].message != FLOW_NONE &&
		    collectives_number(rank, parts[i].rank,
				       &collectives_trace(rank)->messages[parts[i].message]) ==
			    root)
			return i;
	}
	return FLOW_NONE;
}

/* Leaves out the parts that ended before one came that they had to wait for: those were no part
 * of it. */
static void drop_contradicted(struct hwy_collectives *c, struct meeting_part *parts,
			      struct hwy_meeting *meeting)
{
	uint32_t kept = meeting->first, root = FLOW_NONE, latest = meeting->first;
	struct hwy_collectives one = {.parts = parts};
	uint8_t *is_out = hwy_zarray(meeting->n, sizeof *is_out);
	for (uint32_t i = 0; i < meeting->n; i++) {
		uint32_t part = meeting->first + i;
		is_out[i] = collectives_at(&parts[part]).to <
			    collectives_awaited(&one, meeting, part, NULL);
	}
	for (uint32_t i = 0; i < meeting->n; i++) {
		uint32_t part = meeting->first + i;
		if (is_out[i]) {
			c->n_contradicted++;
			continue;
		}
		root = part == meeting->root ? kept : root;
		latest = part == meeting->latest ? kept : latest;
		parts[kept++] = parts[part];
	}
	meeting->n = kept - meeting->first;
	meeting->root = root;
	meeting->latest = latest; /* it ends after it began, so it is never left out */
	free(is_out);
}

/* Copies the parts of a meeting to 'to' but for those that contradict the clocks. A meeting that
 * is left with fewer than two parts has none. */
static void settle_meeting(struct matching *m, struct hwy_meeting *meeting, struct meeting_part *to,
			   uint32_t *n)
{
	copy_parts(m, meeting, to + *n);
	meeting->root = find_root(m, to, *n, meeting->n, m->root[meeting->root]);
	meeting->first = *n;
	meeting->last = INT64_MIN;
	meeting->transfer = INT64_MAX;
	for (uint32_t i = *n; i < *n + meeting->n; i++) {
		int64_t from = collectives_at(&to[i]).from;
		if (from > meeting->last)
			meeting->latest = i;
		meeting->last = from > meeting->last ? from : meeting->last;
	}
	drop_contradicted(m->c, to, meeting);
	for (uint32_t i = *n; i < *n + meeting->n; i++) {
		int64_t length = to[i].at.to - to[i].at.from;
		meeting->transfer = length < meeting->transfer ? length : meeting->transfer;
	}
	if (meeting->n >= 2)
		*n += meeting->n;
	else
		meeting->n = 0;
}

static int by_last_arrival(const void *a, const void *b)
{
	const struct hwy_meeting *x = a, *y = b;
	return (x->last > y->last) - (x->last < y->last);
}

static int64_t wait_of_part(const struct hwy_collectives *c, const struct hwy_meeting *meeting,
			    uint32_t part)
{
	struct hwy_interval at = collectives_at(&c->parts[part]);
	if (meeting->kind == EXCHANGE_ALL)
		return at.to - at.from - meeting->transfer;
	int64_t awaited = collectives_awaited(c, meeting, part, NULL);
	return awaited > at.from ? awaited - at.from : 0;
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
		for (uint32_t k = meeting->first; k < meeting->first + meeting->n; k++) {
			uint32_t rank = c->parts[k].rank;
			if (counts)
				c->waits[rank] += wait_of_part(c, meeting, k);
			c->n_meetings[rank]++;
			has_met[rank] = true;
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

static void match_listed(struct matching *m, uint32_t n_keys)
{
	join_numbered(m, n_keys);
	if (m->n > 0 && m->ranks[0].clock)
		set_clocks_as_given(m);
	else if (m->n > 0)
		set_clocks_by_ends(m);
	pair_all(m);
	settle_all(m);
}

bool collectives_match(struct hwy_collectives *c, const struct collectives_rank *ranks, uint32_t n,
		       struct hwy_err *err)
{
	*c = (struct hwy_collectives){.shift = hwy_zarray(n, sizeof *c->shift),
				      .waits = hwy_zarray(n, sizeof *c->waits),
				      .n_meetings = hwy_zarray(n, sizeof *c->n_meetings)};
	struct matching m = {.c = c,
			     .ranks = ranks,
			     .n = n,
			     .lists = hwy_zarray(n, sizeof *m.lists),
			     .is_set = hwy_zarray(n, sizeof *m.is_set)};
	struct collective_keys keys = {0};
	bool done = true;
	for (uint32_t r = 0; r < n && done; r++)
		done = collectives_list(&m.lists[r], &ranks[r], &keys, err);
	uint32_t n_keys = keys.numbers.count;
	hwy_index_free(&keys.numbers);
	hwy_bytes_free(&keys.buffer);
	if (done)
		match_listed(&m, n_keys);
	else
		collectives_free(c);
	for (uint32_t r = 0; r < n; r++) {
		free(m.lists[r].ordered.items);
		free(m.lists[r].numbered.items);
	}
	free(m.lists);
	free(m.next);
	free(m.root);
	free(m.is_set);
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
