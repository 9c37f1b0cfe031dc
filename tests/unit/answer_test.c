/* SPDX-License-Identifier: Apache-2.0 */
/* answer_test.c - what is said about a job: its verdict, its stragglers and their cause, slow links, and who is innocent. */
#include "job_program.h"

enum { STEPS = 24 };

static const struct job_finding *joint_finding(const struct job_answer *answer, const char *id)
{
	for (uint32_t i = 0; i < answer->n_findings; i++)
		if (strcmp(answer->findings[i].finding->kind->id, id) == 0)
			return &answer->findings[i];
	return NULL;
}

static void print_answer(const struct job_answer *answer)
{
	print_message("%s: %s\n", verdict_words[answer->word], answer->says);
	for (uint32_t i = 0; i < answer->n_findings; i++)
		print_message("  %s %lld: %s\n", answer->findings[i].finding->kind->id,
			      (long long)answer->findings[i].cost,
			      answer->findings[i].finding->says);
	job_print(&answer->ranks);
}

#define ASSERT_SAYS(answer, id)                                                                    \
	do {                                                                                       \
		if (!joint_finding(answer, id)) {                                                  \
			print_answer(answer);                                                      \
			fail_msg("%s is missing", id);                                             \
		}                                                                                  \
	} while (0)
#define ASSERT_SAYS_NOT(answer, id)                                                                \
	do {                                                                                       \
		if (joint_finding(answer, id)) {                                                   \
			print_answer(answer);                                                      \
			fail_msg("%s is accused", id);                                             \
		}                                                                                  \
	} while (0)
#define ASSERT_WORD(answer, wanted)                                                                \
	do {                                                                                       \
		if ((answer)->word != (wanted)) {                                                  \
			print_answer(answer);                                                      \
			fail_msg("not %s", verdict_words[wanted]);                                 \
		}                                                                                  \
	} while (0)

static void nobody_accuses(struct job_answer *answer)
{
	ASSERT_SAYS_NOT(answer, "rank-straggler");
	ASSERT_SAYS_NOT(answer, "late-by-turns");
	ASSERT_SAYS_NOT(answer, "slow-link");
}

static void a_job_in_step_accuses_nobody(void **state)
{
	(void)state;
	struct job_program job = job_new(4, NULL);
	for (int step = 0; step < STEPS; step++) {
		job_step(&job, step);
		for (uint32_t r = 0; r < 4; r++)
			program_launch(&job.ranks[r], 0, "k", 1000);
		job_meet(&job, 20);
	}
	struct job_answer answer = job_ask(&job);
	ASSERT_WORD(&answer, VERDICT_GPU);
	nobody_accuses(&answer);
	assert_string_equal(answer.late_says, "");
	job_answer_free(&answer);
	job_free(&job);
}

static void the_verdict_names_the_straggler_and_what_it_does(void **state)
{
	(void)state;
	struct job_program job = job_new(4, NULL);
	for (int step = 0; step < STEPS; step++) {
		job_step(&job, step);
		for (uint32_t r = 0; r < 4; r++) {
			int64_t from = job.ranks[r].cpu;
			program_compute(&job.ranks[r], r == 2 ? 1500 : 100);
			program_mark(&job.ranks[r], from, "augment", 0);
			program_launch(&job.ranks[r], 0, "k", 1000);
		}
		job_meet(&job, 50);
		for (uint32_t r = 0; r < 4; r++)
			program_sync(&job.ranks[r], 0);
	}
	struct job_answer answer = job_ask(&job);
	ASSERT_WORD(&answer, VERDICT_COMM);
	ASSERT_SAYS(&answer, "rank-straggler");
	assert_string_equal(answer.findings[0].finding->kind->id, "rank-straggler");
	assert_int_equal(answer.findings[0].finding->rank, 2);
	assert_in_range(answer.findings[0].cost, US(1200), US(1400));
	assert_non_null(strstr(answer.says, "Rank 2 makes the others wait 1.40 ms"));
	assert_non_null(strstr(answer.says, "augment"));
	assert_int_not_equal(answer.typical, 2);
	ASSERT_SAYS_NOT(&answer, "late-by-turns");
	job_answer_free(&answer);
	job_free(&job);
}

