/* SPDX-License-Identifier: Apache-2.0 */
/* diagnose.h - what holds the program back: findings ranked by cost, and suspects that are
 * innocent.
 *
 * Each kind of finding has a file, findings/NAME.c, and a line in the table of
 * findings/findings.c; kinds that only name kernels of an operator and a cure are rows of a
 * table in findings/operator_cures.c. A kind looks at one phase and either accuses, acquits or
 * says nothing (case.h); it never prints. Where the recording does not support an accusation,
 * the question is listed among those that cannot be answered.
 *
 * Costs are ns a steady step, of the mean device where there are several. A finding's cost is
 * what its fix is predicted to gain (fix_worth.c). Where no edit stands for the fix, the cost is
 * the idle time of the claimed gaps or the device time of transfers and kernels that the fix
 * would save. A nanosecond pays for one finding only, the one nearest the cause, and costs are
 * cut so that the costs of a phase add up to no more than its step.
 */
#ifndef HWY_DIAGNOSE_DIAGNOSE_H
#define HWY_DIAGNOSE_DIAGNOSE_H

#include "analyze/analysis.h"
#include "diagnose/verdict.h"
#include "whatif/joint.h"

/* A finding of the CPU side that costs less than this share of the step is none: its suspect is
 * acquitted. */
#define HWY_WORTH_SHARE 0.02

enum hwy_confidence { HWY_LOW, HWY_MEDIUM, HWY_HIGH };
extern const char *const hwy_confidence_names[];

/* What the program is written with, by the names of its calls, operators and kernels. */
enum hwy_framework { HWY_CUDA_C, HWY_PYTORCH, HWY_CUPY, HWY_OPENCL_C, HWY_JAX, HWY_FRAMEWORKS };
extern const char *const hwy_framework_names[HWY_FRAMEWORKS];

/* What the program does already, judged by names in the recording, and which kinds of records
 * there are (habits.c). */
struct hwy_habits {
	bool has_compiled;  /* PyTorch runs code that torch.compile made */
	bool is_compiled;   /* a quarter of the kernels or more come from such code */
	bool is_capturing;  /* graphs are captured inside the recording */
	bool is_captured;   /* the program launches graphs */
	bool is_rocm;       /* the calls are HIP's, so advice must not name CUDA's calls */
	bool is_xla;        /* XLA's functions or kernels run */
	bool has_samples;   /* the CPU was sampled */
	bool has_functions; /* functions were recorded, as torch.profiler does with stacks */
};

struct hwy_finding_place {
	struct hwy_place at;
	/* The path of the module of the model that launches there, "GPT.blocks.3.attn". Where
	 * the spans of this place are of several modules: the path that these have in common,
	 * with "*" for a number in which they differ. "" where none is known. */
	const char *layer;
	/* How many calls the steady steps make there, of what the finding is charged to; 0 where
	 * this is not known. */
	uint64_t count;
	int64_t cost;   /* ns that this place costs a step */
};

/* What a fix is worth: the step of the program replayed with and without the fix, both without the
 * cost of recording. */
struct hwy_predicted {
	bool is_known;
	const char *edits; /* the fix, as `headway whatif --apply` takes it: "pin + copy-stream" */
	int64_t before, step; /* ns of a step without the fix, and with the fix */
	int64_t p10, p90;     /* ns: the lower and the upper end of the bar of 'step' */
	double speedup;
	const char *bound; /* what most of the step with the fix consists of: "compute", "cpu" … */
	/* Only for an acquitted suspect: with this many ns of device work in a step, or more, the
	 * suspect would cost time. 0 where this is not known. */
	int64_t tipping;
};

struct hwy_finding {
	const struct hwy_finding_kind *kind;
	uint32_t phase;
	int64_t rank; /* the rank to blame, where there are several; else HWY_NONE */
	bool is_acquitted;
	int64_t cost; /* ns a step */
	double share; /* the finding's cost as a share of the mean step */
	/* The word of the verdict that most of the claimed time counts for; VERDICTS where nothing
	 * was claimed. */
	enum verdict_word word;
	enum hwy_confidence confidence;
	struct hwy_finding_place *places; /* the places of the finding, the costliest place first */
	uint32_t n_places;
	uint32_t *evidence; /* ids of a few spans that prove the finding */
	uint32_t n_evidence;
	const char *says;   /* what was seen: one or two plain sentences with numbers */
	const char *advice; /* lines of text; lines that begin with two spaces are code */
	const char *edit;   /* the edit (whatif.h) that stands for the fix, or NULL */
	/* Of an acquittal: why a fix gains although the suspect is innocent, "The calls cost the
	 * CPU time"; or NULL. */
	const char *even_so;
	struct hwy_predicted predicted;
};

struct hwy_owners;
struct hwy_case; /* one phase while findings look for problems in it: see case.h */

struct hwy_finding_kind {
	const char *id; /* the finding's name for machines: "sync-in-loop" */
	/* The finding's name for people: "the CPU waits for the GPU every step". */
	const char *title;
	/* What people suspect, in words ("waits every step"), for the list of suspects that turned
	 * out to be innocent. NULL where people do not suspect this. */
	const char *suspect;
	const char *edit; /* the edit that stands for the fix, as in hwy_finding */
	void (*look)(struct hwy_case *c);
	/* The finding is about the device's own work or about the recording. Such findings rank
	 * after the findings about the CPU side. */
	bool is_inside;
	bool changes_results; /* the fix computes with less precision */
};
/* All kinds of findings in the order in which they claim time: those nearest to the cause first.
 * NULL ends the list. */
