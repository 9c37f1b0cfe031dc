/* SPDX-License-Identifier: Apache-2.0 */
/* match.h - the spans that a query (query.h) asks for, chunk by chunk, however many there are.
 *
 *   struct matcher matcher;
 *   struct match_scope scope = {.is_whole = true};
 *   bool ok = match_open(&matcher, view, &query, steps, err) &&
 *             match_scan(&matcher, &scope, err);
 *   match_close(&matcher);
 *
 * Terms about names and lanes are decided once for each name and lane. The other terms are tested
 * row by row, a chunk at a time; terms that are tested fast come first, so that slow ones see fewer
 * rows. Spans come in order of their ids. The scan pauses (view_pause) between chunks.
 */
#ifndef HWY_SERVE_MATCH_H
#define HWY_SERVE_MATCH_H

#include "serve/query.h"
#include "serve/span_facts.h"

/* Rows of one chunk of a strip that fit. */
struct match_rows {
	const struct hwy_strip *strip;
	uint32_t number;      /* of the strip */
	const uint32_t *rows; /* rising */
	uint32_t n;
};

struct match_scope {
	bool is_whole;        /* from and to do not matter */
	int64_t from, to;     /* on the trace's clock: spans that touch [from, to) */
	bool starts_inside;   /* only spans that start in the window */
	const uint8_t *lanes; /* by lane: 1 where it is looked at; NULL: all lanes */
	uint64_t columns;     /* bits of VIEW_COLUMNS that 'on_rows' reads */
	/* Takes the rows; false ends the scan, with a sentence in err. */
	bool (*on_rows)(void *context, const struct match_rows *rows, struct hwy_err *err);
	void *context;
};

struct matcher {
	struct view_trace *view;
	const struct query *query;
	struct span_facts *facts;
	struct step_times steps;
	uint8_t *lanes; /* by lane: 1 where the terms about lanes hold */
	/* by id of a name: 1 where the terms about names hold; NULL: no such term */
	uint8_t *names;
	uint32_t n_names; /* how many of 'names' are 1 */
	uint32_t looks;   /* bits: looks that the terms about kinds allow */
	uint64_t columns; /* bits of VIEW_COLUMNS that the terms read */
	uint32_t *rows;   /* room for HWY_CHUNK_ROWS rows, those of a chunk that is being tested */
	struct hwy_bytes room, shown; /* names in small letters, and as the page shows them */
};

/* False where the query cannot be answered: it asks for steps before they are known, or for a
 * module in a trace that is too large. match_close is needed in both cases. */
bool match_open(struct matcher *matcher, struct view_trace *view, const struct query *query,
		struct step_times steps, struct hwy_err *err);
bool match_scan(struct matcher *matcher, const struct match_scope *scope, struct hwy_err *err);
/* The same for one lane, whatever the scope's lanes are. */
bool match_scan_lane(struct matcher *matcher, const struct match_scope *scope, uint32_t lane,
		     struct hwy_err *err);
void match_close(struct matcher *matcher);

/* match_rows.c: keeps those of n rows that fulfil the terms about single rows; yields their
 * number in *n. */
bool match_thin_out(struct matcher *matcher, const struct hwy_strip *strip, uint32_t *rows,
		    uint32_t *n, struct hwy_err *err);
/* The columns of VIEW_COLUMNS that a term reads. */
uint64_t match_columns_of(const struct query_term *term);

#endif
