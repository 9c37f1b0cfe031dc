/* SPDX-License-Identifier: Apache-2.0 */
/* filter.h - which spans count for a report or an export: those in a window of time, inside
 * ranges of one name, or of one rank. */
#ifndef HWY_STATS_FILTER_H
#define HWY_STATS_FILTER_H

#include "trace/trace.h"

struct stats_options;

struct filter {
	int64_t from, to;   /* the window of time in ns */
	bool timed, ranged; /* timed: the window is checked; ranged: the intervals are checked */
	bool has_rank;      /* the rank of the span's process is checked */
	int64_t rank;
	/* a range of the wanted name, on a thread or (thread HWY_NONE) in a process */
	struct filter_interval {
		int64_t process, thread, start, end;
		/* Sorted by process, thread and start; the intervals of one thread are disjoint. */
	} * intervals;
	uint32_t n, cap;
};

/* Finds the ranges named by options->range; yields false, with a sentence in err, where no range
 * has that name. */
bool filter_open(struct filter *filter, struct hwy_trace *trace,
		 const struct stats_options *options, struct hwy_err *err);
void filter_close(struct filter *filter);

static inline bool filter_is_on(const struct filter *filter)
{
	return filter->timed || filter->ranged || filter->has_rank;
}
/* The columns that filter_keeps reads of a span: callers pass them to hwy_need, for the kinds
 * that they filter. filter_open has loaded the calls that device work links to. */
uint64_t filter_columns(const struct filter *filter);
/* Whether the span counts. Device work lies inside a range where the call that launched it does. */
bool filter_keeps(const struct filter *filter, const struct hwy_trace *trace,
		  const struct hwy_strip *strip, uint32_t row);

#endif
