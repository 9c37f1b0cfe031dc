/* whatif_print.h - predictions as people and programs read them. */
#ifndef HWY_CLI_WHATIF_PRINT_H
#define HWY_CLI_WHATIF_PRINT_H

#include <stdio.h>

#include "diagnose/diagnose.h"
#include "whatif/joint.h"
#include "whatif/rank.h"

enum { WHATIF_NOTES = 32 };

struct whatif_view {
	const struct whatif *w;
	bool check; /* the graph's quality is what was asked for */
	/* Either what was asked for, as far as it applies, */
	struct whatif_edit *edits;
	uint32_t n_edits;
	struct whatif_prediction prediction;
	char *notes[WHATIF_NOTES]; /* what does not apply, and what edits say about themselves */
	uint32_t n_notes;
	/* or what was tried. */
	struct rank rank;
	struct whatif_edit *tried; /* their texts are the diagnosis' */
	struct hwy_diagnosis diagnosis;
};

/* Edits that do not apply are left out, with a note; one at least must. */
bool whatif_view_apply(struct whatif_view *view, const struct whatif_edit *edits, uint32_t n,
		       struct hwy_err *err);
/* The edits of the phase's findings and acquittals; where there are none, the usual ones. */
bool whatif_view_try(struct whatif_view *view, struct hwy_analysis *analysis, struct hwy_err *err);
void whatif_view_free(struct whatif_view *view);

void whatif_print_text(FILE *out, const struct whatif_view *view);
void whatif_print_json(FILE *out, const struct whatif_view *view);

#endif
