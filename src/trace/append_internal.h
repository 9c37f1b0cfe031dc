/* SPDX-License-Identifier: Apache-2.0 */
/* append_internal.h - what append.c (spans) and append_tables.c (records) share. */
#ifndef HWY_TRACE_APPEND_INTERNAL_H
#define HWY_TRACE_APPEND_INTERNAL_H

#include "trace/append.h"

/* In place of a new index: the record or text was left out, or not asked for yet. */
#define APPEND_NONE UINT32_MAX

#define X(type, field, section) +1
enum { APPEND_TABLES = 1 HWY_RECORDS(X) }; /* one more than tables: their numbers begin with 1 */
#undef X

/* Rows of a strip, rising. */
struct append_rows {
	uint32_t *v, n, cap;
};

struct append {
	struct hwy_builder *b;
	struct hwy_trace *to, *from;
	const struct hwy_append *how;
	uint32_t *texts;               /* by text of 'from': the text of 'to' */
	uint32_t *maps[APPEND_TABLES]; /* by table and record of 'from': the record of 'to' */
	uint32_t n_lanes_before;       /* lanes of 'to' that earlier traces brought */
	bool *is_used;                 /* by device of 'from': a process that is kept uses it */
	/* by strip of 'from': where its first row went; strip APPEND_NONE: left out */
	struct hwy_ref *strips;
	/* By strip of 'from': the rows that are taken; NULL: all rows of every strip. */
	struct append_rows *rows;
};

/* New numbers for old ones; HWY_NONE for what was left out. Texts, shapes, symbols, stacks and
 * devices are appended when something refers to them for the first time. */
int64_t append_text(struct append *a, int64_t text);
int64_t append_time(const struct append *a, int64_t time);
int64_t append_index(struct append *a, enum hwy_table table, int64_t index);
/* The place of a span in the builder, as records hold it until the trace is finished. */
int64_t append_span(const struct append *a, int64_t id);

/* Appends the records that spans refer to. */
void append_places(struct append *a);
/* Appends the records that refer to spans, and those that neither refer to spans nor are
 * referred to. */
void append_stories(struct append *a);

/* append_part.c: chooses the rows of how->part; whether a row was chosen, and as which one. */
bool append_rows_choose(struct append *a, struct hwy_err *err);
bool append_rows_find(const struct append_rows *rows, uint32_t row, uint32_t *at);
void append_rows_free(struct append_rows *rows, uint32_t n_strips);

#endif
