/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_job.h - made-up jobs of ranks that exchange messages on their CPUs, each on a clock of its own.
 *
 *   struct mpi_job job = mpi_job_new(4, NULL);
 *   mpi_compute(&job, 2, MS(5));
 *   mpi_collective(&job, "Barrier", -1, US(3));
 *   mpi_message(&job, 0, 1, 4096, MPI_EAGER, US(10));
 *   mpi_job_finish(&job);                     job.traces[…], job.members[…]
 *   mpi_job_free(&job);
 *
 * The functions play the exchange on real time: what a rank's clock shows is the real time plus its skew.
 */
#ifndef HWY_TESTS_MPI_JOB_H
#define HWY_TESTS_MPI_JOB_H

#include "program.h"

#include "analyze/p2p.h"
#include "base/ref.h"

enum { MPI_MOST = 8, MPI_CALL_NS = 500 };

struct mpi_job {
	struct program ranks[MPI_MOST]; /* the clock 'cpu' of each is the rank's own */
	int64_t skew[MPI_MOST];
	uint32_t n;
	uint32_t lanes[MPI_MOST], groups[MPI_MOST];
	int64_t sequence;
	/* Made by mpi_job_finish. */
	struct hwy_trace *traces[MPI_MOST];
	struct collectives_rank members[MPI_MOST];
};

static inline struct mpi_job mpi_job_new(uint32_t n, const int64_t *skew)
{
	struct mpi_job job = {.n = n};
	for (uint32_t r = 0; r < n; r++) {
		struct program *p = &job.ranks[r];
		*p = program_new();
		job.skew[r] = skew ? skew[r] : 0;
		p->cpu += job.skew[r];
		program_trace(p)->processes[p->process].rank = r;
		struct hwy_lane lane = hwy_lane_of(HWY_LANE_CALL, p->process, p->threads[0]);
		lane.name = hwy_text_id(p->builder, "MPI");
		job.lanes[r] = hwy_add_lane(p->builder, lane);
		job.groups[r] = hwy_new_groups(p->builder);
		struct hwy_group *group = &program_trace(p)->groups[job.groups[r]];
		group->process = p->process;
		group->name = hwy_text_id(p->builder, "1");
		group->backend = hwy_text_id(p->builder, "MPI");
		group->size = n;
	}
	return job;
}

static inline int64_t mpi_now(const struct mpi_job *job, uint32_t rank)
{
	return job->ranks[rank].cpu - job->skew[rank];
}

static inline void mpi_compute(struct mpi_job *job, uint32_t rank, int64_t ns)
{
	job->ranks[rank].cpu += ns;
}

/* A call of the rank from now to the real time 'end'. */
static inline struct hwy_ref mpi_call(struct mpi_job *job, uint32_t rank, const char *name,
				      int64_t end)
{
	struct program *p = &job->ranks[rank];
	struct hwy_row row = {0};
	row.v[HWY_NAME] = hwy_text_id(p->builder, name);
	row.v[HWY_START] = p->cpu;
	row.v[HWY_DUR] = end + job->skew[rank] - p->cpu;
	assert_true(row.v[HWY_DUR] >= 0);
	p->cpu += row.v[HWY_DUR];
	return hwy_add_span(p->builder, job->lanes[rank], HWY_CALL, &row);
}

static inline struct hwy_message mpi_blank(struct mpi_job *job, uint32_t rank, const char *name,
					   enum hwy_message_kind kind, struct hwy_ref span)
{
	struct hwy_message m = hwy_message_none();
	hwy_message_at(&m.span, span);
	m.process = job->ranks[rank].process;
	m.group = job->groups[rank];
	m.kind = kind;
	m.library = hwy_text_id(job->ranks[rank].builder, "MPI");
	m.name = hwy_text_id(job->ranks[rank].builder, name);
	return m;
}

/* Ranks first … first + n - 1 meet in a blocking collective. Whoever must wait leaves 'transfer' ns after all that it
 * waits for have come; who need not wait leaves 'transfer' ns after it came. root: a rank, or -1. */
