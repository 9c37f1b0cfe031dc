/* SPDX-License-Identifier: Apache-2.0 */
/* guard.c - see guard.h. Queries come from anybody (a web page, a colleague's file, a model's
 * answer), so that everything is refused that is not known to be harmless: SELECT of our tables
 * with functions from a list. SQLite asks for every statement, table and function while it
 * prepares a query, before anything runs.
 *
 * The database is empty and in memory, and SQLite sorts in memory: no query touches a file. Time
 * is looked at while a query runs, every few thousand instructions of SQLite. One call of a
 * function takes no longer than texts of SQL_LONGEST_TEXT bytes allow.
 */
#include "sql/guard.h"

#include <stdio.h>
#include <strings.h>
#include <time.h>

#include "base/lang.h"
#include "sql/span_columns.h"

enum {
	INSTRUCTIONS_A_LOOK = 20000, /* of SQLite's machine between two looks at the clock */
	LONGEST_QUERY = 100000,      /* bytes */
	DEEPEST_EXPRESSION = 200,
	LONGEST_PATTERN = 10000,   /* of LIKE and GLOB, bytes */
	MOST_INSTRUCTIONS = 50000, /* of one statement */
	MOST_COLUMNS = 512,
	MOST_UNIONS = 50,
	MOST_ARGUMENTS = 32,
};

/* The functions of SQLite that compute from their arguments and from nothing else. zeroblob,
 * randomblob and those that load, read or tell about SQLite itself are not among them. */
static const char *const functions[] = {
	/* aggregates and windows */
	"avg", "count", "cume_dist", "dense_rank", "first_value", "group_concat", "lag",
	"last_value", "lead", "max", "median", "min", "nth_value", "ntile", "percent_rank",
	"percentile", "percentile_cont", "percentile_disc", "rank", "row_number", "string_agg",
	"sum", "total",
	/* numbers */
	"abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "ceiling", "cos",
	"cosh", "degrees", "exp", "floor", "ln", "log", "log10", "log2", "mod", "pi", "pow",
	"power", "radians", "random", "round", "sign", "sin", "sinh", "sqrt", "tan", "tanh",
	"trunc",
	/* texts */
	"char", "concat", "concat_ws", "format", "glob", "hex", "instr", "length", "like", "lower",
	"ltrim", "octet_length", "printf", "quote", "replace", "rtrim", "substr", "substring",
	"trim", "unhex", "unicode", "upper",
	/* values */
	"coalesce", "if", "ifnull", "iif", "likelihood", "likely", "nullif", "typeof", "unlikely",
	/* times of day */
	"date", "datetime", "julianday", "strftime", "time", "timediff", "unixepoch",
	/* JSON: the column args */
	"->", "->>", "json", "json_array", "json_array_length", "json_error_position",
	"json_extract", "json_group_array", "json_group_object", "json_insert", "json_object",
	"json_patch", "json_quote", "json_remove", "json_replace", "json_set", "json_type",
	"json_valid", NULL};

const char *const guard_table_functions[] = {"json_each", "json_tree", NULL};

static bool is_listed(const char *const *list, const char *name)
{
	for (; *list; list++)
		if (strcasecmp(*list, name) == 0)
			return true;
	return false;
}

bool guard_is_table(const struct sql_guard *guard, const char *name)
{
	for (uint32_t i = 0; i < SPAN_TABLES; i++)
		if (strcasecmp(guard->spans[i].name, name) == 0)
			return true;
	for (const struct sql_table *const *list = sql_lists; *list; list++)
		if (strcasecmp((*list)->name, name) == 0)
			return true;
	return is_listed(guard_table_functions, name);
}

/* What a statement wants to do, in words; NULL for what has none of its own. */
static const char *words_for(int action)
{
	switch (action) {
	case SQLITE_ATTACH: return HWY_KEY("ATTACH opens a file");
	case SQLITE_DETACH: return HWY_KEY("DETACH");
	case SQLITE_PRAGMA: return HWY_KEY("PRAGMA changes or tells settings of SQLite");
	case SQLITE_INSERT: return HWY_KEY("INSERT writes");
	case SQLITE_UPDATE: return HWY_KEY("UPDATE writes");
	case SQLITE_DELETE: return HWY_KEY("DELETE writes");
	case SQLITE_TRANSACTION:
	case SQLITE_SAVEPOINT:
		return HWY_KEY("there are no transactions, because nothing is written");
	case SQLITE_ANALYZE:
	case SQLITE_REINDEX: return HWY_KEY("ANALYZE and REINDEX write");
	default: return HWY_KEY("statements that create, change or drop something write");
	}
}

static int refuse(struct sql_guard *guard, const char *why, const char *between, const char *what)
{
	char text[512];
	snprintf(text, sizeof text, "%s%s%.300s", hwy_tr(why), between, hwy_tr(what));
	if (!*guard->refusal.text)
		hwy_fail(&guard->refusal, "refused: %s", text);
	return SQLITE_DENY;
}

