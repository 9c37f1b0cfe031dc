/* SPDX-License-Identifier: Apache-2.0 */
/* digest_links.c - links that are slower than others like them; see digest_answer.h.
 *
 * A link is a pair of ranks, in one direction, or a communicator with an operation. What each
 * side's digest tells is how fast the fastest tenth of the exchanges was: waiting makes an
 * exchange slow, never fast, and the side that comes last waits for nobody. So the rate of a
 * link is the highest that any of its ranks has seen. Links are alike where they have one
 * operation, about the same size, for pairs the same nearness (one host, or two) and for
 * communicators the same number of ranks. A link is slow where it reaches less than SLOW_SHARE
 * of the median of those, and is beyond the threshold of so many (digest_outliers.h, of the
 * logarithms).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/index.h"
#include "base/quantile.h"
#include "base/search.h"
#include "digest/digest_answer.h"
#include "digest/digest_outliers.h"

#define SLOW_SHARE 0.6
enum { FEWEST_EXCHANGES = 3, FEWEST_ALIKE = 4 };
/* Only damaged digests have exchanges that cost more: a day. */
#define MOST_COST_NS 8.64e13
/* Logarithms of rates are compared as integers of this unit. */
#define LOG_UNIT 1e6

struct link_key {           /* no padding */
	uint64_t group;     /* of a communicator */
	int64_t from, to;   /* of a pair */
	uint64_t operation; /* hash */
};

static bool link_key_of(const struct digest_answer *answer, uint32_t r,
			const struct digest_exchange *exchange, struct link_key *key,
			uint32_t *peer)
{
	*key = (struct link_key){.from = -1, .to = -1};
	key->operation = hwy_hash(exchange->operation, strlen(exchange->operation));
	*peer = answer->n;
	if (exchange->large < FEWEST_EXCHANGES || exchange->fastest_rate == 0)
		return false;
	if (exchange->way == DIGEST_COLLECTIVE) {
		key->group = exchange->key;
		return exchange->key != 0 && exchange->size > 1;
	}
	int64_t own = answer->ranks[r].digest->rank;
	/* Ranks are sorted by their numbers. */
	uint32_t low = HWY_FIRST(i, 0u, answer->n, answer->ranks[i].digest->rank >= exchange->peer);
	if (low == answer->n || answer->ranks[low].digest->rank != exchange->peer)
		return false;
	*peer = low;
	key->operation = 0; /* a send here is a receive there */
	key->from = exchange->way == DIGEST_SENT ? own : exchange->peer;
	key->to = exchange->way == DIGEST_SENT ? exchange->peer : own;
	return true;
}

static void add_side(struct digest_answer *answer, struct digest_link *link, uint32_t r,
		     const struct digest_exchange *exchange, uint32_t peer, bool fresh)
{
	if (fresh) {
		bool sends = exchange->way == DIGEST_SENT;
		link->is_pair = exchange->way != DIGEST_COLLECTIVE;
		link->from = link->is_pair && !sends ? peer : r;
		link->to = link->is_pair && sends ? peer : r;
		link->operation = link->is_pair ? "Send" : exchange->operation;
		link->group = exchange->group;
		link->size = exchange->size;
		link->is_across = link->is_pair && strcmp(answer->ranks[r].digest->host,
							  answer->ranks[peer].digest->host) != 0;
	}
	if (!link->is_pair)
		link->to = r;
	link->n = exchange->large > link->n ? exchange->large : link->n;
	link->bytes = exchange->large_bytes > link->bytes ? exchange->large_bytes : link->bytes;
	double rate = (double)exchange->fastest_rate;
	link->rate = rate > link->rate ? rate : link->rate;
}

/* ---- which are alike ------------------------------------------------------------------------- */

/* Sizes within a factor of two are alike. */
static int size_class(uint64_t bytes)
{
	return bytes ? 63 - __builtin_clzll(bytes) : 0;
}

