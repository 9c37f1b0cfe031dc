/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_kern.c - kernels by the ranges they were launched in.
 *
 * A kernel counts for every range around the call that launched it; kernels launched in no range
 * come first, without a range's name. A recording without any range has no rows.
 */
#include <stdlib.h>

#include "base/hash.h"
#include "base/index.h"
#include "base/ref.h"
#include "stats/families.h"
#include "stats/nvtx_sweep.h"
#include "stats/sums.h"

struct group { /* the key of a line in a hash table, so the struct has no padding */
	/* Id in 'names' of the range's style and name; 0 where a kernel is in no range. */
	int64_t range;
	int64_t thread_lane;
	int64_t kernel; /* id of the text of the kernel's name */
};
struct line {
	struct group group;
	uint32_t ranges, kernels; /* how many ranges and how many kernels have the name */
	struct sums_result sums;
};
struct summary {
	struct report_run *run;
	struct hwy_index by_group; /* finds the elements of 'lines' by their keys */
	struct line *lines;
	uint32_t n, cap;
	struct sums sums;
	bool counting; /* true in the first of two rounds, which only counts the values (sums.h) */
	struct hwy_map seen; /* the pairs (line << 32 | node) that were counted in 'ranges' */
	/* Texts: "S" (start/end) or "P" (push/pop), then the range's name. */
	struct hwy_strings names;
	uint32_t *name_of; /* for each node a reference to its text in 'names' */
	struct text_buffer buffer;
};

static int64_t range_of(struct summary *summary, const struct nvtx_sweep *sweep, uint32_t node)
{
	if (node == NVTX_NO_NODE)
		return 0;
	uint32_t *ref = &summary->name_of[node];
	if (!hwy_ref32_is_set(*ref)) {
		const struct nvtx_node *range = &sweep->tree.nodes[node];
		struct hwy_text name = nvtx_tree_name(summary->run, range, &summary->buffer);
		char *text = hwy_alloc((size_t)name.length + 1);
		text[0] = nvtx_tree_style(summary->run, range)[0];
		memcpy(text + 1, name.at, name.length);
		*ref = hwy_ref32(hwy_intern(&summary->names, text, (size_t)name.length + 1));
		free(text);
	}
	return hwy_ref32_index(*ref);
}

static uint32_t nvtx_kern_line_of(struct summary *summary, const struct group *group)
{
	bool fresh;
	uint32_t *line =
		hwy_index_put_element(&summary->by_group, summary->lines, sizeof *summary->lines,
				      group, sizeof *group, &fresh);
	if (fresh) {
		HWY_GROW(summary->lines, summary->n, summary->cap);
		*line = summary->n;
		summary->lines[summary->n++] = (struct line){.group = *group};
	}
	return *line;
}

static void nvtx_kern_add(void *self, struct nvtx_sweep *sweep, uint32_t node,
			  const struct hwy_strip *call, struct launched work, bool own)
{
	struct summary *summary = self;
	if (node != NVTX_NO_NODE && !nvtx_tree_keeps(summary->run, &sweep->tree.nodes[node]))
		return;
	struct group group = {range_of(summary, sweep, node), call->lane, 0};
	for (uint32_t i = 0; i < work.n; i++) {
		uint32_t row;
		const struct hwy_strip *kernel =
			hwy_strip_of(sweep->run->trace, work.spans[i], &row);
		group.kernel = hwy_get(kernel, HWY_NAME, row);
		uint32_t line = nvtx_kern_line_of(summary, &group);
		if (!summary->counting) {
			sums_put(&summary->sums, line, hwy_get(kernel, HWY_DUR, row));
			continue;
		}
		sums_expect(&summary->sums, line, 1);
		/* Where a call was recorded twice, both records have the same kernels: count
		 * them once. */
		summary->lines[line].kernels += own;
		bool fresh = false;
		if (node != NVTX_NO_NODE)
			hwy_map_put(&summary->seen, (uint64_t)line << 32 | node, &fresh);
		summary->lines[line].ranges += fresh;
	}
}

