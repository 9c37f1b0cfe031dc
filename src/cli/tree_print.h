/* SPDX-License-Identifier: Apache-2.0 */
/* tree_print.h - the output of `headway tree`: text, JSON, folded stacks. */
#ifndef HWY_CLI_TREE_PRINT_H
#define HWY_CLI_TREE_PRINT_H

#include <stdio.h>

#include "analyze/tree.h"

struct tree_view {
	const struct hwy_trace *trace;
	const struct hwy_tree *tree;
	const struct tree_options *options;
	const char *path;
	const char
		*what;  /* the part of the recording that is shown: "14 steady steps"; "" for all */
	uint32_t depth; /* show so many levels; 0: all */
	double min_share; /* leave out what has less of the GPU time and of the idle time */
};

void tree_print_text(FILE *out, const struct tree_view *view);
void tree_print_json(FILE *out, const struct tree_view *view);
/* One line for each leaf: "Net;layers.0;aten::mm;kernel NS". */
void tree_print_folded(FILE *out, const struct tree_view *view);

#endif
