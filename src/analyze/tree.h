/* SPDX-License-Identifier: Apache-2.0 */
/* tree.h - the GPU's time by who launched it: modules, operators and kernels as a tree.
 *
 * Every piece of device work of a window is in exactly one leaf, so that the leaves' GPU times
 * add up to the durations of all work in the window, to the nanosecond. Inner nodes hold the
 * sums of what is below them. CPU time is the time that operators ran, each moment counted for
 * the innermost operator. Every idle gap of the devices (gaps/gaps.h) is charged to one node: to
 * the operator, the call or the code that the CPU was in, else to who launched the work that
 * ends the gap. The idle time of the root is therefore all idle time of the window.
 */
#ifndef HWY_ANALYZE_TREE_H
#define HWY_ANALYZE_TREE_H

#include "analyze/gaps/gaps.h"
#include "analyze/owners.h"

/* What the upper levels of the tree are. Operators and then kernels follow below in every case. */
enum tree_by {
	TREE_BY_MODULE,   /* modules; work outside of modules by scopes, else by lines */
	TREE_BY_OPERATOR, /* nothing: the tree begins with operators */
	TREE_BY_LINE,     /* lines of the program */
	TREE_BY_SCOPE,    /* scopes: ranges and what users marked */
	TREE_BYS
};
extern const char *const tree_by_names[TREE_BYS + 1]; /* "module", …, NULL */

struct hwy_tree;

enum tree_kind {
	TREE_ROOT,
	TREE_MODULE,
	TREE_SCOPE,
	TREE_LINE,
	TREE_OPERATOR,
	/* Leaves: kernels of one name, copies of one direction, fills, launches of graphs whose
	 * nodes are not recorded. */
	TREE_KERNEL,
	TREE_COPY,
	TREE_FILL,
	TREE_GRAPH,
	TREE_NOTHING, /* what is not inside a module, or has no operator; the name says why */
	TREE_KINDS
};
extern const char *const tree_kind_names[TREE_KINDS]; /* for JSON: "root", "module", … */

struct tree_node {
	uint32_t outer; /* index of the node around this one; the root is its own */
	uint32_t kind;  /* enum tree_kind */
	/* id of a text of tree.owners: "attn", "blocks.*" has the two nodes "blocks" and "*" */
	uint32_t name;
	uint32_t type; /* of modules: id of the text of the class, or 0 */
	/* how many numbered modules, or scopes, are merged into this node; 1: none */
	uint32_t count;
	uint32_t first,
		n; /* the inner nodes: tree.order[first … first + n - 1], those with most GPU time first */
	uint32_t launches;      /* pieces of device work */
	/* Calls that begin in the window: of the operator; of the module, where they were traced;
	 * of the root: those of all operators. 0: none, or not known. */
	uint32_t calls;
	int64_t gpu, cpu, idle; /* ns */
};

struct tree_options {
	enum tree_by by;
	/* Numbered modules of one class side by side are one node where they hold further
	 * modules (the blocks of a transformer), or where there is no other class beside them;
	 * and so are scopes that differ in a number. */
	bool merges_layers;
	/* The windows of device work and of CPU time; HWY_NONE: no limit. */
	struct hwy_interval device, cpu;
	/* By lane: 1 where it is chosen; NULL: all are. Work counts where its lane, or a lane of
	 * the thread that launched it, is chosen; an operator where its lane or another one of
	 * its thread is; idle time where the thread that it is charged to has a chosen lane.
	 * 'threads' has for each thread whether one of its lanes is chosen. */
	const uint8_t *lanes, *threads;
	/* Called for each piece of work and each operator that is counted, with the node and the
	 * ns; may be NULL. */
	void (*see)(void *self, const struct hwy_tree *tree, uint32_t node, uint32_t span,
		    int64_t start, int64_t ns);
	void *self;
};

struct hwy_tree {
	struct hwy_owners owners;
	struct tree_node *nodes; /* nodes[0] is the root */
	uint32_t n;
	uint32_t *order; /* indexes of nodes: see tree_node.first */
	/* The GPU time with an operator, and with a module or a line, in ns. */
	int64_t with_operator, with_place;
	bool has_modules, has_operators;
	/* The rest is for tree*.c. */
	uint32_t cap;
	struct hwy_index by_key;
};

bool tree_make(struct hwy_tree *tree, const struct hwy_flow *flow,
	       const struct tree_options *options, struct hwy_err *err);
void tree_free(struct hwy_tree *tree);

/* What device work is as a leaf: its kind, and *name, which may be written into 'text'. Needs
 * NAME and DIRECTION. */
enum tree_kind tree_leaf(const struct hwy_trace *trace, const struct hwy_strip *strip, uint32_t row,
			 char *text, size_t size, const char **name);
/* A number that work of one leaf's name has in common, and no other. */
uint32_t tree_leaf_code(const struct hwy_strip *strip, uint32_t row);

#endif
