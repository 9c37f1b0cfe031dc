/* syncs.h - what the findings about waits share. */
#ifndef HWY_DIAGNOSE_SYNCS_H
#define HWY_DIAGNOSE_SYNCS_H

#include "diagnose/case.h"

/* As many waits a step come from inside the model, not from the loop around it: a training step has one or
 * two (loss, accuracy), data-dependent control flow one a layer. */
#define SYNCS_MANY_PER_STEP 4.0

struct syncs {
	struct case_pauses pauses;
	uint64_t n;         /* pauses that are neither pageable copies nor useless */
	double each;        /* a step */
	int64_t waited;     /* the CPU really had to wait, in all */
	uint64_t finished;  /* of them: the device was done, or nearly, when they began */
	struct claim claim; /* the idle time charged to them */
};
/* The claim is made; whoever accuses takes it, others drop it with syncs_free. */
struct syncs syncs_look(struct hwy_case *c);
void syncs_free(struct hwy_case *c, struct syncs *syncs);
/* Whether the dearest of them stands in a method forward(): without marks a step may be one layer of the model, and
 * has one wait. */
bool syncs_are_in_forward(const struct hwy_case *c, const struct syncs *syncs);
/* Whether a finding about waits has accused this phase already: nothing is left to acquit. */
bool syncs_are_accused(const struct hwy_case *c);
/* A span of each pause, for places where nothing was claimed. */
void syncs_note(const struct hwy_case *c, const struct syncs *syncs, struct claim *claim);

#endif
