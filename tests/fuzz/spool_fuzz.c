/* SPDX-License-Identifier: Apache-2.0 */
/* spool_fuzz.c - any bytes as the spool of a process: the reader of runs ends, and its trace can be written.
 *
 * The input is one file of a run directory, made once. Stacks are not unwound through files of this machine:
 * modules are named by paths, and the seeds name none that exists.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ingest/ingest.h"

static char folder[] = "/tmp/spool-fuzz-XXXXXX";
static char file[64];

static void tidy_up(void)
{
	unlink(file);
	rmdir(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	if (!file[0]) {
		if (!mkdtemp(folder))
			abort();
		snprintf(file, sizeof file, "%s/7.7.0.spool", folder);
		atexit(tidy_up);
	}
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	close(fd);
	struct hwy_err err;
	struct hwy_trace *trace = ingest_run(folder, NULL, &err);
	hwy_trace_free(trace);
	return 0;
}
