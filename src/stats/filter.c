/* SPDX-License-Identifier: Apache-2.0 */
/* filter.c - see filter.h.
 *
 * A window keeps what overlaps it, as nsys's --filter-time does; nothing is cut. A range keeps
 * calls, ranges and operators that lie inside it on its thread, and device work by the call that
 * enqueued it, wherever and whenever the work ran. Work without a recorded call is then left
 * out.
 */
#include "stats/filter.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/search.h"
#include "stats/stats.h"

static bool name_matches(const struct hwy_trace *trace, uint32_t lane, int64_t name,
			 const char *wanted)
{
	const char *text = hwy_str(trace, name), *domain = hwy_str(trace, trace->lanes[lane].name);
	if (strcmp(text, wanted) == 0)
		return true;
	size_t n = strlen(domain);
	return strncmp(wanted, domain, n) == 0 && wanted[n] == ':' &&
	       strcmp(wanted + n + 1, text) == 0;
}

static int filter_by_place(const void *left, const void *right)
{
	const struct filter_interval *a = left, *b = right;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->end < b->end) - (a->end > b->end);
}

static bool same_place(const struct filter_interval *a, const struct filter_interval *b)
{
	return a->process == b->process && a->thread == b->thread;
}

/* Joins nested ranges of one name into one interval. */
static void merge(struct filter *filter)
{
	qsort(filter->intervals, filter->n, sizeof *filter->intervals, filter_by_place);
	uint32_t kept = 0;
	for (uint32_t i = 0; i < filter->n; i++) {
		struct filter_interval *last = kept ? &filter->intervals[kept - 1] : NULL;
		if (last && same_place(last, &filter->intervals[i]) &&
		    filter->intervals[i].start < last->end)
			last->end = filter->intervals[i].end > last->end ? filter->intervals[i].end
									 : last->end;
		else
			filter->intervals[kept++] = filter->intervals[i];
	}
	filter->n = kept;
}

static void add_ranges(struct filter *filter, const struct hwy_trace *trace,
		       const struct hwy_strip *strip, const char *wanted)
{
	const struct hwy_lane *lane = &trace->lanes[strip->lane];
	/* A cache: the last name that matched is not compared again. */
	int64_t last_match = HWY_NONE;
	for (uint32_t row = 0; row < strip->rows; row++) {
		int64_t name = hwy_get(strip, HWY_NAME, row);
		if (name != last_match && !name_matches(trace, strip->lane, name, wanted))
			continue;
		last_match = name;
		if (hwy_get(strip, HWY_FLAGS, row) & HWY_FLAG_MARK)
			continue;
		HWY_GROW(filter->intervals, filter->n, filter->cap);
		filter->intervals[filter->n++] = (struct filter_interval){
			lane->process, lane->thread, hwy_get(strip, HWY_START, row),
			hwy_end(strip, row)};
	}
}

bool filter_open(struct filter *filter, struct hwy_trace *trace,
		 const struct stats_options *options, struct hwy_err *err)
{
	*filter = (struct filter){.from = options->from,
				  .to = options->to,
				  .ranged = options->range,
				  .has_rank = options->has_rank,
				  .rank = options->rank};
	filter->timed = options->from != INT64_MIN || options->to != INT64_MAX;
	if (!filter->ranged)
		return true;
	uint64_t columns = HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR);
	if (!hwy_need(trace, HWY_KIND_BIT(HWY_RANGE),
		      columns | HWY_COL_BIT(HWY_NAME) | HWY_COL_BIT(HWY_FLAGS), err) ||
	    !hwy_need(trace, HWY_KIND_BIT(HWY_API), columns, err))
		return false;
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if (trace->strips[s].kind == HWY_RANGE &&
		    trace->lanes[trace->strips[s].lane].type != HWY_LANE_DEVICE_RANGE)
			add_ranges(filter, trace, &trace->strips[s], options->range);
	if (filter->n == 0)
		return hwy_fail(err,
				"no range is named '%s'; 'headway stats -r nvtx_sum' lists them",
				options->range);
	merge(filter);
	return true;
}

void filter_close(struct filter *filter)
{
	free(filter->intervals);
	*filter = (struct filter){0};
}

uint64_t filter_columns(const struct filter *filter)
{
	uint64_t columns = filter_is_on(filter) ? HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) : 0;
	return columns | (filter->ranged ? HWY_COL_BIT(HWY_LINK) : 0);
}

/* Compares two intervals by process, thread and start. */
static bool starts_after(const struct filter_interval *interval, const struct filter_interval *span)
{
	return interval->process != span->process ? interval->process > span->process
	       : interval->thread != span->thread ? interval->thread > span->thread
						  : interval->start > span->start;
}

/* Whether the span lies inside one interval of the same process and thread (thread HWY_NONE: of
 * the whole process). */
static bool filter_inside(const struct filter *filter, struct filter_interval span)
{
	uint32_t after = HWY_FIRST(i, 0u, filter->n, starts_after(&filter->intervals[i], &span));
	if (after == 0)
		return false;
	const struct filter_interval *last = &filter->intervals[after - 1];
	return same_place(last, &span) && last->start <= span.start && span.end <= last->end;
}

static bool is_of_rank(const struct hwy_trace *trace, uint32_t lane, int64_t rank)
{
	int64_t process = trace->lanes[lane].process;
	return process != HWY_NONE && trace->processes[process].rank == rank;
}

bool filter_keeps(const struct filter *filter, const struct hwy_trace *trace,
		  const struct hwy_strip *strip, uint32_t row)
{
	if (filter->timed) {
		int64_t start = hwy_get(strip, HWY_START, row), end = hwy_end(strip, row);
		if (start >= filter->to || end < filter->from ||
		    (end == filter->from && start < end))
			return false;
	}
	if (filter->has_rank && !is_of_rank(trace, strip->lane, filter->rank))
		return false;
	if (!filter->ranged)
		return true;
	if (HWY_DEVICE_KINDS & HWY_KIND_BIT(strip->kind)) {
		uint32_t call;
		if (!hwy_get_index(strip, HWY_LINK, row, &call))
			return false;
		strip = hwy_strip_of(trace, call, &row);
	}
	const struct hwy_lane *lane = &trace->lanes[strip->lane];
	struct filter_interval span = {lane->process, lane->thread, hwy_get(strip, HWY_START, row),
				       hwy_end(strip, row)};
	if (filter_inside(filter, span))
		return true;
	span.thread = HWY_NONE; /* start/end ranges belong to the whole process */
	return filter_inside(filter, span);
}
