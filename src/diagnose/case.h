/* SPDX-License-Identifier: Apache-2.0 */
/* case.h - a phase under investigation: its measures, the time that no finding has claimed yet, and
 * the ways to accuse and to acquit. For src/diagnose only.
 *
 * A finding claims time from three purses, each ns only once: the idle time of every gap, the
 * exposed time of every transfer (copies and communication that no kernel covers), and the time of
 * the kernels. claim_accuse makes a finding of a claim and keeps the time; claim_drop gives the
 * time back.
 */
#ifndef HWY_DIAGNOSE_CASE_H
#define HWY_DIAGNOSE_CASE_H

#include "analyze/owners.h"
#include "base/hash.h"
#include "diagnose/diagnose.h"

/* A copy or a communication kernel of the steady steps. */
struct case_transfer {
	uint32_t op;     /* index of the op in flow.ops */
	int64_t exposed; /* ns of the transfer in which nothing else runs on the device */
	int64_t left;    /* ns of 'exposed' that no finding has claimed yet */
	uint64_t bytes;
	uint8_t direction;      /* enum hwy_direction */
	uint8_t source, target; /* enum hwy_memory_kind */
	bool is_comm;
};

struct case_kernel {     /* all kernels of one name in the steady steps */
	int64_t name;    /* id of the text that names the kernels */
	int64_t ns;      /* ns of all kernels of the name together */
	uint64_t n;      /* how many kernels have the name */
	uint32_t span;   /* id of the span of the longest kernel */
	int64_t longest; /* ns that the longest kernel took */
};

/* What happened in the steady steps, as counts. */
struct case_counts {
	uint64_t kernels, graph_launches, graph_kernels;
	int64_t kernel_ns, kernel_median;
	uint64_t launches; /* calls that enqueue kernels or graphs */
	uint64_t h2d, d2h;
	uint64_t turns;  /* how often an op was launched by another thread than the op before it */
	int64_t longest; /* ns that the longest op took */
	bool any_graph, any_transfer;
	uint64_t calls[HWY_ROLES];
	int64_t call_ns[HWY_ROLES];
};

/* A shorter kernel is done before the CPU has launched the next one: a launch takes the CPU 3 to 10
 * us. */
#define CASE_SHORT_KERNEL_NS 10000

struct hwy_case {
	struct hwy_analysis *analysis;
	struct hwy_trace *trace;
	const struct hwy_flow *flow;
	const struct hwy_phase *phase;
	const struct analysis_phase *measures; /* the gaps, waits … of the phase */
	uint32_t index;                        /* the phase's index in the analysis */
	struct hwy_diagnosis *diagnosis;
	const struct hwy_finding_kind *kind; /* the finding whose look() runs now */
	/* Ops that begin inside the window, also of other processes: case_op_is_ours tells which
	 * belong to the phase. */
	uint32_t first_op, end_op;
	/* Calls of the steady steps, also of other processes: case_call_is_ours tells which
	 * belong to the phase. */
	uint32_t first_call, end_call;
	bool *uses;         /* for each device of the flow, whether the phase has work there */
	bool all_ours;      /* every op of the flow belongs to the phase's process */
	uint32_t n_devices; /* how many devices the phase uses */
	int64_t *gap_left;  /* for each gap, the ns that no finding has claimed yet */
	struct case_transfer *transfers;
	uint32_t n_transfers, cap_transfers;
	struct case_kernel *kernels; /* kernels by name, the name with most time first */
	uint32_t n_kernels, cap_kernels;
	int64_t kernel_left; /* ns of kernel time that no finding has claimed yet */
	/* For each op from first_op on, whether a finding about single kernels has claimed it:
	 * the next such finding leaves it out. */
	bool *op_is_taken;
	struct case_counts counts;
	/* Much of the device's work was not recorded: what looks exposed may be covered. */
	bool is_missing;
	/* The most confidence that the recording allows for findings from gaps. */
	enum hwy_confidence most;
	/* A cache of the strip that was used last, because spans of one strip are asked for in a
	 * row. */
	const struct hwy_strip **last;
	struct stream_delay *delays; /* the delays that stream_delays_find has found */
	uint32_t n_delays;
	bool delays_are_found;
	/* Who launched the device work; NULL where the recording has no operators of PyTorch. */
	const struct hwy_owners *owners;
	struct launchers *launchers; /* what launchers_find has found (launchers.h), or NULL */
};

/* ---- case.c: making a case ------------------------------------------------------------------- */

bool case_open(struct hwy_case *c, struct hwy_analysis *analysis, uint32_t phase,
	       struct hwy_diagnosis *diagnosis, struct hwy_err *err);
void case_close(struct hwy_case *c);

