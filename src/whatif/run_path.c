/* SPDX-License-Identifier: Apache-2.0 */
/* run_path.c - see run_path.h.
 *
 * A step of the walk stands at the begin or at the end of a node and looks for what decided that
 * moment: the node's own length, an edge of the rank's graph, or a hub (rank_links.h), from
 * where the walk goes on at the begin of the node that came to the hub last.
 */
#include "whatif/run_path.h"

#include <stdlib.h>

#include "base/ref.h"
#include "base/search.h"
#include "whatif/path_internal.h"

struct run_walk {
	struct hwy_run_path *path;
	const struct run_graphs *run;
	struct hwy_graph *graphs; /* copies, with the replayed lengths of parts */
	struct links_times times;
	int64_t from;
};

struct walk_place {
	uint32_t rank, node;
	bool is_begin; /* the walk stands at the node's begin, else at its end */
};

static int64_t run_path_shift(const struct run_walk *walk, uint32_t rank, int64_t time)
{
	const struct exchange_clock *clock = walk->run->members[rank].clock;
	return clock ? clock->map(clock->user, time) - time : walk->run->collectives.shift[rank];
}

static int64_t on_first_clock(const struct run_walk *walk, uint32_t rank, int64_t time)
{
	return time + run_path_shift(walk, rank, time);
}

/* Adds the piece of a node from 'begin' to *to, times of the first rank's clock; *to becomes the
 * piece's begin. False once the window's begin is reached. */
static bool put_piece(struct run_walk *walk, const struct walk_place *at, int64_t begin,
		      enum path_class class, int64_t *to)
{
	struct hwy_run_path *path = walk->path;
	const struct hwy_flow *flow = walk->graphs[at->rank].flow;
	const struct graph_node *node = &walk->graphs[at->rank].nodes[at->node];
	begin = begin > walk->from ? begin : walk->from;
	if (begin < *to) {
		HWY_GROW(path->pieces, path->n, path->cap);
		path->pieces[path->n++] = (struct run_piece){
			.at = {begin, *to},
			.rank = at->rank,
			.span = node->kind == GRAPH_OP ? flow->ops[node->flow_index].span
						       : flow->calls[node->flow_index].span,
			.class = (uint8_t) class,
		};
		path->classes[class] += *to - begin;
		path->by_rank[at->rank] += *to - begin;
		*to = begin;
	}
	return *to > walk->from;
}

/* Goes over to who came last to a hub, if that is later than 'ready', a time of the rank. What
 * is left of the node after that moment is transfer. */
static bool cross(struct run_walk *walk, struct walk_place *at, uint32_t hub, int64_t shift,
		  int64_t ready, int64_t *to, bool *goes_on)
{
	const struct hub_time *time = &walk->times.hubs[hub];
	if (time->last == INT64_MIN || time->last - shift <= ready || time->rank == at->rank)
		return false;
	*goes_on = put_piece(walk, at, time->last, PATH_COMM, to);
	*at = (struct walk_place){time->rank, time->node, true};
	walk->path->n_crossings++;
	return true;
}

/* At the end of a kernel that is part of a collective. */
static bool cross_from_part(struct run_walk *walk, struct walk_place *at, int64_t *to,
			    bool *goes_on)
{
	const struct links *links = &walk->run->links;
	uint32_t part = links->part_of[at->rank][at->node];
	if (at->is_begin || !hwy_ref32_is_set(part))
		return false;
	const struct links_part *one = &links->parts[hwy_ref32_index(part)];
	int64_t begin = replay_begin(&walk->graphs[at->rank], walk->times.ends[at->rank], at->node);
	return cross(walk, at, one->hub, one->shift, begin, to, goes_on);
}

/* At the begin of a node, which is the end of a call where it is a gate: 'ready' is when the
 * rank itself was. */
static bool cross_from_gate(struct run_walk *walk, struct walk_place *at, int64_t ready,
			    int64_t *to, bool *goes_on)
{
	const struct links_ends *gates = &walk->run->links.gates;
	uint32_t first = gates->first[at->rank], end = gates->first[at->rank + 1], last = end;
	int64_t latest = INT64_MIN;
	for (uint32_t i = HWY_FIRST(k, first, end, gates->items[k].node >= at->node);
	     i < end && gates->items[i].node == at->node; i++) {
		int64_t over = walk->times.hubs[gates->items[i].hub].last;
		if (over != INT64_MIN && over - gates->items[i].shift > latest) {
			latest = over - gates->items[i].shift;
			last = i;
		}
	}
	return last < end && cross(walk, at, gates->items[last].hub, gates->items[last].shift,
				   ready, to, goes_on);
}

static uint32_t extras_behind(const struct hwy_graph *graph, uint32_t node)
{
	return HWY_FIRST(i, 0, graph->n_extras, graph->extras[i].node > node);
}

