/* SPDX-License-Identifier: Apache-2.0 */
/* wait_states_test.c - time that ranks lose to each other: exact in made-up jobs, whatever their clocks show. */
#include "mpi_job.h"

#include "analyze/wait_states.h"

static struct hwy_wait_states find(struct mpi_job *job)
{
	struct hwy_wait_states found;
	struct hwy_err err;
	mpi_job_finish(job);
	if (!wait_states_find(&found, job->members, job->n, &err))
		fail_msg("%s", err.text);
	return found;
}

static int64_t total(const struct hwy_wait_states *found, enum wait_state_kind kind)
{
	int64_t sum = 0;
	for (uint32_t r = 0; r < found->n_ranks; r++)
		sum += found->by_kind[r * WAIT_STATE_KINDS + kind];
	return sum;
}

/* What the definitions say about a played job. */
struct expected {
	int64_t by_kind[MPI_MOST][WAIT_STATE_KINDS], lost[MPI_MOST][MPI_MOST];
};

static void expect(struct expected *e, enum wait_state_kind kind, uint32_t rank, uint32_t culprit,
		   int64_t ns)
{
	if (ns <= 0)
		return;
	e->by_kind[rank][kind] += ns;
	e->lost[rank][culprit] += ns;
}

static void play_collective(struct mpi_job *job, struct expected *e, uint64_t *rolls)
{
	static const char *const names[] = {"Barrier", "AllReduce", "AllToAll", "Broadcast",
					    "Scatter", "Reduce",    "Gather"};
	uint32_t which = mpi_dice(rolls) % 7, last = 0;
	uint32_t root = mpi_dice(rolls) % job->n;
	for (uint32_t r = 0; r < job->n; r++)
		last = mpi_now(job, r) > mpi_now(job, last) ? r : last;
	enum wait_state_kind kind = which == 0 ? WAIT_AT_BARRIER : WAIT_AT_COLLECTIVE;
	bool from_root = which == 3 || which == 4, to_root = which > 4;
	uint32_t culprit = from_root ? root : last;
	for (uint32_t r = 0; r < job->n; r++)
		if (!to_root || r == root)
			expect(e, kind, r, culprit, mpi_now(job, culprit) - mpi_now(job, r));
	mpi_collective(job, names[which], which < 3 ? -1 : (int64_t)root,
		       1 + mpi_dice(rolls) % 9000);
}

static void play_message(struct mpi_job *job, struct expected *e, uint64_t *rolls)
{
	uint32_t from = mpi_dice(rolls) % job->n;
	uint32_t to = (from + 1 + mpi_dice(rolls) % (job->n - 1)) % job->n;
	enum mpi_protocol protocol = mpi_dice(rolls) % 2 ? MPI_EAGER : MPI_RENDEZVOUS;
	int64_t late = mpi_now(job, from) - mpi_now(job, to);
	expect(e, WAIT_LATE_SENDER, to, from, late);
	if (protocol == MPI_RENDEZVOUS)
		expect(e, WAIT_LATE_RECEIVER, from, to, -late);
	else if (-late < MPI_CALL_NS) /* a send that was just busy while the other came */
		expect(e, WAIT_LATE_RECEIVER, from, to, -late);
	mpi_message(job, from, to, 64, protocol, 1 + mpi_dice(rolls) % 20000);
}

