/* merge.h - the spans of many lanes in one order of start (ties: by span id). For traces of rows.
 *
 *   struct merge merge;
 *   merge_open(&merge, run, kinds);          needs START of those kinds
 *   while (merge_next(&merge)) … merge.strip, merge.row …
 *   merge_close(&merge);
 */
#ifndef HWY_STATS_MERGE_H
#define HWY_STATS_MERGE_H

#include "stats/report_run.h"

struct merge {
	const struct hwy_strip *strip; /* the current span */
	uint32_t row;
	const struct stats_run *run;
	struct merge_head {
		int64_t start;
		const struct hwy_strip *strip;
		uint32_t row;
	} * heads; /* a heap, the earliest first */
	uint32_t n;
};

void merge_open(struct merge *merge, const struct stats_run *run, uint32_t kinds);
bool merge_next(struct merge *merge); /* leaves out what the filter drops */
void merge_close(struct merge *merge);

#endif
