/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_spans_test.c - traces of any values as Parquet files: every cell is what the model says, rows are in order of their
 * start, and docs/parquet.md has the columns of every table. */
#include "make_trace.h"

#include <inttypes.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "export/parquet/parquet.h"
#include "export/parquet/parquet_rows.h"
#include "parquet_make.h"

static struct export_options whole(void)
{
	return (struct export_options){.from = INT64_MIN,
				       .to = INT64_MAX,
				       .kinds = UINT32_MAX,
				       .target = "it",
				       .job = "job",
				       .source = "it.hwy",
				       .epoch = HWY_NONE};
}

/* ---- what a cell must be ---- */

struct expected {
	bool is_null, may_be_empty;
	enum parquet_type type;
	int64_t number;
	struct hwy_bytes text;
};

static void expect_number(struct expected *e, int64_t number)
{
	e->type = PARQUET_NUMBER;
	e->is_null = number == HWY_NONE;
	e->number = number;
}

static void expect_text(struct expected *e, struct hwy_text text)
{
	e->type = PARQUET_TEXT;
	e->is_null = text.length == 0;
	hwy_bytes_put(&e->text, text.at, text.length);
}

static bool expect_owner(struct expected *e, const struct hwy_trace *trace, uint32_t lane_index,
			 const char *name)
{
	const struct hwy_lane *lane = &trace->lanes[lane_index];
	const struct hwy_thread *thread =
		lane->thread == HWY_NONE ? NULL : &trace->threads[lane->thread];
	const struct hwy_stream *stream =
		lane->stream == HWY_NONE ? NULL : &trace->streams[lane->stream];
	if (strcmp(name, "pid") == 0)
		expect_number(e, lane->process == HWY_NONE ? HWY_NONE
							   : trace->processes[lane->process].pid);
	else if (strcmp(name, "tid") == 0)
		expect_number(e, thread ? thread->tid : HWY_NONE);
	else if (strcmp(name, "thread") == 0)
		expect_text(e, hwy_text(trace, thread ? thread->name : 0));
	else if (strcmp(name, "device") == 0)
		expect_number(e, lane->device == HWY_NONE ? HWY_NONE
							  : trace->devices[lane->device].ordinal);
	else if (strcmp(name, "context") == 0)
		expect_number(e, stream ? stream->context : HWY_NONE);
	else if (strcmp(name, "stream") == 0)
		expect_number(e, stream ? stream->number : HWY_NONE);
	else if (strcmp(name, "lane") == 0)
		expect_text(e,
			    (struct hwy_text){hwy_lane_type_names[lane->type],
					      (uint32_t)strlen(hwy_lane_type_names[lane->type])});
	else if (strcmp(name, "domain") == 0)
		expect_text(e, hwy_text(trace, lane->name));
	else
		return false;
	return true;
}

static void expect_stack(struct expected *e, const struct hwy_trace *trace, int64_t stack)
{
	e->type = PARQUET_TEXT;
	int64_t innermost = stack;
	e->is_null = !hwy_ref_is_set(stack);
	e->may_be_empty = true;
	for (; hwy_ref_is_set(stack); stack = hwy_stack_caller(trace, stack)) {
		const struct hwy_frame *frame = hwy_stack_frame(trace, stack);
		struct hwy_text name = hwy_text(trace, frame->function);
		char address[32];
		if (stack != innermost)
			hwy_bytes_put_byte(&e->text, ';');
		if (frame->function <= 0)
			name = (struct hwy_text){
				address, (uint32_t)snprintf(address, sizeof address, "0x%" PRIx64,
							    (uint64_t)frame->address)};
		hwy_bytes_put(&e->text, name.at, name.length);
	}
}

