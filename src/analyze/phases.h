/* phases.h - the stretches of a run that have one kind of step, and their steps.
 *
 * A step is a set of consecutive launches of one process: those made inside a mark (step_7, ProfilerStep#7,
 * a repeated top-level range), or one period of the sequence of launches and waits. Its device window runs
 * from the first device start of its launches to that of the next step; the last one's ends with its work.
 * Step time is the device's period, never the range's length.
 */
#ifndef HWY_ANALYZE_PHASES_H
#define HWY_ANALYZE_PHASES_H

#include "analyze/flow.h"

enum phase_source {
	PHASE_MARKS,    /* annotations with a counter, or repeated at the top level */
	PHASE_SEQUENCE, /* the period of (role, name, stream) */
	PHASE_WAITS,    /* a constant sequence, delimited by its waits */
	PHASE_ONE,      /* nothing repeats: one step, the whole stretch */
};

struct phase_step {
	struct hwy_interval cpu;    /* the mark; without marks: first to last call */
	struct hwy_interval device; /* see above */
	uint32_t first_call,
		n_calls; /* in flow.calls, those of other processes in between included */
	int64_t name;    /* text of the mark, or HWY_NONE */
	int64_t busy;    /* device busy time inside the window */
	bool is_warm_up, is_outlier;
};

struct hwy_phase {
	enum phase_source source;
	int64_t name;             /* text: the marks' common part ("step_"), or HWY_NONE */
	uint32_t process;         /* index */
	struct phase_step *steps; /* in order */
	uint32_t n_steps;
	uint32_t first_steady, n_steady; /* the last n_steady of them are steady */
	struct hwy_interval window;      /* the steady steps' device windows together */
	int64_t mean;                    /* window / steady steps: the headline */
	int64_t median, p10, p90;
	bool is_bursty;           /* the mean is far above the median */
	bool is_first_told_apart; /* the first steps carry start-up and are not steady */
	double launches_per_step, waits_per_step;
};

struct hwy_phases {
	struct hwy_phase *phases; /* in order of time; those of different processes may overlap */
	uint32_t n;
	uint32_t main; /* the one that took longest; n when there is none */
};

struct phases_options {
	const char *step; /* the marks to use, by name or common part; NULL: chosen */
};
/* False with one line when 'step' names no mark. A trace without device work has no phases. */
bool phases_find(const struct hwy_flow *flow, const struct phases_options *options,
		 struct hwy_phases *phases, struct hwy_err *err);
void phases_free(struct hwy_phases *phases);

#endif
