/* recordings.h - several recordings as operands: files, folders of them, and whose rank each is. */
#ifndef HWY_CLI_RECORDINGS_H
#define HWY_CLI_RECORDINGS_H

#include <stdbool.h>

#include "trace/trace.h"

struct cli_paths {
	struct {
		char *name;
		bool is_found; /* in a folder, where other files may stand too */
	} * at;
	uint32_t n, cap;
};

/* A file, or all recordings in a folder, by name; a folder without any is fatal. */
void cli_paths_add(struct cli_paths *paths, const char *operand);
/* Opens them. What was found in a folder and cannot be read is named, and left out of the paths too; it is fatal
 * where nothing else is left. The array is the caller's. */
struct hwy_trace **cli_paths_open(struct cli_paths *paths);
void cli_paths_free(struct cli_paths *paths);

/* What the recording says, else the number after "rank" in the file's name, else HWY_NONE. */
int64_t cli_rank(const struct hwy_trace *trace, const char *path);

#endif
