/* view_cache.c - see view_process.h. A copy's name tells its source's path, size, date and ends, and our version: a source that
 * changed, or a newer reader, makes a new one. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cache.h"
#include "base/hash.h"
#include "base/mem.h"
#include "cli/kit/cli.h"
#include "cli/view_process.h"
#include "trace/file.h"

enum { END_BYTES = 64 << 10 };

static bool is_report(const char *path)
{
	char head[16];
	FILE *file = fopen(path, "re");
	size_t n = file ? fread(head, 1, sizeof head, file) : 0;
	if (file)
		fclose(file);
	return hwy_file_is_report(head, n);
}

static uint64_t view_cache_hash_of(const char *path, const struct stat *about)
{
	char *bytes = hwy_zalloc(2 * END_BYTES + PATH_MAX + 256);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	for (int end = 0; fd >= 0 && end < 2; end++) {
		off_t at = end && about->st_size > END_BYTES ? about->st_size - END_BYTES : 0;
		ssize_t got = pread(fd, bytes + n, END_BYTES, at);
		n += got > 0 ? (size_t)got : 0;
	}
	if (fd >= 0)
		close(fd);
	char *real = realpath(path, NULL);
	n += (size_t)snprintf(bytes + n, PATH_MAX + 256, "%s %lld %lld.%ld " HEADWAY_VERSION,
			      real ? real : path, (long long)about->st_size,
			      (long long)about->st_mtim.tv_sec, about->st_mtim.tv_nsec);
	uint64_t hash = hwy_hash(bytes, n);
	free(real);
	free(bytes);
	return hash;
}

static char *copy_of(const char *path, const struct stat *about)
{
	char folder[PATH_MAX], *copy = NULL;
	uint64_t hash = view_cache_hash_of(path, about);
	int n = hwy_cache_folder(folder, true) && access(folder, W_OK) == 0
			? asprintf(&copy, "%s/view-%016llx.hwy", folder, (unsigned long long)hash)
			: asprintf(&copy, "%s.%016llx.hwy", path, (unsigned long long)hash);
	if (n < 0)
		cli_die("out of memory");
	return copy;
}

struct hwy_trace *view_report(const char *path, char **report)
{
	struct stat about;
	struct hwy_err err;
	if (is_report(path)) {
		*report = hwy_copy(path, strlen(path) + 1);
		return cli_open(path);
	}
	if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) {
		hwy_trace_free(cli_open(path)); /* says what is wrong */
		cli_die("%s: is not a file", path);
	}
	*report = copy_of(path, &about);
	struct hwy_trace *trace = access(*report, R_OK) == 0 ? hwy_file_open(*report, &err) : NULL;
	if (trace)
		return trace;
	trace = cli_open(path);
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
