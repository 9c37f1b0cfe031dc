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
#include "base/path.h"
#include "import/import.h"

static void add_path(struct recordings *recordings, const char *path, bool is_found)
{
	HWY_GROW(recordings->files, recordings->n, recordings->cap);
	recordings->files[recordings->n].name = hwy_copy(path, strlen(path) + 1);
	recordings->files[recordings->n++].is_found = is_found;
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
	return strcmp(*(char *const *)a, *(char *const *)b); /* 'name' is the first member */
}

static void add_operand(struct recordings *recordings, const char *path)
{
	struct stat about;
	DIR *folder = stat(path, &about) == 0 && S_ISDIR(about.st_mode) ? opendir(path) : NULL;
	if (!folder) {
		add_path(recordings, path, false);
		return;
	}
	uint32_t first = recordings->n;
	for (const struct dirent *entry; (entry = readdir(folder));) {
		char *full;
		if (entry->d_name[0] == '.' || !is_recording(entry->d_name))
			continue;
		if (asprintf(&full, "%s/%s", path, entry->d_name) < 0)
			cli_die("out of memory");
		add_path(recordings, full, true);
		free(full);
	}
	closedir(folder);
	if (recordings->n == first)
		cli_die("%s: no recording in this folder (.hwy, .sqlite, .json, .json.gz)", path);
	qsort(recordings->files + first, recordings->n - first, sizeof *recordings->files,
	      compare_paths);
}

struct recordings recordings_find(const struct cli_texts *operands)
{
	struct recordings found = {0};
	for (uint32_t i = 0; i < operands->n; i++)
		add_operand(&found, operands->texts[i]);
	return found;
}

struct hwy_trace **recordings_open(struct recordings *recordings)
{
	struct hwy_trace **traces = hwy_array(recordings->n, sizeof *traces);
	struct hwy_err *errors = hwy_array(recordings->n, sizeof *errors);
	uint32_t n = 0, n_errors = 0;
	for (uint32_t i = 0; i < recordings->n; i++) {
		const char *name = recordings->files[i].name;
		traces[n] = recordings->files[i].is_found
				    ? hwy_open(name, cli_progress(), &errors[n_errors])
				    : cli_open(name);
		cli_progress_end();
		if (traces[n]) {
			recordings->files[n++] = recordings->files[i];
		} else {
			n_errors++;
			free(recordings->files[i].name);
		}
	}
	if (n == 0)
		cli_die("%s", errors[0].text);
	for (uint32_t i = 0; i < n_errors; i++)
		fprintf(stderr, "headway: left out: %s\n", errors[i].text);
	free(errors);
	recordings->n = n;
	return traces;
}

void recordings_free(struct recordings *recordings)
{
	for (uint32_t i = 0; i < recordings->n; i++)
		free(recordings->files[i].name);
	free(recordings->files);
	*recordings = (struct recordings){0};
}

int64_t recordings_rank(const struct hwy_trace *trace, const char *path)
{
	for (uint32_t i = 0; i < trace->n_processes; i++)
		if (trace->processes[i].rank != HWY_NONE)
			return trace->processes[i].rank;
	const char *number = strcasestr(hwy_basename(path), "rank");
	if (!number)
		return HWY_NONE;
	number += strlen("rank");
	number += strspn(number, "-_.");
	return isdigit((unsigned char)*number) ? strtol(number, NULL, 10) : HWY_NONE;
}