static void collectives_on_the_cpu_have_stragglers_too(void **state)
{
	(void)state;
	struct job_program job = job_new(3, (const int64_t[]){0, 7000000, -9000000});
	for (int step = 0; step < STEPS; step++) {
		job_step(&job, step);
		for (uint32_t r = 0; r < 3; r++) {
			int64_t from = job.ranks[r].cpu;
			program_launch(&job.ranks[r], 0, "k", 500);
			program_sync(&job.ranks[r], 0);
			program_compute(&job.ranks[r], r == 1 ? 2000 : 50);
			program_mark(&job.ranks[r], from, "postprocess", 0);
		}
		job_meet_mpi(&job, step, 100);
	}
	struct job_answer answer = job_ask(&job);
	ASSERT_WORD(&answer, VERDICT_COMM);
	ASSERT_SAYS(&answer, "rank-straggler");
	assert_int_equal(answer.findings[0].finding->rank, 1);
	assert_in_range(answer.ranks.rows[0].parts[RANK_WAIT], US(1900), US(1960));
	assert_int_equal(answer.ranks.rows[1].parts[RANK_WAIT], 0);
	assert_non_null(strstr(answer.why, "postprocess"));
	job_answer_free(&answer);
	job_free(&job);
}

static void uneven_work_is_late_by_turns(void **state)
{
	(void)state;
	uint64_t rolls = 11;
	struct job_program job = job_new(4, NULL);
	for (int step = 0; step < 2 * STEPS; step++) {
		job_step(&job, step);
		for (uint32_t r = 0; r < 4; r++) {
			int64_t samples = 80 + job_dice(&rolls) % 60;
			program_blocks(&job.ranks[r], samples);
			program_launch(&job.ranks[r], 0, "k", 10 * samples);
			program_blocks(&job.ranks[r], 0);
		}
		job_meet(&job, 20);
	}
	struct job_answer answer = job_ask(&job);
	ASSERT_SAYS(&answer, "late-by-turns");
	ASSERT_SAYS_NOT(&answer, "rank-straggler");
	assert_int_equal(joint_finding(&answer, "late-by-turns")->n_members, 0);
	assert_non_null(strstr(answer.why, "as much (threads launched)"));
	assert_non_null(strstr(joint_finding(&answer, "late-by-turns")->finding->advice,
			       "as much in each step"));
	job_answer_free(&answer);
	job_free(&job);
}

/* Groups of two work together closely, and their first and second ranks meet across the groups. Rank 1 is slow; rank 0 waits for it
 * and so comes late to rank 2, but is innocent. */
static void a_rank_that_waited_itself_is_innocent(void **state)
{
	(void)state;
	struct job_program job = job_new(4, NULL);
	for (int step = 0; step < STEPS; step++) {
		job_step(&job, step);
		for (uint32_t r = 0; r < 4; r++)
			program_launch(&job.ranks[r], 0, "k", r == 1 ? 1800 : 1000);
		job_meet_group(&job, (const uint32_t[]){0, 1}, 2, "tp0", step, 1 << 20, 20);
		job_meet_group(&job, (const uint32_t[]){2, 3}, 2, "tp1", step, 1 << 20, 20);
		for (uint32_t r = 0; r < 4; r++)
			program_launch(&job.ranks[r], 0, "k", 300);
		job_meet_group(&job, (const uint32_t[]){0, 2}, 2, "dp0", step, 1 << 20, 20);
		job_meet_group(&job, (const uint32_t[]){1, 3}, 2, "dp1", step, 1 << 20, 20);
	}
	struct job_answer answer = job_ask(&job);
	ASSERT_SAYS(&answer, "rank-straggler");
	if (answer.ranks.n_late_ranks != 1 || answer.ranks.late_ranks[0] != 1) {
		print_answer(&answer);
		fail_msg("not rank 1 alone");
	}
	/* Rank 2 waits for rank 0, but not by its fault. */
	assert_in_range(answer.ranks.waits[2 * 4 + 0], US(790), US(810));
	assert_int_equal(answer.ranks.rows[0].blamed, 0);
	job_answer_free(&answer);
	job_free(&job);
}

