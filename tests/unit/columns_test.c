/* SPDX-License-Identifier: Apache-2.0 */
/* columns_test.c - what the columns mean, as cells for people and as the table of docs/report-format.md. */
#include "make_trace.h"

/* ---- cells ---- */

static struct hwy_trace *make_records(void)
{
	struct hwy_builder *b = hwy_builder_new();
	struct hwy_trace *trace = hwy_builder_trace(b);
	hwy_text_id(b, "a text"); /* text 1 */
	hwy_new_streams(b);
	trace->streams[0].number = 13;
	hwy_new_threads(b);
	trace->threads[0].tid = 830;
	hwy_new_devices(b);
	trace->devices[0].ordinal = HWY_NONE;
	struct hwy_lane lane = hwy_lane_of(HWY_LANE_COUNTER, HWY_NONE, HWY_NONE);
	lane.value_type = HWY_PAYLOAD_DOUBLE;
	hwy_add_lane(b, lane);
	return hwy_builder_finish(b, false);
}

static int64_t bits_of(double real)
{
	int64_t bits;
	memcpy(&bits, &real, sizeof bits);
	return bits;
}

/* The cell of a number in a strip of the kind, on lane 0, as text; "" where there is none. */
static const char *cell(enum hwy_kind kind, enum hwy_col col, int64_t stored, int64_t payload_type)
{
	static char text[64];
	struct hwy_trace *trace = make_records();
	struct hwy_strip strip = {.kind = kind};
	struct hwy_cell got = hwy_column_cell(trace, &strip, col, stored, payload_type);
	text[0] = 0;
	switch (got.type) {
	case HWY_CELL_NONE: break;
	case HWY_CELL_INT: snprintf(text, sizeof text, "%lld", (long long)got.number); break;
	case HWY_CELL_UINT:
		snprintf(text, sizeof text, "%llu", (unsigned long long)got.number);
		break;
	case HWY_CELL_REAL: snprintf(text, sizeof text, "%g", got.real); break;
	case HWY_CELL_TEXT: snprintf(text, sizeof text, "%s", got.text.at); break;
	}
	hwy_trace_free(trace);
	return text;
}

static void references_are_resolved_to_the_numbers_people_know(void **state)
{
	(void)state;
	assert_string_equal(cell(HWY_SYNC, HWY_WAITED, 1, 0), "13");
	assert_string_equal(cell(HWY_SYNC, HWY_WAITED, 0, 0), "");
	assert_string_equal(cell(HWY_SYNC, HWY_WAITED, 2, 0), "");
	assert_string_equal(cell(HWY_RANGE, HWY_END_THREAD, 1, 0), "830");
	assert_string_equal(cell(HWY_COPY, HWY_SRC_DEVICE, 1, 0), "");
	assert_string_equal(cell(HWY_CALL, HWY_PARENT, 1, 0), "0");
	assert_string_equal(cell(HWY_CALL, HWY_PARENT, 0, 0), "");
	assert_string_equal(cell(HWY_KERNEL, HWY_LINK, 5, 0), "4");
}

static void enumerations_are_told_by_name_and_unknown_numbers_stay_numbers(void **state)
{
	(void)state;
	assert_string_equal(cell(HWY_RANGE, HWY_STYLE, HWY_STARTEND, 0), "start-end");
	assert_string_equal(cell(HWY_COPY, HWY_CAUSE, HWY_CAUSE_EVICTION, 0), "eviction");
	assert_string_equal(cell(HWY_KERNEL, HWY_LAUNCH_TYPE, HWY_LAUNCH_COOPERATIVE, 0),
			    "cooperative");
	assert_string_equal(cell(HWY_KERNEL, HWY_LAUNCH_TYPE, 9, 0), "9");
	assert_string_equal(cell(HWY_COPY, HWY_DIRECTION, HWY_DIR_UNKNOWN, 0), "");
}

static void payloads_and_counters_are_read_by_their_type(void **state)
{
	(void)state;
	assert_string_equal(cell(HWY_RANGE, HWY_PAYLOAD, 7, HWY_PAYLOAD_NONE), "");
	assert_string_equal(cell(HWY_RANGE, HWY_PAYLOAD, 0, HWY_PAYLOAD_I64), "0");
	assert_string_equal(cell(HWY_RANGE, HWY_PAYLOAD, -1, HWY_PAYLOAD_U64),
			    "18446744073709551615");
	assert_string_equal(cell(HWY_RANGE, HWY_PAYLOAD, bits_of(0.5), HWY_PAYLOAD_FLOAT), "0.5");
	assert_string_equal(cell(HWY_RANGE, HWY_PAYLOAD, 1, HWY_PAYLOAD_JSON), "a text");
	assert_string_equal(cell(HWY_COUNTER, HWY_VALUE, bits_of(2.5), 0), "2.5");
	assert_string_equal(cell(HWY_FILL, HWY_VALUE, 0, 0), "0");
}