static bool expect_parts(struct expected *e, const struct hwy_trace *trace,
			 const struct hwy_strip *strip, uint32_t row, const char *name)
{
	static const char *const shapes[] = {
		"grid_x",          "grid_y",           "grid_z",        "block_x",
		"block_y",         "block_z",          "cluster_x",     "cluster_y",
		"cluster_z",       "registers",        "static_shared", "dynamic_shared",
		"executed_shared", "local_per_thread", "local_total"};
	static const char *const symbols[] = {"demangled", "short", "mangled"};
	const struct hwy_shape *shape = hwy_get_shape(trace, strip, row);
	const struct hwy_symbol *symbol = hwy_get_symbol(trace, strip, row);
	for (int i = 0; i < 15; i++)
		if (strcmp(name, shapes[i]) == 0) {
			expect_number(e, shape ? (&shape->grid_x)[i] : HWY_NONE);
			e->is_null = !shape; /* a damaged trace may have any number there */
			return true;
		}
	for (int i = 0; i < 3; i++)
		if (strcmp(name, symbols[i]) == 0) {
			expect_text(e, hwy_text(trace, symbol ? (&symbol->demangled)[i] : 0));
			return true;
		}
	return false;
}

/* Whether this is the name of a column of the model, which has '-' where ours has '_'. */
static bool is_column(const char *name, const char *of_model)
{
	for (; *name && (*name == *of_model || (*name == '_' && *of_model == '-')); name++)
		of_model++;
	return *name == *of_model;
}

static bool expect_derived(struct expected *e, struct hwy_trace *trace,
			   const struct hwy_strip *strip, uint32_t row, const char *name)
{
	static const char *const classes[] = {"compute", "comm", "memory"};
	int64_t text = hwy_get(strip, HWY_NAME, row);
	const char *word = NULL;
	if (strcmp(name, "lane_id") == 0)
		expect_number(e, strip->lane);
	else if (strcmp(name, "role") == 0)
		word = hwy_role_names[HWY_ROLE_OF(hwy_role(trace, text))];
	else if (strcmp(name, "class") == 0)
		word = classes[hwy_class(trace, (enum hwy_kind)strip->kind, text)];
	else
		return false;
	if (word)
		expect_text(e, (struct hwy_text){word, (uint32_t)strlen(word)});
	return true;
}

/* The columns that hwy_columns describes, by the cell that CSV files show, too. */
static void expect_cell(struct expected *e, const struct hwy_trace *trace,
			const struct hwy_strip *strip, uint32_t row, const char *name)
{
	bool is_whole_value = strcmp(name, "value_integer") == 0;
	int col = 0;
	if (strcmp(name, "call") == 0)
		name = "link";
	while (col < HWY_COLS && !is_column(is_whole_value ? "value" : name, hwy_columns[col].name))
		col++;
	assert_true(col < HWY_COLS && hwy_kind_columns[strip->kind] & HWY_COL_BIT(col));
	int64_t stored = col == HWY_CORR ? hwy_corr(trace, strip, row)
					 : hwy_get(strip, (enum hwy_col)col, row);
	struct hwy_cell cell = hwy_column_cell(trace, strip, (enum hwy_col)col, stored,
					       hwy_get(strip, HWY_PAYLOAD_TYPE, row));
	char text[64];
	e->number = cell.number;
	e->is_null = cell.type == HWY_CELL_NONE;
	e->type = cell.type == HWY_CELL_TEXT ? PARQUET_TEXT : PARQUET_NUMBER;
	if (cell.type == HWY_CELL_TEXT)
		hwy_bytes_put(&e->text, cell.text.at, cell.text.length);
	if (col == HWY_VALUE && strip->kind == HWY_COUNTER) {
		double real = cell.type == HWY_CELL_REAL ? cell.real : (double)cell.number;
		e->type = is_whole_value ? PARQUET_NUMBER : PARQUET_REAL;
		e->is_null = is_whole_value && cell.type == HWY_CELL_REAL;
		if (!is_whole_value)
			memcpy(&e->number, &real, sizeof real);
	}
	bool is_text = hwy_columns[col].meaning == HWY_MEANS_ENUM || col == HWY_PAYLOAD;
	if (!is_text || cell.type == HWY_CELL_TEXT || e->is_null)
		return;
	e->type = PARQUET_TEXT;
	if (cell.type == HWY_CELL_REAL)
		snprintf(text, sizeof text, "%.17g", cell.real);
	else if (cell.type == HWY_CELL_UINT)
		snprintf(text, sizeof text, "%" PRIu64, (uint64_t)cell.number);
	else
		snprintf(text, sizeof text, "%" PRId64, cell.number);
	hwy_bytes_put(&e->text, text, strlen(text));
}

