/* SPDX-License-Identifier: Apache-2.0 */
/* flame_tree.c - see flame.h: modules, operators and kernels (tree.h) as a flame. Node i of the
 * tree is node i of the flame. */
#include <stdlib.h>

#include "analyze/flame.h"
#include "base/saturating.h"

/* Adds to the flame those nodes of the tree up to 'node' that it lacks: spans are noted while
 * the tree is still being made. */
static void copy_nodes(struct hwy_flame *flame, const struct hwy_tree *tree, uint32_t node)
{
	while (flame->n <= node) {
		const struct tree_node *from = &tree->nodes[flame->n];
		HWY_GROW(flame->nodes, flame->n, flame->cap);
		flame->nodes[flame->n++] =
			(struct flame_node){.outer = from->outer, .kind = from->kind};
	}
}

static void flame_tree_see(void *self, const struct hwy_tree *tree, uint32_t node, uint32_t span,
			   int64_t start, int64_t ns)
{
	struct flame_filling *filling = self;
	copy_nodes(filling->flame, tree, node);
	flame_note_span(filling, node, span, start, ns);
}

/* Copies names and weights. A node of the tree has the sum over itself and all nodes below it, a
 * node of the flame only its own weight: the sums of the nodes directly below are subtracted. */
static void take_over(struct hwy_flame *flame, const struct hwy_tree *tree)
{
	const struct hwy_owners *o = &tree->owners;
	for (uint32_t i = 0; i < tree->n; i++) {
		const struct tree_node *from = &tree->nodes[i];
		struct flame_node *node = &flame->nodes[i];
		int64_t sums[FLAME_WEIGHTS] = {from->gpu, from->cpu, from->idle};
		struct hwy_text name = o->texts.texts[from->name],
				type = o->texts.texts[from->type];
		node->name = hwy_intern(&flame->texts, name.at, name.length);
		node->place = from->type ? hwy_intern(&flame->texts, type.at, type.length) : 0;
		for (unsigned w = 0; w < FLAME_WEIGHTS; w++) {
			hwy_add_saturating(&node->self[w], sums[w]);
			if (i > 0)
				hwy_add_saturating(&flame->nodes[from->outer].self[w], -sums[w]);
		}
		node->count += from->launches;
		if (i > 0)
			flame->nodes[from->outer].count -= from->launches;
	}
}

bool flame_fill_tree(struct flame_filling *filling, struct hwy_err *err)
{
	const struct flame_options *options = filling->options;
	struct tree_options how = {.by = TREE_BY_MODULE,
				   .merges_layers = true,
				   .device = options->device,
				   .cpu = options->cpu,
				   .lanes = options->lanes.lanes,
				   .threads = options->lanes.threads,
				   .see = flame_tree_see,
				   .self = filling};
	struct hwy_tree tree;
	if (!tree_make(&tree, filling->flow, &how, err))
		return false;
	copy_nodes(filling->flame, &tree, tree.n - 1);
	take_over(filling->flame, &tree);
	tree_free(&tree);
	return true;
}
