/* SPDX-License-Identifier: Apache-2.0 */
/* ingest_nodes.c - the nodes of CUDA graphs: where each was made, and which runs after which.
 *
 * Device work names nodes of an instantiated graph. Such a node is a copy, often of a copy: its
 * thread, time and stack are those of the first original. A copy is also reported as created, by
 * the call that copied it; the copying counts. Edges are recorded for the graph in which they
 * were made, and hold for its copies.
 *
 * A trace gets only nodes that device work refers to, and edges between these: where nodes
 * without device work (empty ones, host functions, events) lie between two of them, one edge
 * stands for the way. A node whose first original was not recorded gets no record: where it was
 * copied says nothing about where it was captured.
 */
#include <stdlib.h>

#include "base/search.h"
#include "ingest/ingest_internal.h"
#include "ingest/python_places.h"
#include "spool/record_frameworks.h"

enum {
	MOST_COPIES = 64,    /* a copy of a copy of … : more generations are damage */
	MOST_VISITED = 4096, /* nodes looked at on the ways that lead to one node */
	/* All searches together look at so many nodes: a spool of a program that went mad must
	 * not keep the reader busy for hours. */
	MOST_STEPS = 1 << 26,
	NO_THREAD = UINT32_MAX,
};

struct node { /* a node of a graph of a process */
	uint64_t id;
	int64_t time;      /* when the node was created, on the trace's clock */
	uint32_t process;  /* index into ingest.processes */
	uint32_t thread;   /* the thread of the trace that created it; NO_THREAD: not recorded */
	uint32_t graph;    /* the vendor's id of the graph */
	uint32_t place;    /* id of the Python stack */
	uint32_t original; /* ref of another node that this one is a copy of */
	uint32_t visit;    /* number of the last search that came by */
	bool is_used;      /* device work refers to it */
};

struct node_edge { /* indexes into ingest_nodes.list: 'node' runs after 'before' */
	uint32_t node, before;
};

struct ingest_nodes {
	struct hwy_index by_id; /* maps a struct node_key to an index into 'list' */
	struct node *list;
	uint32_t n, cap;
	struct node_edge *edges; /* sorted by node when all are read */
	uint32_t n_edges, cap_edges;
	struct hwy_map copies; /* maps an original and a graph (copy_key) to the ref of the copy */
	uint32_t visits;
	uint64_t steps;  /* how many nodes all searches together have looked at */
	uint32_t *found; /* the result of find_before */
	uint32_t n_found, cap_found;
};

struct node_key { /* has no padding, as struct hwy_index asks for */
	uint64_t process, id;
};

static struct ingest_nodes *ingest_nodes_state(struct ingest *in)
{
	if (!in->nodes)
		in->nodes = hwy_zalloc(sizeof *in->nodes);
	return in->nodes;
}

static uint32_t node_index(struct ingest_nodes *nodes, uint32_t process, uint64_t id)
{
	bool fresh;
	struct node_key key = {process, id};
	uint32_t *index = hwy_index_put(&nodes->by_id, &key, sizeof key, &fresh);
	if (fresh) {
		HWY_GROW(nodes->list, nodes->n, nodes->cap);
		nodes->list[nodes->n] =
			(struct node){.id = id, .process = process, .thread = NO_THREAD};
		*index = nodes->n++;
	}
	return *index;
}

/* ---- records --------------------------------------------------------------------------------- */

void ingest_nodes_use(struct ingest *in, uint32_t process, uint64_t id)
{
	struct ingest_nodes *nodes = ingest_nodes_state(in);
	uint32_t index = node_index(nodes, process, id); /* which may move the list */
	nodes->list[index].is_used = true;
}

static uint64_t copy_key(uint32_t original, uint32_t graph)
{
	return (uint64_t)original << 32 | graph;
}

void ingest_nodes_add(struct ingest *in, uint32_t process, uint32_t tid,
		      const struct rec_node *record)
{
	struct ingest_nodes *nodes = ingest_nodes_state(in);
	int64_t time = ingest_moment(in, record->time);
	if (record->node == 0 || time == HWY_NONE)
		return;
	uint32_t index = node_index(nodes, process, record->node);
	if (record->head.flags == REC_NODE_CREATED) {
		struct node *node = &nodes->list[index];
		if (node->thread != NO_THREAD && node->time <= time)
			return;
		node->time = time;
		node->thread = target_thread(in, process, tid);
		node->graph = record->graph;
		node->place = record->place;
		return;
	}
	if (record->other == 0 || record->other == record->node)
		return;
	uint32_t other = node_index(nodes, process, record->other);
	if (record->head.flags == REC_NODE_CLONED) {
		nodes->list[index].original = hwy_ref32(other);
		nodes->list[index].graph = record->graph;
		*hwy_map_put(&nodes->copies, copy_key(other, record->graph), NULL) =
			hwy_ref32(index);
	} else if (record->head.flags == REC_NODE_AFTER) {
		HWY_GROW(nodes->edges, nodes->n_edges, nodes->cap_edges);
		nodes->edges[nodes->n_edges++] = (struct node_edge){index, other};
	}
}

/* ---- where a node was made ------------------------------------------------------------------- */

/* Yields the first original of a node; NULL where it was not recorded how that was made. */
static const struct node *first_original(const struct ingest_nodes *nodes, const struct node *node)
{
	for (int i = 0; hwy_ref32_is_set(node->original); i++) {
		if (i == MOST_COPIES)
			return NULL;
		node = &nodes->list[hwy_ref32_index(node->original)];
	}
	return node->thread == NO_THREAD ? NULL : node;
}

