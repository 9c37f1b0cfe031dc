/* SPDX-License-Identifier: Apache-2.0 */
/* launches.h - the device work that each call enqueued: the links of the trace lead from work to
 * call, these back. */
#ifndef HWY_STATS_LAUNCHES_H
#define HWY_STATS_LAUNCHES_H

#include "stats/report_run.h"

struct launches {
	/* For each strip of calls, how many calls the strips before this strip have. */
	uint32_t *base;
	/* For each call the index in 'spans' at which its work begins; one more element holds
	 * the end. */
	uint32_t *first;
	uint32_t *spans; /* ids of device spans, sorted by call, then by id */
};
struct launched { /* the device work of one call */
	const uint32_t *spans;
	uint32_t n;
};

/* Takes the device spans of these kinds that the filter keeps. Loads their LINK, and CORR of the
 * calls. */
bool launches_open(struct launches *launches, struct report_run *run, uint32_t kinds,
		   struct hwy_err *err);
void launches_close(struct launches *launches);

/* Yields the device spans that a call enqueued. */
struct launched launches_by_call(const struct launches *launches, const struct hwy_trace *trace,
				 const struct hwy_strip *strip, uint32_t row);
/* Yields the device spans that a call enqueued, where the call may have been recorded twice, with
 * its stack and without (one record inside the other, with one correlation id): the work belongs
 * to both records, and only one of them is linked. */
struct launched launches_by_call_or_twin(const struct launches *launches,
					 const struct hwy_trace *trace,
					 const struct hwy_strip *strip, uint32_t row);

#endif
