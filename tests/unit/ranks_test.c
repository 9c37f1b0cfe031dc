/* SPDX-License-Identifier: Apache-2.0 */
/* ranks_test.c - the ranks of a job side by side: parts that add up, ranks that are late again and again, by turns, together with
 * their host, or not at all; and what they do longer. */
#include "job_program.h"

enum { STEPS = 24 };

#define ASSERT_LATENESS(ranks, wanted)                                                             \
	do {                                                                                       \
		if ((ranks)->lateness != (wanted)) {                                               \
			job_print(ranks);                                                          \
			fail_msg("%s, not %s", ranks_lateness_names[(ranks)->lateness],            \
				 ranks_lateness_names[wanted]);                                    \
		}                                                                                  \
	} while (0)
#define ASSERT_CAUSE(ranks, wanted)                                                                \
	do {                                                                                       \
		if (!(ranks)->cause.is_known || (ranks)->cause.part != (enum rank_part)(wanted)) { \
			job_print(ranks);                                                          \
			fail_msg("the cause is not %s", ranks_part_name(wanted));                  \
		}                                                                                  \
	} while (0)

/* What holds of every job: parts add up to steps, and waiting is shared out once. */
static void check_sums(const struct job_ranks *ranks)
{
	for (uint32_t r = 0; r < ranks->n; r++) {
		const struct rank_row *row = &ranks->rows[r];
		int64_t sum = 0, waited = 0;
		for (unsigned p = 0; p < RANK_PARTS; p++) {
			assert_true(row->parts[p] >= 0);
			sum += row->parts[p];
		}
		assert_int_equal(sum, row->step);
		for (uint32_t s = 0; s < ranks->n_steps; s++) {
			size_t at = (size_t)r * ranks->n_steps + s;
			int64_t parts = 0;
			for (unsigned p = 0; p < RANK_PARTS; p++)
				parts += ranks->parts[at * RANK_PARTS + p];
			assert_int_equal(parts, ranks->length[at]);
			assert_true(ranks->late[at] >= 0);
		}
		for (uint32_t other = 0; other < ranks->n; other++)
			waited += ranks->waits[r * ranks->n + other];
		assert_int_equal(waited, row->waited);
		assert_int_equal(ranks->waits[r * ranks->n + r], 0);
	}
}

/* One kernel a step, then the collective. more[] µs of each rank go to work. */
static void even_step(struct job_program *job, int step, const int64_t *more)
{
	job_step(job, step);
	for (uint32_t r = 0; r < job->n; r++)
		program_launch(&job->ranks[r], 0, "k", 1000 + (more ? more[r] : 0));
	job_meet(job, 50);
	for (uint32_t r = 0; r < job->n; r++)
		program_sync(&job->ranks[r], 0);
}

/* ---- sums -------------------------------------------------------------------------------------------- */

static void parts_add_up_to_the_step_whatever_ranks_do(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		uint64_t rolls = seed;
		int64_t skew[JOB_RANKS] = {0};
		for (int r = 1; seed % 2 && r < JOB_RANKS; r++)
			skew[r] = (int64_t)job_dice(&rolls) * 3 % 5000000000 - 2500000000;
		struct job_program job = job_new(2 + (uint32_t)(seed % 5), skew);
		for (int step = 0; step < 12; step++) {
			job_step(&job, step);
			for (int part = 0; part < 3; part++) {
				for (uint32_t r = 0; r < job.n; r++) {
					struct program *p = &job.ranks[r];
					program_compute(p, job_dice(&rolls) % 40);
					for (uint32_t k = job_dice(&rolls) % 4; k > 0; k--)
						program_launch(p, (int)(job_dice(&rolls) % 3), "k",
							       job_dice(&rolls) % 200);
					if (job_dice(&rolls) % 4 == 0)
						program_sync(p, (int)(job_dice(&rolls) % 3));
				}
				job_meet_some(&job, 0, job.n, (int)(job_dice(&rolls) % 2), "",
					      1 + job_dice(&rolls) % 60);
			}
		}
		struct job_ranks *ranks = job_compare(&job);
		check_sums(ranks);
		job_free(&job);
	}
}

