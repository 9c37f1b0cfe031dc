/* case.h - a phase under investigation: its measures, what is still to be blamed on somebody, and the ways to
 * accuse and to acquit. For src/diagnose only.
 *
 * Time can be blamed from three purses, each ns only once: the idle time of every gap, the exposed time of
 * every transfer (copies and communication that no kernel covers), and the time of the kernels. A finding takes
 * from them into a claim; an accusation keeps it, claim_drop gives it back.
 */
#ifndef HWY_DIAGNOSE_CASE_H
#define HWY_DIAGNOSE_CASE_H

#include "diagnose/diagnose.h"

/* A copy or a communication kernel of the steady steps, in order of start. */
struct case_transfer {
	uint32_t op;
	int64_t exposed; /* the part that nothing else on the device covers */
	int64_t left;    /* of it, not claimed yet */
	uint64_t bytes;
	uint8_t direction;      /* enum hwy_direction */
	uint8_t source, target; /* enum hwy_memory_kind */
	bool is_comm;
};

struct case_kernel {  /* by name */
	int64_t name; /* text */
	int64_t ns;
	uint64_t n;
	uint32_t span; /* the longest one */
	int64_t longest;
};

/* Counted over the steady steps. */
struct case_counts {
	uint64_t kernels, graph_launches, graph_kernels;
	int64_t kernel_ns, kernel_median;
	uint64_t launches; /* calls that enqueue kernels or graphs */
	uint64_t h2d, d2h;
	uint64_t turns;  /* changes of the thread that launched, from op to op; at most */
	int64_t longest; /* op */
	bool any_graph, any_transfer;
	uint64_t calls[HWY_ROLES];
	int64_t call_ns[HWY_ROLES];
};

/* A kernel shorter than this is done before the next launch is ready: a launch takes the CPU 3 to 10 us. */
#define CASE_SHORT_KERNEL_NS 10000

struct hwy_case {
	struct hwy_analysis *analysis;
	struct hwy_trace *trace;
	const struct hwy_flow *flow;
	const struct hwy_phase *phase;
	const struct analysis_phase *measures; /* gaps, waits … of the phase */
	uint32_t index;                        /* of the phase */
	struct hwy_diagnosis *diagnosis;
	const struct hwy_finding_kind *kind; /* that looks now */
	uint32_t first_op,
		end_op; /* ops that begin inside the window: look at case_op_is_ours too */
	uint32_t first_call, end_call; /* calls of the steady steps: look at the process too */
	bool *uses;                    /* by device of the flow */
	bool all_ours;                 /* every op of the flow is */
	uint32_t n_devices;            /* how many it uses */
	int64_t *gap_left;             /* by gap, ns not claimed yet */
	struct case_transfer *transfers;
	uint32_t n_transfers, cap_transfers;
	struct case_kernel *kernels; /* by time */
	uint32_t n_kernels, cap_kernels;
	int64_t kernel_left; /* ns of kernel time not claimed yet */
	struct case_counts counts;
	enum hwy_confidence most;      /* that the recording allows for findings from gaps */
	const struct hwy_strip **last; /* the strip asked for last: spans come in runs */
	struct stream_delay *delays;   /* filled in by stream_delays_find */
	uint32_t n_delays;
	bool delays_are_found;
};

/* ---- case.c: making one ------------------------------------------------------------------------ */

bool case_open(struct hwy_case *c, struct hwy_analysis *analysis, uint32_t phase,
	       struct hwy_diagnosis *diagnosis, struct hwy_err *err);
void case_close(struct hwy_case *c);

static inline bool case_call_is_ours(const struct hwy_case *c, uint32_t call)
{
	return c->flow->calls[call].process == c->phase->process;
}

/* Work without a known launch counts as the phase's: it keeps the same device busy. */
static inline bool case_op_is_ours(const struct hwy_case *c, uint32_t op)
{
	const struct flow_op *one = &c->flow->ops[op];
	return c->all_ours || (c->uses[one->device] &&
			       (one->call == FLOW_NONE || case_call_is_ours(c, one->call)));
}