/* Texts that are empty are null, too. */
static void check_cell(const struct read_column *column, uint64_t row, struct expected *e)
{
	const struct read_cell *cell = &column->cells[row];
	static const int types[] = {[PARQUET_NUMBER] = 2, [PARQUET_REAL] = 5, [PARQUET_TEXT] = 6};
	char room[4096];
	if (e->type == PARQUET_TEXT && e->text.n == 0 && !e->may_be_empty)
		e->is_null = true;
	if (e->is_null != cell->is_null)
		fail_msg("%s, row %" PRIu64 ": is %snull", column->name, row,
			 cell->is_null ? "" : "not ");
	if (e->is_null)
		return;
	assert_int_equal(column->type, types[e->type]);
	if (e->type != PARQUET_TEXT) {
		if (e->number != cell->number)
			fail_msg("%s, row %" PRIu64 ": %" PRId64 ", not %" PRId64, column->name,
				 row, cell->number, e->number);
		return;
	}
	assert_true(3 * e->text.n < sizeof room);
	struct hwy_text text = made_utf8(
		(struct hwy_text){(const char *)e->text.bytes, (uint32_t)e->text.n}, room);
	if (text.length != cell->length || memcmp(text.at, cell->text, text.length) != 0)
		fail_msg("%s, row %" PRIu64 ": '%.*s', not '%.*s'", column->name, row,
			 (int)cell->length, cell->text, (int)text.length, text.at);
}

static void check_row(struct hwy_trace *trace, const struct parquet_read *r, uint64_t row,
		      uint32_t kind)
{
	uint32_t at, id = (uint32_t)r->columns[0].cells[row].number;
	const struct hwy_strip *strip = hwy_strip_of(trace, id, &at);
	assert_int_equal(strip->kind, kind);
	for (uint32_t i = 1; i < r->n_columns; i++) {
		struct expected e = {0};
		const char *name = r->columns[i].name;
		if (strcmp(name, "stack") == 0)
			expect_stack(&e, trace, hwy_get(strip, HWY_STACK, at));
		else if (!expect_owner(&e, trace, strip->lane, name) &&
			 !expect_parts(&e, trace, strip, at, name) &&
			 !expect_derived(&e, trace, strip, at, name))
			expect_cell(&e, trace, strip, at, name);
		check_cell(&r->columns[i], row, &e);
		hwy_bytes_free(&e.text);
	}
}

/* ---- traces ---- */

static char folder[] = "/tmp/headway-parquet-XXXXXX";

static int make_export_folder(void **state)
{
	return mkdtemp(folder) ? 0 : -1;
}

static void empty_folder(void)
{
	char command[100];
	snprintf(command, sizeof command, "rm -rf %s/*", folder);
	assert_int_equal(system(command), 0);
}

static int remove_export_folder(void **state)
{
	empty_folder();
	return rmdir(folder);
}

static struct export_result export_to_folder(struct hwy_trace *trace,
					     const struct export_options *options)
{
	struct export_result result;
	struct hwy_err err = {0};
	if (!export_parquet(trace, folder, options, NULL, &result, &err))
		fail_msg("%s", err.text);
	return result;
}

/* Reads a table; false where it is not there. */
static bool read_table(const char *name, struct parquet_read *r, uint8_t **bytes)
{
	char path[200];
	size_t n;
	snprintf(path, sizeof path, "%s/table=%s/part-0.parquet", folder, name);
	if (access(path, R_OK) != 0)
		return false;
	*bytes = made_load(path, &n);
	if (!parquet_read(*bytes, n, r))
		fail_msg("%s: %s", path, r->why);
	return true;
}

