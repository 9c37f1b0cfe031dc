/* SPDX-License-Identifier: Apache-2.0 */
/* nsys_fuzz.c - any bytes as an nsys export: refused with a line or read, never anything else.
 *
 * SQLite wants a file; one is kept for the whole run. The seeds are recordings cut down to a few rows.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "import/import.h"

static char path[] = "/tmp/headway-nsys-fuzz-XXXXXX";
static int file = -1;

static void remove_file(void)
{
	unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct hwy_err err = {{0}};
	if (file < 0) {
		file = mkstemp(path);
		atexit(remove_file);
	}
	if (file < 0 || ftruncate(file, 0) != 0 || pwrite(file, bytes, size, 0) != (ssize_t)size)
		return 0;
	struct hwy_trace *trace = import_nsys(path, NULL, &err);
	assert(trace || (err.text[0] && !strchr(err.text, '\n')));
	hwy_trace_free(trace);
	return 0;
}
