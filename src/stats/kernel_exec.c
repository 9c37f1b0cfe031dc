/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_exec.c - kernels with the calls that launched them: time in the call, in the queue, on
 * the device.
 *
 * The time in the queue runs from the call's end to the kernel's start; a kernel that starts
 * before has none. The total runs from the call's start to the later of the two ends. A kernel
 * launched by a call that was recorded twice has two rows, as in nsys.
 */
#include <stdlib.h>

#include "base/index.h"
#include "stats/families.h"
#include "stats/launches.h"
#include "stats/merge.h"
#include "stats/nsys_labels.h"
#include "stats/sums.h"

struct pair { /* a kernel and its call */
	const struct hwy_strip *call, *kernel;
	uint32_t call_row, kernel_row;
	int64_t call_start, call_end, start, end;
};

static int64_t queue_ns(const struct pair *pair)
{
	return pair->start - pair->call_end;
}

static int64_t total_ns(const struct pair *pair)
{
	return (pair->call_end > pair->end ? pair->call_end : pair->end) - pair->call_start;
}

struct pairs { /* hands all pairs to 'take', in order of the calls' starts, then of the kernels' */
	struct report_run *run;
	struct launches launches;
	void (*take)(void *self, const struct pair *pair);
	void *self;
	struct ordered {
		int64_t start;
		uint32_t span;
	} * order;
	uint32_t cap;
};

static int kernel_exec_by_start(const void *left, const void *right)
{
	const struct ordered *a = left, *b = right;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->span > b->span) - (a->span < b->span);
}

static void visit_call(struct pairs *pairs, const struct hwy_strip *call, uint32_t row)
{
	const struct hwy_trace *trace = pairs->run->trace;
	struct launched work = launches_by_call_or_twin(&pairs->launches, trace, call, row);
	struct pair pair = {.call = call,
			    .call_row = row,
			    .call_start = hwy_get(call, HWY_START, row),
			    .call_end = hwy_end(call, row)};
	while (pairs->cap < work.n)
		pairs->order = hwy_grow(pairs->order, &pairs->cap, sizeof *pairs->order);
	for (uint32_t i = 0; i < work.n; i++) {
		pair.kernel = hwy_strip_of(trace, work.spans[i], &pair.kernel_row);
		pairs->order[i] = (struct ordered){hwy_get(pair.kernel, HWY_START, pair.kernel_row),
						   work.spans[i]};
	}
	if (work.n > 1)
		qsort(pairs->order, work.n, sizeof *pairs->order, kernel_exec_by_start);
	for (uint32_t i = 0; i < work.n; i++) {
		pair.kernel = hwy_strip_of(trace, pairs->order[i].span, &pair.kernel_row);
		pair.start = pairs->order[i].start;
		pair.end = hwy_end(pair.kernel, pair.kernel_row);
		pairs->take(pairs->self, &pair);
	}
}

static bool pairs_open(struct pairs *pairs, struct report_run *run, uint64_t columns,
		       struct hwy_err *err)
{
	uint64_t timed = HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_NAME);
	*pairs = (struct pairs){.run = run};
	return hwy_need(run->trace, HWY_KIND_BIT(HWY_KERNEL), timed | columns, err) &&
	       hwy_need(run->trace, HWY_KIND_BIT(HWY_API), timed, err) &&
	       launches_open(&pairs->launches, run, HWY_KIND_BIT(HWY_KERNEL), err);
}

static void pairs_close(struct pairs *pairs)
{
	launches_close(&pairs->launches);
	free(pairs->order);
}

/* Visits the calls without the filter. The filter has chosen the kernels, and a kernel counts even
 * if its call lies outside the filter. */
static void pairs_visit(struct pairs *pairs, void (*take)(void *self, const struct pair *pair),
			void *self)
{
	struct report_run all = {.trace = pairs->run->trace};
	struct merge merge;
	pairs->take = take;
	pairs->self = self;
	merge_open(&merge, &all, HWY_KIND_BIT(HWY_API));
	while (merge_next(&merge))
		if (!hwy_lane_is_opencl(pairs->run->trace, merge.strip->lane))
			visit_call(pairs, merge.strip, merge.row);
	merge_close(&merge);
}

/* ---- one row for each kernel ----------------------------------------------------------------- */

