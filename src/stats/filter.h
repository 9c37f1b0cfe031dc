/* filter.h - which spans a report is about: a window of time, ranges of one name. */
#ifndef HWY_STATS_FILTER_H
#define HWY_STATS_FILTER_H

#include "trace/trace.h"

struct stats_options;

struct filter {
	int64_t from, to;
	bool timed, ranged;  /* what there is to check */
	struct filter_spot { /* an interval of a thread, or of a process (thread HWY_NONE) */
		int64_t process, thread, start, end;
	} * spots; /* sorted, disjoint in their thread or process */
	uint32_t n, cap;
};

/* Finds the ranges asked for; false when there are none of that name. */
bool filter_open(struct filter *filter, struct hwy_trace *trace,
		 const struct stats_options *options, struct hwy_err *err);
void filter_close(struct filter *filter);

static inline bool filter_is_on(const struct filter *filter)
{
	return filter->timed || filter->ranged;
}
/* Columns a filter looks at, for a hwy_need of the same kinds; the calls that device work links to are
 * brought in by filter_open. */
uint64_t filter_columns(const struct filter *filter);
/* Device work: was it launched inside such a range? The rest: did it happen inside? */
bool filter_keeps(const struct filter *filter, const struct hwy_trace *trace,
		  const struct hwy_strip *strip, uint32_t row);

#endif