static inline bool case_call_is_ours(const struct hwy_case *c, uint32_t call)
{
	return c->flow->calls[call].process == c->phase->process;
}

/* Whether the phase's process launched the work. Work without a known launch counts as its own: it
 * keeps the same device busy. */
static inline bool case_op_is_of_process(const struct hwy_case *c, uint32_t op)
{
	const struct flow_op *one = &c->flow->ops[op];
	return c->all_ours || (c->uses[one->device] &&
			       (one->call == FLOW_NONE || case_call_is_ours(c, one->call)));
}
/* Whether it is also work of the phase's steps. */
static inline bool case_op_is_ours(const struct hwy_case *c, uint32_t op)
{
	return phase_has_call(c->phase, c->flow->ops[op].call) && case_op_is_of_process(c, op);
}

/* Yields a column's value for a call or for device work, by span id. The column must be one that
 * case_open has loaded. */
int64_t case_get(const struct hwy_case *c, uint32_t span, enum hwy_col col);
/* The name of any span, as the id of a text and as text; loads the name where it is not in
 * memory. */
int64_t case_text(const struct hwy_case *c, uint32_t span);
const char *case_name(const struct hwy_case *c, uint32_t span);
/* The name for a sentence: device work that has none is told by what it is, "a copy
 * (Host-to-Device)". */
const char *case_name_said(const struct hwy_case *c, uint32_t span);
/* Who launched a piece of device work, or made a call, by span id; NULL where the recording has
 * no operators. */
const struct hwy_owner *case_owner(const struct hwy_case *c, uint32_t span);
/* Turns a sum of ns over the steady steps and all devices into ns for one step and one device. */
int64_t case_per_step(const struct hwy_case *c, int64_t total);
/* The same for kernels that may run beside each other: no more than the step. */
int64_t case_time_in_step(const struct hwy_case *c, int64_t total);
/* Turns a sum of ns over the steady steps and all devices into a share of the time of the steady
 * steps. */
double case_share(const struct hwy_case *c, int64_t total);
/* Turns a count over all steady steps into the mean count of one step. */
double case_count_per_step(const struct hwy_case *c, uint64_t count);
/* Whether a finding with this id has accused in this phase already. */
bool case_is_accused(const struct hwy_case *c, const char *id);
/* Whether the phase is a loop. Where nothing repeats, start-up cannot be told apart from the
 * program's only step. */
bool case_is_loop(const struct hwy_case *c);
/* The index of the steady step in whose device window a time lies. */
uint32_t case_step_at(const struct hwy_case *c, int64_t time);
/* Yields the words to print after a time from case_per_step: " a step" in a loop, else "". */
const char *case_a_step(const struct hwy_case *c);
/* The number of steady steps in which at least one of n ascending times lies. */
uint32_t case_steps_with(const struct hwy_case *c, const int64_t *times, uint32_t n);
/* Yields the sum of the states of all devices that the phase uses. */
struct gap_states case_states(const struct hwy_case *c);

static inline bool case_is_transfer(const struct flow_op *op)
{
	return op->kind == HWY_COPY || op->class == HWY_COMM;
}
/* The names of the phase's kernels that 'is_it' is true of, by the ids of their texts. The
 * caller frees the map. */
struct hwy_map case_kernel_names(const struct hwy_case *c, bool (*is_it)(const char *name));
/* The stream that an op ran on, or NULL. */
const struct hwy_stream *case_stream_of(const struct hwy_case *c, uint32_t op);
/* Whether a stream is the null stream (the legacy default stream) of its context. */
bool case_stream_is_null(const struct hwy_case *c, const struct hwy_stream *stream);
/* transfers.c: fills in c->transfers. */
void transfers_find(struct hwy_case *c);

/* ---- claim.c: blaming ------------------------------------------------------------------------ */

enum claim_purse { CLAIM_GAP, CLAIM_TRANSFER, CLAIM_KERNEL };
struct claim_item {
	int64_t ns;
	/* index of the gap or the transfer; of a kernel that claim_op claimed, of its op */
	uint32_t index;
	/* Id of the span to blame, which gives place and evidence, or CLAIM_NOBODY. */
	uint32_t span;
	uint8_t purse;
	bool is_op; /* claim_op made this item */
};
struct claim {
	struct claim_item *items;
	uint32_t n, cap;
	int64_t total;
};

#define CLAIM_ALL INT64_MAX
#define CLAIM_NOBODY UINT32_MAX
/* claim_gap, claim_transfer and claim_kernels claim at most 'ns' of the time that no finding has
 * claimed yet, and yield the claimed ns. 'span' is the id of the span to blame, or CLAIM_NOBODY. */
int64_t claim_gap(struct hwy_case *c, struct claim *claim, uint32_t gap, int64_t ns, uint32_t span);
int64_t claim_transfer(struct hwy_case *c, struct claim *claim, uint32_t transfer, int64_t ns,
		       uint32_t span);
