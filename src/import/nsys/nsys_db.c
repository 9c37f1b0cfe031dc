/* SPDX-License-Identifier: Apache-2.0 */
/* nsys_db.c - opens an export and runs SELECTs over tables and columns that may be missing.
 *
 * The file is opened read-only and immutable: nothing is written beside it, and it may stand in a
 * read-only folder. Only plain tables are read: a view or a virtual table in a hostile file could
 * run forever.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "import/nsys/nsys.h"

enum {
	/* TEXT_LIMIT_BYTES: no export has longer texts, but a damaged file may claim to. */
	TEXT_LIMIT_BYTES = 64 << 20,
	TELL_EVERY_ROWS = 1 << 16, /* progress is reported after every so many rows */
};

static void take_row(sqlite3_context *context, int columns, sqlite3_value **values);

/* ---- the file ---- */

static bool sql_fail(struct nsys *n, const char *table)
{
	if (!n->failed)
		hwy_fail(n->err, "%s: table %s: %s", n->path, table, sqlite3_errmsg(n->db));
	n->failed = true;
	return false;
}

/* The path as a file: URI, which the caller frees. '?', '#' and '%' have a meaning in URIs and must
 * be escaped; an absolute path needs an empty authority before it ("file://"). */
static char *uri_of(const char *path)
{
	enum { ESCAPED_BYTES = 3, REST_BYTES = 32 }; /* "%3F"; "file://", the options and the 0 */
	char *uri = hwy_array(strlen(path) + REST_BYTES, ESCAPED_BYTES);
	char *to = uri + sprintf(uri, path[0] == '/' ? "file://" : "file:");
	for (; *path; path++) {
		if (strchr("?#%", *path))
			to += sprintf(to, "%%%02X", (unsigned char)*path);
		else
			*to++ = *path;
	}
	stpcpy(to, "?mode=ro&immutable=1");
	return uri;
}

static uint32_t big_endian(const unsigned char *from, unsigned bytes)
{
	uint32_t value = 0;
	for (unsigned i = 0; i < bytes; i++)
		value = value << 8 | from[i];
	return value;
}

/* Whether the file has all the pages that its header counts (a page size of 1 means 65536). SQLite
 * reads a file that was cut short without an error, and rows would be missing. */
static bool is_whole(struct nsys *n)
{
	unsigned char head[100];
	struct stat info;
	int file = open(n->path, O_RDONLY | O_CLOEXEC);
	ssize_t got = file < 0 ? -1 : pread(file, head, sizeof head, 0);
	bool has_size = file >= 0 && fstat(file, &info) == 0;
	if (file >= 0)
		close(file);
	if (got < 0 || !has_size)
		return hwy_fail(n->err, "%s: %s", n->path, hwy_strerror(errno));
	if (got < (ssize_t)sizeof head)
		return hwy_fail(n->err, "%s: an SQLite database cut short after %lld bytes",
				n->path, (long long)got);
	uint64_t page = big_endian(head + 16, 2) == 1 ? 65536 : big_endian(head + 16, 2);
	uint64_t whole = page * big_endian(head + 28, 4);
	if ((uint64_t)info.st_size < whole)
		return hwy_fail(n->err, "%s: an SQLite database cut short: %lld bytes of %llu",
				n->path, (long long)info.st_size, (unsigned long long)whole);
	return true;
}

/* Rows that a tool wrote may still be in a write-ahead log beside the file, which SQLite does not
 * read for an immutable file. */
static bool has_no_log(struct nsys *n)
{
	struct stat info;
	char *log = hwy_alloc(strlen(n->path) + sizeof "-wal");
	stpcpy(stpcpy(log, n->path), "-wal");
	bool none = stat(log, &info) != 0 || info.st_size == 0;
	free(log);
	return none || hwy_fail(n->err,
				"%s: newer rows are in %s-wal; put them into it first: sqlite3 %s "
				"'PRAGMA wal_checkpoint(TRUNCATE)'",
				n->path, n->path, n->path);
}

