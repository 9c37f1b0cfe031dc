/* SPDX-License-Identifier: Apache-2.0 */
/* digest_answer.h - what the digests of a job's ranks show together: the verdict, who is late,
 * who gets slower, which links are slow.
 *
 *   struct digest_answer answer;
 *   digest_answer_make(&answer, &set);
 *   puts(answer.job.says);
 *   digest_answer_free(&answer);
 *
 * A rank is late in a step by its own time (digest.h) beyond the median of the ranks that do the
 * same work. Who communicates least came last; what the others communicate longer than the late
 * ranks is waiting.
 *
 * Of thousands of ranks some are always far from the median. A rank is accused only where its
 * lateness is beyond what a distribution with the spread of all ranks would give the largest of
 * so many (digest_outliers.h), repeats, and is worth HWY_WORTH_SHARE of a step. docs/digest.md
 * has the rules.
 */
#ifndef HWY_DIGEST_DIGEST_ANSWER_H
#define HWY_DIGEST_DIGEST_ANSWER_H

#include "digest/digest_set.h"
#include "job/answer.h"

enum digest_state {
	DIGEST_IN_TIME,
	DIGEST_LATE,       /* again and again later than the others */
	DIGEST_SLOWING,    /* gets slower with time, compared with the others */
	DIGEST_NOT_JUDGED, /* no steps, or too few in common with the others */
};
extern const char *const digest_state_names[];

struct digest_judged { /* parallel to answer.job.ranks.rows */
	const struct rank_digest *digest;
	enum digest_state state;
	uint32_t role; /* index into answer.roles */
	/* ns a step by which the rank's own time is beyond the median of its role: the median
	 * over the buckets, and the mean over them of what is beyond in the buckets in which the
	 * rank is late. */
	int64_t late, excess;
	uint32_t n_late; /* buckets in which it is late */
	/* ns by which its lateness grows over the recording; 0 where that may be chance */
	int64_t slowing;
	int64_t step, own; /* ns a step: means over the job's buckets */
};

/* Ranks that do the same work: as many kernels, copies and collectives a step. */
struct digest_role {
	uint32_t n;       /* ranks in time */
	uint32_t all;     /* ranks */
	uint32_t typical; /* the rank whose own time is the median of those in time */
	int64_t own;      /* that median, ns a step */
	bool is_rest;     /* ranks that are like too few others, whatever they do */
};

/* Lengths of steps and own times by rank and bucket; HWY_NONE where a rank has no step in the
 * bucket. */
struct digest_matrix {
	uint32_t n, n_buckets, shift;
	int64_t first;       /* number of the first bucket's first step */
	int64_t *step, *own; /* [rank * n_buckets + bucket] */
	int64_t *late;       /* own time beyond the median of the role */
	int64_t *usual;      /* by bucket: the median step */
	bool is_by_clock;    /* steps have no numbers: they were matched by the date */
	/* nor do the dates fit: the first steps of all ranks are taken for the same */
	bool is_in_order;
};

enum digest_shared { DIGEST_HOST, DIGEST_SWITCH, DIGEST_GPU, DIGEST_LOCAL_RANK, DIGEST_SHARED };
extern const char *const digest_shared_names[DIGEST_SHARED];
struct digest_common { /* what accused ranks have in common, beyond chance */
	enum digest_shared what;
	const char *value;
	uint32_t *ranks, n; /* the accused ones that have it */
	uint32_t all;       /* how many ranks have it */
};

struct digest_trend {
	bool is_sure;
	int64_t from, to; /* ns a step at the begin and at the end of the recording */
	/* as a share of 'from'; not a number where the recording's length is not known */
	double per_hour;
	double chance; /* that steps in a random order would show it */
	bool is_own;   /* the ranks' own time grows; else communication */
};

