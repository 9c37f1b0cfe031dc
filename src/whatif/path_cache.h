/* path_cache.h - the critical paths of a recording, made once and kept in its report.
 *
 * A report carries the paths through the steady steps of its phases as a result (docs/report-format.md); it is
 * written with the report and never later. Whoever asks gets that one, or, where there is none, it is of another
 * version or of other phases (marks that the user named), one made anew. Pieces name spans, not nodes of a graph.
 */
#ifndef HWY_WHATIF_PATH_CACHE_H
#define HWY_WHATIF_PATH_CACHE_H

#include "analyze/phases/phases.h"
#include "whatif/path.h"

struct cached_piece {
	struct hwy_interval at;
	uint32_t span; /* id */
	uint8_t class; /* enum path_class */
};

struct cached_path {                 /* of some steps */
	struct cached_piece *pieces; /* they tile the window; none: the steps have no device work */
	uint32_t n, n_steps;
	struct hwy_interval window;
	int64_t work;  /* of the devices, in the window */
	int64_t slack; /* median slack of the work that is not on the path */
};

struct cached_paths {
	struct cached_path *by_phase; /* parallel to the phases */
	uint32_t n;
};

/* Through the steady steps of every phase. */
bool path_cache_open(struct cached_paths *kept, const struct hwy_flow *flow,
		     const struct hwy_phases *phases, struct hwy_err *err);
void path_cache_close(struct cached_paths *kept);

/* The pieces of one phase's path, the last first: of the report, or made anew without the list. */
bool path_cache_visit(const struct hwy_flow *flow, const struct hwy_phases *phases, uint32_t phase,
		      void (*visit)(void *user, const struct cached_piece *piece), void *user,
		      struct hwy_err *err);

/* Through one step of a phase (from 0), which is not kept. */
bool path_cache_step(struct cached_path *path, const struct hwy_flow *flow,
		     const struct hwy_phase *phase, uint32_t step, struct hwy_err *err);

/* Adds the paths to a trace that is going to be written. A trace that cannot be analysed goes without. */
void path_cache_add(struct hwy_trace *trace);

#endif
