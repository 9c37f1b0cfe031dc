/* SPDX-License-Identifier: Apache-2.0 */
/* recordings.h - several recordings as operands: files and folders of files (job/job.h). */
#ifndef HWY_CLI_RECORDINGS_H
#define HWY_CLI_RECORDINGS_H

#include <stdbool.h>

#include "cli/kit/cli.h"
#include "job/job.h"

/* Finds the files among the operands, and all recordings in the folders among them, by name; a
 * folder without a recording is fatal. */
struct job_files recordings_find(const struct cli_texts *operands);
/* Opens the recordings and yields an array of traces, to be freed. A file that was found in a
 * folder and cannot be read is named on stderr and taken out of 'recordings'; where no other
 * file is left the program ends with 2. */
struct hwy_trace **recordings_open(struct job_files *recordings);

#endif
