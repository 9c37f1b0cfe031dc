/* SPDX-License-Identifier: Apache-2.0 */
/* guard.h - what a query may do, and how much of it. */
#ifndef HWY_SQL_GUARD_H
#define HWY_SQL_GUARD_H

#include "sql/sql_tables.h"

struct sql_guard {
	const struct span_table *spans; /* SPAN_TABLES of them */
	struct sql_limits limits;
	int64_t until; /* CLOCK_MONOTONIC ns at which the query that runs is stopped; 0: never */
	bool is_late;  /* the query was stopped because its time was over */
	struct hwy_err refusal; /* why a statement is refused; "" where it is not */
};

/* Tables of SQLite that are functions of their arguments, and may be used. NULL ends the list. */
extern const char *const guard_table_functions[];

/* Sets limits and rules for all that the connection runs from now on. */
void guard_set(struct sql_guard *guard, sqlite3 *db);
/* Starts the time of a query. */
void guard_start(struct sql_guard *guard);
/* The sentence about a failure of the connection: the refusal, the limit that was reached, or
 * SQLite's words. Always yields false. */
bool guard_fail(const struct sql_guard *guard, sqlite3 *db, int rc, struct hwy_err *err);
/* Whether the name is that of one of our tables. */
bool guard_is_table(const struct sql_guard *guard, const char *name);

#endif
