/* SPDX-License-Identifier: Apache-2.0 */
/* What every export is made of: numbers and texts, rows in which spans nest, and strips that are let go. */
#include "make_trace.h"

#include "export/export.h"
#include "export/nested_rows.h"
#include "export/out.h"
#include "export/perfetto/perfetto.h"

static char *written(void (*write)(struct out *out), bool gzip, size_t *length)
{
	FILE *file = tmpfile();
	struct out out;
	struct hwy_err err;
	out_open(&out, file, gzip);
	write(&out);
	assert_true(out_close(&out, "it", &err));
	*length = (size_t)lseek(fileno(file), 0, SEEK_END);
	char *text = calloc(1, *length + 1);
	assert_int_equal(pread(fileno(file), text, *length, 0), *length);
	fclose(file);
	return text;
}

static void write_numbers(struct out *out)
{
	static const int64_t numbers[] = {0, 7, -7, 10, 99, 100, 12345, INT64_MAX, INT64_MIN};
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		out_int(out, numbers[i]);
		out_char(out, ' ');
		out_us(out, numbers[i]);
		out_char(out, '\n');
	}
}

static void numbers_are_written_exactly(void **state)
{
	size_t n;
	char *text = written(write_numbers, false, &n);
	assert_string_equal(
		text, "0 0.000\n7 0.007\n-7 -0.007\n10 0.010\n99 0.099\n100 0.100\n12345 12.345\n"
		      "9223372036854775807 9223372036854775.807\n"
		      "-9223372036854775808 -9223372036854775.808\n");
	free(text);
}

static void write_texts(struct out *out)
{
	static const char *const texts[] = {"plain",    "a\"b\\c",  "tab\tline\n",
					    "\xc3\xa4", "\xff\xc3", "\xed\xa0\x80"};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		out_json(out, (struct hwy_text){texts[i], (uint32_t)strlen(texts[i])});
	out_csv(out, (struct hwy_text){"a,\"b\"", 5});
}

static void texts_are_escaped_and_what_is_not_utf8_is_replaced(void **state)
{
	size_t n;
	char *text = written(write_texts, false, &n);
	assert_string_equal(
		text, "\"plain\"\"a\\\"b\\\\c\"\"tab\\u0009line\\n\"\"\xc3\xa4\"\"\\ufffd\\ufffd\""
		      "\"\\ufffd\\ufffd\\ufffd\"\"a,\"\"b\"\"\"");
	free(text);
}

static void write_much(struct out *out)
{
	for (int i = 0; i < 200000; i++)
		out_int(out, i);
	char *block = calloc(1, OUT_BYTES);
	memset(block, 'x', OUT_BYTES);
	out_bytes(out, block, OUT_BYTES);
	free(block);
}

static void more_than_a_buffer_arrives_and_gzip_is_smaller(void **state)
{
	size_t plain, packed;
	free(written(write_much, false, &plain));
	free(written(write_much, true, &packed));
	assert_int_equal(plain, 10 + 180 + 2700 + 36000 + 450000 + 600000 + OUT_BYTES);
	assert_true(packed < plain / 2);
}

static void a_full_disk_is_told_with_the_output_s_name(void **state)
{
	FILE *full = fopen("/dev/full", "w");
	struct out out;
	struct hwy_err err;
	if (!full)
		skip();
	out_open(&out, full, false);
	out_int(&out, 1);
	assert_false(out_close(&out, "trace.json", &err));
	assert_string_equal(err.text, "trace.json: No space left on device");
	fclose(full);
}

/* ---- nesting ---- */

struct check {
	int64_t open[64][64];
	int n[64];
	uint64_t ended;
};

static void on_close(void *user, uint32_t row, int64_t end)
{
	struct check *check = user;
	assert_true(check->n[row] > 0);
	assert_int_equal(check->open[row][--check->n[row]], end);
	check->ended++;
}

static int by_start(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;
	return a[0] != b[0] ? (a[0] > b[0]) - (a[0] < b[0]) : (a[1] < b[1]) - (a[1] > b[1]);
}

