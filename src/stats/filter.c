/* filter.c - see filter.h.
 *
 * A window keeps what overlaps it, as nsys's --filter-time does; nothing is cut. A range keeps calls, ranges
 * and operators that lie inside it on its thread, and device work by the call that enqueued it, wherever
 * and whenever it ran. Work without a known call is left out then.
 */
#include "stats/filter.h"

#include <stdlib.h>

#include "base/mem.h"
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
	const struct filter_spot *a = left, *b = right;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->end < b->end) - (a->end > b->end);
}

static bool same_place(const struct filter_spot *a, const struct filter_spot *b)
{
	return a->process == b->process && a->thread == b->thread;
}

/* Nested ranges of one name become one interval. */
static void merge(struct filter *filter)
{
	qsort(filter->spots, filter->n, sizeof *filter->spots, filter_by_place);
	uint32_t kept = 0;
	for (uint32_t i = 0; i < filter->n; i++) {
		struct filter_spot *last = kept ? &filter->spots[kept - 1] : NULL;
		if (last && same_place(last, &filter->spots[i]) &&
		    filter->spots[i].start < last->end)
			last->end =
				filter->spots[i].end > last->end ? filter->spots[i].end : last->end;
		else
			filter->spots[kept++] = filter->spots[i];
	}
	filter->n = kept;
}

static void add_ranges(struct filter *filter, const struct hwy_trace *trace,
		       const struct hwy_strip *strip, const char *wanted)
{
	const struct hwy_lane *lane = &trace->lanes[strip->lane];
	int64_t known = HWY_NONE; /* names repeat: compare each once in a row */
	for (uint32_t row = 0; row < strip->rows; row++) {
		int64_t name = hwy_get(strip, HWY_NAME, row);
		if (name != known && !name_matches(trace, strip->lane, name, wanted))
			continue;
		known = name;
		if (hwy_get(strip, HWY_FLAGS, row) & HWY_FLAG_MARK)
			continue;
		HWY_GROW(filter->spots, filter->n, filter->cap);
		filter->spots[filter->n++] =
			(struct filter_spot){lane->process, lane->thread,
					     hwy_get(strip, HWY_START, row), hwy_end(strip, row)};
	}
}

bool filter_open(struct filter *filter, struct hwy_trace *trace,
		 const struct stats_options *options, struct hwy_err *err)
{
	*filter =
		(struct filter){.from = options->from, .to = options->to, .ranged = options->range};
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
	free(filter->spots);
	*filter = (struct filter){0};
}

uint64_t filter_columns(const struct filter *filter)
{
	uint64_t columns = filter_is_on(filter) ? HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) : 0;
	return columns | (filter->ranged ? HWY_COL_BIT(HWY_LINK) : 0);
}

/* Is [start, end] inside an interval of this very thread (or process)? */
static bool filter_inside(const struct filter *filter, struct filter_spot span)
{
	uint32_t low = 0,
		 high = filter->n; /* the last interval that starts at or before the span */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct filter_spot *at = &filter->spots[middle];
		bool before = at->process != span.process ? at->process < span.process
			      : at->thread != span.thread ? at->thread < span.thread
							  : at->start <= span.start;
		if (before)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return false;
	const struct filter_spot *at = &filter->spots[low - 1];
	return same_place(at, &span) && at->start <= span.start && span.end <= at->end;
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
	if (!filter->ranged)
		return true;
	if (HWY_DEVICE_KINDS & HWY_KIND_BIT(strip->kind)) {
		int64_t link = hwy_get(strip, HWY_LINK, row);
		if (link <= 0)
			return false;
		strip = hwy_strip_of(trace, (uint32_t)(link - 1), &row);
	}
	const struct hwy_lane *lane = &trace->lanes[strip->lane];
	struct filter_spot span = {lane->process, lane->thread, hwy_get(strip, HWY_START, row),
				   hwy_end(strip, row)};
	if (filter_inside(filter, span))
		return true;
	span.thread = HWY_NONE; /* start/end ranges belong to the whole process */
	return filter_inside(filter, span);
}
