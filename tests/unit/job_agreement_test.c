/* SPDX-License-Identifier: Apache-2.0 */
/* job_agreement_test.c - ranks agree whether all of them are recorded: all get the same answer, and none waits for ever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "job/agreement.h"

enum { RANKS = 8 };
static const int64_t LONG_NS = 60LL * 1000 * 1000 * 1000, SHORT_NS = 100LL * 1000 * 1000;
static char folder[64];

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/hwy_agree_XXXXXX");
	assert_non_null(mkdtemp(folder));
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	char command[128];
	snprintf(command, sizeof command, "rm -rf %s", folder);
	return system(command);
}

static void put_note(int rank)
{
	char path[128];
	snprintf(path, sizeof path, "%s/.rank%d.run", folder, rank);
	FILE *out = fopen(path, "w");
	assert_non_null(out);
	fclose(out);
}

/* Starts ranks as processes; yields how many of them were told that every rank is recorded. 'absent' leaves no note,
 * 'unfit' says that it cannot be recorded; -1: nobody. */
static int yes_of_ranks(int absent, int unfit, int64_t patience)
{
	int yes = 0;
	pid_t pids[RANKS];
	for (int rank = 0; rank < RANKS; rank++) {
		pids[rank] = fork();
		if (pids[rank] != 0)
			continue;
		if (rank == absent)
			_exit(0);
		put_note(rank);
		if (rank == unfit) {
			job_disagree(folder);
			_exit(0);
		}
		_exit(job_agree(folder, rank, RANKS, patience));
	}
	for (int rank = 0; rank < RANKS; rank++) {
		int status;
		waitpid(pids[rank], &status, 0);
		yes += WEXITSTATUS(status);
	}
	return yes;
}

static void all_ranks_that_are_there_agree(void **state)
{
	(void)state;
	assert_int_equal(yes_of_ranks(-1, -1, LONG_NS), RANKS);
}

static void a_rank_that_never_comes_is_not_waited_for(void **state)
{
	(void)state;
	assert_int_equal(yes_of_ranks(RANKS - 1, -1, SHORT_NS), 0);
}

static void without_the_first_rank_the_others_do_not_wait_for_ever(void **state)
{
	(void)state;
	assert_int_equal(yes_of_ranks(0, -1, SHORT_NS), 0);
}

static void one_rank_that_cannot_be_recorded_decides_for_all(void **state)
{
	(void)state;
	/* Its note is there before it says no: the first rank may have decided by then. All hear the same. */
	int yes = yes_of_ranks(-1, 3, LONG_NS);
	assert_true(yes == 0 || yes == RANKS - 1);
}

static void an_answer_stands_until_it_is_forgotten(void **state)
{
	(void)state;
	put_note(0);
	assert_true(job_agree(folder, 0, 1, LONG_NS));
	job_disagree(folder);
	assert_true(job_agree(folder, 0, 1, LONG_NS));
	job_agreement_forget(folder);
	job_disagree(folder);
	assert_false(job_agree(folder, 0, 1, LONG_NS));
}

static void a_folder_that_is_not_there_means_no(void **state)
{
	(void)state;
	assert_false(job_agree("/nowhere/at/all", 1, 2, SHORT_NS));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
	const struct CMUnitTest tests[] = {
		TEST(all_ranks_that_are_there_agree),
		TEST(a_rank_that_never_comes_is_not_waited_for),
		TEST(without_the_first_rank_the_others_do_not_wait_for_ever),
		TEST(one_rank_that_cannot_be_recorded_decides_for_all),
		TEST(an_answer_stands_until_it_is_forgotten),
		TEST(a_folder_that_is_not_there_means_no),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
