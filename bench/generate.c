/* SPDX-License-Identifier: Apache-2.0 */
/* generate.c - makes a large recording out of a small one.
 *
 *   generate hwy IN COPIES OUT.hwy       any recording, COPIES times one after the other
 *   generate nsys IN.sqlite COPIES OUT   the rows of the event tables, with shifted times and ids
 *   generate kineto IN.json COPIES OUT   the text of the traceEvents, with shifted times and ids
 *   generate sample IN OUT.json          any recording as Kineto events, for want of a real one
 *
 * A copy of a trace is not a repetition: time runs at a slightly different speed in every stretch of it
 * (deterministic, monotone, so that order and nesting stay), and compression finds no more than it would
 * in a longer run.
 */
#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "import/import.h"
#include "trace/builder.h"
#include "trace/file.h"

static _Noreturn void die(const char *what, const char *why)
{
	fprintf(stderr, "generate: %s: %s\n", what, why);
	exit(2);
}

static struct hwy_trace *open_all(const char *path)
{
	struct hwy_err err;
	struct hwy_trace *trace = hwy_open(path, NULL, &err);
	if (!trace || !hwy_need(trace, ~0u, ~UINT64_C(0), &err))
		die(path, err.text);
	return trace;
}

/* ---- hwy ---------------------------------------------------------------------------------------- */

enum { STRETCH_BITS = 16, SPEED_BITS = 10 };

/* Time inside one copy: stretch k of 65.5 us begins at base[k] and runs at speed[k] / 1024. */
struct warp {
	int64_t from; /* of the source */
	uint32_t n;
	int64_t *base;
	uint32_t *speed; /* 0.95 … 1.05 */
};

static void warp_start(struct warp *warp, int64_t begin, uint64_t copy)
{
	for (uint32_t k = 0; k < warp->n; k++) {
		warp->base[k] = begin;
		warp->speed[k] = (uint32_t)(973 + hwy_mix(copy << 32 | k) % 103);
		begin += ((int64_t)warp->speed[k] << STRETCH_BITS) >> SPEED_BITS;
	}
}

static int64_t warp_time(const struct warp *warp, int64_t t)
{
	int64_t k = (t - warp->from) >> STRETCH_BITS;
	if (k < 0 || k >= warp->n)
		return warp->base[0];
	int64_t into = t - warp->from - (k << STRETCH_BITS);
	return warp->base[k] + ((into * warp->speed[k]) >> SPEED_BITS);
}

static void copy_records(struct hwy_builder *b, const struct hwy_trace *from)
{
	struct hwy_trace *to = hwy_builder_trace(b);
	for (uint32_t i = 0; i < from->strings.n; i++)
		hwy_text_id_n(b, from->strings.texts[i].at, from->strings.texts[i].length);
	to->wall = from->wall;
	/* A new builder numbers from 0: indexes stay what they were. Edges and results are not copied. */
#define X(type, field, section)                                                                    \
	for (uint32_t i = 0; section != 13 && section != 20 && i < from->n_##field; i++) {         \
		uint32_t index = hwy_new_##field(b);                                               \
		to->field[index] = from->field[i];                                                 \
	}
	HWY_RECORDS(X)
#undef X
}

static void read_row(const struct hwy_trace *trace, const struct hwy_strip *strip, uint32_t i,
		     struct hwy_row *row)
{
	for (uint64_t left = hwy_kind_columns[strip->kind]; left; left &= left - 1) {
		unsigned col = (unsigned)__builtin_ctzll(left);
		row->v[col] = hwy_get(strip, (enum hwy_col)col, i);
	}
	row->v[HWY_CORR] = hwy_corr(trace, strip, i);
	row->v[HWY_LINK] = 0;
}

