/* SPDX-License-Identifier: Apache-2.0 */
/* worker_test.c - the viewer's second process: how it starts, and how much it answers. */
#include "make_trace.h"

#include <dirent.h>

#include "analyze/analysis.h"
#include "base/memory_text.h"
#include "serve/worker.h"

/* ---- queries ------------------------------------------------------------------------------------------- */

/* Kernels on a stream: enough that a join of them with themselves never ends. */
static struct hwy_trace *kernels(uint32_t n)
{
	struct small small = small_machine();
	for (uint32_t i = 0; i < n; i++)
		small_span(&small, small.stream, HWY_KERNEL, i * 10, i * 10 + 5, 0, "k");
	return small_finish(&small);
}

/* Yields the answer to a query, to be freed. */
static char *ask_sql(const char *query, size_t *length)
{
	struct hwy_trace *trace = kernels(3000);
	const struct hwy_analysis analysis = {.trace = trace};
	struct memory_text memory;
	memory_text_begin(&memory);
	worker_sql(memory.out, &analysis, query);
	memory_text_end(&memory);
	hwy_trace_free(trace);
	*length = memory.length;
	return memory.text;
}

static void an_answer_of_numbers_is_as_bounded_as_one_of_texts(void **state)
{
	char query[3000] = "select 9007199254740991";
	size_t length;
	for (int i = 0; i < 150; i++)
		strcat(query, ",-900719925474099");
	strcat(query, " from kernel a, kernel b");
	char *answer = ask_sql(query, &length);
	/* 10000 rows of 151 numbers would be 25 MB. */
	assert_in_range(length, 8 << 20, (8 << 20) + 8192);
	assert_non_null(strstr(answer + length - 20, "\"cut\":true}"));
	free(answer);
}

static void letters_that_json_writes_as_six_count_six_times(void **state)
{
	size_t length;
	char *answer =
		ask_sql("select replace(printf('%02000d', 0), '0', char(1)) from kernel", &length);
	assert_in_range(length, 8 << 20, (8 << 20) + 6 * 4096 + 64);
	assert_non_null(strstr(answer + length - 20, "\"cut\":true}"));
	free(answer);
}

/* ---- the viewer's side --------------------------------------------------------------------------------- */

static int open_files(void)
{
	int n = 0;
	DIR *folder = opendir("/proc/self/fd");
	assert_non_null(folder);
	while (readdir(folder))
		n++;
	closedir(folder);
	return n;
}

static void a_process_that_does_not_start_leaves_nothing_behind(void **state)
{
	enum { TOO_LONG = 1 << 20 }; /* Linux starts no program with an argument of so many bytes */
	struct hwy_err err;
	struct worker worker;
	char *word = calloc(TOO_LONG + 1, 1);
	char *argv[] = {"headway", word, NULL};
	memset(word, 'x', TOO_LONG);
	int before = open_files();
	for (int i = 0; i < 3; i++)
		assert_false(worker_start(&worker, argv, &err));
	assert_int_equal(open_files(), before);
	assert_int_equal(worker.state, WORKER_NONE);
	worker_stop(&worker);
	free(word);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(an_answer_of_numbers_is_as_bounded_as_one_of_texts),
		cmocka_unit_test(letters_that_json_writes_as_six_count_six_times),
		cmocka_unit_test(a_process_that_does_not_start_leaves_nothing_behind),
	};
	return cmocka_run_group_tests(all, NULL, NULL);
}
