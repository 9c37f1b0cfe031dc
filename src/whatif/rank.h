/* SPDX-License-Identifier: Apache-2.0 */
/* rank.h - which of several edits are worth most, alone and one after the other.
 *
 * Gains are never added up: the combination is replayed. The best edit comes first, then the edit
 * that gains most beside it, and so on, until no further edit gains half a percent of the step.
 */
#ifndef HWY_WHATIF_RANK_H
#define HWY_WHATIF_RANK_H

#include "whatif/whatif.h"

struct rank_entry {
	struct whatif_edit edit;
	struct whatif_prediction alone;
	/* Prediction for this entry together with the entries before it in 'stack'. */
	struct whatif_prediction stacked;
	bool is_stacked;
};

struct rank {
	/* The entries that apply; the entry that gains most alone is first. */
	struct rank_entry *entries;
	uint32_t n;
	uint32_t *stack; /* indexes of entries, in the order in which they are best applied */
	uint32_t n_stack;
};

/* Ranks n candidates; candidates that do not apply to the phase are left out. */
void rank_edits(struct rank *rank, const struct whatif *w, const struct whatif_edit *candidates,
		uint32_t n);
void rank_free(struct rank *rank);

#endif
