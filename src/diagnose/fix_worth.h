/* fix_worth.h - predictions joined to findings. For src/diagnose only. */
#ifndef HWY_DIAGNOSE_FIX_WORTH_H
#define HWY_DIAGNOSE_FIX_WORTH_H

#include "diagnose/diagnose.h"
#include "whatif/whatif.h"

/* What one edit is worth; false where it does not apply. */
bool fix_worth_of_edit(const struct whatif *w, const struct whatif_edit *edit,
		       struct hwy_arena *arena, struct hwy_predicted *predicted);

/* Those of a phase: from 'first' and 'first_acquitted' on, to the ends of their lists. */
void fix_worth_judge_phase(struct hwy_analysis *analysis, uint32_t phase,
			   struct hwy_diagnosis *diagnosis, uint32_t first,
			   uint32_t first_acquitted);
/* Cuts costs, in the order of the findings, so that those of a phase add up to no more than its step. */
void fix_worth_cut_costs(const struct hwy_analysis *analysis, struct hwy_diagnosis *diagnosis);

#endif
