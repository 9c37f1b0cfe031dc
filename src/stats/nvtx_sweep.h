/* nvtx_sweep.h - every call that enqueued device work, with the ranges around it on its thread. */
#ifndef HWY_STATS_NVTX_SWEEP_H
#define HWY_STATS_NVTX_SWEEP_H

#include "stats/launches.h"
#include "stats/nvtx_tree.h"

struct sweep {
	struct stats_run *run;
	struct nvtx_tree tree;
	struct launches launches;
	bool twice; /* calls that were recorded twice count twice */
	/* 'node' is NO_NODE for a call in no range. */
	void (*take)(void *self, struct sweep *sweep, uint32_t node, const struct hwy_strip *call,
		     struct launched work, bool own);
	void *self;
	uint32_t *open; /* nodes around the current call, and some that have ended */
	uint32_t n_open, cap_open;
};

/* For the device work of these kinds; brings in START, DUR and NAME of it. Close it also after a failure. */
bool sweep_open(struct sweep *sweep, struct stats_run *run, uint32_t kinds, struct hwy_err *err);
void sweep_visit(struct sweep *sweep);
void sweep_close(struct sweep *sweep);

#endif
