/* SPDX-License-Identifier: Apache-2.0 */
/* record_frameworks.h - the records of a spool about PyTorch, Python and the nodes of CUDA
 * graphs; record.h lists their types and says how spools are laid out.
 */
#ifndef HWY_SPOOL_RECORD_FRAMEWORKS_H
#define HWY_SPOOL_RECORD_FRAMEWORKS_H

#include "spool/record.h"

struct rec_operator { /* an operator that ran on the thread whose spool this is */
	struct rec_head head;
	int64_t start, duration;
	/* The number by which a backward operator finds its forward operator; UINT32_MAX: none. */
	uint32_t sequence;
	/* Id of the place from which Python called the operator; 0: not known, or another
	 * operator called it. */
	uint32_t place;
};
static_assert(sizeof(struct rec_operator) == REC_SLOT, "one slot");
/* A REC_OPERATOR of two slots. */
struct rec_operator_inputs {
	struct rec_operator operator;
	/* string id of shapes and types as JSON, as PyTorch's profiler writes them */
	uint32_t inputs;
	/* Of a scope of a library that communicates on threads of its own ("gloo:all_reduce"):
	 * the tid of the thread that began it, which need not be the one that ended it. Such
	 * scopes may overlap. 0: an operator, or another scope. */
	uint32_t thread;
	uint32_t spare[6];
};
static_assert(sizeof(struct rec_operator_inputs) == 2 * REC_SLOT, "two slots");

struct rec_place {
	struct rec_head head;
	uint32_t count; /* how many frames follow, innermost first */
	uint32_t spare;
	struct rec_place_frame {
		uint32_t code;  /* id of the frame's code object (struct rec_code) */
		int32_t offset; /* as in struct rec_frame */
		uint32_t
			layer; /* the nn.Module that this frame calls (struct rec_layer); 0: none */
	} frames[];
};
struct rec_layer {
	struct rec_head head;
	/* String ids: the name of the object's class, and the path to the object from the
	 * outermost module that holds it, as in "GPT.blocks.3.attention"; 0: not known. */
	uint32_t type, path;
	uint64_t spare[2];
};
static_assert(sizeof(struct rec_layer) == REC_SLOT, "one slot");

enum rec_node_event {
	REC_NODE_CREATED, /* 'node' of 'graph' was made, by the thread whose spool this is */
	/* 'node' of 'graph' is a copy of the node 'other' of the graph 'other_graph' */
	REC_NODE_CLONED,
	REC_NODE_AFTER, /* 'node' of 'graph' runs after the node 'other' of the same graph */
};
struct rec_node {
	struct rec_head head; /* head.value: CUPTI's number of the node's type */
	int64_t time;
	uint64_t node, other; /* ids as in struct rec_work */
	uint32_t graph, other_graph;
	uint32_t place; /* id of the place at which Python made the node; 0: not known */
	uint32_t spare[5];
};
static_assert(sizeof(struct rec_node) == 2 * REC_SLOT, "two slots");

struct rec_collection {
	struct rec_head head;
	int64_t start, duration;
	uint32_t collected, uncollectable; /* numbers of objects */
};
static_assert(sizeof(struct rec_collection) == REC_SLOT, "one slot");

#endif