static void yield_pair(void *self, const struct pair *pair)
{
	struct report_run *run = self;
	const struct hwy_trace *trace = run->trace;
	bool waited = queue_ns(pair) > 0;
	static const struct hwy_shape none;
	const struct hwy_shape *shape = hwy_get_shape(trace, pair->kernel, pair->kernel_row);
	shape = shape ? shape : &none;
	char grid[NSYS_LABEL_DIMENSIONS_BYTES], block[NSYS_LABEL_DIMENSIONS_BYTES];
	struct stats_cell cells[] = {
		cell_number(pair->call_start),
		cell_number(pair->call_end - pair->call_start),
		waited ? cell_number(pair->call_end) : cell_empty(),
		waited ? cell_number(queue_ns(pair)) : cell_empty(),
		cell_number(pair->start),
		cell_number(pair->end - pair->start),
		cell_number(total_ns(pair)),
		cell_pid(trace, pair->call->lane),
		cell_tid(trace, pair->call->lane),
		cell_number_or_empty(report_device_number(trace, pair->kernel->lane)),
		cell_from_text(nsys_label_call(
			hwy_text(trace, hwy_get(pair->call, HWY_NAME, pair->call_row)))),
		cell_from_text(
			nsys_label_dimensions(shape->grid_x, shape->grid_y, shape->grid_z, grid)),
		cell_from_text(nsys_label_dimensions(shape->block_x, shape->block_y, shape->block_z,
						     block)),
		cell_from_text(hwy_text(trace, hwy_get(pair->kernel, HWY_NAME, pair->kernel_row))),
	};
	report_row(run, cells);
}

bool make_cuda_kern_exec_trace(struct report_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {{"API Start", STATS_MOMENT},
						      {"API Dur", STATS_TIME},
						      {"Queue Start", STATS_MOMENT},
						      {"Queue Dur", STATS_TIME},
						      {"Kernel Start", STATS_MOMENT},
						      {"Kernel Dur", STATS_TIME},
						      {"Total Dur", STATS_TIME},
						      {"PID", STATS_ID},
						      {"TID", STATS_ID},
						      {"DevId", STATS_ID},
						      {"API Function", STATS_TEXT},
						      {"GridXYZ", STATS_TEXT},
						      {"BlockXYZ", STATS_TEXT},
						      {"Kernel Name", STATS_TEXT}};
	struct pairs pairs;
	bool ok = pairs_open(&pairs, run, HWY_COL_BIT(HWY_SHAPE), err);
	if (ok) {
		report_columns(run, columns, STATS_LENGTH(columns));
		pairs_visit(&pairs, yield_pair, run);
	}
	pairs_close(&pairs);
	return ok;
}

/* ---- summed up ------------------------------------------------------------------------------- */

enum { TOTAL, CALL, QUEUE, KERNEL, PARTS };

/* the pairs with the same thread, device, call and kernel name; a hash key, so it has no padding */
struct group {
	int64_t thread_lane, device, call, kernel;
};
struct summary {
	struct report_run *run;
	struct hwy_index by_group; /* finds the elements of 'groups' by their keys */
	struct group *groups;
	uint32_t n, cap;
	struct sums parts[PARTS];
	bool counting; /* true in the first of two rounds, which only counts the values (sums.h) */
	struct hwy_strings names; /* the labels of calls: equal labels are one group */
};

static uint32_t number_of_group(struct summary *summary, const struct group *group)
{
	bool fresh;
	uint32_t *number = hwy_index_put_element(&summary->by_group, summary->groups, sizeof *group,
						 group, sizeof *group, &fresh);
	if (fresh) {
		HWY_GROW(summary->groups, summary->n, summary->cap);
		*number = summary->n;
		summary->groups[summary->n++] = *group;
	}
	return *number;
}

static void sum_pair(void *self, const struct pair *pair)
{
	struct summary *summary = self;
	const struct hwy_trace *trace = summary->run->trace;
	struct hwy_text call =
		nsys_label_call(hwy_text(trace, hwy_get(pair->call, HWY_NAME, pair->call_row)));
	struct group group = {
		.thread_lane = pair->call->lane,
		.device = report_device_number(trace, pair->kernel->lane),
		.call = hwy_intern(&summary->names, call.at, call.length),
		.kernel = hwy_get(pair->kernel, HWY_NAME, pair->kernel_row),
	};
	uint32_t g = number_of_group(summary, &group);
	const int64_t values[PARTS] = {total_ns(pair), pair->call_end - pair->call_start,
				       queue_ns(pair), pair->end - pair->start};
	for (unsigned part = 0; part < PARTS; part++) {
		bool counts = part != QUEUE || values[part] > 0;
		if (summary->counting)
			sums_expect(&summary->parts[part], g, counts);
		else if (counts)
			sums_put(&summary->parts[part], g, values[part]);
	}
}

