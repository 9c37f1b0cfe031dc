/* SPDX-License-Identifier: Apache-2.0 */
/* stats_ranks.c - see stats_ranks.h. */
#include "cli/stats_ranks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct stats_ranks stats_ranks_of(struct hwy_trace *trace)
{
	struct stats_ranks ranks = {.trace = trace,
				    .ranks = hwy_array(trace->n_processes, sizeof *ranks.ranks)};
	for (uint32_t p = 0; p < trace->n_processes; p++)
		if (trace->processes[p].rank != HWY_NONE)
			ranks.ranks[ranks.n++] = trace->processes[p].rank;
	uint32_t kept = 0;
	if (ranks.n > 0)
		qsort(ranks.ranks, ranks.n, sizeof *ranks.ranks, hwy_ascending);
	for (uint32_t i = 0; i < ranks.n; i++)
		if (i == 0 || ranks.ranks[i] != ranks.ranks[i - 1])
			ranks.ranks[kept++] = ranks.ranks[i];
	ranks.n = kept;
	return ranks;
}

void stats_ranks_free(struct stats_ranks *ranks)
{
	free(ranks->ranks);
	ranks->ranks = NULL;
}

/* ---- a sink before a sink: adds the column --------------------------------------------------- */

enum { MOST_COLUMNS = 64 };

struct rank_sink {
	const struct stats_sink *to;
	struct stats_column columns[MOST_COLUMNS];
	struct stats_cell cells[MOST_COLUMNS];
	char rank[24];
	bool has_begun; /* the columns are the same for all ranks, and told once */
};

static void rank_sink_begin(void *self, const struct stats_column *columns, uint32_t n)
{
	struct rank_sink *sink = self;
	n = n < MOST_COLUMNS ? n : MOST_COLUMNS - 1;
	sink->columns[0] = (struct stats_column){"Rank", STATS_TEXT};
	memcpy(sink->columns + 1, columns, n * sizeof *columns);
	if (!sink->has_begun)
		sink->to->begin(sink->to->self, sink->columns, n + 1);
	sink->has_begun = true;
}

static void rank_sink_row(void *self, const struct stats_cell *cells, uint32_t n)
{
	struct rank_sink *sink = self;
	n = n < MOST_COLUMNS ? n : MOST_COLUMNS - 1;
	sink->cells[0] = (struct stats_cell){.text = {sink->rank, (uint32_t)strlen(sink->rank)}};
	memcpy(sink->cells + 1, cells, n * sizeof *cells);
	sink->to->row(sink->to->self, sink->cells, n + 1);
}

bool stats_ranks_run(const struct stats_ranks *ranks, const struct stats_report *report,
		     const struct stats_options *options, const struct stats_sink *sink,
		     struct hwy_err *err)
{
	struct rank_sink *own = hwy_zalloc(sizeof *own);
	struct stats_sink before = {own, rank_sink_begin, rank_sink_row};
	struct stats_options each = *options;
	own->to = sink;
	snprintf(own->rank, sizeof own->rank, "all");
	bool ok = stats_run(ranks->trace, report, options, &before, err);
	each.has_rank = true;
	for (uint32_t i = 0; i < ranks->n && ok; i++) {
		each.rank = ranks->ranks[i];
		snprintf(own->rank, sizeof own->rank, "%" PRId64, each.rank);
		ok = stats_run(ranks->trace, report, &each, &before, err);
	}
	free(own);
	return ok;
}
