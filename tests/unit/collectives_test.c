/* SPDX-License-Identifier: Apache-2.0 */
/* collectives_test.c - collectives and messages on CPUs: which of them are one, and on which clocks. */
#include "mpi_job.h"

static struct hwy_collectives match(struct mpi_job *job)
{
	struct hwy_collectives c;
	struct hwy_err err;
	mpi_job_finish(job);
	if (!collectives_match(&c, job->members, job->n, &err))
		fail_msg("%s", err.text);
	return c;
}

static void numbered_collectives_are_matched_and_their_ends_set_the_clocks(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		uint64_t rolls = seed;
		int64_t skew[MPI_MOST] = {0};
		uint32_t n = 2 + (uint32_t)(seed % 6), meetings = 0;
		for (uint32_t r = 1; r < n; r++)
			skew[r] = (int64_t)mpi_dice(&rolls) - 1000000000;
		struct mpi_job job = mpi_job_new(n, skew);
		for (int i = 0; i < 30; i++, meetings++) {
			for (uint32_t r = 0; r < n; r++)
				mpi_compute(&job, r, mpi_dice(&rolls) % 100000);
			mpi_collective(&job, i % 3 ? "AllReduce" : "Barrier", -1,
				       1 + mpi_dice(&rolls) % 5000);
		}
		struct hwy_collectives c = match(&job);
		assert_int_equal(c.n, meetings);
		assert_int_equal(c.n_parts, meetings * n);
		assert_int_equal(c.n_contradicted, 0);
		for (uint32_t r = 0; r < n; r++)
			assert_int_equal(c.shift[r], skew[0] - skew[r]);
		collectives_free(&c);
		mpi_job_free(&job);
	}
}

static void only_those_wait_that_must(void **state)
{
	(void)state;
	struct mpi_job job = mpi_job_new(3, NULL);
	mpi_compute(&job, 0, US(10)); /* the root comes at 10, others at 0 and 30 */
	mpi_compute(&job, 2, US(30));
	mpi_collective(&job, "Broadcast", 0, US(1));
	mpi_collective(&job, "Reduce", 0, US(1));
	mpi_collective(&job, "Scan", -1, US(50));
	struct hwy_collectives c = match(&job);
	assert_int_equal(c.n, 3);
	const int64_t first = US(1000);
	for (uint32_t i = 0; i < c.n; i++) {
		const struct hwy_meeting *m = &c.meetings[i];
		int64_t a = collectives_awaited(&c, m, m->first, NULL);
		int64_t b = collectives_awaited(&c, m, m->first + 1, NULL);
		switch (m->kind) {
		case EXCHANGE_FROM_ROOT:
			assert_int_equal(a, INT64_MIN);
			assert_int_equal(b, first + US(10));
			break;
		case EXCHANGE_TO_ROOT: /* rank 2 comes last, at 31 */
			assert_int_equal(a, first + US(31));
			assert_int_equal(b, INT64_MIN);
			break;
		default:
			assert_int_equal(m->kind, EXCHANGE_PREFIX);
			assert_int_equal(a, INT64_MIN);
			assert_true(b > a);
		}
	}
	collectives_free(&c);
	mpi_job_free(&job);
}

static int64_t later_by(const void *user, int64_t time)
{
	return time + *(const int64_t *)user;
}

static void given_clocks_are_believed(void **state)
{
	(void)state;
	const int64_t skew[2] = {0, -US(1)}, shifts[2] = {0, US(1)};
	struct mpi_job job = mpi_job_new(2, skew);
	/* A broadcast's ends tell no clock. */
	mpi_compute(&job, 1, US(10));
	mpi_collective(&job, "Broadcast", 0, US(5));
	mpi_collective(&job, "Broadcast", 1, US(5));
	mpi_job_finish(&job);
	struct exchange_clock clocks[2] = {{later_by, &shifts[0]},
					   {later_by, &shifts[1]}};
	for (uint32_t r = 0; r < 2; r++)
		job.members[r].clock = &clocks[r];
	struct hwy_collectives c;
	struct hwy_err err;
	assert_true(collectives_match(&c, job.members, 2, &err));
	assert_int_equal(c.n, 2);
	assert_int_equal(c.shift[1], US(1));
	/* Rank 0 is in the second one from 5 to 20, rank 1 comes to it at 15. */
	assert_int_equal(c.meetings[1].last, US(1015));
	collectives_free(&c);
	mpi_job_free(&job);
}

static void sends_and_receives_are_paired_in_order(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		uint64_t rolls = seed;
		struct mpi_job job = mpi_job_new(4, NULL);
		uint32_t n = 0;
		for (; n < 60; n++) {
			uint32_t from = mpi_dice(&rolls) % 4, to = (from + 1 + n % 3) % 4;
			mpi_compute(&job, from, mpi_dice(&rolls) % 9000);
			mpi_message(&job, from, to, n, n % 2 ? MPI_EAGER : MPI_RENDEZVOUS, 700);
		}
		mpi_job_finish(&job);
		struct hwy_p2p p2p;
		struct hwy_err err;
		assert_true(p2p_match(&p2p, job.members, 4, &err));
		assert_int_equal(p2p.n, n);
		assert_int_equal(p2p.n_unpaired, 0);
		for (uint32_t i = 0; i < n; i++) {
			const struct p2p_pair *pair = &p2p.pairs[i];
			assert_int_equal(
				job.traces[pair->sender]->messages[pair->send].sent,
				job.traces[pair->receiver]->messages[pair->receive].received);
		}
		p2p_free(&p2p);
		mpi_job_free(&job);
	}
}

static void messages_that_were_lost_are_not_paired_with_others(void **state)
{
	(void)state;
	struct mpi_job job = mpi_job_new(2, NULL);
	mpi_add_message(&job, 0, true, 1, 4, mpi_call(&job, 0, "MPI_Send", US(1001)), NULL);
	mpi_message(&job, 0, 1, 8, MPI_EAGER, 100);
	mpi_job_finish(&job);
	struct hwy_p2p p2p;
	struct hwy_err err;
	assert_true(p2p_match(&p2p, job.members, 2, &err));
	assert_int_equal(p2p.n, 0);
	assert_int_equal(p2p.n_unpaired, 3);
	p2p_free(&p2p);
	mpi_job_free(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbered_collectives_are_matched_and_their_ends_set_the_clocks),
		cmocka_unit_test(only_those_wait_that_must),
		cmocka_unit_test(given_clocks_are_believed),
		cmocka_unit_test(sends_and_receives_are_paired_in_order),
		cmocka_unit_test(messages_that_were_lost_are_not_paired_with_others),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