struct line {
	struct sums_result parts[PARTS];
	uint32_t group;
};

static int by_mean_total(const void *left, const void *right)
{
	const struct line *a = left, *b = right;
	if (a->parts[TOTAL].mean != b->parts[TOTAL].mean)
		return a->parts[TOTAL].mean < b->parts[TOTAL].mean ? 1 : -1;
	return (a->group > b->group) - (a->group < b->group);
}

static void yield_line(struct summary *summary, const struct line *line)
{
	const struct hwy_trace *trace = summary->run->trace;
	const struct group *group = &summary->groups[line->group];
	struct stats_cell cells[7 + 5 * PARTS];
	uint32_t n = 0;
	cells[n++] = cell_pid(trace, (uint32_t)group->thread_lane);
	cells[n++] = cell_tid(trace, (uint32_t)group->thread_lane);
	cells[n++] = cell_number_or_empty(group->device);
	cells[n++] = cell_number(line->parts[TOTAL].count);
	cells[n++] = cell_number(line->parts[QUEUE].count);
	for (unsigned part = 0; part < PARTS; part++) {
		const struct sums_result *sums = &line->parts[part];
		cells[n++] = cell_real(sums->mean);
		cells[n++] = cell_real(sums->median);
		cells[n++] = cell_number(sums->min);
		cells[n++] = cell_number(sums->max);
		for (uint32_t i = n - 4; i < n; i++)
			cells[i].empty = sums->count == 0;
		cells[n++] =
			cell_real(sums->deviation); /* nsys prints 0.0 when nothing was queued */
	}
	cells[n++] = cell_from_text(summary->names.texts[group->call]);
	cells[n++] = cell_from_text(hwy_text(trace, group->kernel));
	report_row(summary->run, cells);
}

static void yield_lines(struct summary *summary)
{
	struct line *lines = hwy_zarray(summary->n, sizeof *lines);
	for (uint32_t g = 0; g < summary->n; g++) {
		lines[g].group = g;
		for (unsigned part = 0; part < PARTS; part++)
			lines[g].parts[part] = sums_get(&summary->parts[part], g);
	}
	qsort(lines, summary->n, sizeof *lines, by_mean_total);
	for (uint32_t g = 0; g < summary->n; g++)
		yield_line(summary, &lines[g]);
	free(lines);
}

/* Fills the five columns of one element of PARTS. */
#define PART(letter)                                                                               \
	{letter "Avg", STATS_TIME_MEAN}, {letter "Med", STATS_TIME_MEAN},                          \
		{letter "Min", STATS_TIME}, {letter "Max", STATS_TIME},                            \
	{                                                                                          \
		letter "StdDev", STATS_TIME_MEAN                                                   \
	}

bool make_cuda_kern_exec_sum(struct report_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {{"PID", STATS_ID},
						      {"TID", STATS_ID},
						      {"DevId", STATS_ID},
						      {"Count", STATS_COUNT},
						      {"QCount", STATS_COUNT},
						      PART("T"),
						      PART("A"),
						      PART("Q"),
						      PART("K"),
						      {"API Name", STATS_TEXT},
						      {"Kernel Name", STATS_TEXT}};
	struct summary summary = {.run = run, .counting = true};
	struct pairs pairs;
	bool ok = pairs_open(&pairs, run, 0, err);
	hwy_strings_init(&summary.names);
	if (ok) {
		report_columns(run, columns, STATS_LENGTH(columns));
		pairs_visit(&pairs, sum_pair, &summary);
		for (unsigned part = 0; part < PARTS; part++)
			sums_open(&summary.parts[part]);
		summary.counting = false;
		pairs_visit(&pairs, sum_pair, &summary);
		yield_lines(&summary);
	}
	for (unsigned part = 0; part < PARTS; part++)
		sums_free(&summary.parts[part]);
	hwy_strings_free(&summary.names);
	hwy_index_free(&summary.by_group);
	free(summary.groups);
	pairs_close(&pairs);
	return ok;
}
