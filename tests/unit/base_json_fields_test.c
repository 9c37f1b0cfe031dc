/* SPDX-License-Identifier: Apache-2.0 */
/* base_json_fields_test.c - structs to JSON and back by tables of their fields. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_fields.h"

/* ---- one struct with a member of every type ------------------------------------------------------- */

enum color { RED, GREEN, BLUE };
static const char *const color_names[] = {"red", "green", "blue"};
static const char *const part_names[] = {"compute", "copy", "idle"};

struct window {
	int64_t from, to;
};
static const struct json_field window_fields[] = {
	{JSON_FIELD_INT(struct window, from, "start_ns")},
	{JSON_FIELD_INT(struct window, to, "end_ns")},
};

struct kernel {
	const char *name;
	double share;
};
static const struct json_field kernel_fields[] = {
	{JSON_FIELD_TEXT(struct kernel, name, "name")},
	{JSON_FIELD_REAL(struct kernel, share, "share", 3)},
};

struct all {
	int8_t tiny;
	int32_t small;
	int64_t large;
	uint8_t byte;
	uint16_t port;
	uint32_t count;
	uint64_t bytes;
	int64_t rank;
	bool is_healthy;
	double share;
	float ratio;
	const char *name;
	char host[8];
	enum color color;
	uint8_t small_color;
	struct window window;
	struct window *other;
	struct window beside;
	struct kernel *kernels;
	uint32_t n_kernels;
	int64_t *steps;
	uint32_t n_steps;
	const char **gpus;
	uint32_t n_gpus;
	int64_t parts[3];
};
static const struct json_field all_fields[] = {
	{JSON_FIELD_INT(struct all, tiny, "tiny")},
	{JSON_FIELD_INT(struct all, small, "small")},
	{JSON_FIELD_INT(struct all, large, "large")},
	{JSON_FIELD_INT(struct all, byte, "byte")},
	{JSON_FIELD_INT(struct all, port, "port")},
	{JSON_FIELD_INT(struct all, count, "count")},
	{JSON_FIELD_INT(struct all, bytes, "bytes")},
	{JSON_FIELD_OPTIONAL_INT(struct all, rank, "rank")},
	{JSON_FIELD_BOOL(struct all, is_healthy, "healthy")},
	{JSON_FIELD_REAL(struct all, share, "share", 2)},
	{JSON_FIELD_REAL(struct all, ratio, "ratio", 1)},
	{JSON_FIELD_TEXT(struct all, name, "name")},
	{JSON_FIELD_TEXT(struct all, host, "host")},
	{JSON_FIELD_ENUM(struct all, color, "color", color_names, 3)},
	{JSON_FIELD_ENUM(struct all, small_color, "small_color", color_names, 3)},
	{JSON_FIELD_OBJECT(struct all, window, "window", window_fields)},
	{JSON_FIELD_POINTER(struct all, other, "other", window_fields)},
	{JSON_FIELD_MEMBERS(struct all, beside, window_fields)},
	{JSON_FIELD_ARRAY(struct all, kernels, n_kernels, "kernels", kernel_fields)},
	{JSON_FIELD_INT_ARRAY(struct all, steps, n_steps, "steps")},
	{JSON_FIELD_TEXT_ARRAY(struct all, gpus, n_gpus, "gpus")},
	{JSON_FIELD_NAMED_INTS(struct all, parts, "parts", part_names)},
};

static struct all example(void)
{
	static struct window other = {-1, 1};
	static struct kernel kernels[] = {{"gemm", 0.75}, {"relu", 0.25}};
	static int64_t steps[] = {100, -7, INT64_MAX};
	static const char *gpus[] = {"H200", "L4"};
	return (struct all){
		.tiny = -128,
		.small = INT32_MIN,
		.large = INT64_MIN,
		.byte = 255,
		.port = 65535,
		.count = UINT32_MAX,
		.bytes = INT64_MAX,
		.rank = 3,
		.is_healthy = true,
		.share = 0.25,
		.ratio = 1.5F,
		.name = "a \"name\"",
		.host = "node1",
		.color = BLUE,
		.small_color = GREEN,
		.window = {10, 20},
		.other = &other,
		.beside = {30, 40},
		.kernels = kernels,
		.n_kernels = 2,
		.steps = steps,
		.n_steps = 3,
		.gpus = gpus,
		.n_gpus = 2,
		.parts = {1, 2, 3},
	};
}

