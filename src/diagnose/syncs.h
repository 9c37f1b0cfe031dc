/* SPDX-License-Identifier: Apache-2.0 */
/* syncs.h - the waits of a phase, summed up for the three findings about waits. */
#ifndef HWY_DIAGNOSE_SYNCS_H
#define HWY_DIAGNOSE_SYNCS_H

#include "diagnose/case.h"

/* So many waits a step come from inside the model, not from the loop around it: a training step has
 * one or two (loss, accuracy), control flow that depends on data has one a layer. */
#define SYNCS_MANY_PER_STEP 4.0

/* A decision needs a value or a mask: who waits for so many bytes wants the data. */
#define SYNCS_DATA_BYTES 65536

struct syncs {
	struct case_pauses pauses;
	uint64_t n;     /* how many pauses are neither pageable copies nor useless nor releases */
	double each;    /* the n pauses divided by the number of steps */
	int64_t waited; /* ns that the CPU waited in the n pauses together */
	uint64_t with_data; /* how many of the n pauses read or write SYNCS_DATA_BYTES or more */
	/* How many of the n pauses are of threads that launch nothing: they wait for another
	 * thread, which goes on at a moment that nobody recorded. */
	uint64_t for_others;
	uint64_t finished;  /* how many of the n pauses found the device done, or nearly done */
	struct claim claim; /* the idle time that is charged to the n pauses */
};
/* Claims the idle time: a finding that accuses takes the claim over, any other gives it back with
 * syncs_free. */
struct syncs syncs_look(struct hwy_case *c);
void syncs_free(struct hwy_case *c, struct syncs *syncs);
/* Whether the wait that costs most stands in a method forward(): without marks a step may be one
 * layer of the model, with one wait. */
bool syncs_are_in_forward(const struct hwy_case *c, const struct syncs *syncs);
/* The advice where the wait that costs most is a call of Python from inside a function that XLA
 * compiled; NULL elsewhere. */
const char *syncs_callback_advice(const struct hwy_case *c, const struct syncs *syncs);
/* A sentence, to be put behind another one, that names what the CPU does in the idle time behind
 * the waits; "" where it launches, or where no name covers a good part of that time. */
const char *syncs_meanwhile(struct hwy_case *c, const struct syncs *syncs);
/* Whether most of the idle time that the waits cost, or where they cost none most of the waiting,
 * is for copies to the device: nothing is read back there. */
bool syncs_send(const struct hwy_case *c, const struct syncs *syncs);
/* Whether another finding about waits has accused this phase already: then nothing is left to
 * acquit. */
bool syncs_are_accused(const struct hwy_case *c);
/* Adds the place of each pause to a claim, where no time was claimed. */
void syncs_note(const struct hwy_case *c, const struct syncs *syncs, struct claim *claim);

#endif