bool nsys_db_open(struct nsys *n)
{
	if (!is_whole(n) || !has_no_log(n)) {
		n->failed = true;
		return false;
	}
	char *uri = uri_of(n->path);
	int rc = sqlite3_open_v2(
		uri, &n->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
	free(uri);
	if (rc != SQLITE_OK) {
		n->failed = true;
		return hwy_fail(n->err, "%s: cannot be opened as an SQLite database: %s", n->path,
				n->db ? sqlite3_errmsg(n->db) : sqlite3_errstr(rc));
	}
	sqlite3_db_config(n->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(n->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_limit(n->db, SQLITE_LIMIT_LENGTH, TEXT_LIMIT_BYTES);
	/* An export is read once from front to back, so a small cache is enough. The file is not
	 * mapped into memory: that would save a twentieth of the time, but if somebody cut the file
	 * short meanwhile, SIGBUS would end the process. */
	sqlite3_exec(n->db, "PRAGMA cell_size_check=ON; PRAGMA cache_size=-4096", NULL, NULL, NULL);
	sqlite3_create_function(n->db, "hwy_row", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, n, take_row,
				NULL, NULL);
	return true;
}

void nsys_db_close(struct nsys *n)
{
	sqlite3_finalize(n->string_stmt);
	sqlite3_close(n->db);
}

bool nsys_has_table(struct nsys *n, const char *table)
{
	sqlite3_stmt *stmt = NULL;
	bool found = false;
	if (n->failed)
		return false;
	if (sqlite3_prepare_v2(
		    n->db,
		    "SELECT 1 FROM sqlite_master WHERE type='table' AND name=?1 COLLATE NOCASE "
		    "AND rootpage>0",
		    -1, &stmt, NULL) != SQLITE_OK)
		return sql_fail(n, "sqlite_master");
	sqlite3_bind_text(stmt, 1, table, -1, SQLITE_STATIC);
	int rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		found = true;
	else if (rc != SQLITE_DONE)
		sql_fail(n, "sqlite_master");
	sqlite3_finalize(stmt);
	return found;
}

/* ---- queries ---- */

static bool has_column(sqlite3_stmt *all, const char *name, size_t length)
{
	int columns = sqlite3_column_count(all);
	for (int i = 0; i < columns; i++) {
		const char *have = sqlite3_column_name(all, i);
		if (have && strlen(have) == length && strncasecmp(have, name, length) == 0)
			return true;
	}
	return length == 5 && memcmp(name, "rowid", 5) == 0;
}

/* Appends one column to the SELECT; false when the column is marked as required ('!' or '~') and
 * the table lacks it. */
static bool write_column(sqlite3_stmt *all, sqlite3_str *sql, const char *name, size_t length)
{
	bool must = *name == '!' || *name == '~';
	name += must;
	length -= must;
	if (has_column(all, name, length)) {
		sqlite3_str_appendf(sql, "\"%.*s\"", (int)length, name);
		return true;
	}
	sqlite3_str_appendall(sql, "NULL");
	return !must;
}

static void write_any_of(sqlite3_stmt *all, sqlite3_str *sql, const char *names, size_t length)
{
	sqlite3_str_appendall(sql, "coalesce(NULL");
	for (size_t from = 0; from < length;) {
		size_t name = strcspn(names + from, ", ");
		sqlite3_str_appendchar(sql, 1, ',');
		write_column(all, sql, names + from, name);
		from += name + 1;
	}
	sqlite3_str_appendall(sql, ") IS NOT NULL");
}

/* Reports that a marked column is missing: the file is no export ('!'), or the table cannot be used
 * ('~'). */
static bool column_is_missing(struct nsys *n, const char *table, const char *column, size_t length)
{
	struct hwy_err text;
	hwy_fail(&text, "table %s has no column '%.*s'", table, (int)length - 1, column + 1);
	if (*column == '!') {
		n->failed = true;
		return hwy_fail(n->err, "%s: %.200s; is this an nsys export?", n->path, text.text);
	}
	uint32_t index = hwy_new_diagnostics(n->b);
	n->trace->diagnostics[index].severity = 2;
	n->trace->diagnostics[index].text = hwy_text_id(n->b, text.text);
	return false;
}

static bool write_columns(struct nsys *n, sqlite3_stmt *all, sqlite3_str *sql, const char *table,
			  const char *columns)
{
	for (const char *column = columns; *column;) {
		size_t length = strcspn(column, " ");
		if (*column == '?') {
			write_any_of(all, sql, column + 1, length - 1);
		} else if (!write_column(all, sql, column, length)) {
			return column_is_missing(n, table, column, length);
		}
		column += length;
		if (*column) {
			sqlite3_str_appendchar(sql, 1, ',');
			column++;
		}
	}
	return true;
}

static bool prepare(struct nsys *n, struct nsys_query *q, const char *table, const char *columns,
		    const char *before, const char *after, const char *rest)
{
	*q = (struct nsys_query){.nsys = n, .table = table};
	if (!nsys_has_table(n, table))
		return false;
	char *text = sqlite3_mprintf("SELECT * FROM \"%w\" LIMIT 0", table);
	sqlite3_stmt *all = NULL;
	int rc = sqlite3_prepare_v2(n->db, text, -1, &all, NULL);
	sqlite3_free(text);
	if (rc != SQLITE_OK)
		return sql_fail(n, table);
	sqlite3_str *sql = sqlite3_str_new(n->db);
	sqlite3_str_appendf(sql, before, table);
	bool ok = write_columns(n, all, sql, table, columns);
	sqlite3_str_appendf(sql, after, table);
	sqlite3_str_appendf(sql, " %s", rest ? rest : "");
	sqlite3_finalize(all);
	text = sqlite3_str_finish(sql);
	if (ok && sqlite3_prepare_v2(n->db, text, -1, &q->stmt, NULL) != SQLITE_OK)
		ok = sql_fail(n, table);
	sqlite3_free(text);
	return ok;
}

static void nsys_db_tell(struct nsys *n)
{
	if (++n->rows % TELL_EVERY_ROWS == 0)
		hwy_tell(n->progress, "reading", n->rows, n->rows_total);
}

bool nsys_select(struct nsys *n, struct nsys_query *q, const char *table, const char *columns,
		 const char *rest)
{
	if (!prepare(n, q, table, columns, "SELECT ", " FROM \"%w\"", rest))
		return false;
	q->values = q->own;
	return true;
}

static void drop_rows(struct nsys *n, const char *table, const char *reason, uint64_t count)
{
	if (!count || n->failed)
		return;
	uint32_t index = hwy_new_drops(n->b);
	struct hwy_drop *drop = &n->trace->drops[index];
	drop->source = hwy_text_id(n->b, table);
	drop->reason = hwy_text_id(n->b, reason);
	drop->count = (int64_t)count;
}

static void close_query(struct nsys_query *q)
{
	sqlite3_finalize(q->stmt);
	q->stmt = NULL;
	drop_rows(q->nsys, q->table, "no usable time: left out", q->no_time);
	drop_rows(q->nsys, q->table, "ends before it starts: kept with duration 0", q->backwards);
	q->no_time = q->backwards = 0;
}

bool nsys_next(struct nsys_query *q)
{
	struct nsys *n = q->nsys;
	if (!n->failed) {
		int rc = sqlite3_step(q->stmt);
		if (rc == SQLITE_ROW) {
			int columns = sqlite3_column_count(q->stmt);
			for (int i = 0; i < columns && i < NSYS_COLUMNS; i++)
				q->own[i] = sqlite3_column_value(q->stmt, i);
			nsys_db_tell(n);
			return true;
		}
		if (rc != SQLITE_DONE)
			sql_fail(n, q->table);
	}
	close_query(q);
	return false;
}

/* The SQL function hwy_row(column, …), for nsys_each. When sqlite3_step returns a row and we ask
 * for its columns one by one, that takes SQLite as long as reading the row. A function in WHERE
 * gets the values as arguments at once; and as hwy_row yields NULL, no row fulfils the WHERE, and
 * one sqlite3_step goes through the whole table. */
static void take_row(sqlite3_context *context, int columns, sqlite3_value **values)
{
	struct nsys *n = sqlite3_user_data(context);
	struct nsys_query *q = n->query;
	(void)columns;
	q->values = values;
	nsys_db_tell(n);
	n->add(q);
	if (n->failed || q->stop)
		sqlite3_result_error(context, "stopped", -1);
}

bool nsys_each(struct nsys *n, const char *table, const char *columns, const char *and,
	       void (*add)(struct nsys_query *q), void *user)
{
	struct nsys_query q;
	if (!prepare(n, &q, table, columns, "SELECT 1 FROM \"%w\" WHERE hwy_row(", ")", and))
		return !n->failed;
	q.user = user;
	n->query = &q;
	n->add = add;
	int rc;
	do
		rc = sqlite3_step(q.stmt);
	while (rc == SQLITE_ROW);
	n->query = NULL;
	if (rc != SQLITE_DONE && !q.stop)
		sql_fail(n, table);
	close_query(&q);
	return !q.stop && !n->failed;
}

/* ---- values ---- */

bool nsys_moment(struct nsys_query *q)
{
	int64_t start = nsys_int(q, 0);
	/* Files that other tools (pandas) rewrote hold times as reals or as texts. */
	int type = sqlite3_value_numeric_type(q->values[0]);
	if (start >= HWY_TIME_LIMIT || start <= -HWY_TIME_LIMIT ||
	    (type != SQLITE_INTEGER && type != SQLITE_FLOAT)) {
		q->no_time++;
		return false;
	}
	q->row.v[HWY_START] = start;
	return true;
}

bool nsys_times(struct nsys_query *q)
{
	if (!nsys_moment(q))
		return false;
	int64_t end = nsys_int(q, 1);
	bool good = end >= q->row.v[HWY_START] && end < HWY_TIME_LIMIT;
	q->backwards += !good;
	q->row.v[HWY_DUR] = good ? end - q->row.v[HWY_START] : 0;
	return true;
}

uint32_t nsys_text(struct nsys_query *q, int column)
{
	const char *text = (const char *)sqlite3_value_text(q->values[column]);
	if (!text)
		return 0;
	return hwy_text_id_n(q->nsys->b, text, (size_t)sqlite3_value_bytes(q->values[column]));
}

/* In every export, StringIds.id is the row id. Where a tool rebuilt the table without that, each
 * look-up by id would scan the whole table, so the row ids are read into a map first. */
static bool prepare_strings(struct nsys *n)
{
	struct nsys_query q;
	sqlite3_stmt *stmt = NULL;
	if (sqlite3_prepare_v2(
		    n->db,
		    "SELECT pk, upper(type) FROM pragma_table_info('StringIds') WHERE name='id'",
		    -1, &stmt, NULL) != SQLITE_OK)
		return sql_fail(n, "StringIds");
	bool key = sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_int(stmt, 0) == 1 &&
		   sqlite3_column_text(stmt, 1) &&
		   !strcmp((const char *)sqlite3_column_text(stmt, 1), "INTEGER");
	sqlite3_finalize(stmt);
	n->strings_by_row = !key;
	if (!key && nsys_select(n, &q, "StringIds", "!id rowid", NULL)) {
		while (nsys_next(&q))
			*hwy_map_put(&n->string_rows, (uint64_t)nsys_int(&q, 0), NULL) =
				(uint32_t)nsys_int(&q, 1);
	}
	const char *sql = key ? "SELECT value FROM StringIds WHERE id=?1"
			      : "SELECT value FROM StringIds WHERE rowid=?1";
	if (!n->failed && sqlite3_prepare_v2(n->db, sql, -1, &n->string_stmt, NULL) != SQLITE_OK)
		sql_fail(n, "StringIds");
	return !n->failed;
}

/* The text of the trace for an id; 0 where the id does not exist, and for the text 'unwanted' (may
 * be NULL). */
static uint32_t load_string(struct nsys *n, int64_t id, const char *unwanted)
{
	uint32_t text = 0;
	if (n->failed || (!n->string_stmt && !prepare_strings(n)))
		return 0;
	if (n->strings_by_row) {
		const uint32_t *row = hwy_map_get(&n->string_rows, (uint64_t)id);
		id = row ? (int64_t)*row : -1;
	}
	sqlite3_bind_int64(n->string_stmt, 1, id);
	int rc = sqlite3_step(n->string_stmt);
	if (rc == SQLITE_ROW) {
		const char *value = (const char *)sqlite3_column_text(n->string_stmt, 0);
		if (value && !(unwanted && strcmp(value, unwanted) == 0))
			text = hwy_text_id_n(n->b, value,
					     (size_t)sqlite3_column_bytes(n->string_stmt, 0));
	} else if (rc != SQLITE_DONE) {
		sql_fail(n, "StringIds");
	}
	sqlite3_reset(n->string_stmt);
	return text;
}

/* Texts are read when they are first used, and never all of them: the table also holds files and
 * environment variables of the recorded machine, which must not get into a report. */
static uint32_t load_string_once(struct nsys *n, int64_t id, const char *unwanted)
{
	uint32_t ref = hwy_ids_get(&n->strings, (uint64_t)id);
	if (hwy_ref32_is_set(ref))
		return hwy_ref32_index(ref);
	uint32_t text = load_string(n, id, unwanted);
	*hwy_ids_put(&n->strings, (uint64_t)id) = hwy_ref32(text);
	return text;
}

uint32_t nsys_string(struct nsys *n, int64_t id)
{
	return load_string_once(n, id, NULL);
}

uint32_t nsys_function(struct nsys *n, int64_t id, int64_t address)
{
	char number[24] = "";
	if (!hwy_ref32_is_set(hwy_ids_get(&n->strings, (uint64_t)id)))
		snprintf(number, sizeof number, "%#" PRIx64, (uint64_t)address);
	return load_string_once(n, id, number);
}