static int compare_kinds(const struct digest_link *x, const struct digest_link *y)
{
	if (x->is_pair != y->is_pair)
		return x->is_pair ? -1 : 1;
	if (x->is_across != y->is_across)
		return x->is_across ? -1 : 1;
	if (!x->is_pair && x->size != y->size)
		return x->size < y->size ? -1 : 1;
	if (size_class(x->bytes) != size_class(y->bytes))
		return size_class(x->bytes) < size_class(y->bytes) ? -1 : 1;
	return strcmp(x->operation, y->operation);
}

static int by_kind(const void *a, const void *b)
{
	const struct digest_link *x = a, *y = b;
	int order = compare_kinds(x, y);
	if (order)
		return order;
	return x->from != y->from ? (x->from < y->from ? -1 : 1)
				  : (x->to > y->to) - (x->to < y->to);
}

static void judge_alike(struct digest_answer *answer, struct digest_link *links, uint32_t n)
{
	double *rates = hwy_array(n, sizeof *rates);
	int64_t *slowness = hwy_array(n, sizeof *slowness);
	for (uint32_t i = 0; i < n; i++) {
		rates[i] = links[i].rate;
		slowness[i] = llround(-log(links[i].rate) * LOG_UNIT);
	}
	hwy_sort_real(rates, n);
	/* A difference of one percent is not believed. */
	int64_t most = outliers_threshold(slowness, n, (int64_t)(0.01 * LOG_UNIT));
	for (uint32_t i = 0; i < n; i++) {
		struct digest_link *link = &links[i];
		link->usual = hwy_median_between_real(rates, n);
		link->alike = n;
		link->is_slow = n >= FEWEST_ALIKE && link->rate < SLOW_SHARE * link->usual &&
				llround(-log(link->rate) * LOG_UNIT) > most;
		if (!link->is_slow)
			continue;
		uint32_t steps = answer->ranks[link->from].digest->steps.n;
		double longer =
			(double)link->bytes / link->rate - (double)link->bytes / link->usual;
		double cost = longer * 1e9 * (double)link->n / (steps ? steps : 1);
		link->cost = llround(cost < MOST_COST_NS ? cost : MOST_COST_NS);
		answer->n_slow++;
	}
	free(rates);
	free(slowness);
}

static int by_cost(const void *a, const void *b)
{
	const struct digest_link *x = a, *y = b;
	if (x->is_slow != y->is_slow)
		return x->is_slow ? -1 : 1;
	if (x->cost != y->cost)
		return x->cost < y->cost ? 1 : -1;
	return by_kind(a, b);
}

void digest_links_find(struct digest_answer *answer)
{
	struct hwy_index by_key = {0};
	struct digest_link *links = hwy_array(0, sizeof *links);
	uint32_t n = 0, cap = 0, peer;
	for (uint32_t r = 0; r < answer->n; r++)
		for (uint32_t i = 0; i < answer->ranks[r].digest->n_exchanges; i++) {
			const struct digest_exchange *exchange =
				&answer->ranks[r].digest->exchanges[i];
			struct link_key key;
			bool fresh;
			if (!link_key_of(answer, r, exchange, &key, &peer))
				continue;
			uint32_t *at = hwy_index_put(&by_key, &key, sizeof key, &fresh);
			if (fresh) {
				HWY_GROW(links, n, cap);
				*at = n;
				links[n++] = (struct digest_link){0};
			}
			add_side(answer, &links[*at], r, exchange, peer, fresh);
		}
	if (n > 0)
		qsort(links, n, sizeof *links, by_kind);
	for (uint32_t i = 0, alike; i < n; i += alike) {
		for (alike = 1; i + alike < n && compare_kinds(&links[i], &links[i + alike]) == 0;)
			alike++;
		judge_alike(answer, &links[i], alike);
	}
	if (n > 0)
		qsort(links, n, sizeof *links, by_cost);
	answer->links = links;
	answer->n_links = n;
	hwy_index_free(&by_key);
}