static void black_is_a_colour_and_zero_is_a_result(void **state)
{
	(void)state;
	assert_string_equal(cell(HWY_RANGE, HWY_COLOR, hwy_color(0), 0), "0");
	assert_string_equal(cell(HWY_RANGE, HWY_COLOR, 0, 0), "");
	assert_string_equal(cell(HWY_API, HWY_RESULT, 0, 0), "0");
	assert_string_equal(cell(HWY_KERNEL, HWY_GRAPH_ID, 0, 0), "");
}

/* ---- the document ---- */

static void put_names(FILE *out, const char *const *names, uint32_t n, bool is_open)
{
	for (uint32_t i = 1; i < n; i++) /* 0 is "none" in every enumeration */
		fprintf(out, "%s%u %s", i > 1 ? ", " : "", i, names[i]);
	if (is_open)
		fprintf(out, ", …");
}

static void put_meaning(FILE *out, const struct hwy_column_info *info)
{
	static const char *const table_names[] = {"",
#define X(type, field, section) [section] = #field,
						  HWY_RECORDS(X)
#undef X
	};
	static const char *const words[HWY_MEANINGS] = {
		[HWY_MEANS_NUMBER] = "number",
		[HWY_MEANS_TIME] = "time",
		[HWY_MEANS_DURATION] = "ns",
		[HWY_MEANS_BYTES] = "bytes",
		[HWY_MEANS_ADDRESS] = "address",
		[HWY_MEANS_TEXT] = "text",
		[HWY_MEANS_RECORD] = "index into ",
		[HWY_MEANS_SPAN] = "span id",
		[HWY_MEANS_ENUM] = "",
		[HWY_MEANS_FLAGS] = "flags",
		[HWY_MEANS_COLOR] = "ARGB with bit 32 set",
		[HWY_MEANS_TYPED] = "by type",
	};
	fprintf(out, "%s%s", words[info->meaning], table_names[info->table]);
	put_names(out, info->names, info->n_names, info->is_open);
}

static void put_columns(FILE *out)
{
	static const char *const zero[] = {[HWY_ABSENT_ZERO] = "none",
					   [HWY_ABSENT_NEVER] = "a value",
					   [HWY_ABSENT_REF] = "reference",
					   [HWY_ABSENT_UNTYPED] = "none without a type"};
	fprintf(out, "| column | name | value | 0 is | |\n|---|---|---|---|---|\n");
	for (unsigned c = 0; c < HWY_COLS; c++) {
		fprintf(out, "| %u | `%s` | ", c, hwy_columns[c].name);
		put_meaning(out, &hwy_columns[c]);
		fprintf(out, " | %s | %s |\n", zero[hwy_columns[c].absence],
			hwy_columns[c].description);
	}
}

static char *read_document(const char *path)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = fopen(path, "r");
	if (!file || getdelim(&text, &size, 0, file) < 0)
		fail_msg("%s cannot be read", path);
	fclose(file);
	return text;
}

/* The tables of the document stand between markers. UPDATE=1 writes them anew. */
static void the_document_has_the_table_of_the_columns(void **state)
{
	(void)state;
	static const char begin[] = "<!-- columns: from src/trace/columns.c -->\n";
	static const char end[] = "<!-- end of columns -->\n";
	const char *path = access("../docs/report-format.md", R_OK) == 0
				   ? "../docs/report-format.md"
				   : "docs/report-format.md";
	char *document = read_document(path), *table = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&table, &size);
	assert_non_null(out);
	put_columns(out);
	fclose(out);
	char *from = strstr(document, begin), *to = from ? strstr(from, end) : NULL;
	assert_non_null(to);
	from += strlen(begin);
	if (getenv("UPDATE")) {
		FILE *file = fopen(path, "w");
		assert_non_null(file);
		fprintf(file, "%.*s%s%s", (int)(from - document), document, table, to);
		fclose(file);
	} else if (strlen(table) != (size_t)(to - from) ||
		   strncmp(from, table, strlen(table)) != 0) {
		fail_msg("the table of columns in %s is not the one of src/trace/columns.c; "
			 "UPDATE=1 writes it anew",
			 path);
	}
	free(table);
	free(document);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(references_are_resolved_to_the_numbers_people_know),
		cmocka_unit_test(enumerations_are_told_by_name_and_unknown_numbers_stay_numbers),
		cmocka_unit_test(payloads_and_counters_are_read_by_their_type),
		cmocka_unit_test(black_is_a_colour_and_zero_is_a_result),
		cmocka_unit_test(the_document_has_the_table_of_the_columns),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
