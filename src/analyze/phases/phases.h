/* SPDX-License-Identifier: Apache-2.0 */
/* phases.h - the stretches of a run that have one kind of step, and their steps.
 *
 * A step is a set of consecutive launches of one process: the launches made inside a mark
 * (step_7, ProfilerStep#7, a repeated top-level range), or one period of the sequence of
 * launches and waits. A step's device window runs from the first op of its launches to the first
 * op of the next step; the last step's window ends with its work. The time of a step is the
 * length of its device window, never the length of its mark. Times are in ns.
 */
#ifndef HWY_ANALYZE_PHASES_PHASES_H
#define HWY_ANALYZE_PHASES_PHASES_H

#include "analyze/flow.h"

enum phase_source {
	PHASE_MARKS,    /* steps are annotations with a counter, or repeated at the top level */
	PHASE_SEQUENCE, /* steps are periods of the sequence of calls */
	PHASE_WAITS,    /* steps are few kinds of calls over and over, and end with a wait */
	PHASE_ONE,      /* nothing repeats: the whole stretch is one step */
};

struct phase_step {
	struct hwy_interval cpu;    /* the step's mark; without marks, its first to its last call */
	struct hwy_interval device; /* the step's device window */
	/* The step's calls are flow.calls[first_call … first_call + n_calls - 1], up to the next
	 * step's first call: what is launched between two marks belongs to the earlier one.
	 * Other processes' calls lie among them. */
	uint32_t first_call, n_calls;
	int64_t name;    /* id of the text of the step's mark, or HWY_NONE */
	int64_t busy;    /* ns that the device works inside the step's window */
	bool is_warm_up; /* the step lies before the steady steps */
	bool is_cut;     /* the last step, whose window is not a whole period: it is not steady */
	bool is_outlier; /* a steady step whose length is far from the median */
};

struct hwy_phase {
	enum phase_source source;
	/* Id of the text that the names of the marks have in common ("step_"), or HWY_NONE. */
	int64_t name;
	uint32_t process;         /* index into the trace's processes, or FLOW_NO_PROCESS */
	struct phase_step *steps; /* the steps of the phase, in order of time */
	uint32_t n_steps;
	/* The steady steps, at least one, are steps[first_steady … first_steady + n_steady - 1].
	 * Warm-up steps stand before the steady steps, at most one cut step behind them. */
	uint32_t first_steady, n_steady;
	struct hwy_interval window; /* the steady steps' device windows together */
	int64_t mean;               /* ns of a steady step: the window divided by n_steady */
	int64_t median, p10, p90;   /* quantiles of the lengths of the steady steps, in ns */
	bool is_bursty;             /* the mean step is far longer than the median step */
	/* Of PHASE_ONE: start-up takes longer than all of the rest, so the window begins with the
	 * process's first call of the API; else it begins with its first launch. */
	bool has_start_up;
	bool is_first_told_apart; /* the warm-up is slow, or a run of its own: reports mention it */
	/* Means over the steady steps of the launches and the waits. */
	double launches_per_step, waits_per_step;
};

/* Whether what a call of the phase's process launched counts as work of the steady steps, where it
 * runs in their window; work of unknown launch (FLOW_NONE) does. In a loop the work of each step
 * may run in the next one's window, at both ends alike; but what was launched before the first step
 * of the phase, or behind its last, is no step's. */
static inline bool phase_has_call(const struct hwy_phase *phase, uint32_t call)
{
	uint32_t end = phase->first_steady + phase->n_steady;
	const struct phase_step *first = phase->steps, *last = &phase->steps[end - 1];
	if (call == FLOW_NONE || end == 0)
		return true;
	return (phase->first_steady > 0 || call >= first->first_call) &&
	       (end < phase->n_steps || call < last->first_call + last->n_calls);
}

/* A loop inside one step: the layers of a model, the tokens of a request. */
struct phase_inner_loop {
	uint32_t process; /* index into the trace's processes, or FLOW_NO_PROCESS */
	uint32_t n;       /* how often the loop's body runs */
	/* The loop's time on the device: from the first op of the first iteration to the first
	 * op of the last one. */
	struct hwy_interval time;
	uint32_t call; /* the loop's first call, as an index into flow.calls */
};

struct hwy_phases {
	struct hwy_phase *phases; /* in order of time; phases of different processes may overlap */
	uint32_t n;
	/* The phase that took longest (n_steps times mean); n where there is no phase. */
	uint32_t main;
	struct phase_inner_loop *inner; /* the loops that were found inside a step of 'main' */
	uint32_t n_inner, cap_inner;
};

struct phases_options {
	/* The name, or common part of the names, of the marks that are the steps. NULL lets
	 * phases_find choose marks, and "" forbids marks: then the sequence of calls decides. */
	const char *step;
};
/* Finds the phases of a trace. Fails where 'step' names no mark; a trace without device work has
 * no phases, whatever 'step' says. */
bool phases_find(const struct hwy_flow *flow, const struct phases_options *options,
		 struct hwy_phases *phases, struct hwy_err *err);
void phases_free(struct hwy_phases *phases);

#endif
