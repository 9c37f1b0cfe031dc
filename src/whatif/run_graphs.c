/* SPDX-License-Identifier: Apache-2.0 */
/* run_graphs.c - see run_graphs.h. */
#include "whatif/run_graphs.h"

#include <stdlib.h>

/* The calls and ops of one rank, with those that communicate, and their graph. */
static bool open_rank(struct run_graphs *run, uint32_t rank, struct hwy_err *err)
{
	const struct collectives_rank *member = &run->members[rank];
	struct hwy_flow *flow = &run->flows[rank];
	struct hwy_interval always = {INT64_MIN, INT64_MAX};
	*flow = *member->flow;
	flow->calls = hwy_copy_array(flow->calls, flow->n_calls, sizeof *flow->calls);
	flow->ops = hwy_copy_array(flow->ops, flow->n_ops, sizeof *flow->ops);
	return comm_calls_add(&run->comm[rank], flow, member->process, &always, err) &&
	       graph_build(&run->graphs[rank], flow, err);
}

static bool join_ranks(struct run_graphs *run, struct hwy_err *err)
{
	struct hwy_p2p p2p;
	if (!collectives_match(&run->collectives, run->members, run->n, err) ||
	    !p2p_match(&p2p, run->members, run->n, err))
		return false;
	struct links_rank *ranks = hwy_array(run->n, sizeof *ranks);
	for (uint32_t r = 0; r < run->n; r++)
		ranks[r] = (struct links_rank){.graph = &run->graphs[r],
					       .whole = run->members[r].flow,
					       .call_of = &run->comm[r].call_of};
	links_build(&run->links, ranks, run->n, run->members, &run->collectives, &p2p);
	run->differ = links_count_different(&run->links, ranks);
	p2p_free(&p2p);
	free(ranks);
	return true;
}

bool run_graphs_open(struct run_graphs *run, const struct collectives_rank *ranks, uint32_t n,
		     struct hwy_err *err)
{
	*run = (struct run_graphs){
		.n = n,
		.flows = hwy_zarray(n, sizeof *run->flows),
		.comm = hwy_zarray(n, sizeof *run->comm),
		.graphs = hwy_zarray(n, sizeof *run->graphs),
		.members = hwy_copy_array(ranks, n, sizeof *ranks),
	};
	bool done = true;
	for (uint32_t r = 0; r < n && done; r++)
		done = open_rank(run, r, err);
	done = done && join_ranks(run, err);
	if (!done)
		run_graphs_close(run);
	return done;
}

void run_graphs_close(struct run_graphs *run)
{
	for (uint32_t r = 0; r < run->n; r++) {
		free(run->flows[r].calls);
		free(run->flows[r].ops);
		comm_calls_free(&run->comm[r]);
		graph_free(&run->graphs[r]);
	}
	free(run->flows);
	free(run->comm);
	free(run->graphs);
	free(run->members);
	collectives_free(&run->collectives);
	links_free(&run->links);
	*run = (struct run_graphs){0};
}
