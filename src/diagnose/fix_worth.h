/* SPDX-License-Identifier: Apache-2.0 */
/* fix_worth.h - what the fixes of findings are worth, by replaying the program. For src/diagnose
 * only. */
#ifndef HWY_DIAGNOSE_FIX_WORTH_H
#define HWY_DIAGNOSE_FIX_WORTH_H

#include "diagnose/diagnose.h"
#include "whatif/whatif.h"

/* Predicts the step with one edit; yields false where the edit does not apply. The prediction's
 * texts are in the arena. */
bool fix_worth_of_edit(const struct whatif *w, const struct whatif_edit *edit,
		       struct hwy_arena *arena, struct hwy_predicted *predicted);

/* Predicts the fixes of one phase's findings, findings[first …] and acquitted[first_acquitted …] to
 * the ends of the lists, sets their costs, and moves findings between the two lists. */
void fix_worth_judge_phase(struct hwy_analysis *analysis, uint32_t phase,
			   struct hwy_diagnosis *diagnosis, uint32_t first,
			   uint32_t first_acquitted);
/* Cuts costs, in the order of the findings, so that the costs of a phase add up to no more than its
 * step. */
void fix_worth_cut_costs(const struct hwy_analysis *analysis, struct hwy_diagnosis *diagnosis);

#endif
