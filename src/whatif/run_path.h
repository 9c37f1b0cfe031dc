/* SPDX-License-Identifier: Apache-2.0 */
/* run_path.h - the critical path of a job: the one chain of work and waiting, across ranks, that
 * decides how long it takes.
 *
 * Found backwards from what ends last. Where a rank left a collective or received a message only
 * because another rank had come late, the path goes on at that rank: so no waiting is on the
 * path, only what made others wait. The pieces tile the window without a gap or an overlap, on
 * the first rank's clock; times are the recorded ones.
 */
#ifndef HWY_WHATIF_RUN_PATH_H
#define HWY_WHATIF_RUN_PATH_H

#include "whatif/path.h"
#include "whatif/run_graphs.h"

struct run_piece {
	struct hwy_interval at; /* on the first rank's clock */
	uint32_t rank;          /* index of the rank whose time it is */
	uint32_t span;          /* id of the call or op in the rank's trace */
	uint8_t class;          /* enum path_class */
};

struct hwy_run_path {
	struct run_piece *pieces; /* in order of time */
	uint32_t n, cap;
	int64_t classes[PATH_CLASSES]; /* ns; the values add up to the window */
	int64_t *by_rank;              /* ns of the path on each rank; they add up to the window */
	uint32_t n_ranks,
		n_crossings; /* crossings: how often the path goes from one rank to another */
	struct hwy_interval window; /* on the first rank's clock */
};

/* Finds the path through a window of the first rank's clock; NULL: through everything that is
 * recorded. False where nothing happens in the window. */
bool run_path_find(struct hwy_run_path *path, const struct run_graphs *run,
		   const struct hwy_interval *window);
void run_path_free(struct hwy_run_path *path);

#endif