static void move_row(struct hwy_row *row, const struct warp *warp, int64_t id_shift)
{
	int64_t end = warp_time(warp, row->v[HWY_START] + row->v[HWY_DUR]);
	row->v[HWY_START] = warp_time(warp, row->v[HWY_START]);
	row->v[HWY_DUR] = end > row->v[HWY_START] ? end - row->v[HWY_START] : 0;
	static const enum hwy_col times[] = {HWY_QUEUED, HWY_SUBMITTED};
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		if (row->v[times[i]])
			row->v[times[i]] = warp_time(warp, row->v[times[i]]);
	static const enum hwy_col ids[] = {HWY_CORR, HWY_ROW, HWY_EXTERNAL, HWY_EVENT_SYNC};
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
		if (row->v[ids[i]])
			row->v[ids[i]] += id_shift;
}

static int64_t largest_id(const struct hwy_trace *trace)
{
	int64_t largest = 0;
	for (uint32_t s = 0; s < trace->n_strips; s++)
		for (uint32_t i = 0; i < trace->strips[s].rows; i++) {
			int64_t corr = hwy_get(&trace->strips[s], HWY_CORR, i);
			int64_t row = hwy_get(&trace->strips[s], HWY_ROW, i);
			largest = corr > largest ? corr : largest;
			largest = row > largest ? row : largest;
		}
	return largest;
}

static void generate_hwy(const char *in, uint64_t copies, const char *out)
{
	struct hwy_trace *trace = open_all(in);
	int64_t from, to;
	if (!hwy_extent(trace, ~0u, &from, &to))
		die(in, "no spans");
	if (trace->n_spans * copies > UINT32_MAX - 1)
		die(in, "more spans than a trace holds");
	struct warp warp = {.from = from, .n = (uint32_t)((to - from) >> STRETCH_BITS) + 1};
	warp.base = hwy_alloc(warp.n * sizeof *warp.base);
	warp.speed = hwy_alloc(warp.n * sizeof *warp.speed);
	int64_t ids = largest_id(trace) + 1, begin = from;
	struct hwy_builder *b = hwy_builder_new();
	copy_records(b, trace);
	for (uint64_t copy = 0; copy < copies; copy++) {
		warp_start(&warp, begin, copy);
		for (uint32_t s = 0; s < trace->n_strips; s++)
			for (uint32_t i = 0; i < trace->strips[s].rows; i++) {
				struct hwy_row row;
				read_row(trace, &trace->strips[s], i, &row);
				move_row(&row, &warp, (int64_t)copy * ids);
				hwy_add_span(b, trace->strips[s].lane,
					     (enum hwy_kind)trace->strips[s].kind, &row);
			}
		begin = warp_time(&warp, to) + 10000;
	}
	hwy_trace_free(trace);
	free(warp.base);
	free(warp.speed);
	struct hwy_err err;
	struct hwy_trace *large = hwy_builder_finish(b, false);
	if (!hwy_file_write(large, out, true, NULL, &err))
		die(out, err.text);
	hwy_trace_free(large);
}

/* ---- nsys --------------------------------------------------------------------------------------- */

static void sql(sqlite3 *db, const char *text)
{
	char *why = NULL;
	if (sqlite3_exec(db, text, NULL, NULL, &why) != SQLITE_OK)
		die(text, why);
}

static int64_t sql_number(sqlite3 *db, const char *text)
{
	sqlite3_stmt *statement;
	if (sqlite3_prepare_v2(db, text, -1, &statement, NULL) != SQLITE_OK)
		die(text, sqlite3_errmsg(db));
	int64_t value =
		sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
	sqlite3_finalize(statement);
	return value;
}

/* How a column of a copied row is computed; ?1 is the time shift, ?2 that of ids. */
static const char *moved(const char *column)
{
	static const char *const times[] = {"start", "end", "timestamp", "rawTimestamp"};
	static const char *const ids[] = {"correlationId", "id", "rangeId"};
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		if (strcmp(column, times[i]) == 0)
			return "\"%w\" + ?1";
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
		if (strcmp(column, ids[i]) == 0)
			return "\"%w\" + ?2";
	return "\"%w\"";
}

