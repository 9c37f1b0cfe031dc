/* SPDX-License-Identifier: Apache-2.0 */
/* routes.c - see routes.h. */
#include "job/routes.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/index.h"
#include "base/quantile.h"

#define LARGE_BYTES 65536
#define SLOW_SHARE 0.6
enum { FEWEST_EXCHANGES = 3 };

struct finding_routes {
	struct job_routes *routes;
	const struct ranks_member *members;
	struct hwy_index by_key;
	struct hwy_bytes key;
};

static struct job_route *route_of(struct finding_routes *f, const void *key, size_t length,
				  bool *fresh)
{
	struct job_routes *routes = f->routes;
	uint32_t *at = hwy_index_put(&f->by_key, key, length, fresh);
	if (*fresh) {
		HWY_GROW(routes->routes, routes->n, routes->cap);
		*at = routes->n;
		routes->routes[routes->n++] = (struct job_route){0};
	}
	return &routes->routes[*at];
}

static void add_exchange(struct job_route *route, int64_t bytes, int64_t ns)
{
	route->n++;
	route->bytes += (uint64_t)bytes;
	route->ns += ns;
}

static bool is_across(const struct finding_routes *f, const uint32_t *members, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		if (strcmp(f->members[members[0]].host, f->members[members[i]].host) != 0)
			return true;
	return false;
}

/* ---- messages -------------------------------------------------------------------------------- */

static int64_t on_first_clock(const struct collectives_rank *rank, const struct hwy_collectives *c,
			      uint32_t index, int64_t time)
{
	return rank->clock ? rank->clock->map(rank->clock->user, time) : time + c->shift[index];
}

static void add_pairs(struct finding_routes *f, const struct collectives_rank *ranks,
		      const struct hwy_collectives *c, const struct hwy_p2p *p2p)
{
	for (uint32_t i = 0; i < p2p->n; i++) {
		const struct p2p_pair *pair = &p2p->pairs[i];
		struct hwy_trace *from = collectives_trace(&ranks[pair->sender]);
		struct hwy_trace *to = collectives_trace(&ranks[pair->receiver]);
		const struct hwy_message *send = &from->messages[pair->send],
					 *get = &to->messages[pair->receive];
		struct exchange_times sent = exchange_times(from, send),
				      got = exchange_times(to, get);
		int64_t bytes = get->received != HWY_NONE ? get->received : send->sent;
		int64_t a = on_first_clock(&ranks[pair->sender], c, pair->sender, sent.post);
		int64_t b = on_first_clock(&ranks[pair->receiver], c, pair->receiver, got.post);
		int64_t end =
			on_first_clock(&ranks[pair->receiver], c, pair->receiver, got.call.to);
		int64_t ns = end - (a > b ? a : b);
		if (bytes < LARGE_BYTES || ns <= 0 || got.is_nonblocking)
			continue;
		uint32_t key[2] = {pair->sender, pair->receiver};
		bool fresh;
		struct job_route *route = route_of(f, key, sizeof key, &fresh);
		if (fresh) {
			route->is_pair = true;
			route->from = pair->sender;
			route->to = pair->receiver;
			route->operation = "Send";
			route->members =
				hwy_arena_copy_array(&f->routes->arena, key, 2, sizeof *key);
			route->n_members = 2;
			route->is_across = is_across(f, key, 2);
		}
		add_exchange(route, bytes, ns);
	}
}

/* ---- collectives ----------------------------------------------------------------------------- */

