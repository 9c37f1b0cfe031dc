/* SPDX-License-Identifier: Apache-2.0 */
/* worker_sql.c - the worker's side of worker.h: SQL about the recording, as JSON.
 *
 * A query is anybody's text, so each one runs in a process of its own, a copy of the worker that
 * lasts as long as the query: it can only write to the pipe that its answer goes through, and is
 * ended when it takes too long. What it breaks or loads is gone with it. The rules of sql/guard.h
 * hold inside: it reads, within limits of time, memory and rows.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory_text.h"
#include "serve/worker.h"
#include "sql/sql.h"

enum {
	MOST_ROWS = 10000,
	MOST_BYTES = 8 << 20, /* of JSON: no further row is written behind so many bytes */
	LONGEST_CELL = 4096,  /* longer texts are cut */
	/* The most bytes that are read of an answer: MOST_BYTES and a row of MOST_COLUMNS
	 * (sql/guard.c) texts of LONGEST_CELL bytes, each of which JSON may write as six. */
	LARGEST_ANSWER = 32 << 20,
	MOST_SECONDS = 12, /* less than WORKER_PATIENCE_S */
	MEMORY_MIB = 512,
};
#define LARGEST_EXACT (INT64_C(1) << 53)

/* The answer that is being written: JSON, and how much of it there is. */
struct telling_rows {
	struct hwy_json *json;
	uint64_t rows;
	bool has_begun, is_closed, is_cut;
};

static void begin_rows(void *self, const char *const *names, uint32_t n)
{
	struct telling_rows *t = self;
	if (t->has_begun) { /* a second statement: its rows are not shown */
		t->is_closed = true;
		return;
	}
	t->has_begun = true;
	json_key(t->json, "columns");
	json_begin_array(t->json);
	for (uint32_t i = 0; i < n; i++)
		json_textz(t->json, names[i]);
	json_end_array(t->json);
	json_key(t->json, "rows");
	json_begin_array(t->json);
}

static void put_sql_cell(struct telling_rows *t, const struct hwy_cell *cell)
{
	char digits[32];
	switch (cell->type) {
	case HWY_CELL_INT:
		/* A number that the page cannot hold exactly is a text. */
		if (cell->number > -LARGEST_EXACT && cell->number < LARGEST_EXACT) {
			json_int(t->json, cell->number);
			return;
		}
		snprintf(digits, sizeof digits, "%" PRId64, cell->number);
		json_textz(t->json, digits);
		return;
	case HWY_CELL_UINT:
		snprintf(digits, sizeof digits, "%" PRIu64, (uint64_t)cell->number);
		json_textz(t->json, digits);
		return;
	case HWY_CELL_REAL: json_real(t->json, cell->real, 6); return;
	case HWY_CELL_TEXT:
		json_text(t->json, cell->text.at,
			  cell->text.length < LONGEST_CELL ? cell->text.length : LONGEST_CELL);
		return;
	default: json_null(t->json);
	}
}

static bool put_sql_row(void *self, const struct hwy_cell *cells, uint32_t n)
{
	struct telling_rows *t = self;
	if (t->is_closed)
		return false;
	t->is_cut = t->rows >= MOST_ROWS || ftello(t->json->out) >= MOST_BYTES;
	if (t->is_cut)
		return false;
	t->rows++;
	json_begin_array(t->json);
	for (uint32_t i = 0; i < n; i++)
		put_sql_cell(t, &cells[i]);
	json_end_array(t->json);
	return true;
}

static void put_text_row(struct telling_rows *t, const char *first, size_t length,
			 const char *second)
{
	t->rows++;
	json_begin_array(t->json);
	json_text(t->json, first, length);
	if (second)
		json_textz(t->json, second);
	json_end_array(t->json);
}

/* ".tables" and ".schema TABLE", to which the sentences about unknown names point. */
static bool put_description(struct telling_rows *t, const struct sql_db *db, const char *query,
			    struct hwy_err *err)
{
	static const char *const columns[] = {"table", "rows"}, *const lines[] = {"columns"};
	char table[64] = "", more[2] = "";
	if (strcmp(query, ".tables") == 0) {
		begin_rows(t, columns, 2);
		for (uint32_t i = 0; sql_table_name(db, i); i++)
			put_text_row(t, sql_table_name(db, i), strlen(sql_table_name(db, i)),
				     sql_table_about(db, i));
		return true;
	}
	if (sscanf(query, ".schema %63s %1s", table, more) != 1)
		return hwy_fail(err, "only .tables and .schema TABLE begin with a dot");
	struct hwy_bytes text = {0};
	bool found = sql_schema(db, table, &text, err);
	if (found)
		begin_rows(t, lines, 1);
	const char *at = (const char *)text.bytes, *end = at + text.n;
	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		stop = stop ? stop : end;
		put_text_row(t, at, (size_t)(stop - at), NULL);
		at = stop + 1;
	}
	free(text.bytes);
	return found;
}

