/* SPDX-License-Identifier: Apache-2.0 */
/* breakdown_print.h - the output of `headway breakdown`, as text and as JSON. */
#ifndef HWY_CLI_BREAKDOWN_PRINT_H
#define HWY_CLI_BREAKDOWN_PRINT_H

#include <stdio.h>

#include "analyze/breakdown.h"

struct breakdown_view {
	const struct hwy_trace *trace;
	const struct hwy_breakdown *breakdown;
	const struct hwy_breakdown_options *options;
	const char *path;
	bool all_steps, all_streams; /* the text lists every step, and every stream */
};

void breakdown_print_json(FILE *out, const struct breakdown_view *view);
void breakdown_print_text(FILE *out, const struct breakdown_view *view);

/* How many characters a device's bar has; the text needs a breakdown with options.cells set to
 * it. */
enum { BREAKDOWN_BAR = 56 };

#endif
