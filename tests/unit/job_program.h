/* SPDX-License-Identifier: Apache-2.0 */
/* job_program.h - jobs for tests: a program (program.h) for each rank, collectives in which they meet, and clocks of their own.
 *
 *   struct job_program job = job_new(4, NULL);
 *   for (int step = 0; step < 20; step++) {
 *           job_step(&job, step);
 *           for (uint32_t r = 0; r < job.n; r++)
 *                   program_launch(&job.ranks[r], 0, "k", r == 2 ? 1500 : 1000);
 *           job_meet(&job, 50);
 *   }
 *   struct job_ranks *ranks = job_compare(&job);
 *   assert_int_equal(ranks->lateness, RANKS_REPEAT);
 *   job_free(&job);
 */
#ifndef HWY_TESTS_JOB_PROGRAM_H
#define HWY_TESTS_JOB_PROGRAM_H

#include "program.h"

#include "analyze/collectives.h"
#include "job/answer.h"

enum { JOB_RANKS = 16 };
#define JOB_ALL_REDUCE "ncclDevKernel_AllReduce_Sum_f32_RING_LL"

struct job_program {
	struct program ranks[JOB_RANKS];
	int64_t skew[JOB_RANKS]; /* a rank's clock shows the real time plus its skew */
	uint32_t n;
	struct diagnosed diagnosed[JOB_RANKS];
	struct ranks_member members[JOB_RANKS];
	struct hwy_collectives collectives;
	struct ranks_meetings meetings;
	struct job_ranks compared;
};

static inline uint32_t job_dice(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}

static inline struct job_program job_new(uint32_t n, const int64_t *skew)
{
	struct job_program job = {.n = n};
	for (uint32_t r = 0; r < n; r++) {
		job.ranks[r] = program_new();
		job.skew[r] = skew ? skew[r] : 0;
		job.ranks[r].cpu += job.skew[r];
	}
	return job;
}

static inline void job_step(struct job_program *job, int step)
{
	for (uint32_t r = 0; r < job->n; r++)
		program_step(&job->ranks[r], step);
}

/* Ranks first … first + n - 1 meet on a stream: all end when the last has come and the data has travelled. */
static inline void job_meet_some(struct job_program *job, uint32_t first, uint32_t n, int stream,
				 const char *args, int64_t transfer_us)
{
	int64_t last = INT64_MIN;
	for (uint32_t r = first; r < first + n; r++) {
		int64_t real = program_ready(&job->ranks[r], stream, LAUNCH_US) - job->skew[r];
		last = real > last ? real : last;
	}
	for (uint32_t r = first; r < first + n; r++) {
		struct program *p = &job->ranks[r];
		struct hwy_row row = {0};
		row.v[HWY_NAME] = hwy_text_id(p->builder, JOB_ALL_REDUCE);
		row.v[HWY_ARGS] = hwy_text_id(p->builder, args);
		program_work(p, stream, "cudaLaunchKernel", LAUNCH_US, HWY_KERNEL, row,
			     last + US(transfer_us) + job->skew[r] -
				     program_ready(p, stream, LAUNCH_US));
	}
}
static inline void job_meet(struct job_program *job, int64_t transfer_us)
{
	job_meet_some(job, 0, job->n, 0, "", transfer_us);
}

/* The same with what the ranks' library tells: communicator, bytes and number. 'number' counts the collectives of the group. */
static inline void job_meet_group(struct job_program *job, const uint32_t *members, uint32_t n,
				  const char *name, int64_t number, int64_t bytes,
				  int64_t transfer_us)
{
	int64_t last = INT64_MIN;
	char list[128] = "";
	for (uint32_t i = 0; i < n; i++) {
		int64_t real = program_ready(&job->ranks[members[i]], 0, LAUNCH_US) -
			       job->skew[members[i]];
		last = real > last ? real : last;
		size_t length = strlen(list);
		snprintf(list + length, sizeof list - length, "%s%u", i ? "," : "", members[i]);
	}
	for (uint32_t i = 0; i < n; i++) {
		struct program *p = &job->ranks[members[i]];
		int64_t start = program_ready(p, 0, LAUNCH_US),
			end = last + US(transfer_us) + job->skew[members[i]];
		uint32_t group = hwy_new_groups(p->builder);
		struct hwy_group *record = &program_trace(p)->groups[group];
		*record = (struct hwy_group){p->process, hwy_text_id(p->builder, name),
					     HWY_NONE,   hwy_text_id(p->builder, "NCCL"),
					     n,          hwy_text_id(p->builder, list)};
		program_call(p, "cudaLaunchKernel", LAUNCH_US);
		struct hwy_row row = {0};
		row.v[HWY_NAME] = hwy_text_id(p->builder, JOB_ALL_REDUCE);
		row.v[HWY_START] = start;
		row.v[HWY_DUR] = end - start;
		row.v[HWY_CORR] = p->corr;
		struct hwy_message m = hwy_message_none();
		hwy_message_at(&m.span, hwy_add_span(p->builder, p->lanes[0], HWY_KERNEL, &row));
		p->stream_free[0] = end;
		m.process = p->process;
		m.group = group;
		m.kind = HWY_MESSAGE_COLLECTIVE;
		m.library = hwy_text_id(p->builder, "NCCL");
		m.name = hwy_text_id(p->builder, "AllReduce");
		m.sequence = number;
		m.sent = m.received = bytes;
		hwy_add_message(p->builder, &m);
	}
}

