/* SPDX-License-Identifier: Apache-2.0 */
/* stats_ranks.h - a table of `headway stats` for all ranks of a job and for each of them, as one
 * table.
 *
 *   struct stats_ranks ranks = stats_ranks_of(trace);
 *   stats_ranks_run(&ranks, report, options, sink, err);
 *   stats_ranks_free(&ranks);
 */
#ifndef HWY_CLI_STATS_RANKS_H
#define HWY_CLI_STATS_RANKS_H

#include "stats/stats.h"

struct stats_ranks {
	struct hwy_trace *trace;
	int64_t *ranks; /* in ascending order, each once */
	uint32_t n;
};

struct stats_ranks stats_ranks_of(struct hwy_trace *trace);
void stats_ranks_free(struct stats_ranks *ranks);

/* Makes a report with a first column "Rank": the rows of all ranks together ("all"), then those
 * of each. */
bool stats_ranks_run(const struct stats_ranks *ranks, const struct stats_report *report,
		     const struct stats_options *options, const struct stats_sink *sink,
		     struct hwy_err *err);

#endif
