/* SPDX-License-Identifier: Apache-2.0 */
/* table_test.c - one table as text, Markdown and HTML. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/kit/table.h"

static void assert_prints(struct table *table, const char *want)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	assert_non_null(out);
	table_print(table, out);
	fclose(out);
	assert_string_equal(text, want);
	free(text);
}

static void fill(struct table *table)
{
	table_row(table, (const char *[]){"kernel", "time", ""});
	table_row(table, (const char *[]){"a<b>|c", "12 µs", "once"});
	table_cell(table, "%s", "gemm");
	table_time(table, 0);
	table_cell(table, "%s", "");
}

static void text_lines_up_and_ends_without_spaces(void **state)
{
	struct table table = {.columns = 3, .heads = 1, .align = "lrl", .indent = "> "};
	fill(&table);
	assert_prints(&table, "> kernel   time\n"
			      "> a<b>|c  12 µs  once\n"
			      "> gemm        –\n");
}

static void wide_characters_take_two_columns(void **state)
{
	struct table table = {.columns = 2};
	table_row(&table, (const char *[]){"内核", "1"});
	table_row(&table, (const char *[]){"core", "2"});
	assert_prints(&table, "内核  1\n"
			      "core  2\n");
}

static void control_characters_reach_no_terminal(void **state)
{
	struct table table = {.columns = 1};
	table_cell(&table, "%s", "a\033[2Jb");
	assert_prints(&table, "a?[2Jb\n");
}

static void a_narrow_terminal_cuts_the_last_text_first(void **state)
{
	struct table table = {
		.columns = 2, .heads = 1, .align = "ll", .is_ruled = true, .width = 38};
	table_row(&table, (const char *[]){"first", "second"});
	table_row(&table, (const char *[]){"aaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbb"});
	assert_prints(&table, "first                 second\n"
			      "──────────────────────────────────────\n"
			      "aaaaaaaaaaaaaaaaaaaa  bbbbbbbbbbbbbbb…\n");
}

static void columns_without_text_can_be_left_out(void **state)
{
	struct table table = {.columns = 3, .heads = 1, .hides_empty = true};
	table_row(&table, (const char *[]){"name", "unused", "count"});
	table_row(&table, (const char *[]){"gemm", "", "3"});
	assert_prints(&table, "name  count\n"
			      "gemm      3\n");
}

static void markdown_escapes_what_would_be_markup(void **state)
{
	struct table table = {.format = TABLE_MARKDOWN, .columns = 3, .heads = 1, .align = "lrl"};
	fill(&table);
	assert_prints(&table, "\n"
			      "| kernel | time |  |\n"
			      "|---|---:|---|\n"
			      "| a\\<b\\>\\|c | 12 µs | once |\n"
			      "| gemm | – |  |\n");
}

static void cells_that_are_markdown_stay_as_they_are(void **state)
{
	struct table table = {.format = TABLE_MARKDOWN,
			      .columns = 2,
			      .heads = 1,
			      .is_markup = true,
			      .right_rule = "--:"};
	table_row(&table, (const char *[]){"where", NULL});
	table_row(&table, (const char *[]){"`train.py:3`", "1"});
	assert_prints(&table, "\n"
			      "| where | |\n"
			      "|---|--:|\n"
			      "| `train.py:3` | 1 |\n");
}

static void html_marks_numbers_and_escapes_text(void **state)
{
	struct table table = {.format = TABLE_HTML, .columns = 3, .heads = 1, .align = "lrl"};
	fill(&table);
	assert_prints(&table,
		      "<article><table><tr><th>kernel</th><th class=\"n\">time</th><th></th></tr>\n"
		      "<tr><td>a&lt;b&gt;|c</td><td class=\"n\">12 µs</td><td>once</td></tr>\n"
		      "<tr><td>gemm</td><td class=\"n\">–</td><td></td></tr>\n"
		      "</table></article>\n");
}

static void a_printed_table_can_be_filled_again(void **state)
{
	struct table table = {.columns = 1};
	table_count(&table, 9096);
	assert_prints(&table, "9,096\n");
	table_cut_text(&table, "abcdef", 4);
	assert_prints(&table, "abc…\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_lines_up_and_ends_without_spaces),
		cmocka_unit_test(wide_characters_take_two_columns),
		cmocka_unit_test(control_characters_reach_no_terminal),
		cmocka_unit_test(a_narrow_terminal_cuts_the_last_text_first),
		cmocka_unit_test(columns_without_text_can_be_left_out),
		cmocka_unit_test(markdown_escapes_what_would_be_markup),
		cmocka_unit_test(cells_that_are_markdown_stay_as_they_are),
		cmocka_unit_test(html_marks_numbers_and_escapes_text),
		cmocka_unit_test(a_printed_table_can_be_filled_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
