/* launches.h - the device work of each call: the links of the trace, turned round. */
#ifndef HWY_STATS_LAUNCHES_H
#define HWY_STATS_LAUNCHES_H

#include "stats/report_run.h"

struct launches {
	uint32_t *base;  /* by strip: the number of its first call (API strips only) */
	uint32_t *first; /* by call: where its work begins in 'spans'; one more at the end */
	uint32_t *spans; /* ids of device spans, by call, then by id */
};
struct launched {
	const uint32_t *spans;
	uint32_t n;
};

/* Of the device spans of these kinds that the filter keeps. Brings in LINK of them, and CORR of calls. */
bool launches_open(struct launches *launches, struct stats_run *run, uint32_t kinds,
		   struct hwy_err *err);
void launches_close(struct launches *launches);

/* What a call enqueued. */
struct launched launches_of(const struct launches *launches, const struct hwy_trace *trace,
			    const struct hwy_strip *strip, uint32_t row);
/* The same where a call was recorded twice, with its stack and without (one inside the other, with one
 * correlation id): the work belongs to both. */
struct launched launches_of_either(const struct launches *launches, const struct hwy_trace *trace,
				   const struct hwy_strip *strip, uint32_t row);

#endif