static void repeat_table(sqlite3 *db, const char *table, uint64_t copies, int64_t length,
			 int64_t ids)
{
	sqlite3_str *text = sqlite3_str_new(db);
	sqlite3_str_appendf(text, "INSERT INTO \"%w\" SELECT ", table);
	sqlite3_stmt *columns;
	char *query = sqlite3_mprintf("SELECT name FROM pragma_table_info(%Q)", table);
	if (sqlite3_prepare_v2(db, query, -1, &columns, NULL) != SQLITE_OK)
		die(query, sqlite3_errmsg(db));
	for (bool first = true; sqlite3_step(columns) == SQLITE_ROW; first = false) {
		const char *name = (const char *)sqlite3_column_text(columns, 0);
		sqlite3_str_appendall(text, first ? "" : ", ");
		sqlite3_str_appendf(text, moved(name), name);
	}
	sqlite3_finalize(columns);
	sqlite3_free(query);
	sqlite3_str_appendf(text, " FROM \"%w\" WHERE rowid <= ?3", table);
	query = sqlite3_mprintf("SELECT max(rowid) FROM \"%w\"", table);
	int64_t last = sql_number(db, query);
	sqlite3_free(query);

	char *insert = sqlite3_str_finish(text);
	sqlite3_stmt *statement;
	if (sqlite3_prepare_v2(db, insert, -1, &statement, NULL) != SQLITE_OK)
		die(insert, sqlite3_errmsg(db));
	for (uint64_t copy = 1; copy < copies; copy++) {
		sqlite3_bind_int64(statement, 1, (int64_t)copy * length);
		sqlite3_bind_int64(statement, 2, (int64_t)copy * ids);
		sqlite3_bind_int64(statement, 3, last);
		if (sqlite3_step(statement) != SQLITE_DONE)
			die(insert, sqlite3_errmsg(db));
		sqlite3_reset(statement);
	}
	sqlite3_finalize(statement);
	sqlite3_free(insert);
}

/* The names of the event tables: those with a start, and the stacks of samples. */
static uint32_t event_tables(sqlite3 *db, char *names[], uint32_t cap)
{
	uint32_t n = 0;
	sqlite3_stmt *tables;
	if (sqlite3_prepare_v2(db,
			       "SELECT m.name FROM sqlite_master m WHERE m.type = 'table' AND "
			       "(m.name = 'SAMPLING_CALLCHAINS' OR (m.name NOT LIKE 'TARGET%' AND "
			       "m.name <> 'DIAGNOSTIC_EVENT' AND EXISTS (SELECT 1 FROM "
			       "pragma_table_info(m.name) c WHERE c.name = 'start')))",
			       -1, &tables, NULL) != SQLITE_OK)
		die("tables", sqlite3_errmsg(db));
	while (sqlite3_step(tables) == SQLITE_ROW && n < cap)
		names[n++] = strdup((const char *)sqlite3_column_text(tables, 0));
	sqlite3_finalize(tables);
	return n;
}

static void copy_file(const char *in, const char *out)
{
	static char buffer[1 << 16];
	FILE *from = fopen(in, "rb"), *to = fopen(out, "wb");
	if (!from || !to)
		die(from ? out : in, strerror(errno));
	for (size_t n; (n = fread(buffer, 1, sizeof buffer, from)) > 0;)
		fwrite(buffer, 1, n, to);
	fclose(from);
	if (fclose(to) != 0)
		die(out, strerror(errno));
}

