/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_recordings.c - the tool that lists the recordings below the folders of --root, by the
 * endings of their names. */
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "mcp/mcp_folders.h"
#include "mcp/mcp_tools.h"
#include "mcp/mcp_tree.h"

enum {
	DEEPEST = 6,           /* how deep folders in folders are looked at */
	MOST_ENTRIES = 200000, /* files and folders that are looked at */
};

static bool has_ending(const char *name)
{
	static const char *const endings[] = {".hwy",      ".hwd",     ".sqlite",
					      ".nsys-rep", ".json.gz", ".trace.json"};
	size_t n = strlen(name);
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		size_t length = strlen(endings[i]);
		if (n > length && strcmp(name + n - length, endings[i]) == 0)
			return true;
	}
	return false;
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

static void list_folder(struct mcp_call *call, uint32_t root, struct json_value *list)
{
	char *const paths[] = {call->config->roots.paths[root], NULL};
	FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	FTSENT *entry;
	for (uint32_t n = 0; walk && n < MOST_ENTRIES && (entry = fts_read(walk)); n++) {
		if (entry->fts_info == FTS_D && is_passed_over(entry))
			fts_set(walk, entry, FTS_SKIP);
		if (entry->fts_info != FTS_F || !has_ending(entry->fts_name))
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
	for (uint32_t i = 0; i < call->config->roots.n; i++)
		list_folder(call, i, list);
	if (list->n == 0) {
		hwy_fail(err, "no recording in the folders that this server may read");
		return NULL;
	}
	return answer;
}