/* One step back in time; false where the path begins here or the window does. */
static bool walk_on(struct run_walk *walk, struct walk_place *at, int64_t *to)
{
	const struct hwy_graph *graph = &walk->graphs[at->rank];
	const struct graph_node *node = &graph->nodes[at->node];
	const int64_t *ends = walk->times.ends[at->rank];
	int64_t begin = replay_begin(graph, ends, at->node);
	bool goes_on = true;
	if (cross_from_part(walk, at, to, &goes_on))
		return goes_on;
	if (!at->is_begin && !put_piece(walk, at, on_first_clock(walk, at->rank, begin),
					path_class_of_length(graph, node), to))
		return false;
	uint32_t extras = extras_behind(graph, at->node);
	struct path_binding by = path_binding_of(graph, ends, at->node, &extras);
	int64_t ready = by.before == GRAPH_NONE ? INT64_MIN : by.time + by.lag;
	if (cross_from_gate(walk, at, ready, to, &goes_on))
		return goes_on;
	if (by.before == GRAPH_NONE) /* nothing is recorded before it */
		return false;
	if (!put_piece(walk, at, on_first_clock(walk, at->rank, ready), path_class_of_delay(node),
		       to) ||
	    !put_piece(walk, at, on_first_clock(walk, at->rank, by.time),
		       path_class_of_lag(node, by.place), to))
		return false;
	bool from_begin = by.place < GRAPH_PLACES && graph_counts_from_begin(node, by.place);
	*at = (struct walk_place){at->rank, by.before, from_begin};
	return true;
}

/* The node that ends last of all ranks, not after 'until' of the first rank's clock; false where
 * there is none. */
static bool find_last(const struct run_walk *walk, int64_t until, struct walk_place *last,
		      int64_t *time)
{
	bool found = false;
	for (uint32_t r = 0; r < walk->run->n; r++)
		for (uint32_t i = 0; i < walk->graphs[r].n; i++) {
			int64_t end = on_first_clock(walk, r, walk->times.ends[r][i]);
			if (end > until || (found && end <= *time))
				continue;
			found = true;
			*time = end;
			*last = (struct walk_place){.rank = r, .node = i};
		}
	return found;
}

static int64_t find_first(const struct run_walk *walk)
{
	int64_t first = INT64_MAX;
	for (uint32_t r = 0; r < walk->run->n; r++)
		for (uint32_t i = 0; i < walk->graphs[r].n; i++) {
			int64_t begin = on_first_clock(
				walk, r, replay_begin(&walk->graphs[r], walk->times.ends[r], i));
			first = begin < first ? begin : first;
		}
	return first;
}

static void turn_pieces(struct hwy_run_path *path)
{
	for (uint32_t i = 0, j = path->n; i + 1 < j; i++) {
		struct run_piece piece = path->pieces[i];
		path->pieces[i] = path->pieces[--j];
		path->pieces[j] = piece;
	}
}

static bool walk_back(struct run_walk *walk, const struct hwy_interval *window)
{
	struct walk_place at;
	int64_t to, first = find_first(walk);
	if (!find_last(walk, window ? window->to : INT64_MAX, &at, &to))
		return false;
	walk->from = window && window->from > first ? window->from : first;
	if (to <= walk->from)
		return false;
	walk->path->window = (struct hwy_interval){walk->from, to};
	uint64_t steps = 0;
	for (uint32_t r = 0; r < walk->run->n; r++)
		steps += 4 * (uint64_t)walk->graphs[r].n;
	/* The walk goes back in time, so it ends; the count makes that true for damaged
	 * recordings as well. */
	while (steps-- > 0 && walk_on(walk, &at, &to))
		;
	if (to >
	    walk->from) { /* the first thing on the path began after the first thing recorded */
		const struct graph_node *node = &walk->graphs[at.rank].nodes[at.node];
		put_piece(walk, &at, walk->from, path_class_of_delay(node), &to);
	}
	turn_pieces(walk->path);
	return true;
}

bool run_path_find(struct hwy_run_path *path, const struct run_graphs *run,
		   const struct hwy_interval *window)
{
	*path = (struct hwy_run_path){.by_rank = hwy_zarray(run->n, sizeof *path->by_rank),
				      .n_ranks = run->n};
	struct run_walk walk = {
		.path = path, .run = run, .graphs = hwy_array(run->n, sizeof *walk.graphs)};
	for (uint32_t r = 0; r < run->n; r++)
		walk.graphs[r] = graph_copy(&run->graphs[r]);
	walk.times = links_replay(&run->links, walk.graphs);
	bool found = walk_back(&walk, window);
	links_times_free(&walk.times, run->n);
	for (uint32_t r = 0; r < run->n; r++)
		graph_free(&walk.graphs[r]);
	free(walk.graphs);
	if (!found)
		run_path_free(path);
	return found;
}

void run_path_free(struct hwy_run_path *path)
{
	free(path->pieces);
	free(path->by_rank);
	*path = (struct hwy_run_path){0};
}
