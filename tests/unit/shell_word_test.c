/* SPDX-License-Identifier: Apache-2.0 */
/* shell_word_test.c - base/shell_word.h: what is offered can be copied into a shell. */
#include "base/shell_word.h"

#include <string.h>

#include "make_trace.h"

static void check(const char *text, const char *expected)
{
	assert_string_equal(hwy_shell_word(text).text, expected);
}

static void words_that_a_shell_takes_as_they_are_stay(void **state)
{
	check("runs/a-1_b.hwy", "runs/a-1_b.hwy");
	check("/tmp/内核.hwy", "/tmp/内核.hwy");
}

static void what_a_shell_would_read_is_quoted(void **state)
{
	check("my file.hwy", "'my file.hwy'");
	check("it's.hwy", "'it'\\''s.hwy'");
	check("$HOME/a*.hwy", "'$HOME/a*.hwy'");
	check("~/a.hwy", "'~/a.hwy'");
	check("", "''");
}

static void what_does_not_fit_is_no_half_word(void **state)
{
	char text[6000];
	memset(text, '\'', sizeof text);
	text[sizeof text - 1] = '\0';
	assert_int_equal(strlen(hwy_shell_word(text).text), sizeof(struct hwy_shell_word) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_that_a_shell_takes_as_they_are_stay),
		cmocka_unit_test(what_a_shell_would_read_is_quoted),
		cmocka_unit_test(what_does_not_fit_is_no_half_word),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