static void a_slow_link_is_told_from_a_late_rank(void **state)
{
	(void)state;
	struct job_program job = job_new(8, NULL);
	for (int step = 0; step < STEPS; step++) {
		job_step(&job, step);
		for (uint32_t r = 0; r < 8; r++)
			program_launch(&job.ranks[r], 0, "k", 1000);
		for (uint32_t g = 0; g < 4; g++) {
			char name[8];
			snprintf(name, sizeof name, "g%u", g);
			job_meet_group(&job, (const uint32_t[]){2 * g, 2 * g + 1}, 2, name, step,
				       1 << 22, g == 2 ? 400 : 100);
		}
	}
	struct job_answer answer = job_ask(&job);
	ASSERT_SAYS(&answer, "slow-link");
	ASSERT_SAYS_NOT(&answer, "rank-straggler");
	const struct job_finding *slow = joint_finding(&answer, "slow-link");
	assert_int_equal(slow->n_members, 2);
	assert_int_equal(slow->members[0], 4);
	assert_int_equal(slow->members[1], 5);
	assert_non_null(strstr(slow->finding->says, "ranks 4 and 5 moves 10.5 GB/s"));
	assert_in_range(slow->cost, US(280), US(305));
	job_answer_free(&answer);
	job_free(&job);
}

/* Gradients that a thread of gloo copies to the host, exchanges when all have come, and copies back; nothing tells what it exchanges. */
static void exchange_unseen(struct job_program *job)
{
	int64_t last = INT64_MIN;
	for (uint32_t r = 0; r < job->n; r++) {
		struct program *p = &job->ranks[r];
		p->thread = 1;
		program_copy(p, 0, HWY_D2H, 1 << 22, HWY_MEM_PINNED, 100, true);
		last = p->cpu > last ? p->cpu : last;
	}
	for (uint32_t r = 0; r < job->n; r++) {
		struct program *p = &job->ranks[r];
		p->cpu = last + US(2500);
		program_copy(p, 0, HWY_H2D, 1 << 22, HWY_MEM_PINNED, 100, true);
		p->thread = 0;
		program_launch(p, 0, "at::native::optimizer", 50);
	}
}

static void what_is_not_recorded_is_guessed_and_said(void **state)
{
	(void)state;
	for (int turns = 0; turns < 2; turns++) {
		struct job_program job = job_new(4, NULL);
		for (uint32_t r = 0; r < 4; r++)
			program_trace(&job.ranks[r])->threads[job.ranks[r].threads[1]].name =
				hwy_text_id(job.ranks[r].builder, "pt_gloo_runloop");
		for (int step = 0; step < STEPS; step++) {
			job_step(&job, step);
			for (uint32_t r = 0; r < 4; r++) {
				bool late = turns ? (uint32_t)step % 4 == r : r == 3;
				int64_t from = job.ranks[r].cpu;
				program_compute(&job.ranks[r], late ? 6000 : 100);
				program_mark(&job.ranks[r], from, "augment", 0);
				program_copy(&job.ranks[r], 0, HWY_H2D, 1 << 19, HWY_MEM_PAGEABLE,
					     20, false);
				for (int k = 0; k < 5; k++)
					program_launch(&job.ranks[r], 0, "at::native::backward",
						       100);
			}
			exchange_unseen(&job);
		}
		struct job_answer answer = job_ask(&job);
		assert_true(answer.ranks.is_guessed);
		ASSERT_WORD(&answer, VERDICT_COMM);
		ASSERT_SAYS(&answer, turns ? "late-by-turns" : "rank-straggler");
		ASSERT_SAYS_NOT(&answer, turns ? "rank-straggler" : "late-by-turns");
		if (!strstr(answer.why, "augment")) {
			print_answer(&answer);
			fail_msg("why: %s", answer.why);
		}
		assert_int_equal(answer.path.n, 0);
		job_answer_free(&answer);
		job_free(&job);
	}
}

