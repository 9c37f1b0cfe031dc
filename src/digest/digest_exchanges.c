/* SPDX-License-Identifier: Apache-2.0 */
/* digest_exchanges.c - what a rank exchanged, with whom and how fast; and the steps of a rank
 * that only communicates; see digest.h.
 *
 * Of a rank with device work the exchanges of its steady steps count, else all. A message of
 * another rank is a row by that rank, a collective a row by its communicator and operation.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/exchange.h"
#include "base/hash.h"
#include "base/index.h"
#include "base/quantile.h"
#include "digest/digest.h"

/* Fewer collectives of the largest communicator are no steps. */
enum { FEWEST_COLLECTIVES = 4 };
/* No link is so fast; what is faster is a clock that stood still. */
#define MOST_RATE 1e15

struct exchange_rate {
	uint32_t row;
	uint64_t bytes;
	double rate;
};

struct exchange_rows {
	struct rank_digest *digest;
	struct hwy_trace *trace;
	struct hwy_interval window;
	struct hwy_index by_key;
	struct digest_exchange *rows;
	uint32_t n, cap;
	struct exchange_rate *rates;
	uint32_t n_rates, cap_rates;
};

static enum digest_way way_of(const struct hwy_message *message)
{
	return message->kind == HWY_MESSAGE_SEND      ? DIGEST_SENT
	       : message->kind == HWY_MESSAGE_RECEIVE ? DIGEST_GOT
						      : DIGEST_COLLECTIVE;
}

static uint64_t group_key(const struct hwy_trace *trace, const struct hwy_message *message)
{
	struct hwy_bytes key = {0};
	if (message->group < 0 || message->group >= trace->n_groups)
		return 0;
	exchange_put_group(&key, trace, message);
	uint64_t hash = hwy_hash(key.bytes, key.n);
	hwy_bytes_free(&key);
	return hash;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static struct digest_exchange *row_of(struct exchange_rows *all, const struct hwy_message *message)
{
	enum digest_way way = way_of(message);
	/* Numbers only: no padding may be part of a key. */
	int64_t key[5] = {way, message->library, message->name, HWY_NONE, HWY_NONE};
	key[way == DIGEST_COLLECTIVE ? 3 : 4] =
		way == DIGEST_COLLECTIVE ? message->group : message->peer;
	bool fresh;
	uint32_t *at = hwy_index_put(&all->by_key, key, sizeof key, &fresh);
	if (fresh) {
		bool has_group = message->group >= 0 && message->group < all->trace->n_groups;
		const struct hwy_group *group =
			has_group ? &all->trace->groups[message->group] : NULL;
		HWY_GROW(all->rows, all->n, all->cap);
		*at = all->n;
		all->rows[all->n++] = (struct digest_exchange){
			.library = digest_keep(all->digest, hwy_str(all->trace, message->library)),
			.operation = digest_keep(all->digest, hwy_str(all->trace, message->name)),
			.group = group ? digest_keep(all->digest, hwy_str(all->trace, group->name))
				       : "",
			.key = group_key(all->trace, message),
			.size = group && group->size > 0 ? group->size : HWY_NONE,
			.peer = way == DIGEST_COLLECTIVE ? HWY_NONE : message->peer,
			.way = (uint8_t)way,
		};
	}
	return &all->rows[*at];
}

static void add_exchange_of(struct exchange_rows *all, const struct hwy_message *message)
{
	struct exchange_times times = exchange_times(all->trace, message);
	int64_t ns = times.call.to - times.call.from;
	int64_t bytes = message->sent > message->received ? message->sent : message->received;
	if (times.call.from < all->window.from || times.call.from >= all->window.to || ns < 0 ||
	    message->kind == HWY_NONE)
		return;
	struct digest_exchange *row = row_of(all, message);
	row->count++;
	row->bytes += bytes > 0 ? (uint64_t)bytes : 0;
	row->ns += ns;
	double rate = ns > 0 ? (double)bytes / ((double)ns / 1e9) : 0;
	if (bytes < DIGEST_LARGE_BYTES || times.is_nonblocking || rate <= 0 || rate > MOST_RATE)
		return;
	HWY_GROW(all->rates, all->n_rates, all->cap_rates);
	all->rates[all->n_rates++] = (struct exchange_rate){
		.row = (uint32_t)(row - all->rows), .bytes = (uint64_t)bytes, .rate = rate};
}

static int by_row_and_rate(const void *a, const void *b)
{
	const struct exchange_rate *x = a, *y = b;
	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return (x->rate > y->rate) - (x->rate < y->rate);
}

static void settle_rates(struct exchange_rows *all)
{
	if (all->n_rates > 0)
		qsort(all->rates, all->n_rates, sizeof *all->rates, by_row_and_rate);
	for (uint32_t i = 0, n; i < all->n_rates; i += n) {
		struct digest_exchange *row = &all->rows[all->rates[i].row];
		uint64_t bytes = 0;
		for (n = 0; i + n < all->n_rates && all->rates[i + n].row == all->rates[i].row; n++)
			bytes += all->rates[i + n].bytes;
		row->large = n;
		row->large_bytes = bytes / n;
		row->typical_rate = (uint64_t)all->rates[i + n / 2].rate;
		row->fastest_rate = (uint64_t)all->rates[i + (uint64_t)n * 9 / 10].rate;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct digest_exchange *x = a, *y = b;
	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	if (x->peer != y->peer)
		return x->peer < y->peer ? -1 : 1;
	return x->key != y->key ? (x->key < y->key ? -1 : 1) : strcmp(x->operation, y->operation);
}

/* ---- steps of a rank without device work ----------------------------------------------------- */

struct comm_call {
	struct hwy_interval at;
	bool ends_step;
};

static int by_call_begin(const void *a, const void *b)
{
	const struct comm_call *x = a, *y = b;
	if (x->at.from != y->at.from)
		return x->at.from < y->at.from ? -1 : 1;
	return (x->at.to > y->at.to) - (x->at.to < y->at.to);
}

/* The communicator with most ranks in which all ranks meet at least FEWEST_COLLECTIVES times;
 * HWY_NONE where there is none. */
static int64_t largest_group(const struct hwy_trace *trace)
{
	uint32_t *met = hwy_zarray(trace->n_groups, sizeof *met);
	int64_t best = HWY_NONE;
	for (uint32_t i = 0; i < trace->n_messages; i++) {
		const struct hwy_message *message = &trace->messages[i];
		if (message->group >= 0 && message->group < trace->n_groups &&
		    way_of(message) == DIGEST_COLLECTIVE &&
		    exchange_kind_of(trace, message) == EXCHANGE_ALL)
			met[message->group]++;
	}
	for (uint32_t g = 0; g < trace->n_groups; g++) {
		bool is_better =
			best == HWY_NONE || trace->groups[g].size > trace->groups[best].size ||
			(trace->groups[g].size == trace->groups[best].size && met[g] > met[best]);
		if (met[g] >= FEWEST_COLLECTIVES && is_better)
			best = g;
	}
	free(met);
	return best;
}

/* The time between two collectives that all ranks take part in is a step; what the rank is not
 * in calls that communicate is its own. */
static void note_comm_steps(struct rank_digest *digest, const struct hwy_trace *trace,
			    const struct comm_call *calls, uint32_t n)
{
	struct hwy_interval *windows = hwy_array(n, sizeof *windows), fresh;
	int64_t *lengths = hwy_array(n, sizeof *lengths), *own = hwy_array(n, sizeof *own);
	int64_t *comm = hwy_zarray(n, sizeof *comm), before = INT64_MIN;
	uint32_t steps = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!calls[i].ends_step)
			continue;
		if (before != INT64_MIN && calls[i].at.to > before)
			windows[steps++] = (struct hwy_interval){before, calls[i].at.to};
		before = calls[i].at.to > before ? calls[i].at.to : before;
	}
	struct hwy_bins bins = {.windows = windows, .sums = comm, .n = steps};
	struct hwy_cover cover = {0};
	for (uint32_t i = 0; i < n; i++)
		if (cover_add(&cover, calls[i].at.from, calls[i].at.to, &fresh))
			bins_add(&bins, fresh.from, fresh.to);
	digest->window = digest->comm = 0;
	for (uint32_t s = 0; s < steps; s++) {
		lengths[s] = windows[s].to - windows[s].from;
		own[s] = lengths[s] - comm[s];
		digest->window += lengths[s];
		digest->comm += comm[s];
	}
	if (steps >= FEWEST_COLLECTIVES - 1) {
		digest_fill_buckets(digest, lengths, own, steps, 1);
		digest->steps.numbers = DIGEST_COLLECTIVES;
		int64_t wall;
		if (trace->wall != HWY_NONE &&
		    !__builtin_add_overflow(trace->wall, windows[0].from, &wall))
			digest->steps.wall = wall;
	}
	free(windows);
	free(lengths);
	free(own);
	free(comm);
}

