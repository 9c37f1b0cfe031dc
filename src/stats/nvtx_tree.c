/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_tree.c - see nvtx_tree.h.
 *
 * Domains have stacks of their own and start/end ranges have none, so ranges of a thread may
 * overlap without nesting. The parent of a range is the shortest range that contains it as a
 * whole.
 */
#include "stats/nvtx_tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/ref.h"

struct order { /* a node with its sort key; the id that tables show decides between equal ranges */
	int64_t thread;
	struct nvtx_node node;
	int64_t id;
};

static int by_thread_and_start(const void *left, const void *right)
{
	const struct order *a = left, *b = right;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->node.start != b->node.start)
		return a->node.start < b->node.start ? -1 : 1;
	if (a->node.end != b->node.end)
		return a->node.end > b->node.end ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

static bool is_wanted(const struct hwy_trace *trace, const struct hwy_strip *strip, bool startend)
{
	int64_t type = trace->lanes[strip->lane].type;
	return strip->kind == HWY_RANGE &&
	       (type == HWY_LANE_RANGE || (startend && type == HWY_LANE_STARTEND));
}

static bool ended_elsewhere(const struct hwy_trace *trace, const struct hwy_strip *strip,
			    uint32_t row)
{
	const struct hwy_lane *lane = &trace->lanes[strip->lane];
	uint32_t thread;
	return lane->type == HWY_LANE_STARTEND &&
	       hwy_get_index(strip, HWY_END_THREAD, row, &thread) && thread != lane->thread;
}

static struct order *collect_ranges(struct report_run *run, bool startend, uint32_t *n)
{
	const struct hwy_trace *trace = run->trace;
	uint64_t most = 0;
	for (uint32_t s = 0; s < trace->n_strips; s++)
		most += is_wanted(trace, &trace->strips[s], startend) ? trace->strips[s].rows : 0;
	struct order *orders = hwy_array(most, sizeof *orders);
	*n = 0;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (!is_wanted(trace, strip, startend))
			continue;
		for (uint32_t row = 0; row < strip->rows; row++) {
			if ((hwy_get(strip, HWY_FLAGS, row) & HWY_FLAGS_NO_SPAN) ||
			    ended_elsewhere(trace, strip, row))
				continue;
			struct nvtx_node node = {.start = hwy_get(strip, HWY_START, row),
						 .end = hwy_end(strip, row),
						 .span = strip->first + row,
						 .lane = strip->lane,
						 .parent = NVTX_NO_NODE};
			orders[(*n)++] = (struct order){trace->lanes[strip->lane].thread, node,
							nvtx_tree_id(run, &node)};
		}
	}
	return orders;
}

/* The shortest open range that contains the node as a whole, or NVTX_NO_NODE. Ranges that ended
 * leave 'open'. */
static uint32_t innermost_around(const struct nvtx_tree *tree, const struct nvtx_node *node,
				 uint32_t *open, uint32_t *n_open)
{
	uint32_t best = NVTX_NO_NODE, kept = 0;
	int64_t shortest = INT64_MAX;
	for (uint32_t i = 0; i < *n_open; i++) {
		const struct nvtx_node *other = &tree->nodes[open[i]];
		if (other->end < node->start)
			continue;
		open[kept++] = open[i];
		if (other->end >= node->end && other->end - other->start <= shortest) {
			shortest = other->end - other->start;
			best = open[i];
		}
	}
	*n_open = kept;
	return best;
}

/* Gives the nodes of one thread their parents. */
static void nest_thread(struct nvtx_tree *tree, uint32_t first)
{
	uint32_t *open = NULL, n_open = 0, cap_open = 0;
	for (uint32_t i = first; i < tree->n; i++) {
		struct nvtx_node *node = &tree->nodes[i];
		node->parent = innermost_around(tree, node, open, &n_open);
		if (node->parent != NVTX_NO_NODE) {
			struct nvtx_node *parent = &tree->nodes[node->parent];
			node->level = parent->level + 1;
			parent->children++;
			hwy_add_saturating(&parent->in_children, node->end - node->start);
		}
		HWY_GROW(open, n_open, cap_open);
		open[n_open++] = i;
	}
	free(open);
}

