/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_test.c - lines, names, keys and answers of the server for assistants, without a process. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory_text.h"
#include "mcp/mcp_answer.h"
#include "mcp/mcp_child.h"
#include "mcp/mcp_clean.h"
#include "mcp/mcp_folders.h"
#include "mcp/mcp_keys.h"
#include "mcp/mcp_session.h"
#include "mcp/mcp_tree.h"

/* ---- lines ------------------------------------------------------------------------------------- */

static void lines_are_the_same_in_whatever_pieces_they_arrive(void **state)
{
	static const char stream[] = "one\n\ntwo\nlast";
	for (size_t piece = 1; piece < sizeof stream; piece++) {
		struct mcp_lines lines = {0};
		char seen[64] = "";
		const char *line;
		size_t n;
		for (size_t at = 0; at < sizeof stream - 1; at += piece) {
			size_t left = sizeof stream - 1 - at;
			mcp_lines_add(&lines, stream + at, left < piece ? left : piece);
			while (mcp_lines_next(&lines, &line, &n) == MCP_LINE)
				strncat(strncat(seen, line, n), "|", 2);
		}
		assert_int_equal(mcp_lines_last(&lines, &line, &n), MCP_LINE);
		strncat(seen, line, n);
		assert_string_equal(seen, "one||two|last");
		assert_int_equal(mcp_lines_last(&lines, &line, &n), MCP_NO_LINE);
		mcp_lines_free(&lines);
	}
}

static void a_line_that_is_too_long_is_told_once_and_not_kept(void **state)
{
	struct mcp_lines lines = {0};
	char *much = hwy_alloc(MCP_LONGEST_LINE);
	const char *line;
	size_t n, n_told = 0;
	memset(much, 'x', MCP_LONGEST_LINE);
	for (int i = 0; i < 5; i++) {
		mcp_lines_add(&lines, much, MCP_LONGEST_LINE);
		n_told += mcp_lines_next(&lines, &line, &n) == MCP_LINE_TOO_LONG;
		assert_true(lines.bytes.n <= 2 * MCP_LONGEST_LINE);
	}
	assert_int_equal(n_told, 1);
	mcp_lines_add(&lines, "end\nnext\n", 9);
	assert_int_equal(mcp_lines_next(&lines, &line, &n), MCP_LINE);
	assert_memory_equal(line, "next", 4);
	free(much);
	mcp_lines_free(&lines);
}

/* ---- names ------------------------------------------------------------------------------------- */

static void check_clean(const char *text, const char *expected)
{
	struct hwy_arena arena = {0};
	assert_string_equal(mcp_clean(&arena, text, MCP_LONGEST_NAME, ""), expected);
	hwy_arena_free(&arena);
}

static void what_hides_in_a_name_is_shown_and_the_rest_stays(void **state)
{
	check_clean("void gemm<float, 4>(int*)", "void gemm<float, 4>(int*)");
	check_clean("内核 ünï", "内核 ünï");
	check_clean("a\nb\x1b[2J", "a\xef\xbf\xbd"
				   "b\xef\xbf\xbd[2J");
	check_clean("\xe2\x80\xae"
		    "x\xe2\x80\x8by",
		    "\xef\xbf\xbdx\xef\xbf\xbdy");       /* right to left, zero width */
	check_clean("\xf3\xa0\x81\x81", "\xef\xbf\xbd"); /* a tag */
	check_clean("\xf0\x9d\x85\xb3\xf0\x9b\xb2\xa0",
		    "\xef\xbf\xbd\xef\xbf\xbd"); /* of music, of shorthand */
	check_clean("```sh ~~~~ `x` ~~", "'''sh '''' `x` ~~");
	check_clean("bad \xff", "bad \xef\xbf\xbd");
}

static void a_long_name_keeps_its_beginning_and_its_end(void **state)
{
	struct hwy_arena arena = {0};
	char name[5001];
	for (size_t i = 0; i < 5000; i += 2)
		memcpy(name + i, "é", 2);
	name[5000] = '\0';
	const char *clean = mcp_clean(&arena, name, MCP_LONGEST_NAME, "");
	assert_true(strlen(clean) < 300);
	assert_non_null(strstr(clean, "bytes left out"));
	assert_null(strstr(clean, "\xef\xbf\xbd")); /* no character was split */
	hwy_arena_free(&arena);
}