/* Columns of a call or of device work by span id: those that case_open has asked for. */
int64_t case_get(const struct hwy_case *c, uint32_t span, enum hwy_col col);
/* The name of any span; brings it into memory where it is not. */
int64_t case_text(const struct hwy_case *c, uint32_t span);
const char *case_name(const struct hwy_case *c, uint32_t span);
/* ns summed over the steady steps and devices, as ns a step of one device. */
int64_t case_per_step(const struct hwy_case *c, int64_t total);
double case_share(const struct hwy_case *c, int64_t total);
/* A count over the steady steps, a step. */
double case_each(const struct hwy_case *c, uint64_t count);
/* False where nothing repeats: start-up and the program's one step cannot be told apart. */
bool case_is_loop(const struct hwy_case *c);
/* In how many of the steady steps at least one of these times lies; times in order. */
uint32_t case_steps_with(const struct hwy_case *c, const int64_t *times, uint32_t n);
/* States of the devices the phase uses, added up. */
struct gap_states case_states(const struct hwy_case *c);
/* transfers.c: fills in transfers. */
static inline bool case_is_transfer(const struct flow_op *op)
{
	return op->kind == HWY_COPY || op->class == HWY_COMM;
}
void transfers_find(struct hwy_case *c);

/* ---- claim.c: blaming -------------------------------------------------------------------------- */

enum claim_purse { CLAIM_GAP, CLAIM_TRANSFER, CLAIM_KERNEL };
struct claim_item {
	int64_t ns;
	uint32_t index; /* of the gap or the transfer */
	uint32_t span;  /* who is to blame, plus one: places and evidence come from it; 0: nobody */
	uint8_t purse;
};
struct claim {
	struct claim_item *items;
	uint32_t n, cap;
	int64_t total;
};

#define CLAIM_ALL INT64_MAX
#define CLAIM_NOBODY UINT32_MAX
/* Each takes at most what is left and yields what it took. 'span' is who is to blame. */
int64_t claim_gap(struct hwy_case *c, struct claim *claim, uint32_t gap, int64_t ns, uint32_t span);
int64_t claim_transfer(struct hwy_case *c, struct claim *claim, uint32_t transfer, int64_t ns,
		       uint32_t span);
int64_t claim_kernels(struct hwy_case *c, struct claim *claim, int64_t ns, uint32_t span);
/* A place without a cost of its own. */
void claim_note(struct claim *claim, uint32_t span);
/* The idle time that stretches of the CPU's time overlap, in gaps of the given causes (bits); stretches are in
 * order of start. */
struct claim_stretch {
	struct hwy_interval at;
	uint32_t span; /* who is to blame */
};
void claim_stretches(struct hwy_case *c, struct claim *claim, const struct claim_stretch *stretches,
		     uint32_t n, unsigned causes);
/* The same for the steady calls of some roles (bits). */
void claim_roles(struct hwy_case *c, struct claim *claim, uint32_t roles, unsigned causes);
/* All gaps of a cause; blames the span that names them, else the culprit, else the op's launch. */
void claim_cause(struct hwy_case *c, struct claim *claim, enum gap_cause cause);
#define CLAIM_CAUSE(cause) (1u << (cause))
/* Causes in which the CPU was busy with itself. */
#define CLAIM_CPU_CAUSES                                                                           \
	(CLAIM_CAUSE(GAP_BLOCKED) | CLAIM_CAUSE(GAP_LAUNCH) | CLAIM_CAUSE(GAP_OS) |                \
	 CLAIM_CAUSE(GAP_CPU) | CLAIM_CAUSE(GAP_ALLOC) | CLAIM_CAUSE(GAP_MODULE))
/* The name of the os call, range, operator or sample that takes most of the claimed gaps, and how much; "". */
const char *claim_top_name(struct hwy_case *c, const struct claim *claim, int64_t *ns);
double claim_share(const struct hwy_case *c, const struct claim *claim);
bool claim_is_worth(const struct hwy_case *c, const struct claim *claim);
void claim_drop(struct hwy_case *c, struct claim *claim); /* gives back, and frees */

