/* recordings.h - several recordings as operands: files, folders of them, and whose rank each is. */
#ifndef HWY_CLI_RECORDINGS_H
#define HWY_CLI_RECORDINGS_H

#include "trace/trace.h"

struct cli_paths {
	char **at;
	uint32_t n, cap;
};

/* A file, or all recordings in a folder, by name; a folder without any is fatal. */
void cli_paths_add(struct cli_paths *paths, const char *operand);
void cli_paths_free(struct cli_paths *paths);

/* What the recording says, else the number after "rank" in the file's name, else HWY_NONE. */
int64_t cli_rank(const struct hwy_trace *trace, const char *path);

#endif