static const char example_text[] =
	"{\"tiny\":-128,\"small\":-2147483648,\"large\":-9223372036854775808,\"byte\":255,"
	"\"port\":65535,\"count\":4294967295,\"bytes\":9223372036854775807,\"rank\":3,"
	"\"healthy\":true,\"share\":0.25,\"ratio\":1.5,\"name\":\"a \\\"name\\\"\",\"host\":\"node1\","
	"\"color\":\"blue\",\"small_color\":\"green\",\"window\":{\"start_ns\":10,\"end_ns\":20},"
	"\"other\":{\"start_ns\":-1,\"end_ns\":1},\"start_ns\":30,\"end_ns\":40,"
	"\"kernels\":[{\"name\":\"gemm\",\"share\":0.750},{\"name\":\"relu\",\"share\":0.250}],"
	"\"steps\":[100,-7,9223372036854775807],\"gpus\":[\"H200\",\"L4\"],"
	"\"parts\":{\"compute\":1,\"copy\":2,\"idle\":3}}";

/* ---- helpers -------------------------------------------------------------------------------------- */

struct writing {
	struct hwy_json json;
	char *text;
	size_t length;
};

static struct hwy_json *begin_writing(struct writing *writing, bool pretty)
{
	*writing = (struct writing){0};
	writing->json.out = open_memstream(&writing->text, &writing->length);
	writing->json.pretty = pretty;
	assert_non_null(writing->json.out);
	return &writing->json;
}

static void check_written(struct writing *writing, const char *want)
{
	fclose(writing->json.out);
	assert_string_equal(writing->text, want);
	free(writing->text);
}

static void check_object(const struct json_field *fields, size_t n_fields, const void *object,
			 const char *want)
{
	struct writing writing;
	json_put_object(begin_writing(&writing, false), fields, n_fields, object);
	check_written(&writing, want);
}

static struct json_value *read_text(struct hwy_arena *arena, const char *text)
{
	struct hwy_err err;
	struct json_value *value = json_read(arena, text, strlen(text), &err);
	assert_non_null(value);
	return value;
}

/* ---- writing -------------------------------------------------------------------------------------- */

static void every_type_is_written_in_the_order_of_the_table(void **state)
{
	struct all all = example();
	check_object(JSON_FIELDS(all_fields), &all, example_text);
}

static void what_is_absent_is_null_and_what_is_empty_is_empty(void **state)
{
	struct all all = {.rank = INT64_MIN, .color = 3};
	check_object(
		JSON_FIELDS(all_fields), &all,
		"{\"tiny\":0,\"small\":0,\"large\":0,\"byte\":0,\"port\":0,\"count\":0,\"bytes\":0,"
		"\"rank\":null,\"healthy\":false,\"share\":0.00,\"ratio\":0.0,\"name\":null,"
		"\"host\":\"\",\"color\":null,\"small_color\":\"red\","
		"\"window\":{\"start_ns\":0,\"end_ns\":0},\"other\":null,\"start_ns\":0,"
		"\"end_ns\":0,\"kernels\":[],\"steps\":[],\"gpus\":[],"
		"\"parts\":{\"compute\":0,\"copy\":0,\"idle\":0}}");
}

struct remedy {
	const char *text;
	char place[4];
};
static const struct json_field remedy_fields[] = {
	{JSON_FIELD_TEXT_OR_NULL(struct remedy, text, "text")},
	{JSON_FIELD_TEXT_OR_NULL(struct remedy, place, "place")},
};

static void an_empty_text_is_null_where_the_table_says_so(void **state)
{
	check_object(JSON_FIELDS(remedy_fields), &(struct remedy){.text = ""},
		     "{\"text\":null,\"place\":null}");
	check_object(JSON_FIELDS(remedy_fields), &(struct remedy){"x", "y"},
		     "{\"text\":\"x\",\"place\":\"y\"}");
}

static bool window_is_open(const void *object)
{
	const struct window *window = object;
	return window->to > window->from;
}

static void put_length(struct hwy_json *json, const void *object)
{
	const struct window *window = object;
	json_int(json, window->to - window->from);
}

static void put_shifted(struct hwy_json *json, const void *member)
{
	const int64_t *origin = json->context, *time = member;
	json_int(json, *time - *origin);
}