struct digest_link {
	bool is_pair; /* from rank 'from' to rank 'to'; else a communicator */
	uint32_t from,
		to; /* indexes of ranks; of a communicator its first and last member with a digest */
	const char *operation, *group;
	int64_t size;      /* ranks of the communicator */
	bool is_across;    /* of a pair: on two hosts */
	uint64_t n, bytes; /* exchanges, and the mean bytes of one */
	double rate,
		usual;  /* bytes/s that the fastest reach, and the median of the links like it */
	uint32_t alike; /* so many links were compared */
	bool is_slow;
	int64_t cost; /* of a slow one: ns a step that it takes longer than usual */
};

struct digest_finding {                        /* one kind over the ranks */
	const char *id, *title, *place, *says; /* of the rank where it costs most */
	uint32_t worst, n, *ranks;
	int64_t least, most, cost; /* ns a step; cost: the mean over all ranks */
	bool is_inside;
	enum verdict_word word;
};

struct digest_answer {
	/* Rows, lateness, cause, verdict and sentences as the reports themselves would give
	 * them, where digests tell; no matrices, collectives, routes, path or findings. */
	struct job_answer job;
	const char *id, *program, *gpu; /* of the job; gpu: of most ranks */
	struct digest_judged *ranks;
	uint32_t n, n_judged, n_hosts;
	bool has_devices; /* some rank has device work */
	struct digest_matrix matrix;
	struct digest_role *roles;
	uint32_t n_roles;
	int64_t wait, transfer; /* ns a step of a typical rank in time */
	int64_t gain; /* ns a step that the job would be faster with the late ranks in time */
	struct digest_common *common;
	uint32_t n_common;
	const char *gain_says;
	const char *clock_says; /* what the clocks of late ranks tell, a sentence, or "" */
	const char *role_says;  /* that ranks of one role need longer than those of others, or "" */
	struct digest_trend trend; /* of all ranks together */
	const char *trend_says;
	uint32_t *slowing, n_slowing; /* ranks that get slower, the worst first */
	const char *slowing_says;
	struct digest_link *links; /* slow ones first, the costliest first */
	uint32_t n_links, n_slow;
	const char *link_says;
	struct digest_finding *findings;
	uint32_t n_findings;
	int64_t world;
	/* what a person should know before the numbers are believed, a line each */
	char **problems;
	uint32_t n_problems, cap_problems;
	struct hwy_arena arena;
};

/* The set is settled, stays, and has digests of one job; those that are stale are left out. */
void digest_answer_make(struct digest_answer *answer, const struct digest_set *set);
void digest_answer_free(struct digest_answer *answer);
void digest_answer_problem(struct digest_answer *answer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- inside this room ------------------------------------------------------------------------ */

void digest_matrix_make(struct digest_answer *answer);  /* digest_matrix.c */
void digest_roles_find(struct digest_answer *answer);   /* digest_roles.c: roles, matrix.late */
void digest_roles_settle(struct digest_answer *answer); /* after the late ranks are known */
void digest_late_find(struct digest_answer *answer);    /* digest_late.c: states, lateness, gain */
void digest_drift_find(struct digest_answer *answer);   /* digest_drift.c: trend, slowing */
void digest_common_find(struct digest_answer *answer);  /* digest_common.c */
void digest_cause_find(struct digest_answer *answer);   /* digest_cause.c: cause, clock_says */
void digest_links_find(struct digest_answer *answer);   /* digest_links.c */
void digest_words_say(struct digest_answer *answer);    /* digest_words.c: the sentences */
/* "rank 3", "ranks 611 and 1702" by indexes in order; in the arena. */
const char *digest_say_ranks(struct digest_answer *answer, const uint32_t *ranks, uint32_t n);
/* The part of a rank's place in the network that is above its host, "s0.s12", or "". */
const char *digest_switch_of(struct digest_answer *answer, const struct rank_digest *digest);
/* HWY_WORTH_SHARE of a step, ns. */
int64_t digest_worth(const struct digest_answer *answer);

#endif