/* ---- paths ------------------------------------------------------------------------------------- */

static void a_path_below_the_root_of_the_file_system_keeps_its_first_letter(void **state)
{
	struct hwy_arena arena = {0};
	struct mcp_folders folders = {0};
	struct hwy_err err;
	assert_true(mcp_folders_add(&folders, "/", &err));
	assert_string_equal(mcp_folders_name(&folders, "/runs/a.hwy", &arena), "runs/a.hwy");
	assert_string_equal(mcp_folders_name(&folders, "/-a.hwy", &arena), "./-a.hwy");
	assert_string_equal(mcp_folders_new_report(&folders, "no such report", &arena, &err),
			    "no such report.hwy");
	mcp_folders_free(&folders);
	hwy_arena_free(&arena);
}

/* ---- keys -------------------------------------------------------------------------------------- */

static void keys_that_are_not_asked_for_are_left_out_at_every_level(void **state)
{
	static const char text[] =
		"{\"a\":1,\"list\":[{\"id\":1,\"x\":2,\"in\":{\"p\":1,\"q\":2}},3],\"b\":{\"c\":1}}";
	struct hwy_arena arena = {0};
	struct hwy_err err;
	struct json_value *value = json_read(&arena, text, strlen(text), &err);
	mcp_keys_pick(value, "list{id in{q}} b");
	assert_int_equal(value->n, 2);
	const struct json_value *first = json_get(value, "list")->first;
	assert_int_equal(first->n, 2);
	assert_int_equal(json_get(first, "in")->n, 1);
	assert_int_equal(json_get_int(json_get(first, "in"), "q"), 2);
	assert_int_equal(json_get_int(json_get(value, "b"), "c"), 1);
	hwy_arena_free(&arena);
}

/* ---- values that are made ------------------------------------------------------------------------ */

static void members_are_added_behind_those_that_were_read_and_kept(void **state)
{
	static const char text[] = "{\"a\":1,\"list\":[1,2],\"b\":2}";
	struct hwy_arena arena = {0};
	struct hwy_err err;
	struct json_value *value = json_read(&arena, text, strlen(text), &err);
	mcp_keys_pick(value, "list");
	mcp_tree_put_int(&arena, value, "more", 3);
	assert_int_equal(value->n, 2);
	assert_string_equal(value->first->next->key, "more");
	mcp_keys_pick(value, "nothing");
	mcp_tree_put_int(&arena, value, "again", 4);
	assert_string_equal(value->first->key, "again");
	assert_ptr_equal(value->first, value->last);
	hwy_arena_free(&arena);
}

/* With a walk along the list for each element this would take an hour. */
static void a_list_of_many_elements_is_made_at_once(void **state)
{
	struct hwy_arena arena = {0};
	struct json_value *list = mcp_tree_new(&arena, JSON_ARRAY);
	for (int i = 0; i < 1000000; i++)
		mcp_tree_put(&arena, list, NULL, JSON_NULL);
	mcp_tree_put_int(&arena, list, NULL, 7);
	assert_int_equal(list->n, 1000001);
	assert_int_equal(json_as_int(list->last, 0), 7);
	hwy_arena_free(&arena);
}

/* ---- answers ----------------------------------------------------------------------------------- */

static char *sent;

static void keep_sent(void *self, const char *line, size_t n)
{
	(void)self;
	free(sent);
	sent = strndup(line, n);
}

/* Yields what the session answers to a call of a tool whose command printed 'out'. */
static const char *answer_of(const char *tool, const char *out)
{
	static struct mcp_config config;
	struct hwy_err err;
	char line[256];
	if (config.roots.n == 0)
		assert_true(mcp_folders_add(&config.roots, "/", &err));
	struct mcp_session session = {
		.config = &config, .send = keep_sent, .version = "2025-11-25"};
	int n = snprintf(
		line, sizeof line,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
		"\"arguments\":{\"recording\":\"/proc/self/status\"}}}",
		tool);
	mcp_session_line(&session, line, (size_t)n);
	assert_int_equal(session.n_calls, 1);
	hwy_bytes_put(&session.calls->call.outcome.out, out, strlen(out));
	mcp_session_answer(&session, session.calls);
	assert_int_equal(session.n_calls, 0);
	return sent;
}

