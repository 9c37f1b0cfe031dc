/* recordings.c - see recordings.h. */
#include "cli/recordings.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "cli/cli.h"

static void add_path(struct cli_paths *paths, const char *path)
{
	HWY_GROW(paths->at, paths->n, paths->cap);
	paths->at[paths->n++] = hwy_copy(path, strlen(path) + 1);
}

static bool is_recording(const char *name)
{
	static const char *const endings[] = {".hwy", ".sqlite", ".json", ".json.gz", NULL};
	size_t length = strlen(name);
	for (const char *const *ending = endings; *ending; ending++) {
		size_t n = strlen(*ending);
		if (length > n && strcmp(name + length - n, *ending) == 0)
			return true;
	}
	return false;
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void cli_paths_add(struct cli_paths *paths, const char *path)
{
	struct stat about;
	DIR *folder = stat(path, &about) == 0 && S_ISDIR(about.st_mode) ? opendir(path) : NULL;
	if (!folder) {
		add_path(paths, path);
		return;
	}
	uint32_t first = paths->n;
	for (const struct dirent *entry; (entry = readdir(folder));) {
		char *full;
		if (entry->d_name[0] == '.' || !is_recording(entry->d_name))
			continue;
		if (asprintf(&full, "%s/%s", path, entry->d_name) < 0)
			cli_die("out of memory");
		add_path(paths, full);
		free(full);
	}
	closedir(folder);
	if (paths->n == first)
		cli_die("%s: no recording in this folder (.hwy, .sqlite, .json, .json.gz)", path);
	qsort(paths->at + first, paths->n - first, sizeof *paths->at, compare_paths);
}

void cli_paths_free(struct cli_paths *paths)
{
	for (uint32_t i = 0; i < paths->n; i++)
		free(paths->at[i]);
	free(paths->at);
	*paths = (struct cli_paths){0};
}

int64_t cli_rank(const struct hwy_trace *trace, const char *path)
{
	for (uint32_t i = 0; i < trace->n_processes; i++)
		if (trace->processes[i].rank != HWY_NONE)
			return trace->processes[i].rank;
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *at = strcasestr(name, "rank");
	if (!at)
		return HWY_NONE;
	at += 4 + strspn(at + 4, "-_.");
	return isdigit((unsigned char)*at) ? strtol(at, NULL, 10) : HWY_NONE;
}