static int by_range_thread_total(const void *left, const void *right, void *self)
{
	const struct summary *summary = self;
	const struct line *a = left, *b = right;
	if (a->group.range != b->group.range) {
		const char *names[] = {summary->names.texts[a->group.range].at,
				       summary->names.texts[b->group.range].at};
		/* Lines are sorted by the range's name, then by the range's style, which is the
		 * first letter of the text. */
		int order =
			strcmp(names[0][0] ? names[0] + 1 : "", names[1][0] ? names[1] + 1 : "");
		return order ? order : strcmp(names[0], names[1]);
	}
	if (a->group.thread_lane != b->group.thread_lane) {
		struct stats_cell pids[] = {
			cell_pid(summary->run->trace, (uint32_t)a->group.thread_lane),
			cell_pid(summary->run->trace, (uint32_t)b->group.thread_lane)};
		struct stats_cell tids[] = {
			cell_tid(summary->run->trace, (uint32_t)a->group.thread_lane),
			cell_tid(summary->run->trace, (uint32_t)b->group.thread_lane)};
		if (pids[0].number != pids[1].number)
			return pids[0].number < pids[1].number ? -1 : 1;
		if (tids[0].number != tids[1].number)
			return tids[0].number < tids[1].number ? -1 : 1;
	}
	if (a->sums.total != b->sums.total)
		return a->sums.total < b->sums.total ? 1 : -1;
	return strcmp(hwy_str(summary->run->trace, a->group.kernel),
		      hwy_str(summary->run->trace, b->group.kernel));
}

static void nvtx_kern_yield(struct summary *summary, const struct line *line)
{
	struct hwy_text range = summary->names.texts[line->group.range];
	const char *style = range.length == 0 ? "" : range.at[0] == 'S' ? "StartEnd" : "PushPop";
	if (range.length)
		range = (struct hwy_text){range.at + 1, range.length - 1};
	struct stats_cell cells[] = {
		cell_from_text(range),
		cell_from_textz(style),
		cell_pid(summary->run->trace, (uint32_t)line->group.thread_lane),
		cell_tid(summary->run->trace, (uint32_t)line->group.thread_lane),
		cell_number(line->ranges),
		cell_number(line->kernels),
		cell_number(line->sums.total),
		cell_real(line->sums.mean),
		cell_real(line->sums.median),
		cell_number(line->sums.min),
		cell_number(line->sums.max),
		cell_real(line->sums.deviation),
		cell_from_text(hwy_text(summary->run->trace, line->group.kernel)),
	};
	report_row(summary->run, cells);
}

static void nvtx_kern_summarise(struct summary *summary, struct nvtx_sweep *sweep)
{
	sweep->take = nvtx_kern_add;
	sweep->self = summary;
	sweep->twice = true;
	hwy_strings_init(&summary->names);
	summary->name_of = hwy_zarray(sweep->tree.n, sizeof *summary->name_of);
	summary->counting = true;
	nvtx_sweep_visit(sweep);
	sums_open(&summary->sums);
	summary->counting = false;
	nvtx_sweep_visit(sweep);
	for (uint32_t i = 0; i < summary->n; i++)
		summary->lines[i].sums = sums_get(&summary->sums, i);
	if (summary->n)
		qsort_r(summary->lines, summary->n, sizeof *summary->lines, by_range_thread_total,
			summary);
	for (uint32_t i = 0; i < summary->n; i++)
		nvtx_kern_yield(summary, &summary->lines[i]);
}

bool make_nvtx_kern_sum(struct report_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {
		{"NVTX Range", STATS_TEXT}, {"Style", STATS_TEXT},      {"PID", STATS_ID},
		{"TID", STATS_ID},          {"NVTX Inst", STATS_COUNT}, {"Kern Inst", STATS_COUNT},
		{"Total Time", STATS_TIME}, {"Avg", STATS_TIME_MEAN},   {"Med", STATS_TIME_MEAN},
		{"Min", STATS_TIME},        {"Max", STATS_TIME},        {"StdDev", STATS_TIME_MEAN},
		{"Kernel Name", STATS_TEXT}};
	struct nvtx_sweep sweep;
	struct summary summary = {.run = run};
	bool ok = nvtx_sweep_open(&sweep, run, HWY_KIND_BIT(HWY_KERNEL), err);
	report_columns(run, columns, STATS_LENGTH(columns));
	if (ok && sweep.tree.n)
		nvtx_kern_summarise(&summary, &sweep);
	nvtx_sweep_close(&sweep);
	sums_free(&summary.sums);
	hwy_index_free(&summary.by_group);
	hwy_map_free(&summary.seen);
	hwy_strings_free(&summary.names);
	free(summary.lines);
	free(summary.name_of);
	free(summary.buffer.at);
	return ok;
}