static void add_record(struct ingest *in, const struct node *node)
{
	const struct node *made = first_original(in->nodes, node);
	if (!made)
		return;
	struct ingest_process *process = &in->processes[node->process];
	uint32_t stack = made->place ? python_places_stack(in, process, made->place) : 0;
	uint32_t index = hwy_new_nodes(in->b);
	in->trace->nodes[index] = (struct hwy_node){
		.process = process->record,
		.thread = made->thread,
		.graph = node->graph,
		.node = (int64_t)node->id,
		.time = made->time,
		.stack = stack,
	};
}

/* ---- edges ----------------------------------------------------------------------------------- */

static int nodes_by_node(const void *left, const void *right)
{
	const struct node_edge *a = left, *b = right;
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return a->before < b->before ? -1 : a->before > b->before;
}

/* CUPTI's documentation does not say which of a dependency's two nodes runs first. Nodes of a
 * graph are numbered as they are made, and capturing makes a node after those that it waits for
 * (only cuGraphAddDependencies may do otherwise): what most edges say holds for all. */
static void orient_edges(struct ingest_nodes *nodes)
{
	uint32_t later = 0;
	for (uint32_t i = 0; i < nodes->n_edges; i++)
		later += nodes->list[nodes->edges[i].node].id >
			 nodes->list[nodes->edges[i].before].id;
	if (nodes->n_edges && later < nodes->n_edges - later)
		for (uint32_t i = 0; i < nodes->n_edges; i++)
			nodes->edges[i] =
				(struct node_edge){nodes->edges[i].before, nodes->edges[i].node};
	if (nodes->n_edges)
		qsort(nodes->edges, nodes->n_edges, sizeof *nodes->edges, nodes_by_node);
}

static uint32_t first_edge(const struct ingest_nodes *nodes, uint32_t node)
{
	return HWY_FIRST(i, (uint32_t)0, nodes->n_edges, nodes->edges[i].node >= node);
}

static bool has_edges(const struct ingest_nodes *nodes, uint32_t node)
{
	uint32_t edge = first_edge(nodes, node);
	return edge < nodes->n_edges && nodes->edges[edge].node == node;
}

/* Yields the copy of a node that is 'generations' after it on the way down to 'heir', whose
 * originals lead up to the node's graph; a ref, 0 where there is none. */
static uint32_t copy_beside(const struct ingest_nodes *nodes, uint32_t node, uint32_t heir,
			    int generations)
{
	for (; generations > 0; generations--) {
		uint32_t sibling = heir; /* the ancestor of 'heir' one generation below 'node' */
		for (int i = 1; i < generations; i++)
			sibling = hwy_ref32_index(nodes->list[sibling].original);
		const uint32_t *copy =
			hwy_map_get(&nodes->copies, copy_key(node, nodes->list[sibling].graph));
		if (!copy)
			return HWY_REF_NONE;
		node = hwy_ref32_index(*copy);
	}
	return hwy_ref32(node);
}

/* Appends to 'found' the nodes that stand directly before a node and that this search did not
 * see yet: by its own edges, else by those of the nearest original that has some. */
static void push_before(struct ingest_nodes *nodes, uint32_t node)
{
	uint32_t owner = node;
	int generations = 0;
	while (!has_edges(nodes, owner) && hwy_ref32_is_set(nodes->list[owner].original) &&
	       generations++ < MOST_COPIES)
		owner = hwy_ref32_index(nodes->list[owner].original);
	for (uint32_t i = first_edge(nodes, owner);
	     i < nodes->n_edges && nodes->edges[i].node == owner; i++) {
		uint32_t ref = copy_beside(nodes, nodes->edges[i].before, node, generations);
		if (!hwy_ref32_is_set(ref) ||
		    nodes->list[hwy_ref32_index(ref)].visit == nodes->visits)
			continue;
		nodes->list[hwy_ref32_index(ref)].visit = nodes->visits;
		HWY_GROW(nodes->found, nodes->n_found, nodes->cap_found);
		nodes->found[nodes->n_found++] = hwy_ref32_index(ref);
	}
}

static void add_edges_to(struct ingest *in, uint32_t node)
{
	struct ingest_nodes *nodes = in->nodes;
	nodes->visits++;
	nodes->n_found = 0;
	nodes->list[node].visit = nodes->visits;
	push_before(nodes, node);
	for (uint32_t i = 0; i < nodes->n_found && i < MOST_VISITED && nodes->steps++ < MOST_STEPS;
	     i++) {
		const struct node *before = &nodes->list[nodes->found[i]];
		if (!before->is_used) {
			push_before(nodes, nodes->found[i]);
			continue;
		}
		uint32_t edge = hwy_new_node_edges(in->b);
		in->trace->node_edges[edge] = (struct hwy_node_edge){
			.process = in->processes[before->process].record,
			.graph = nodes->list[node].graph,
			.node = (int64_t)nodes->list[node].id,
			.after = (int64_t)before->id,
		};
	}
}

void ingest_nodes_finish(struct ingest *in)
{
	struct ingest_nodes *nodes = in->nodes;
	if (!nodes)
		return;
	orient_edges(nodes);
	for (uint32_t i = 0; i < nodes->n; i++) {
		if (!nodes->list[i].is_used ||
		    in->processes[nodes->list[i].process].record == UINT32_MAX)
			continue;
		add_record(in, &nodes->list[i]);
		add_edges_to(in, i);
	}
	hwy_index_free(&nodes->by_id);
	hwy_map_free(&nodes->copies);
	free(nodes->list);
	free(nodes->edges);
	free(nodes->found);
	free(nodes);
	in->nodes = NULL;
}