/* /dev/zero never has nothing to read, as a process that prints faster than the server reads. */
static void what_is_printed_without_end_is_read_bit_by_bit_and_ended(void **state)
{
	struct hwy_err err;
	struct mcp_config config = {0};
	struct mcp_child child = {.pid = 0x3fffffff, /* no process has this number */
				  .out = open("/dev/zero", O_RDONLY | O_CLOEXEC),
				  .err = open("/dev/zero", O_RDONLY | O_CLOEXEC)};
	assert_true(mcp_folders_add(&config.roots, "/", &err));
	struct mcp_call call = {.config = &config, .tool = mcp_tool_find("info")};
	mcp_child_read(&child, &call);
	assert_int_equal(call.outcome.out.n, 1 << 20);
	assert_false(child.is_ending);
	for (int i = 0; i < 40; i++)
		mcp_child_read(&child, &call);
	assert_true(child.is_ending);
	assert_non_null(strstr(call.outcome.stopped, "the answer is too large"));
	assert_true(call.outcome.out.n <= 32 << 20 && call.outcome.err.n <= 1 << 20);
	close(child.out);
	close(child.err);
	hwy_bytes_free(&call.outcome.out);
	hwy_bytes_free(&call.outcome.err);
	hwy_arena_free(&call.arena);
	mcp_folders_free(&config.roots);
}

static char *list_text(const char *key, int n)
{
	struct memory_text memory;
	FILE *out = memory_text_begin(&memory);
	fprintf(out, "{\"%s\":[", key);
	for (int i = 0; i < n; i++)
		fprintf(out, "%s{\"number\":%d,\"name\":\"a kernel of some length\"}", i ? "," : "",
			i);
	fputs("]}", out);
	return memory_text_end(&memory);
}

static void lists_that_are_too_long_lose_their_ends_and_it_is_said(void **state)
{
	char *text = list_text("devices", 5000);
	const char *answer = answer_of("info", text);
	assert_true(strlen(answer) < 2 * MCP_LARGEST_ANSWER);
	assert_non_null(strstr(answer, "lists have their first 200 elements only (1 had more)"));
	assert_non_null(strstr(answer, "\\\"number\\\":199,"));
	assert_null(strstr(answer, "\\\"number\\\":200,"));
	free(text);
}

static void a_list_in_pages_ends_with_a_cursor(void **state)
{
	char *text = list_text("kernels", 5000);
	const char *answer = answer_of("kernels", text);
	assert_true(strlen(answer) < 2 * MCP_LARGEST_ANSWER);
	assert_non_null(strstr(answer, "The list has 5000 elements"));
	assert_non_null(strstr(answer, "\\\"cursor\\\": \\\""));
	assert_null(strstr(answer, "had more"));
	free(text);
}

static void an_answer_that_is_no_json_is_an_error(void **state)
{
	assert_non_null(strstr(answer_of("info", "{\"a\":"), "\"isError\":true"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_the_same_in_whatever_pieces_they_arrive),
		cmocka_unit_test(a_line_that_is_too_long_is_told_once_and_not_kept),
		cmocka_unit_test(what_hides_in_a_name_is_shown_and_the_rest_stays),
		cmocka_unit_test(a_long_name_keeps_its_beginning_and_its_end),
		cmocka_unit_test(a_path_below_the_root_of_the_file_system_keeps_its_first_letter),
		cmocka_unit_test(keys_that_are_not_asked_for_are_left_out_at_every_level),
		cmocka_unit_test(members_are_added_behind_those_that_were_read_and_kept),
		cmocka_unit_test(a_list_of_many_elements_is_made_at_once),
		cmocka_unit_test(what_is_printed_without_end_is_read_bit_by_bit_and_ended),
		cmocka_unit_test(lists_that_are_too_long_lose_their_ends_and_it_is_said),
		cmocka_unit_test(a_list_in_pages_ends_with_a_cursor),
		cmocka_unit_test(an_answer_that_is_no_json_is_an_error),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(sent);
	return failed;
}