static void generate_nsys(const char *in, uint64_t copies, const char *out)
{
	sqlite3 *db;
	copy_file(in, out);
	if (sqlite3_open(out, &db) != SQLITE_OK)
		die(out, sqlite3_errmsg(db));
	sql(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
	char *names[64];
	uint32_t n = event_tables(db, names, 64);
	int64_t length = 0, ids = 0;
	for (uint32_t i = 0; i < n; i++) {
		static const char *const largest[] = {"start", "end", "correlationId", "id"};
		for (size_t c = 0; c < 4; c++) {
			char *query = sqlite3_mprintf(
				"SELECT max(\"%w\") FROM \"%w\" WHERE EXISTS (SELECT 1 "
				"FROM pragma_table_info(%Q) WHERE name = %Q)",
				largest[c], names[i], names[i], largest[c]);
			int64_t value = sql_number(db, query);
			int64_t *limit = c < 2 ? &length : &ids;
			*limit = value > *limit ? value : *limit;
			sqlite3_free(query);
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		repeat_table(db, names[i], copies, length + 10000, ids + 1);
		free(names[i]);
	}
	sql(db, "COMMIT");
	sqlite3_close(db);
}

/* ---- kineto ------------------------------------------------------------------------------------- */

static char *read_text(const char *path, size_t *length)
{
	FILE *in = fopen(path, "rb");
	if (!in || fseek(in, 0, SEEK_END) != 0)
		die(path, strerror(errno));
	long size = ftell(in);
	rewind(in);
	char *text = hwy_alloc((size_t)size + 1);
	*length = fread(text, 1, (size_t)size, in);
	text[*length] = 0;
	fclose(in);
	return text;
}

/* The number after one of these keys moves; false when 'at' is no such key. */
static bool moved_key(const char *at, size_t *key, bool *is_time)
{
	static const char *const keys[] = {
		"\"ts\": ", "\"correlation\": ", "\"External id\": ", "\"id\": ", "\"Ev Idx\": "};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		size_t n = strlen(keys[i]);
		if (strncmp(at, keys[i], n) == 0 && at[n] >= '0' && at[n] <= '9') {
			*key = n;
			*is_time = i == 0;
			return true;
		}
	}
	return false;
}

static void write_copy(FILE *out, const char *at, const char *end, uint64_t time_shift,
		       uint64_t id_shift)
{
	const char *written = at;
	for (; (at = memchr(at, '"', (size_t)(end - at))); at++) {
		size_t key;
		bool is_time;
		if (!moved_key(at, &key, &is_time))
			continue;
		char *rest;
		uint64_t number = strtoull(at + key, &rest, 10);
		fwrite(written, 1, (size_t)(at + key - written), out);
		fprintf(out, "%" PRIu64, number + (is_time ? time_shift : id_shift));
		written = rest;
		at = rest - 1;
	}
	fwrite(written, 1, (size_t)(end - written), out);
}

static void generate_kineto(const char *in, uint64_t copies, const char *out)
{
	size_t length;
	char *text = read_text(in, &length);
	char *begin = strstr(text, "\"traceEvents\": ["), *end = text + length;
	if (!begin)
		die(in, "no traceEvents");
	begin = strchr(begin, '[') + 1;
	while (end > begin && *end != ']')
		end--;
	FILE *to = fopen(out, "wb");
	if (!to)
		die(out, strerror(errno));
	fwrite(text, 1, (size_t)(begin - text), to);
	for (uint64_t copy = 0; copy < copies; copy++) {
		if (copy)
			fputc(',', to);
		write_copy(to, begin, end, copy * 60000000, copy * 10000000);
	}
	fwrite(end, 1, (size_t)(text + length - end), to);
	if (fclose(to) != 0)
		die(out, strerror(errno));
	free(text);
}

/* ---- sample ------------------------------------------------------------------------------------- */

static void write_micro(FILE *out, const char *key, int64_t ns)
{
	fprintf(out, "\"%s\": %" PRId64 ".%03" PRId64, key, ns / 1000, ns % 1000);
}

static void write_args(FILE *out, const struct hwy_trace *trace, const struct hwy_strip *strip,
		       uint32_t i)
{
	int64_t corr = hwy_corr(trace, strip, i), shape = hwy_get(strip, HWY_SHAPE, i);
	fprintf(out, ",\n    \"args\": {\n      \"External id\": %" PRId64, corr);
	if (HWY_DEVICE_KINDS & HWY_KIND_BIT(strip->kind))
		fprintf(out, ", \"device\": 0, \"context\": 1, \"stream\": 7");
	if (corr)
		fprintf(out, ", \"correlation\": %" PRId64, corr);
	if (strip->kind == HWY_KERNEL && shape > 0) {
		const struct hwy_shape *s = &trace->shapes[shape - 1];
		fprintf(out,
			",\n      \"registers per thread\": %" PRId64
			",\n      \"shared memory\": %" PRId64 ",\n      \"grid\": [%" PRId64
			", %" PRId64 ", %" PRId64 "],\n      \"block\": [%" PRId64 ", %" PRId64
			", %" PRId64 "],\n      \"est. achieved occupancy %%\": 100",
			s->registers, s->dynamic_shared, s->grid_x, s->grid_y, s->grid_z,
			s->block_x, s->block_y, s->block_z);
	} else if (strip->kind == HWY_COPY || strip->kind == HWY_FILL) {
		fprintf(out, ",\n      \"bytes\": %" PRId64 ", \"memory bandwidth (GB/s)\": 1.5",
			hwy_get(strip, HWY_BYTES, i));
	} else if (strip->kind == HWY_OS) {
		fputs(", \"Record function id\": 0, \"Concrete Inputs\": [\"\"], \"Input type\": [\"float\"], "
		      "\"Input Strides\": [[1]], \"Input Dims\": [[2048]], \"Ev Idx\": 1",
		      out);
	}
	fputs("\n    }\n  }", out);
}

static void generate_sample(const char *in, const char *out)
{
	/* os calls stand in for a framework's operators: both are many, short and nested. */
	static const char *const categories[HWY_KINDS] = {
		[HWY_API] = "cuda_runtime",      [HWY_KERNEL] = "kernel",
		[HWY_COPY] = "gpu_memcpy",       [HWY_FILL] = "gpu_memset",
		[HWY_RANGE] = "user_annotation", [HWY_OS] = "cpu_op"};
	struct hwy_trace *trace = open_all(in);
	FILE *to = fopen(out, "wb");
	if (!to)
		die(out, strerror(errno));
	fputs("{\n  \"schemaVersion\": 1,\n  \"baseTimeNanoseconds\": 1700000000000000000,\n"
	      "  \"traceEvents\": [\n",
	      to);
	bool first = true;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		bool on_device = HWY_DEVICE_KINDS & HWY_KIND_BIT(strip->kind);
		for (uint32_t i = 0; categories[strip->kind] && i < strip->rows;
		     i++, first = false) {
			struct hwy_text name = hwy_text(trace, hwy_get(strip, HWY_NAME, i));
			fprintf(to, "%s  {\n    \"ph\": \"X\", \"cat\": \"%s\", \"name\": ",
				first ? "" : ",\n", categories[strip->kind]);
			json_escape(to, name.at, name.length);
			fprintf(to, ", \"pid\": %u, \"tid\": %u,\n    ", on_device ? 0 : 1000,
				on_device ? 7 : 1000 + strip->lane);
			write_micro(to, "ts", hwy_get(strip, HWY_START, i) + 3600000000000);
			fputs(", ", to);
			write_micro(to, "dur", hwy_get(strip, HWY_DUR, i));
			write_args(to, trace, strip, i);
		}
	}
	fputs("\n  ],\n  \"traceName\": \"sample.json\"\n}\n", to);
	if (fclose(to) != 0)
		die(out, strerror(errno));
	hwy_trace_free(trace);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	if (argc == 4 && strcmp(what, "sample") == 0)
		generate_sample(argv[2], argv[3]);
	else if (argc == 5 && strcmp(what, "hwy") == 0)
		generate_hwy(argv[2], strtoull(argv[3], NULL, 10), argv[4]);
	else if (argc == 5 && strcmp(what, "nsys") == 0)
		generate_nsys(argv[2], strtoull(argv[3], NULL, 10), argv[4]);
	else if (argc == 5 && strcmp(what, "kineto") == 0)
		generate_kineto(argv[2], strtoull(argv[3], NULL, 10), argv[4]);
	else
		die("usage", "generate hwy|nsys|kineto IN COPIES OUT, or generate sample IN OUT");
	return 0;
}
