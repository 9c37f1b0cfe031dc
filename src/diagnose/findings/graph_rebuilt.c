/* SPDX-License-Identifier: Apache-2.0 */
/* graph_rebuilt.c - a CUDA graph is captured or instantiated inside the loop instead of once.
 *
 * Condition: at least OFTEN_PER_STEP such calls a step. Cost: the idle time that overlaps the
 * building of a graph, from the begin of a capture to its end.
 */
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/say.h"
#include "diagnose/case.h"
#include "diagnose/findings/findings.h"

#define OFTEN_PER_STEP 0.5

static const struct advice fix = {
	.any = "Capture and instantiate once, then only launch; where parameters change, update the executable graph.\n"
	       "  cudaGraphExecUpdate(exec, graph, &info);   // or cudaGraphExecKernelNodeSetParams, not a new instance",
	.by_framework =
		{[HWY_PYTORCH] =
			 "Capture once for each shape and replay; copy new data into the captured input tensors.\n"
			 "  static_x.copy_(x); graph.replay()"},
};

static void finding_graph_rebuilt_look(struct hwy_case *c)
{
	struct claim_stretch *stretches = NULL;
	uint32_t n = 0, cap = 0, captured = 0, instantiated = 0;
	uint32_t open = FLOW_NONE; /* index of the stretch whose capture has not ended yet */
	if (c->counts.calls[HWY_ROLE_GRAPH_BUILD] == 0)
		return;
	for (uint32_t i = c->first_call; i < c->end_call; i++) {
		const struct flow_call *call = &c->flow->calls[i];
		if (call->role != HWY_ROLE_GRAPH_BUILD || !case_call_is_ours(c, i))
			continue;
		const char *name = case_name(c, call->span);
		if (strstr(name, "EndCapture") && open != FLOW_NONE) {
			stretches[open].at.to = call->end;
			open = FLOW_NONE;
			captured++;
			continue;
		}
		instantiated += strstr(name, "Instantiate") != NULL;
		if (open != FLOW_NONE)
			continue;
		HWY_GROW(stretches, n, cap);
		stretches[n] = (struct claim_stretch){{call->start, call->end}, call->span};
		if (strstr(name, "BeginCapture"))
			open = n;
		n++;
	}
	uint32_t built = captured > instantiated ? captured : instantiated;
	struct claim claim = {0};
	claim_stretches(c, &claim, stretches, n, CLAIM_CPU_CAUSES | CLAIM_CAUSE(GAP_DEPENDENCY));
	if (case_count_per_step(c, built) >= OFTEN_PER_STEP && case_is_loop(c) &&
	    claim_is_worth(c, &claim))
		claim_accuse(
			c, &claim, HWY_HIGH,
			hwy_arena_say(
				&c->diagnosis->arena,
				"Graphs are captured or instantiated %s a step; the GPU idles %s of the step "
				"meanwhile.",
				hwy_say_count_times(case_count_per_step(c, built)).text,
				hwy_say_time3(case_per_step(c, claim.total)).text),
			case_advice(c, &fix));
	claim_drop(c, &claim);
	free(stretches);
}

const struct hwy_finding_kind finding_graph_rebuilt = {
	.id = "graph-rebuilt",
	.title = "a graph is built every step",
	.edit = "no-graph-build",
	.look = finding_graph_rebuilt_look,
};
