/* stats.h - the tables: every report is a name, columns and rows; rows are yielded one by one.
 *
 * A report never prints. It says its columns once, before the first row, and then hands over rows whose
 * cells are numbers in ns and bytes; stats_number makes text of them. A report without rows says nothing
 * at all. Texts in cells are valid during the call only.
 *
 *   struct stats_options options = {.from = INT64_MIN, .to = INT64_MAX};
 *   stats_run(trace, stats_find("cuda_gpu_kern_sum"), &options, &sink, &err);
 */
#ifndef HWY_STATS_STATS_H
#define HWY_STATS_STATS_H

#include "trace/trace.h"

enum stats_type {
	STATS_TEXT,
	STATS_COUNT,      /* a number of things */
	STATS_ID,         /* a number that names something */
	STATS_TIME,       /* ns */
	STATS_MOMENT,     /* ns since time 0 */
	STATS_TIME_MEAN,  /* ns, one decimal */
	STATS_BYTES,      /* bytes, shown as MB */
	STATS_BYTES_MEAN, /* bytes with a fraction, shown as MB */
	STATS_RATE,       /* bytes per second, shown as MB/s */
	STATS_PERCENT,    /* one decimal */
	STATS_MEAN,       /* one decimal */
};

struct stats_column {
	const char *name; /* without its unit */
	enum stats_type type;
};

struct stats_cell {
	bool empty;
	int64_t number; /* COUNT, ID, TIME, MOMENT, BYTES, RATE */
	double real;    /* the rest */
	struct hwy_text text;
};

/* Who takes the rows. 'begin' comes once before the first row, and not at all when there is none. */
struct stats_sink {
	void *self;
	void (*begin)(void *self, const struct stats_column *columns, uint32_t n);
	void (*row)(void *self, const struct stats_cell *cells, uint32_t n);
};

struct stats_options {
	int64_t from, to; /* only what overlaps [from, to); INT64_MIN and INT64_MAX: everything */
	const char
		*range; /* only what happens inside ranges of this name on the same thread, and the
			    * device work launched there: "name", or "domain:name"; NULL: everything */
	bool shapes;    /* op_sum: operators by their input shapes too */
};

struct stats_run;
struct stats_report {
	const char *name;
	const char *title;
	const char *about;   /* one line */
	const char *subject; /* what the recording lacks when there are no rows: "kernels" */
	bool (*make)(struct stats_run *run, struct hwy_err *err);
	bool handful; /* among those shown when none is asked for */
};
extern const struct stats_report stats_reports[];        /* ends with a name of NULL */
const struct stats_report *stats_find(const char *name); /* or NULL */

/* False with a sentence when the trace cannot be read or no range has the wanted name. */
bool stats_run(struct hwy_trace *trace, const struct stats_report *report,
	       const struct stats_options *options, const struct stats_sink *sink,
	       struct hwy_err *err);

/* ---- cells as text ------------------------------------------------------------------------------ */

enum stats_time_unit { STATS_NS, STATS_US, STATS_MS, STATS_S };

enum { STATS_NUMBER_BYTES = 48 };
/* A number as tables for machines show it: "12.5", "0.016"; "" for an empty cell. Not for texts. Yields its
 * length. */
size_t stats_number(const struct stats_column *column, const struct stats_cell *cell,
		    enum stats_time_unit unit, char text[STATS_NUMBER_BYTES]);
/* The column's name with its unit: "Avg (ns)". */
void stats_heading(const struct stats_column *column, enum stats_time_unit unit, char *text,
		   size_t size);

#endif
