/* SPDX-License-Identifier: Apache-2.0 */
/* whatif.h - edits that stand for fixes, and what they are worth: predictions of a phase's step
 * time.
 *
 *   struct whatif w;
 *   struct whatif_edit edit;
 *   struct whatif_prediction prediction;
 *   if (!edit_read("remove-wait:train.py:23", &edit) || !whatif_open(&w, analysis, phase, false, err))
 *           return false;
 *   bool is_known = whatif_predict(&w, &edit, 1, &prediction, err);
 *   whatif_close(&w);
 *
 * Predictions are for the program without a profiler: the cost of recording is taken out first
 * (costs.c). An edit changes a copy of the graph; each edit has a file in edits/ and a line in
 * the table of edits.c. A prediction never beats the busiest resource of the edited graph,
 * because the replay keeps every resource's order.
 */
#ifndef HWY_WHATIF_WHATIF_H
#define HWY_WHATIF_WHATIF_H

#include "whatif/excerpt.h"
#include "whatif/replay.h"

/* What recording an event adds to the program, and the machine's own latencies; in ns unless named
 * otherwise. The values come from the report's calibration, else from a table by GPU. */
struct whatif_machine {
	const char *source; /* "measured where it was recorded", "a table for the H200", … */
	bool is_measured;
	/* Samples of the CPU were taken, whose cost nothing measures: the times without the
	 * recorder are unsure. */
	bool has_samples;
	struct whatif_cost {
		int64_t launch, sync, graph_launch, range, op;
		/* The ns that recording adds to the time from a launch to the begin of its
		 * kernel. */
		int64_t latency;
		/* The ns that recording adds to the time from a kernel's end to the next
		 * kernel's begin. */
		int64_t next;
	} cost;
	int64_t graph_launch; /* ns of a call that launches a graph, without a profiler */
	int64_t graph_next;   /* ns from the end of a graph's node to the begin of the next node */
	/* The ns from begin to begin of a graph's empty kernels; 0 where this was not measured. */
	int64_t graph_period;
	/* CPU work of more than this many ns between two launches is the program's own, not
	 * dispatch */
	int64_t own_work;
	int64_t launch; /* ns of a call that launches a kernel, without a profiler */
	struct whatif_link {
		int64_t latency;
		double bandwidth; /* bytes/s */
	} h2d, d2h;               /* copies of pinned memory */
};

/* A moment of the CPU between two calls, so that it can be found in an edited graph too. */
struct whatif_moment {
	bool is_set;
	uint32_t after; /* the call or return before the moment; GRAPH_NONE where there is none */
	/* ns from the end of 'after' to the moment; without 'after' the moment itself */
	int64_t offset;
};

struct edit_kind;
struct whatif_edit {
	const struct edit_kind *kind;
	/* The text after the colon in "edit:arguments"; "" where there is none. */
	const char *arguments;
};

struct whatif_prediction {
	int64_t step; /* ns of the predicted step: the mean over the steady steps */
	/* ns, the bar of 'step': the spread of steps and the doubt about latencies together. */
	int64_t p10, p90;
	/* The unedited step divided by 'step', both without the cost of recording. */
	double speedup;
	/* What most of the predicted step consists of: "compute", "copies", "cpu", "waits" … */
	const char *bound;
};

struct whatif {
	const struct hwy_analysis *analysis;
	/* Flow, phase and gaps are those of the excerpt, or of the analysis where there is no
	 * excerpt. */
	const struct hwy_flow *flow;
	/* phase and gaps are NULL in a run without steps (joint_open_run). */
	const struct hwy_phase *phase;
	const struct hwy_gaps *gaps;
	/* NULL where the graph holds the whole recording, as the analysis has it */
	struct excerpt *excerpt;
	uint32_t phase_index;
	struct joint *joint; /* all ranks of the run, with this rank; NULL for a single rank */
	uint32_t rank;       /* index of this rank in joint->ranks */
	/* The replay graph; whatif_base takes the cost of recording out of it. */
	struct hwy_graph graph;
	struct whatif_machine machine;
	uint32_t *step_of; /* for each op a reference (base/ref.h) to the op's step of the phase */
	/* The begin of the phase's window where it lies before the first op of the first step,
	 * and the end of the window where it lies after the last op of the last step: phases of
	 * few steps count the CPU's time there (phases.h). */
	struct whatif_moment lead, tail;
	uint32_t lead_call; /* the first call after 'lead'; GRAPH_NONE where there is no lead */
	/* The source has not recorded which work of a stream waits for which work of another
	 * one. */
	bool is_order_unknown;
	int64_t recorded;  /* ns, the mean step of the whole phase as recorded */
	double scale;      /* 'recorded' divided by the mean of the steps in the graph */
	int64_t base_mean; /* ns, the mean step of the graph without the cost of recording */
	/* The ns from step end to step end in the graph without the cost of recording. */
	double base_rate;
	/* The prediction for the unedited graph, or for all ranks' unedited graphs. */
	struct whatif_prediction base;
	struct {
		/* share of the steps in which work is delayed and no edge explains it */
		double residual;
		/* The number of nodes whose replayed times differ from the measured times; any
		 * value but 0 is a bug. */
		uint32_t differ;
		double contradicted;  /* share of edges that the trace contradicts */
		double steps_predict; /* median error of a step replayed with all steps' median
				       * durations, as a share; -1 where steps differ too much */
	} quality;
};

