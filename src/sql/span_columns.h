/* SPDX-License-Identifier: Apache-2.0 */
/* span_columns.h - the columns of the span tables: one table for each kind, and `spans` for all.
 *
 * They are derived from hwy_kind_columns and hwy_columns: a column that the model gets appears
 * by itself. Names are those of the CSV export with '_' for '-', which SQL takes for a minus.
 */
#ifndef HWY_SQL_SPAN_COLUMNS_H
#define HWY_SQL_SPAN_COLUMNS_H

#include "sql/sql_tables.h"

enum span_what {
	SPAN_ID,
	SPAN_KIND,
	SPAN_LANE,  /* 'part' is an enum lane_fact: the same for all spans of a lane */
	SPAN_MODEL, /* 'part' is an enum hwy_col */
	SPAN_SHAPE, /* 'part' is the number of a field of struct hwy_shape */
	SPAN_SYMBOL,
	SPAN_STACK,
	SPAN_STACK_ID,
	SPAN_END,
	SPAN_NAME_ID,
	SPAN_STEP,
	SPAN_ROLE,
	SPAN_CLASS,
};

struct span_column {
	struct sql_column as;
	enum span_what what;
	uint32_t part;
	uint64_t needs; /* HWY_COL_BITs of the columns that a value is made of */
};

struct span_table {
	const char *name, *about;
	uint32_t kinds; /* HWY_KIND_BITs */
	struct span_column *columns;
	uint32_t n, cap;
};

enum { SPAN_TABLES = HWY_KINDS + 1 }; /* one for each kind, then `spans` */
/* Fills the tables; texts and columns are in the arena or constant. */
void span_tables_make(struct span_table tables[SPAN_TABLES], struct hwy_arena *arena);

/* Yields a value of the span in this row. The columns in 'needs' must be in memory; SPAN_STACK
 * is not for this function. */
struct hwy_cell span_cell(struct sql_source *source, const struct span_column *column,
			  const struct hwy_strip *strip, uint32_t row);
/* Hands the functions of a stack to SQLite, the innermost first, with semicolons between them. */
void span_stack_result(sqlite3_context *context, const struct hwy_trace *trace, int64_t stack);

#endif
