/* SPDX-License-Identifier: Apache-2.0 */
/* rank_links.c - makes hubs, parts, arrivals and gates of matched collectives and messages; see
 * rank_links.h.
 *
 * A gate whose hub was not over when its call ended contradicts the clocks and is left out. What
 * is left of a call after its own begin and its hubs is the transfer: it becomes the delay of
 * the gate's node.
 */
#include "whatif/rank_links.h"

#include <stdlib.h>

#include "base/ref.h"
#include "whatif/excerpt.h"

/* In a scan over more ranks than this nobody is taken to wait: each rank would wait for all
 * before it. */
enum { MOST_OF_PREFIX = 64 };

struct linking {
	struct links *links;
	const struct links_rank *ranks;
	const struct collectives_rank *members;
	const struct hwy_collectives *c;
	int64_t *hub_times; /* by hub: the last recorded arrival, on the first rank's clock */
	uint32_t cap_hubs;
};

/* ---- nodes of messages ----------------------------------------------------------------------- */

static uint32_t call_of_span(const struct links_rank *rank, int64_t span)
{
	const uint32_t *call = rank->call_of && span != HWY_NONE
				       ? hwy_map_get(rank->call_of, (uint64_t)span)
				       : NULL;
	return call ? *call : FLOW_NONE;
}

static const struct hwy_message *message_at(const struct linking *l, uint32_t rank, uint32_t index)
{
	return &collectives_trace(&l->members[rank])->messages[index];
}

/* Where the rank comes: the begin of the call that asks; GRAPH_NONE where the graph lacks it. */
static uint32_t node_of_arrival(const struct linking *l, uint32_t rank, uint32_t message)
{
	uint32_t call = call_of_span(&l->ranks[rank], message_at(l, rank, message)->span);
	return call == FLOW_NONE ? GRAPH_NONE : graph_call(l->ranks[rank].graph, call);
}

/* Where the rank leaves: the end of the call that waits. */
static uint32_t node_of_gate(const struct linking *l, uint32_t rank, uint32_t message)
{
	const struct hwy_message *m = message_at(l, rank, message);
	uint32_t call = call_of_span(&l->ranks[rank], m->done != HWY_NONE ? m->done : m->span);
	return call == FLOW_NONE ? GRAPH_NONE : graph_leave(l->ranks[rank].graph, call);
}

static int64_t shift_at(const struct linking *l, uint32_t rank, int64_t time)
{
	const struct exchange_clock *clock = l->members[rank].clock;
	return clock ? clock->map(clock->user, time) - time : l->c->shift[rank];
}

static struct links_end end_at(const struct linking *l, uint32_t rank, uint32_t node, uint32_t hub)
{
	return (struct links_end){rank, node, hub,
				  shift_at(l, rank, graph_measured(l->ranks[rank].graph, node))};
}

static int64_t time_of_end(const struct linking *l, const struct links_end *end)
{
	return graph_measured(l->ranks[end->rank].graph, end->node) + end->shift;
}

/* ---- hubs ------------------------------------------------------------------------------------ */

static uint32_t new_hub(struct linking *l)
{
	struct links *links = l->links;
	HWY_GROW(links->first_part, links->n_hubs, links->cap_first);
	HWY_GROW(l->hub_times, links->n_hubs, l->cap_hubs);
	links->first_part[links->n_hubs] = links->n_parts;
	l->hub_times[links->n_hubs] = INT64_MIN;
	return links->n_hubs++;
}

static void add_arrival(struct linking *l, uint32_t rank, uint32_t message, uint32_t hub)
{
	struct links_ends *arrivals = &l->links->arrivals;
	uint32_t node = node_of_arrival(l, rank, message);
	if (node == GRAPH_NONE)
		return;
	struct links_end end = end_at(l, rank, node, hub);
	int64_t time = time_of_end(l, &end);
	l->hub_times[hub] = time > l->hub_times[hub] ? time : l->hub_times[hub];
	HWY_GROW(arrivals->items, arrivals->n, arrivals->cap);
	arrivals->items[arrivals->n++] = end;
}

/* Adds a gate of a hub that has all of its arrivals. */
static void add_gate(struct linking *l, uint32_t rank, uint32_t message, uint32_t hub)
{
	struct links_ends *gates = &l->links->gates;
	uint32_t node = node_of_gate(l, rank, message);
	if (node == GRAPH_NONE)
		return;
	struct links_end end = end_at(l, rank, node, hub);
	if (time_of_end(l, &end) <= l->hub_times[hub])
		return;
	HWY_GROW(gates->items, gates->n, gates->cap);
	gates->items[gates->n++] = end;
}

