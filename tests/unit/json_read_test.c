/* SPDX-License-Identifier: Apache-2.0 */
/* json_read_test.c - small JSON documents in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_read.h"

static struct hwy_arena arena;

static int free_arena(void **state)
{
	hwy_arena_free(&arena);
	return 0;
}

static const struct json_value *read_length(const char *text, size_t length)
{
	struct hwy_err err = {""};
	const struct json_value *root = json_read(&arena, text, length, &err);
	if (!root)
		fail_msg("%s", err.text);
	return root;
}

static const struct json_value *read_good(const char *text)
{
	return read_length(text, strlen(text));
}

static void check_refused(const char *text, const char *want)
{
	struct hwy_err err = {""};
	assert_null(json_read(&arena, text, strlen(text), &err));
	assert_string_equal(err.text, want);
}

/* ---- values --------------------------------------------------------------------------------------- */

static void every_type_is_told(void **state)
{
	assert_int_equal(read_good("null")->type, JSON_NULL);
	assert_int_equal(read_good("true")->type, JSON_TRUE);
	assert_int_equal(read_good("false")->type, JSON_FALSE);
	assert_int_equal(read_good("-1.5e3")->type, JSON_NUMBER);
	assert_int_equal(read_good("\"\"")->type, JSON_TEXT);
	assert_int_equal(read_good("[]")->type, JSON_ARRAY);
	assert_int_equal(read_good("{}")->type, JSON_OBJECT);
}

static void children_come_in_order_with_their_number(void **state)
{
	const struct json_value *root = read_good(" {\"b\" : [1, \"x\", [ ] ],\n\t\"a\": {} }\r\n");
	assert_int_equal(root->n, 2);
	assert_string_equal(root->first->key, "b");
	assert_string_equal(root->first->next->key, "a");
	assert_null(root->first->next->next);
	const struct json_value *list = root->first;
	assert_int_equal(list->n, 3);
	assert_null(list->first->key);
	assert_string_equal(list->first->text, "1");
	assert_string_equal(list->first->next->text, "x");
	assert_int_equal(list->first->next->next->n, 0);
	assert_null(list->first->next->next->first);
}

static void numbers_are_kept_as_written(void **state)
{
	static const char *const numbers[] = {"0",
					      "-0",
					      "12",
					      "1.50",
					      "1e3",
					      "-2.5E-7",
					      "9223372036854775807",
					      "0.1000000000000000055511"};
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		assert_string_equal(read_good(numbers[i])->text, numbers[i]);
}

static void what_lies_after_the_given_length_is_not_read(void **state)
{
	assert_string_equal(read_length("1234", 2)->text, "12");
	assert_int_equal(read_length("[1]]]]", 3)->n, 1);
}

/* ---- texts ---------------------------------------------------------------------------------------- */

