/* SPDX-License-Identifier: Apache-2.0 */
/* columns.h - what the columns of spans mean, as data.
 *
 * hwy_columns is the only place that says it: file_check.c checks files against it, hwy_column_cell
 * turns stored numbers into what people read (CSV files, the viewer), and docs/report-format.md
 * prints it (columns_test.c compares). The rest of Headway knows single columns by name and reads
 * them through trace/trace.h.
 */
#ifndef HWY_TRACE_COLUMNS_H
#define HWY_TRACE_COLUMNS_H

#include "trace/trace.h"

enum hwy_meaning {
	HWY_MEANS_NUMBER,   /* a number without a unit */
	HWY_MEANS_TIME,     /* ns on the trace's clock */
	HWY_MEANS_DURATION, /* ns */
	HWY_MEANS_BYTES,
	HWY_MEANS_ADDRESS,
	HWY_MEANS_TEXT,   /* an id of the trace's string table; text 0 is empty */
	HWY_MEANS_RECORD, /* an index into a table of records */
	HWY_MEANS_SPAN,   /* the id of a span */
	HWY_MEANS_ENUM,   /* one of a list of names */
	HWY_MEANS_FLAGS,  /* a number whose bits are flags */
	HWY_MEANS_COLOR,  /* ARGB, with bit 32 set so that black is not "none" */
	/* a number, a real or a text: the span's enum hwy_payload_type says which */
	HWY_MEANS_TYPED,
	HWY_MEANINGS
};

/* How a column tells that a span has no value. */
enum hwy_absence {
	HWY_ABSENT_ZERO,    /* 0 is "none" or "not known" */
	HWY_ABSENT_NEVER,   /* 0 is a value like any other: every span has a value */
	HWY_ABSENT_REF,     /* the value is stored as a reference: 0 is "none", n + 1 is n */
	HWY_ABSENT_UNTYPED, /* there is a value where the span has an enum hwy_payload_type */
};

struct hwy_column_info {
	const char *name;
	enum hwy_meaning meaning;
	enum hwy_absence absence;
	enum hwy_table table; /* the table that a value of HWY_MEANS_RECORD points into */
	/* Of HWY_MEANS_ENUM: the names of the values 0 … n_names - 1. An open enumeration takes its
	 * numbers from the vendor: larger ones are valid and have no name yet. */
	const char *const *names;
	uint32_t n_names;
	bool is_open;
	const char *description;
};
extern const struct hwy_column_info hwy_columns[HWY_COLS];

/* The largest number that a column of a valid trace stores, or -1: any number is valid. The
 * smallest is 0 where there is a largest, but -HWY_TIME_LIMIT for HWY_START. */
int64_t hwy_column_limit(const struct hwy_trace *trace, enum hwy_col col);

/* A stored number as people read it: references and enumerations are resolved, but nothing is
 * formatted. */
struct hwy_cell {
	enum {
		HWY_CELL_NONE, /* the span has no value */
		HWY_CELL_INT,
		HWY_CELL_UINT,
		HWY_CELL_REAL,
		HWY_CELL_TEXT
	} type;
	union {
		int64_t number;
		double real;
		struct hwy_text text;
	};
};

/* The cell of 'stored', a number of this column of the strip. 'payload_type' is the span's
 * HWY_PAYLOAD_TYPE and matters to HWY_PAYLOAD only. A device is its ordinal, a stream its number, a
 * thread its tid; a shape, a symbol and a stack are their indexes. */
struct hwy_cell hwy_column_cell(const struct hwy_trace *trace, const struct hwy_strip *strip,
				enum hwy_col col, int64_t stored, int64_t payload_type);

#endif