/* A blocking collective of MPI on the CPU, by all ranks. */
static inline void job_meet_mpi(struct job_program *job, int64_t number, int64_t transfer_us)
{
	int64_t last = INT64_MIN;
	for (uint32_t r = 0; r < job->n; r++)
		last = job->ranks[r].cpu - job->skew[r] > last ? job->ranks[r].cpu - job->skew[r]
							       : last;
	for (uint32_t r = 0; r < job->n; r++) {
		struct program *p = &job->ranks[r];
		struct hwy_lane lane = hwy_lane_of(HWY_LANE_CALL, p->process, p->threads[0]);
		lane.name = hwy_text_id(p->builder, "MPI");
		uint32_t calls = hwy_add_lane(p->builder, lane);
		struct hwy_row row = {0};
		row.v[HWY_START] = p->cpu;
		row.v[HWY_DUR] = last + US(transfer_us) + job->skew[r] - p->cpu;
		row.v[HWY_NAME] = hwy_text_id(p->builder, "MPI_Allreduce");
		struct hwy_message m = hwy_message_none();
		hwy_message_at(&m.span, hwy_add_span(p->builder, calls, HWY_CALL, &row));
		m.process = p->process;
		m.kind = HWY_MESSAGE_COLLECTIVE;
		m.library = hwy_text_id(p->builder, "MPI");
		m.name = hwy_text_id(p->builder, "AllReduce");
		m.sequence = number;
		hwy_add_message(p->builder, &m);
		p->cpu += row.v[HWY_DUR];
	}
}

static inline void job_diagnose(struct job_program *job)
{
	for (uint32_t r = 0; r < job->n; r++) {
		struct diagnosed *d = &job->diagnosed[r];
		*d = program_diagnose(&job->ranks[r]);
		job->members[r] = (struct ranks_member){
			r,  &d->analysis, &d->diagnosis, d->analysis.phases.main, FLOW_NO_PROCESS,
			"", NULL};
	}
}

static inline struct job_ranks *job_compare(struct job_program *job)
{
	struct collectives_rank flows[JOB_RANKS];
	struct hwy_err err;
	job_diagnose(job);
	for (uint32_t r = 0; r < job->n; r++)
		flows[r] = (struct collectives_rank){.flow = &job->diagnosed[r].analysis.flow,
						     .process = FLOW_NO_PROCESS};
	assert_true(collectives_match(&job->collectives, flows, job->n, &err));
	job->meetings = ranks_meetings_of(&job->collectives, job->n);
	if (!ranks_compare(&job->compared, job->members, job->n, &job->meetings, &err))
		fail_msg("%s", err.text);
	return &job->compared;
}

/* What analyze says about the job; to be freed with job_answer_free, before job_free. */
static inline struct job_answer job_ask(struct job_program *job)
{
	struct job_answer answer;
	struct hwy_err err;
	job_diagnose(job);
	if (!job_answer_make(&answer, job->members, job->n, NULL, &err))
		fail_msg("%s", err.text);
	return answer;
}

static inline void job_free(struct job_program *job)
{
	ranks_free(&job->compared);
	ranks_meetings_free(&job->meetings);
	collectives_free(&job->collectives);
	for (uint32_t r = 0; r < job->n; r++)
		diagnosed_free(&job->diagnosed[r]);
}

/* Prints what was found: for a test that fails. */
static inline void job_print(const struct job_ranks *ranks)
{
	print_message("%s, %u late of %u steps, waiting %lld of %lld, cause %s +%lld (%.2f)\n",
		      ranks_lateness_names[ranks->lateness], ranks->n_late_steps, ranks->n_steps,
		      (long long)ranks->waiting, (long long)ranks->step,
		      ranks->cause.is_known ? ranks_part_name(ranks->cause.part) : "unknown",
		      (long long)ranks->cause.more, ranks->cause.share);
	for (uint32_t r = 0; r < ranks->n; r++) {
		print_message("  rank %lld: late %u, last %u, blamed %lld:",
			      (long long)ranks->rows[r].rank, ranks->rows[r].n_late,
			      ranks->rows[r].n_last, (long long)ranks->rows[r].blamed);
		for (unsigned p = 0; p < RANK_PARTS; p++)
			if (ranks->rows[r].parts[p])
				print_message(" %s %lld", ranks_part_name(p),
					      (long long)ranks->rows[r].parts[p]);
		print_message("\n");
	}
}

#endif
