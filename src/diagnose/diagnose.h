/* diagnose.h - what holds the program back: findings ranked by cost, and suspects that are
 * innocent.
 *
 * Each kind of finding has a file, findings/NAME.c, and a line in the table of findings/findings.c.
 * A kind looks at one phase and either accuses, acquits or says nothing (case.h); it never prints.
 * Where the recording does not support an accusation, the question is listed among those that
 * cannot be answered.
 *
 * Costs are ns a steady step, of the mean device where there are several. A finding's cost is what
 * its fix is predicted to gain (fix_worth.c). Where no edit stands for the fix, the cost is the
 * idle time of the claimed gaps or the device time of transfers and kernels that the fix would
 * save. A nanosecond pays for one finding only, the one nearest the cause, and costs are cut so
 * that the costs of a phase add up to no more than its step.
 */
#ifndef HWY_DIAGNOSE_DIAGNOSE_H
#define HWY_DIAGNOSE_DIAGNOSE_H

#include "analyze/analysis.h"
#include "whatif/joint.h"

/* A finding of the CPU side that costs less than this share of the step is none: its suspect is
 * acquitted. */
#define HWY_WORTH_SHARE 0.02

enum hwy_confidence { HWY_LOW, HWY_MEDIUM, HWY_HIGH };
extern const char *const hwy_confidence_names[];

/* What the program is written with, by the names of its calls, operators and kernels. */
enum hwy_framework { HWY_CUDA_C, HWY_PYTORCH, HWY_CUPY, HWY_OPENCL_C, HWY_FRAMEWORKS };
extern const char *const hwy_framework_names[HWY_FRAMEWORKS];

struct hwy_finding_place {
	struct hwy_place at;
	uint64_t count; /* spans at this place, in the steady steps */
	int64_t cost;   /* ns a step */
};

/* What a fix is worth: the step of the program replayed with and without the fix, both without the
 * cost of recording. */
struct hwy_predicted {
	bool is_known;
	const char *edits; /* the fix, as `headway whatif --apply` takes it: "pin + copy-stream" */
	int64_t before, step; /* ns a step, without and with the fix */
	int64_t p10, p90;     /* ns, the bar of 'step' */
	double speedup;
	const char *bound; /* what most of the step consists of with the fix */
	int64_t tipping; /* of an acquittal: ns of device work a step from which on it would cost; 0: not known */
};

struct hwy_finding {
	const struct hwy_finding_kind *kind;
	uint32_t phase;
	int64_t rank; /* the rank to blame, where there are several; else HWY_NONE */
	bool is_acquitted;
	int64_t cost; /* ns a step */
	double share; /* of the mean step */
	enum hwy_confidence confidence;
	struct hwy_finding_place *places; /* the costliest first */
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

struct hwy_case; /* a phase under investigation: case.h */

struct hwy_finding_kind {
	const char *id;    /* "sync-in-loop" */
	const char *title; /* "the CPU waits for the GPU every step" */
	/* The suspect of an acquittal, "waits every step"; NULL where nobody suspects it. */
	const char *suspect;
	const char *edit; /* as in hwy_finding */
	void (*look)(struct hwy_case *c);
	/* It is about the device's own work or about the recording, not about the CPU side: it
	 * ranks after those. */
	bool is_inside;
};
/* In the order in which they claim time: nearest the cause first. Ends with NULL. */
extern const struct hwy_finding_kind *const hwy_finding_kinds[];
const struct hwy_finding_kind *hwy_finding_kind(const char *id); /* or NULL */

struct hwy_top_kernel {
	const char *name;
	int64_t ns;     /* ns a step, summed over devices */
	double share;   /* of the time of all kernels */
	uint64_t count; /* in the steady steps */
};

/* A steady step that is far from the median, and the part of it that makes the difference. */
struct hwy_outlier {
	uint32_t step;
	int64_t ns; /* the step's length */
	int64_t excess; /* ns by which its part 'part' exceeds the median of that part over all steady steps */
	const char *part; /* "busy", or the name of a cause of idle time */
	/* The OS call, range or call that names the idle time; "" where nothing does. */
	const char *name;
};

/* What is said about a phase besides its findings. */
struct hwy_verdict {
	bool is_healthy; /* no finding of the CPU side, and hardly any idle time */
	bool is_known; /* false where too little of the idle time is explained to call the phase healthy */
	double reachable; /* share of the step in which the devices are idle: what fixes on the CPU side could gain */
	struct hwy_top_kernel *kernels; /* the one with most time first */
	uint32_t n_kernels;
	/* The command that looks into the first kernels; "" without kernels, and where these are
	 * not CUDA's. */
	const char *ncu;
	const char
		*inside; /* for kernels that are not CUDA's: which tool looks into them; else "" */
	int64_t own_cost; /* ns of CPU time a step that recording added; HWY_NONE where that was not calibrated */
	struct hwy_outlier *outliers; /* a few, the longest first */
	uint32_t n_outliers;
};

struct hwy_cannot { /* a question that the recording cannot answer: "cannot tell WHAT, because BECAUSE" */
	const char *what, *because;
};

struct hwy_diagnosis {
	struct hwy_finding
		*findings; /* by phase (the longest first), the CPU side first, then by cost */
	uint32_t n, cap;
	struct hwy_finding *acquitted; /* innocent suspects, in the same order */
	uint32_t n_acquitted, cap_acquitted;
	struct hwy_cannot *cannot;
	uint32_t n_cannot, cap_cannot;
	struct hwy_verdict *verdicts; /* one for each phase */
	enum hwy_framework framework;
	bool infers; /* PyTorch's operators were recorded, and none of them belongs to a backward pass */
	struct hwy_arena arena;
};

bool diagnose(struct hwy_analysis *analysis, struct hwy_diagnosis *diagnosis, struct hwy_err *err);
void diagnosis_free(struct hwy_diagnosis *diagnosis);

/* Looks for the rank of a program that makes the other ranks wait in collectives. Adds the finding,
 * if there is one, to the diagnosis of ranks[own]. For ranks inside one recording diagnose() has
 * done so already. */
void diagnose_ranks(const struct joint_rank *ranks, uint32_t n, uint32_t own,
		    struct hwy_diagnosis *diagnosis);

#endif
