/* SPDX-License-Identifier: Apache-2.0 */
/* flame.c - see flame.h: the trie itself, its sums and its pruning. */
#include "analyze/flame.h"

#include <stdlib.h>
#include <string.h>

#include "base/ref.h"
#include "base/saturating.h"

const char *const flame_kind_names[FLAME_KINDS + 1] = {
	[FLAME_SAMPLES] = "samples",
	[FLAME_OPERATORS] = "operators",
	[FLAME_STACKS] = "stacks",
};

const char *const flame_weight_names[FLAME_KINDS][FLAME_WEIGHTS] = {
	[FLAME_SAMPLES] = {"samples", "period"},
	[FLAME_OPERATORS] = {"gpu", "cpu", "idle"},
	[FLAME_STACKS] = {"gpu"},
};

/* ---- nodes ----------------------------------------------------------------------------------- */

uint32_t flame_put(struct hwy_flame *flame, uint32_t outer, enum flame_node_kind kind,
		   uint32_t name, uint32_t place)
{
	uint32_t key[4] = {outer, kind, name, place};
	bool fresh;
	uint32_t *number = hwy_index_put(&flame->by_key, key, sizeof key, &fresh);
	if (fresh) {
		HWY_GROW(flame->nodes, flame->n, flame->cap);
		*number = flame->n;
		flame->nodes[flame->n++] = (struct flame_node){
			.outer = outer, .kind = kind, .name = name, .place = place};
	}
	return *number;
}

bool flame_wants(const struct flame_filling *filling, uint32_t lane, int64_t thread)
{
	const struct flame_lanes *chosen = &filling->options->lanes;
	return !chosen->lanes || chosen->lanes[lane] ||
	       (thread >= 0 && thread < filling->trace->n_threads && chosen->threads[thread]);
}

/* ---- spans of a node ------------------------------------------------------------------------- */

static bool flame_is_below(const struct hwy_flame *flame, uint32_t node, uint32_t outer)
{
	while (node > outer)
		node = flame->nodes[node].outer;
	return node == outer;
}

/* Keeps a span where it is among the longest. The spans are a heap whose first one is the
 * shortest; of equal ones the earlier is kept. */
static void keep_span(struct flame_spans *spans, struct flame_span one)
{
	spans->all++;
	uint32_t at = spans->n;
	if (spans->n < spans->most) {
		spans->n++;
		for (; at > 0 && spans->v[(at - 1) / 2].ns > one.ns; at = (at - 1) / 2)
			spans->v[at] = spans->v[(at - 1) / 2];
		spans->v[at] = one;
		return;
	}
	if (spans->n == 0 || one.ns <= spans->v[0].ns)
		return;
	for (at = 0; 2 * at + 1 < spans->n;) {
		uint32_t inner = 2 * at + 1;
		inner += inner + 1 < spans->n && spans->v[inner + 1].ns < spans->v[inner].ns;
		if (spans->v[inner].ns >= one.ns)
			break;
		spans->v[at] = spans->v[inner];
		at = inner;
	}
	spans->v[at] = one;
}

static int flame_by_start(const void *left, const void *right)
{
	const struct flame_span *a = left, *b = right;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->span > b->span) - (a->span < b->span);
}