/* ---- collectives ----------------------------------------------------------------------------- */

static void add_parts(struct linking *l, const struct hwy_meeting *meeting)
{
	struct links *links = l->links;
	uint32_t first = links->n_parts;
	int64_t last = INT64_MIN;
	for (uint32_t i = meeting->first; i < meeting->first + meeting->n; i++) {
		const struct meeting_part *from = &l->c->parts[i];
		const struct links_rank *rank = &l->ranks[from->rank];
		uint32_t op = excerpt_op(rank->graph->flow, &rank->whole->ops[from->op]);
		uint32_t node = op == FLOW_NONE ? GRAPH_NONE : graph_op(rank->graph, op);
		if (node == GRAPH_NONE || hwy_ref32_is_set(links->part_of[from->rank][node]))
			continue;
		int64_t begin = from->at.from + from->shift;
		last = begin > last ? begin : last;
		HWY_GROW(links->parts, links->n_parts, links->cap_parts);
		links->parts[links->n_parts++] =
			(struct links_part){.rank = from->rank,
					    .node = node,
					    .hub = links->n_hubs,
					    .shift = from->shift,
					    .length = from->at.to - from->at.from,
					    .transfer = from->at.to + from->shift};
	}
	if (links->n_parts - first < 2) {
		links->n_parts = first;
		return;
	}
	uint32_t hub = new_hub(l);
	links->first_part[hub] = first;
	for (uint32_t i = first; i < links->n_parts; i++) {
		struct links_part *part = &links->parts[i];
		part->transfer -= last;
		links->part_of[part->rank][part->node] = hwy_ref32(i);
	}
	links->n_meetings++;
}

/* One hub. Without a root all come to it and all wait for it; with one, only the root comes and
 * the others wait, or the other way round. */
static void link_calls(struct linking *l, const struct hwy_meeting *meeting)
{
	uint32_t hub = new_hub(l), end = meeting->first + meeting->n;
	for (uint32_t i = meeting->first; i < end; i++) {
		const struct meeting_part *part = &l->c->parts[i];
		bool comes = meeting->kind == EXCHANGE_ALL ||
			     (meeting->kind == EXCHANGE_FROM_ROOT) == (i == meeting->root);
		if (comes && part->message != FLOW_NONE)
			add_arrival(l, part->rank, part->message, hub);
	}
	for (uint32_t i = meeting->first; i < end; i++) {
		const struct meeting_part *part = &l->c->parts[i];
		bool leaves = meeting->kind == EXCHANGE_ALL ||
			      (meeting->kind == EXCHANGE_TO_ROOT) == (i == meeting->root);
		if (leaves && part->message != FLOW_NONE)
			add_gate(l, part->rank, part->message, hub);
	}
}

static void add_prefix(struct linking *l, const struct hwy_meeting *meeting)
{
	for (uint32_t i = 1; i < meeting->n && meeting->n <= MOST_OF_PREFIX; i++) {
		uint32_t hub = new_hub(l);
		const struct meeting_part *parts = &l->c->parts[meeting->first];
		for (uint32_t before = 0; before < i; before++)
			add_arrival(l, parts[before].rank, parts[before].message, hub);
		add_gate(l, parts[i].rank, parts[i].message, hub);
	}
}

static void add_meeting(struct linking *l, const struct hwy_meeting *meeting)
{
	bool has_kernels = true;
	for (uint32_t i = meeting->first; i < meeting->first + meeting->n; i++)
		has_kernels &= l->c->parts[i].op != FLOW_NONE;
	if (has_kernels) {
		add_parts(l, meeting);
		return;
	}
	uint32_t gates = l->links->gates.n;
	switch (meeting->kind) {
	case EXCHANGE_ALL: link_calls(l, meeting); break;
	case EXCHANGE_FROM_ROOT:
	case EXCHANGE_TO_ROOT:
		if (meeting->root != FLOW_NONE)
			link_calls(l, meeting);
		break;
	case EXCHANGE_PREFIX: add_prefix(l, meeting); break;
	default: break;
	}
	l->links->n_meetings += l->links->gates.n > gates;
}

/* ---- messages -------------------------------------------------------------------------------- */

