/* nvtx_tree.h - ranges in their nesting, thread by thread, whatever their domain.
 *
 * Parents come before their children. A start/end range is there when it ended on the thread it started on.
 */
#ifndef HWY_STATS_NVTX_TREE_H
#define HWY_STATS_NVTX_TREE_H

#include "stats/report_run.h"

#define NO_NODE UINT32_MAX

struct nvtx_node {
	int64_t start, end;
	int64_t in_children; /* ns */
	uint32_t span;       /* id */
	uint32_t lane;
	uint32_t parent; /* or NO_NODE */
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

/* Brings in what it needs of HWY_RANGE (NAME and ROW too). Filters do not change the nesting. */
bool nvtx_tree_open(struct nvtx_tree *tree, struct stats_run *run, bool startend,
		    struct hwy_err *err);
void nvtx_tree_close(struct nvtx_tree *tree);
/* The nodes of all threads by start; the caller frees it. */
uint32_t *nvtx_in_order(const struct nvtx_tree *tree);

/* Does the run's filter keep this range? */
bool nvtx_keeps(const struct stats_run *run, const struct nvtx_node *node);
struct hwy_text nvtx_name(const struct stats_run *run, const struct nvtx_node *node,
			  struct word_buffer *buffer);
const char *nvtx_style(const struct stats_run *run, const struct nvtx_node *node);
/* The id that tables show: the source's row where it has one. */
int64_t nvtx_id(const struct stats_run *run, const struct nvtx_node *node);
/* ":1:7", from the outermost range to this one. */
struct hwy_text nvtx_stack(const struct stats_run *run, const struct nvtx_tree *tree, uint32_t node,
			   struct word_buffer *buffer);

#endif