static void a_rank_waits_from_its_arrival_to_the_last_ones(void **state)
{
	(void)state;
	struct job_program job = job_new(3, NULL);
	for (int step = 0; step < STEPS; step++)
		even_step(&job, step, (const int64_t[]){0, 300, 100});
	struct job_ranks *ranks = job_compare(&job);
	check_sums(ranks);
	assert_int_equal(ranks->waits[0 * 3 + 1], US(300));
	assert_int_equal(ranks->waits[2 * 3 + 1], US(200));
	assert_int_equal(ranks->rows[1].waited, 0);
	assert_int_equal(ranks->rows[1].blamed, US(250));
	assert_int_equal(ranks->rows[0].parts[RANK_WAIT], US(300));
	assert_int_equal(ranks->rows[0].parts[RANK_TRANSFER], US(50));
	assert_int_equal(ranks->rows[1].parts[RANK_TRANSFER], US(50));
	job_free(&job);
}

/* ---- who is late ------------------------------------------------------------------------------------- */

static void a_rank_that_is_late_in_every_step_is_named(void **state)
{
	(void)state;
	for (uint32_t n = 2; n <= 8; n++) {
		struct job_program job = job_new(n, NULL);
		int64_t more[JOB_RANKS] = {0};
		more[1] = 400;
		for (int step = 0; step < STEPS; step++)
			even_step(&job, step, more);
		struct job_ranks *ranks = job_compare(&job);
		ASSERT_LATENESS(ranks, RANKS_REPEAT);
		assert_int_equal(ranks->n_late_ranks, 1);
		assert_int_equal(ranks->late_ranks[0], 1);
		assert_int_equal(ranks->n_late_steps, ranks->n_steps);
		ASSERT_CAUSE(ranks, RANK_COMPUTE);
		assert_in_range(ranks->cause.more, US(390), US(410));
		job_free(&job);
	}
}

static void ranks_of_one_slow_host_are_late_together(void **state)
{
	(void)state;
	uint64_t rolls = 3;
	struct job_program job = job_new(8, NULL);
	for (int step = 0; step < STEPS; step++) {
		int64_t more[8] = {0};
		for (int r = 4; r < 6; r++) /* either of them is the last now and then */
			more[r] = 400 + job_dice(&rolls) % 50;
		even_step(&job, step, more);
	}
	struct job_ranks *ranks = job_compare(&job);
	ASSERT_LATENESS(ranks, RANKS_REPEAT);
	assert_int_equal(ranks->n_late_ranks, 2);
	assert_int_equal(ranks->late_ranks[0], 4);
	assert_int_equal(ranks->late_ranks[1], 5);
	job_free(&job);
}

static void a_rank_that_is_late_in_every_tenth_step_repeats_too(void **state)
{
	(void)state;
	struct job_program job = job_new(4, NULL);
	for (int step = 0; step < 80; step++)
		even_step(&job, step, (const int64_t[]){step % 10 == 5 ? 4000 : 0, 0, 0, 0});
	struct job_ranks *ranks = job_compare(&job);
	ASSERT_LATENESS(ranks, RANKS_REPEAT);
	assert_int_equal(ranks->late_ranks[0], 0);
	assert_int_equal(ranks->n_late_steps, 8);
	job_free(&job);
}

static void ranks_that_are_late_by_turns_are_not_accused(void **state)
{
	(void)state;
	struct job_program job = job_new(4, NULL);
	for (int step = 0; step < STEPS; step++) {
		int64_t more[4] = {0};
		more[step % 4] = 500;
		even_step(&job, step, more);
	}
	struct job_ranks *ranks = job_compare(&job);
	ASSERT_LATENESS(ranks, RANKS_TAKE_TURNS);
	assert_int_equal(ranks->n_late_ranks, 0);
	ASSERT_CAUSE(ranks, RANK_COMPUTE);
	job_free(&job);
}

