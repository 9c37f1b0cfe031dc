/* SPDX-License-Identifier: Apache-2.0 */
/* tree_internal.h - what tree.c and tree_path.c share. */
#ifndef HWY_ANALYZE_TREE_INTERNAL_H
#define HWY_ANALYZE_TREE_INTERNAL_H

#include "analyze/tree.h"
#include "base/hash.h"

/* ---- where owners stand in the tree (tree_path.c) -------------------------------------------- */

struct tree_paths {
	struct hwy_tree *tree;
	const struct tree_options *options;
	uint32_t *node_of_module; /* by module of the owners: a reference to its node */
	bool *has_inner;          /* by module: it holds further modules */
	/* By module: a reference to the class of all modules that it holds by numbers;
	 * UINT32_MAX: they have several. */
	uint32_t *type_of_numbered;
	/* By module that Kineto named by its class and a number: its place among those of its
	 * class in the same module, counted from 1, and how many these are; 0 for other modules. */
	uint32_t *ordinal, *siblings;
	struct hwy_map numbers; /* the numbers that were merged into a node: node << 32 | number */
	uint32_t *original;     /* by node: the name of the first module that was merged into it */
	uint32_t cap_original;
};

void tree_paths_open(struct tree_paths *paths, struct hwy_tree *tree,
		     const struct tree_options *options);
/* Gives nodes into which one module only was merged their own names back. */
void tree_paths_close(struct tree_paths *paths);
/* Yields the node that work of this owner lies in: its innermost operator, or what is known
 * instead. */
uint32_t tree_path(struct tree_paths *paths, const struct hwy_owner *owner);

/* Yields the node of a module of the owners; 0 where nothing was put there. */
uint32_t tree_path_of_module(const struct tree_paths *paths, uint32_t module);

/* Yields the inner node of this kind, name and class, which is made where it is new. */
uint32_t tree_put(struct hwy_tree *tree, uint32_t outer, enum tree_kind kind, uint32_t name,
		  uint32_t type);

#endif