static void spans_that_overlap_are_spread_over_rows_in_which_they_nest(void **state)
{
	struct dice dice = {1};
	for (int round = 0; round < 200; round++) {
		int64_t spans[40][2];
		struct check check = {0};
		struct nested_rows nest = {.closed = on_close, .user = &check};
		for (int i = 0; i < 40; i++) {
			spans[i][0] = roll_below(&dice, 50);
			spans[i][1] = spans[i][0] + roll_below(&dice, 20);
		}
		qsort(spans, 40, sizeof *spans, by_start);
		for (int i = 0; i < 40; i++) {
			uint32_t row = nested_rows_place(&nest, spans[i][0], spans[i][1]);
			assert_true(row < 64);
			if (check.n[row]) {
				int64_t outer = check.open[row][check.n[row] - 1];
				assert_true(outer > spans[i][0] && outer >= spans[i][1]);
			}
			check.open[row][check.n[row]++] = spans[i][1];
		}
		nested_rows_finish(&nest);
		assert_int_equal(check.ended, 40);
		nested_rows_free(&nest);
	}
}

/* ---- protobuf ---- */

static void varints_are_as_short_as_they_can_be(void **state)
{
	struct hwy_bytes pb = {0};
	pb_int(&pb, 1, 127);
	pb_int(&pb, 1, 128);
	pb_int(&pb, 16, 300);
	pb_int(&pb, 4, (uint64_t)INT64_C(-1));
	static const uint8_t want[] = {8,   127, 8,   128, 1,   128, 1,   172, 2,   32,
				       255, 255, 255, 255, 255, 255, 255, 255, 255, 1};
	assert_int_equal(pb.n, sizeof want);
	assert_memory_equal(pb.bytes, want, sizeof want);
	free(pb.bytes);
}

/* ---- strips that are let go ---- */

struct report { /* one lane of calls, opened; 'made' is the same in memory */
	char path[40];
	struct hwy_trace *trace, *made;
};

static struct report make_report(uint32_t n)
{
	struct report report = {.path = "/tmp/export_test.XXXXXX"};
	struct hwy_err err;
	close(mkstemp(report.path));
	struct hwy_builder *b = hwy_builder_new();
	uint32_t process = hwy_new_processes(b), thread = hwy_new_threads(b);
	hwy_builder_trace(b)->threads[thread].process = process;
	uint32_t lane = hwy_add_lane(b, hwy_lane_of(HWY_LANE_API, process, thread));
	for (uint32_t i = 0; i < n; i++) {
		struct hwy_row row = {0};
		row.v[HWY_START] = (int64_t)i * 1000 + i % 7;
		row.v[HWY_DUR] = i % 13;
		row.v[HWY_CORR] = (int64_t)i * 31 % 65537 + 1;
		hwy_add_span(b, lane, HWY_API, &row);
	}
	report.made = hwy_builder_finish(b, false);
	assert_true(hwy_file_write(report.made, report.path, true, NULL, &err));
	report.trace = hwy_file_open(report.path, &err);
	assert_non_null(report.trace);
	return report;
}

static void free_report(struct report *report)
{
	hwy_trace_free(report->trace);
	hwy_trace_free(report->made);
	unlink(report->path);
}

static void a_strip_that_was_forgotten_reads_the_same_again(void **state)
{
	struct report report = make_report(50000);
	struct hwy_trace *trace = report.trace, *made = report.made;
	struct hwy_err err;
	for (int round = 0; round < 3; round++) {
		assert_true(hwy_need_strip(trace, 0, UINT64_MAX, &err));
		for (uint32_t row = 0; row < trace->strips[0].rows; row++)
			for (int col = HWY_START; col <= HWY_CORR; col++)
				assert_int_equal(hwy_get(&trace->strips[0], (enum hwy_col)col, row),
						 hwy_get(&made->strips[0], (enum hwy_col)col, row));
		hwy_forget_strip(trace, 0, UINT64_MAX);
		hwy_forget_strip(made, 0, UINT64_MAX); /* nothing to read again: stays */
	}
	free_report(&report);
}

