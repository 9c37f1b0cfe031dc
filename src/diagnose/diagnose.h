/* diagnose.h - what holds the program back: findings ranked by cost, and suspects that are innocent.
 *
 * One file a finding, src/diagnose/NAME.c, and one table (findings.c) that lists them. A finding looks at one
 * phase and either accuses (hwy_accuse), acquits (hwy_acquit) or says nothing; it never prints. What a trace
 * cannot support is not accused: findings ask trust first (hwy_cannot_tell).
 *
 * Costs are ns a steady step. Before predictions exist a finding's cost is the idle time of its gaps (or, of
 * serialised copies, the time they stand exposed). Overlapping findings are merged under the one nearest the
 * cause: a gap pays for one finding only (hwy_claim), so that the costs of a phase add up to no more than its
 * step.
 */
#ifndef HWY_DIAGNOSE_DIAGNOSE_H
#define HWY_DIAGNOSE_DIAGNOSE_H

#include "analyze/analysis.h"

enum hwy_confidence { HWY_LOW, HWY_MEDIUM, HWY_HIGH };
extern const char *const hwy_confidence_names[];

struct hwy_finding_place {
	struct hwy_place at;
	uint64_t count; /* spans there, in the steady steps */
	int64_t cost;   /* ns a step */
};

struct hwy_finding {
	const struct hwy_finding_kind *kind;
	uint32_t phase;
	bool is_acquitted;
	int64_t cost; /* ns a step */
	double share; /* of the mean step */
	enum hwy_confidence confidence;
	struct hwy_finding_place *places; /* the costliest first */
	uint32_t n_places;
	uint32_t *evidence; /* span ids that prove it, a few */
	uint32_t n_evidence;
	char *says;   /* one or two plain sentences with the numbers: what was seen */
	char *advice; /* lines: what to do, with a code-sized example that fits the program */
	/* For the replay (a later room): the edit that stands for the fix, or NULL. */
	const char *edit;
};

struct hwy_case; /* a phase under investigation: its measures, what was claimed, where findings go */

struct hwy_finding_kind {
	const char *id;      /* "sync-in-loop" */
	const char *title;   /* "the CPU waits for the GPU every step" */
	const char *suspect; /* acquittals: "waits every step"; NULL: nobody fears it */
	void (*look)(struct hwy_case *c);
	/* A condition of the device or the recording, not of the CPU side: it does not compete for gaps. */
	bool is_inside;
};
/* In the order they may claim gaps: nearest the cause first. Ends with NULL. */
extern const struct hwy_finding_kind *const hwy_finding_kinds[];

struct hwy_diagnosis {
	struct hwy_finding *findings; /* those that count, by phase (longest first), then cost */
	uint32_t n;
	struct hwy_finding *acquitted;
	uint32_t n_acquitted;
	struct hwy_cannot { /* "cannot tell …, because …" */
		const char *what;
		char *because;
	} * cannot;
	uint32_t n_cannot;
	struct hwy_arena *arena;
};

/* A CPU-side finding below this share of the step is no finding; its suspect is acquitted. */
#define HWY_WORTH 0.02

bool diagnose(struct hwy_analysis *analysis, struct hwy_diagnosis *diagnosis, struct hwy_err *err);
void diagnosis_free(struct hwy_diagnosis *diagnosis);

#endif
