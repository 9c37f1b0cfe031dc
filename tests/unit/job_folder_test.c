/* SPDX-License-Identifier: Apache-2.0 */
/* job_folder_test.c - the folder of a job: who makes it, what ranks leave in it, and how it is read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "job/folder.h"

static char place[64], path[128];

static int make_place(void **state)
{
	(void)state;
	strcpy(place, "/tmp/hwy_folder_XXXXXX");
	assert_non_null(mkdtemp(place));
	snprintf(path, sizeof path, "%s/job1", place);
	return 0;
}

static int remove_place(void **state)
{
	(void)state;
	char command[128];
	snprintf(command, sizeof command, "rm -rf %s", place);
	return system(command);
}

static struct job_folder a_job(const char *id)
{
	struct job_folder job = job_folder_none();
	job.path = path;
	job.id = id;
	job.launcher = "mpirun";
	job.world = 2;
	return job;
}

static void make_job(const char *id)
{
	struct hwy_err err;
	bool is_taken;
	struct job_folder job = a_job(id);
	assert_true(job_folder_make(&job, &is_taken, &err));
}

static void put_rank(int64_t number, enum job_state how)
{
	struct hwy_err err;
	struct hwy_arena arena = {0};
	struct job_note rank = job_note_none();
	rank.rank = number;
	rank.host = "n1";
	rank.pid = 100 + number;
	rank.state = how;
	rank.report = job_note_report(&arena, &rank);
	assert_true(job_folder_put_note(path, &rank, &err));
	hwy_arena_free(&arena);
}

static void touch(const char *name)
{
	char file[256];
	snprintf(file, sizeof file, "%s/%s", path, name);
	FILE *out = fopen(file, "w");
	assert_non_null(out);
	fclose(out);
}

static bool has(const char *name)
{
	char file[256];
	snprintf(file, sizeof file, "%s/%s", path, name);
	return access(file, F_OK) == 0;
}

static void what_was_written_is_read(void **state)
{
	(void)state;
	struct job_folder read;
	struct hwy_err err;
	make_job("slurm-12.0");
	put_rank(1, JOB_RUNNING);
	put_rank(0, JOB_RECORDED);
	assert_true(job_folder_is(path));
	assert_true(job_folder_read(path, &read, &err));
	assert_string_equal(read.id, "slurm-12.0");
	assert_int_equal(read.world, 2);
	assert_true(read.ended == HWY_NONE && read.pid == HWY_NONE);
	assert_int_equal(read.n_ranks, 2);
	assert_int_equal(read.ranks[0].rank, 0);
	assert_int_equal(read.ranks[0].state, JOB_RECORDED);
	assert_string_equal(read.ranks[1].report, "rank1.hwy");
	assert_string_equal(read.ranks[1].host, "n1");
	assert_int_equal(read.ranks[1].pid, 101);
	job_folder_free(&read);
}

static void folding_keeps_every_rank_and_removes_the_notes(void **state)
{
	(void)state;
	struct job_folder read;
	struct hwy_err err;
	make_job("a");
	put_rank(10, JOB_RECORDED);
	put_rank(9, JOB_LOST);
	touch(".rank9.hwy.tmp.55");
	touch(".rank10.run.n1.77.tmp");
	assert_true(has(".rank9.run"));
	assert_true(job_folder_read(path, &read, &err));
	read.is_over = true;
	assert_true(job_folder_fold(&read, &err));
	job_folder_free(&read);
	assert_false(has(".rank9.run") || has(".rank9.hwy.tmp.55") || has(".rank10.run.n1.77.tmp"));
	assert_true(job_folder_read(path, &read, &err));
	assert_true(read.is_over);
	assert_int_equal(read.n_ranks, 2);
	assert_int_equal(read.ranks[0].rank, 9);
	assert_int_equal(read.ranks[0].state, JOB_LOST);
	job_folder_free(&read);
	/* a note is newer than job.json */
	put_rank(9, JOB_RECOVERED);
	assert_true(job_folder_read(path, &read, &err));
	assert_int_equal(read.n_ranks, 2);
	assert_int_equal(read.ranks[0].state, JOB_RECOVERED);
	job_folder_free(&read);
}

static void of_many_who_make_one_folder_one_succeeds(void **state)
{
	(void)state;
	enum { MAKERS = 16 };
	pid_t makers[MAKERS];
	int made = 0, taken = 0;
	for (int i = 0; i < MAKERS; i++) {
		makers[i] = fork();
		if (makers[i] == 0) {
			struct hwy_err err;
			bool is_taken;
			struct job_folder job = a_job("x");
			_exit(job_folder_make(&job, &is_taken, &err) ? 0 : is_taken ? 1 : 2);
		}
	}
	for (int i = 0; i < MAKERS; i++) {
		int status;
		waitpid(makers[i], &status, 0);
		made += WEXITSTATUS(status) == 0;
		taken += WEXITSTATUS(status) == 1;
	}
	assert_int_equal(made, 1);
	assert_int_equal(taken, MAKERS - 1);
}

