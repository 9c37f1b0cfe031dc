/* phases_internal.h - what the files behind phases.h share. */
#ifndef HWY_ANALYZE_PHASES_PHASES_INTERNAL_H
#define HWY_ANALYZE_PHASES_PHASES_INTERNAL_H

#include "analyze/phases/phases.h"

/* The calls of one process that enqueued device work, and its waits, in order; a wait right after one of the
 * same name is left out. A "place" is an index into calls. */
struct phases_track {
	const struct hwy_flow *flow;
	uint32_t process; /* index, or FLOW_NO_PROCESS */
	uint32_t *calls;  /* in flow.calls */
	double *work;     /* ns of device work that the calls before each place enqueued; n + 1 */
	uint32_t n;
	int64_t longest; /* op of the trace: what began earlier is over */
	uint32_t *
		tokens; /* by place: equal for equal work on the same stream; NULL until asked for */
};

static inline const struct flow_call *track_call(const struct phases_track *track, uint32_t place)
{
	return &track->flow->calls[track->calls[place]];
}

static inline bool track_is_wait(const struct phases_track *track, uint32_t place)
{
	return track_call(track, place)->op == FLOW_NONE;
}

/* A number for the name of the wait at a place. */
uint64_t track_wait_kind(const struct phases_track *track, uint32_t place);
/* The first place whose call starts at or after a time. */
uint32_t track_place_at(const struct phases_track *track, int64_t time);
/* The same where it is not before a place, and probably not far from it. */
uint32_t track_place_from(const struct phases_track *track, uint32_t place, int64_t time);

/* A proposal: where the steps of a phase begin. */
struct phases_cut_step {
	struct hwy_interval cpu;
	int64_t name;
	uint32_t place, end; /* calls of the track */
};
struct phases_cut {
	enum phase_source source;
	int64_t name;
	struct phases_cut_step *steps;
	uint32_t n;
	uint32_t n_warm; /* known to be warm-up: a shorter run of the same kind before it */
	bool is_certain; /* marks whose name says that they are steps */
};
struct phases_cuts {
	struct phases_cut *v;
	uint32_t n, cap;
};

/* Marks: all phases that annotations tell of; those 'step' names, where it is not NULL. START, DUR and NAME
 * of HWY_RANGE and HWY_OP are there. */
void marks_cut(const struct phases_track *track, const char *step, struct phases_cuts *cuts);
/* How much of a process's calls and device work makes a phase. */
struct phases_least {
	uint32_t percent;
	bool of_both; /* else of one of them */
};
/* The periods of the calls [from, to) of the track. */
void sequence_cut(struct phases_track *track, uint32_t from, uint32_t to, struct phases_least least,
		  struct phases_cuts *cuts);

/* Makes the phase: device windows, warm-up and steady steps, statistics. False: it has no device work. */
bool steady_measure(const struct phases_track *track, const struct phases_cut *cut,
		    struct hwy_phase *phase);

#endif
