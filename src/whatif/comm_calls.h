/* SPDX-License-Identifier: Apache-2.0 */
/* comm_calls.h - the calls on the CPU in which ranks exchange messages, as calls of a flow.
 *
 * The flow of an analysis has the vendor's calls only. A graph that joins ranks needs the calls
 * of MPI and gloo among them: what the thread does next waits for their ends, and other ranks
 * wait for their begins. The calls added here have the role HWY_ROLE_COMM and block;
 * graph_is_comm_call tells them.
 */
#ifndef HWY_WHATIF_COMM_CALLS_H
#define HWY_WHATIF_COMM_CALLS_H

#include "analyze/flow.h"
#include "base/hash.h"

struct comm_calls {
	struct hwy_map call_of; /* from a span's id to its call in the flow */
	/* For each call of the flow before, and for the number of calls, its index now; NULL
	 * where nothing was added. */
	uint32_t *moved;
	uint32_t n; /* how many calls were added */
};

/* Adds the calls of the messages of one process (FLOW_NO_PROCESS: of all) that begin inside the
 * window. The flow's calls and ops must be the caller's own: calls are replaced, and ops
 * renumber their calls. */
bool comm_calls_add(struct comm_calls *comm, struct hwy_flow *flow, uint32_t process,
		    const struct hwy_interval *window, struct hwy_err *err);
void comm_calls_free(struct comm_calls *comm);

#endif
