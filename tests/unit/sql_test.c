/* SPDX-License-Identifier: Apache-2.0 */
/* sql_test.c - the tables of `headway sql`: what they hold, that skipping loses no row, and what queries may not do. */
#include "make_trace.h"
#include "recordings.h"
#include "sql/questions.h"
#include "sql/sql.h"

/* ---- answers as text: cells with '|' between them, a line a row ---- */

struct answer {
	struct hwy_bytes text;
	uint32_t rows;
};

static void answer_begin(void *self, const char *const *names, uint32_t n)
{
	(void)self, (void)names, (void)n;
}

static bool answer_row(void *self, const struct hwy_cell *cells, uint32_t n)
{
	struct answer *answer = self;
	char digits[64];
	for (uint32_t i = 0; i < n; i++) {
		int length = 0;
		if (i)
			hwy_bytes_put_byte(&answer->text, '|');
		switch (cells[i].type) {
		case HWY_CELL_NONE: length = snprintf(digits, sizeof digits, "NULL"); break;
		case HWY_CELL_REAL:
			length = snprintf(digits, sizeof digits, "%.17g", cells[i].real);
			break;
		case HWY_CELL_TEXT:
			hwy_bytes_put(&answer->text, cells[i].text.at, cells[i].text.length);
			break;
		default:
			length =
				snprintf(digits, sizeof digits, "%lld", (long long)cells[i].number);
		}
		hwy_bytes_put(&answer->text, digits, (size_t)length);
	}
	hwy_bytes_put_byte(&answer->text, '\n');
	answer->rows++;
	return true;
}

static struct sql_db *open_db(struct hwy_trace *trace)
{
	struct sql_limits limits = SQL_DEFAULT_LIMITS;
	struct hwy_err err;
	struct sql_db *db = sql_open(trace, &limits, &err);
	if (!db)
		fail_msg("%s", err.text);
	return db;
}

/* Yields the answer, which the caller frees; the test fails where there is none. */
static char *ask(struct sql_db *db, const char *query)
{
	struct answer answer = {0};
	struct sql_sink sink = {&answer, answer_begin, answer_row};
	struct hwy_err err;
	if (!sql_query(db, query, &sink, &err))
		fail_msg("%s: %s", query, err.text);
	hwy_bytes_put_byte(&answer.text, 0);
	return (char *)answer.text.bytes;
}

static void expect(struct sql_db *db, const char *query, const char *answer)
{
	char *got = ask(db, query);
	if (strcmp(got, answer) != 0)
		fail_msg("%s\n  gives    %s\n  and not  %s", query, got, answer);
	free(got);
}

static void expect_same(struct sql_db *db, const char *one, const char *other)
{
	char *a = ask(db, one), *b = ask(db, other);
	if (strcmp(a, b) != 0)
		fail_msg("%s\n  gives other rows than\n%s", one, other);
	free(a);
	free(b);
}

static void expect_refusal(struct sql_db *db, const char *query, const char *why)
{
	struct answer answer = {0};
	struct sql_sink sink = {&answer, answer_begin, answer_row};
	struct hwy_err err;
	if (sql_query(db, query, &sink, &err))
		fail_msg("%s: answered", query);
	if (!strstr(err.text, why))
		fail_msg("%s: '%s' does not say '%s'", query, err.text, why);
	hwy_bytes_free(&answer.text);
}

/* ---- what the tables hold ---- */

static struct hwy_trace *machine(void)
{
	struct small small = small_machine();
	small_launch_us(&small, 0, 2, 5, 10);
	small_launch_us(&small, 3, 4, 10, 30);
	small_copy_in_us(&small, 6, 8, 31, 40);
	return small_finish(&small);
}

static void spans_have_the_columns_of_the_csv_export(void **state)
{
	struct hwy_trace *trace = machine();
	struct sql_db *db = open_db(trace);
	expect(db,
	       "select pid, device, stream, lane, start, duration, name, call, correlation from kernel",
	       "100|0|7|stream|5000|5000|k|3|1\n100|0|7|stream|10000|20000|k|4|2\n");
	expect(db, "select direction, bytes, source_memory, \"end\" from copy",
	       "Host-to-Device|1048576|Pinned|40000\n");
	expect(db, "select role, count(*), sum(duration) from api group by role order by role",
	       "copy|1|2000\nlaunch|2|3000\n");
	expect(db, "select kind, class, count(*) from spans group by kind, class order by kind",
	       "api|NULL|3\ncopy|memory|1\nkernel|compute|2\n");
	expect(db, "select name, count, total, mean, min, max, share from kernels",
	       "k|2|25000|12500|5000|20000|1\n");
	sql_close(db);
	hwy_trace_free(trace);
}

