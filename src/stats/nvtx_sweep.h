/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_sweep.h - every call that enqueued device work, with the ranges around it on its thread. */
#ifndef HWY_STATS_NVTX_SWEEP_H
#define HWY_STATS_NVTX_SWEEP_H

#include "stats/launches.h"
#include "stats/nvtx_tree.h"

struct nvtx_sweep {
	struct report_run *run;
	struct nvtx_tree tree;
	struct launches launches;
	bool twice; /* set by the caller: visit both records of a call that was recorded twice */
	/* Called for each call with work and each range around it; once with NVTX_NO_NODE for a
	 * call in no range. 'own' is false for the record of a call whose work is linked to the
	 * call's other record. */
	void (*take)(void *self, struct nvtx_sweep *sweep, uint32_t node,
		     const struct hwy_strip *call, struct launched work, bool own);
	void *self;
	/* Nodes that began before the current call; some of these nodes have ended. */
	uint32_t *open;
	uint32_t n_open, cap_open;
};

/* Takes the device work of these kinds and loads its START, DUR and NAME. Close the sweep also
 * after a failure. */
bool nvtx_sweep_open(struct nvtx_sweep *sweep, struct report_run *run, uint32_t kinds,
		     struct hwy_err *err);
/* Hands all calls that enqueued work to sweep->take. */
void nvtx_sweep_visit(struct nvtx_sweep *sweep);
void nvtx_sweep_close(struct nvtx_sweep *sweep);

#endif
