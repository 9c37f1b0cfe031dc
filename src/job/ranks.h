/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.h - the ranks of one job side by side: what each does with a step, who waits for whom,
 * who is late, and why.
 *
 * Everything is measured over the job's steps: the steady steps that all ranks have, matched by
 * the collectives in them. A rank waits in a collective from its own arrival to that of the last
 * rank; what comes after is transfer. The parts of a rank's step add up to the step, to the
 * nanosecond. Times a step are means over the job's steps.
 *
 * The first collective of a rank shows when the recording began, not that a rank is slow, and
 * does not count as waiting.
 */
#ifndef HWY_JOB_RANKS_H
#define HWY_JOB_RANKS_H

#include "analyze/wait_states.h"
#include "diagnose/diagnose.h"
#include "job/job_clock.h"

/* ---- what goes in ---------------------------------------------------------------------------- */

struct ranks_member { /* a rank of the job, with its measures */
	int64_t rank;
	struct hwy_analysis *analysis;
	struct hwy_diagnosis *diagnosis; /* NULL: places are not looked for in findings */
	uint32_t phase; /* the phase that is judged; analysis->phases.n: no device work */
	/* the rank's process where a recording has several, else FLOW_NO_PROCESS */
	uint32_t process;
	const char *host;              /* "" where it is not known */
	const struct job_clock *clock; /* to the first member's clock; NULL where it is not known */
};

struct ranks_arrival { /* a rank's part in a collective, on the rank's own clock */
	uint32_t member, meeting;
	int64_t from, to; /* when the rank took part */
	uint32_t culprit; /* the member that it waits for; itself where it waits for none */
	int64_t wait;     /* ns from the rank's arrival to the last rank's, at most to - from */
	/* The ns of 'wait' in which the rank does not wait in an earlier collective as well:
	 * collectives may go on side by side, and what the rank loses in them is counted once.
	 * Set by ranks_meetings_done. */
	int64_t added;
};

struct ranks_meeting { /* a collective of at least two ranks: arrivals[first … first + n - 1] */
	uint32_t first, n;
	bool waits_for_all; /* nobody can leave before the last has come */
	bool counts;        /* false for the first collective of one of its ranks */
};

struct ranks_wait { /* a rank waits for a message, or for the other side to take one */
	uint32_t member, culprit;
	struct hwy_interval at; /* on the clock of the rank that waits */
	int64_t came;           /* when the other one came, on its own clock */
};

struct ranks_meetings {
	struct ranks_meeting *meetings; /* in order of time */
	uint32_t n, cap;
	struct ranks_arrival *arrivals;
	uint32_t n_arrivals, cap_arrivals;
	struct ranks_wait *waits; /* outside collectives, by member, then by time */
	uint32_t n_waits, cap_waits;
	/* ns: shorter waiting cannot be told from what is not known about the clocks */
	int64_t uncertain;
	/* Once they are sorted: the arrivals of a member are arrivals[by_member[first_of[member]
	 * … first_of[member + 1] - 1]]. */
	uint32_t *by_member, *first_of;
};

/* The meetings of collectives that were matched for n members. */
struct ranks_meetings ranks_meetings_of(const struct hwy_collectives *c, uint32_t n);
/* Adds a meeting and its arrivals; their waits are known, their member and times set. */
void ranks_meetings_add(struct ranks_meetings *meetings, const struct ranks_arrival *arrivals,
			uint32_t n, bool waits_for_all);
/* After the last one was added: finds which count, and sorts the arrivals by member. */
void ranks_meetings_done(struct ranks_meetings *meetings, uint32_t n_members);
/* Adds what ranks wait for messages; states of collectives are left out, since the meetings have
 * them. */
void ranks_meetings_add_messages(struct ranks_meetings *meetings,
				 const struct hwy_wait_states *states);
void ranks_meetings_free(struct ranks_meetings *meetings);

