/* SPDX-License-Identifier: Apache-2.0 */
/* phases_internal.h - what the files behind phases.h share: a process's calls in order, and
 * proposals for its phases. */
#ifndef HWY_ANALYZE_PHASES_PHASES_INTERNAL_H
#define HWY_ANALYZE_PHASES_PHASES_INTERNAL_H

#include "analyze/phases/phases.h"

/* The calls of one process that enqueued device work, and the waits of the process, in order of
 * time. A wait that directly follows a wait of the same name is left out. A "place" is an index
 * into the array calls. */
struct phases_track {
	const struct hwy_flow *flow;
	uint32_t process; /* index into the trace's processes, or FLOW_NO_PROCESS */
	uint32_t *calls;  /* the process's calls as ascending indexes into flow.calls */
	/* n + 1 values: ns of device work that the calls before each place enqueued */
	double *work;
	uint32_t n;
	/* ns of the trace's longest op: an op that began earlier than that is over */
	int64_t longest;
	/* For each place a number that is equal for equal work on the same stream; NULL until
	 * period_find makes them. */
	uint32_t *tokens;
};

static inline const struct flow_call *track_call(const struct phases_track *track, uint32_t place)
{
	return &track->flow->calls[track->calls[place]];
}

static inline bool track_is_wait(const struct phases_track *track, uint32_t place)
{
	return track_call(track, place)->op == FLOW_NONE;
}

/* The id of the name of the wait at this place: waits of one name are of one kind. */
uint64_t track_wait_kind(const struct phases_track *track, uint32_t place);
/* The first place whose call starts at or after a time; the number of calls where there is none. */
uint32_t track_place_at(const struct phases_track *track, int64_t time);
/* The first place from 'place' on whose call starts at or after a time; fast where it lies close
 * to 'place'. */
uint32_t track_place_from(const struct phases_track *track, uint32_t place, int64_t time);

/* One step of a proposed phase. */
struct phases_cut_step {
	struct hwy_interval cpu; /* the step's mark; without marks, its first to its last call */
	int64_t name;            /* text of the step's mark, or HWY_NONE */
	uint32_t place, end;     /* the step's calls are the places [place, end) of the track */
};
/* A proposal for one phase: where its steps begin. */
struct phases_cut {
	enum phase_source source;
	int64_t name; /* text: the common part of the marks' names, or HWY_NONE */
	struct phases_cut_step *steps;
	uint32_t n;
	/* The first steps that are surely warm-up: a shorter run of the same kind. */
	uint32_t n_warm;
	bool is_certain;   /* the steps are marks whose names say "step" */
	bool has_start_up; /* as in struct hwy_phase */
};
struct phases_cuts {
	struct phases_cut *cuts;
	uint32_t n, cap;
};

/* Proposes the phases whose steps are marks: the marks that 'step' names, or the best ones where
 * 'step' is NULL. The caller has loaded START, DUR and NAME of HWY_RANGE and HWY_OP. */
void phases_marks_cut(const struct phases_track *track, const char *step, struct phases_cuts *cuts);
/* How much of its process's calls and device work a phase must have. */
struct phases_least {
	uint32_t percent;
	/* True where the percentage holds for the calls and for the work; false where one of the
	 * two suffices. */
	bool of_both;
};
/* Proposes the phases whose steps are periods of the calls at the places [from, to). */
void phases_sequence_cut(struct phases_track *track, uint32_t from, uint32_t to,
			 struct phases_least least, struct phases_cuts *cuts);

/* Whether a proposal of phases_sequence_cut is a loop inside one step: layers, tokens.
 * 'loops_take_most' says that all proposals together take at least half of the time. In shorter
 * recordings the CPU also pauses between layers, to load their code and to allocate, so that a
 * pause before each turn does not make the loop the program's. */
bool phases_is_inner_loop(const struct phases_track *track, const struct phases_cut *cut,
			  bool loops_take_most);

/* Makes a phase of a proposal: device windows, warm-up and steady steps, statistics. False where
 * the proposal has no device work. */
bool phases_steady_measure(const struct phases_track *track, const struct phases_cut *cut,
			   struct hwy_phase *phase);

#endif