static void add_meeting(struct finding_routes *f, const struct collectives_rank *ranks,
			const struct hwy_collectives *c, const struct hwy_meeting *meeting)
{
	const struct meeting_part *first = &c->parts[meeting->first];
	if (first->message == FLOW_NONE || meeting->kind != EXCHANGE_ALL || meeting->is_barrier)
		return;
	const struct hwy_trace *trace = collectives_trace(&ranks[first->rank]);
	const struct hwy_message *message = &trace->messages[first->message];
	int64_t bytes = message->sent > message->received ? message->sent : message->received;
	int64_t end = INT64_MAX;
	for (uint32_t k = 0; k < meeting->n; k++) {
		int64_t to = collectives_at(&c->parts[meeting->first + k]).to;
		end = to < end ? to : end;
	}
	if (bytes < LARGE_BYTES || end <= meeting->last)
		return;
	const char *operation = hwy_str(trace, message->name);
	f->key.n = 0;
	for (uint32_t k = 0; k < meeting->n; k++)
		hwy_bytes_put(&f->key, &c->parts[meeting->first + k].rank, sizeof(uint32_t));
	hwy_bytes_put(&f->key, operation, strlen(operation));
	bool fresh;
	struct job_route *route = route_of(f, f->key.bytes, f->key.n, &fresh);
	if (fresh) {
		route->operation = operation;
		route->members =
			hwy_arena_array(&f->routes->arena, meeting->n, sizeof *route->members);
		route->n_members = meeting->n;
		for (uint32_t k = 0; k < meeting->n; k++)
			route->members[k] = c->parts[meeting->first + k].rank;
		route->from = route->members[0];
		route->to = route->members[meeting->n - 1];
		route->is_across = is_across(f, route->members, meeting->n);
	}
	add_exchange(route, bytes, end - meeting->last);
}

/* ---- which are slow -------------------------------------------------------------------------- */

static bool is_comparable(const struct job_route *a, const struct job_route *b)
{
	return a->is_pair == b->is_pair && a->is_across == b->is_across &&
	       a->n_members == b->n_members && strcmp(a->operation, b->operation) == 0 &&
	       b->n >= FEWEST_EXCHANGES;
}

static void judge_routes(struct job_routes *routes)
{
	double *rates = hwy_array(routes->n, sizeof *rates);
	for (uint32_t i = 0; i < routes->n; i++)
		routes->routes[i].rate =
			(double)routes->routes[i].bytes / ((double)routes->routes[i].ns / 1e9);
	for (uint32_t i = 0; i < routes->n; i++) {
		struct job_route *route = &routes->routes[i];
		uint32_t n = 0;
		for (uint32_t k = 0; k < routes->n; k++)
			if (k != i && is_comparable(route, &routes->routes[k]))
				rates[n++] = routes->routes[k].rate;
		if (n == 0 || route->n < FEWEST_EXCHANGES)
			continue;
		hwy_sort_real(rates, n);
		route->usual = hwy_median_between_real(rates, n);
		route->is_slow = route->rate < SLOW_SHARE * route->usual;
		if (!route->is_slow)
			continue;
		routes->n_slow++;
		route->cost = route->ns - (int64_t)((double)route->bytes / route->usual * 1e9);
	}
	free(rates);
}

static int by_slowness(const void *a, const void *b)
{
	const struct job_route *x = a, *y = b;
	if (x->cost != y->cost)
		return x->cost < y->cost ? 1 : -1;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return x->from != y->from ? (x->from > y->from) - (x->from < y->from)
				  : (x->to > y->to) - (x->to < y->to);
}

bool routes_find(struct job_routes *routes, const struct ranks_member *members, uint32_t n,
		 const struct collectives_rank *ranks, const struct hwy_collectives *c,
		 struct hwy_err *err)
{
	*routes = (struct job_routes){0};
	struct finding_routes f = {.routes = routes, .members = members};
	struct hwy_p2p p2p;
	for (uint32_t r = 0; r < n; r++)
		if (!exchange_need(collectives_trace(&ranks[r]), err))
			return false;
	if (!p2p_match(&p2p, ranks, n, err))
		return false;
	add_pairs(&f, ranks, c, &p2p);
	for (uint32_t i = 0; i < c->n; i++)
		add_meeting(&f, ranks, c, &c->meetings[i]);
	judge_routes(routes);
	if (routes->n > 0)
		qsort(routes->routes, routes->n, sizeof *routes->routes, by_slowness);
	p2p_free(&p2p);
	hwy_index_free(&f.by_key);
	hwy_bytes_free(&f.key);
	return true;
}

void routes_free(struct job_routes *routes)
{
	free(routes->routes);
	hwy_arena_free(&routes->arena);
	*routes = (struct job_routes){0};
}