/* ---- what comes out -------------------------------------------------------------------------- */

/* What a rank's device does, one thing at a time. */
enum rank_part {
	RANK_COMPUTE,
	/* communication beside which nothing is computed, without the waiting in it */
	RANK_TRANSFER,
	RANK_WAIT, /* nothing but waiting for other ranks */
	/* Waiting in the first collective of a rank: the recordings, or the program's ranks,
	 * began at different times. */
	RANK_START,
	RANK_COPY, /* copies and fills beside which nothing else runs */
	RANK_IDLE, /* RANK_IDLE + an enum gap_cause: idle by that cause */
	RANK_PARTS = RANK_IDLE + GAP_CAUSES
};
/* The names of the parts for people: "compute", "transfer", "waiting", "copies", "idle
 * (launch)". */
const char *ranks_part_name(unsigned part);
const char *ranks_part_word(unsigned part); /* … in the reader's language */

struct rank_row {
	int64_t rank;
	const char *host;
	/* false: no device work, or no steps in common with the others; the times are 0 */
	bool is_judged;
	int64_t step;              /* ns: mean over the job's steps */
	int64_t parts[RANK_PARTS]; /* ns a step; they add up to 'step' */
	int64_t hidden;            /* ns a step of communication beside compute */
	int64_t waited; /* ns a step that the rank waits in collectives, hidden waiting included */
	/* ns a step that the other ranks wait for this rank, as the mean of one of those that
	 * meet others; what it waited itself before it came is not its fault. */
	int64_t blamed;
	uint32_t n_messages; /* messages of the job's steps that one of the two ranks waits for */
	uint32_t n_meetings,
		n_last;  /* collectives of the job's steps; those that the rank came last to */
	uint32_t n_late; /* job steps in which the rank is late */
	double busy;     /* share of the step in which the device computes */
};

enum ranks_lateness {
	RANKS_IN_TIME,    /* waiting for others costs too little to speak of */
	RANKS_REPEAT,     /* the same ranks are late in most steps */
	RANKS_TAKE_TURNS, /* another rank is late each time */
	RANKS_EARLY,      /* most ranks come together, and a few come early and wait */
	RANKS_FEW_STEPS,  /* they wait, but too few steps are recorded to tell whether it repeats */
};
extern const char *const ranks_lateness_names[];

/* Why the late ranks are late: what they do longer than the ranks that are in time. */
struct ranks_cause {
	bool is_known;
	enum rank_part part; /* the part that grows most; never RANK_WAIT */
	bool is_before;      /* it grows in the step before the one in which the rank is late */
	int64_t more;        /* ns by which it is longer, a step in which a rank is late */
	double share;        /* of all that the late ranks do longer, 0 … 1 */
	/* Kernels of the late ranks against the others': time, number, and threads launched, as
	 * ratios; 0 where not known. */
	double kernel_time, kernel_count, threads;
	/* The range, operator, function or call into the system in which the late rank's CPU is
	 * longer, or "", and by how many ns. */
	const char *doing;
	int64_t doing_more;
	const char *kernel;     /* the kernel whose time grows most, or "" */
	struct hwy_place place; /* where the late rank does it; only where has_place */
	bool has_place;
	/* What the CPU does was not recorded, but lies between this line and that of 'place', in
	 * one function; 0: not known. */
	int64_t after_line;
	/* what the CPU does comes before the call at 'place'; more is not known */
	bool is_before_place;
	uint32_t member; /* the late rank that 'place' and 'kernel' were seen on */
};

