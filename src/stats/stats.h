/* SPDX-License-Identifier: Apache-2.0 */
/* stats.h - the tables: every report is a name, columns and rows; rows are yielded one by one.
 *
 * A report never prints. It hands its columns to a sink once, before the first row, and then the
 * rows; cells are numbers in ns and bytes, and stats_number makes text of them. A report without
 * rows does not call its sink. The texts in a row's cells are valid until the sink returns.
 *
 *   struct stats_options options = {.from = INT64_MIN, .to = INT64_MAX};
 *   if (!stats_run(trace, stats_find("cuda_gpu_kern_sum"), &options, &sink, &err))
 *           fprintf(stderr, "%s\n", err.text);
 */
#ifndef HWY_STATS_STATS_H
#define HWY_STATS_STATS_H

#include "trace/trace.h"

enum stats_type {
	STATS_TEXT,
	STATS_WORD,       /* a text of a few words of ours, which are keys of lang/ */
	STATS_COUNT,      /* a number of things */
	STATS_ID,         /* a number that names something: a pid, a stream */
	STATS_TIME,       /* a length of time in ns */
	STATS_MOMENT,     /* ns since time 0 */
	STATS_TIME_MEAN,  /* a mean length of time in ns, with one decimal */
	STATS_BYTES,      /* bytes, shown as MB */
	STATS_BYTES_MEAN, /* bytes with a fraction, shown as MB */
	STATS_RATE,       /* bytes per second, shown as MB/s */
	STATS_PERCENT,    /* a share in percent, with one decimal */
	STATS_MEAN,       /* a mean number of things, one decimal */
	STATS_REAL,       /* any number, three decimals; its unit is part of the column's name */
};

struct stats_column {
	const char *name; /* the column's name without its unit */
	enum stats_type type;
};

static inline bool stats_is_text(const struct stats_column *column)
{
	return column->type == STATS_TEXT || column->type == STATS_WORD;
}

struct stats_cell {
	bool empty;
	int64_t number; /* the value in a column of type COUNT, ID, TIME, MOMENT, BYTES or RATE */
	double real;    /* the value in a column of any other type but TEXT and WORD */
	struct hwy_text text;
};

/* Takes the rows of a report. 'begin' is called once, before the first row; never for a report
 * without rows. */
struct stats_sink {
	void *self;
	void (*begin)(void *self, const struct stats_column *columns, uint32_t n);
	void (*row)(void *self, const struct stats_cell *cells, uint32_t n);
};

struct stats_options {
	/* Spans that overlap [from, to) count; INT64_MIN and INT64_MAX stand for all spans. */
	int64_t from, to;
	/* Spans inside ranges of this name ("name" or "domain:name") on the same thread count,
	 * and the device work that was launched there; NULL: all spans. */
	const char *range;
	bool has_rank; /* only spans of processes of the rank 'rank' count */
	int64_t rank;
	bool shapes; /* op_sum groups operators by name and input shapes, not by name alone */
};

struct report_run;
struct stats_report {
	const char *name;
	const char *title;
	const char *about;   /* one line of help text */
	const char *subject; /* what the recording lacks when there are no rows: "kernels" */
	bool (*make)(struct report_run *run, struct hwy_err *err);
	bool handful; /* `headway stats` without -r shows this report */
};
extern const struct stats_report stats_reports[]; /* the last element has the name NULL */
/* Finds the report that has this name, or NULL. */
const struct stats_report *stats_find(const char *name);

/* Makes one report. False with a sentence when the trace cannot be read or no range has the name
 * of options->range. */
bool stats_run(struct hwy_trace *trace, const struct stats_report *report,
	       const struct stats_options *options, const struct stats_sink *sink,
	       struct hwy_err *err);

/* ---- cells as text --------------------------------------------------------------------------- */

enum stats_time_unit { STATS_NS, STATS_US, STATS_MS, STATS_S };

enum { STATS_NUMBER_BYTES = 48 };
/* Writes a cell's number as tables for machines show it ("12.5", "0.016"; "" for an empty cell
 * or a text) and yields the length of what was written. */
size_t stats_number(const struct stats_column *column, const struct stats_cell *cell,
		    enum stats_time_unit unit, char text[STATS_NUMBER_BYTES]);
/* Yields the column's name with its unit: "Avg (ns)". */
void stats_heading(const struct stats_column *column, enum stats_time_unit unit, char *text,
		   size_t size);

#endif
