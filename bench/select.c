/* SPDX-License-Identifier: Apache-2.0 */
/* select.c - a bare SELECT of exactly the rows and columns that opening an nsys export reads.
 *
 * select FILE: opens the file as Headway does and notes the statements it runs; then runs the same
 * statements and looks at every value, and does nothing with it. Prints rows, and the CPU time that took in
 * ns. The comparison follows the reader by itself.
 */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "import/import.h"

enum { MOST = 512 };
static char *statements[MOST];
static int n_statements;

/* The reader is called by SQLite for each row: SELECT 1 FROM t WHERE hwy_row(a, b) [AND …]. Bare, that is
 * SELECT a, b FROM t [WHERE …]. */
static char *bare(const char *sql)
{
	static const char call[] = " WHERE hwy_row(";
	const char *from = strstr(sql, " FROM "), *row = strstr(sql, call);
	if (!from || !row)
		return strdup(sql);
	const char *columns = row + sizeof call - 1, *end = columns;
	for (int depth = 1; *end && (depth += (*end == '(') - (*end == ')')) > 0;)
		end++;
	const char *rest = end + (*end == ')');
	rest += strspn(rest, " ");
	bool more = strncasecmp(rest, "and ", 4) == 0;
	char *text;
	if (asprintf(&text, "SELECT %.*s%.*s %s%s", (int)(end - columns), columns,
		     (int)(row - from), from, more ? "WHERE " : "", more ? rest + 4 : rest) < 0)
		abort();
	return text;
}

static int note(unsigned type, void *context, void *statement, void *text)
{
	(void)type;
	(void)context;
	(void)text;
	char *sql = sqlite3_expanded_sql(statement);
	bool reads =
		sql && (strncasecmp(sql, "select", 6) == 0 || strncasecmp(sql, "with", 4) == 0);
	if (reads && n_statements < MOST)
		statements[n_statements++] = bare(sql);
	sqlite3_free(sql);
	return 0;
}

static int on_open(sqlite3 *db, const char **why, const struct sqlite3_api_routines *api)
{
	(void)why;
	(void)api;
	return sqlite3_trace_v2(db, SQLITE_TRACE_STMT, note, NULL);
}

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static volatile int64_t seen;

static void look(sqlite3_stmt *statement, int column, int type)
{
	switch (type) {
	case SQLITE_FLOAT: seen += (int64_t)sqlite3_column_double(statement, column); break;
	case SQLITE_TEXT: seen += sqlite3_column_text(statement, column) != NULL; break;
	default: seen += sqlite3_column_int64(statement, column); break;
	}
}

static int64_t run(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *statement;
	int64_t rows = 0;
	int types[MOST];
	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
		return fprintf(stderr, "select: left out: %s: %s\n", sql, sqlite3_errmsg(db)), 0;
	int columns = sqlite3_column_count(statement);
	for (; sqlite3_step(statement) == SQLITE_ROW; rows++)
		for (int i = 0; i < columns && i < MOST; i++) {
			if (rows == 0)
				types[i] = sqlite3_column_type(statement, i);
			look(statement, i, types[i]);
		}
	sqlite3_finalize(statement);
	return rows;
}

int main(int argc, char **argv)
{
	struct hwy_err err;
	sqlite3 *db;
	if (argc != 2)
		return fprintf(stderr, "usage: select FILE\n"), 2;
	sqlite3_auto_extension((void (*)(void))on_open);
	struct hwy_trace *trace = hwy_open(argv[1], NULL, &err);
	sqlite3_reset_auto_extension();
	if (!trace)
		return fprintf(stderr, "select: %s\n", err.text), 2;
	hwy_trace_free(trace);
	if (sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) !=
	    SQLITE_OK)
		return fprintf(stderr, "select: %s\n", sqlite3_errmsg(db)), 2;
	int64_t rows = 0, begin = now();
	for (int i = 0; i < n_statements; i++)
		rows += run(db, statements[i]);
	printf("%" PRId64 " %" PRId64 "\n", rows, now() - begin);
	sqlite3_close(db);
	return 0;
}
