/* SPDX-License-Identifier: Apache-2.0 */
/* excerpt.h - some steady steps of a phase as a flow of their own.
 *
 * Steps repeat, so a prediction needs some hundred of them, not a million: graphs of long
 * recordings are made from an excerpt, and edits cost milliseconds whatever the length of the
 * recording.
 */
#ifndef HWY_WHATIF_EXCERPT_H
#define HWY_WHATIF_EXCERPT_H

#include "analyze/analysis.h"
#include "whatif/comm_calls.h"

struct excerpt {
	/* The calls and ops of the chosen steps; their span ids are those of the whole trace. */
	struct hwy_flow flow;
	struct hwy_phase phase; /* the chosen steps; step.first_call counts in this flow */
	/* Gaps of the chosen steps; only the list is filled in, not the sums. */
	struct hwy_gaps gaps;
	bool is_whole; /* it holds the whole recording */
	struct comm_calls comm;
};

/* True where a graph of the whole recording would make each edit take seconds: such a graph
 * is made only on request. */
bool excerpt_is_large(const struct hwy_flow *flow);
/* Takes as many steady steps as have 'most' calls and ops together, but three at least; where
 * 'window' is given, the steady steps that begin in it. NULL where no excerpt is needed (the
 * recording has no more than 'most' calls and ops, or all steps fit and the recording is not
 * large), and where there are fewer than three steps. */
struct excerpt *excerpt_make(const struct hwy_analysis *analysis, uint32_t phase, uint32_t most,
			     const struct hwy_interval *window);
void excerpt_free(struct excerpt *excerpt);
/* The whole flow with the calls of messages, where there are no steps: neither phase nor gaps.
 * NULL on failure. */
struct excerpt *excerpt_of_run(const struct hwy_flow *flow, uint32_t process, struct hwy_err *err);
/* Adds the calls of a process's messages to an excerpt, or to a copy of the whole recording
 * where *excerpt is NULL; it stays NULL where there are no such calls. */
bool excerpt_add_comm(struct excerpt **excerpt, const struct hwy_analysis *analysis, uint32_t phase,
		      uint32_t process, struct hwy_err *err);

/* The index in 'flow' of an op that was found in another flow of the same trace, or FLOW_NONE. */
uint32_t excerpt_op(const struct hwy_flow *flow, const struct flow_op *op);

#endif