/* Work that differs at random from rank to rank: whoever is accused is innocent. */
static void chance_accuses_hardly_anybody(void **state)
{
	(void)state;
	uint32_t accused_jobs = 0, jobs = 0;
	for (uint64_t seed = 1; seed <= 60; seed++, jobs++) {
		uint64_t rolls = seed * 977;
		struct job_program job = job_new(2 + (uint32_t)(seed % 4), NULL);
		for (int step = 0; step < 16; step++) {
			int64_t more[JOB_RANKS];
			for (uint32_t r = 0; r < job.n; r++)
				more[r] = job_dice(&rolls) % 600;
			even_step(&job, step, more);
		}
		struct job_ranks *ranks = job_compare(&job);
		check_sums(ranks);
		accused_jobs += ranks->lateness == RANKS_REPEAT;
		job_free(&job);
	}
	assert_true(accused_jobs * 20 <= jobs); /* 5 % */
}

static void a_rank_with_less_to_do_accuses_nobody(void **state)
{
	(void)state;
	struct job_program job = job_new(4, NULL);
	for (int step = 0; step < STEPS; step++)
		even_step(&job, step, (const int64_t[]){400, 400, 0, 400});
	struct job_ranks *ranks = job_compare(&job);
	ASSERT_LATENESS(ranks, RANKS_EARLY);
	assert_int_equal(ranks->n_late_ranks, 1);
	assert_int_equal(ranks->late_ranks[0], 2);
	job_free(&job);
}

static void two_late_steps_do_not_tell_whether_it_repeats(void **state)
{
	(void)state;
	struct job_program job = job_new(4, NULL);
	for (int step = 0; step < 4; step++)
		even_step(&job, step, (const int64_t[]){0, step < 2 ? 0 : 600, 0, 0});
	struct job_ranks *ranks = job_compare(&job);
	ASSERT_LATENESS(ranks, RANKS_FEW_STEPS);
	assert_int_equal(ranks->n_late_ranks, 0);
	job_free(&job);
}

/* A slow link makes every rank's part longer: nobody waits for anybody. */
static void a_slow_transfer_is_nobodys_lateness(void **state)
{
	(void)state;
	struct job_program job = job_new(4, NULL);
	for (int step = 0; step < STEPS; step++) {
		job_step(&job, step);
		for (uint32_t r = 0; r < 4; r++)
			program_launch(&job.ranks[r], 0, "k", 500);
		job_meet(&job, 2000);
	}
	struct job_ranks *ranks = job_compare(&job);
	check_sums(ranks);
	ASSERT_LATENESS(ranks, RANKS_IN_TIME);
	assert_in_range(ranks->rows[0].parts[RANK_TRANSFER], US(1990), US(2010));
	job_free(&job);
}

static void recordings_that_began_at_different_steps_are_compared_step_by_step(void **state)
{
	(void)state;
	struct job_program job = job_new(2, (const int64_t[]){0, 3700000000});
	uint64_t rolls = 7;
	for (int step = 0; step < 2 * STEPS; step++) {
		int64_t more[2] = {job_dice(&rolls) % 300, 700};
		if (step == 5) { /* what came before was not recorded */
			struct program fresh = program_new();
			fresh.cpu = job.ranks[1].cpu;
			fresh.stream_free[0] = job.ranks[1].stream_free[0];
			hwy_builder_free(job.ranks[1].builder);
			job.ranks[1] = fresh;
		}
		even_step(&job, step, more);
	}
	struct job_ranks *ranks = job_compare(&job);
	check_sums(ranks);
	assert_int_equal((int64_t)ranks->first_step[0] - ranks->first_step[1], 5);
	ASSERT_LATENESS(ranks, RANKS_REPEAT);
	assert_int_equal(ranks->late_ranks[0], 1);
	job_free(&job);
}

