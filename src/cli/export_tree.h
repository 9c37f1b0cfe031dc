/* SPDX-License-Identifier: Apache-2.0 */
/* export_tree.h - exports that are folders for many jobs and ranks: OUT/job=ID/rank=N/…
 *
 * Each rank is written under a temporary name beside OUT and moved to its place when all ranks
 * are whole. What else is in OUT stays. A failure ends the program with status 2.
 */
#ifndef HWY_CLI_EXPORT_TREE_H
#define HWY_CLI_EXPORT_TREE_H

#include "cli/kit/cli.h"
#include "export/export.h"

struct export_tree {
	const struct export_type *type;
	const char *input, *output;
	const char *job; /* NULL: what the recording tells, else the name of its file or folder */
	bool force;      /* ranks that are there already are replaced */
	bool missing;    /* ranks that are there, and later than their report, are left alone */
	bool check;      /* nothing is written, and the ranks that are missing are named */
	const struct cli_privacy *privacy;
	const struct export_options *how;
};

/* Writes a recording, or all ranks of a job; 'result' is that of all of them together. Yields
 * how many were not there. */
uint32_t export_tree_write(const struct export_tree *tree, struct export_result *result);

#endif