static int refuse_table(struct sql_guard *guard, const char *name)
{
	return refuse(
		guard,
		HWY_KEY("a query reads the tables of the recording (.tables lists them), not this one"),
		hwy_tr(": "), name);
}

/* Whether a name is of SQLite's own tables, which tell about SQLite. */
static bool is_internal(const char *name)
{
	return strncasecmp(name, "sqlite_", 7) == 0 || strncasecmp(name, "pragma_", 7) == 0;
}

/* A table of which no column is read may be a common table expression: SQLite then gives the
 * expression's name and no column. Tables that are neither ours nor the query's do not get as
 * far: SQLite would connect them first (SQLITE_UPDATE). */
static int authorize_read(struct sql_guard *guard, const char *table, const char *column)
{
	bool is_counted = !*column && !is_internal(table);
	return is_counted || guard_is_table(guard, table) ? SQLITE_OK : refuse_table(guard, table);
}

static int authorize(void *self, int action, const char *one, const char *two, const char *database,
		     const char *trigger)
{
	struct sql_guard *guard = self;
	bool is_schema = one && is_internal(one);
	(void)database, (void)trigger;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_RECURSIVE: return SQLITE_OK;
	case SQLITE_READ: return authorize_read(guard, one ? one : "", two ? two : "");
	case SQLITE_FUNCTION:
		if (is_listed(functions, two ? two : ""))
			return SQLITE_OK;
		return refuse(
			guard,
			HWY_KEY("not one of the functions that a query may call (docs/sql.md lists them)"),
			hwy_tr(": "), two ? two : "");
	case SQLITE_UPDATE:
		if (is_schema)
			return refuse_table(guard, HWY_KEY("a table of SQLite itself"));
		break;
	case SQLITE_INSERT:
	case SQLITE_DELETE: action = is_schema ? SQLITE_CREATE_TABLE : action; break;
	default: break;
	}
	return refuse(guard, HWY_KEY("a query may only SELECT"), hwy_tr_word(HWY_KEY("refused|: ")),
		      words_for(action));
}

static int64_t guard_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int look_at_clock(void *self)
{
	struct sql_guard *guard = self;
	guard->is_late = guard->until && guard_now() >= guard->until;
	return guard->is_late;
}

void guard_set(struct sql_guard *guard, sqlite3 *db)
{
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, SQL_LONGEST_TEXT);
	sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, LONGEST_QUERY);
	sqlite3_limit(db, SQLITE_LIMIT_COLUMN, MOST_COLUMNS);
	sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, DEEPEST_EXPRESSION);
	sqlite3_limit(db, SQLITE_LIMIT_COMPOUND_SELECT, MOST_UNIONS);
	sqlite3_limit(db, SQLITE_LIMIT_VDBE_OP, MOST_INSTRUCTIONS);
	sqlite3_limit(db, SQLITE_LIMIT_FUNCTION_ARG, MOST_ARGUMENTS);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, LONGEST_PATTERN);
	sqlite3_limit(db, SQLITE_LIMIT_VARIABLE_NUMBER, 0);
	sqlite3_limit(db, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
	sqlite3_limit(db, SQLITE_LIMIT_WORKER_THREADS, 0);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	/* A text in double quotes is a column's name, never a string: a misspelt "nmae" is an
	 * error. */
	sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
	/* The limit is the process's: this process has no other use of SQLite by now. */
	sqlite3_hard_heap_limit64((sqlite3_int64)guard->limits.memory);
	sqlite3_set_authorizer(db, authorize, guard);
	sqlite3_progress_handler(db, INSTRUCTIONS_A_LOOK, look_at_clock, guard);
}

void guard_start(struct sql_guard *guard)
{
	guard->is_late = false;
	guard->refusal.text[0] = 0;
	guard->until = guard->limits.time ? guard_now() + guard->limits.time : 0;
}

bool guard_fail(const struct sql_guard *guard, sqlite3 *db, int rc, struct hwy_err *err)
{
	if (*guard->refusal.text)
		return hwy_fail(err, "%s", guard->refusal.text);
	if (guard->is_late)
		return hwy_fail(err,
				"the query was stopped after %.3g s; --timeout gives it more time",
				(double)guard->limits.time / 1e9);
	switch (rc & 0xff) {
	case SQLITE_NOMEM:
		return hwy_fail(
			err,
			"the query needs more memory than it may have, %llu MiB; --max-memory gives it more",
			(unsigned long long)(guard->limits.memory >> 20));
	case SQLITE_INTERRUPT: return hwy_fail(err, "the query was interrupted");
	case SQLITE_TOOBIG:
		return hwy_fail(
			err,
			"the query is longer than %d bytes, or makes a text longer than %d bytes",
			LONGEST_QUERY, SQL_LONGEST_TEXT);
	default: break;
	}
	const char *says = sqlite3_errmsg(db), *hint = "";
	if (strncmp(says, "no such table", 13) == 0)
		hint = hwy_tr("; .tables lists them");
	else if (strncmp(says, "no such column", 14) == 0)
		hint = hwy_tr("; '.schema TABLE' lists them, and a text stands in single quotes");
	return hwy_fail(err, "%s%s", says, hint);
}
