/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_gpu.c - ranges projected onto the device.
 *
 * Work belongs to a range when the call that enqueued the work lies inside the range on the same
 * thread: to every such range, not only to the innermost. The projection runs from the first
 * start to the last end of a range's work. Graphs whose nodes were not recorded are not counted,
 * as in nsys.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/hash.h"
#include "stats/families.h"
#include "stats/nvtx_sweep.h"
#include "stats/sums.h"

struct projection { /* the device work of one range, which is a node of the tree */
	int64_t start, end;
	/* How many calls inside the range enqueued work; where this is 0, there is no
	 * projection. */
	uint32_t work;
	uint32_t children; /* how many ranges directly inside have device work */
};

static void project(void *self, struct nvtx_sweep *sweep, uint32_t node,
		    const struct hwy_strip *call, struct launched work, bool own)
{
	(void)call;
	(void)own;
	if (node == NVTX_NO_NODE)
		return;
	struct projection *projection = &((struct projection *)self)[node];
	for (uint32_t i = 0; i < work.n; i++) {
		uint32_t row;
		const struct hwy_strip *strip =
			hwy_strip_of(sweep->run->trace, work.spans[i], &row);
		int64_t start = hwy_get(strip, HWY_START, row), end = hwy_end(strip, row);
		bool first = projection->work == 0 && i == 0;
		projection->start = first || start < projection->start ? start : projection->start;
		projection->end = first || end > projection->end ? end : projection->end;
	}
	projection->work += work.n > 0;
}

#define PROJECTED (HWY_KIND_BIT(HWY_KERNEL) | HWY_KIND_BIT(HWY_COPY) | HWY_KIND_BIT(HWY_FILL))

/* Yields the projections of all nodes, or NULL with a sentence in err. Ranges that the filter
 * drops have work 0. */
static struct projection *projections_of(struct nvtx_sweep *sweep, struct report_run *run,
					 struct hwy_err *err)
{
	if (!nvtx_sweep_open(sweep, run, PROJECTED, err)) {
		nvtx_sweep_close(sweep);
		return NULL;
	}
	struct projection *projections = hwy_zarray(sweep->tree.n, sizeof *projections);
	sweep->take = project;
	sweep->self = projections;
	nvtx_sweep_visit(sweep);
	for (uint32_t i = 0; i < sweep->tree.n; i++)
		if (projections[i].work && sweep->tree.nodes[i].parent != NVTX_NO_NODE)
			projections[sweep->tree.nodes[i].parent].children++;
	for (uint32_t i = 0; i < sweep->tree.n; i++)
		if (!nvtx_tree_keeps(run, &sweep->tree.nodes[i]))
			projections[i].work = 0;
	return projections;
}

static void yield_projection(struct nvtx_sweep *sweep, uint32_t i,
			     const struct projection *projection, struct text_buffer *name,
			     struct text_buffer *stack)
{
	struct report_run *run = sweep->run;
	const struct nvtx_node *node = &sweep->tree.nodes[i];
	struct stats_cell cells[] = {
		cell_from_text(nvtx_tree_name(run, node, name)),
		cell_number(projection->start),
		cell_number(projection->end - projection->start),
		cell_number(node->start),
		cell_number(node->end - node->start),
		cell_from_textz(nvtx_tree_style(run, node)),
		cell_pid(run->trace, node->lane),
		cell_tid(run->trace, node->lane),
		cell_number(projection->work),
		cell_number(node->level),
		cell_number(projection->children),
		cell_number(nvtx_tree_id(run, node)),
		node->parent == NVTX_NO_NODE
			? cell_empty()
			: cell_number(nvtx_tree_id(run, &sweep->tree.nodes[node->parent])),
		cell_from_text(nvtx_tree_stack(run, &sweep->tree, i, stack)),
	};
	report_row(run, cells);
}

bool make_nvtx_gpu_proj_trace(struct report_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {{"Name", STATS_TEXT},
						      {"Projected Start", STATS_MOMENT},
						      {"Projected Duration", STATS_TIME},
						      {"Orig Start", STATS_MOMENT},
						      {"Orig Duration", STATS_TIME},
						      {"Style", STATS_TEXT},
						      {"PID", STATS_ID},
						      {"TID", STATS_ID},
						      {"NumGPUOps", STATS_COUNT},
						      {"Lvl", STATS_COUNT},
						      {"NumChild", STATS_COUNT},
						      {"RangeId", STATS_ID},
						      {"ParentId", STATS_ID},
						      {"RangeStack", STATS_TEXT}};
	struct nvtx_sweep sweep;
	struct projection *projections = projections_of(&sweep, run, err);
	if (!projections)
		return false;
	report_columns(run, columns, STATS_LENGTH(columns));
	uint32_t *order = nvtx_tree_in_order(&sweep.tree);
	struct text_buffer name = {0}, stack = {0};
	for (uint32_t i = 0; i < sweep.tree.n; i++)
		if (projections[order[i]].work)
			yield_projection(&sweep, order[i], &projections[order[i]], &name, &stack);
	free(name.at);
	free(stack.at);
	free(order);
	free(projections);
	nvtx_sweep_close(&sweep);
	return true;
}

