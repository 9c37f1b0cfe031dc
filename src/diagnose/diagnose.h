/* diagnose.h - what holds the program back: findings ranked by cost, and suspects that are innocent.
 *
 * One file a finding, src/diagnose/NAME.c, and one table (findings.c) that lists them. A finding looks at one
 * phase and either accuses, acquits or says nothing (case.h); it never prints. What a trace cannot support is
 * not accused: it is listed among what cannot be told.
 *
 * Costs are ns a steady step, of the mean device where there are several. A finding's cost is what its fix is
 * predicted to gain (fix_worth.c); where no edit stands for the fix, the idle time of its gaps, or, of transfers
 * and kernels, the device time that the fix would save. A nanosecond pays for one finding only, the one nearest
 * the cause, and costs are cut so that those of a phase add up to no more than its step.
 */
#ifndef HWY_DIAGNOSE_DIAGNOSE_H
#define HWY_DIAGNOSE_DIAGNOSE_H

#include "analyze/analysis.h"
#include "whatif/joint.h"

/* A CPU-side finding below this share of the step is no finding; its suspect is acquitted. */
#define HWY_WORTH_SHARE 0.02

enum hwy_confidence { HWY_LOW, HWY_MEDIUM, HWY_HIGH };
extern const char *const hwy_confidence_names[];

/* What the program is written in, as far as its calls, operators and kernels tell. */
enum hwy_framework { HWY_CUDA_C, HWY_PYTORCH, HWY_CUPY, HWY_OPENCL_C, HWY_FRAMEWORKS };
extern const char *const hwy_framework_names[HWY_FRAMEWORKS];

struct hwy_finding_place {
	struct hwy_place at;
	uint64_t count; /* spans there, in the steady steps */
	int64_t cost;   /* ns a step */
};

/* What the fix is worth: the program replayed with it, without the recorder's cost. */
struct hwy_predicted {
	bool is_known;
	const char *edits;    /* "pin + copy-stream": what `headway whatif --apply` takes */
	int64_t before, step; /* ns a step, without and with the fix */
	int64_t p10, p90;     /* the bar of 'step' */
	double speedup;
	const char *bound; /* what fills the step then */
	int64_t tipping; /* acquittals: ns of device work a step from which on it would cost; 0: not known */
};

struct hwy_finding {
	const struct hwy_finding_kind *kind;
	uint32_t phase;
	int64_t rank; /* several ranks: whose phase; HWY_NONE otherwise */
	bool is_acquitted;
	int64_t cost; /* ns a step */
	double share; /* of the mean step */
	enum hwy_confidence confidence;
	struct hwy_finding_place *places; /* the costliest first */
	uint32_t n_places;
	uint32_t *evidence; /* ids of spans that prove it, a few */
	uint32_t n_evidence;
	const char *says;   /* one or two plain sentences with the numbers: what was seen */
	const char *advice; /* lines; those that begin with two spaces are code */
	const char *edit;   /* the change to the program's graph that stands for the fix, or NULL */
	/* Acquittals: what a fix gains that is not what it was suspected of: "The calls cost the CPU time"; else NULL. */
	const char *even_so;
	struct hwy_predicted predicted;
};

struct hwy_case; /* a phase under investigation: case.h */

struct hwy_finding_kind {
	const char *id;      /* "sync-in-loop" */
	const char *title;   /* "the CPU waits for the GPU every step" */
	const char *suspect; /* acquittals: "waits every step"; NULL: nobody fears it */
	const char *edit;    /* see above */
	void (*look)(struct hwy_case *c);
	/* A condition of the device's own work or of the recording, not of the CPU side: ranked after those. */
	bool is_inside;
};
/* In the order they may claim time: nearest the cause first. Ends with NULL. */
extern const struct hwy_finding_kind *const hwy_finding_kinds[];
const struct hwy_finding_kind *hwy_finding_kind(const char *id); /* or NULL */

struct hwy_top_kernel {
	const char *name;
	int64_t ns;     /* a step, summed over devices */
	double share;   /* of all kernels' time */
	uint64_t count; /* in the steady steps */
};

/* A steady step far from the median, and what makes the difference. */
struct hwy_outlier {
	uint32_t step;
	int64_t ns;     /* its length */
	int64_t excess; /* over the median of the same part in all steady steps, of the largest part */
	const char *part; /* "busy", or the cause of idle time */
	const char *name; /* what names it: an os call, a range, a call; "" */
};

/* What can be said of a phase besides its findings. */
struct hwy_verdict {
	bool is_healthy; /* nothing on the CPU side is worth HWY_WORTH_SHARE */
	bool is_known;   /* false: too little of the idle time can be explained to say so */
	double reachable; /* share of the step in which the devices are idle: what CPU-side fixes could give */
	struct hwy_top_kernel *kernels; /* by time */
	uint32_t n_kernels;
	/* The command that looks into the first of them; "" without kernels, and where they are not CUDA's. */
	const char *ncu;
	const char *inside; /* then: what else does, in words; "" */
	int64_t own_cost; /* what recording added, ns a step of CPU time; HWY_NONE: not calibrated */
	struct hwy_outlier *outliers; /* the longest first, a few */
	uint32_t n_outliers;
};

struct hwy_cannot { /* "cannot tell …, because …" */
	const char *what, *because;
};

struct hwy_diagnosis {
	struct hwy_finding *findings; /* by phase (longest first), CPU side first, then cost */
	uint32_t n, cap;
	struct hwy_finding *acquitted; /* likewise */
	uint32_t n_acquitted, cap_acquitted;
	struct hwy_cannot *cannot;
	uint32_t n_cannot, cap_cannot;
	struct hwy_verdict *verdicts; /* parallel to the phases */
	enum hwy_framework framework;
	bool infers; /* PyTorch's operators were recorded, and none is of a backward pass */
	struct hwy_arena arena;
};

bool diagnose(struct hwy_analysis *analysis, struct hwy_diagnosis *diagnosis, struct hwy_err *err);
void diagnosis_free(struct hwy_diagnosis *diagnosis);

/* Several ranks of one program: who makes the others wait in collectives. Adds the finding to 'diagnosis'
 * (that of ranks[at]) or says nothing. Of ranks inside one recording diagnose() does so itself. */
void diagnose_ranks(const struct joint_rank *ranks, uint32_t n, uint32_t own,
		    struct hwy_diagnosis *diagnosis);

#endif