static void note_comm_only(struct rank_digest *digest, const struct hwy_trace *trace)
{
	int64_t group = largest_group(trace);
	struct comm_call *calls = hwy_array(trace->n_messages, sizeof *calls);
	struct hwy_interval whole = {INT64_MAX, INT64_MIN};
	for (uint32_t i = 0; i < trace->n_messages; i++) {
		const struct hwy_message *message = &trace->messages[i];
		calls[i].at = exchange_times(trace, message).call;
		calls[i].ends_step = group != HWY_NONE && message->group == group &&
				     way_of(message) == DIGEST_COLLECTIVE &&
				     exchange_kind_of(trace, message) == EXCHANGE_ALL;
		whole.from = calls[i].at.from < whole.from ? calls[i].at.from : whole.from;
		whole.to = calls[i].at.to > whole.to ? calls[i].at.to : whole.to;
	}
	if (trace->n_messages > 0) {
		qsort(calls, trace->n_messages, sizeof *calls, by_call_begin);
		note_comm_steps(digest, trace, calls, trace->n_messages);
		if (digest->steps.n == 0)
			digest->window = hwy_between(whole.from, whole.to);
	}
	free(calls);
}

/* ---- the whole ------------------------------------------------------------------------------- */

bool digest_note_exchanges(struct rank_digest *digest, struct hwy_analysis *analysis,
			   struct hwy_err *err)
{
	struct hwy_trace *trace = analysis->trace;
	struct exchange_rows all = {
		.digest = digest, .trace = trace, .window = {INT64_MIN, INT64_MAX}};
	if (!exchange_need(trace, err))
		return false;
	if (analysis->phases.main < analysis->phases.n)
		all.window = analysis->phases.phases[analysis->phases.main].window;
	else
		note_comm_only(digest, trace);
	for (uint32_t i = 0; i < trace->n_messages; i++)
		add_exchange_of(&all, &trace->messages[i]);
	settle_rates(&all);
	if (all.n > 0)
		qsort(all.rows, all.n, sizeof *all.rows, by_time);
	digest->n_exchanges = all.n < DIGEST_EXCHANGES ? all.n : DIGEST_EXCHANGES;
	digest->exchanges = hwy_arena_copy_array(&digest->arena, all.rows, digest->n_exchanges,
						 sizeof *all.rows);
	free(all.rows);
	free(all.rates);
	hwy_index_free(&all.by_key);
	return true;
}
