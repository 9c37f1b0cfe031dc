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
#include "import/import.h"

static void add_path(struct cli_paths *paths, const char *path, bool is_found)
{
	HWY_GROW(paths->at, paths->n, paths->cap);
	paths->at[paths->n].name = hwy_copy(path, strlen(path) + 1);
	paths->at[paths->n++].is_found = is_found;
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
	return strcmp(*(char *const *)a, *(char *const *)b); /* the name comes first */
}

static void add_operand(struct cli_paths *paths, const char *path)
{
	struct stat about;
	DIR *folder = stat(path, &about) == 0 && S_ISDIR(about.st_mode) ? opendir(path) : NULL;
	if (!folder) {
		add_path(paths, path, false);
		return;
	}
	uint32_t first = paths->n;
	for (const struct dirent *entry; (entry = readdir(folder));) {
		char *full;
		if (entry->d_name[0] == '.' || !is_recording(entry->d_name))
			continue;
		if (asprintf(&full, "%s/%s", path, entry->d_name) < 0)
			cli_die("out of memory");
		add_path(paths, full, true);
		free(full);
	}
	closedir(folder);
	if (paths->n == first)
		cli_die("%s: no recording in this folder (.hwy, .sqlite, .json, .json.gz)", path);
	qsort(paths->at + first, paths->n - first, sizeof *paths->at, compare_paths);
}

struct cli_paths cli_paths_of(const struct cli_texts *operands)
{
	struct cli_paths paths = {0};
	for (uint32_t i = 0; i < operands->n; i++)
		add_operand(&paths, operands->texts[i]);
	return paths;
}

struct hwy_trace **cli_paths_open(struct cli_paths *paths)
{
	struct hwy_trace **traces = hwy_alloc(paths->n * sizeof(struct hwy_trace *));
	struct hwy_err *errors = hwy_alloc(paths->n * sizeof *errors);
	uint32_t n = 0, n_errors = 0;
	for (uint32_t i = 0; i < paths->n; i++) {
		const char *name = paths->at[i].name;
		traces[n] = paths->at[i].is_found
				    ? hwy_open(name, cli_progress(), &errors[n_errors])
				    : cli_open(name);
		cli_progress_end();
		if (traces[n]) {
			paths->at[n++] = paths->at[i];
		} else {
			n_errors++;
			free(paths->at[i].name);
		}
	}
	if (n == 0)
		cli_die("%s", errors[0].text);
	for (uint32_t i = 0; i < n_errors; i++)
		fprintf(stderr, "headway: left out: %s\n", errors[i].text);
	free(errors);
	paths->n = n;
	return traces;
}

void cli_paths_free(struct cli_paths *paths)
{
	for (uint32_t i = 0; i < paths->n; i++)
		free(paths->at[i].name);
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
