/* SPDX-License-Identifier: Apache-2.0 */
/* rank_links_blame.c - which rank the others wait for most; see rank_links.h.
 *
 * Of every hub the rank that comes last is to blame for what the others wait there. A rank that
 * waited itself passes its lateness on: in a ring everybody waits for a neighbour, who waits for
 * the one that is late. So what a rank waits is taken from what it is blamed for, and who has
 * most left is the straggler.
 */
#include <stdlib.h>

#include "whatif/rank_links.h"

/* A straggler is clear where it is blamed for so many times as much as the next rank. */
#define CLEAR_TIMES 2

struct blamed {
	const struct links_times *times;
	struct hwy_interval window; /* on the first rank's clock: hubs outside of it do not count */
	int64_t *ns; /* by rank: what others wait for it, less what it waits itself */
};

/* A rank came to a hub, or to the call that waits for it, at 'came' of the first rank's clock. */
static void blame_hub(struct blamed *b, uint32_t hub, uint32_t rank, int64_t came)
{
	const struct hub_time *over = &b->times->hubs[hub];
	if (over->last < b->window.from || over->last > b->window.to || over->rank == rank ||
	    over->last <= came)
		return;
	b->ns[over->rank] += over->last - came;
	b->ns[rank] -= over->last - came;
}

static uint32_t clear_one(const int64_t *ns, uint32_t n)
{
	uint32_t first = n, next = n;
	for (uint32_t r = 0; r < n; r++) {
		if (first == n || ns[r] > ns[first]) {
			next = first;
			first = r;
		} else if (next == n || ns[r] > ns[next]) {
			next = r;
		}
	}
	bool is_clear = next < n && ns[first] > 0 && ns[first] / CLEAR_TIMES >= ns[next];
	return is_clear ? first : n;
}

uint32_t links_straggler(const struct links *links, struct hwy_graph *const *graphs,
			 struct hwy_interval window)
{
	struct hwy_graph *copies = hwy_array(links->n, sizeof *copies);
	for (uint32_t r = 0; r < links->n; r++)
		copies[r] = graph_copy(graphs[r]);
	struct links_times times = links_replay(links, copies);
	struct blamed b = {&times, window, hwy_zarray(links->n, sizeof *b.ns)};
	for (uint32_t i = 0; i < links->n_parts; i++) {
		const struct links_part *part = &links->parts[i];
		int64_t begin = graph_measured(graphs[part->rank], part->node);
		blame_hub(&b, part->hub, part->rank, begin + part->shift);
	}
	for (uint32_t i = 0; i < links->gates.n; i++) {
		const struct links_end *gate = &links->gates.items[i];
		const struct hwy_graph *graph = graphs[gate->rank];
		uint32_t call = graph_call(graph, graph->nodes[gate->node].flow_index);
		blame_hub(&b, gate->hub, gate->rank, graph_measured(graph, call) + gate->shift);
	}
	uint32_t late = clear_one(b.ns, links->n);
	links_times_free(&times, links->n);
	for (uint32_t r = 0; r < links->n; r++)
		graph_free(&copies[r]);
	free(copies);
	free(b.ns);
	return late;
}
