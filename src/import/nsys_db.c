/* nsys_db.c - SELECTs over tables and columns that may not be there.
 *
 * The file is opened read-only and immutable: nothing is written beside it, and it may stand in a read-only
 * folder. Only plain tables are read: a view or a virtual table in a hostile file could run forever.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "import/nsys.h"

/* Times beyond ±146 years are damage; below, sums and differences of two of them cannot overflow. */
#define TIME_LIMIT (INT64_C(1) << 62)
/* No text of an export comes near this; a damaged file may claim more. */
enum { LENGTH_LIMIT = 64 << 20, DENSE_LIMIT = 1 << 22, TELL_EVERY = 1 << 16 };

/* ---- numbers to numbers ---- */

uint32_t *nsys_ids_put(struct nsys_ids *ids, int64_t id)
{
	if (id < 0 || id >= DENSE_LIMIT)
		return hwy_map_put(&ids->sparse, (uint64_t)id, NULL);
	if ((uint64_t)id >= ids->n) {
		uint32_t n = ids->n ? ids->n : 1024;
		while (n <= (uint64_t)id)
			n *= 2;
		ids->dense = hwy_realloc(ids->dense, n * sizeof *ids->dense);
		memset(ids->dense + ids->n, 0, (n - ids->n) * sizeof *ids->dense);
		ids->n = n;
	}
	return &ids->dense[id];
}

uint32_t nsys_ids_get(const struct nsys_ids *ids, int64_t id)
{
	if (id >= 0 && (uint64_t)id < ids->n)
		return ids->dense[id];
	const uint32_t *at = hwy_map_get(&ids->sparse, (uint64_t)id);
	return at ? *at : 0;
}

void nsys_ids_free(struct nsys_ids *ids)
{
	free(ids->dense);
	hwy_map_free(&ids->sparse);
	*ids = (struct nsys_ids){0};
}

/* ---- the file ---- */

bool nsys_sql_fail(struct nsys *n, const char *table)
{
	if (!n->failed)
		hwy_fail(n->err, "%s: table %s: %s", n->path, table, sqlite3_errmsg(n->db));
	n->failed = true;
	return false;
}

/* file: URIs give '?', '#' and '%' a meaning, and an absolute path needs an (empty) authority. */
static char *uri_of(const char *path)
{
	char *uri = hwy_alloc(strlen(path) * 3 + 64);
	char *at = uri + sprintf(uri, path[0] == '/' ? "file://" : "file:");
	for (; *path; path++) {
		if (strchr("?#%", *path))
			at += sprintf(at, "%%%02X", (unsigned char)*path);
		else
			*at++ = *path;
	}
	strcpy(at, "?mode=ro&immutable=1");
	return uri;
}

bool nsys_db_open(struct nsys *n)
{
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
	sqlite3_limit(n->db, SQLITE_LIMIT_LENGTH, LENGTH_LIMIT);
	/* A whole export is read once, front to back: more cache than a few pages is of no use, but
	 * reading past the pager's copies saves a sixth of the time. */
	sqlite3_exec(n->db, "PRAGMA cell_size_check=ON; PRAGMA cache_size=-8192", NULL, NULL, NULL);
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
		    "SELECT 1 FROM sqlite_master WHERE type='table' AND name=?1 AND rootpage>0", -1,
		    &stmt, NULL) != SQLITE_OK)
		return nsys_sql_fail(n, "sqlite_master");
	sqlite3_bind_text(stmt, 1, table, -1, SQLITE_STATIC);
	int rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		found = true;
	else if (rc != SQLITE_DONE)
		nsys_sql_fail(n, "sqlite_master");
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

/* One column of the SELECT; false when it must be there and is not. */
static bool write_column(sqlite3_stmt *all, sqlite3_str *sql, const char *name, size_t length)
{
	bool must = *name == '!';
	name += must;
	length -= must;
	if (has_column(all, name, length)) {
		sqlite3_str_appendf(sql, "\"%.*s\"", (int)length, name);
		return true;
	}
	sqlite3_str_appendall(sql, "NULL");
	return !must;
}

static void write_any(sqlite3_stmt *all, sqlite3_str *sql, const char *names, size_t length)
{
	sqlite3_str_appendall(sql, "coalesce(NULL");
	for (size_t at = 0; at < length;) {
		size_t name = strcspn(names + at, ", ");
		sqlite3_str_appendchar(sql, 1, ',');
		write_column(all, sql, names + at, name);
		at += name + 1;
	}
	sqlite3_str_appendall(sql, ") IS NOT NULL");
}

static bool write_select(struct nsys *n, sqlite3_stmt *all, sqlite3_str *sql, const char *table,
			 const char *columns, const char *rest)
{
	sqlite3_str_appendall(sql, "SELECT ");
	for (const char *at = columns; *at;) {
		size_t length = strcspn(at, " ");
		if (*at == '?') {
			write_any(all, sql, at + 1, length - 1);
		} else if (!write_column(all, sql, at, length)) {
			n->failed = true;
			return hwy_fail(
				n->err,
				"%s: table %s has no column '%.*s'; is this an nsys export?",
				n->path, table, (int)length - 1, at + 1);
		}
		at += length;
		if (*at) {
			sqlite3_str_appendchar(sql, 1, ',');
			at++;
		}
	}
	sqlite3_str_appendf(sql, " FROM \"%w\" %s", table, rest ? rest : "");
	return true;
}