void flame_note_span(struct flame_filling *filling, uint32_t node, uint32_t span, int64_t start,
		     int64_t ns)
{
	struct flame_node *one = &filling->flame->nodes[node];
	struct flame_spans *spans = filling->options->spans;
	if (!hwy_ref32_is_set(one->span) || ns > one->longest) {
		one->span = hwy_ref32(span);
		one->longest = ns;
	}
	if (spans && flame_is_below(filling->flame, node, filling->options->of_node))
		keep_span(spans, (struct flame_span){span, start, ns});
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* Adds each node to its caller, whose index is smaller. */
static void flame_add_up(struct hwy_flame *flame)
{
	for (uint32_t i = 0; i < flame->n; i++)
		memcpy(flame->nodes[i].total, flame->nodes[i].self, sizeof flame->nodes[i].total);
	for (uint32_t i = flame->n; i-- > 1;) {
		const struct flame_node *node = &flame->nodes[i];
		struct flame_node *outer = &flame->nodes[node->outer];
		for (unsigned w = 0; w < flame->n_weights; w++)
			hwy_add_saturating(&outer->total[w], node->total[w]);
		outer->count += node->count;
		if (hwy_ref32_is_set(node->span) &&
		    (!hwy_ref32_is_set(outer->span) || node->longest > outer->longest)) {
			outer->span = node->span;
			outer->longest = node->longest;
		}
	}
}

bool flame_make(struct hwy_flame *flame, const struct hwy_flow *flow,
		const struct flame_options *options, struct hwy_err *err)
{
	static bool (*const fill[FLAME_KINDS])(struct flame_filling *, struct hwy_err *) = {
		flame_fill_samples, flame_fill_tree, flame_fill_stacks};
	struct hwy_trace *trace = flow->trace;
	*flame = (struct hwy_flame){.kind = options->kind};
	while (flame->n_weights < FLAME_WEIGHTS &&
	       flame_weight_names[options->kind][flame->n_weights])
		flame->n_weights++;
	hwy_strings_init(&flame->texts);
	flame_put(flame, 0, (enum flame_node_kind)TREE_ROOT, 0, 0);
	struct flame_filling filling = {
		.flame = flame, .options = options, .trace = trace, .flow = flow};
	filling.frames = hwy_zarray(trace->n_frames, sizeof *filling.frames);
	filling.thread_nodes = hwy_zarray(trace->n_threads + 1, sizeof *filling.thread_nodes);
	bool done = fill[options->kind](&filling, err);
	free(filling.frames);
	free(filling.has_python);
	free(filling.thread_nodes);
	hwy_map_free(&filling.stacks);
	if (!done) {
		flame_free(flame);
		return false;
	}
	flame_add_up(flame);
	flame->n_before = flame->n;
	if (options->spans && options->spans->n)
		qsort(options->spans->v, options->spans->n, sizeof *options->spans->v,
		      flame_by_start);
	return true;
}

void flame_free(struct hwy_flame *flame)
{
	free(flame->nodes);
	free(flame->before);
	hwy_index_free(&flame->by_key);
	hwy_strings_free(&flame->texts);
	*flame = (struct hwy_flame){0};
}

/* ---- pruning --------------------------------------------------------------------------------- */

static bool flame_is_large(const struct hwy_flame *flame, const struct flame_node *node,
			   double least)
{
	for (unsigned w = 0; w < flame->n_weights; w++) {
		double share = (double)node->total[w], whole = (double)flame->nodes[0].total[w];
		if (share > 0 && share >= least * whole)
			return true;
	}
	return false;
}

/* What flame_prune decides about a node. A node that stays may have nodes below it that do not:
 * 'n_small' is the number of these, and 'last_small' the index of the last one. */
struct flame_fate {
	bool stays;
	uint32_t n_small, last_small;
	uint32_t into; /* of a node that does not stay: the nearest one around it that does */
};

/* Decides which nodes stay, and yields how many nodes there will be: those that stay, and for
 * each of these one more that stands for the small nodes below it. The caller of a node that
 * stays always stays, because no total of a node is larger than its caller's. A small node that
 * has no small sibling stays, too: merging it would save nothing. */
static uint32_t choose_large(const struct hwy_flame *flame, double least, struct flame_fate *fates)
{
	uint32_t n = 1;
	fates[0] = (struct flame_fate){.stays = true};
	for (uint32_t i = 1; i < flame->n; i++) {
		uint32_t outer = flame->nodes[i].outer;
		bool stays = fates[outer].stays && flame_is_large(flame, &flame->nodes[i], least);
		fates[i] = (struct flame_fate){
			.stays = stays, .into = fates[outer].stays ? outer : fates[outer].into};
		if (!stays) {
			fates[fates[i].into].last_small = i;
			n += fates[fates[i].into].n_small++ == 0;
		} else {
			n++;
		}
	}
	for (uint32_t i = 0; i < flame->n; i++)
		if (fates[i].stays && fates[i].n_small == 1)
			fates[fates[i].last_small].stays = true;
	return n;
}

/* Adds a node that does not stay, with all below it, to the node into which its siblings are
 * merged. */
static void merge_into(struct hwy_flame *flame, struct flame_node *into,
		       const struct flame_node *node)
{
	for (unsigned w = 0; w < flame->n_weights; w++) {
		hwy_add_saturating(&into->self[w], node->total[w]);
		hwy_add_saturating(&into->total[w], node->total[w]);
	}
	into->count += node->count;
	if (hwy_ref32_is_set(node->span) &&
	    (!hwy_ref32_is_set(into->span) || node->longest > into->longest)) {
		into->span = node->span;
		into->longest = node->longest;
	}
}

/* Rewrites the nodes. 'new' gets, by old index, a reference to the new node: of a node that is
 * merged, to the one that stands for it. */
static void flame_rewrite(struct hwy_flame *flame, const struct flame_fate *fates, uint32_t n)
{
	struct flame_node *nodes = hwy_array(n, sizeof *nodes);
	uint32_t *new = hwy_zarray(flame->n, sizeof *new),
		 *rest = hwy_zarray(flame->n, sizeof *rest), m = 0;
	flame->before = hwy_zarray(n, sizeof *flame->before);
	for (uint32_t i = 0; i < flame->n; i++) {
		const struct flame_node *node = &flame->nodes[i];
		uint32_t outer = node->outer;
		if (fates[i].stays) {
			flame->before[m] = i;
			nodes[m] = *node;
			nodes[m].outer = i ? hwy_ref32_index(new[outer]) : 0;
			new[i] = hwy_ref32(m++);
			continue;
		}
		flame->n_merged++;
		if (!fates[outer].stays) {
			new[i] = new[outer];
			nodes[hwy_ref32_index(new[i])].merged++;
			continue;
		}
		if (!hwy_ref32_is_set(rest[outer])) {
			nodes[m] = (struct flame_node){.outer = hwy_ref32_index(new[outer]),
						       .kind = FLAME_MERGED};
			flame->before[m] = UINT32_MAX;
			rest[outer] = hwy_ref32(m++);
		}
		new[i] = rest[outer];
		nodes[hwy_ref32_index(new[i])].merged++;
		merge_into(flame, &nodes[hwy_ref32_index(new[i])], node);
	}
	free(new);
	free(rest);
	free(flame->nodes);
	flame->nodes = nodes;
	flame->n = m;
	flame->cap = n;
}

void flame_prune(struct hwy_flame *flame, uint32_t most, double least)
{
	struct flame_fate *fates = hwy_array(flame->n, sizeof *fates);
	uint32_t n = choose_large(flame, least, fates);
	/* With 'least' above 1 only the root and one node for all others are left: the loop
	 * ends. */
	for (; n > most && least <= 1; n = choose_large(flame, least, fates))
		least = least > 0 ? least * 1.5 : 1e-9;
	flame_rewrite(flame, fates, n);
	free(fates);
}
