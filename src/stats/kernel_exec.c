/* kernel_exec.c - kernels with the calls that launched them: in the call, in the queue, on the device.
 *
 * The queue's time runs from the call's end to the kernel's start, and is there only when it is positive.
 * The total runs from the call's start to the later of the two ends. A kernel launched by a call that was
 * recorded twice has two rows, as in nsys.
 */
#include <stdlib.h>

#include "base/hash.h"
#include "stats/families.h"
#include "stats/launches.h"
#include "stats/merge.h"
#include "stats/sums.h"

struct pair { /* a kernel and its call */
	const struct hwy_strip *call, *kernel;
	uint32_t call_row, kernel_row;
	int64_t call_start, call_end, start, end;
};

static int64_t queued(const struct pair *pair)
{
	return pair->start - pair->call_end;
}

static int64_t total(const struct pair *pair)
{
	return (pair->call_end > pair->end ? pair->call_end : pair->end) - pair->call_start;
}

struct pairs { /* goes through all pairs in order of the calls' starts, then the kernels' */
	struct stats_run *run;
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
	struct launched work = launches_of_either(&pairs->launches, trace, call, row);
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

static bool pairs_open(struct pairs *pairs, struct stats_run *run, uint64_t columns,
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

/* The filter has chosen the kernels already; a window does not drop a kernel for its call. */
static void pairs_visit(struct pairs *pairs, void (*take)(void *self, const struct pair *pair),
			void *self)
{
	struct stats_run all = {.trace = pairs->run->trace};
	struct merge merge;
	pairs->take = take;
	pairs->self = self;
	merge_open(&merge, &all, HWY_KIND_BIT(HWY_API));
	while (merge_next(&merge))
		if (!hwy_lane_is_opencl(pairs->run->trace, merge.strip->lane))
			visit_call(pairs, merge.strip, merge.row);
	merge_close(&merge);
}

/* ---- one row a kernel ----------------------------------------------------------------------------- */

static void yield_pair(void *self, const struct pair *pair)
{
	struct stats_run *run = self;
	const struct hwy_trace *trace = run->trace;
	bool waited = queued(pair) > 0;
	int64_t index = hwy_get(pair->kernel, HWY_SHAPE, pair->kernel_row);
	static const struct hwy_shape none;
	const struct hwy_shape *shape =
		index > 0 && index <= trace->n_shapes ? &trace->shapes[index - 1] : &none;
	char grid[WORD_DIMENSIONS], block[WORD_DIMENSIONS];
	struct stats_cell cells[] = {
		cell_number(pair->call_start),
		cell_number(pair->call_end - pair->call_start),
		waited ? cell_number(pair->call_end) : cell_empty(),
		waited ? cell_number(queued(pair)) : cell_empty(),
		cell_number(pair->start),
		cell_number(pair->end - pair->start),
		cell_number(total(pair)),
		pid_cell(trace, pair->call->lane),
		tid_cell(trace, pair->call->lane),
		cell_known(device_number(trace, pair->kernel->lane)),
		cell_text(word_of_call(
			hwy_text(trace, hwy_get(pair->call, HWY_NAME, pair->call_row)))),
		cell_text(word_of_dimensions(shape->grid_x, shape->grid_y, shape->grid_z, grid)),
		cell_text(
			word_of_dimensions(shape->block_x, shape->block_y, shape->block_z, block)),
		cell_text(hwy_text(trace, hwy_get(pair->kernel, HWY_NAME, pair->kernel_row))),
	};
	run_row(run, cells);
}

bool make_cuda_kern_exec_trace(struct stats_run *run, struct hwy_err *err)
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
		run_columns(run, columns, STATS_LENGTH(columns));
		pairs_visit(&pairs, yield_pair, run);
	}
	pairs_close(&pairs);
	return ok;
}

/* ---- summed up ------------------------------------------------------------------------------------ */

enum { TOTAL, CALL, QUEUE, KERNEL, PARTS };

