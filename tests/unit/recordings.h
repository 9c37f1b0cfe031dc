/* SPDX-License-Identifier: Apache-2.0 */
/* recordings.h - real recordings for unit tests: those of tests/data (DATA) and, where they are, the larger ones
 * beside the checkout (SHARED). A recording that is absent may stand in tests/data as the report that it was converted
 * to. Compressed SQLite files are unpacked into a folder of the test.
 */
#ifndef HWY_TESTS_RECORDINGS_H
#define HWY_TESTS_RECORDINGS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "import/import.h"

/* NULL where there is no such file. 'name' is "nsys/mlp_sync.sqlite.xz", "torch/mlp_sync.json.gz", … */
static inline struct hwy_trace *recording_open(const char *name, const char *folder)
{
	char path[1024], command[2200];
	struct hwy_err err;
	snprintf(path, sizeof path, "%s/%s", getenv("DATA") ? getenv("DATA") : ".", name);
	if (access(path, R_OK) != 0)
		snprintf(path, sizeof path, "%s/data/%s",
			 getenv("SHARED") && *getenv("SHARED") ? getenv("SHARED") : "/nowhere",
			 name);
	if (access(path, R_OK) != 0)
		snprintf(path, sizeof path, "%s/%.*s.hwy", getenv("DATA") ? getenv("DATA") : ".",
			 (int)strcspn(name, "."), name);
	if (access(path, R_OK) != 0)
		return NULL;
	size_t length = strlen(path);
	bool packed = length > 3 && strcmp(path + length - 3, ".xz") == 0;
	if (packed) {
		snprintf(command, sizeof command, "xz -dc '%s' >'%s/unpacked'", path, folder);
		if (system(command) != 0)
			return NULL;
		snprintf(path, sizeof path, "%s/unpacked", folder);
	}
	struct hwy_trace *trace = hwy_open(path, NULL, &err);
	if (!trace)
		fail_msg("%s: %s", name, err.text);
	if (packed)
		unlink(path);
	return trace;
}

#endif
