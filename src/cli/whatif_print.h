/* SPDX-License-Identifier: Apache-2.0 */
/* whatif_print.h - the predictions of `headway whatif`, as text and as JSON. */
#ifndef HWY_CLI_WHATIF_PRINT_H
#define HWY_CLI_WHATIF_PRINT_H

#include <stdio.h>

#include "diagnose/diagnose.h"
#include "whatif/joint.h"
#include "whatif/rank.h"

enum { WHATIF_NOTES = 32 };

struct whatif_view {
	const struct whatif *w;
	bool check; /* --check: print how well the graph explains the recording */
	/* With --apply: the edits that apply, and their prediction together. */
	struct whatif_edit *edits;
	uint32_t n_edits;
	struct whatif_prediction prediction;
	/* Notes about edits that do not apply, and notes that edits give about themselves. */
	char *notes[WHATIF_NOTES];
	uint32_t n_notes;
	/* Without --apply: the edits that were tried, ranked. */
	struct rank rank;
	struct whatif_edit *tried; /* the texts of these edits belong to 'diagnosis' */
	struct hwy_diagnosis diagnosis;
};

/* Predicts the edits together. Edits that do not apply are left out with a note; at least one
 * edit must apply. */
bool whatif_view_apply(struct whatif_view *view, const struct whatif_edit *edits, uint32_t n,
		       struct hwy_err *err);
/* Tries the edits of the phase's findings and acquittals; where these have none, the usual
 * edits. */
bool whatif_view_try(struct whatif_view *view, struct hwy_analysis *analysis, struct hwy_err *err);
/* Adds a note where the recording's times are not to be trusted for a prediction. */
void whatif_view_doubt(struct whatif_view *view, const struct hwy_analysis *analysis);
void whatif_view_free(struct whatif_view *view);

void whatif_print_text(FILE *out, const struct whatif_view *view);
void whatif_print_json(FILE *out, const struct whatif_view *view);

#endif
