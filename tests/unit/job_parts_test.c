/* SPDX-License-Identifier: Apache-2.0 */
/* job_parts_test.c - which process of a recording belongs to which rank. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "job/job_parts.h"

enum { MOST = 8 };
static const int64_t none = HWY_NONE;

/* Asserts the owner of each of n processes, which are given by parent and rank. */
static void expect_owners(const int64_t (*processes)[2], uint32_t n, const int64_t *owners)
{
	struct hwy_process made[MOST] = {0};
	struct hwy_trace trace = {.processes = made, .n_processes = n};
	for (uint32_t i = 0; i < n; i++) {
		made[i].parent = processes[i][0];
		made[i].rank = processes[i][1];
		made[i].local_rank = made[i].world = none;
	}
	int64_t *found = job_parts_owners(&trace);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(found[i], owners[i]);
	free(found);
}

static void a_launcher_belongs_to_no_rank(void **state)
{
	(void)state;
	/* the launcher, its helper, two ranks, and a child of the second one */
	expect_owners((const int64_t[][2]){{none, none}, {0, none}, {0, 0}, {0, 1}, {3, none}}, 5,
		      (const int64_t[]){none, none, 0, 1, 1});
}

static void a_launcher_that_is_a_rank_of_another_launcher_is_none_of_its_own_ranks(void **state)
{
	(void)state;
	/* srun gives the launcher rank 3, and the launcher gives ranks 0 and 1 */
	expect_owners((const int64_t[][2]){{none, 3}, {0, 3}, {0, 0}, {0, 1}, {2, 0}}, 5,
		      (const int64_t[]){none, none, 0, 1, 0});
}

static void every_rank_of_a_converted_job_is_kept(void **state)
{
	(void)state;
	expect_owners((const int64_t[][2]){{none, 0}, {none, 1}, {1, 1}, {none, 2}}, 4,
		      (const int64_t[]){0, 1, 1, 2});
}

static void parents_in_a_circle_are_survived(void **state)
{
	(void)state;
	const int64_t processes[][2] = {{1, 0}, {0, 1}, {2, 2}};
	struct hwy_process made[3] = {0};
	struct hwy_trace trace = {.processes = made, .n_processes = 3};
	for (uint32_t i = 0; i < 3; i++) {
		made[i].parent = processes[i][0];
		made[i].rank = processes[i][1];
	}
	free(job_parts_owners(&trace));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_launcher_belongs_to_no_rank),
		cmocka_unit_test(
			a_launcher_that_is_a_rank_of_another_launcher_is_none_of_its_own_ranks),
		cmocka_unit_test(every_rank_of_a_converted_job_is_kept),
		cmocka_unit_test(parents_in_a_circle_are_survived),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
