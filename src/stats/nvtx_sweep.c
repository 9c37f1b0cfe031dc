/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_sweep.c - see nvtx_sweep.h.
 *
 * One sweep for each thread: its calls and ranges are both in order of start, and the ranges
 * around a call are those that are still open. So time grows with calls times depth, never with
 * calls times ranges.
 */
#include "stats/nvtx_sweep.h"

#include <stdlib.h>

bool nvtx_sweep_open(struct nvtx_sweep *sweep, struct report_run *run, uint32_t kinds,
		     struct hwy_err *err)
{
	uint64_t timed = HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR);
	*sweep = (struct nvtx_sweep){.run = run};
	return hwy_need(run->trace, HWY_KIND_BIT(HWY_API), timed, err) &&
	       hwy_need(run->trace, kinds, timed | HWY_COL_BIT(HWY_NAME), err) &&
	       nvtx_tree_open(&sweep->tree, run, true, err) &&
	       launches_open(&sweep->launches, run, kinds, err);
}

void nvtx_sweep_close(struct nvtx_sweep *sweep)
{
	nvtx_tree_close(&sweep->tree);
	launches_close(&sweep->launches);
	free(sweep->open);
}

static void nvtx_sweep_visit_call(struct nvtx_sweep *sweep, const struct hwy_strip *call,
				  uint32_t row, struct launched work, bool own)
{
	int64_t start = hwy_get(call, HWY_START, row), end = hwy_end(call, row);
	uint32_t kept = 0;
	bool enclosed = false;
	for (uint32_t i = 0; i < sweep->n_open; i++) {
		uint32_t node = sweep->open[i];
		if (sweep->tree.nodes[node].end < start)
			continue;
		sweep->open[kept++] = node;
		if (sweep->tree.nodes[node].end < end)
			continue;
		enclosed = true;
		sweep->take(sweep->self, sweep, node, call, work, own);
	}
	sweep->n_open = kept;
	if (!enclosed)
		sweep->take(sweep->self, sweep, NVTX_NO_NODE, call, work, own);
}

static void nvtx_sweep_visit_thread(struct nvtx_sweep *sweep, const struct hwy_strip *calls)
{
	const struct hwy_trace *trace = sweep->run->trace;
	uint32_t next = 0, last = 0; /* indexes among the nodes of this thread */
	for (uint32_t t = 0; t < sweep->tree.n_threads; t++)
		if (sweep->tree.threads[t].thread == trace->lanes[calls->lane].thread) {
			next = sweep->tree.threads[t].first;
			last = next + sweep->tree.threads[t].n;
		}
	sweep->n_open = 0;
	for (uint32_t row = 0; row < calls->rows; row++) {
		struct launched own = launches_by_call(&sweep->launches, trace, calls, row),
				work = own;
		if (sweep->twice)
			work = launches_by_call_or_twin(&sweep->launches, trace, calls, row);
		if (work.n == 0)
			continue;
		int64_t start = hwy_get(calls, HWY_START, row);
		for (; next < last && sweep->tree.nodes[next].start <= start; next++) {
			HWY_GROW(sweep->open, sweep->n_open, sweep->cap_open);
			sweep->open[sweep->n_open++] = next;
		}
		nvtx_sweep_visit_call(sweep, calls, row, work, own.n > 0);
	}
}

void nvtx_sweep_visit(struct nvtx_sweep *sweep)
{
	const struct hwy_trace *trace = sweep->run->trace;
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if (trace->strips[s].kind == HWY_API)
			nvtx_sweep_visit_thread(sweep, &trace->strips[s]);
}
