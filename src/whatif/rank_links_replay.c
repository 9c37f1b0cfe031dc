/* SPDX-License-Identifier: Apache-2.0 */
/* rank_links_replay.c - several graphs replayed as one; see rank_links.h.
 *
 * Ranks are replayed in turns: each in its stored order until a node depends on a hub that other
 * ranks have not come to. As the recorded times are consistent, some rank can always go on. An
 * edit could make ranks wait for each other in a circle; then the hub that the first of them
 * waits for ends without the missing ranks.
 */
#include <stdlib.h>

#include "base/ref.h"
#include "whatif/rank_links.h"
#include "whatif/replay.h"

struct hub_state {
	uint32_t missing; /* how many have not come yet */
	bool is_over;
};

struct part_state {
	int64_t begin;   /* when the part begins, in ns on the clock of the part's rank */
	int64_t length;  /* ns that the part's node takes in the edited graph */
	bool is_pending; /* the part has begun, and its hub is not over */
};

/* for each rank the next node, and the next of what belongs to nodes from there on */
struct rank_cursor {
	uint32_t node, extra, arrival, gate;
};

struct replaying {
	const struct links *links;
	struct hwy_graph *graphs;
	struct links_times times;
	struct hub_state *hubs;
	struct part_state *parts;
	struct rank_cursor *at;
};

/* ---- hubs ------------------------------------------------------------------------------------ */

static bool hub_awaits(const struct replaying *r, uint32_t rank, uint32_t node)
{
	const struct hwy_graph *graph = &r->graphs[rank];
	return !graph->is_unwaited && !(graph->nodes[node].flags & GRAPH_ALONE);
}

/* Ends a part whose hub is over: the transfer follows the last arrival, scaled as edits have
 * scaled the part. */
static void end_part(struct replaying *r, uint32_t index)
{
	const struct links_part *part = &r->links->parts[index];
	struct part_state *state = &r->parts[index];
	int64_t transfer = part->transfer, ready = state->begin;
	const struct hub_time *hub = &r->times.hubs[part->hub];
	if (state->length != part->length && part->length > 0)
		transfer = (int64_t)((double)transfer *
				     ((double)state->length / (double)part->length));
	if (hub->last != INT64_MIN && hub->last - part->shift > ready)
		ready = hub->last - part->shift;
	r->graphs[part->rank].nodes[part->node].length = ready + transfer - state->begin;
	r->times.ends[part->rank][part->node] = ready + transfer;
	state->is_pending = false;
}

static void end_hub(struct replaying *r, uint32_t hub)
{
	r->hubs[hub].is_over = true;
	for (uint32_t i = r->links->first_part[hub]; i < r->links->first_part[hub + 1]; i++)
		if (r->parts[i].is_pending)
			end_part(r, i);
}

/* A node comes to a hub at 'time' of the first rank's clock. */
static void come(struct replaying *r, uint32_t hub, uint32_t rank, uint32_t node, int64_t time)
{
	struct hub_time *at = &r->times.hubs[hub];
	if (r->hubs[hub].is_over || !hub_awaits(r, rank, node))
		return;
	if (at->last == INT64_MIN || time > at->last)
		*at = (struct hub_time){time, rank, node};
	if (--r->hubs[hub].missing == 0)
		end_hub(r, hub);
}

/* A rank that waits in a collective has length 0 until the last rank arrives, so that nodes which
 * depend on its begin can already be replayed. */
static void begin_part(struct replaying *r, uint32_t index, int64_t begin)
{
	const struct links_part *part = &r->links->parts[index];
	struct graph_node *node = &r->graphs[part->rank].nodes[part->node];
	r->times.ends[part->rank][part->node] = begin + node->length;
	if (node->flags & GRAPH_ALONE)
		return;
	r->parts[index] = (struct part_state){begin, node->length, true};
	node->length = 0;
	r->times.ends[part->rank][part->node] = begin;
	if (r->hubs[part->hub].is_over)
		end_part(r, index);
	else
		come(r, part->hub, part->rank, part->node, begin + part->shift);
}