/* 'json' writes to memory, where ftello tells how much there is. */
static void put_sql_answer(struct hwy_json *json, struct hwy_trace *trace, const char *query)
{
	struct sql_limits limits = {.time = (MOST_SECONDS - 2) * INT64_C(1000000000),
				    .memory = (uint64_t)MEMORY_MIB << 20};
	struct telling_rows t = {.json = json};
	struct sql_sink sink = {&t, begin_rows, put_sql_row};
	struct hwy_err err = {0};
	json_begin_object(json);
	struct sql_db *db = sql_open(trace, &limits, &err);
	query += strspn(query, " \t\r\n");
	bool done = db && (*query == '.' ? put_description(&t, db, query, &err)
					 : sql_query(db, query, &sink, &err));
	if (done && t.is_closed)
		done = hwy_fail(&err, "only one query can be answered at a time: what stands "
				      "behind the semicolon is another one");
	if (t.has_begun)
		json_end_array(json);
	json_put_bool(json, "cut", t.is_cut);
	if (!done)
		json_put_text(json, "error", err.text);
	json_end_object(json);
	sql_close(db);
}

/* In the process of the query: answers through the pipe, and ends. */
static _Noreturn void answer_apart(int to, struct hwy_trace *trace, const char *query)
{
	const struct rlimit cpu = {MOST_SECONDS, MOST_SECONDS}, none = {0, 0};
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	setrlimit(RLIMIT_CPU, &cpu);
	setrlimit(RLIMIT_FSIZE, &none);
	setrlimit(RLIMIT_CORE, &none);
	alarm(MOST_SECONDS);
	struct memory_text answer;
	struct hwy_json json = {.out = memory_text_begin(&answer)};
	put_sql_answer(&json, trace, query);
	memory_text_end(&answer);
	FILE *out = fdopen(to, "w");
	if (!out)
		_exit(1);
	fwrite(answer.text, 1, answer.length, out);
	_exit(fclose(out) == 0 ? 0 : 1);
}

/* Adds what comes through the pipe to 'text', up to its end. Yields NULL, or a sentence where the
 * rest is not wanted: something came from 'input' first, or the answer is too large. */
static const char *read_sql_answer(int from, int input, struct hwy_bytes *text)
{
	enum { BLOCK = 1 << 16 };
	while (text->n <= LARGEST_ANSWER) {
		struct pollfd ends[] = {{.fd = from, .events = POLLIN},
					{.fd = input, .events = POLLIN}};
		int ready = poll(ends, 2, -1);
		if (ready < 0 && errno == EINTR)
			continue;
		if (ready < 0 || ends[1].revents)
			return "nobody waits for the answer";
		uint8_t *room = hwy_bytes_reserve(text, BLOCK);
		ssize_t n = read(from, room, BLOCK);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return NULL;
		text->n += (size_t)n;
	}
	return "the answer is too large";
}

static void put_failure_of_sql(FILE *out, const char *why)
{
	struct hwy_json json = {.out = out};
	json_begin_object(&json);
	json_put_text(&json, "error", why);
	json_end_object(&json);
}

void worker_sql(FILE *out, int input, const struct hwy_analysis *analysis, const char *question)
{
	const char *why = NULL;
	int ends[2];
	char *query = hwy_copy(question, strlen(question) + 1);
	for (char *c = query; *c; c++)
		*c = *c == WORKER_SQL_NEWLINE ? '\n' : *c;
	if (pipe(ends) != 0) {
		put_failure_of_sql(out, "no pipe for the query");
		free(query);
		return;
	}
	pid_t pid = fork();
	if (pid == 0) {
		close(ends[0]);
		answer_apart(ends[1], analysis->trace, query);
	}
	close(ends[1]);
	struct hwy_bytes text = {0};
	int status = 1;
	if (pid > 0) {
		why = read_sql_answer(ends[0], input, &text);
		if (why)
			kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	close(ends[0]);
	if (status != 0 && !why)
		why = "the query took too long, or more than it may have, and was ended";
	if (why)
		put_failure_of_sql(out, why);
	else
		fwrite(text.bytes, 1, text.n, out);
	hwy_bytes_free(&text);
	free(query);
}
