/* SPDX-License-Identifier: Apache-2.0 */
/* whatif_job.h - `headway whatif` of a job that computes on CPUs only: how long it would take. */
#ifndef HWY_CLI_WHATIF_JOB_H
#define HWY_CLI_WHATIF_JOB_H

#include <stdio.h>

#include "cli/opened_job.h"

/* Predicts the edits together; with none given, those that may help, each alone. Prints text or
 * JSON. */
bool whatif_job_print(FILE *out, const struct opened_job *opened, const struct whatif_edit *edits,
		      uint32_t n, bool is_json, struct hwy_err *err);

#endif