int64_t claim_kernels(struct hwy_case *c, struct claim *claim, int64_t ns, uint32_t span);
/* Claims the whole time of one kernel, by the index of its op, unless another finding has
 * claimed that kernel. 'span' is the id of the span to blame. */
void claim_op(struct hwy_case *c, struct claim *claim, uint32_t op, uint32_t span);
/* Adds the place of a span to the claim, without any time. */
void claim_note(struct claim *claim, uint32_t span);
/* The place of a span as findings name it. */
struct hwy_place claim_place(struct hwy_case *c, uint32_t span);
/* claim_calls.c: sets how many calls are at each place of a finding; every 'every'th item of the
 * claim made the places. */
void claim_count_calls(struct hwy_case *c, struct hwy_finding *finding, const struct claim *claim,
		       uint32_t every);
/* Claims the idle time of gaps that stretches of CPU time overlap. The gaps' causes are given as
 * CLAIM_CAUSE bits; the stretches are in order of start. */
struct claim_stretch {
	struct hwy_interval at;
	uint32_t span; /* id of the span to blame */
};
void claim_stretches(struct hwy_case *c, struct claim *claim, const struct claim_stretch *stretches,
		     uint32_t n, unsigned causes);
/* Does what claim_stretches does; the stretches are the calls of the steady steps that have one
 * of the roles (bits). */
void claim_roles(struct hwy_case *c, struct claim *claim, uint32_t roles, unsigned causes);
/* Claims the gaps between two pieces of work that 'is_it' is true of, one right after the other
 * on a device: the gap's cause is one of 'causes' (bits), or a pause of at most 'pause' ns
 * between kernels that were launched in time. Gaps above 'longest' ns are left out. */
void claim_between(struct hwy_case *c, struct claim *claim, unsigned causes, int64_t pause,
		   int64_t longest, bool (*is_it)(const struct hwy_case *c, uint32_t op));
/* Claims all gaps of a cause. To blame is the span that names a gap, else its culprit, else the op
 * after it. */
void claim_cause(struct hwy_case *c, struct claim *claim, enum gap_cause cause);
#define CLAIM_CAUSE(cause) (1u << (cause))
/* Causes of gaps in which the CPU was busy with its own work. */
#define CLAIM_CPU_CAUSES                                                                           \
	(CLAIM_CAUSE(GAP_BLOCKED) | CLAIM_CAUSE(GAP_LAUNCH) | CLAIM_CAUSE(GAP_OS) |                \
	 CLAIM_CAUSE(GAP_CPU) | CLAIM_CAUSE(GAP_ALLOC) | CLAIM_CAUSE(GAP_MODULE) |                 \
	 CLAIM_CAUSE(GAP_FIRST_USE) | CLAIM_CAUSE(GAP_GC) | CLAIM_CAUSE(GAP_GIL))
/* The name of the OS call, range, operator or sample that takes most of the claimed gaps, and its
 * *ns; "" where no gap has a name. */
const char *claim_top_name(struct hwy_case *c, const struct claim *claim, int64_t *ns);
/* The name of the operator, function, range or sample in which the launching thread spends most
 * of the claimed gaps, the innermost that fills half of a gap, with its *total in ns, and the
 * *span of the longest such gap, or CLAIM_NOBODY; "" where nothing was recorded of it. */
const char *claim_top_work(struct hwy_case *c, const struct claim *claim, int64_t *total,
			   uint32_t *span);
/* A loss, an accuracy or a norm is smaller: who reads so many bytes from the device may work
 * with them. */
#define CLAIM_RESULT_BYTES 64
/* Whether the device's last op before most of the claimed idle time copied results to the host,
 * CLAIM_RESULT_BYTES or more: what the CPU does then may need these results. */
bool claim_follows_results(const struct hwy_case *c, const struct claim *claim);
double claim_share(const struct hwy_case *c, const struct claim *claim);
bool claim_is_worth(const struct hwy_case *c, const struct claim *claim);
/* Gives the claimed time back to its purses, and frees the claim. */
void claim_drop(struct hwy_case *c, struct claim *claim);

/* claim_accuse and claim_acquit make a finding of the claim, and free the claim: accused findings
 * keep the claimed time, acquitted ones give it back. Texts are static, or in the diagnosis'
 * arena. */
struct hwy_finding *claim_accuse(struct hwy_case *c, struct claim *claim,
				 enum hwy_confidence confidence, const char *says,
				 const char *advice);
struct hwy_finding *claim_acquit(struct hwy_case *c, struct claim *claim, const char *says);
/* diagnose.c: lists a question that the recording cannot answer; each question once. Texts as
 * above. */
