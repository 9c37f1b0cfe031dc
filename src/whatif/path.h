/* path.h - the critical path: the one chain of work and waiting that decides how long a step takes.
 *
 * Walking back from what ends the window, each node was held up by one predecessor last; the pieces of that
 * chain tile the window without a gap or an overlap. Everything else has slack: so much longer could it have
 * taken without moving the window's end.
 */
#ifndef HWY_WHATIF_PATH_H
#define HWY_WHATIF_PATH_H

#include "whatif/replay.h"

enum path_class {
	PATH_CPU,     /* the program's own code between calls */
	PATH_LAUNCH,  /* calls that enqueue work, and the latency until it begins */
	PATH_CALL,    /* other calls: allocation, module loading, synchronise calls' own work */
	PATH_WAIT,    /* waking up after a wait */
	PATH_COMPUTE, /* kernels, graphs, fills */
	PATH_COMM,
	PATH_COPY,
	PATH_NEXT,  /* from an op to the next on its stream */
	PATH_OTHER, /* nothing known held it up */
	PATH_CLASSES
};
extern const char *const path_class_names[PATH_CLASSES];

struct path_piece {
	struct hwy_interval at; /* replayed time */
	uint32_t node;          /* whose time it is */
	uint8_t class;          /* enum path_class */
};

struct hwy_path {
	struct path_piece *pieces; /* in order of time */
	uint32_t n, cap;
	int64_t classes[PATH_CLASSES]; /* add up to the window */
	struct hwy_interval window;
};

/* The path to the end of 'last', back to 'from'. */
void path_find(struct hwy_path *path, const struct hwy_graph *graph, const int64_t *ends,
	       uint32_t last, int64_t from);
void path_free(struct hwy_path *path);
/* The same, piece by piece and the last first, without the list. */
void path_visit(const struct hwy_graph *graph, const int64_t *ends, uint32_t last, int64_t from,
		void (*visit)(void *user, const struct path_piece *piece), void *user);

/* For every node how much later it could end without moving the end of 'last'; INT64_MAX where nothing that
 * 'last' depends on depends on it. 'slack' has room for graph->n. */
void path_slack(const struct hwy_graph *graph, const int64_t *ends, uint32_t last, int64_t *slack);

#endif
