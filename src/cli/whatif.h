/* whatif.h - predictions as people and programs read them. */
#ifndef HWY_CLI_WHATIF_H
#define HWY_CLI_WHATIF_H

#include <stdio.h>

#include "diagnose/diagnose.h"
#include "replay/rank.h"

struct whatif_view {
	const struct whatif *w;
	const char *path;
	bool check; /* the graph's quality is what was asked for */
	/* Either what was asked for, */
	const struct whatif_edit *edits;
	uint32_t n_edits;
	struct whatif_prediction prediction;
	char note[WHATIF_NOTE]; /* what the edits say about themselves; "" for nothing */
	/* or what was tried. */
	struct rank rank;
	struct whatif_edit *tried; /* their texts are the diagnosis' */
	struct hwy_diagnosis diagnosis;
};

bool whatif_view_apply(struct whatif_view *view, const struct whatif_edit *edits, uint32_t n,
		       struct hwy_err *err);
/* The edits of the phase's findings and acquittals; where there are none, the usual ones. */
bool whatif_view_try(struct whatif_view *view, struct hwy_analysis *analysis, struct hwy_err *err);
void whatif_view_free(struct whatif_view *view);

void whatif_print_text(FILE *out, const struct whatif_view *view);
void whatif_print_json(FILE *out, const struct whatif_view *view);

#endif
