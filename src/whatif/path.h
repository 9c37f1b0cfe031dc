/* SPDX-License-Identifier: Apache-2.0 */
/* path.h - the critical path: the one chain of work and waiting that decides how long a step takes.
 *
 * The chain is found backwards from the node that ends the window: each node's begin was decided by
 * one predecessor, the one that was there last. The pieces of the chain tile the window without a
 * gap or an overlap. Every other node has slack: the time by which it could have ended later
 * without moving the window's end.
 */
#ifndef HWY_WHATIF_PATH_H
#define HWY_WHATIF_PATH_H

#include "whatif/replay.h"

enum path_class {
	PATH_CPU,     /* the program's own code between calls */
	PATH_LAUNCH,  /* calls that enqueue work, and the latency until the work begins */
	PATH_CALL,    /* other calls: allocation, module loading, synchronise calls' own work */
	PATH_WAIT,    /* waking up after a wait */
	PATH_COMPUTE, /* kernels, graphs, fills */
	PATH_COMM,    /* communication: kernels, and calls on the CPU */
	PATH_COPY,
	PATH_NEXT,  /* from the end of an op to the begin of the next op on its stream */
	PATH_OTHER, /* a delay that no edge of the graph explains */
	PATH_CLASSES
};
extern const char *const path_class_names[PATH_CLASSES];
/* Yields such a name, perhaps from a file, in the reader's language. */
const char *path_class_word(const char *name);

struct path_piece {
	struct hwy_interval at; /* begin and end of the piece in replayed time, ns */
	uint32_t node;          /* the node that takes this time */
	uint8_t class;          /* enum path_class */
};

struct hwy_path {
	struct path_piece *pieces; /* the pieces of the path, in order of time */
	uint32_t n, cap;
	/* The ns of the path by enum path_class; the values add up to the window. */
	int64_t classes[PATH_CLASSES];
	struct hwy_interval window;
};

/* Finds the critical path from the time 'from' to the end of the node 'last'. */
void path_find(struct hwy_path *path, const struct hwy_graph *graph, const int64_t *ends,
	       uint32_t last, int64_t from);
void path_free(struct hwy_path *path);
/* Visits the pieces of the critical path to 'last', the last piece first, without making a list. */
void path_visit(const struct hwy_graph *graph, const int64_t *ends, uint32_t last, int64_t from,
		void (*visit)(void *user, const struct path_piece *piece), void *user);

/* Sets slack[node], in ns, to how much later each node could end without moving the end of the
 * node 'last'; INT64_MAX where 'last' does not depend on the node. 'slack' has room for graph->n
 * values. */
void path_slack(const struct hwy_graph *graph, const int64_t *ends, uint32_t last, int64_t *slack);

#endif
