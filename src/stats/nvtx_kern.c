/* nvtx_kern.c - kernels by the ranges they were launched in.
 *
 * A kernel counts for every range around its call; kernels launched in no range come first, without a name.
 * A recording without any range has no rows.
 */
#include <stdlib.h>

#include "base/hash.h"
#include "stats/families.h"
#include "stats/nvtx_sweep.h"
#include "stats/sums.h"

struct group {
	int64_t range; /* its name and style, in 'names'; 0: in no range */
	int64_t thread_lane;
	int64_t kernel; /* text */
};
struct line {
	struct group group;
	uint32_t ranges, kernels; /* how many of each */
	struct sums_of of;
};
struct summary {
	struct stats_run *run;
	struct hwy_map map; /* hash of a group -> line */
	struct line *lines;
	uint32_t n, cap;
	struct sums sums;
	bool counting;
	struct hwy_map seen;      /* line, node */
	struct hwy_strings names; /* "S" or "P", then the range's name */
	uint32_t *name_of;        /* by node: its name in 'names' + 1 */
	struct word_buffer buffer;
};

static int64_t range_of(struct summary *summary, const struct sweep *sweep, uint32_t node)
{
	if (node == NO_NODE)
		return 0;
	if (summary->name_of[node] == 0) {
		const struct nvtx_node *at = &sweep->tree.nodes[node];
		struct hwy_text name = nvtx_name(summary->run, at, &summary->buffer);
		char *text = hwy_alloc((size_t)name.length + 1);
		text[0] = nvtx_style(summary->run, at)[0];
		memcpy(text + 1, name.at, name.length);
		summary->name_of[node] =
			hwy_intern(&summary->names, text, (size_t)name.length + 1) + 1;
		free(text);
	}
	return summary->name_of[node] - 1;
}

/* The line's number. The map is keyed by a hash; what collides tries the next key. */
static uint32_t nvtx_kern_line_of(struct summary *summary, const struct group *group)
{
	for (uint64_t key = hwy_hash(group, sizeof *group);; key++) {
		bool fresh;
		uint32_t *at = hwy_map_put(&summary->map, key, &fresh);
		if (fresh) {
			HWY_GROW(summary->lines, summary->n, summary->cap);
			*at = summary->n;
			summary->lines[summary->n++] = (struct line){.group = *group};
		}
		if (memcmp(&summary->lines[*at].group, group, sizeof *group) == 0)
			return *at;
	}
}

static void nvtx_kern_add(void *self, struct sweep *sweep, uint32_t node,
			  const struct hwy_strip *call, struct launched work, bool own)
{
	struct summary *summary = self;
	if (node != NO_NODE && !nvtx_keeps(summary->run, &sweep->tree.nodes[node]))
		return;
	struct group group = {range_of(summary, sweep, node), call->lane, 0};
	for (uint32_t i = 0; i < work.n; i++) {
		uint32_t row;
		const struct hwy_strip *kernel =
			hwy_strip_of(sweep->run->trace, work.spans[i], &row);
		group.kernel = hwy_get(kernel, HWY_NAME, row);
		uint32_t at = nvtx_kern_line_of(summary, &group);
		if (!summary->counting) {
			sums_put(&summary->sums, at, hwy_get(kernel, HWY_DUR, row));
			continue;
		}
		sums_expect(&summary->sums, at, 1);
		summary->lines[at].kernels +=
			own; /* the second record of a call has the same kernels */
		bool fresh = false;
		if (node != NO_NODE)
			hwy_map_put(&summary->seen, (uint64_t)at << 32 | node, &fresh);
		summary->lines[at].ranges += fresh;
	}
}

static int by_range_thread_total(const void *left, const void *right, void *self)
{
	const struct summary *summary = self;
	const struct line *a = left, *b = right;
	if (a->group.range != b->group.range) {
		const char *names[] = {summary->names.texts[a->group.range].at,
				       summary->names.texts[b->group.range].at};
		/* By name, then by style: the style is the first letter. */
		int order =
			strcmp(names[0][0] ? names[0] + 1 : "", names[1][0] ? names[1] + 1 : "");
		return order ? order : strcmp(names[0], names[1]);
	}
	if (a->group.thread_lane != b->group.thread_lane) {
		struct stats_cell pids[] = {
			pid_cell(summary->run->trace, (uint32_t)a->group.thread_lane),
			pid_cell(summary->run->trace, (uint32_t)b->group.thread_lane)};
		struct stats_cell tids[] = {
			tid_cell(summary->run->trace, (uint32_t)a->group.thread_lane),
			tid_cell(summary->run->trace, (uint32_t)b->group.thread_lane)};
		if (pids[0].number != pids[1].number)
			return pids[0].number < pids[1].number ? -1 : 1;
		if (tids[0].number != tids[1].number)
			return tids[0].number < tids[1].number ? -1 : 1;
	}
	if (a->of.total != b->of.total)
		return a->of.total < b->of.total ? 1 : -1;
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
		cell_text(range),
		cell_textz(style),
		pid_cell(summary->run->trace, (uint32_t)line->group.thread_lane),
		tid_cell(summary->run->trace, (uint32_t)line->group.thread_lane),
		cell_number(line->ranges),
		cell_number(line->kernels),
		cell_number(line->of.total),
		cell_real(line->of.mean),
		cell_real(line->of.median),
		cell_number(line->of.min),
		cell_number(line->of.max),
		cell_real(line->of.deviation),
		cell_text(hwy_text(summary->run->trace, line->group.kernel)),
	};
	run_row(summary->run, cells);
}

static void summarise(struct summary *summary, struct sweep *sweep)
{
	sweep->take = nvtx_kern_add;
	sweep->self = summary;
	sweep->twice = true;
	hwy_strings_init(&summary->names);
	summary->name_of = hwy_zalloc(((size_t)sweep->tree.n + 1) * sizeof *summary->name_of);
	summary->counting = true;
	sweep_visit(sweep);
	sums_open(&summary->sums);
	summary->counting = false;
	sweep_visit(sweep);
	for (uint32_t i = 0; i < summary->n; i++)
		summary->lines[i].of = sums_get(&summary->sums, i);
	if (summary->n)
		qsort_r(summary->lines, summary->n, sizeof *summary->lines, by_range_thread_total,
			summary);
	for (uint32_t i = 0; i < summary->n; i++)
		nvtx_kern_yield(summary, &summary->lines[i]);
}

bool make_nvtx_kern_sum(struct stats_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {
		{"NVTX Range", STATS_TEXT}, {"Style", STATS_TEXT},      {"PID", STATS_ID},
		{"TID", STATS_ID},          {"NVTX Inst", STATS_COUNT}, {"Kern Inst", STATS_COUNT},
		{"Total Time", STATS_TIME}, {"Avg", STATS_TIME_MEAN},   {"Med", STATS_TIME_MEAN},
		{"Min", STATS_TIME},        {"Max", STATS_TIME},        {"StdDev", STATS_TIME_MEAN},
		{"Kernel Name", STATS_TEXT}};
	struct sweep sweep;
	struct summary summary = {.run = run};
	bool ok = sweep_open(&sweep, run, HWY_KIND_BIT(HWY_KERNEL), err);
	run_columns(run, columns, STATS_LENGTH(columns));
	if (ok && sweep.tree.n)
		summarise(&summary, &sweep);
	sweep_close(&sweep);
	sums_free(&summary.sums);
	hwy_map_free(&summary.map);
	hwy_map_free(&summary.seen);
	hwy_strings_free(&summary.names);
	free(summary.lines);
	free(summary.name_of);
	free(summary.buffer.at);
	return ok;
}