static int64_t common_time(const struct linking *l, uint32_t rank, int64_t time)
{
	return time + shift_at(l, rank, time);
}

/* Whether the send was seen to wait for its receive: it began before and ended after that was
 * asked for. */
static bool send_waited(const struct linking *l, const struct p2p_pair *pair)
{
	struct exchange_times send = exchange_times(collectives_trace(&l->members[pair->sender]),
						    message_at(l, pair->sender, pair->send));
	struct exchange_times receive =
		exchange_times(collectives_trace(&l->members[pair->receiver]),
			       message_at(l, pair->receiver, pair->receive));
	int64_t asked = common_time(l, pair->receiver, receive.post);
	return common_time(l, pair->sender, send.call.from) < asked &&
	       asked < common_time(l, pair->sender, send.call.to);
}

static void add_pair(struct linking *l, const struct p2p_pair *pair)
{
	if (pair->sender == pair->receiver)
		return;
	uint32_t gates = l->links->gates.n, hub = new_hub(l);
	add_arrival(l, pair->sender, pair->send, hub);
	add_gate(l, pair->receiver, pair->receive, hub);
	if (send_waited(l, pair)) {
		hub = new_hub(l);
		add_arrival(l, pair->receiver, pair->receive, hub);
		add_gate(l, pair->sender, pair->send, hub);
	}
	l->links->n_messages += l->links->gates.n > gates;
}

/* ---- all ------------------------------------------------------------------------------------- */

static int by_rank_and_node(const void *a, const void *b)
{
	const struct links_end *x = a, *y = b;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return (x->hub > y->hub) - (x->hub < y->hub);
}

static void sort_ends(struct links_ends *ends, uint32_t n)
{
	if (ends->n > 0)
		qsort(ends->items, ends->n, sizeof *ends->items, by_rank_and_node);
	ends->first = hwy_array((size_t)n + 1, sizeof *ends->first);
	uint32_t at = 0;
	for (uint32_t r = 0; r <= n; r++) {
		while (at < ends->n && ends->items[at].rank < r)
			at++;
		ends->first[r] = at;
	}
}

/* Sets the delay of each gate's node to what is left of its call after its hubs. */
static void set_transfers(struct linking *l)
{
	const struct links_ends *gates = &l->links->gates;
	for (uint32_t i = 0, next; i < gates->n; i = next) {
		const struct links_end *gate = &gates->items[i];
		struct hwy_graph *graph = l->ranks[gate->rank].graph;
		struct graph_node *node = &graph->nodes[gate->node];
		int64_t end = graph_measured(graph, gate->node), ready = end - node->delay;
		for (next = i; next < gates->n && gates->items[next].rank == gate->rank &&
			       gates->items[next].node == gate->node;
		     next++) {
			const struct links_end *one = &gates->items[next];
			int64_t over = l->hub_times[one->hub];
			if (over != INT64_MIN && over - one->shift > ready)
				ready = over - one->shift;
		}
		node->delay = end - ready;
	}
}

void links_build(struct links *links, const struct links_rank *ranks, uint32_t n,
		 const struct collectives_rank *members, const struct hwy_collectives *c,
		 const struct hwy_p2p *p2p)
{
	*links = (struct links){.n = n, .part_of = hwy_array(n, sizeof *links->part_of)};
	struct linking l = {.links = links, .ranks = ranks, .members = members, .c = c};
	for (uint32_t r = 0; r < n; r++)
		links->part_of[r] = hwy_zarray(ranks[r].graph->n, sizeof **links->part_of);
	for (uint32_t i = 0; i < c->n; i++)
		add_meeting(&l, &c->meetings[i]);
	for (uint32_t i = 0; i < p2p->n; i++)
		add_pair(&l, &p2p->pairs[i]);
	HWY_GROW(links->first_part, links->n_hubs, links->cap_first);
	links->first_part[links->n_hubs] = links->n_parts;
	sort_ends(&links->arrivals, n);
	sort_ends(&links->gates, n);
	if (l.hub_times)
		set_transfers(&l);
	free(l.hub_times);
}

void links_free(struct links *links)
{
	for (uint32_t r = 0; r < links->n && links->part_of; r++)
		free(links->part_of[r]);
	free(links->part_of);
	free(links->parts);
	free(links->first_part);
	free(links->arrivals.items);
	free(links->arrivals.first);
	free(links->gates.items);
	free(links->gates.first);
	*links = (struct links){0};
}
