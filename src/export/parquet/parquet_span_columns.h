/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_span_columns.h - the columns of a table of spans, and where each comes from. */
#ifndef HWY_EXPORT_PARQUET_PARQUET_SPAN_COLUMNS_H
#define HWY_EXPORT_PARQUET_PARQUET_SPAN_COLUMNS_H

#include "export/parquet/parquet.h"

enum span_source {
	FROM_ID,
	/* What the lane tells; the same for all rows of a strip. */
	FROM_PID,
	FROM_TID,
	FROM_THREAD,
	FROM_DEVICE,
	FROM_CONTEXT,
	FROM_STREAM,
	FROM_LANE,
	FROM_DOMAIN,
	/* What the span tells. */
	FROM_CELL, /* as hwy_columns describes the column */
	FROM_TIME,
	FROM_DURATION,
	FROM_CORRELATION,
	FROM_SHAPE,
	FROM_SYMBOL,
	FROM_STACK,
	FROM_VALUE,
	FROM_WHOLE_VALUE,
	FROM_PAYLOAD,
	FROM_ROLE,
	FROM_CLASS,
	FROM_LANE_ID,
};

struct span_column {
	enum span_source source;
	enum hwy_col col;
	unsigned part; /* the number of the field in the shape or the symbol */
};

/* How many columns stand before "start": the id, and what the lane tells. */
enum { SPAN_OWNERS = FROM_DOMAIN + 1 };

struct span_table {
	struct parquet_span_names names;
	struct parquet_field fields[PARQUET_MOST_FIELDS];
	struct span_column columns[PARQUET_MOST_FIELDS];
	uint32_t n;
};

void span_table_make(struct span_table *table, int kind);

#endif
