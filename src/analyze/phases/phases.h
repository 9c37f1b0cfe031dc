/* phases.h - the stretches of a run that have one kind of step, and their steps.
 *
 * A step is a set of consecutive launches of one process: those made inside a mark (step_7, ProfilerStep#7,
 * a repeated top-level range), or one period of the sequence of launches and waits. Its device window runs
 * from the first device start of its launches to that of the next step; the last one's ends with its work.
 * Step time is the device's period, never the range's length.
 */
#ifndef HWY_ANALYZE_PHASES_PHASES_H
#define HWY_ANALYZE_PHASES_PHASES_H

#include "analyze/flow.h"

enum phase_source {
	PHASE_MARKS,    /* annotations with a counter, or repeated at the top level */
	PHASE_SEQUENCE, /* the period of (role, name, stream) */
	PHASE_WAITS,    /* a sequence of few kinds of calls, delimited by its waits */
	PHASE_ONE,      /* nothing repeats: one step, the whole stretch */
};

struct phase_step {
	struct hwy_interval cpu;    /* the mark; without marks: first to last call */
	struct hwy_interval device; /* see above */
	/* In flow.calls, from the step's first to the next one's (so what is launched between two marks
	 * belongs to the first of them); calls of other processes in between included. */
	uint32_t first_call, n_calls;
	int64_t name;    /* text of the mark, or HWY_NONE */
	int64_t busy;    /* device busy time inside the window */
	bool is_warm_up; /* before the steady ones */
	bool is_cut;     /* the last one, where its window is shorter than a period: not steady */
	bool is_outlier; /* steady, and far from the median */
};

struct hwy_phase {
	enum phase_source source;
	int64_t name;             /* text: the marks' common part ("step_"), or HWY_NONE */
	uint32_t process;         /* index, or FLOW_NO_PROCESS */
	struct phase_step *steps; /* in order */
	uint32_t n_steps;
	/* The steady ones: steps[first_steady … first_steady + n_steady - 1]; at least one. Before them
	 * warm-up, after them at most one that is cut. */
	uint32_t first_steady, n_steady;
	struct hwy_interval window; /* the steady steps' device windows together */
	int64_t mean;               /* window / steady steps: the headline */
	int64_t median, p10, p90;
	bool is_bursty;           /* the mean is far above the median */
	bool is_first_told_apart; /* warm-up that is slow, or a run of its own: worth a word */
	double launches_per_step, waits_per_step;
};

struct hwy_phases {
	struct hwy_phase *phases; /* in order of time; those of different processes may overlap */
	uint32_t n;
	uint32_t main; /* the one that took longest (steps times mean); n when there is none */
};

struct phases_options {
	/* The marks to use, by name or common part; NULL: chosen; "": none, the sequence decides. */
	const char *step;
};
/* False with one line when 'step' names no mark. A trace without device work has no phases, whatever 'step' is. */
bool phases_find(const struct hwy_flow *flow, const struct phases_options *options,
		 struct hwy_phases *phases, struct hwy_err *err);
void phases_free(struct hwy_phases *phases);

#endif
