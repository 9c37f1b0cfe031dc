/* SPDX-License-Identifier: Apache-2.0 */
/* recordings.h - several recordings as operands: files and folders of files, and the rank of
 * each. */
#ifndef HWY_CLI_RECORDINGS_H
#define HWY_CLI_RECORDINGS_H

#include <stdbool.h>

#include "cli/kit/cli.h"
#include "trace/trace.h"

struct recordings {
	struct {
		char *name;
		bool is_found; /* found in a folder, which may hold files that are no recordings */
	} * files;
	uint32_t n, cap;
};

/* Finds the files among the operands, and all recordings in the folders among them, by name; a
 * folder without a recording is fatal. */
struct recordings recordings_find(const struct cli_texts *operands);
/* Opens the recordings and yields an array of traces, to be freed. A file that was found in a
 * folder and cannot be read is named on stderr and taken out of 'recordings'; where no other
 * file is left the program ends with 2. */
struct hwy_trace **recordings_open(struct recordings *recordings);
void recordings_free(struct recordings *recordings);

/* Yields the rank that the recording names, else the number after "rank" in the file's name, else
 * HWY_NONE. */
int64_t recordings_rank(const struct hwy_trace *trace, const char *path);

/* Yields why two recordings cannot be of one job, as the end of a sentence ("their programs
 * differ"); NULL where nothing speaks against it. */
const char *recordings_differ(const struct hwy_trace *a, const struct hwy_trace *b);

#endif
