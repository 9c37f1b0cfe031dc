/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_tree.h - which range lies in which, thread by thread, whatever their domains.
 *
 * Parents come before their children. A start/end range is in the tree where it ended on the
 * thread it started on.
 */
#ifndef HWY_STATS_NVTX_TREE_H
#define HWY_STATS_NVTX_TREE_H

#include "stats/nsys_labels.h"
#include "stats/report_run.h"

#define NVTX_NO_NODE UINT32_MAX

struct nvtx_node {
	int64_t start, end;
	int64_t in_children; /* ns that ranges directly inside this one take */
	uint32_t span;       /* id of the range's span */
	uint32_t lane;
	uint32_t parent; /* index of the innermost range around this one, or NVTX_NO_NODE */
	/* 'children': how many ranges are directly inside this one; 'level': how many are around
	 * it. */
	uint32_t children, level;
};
struct nvtx_tree {
	struct nvtx_node *nodes;
	uint32_t n, cap;
	struct nvtx_thread { /* the nodes of one thread, in order of start (longer first) */
		int64_t thread;
		uint32_t first, n;
	} * threads;
	uint32_t n_threads, cap_threads;
};

/* Takes all push/pop ranges, with 'startend' the start/end ranges too, and loads the columns it
 * reads (NAME and ROW among them). Ranges that the filter drops are nodes too: the filter does
 * not change the nesting. */
bool nvtx_tree_open(struct nvtx_tree *tree, struct report_run *run, bool startend,
		    struct hwy_err *err);
void nvtx_tree_close(struct nvtx_tree *tree);
/* The indexes of all nodes in order of start, all threads together; the caller frees the array. */
uint32_t *nvtx_tree_in_order(const struct nvtx_tree *tree);

/* Whether the run's filter keeps this range. */
bool nvtx_tree_keeps(const struct report_run *run, const struct nvtx_node *node);
struct hwy_text nvtx_tree_name(const struct report_run *run, const struct nvtx_node *node,
			       struct text_buffer *buffer);
const char *nvtx_tree_style(const struct report_run *run, const struct nvtx_node *node);
/* Yields the range's id that tables show: the row in the source's own table, or counted from 1
 * where the source has no rows. */
int64_t nvtx_tree_id(const struct report_run *run, const struct nvtx_node *node);
/* Yields the ids from the outermost range to this range as text: ":1:7". */
struct hwy_text nvtx_tree_stack(const struct report_run *run, const struct nvtx_tree *tree,
				uint32_t node, struct text_buffer *buffer);

#endif
