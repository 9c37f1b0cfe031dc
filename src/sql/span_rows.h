/* SPDX-License-Identifier: Apache-2.0 */
/* span_rows.h - goes through the spans that a query asks for, and skips the others.
 *
 * A filter is a promise in one direction: spans outside it are not wanted, spans inside it may
 * be wanted. Whole strips are skipped by kind, lane and what a lane tells of its spans; parts of
 * a strip by start, which is sorted, and by the latest end of each chunk; single rows by name.
 * Only the columns in 'needs' are read from a report, chunk by chunk.
 */
#ifndef HWY_SQL_SPAN_ROWS_H
#define HWY_SQL_SPAN_ROWS_H

#include "sql/span_columns.h"

/* The order in which spans come: by columns that all spans of a lane share, then by name, then
 * by id. */
enum { SPAN_MOST_KEYS = 8 };
struct span_order {
	struct span_key {
		const struct span_column *column; /* SPAN_KIND or SPAN_LANE */
		bool falls;
	} keys[SPAN_MOST_KEYS];
	uint32_t n_keys;
	bool by_name;    /* by the bytes of the name, spans without a name first */
	bool name_falls; /* the names in the opposite order */
};

struct span_filter {
	uint32_t kinds;
	struct sql_bounds id, lane, start, end;
	bool has_name;
	uint32_t name; /* id of the text */
	bool is_empty; /* no span can be wanted */
};

struct span_rows {
	struct sql_source *source;
	struct span_filter filter;
	uint64_t needs; /* HWY_COL_BITs that are in memory for the current row */
	bool *skips;    /* by lane: its spans are not wanted; NULL: no lane is skipped */
	struct span_piece {
		uint32_t strip, from, to;
	} * pieces; /* the rows to look at, in order of span ids */
	uint32_t n_pieces, cap_pieces, piece;
	uint32_t loaded; /* rows of the strip below this one are in memory */
	/* the span ids where they are sorted by name; NULL: in the order of the pieces */
	uint32_t *order;
	uint32_t n_order, next;
	bool is_done;
	const struct hwy_strip *strip; /* strip and row of the current span, unless is_done */
	uint32_t row, end;
};

/* Moves to the first row. False with a sentence where a report cannot be read. */
bool span_rows_begin(struct span_rows *rows, struct sql_source *source,
		     const struct span_filter *filter, uint64_t needs,
		     const struct span_order *order, struct hwy_err *err);
bool span_rows_turn(struct span_rows *rows, struct hwy_err *err); /* for span_rows_next only */
void span_rows_free(struct span_rows *rows);

/* Moves to the next row. */
static inline bool span_rows_next(struct span_rows *rows, struct hwy_err *err)
{
	if (!rows->order && !rows->filter.has_name && rows->row + 1 < rows->loaded) {
		rows->row++;
		return true;
	}
	return span_rows_turn(rows, err);
}

#endif