static void every_ns_that_a_rank_waits_is_found_and_blamed(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		uint64_t rolls = seed;
		int64_t skew[MPI_MOST] = {0};
		uint32_t n = 2 + (uint32_t)(seed % 6);
		for (uint32_t r = 1; seed % 2 && r < n; r++)
			skew[r] = (int64_t)mpi_dice(&rolls) - 1000000000;
		struct mpi_job job = mpi_job_new(n, skew);
		struct expected e = {0};
		mpi_collective(&job, "Barrier", -1, 100);
		for (int i = 0; i < 80; i++) {
			for (uint32_t r = 0; r < n; r++)
				mpi_compute(&job, r, mpi_dice(&rolls) % 50000);
			if (mpi_dice(&rolls) % 2)
				play_collective(&job, &e, &rolls);
			else
				play_message(&job, &e, &rolls);
		}
		struct hwy_wait_states found = find(&job);
		assert_int_equal(found.n_unpaired, 0);
		assert_int_equal(found.n_contradicted, 0);
		for (uint32_t r = 0; r < n; r++) {
			for (int k = 0; k < WAIT_STATE_KINDS; k++)
				assert_int_equal(found.by_kind[r * WAIT_STATE_KINDS + (uint32_t)k],
						 e.by_kind[r][k]);
			for (uint32_t other = 0; other < n; other++)
				assert_int_equal(found.lost[r * n + other], e.lost[r][other]);
		}
		wait_states_free(&found);
		mpi_job_free(&job);
	}
}

static void a_wait_for_a_message_that_is_not_sent_yet_is_a_late_sender(void **state)
{
	(void)state;
	struct mpi_job job = mpi_job_new(2, NULL);
	mpi_compute(&job, 0, MS(3)); /* the sender comes at 3 ms, the receiver waits from 1 ms on */
	mpi_nonblocking(&job, 0, 1, 1 << 20, US(10), MS(1), false, US(5));
	struct hwy_wait_states found = find(&job);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.states[0].kind, WAIT_LATE_SENDER);
	assert_int_equal(found.states[0].rank, 1);
	assert_int_equal(found.states[0].culprit, 0);
	assert_int_equal(found.states[0].at.to - found.states[0].at.from, MS(2) - MPI_CALL_NS);
	wait_states_free(&found);
	mpi_job_free(&job);
}

static void data_that_moves_only_when_the_sender_is_back_is_a_stall(void **state)
{
	(void)state;
	struct mpi_job job = mpi_job_new(2, NULL);
	/* Both ask at 0; the sender computes for 8 ms, the receiver waits after 1 ms. */
	mpi_nonblocking(&job, 0, 1, 1 << 20, MS(8), MS(1), true, US(50));
	struct hwy_wait_states found = find(&job);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.states[0].kind, WAIT_STALLED);
	assert_int_equal(found.states[0].rank, 1);
	assert_int_equal(found.states[0].at.to - found.states[0].at.from, MS(7));
	wait_states_free(&found);
	mpi_job_free(&job);
	/* The same with a network that needs nobody: the message is there before anyone waits. */
	job = mpi_job_new(2, NULL);
	mpi_nonblocking(&job, 0, 1, 1 << 20, MS(8), MS(1), false, US(50));
	found = find(&job);
	assert_int_equal(found.n, 0);
	wait_states_free(&found);
	mpi_job_free(&job);
}

static void data_moves_while_any_thread_of_the_sender_is_in_the_library(void **state)
{
	(void)state;
	struct mpi_job job = mpi_job_new(2, NULL);
	/* Another thread of the sender listens all the time, while the first one makes many calls. */
	struct program *sender = &job.ranks[0];
	uint32_t first = job.lanes[0];
	int64_t begin = sender->cpu;
	struct hwy_lane lane = hwy_lane_of(HWY_LANE_CALL, sender->process, sender->threads[1]);
	lane.name = hwy_text_id(sender->builder, "MPI");
	job.lanes[0] = hwy_add_lane(sender->builder, lane);
	struct hwy_ref listens = mpi_call(&job, 0, "MPI_Recv", mpi_now(&job, 0) + MS(50));
	mpi_add_message(&job, 0, false, 1, 8, listens, NULL);
	job.lanes[0] = first;
	sender->cpu = begin;
	for (int i = 0; i < 20; i++)
		mpi_message(&job, 0, 1, 8, MPI_EAGER, US(1));
	mpi_nonblocking(&job, 0, 1, 1 << 20, MS(8), MS(1), true, US(50));
	struct hwy_wait_states found = find(&job);
	assert_int_equal(total(&found, WAIT_STALLED), 0);
	wait_states_free(&found);
	mpi_job_free(&job);
}