static inline void mpi_collective_of(struct mpi_job *job, const char *name, int64_t root,
				     int64_t transfer, uint32_t first, uint32_t n)
{
	int64_t came[MPI_MOST], last = INT64_MIN;
	for (uint32_t r = first; r < first + n; r++) {
		came[r] = mpi_now(job, r);
		last = came[r] > last ? came[r] : last;
	}
	bool from_root = !strcmp(name, "Broadcast") || !strcmp(name, "Scatter");
	for (uint32_t r = first; r < first + n; r++) {
		int64_t ready = came[r];
		if (root < 0)
			ready = last;
		else if (from_root)
			ready = came[root] > ready ? came[root] : ready;
		else if (r == root)
			ready = last;
		struct hwy_message m = mpi_blank(job, r, name, HWY_MESSAGE_COLLECTIVE,
						 mpi_call(job, r, name, ready + transfer));
		m.sequence = job->sequence;
		m.peer = root < 0 ? HWY_NONE : root;
		hwy_add_message(job->ranks[r].builder, &m);
	}
	job->sequence++;
}

static inline void mpi_collective(struct mpi_job *job, const char *name, int64_t root,
				  int64_t transfer)
{
	mpi_collective_of(job, name, root, transfer, 0, job->n);
}

enum mpi_protocol { MPI_EAGER, MPI_RENDEZVOUS };

static inline void mpi_add_message(struct mpi_job *job, uint32_t rank, bool sends, uint32_t peer,
				   int64_t bytes, struct hwy_ref span, const struct hwy_ref *done)
{
	struct hwy_message m = mpi_blank(job, rank, sends ? "Send" : "Receive",
					 sends ? HWY_MESSAGE_SEND : HWY_MESSAGE_RECEIVE, span);
	if (done)
		hwy_message_at(&m.done, *done);
	m.peer = peer;
	m.tag = 7;
	*(sends ? &m.sent : &m.received) = bytes;
	hwy_add_message(job->ranks[rank].builder, &m);
}

/* A blocking send and its blocking receive. An eager send returns at once; with rendezvous both return when the data
 * has travelled. */
static inline void mpi_message(struct mpi_job *job, uint32_t from, uint32_t to, int64_t bytes,
			       enum mpi_protocol protocol, int64_t transfer)
{
	int64_t sent = mpi_now(job, from), asked = mpi_now(job, to);
	int64_t both = sent > asked ? sent : asked;
	struct hwy_ref send =
		mpi_call(job, from, "MPI_Send",
			 protocol == MPI_EAGER ? sent + MPI_CALL_NS : both + transfer);
	struct hwy_ref receive = mpi_call(job, to, "MPI_Recv", both + transfer);
	mpi_add_message(job, from, true, to, bytes, send, NULL);
	mpi_add_message(job, to, false, from, bytes, receive, NULL);
}

/* Both sides ask, compute, and wait for the end. Where data only moves while the sender is in the library
 * (is_stalled), it moves when the sender waits. */
static inline void mpi_nonblocking(struct mpi_job *job, uint32_t from, uint32_t to, int64_t bytes,
				   int64_t sender_computes, int64_t receiver_computes,
				   bool is_stalled, int64_t transfer)
{
	int64_t sent = mpi_now(job, from), asked = mpi_now(job, to);
	struct hwy_ref send = mpi_call(job, from, "MPI_Isend", sent + MPI_CALL_NS);
	struct hwy_ref receive = mpi_call(job, to, "MPI_Irecv", asked + MPI_CALL_NS);
	mpi_compute(job, from, sender_computes);
	mpi_compute(job, to, receiver_computes);
	int64_t waits = mpi_now(job, from), awaits = mpi_now(job, to);
	int64_t ready = sent > asked ? sent : asked;
	if (is_stalled && waits > ready)
		ready = waits;
	ready += transfer;
	struct hwy_ref sender = mpi_call(
		job, from, "MPI_Wait", (is_stalled && ready > waits ? ready : waits) + MPI_CALL_NS);
	struct hwy_ref receiver =
		mpi_call(job, to, "MPI_Wait", (ready > awaits ? ready : awaits) + MPI_CALL_NS);
	mpi_add_message(job, from, true, to, bytes, send, &sender);
	mpi_add_message(job, to, false, from, bytes, receive, &receiver);
}

static inline void mpi_job_finish(struct mpi_job *job)
{
	for (uint32_t r = 0; r < job->n; r++) {
		job->traces[r] = hwy_builder_finish(job->ranks[r].builder, false);
		job->members[r] = (struct collectives_rank){.process = FLOW_NO_PROCESS,
							    .trace = job->traces[r]};
	}
}

static inline void mpi_job_free(struct mpi_job *job)
{
	for (uint32_t r = 0; r < job->n; r++)
		hwy_trace_free(job->traces[r]);
}

static inline uint32_t mpi_dice(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}

#endif