static uint64_t check_spans(struct hwy_trace *trace)
{
	uint64_t rows = 0;
	for (uint32_t kind = 0; kind < HWY_KINDS; kind++) {
		struct parquet_read r;
		uint8_t *bytes;
		if (!read_table(hwy_kind_names[kind], &r, &bytes))
			continue;
		assert_string_equal(r.columns[r.sorted].name, "start");
		for (uint64_t row = 0; row < r.rows; row++)
			check_row(trace, &r, row, kind);
		rows += r.rows;
		parquet_read_free(&r);
		free(bytes);
	}
	return rows;
}

static void every_cell_of_any_trace_is_what_the_model_says(void **state)
{
	for (uint64_t seed = 1; seed <= 15; seed++) {
		struct hwy_trace *trace = random_trace(seed, 30, 3000);
		struct export_options options = whole();
		struct export_result result = export_to_folder(trace, &options);
		assert_int_equal(result.spans, trace->n_spans);
		assert_int_equal(check_spans(trace), trace->n_spans);
		empty_folder();
		hwy_trace_free(trace);
	}
}

/* A report's columns come in chunk by chunk: lanes with several chunks, and row groups that begin inside them. */
static void a_report_gives_the_same_cells_and_keeps_no_columns(void **state)
{
	char path[100];
	struct hwy_err err = {0};
	struct hwy_trace *trace = random_trace(99, 3, 120000);
	snprintf(path, sizeof path, "/tmp/headway-parquet-%d.hwy", (int)getpid());
	assert_true(hwy_file_write(trace, path, true, NULL, &err));
	struct hwy_trace *report = hwy_file_open(path, &err);
	assert_non_null(report);
	struct export_options options = whole();
	options.plain = true;
	export_to_folder(report, &options);
	assert_int_equal(check_spans(trace), trace->n_spans);
	for (uint32_t s = 0; s < report->n_strips; s++)
		for (int col = 0; col < HWY_COLS; col++) {
			const struct hwy_column *column = report->strips[s].columns[col];
			for (uint32_t c = 0; column && c < column->n_chunks; c++)
				assert_true(!column->chunks[c].data || !column->chunks[c].stored);
		}
	empty_folder();
	hwy_trace_free(report);
	hwy_trace_free(trace);
	unlink(path);
}

static void a_window_keeps_the_spans_that_overlap_it(void **state)
{
	struct hwy_trace *trace = random_trace(7, 10, 3000);
	struct export_options options = whole();
	int64_t from = INT64_MAX, to = INT64_MIN;
	uint64_t kept = 0;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		int64_t start = hwy_get(&trace->strips[s], HWY_START, trace->strips[s].rows / 2);
		from = start < from ? start : from;
		to = start > to ? start : to;
	}
	options.from = from;
	options.to = to;
	for (uint32_t s = 0; s < trace->n_strips; s++)
		for (uint32_t row = 0; row < trace->strips[s].rows; row++) {
			int64_t start = hwy_get(&trace->strips[s], HWY_START, row);
			int64_t end = hwy_end(&trace->strips[s], row);
			kept += start < to && (end > from || (end == start && start == from));
		}
	struct export_result result = export_to_folder(trace, &options);
	assert_int_equal(result.spans, check_spans(trace));
	assert_int_equal(result.spans, kept);
	assert_true(kept > 0 && kept < trace->n_spans);
	empty_folder();
	hwy_trace_free(trace);
}

static int64_t twice_and_later(const void *clock, int64_t time)
{
	return 2 * (time / 4) + *(const int64_t *)clock;
}

