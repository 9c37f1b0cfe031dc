/* SPDX-License-Identifier: Apache-2.0 */
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
	/* The member 'name' comes first in the struct. */
	return strcmp(*(char *const *)a, *(char *const *)b);
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

/* ---- one job, or several ------------------------------------------------------------------------ */

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

const char *recordings_differ(const struct hwy_trace *a, const struct hwy_trace *b)
{
	const struct hwy_process *x = ranked_process(a), *y = ranked_process(b);
	if (x && y && !same_program(a, x, b, y))
		return "their programs differ";
	if (x && y && x->world > 0 && y->world > 0 && x->world != y->world)
		return "their world sizes differ";
	int64_t apart;
	if (a->wall != HWY_NONE && b->wall != HWY_NONE &&
	    (__builtin_sub_overflow(a->wall, b->wall, &apart) || apart > APART_NS ||
	     apart < -APART_NS))
		return "they were recorded at different times";
	return NULL;
}