static void functions_write_what_a_table_cannot_say(void **state)
{
	static const struct json_field fields[] = {
		{JSON_FIELD_CALL(struct window, to, "end_ns", put_shifted)},
		{JSON_FIELD_CALL_OBJECT("length_ns", put_length), .when = window_is_open},
	};
	static const int64_t origin = 5;
	struct writing writing;
	struct hwy_json *json = begin_writing(&writing, false);
	json->context = &origin;
	json_begin_array(json);
	json_put_object(json, JSON_FIELDS(fields), &(struct window){10, 30});
	json_put_object(json, JSON_FIELDS(fields), &(struct window){30, 10});
	json_end_array(json);
	check_written(&writing, "[{\"end_ns\":25,\"length_ns\":20},{\"end_ns\":5}]");
}

static void members_join_an_object_that_the_caller_began(void **state)
{
	static const struct window windows[] = {{1, 2}, {3, 4}};
	struct writing writing;
	struct hwy_json *json = begin_writing(&writing, false);
	json_begin_object(json);
	json_put_int(json, "first", 1);
	json_put_fields(json, JSON_FIELDS(window_fields), &windows[0]);
	json_key(json, "list");
	json_put_array(json, JSON_FIELDS(window_fields), windows, 2, sizeof *windows);
	json_end_object(json);
	check_written(&writing, "{\"first\":1,\"start_ns\":1,\"end_ns\":2,\"list\":["
				"{\"start_ns\":1,\"end_ns\":2},{\"start_ns\":3,\"end_ns\":4}]}");
}

static void rows_stand_on_one_line_where_the_table_says_so(void **state)
{
	static const struct json_field fields[] = {
		{JSON_FIELD_ARRAY(struct all, kernels, n_kernels, "kernels", kernel_fields),
		 .on_one_line = true},
		{JSON_FIELD_INT_ARRAY(struct all, steps, n_steps, "steps"), .on_one_line = true},
		{JSON_FIELD_NAMED_INTS(struct all, parts, "parts", part_names),
		 .on_one_line = true},
		{JSON_FIELD_OBJECT(struct all, window, "window", window_fields),
		 .on_one_line = true},
		{JSON_FIELD_INT(struct all, byte, "byte")},
	};
	struct all all = example();
	struct writing writing;
	json_put_object(begin_writing(&writing, true), JSON_FIELDS(fields), &all);
	check_written(&writing, "{\n"
				"  \"kernels\": [\n"
				"    {\"name\":\"gemm\",\"share\":0.750},\n"
				"    {\"name\":\"relu\",\"share\":0.250}\n"
				"  ],\n"
				"  \"steps\": [100,-7,9223372036854775807],\n"
				"  \"parts\": {\"compute\":1,\"copy\":2,\"idle\":3},\n"
				"  \"window\": {\"start_ns\":10,\"end_ns\":20},\n"
				"  \"byte\": 255\n"
				"}\n");
}

/* ---- reading -------------------------------------------------------------------------------------- */

static void what_was_written_is_read_back(void **state)
{
	struct hwy_arena arena = {0};
	struct all all;
	memset(&all, 0xee, sizeof all);
	assert_true(json_get_fields(read_text(&arena, example_text), JSON_FIELDS(all_fields), &all,
				    &arena));
	check_object(JSON_FIELDS(all_fields), &all, example_text);
	assert_int_equal(all.beside.to, 40);
	hwy_arena_free(&arena);
}

static void what_is_not_there_becomes_nothing(void **state)
{
	struct hwy_arena arena = {0};
	struct all all;
	memset(&all, 0xee, sizeof all);
	assert_true(
		json_get_fields(read_text(&arena, "{}"), JSON_FIELDS(all_fields), &all, &arena));
	assert_int_equal(all.tiny, 0);
	assert_true(all.rank == INT64_MIN);
	assert_false(all.is_healthy);
	assert_true(all.share == 0 && all.ratio == 0);
	assert_string_equal(all.name, "");
	assert_string_equal(all.host, "");
	assert_int_equal(all.color, RED);
	assert_null(all.other);
	assert_int_equal(all.n_kernels + all.n_steps + all.n_gpus, 0);
	assert_non_null(all.kernels);
	assert_int_equal(all.parts[2], 0);
	assert_false(json_get_fields(NULL, JSON_FIELDS(all_fields), &all, &arena));
	assert_false(
		json_get_fields(read_text(&arena, "[1]"), JSON_FIELDS(all_fields), &all, &arena));
	hwy_arena_free(&arena);
}

