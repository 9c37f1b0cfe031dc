/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_folders.c - see mcp_folders.h. */
#include "mcp/mcp_folders.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"

enum { MOST_ENTRIES = 100000 }; /* entries of a job's folder that are looked at */

bool mcp_folders_add(struct mcp_folders *folders, const char *path, struct hwy_err *err)
{
	struct stat about;
	if (folders->n == MCP_MOST_FOLDERS)
		return hwy_fail(err, "%s: more than %d folders", path, MCP_MOST_FOLDERS);
	char *real = realpath(path, NULL);
	if (!real || stat(real, &about) != 0) {
		free(real);
		return hwy_fail(err, "%s: %s", path, hwy_strerror(errno));
	}
	if (!S_ISDIR(about.st_mode)) {
		free(real);
		return hwy_fail(err, "%s: not a folder", path);
	}
	folders->paths[folders->n++] = real;
	return true;
}

void mcp_folders_free(struct mcp_folders *folders)
{
	for (uint32_t i = 0; i < folders->n; i++)
		free(folders->paths[i]);
	folders->n = 0;
}

/* Yields what follows the folder in the path ("" for the folder itself), or NULL where the path
 * is not below it. */
static const char *below(const char *folder, const char *real)
{
	size_t n = strlen(folder);
	if (strcmp(folder, "/") == 0)
		return real + 1;
	if (strncmp(folder, real, n) != 0 || (real[n] && real[n] != '/'))
		return NULL;
	return real[n] ? real + n + 1 : real + n;
}

bool mcp_folders_hold(const struct mcp_folders *folders, const char *real)
{
	for (uint32_t i = 0; i < folders->n; i++)
		if (below(folders->paths[i], real))
			return true;
	return false;
}

/* Looks for a symbolic link that leads out of the folders anywhere below 'real'. */
static bool has_no_way_out(const struct mcp_folders *folders, const char *real, struct hwy_err *err)
{
	char *const paths[] = {(char *)(uintptr_t)real, NULL};
	FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	bool is_inside = walk != NULL;
	uint32_t n = 0;
	for (FTSENT *entry; is_inside && (entry = fts_read(walk)) && n < MOST_ENTRIES; n++) {
		if (entry->fts_info != FTS_SL && entry->fts_info != FTS_SLNONE)
			continue;
		char *target = realpath(entry->fts_path, NULL);
		is_inside = target && mcp_folders_hold(folders, target);
		free(target);
		if (!is_inside)
			hwy_fail(err, "%s: the link %s leads out of the folders of --root",
				 hwy_basename(real), hwy_basename(entry->fts_path));
	}
	if (walk)
		fts_close(walk);
	if (is_inside && n == MOST_ENTRIES)
		return hwy_fail(err,
				"%s: too many files in this folder; name the folder of one job",
				hwy_basename(real));
	return is_inside;
}

const char *mcp_folders_name(const struct mcp_folders *folders, const char *real,
			     struct hwy_arena *arena)
{
	const char *rest = below(folders->paths[0], real);
	if (!rest)
		return hwy_arena_format(arena, "%s", real);
	return *rest ? hwy_arena_format(arena, "%s%s", *rest == '-' ? "./" : "", rest) : ".";
}

static char *mcp_folders_resolve(const struct mcp_folders *folders, const char *path,
				 struct hwy_arena *arena)
{
	if (*path != '/')
		path = hwy_arena_format(arena, "%s/%s", folders->paths[0], path);
	return realpath(path, NULL);
}

const char *mcp_folders_find(const struct mcp_folders *folders, const char *path,
			     struct hwy_arena *arena, struct hwy_err *err)
{
	struct stat about;
	const char *found = NULL;
	char *real = mcp_folders_resolve(folders, path, arena);
	if (!real || !mcp_folders_hold(folders, real) || stat(real, &about) != 0)
		hwy_fail(err,
			 "%s: no such file in the folders that this server may read (--root); "
			 "'recordings' lists what is there",
			 path);
	else if (!S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode))
		hwy_fail(err, "%s: neither a file nor a folder", path);
	else if (S_ISREG(about.st_mode) || has_no_way_out(folders, real, err))
		found = mcp_folders_name(folders, real, arena);
	free(real);
	return found;
}

/* Yields the name with the ending that `headway profile` would add. */
static const char *report_name(const char *name, struct hwy_arena *arena)
{
	size_t n = strlen(name);
	bool has_ending = n >= 4 && strcmp(name + n - 4, ".hwy") == 0;
	return has_ending ? name : hwy_arena_format(arena, "%s.hwy", name);
}

const char *mcp_folders_new_report(const struct mcp_folders *folders, const char *path,
				   struct hwy_arena *arena, struct hwy_err *err)
{
	const char *slash = strrchr(path, '/');
	const char *name = report_name(slash ? slash + 1 : path, arena);
	const char *folder = slash ? hwy_arena_text(arena, path, (size_t)(slash - path) + 1) : ".";
	const char *found = NULL;
	struct stat about;
	char *real = mcp_folders_resolve(folders, folder, arena);
	const char *new = hwy_arena_format(arena, "%s/%s", real && real[1] ? real : "", name);
	if (*name == '.')
		hwy_fail(err, "%s: not the name of a report", path);
	else if (!real || !mcp_folders_hold(folders, real))
		hwy_fail(err, "%s: no such folder in those that this server may use (--root)",
			 path);
	else if (lstat(new, &about) == 0)
		hwy_fail(err, "%s: exists; take another name", name);
	else
		found = mcp_folders_name(folders, new, arena);
	/* The command reads it as a pattern: %h is the host, %q{NAME} is a variable. */
	if (found && strchr(found, '%')) {
		hwy_fail(err, "%s: has a '%%', which no report's path may have", path);
		found = NULL;
	}
	free(real);
	return found;
}
