/* breakdown_print.h - the two faces of `headway breakdown`. */
#ifndef HWY_CLI_BREAKDOWN_PRINT_H
#define HWY_CLI_BREAKDOWN_PRINT_H

#include <stdio.h>

#include "analyze/breakdown.h"

struct breakdown_view {
	const struct hwy_trace *trace;
	const struct hwy_breakdown *breakdown;
	const struct hwy_breakdown_options *options;
	const char *path;
	bool all_steps, all_streams; /* text: list every one */
};

void breakdown_print_json(FILE *out, const struct breakdown_view *view);
void breakdown_print_text(FILE *out, const struct breakdown_view *view);

/* Cells of a device's bar; options.cells must be this many for text. */
enum { BREAKDOWN_BAR = 56 };

#endif
