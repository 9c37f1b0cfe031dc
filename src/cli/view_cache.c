/* SPDX-License-Identifier: Apache-2.0 */
/* view_cache.c - see view_process.h. The name of a converted report is a hash of the source's
 * path, size, date, first and last bytes, and of Headway's version: where any of them changes,
 * the source is converted anew. The ranks of a job are converted into one report. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cache.h"
#include "base/hash.h"
#include "base/mem.h"
#include "cli/kit/cli.h"
#include "cli/view_process.h"
#include "job/job.h"
#include "trace/file.h"

enum { END_BYTES = 64 << 10 };

static void view_cache_put(struct hwy_bytes *key, const char *path)
{
	struct stat about = {0};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		fstat(fd, &about);
	for (int end = 0; fd >= 0 && end < 2; end++) {
		off_t from = end && about.st_size > END_BYTES ? about.st_size - END_BYTES : 0;
		ssize_t got = pread(fd, hwy_bytes_reserve(key, END_BYTES), END_BYTES, from);
		key->n += got > 0 ? (size_t)got : 0;
	}
	if (fd >= 0)
		close(fd);
	char *real = realpath(path, NULL);
	char text[PATH_MAX + 256];
	int n = snprintf(text, sizeof text, "%s %lld %lld.%ld " HEADWAY_VERSION, real ? real : path,
			 (long long)about.st_size, (long long)about.st_mtim.tv_sec,
			 about.st_mtim.tv_nsec);
	hwy_bytes_put(key, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
	free(real);
}

/* Of a folder, all recordings in it count. */
static uint64_t view_cache_hash_of(const char *const *paths, uint32_t n)
{
	struct hwy_bytes key = {0};
	struct job_files files = {0};
	struct hwy_err err;
	for (uint32_t i = 0; i < n; i++)
		if (!job_files_add(&files, paths[i], &err))
			cli_die("%s", err.text);
	for (uint32_t i = 0; i < files.n; i++)
		view_cache_put(&key, files.files[i].name);
	uint64_t hash = hwy_hash(key.bytes, key.n);
	hwy_bytes_free(&key);
	job_files_free(&files);
	return hash;
}

static char *cached_path(const char *const *paths, uint32_t count)
{
	char folder[PATH_MAX], *copy = NULL;
	uint64_t hash = view_cache_hash_of(paths, count);
	int n = hwy_cache_folder(folder, true) && access(folder, W_OK) == 0
			? asprintf(&copy, "%s/view-%016llx.hwy", folder, (unsigned long long)hash)
			: asprintf(&copy, "%s.%016llx.hwy", paths[0], (unsigned long long)hash);
	if (n < 0)
		cli_die("out of memory");
	return copy;
}

/* Finds what was converted before, or converts it: one operand, or the chosen ranks of a job. */
static struct hwy_trace *open_converted(const char *const *paths, uint32_t n, bool are_chosen,
					char **report)
{
	struct hwy_err err;
	*report = cached_path(paths, n);
	struct hwy_trace *trace = access(*report, R_OK) == 0 ? hwy_file_open(*report, &err) : NULL;
	if (trace)
		return trace;
	trace = are_chosen ? cli_open_ranks(paths, n) : cli_open(paths[0]);
	bool written = hwy_file_write(trace, *report, true, cli_progress(), &err);
	cli_progress_end();
	if (!written)
		cli_die("%s", err.text);
	hwy_trace_free(trace);
	trace = hwy_file_open(*report, &err);
	if (!trace)
		cli_die("%s", err.text);
	return trace;
}

struct hwy_trace *view_cache_open_ranks(const char *const *paths, uint32_t n, char **report)
{
	return n == 1 ? view_cache_open(paths[0], report) : open_converted(paths, n, true, report);
}

struct hwy_trace *view_cache_open(const char *path, char **report)
{
	struct stat about;
	if (cli_is_report(path)) {
		*report = hwy_copy(path, strlen(path) + 1);
		return cli_open(path);
	}
	if (stat(path, &about) != 0 || (!S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode))) {
		hwy_trace_free(cli_open(path)); /* cli_open prints the reason and exits */
		cli_die("%s: is neither a file nor a folder", path);
	}
	return open_converted(&path, 1, false, report);
}