struct group { /* pairs with the same thread, device, call and kernel name */
	uint32_t thread_lane;
	int64_t device, call, kernel;
};
struct summary {
	struct stats_run *run;
	struct hwy_map map;
	struct group *groups;
	uint32_t n, cap;
	struct sums parts[PARTS];
	bool counting;
	struct hwy_strings names; /* calls' names as shown: equal ones are one group */
};

static bool same_group(const struct group *a, const struct group *b)
{
	return a->thread_lane == b->thread_lane && a->device == b->device && a->call == b->call &&
	       a->kernel == b->kernel;
}

/* The group's number. The map is keyed by a hash; what collides tries the next key. */
static uint32_t group_of(struct summary *summary, const struct group *group)
{
	uint64_t key = hwy_hash(group, sizeof *group);
	for (;; key++) {
		bool fresh;
		uint32_t *at = hwy_map_put(&summary->map, key, &fresh);
		if (fresh) {
			HWY_GROW(summary->groups, summary->n, summary->cap);
			*at = summary->n;
			summary->groups[summary->n++] = *group;
		}
		if (same_group(&summary->groups[*at], group))
			return *at;
	}
}

static void sum_pair(void *self, const struct pair *pair)
{
	struct summary *summary = self;
	const struct hwy_trace *trace = summary->run->trace;
	struct hwy_text call =
		word_of_call(hwy_text(trace, hwy_get(pair->call, HWY_NAME, pair->call_row)));
	struct group group;
	memset(&group, 0, sizeof group); /* it is hashed, holes included */
	group.thread_lane = pair->call->lane;
	group.device = device_number(trace, pair->kernel->lane);
	group.call = hwy_intern(&summary->names, call.at, call.length);
	group.kernel = hwy_get(pair->kernel, HWY_NAME, pair->kernel_row);
	uint32_t g = group_of(summary, &group);
	const int64_t values[PARTS] = {total(pair), pair->call_end - pair->call_start, queued(pair),
				       pair->end - pair->start};
	for (unsigned part = 0; part < PARTS; part++) {
		bool counts = part != QUEUE || values[part] > 0;
		if (summary->counting)
			sums_expect(&summary->parts[part], g, counts);
		else if (counts)
			sums_put(&summary->parts[part], g, values[part]);
	}
}

struct line {
	struct sums_of parts[PARTS];
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
	cells[n++] = pid_cell(trace, group->thread_lane);
	cells[n++] = tid_cell(trace, group->thread_lane);
	cells[n++] = cell_known(group->device);
	cells[n++] = cell_number(line->parts[TOTAL].count);
	cells[n++] = cell_number(line->parts[QUEUE].count);
	for (unsigned part = 0; part < PARTS; part++) {
		const struct sums_of *of = &line->parts[part];
		cells[n++] = cell_real(of->mean);
		cells[n++] = cell_real(of->median);
		cells[n++] = cell_number(of->min);
		cells[n++] = cell_number(of->max);
		for (uint32_t i = n - 4; i < n; i++)
			cells[i].empty = of->count == 0;
		cells[n++] = cell_real(of->deviation); /* nsys prints 0.0 when nothing was queued */
	}
	cells[n++] = cell_text(summary->names.texts[group->call]);
	cells[n++] = cell_text(hwy_text(trace, group->kernel));
	run_row(summary->run, cells);
}

static void yield_lines(struct summary *summary)
{
	struct line *lines = hwy_zalloc((size_t)summary->n * sizeof *lines + 1);
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

#define PART(letter)                                                                               \
	{letter "Avg", STATS_TIME_MEAN}, {letter "Med", STATS_TIME_MEAN},                          \
		{letter "Min", STATS_TIME}, {letter "Max", STATS_TIME},                            \
	{                                                                                          \
		letter "StdDev", STATS_TIME_MEAN                                                   \
	}

bool make_cuda_kern_exec_sum(struct stats_run *run, struct hwy_err *err)
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
		run_columns(run, columns, STATS_LENGTH(columns));
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
	hwy_map_free(&summary.map);
	free(summary.groups);
	pairs_close(&pairs);
	return ok;
}
