/* predict.h - predictions joined to findings. For src/diagnose only. */
#ifndef HWY_DIAGNOSE_PREDICT_H
#define HWY_DIAGNOSE_PREDICT_H

#include "diagnose/diagnose.h"
#include "replay/whatif.h"

/* More of the recording than this without an explanation: nothing is predicted from it. */
#define PREDICT_UNEXPLAINED 0.3

/* What one edit is worth; false where it does not apply. */
bool predict_edit(const struct whatif *w, const struct whatif_edit *edit, struct hwy_arena *arena,
		  struct hwy_predicted *predicted);

/* Those of a phase: from 'first' and 'first_acquitted' on, to the ends of their lists. */
void predict_phase(struct hwy_analysis *analysis, uint32_t phase, struct hwy_diagnosis *diagnosis,
		   uint32_t first, uint32_t first_acquitted);
/* Cuts costs, in the order of the findings, so that those of a phase add up to no more than its step. */
void predict_cut(const struct hwy_analysis *analysis, struct hwy_diagnosis *diagnosis);

#endif