static void a_job_without_device_work_has_an_answer(void **state)
{
	(void)state;
	struct job_program job = job_new(3, (const int64_t[]){0, 5000000, -4000000});
	for (int step = 0; step < STEPS; step++) {
		for (uint32_t r = 0; r < 3; r++)
			program_compute(&job.ranks[r], r == 1 ? 2000 : 500);
		job_meet_mpi(&job, step, 100);
	}
	struct job_answer answer = job_ask(&job);
	ASSERT_WORD(&answer, VERDICT_COMM);
	assert_non_null(answer.cpu);
	assert_int_equal(answer.cpu[1].waits, 0);
	assert_int_equal(answer.cpu[1].costs, answer.cpu[0].waits + answer.cpu[2].waits);
	assert_in_range(answer.cpu[0].waits, (STEPS - 1) * US(1490), STEPS * US(1510));
	assert_non_null(strstr(answer.says, "100 % of that to rank 1, before its MPI_Allreduce"));
	job_answer_free(&answer);
	job_free(&job);
}

/* A collective that one thread of every rank makes, on a communicator of that thread: a rank enters at its start, and leaves at its
 * end. Without ends, all leave 1 µs after the last one came. */
static void meet_and_leave(struct job_program *job, int thread, int64_t number,
			   const int64_t *starts_us, const int64_t *ends_us)
{
	static const char *const names[PROGRAM_THREADS] = {"first", "second", "third", "fourth"};
	int64_t last = 0;
	for (uint32_t r = 0; r < job->n; r++)
		last = starts_us[r] > last ? starts_us[r] : last;
	for (uint32_t r = 0; r < job->n; r++) {
		struct program *p = &job->ranks[r];
		struct hwy_lane lane = hwy_lane_of(HWY_LANE_CALL, p->process, p->threads[thread]);
		lane.name = hwy_text_id(p->builder, "MPI");
		uint32_t calls = hwy_add_lane(p->builder, lane);
		uint32_t group = hwy_new_groups(p->builder);
		program_trace(p)->groups[group] =
			(struct hwy_group){p->process,      hwy_text_id(p->builder, names[thread]),
					   HWY_NONE,        hwy_text_id(p->builder, "MPI"),
					   (int64_t)job->n, HWY_NONE};
		struct hwy_row row = {0};
		row.v[HWY_START] = US(starts_us[r]);
		row.v[HWY_DUR] = US((ends_us ? ends_us[r] : last + 1) - starts_us[r]);
		row.v[HWY_NAME] = hwy_text_id(p->builder, "MPI_Barrier");
		struct hwy_message m = hwy_message_none();
		hwy_message_at(&m.span, hwy_add_span(p->builder, calls, HWY_CALL, &row));
		m.process = p->process;
		m.group = group;
		m.kind = HWY_MESSAGE_COLLECTIVE;
		m.library = hwy_text_id(p->builder, "MPI");
		m.name = hwy_text_id(p->builder, "Barrier");
		m.sequence = number;
		hwy_add_message(p->builder, &m);
	}
}

static void meet_on_thread(struct job_program *job, int thread, int64_t number,
			   const int64_t *starts_us)
{
	meet_and_leave(job, thread, number, starts_us, NULL);
}

static void a_rank_that_is_slow_inside_of_exchanges_is_told_from_one_that_computes(void **state)
{
	(void)state;
	for (int computes = 0; computes < 2; computes++) {
		struct job_program job = job_new(2, NULL);
		for (int64_t i = 0, t = 1000; i < STEPS; i++, t += 5000) {
			/* Rank 0 leaves the first collective 3 ms later, or does something for 3 ms. */
			meet_and_leave(&job, 0, 4 * i, (const int64_t[]){t, t},
				       (const int64_t[]){computes ? t + 10 : t + 3010, t + 10});
			meet_on_thread(&job, 0, 4 * i + 1, (const int64_t[]){t + 3020, t + 20});
			/* Clocks are told from the ends of collectives. */
			meet_on_thread(&job, 0, 4 * i + 2, (const int64_t[]){t + 3100, t + 3100});
			meet_on_thread(&job, 0, 4 * i + 3, (const int64_t[]){t + 3200, t + 3200});
		}
		struct job_answer answer = job_ask(&job);
		assert_non_null(
			strstr(answer.says, "100 % of that to rank 0, before its MPI_Barrier"));
		assert_int_equal(answer.cpu[0].costs, STEPS * US(3000));
		assert_int_equal(answer.cpu[0].exchanging, computes ? 0 : STEPS * US(2990));
		assert_int_equal(!strstr(answer.says, "this rank is in exchanges itself"),
				 computes);
		job_answer_free(&answer);
		job_free(&job);
	}
}

