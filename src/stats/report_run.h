/* report_run.h - one report being made: its trace, its filter, and the way to the sink. For src/stats only. */
#ifndef HWY_STATS_REPORT_RUN_H
#define HWY_STATS_REPORT_RUN_H

#include "stats/filter.h"
#include "stats/stats.h"

struct stats_run {
	struct hwy_trace *trace;
	const struct stats_options *options;
	const struct stats_sink *sink;
	const struct stats_column *columns;
	uint32_t n_columns;
	bool begun;
	struct filter filter;
};

struct word_buffer { /* a text that is put together; grows */
	char *at;
	size_t cap;
};

#define STATS_LENGTH(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

/* Says the columns; before the first row. */
void run_columns(struct stats_run *run, const struct stats_column *columns, uint32_t n);
void run_row(struct stats_run *run, const struct stats_cell *cells);

static inline struct stats_cell cell_text(struct hwy_text text)
{
	return (struct stats_cell){.text = text};
}
static inline struct stats_cell cell_textz(const char *text)
{
	return (struct stats_cell){.text = {text, (uint32_t)strlen(text)}};
}
static inline struct stats_cell cell_number(int64_t number)
{
	return (struct stats_cell){.number = number};
}
static inline struct stats_cell cell_real(double real)
{
	return (struct stats_cell){.real = real};
}
static inline struct stats_cell cell_empty(void)
{
	return (struct stats_cell){.empty = true};
}
/* Empty where the record does not know it. */
static inline struct stats_cell cell_known(int64_t number)
{
	return (struct stats_cell){.number = number, .empty = number == HWY_NONE};
}

/* Sums of what a recording says may be any number; they stop at the ends instead of wrapping. */
static inline void add_to(int64_t *sum, int64_t value)
{
	if (__builtin_add_overflow(*sum, value, sum))
		*sum = value < 0 ? INT64_MIN : INT64_MAX;
}

/* The rows first … first+n-1 of a column; they must lie in one chunk. */
static inline void rows_read(const struct hwy_strip *strip, enum hwy_col col, uint32_t first,
			     uint32_t n, int64_t *out)
{
	const struct hwy_column *column = strip->columns[col];
	if (!column) {
		memset(out, 0, n * sizeof *out);
		return;
	}
	column_read(column, first, n, out);
}

/* Calls of other libraries (cuBLAS, MPI) and kinds (system calls) stand on lanes that bear a name. */
static inline bool lane_is_named(const struct hwy_trace *trace, uint32_t lane)
{
	return trace->lanes[lane].name > 0;
}

/* Who launched or made a span: the thread's record, or NULL. */
static inline const struct hwy_thread *report_lane_thread(const struct hwy_trace *trace,
							  uint32_t lane)
{
	int64_t thread = trace->lanes[lane].thread;
	return thread >= 0 && thread < trace->n_threads ? &trace->threads[thread] : NULL;
}
static inline struct stats_cell pid_cell(const struct hwy_trace *trace, uint32_t lane)
{
	int64_t process = trace->lanes[lane].process;
	return process >= 0 && process < trace->n_processes
		       ? cell_known(trace->processes[process].pid)
		       : cell_empty();
}
static inline struct stats_cell tid_cell(const struct hwy_trace *trace, uint32_t lane)
{
	const struct hwy_thread *thread = report_lane_thread(trace, lane);
	return thread ? cell_known(thread->tid) : cell_empty();
}
static inline const struct hwy_stream *report_lane_stream(const struct hwy_trace *trace,
							  uint32_t lane)
{
	int64_t stream = trace->lanes[lane].stream;
	return stream >= 0 && stream < trace->n_streams ? &trace->streams[stream] : NULL;
}
/* The device's number as the program counted it, else the machine's number of it. */
int64_t device_number(const struct hwy_trace *trace, uint32_t lane);

#endif