void diagnose_cannot_tell(struct hwy_diagnosis *diagnosis, const char *what, const char *because);

/* ---- advice that fits the program ------------------------------------------------------------ */

/* 'any' stands in for each NULL. Where several fit, the first of this order is taken: captured,
 * compiled, inference, rocm, by_framework. For HIP programs CUDA's names in 'any' are replaced by
 * HIP's. */
struct advice {
	const char *any, *by_framework[HWY_FRAMEWORKS];
	const char *captured;  /* advice for steps that consist of graph launches */
	const char *compiled;  /* advice for PyTorch programs that are compiled already */
	const char *inference; /* advice for PyTorch programs that do not train */
	const char *rocm;      /* advice for PyTorch programs on AMD's GPUs */
};
const char *case_advice(const struct hwy_case *c, const struct advice *advice);

/* ---- pauses.c: waits as the program made them ------------------------------------------------ */

/* One or more waits that a person would count as one: a copy and a synchronise call right after it
 * are one pause. */
struct case_pause {
	uint32_t wait;    /* index in measures->waits of the wait that waited longest */
	uint32_t n_waits; /* how many waits belong together, from 'first' on */
	uint32_t first;   /* index in measures->waits of the first wait */
	int64_t waited;   /* ns that all n_waits waits waited together */
	bool is_pageable; /* the pause is a large "asynchronous" copy of pageable memory */
	bool is_useless;  /* no device work was pending when the pause began */
	bool is_copy;     /* the pause reads or writes data */
	/* The pause is a call such as cudaFree, which waits but is not called in order to wait. */
	bool is_release;
};
struct case_pauses {
	struct case_pause *pauses;
	uint32_t n;
	/* For each wait the index of its pause; FLOW_NONE where the wait is in no steady step. */
	uint32_t *by_wait;
};
/* Finds the pauses of the steady steps. */
struct case_pauses pauses_find(const struct hwy_case *c);
void pauses_free(struct case_pauses *pauses);
/* The op of the copy that a pause reads or writes data with; FLOW_NONE where the pause only
 * waits. */
uint32_t pause_copy(const struct hwy_case *c, const struct case_pause *pause);
/* The index of the pause that a gap with the cause 'blocked' is charged to; FLOW_NONE where it is
 * charged to none. */
uint32_t pause_of_gap(const struct hwy_case *c, const struct case_pauses *pauses,
		      const struct hwy_gap *gap);
/* Claims the idle time that was charged to pauses for which 'is_it' is true. 'is_it' gets NULL for
 * a gap that was charged to no pause. */
void pauses_blame(struct hwy_case *c, const struct case_pauses *pauses, struct claim *claim,
		  bool (*is_it)(const struct case_pause *pause));

/* ---- machine_limits.c: what the machine could do --------------------------------------------- */

/* The value that the report's calibration has as "machine.NAME" or "cost.NAME"; false where it has
 * none. */
bool machine_limits_calibrated(const struct hwy_trace *trace, const char *name, double *value);
/* Yields the key of the calibrated rate of a direction in the report. */
const char *machine_limits_link_key(enum hwy_direction direction);
/* Bytes a second that copies of pinned memory reach in a direction: as calibrated, else the fastest
 * large pinned copy of the trace, else what such a PCIe slot usually gives; only then is *is_known
 * false. */
double machine_limits_link_rate(const struct hwy_case *c, enum hwy_direction direction,
				bool *is_known);
/* ns of CPU time that recording added to all steady steps; false where the report has no
 * calibration. */
bool machine_limits_recording_cost(const struct hwy_case *c, int64_t *ns);

/* outliers.c: fills in the outlook's outliers. */
void outliers_find(struct hwy_case *c, struct hwy_outlook *verdict);

/* kernels.c: fills in the outlook's kernels, and the command that looks into these kernels. */
void kernels_top(struct hwy_case *c, struct hwy_outlook *verdict);
int64_t kernel_blocks(
	const struct hwy_case *c,
	/* Yields the number of blocks in the kernel's grid; 0 where it is not known. */
	uint32_t span);
/* Whether other work could run beside the op: it is a copy, or a kernel with fewer blocks than
 * multiprocessors. */
bool kernel_leaves_room(const struct hwy_case *c, uint32_t op);

/* ---- stream_delays.c: ops that were ready and had to wait for another stream ----------------- */

struct stream_delay {
	uint32_t op;     /* the op that had to wait */
	uint32_t behind; /* the op of another stream that 'op' waited for */
	/* When 'op' could have begun: it was launched, and its stream's previous op had ended. */
	int64_t ready;
};
/* Yields the delays of the steady steps, in order of the delayed ops. The list belongs to the
 * case. */
const struct stream_delay *stream_delays_find(struct hwy_case *c, uint32_t *n);

#endif
