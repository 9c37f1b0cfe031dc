/* SPDX-License-Identifier: Apache-2.0 */
/* sql_db.c - opens a database over a trace and runs queries; see sql.h. */
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "sql/guard.h"
#include "sql/span_columns.h"

struct sql_db {
	sqlite3 *db;
	struct sql_source source;
	struct sql_guard guard;
	struct span_table spans[SPAN_TABLES];
};

/* SQLite connects a table when it is first named, by a statement of its own that the authorizer
 * would refuse: all are named once before there is one. */
static bool connect_table(struct sql_db *db, const char *name, struct hwy_err *err)
{
	char query[96];
	sqlite3_stmt *statement;
	snprintf(query, sizeof query, "SELECT 1 FROM \"%s\"", name);
	if (sqlite3_prepare_v2(db->db, query, -1, &statement, NULL) != SQLITE_OK)
		return hwy_fail(err, "table %s: %s", name, sqlite3_errmsg(db->db));
	sqlite3_finalize(statement);
	return true;
}

static bool register_tables(struct sql_db *db, struct hwy_err *err)
{
	span_tables_make(db->spans, &db->source.arena);
	for (uint32_t i = 0; i < SPAN_TABLES; i++)
		if (!span_table_register(db->db, &db->source, &db->spans[i], err) ||
		    !connect_table(db, db->spans[i].name, err))
			return false;
	for (const struct sql_table *const *list = sql_lists; *list; list++)
		if (!list_table_register(db->db, &db->source, *list, err) ||
		    !connect_table(db, (*list)->name, err))
			return false;
	for (const char *const *name = guard_table_functions; *name; name++)
		if (!connect_table(db, *name, err))
			return false;
	return true;
}

struct sql_db *sql_open(struct hwy_trace *trace, const struct sql_limits *limits,
			struct hwy_err *err)
{
	struct sql_db *db = hwy_zalloc(sizeof *db);
	db->source.trace = trace;
	db->guard.limits = *limits;
	db->guard.spans = db->spans;
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY |
		    SQLITE_OPEN_NOMUTEX;
	if (sqlite3_open_v2(":memory:", &db->db, flags, NULL) != SQLITE_OK ||
	    /* Sorting goes on in memory, never in a file. */
	    sqlite3_exec(db->db, "PRAGMA temp_store=MEMORY; PRAGMA query_only=ON", NULL, NULL,
			 NULL) != SQLITE_OK) {
		hwy_fail(err, "SQLite does not start: %s", sqlite3_errmsg(db->db));
		sql_close(db);
		return NULL;
	}
	if (!register_tables(db, err)) {
		sql_close(db);
		return NULL;
	}
	guard_set(&db->guard, db->db);
	return db;
}

void sql_use_digests(struct sql_db *db, const struct digest_set *set)
{
	db->source.digests = set;
}

void sql_close(struct sql_db *db)
{
	if (!db)
		return;
	sqlite3_close(db->db);
	sqlite3_hard_heap_limit64(0);
	sql_source_close(&db->source);
	free(db);
}

void sql_interrupt(struct sql_db *db)
{
	sqlite3_interrupt(db->db);
}

/* ---- queries --------------------------------------------------------------------------------- */

static struct hwy_cell sqlite_cell(sqlite3_stmt *statement, int column)
{
	switch (sqlite3_column_type(statement, column)) {
	case SQLITE_INTEGER: return sql_int(sqlite3_column_int64(statement, column));
	case SQLITE_FLOAT: return sql_real(sqlite3_column_double(statement, column));
	case SQLITE_NULL: return sql_none();
	default: {
		/* Texts, and blobs, which only a cast can make. */
		const char *bytes = (const char *)sqlite3_column_text(statement, column);
		uint32_t length = (uint32_t)sqlite3_column_bytes(statement, column);
		return (struct hwy_cell){.type = HWY_CELL_TEXT,
					 .text = {bytes ? bytes : "", bytes ? length : 0}};
	}
	}
}

static int step_through(sqlite3_stmt *statement, const struct sql_sink *sink)
{
	uint32_t n = (uint32_t)sqlite3_column_count(statement);
	const char **names = hwy_array(n, sizeof *names);
	struct hwy_cell *cells = hwy_array(n, sizeof *cells);
	for (uint32_t i = 0; i < n; i++) {
		names[i] = sqlite3_column_name(statement, (int)i);
		names[i] = names[i] ? names[i] : "";
	}
	/* The first row comes before the heading: a query that fails at once prints nothing. */
	int rc = sqlite3_step(statement);
	if (rc == SQLITE_ROW || rc == SQLITE_DONE)
		sink->begin(sink->self, names, n);
	for (; rc == SQLITE_ROW; rc = sqlite3_step(statement)) {
		for (uint32_t i = 0; i < n; i++)
			cells[i] = sqlite_cell(statement, (int)i);
		if (!sink->row(sink->self, cells, n))
			break;
	}
	free(names);
	free(cells);
	return rc;
}

/* Runs the first statement of a text; *rest is what follows it. */
static bool run_statement(struct sql_db *db, const char *text, const char **rest,
			  const struct sql_sink *sink, bool *is_empty, struct hwy_err *err)
{
	sqlite3_stmt *statement = NULL;
	guard_start(&db->guard);
	int rc = sqlite3_prepare_v2(db->db, text, -1, &statement, rest);
	*is_empty = rc == SQLITE_OK && !statement;
	if (rc != SQLITE_OK || *is_empty)
		return rc == SQLITE_OK || guard_fail(&db->guard, db->db, rc, err);
	/* What the authorizer is not asked for and that is no query (EXPLAIN, VACUUM): */
	if (sqlite3_column_count(statement) == 0 || sqlite3_stmt_isexplain(statement) == 1 ||
	    !sqlite3_stmt_readonly(statement)) {
		sqlite3_finalize(statement);
		return hwy_fail(err, "refused: a query may only SELECT");
	}
	rc = step_through(statement, sink);
	bool done =
		rc == SQLITE_DONE || rc == SQLITE_ROW || guard_fail(&db->guard, db->db, rc, err);
	sqlite3_finalize(statement);
	return done;
}

bool sql_query(struct sql_db *db, const char *text, const struct sql_sink *sink,
	       struct hwy_err *err)
{
	bool any = false, is_empty = false;
	while (*text) {
		const char *rest = text;
		if (!run_statement(db, text, &rest, sink, &is_empty, err))
			return false;
		any |= !is_empty;
		if (rest == text)
			break;
		text = rest;
	}
	return any || hwy_fail(err, "the query is empty");
}

/* ---- the schema ------------------------------------------------------------------------------ */

const char *sql_table_name(const struct sql_db *db, uint32_t i)
{
	if (i < SPAN_TABLES)
		return db->spans[i].name;
	return sql_lists[i - SPAN_TABLES] ? sql_lists[i - SPAN_TABLES]->name : NULL;
}

const char *sql_table_about(const struct sql_db *db, uint32_t i)
{
	return i < SPAN_TABLES ? db->spans[i].about : sql_lists[i - SPAN_TABLES]->about;
}

bool sql_schema(const struct sql_db *db, const char *table, struct hwy_bytes *text,
		struct hwy_err *err)
{
	bool found = false;
	for (uint32_t i = 0; sql_table_name(db, i); i++) {
		if (table && strcasecmp(table, sql_table_name(db, i)) != 0)
			continue;
		found = true;
		if (i < SPAN_TABLES)
			schema_spans(&db->spans[i], text);
		else
			schema_list(sql_lists[i - SPAN_TABLES], text);
	}
	return found || hwy_fail(err, "there is no table '%s'; .tables lists them", table);
}
