/* SPDX-License-Identifier: Apache-2.0 */
/* sql.h - questions in SQL about a trace.
 *
 * SQLite plans and runs the query; its tables are virtual and read the columns of the trace
 * where they lie, so that nothing is converted or copied (docs/sql.md lists the tables). A query
 * only reads: what writes, opens a file, changes a setting or calls a function that is not on
 * the list of safe ones is refused before it runs. Time, memory, and the sizes of texts are
 * bounded.
 *
 *   struct sql_limits limits = SQL_DEFAULT_LIMITS;
 *   struct sql_sink sink = {.self = stdout}; // and the functions that take the rows
 *   struct sql_db *db = sql_open(trace, &limits, err);
 *   bool done = db && sql_query(db, "select count(*) from kernel", &sink, err);
 *   sql_close(db);
 */
#ifndef HWY_SQL_SQL_H
#define HWY_SQL_SQL_H

#include "base/bytes.h"
#include "trace/columns.h"

struct sql_limits {
	int64_t time;    /* ns that a query may take; 0: any time */
	uint64_t memory; /* bytes that SQLite may take, for sorting above all; 0: any amount */
};
#define SQL_DEFAULT_LIMITS                                                                         \
	{                                                                                          \
		.time = INT64_C(60000000000), .memory = UINT64_C(1) << 30                          \
	}

/* Takes the rows of an answer. 'begin' is called once for each SELECT, also where no row
 * follows. Texts in cells are valid until 'row' returns. 'row' yields false where no further row
 * is wanted. */
struct sql_sink {
	void *self;
	void (*begin)(void *self, const char *const *names, uint32_t n);
	bool (*row)(void *self, const struct hwy_cell *cells, uint32_t n);
};

struct sql_db;
/* Opens a database over a trace, which must outlive it and which nobody else may use meanwhile.
 * NULL with a sentence on failure. */
struct sql_db *sql_open(struct hwy_trace *trace, const struct sql_limits *limits,
			struct hwy_err *err);
void sql_close(struct sql_db *db);
struct digest_set;
/* Gives the tables of digests their rows, before the first query. The set is settled and must
 * outlive the database. */
void sql_use_digests(struct sql_db *db, const struct digest_set *set);
/* Runs the statements of a text one after the other. False with a sentence where one is refused,
 * wrong or too expensive. */
bool sql_query(struct sql_db *db, const char *text, const struct sql_sink *sink,
	       struct hwy_err *err);
/* Makes the query that runs, if any, fail soon. May be called by a signal handler or another
 * thread. */
void sql_interrupt(struct sql_db *db);

/* The tables by number: their names and what their rows are. NULL behind the last. */
const char *sql_table_name(const struct sql_db *db, uint32_t i);
const char *sql_table_about(const struct sql_db *db, uint32_t i);
/* Adds the definition of one table, or of all where 'table' is NULL, with what each column
 * means. False with a sentence where there is no such table. */
bool sql_schema(const struct sql_db *db, const char *table, struct hwy_bytes *text,
		struct hwy_err *err);

#endif