static void a_thread_is_not_excused_by_what_another_thread_waits(void **state)
{
	(void)state;
	struct job_program job = job_new(3, NULL);
	meet_on_thread(&job, 0, 0, (const int64_t[]){1000, 1000, 1000});
	meet_on_thread(&job, 1, 0, (const int64_t[]){1000, 1000, 1000});
	/* Rank 2 is late on the first threads, rank 1 on the second ones, at the same time. */
	meet_on_thread(&job, 0, 1, (const int64_t[]){2000, 2000, 5000});
	meet_on_thread(&job, 1, 1, (const int64_t[]){2000, 5000, 2000});
	struct job_answer answer = job_ask(&job);
	assert_non_null(answer.cpu);
	assert_int_equal(answer.cpu[0].waits, US(6000));
	assert_int_equal(answer.cpu[0].costs, 0);
	assert_int_equal(answer.cpu[1].costs, US(6000));
	assert_int_equal(answer.cpu[2].costs, US(6000));
	/* Both threads are in calls that communicate for 1 + 3001 µs, of 4001 µs. */
	assert_int_equal(answer.cpu[0].comm, US(2 * 3002));
	assert_int_equal(answer.cpu[0].window, US(2 * 4001));
	assert_int_equal(answer.cpu[0].threads, 2);
	job_answer_free(&answer);
	job_free(&job);
}

static void the_place_named_is_the_one_that_costs_most_together(void **state)
{
	(void)state;
	struct job_program job = job_new(2, NULL);
	meet_on_thread(&job, 1, 0, (const int64_t[]){100, 100});
	meet_on_thread(&job, 1, 1, (const int64_t[]){200, 5200}); /* the longest wait */
	for (int step = 0; step < STEPS; step++) {
		program_compute(&job.ranks[1], 1000);
		job_meet_mpi(&job, step, 10);
	}
	struct job_answer answer = job_ask(&job);
	assert_non_null(strstr(answer.says, "100 % of that to rank 1, before its MPI_Allreduce"));
	job_answer_free(&answer);
	job_free(&job);
}

static void what_is_blamed_on_ranks_is_what_ranks_wait(void **state)
{
	(void)state;
	uint64_t dice = 7;
	struct job_program job = job_new(4, NULL);
	for (int64_t round = 0, from = 1000; round < 300; round++, from += 1000)
		for (int thread = 0; thread < PROGRAM_THREADS; thread++) {
			int64_t starts[4];
			for (uint32_t r = 0; r < 4; r++)
				starts[r] = from + job_dice(&dice) % 900;
			meet_on_thread(&job, thread, round, starts);
		}
	struct job_answer answer = job_ask(&job);
	int64_t waits = 0, costs = 0;
	for (uint32_t r = 0; r < 4; r++) {
		waits += answer.cpu[r].waits;
		costs += answer.cpu[r].costs;
		assert_in_range(answer.cpu[r].waits, 1, answer.cpu[r].comm);
		assert_in_range(answer.cpu[r].comm, 1, answer.cpu[r].window);
	}
	assert_int_equal(costs, waits);
	job_answer_free(&answer);
	job_free(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_in_step_accuses_nobody),
		cmocka_unit_test(the_verdict_names_the_straggler_and_what_it_does),
		cmocka_unit_test(collectives_on_the_cpu_have_stragglers_too),
		cmocka_unit_test(uneven_work_is_late_by_turns),
		cmocka_unit_test(a_rank_that_waited_itself_is_innocent),
		cmocka_unit_test(a_slow_link_is_told_from_a_late_rank),
		cmocka_unit_test(what_is_not_recorded_is_guessed_and_said),
		cmocka_unit_test(a_job_without_device_work_has_an_answer),
		cmocka_unit_test(
			a_rank_that_is_slow_inside_of_exchanges_is_told_from_one_that_computes),
		cmocka_unit_test(a_thread_is_not_excused_by_what_another_thread_waits),
		cmocka_unit_test(the_place_named_is_the_one_that_costs_most_together),
		cmocka_unit_test(what_is_blamed_on_ranks_is_what_ranks_wait),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
