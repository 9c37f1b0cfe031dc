/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_rows.h - the spans of one kind, of all lanes, in order of their start: row group after
 * row group.
 *
 * A row group is a list of runs: rows of one strip that follow each other. Columns are read run
 * by run. Of a report, the chunks that the row group needs are in memory, and one chunk for each
 * lane: that in which the next row group begins.
 */
#ifndef HWY_EXPORT_PARQUET_PARQUET_ROWS_H
#define HWY_EXPORT_PARQUET_PARQUET_ROWS_H

#include "export/export_internal.h"

struct parquet_run {
	const struct hwy_strip *strip;
	uint32_t first, n; /* rows of the strip */
	uint32_t at;       /* the row of the row group that 'first' is */
};

struct parquet_cursor {
	const struct hwy_strip *strip;
	uint32_t first; /* the first row that may be in this row group */
	uint32_t next;  /* the next row that is not yet in a row group */
	int64_t start;  /* of 'next' */
};

struct parquet_rows {
	struct export *x;
	struct parquet_cursor
		*cursors; /* of all strips, those with rows left first: a heap by start */
	uint32_t n_cursors, n_left;
	uint32_t most; /* rows of a row group */
	struct parquet_run *runs;
	uint32_t n_runs, cap_runs;
	uint32_t n; /* rows of this row group */
};

void parquet_rows_open(struct parquet_rows *rows, struct export *x, int kind, uint32_t most);
void parquet_rows_close(struct parquet_rows *rows);
/* Moves to the next row group; false behind the last one, and where it cannot be read
 * (x->failed). */
bool parquet_rows_next(struct parquet_rows *rows);
/* Reads a column of the row group. Where all values are the same *is_constant becomes true and
 * values[0] is the value. False where it cannot be read. */
bool parquet_rows_read(struct parquet_rows *rows, enum hwy_col col, int64_t *values,
		       bool *is_constant);

#endif