extern const struct hwy_finding_kind *const hwy_finding_kinds[];
/* Yields the kind of finding that has this id, or NULL. */
const struct hwy_finding_kind *hwy_finding_kind(const char *id);

struct hwy_top_kernel {
	const char *name;
	int64_t ns;     /* ns a step, summed over devices */
	double share;   /* the kernel's share of the time of all kernels */
	uint64_t count; /* how often the kernel runs in the steady steps */
	/* Where its counters were measured (analyze/kernel_table.h): what bounds it, "memory
	 * (DRAM)", and the share of its time that the roof of its device leaves, not a number
	 * where it has none. Else bound is "". */
	const char *bound;
	double of_roof;
};

/* A steady step that is far from the median, and the part of it that makes the difference. */
struct hwy_outlier {
	uint32_t step;
	int64_t ns; /* the step's length */
	/* The ns by which the step's part named 'part' exceeds the median of that part over all
	 * steady steps. */
	int64_t excess;
	const char *part; /* "busy", or the name of a cause of idle time */
	/* The OS call, range or call that names the idle time; "" where nothing does. */
	const char *name;
};

/* What is said about a phase besides its findings. */
struct hwy_outlook {
	bool is_healthy; /* the phase has no finding about the CPU side, and hardly any idle time */
	/* false where too little of the idle time is explained to call the phase healthy */
	bool is_known;
	/* Id of the span of one op that runs through the whole phase, where no counter says what
	 * it does; else HWY_NONE. */
	int64_t opaque;
	/* The share of the step in which the devices are idle: fixes on the CPU side could gain
	 * this share. */
	double reachable;
	struct hwy_top_kernel *kernels; /* the kernels with most time, the longest first */
	uint32_t n_kernels;
	/* Nsight Compute's command that looks into the first kernels; "" without kernels, and
	 * where these are not CUDA's. Where it is not "", `headway kernels` can measure them,
	 * too. */
	const char *ncu;
	/* For kernels that are not CUDA's: the tool that looks into these kernels; else "". */
	const char *inside;
	/* ns of CPU time a step that recording added; HWY_NONE where that was not calibrated */
	int64_t own_cost;
	struct hwy_outlier *outliers; /* a few outlier steps, the longest first */
	uint32_t n_outliers;
};

/* a question that the recording cannot answer: "cannot tell WHAT, because BECAUSE" */
struct hwy_cannot {
	const char *what, *because;
};

struct hwy_diagnosis {
	struct hwy_finding *
		findings; /* by phase (the longest first); of the main one those that the verdict is about first; then the CPU
			    * side; then by cost */
	uint32_t n, cap;
	struct hwy_finding *acquitted; /* innocent suspects, in the order of 'findings' */
	uint32_t n_acquitted, cap_acquitted;
	struct hwy_cannot *cannot;
	uint32_t n_cannot, cap_cannot;
	struct hwy_outlook *outlooks; /* one outlook for each phase */
	struct verdict verdict;       /* the verdict about the main phase */
	enum hwy_framework framework;
	struct hwy_habits habits;
	/* PyTorch's operators were recorded, and none of them belongs to a backward pass */
	bool infers;
	/* While diagnose() runs: who launched the device work (analyze/owners.h); NULL where the
	 * recording has no operators. */
	const struct hwy_owners *owners;
	struct hwy_arena arena;
};

bool diagnose(struct hwy_analysis *analysis, struct hwy_diagnosis *diagnosis, struct hwy_err *err);
void diagnosis_free(struct hwy_diagnosis *diagnosis);

/* verdict_inside.c: finds the second word of the verdict 'gpu', and says it; else lists what
 * cannot be told. */
void verdict_look_inside(struct hwy_analysis *analysis, struct hwy_diagnosis *diagnosis);

/* Looks for the rank of a program that makes the other ranks wait in collectives. Adds the finding,
 * if there is one, to the diagnosis of ranks[own]. For ranks inside one recording diagnose() has
 * done so already. */
void diagnose_ranks(const struct joint_rank *ranks, uint32_t n, uint32_t own,
		    struct hwy_diagnosis *diagnosis);

/* A finding about ranks that are late, by a caller that knows more of them (job/answer.h). */
struct diagnose_lateness {
	const struct hwy_finding_kind *kind;
	uint32_t rank;                   /* index of the one to blame; n: nobody alone */
	int64_t cost;                    /* ns a step that the others wait */
	const char *says, *advice;       /* advice: NULL for that of rank-straggler */
	struct hwy_finding_place *place; /* where the late rank loses its time, or NULL */
	enum hwy_confidence confidence;
};
/* Adds the finding to the diagnosis of ranks[own], with what it is worth by the replay of all
 * ranks together; false where that is too little to be a finding. */
bool diagnose_late(const struct joint_rank *ranks, uint32_t n, uint32_t own,
		   const struct hwy_collectives *c, const struct diagnose_lateness *late,
		   struct hwy_diagnosis *diagnosis);
/* Takes ns a step from the finding comm-exposed of a phase, since another finding explains them;
 * drops it where what is left is no longer worth it. */
void diagnose_take_from_comm(struct hwy_diagnosis *diagnosis, uint32_t phase, int64_t cost,
			     int64_t step);

#endif