static uint32_t loaded_chunks(const struct hwy_strip *strip)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < strip->columns[HWY_START]->n_chunks; i++)
		n += strip->columns[HWY_START]->chunks[i].loaded;
	return n;
}

static void rows_come_in_order_with_one_chunk_in_memory(void **state)
{
	struct report report = make_report(50000);
	const struct hwy_strip *strip = &report.trace->strips[0], *same = &report.made->strips[0];
	struct export_options all = {.from = INT64_MIN, .to = INT64_MAX, .kinds = UINT32_MAX};
	struct export_options some = {.from = 20000000, .to = 40000000, .kinds = UINT32_MAX};
	struct export_result result;
	struct hwy_err err;
	struct export x;
	assert_true(export_open(&x, report.trace, &all, NULL, &result, &err));
	struct export_rows rows = export_rows(&x, strip, HWY_COL_BIT(HWY_CORR));
	uint32_t n = 0;
	while (export_next(&rows)) {
		assert_int_equal(rows.row, n++);
		assert_int_equal(hwy_get(strip, HWY_CORR, rows.row),
				 hwy_get(same, HWY_CORR, rows.row));
		assert_int_equal(loaded_chunks(strip), 1);
	}
	assert_int_equal(n, 50000);
	assert_int_equal(loaded_chunks(strip), 0);
	assert_false(export_next(&rows));
	export_close(&x);
	assert_true(export_open(&x, report.trace, &some, NULL, &result, &err));
	rows = export_rows(&x, strip, 0);
	for (n = 0; export_next(&rows); n++)
		assert_in_range(hwy_get(strip, HWY_START, rows.row), 20000000 - 13, 40000000);
	assert_int_equal(n, 20000);
	export_close(&x);
	free_report(&report);
}

static void values_are_peeked_at_in_any_order(void **state)
{
	enum { ROWS = 70 * HWY_CHUNK_ROWS }; /* more chunks than are kept */
	struct report report = make_report(ROWS);
	struct hwy_peeks peeks = {0};
	struct hwy_err err;
	for (uint32_t i = 0; i < 400; i++) {
		uint32_t row = i < 200 ? i * 5741 % ROWS : (i % 71) * HWY_CHUNK_ROWS % ROWS;
		int64_t value;
		assert_true(hwy_peek_near(report.trace, &peeks, 0, HWY_CORR, row, &value, &err));
		assert_int_equal(value, hwy_get(&report.made->strips[0], HWY_CORR, row));
	}
	assert_int_equal(loaded_chunks(&report.trace->strips[0]), 0);
	hwy_peeks_free(&peeks);
	free_report(&report);
}

static void chunks_that_are_not_in_order_are_refused(void **state)
{
	struct report report = make_report(50000);
	struct hwy_err err;
	struct hwy_column *start = report.trace->strips[0].columns[HWY_START];
	assert_true(hwy_need_chunk(report.trace, 0, 0, HWY_COL_BIT(HWY_START), &err));
	start->chunks[1].base -= 1000000; /* the second begins before the first one's end */
	assert_false(hwy_need_chunk(report.trace, 0, 1, HWY_COL_BIT(HWY_START), &err));
	assert_non_null(strstr(err.text, "span 16384 starts before the one in front of it"));
	assert_false(hwy_need_chunk(report.trace, 0, 1, HWY_COL_BIT(HWY_START), &err));
	free_report(&report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_written_exactly),
		cmocka_unit_test(texts_are_escaped_and_what_is_not_utf8_is_replaced),
		cmocka_unit_test(more_than_a_buffer_arrives_and_gzip_is_smaller),
		cmocka_unit_test(a_full_disk_is_told_with_the_output_s_name),
		cmocka_unit_test(spans_that_overlap_are_spread_over_rows_in_which_they_nest),
		cmocka_unit_test(varints_are_as_short_as_they_can_be),
		cmocka_unit_test(a_strip_that_was_forgotten_reads_the_same_again),
		cmocka_unit_test(rows_come_in_order_with_one_chunk_in_memory),
		cmocka_unit_test(values_are_peeked_at_in_any_order),
		cmocka_unit_test(chunks_that_are_not_in_order_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