static void what_is_not_known_is_null(void **state)
{
	struct hwy_trace *trace = machine();
	struct sql_db *db = open_db(trace);
	expect(db, "select distinct grid_x, demangled, rank, tid, thread, args from kernel",
	       "NULL|NULL|NULL|NULL|NULL|NULL\n");
	expect(db, "select name, command, \"end\", rank from processes", "NULL|NULL|NULL|NULL\n");
	sql_close(db);
	hwy_trace_free(trace);
}

static void ids_join_tables(void **state)
{
	struct hwy_trace *trace = machine();
	struct sql_db *db = open_db(trace);
	expect(db,
	       "select k.start, a.name, a.start from kernel k join api a on a.id = k.call order by k.start",
	       "5000|cudaLaunchKernel|0\n10000|cudaLaunchKernel|3000\n");
	expect(db,
	       "select distinct l.lane, d.name, p.pid from copy c join lanes l on l.id = c.lane_id join devices d "
	       "on d.id = c.device_id join processes p on p.id = c.process_id",
	       "stream|Toy|100\n");
	sql_close(db);
	hwy_trace_free(trace);
}

/* Every column of the model is a column of its kind's table, and every table can be read as a whole. */
static void every_table_and_column_can_be_read(void **state)
{
	struct hwy_trace *trace = random_trace(7, 20, 3000);
	struct sql_db *db = open_db(trace);
	for (uint32_t i = 0; sql_table_name(db, i); i++) {
		char query[128];
		const char *name = sql_table_name(db, i);
		bool is_analysed = strcmp(name, "phases") == 0 || strcmp(name, "steps") == 0 ||
				   strcmp(name, "gaps") == 0 || strcmp(name, "findings") == 0 ||
				   strcmp(name, "verdict") == 0;
		if (is_analysed) /* random spans are no program */
			continue;
		snprintf(query, sizeof query, "select * from \"%s\"", name);
		free(ask(db, query));
		struct hwy_bytes schema = {0};
		struct hwy_err err;
		assert_true(sql_schema(db, name, &schema, &err));
		assert_true(schema.n > 0);
		hwy_bytes_free(&schema);
	}
	for (int kind = 0; kind < HWY_KINDS; kind++)
		for (int col = 0; col < HWY_COLS; col++) {
			char query[128];
			bool is_several = col == HWY_SHAPE || col == HWY_SYMBOL || col == HWY_LINK;
			if (!(hwy_kind_columns[kind] & HWY_COL_BIT(col)) || is_several)
				continue;
			snprintf(query, sizeof query, "select count(\"%s\") from \"%s\"",
				 hwy_columns[col].name, hwy_kind_names[kind]);
			for (char *dash; (dash = strchr(query, '-'));)
				*dash = '_';
			free(ask(db, query));
		}
	sql_close(db);
	hwy_trace_free(trace);
}

static void a_number_of_spans_is_that_of_the_trace(void **state)
{
	struct hwy_trace *trace = random_trace(3, 30, 5000);
	struct sql_db *db = open_db(trace);
	char text[64];
	snprintf(text, sizeof text, "%u|0|%u\n", trace->n_spans, trace->n_spans - 1);
	expect(db, "select count(*), min(id), max(id) from spans", text);
	snprintf(text, sizeof text, "%u\n", trace->n_spans);
	expect(db, "select sum(spans) from lanes", text);
	sql_close(db);
	hwy_trace_free(trace);
}

/* ---- skipping: a query with constraints, and one over a copy of all rows, which "limit -1" makes SQLite take ---- */

static const char *const compared[] = {"=", "<", "<=", ">", ">=", "is"};

