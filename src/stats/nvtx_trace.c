/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_trace.c - push/pop ranges in order of start, each with the ranges around it. */
#include <stdlib.h>

#include "stats/families.h"
#include "stats/nsys_labels.h"
#include "stats/nvtx_tree.h"

struct buffers {
	struct text_buffer name, stack, tree;
};

/* Yields a range's name with two dashes for each level before it: "----name". */
static struct hwy_text name_in_tree(struct hwy_text name, uint32_t level,
				    struct text_buffer *buffer)
{
	size_t length = (size_t)level * 2 + name.length;
	char *text = text_buffer_reserve(buffer, length + 1);
	memset(text, '-', (size_t)level * 2);
	memcpy(text + (size_t)level * 2, name.at, name.length);
	text[length] = 0;
	return (struct hwy_text){text, (uint32_t)length};
}

static void nvtx_trace_yield(struct report_run *run, const struct nvtx_tree *tree, uint32_t i,
			     struct buffers *buffers)
{
	const struct nvtx_node *node = &tree->nodes[i];
	int64_t duration = node->end - node->start;
	struct hwy_text name = nvtx_tree_name(run, node, &buffers->name);
	struct stats_cell cells[] = {
		cell_number(node->start),
		cell_number(node->end),
		cell_number(duration),
		cell_number(node->in_children),
		cell_number(duration - node->in_children),
		cell_from_text(name),
		cell_pid(run->trace, node->lane),
		cell_tid(run->trace, node->lane),
		cell_number(node->level),
		cell_number(node->children),
		cell_number(nvtx_tree_id(run, node)),
		node->parent == NVTX_NO_NODE
			? cell_empty()
			: cell_number(nvtx_tree_id(run, &tree->nodes[node->parent])),
		cell_from_text(nvtx_tree_stack(run, tree, i, &buffers->stack)),
		cell_from_text(name_in_tree(name, node->level, &buffers->tree)),
	};
	report_row(run, cells);
}

bool make_nvtx_pushpop_trace(struct report_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {
		{"Start", STATS_MOMENT},    {"End", STATS_MOMENT},       {"Duration", STATS_TIME},
		{"DurChild", STATS_TIME},   {"DurNonChild", STATS_TIME}, {"Name", STATS_TEXT},
		{"PID", STATS_ID},          {"TID", STATS_ID},           {"Lvl", STATS_COUNT},
		{"NumChild", STATS_COUNT},  {"RangeId", STATS_ID},       {"ParentId", STATS_ID},
		{"RangeStack", STATS_TEXT}, {"NameTree", STATS_TEXT}};
	struct nvtx_tree tree;
	if (!nvtx_tree_open(&tree, run, false, err))
		return false;
	report_columns(run, columns, STATS_LENGTH(columns));
	uint32_t *order = nvtx_tree_in_order(&tree);
	struct buffers buffers = {0};
	for (uint32_t i = 0; i < tree.n; i++)
		if (nvtx_tree_keeps(run, &tree.nodes[order[i]]))
			nvtx_trace_yield(run, &tree, order[i], &buffers);
	free(buffers.name.at);
	free(buffers.stack.at);
	free(buffers.tree.at);
	free(order);
	nvtx_tree_close(&tree);
	return true;
}
