/* recordings.h - several recordings as operands: files, folders of them, and whose rank each is. */
#ifndef HWY_CLI_RECORDINGS_H
#define HWY_CLI_RECORDINGS_H

#include <stdbool.h>

#include "cli/kit/cli.h"
#include "trace/trace.h"

struct cli_paths {
	struct {
		char *name;
		bool is_found; /* in a folder, where other files may stand too */
	} * at;
	uint32_t n, cap;
};

/* The files among the operands, and all recordings in the folders among them, by name; a folder without a
 * recording is fatal. */
struct cli_paths cli_paths_of(const struct cli_texts *operands);
/* Opens them. What was found in a folder and cannot be read is named, and left out of the paths too; it is fatal
 * where nothing else is left. The array is the caller's. */
struct hwy_trace **cli_paths_open(struct cli_paths *paths);
void cli_paths_free(struct cli_paths *paths);

/* What the recording says, else the number after "rank" in the file's name, else HWY_NONE. */
int64_t cli_rank(const struct hwy_trace *trace, const char *path);

#endif
