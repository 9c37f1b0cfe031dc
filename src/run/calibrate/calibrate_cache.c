/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate_cache.c - calibrations of earlier runs: one small text file for each GPU and set of
 * versions.
 *
 * The file's name is a hash of its key, and the key stands in the file again. A file that is not
 * exactly as this code writes it is as good as absent: the next calibration replaces it, through a
 * temporary name. A process that measures holds a lock on the file, which may be empty; the file is
 * never removed, or two processes could hold the lock.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cache.h"
#include "base/hash.h"
#include "run/calibrate/calibrate.h"
#include "run/run.h"

#define FIRST_LINE "headway calibration 1\n"
enum { KEY = 1024 };

static const char *or_unknown(const char *text)
{
	return text && *text ? text : "unknown";
}

/* Writes the lines of the key. The date of the collect library's file distinguishes builds of one
 * version. */
static bool write_key(const struct calibration_key *key, char text[KEY])
{
	struct hwy_err err;
	struct stat about = {0};
	char *library = library_find(&err);
	if (!library || stat(library, &about) != 0)
		about.st_mtime = 0;
	free(library);
	int n = snprintf(text, KEY,
			 "gpu %s\ndriver %s\ncupti %s\nheadway %s %lld\n"
			 "options traces=%u nodes=%u apis=%u memory=%u\n",
			 or_unknown(key->gpu), or_unknown(key->driver), or_unknown(key->cupti),
			 HEADWAY_VERSION, (long long)about.st_mtime, key->control->traces,
			 key->control->graph_nodes, key->control->all_apis,
			 key->control->memory_usage);
	return n > 0 && n < KEY;
}

static bool cache_path(const char *key, bool make, char path[PATH_MAX])
{
	if (!hwy_cache_folder(path, make))
		return false;
	snprintf(path + strlen(path), HWY_CACHE_NAME, "/calibration-%016llx",
		 (unsigned long long)hwy_hash(key, strlen(key)));
	return true;
}

/* Reads the values. Every line must be one of ours, and the last one must say how many there
 * are. */
static bool read_values(FILE *file, struct calibration *into)
{
	char line[256], last[32] = "";
	into->n = 0;
	while (fgets(line, sizeof line, file)) {
		if (!strchr(line, '\n'))
			return false;
		if (!calibration_read_line(into, line)) {
			snprintf(last, sizeof last, "end %u\n", into->n);
			return into->n && strcmp(line, last) == 0 &&
			       !fgets(line, sizeof line, file);
		}
	}
	return false;
}

bool calibration_cached(const struct calibration_key *key, struct calibration *into)
{
	char text[KEY], path[PATH_MAX], head[sizeof FIRST_LINE + KEY] = "";
	if (!write_key(key, text) || !cache_path(text, false, path))
		return false;
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	size_t n = strlen(FIRST_LINE) + strlen(text);
	bool valid = fread(head, 1, n, file) == n &&
		     memcmp(head, FIRST_LINE, strlen(FIRST_LINE)) == 0 &&
		     memcmp(head + strlen(FIRST_LINE), text, strlen(text)) == 0 &&
		     read_values(file, into);
	fclose(file);
	if (!valid)
		into->n = 0;
	return valid;
}

bool calibration_is_others(const struct calibration_key *key, int *turn)
{
	char text[KEY], path[PATH_MAX];
	if (*turn < 0 && write_key(key, text) && cache_path(text, true, path))
		*turn = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	return *turn >= 0 && flock(*turn, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

void calibration_store(const struct calibration_key *key, const struct calibration *calibration)
{
	char text[KEY], path[PATH_MAX], temporary[PATH_MAX];
	if (!write_key(key, text) || !cache_path(text, true, path) ||
	    snprintf(temporary, sizeof temporary, "%s.XXXXXX", path) >= (int)sizeof temporary)
		return;
	int fd = mkstemp(temporary);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file) {
		if (fd >= 0)
			close(fd);
		return;
	}
	fprintf(file, FIRST_LINE "%s", text);
	calibration_write_lines(calibration, file);
	fprintf(file, "end %u\n", calibration->n);
	bool whole = !ferror(file);
	if (fclose(file) != 0 || !whole || rename(temporary, path) != 0)
		unlink(temporary);
}
