/* SPDX-License-Identifier: Apache-2.0 */
/* insert.c - bare INSERTs of the rows an exported SQLite file holds.
 *
 * insert FROM TO: reads all rows of the large tables of FROM, which takes no part in the measurement, a table at
 * a time, and inserts them into a new file with one prepared statement each, without a journal, in one
 * transaction. Prints rows, and the CPU time that the INSERTs took in ns.
 */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int64_t cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void must(sqlite3 *db, int code)
{
	if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW)
		return;
	fprintf(stderr, "insert: %s\n", sqlite3_errmsg(db));
	exit(2);
}

enum { BLOCK = 20000, COLUMNS = 64 };

/* A block of rows is read, then inserted with the clock running. */
static int64_t copy(sqlite3 *from, sqlite3 *to, const char *table, uint64_t *rows)
{
	static sqlite3_value *values[BLOCK][COLUMNS];
	sqlite3_stmt *read, *write;
	char *text = sqlite3_mprintf("SELECT * FROM \"%w\"", table), insert[512];
	must(from, sqlite3_prepare_v2(from, text, -1, &read, NULL));
	sqlite3_free(text);
	int columns = sqlite3_column_count(read),
	    n = snprintf(insert, sizeof insert, "INSERT INTO \"%s\" VALUES (?", table);
	for (int i = 1; i < columns; i++)
		n += snprintf(insert + n, sizeof insert - (size_t)n, ",?");
	snprintf(insert + n, sizeof insert - (size_t)n, ")");
	must(to, sqlite3_prepare_v3(to, insert, -1, SQLITE_PREPARE_PERSISTENT, &write, NULL));
	int64_t spent = 0;
	for (int more = 1; more;) {
		int got = 0;
		while (got < BLOCK && (more = sqlite3_step(read) == SQLITE_ROW)) {
			for (int i = 0; i < columns; i++)
				values[got][i] = sqlite3_value_dup(sqlite3_column_value(read, i));
			got++;
		}
		int64_t begin = cpu_ns();
		for (int row = 0; row < got; row++) {
			for (int i = 0; i < columns; i++)
				sqlite3_bind_value(write, i + 1, values[row][i]);
			sqlite3_step(write);
			must(to, sqlite3_reset(write));
		}
		spent += cpu_ns() - begin;
		*rows += (uint64_t)got;
		for (int row = 0; row < got; row++)
			for (int i = 0; i < columns; i++)
				sqlite3_value_free(values[row][i]);
	}
	sqlite3_finalize(read);
	sqlite3_finalize(write);
	return spent;
}

int main(int argc, char **argv)
{
	sqlite3 *from, *to;
	sqlite3_stmt *tables;
	if (argc != 3)
		return 2;
	unlink(argv[2]);
	must(NULL, sqlite3_open_v2(argv[1], &from, SQLITE_OPEN_READONLY, NULL));
	must(NULL, sqlite3_open(argv[2], &to));
	must(to,
	     sqlite3_exec(to,
			  "PRAGMA page_size=4096; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
			  "PRAGMA locking_mode=EXCLUSIVE; PRAGMA cache_size=-16384; BEGIN",
			  NULL, NULL, NULL));
	must(from,
	     sqlite3_prepare_v2(from, "SELECT name, sql FROM sqlite_master WHERE type='table'", -1,
				&tables, NULL));
	uint64_t rows = 0;
	int64_t spent = 0;
	while (sqlite3_step(tables) == SQLITE_ROW) {
		must(to, sqlite3_exec(to, (const char *)sqlite3_column_text(tables, 1), NULL, NULL,
				      NULL));
		spent += copy(from, to, (const char *)sqlite3_column_text(tables, 0), &rows);
	}
	int64_t begin = cpu_ns();
	must(to, sqlite3_exec(to, "COMMIT", NULL, NULL, NULL));
	spent += cpu_ns() - begin;
	sqlite3_finalize(tables);
	sqlite3_close(from);
	sqlite3_close(to);
	printf("%" PRIu64 " %" PRId64 "\n", rows, spent);
	return 0;
}
