/* whatif.h - edits that stand for fixes, and what they are worth: predictions of a phase's step time.
 *
 *   struct whatif w;
 *   struct whatif_edit edit;
 *   struct whatif_prediction prediction;
 *   if (!edit_read("remove-wait:train.py:23", &edit) || !whatif_open(&w, analysis, phase, false, err))
 *           return false;
 *   bool is_known = whatif_predict(&w, &edit, 1, &prediction, err);
 *   whatif_close(&w);
 *
 * Predictions are for the program without a profiler: what recording cost is taken out first (costs.c). An
 * edit changes a copy of the graph; one file each, edit_NAME.c, and one table (edits.c). A prediction never
 * beats the busiest resource of the edited graph, because the replay keeps every resource's order.
 */
#ifndef HWY_WHATIF_WHATIF_H
#define HWY_WHATIF_WHATIF_H

#include "whatif/excerpt.h"
#include "whatif/replay.h"

/* What recording an event adds to the program, and what the machine does; ns unless named otherwise. From the
 * report's calibration, else from a table by GPU, else from the table's middle. */
struct whatif_machine {
	const char *source; /* "measured where it was recorded", "a table for the H200", … */
	bool is_measured;
	struct whatif_cost {
		int64_t launch, sync, graph_launch, range, op;
		int64_t latency; /* of a launch */
		int64_t next;    /* from kernel to kernel */
	} cost;
	int64_t graph_launch; /* the call, without a profiler */
	int64_t graph_next;   /* from node to node inside a graph */
	int64_t graph_period; /* of a graph's nodes that do nothing; 0: not known */
	int64_t launch;       /* the call, without a profiler */
	struct whatif_link {
		int64_t latency;
		double bandwidth; /* bytes/s */
	} h2d, d2h;               /* pinned */
};

struct edit_kind;
struct whatif_edit {
	const struct edit_kind *kind;
	const char *arguments; /* after the colon; "" for none */
};

struct whatif_prediction {
	int64_t step;      /* ns: the mean over the steady steps */
	int64_t p10, p90;  /* its bar: the steps' spread and the doubt about latencies together */
	double speedup;    /* against the compensated step */
	const char *bound; /* what fills the step now: "compute", "copies", "cpu", "waits" … */
};

struct whatif {
	const struct hwy_analysis *analysis;
	const struct hwy_flow *flow; /* these three: of the excerpt, or of the analysis */
	const struct hwy_phase *phase;
	const struct hwy_gaps *gaps;
	struct excerpt *excerpt; /* NULL: everything is in the graph */
	uint32_t phase_index;
	struct joint *joint;    /* of several ranks: all of them, this one too; NULL: it is alone */
	uint32_t rank;          /* its place among them */
	struct hwy_graph graph; /* compensated */
	struct whatif_machine machine;
	uint32_t *step_of;             /* by op: step of the phase + 1, 0: none */
	int64_t recorded;              /* the mean step as recorded, of the whole phase */
	double scale;                  /* that by the mean of the steps in the graph */
	int64_t base_mean;             /* the same of the compensated graph */
	double base_rate;              /* and the pace of its steps' ends, ns */
	struct whatif_prediction base; /* of the unedited, compensated graph, or of all ranks' */
	struct {
		double residual; /* share of the time in which something is held up that no edge explains */
		uint32_t
			differ; /* nodes whose replayed times are not the measured ones: 0, or a bug */
		double contradicted; /* share of edges the trace contradicts */
		double steps_predict; /* median error of a step replayed with the medians of all; -1: steps differ */
	} quality;
};

/* all: the whole recording is in the graph, however long it is. After a failure there is nothing to close. */
bool whatif_open(struct whatif *w, const struct hwy_analysis *analysis, uint32_t phase, bool all,
		 struct hwy_err *err);
void whatif_close(struct whatif *w);
bool whatif_predict(const struct whatif *w, const struct whatif_edit *edits, uint32_t n,
		    struct whatif_prediction *prediction, struct hwy_err *err);

/* The two halves of whatif_open: the graph as recorded, and then without the recorder's cost. Between them
 * ranks are joined (joint.h). window: the excerpt is of the steps that begin in it; NULL: it is chosen. */
bool whatif_build(struct whatif *w, const struct hwy_analysis *analysis, uint32_t phase, bool all,
		  const struct hwy_interval *window, struct hwy_err *err);
bool whatif_base(struct whatif *w, struct hwy_err *err);

/* The edited graph, to be freed. note: what the user should know, where not NULL. */
enum { WHATIF_NOTE = 256 };
bool whatif_apply(const struct whatif *w, const struct whatif_edit *edits, uint32_t n,
		  struct hwy_graph *graph, char note[WHATIF_NOTE], struct hwy_err *err);

/* When an edit would begin to matter: the device's work a step, ns, from which on it gains 'share' of the step,
 * all of its ops growing alike. 0 where it does so already, INT64_MAX where it does not up to a hundredfold. */
int64_t whatif_tipping(const struct whatif *w, const struct whatif_edit *edits, uint32_t n,
		       double share);

/* A larger residual: nobody should believe what is predicted from the graph. */
#define WHATIF_UNEXPLAINED_SHARE 0.3
/* quality.c: of the graph as recorded. */
void quality_measure(struct whatif *w);
/* machine_model.c */
void machine_model_find(struct whatif_machine *machine, struct hwy_trace *trace);
/* Bytes a second between host and device, by its slot or its generation; NULL: the least that is usual. */
double machine_model_link_rate(const struct hwy_device *device);
/* costs.c: takes the cost of recording out of the graph. */
void costs_take_out(struct hwy_graph *graph, const struct whatif_machine *machine);

/* ---- edits ---- */

struct editing {
	const struct whatif *w;
	const struct hwy_flow *flow;
	struct hwy_graph *graph;   /* the copy */
	struct hwy_places *places; /* of the analysis */
	char note
		[WHATIF_NOTE]; /* what the user should know, e.g. what blocks the capture of a graph */
};

struct edit_kind {
	const char *id;        /* "remove-wait" */
	const char *arguments; /* "[:PLACE]"; "" for none */
	const char *about;     /* one line */
	bool only_removes;     /* it never predicts slower */
	/* Whether the arguments can be read, whatever the recording; NULL: any can. */
	bool (*check)(const char *arguments, struct hwy_err *err);
	/* False, with nothing changed, where there is nothing to edit. */
	bool (*apply)(struct editing *e, const char *arguments, struct hwy_err *err);
};
extern const struct edit_kind *const edit_kinds[]; /* ends with NULL */
const struct edit_kind *edit_find(const char *id);
/* "pin", "remove-wait:train.py:23"; the arguments stay in the text. False when there is no such edit. */
bool edit_read(const char *text, struct whatif_edit *edit);

#endif
