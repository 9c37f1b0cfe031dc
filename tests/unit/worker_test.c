/* SPDX-License-Identifier: Apache-2.0 */
/* worker_test.c - the viewer's second process: how it starts, how much it answers, and what becomes of a question whose asker
 * has gone. */
#include "make_trace.h"

#include <dirent.h>
#include <sys/socket.h>

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
static char *ask_sql(int input, const char *query, size_t *length)
{
	struct hwy_trace *trace = kernels(3000);
	const struct hwy_analysis analysis = {.trace = trace};
	struct memory_text memory;
	memory_text_begin(&memory);
	worker_sql(memory.out, input, &analysis, query);
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
	char *answer = ask_sql(-1, query, &length);
	/* 10000 rows of 151 numbers would be 25 MB. */
	assert_in_range(length, 8 << 20, (8 << 20) + 8192);
	assert_non_null(strstr(answer + length - 20, "\"cut\":true}"));
	free(answer);
}

static void letters_that_json_writes_as_six_count_six_times(void **state)
{
	size_t length;
	char *answer = ask_sql(-1, "select replace(printf('%02000d', 0), '0', char(1)) from kernel",
			       &length);
	assert_in_range(length, 8 << 20, (8 << 20) + 6 * 4096 + 64);
	assert_non_null(strstr(answer + length - 20, "\"cut\":true}"));
	free(answer);
}

static void a_query_ends_when_its_asker_has_gone(void **state)
{
	int ends[2];
	size_t length;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], WORKER_CANCEL, strlen(WORKER_CANCEL)), 7);
	char *answer =
		ask_sql(ends[0], "select sum(a.id * b.id + c.id) from kernel a, kernel b, kernel c",
			&length);
	assert_string_equal(answer, "{\"error\":\"nobody waits for the answer\"}");
	free(answer);
	close(ends[0]);
	close(ends[1]);
}

static void a_line_that_cancels_gets_no_answer_of_its_own(void **state)
{
	char lines[] = "sql select 1\n" WORKER_CANCEL "sql select 2\n";
	struct hwy_trace *trace = kernels(1);
	struct hwy_analysis analysis = {.trace = trace};
	struct memory_text memory;
	int ends[2], frames = 0;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], lines, strlen(lines)), strlen(lines));
	close(ends[1]);
	FILE *in = fdopen(ends[0], "r");
	memory_text_begin(&memory);
	worker_whatif_answer_lines(in, memory.out, &analysis, NULL);
	memory_text_end(&memory);
	fclose(in);
	for (size_t at = 0; at < memory.length; frames++)
		at += 12 + hwy_little_read((uint8_t *)memory.text + at + 4, 8);
	assert_int_equal(frames, 2);
	free(memory.text);
	hwy_trace_free(trace);
}

/* ---- the viewer's side --------------------------------------------------------------------------------- */

static bool has_gone(const void *from)
{
	(void)from;
	return true;
}

/* A worker that reads from ends[0], and has its diagnosis. */
static struct worker asked_through(int ends[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	struct worker worker = {.state = WORKER_DONE, .to = ends[1]};
	pthread_mutex_init(&worker.lock, NULL);
	pthread_cond_init(&worker.changed, NULL);
	return worker;
}

static void an_asker_that_goes_cancels_its_question(void **state)
{
	int ends[2];
	char sent[64] = "";
	struct hwy_bytes answer = {0};
	struct worker worker = asked_through(ends);
	assert_false(worker_ask(&worker, "sql select 1\n", has_gone, NULL, &answer));
	assert_int_equal(answer.n, 0);
	assert_true(recv(ends[0], sent, sizeof sent - 1, MSG_DONTWAIT) > 0);
	assert_string_equal(sent, "sql select 1\n" WORKER_CANCEL);
	close(ends[0]);
	close(ends[1]);
}

/* Its reader has not seen yet that it ended, so its state is still WORKER_DONE. */
static void a_question_to_a_process_that_has_just_ended_fails(void **state)
{
	int ends[2];
	struct hwy_bytes answer = {0};
	struct worker worker = asked_through(ends);
	close(ends[0]);
	assert_false(worker_ask(&worker, "sql select 1\n", NULL, NULL, &answer));
	close(ends[1]);
}

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
		cmocka_unit_test(a_query_ends_when_its_asker_has_gone),
		cmocka_unit_test(a_line_that_cancels_gets_no_answer_of_its_own),
		cmocka_unit_test(an_asker_that_goes_cancels_its_question),
		cmocka_unit_test(a_question_to_a_process_that_has_just_ended_fails),
		cmocka_unit_test(a_process_that_does_not_start_leaves_nothing_behind),
	};
	return cmocka_run_group_tests(all, NULL, NULL);
}