/* ---- why ----------------------------------------------------------------------------------------------- */

static void a_rank_whose_disk_is_slow_waits_for_its_input(void **state)
{
	(void)state;
	struct job_program job = job_new(4, NULL);
	for (int step = 0; step < STEPS; step++) {
		job_step(&job, step);
		for (uint32_t r = 0; r < 4; r++) {
			int64_t from = job.ranks[r].cpu;
			program_os(&job.ranks[r], "read", r == 3 ? 900 : 100);
			program_mark(&job.ranks[r], from, "load_batch", 0);
			program_launch(&job.ranks[r], 0, "k", 1000);
		}
		job_meet(&job, 50);
		for (uint32_t r = 0; r < 4; r++)
			program_sync(&job.ranks[r], 0);
	}
	struct job_ranks *ranks = job_compare(&job);
	check_sums(ranks);
	ASSERT_LATENESS(ranks, RANKS_REPEAT);
	assert_int_equal(ranks->late_ranks[0], 3);
	assert_true(ranks->cause.is_known);
	assert_true(ranks->cause.part >= RANK_IDLE);
	assert_in_range(ranks->cause.more, US(780), US(820));
	assert_true(ranks->cause.has_place);
	assert_int_equal(ranks->cause.member, 3);
	assert_string_equal(ranks->cause.doing, "load_batch");
	assert_in_range(ranks->cause.doing_more, US(790), US(810));
	assert_non_null(strstr(ranks->cause.place.range, "load_batch"));
	job_free(&job);
}

/* The same number of kernels with the same grids, which take longer: a slower device, not more work. */
static void a_slow_device_is_told_from_more_work(void **state)
{
	(void)state;
	for (int more_work = 0; more_work < 2; more_work++) {
		struct job_program job = job_new(4, NULL);
		for (int step = 0; step < STEPS; step++) {
			job_step(&job, step);
			for (uint32_t r = 0; r < 4; r++) {
				program_blocks(&job.ranks[r], r == 2 && more_work ? 140 : 100);
				program_launch(&job.ranks[r], 0, "k", r == 2 ? 1400 : 1000);
				program_blocks(&job.ranks[r], 0);
			}
			job_meet(&job, 50);
		}
		struct job_ranks *ranks = job_compare(&job);
		ASSERT_LATENESS(ranks, RANKS_REPEAT);
		ASSERT_CAUSE(ranks, RANK_COMPUTE);
		assert_true(ranks->cause.kernel_count > 0.99 && ranks->cause.kernel_count < 1.01);
		assert_true(ranks->cause.kernel_time > 1.39 && ranks->cause.kernel_time < 1.41);
		assert_true(more_work == (ranks->cause.threads > 1.3));
		assert_string_equal(ranks->cause.kernel, "k");
		job_free(&job);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_add_up_to_the_step_whatever_ranks_do),
		cmocka_unit_test(a_rank_waits_from_its_arrival_to_the_last_ones),
		cmocka_unit_test(a_rank_that_is_late_in_every_step_is_named),
		cmocka_unit_test(ranks_of_one_slow_host_are_late_together),
		cmocka_unit_test(a_rank_that_is_late_in_every_tenth_step_repeats_too),
		cmocka_unit_test(ranks_that_are_late_by_turns_are_not_accused),
		cmocka_unit_test(chance_accuses_hardly_anybody),
		cmocka_unit_test(a_rank_with_less_to_do_accuses_nobody),
		cmocka_unit_test(two_late_steps_do_not_tell_whether_it_repeats),
		cmocka_unit_test(a_slow_transfer_is_nobodys_lateness),
		cmocka_unit_test(
			recordings_that_began_at_different_steps_are_compared_step_by_step),
		cmocka_unit_test(a_rank_whose_disk_is_slow_waits_for_its_input),
		cmocka_unit_test(a_slow_device_is_told_from_more_work),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
