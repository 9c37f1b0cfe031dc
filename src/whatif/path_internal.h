/* SPDX-License-Identifier: Apache-2.0 */
/* path_internal.h - what held a node up, and to which class its time counts: shared by path.c
 * and run_path.c. */
#ifndef HWY_WHATIF_PATH_INTERNAL_H
#define HWY_WHATIF_PATH_INTERNAL_H

#include "whatif/path.h"

struct path_binding {    /* the edge that decided when a node could begin */
	uint32_t before; /* the node that held this node up, or GRAPH_NONE */
	int64_t time;    /* the predecessor's end, or its begin, whichever the edge counts from */
	int64_t lag;     /* ns from 'time' to the begin of the held-up node */
	int place;       /* enum graph_place; GRAPH_PLACES for an extra edge */
};

/* *extras: an index behind the extra edges of the node; it moves back to them. Start with
 * graph->n_extras. */
struct path_binding path_binding_of(const struct hwy_graph *graph, const int64_t *ends,
				    uint32_t index, uint32_t *extras);

enum path_class path_class_of_length(const struct hwy_graph *graph, const struct graph_node *node);
enum path_class path_class_of_lag(const struct graph_node *node, int place);
enum path_class path_class_of_delay(const struct graph_node *node);

#endif