static void escapes_become_their_characters(void **state)
{
	assert_string_equal(read_good("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"")->text, "\"\\/\b\f\n\r\t");
	assert_string_equal(read_good("\"\\u0041\\u00b5\\u4E2d\"")->text, "Aµ中");
	assert_string_equal(read_good("{\"a\\tb\":1}")->first->key, "a\tb");
	assert_string_equal(read_good("\"内核\"")->text, "内核");
}

static void two_surrogates_are_one_character(void **state)
{
	assert_string_equal(read_good("\"\\ud83d\\ude80!\"")->text, "🚀!");
	assert_string_equal(read_good("\"\\uDBFF\\uDFFF\"")->text, "\xf4\x8f\xbf\xbf");
}

static void a_surrogate_without_its_other_half_is_replaced_alone(void **state)
{
	assert_string_equal(read_good("\"\\ud83d\"")->text, "\ufffd");
	assert_string_equal(read_good("\"\\ud83dx\"")->text, "\ufffdx");
	assert_string_equal(read_good("\"\\ude80\\ud83d\"")->text, "\ufffd\ufffd");
	assert_string_equal(read_good("\"\\ud83d\\u0041\"")->text, "\ufffdA");
	assert_string_equal(read_good("\"\\ud83d\\n\\u0041\"")->text, "\ufffd\nA");
	assert_string_equal(read_good("\"\\ud83d\\ud83d\\ude80\"")->text, "\ufffd🚀");
}

static void a_zero_inside_a_text_is_replaced(void **state)
{
	assert_string_equal(read_good("\"a\\u0000b\"")->text, "a\ufffd"
							      "b");
}

/* Every kind of character and escape, many of them: what is reserved for a text is enough. */
static void long_texts_of_escapes_fit_their_memory(void **state)
{
	static const char *const parts[][2] = {
		{"x", "x"},
		{"\\n", "\n"},
		{"\\u0001", "\x01"},
		{"\\u00b5", "µ"},
		{"\\u4e2d", "中"},
		{"\\ud83d\\ude80", "🚀"},
		{"\\ud83d", "\ufffd"},
		{"\\u0000", "\ufffd"},
	};
	srand(1);
	for (int round = 0; round < 200; round++) {
		char text[4096] = "\"", want[4096] = "";
		for (int i = rand() % 200; i > 0; i--) {
			size_t part = (size_t)rand() % (sizeof parts / sizeof *parts);
			strcat(text, parts[part][0]);
			strcat(want, parts[part][1]);
		}
		strcat(text, "\"");
		assert_string_equal(read_good(text)->text, want);
	}
}

/* ---- depth ---------------------------------------------------------------------------------------- */

static void nested(char *text, int depth)
{
	memset(text, '[', (size_t)depth);
	memset(text + depth, ']', (size_t)depth);
	text[2 * depth] = '\0';
}

static void nesting_of_64_is_read_and_65_is_refused(void **state)
{
	char text[256];
	nested(text, 64);
	int depth = 0;
	for (const struct json_value *value = read_good(text); value; value = value->first)
		depth++;
	assert_int_equal(depth, 64);
	nested(text, 65);
	check_refused(text, "line 1: no JSON: nested too deeply");
}

static void depth_counts_what_is_open_not_what_there_was(void **state)
{
	char text[1024] = "[";
	for (int i = 0; i < 100; i++)
		strcat(text, "[{}],");
	strcat(text, "{}]");
	assert_int_equal(read_good(text)->n, 101);
}

/* ---- errors --------------------------------------------------------------------------------------- */

static void errors_name_the_line_and_the_reason(void **state)
{
	check_refused("", "line 1: no JSON: a value is expected");
	check_refused("\n\n  ", "line 3: no JSON: a value is expected");
	check_refused("{\n\"a\": 1,\n\"b\" 2}", "line 3: no JSON: ':' is expected");
	check_refused("{\n\"a\": 1,\n}", "line 3: no JSON: a key is expected");
	check_refused("{a: 1}", "line 1: no JSON: a key is expected");
	check_refused("[1\n2]", "line 2: no JSON: ',' or the end of the list is expected");
	check_refused("[1, 2", "line 1: no JSON: ',' or the end of the list is expected");
	check_refused("[1,]", "line 1: no JSON: a value is expected");
	check_refused("[1}", "line 1: no JSON: ',' or the end of the list is expected");
	check_refused("{} {}", "line 1: no JSON: something follows the end");
	check_refused("nulls", "line 1: no JSON: something follows the end");
	check_refused("nul", "line 1: no JSON: a value is expected");
	check_refused("'a'", "line 1: no JSON: a value is expected");
}

static void broken_texts_are_refused(void **state)
{
	check_refused("\"abc", "line 1: no JSON: a text that does not end");
	check_refused("\"abc\\", "line 1: no JSON: a text that does not end");
	check_refused("\"abc\\\"", "line 1: no JSON: a text that does not end");
	check_refused("\"\\x41\"", "line 1: no JSON: an unknown escape");
	check_refused("\"\\u12g4\"", "line 1: no JSON: a \\u without four digits");
	check_refused("\"\\u12", "line 1: no JSON: a \\u without four digits");
	check_refused("\"\\ud83d\\u12\"", "line 1: no JSON: a \\u without four digits");
	check_refused("{\"a", "line 1: no JSON: a text that does not end");
}

static void broken_numbers_are_refused(void **state)
{
	check_refused("-", "line 1: no JSON: a number is expected");
	check_refused("1.2.3", "line 1: no JSON: a number is expected");
	check_refused("1e", "line 1: no JSON: a number is expected");
	check_refused("1e999", "line 1: no JSON: a number is expected");
	check_refused("NaN", "line 1: no JSON: a value is expected");
	check_refused("0x10", "line 1: no JSON: something follows the end");
	char digits[80];
	memset(digits, '1', sizeof digits);
	digits[65] = '\0';
	check_refused(digits, "line 1: no JSON: a value is expected");
	digits[64] = '\0';
	assert_string_equal(read_good(digits)->text, digits);
}

/* A document that is cut anywhere is refused, and nothing is read beyond its end. */
static void every_beginning_of_a_document_is_refused(void **state)
{
	static const char whole[] =
		"{\"a\": [1, -2.5e3, true, null], \"b\\u00e9\": {\"c\": \"x\\n\\ud83d\\ude80\"}}";
	for (size_t length = 0; length < sizeof whole - 1; length++) {
		struct hwy_err err = {""};
		char *cut = hwy_copy_array(whole, length, 1); /* its end is the end of its memory */
		assert_null(json_read(&arena, cut, length, &err));
		assert_memory_equal(err.text, "line 1: no JSON: ", 17);
		free(cut);
	}
	assert_int_equal(read_good(whole)->n, 2);
}

/* ---- asking --------------------------------------------------------------------------------------- */

static void members_are_found_and_the_first_of_equal_keys_counts(void **state)
{
	const struct json_value *root =
		read_good("{\"n\":7,\"n\":8,\"r\":2.5,\"t\":\"x\",\"yes\":true,\"no\":false}");
	assert_int_equal(json_get_int(root, "n"), 7);
	assert_true(json_get_real(root, "r") == 2.5);
	assert_true(json_get_real(root, "n") == 7);
	assert_string_equal(json_get_text(root, "t"), "x");
	assert_true(json_get_bool(root, "yes"));
	assert_false(json_get_bool(root, "no"));
	assert_ptr_equal(json_get(root, "n"), root->first);
}

static void what_is_absent_or_of_another_type_is_nothing(void **state)
{
	const struct json_value *root =
		read_good("{\"n\":1,\"t\":\"5\",\"b\":\"true\",\"z\":null}");
	const struct json_value *others[] = {root, NULL, read_good("[1]"), read_good("5")};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		assert_null(json_get(others[i], "absent"));
		assert_int_equal(json_get_int(others[i], "t"), 0);
		assert_true(json_get_real(others[i], "t") == 0);
		assert_string_equal(json_get_text(others[i], "n"), "");
		assert_false(json_get_bool(others[i], "b"));
	}
	assert_int_equal(json_get(root, "z")->type, JSON_NULL);
	assert_string_equal(json_get_text(root, "z"), "");
}

