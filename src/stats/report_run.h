/* SPDX-License-Identifier: Apache-2.0 */
/* report_run.h - one report being made: its trace, its filter, and the way to the sink. For
 * src/stats only. */
#ifndef HWY_STATS_REPORT_RUN_H
#define HWY_STATS_REPORT_RUN_H

#include "base/saturating.h"
#include "stats/cell.h"
#include "stats/filter.h"
#include "stats/stats.h"

struct report_run {
	struct hwy_trace *trace;
	const struct stats_options *options;
	const struct stats_sink *sink;
	const struct stats_column *columns;
	uint32_t n_columns;
	bool begun; /* the sink has received the columns */
	struct filter filter;
};

#define STATS_LENGTH(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

/* Names the report's columns; every report calls this before its first row. The array must live as
 * long as the report. */
void report_columns(struct report_run *run, const struct stats_column *columns, uint32_t n);
/* Hands one row to the sink; 'cells' has as many elements as there are columns. */
void report_row(struct report_run *run, const struct stats_cell *cells);

/* Reads the rows first … first+n-1 of a column, which must lie in one chunk; 0 where the strip
 * lacks the column. */
static inline void report_read_rows(const struct hwy_strip *strip, enum hwy_col col, uint32_t first,
				    uint32_t n, int64_t *out)
{
	const struct hwy_column *column = strip->columns[col];
	if (!column) {
		memset(out, 0, n * sizeof *out);
		return;
	}
	column_read(column, first, n, out);
}

/* Whether the filter keeps the span: always true where the report has no filter. */
static inline bool report_keeps(const struct report_run *run, const struct hwy_strip *strip,
				uint32_t row)
{
	return !filter_is_on(&run->filter) || filter_keeps(&run->filter, run->trace, strip, row);
}

/* Calls of other libraries (cuBLAS, MPI) and other kinds of calls (system calls) stand on lanes
 * that have a name; the lanes of CUDA's calls have none. */
static inline bool report_lane_is_named(const struct hwy_trace *trace, uint32_t lane)
{
	return trace->lanes[lane].name > 0;
}

/* Yield the thread or the stream of a lane; NULL where the recording does not tell. */
static inline const struct hwy_thread *report_lane_thread(const struct hwy_trace *trace,
							  uint32_t lane)
{
	int64_t thread = trace->lanes[lane].thread;
	return thread >= 0 && thread < trace->n_threads ? &trace->threads[thread] : NULL;
}
static inline const struct hwy_stream *report_lane_stream(const struct hwy_trace *trace,
							  uint32_t lane)
{
	int64_t stream = trace->lanes[lane].stream;
	return stream >= 0 && stream < trace->n_streams ? &trace->streams[stream] : NULL;
}
/* Yields the program's number for the lane's device, else the machine's number for that device,
 * else HWY_NONE. */
int64_t report_device_number(const struct hwy_trace *trace, uint32_t lane);

#endif