static void a_long_message_is_no_stall(void **state)
{
	(void)state;
	struct mpi_job job = mpi_job_new(2, NULL);
	/* The sender is back after 1 ms, and the data takes 5 ms more. */
	mpi_nonblocking(&job, 0, 1, 1 << 30, MS(1), US(10), true, MS(5));
	struct hwy_wait_states found = find(&job);
	assert_int_equal(total(&found, WAIT_STALLED), 0);
	wait_states_free(&found);
	mpi_job_free(&job);
}

/* Rank 0 waits in one call for messages of ranks 1 and 2, which come after 2 and 5 ms. */
static void one_call_that_waits_for_several_messages_waits_for_the_last(void **state)
{
	(void)state;
	struct mpi_job job = mpi_job_new(3, NULL);
	int64_t begin = mpi_now(&job, 0);
	struct hwy_ref posts[3], sends[3];
	for (uint32_t r = 1; r < 3; r++)
		posts[r] = mpi_call(&job, 0, "MPI_Irecv", mpi_now(&job, 0) + MPI_CALL_NS);
	mpi_compute(&job, 1, MS(2));
	mpi_compute(&job, 2, MS(5));
	for (uint32_t r = 1; r < 3; r++)
		sends[r] = mpi_call(&job, r, "MPI_Send", mpi_now(&job, r) + MPI_CALL_NS);
	struct hwy_ref wait = mpi_call(&job, 0, "MPI_Waitall", begin + MS(6));
	for (uint32_t r = 1; r < 3; r++) {
		mpi_add_message(&job, 0, false, r, 8, posts[r], &wait);
		mpi_add_message(&job, r, true, 0, 8, sends[r], NULL);
	}
	struct hwy_wait_states found = find(&job);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.states[0].culprit, 2);
	assert_int_equal(found.lost[2], MS(5) - 2 * MPI_CALL_NS);
	assert_int_equal(found.lost[1], 0);
	wait_states_free(&found);
	mpi_job_free(&job);
}

static void no_state_is_longer_than_its_call(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed++) {
		uint64_t rolls = seed;
		struct mpi_job job = mpi_job_new(4, NULL);
		int64_t spent[4] = {0};
		for (int i = 0; i < 60; i++) {
			uint32_t from = mpi_dice(&rolls) % 4, to = (from + 1) % 4;
			int64_t before[2] = {mpi_now(&job, from), mpi_now(&job, to)};
			int64_t a = mpi_dice(&rolls) % 90000, b = mpi_dice(&rolls) % 90000;
			mpi_nonblocking(&job, from, to, 9, a, b, i % 2, mpi_dice(&rolls) % 40000);
			spent[from] += mpi_now(&job, from) - before[0] - a;
			spent[to] += mpi_now(&job, to) - before[1] - b;
		}
		struct hwy_wait_states found = find(&job);
		for (uint32_t r = 0; r < 4; r++) {
			int64_t lost = 0;
			for (uint32_t k = 0; k < 4; k++)
				lost += found.lost[r * 4 + k];
			assert_true(lost <= spent[r]);
		}
		for (uint32_t i = 1; i < found.n; i++)
			assert_true(found.states[i].rank != found.states[i - 1].rank ||
				    found.states[i].at.from >= found.states[i - 1].at.to);
		wait_states_free(&found);
		mpi_job_free(&job);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_ns_that_a_rank_waits_is_found_and_blamed),
		cmocka_unit_test(a_wait_for_a_message_that_is_not_sent_yet_is_a_late_sender),
		cmocka_unit_test(data_that_moves_only_when_the_sender_is_back_is_a_stall),
		cmocka_unit_test(data_moves_while_any_thread_of_the_sender_is_in_the_library),
		cmocka_unit_test(a_long_message_is_no_stall),
		cmocka_unit_test(one_call_that_waits_for_several_messages_waits_for_the_last),
		cmocka_unit_test(no_state_is_longer_than_its_call),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