/* Both take the claim over (and free it); texts are static, or in the diagnosis' arena. */
struct hwy_finding *claim_accuse(struct hwy_case *c, struct claim *claim,
				 enum hwy_confidence confidence, const char *says,
				 const char *advice);
struct hwy_finding *claim_acquit(struct hwy_case *c, struct claim *claim, const char *says);
void diagnose_cannot_tell(struct hwy_diagnosis *diagnosis, const char *what, const char *because);

/* ---- advice that fits the program -------------------------------------------------------------- */

struct advice { /* NULL: 'any' serves */
	const char *any, *by_framework[HWY_FRAMEWORKS];
	const char *inference; /* PyTorch without training; NULL: as ever */
};
const char *case_advice(const struct hwy_case *c, const struct advice *advice);

/* ---- pauses.c: waits as the program made them --------------------------------------------------- */

/* A read-back is a copy and a synchronise call right after it: one pause. */
struct case_pause {
	uint32_t wait;    /* in of->waits: the one that really waited longest */
	uint32_t n_waits; /* that belong together; they follow each other from 'first' */
	uint32_t first;
	int64_t waited;
	bool is_pageable; /* a large "asynchronous" copy of pageable memory */
	bool is_useless;  /* nothing was pending */
	bool is_copy;     /* reads or writes data */
	bool is_release;  /* cudaFree waits, but is not made in order to wait */
};
struct case_pauses {
	struct case_pause *pauses;
	uint32_t n;
	uint32_t *by_wait; /* the pause of each wait, FLOW_NONE where it is of no steady step */
};
/* Of the steady steps. */
struct case_pauses pauses_find(const struct hwy_case *c);
void pauses_free(struct case_pauses *pauses);
/* The op of the copy a pause reads or writes with; FLOW_NONE where it only waits. */
uint32_t pause_copy(const struct hwy_case *c, const struct case_pause *pause);
/* Idle time charged to the pauses for which 'is_it' is true (it gets NULL for a wait that is none). */
void pauses_blame(struct hwy_case *c, const struct case_pauses *pauses, struct claim *claim,
		  bool (*is_it)(const struct case_pause *pause));

/* ---- machine_limits.c: what the machine could do ------------------------------------------------------- */

/* Calibrated value of the report, "machine.NAME" or "cost.NAME"; false where there is none. */
bool machine_limits_calibrated(const struct hwy_trace *trace, const char *name, double *value);
const char *machine_limits_link_key(enum hwy_direction direction); /* of the calibrated rate */
/* Bytes a second that pinned memory reaches in this direction: calibrated, else the best large pinned copy of
 * the trace, else what PCIe gives. *is_known is false for the last. */
double machine_limits_link_rate(const struct hwy_case *c, enum hwy_direction direction,
				bool *is_known);
/* What recording added to the steady steps, ns of CPU time in all; false where it is not calibrated. */
bool machine_limits_recording_cost(const struct hwy_case *c, int64_t *ns);

/* outliers.c: the verdict's. */
void outliers_find(struct hwy_case *c, struct hwy_verdict *verdict);

/* kernels.c: the verdict's kernels and the command that looks into them. */
void kernels_top(struct hwy_case *c, struct hwy_verdict *verdict);
bool kernel_is_fp32_matrix(const char *name); /* multiplies or convolves in fp32, no tensor cores */
int64_t kernel_blocks(const struct hwy_case *c, uint32_t span); /* of its grid; 0: not known */
/* Whether another op could run beside it: a copy, or a kernel with fewer blocks than multiprocessors. */
bool kernel_leaves_room(const struct hwy_case *c, uint32_t op);

/* ---- stream_delays.c: ops that were ready and had to wait for another stream ------------------------------ */

struct stream_delay {
	uint32_t op, behind; /* ops */
	int64_t ready;       /* launched, and the one before it in its stream done */
};
/* Of the steady steps, in order; the case's. */
const struct stream_delay *stream_delays_find(struct hwy_case *c, uint32_t *n);
const struct hwy_stream *case_stream_of(const struct hwy_case *c, uint32_t op); /* or NULL */
bool case_stream_is_null(const struct hwy_case *c, const struct hwy_stream *stream);

#endif