struct by_name { /* the projections of one range name and style */
	struct hwy_text name;
	const char *style;
	int64_t ranges_ns, work, levels, children;
	struct sums_result sums;
};

static int nvtx_gpu_by_total(const void *left, const void *right)
{
	const struct by_name *a = left, *b = right;
	if (a->sums.total != b->sums.total)
		return a->sums.total < b->sums.total ? 1 : -1;
	int order = strcmp(a->name.at, b->name.at);
	return order ? order : strcmp(a->style, b->style);
}

static void yield_name(struct report_run *run, const struct by_name *line)
{
	double n = line->sums.count;
	struct stats_cell cells[] = {
		cell_from_text(line->name),
		cell_from_textz(line->style),
		cell_number(line->sums.total),
		cell_number(line->ranges_ns),
		cell_number(line->sums.count),
		cell_real(line->sums.mean),
		cell_real(line->sums.median),
		cell_number(line->sums.min),
		cell_number(line->sums.max),
		cell_real(line->sums.deviation),
		cell_number(line->work),
		cell_real((double)line->work / n),
		cell_real((double)line->levels / n),
		cell_real((double)line->children / n),
	};
	report_row(run, cells);
}

/* Yields the projections summed up by name and style, one line for each; the caller frees the
 * lines. */
static struct by_name *sum_by_name(struct nvtx_sweep *sweep, const struct projection *projections,
				   struct hwy_strings *names, uint32_t *n_lines)
{
	const struct nvtx_tree *tree = &sweep->tree;
	struct by_name *lines = NULL;
	uint32_t n = 0, cap = 0, *line_of_node = hwy_array(tree->n, sizeof *line_of_node);
	struct text_buffer buffer = {0};
	struct hwy_map map = {0};
	struct sums sums = {0};
	for (uint32_t i = 0; i < tree->n; i++) {
		const struct nvtx_node *node = &tree->nodes[i];
		if (projections[i].work == 0)
			continue;
		struct hwy_text name = nvtx_tree_name(sweep->run, node, &buffer);
		const char *style = nvtx_tree_style(sweep->run, node);
		uint32_t id = hwy_intern(names, name.at, name.length);
		bool fresh;
		uint32_t *line = hwy_map_put(&map, (uint64_t)id << 1 | (style[0] == 'S'), &fresh);
		if (fresh) {
			HWY_GROW(lines, n, cap);
			*line = n;
			lines[n++] = (struct by_name){.name = names->texts[id], .style = style};
		}
		assert(lines);
		line_of_node[i] = *line;
		hwy_add_saturating(&lines[*line].ranges_ns, node->end - node->start);
		lines[*line].work += projections[i].work;
		lines[*line].levels += node->level;
		lines[*line].children += projections[i].children;
		sums_expect(&sums, *line, 1);
	}
	sums_open(&sums);
	for (uint32_t i = 0; i < tree->n; i++)
		if (projections[i].work)
			sums_put(&sums, line_of_node[i], projections[i].end - projections[i].start);
	for (uint32_t i = 0; i < n; i++)
		lines[i].sums = sums_get(&sums, i);
	sums_free(&sums);
	hwy_map_free(&map);
	free(buffer.at);
	free(line_of_node);
	*n_lines = n;
	return lines;
}

bool make_nvtx_gpu_proj_sum(struct report_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {{"Range", STATS_TEXT},
						      {"Style", STATS_TEXT},
						      {"Total Proj Time", STATS_TIME},
						      {"Total Range Time", STATS_TIME},
						      {"Range Instances", STATS_COUNT},
						      {"Proj Avg", STATS_TIME_MEAN},
						      {"Proj Med", STATS_TIME_MEAN},
						      {"Proj Min", STATS_TIME},
						      {"Proj Max", STATS_TIME},
						      {"Proj StdDev", STATS_TIME_MEAN},
						      {"Total GPU Ops", STATS_COUNT},
						      {"Avg GPU Ops", STATS_MEAN},
						      {"Avg Range Lvl", STATS_MEAN},
						      {"Avg Num Child", STATS_MEAN}};
	struct nvtx_sweep sweep;
	struct projection *projections = projections_of(&sweep, run, err);
	if (!projections)
		return false;
	report_columns(run, columns, STATS_LENGTH(columns));
	struct hwy_strings names;
	hwy_strings_init(&names);
	uint32_t n;
	struct by_name *lines = sum_by_name(&sweep, projections, &names, &n);
	if (n)
		qsort(lines, n, sizeof *lines, nvtx_gpu_by_total);
	for (uint32_t i = 0; i < n; i++)
		yield_name(run, &lines[i]);
	free(lines);
	hwy_strings_free(&names);
	free(projections);
	nvtx_sweep_close(&sweep);
	return true;
}