static void values_that_do_not_fit_become_nothing(void **state)
{
	struct hwy_arena arena = {0};
	struct all all;
	struct json_value *value = read_text(
		&arena,
		"{\"tiny\":128,\"small\":2147483648,\"large\":1.5,\"byte\":256,\"port\":-1,\"count\":4294967296,"
		"\"bytes\":-1,\"healthy\":1,\"name\":5,\"host\":\"12345内核\",\"color\":\"pink\","
		"\"other\":[],\"kernels\":{},\"steps\":[1,\"x\",3],\"rank\":\"a\"}");
	json_get_fields(value, JSON_FIELDS(all_fields), &all, &arena);
	assert_int_equal(all.tiny, 0);
	assert_int_equal(all.small, 0);
	assert_int_equal(all.large, 0);
	assert_int_equal(all.byte, 0);
	assert_int_equal(all.port, 0);
	assert_int_equal(all.count, 0);
	assert_int_equal(all.bytes, 0);
	assert_false(all.is_healthy);
	assert_string_equal(all.name, "");
	assert_string_equal(all.host, "12345"); /* 8 bytes: no part of a character */
	assert_int_equal(all.color, RED);
	assert_null(all.other);
	assert_int_equal(all.n_kernels, 0);
	assert_int_equal(all.n_steps, 3);
	assert_int_equal(all.steps[1], 0);
	assert_int_equal(all.steps[2], 3);
	assert_true(all.rank == INT64_MIN);
	hwy_arena_free(&arena);
}

static void numbers_beyond_the_table_s_limit_become_0(void **state)
{
	static const struct json_field fields[] = {
		{JSON_FIELD_INT(struct window, from, "from"), .most = 100},
		{JSON_FIELD_INT(struct window, to, "to"), .most = 100},
	};
	struct hwy_arena arena = {0};
	struct window window = {7, 7};
	json_get_fields(read_text(&arena, "{\"from\":101,\"to\":100}"), JSON_FIELDS(fields),
			&window, &arena);
	assert_int_equal(window.from, 0);
	assert_int_equal(window.to, 100);
	json_get_fields(read_text(&arena, "{\"from\":-1,\"to\":0}"), JSON_FIELDS(fields), &window,
			&arena);
	assert_int_equal(window.from, 0);
	assert_int_equal(window.to, 0);
	hwy_arena_free(&arena);
}

static void get_doubled(void *member, const struct json_value *value, struct hwy_arena *arena)
{
	(void)arena;
	*(int64_t *)member = 2 * json_as_int(value, -1);
}

static void functions_read_what_a_table_cannot_say(void **state)
{
	static const struct json_field fields[] = {
		{JSON_FIELD_CALL(struct window, from, "from", NULL), .get = get_doubled},
		{JSON_FIELD_CALL(struct window, to, "to", NULL)},
	};
	struct hwy_arena arena = {0};
	struct window window = {7, 7};
	json_get_fields(read_text(&arena, "{\"from\":21,\"to\":21}"), JSON_FIELDS(fields), &window,
			&arena);
	assert_int_equal(window.from, 42);
	assert_int_equal(window.to, 7);
	json_get_fields(read_text(&arena, "{}"), JSON_FIELDS(fields), &window, &arena);
	assert_int_equal(window.from, -2);
	hwy_arena_free(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_is_written_in_the_order_of_the_table),
		cmocka_unit_test(what_is_absent_is_null_and_what_is_empty_is_empty),
		cmocka_unit_test(an_empty_text_is_null_where_the_table_says_so),
		cmocka_unit_test(functions_write_what_a_table_cannot_say),
		cmocka_unit_test(members_join_an_object_that_the_caller_began),
		cmocka_unit_test(rows_stand_on_one_line_where_the_table_says_so),
		cmocka_unit_test(what_was_written_is_read_back),
		cmocka_unit_test(what_is_not_there_becomes_nothing),
		cmocka_unit_test(values_that_do_not_fit_become_nothing),
		cmocka_unit_test(numbers_beyond_the_table_s_limit_become_0),
		cmocka_unit_test(functions_read_what_a_table_cannot_say),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