static void times_and_durations_are_those_of_the_clock_that_is_asked_for(void **state)
{
	struct hwy_trace *trace = random_trace(5, 10, 500);
	struct export_options options = whole();
	int64_t later = 12345;
	options.map = twice_and_later;
	options.clock = &later;
	export_to_folder(trace, &options);
	for (uint32_t kind = 0; kind < HWY_KINDS; kind++) {
		struct parquet_read r;
		uint8_t *bytes;
		if (!read_table(hwy_kind_names[kind], &r, &bytes))
			continue;
		assert_string_equal(r.columns[9].name, "start");
		for (uint64_t row = 0; row < r.rows; row++) {
			uint32_t at, id = (uint32_t)r.columns[0].cells[row].number;
			const struct hwy_strip *strip = hwy_strip_of(trace, id, &at);
			int64_t start = twice_and_later(&later, hwy_get(strip, HWY_START, at));
			int64_t end = twice_and_later(&later, hwy_end(strip, at));
			assert_int_equal(r.columns[9].cells[row].number, start);
			if (kind != HWY_COUNTER && hwy_end(strip, at) < HWY_TIME_LIMIT / 2)
				assert_int_equal(r.columns[10].cells[row].number, end - start);
		}
		parquet_read_free(&r);
		free(bytes);
	}
	empty_folder();
	hwy_trace_free(trace);
}

/* ---- row groups ---- */

/* Goes through a kind with row groups of 'most' rows; yields the number of rows. */
static uint64_t check_groups(struct hwy_trace *trace, int kind, uint32_t most)
{
	struct export_options options = whole();
	struct export_result result;
	struct hwy_err err;
	struct export x;
	struct parquet_rows rows;
	assert_true(export_open(&x, trace, &options, NULL, &result, &err));
	bool *seen = calloc(trace->n_spans, sizeof *seen), is_constant;
	int64_t last = INT64_MIN, *values = malloc(most * sizeof *values);
	uint64_t n = 0, short_groups = 0;
	parquet_rows_open(&rows, &x, kind, most);
	while (parquet_rows_next(&rows)) {
		assert_true(rows.n <= most);
		short_groups += rows.n < most;
		assert_true(parquet_rows_read(&rows, HWY_START, values, &is_constant));
		uint32_t at = 0;
		for (uint32_t i = 0; i < rows.n_runs; i++) {
			const struct parquet_run *run = &rows.runs[i];
			assert_int_equal(run->at, at);
			for (uint32_t k = 0; k < run->n; k++, at++) {
				int64_t start = hwy_get(run->strip, HWY_START, run->first + k);
				assert_true(start >= last);
				assert_true(values[is_constant ? 0 : at] == start);
				assert_false(seen[run->strip->first + run->first + k]);
				seen[run->strip->first + run->first + k] = true;
				last = start;
			}
		}
		assert_int_equal(at, rows.n);
		n += rows.n;
	}
	assert_true(short_groups <= 1); /* the last one */
	parquet_rows_close(&rows);
	export_close(&x);
	free(seen);
	free(values);
	return n;
}

static void row_groups_of_any_size_have_every_row_once_and_in_order(void **state)
{
	static const uint32_t sizes[] = {1, 2, 7, 100, 16384, 1000000};
	struct hwy_trace *trace = random_trace(3, 20, 5000);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		uint64_t n = 0;
		for (int kind = 0; kind < HWY_KINDS; kind++)
			n += check_groups(trace, kind, sizes[i]);
		assert_int_equal(n, trace->n_spans);
	}
	hwy_trace_free(trace);
}

/* ---- the other tables ---- */

static void records_messages_and_facts_are_there(void **state)
{
	struct hwy_trace *trace = random_trace(4, 10, 400);
	struct export_options options = whole();
	export_to_folder(trace, &options);
	struct parquet_read r;
	uint8_t *bytes;
	struct parquet_field fields[PARQUET_MOST_FIELDS];
	const char *name;
	uint32_t n;
	uint64_t tables = 0;
	for (uint32_t i = 0; (name = parquet_record_fields(i, fields, &n)); i++) {
		assert_true(read_table(name, &r, &bytes));
		assert_int_equal(r.n_columns, n);
		for (uint64_t row = 0; row < r.rows; row++)
			assert_int_equal(r.columns[0].cells[row].number, row);
		tables++;
		const struct read_tree *fact = parquet_read_fact(&r, "headway.job");
		assert_memory_equal(fact->bytes, "job", 3);
		parquet_read_free(&r);
		free(bytes);
	}
	assert_int_equal(tables, 22);
	assert_true(read_table("messages", &r, &bytes));
	assert_int_equal(r.rows, trace->n_messages);
	parquet_read_free(&r);
	free(bytes);
	assert_true(read_table("edges", &r, &bytes));
	assert_int_equal(r.rows, trace->n_edges);
	for (uint64_t row = 0; row < r.rows; row++)
		assert_int_equal(r.columns[2].cells[row].number, trace->edges[row].from);
	parquet_read_free(&r);
	free(bytes);
	empty_folder();
	options.kinds = HWY_KIND_BIT(HWY_KERNEL);
	export_to_folder(trace, &options);
	assert_false(read_table("messages", &r, &bytes)); /* a part has no spans for them */
	assert_false(read_table("edges", &r, &bytes));
	assert_false(read_table("api", &r, &bytes));
	empty_folder();
	hwy_trace_free(trace);
}