/* A value near those of the column: a span's, or any number, or something of another type. */
static void roll_value(struct dice *dice, struct sql_db *db, const char *table, const char *column,
		       char *value, size_t size)
{
	char query[192];
	switch (roll_below(dice, 8)) {
	case 0: snprintf(value, size, "%lld", (long long)roll_any(dice)); return;
	case 1: snprintf(value, size, "%lld.5", (long long)roll_below(dice, 100000)); return;
	case 2: snprintf(value, size, "'%lld'", (long long)roll_below(dice, 3)); return;
	case 3: snprintf(value, size, "%s", roll(dice) % 2 ? "NULL" : "'text 7'"); return;
	default: break;
	}
	snprintf(query, sizeof query, "select quote(\"%s\") from \"%s\" limit 1 offset %lld",
		 column, table, (long long)roll_below(dice, 100));
	char *answer = ask(db, query);
	answer[strcspn(answer, "\n")] = '\0';
	bool is_usable =
		*answer && strlen(answer) < size &&
		strlen(answer) ==
			strspn(answer,
			       "'0123456789-.ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz ");
	snprintf(value, size, "%s", is_usable ? answer : "1");
	free(answer);
}

static const char *const columns[] = {
	"id",  "start",  "end",  "name",    "name_id", "kind",   "lane",       "pid",
	"tid", "domain", "rank", "lane_id", "thread",  "stream", "process_id", "duration"};
static const char *const orders[] = {
	"id",       "name, id", "name desc, id", "kind, name, id", "lane_id, name", "pid, lane, id",
	"start, id"};
static const char *const groups[] = {"name",      "lane", "kind, name",
				     "name, tid", "pid",  "name, pid, kind"};
enum {
	COLUMNS = sizeof columns / sizeof *columns,
	ORDERS = sizeof orders / sizeof *orders,
	GROUPS = sizeof groups / sizeof *groups
};

/* Writes up to three constraints. */
static void roll_where(struct dice *dice, struct sql_db *db, const char *table, char where[512])
{
	strcpy(where, "1");
	for (int64_t n = roll_below(dice, 4); n > 0; n--) {
		char value[128];
		const char *column = columns[roll_below(dice, COLUMNS)];
		const char *op = compared[roll_below(dice, 6)];
		size_t used = strlen(where);
		roll_value(dice, db, table, column, value, sizeof value);
		snprintf(where + used, 512 - used, " and \"%s\" %s %s", column, op, value);
	}
}

static void compare_both_ways(struct dice *dice, struct sql_db *db, const char *table)
{
	char where[512], copy[128], one[1024], other[1024];
	roll_where(dice, db, table, where);
	snprintf(copy, sizeof copy, "(select * from \"%s\" limit -1)", table);
	const char *order = orders[roll_below(dice, ORDERS)],
		   *group = groups[roll_below(dice, GROUPS)];
	/* The same rows, in whatever order. */
	snprintf(one, sizeof one,
		 "select * from (select id, start, name from \"%s\" where %s) order by +id", table,
		 where);
	snprintf(other, sizeof other, "select id, start, name from %s where %s order by +id", copy,
		 where);
	expect_same(db, one, other);
	/* The same order. */
	snprintf(one, sizeof one, "select id from \"%s\" where %s order by %s", table, where,
		 order);
	snprintf(other, sizeof other, "select id from %s where %s order by %s", copy, where, order);
	expect_same(db, one, other);
	/* The same groups. */
	snprintf(
		one, sizeof one,
		"select * from (select %s, count(*), sum(id) from \"%s\" where %s group by %s) order by 1, 2, 3",
		group, table, where, group);
	snprintf(
		other, sizeof other,
		"select * from (select %s, count(*), sum(id) from %s where %s group by %s) order by 1, 2, 3",
		group, copy, where, group);
	expect_same(db, one, other);
}

static void skipping_loses_no_row_and_adds_none(void **state)
{
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct dice dice = {seed * 977};
		struct hwy_trace *trace = random_trace(seed, 1 + (uint32_t)(seed * 5 % 40), 2500);
		struct sql_db *db = open_db(trace);
		for (int i = 0; i < 25; i++) {
			compare_both_ways(&dice, db, "spans");
			enum hwy_kind kind = (enum hwy_kind)roll_below(&dice, HWY_KINDS);
			if (kind != HWY_COUNTER) /* has no name and no duration */
				compare_both_ways(&dice, db, hwy_kind_names[kind]);
		}
		sql_close(db);
		hwy_trace_free(trace);
	}
}