/* all: the graph holds the whole recording, however long it is, not an excerpt. After a failure
 * there is nothing to close. */
bool whatif_open(struct whatif *w, const struct hwy_analysis *analysis, uint32_t phase, bool all,
		 struct hwy_err *err);
void whatif_close(struct whatif *w);
bool whatif_predict(const struct whatif *w, const struct whatif_edit *edits, uint32_t n,
		    struct whatif_prediction *prediction, struct hwy_err *err);

/* How much of a recording a graph holds. */
struct whatif_extent {
	bool is_whole; /* all of it, however long it is */
	/* An excerpt takes the steps that begin in it; with NULL excerpt_make chooses. */
	const struct hwy_interval *window;
	/* Calls on the CPU that communicate are nodes, too: those of this process, or with
	 * FLOW_NO_PROCESS of all. */
	bool has_comm_calls;
	uint32_t process;
};
/* The two halves of whatif_open: whatif_build makes the graph as recorded, whatif_base takes the
 * cost of recording out. Ranks are joined between the two (joint.h). */
bool whatif_build(struct whatif *w, const struct hwy_analysis *analysis, uint32_t phase,
		  const struct whatif_extent *extent, struct hwy_err *err);
bool whatif_base(struct whatif *w, struct hwy_err *err);

/* Makes the edited graph, which the caller frees. note (may be NULL): what the user should know
 * about the edits. */
enum { WHATIF_NOTE = 256 };
bool whatif_apply(const struct whatif *w, const struct whatif_edit *edits, uint32_t n,
		  struct hwy_graph *graph, char note[WHATIF_NOTE], struct hwy_err *err);

/* whatif_apply, and the end of each node of that graph in its replay, together with the other
 * ranks where there are any; to be freed, as the graph is. */
bool whatif_replay_edits(const struct whatif *w, const struct whatif_edit *edits, uint32_t n,
			 struct hwy_graph *graph, int64_t **ends, char note[WHATIF_NOTE],
			 struct hwy_err *err);

/* How long a run takes with these edits, ns, from the first begin to the last end of any rank
 * that others wait for; for a rank of joint_open_run. The recorder's cost is in it. */
bool whatif_run_length(const struct whatif *w, const struct whatif_edit *edits, uint32_t n,
		       int64_t *length, struct hwy_err *err);

/* How much device work a step, in ns, the program would need before the edits gain 'share' of the
 * step, if all of its ops grew alike. 0 where the edits gain that much already, INT64_MAX where
 * they do not even with 128 times the work. */
int64_t whatif_tipping(const struct whatif *w, const struct whatif_edit *edits, uint32_t n,
		       double share);

/* ns of the CPU's work before a call that an edit may remove: that since the call before it,
 * inside the window. 0 for a call without predecessor, except for the first call after w->lead. */
int64_t whatif_work_before(const struct whatif *w, const struct hwy_graph *graph, uint32_t node);

/* Predictions from a graph with a larger quality.residual are not to be believed. */
#define WHATIF_UNEXPLAINED_SHARE 0.3
/* quality.c: fills in w->quality; the cost of recording must still be in the graph. */
void quality_measure(struct whatif *w);
/* machine_model.c: sets the machine's latencies from the trace's calibration, else from a table. */
void machine_model_find(struct whatif_machine *machine, struct hwy_trace *trace);
bool machine_model_has_samples(const struct hwy_trace *trace);
/* What recording one operator of PyTorch costs, ns, as the collector measured it in the program;
 * 0: it did not. */
int64_t machine_model_operator_cost(const struct hwy_trace *trace);
/* Bytes a second between host and device, by the device's PCIe slot or its generation; the least
 * that is usual where 'device' is NULL. */
double machine_model_link_rate(const struct hwy_device *device);
/* costs.c: takes the cost of recording out of w->graph. */
void costs_take_out(struct whatif *w);

/* ---- edits ---- */

struct editing {
	const struct whatif *w;
	const struct hwy_flow *flow;
	struct hwy_graph *graph;   /* the copy that is edited */
	struct hwy_places *places; /* the places of the analysis */
	int64_t lead_cut; /* ns by which the edits shorten the CPU's work before w->lead_call */
	/* What the user should know, e.g. which calls no graph can capture. */
	char note[WHATIF_NOTE];
};

struct edit_kind {
	const char *id;        /* "remove-wait" */
	const char *arguments; /* "[:PLACE]"; "" for none */
	const char *about;     /* one line of help text */
	/* Device work may run beside other work that it did not run beside in the recording. */
	bool overlaps;
	/* The edit only removes work or waits: a slower prediction is cut to the unedited step. */
	bool only_removes;
	bool needs_no_steps; /* the edit can be made in a run without steps or device work, too */
	/* Yields whether the arguments make sense for any recording; NULL where the edit takes
	 * any arguments. */
	bool (*check)(const char *arguments, struct hwy_err *err);
	/* Edits e->graph. False, with nothing changed, where the recording has nothing to edit. */
	bool (*apply)(struct editing *e, const char *arguments, struct hwy_err *err);
};
extern const struct edit_kind *const edit_kinds[]; /* all edits; a NULL ends the list */
const struct edit_kind *edit_find(const char *id);
/* Reads "pin" or "remove-wait:train.py:23"; edit->arguments points into the text. False where there
 * is no such edit. */
bool edit_read(const char *text, struct whatif_edit *edit);

#endif
