/* SPDX-License-Identifier: Apache-2.0 */
/* api_columns_test.c - columns of the C API whose values have types of their own. */
#include "make_trace.h"

#include <pthread.h>

#include "api/api_trace.h"

/* A range with a payload; of the types JSON and BINARY 'text' is the payload, of the others its length. */
static void add_range(struct small *small, uint32_t lane, int64_t start, int64_t type,
		      const char *text)
{
	bool is_text = type == HWY_PAYLOAD_JSON || type == HWY_PAYLOAD_BINARY;
	struct hwy_row row = {0};
	row.v[HWY_START] = start;
	row.v[HWY_DUR] = 10;
	row.v[HWY_PAYLOAD_TYPE] = type;
	row.v[HWY_PAYLOAD] = is_text ? hwy_text_id(small->builder, text) : (int64_t)strlen(text);
	hwy_add_span(small->builder, lane, HWY_RANGE, &row);
}

static const struct headway_column *payloads(struct headway_trace *trace)
{
	char why[200] = "";
	const struct headway_column *column =
		headway_trace_column(trace, "range", "payload", why, sizeof why);
	assert_string_equal(why, "");
	assert_int_equal(column->rows, 3);
	return column;
}

static void free_trace(struct headway_trace *trace)
{
	api_columns_free(trace->columns);
	hwy_trace_free(trace->inside);
}

static void payloads_that_are_texts_are_words(void **state)
{
	struct small small = small_machine();
	uint32_t lane = small_lane(&small, HWY_LANE_RANGE);
	add_range(&small, lane, 100, HWY_PAYLOAD_JSON, "{\"batch\":1}");
	add_range(&small, lane, 200, HWY_PAYLOAD_NONE, "");
	add_range(&small, lane, 300, HWY_PAYLOAD_BINARY, "00ff");
	struct headway_trace trace = {.inside = small_finish(&small), .users = 1};
	const struct headway_column *column = payloads(&trace);
	const struct headway_words *words = column->words;
	assert_non_null(words);
	assert_int_equal(column->absent, 1);
	assert_int_equal(*column->present & 7, 5);
	const int64_t *numbers = column->values;
	assert_memory_equal(words->bytes + words->offsets[numbers[0]], "{\"batch\":1}", 11);
	assert_memory_equal(words->bytes + words->offsets[numbers[2]], "00ff", 4);
	free_trace(&trace);
}

static void texts_among_numbers_are_absent(void **state)
{
	struct small small = small_machine();
	uint32_t lane = small_lane(&small, HWY_LANE_RANGE);
	add_range(&small, lane, 100, HWY_PAYLOAD_JSON, "{}");
	add_range(&small, lane, 200, HWY_PAYLOAD_I64, "four");
	add_range(&small, lane, 300, HWY_PAYLOAD_I64, "seven  ");
	struct headway_trace trace = {.inside = small_finish(&small), .users = 1};
	const struct headway_column *column = payloads(&trace);
	assert_null(column->words);
	assert_int_equal(column->absent, 1);
	assert_int_equal(*column->present & 7, 6);
	assert_int_equal(((const int64_t *)column->values)[1], 4);
	assert_int_equal(((const int64_t *)column->values)[2], 7);
	free_trace(&trace);
}

/* Whether a strip of ranges holds the values of a column in memory. */
static bool is_loaded(const struct hwy_trace *trace, enum hwy_col col)
{
	for (uint32_t i = 0; i < trace->n_strips; i++)
		if (trace->strips[i].kind == HWY_RANGE)
			return trace->strips[i].columns[col]->chunks[0].loaded;
	return false;
}

/* Writes a report with so many ranges that their columns are not loaded when it is opened. */
static void write_ranges(char *path, size_t size)
{
	struct hwy_err err;
	struct small small = small_machine();
	uint32_t lane = small_lane(&small, HWY_LANE_RANGE);
	for (int i = 0; i < 20000; i++)
		add_range(&small, lane, i * 100, i * 7 % 3 ? HWY_PAYLOAD_JSON : HWY_PAYLOAD_BINARY,
			  "{}");
	struct hwy_trace *made = small_finish(&small);
	snprintf(path, size, "/tmp/api_columns.%d.hwy", (int)getpid());
	assert_true(hwy_file_write(made, path, true, NULL, &err));
	hwy_trace_free(made);
}

static void types_are_read_for_values_that_have_them_only(void **state)
{
	char path[64], why[200];
	struct hwy_err err;
	write_ranges(path, sizeof path);
	struct headway_trace trace = {.inside = hwy_file_open(path, &err), .users = 1};
	unlink(path);
	assert_non_null(headway_trace_column(&trace, "range", "duration", why, sizeof why));
	assert_true(is_loaded(trace.inside, HWY_DUR));
	assert_false(is_loaded(trace.inside, HWY_PAYLOAD_TYPE));
	assert_non_null(headway_trace_column(&trace, "range", "payload", why, sizeof why)->words);
	assert_true(is_loaded(trace.inside, HWY_PAYLOAD_TYPE));
	free_trace(&trace);
}

enum { THREADS = 4, ROUNDS = 50, RANGES = 20000 };

struct reader {
	struct headway_trace *trace;
	pthread_barrier_t *start;
	uint32_t wrong; /* what was not as it should be */
};

static void *read_all(void *argument)
{
	static const char *const names[] = {"payload", "duration", "start", "payload_type"};
	struct reader *reader = argument;
	struct headway_span_info span;
	uint32_t spans = 0;
	pthread_barrier_wait(reader->start);
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
		const struct headway_column *column =
			headway_trace_column(reader->trace, "range", names[i], NULL, 0);
		const int64_t *values = column ? column->values : NULL;
		reader->wrong += !column || column->rows != RANGES;
		for (int64_t row = 0; i == 2 && values && row < RANGES; row++)
			reader->wrong += values[row] - values[0] != row * 100;
	}
	struct headway_cursor *cursor =
		headway_cursor_open(reader->trace, HEADWAY_ALL_LANES, "range", NULL, 0);
	while (cursor && headway_cursor_next(cursor, &span))
		spans++;
	headway_cursor_close(cursor);
	reader->wrong += spans != RANGES;
	return NULL;
}

static void several_threads_read_one_trace(void **state)
{
	char path[64];
	uint32_t wrong = 0;
	write_ranges(path, sizeof path);
	for (int round = 0; round < ROUNDS; round++) {
		pthread_barrier_t start;
		pthread_t threads[THREADS];
		struct reader readers[THREADS];
		pthread_barrier_init(&start, NULL, THREADS);
		struct headway_trace *trace = headway_trace_open(path, NULL, 0);
		for (int i = 0; i < THREADS; i++) {
			readers[i] = (struct reader){trace, &start, 0};
			pthread_create(&threads[i], NULL, read_all, &readers[i]);
		}
		for (int i = 0; i < THREADS; i++) {
			pthread_join(threads[i], NULL);
			wrong += readers[i].wrong;
		}
		headway_trace_close(trace);
		pthread_barrier_destroy(&start);
	}
	unlink(path);
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(payloads_that_are_texts_are_words),
		cmocka_unit_test(texts_among_numbers_are_absent),
		cmocka_unit_test(types_are_read_for_values_that_have_them_only),
		cmocka_unit_test(several_threads_read_one_trace),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
