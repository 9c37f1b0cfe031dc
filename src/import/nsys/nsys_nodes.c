/* SPDX-License-Identifier: Apache-2.0 */
/* nsys_nodes.c - reads where nodes of CUDA graphs were made, from the table
 * CUDA_GRAPH_NODE_EVENTS.
 *
 * Device work names nodes of an instantiated graph, which are copies: a row with
 * originalGraphNodeId says of which node. A copy has a row without it, too, which says when it
 * was copied. The trace gets the thread and time of the first original, for nodes that device
 * work refers to. The export has no edges and no stacks of nodes.
 */
#include <stdlib.h>

#include "import/nsys/nsys.h"

enum { MOST_COPIES = 64 }; /* a copy of a copy of … : more generations are damage */

struct nsys_node {
	int64_t id, time;
	uint32_t process;  /* index into the trace's processes */
	uint32_t thread;   /* ref of the thread that made the node; 0: not recorded */
	uint32_t original; /* ref of the node that this one is a copy of */
	bool is_used;      /* device work refers to it */
};

struct nsys_nodes {
	struct hwy_index by_id; /* maps a struct node_key to an index into 'list' */
	struct nsys_node *list;
	uint32_t n, cap;
};

struct node_key { /* has no padding, as struct hwy_index asks for */
	int64_t process, id;
};

static uint32_t nsys_node_index(struct nsys *n, uint32_t process, int64_t id)
{
	bool fresh;
	struct node_key key = {process, id};
	if (!n->nodes)
		n->nodes = hwy_zalloc(sizeof *n->nodes);
	uint32_t *index = hwy_index_put(&n->nodes->by_id, &key, sizeof key, &fresh);
	if (fresh) {
		HWY_GROW(n->nodes->list, n->nodes->n, n->nodes->cap);
		n->nodes->list[n->nodes->n] = (struct nsys_node){.id = id, .process = process};
		*index = n->nodes->n++;
	}
	return *index;
}

void nsys_nodes_use(struct nsys *n, uint32_t process, int64_t id)
{
	uint32_t index = nsys_node_index(n, process, id); /* which may move the list */
	n->nodes->list[index].is_used = true;
}

static void add_node_event(struct nsys_query *q)
{
	struct nsys *n = q->nsys;
	int64_t id = nsys_int(q, 2), original = nsys_int(q, 3);
	if (id == 0 || nsys_null(q, 1) || !nsys_moment(q))
		return;
	uint32_t thread = nsys_thread(n, nsys_int(q, 1));
	uint32_t process = (uint32_t)n->trace->threads[thread].process;
	uint32_t index = nsys_node_index(n, process, id);
	if (original != 0 && original != id) {
		uint32_t other = nsys_node_index(n, process, original);
		n->nodes->list[index].original = hwy_ref32(other);
		return;
	}
	struct nsys_node *node = &n->nodes->list[index];
	int64_t time = q->row.v[HWY_START];
	if (hwy_ref32_is_set(node->thread) && node->time <= time)
		return;
	node->thread = hwy_ref32(thread);
	node->time = time;
}

static void nsys_add_node(struct nsys *n, const struct nsys_node *node)
{
	const struct nsys_node *made = node;
	for (int i = 0; hwy_ref32_is_set(made->original); i++) {
		if (i == MOST_COPIES)
			return;
		made = &n->nodes->list[hwy_ref32_index(made->original)];
	}
	if (!hwy_ref32_is_set(made->thread))
		return;
	uint32_t index = hwy_new_nodes(n->b);
	n->trace->nodes[index] = (struct hwy_node){
		.process = node->process,
		.thread = hwy_ref32_index(made->thread),
		.graph = HWY_NONE,
		.node = node->id,
		.time = made->time,
		.stack = HWY_REF_NONE,
	};
}

void nsys_read_nodes(struct nsys *n)
{
	if (!n->nodes)
		return;
	nsys_each(n, "CUDA_GRAPH_NODE_EVENTS", "~start globalTid graphNodeId originalGraphNodeId",
		  NULL, add_node_event, NULL);
	for (uint32_t i = 0; i < n->nodes->n; i++)
		if (n->nodes->list[i].is_used)
			nsys_add_node(n, &n->nodes->list[i]);
}

void nsys_nodes_free(struct nsys *n)
{
	if (!n->nodes)
		return;
	hwy_index_free(&n->nodes->by_id);
	free(n->nodes->list);
	free(n->nodes);
	n->nodes = NULL;
}
