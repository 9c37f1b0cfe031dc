/* SPDX-License-Identifier: Apache-2.0 */
/* rank_links.h - what joins the graphs of several ranks: who cannot go on before whom has come.
 *
 * A hub is a moment that ranks wait for: all that shall come to it have come. A collective in
 * which all wait for all is one hub; a message is a hub that only its sender comes to, and where
 * the sender was seen to wait for the receiver, a second one the other way round.
 *
 * - A part is a kernel of a collective: it comes to its hub when it begins, and ends when the hub is over and the data
 *   has travelled. Its length follows from the other ranks.
 * - An arrival is a call on the CPU (GRAPH_CALL) that comes to a hub when it begins.
 * - A gate is the end of such a call (GRAPH_LEAVE) that comes after the hub is over.
 *
 * Each rank keeps a graph and a clock of its own. Without edits every node comes out as
 * recorded, to the nanosecond.
 */
#ifndef HWY_WHATIF_RANK_LINKS_H
#define HWY_WHATIF_RANK_LINKS_H

#include "analyze/p2p.h"
#include "base/hash.h"
#include "whatif/graph.h"

struct links_rank {
	struct hwy_graph *graph; /* the delays of its gates are set by links_build */
	/* The flow that the parts of collectives count their ops in; the graph's own may be of
	 * an excerpt. */
	const struct hwy_flow *whole;
	const struct hwy_map *call_of; /* from spans to calls of the graph's flow (comm_calls.h) */
};

struct links_part {
	uint32_t rank, node, hub;
	int64_t shift;  /* ns from the rank's clock to the first rank's */
	int64_t length; /* ns that the kernel took in the recording */
	/* The ns from the moment at which the last rank began the collective to the end of this
	 * part. */
	int64_t transfer;
};

struct links_end { /* an arrival or a gate */
	uint32_t rank, node, hub;
	int64_t shift;
};

struct links {
	uint32_t n, n_hubs;              /* ranks and hubs */
	uint32_t n_meetings, n_messages; /* collectives and messages that became hubs */
	struct links_part *parts;        /* all parts; the parts of one hub are neighbours */
	uint32_t n_parts, cap_parts;
	/* By rank, then by node; those of rank r are [first[r] … first[r + 1] - 1]. */
	struct links_ends {
		struct links_end *items;
		uint32_t n, cap, *first;
	} arrivals, gates;
	/* For each hub the index of its first part; first_part[n_hubs] is n_parts. */
	uint32_t *first_part, cap_first;
	/* part_of[rank][node] is a reference (base/ref.h) to the part that the node is. */
	uint32_t **part_of;
};

struct hub_time {
	int64_t last; /* when the last came, on the first rank's clock; INT64_MIN where none did */
	uint32_t rank, node; /* who that was */
};

struct links_times {
	int64_t **ends;        /* by rank: the replayed ends of the graph's nodes */
	struct hub_time *hubs; /* by hub */
};

/* Joins the graphs of n ranks, for which the collectives and the messages were matched. */
void links_build(struct links *links, const struct links_rank *ranks, uint32_t n,
		 const struct collectives_rank *members, const struct hwy_collectives *c,
		 const struct hwy_p2p *p2p);
void links_free(struct links *links);

/* Replays one graph for each rank. Sets the lengths of the parts' nodes in the graphs. */
struct links_times links_replay(const struct links *links, struct hwy_graph *graphs);
void links_times_free(struct links_times *times, uint32_t n);

/* Yields the rank that the others wait for most, by the unedited graphs, inside a window of the
 * first rank's clock; links->n where no rank is clearly the one. */
uint32_t links_straggler(const struct links *links, struct hwy_graph *const *graphs,
			 struct hwy_interval window);

/* How many nodes do not come out as recorded when the unedited graphs are replayed: 0, or a bug. */
uint32_t links_count_different(const struct links *links, const struct links_rank *ranks);

#endif
