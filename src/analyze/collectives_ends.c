/* SPDX-License-Identifier: Apache-2.0 */
/* collectives_ends.c - which collectives of two ranks are one, by their order and their ends.
 *
 * Kernels on two ranks can be one collective where they have the same key: the kernel's name and,
 * where the recorder tells, the operation and the process group. The collectives of a group come in
 * the same order on every rank. So the number in that order decides which kernels are one, if both
 * ranks have as many of each key, if the distance of the two clocks then stays the same throughout,
 * and if that distance is not at odds with the wall clocks. Otherwise (some were lost, or the
 * recordings began at different steps) kernels are one where their ends meet, on the wall clocks,
 * or with the shift at which most ends meet.
 */
#include <stdlib.h>

#include "analyze/collectives_internal.h"
#include "base/quantile.h"

/* Ends that are this near to each other are ends of one collective; two collectives in a row are
 * farther apart. */
#define SAME_END_NS 200000
/* Wall clocks that NTP keeps in step differ by less than this many ns. */
#define SAME_CLOCK_NS 1000000
/* Which share of the rank with fewer collectives must meet: for wall clocks to be believed, and
 * (UNSURE) without wall clocks for the order or a shift to be believed. */
#define MEET_SHARE 0.3
#define MEET_UNSURE_SHARE 0.6
#define FEWEST_MEETINGS 2

enum {
	/* How many pairs of collectives one search compares, so that long recordings are not
	 * searched for ever. */
	SEARCH_COMPARISONS = 5000000,
};

static void add_pair(struct pairs *pairs, uint32_t a, uint32_t b)
{
	HWY_GROW(pairs->items, pairs->n, pairs->cap);
	pairs->items[pairs->n++] = (struct pair){a, b};
}

enum meets { THEY_MEET, NOT_A, NOT_B };

/* Whether the i-th occurrence of a and the j-th of b are one collective: they have the same key,
 * their ends meet, and the end of the occurrence after is not nearer. NOT_A: the one of a meets
 * none of b; NOT_B the other way round. */
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

/* How many occurrences of a and b are one collective when 'shift' is added to the times of b;
 * adds them to 'pairs', which may be NULL. */
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

bool collectives_pair_ends(const struct occurrences *a, const struct occurrences *b,
			   bool may_search, int64_t *shift, struct pairs *pairs)
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
