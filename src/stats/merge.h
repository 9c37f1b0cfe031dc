/* SPDX-License-Identifier: Apache-2.0 */
/* merge.h - the spans of many strips in order of start (equal starts: by span id), for reports
 * with a row for each.
 *
 *   struct merge merge;
 *   merge_open(&merge, run, HWY_KIND_BIT(HWY_KERNEL));
 *   while (merge_next(&merge))
 *           start = hwy_get(merge.strip, HWY_START, merge.row);
 *   merge_close(&merge);
 *
 * The caller has loaded START of those kinds.
 */
#ifndef HWY_STATS_MERGE_H
#define HWY_STATS_MERGE_H

#include "base/heap.h"
#include "stats/report_run.h"

struct merge {
	const struct hwy_strip *strip; /* the strip of the current span */
	uint32_t row;
	const struct report_run *run;
	struct hwy_heap heap; /* indexes of strips, by the start of their next row */
	uint32_t *rows;       /* for each strip its next row */
};

void merge_open(struct merge *merge, const struct report_run *run, uint32_t kinds);
/* Moves to the next span that the run's filter keeps; yields false where there is none. */
bool merge_next(struct merge *merge);
void merge_close(struct merge *merge);

#endif
