/* SPDX-License-Identifier: Apache-2.0 */
/* answer.h - what there is to say about a job: its verdict, who is late and why, and the
 * findings of all ranks as one list.
 *
 * The verdict is that of the ranks that are in time: a rank that is always late only shows what
 * its own step is made of, while the others show what it costs. Findings of one kind are one
 * entry, with the ranks that have it. Findings about ranks together stand in the diagnosis of
 * the typical rank, too, whose verdict becomes that of the job.
 */
#ifndef HWY_JOB_ANSWER_H
#define HWY_JOB_ANSWER_H

#include "job/job_clock.h"
#include "job/ranks.h"
#include "job/routes.h"
#include "whatif/run_path.h"

struct job_finding {                       /* one kind of finding over the ranks */
	const struct hwy_finding *finding; /* that of the rank where it costs most */
	uint32_t member;                   /* that rank */
	uint32_t *members, n_members;      /* all that have it */
	int64_t least, most; /* ns a step: the cost on the rank where it is smallest, and largest */
	int64_t cost;  /* ns a step: the mean over all ranks of the job, 0 for those without it */
	double share;  /* of the job's step */
	bool is_joint; /* about ranks together: 'members' are the ranks to blame, and may be none */
};

/* What a rank without device work does between its first and its last exchange, ns. Where
 * several of its threads exchange data, the times of the threads are added up. */
struct job_cpu_row {
	int64_t window,
		comm; /* the time between, and how much of it the rank is in calls that communicate */
	uint32_t threads; /* how many of its threads exchange data */
	int64_t waits,
		costs; /* what it loses to other ranks, and what they lose by its fault, together */
	/* of 'costs': while the rank is in calls that communicate, and does not wait for others */
	int64_t exchanging;
};

struct job_answer {
	uint32_t n; /* ranks */
	struct hwy_collectives collectives;
	struct hwy_wait_states states;
	struct ranks_meetings meetings;
	struct job_ranks ranks;
	struct job_routes routes;
	/* The critical path of the job over its steps; n 0 where it is not known. Its ranks are
	 * members. */
	struct hwy_run_path path;
	uint32_t typical; /* the member that stands for the job; n where no rank has device work */
	int64_t step;     /* ns: mean over the ranks */
	enum verdict_word word;
	double shares[VERDICTS]; /* means over the ranks that are in time */
	const char *says;        /* the verdict as a sentence or two */
	const char *late_says;   /* who is late and how often, a sentence; "" where nobody is */
	const char
		*why; /* what late ranks do longer, as a clause: "it waits …"; "" where not known */
	struct job_finding *findings; /* in the order to look at them */
	uint32_t n_findings;
	/* by member, where no rank has device work but exchanges are recorded; else NULL */
	struct job_cpu_row *cpu;
	struct hwy_arena arena;
};

/* clocks: of the members, NULL where none is known. */
bool job_answer_make(struct job_answer *answer, const struct ranks_member *members, uint32_t n,
		     const struct job_clock *const *clocks, struct hwy_err *err);
void job_answer_free(struct job_answer *answer);

/* The member that is shown in detail, and whose verdict is that of the job: the typical one,
 * else the first. */
static inline uint32_t answer_shown(const struct job_answer *answer)
{
	return answer->typical < answer->n ? answer->typical : 0;
}

/* "rank 3", "ranks 0 – 3 and 7", "all ranks"; in the arena. 'members' are in order. */
const char *answer_say_ranks(struct hwy_arena *arena, const struct job_ranks *ranks,
			     const uint32_t *members, uint32_t n);

/* What late ranks do longer, as a clause, by ranks.cause; and who is late how often, a sentence
 * with that clause. For callers that fill the ranks from something else than recordings. */
const char *answer_say_why(struct job_answer *answer);
const char *answer_say_late(struct job_answer *answer);
/* What to do about late ranks, by ranks.cause and ranks.lateness; NULL where the finding itself
 * says it. */
const char *answer_advice(const struct job_answer *answer);

/* ---- inside this room ------------------------------------------------------------------------ */

/* answer_words.c: fills says, late_says and why. */
void answer_say(struct job_answer *answer, const struct ranks_member *members);
/* answer_cpu.c: the verdict and rows of a job without device work. */
void answer_judge_cpu(struct job_answer *answer, const struct ranks_member *members);
const char *answer_say_route(struct job_answer *answer, const struct job_route *route);

#endif
