/* SPDX-License-Identifier: Apache-2.0 */
/* job_files.c - which files are recordings, of which rank they are, and whether two are of one
 * job; see job.h. */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/lang.h"
#include "base/mem.h"
#include "base/path.h"
#include "job/job.h"

static void add_file(struct job_files *files, const char *folder, const char *name)
{
	HWY_GROW(files->files, files->n, files->cap);
	struct job_file *file = &files->files[files->n++];
	size_t before = folder ? strlen(folder) + 1 : 0, length = strlen(name);
	file->is_found = folder != NULL;
	file->name = hwy_alloc(before + length + 1);
	if (folder) {
		memcpy(file->name, folder, before - 1);
		file->name[before - 1] = '/';
	}
	memcpy(file->name + before, name, length + 1);
}

/* What a job folder keeps beside its recordings (job/folder.h) is no recording. */
static bool is_recording(const char *name)
{
	static const char *const endings[] = {".hwy", ".sqlite", ".json", ".json.gz", NULL};
	size_t length = strlen(name);
	if (name[0] == '.' || strcmp(name, "job.json") == 0)
		return false;
	for (const char *const *ending = endings; *ending; ending++) {
		size_t n = strlen(*ending);
		if (length > n && strcmp(name + length - n, *ending) == 0)
			return true;
	}
	return false;
}

/* Whether a folder with an entry of this name is one that `headway export -t parquet` writes to. */
static bool is_of_export(const char *name)
{
	return strncmp(name, "job=", 4) == 0 || strncmp(name, "rank=", 5) == 0 ||
	       strncmp(name, "table=", 6) == 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct job_file *)a)->name, ((const struct job_file *)b)->name);
}

bool job_files_add(struct job_files *files, const char *path, struct hwy_err *err)
{
	struct stat about;
	DIR *folder = stat(path, &about) == 0 && S_ISDIR(about.st_mode) ? opendir(path) : NULL;
	if (!folder) {
		add_file(files, NULL, path);
		return true;
	}
	size_t length = strlen(path);
	while (length > 1 && path[length - 1] == '/')
		length--;
	char *bare = hwy_alloc(length + 1);
	memcpy(bare, path, length);
	bare[length] = '\0';
	uint32_t first = files->n;
	bool is_export = false;
	for (const struct dirent *entry; (entry = readdir(folder));) {
		if (is_recording(entry->d_name))
			add_file(files, bare, entry->d_name);
		is_export |= is_of_export(entry->d_name);
	}
	closedir(folder);
	free(bare);
	if (files->n == first && is_export)
		return hwy_fail(
			err,
			"%s: is a Parquet export of Headway; open the recordings it was made of",
			path);
	if (files->n == first)
		return hwy_fail(err,
				"%s: no recording in this folder (.hwy, .sqlite, .json, .json.gz)",
				path);
	qsort(files->files + first, files->n - first, sizeof *files->files, by_name);
	return true;
}

void job_files_free(struct job_files *files)
{
	for (uint32_t i = 0; i < files->n; i++)
		free(files->files[i].name);
	free(files->files);
	*files = (struct job_files){0};
}

int64_t job_rank_of(const struct hwy_trace *trace, const char *path)
{
	for (uint32_t i = 0; i < trace->n_processes; i++)
		if (trace->processes[i].rank >= 0)
			return trace->processes[i].rank;
	const char *number = strcasestr(hwy_basename(path), "rank");
	if (!number)
		return HWY_NONE;
	number += strlen("rank");
	number += strspn(number, "-_.");
	return isdigit((unsigned char)*number) ? strtol(number, NULL, 10) : HWY_NONE;
}

/* ---- one job, or several --------------------------------------------------------------------- */

/* Recordings of one job begin together, but for the time that a rank needs to start; the clocks of
 * hosts differ by less. */
#define APART_NS (60LL * 1000 * 1000 * 1000)

/* The first process that has a rank, else the first one. */
static const struct hwy_process *ranked_process(const struct hwy_trace *trace)
{
	for (uint32_t i = 0; i < trace->n_processes; i++)
		if (trace->processes[i].rank != HWY_NONE)
			return &trace->processes[i];
	return trace->n_processes > 0 ? &trace->processes[0] : NULL;
}

/* Finds the script in a command line, else the program, without its folder: options differ from
 * rank to rank. */
static struct hwy_text program_of_command(struct hwy_text command)
{
	struct hwy_text found = {0};
	for (const char *word = command.at, *end = word + command.length; word < end;) {
		size_t length = strcspn(word, " ");
		size_t folder = length;
		while (folder > 0 && word[folder - 1] != '/')
			folder--;
		struct hwy_text name = {word + folder, (uint32_t)(length - folder)};
		bool is_script = length > 3 && memcmp(word + length - 3, ".py", 3) == 0;
		if (found.length == 0 || is_script)
			found = name;
		if (is_script)
			break;
		word += length + strspn(word + length, " ");
	}
	return found;
}

static bool same_program(const struct hwy_trace *a, const struct hwy_process *x,
			 const struct hwy_trace *b, const struct hwy_process *y)
{
	struct hwy_text one = program_of_command(hwy_text(a, x->command));
	struct hwy_text two = program_of_command(hwy_text(b, y->command));
	return one.length == 0 || two.length == 0 ||
	       (one.length == two.length && memcmp(one.at, two.at, one.length) == 0);
}

const char *job_differ(const struct hwy_trace *a, const struct hwy_trace *b)
{
	const struct hwy_process *x = ranked_process(a), *y = ranked_process(b);
	const char *one = hwy_property(a, "job.id"), *two = hwy_property(b, "job.id");
	if (one && two && *one &&
	    *two) /* a job may have several programs, and ranks that started late */
		return strcmp(one, two) == 0 ? NULL : hwy_tr("they are of two jobs");
	if (x && y && !same_program(a, x, b, y))
		return hwy_tr("their programs differ");
	if (x && y && x->world > 0 && y->world > 0 && x->world != y->world)
		return hwy_tr("their world sizes differ");
	int64_t apart;
	if (a->wall != HWY_NONE && b->wall != HWY_NONE &&
	    (__builtin_sub_overflow(a->wall, b->wall, &apart) || apart > APART_NS ||
	     apart < -APART_NS))
		return hwy_tr("they were recorded at different times");
	return NULL;
}