static void start_hubs(struct replaying *r)
{
	const struct links *links = r->links;
	for (uint32_t i = 0; i < links->n_hubs; i++)
		r->times.hubs[i].last = INT64_MIN;
	for (uint32_t i = 0; i < links->n_parts; i++)
		r->hubs[links->parts[i].hub].missing +=
			hub_awaits(r, links->parts[i].rank, links->parts[i].node);
	for (uint32_t i = 0; i < links->arrivals.n; i++) {
		const struct links_end *end = &links->arrivals.items[i];
		r->hubs[end->hub].missing += hub_awaits(r, end->rank, end->node);
	}
	/* Nobody is waited for: calls pass at once. Parts wait for none but themselves, as
	 * before they begin. */
	for (uint32_t i = 0; i < links->n_hubs; i++)
		r->hubs[i].is_over = r->hubs[i].missing == 0;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* Whether the end of a node is not known yet because it is a part of *hub, which is not over. */
static bool is_open(const struct replaying *r, uint32_t rank, uint32_t node, uint32_t *hub)
{
	uint32_t part = node == GRAPH_NONE ? HWY_REF_NONE : r->links->part_of[rank][node];
	if (!hwy_ref32_is_set(part) || !r->parts[hwy_ref32_index(part)].is_pending)
		return false;
	*hub = r->links->parts[hwy_ref32_index(part)].hub;
	return true;
}

/* Whether the node is the end of a call that waits for a hub. */
static bool is_shut(const struct replaying *r, uint32_t rank, uint32_t *hub)
{
	const struct links_ends *gates = &r->links->gates;
	const struct rank_cursor *at = &r->at[rank];
	if (r->graphs[rank].nodes[at->node].flags & GRAPH_ALONE)
		return false;
	for (uint32_t i = at->gate; i < gates->first[rank + 1] && gates->items[i].node == at->node;
	     i++) {
		*hub = gates->items[i].hub;
		if (!r->hubs[*hub].is_over)
			return true;
	}
	return false;
}

static bool is_held_up(const struct replaying *r, uint32_t rank, uint32_t *hub)
{
	const struct hwy_graph *graph = &r->graphs[rank];
	const struct rank_cursor *at = &r->at[rank];
	const struct graph_node *node = &graph->nodes[at->node];
	for (int place = 0; place < GRAPH_PLACES; place++)
		if (!graph_counts_from_begin(node, place) &&
		    is_open(r, rank, node->before[place], hub))
			return true;
	for (uint32_t i = at->extra; i < graph->n_extras && graph->extras[i].node == at->node; i++)
		if (is_open(r, rank, graph->extras[i].before, hub))
			return true;
	return is_shut(r, rank, hub);
}

/* When the node's predecessors and gates allow it to begin; moves the cursors over them. */
static int64_t node_ready(struct replaying *r, uint32_t rank)
{
	const struct hwy_graph *graph = &r->graphs[rank];
	const struct links_ends *gates = &r->links->gates;
	struct rank_cursor *at = &r->at[rank];
	const int64_t *ends = r->times.ends[rank];
	bool is_alone = graph->nodes[at->node].flags & GRAPH_ALONE;
	int64_t ready = replay_ready(graph, &graph->nodes[at->node], ends);
	for (; at->extra < graph->n_extras && graph->extras[at->extra].node == at->node;
	     at->extra++) {
		const struct graph_extra *one = &graph->extras[at->extra];
		if (ends[one->before] + one->lag > ready)
			ready = ends[one->before] + one->lag;
	}
	for (; at->gate < gates->first[rank + 1] && gates->items[at->gate].node == at->node;
	     at->gate++) {
		const struct links_end *gate = &gates->items[at->gate];
		int64_t last = r->times.hubs[gate->hub].last;
		if (!is_alone && last != INT64_MIN && last - gate->shift > ready)
			ready = last - gate->shift;
	}
	return ready == INT64_MIN ? 0 : ready;
}

static void replay_node(struct replaying *r, uint32_t rank)
{
	const struct hwy_graph *graph = &r->graphs[rank];
	const struct links_ends *arrivals = &r->links->arrivals;
	struct rank_cursor *at = &r->at[rank];
	int64_t begin = node_ready(r, rank) + graph->nodes[at->node].delay;
	uint32_t part = r->links->part_of[rank][at->node];
	if (hwy_ref32_is_set(part))
		begin_part(r, hwy_ref32_index(part), begin);
	else
		r->times.ends[rank][at->node] = begin + graph->nodes[at->node].length;
	for (; at->arrival < arrivals->first[rank + 1] &&
	       arrivals->items[at->arrival].node == at->node;
	     at->arrival++) {
		const struct links_end *arrival = &arrivals->items[at->arrival];
		come(r, arrival->hub, rank, at->node, begin + arrival->shift);
	}
	at->node++;
}

/* Replays a rank until a node waits for a hub that is not over; *hub becomes that one. */
static void go_on(struct replaying *r, uint32_t rank, uint32_t *hub)
{
	while (r->at[rank].node < r->graphs[rank].n && !is_held_up(r, rank, hub))
		replay_node(r, rank);
}

static void take_turns(struct replaying *r)
{
	for (bool is_done = false; !is_done;) {
		bool moved = false;
		uint32_t stuck = 0, hub = 0;
		is_done = true;
		for (uint32_t rank = 0; rank < r->links->n; rank++) {
			uint32_t from = r->at[rank].node;
			go_on(r, rank, &hub);
			moved |= r->at[rank].node > from;
			if (r->at[rank].node < r->graphs[rank].n && is_done)
				stuck = hub;
			is_done &= r->at[rank].node == r->graphs[rank].n;
		}
		if (!moved && !is_done)
			end_hub(r, stuck);
	}
	/* No node of any rank waits for the hubs that are left: end them. */
	for (uint32_t i = 0; i < r->links->n_hubs; i++)
		if (!r->hubs[i].is_over)
			end_hub(r, i);
}

struct links_times links_replay(const struct links *links, struct hwy_graph *graphs)
{
	struct replaying r = {
		.links = links,
		.graphs = graphs,
		.times = {hwy_array(links->n, sizeof *r.times.ends),
			  hwy_zarray(links->n_hubs, sizeof *r.times.hubs)},
		.hubs = hwy_zarray(links->n_hubs, sizeof *r.hubs),
		.parts = hwy_zarray(links->n_parts, sizeof *r.parts),
		.at = hwy_zarray(links->n, sizeof *r.at),
	};
	for (uint32_t i = 0; i < links->n; i++) {
		r.times.ends[i] = hwy_array(graphs[i].n, sizeof **r.times.ends);
		r.at[i].arrival = links->arrivals.first[i];
		r.at[i].gate = links->gates.first[i];
	}
	start_hubs(&r);
	take_turns(&r);
	free(r.hubs);
	free(r.parts);
	free(r.at);
	return r.times;
}

void links_times_free(struct links_times *times, uint32_t n)
{
	for (uint32_t i = 0; i < n && times->ends; i++)
		free(times->ends[i]);
	free(times->ends);
	free(times->hubs);
	*times = (struct links_times){0};
}

uint32_t links_count_different(const struct links *links, const struct links_rank *ranks)
{
	uint32_t different = 0;
	struct hwy_graph *graphs = hwy_array(links->n, sizeof *graphs);
	for (uint32_t r = 0; r < links->n; r++)
		graphs[r] = graph_copy(ranks[r].graph);
	struct links_times times = links_replay(links, graphs);
	for (uint32_t r = 0; r < links->n; r++) {
		const struct hwy_graph *graph = ranks[r].graph;
		for (uint32_t i = 0; i < graph->n; i++)
			different += times.ends[r][i] !=
				     graph_measured(graph, i) + graph->nodes[i].length;
		graph_free(&graphs[r]);
	}
	links_times_free(&times, links->n);
	free(graphs);
	return different;
}