/* ---- the document ---- */

static void put_table(FILE *out, const char *name, const struct parquet_field *fields, uint32_t n)
{
	static const char *const types[] = {"", " (double)", " (text)"};
	fprintf(out, "| `%s` | ", name);
	for (uint32_t i = 0; i < n; i++)
		fprintf(out, "%s`%s`%s%s", i ? ", " : "", fields[i].name,
			fields[i].is_optional ? "" : "!", types[fields[i].type]);
	fprintf(out, " |\n");
}

static void put_tables(FILE *out)
{
	struct parquet_field fields[PARQUET_MOST_FIELDS];
	struct parquet_span_names names;
	const char *name;
	uint32_t n;
	fprintf(out, "| table | columns |\n|---|---|\n");
	for (int kind = 0; kind < HWY_KINDS; kind++) {
		parquet_span_fields(kind, fields, &names, &n);
		put_table(out, hwy_kind_names[kind], fields, n);
	}
	for (uint32_t i = 0; (name = parquet_record_fields(i, fields, &n)); i++)
		put_table(out, name, fields, n);
	name = parquet_rank_fields(fields, &n);
	put_table(out, name, fields, n);
	for (uint32_t i = 0; (name = parquet_analysis_fields(i, fields, &n)); i++)
		put_table(out, name, fields, n);
}

static void the_document_has_the_columns_of_every_table(void **state)
{
	static const char begin[] = "<!-- tables: from src/export/parquet -->\n";
	static const char end[] = "<!-- end of tables -->\n";
	const char *path =
		access("../docs/parquet.md", R_OK) == 0 ? "../docs/parquet.md" : "docs/parquet.md";
	size_t n, size = 0;
	char *table = NULL, *document = (char *)made_load(path, &n);
	document[n] = '\0';
	FILE *out = open_memstream(&table, &size);
	assert_non_null(out);
	put_tables(out);
	fclose(out);
	char *from = strstr(document, begin), *to = from ? strstr(from, end) : NULL;
	assert_non_null(to);
	from += strlen(begin);
	if (getenv("UPDATE")) {
		FILE *file = fopen(path, "w");
		assert_non_null(file);
		fprintf(file, "%.*s%s%s", (int)(from - document), document, table, to);
		fclose(file);
	} else if (size != (size_t)(to - from) || memcmp(from, table, size) != 0) {
		fail_msg(
			"the tables in %s are not those of src/export/parquet; UPDATE=1 writes them "
			"anew",
			path);
	}
	free(table);
	free(document);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_cell_of_any_trace_is_what_the_model_says),
		cmocka_unit_test(a_report_gives_the_same_cells_and_keeps_no_columns),
		cmocka_unit_test(a_window_keeps_the_spans_that_overlap_it),
		cmocka_unit_test(times_and_durations_are_those_of_the_clock_that_is_asked_for),
		cmocka_unit_test(row_groups_of_any_size_have_every_row_once_and_in_order),
		cmocka_unit_test(records_messages_and_facts_are_there),
		cmocka_unit_test(the_document_has_the_columns_of_every_table),
	};
	return cmocka_run_group_tests(tests, make_export_folder, remove_export_folder);
}