bool nsys_select(struct nsys *n, struct nsys_query *q, const char *table, const char *columns,
		 const char *rest)
{
	*q = (struct nsys_query){.nsys = n, .table = table};
	if (!nsys_has_table(n, table))
		return false;
	char *text = sqlite3_mprintf("SELECT * FROM \"%w\" LIMIT 0", table);
	sqlite3_stmt *all = NULL;
	int rc = sqlite3_prepare_v2(n->db, text, -1, &all, NULL);
	sqlite3_free(text);
	if (rc != SQLITE_OK)
		return nsys_sql_fail(n, table);
	sqlite3_str *sql = sqlite3_str_new(n->db);
	bool ok = write_select(n, all, sql, table, columns, rest);
	sqlite3_finalize(all);
	text = sqlite3_str_finish(sql);
	if (ok && sqlite3_prepare_v2(n->db, text, -1, &q->stmt, NULL) != SQLITE_OK)
		ok = nsys_sql_fail(n, table);
	sqlite3_free(text);
	return ok;
}

bool nsys_next(struct nsys_query *q)
{
	struct nsys *n = q->nsys;
	if (!n->failed) {
		int rc = sqlite3_step(q->stmt);
		if (rc == SQLITE_ROW) {
			if (++n->rows % TELL_EVERY == 0)
				hwy_tell(n->progress, "reading", n->rows, n->rows_total);
			return true;
		}
		if (rc != SQLITE_DONE)
			nsys_sql_fail(n, q->table);
	}
	nsys_close(q);
	return false;
}

void nsys_close(struct nsys_query *q)
{
	sqlite3_finalize(q->stmt);
	q->stmt = NULL;
	nsys_drop(q->nsys, q->table, "no usable time: left out", q->no_time);
	nsys_drop(q->nsys, q->table, "ends before it starts: kept with duration 0", q->backwards);
	q->no_time = q->backwards = 0;
}

void nsys_drop(struct nsys *n, const char *table, const char *reason, uint64_t count)
{
	if (!count || n->failed)
		return;
	uint32_t at = hwy_new_drops(n->b);
	struct hwy_drop *drop = &n->trace->drops[at];
	drop->source = hwy_text_id(n->b, table);
	drop->reason = hwy_text_id(n->b, reason);
	drop->count = (int64_t)count;
}

/* ---- values ---- */

bool nsys_moment(struct nsys_query *q, struct hwy_row *row)
{
	int64_t start = nsys_int(q, 0);
	if (start > TIME_LIMIT || start < -TIME_LIMIT ||
	    (start == 0 && sqlite3_column_type(q->stmt, 0) != SQLITE_INTEGER)) {
		q->no_time++;
		return false;
	}
	row->v[HWY_START] = start;
	return true;
}

bool nsys_times(struct nsys_query *q, struct hwy_row *row)
{
	if (!nsys_moment(q, row))
		return false;
	int64_t end = nsys_int(q, 1);
	bool good = end >= row->v[HWY_START] && end <= TIME_LIMIT;
	q->backwards += !good;
	row->v[HWY_DUR] = good ? end - row->v[HWY_START] : 0;
	return true;
}

uint32_t nsys_text(struct nsys_query *q, int column)
{
	const char *text = (const char *)sqlite3_column_text(q->stmt, column);
	if (!text)
		return 0;
	return hwy_text_id_n(q->nsys->b, text, (size_t)sqlite3_column_bytes(q->stmt, column));
}

/* Every export has 'id' as the row id; where somebody rebuilt the table without, look-ups by id would each
 * scan it, so the rows are found through a map. */
static bool prepare_strings(struct nsys *n)
{
	struct nsys_query q;
	const char *sql = "SELECT value FROM StringIds WHERE rowid=?1";
	sqlite3_stmt *stmt = NULL;
	if (sqlite3_prepare_v2(
		    n->db,
		    "SELECT pk, upper(type) FROM pragma_table_info('StringIds') WHERE name='id'",
		    -1, &stmt, NULL) != SQLITE_OK)
		return nsys_sql_fail(n, "StringIds");
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
	if (!n->failed && sqlite3_prepare_v2(n->db, sql, -1, &n->string_stmt, NULL) != SQLITE_OK)
		nsys_sql_fail(n, "StringIds");
	return !n->failed;
}

static uint32_t load_string(struct nsys *n, int64_t id)
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
		if (value)
			text = hwy_text_id_n(n->b, value,
					     (size_t)sqlite3_column_bytes(n->string_stmt, 0));
	} else if (rc != SQLITE_DONE) {
		nsys_sql_fail(n, "StringIds");
	}
	sqlite3_reset(n->string_stmt);
	return text;
}

/* Texts are fetched when first used and never all at once: the table also holds files and environment
 * variables of the recorded machine, which are none of our business. */
uint32_t nsys_string(struct nsys *n, int64_t id)
{
	uint32_t known = nsys_ids_get(&n->strings, id);
	if (known)
		return known - 1;
	uint32_t text = load_string(n, id);
	*nsys_ids_put(&n->strings, id) = text + 1;
	return text;
}
