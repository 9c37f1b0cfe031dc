/* SPDX-License-Identifier: Apache-2.0 */
/* worker_test.c - the viewer's second process: what is left where it does not start. */
#include "make_trace.h"

#include <dirent.h>

#include "serve/worker.h"

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
		cmocka_unit_test(a_process_that_does_not_start_leaves_nothing_behind),
	};
	return cmocka_run_group_tests(all, NULL, NULL);
}