static void only_whole_numbers_that_fit_are_integers(void **state)
{
	assert_int_equal(json_as_int(read_good("-12"), 5), -12);
	assert_true(json_as_int(read_good("9223372036854775807"), 5) == INT64_MAX);
	assert_true(json_as_int(read_good("-9223372036854775808"), 5) == INT64_MIN);
	assert_int_equal(json_as_int(read_good("9223372036854775808"), 5), 5);
	assert_int_equal(json_as_int(read_good("1.5"), 5), 5);
	assert_int_equal(json_as_int(read_good("1e3"), 5), 5);
	assert_int_equal(json_as_int(read_good("\"12\""), 5), 5);
	assert_int_equal(json_as_int(NULL, 5), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(every_type_is_told, free_arena),
		cmocka_unit_test_teardown(children_come_in_order_with_their_number, free_arena),
		cmocka_unit_test_teardown(numbers_are_kept_as_written, free_arena),
		cmocka_unit_test_teardown(what_lies_after_the_given_length_is_not_read, free_arena),
		cmocka_unit_test_teardown(escapes_become_their_characters, free_arena),
		cmocka_unit_test_teardown(two_surrogates_are_one_character, free_arena),
		cmocka_unit_test_teardown(a_surrogate_without_its_other_half_is_replaced_alone,
					  free_arena),
		cmocka_unit_test_teardown(a_zero_inside_a_text_is_replaced, free_arena),
		cmocka_unit_test_teardown(long_texts_of_escapes_fit_their_memory, free_arena),
		cmocka_unit_test_teardown(nesting_of_64_is_read_and_65_is_refused, free_arena),
		cmocka_unit_test_teardown(depth_counts_what_is_open_not_what_there_was, free_arena),
		cmocka_unit_test_teardown(errors_name_the_line_and_the_reason, free_arena),
		cmocka_unit_test_teardown(broken_texts_are_refused, free_arena),
		cmocka_unit_test_teardown(broken_numbers_are_refused, free_arena),
		cmocka_unit_test_teardown(every_beginning_of_a_document_is_refused, free_arena),
		cmocka_unit_test_teardown(members_are_found_and_the_first_of_equal_keys_counts,
					  free_arena),
		cmocka_unit_test_teardown(what_is_absent_or_of_another_type_is_nothing, free_arena),
		cmocka_unit_test_teardown(only_whole_numbers_that_fit_are_integers, free_arena),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