bool nvtx_tree_open(struct nvtx_tree *tree, struct report_run *run, bool startend,
		    struct hwy_err *err)
{
	*tree = (struct nvtx_tree){0};
	if (!hwy_need(run->trace, HWY_KIND_BIT(HWY_RANGE),
		      HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_NAME) |
			      HWY_COL_BIT(HWY_FLAGS) | HWY_COL_BIT(HWY_ROW) |
			      HWY_COL_BIT(HWY_END_THREAD),
		      err))
		return false;
	uint32_t n;
	struct order *orders = collect_ranges(run, startend, &n);
	qsort(orders, n, sizeof *orders, by_thread_and_start);
	tree->nodes = hwy_array(n, sizeof *tree->nodes);
	for (uint32_t i = 0; i < n;) {
		struct nvtx_thread thread = {orders[i].thread, tree->n, 0};
		for (; i < n && orders[i].thread == thread.thread; i++)
			tree->nodes[tree->n++] = orders[i].node;
		thread.n = tree->n - thread.first;
		nest_thread(tree, thread.first);
		HWY_GROW(tree->threads, tree->n_threads, tree->cap_threads);
		tree->threads[tree->n_threads++] = thread;
	}
	free(orders);
	return true;
}

void nvtx_tree_close(struct nvtx_tree *tree)
{
	free(tree->nodes);
	free(tree->threads);
	*tree = (struct nvtx_tree){0};
}

struct by_start {
	int64_t start;
	uint32_t node;
};

static int compare_starts(const void *left, const void *right)
{
	const struct by_start *a = left, *b = right;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

uint32_t *nvtx_tree_in_order(const struct nvtx_tree *tree)
{
	struct by_start *nodes = hwy_array(tree->n, sizeof *nodes);
	uint32_t *order = hwy_array(tree->n, sizeof *order);
	for (uint32_t i = 0; i < tree->n; i++)
		nodes[i] = (struct by_start){tree->nodes[i].start, i};
	if (tree->n_threads > 1) /* the nodes of one thread are in order already */
		qsort(nodes, tree->n, sizeof *nodes, compare_starts);
	for (uint32_t i = 0; i < tree->n; i++)
		order[i] = nodes[i].node;
	free(nodes);
	return order;
}

static const struct hwy_strip *strip_of_node(const struct report_run *run,
					     const struct nvtx_node *node, uint32_t *row)
{
	return hwy_strip_of(run->trace, node->span, row);
}

bool nvtx_tree_keeps(const struct report_run *run, const struct nvtx_node *node)
{
	if (!filter_is_on(&run->filter))
		return true;
	uint32_t row;
	const struct hwy_strip *strip = strip_of_node(run, node, &row);
	return filter_keeps(&run->filter, run->trace, strip, row);
}

struct hwy_text nvtx_tree_name(const struct report_run *run, const struct nvtx_node *node,
			       struct text_buffer *buffer)
{
	uint32_t row;
	const struct hwy_strip *strip = strip_of_node(run, node, &row);
	return nsys_label_range(run->trace, node->lane, hwy_get(strip, HWY_NAME, row), buffer);
}

const char *nvtx_tree_style(const struct report_run *run, const struct nvtx_node *node)
{
	return run->trace->lanes[node->lane].type == HWY_LANE_STARTEND ? "StartEnd" : "PushPop";
}

int64_t nvtx_tree_id(const struct report_run *run, const struct nvtx_node *node)
{
	uint32_t row;
	const struct hwy_strip *strip = strip_of_node(run, node, &row);
	int64_t id = hwy_get(strip, HWY_ROW, row);
	return id ? id : hwy_ref(node->span);
}

struct hwy_text nvtx_tree_stack(const struct report_run *run, const struct nvtx_tree *tree,
				uint32_t node, struct text_buffer *buffer)
{
	enum { LONGEST_ID = 24 };
	size_t need = ((size_t)tree->nodes[node].level + 1) * LONGEST_ID;
	/* The text is written from its end, since parents are found from the inside to the
	 * outside. */
	char *end = text_buffer_reserve(buffer, need) + need - 1, *at = end;
	*end = 0;
	for (uint32_t i = node; i != NVTX_NO_NODE; i = tree->nodes[i].parent) {
		char text[LONGEST_ID];
		int n = snprintf(text, sizeof text, ":%" PRId64,
				 nvtx_tree_id(run, &tree->nodes[i]));
		at -= n;
		memcpy(at, text, (size_t)n);
	}
	return (struct hwy_text){at, (uint32_t)(end - at)};
}
