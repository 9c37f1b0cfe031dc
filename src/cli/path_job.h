/* SPDX-License-Identifier: Apache-2.0 */
/* path_job.h - prints the critical path of a job. */
#ifndef HWY_CLI_PATH_JOB_H
#define HWY_CLI_PATH_JOB_H

#include <stdio.h>

#include "job/job_path.h"

/* rows: the most contributors that are shown. */
void path_job_text(FILE *out, const struct hwy_job_path *path, uint64_t rows);
void path_job_json(FILE *out, const struct hwy_job_path *path, uint64_t rows);

#endif
