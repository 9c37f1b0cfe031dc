/* SPDX-License-Identifier: Apache-2.0 */
/* run_graphs.h - the graphs of all ranks of a run, joined by what they exchange, as recorded.
 *
 * Unlike struct joint it needs no steps and no device work: jobs that only compute on CPUs and
 * call MPI have a graph, too. The recorder's cost is part of the times.
 */
#ifndef HWY_WHATIF_RUN_GRAPHS_H
#define HWY_WHATIF_RUN_GRAPHS_H

#include "whatif/comm_calls.h"
#include "whatif/rank_links.h"

struct run_graphs {
	uint32_t n;
	struct hwy_flow *flows; /* by rank: with the calls that communicate */
	struct comm_calls *comm;
	struct hwy_graph *graphs;
	struct collectives_rank *members;
	struct hwy_collectives collectives;
	struct links links;
	/* Nodes that do not come out as recorded when all are replayed: 0, or a bug. */
	uint32_t differ;
};

/* Every rank must have its flow. Fails where a recording cannot be read; after that there is
 * nothing to close. */
bool run_graphs_open(struct run_graphs *run, const struct collectives_rank *ranks, uint32_t n,
		     struct hwy_err *err);
void run_graphs_close(struct run_graphs *run);

#endif