static void a_folder_with_something_else_in_it_is_kept(void **state)
{
	(void)state;
	struct hwy_err err;
	bool is_taken;
	struct job_folder job = a_job("x");
	assert_int_equal(mkdir(path, 0700), 0);
	touch("thesis.tex");
	assert_false(job_folder_make(&job, &is_taken, &err));
	assert_true(is_taken);
	assert_false(job_folder_clear(path, &err));
	assert_non_null(strstr(err.text, "no job was recorded into it"));
	assert_true(has("thesis.tex"));
}

static void clearing_takes_what_a_job_left_and_nothing_else(void **state)
{
	(void)state;
	struct hwy_err err;
	make_job("old");
	put_rank(0, JOB_RECORDED);
	touch("rank0.hwy");
	touch("rank17.hwy");
	touch("notes.txt");
	touch("rank_mine.hwy");
	assert_true(job_folder_clear(path, &err));
	assert_false(has("rank0.hwy") || has("rank17.hwy") || has(".rank0.run") || has(JOB_FILE));
	assert_true(has("notes.txt") && has("rank_mine.hwy"));
}

static void a_job_that_is_being_recorded_is_not_cleared(void **state)
{
	(void)state;
	struct hwy_err err;
	bool is_taken;
	char host[256] = "";
	gethostname(host, sizeof host - 1);
	struct job_folder job = a_job("x");
	job.host = host;
	job.pid = getppid();
	assert_true(job_folder_make(&job, &is_taken, &err));
	assert_false(job_folder_clear(path, &err));
	assert_non_null(strstr(err.text, "still being recorded"));
	assert_true(job_folder_is(path));
}

static void a_rank_without_a_number_is_named_by_host_and_pid(void **state)
{
	(void)state;
	struct hwy_arena arena = {0};
	struct hwy_err err;
	struct job_folder read;
	struct job_note rank = job_note_none();
	rank.host = "n/1";
	rank.pid = 5;
	assert_string_equal(job_note_report(&arena, &rank), "n_1-5.hwy");
	hwy_arena_free(&arena);
	make_job("x");
	assert_true(job_folder_put_note(path, &rank, &err));
	rank.pid = 6;
	assert_true(job_folder_put_note(path, &rank, &err));
	assert_true(job_folder_read(path, &read, &err));
	assert_int_equal(read.n_ranks, 2);
	assert_true(read.ranks[0].rank == HWY_NONE);
	assert_int_equal(read.ranks[1].pid, 6);
	job_folder_free(&read);
}

static void other_files_are_refused(void **state)
{
	(void)state;
	struct job_folder read;
	struct hwy_err err;
	assert_false(job_folder_read(path, &read, &err));
	assert_int_equal(mkdir(path, 0700), 0);
	touch(JOB_FILE);
	assert_false(job_folder_is(path));
	assert_false(job_folder_read(path, &read, &err));
	assert_non_null(strstr(err.text, JOB_FILE));
}

static void a_pipe_in_the_place_of_a_file_holds_nobody_up(void **state)
{
	(void)state;
	char file[160];
	struct job_folder read;
	struct hwy_err err;
	make_job("one");
	put_rank(0, JOB_RECORDED);
	snprintf(file, sizeof file, "%s/.rank1.run", path);
	assert_int_equal(mkfifo(file, 0600), 0);
	assert_true(job_folder_read(path, &read, &err));
	assert_int_equal(read.n_ranks, 1);
	job_folder_free(&read);
	snprintf(file, sizeof file, "%s/" JOB_FILE, path);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(mkfifo(file, 0600), 0);
	assert_false(job_folder_read(path, &read, &err));
	assert_non_null(strstr(err.text, "is not a file of a job"));
	assert_false(job_folder_is(path));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_place, remove_place)
	const struct CMUnitTest tests[] = {
		TEST(a_pipe_in_the_place_of_a_file_holds_nobody_up),
		TEST(what_was_written_is_read),
		TEST(folding_keeps_every_rank_and_removes_the_notes),
		TEST(of_many_who_make_one_folder_one_succeeds),
		TEST(a_folder_with_something_else_in_it_is_kept),
		TEST(clearing_takes_what_a_job_left_and_nothing_else),
		TEST(a_job_that_is_being_recorded_is_not_cleared),
		TEST(a_rank_without_a_number_is_named_by_host_and_pid),
		TEST(other_files_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
