/* SPDX-License-Identifier: Apache-2.0 */
/* path_cache.h - the critical paths of a recording, made once and kept in its report.
 *
 * A report carries the paths through the steady steps of its phases as a result
 * (docs/report-format.md). The result is written with the report and never later. path_cache_open
 * reads it; where there is none, or it was made by another version or for other phases (marks that
 * the user named), the paths are made anew. Pieces name spans, not nodes of a graph.
 */
#ifndef HWY_WHATIF_PATH_CACHE_H
#define HWY_WHATIF_PATH_CACHE_H

#include "analyze/phases/phases.h"
#include "whatif/path.h"

struct cached_piece {
	struct hwy_interval at;
	uint32_t span; /* id of the call or op that takes this time */
	uint8_t class; /* enum path_class */
};

struct cached_path { /* the critical path through some steps */
	/* The pieces cover the window without gaps; there are none where the steps have no
	 * device work. */
	struct cached_piece *pieces;
	uint32_t n, n_steps;
	struct hwy_interval window;
	int64_t work;  /* ns of device work in the window */
	int64_t slack; /* ns, median slack of the device work that is not on the path */
};

struct cached_paths {
	struct cached_path *by_phase; /* the path of each phase */
	uint32_t n;
};

/* Yields the critical paths through the steady steps of every phase, from the report or made
 * anew. */
bool path_cache_open(struct cached_paths *kept, const struct hwy_flow *flow,
		     const struct hwy_phases *phases, struct hwy_err *err);
void path_cache_close(struct cached_paths *kept);

/* Visits the pieces of one phase's path, the last piece first. Makes no list where the report has
 * none. */
bool path_cache_visit(const struct hwy_flow *flow, const struct hwy_phases *phases, uint32_t phase,
		      void (*visit)(void *user, const struct cached_piece *piece), void *user,
		      struct hwy_err *err);

/* Makes the path through one step of a phase, counted from 0. The caller frees path->pieces. */
bool path_cache_step(struct cached_path *path, const struct hwy_flow *flow,
		     const struct hwy_phase *phase, uint32_t step, struct hwy_err *err);

/* Adds the paths to a trace that is going to be written; does nothing where the trace cannot be
 * analysed. */
void path_cache_add(struct hwy_trace *trace);

#endif