/* Strips of several chunks, from a file: chunks are skipped by their first start and their latest end. */
static void times_are_found_in_a_report_of_many_chunks(void **state)
{
	char path[] = "/tmp/sql_test_XXXXXX", one[256], other[256];
	struct hwy_err err;
	struct hwy_trace *made = random_trace(5, 3, 120000);
	int fd = mkstemp(path);
	assert_true(fd >= 0 && hwy_file_write(made, path, true, NULL, &err));
	close(fd);
	struct dice dice = {99};
	for (int i = 0; i < 6; i++) {
		struct hwy_trace *trace = hwy_open(path, NULL, &err);
		assert_non_null(trace);
		struct sql_db *db = open_db(trace);
		char *bounds = ask(
			db, "select start, \"end\" from spans order by id limit 1 offset 60000");
		long long from = atoll(bounds), width = roll_below(&dice, 50000000);
		free(bounds);
		snprintf(
			one, sizeof one,
			"select count(*), sum(id) from spans where start <= %lld and \"end\" >= %lld",
			from + width, from);
		snprintf(
			other, sizeof other,
			"select count(*), sum(id) from spans where +start <= %lld and +\"end\" >= %lld",
			from + width, from);
		expect_same(db, one, other);
		sql_close(db);
		hwy_trace_free(trace);
	}
	hwy_trace_free(made);
	unlink(path);
}

/* ---- real recordings ---- */

static void every_ready_question_is_answered_for_a_recording(void **state)
{
	static const char *const names[] = {"nsys/mlp_sync.hwy", "programs/ddp.hwy",
					    "operators/resnet.hwy"};
	char folder[] = "/tmp/sql_test_XXXXXX";
	assert_non_null(mkdtemp(folder));
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct hwy_trace *trace = recording_open(names[i], folder);
		assert_non_null(trace);
		struct sql_db *db = open_db(trace);
		for (const struct sql_question *q = sql_questions; q->name; q++) {
			assert_true(strncmp(q->text, "-- ", 3) == 0);
			free(ask(db, q->text));
		}
		sql_close(db);
		hwy_trace_free(trace);
	}
	rmdir(folder);
}

static void gaps_add_up_to_the_idle_time_of_their_phase(void **state)
{
	char folder[] = "/tmp/sql_test_XXXXXX";
	assert_non_null(mkdtemp(folder));
	struct hwy_trace *trace = recording_open("nsys/mlp_sync.hwy", folder);
	struct sql_db *db = open_db(trace);
	expect(db,
	       "select count(*) from phases p where idle <> (select sum(duration) from gaps g where g.phase = p.id)",
	       "0\n");
	expect(db, "select count(*) from gaps where step is null or op is null", "0\n");
	expect(db,
	       "select count(*) from gaps g join steps s on s.id = g.step where g.start < s.start or g.\"end\" > s.\"end\"",
	       "0\n");
	sql_close(db);
	hwy_trace_free(trace);
	rmdir(folder);
}

static void spans_know_their_step(void **state)
{
	char folder[] = "/tmp/sql_test_XXXXXX";
	assert_non_null(mkdtemp(folder));
	struct hwy_trace *trace = recording_open("nsys/mlp_sync.hwy", folder);
	struct sql_db *db = open_db(trace);
	/* Each steady step of this program launches the same 65 kernels, and each kernel starts inside its step. */
	expect(db,
	       "select distinct n from (select count(*) as n from kernel k join steps s on s.id = k.step where s.steady "
	       "group by k.step)",
	       "65\n");
	expect(db,
	       "select count(*) from kernel k join steps s on s.id = k.step where k.start < s.start or k.start >= s.\"end\"",
	       "0\n");
	/* The range that marks a step is of that step. */
	expect(db,
	       "select count(*), sum(r.step = s.id) from range r join steps s on s.cpu_start = r.start where r.name like 'step_%'",
	       "18|18\n");
	sql_close(db);
	hwy_trace_free(trace);
	rmdir(folder);
}

/* ---- what a query may not do ---- */

