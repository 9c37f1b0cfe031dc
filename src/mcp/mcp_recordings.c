/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_recordings.c - the tool that lists the recordings below the folders of --root, by the
 * endings of their names.
 *
 * Most files that end with .json are something else than a trace of PyTorch: the beginning of these
 * is looked at, of so many at most that a folder of small files does not hold the server up.
 */
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mcp/mcp_folders.h"
#include "mcp/mcp_tools.h"
#include "mcp/mcp_tree.h"

enum {
	DEEPEST = 6,           /* how deep folders in folders are looked at */
	MOST_ENTRIES = 200000, /* files and folders that are looked at */
	MOST_OPENED = 2000,    /* .json files whose beginning is read */
	BEGINNING = 64 << 10,  /* bytes: what a trace says of its devices comes before its events */
};

static bool has_ending(const char *name, const char *ending)
{
	size_t n = strlen(name), length = strlen(ending);
	return n > length && strcmp(name + n - length, ending) == 0;
}

/* Whether the file begins as a trace of PyTorch does: an object with 'traceEvents', or a list of
 * events, which have a phase. */
static bool begins_as_trace(const char *path)
{
	char text[BEGINNING];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n = fd >= 0 ? pread(fd, text, sizeof text, 0) : -1;
	if (fd >= 0)
		close(fd);
	ssize_t at = n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	while (at < n && strchr(" \t\r\n", text[at]))
		at++;
	if (at >= n)
		return false;
	return text[at] == '{'   ? memmem(text, (size_t)n, "\"traceEvents\"", 13) != NULL
	       : text[at] == '[' ? memmem(text, (size_t)n, "\"ph\"", 4) != NULL
				 : false;
}

static bool entry_is_recording(const FTSENT *entry, uint32_t *n_opened)
{
	static const char *const endings[] = {".hwy",      ".hwd",     ".sqlite",
					      ".nsys-rep", ".json.gz", ".trace.json"};
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		if (has_ending(entry->fts_name, endings[i]))
			return true;
	return has_ending(entry->fts_name, ".json") && (*n_opened)++ < MOST_OPENED &&
	       begins_as_trace(entry->fts_path);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Hidden folders and those of packages hold no recordings, but many files. */
static bool is_passed_over(const FTSENT *entry)
{
	return entry->fts_level > 0 &&
	       (entry->fts_name[0] == '.' || strcmp(entry->fts_name, "node_modules") == 0 ||
		entry->fts_level > DEEPEST);
}

static void list_folder(struct mcp_call *call, uint32_t root, struct json_value *list,
			uint32_t *n_opened)
{
	char *const paths[] = {call->config->roots.paths[root], NULL};
	FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	FTSENT *entry;
	for (uint32_t n = 0; walk && n < MOST_ENTRIES && (entry = fts_read(walk)); n++) {
		if (entry->fts_info == FTS_D && is_passed_over(entry))
			fts_set(walk, entry, FTS_SKIP);
		if (entry->fts_info != FTS_F || !entry_is_recording(entry, n_opened))
			continue;
		struct json_value *row = mcp_tree_put(&call->arena, list, NULL, JSON_OBJECT);
		mcp_tree_put_text(
			&call->arena, row, "path",
			mcp_folders_name(&call->config->roots, entry->fts_path, &call->arena));
		mcp_tree_put_int(&call->arena, row, "bytes", entry->fts_statp->st_size);
	}
	if (walk)
		fts_close(walk);
}

struct json_value *mcp_recordings_answer(struct mcp_call *call, struct hwy_err *err)
{
	struct json_value *answer = mcp_tree_new(&call->arena, JSON_OBJECT);
	struct json_value *list = mcp_tree_put(&call->arena, answer, "recordings", JSON_ARRAY);
	uint32_t n_opened = 0;
	for (uint32_t i = 0; i < call->config->roots.n; i++)
		list_folder(call, i, list, &n_opened);
	if (list->n == 0) {
		hwy_fail(err, "no recording in the folders that this server may read");
		return NULL;
	}
	return answer;
}