struct job_ranks {
	struct rank_row *rows; /* one for each member, in the members' order */
	uint32_t n;
	/* The job's steps; 0 where the ranks have none in common. first_step[member] is the
	 * index of the first one in its phase. */
	uint32_t n_steps, *first_step;
	bool is_cut;  /* the job has more steps: only the first are compared */
	int64_t step; /* ns: mean over ranks and steps */
	/* late[member * n_steps + step]: ns by which the rank comes later to the step's
	 * exchanges than the first rank, but for what it waited itself. */
	int64_t *late;
	/* parts[(member * n_steps + step) * RANK_PARTS + part], ns; length[member * n_steps +
	 * step] is their sum. */
	int64_t *parts, *length;
	int64_t *waits; /* waits[member * n + other]: ns a step that 'member' waits for 'other' */
	uint32_t n_meetings; /* collectives inside the job's steps that count */
	uint32_t n_messages; /* messages inside them that a rank waited for */
	/* Nothing that was exchanged is recorded: waiting is guessed from how much longer ranks
	 * communicate than the one that does so least. */
	bool is_guessed;
	bool has_waited; /* some of these count, so that waiting is known */
	int64_t waiting; /* ns a step in which a rank only waits for others, mean over ranks */

	enum ranks_lateness lateness;
	uint32_t *late_ranks,
		n_late_ranks; /* members: those late in most steps, or early ones with RANKS_EARLY */
	uint32_t n_late_steps; /* job steps in which somebody waits for long enough to count */
	struct ranks_cause cause;
	/* of compute: 1 - mean / max over ranks, of a step's compute; mean over steps */
	double imbalance;
	struct hwy_arena arena;
};

/* Compares the ranks. Fails only where a recording cannot be read. 'meetings' is kept by the
 * caller. */
bool ranks_compare(struct job_ranks *ranks, const struct ranks_member *members, uint32_t n,
		   const struct ranks_meetings *meetings, struct hwy_err *err);
void ranks_free(struct job_ranks *ranks);

/* ---- inside this room ------------------------------------------------------------------------ */

static inline const struct hwy_phase *ranks_phase(const struct ranks_member *member)
{
	const struct hwy_phases *phases = &member->analysis->phases;
	return member->phase < phases->n ? &phases->phases[member->phase] : NULL;
}

#define RANKS_NO_STEP UINT32_MAX
/* ranks_steps.c: finds the job's steps: n_steps, first_step. */
void ranks_find_steps(struct job_ranks *ranks, const struct ranks_member *members,
		      const struct ranks_meetings *meetings);
/* The step of a rank's phase in whose window a time lies; RANKS_NO_STEP outside all of them. */
uint32_t ranks_step_at(const struct ranks_member *member, int64_t time);
/* ranks_blame.c: finds who waits for whom, and who is late: late, waits, the rows' counts. */
void ranks_count_waits(struct job_ranks *ranks, const struct ranks_member *members,
		       const struct ranks_meetings *meetings);
/* ranks_blame.c: where nothing exchanged is recorded, takes the time that a rank's step has of
 * communication beyond that of the rank with least of it for waiting, in the parts too. */
void ranks_guess_waits(struct job_ranks *ranks);
/* ranks_parts.c: fills parts, length and the rows' times. */
void ranks_measure(struct job_ranks *ranks, const struct ranks_member *members,
		   const struct ranks_meetings *meetings);
/* Whether anything is known about how the rank meets others. */
static inline bool ranks_meets(const struct rank_row *row)
{
	return row->n_meetings + row->n_messages > 0;
}
/* ranks_late.c: tells late ranks that repeat from those that change; ranks_cause.c: what they do
 * longer. */
void ranks_judge(struct job_ranks *ranks);
bool ranks_find_cause(struct job_ranks *ranks, const struct ranks_member *members,
		      struct hwy_err *err);
/* ranks_cpu.c: what the CPU of the late rank does longer: cause.doing and its place. */
bool ranks_find_doing(struct job_ranks *ranks, const struct ranks_member *members,
		      struct hwy_err *err);
/* Whether the rank is late in the step: by half of what the latest is, where that is worth a
 * word. */
bool ranks_is_late(const struct job_ranks *ranks, uint32_t member, uint32_t step);

#endif
