/* SPDX-License-Identifier: Apache-2.0 */
/* base_test.c - strings, maps, errors and the JSON writer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/json.h"
#include "base/strings.h"

static void a_text_is_kept_once_and_found_again(void **state)
{
	struct hwy_strings table;
	hwy_strings_init(&table);
	assert_int_equal(hwy_intern_z(&table, ""), 0);
	assert_int_equal(hwy_intern_z(&table, NULL), 0);
	char text[32];
	for (uint32_t i = 0; i < 20000; i++) {
		int length = snprintf(text, sizeof text, "kernel_%u", i);
		assert_int_equal(hwy_intern(&table, text, (size_t)length), i + 1);
	}
	for (uint32_t i = 0; i < 20000; i++) {
		int length = snprintf(text, sizeof text, "kernel_%u", i);
		assert_int_equal(hwy_intern(&table, text, (size_t)length), i + 1);
		assert_string_equal(table.texts[i + 1].at, text);
	}
	assert_int_equal(hwy_intern(&table, "kernel_7", 7), 20001);
	/* a zero byte inside is part of the text */
	uint32_t found = 0, n = table.n;
	assert_true(hwy_strings_find(&table, "kernel_7", 7, &found));
	assert_int_equal(found, 20001);
	assert_false(hwy_strings_find(&table, "kernel_x", 8, &found));
	assert_int_equal(table.n, n); /* looking for a text adds none */
	assert_int_not_equal(hwy_intern(&table, "a\0b", 3), hwy_intern(&table, "a", 1));
	hwy_strings_free(&table);
}

static void a_map_holds_what_was_put_under_any_key(void **state)
{
	struct hwy_map map = {0};
	assert_null(hwy_map_get(&map, 1));
	for (uint64_t i = 0; i < 50000; i++) {
		bool fresh;
		*hwy_map_put(&map, i << 40 | i % 3, &fresh) = (uint32_t)i;
		assert_true(fresh);
	}
	for (uint64_t i = 0; i < 50000; i++)
		assert_int_equal(*hwy_map_get(&map, i << 40 | i % 3), i);
	assert_null(hwy_map_get(&map, UINT64_MAX));
	hwy_map_free(&map);
}

static void an_error_is_one_line_whatever_a_file_put_into_it(void **state)
{
	struct hwy_err err;
	assert_false(hwy_fail(&err, "%s: bad name '%s'", "x", "a\nb\033[31m"));
	assert_string_equal(err.text, "x: bad name 'a?b?[31m'");
}

static void no_control_character_and_no_broken_one_reaches_a_terminal(void **state)
{
	char text[] = "a\x1b[31m\x7f\xc2\x9b\xc2\xb5s\xe9t\xc2";
	hwy_sanitize(text, sizeof text - 1);
	assert_string_equal(text, "a?[31m???\xc2\xb5s?t?");
}

static void check_json(const char *text, size_t length, const char *want)
{
	char *got;
	size_t size;
	FILE *out = open_memstream(&got, &size);
	json_escape(out, text, length);
	fclose(out);
	assert_string_equal(got, want);
	free(got);
}

static void json_texts_are_escaped_and_bad_utf8_is_replaced(void **state)
{
	check_json("a\"b\\c\n\t\001", 8, "\"a\\\"b\\\\c\\n\\t\\u0001\"");
	check_json("gr\xc3\xbc\xc3\x9f", 6, "\"gr\xc3\xbc\xc3\x9f\"");
	check_json("\xff\xc3", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\"");
	check_json("\xed\xa0\x80", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""); /* a surrogate */
	check_json("\x7f", 1, "\"\\u007f\"");
}

static void json_puts_commas_where_they_belong(void **state)
{
	char *got;
	size_t size;
	struct hwy_json json = {.out = open_memstream(&got, &size)};
	json_begin_object(&json);
	json_put_int(&json, "a", -1);
	json_key(&json, "b");
	json_begin_array(&json);
	json_real(&json, 1.25, 1);
	json_real(&json, 0.0 / 1.0, 0);
	json_begin_object(&json);
	json_end_object(&json);
	json_null(&json);
	json_bool(&json, true);
	json_end_array(&json);
	json_put_text(&json, "c", NULL);
	json_end_object(&json);
	fclose(json.out);
	assert_string_equal(got, "{\"a\":-1,\"b\":[1.2,0,{},null,true],\"c\":null}");
	free(got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_is_kept_once_and_found_again),
		cmocka_unit_test(a_map_holds_what_was_put_under_any_key),
		cmocka_unit_test(an_error_is_one_line_whatever_a_file_put_into_it),
		cmocka_unit_test(no_control_character_and_no_broken_one_reaches_a_terminal),
		cmocka_unit_test(json_texts_are_escaped_and_bad_utf8_is_replaced),
		cmocka_unit_test(json_puts_commas_where_they_belong),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