static void a_query_only_reads(void **state)
{
	static const char *const refused[] = {
		"insert into kernel(name) values ('x')",
		"create table t(a)",
		"create temp view v as select 1",
		"drop table kernel",
		"attach ':memory:' as m",
		"detach main",
		"pragma writable_schema = on",
		"pragma table_info(kernel)",
		"select * from pragma_database_list",
		"select * from sqlite_master",
		"select count(*) from sqlite_master",
		"begin",
		"vacuum",
		"vacuum into '/tmp/sql_test_vacuum'",
		"reindex",
		"analyze",
		"explain select 1",
		"select load_extension('x')",
		"select zeroblob(1000000000)",
		"select randomblob(9)",
		"select sqlite_version()",
		"select 1; drop table kernel",
		"with x as (select 1) insert into kernel select * from x"};
	struct hwy_trace *trace = machine();
	struct sql_db *db = open_db(trace);
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		expect_refusal(db, refused[i], "refused: ");
	expect_refusal(db, "update kernel set name = 'x'", "may not be modified");
	expect_refusal(db, "delete from spans", "may not be modified");
	expect_refusal(db, "select readfile('/etc/passwd')", "no such function");
	expect(db, "select count(*) from kernel", "2\n");
	assert_int_not_equal(access("/tmp/sql_test_vacuum", F_OK), 0);
	sql_close(db);
	hwy_trace_free(trace);
}

static void time_memory_and_lengths_are_bounded(void **state)
{
	struct hwy_trace *trace = machine();
	struct sql_limits limits = {.time = MS(50), .memory = 4 << 20};
	struct hwy_err err;
	struct sql_db *db = sql_open(trace, &limits, &err);
	assert_non_null(db);
	expect_refusal(
		db,
		"with recursive x(n) as (select 1 union all select n + 1 from x) select count(*) from x",
		"--timeout");
	expect_refusal(db,
		       "select length(printf('%.*c', 600000, 'x') || printf('%.*c', 600000, 'x'))",
		       "longer than");
	char deep[4096] = "select ";
	for (int i = 0; i < 1000; i++)
		strcat(deep, "1+");
	strcat(deep, "1");
	expect_refusal(db, deep, "too large");
	sql_close(db);
	limits.time = 0;
	db = sql_open(trace, &limits, &err);
	assert_non_null(db);
	expect_refusal(
		db,
		"with recursive x(n) as (select 1 union all select n + 1 from x) select n from x order by -n",
		"--max-memory");
	expect(db, "select 1", "1\n");
	sql_close(db);
	hwy_trace_free(trace);
}

static bool interrupt_row(void *self, const struct hwy_cell *cells, uint32_t n)
{
	(void)cells, (void)n;
	sql_interrupt(self);
	return true;
}

static void an_interrupted_query_fails_and_the_next_one_runs(void **state)
{
	struct hwy_trace *trace = random_trace(4, 10, 5000);
	struct sql_db *db = open_db(trace);
	struct sql_sink sink = {db, answer_begin, interrupt_row};
	struct hwy_err err;
	assert_false(sql_query(db, "select a.id from spans a, spans b", &sink, &err));
	assert_string_equal(err.text, "the query was interrupted");
	expect(db, "select 1", "1\n");
	sql_interrupt(db); /* nothing runs: nothing is interrupted */
	expect(db, "select 2", "2\n");
	sql_close(db);
	hwy_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_have_the_columns_of_the_csv_export),
		cmocka_unit_test(what_is_not_known_is_null),
		cmocka_unit_test(ids_join_tables),
		cmocka_unit_test(every_table_and_column_can_be_read),
		cmocka_unit_test(a_number_of_spans_is_that_of_the_trace),
		cmocka_unit_test(skipping_loses_no_row_and_adds_none),
		cmocka_unit_test(times_are_found_in_a_report_of_many_chunks),
		cmocka_unit_test(every_ready_question_is_answered_for_a_recording),
		cmocka_unit_test(gaps_add_up_to_the_idle_time_of_their_phase),
		cmocka_unit_test(spans_know_their_step),
		cmocka_unit_test(a_query_only_reads),
		cmocka_unit_test(time_memory_and_lengths_are_bounded),
		cmocka_unit_test(an_interrupted_query_fails_and_the_next_one_runs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
