/* SPDX-License-Identifier: Apache-2.0 */
/* digest_file.c - see digest_file.h.
 *
 *   header    the magic (8 bytes), major and minor version (2 each), the number of records (4), the file's length (8)
 *   records   the length (4) and the bytes of each
 *   trailer   a hash of all bytes before it (8), and the end mark (8)
 *
 * Numbers are little-endian.
 */
#include "digest/digest_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "digest/digest_set.h"

/* Bytes that a text-mode transfer or a 7-bit channel would change, as a report's. */
#define DIGEST_MAGIC "\x89HWD\r\n\x1a\n"
#define DIGEST_END "HWD.END\n"
enum { DIGEST_MAJOR = 1, DIGEST_MINOR = 0, HEADER_BYTES = 24, TRAILER_BYTES = 16 };
/* A file of digests is at most so long: a million ranks of a few kB. */
#define MOST_FILE_BYTES (UINT64_C(1) << 33)

/* ---- reports --------------------------------------------------------------------------------- */

static bool read_digest_at(int fd, void *to, size_t n, uint64_t place)
{
	uint8_t *at = to;
	while (n > 0) {
		ssize_t got = pread(fd, at, n, (off_t)place);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += got;
		place += (uint64_t)got;
		n -= (size_t)got;
	}
	return true;
}

bool digest_source_of(struct digest_source *source, const char *path, struct hwy_err *err)
{
	enum { ENDS = 4096 };
	uint8_t ends[2 * ENDS + 8] = {0};
	struct stat about;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
		int why = fd < 0 ? errno : EINVAL;
		if (fd >= 0)
			close(fd);
		return hwy_fail(err, "%s: %s", path, hwy_strerror(why));
	}
	uint64_t size = (uint64_t)about.st_size, end = size < ENDS ? size : ENDS;
	/* The end of a report has its directory, whose own checksum changes with all that it
	 * lists. */
	bool done = read_digest_at(fd, ends, end, 0) &&
		    read_digest_at(fd, ends + ENDS, end, size - end);
	close(fd);
	hwy_little_write(ends + 2 * (size_t)ENDS, size, 8);
	*source = (struct digest_source){size, hwy_hash(ends, sizeof ends)};
	return done || hwy_fail(err, "%s: cannot be read", path);
}

char *digest_path_of(const char *report)
{
	static const char *const endings[] = {".hwy", ".sqlite", ".json", ".json.gz", ".gz", NULL};
	size_t length = strlen(report), cut = 0;
	for (const char *const *ending = endings; *ending; ending++) {
		size_t n = strlen(*ending);
		if (n > cut && length > n && strcmp(report + length - n, *ending) == 0)
			cut = n;
	}
	char *path;
	if (asprintf(&path, "%.*s" DIGEST_ENDING, (int)(length - cut), report) < 0)
		return hwy_copy("", 1);
	return path;
}

/* Whether a digest is of the report as it is, and of the job that the report is of now: a folder
 * may have got another name. */
static bool is_made_of(const struct digest_record *record, const struct digest_source *source,
		       const char *report)
{
	struct rank_digest digest;
	struct hwy_err err;
	if (!digest_decode(&digest, record->bytes, record->n, &err))
		return false;
	bool is = source->bytes == digest.report_bytes &&
		  source->identity == digest.report_identity &&
		  strcmp(digest.version, HEADWAY_VERSION) == 0 &&
		  (digest.is_named || strcmp(digest.job, digest_folder_name(&digest, report)) == 0);
	digest_free(&digest);
	return is;
}

bool digest_is_fresh(const char *report)
{
	struct digest_source source;
	struct digest_records records;
	struct hwy_err err;
	char *path = digest_path_of(report);
	bool is_read = access(path, R_OK) == 0 && digest_file_read(&records, path, &err);
	free(path);
	if (!is_read)
		return false;
	bool is_fresh = records.n > 0 && digest_source_of(&source, report, &err);
	for (uint32_t i = 0; i < records.n && is_fresh; i++)
		is_fresh = is_made_of(&records.records[i], &source, report);
	digest_records_free(&records);
	return is_fresh;
}

bool digest_write_beside(const char *report, struct hwy_err *err)
{
	struct digest_set set = {0};
	struct rank_digest *digests;
	uint32_t n;
	if (!digest_make(&digests, &n, report, err))
		return false;
	for (uint32_t i = 0; i < n; i++)
		digest_set_put(&set, &digests[i]);
	digest_set_settle(&set);
	char *path = digest_path_of(report);
	bool done = digest_set_write(&set, path, true, err);
	free(path);
	digest_set_free(&set);
	digests_free(digests, n);
	return done;
}

/* ---- reading --------------------------------------------------------------------------------- */

bool digest_file_is(const char *path)
{
	char head[8] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	bool is = read(fd, head, sizeof head) == sizeof head &&
		  memcmp(head, DIGEST_MAGIC, sizeof head) == 0;
	close(fd);
	return is;
}

static bool take_records(struct digest_records *records, struct hwy_bytes_reader *reader,
			 uint32_t n, const char *path, const uint8_t *begin, struct hwy_err *err)
{
	records->records = hwy_array(n, sizeof *records->records);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t length = hwy_bytes_read_little(reader, 4);
		const uint8_t *bytes = hwy_bytes_take(reader, length);
		if (reader->is_bad || length == 0)
			return hwy_fail(err, "%s: damaged: record %u of %u reaches beyond the end",
					path, i + 1, n);
		records->records[records->n++] = (struct digest_record){bytes, length};
	}
	return reader->next == reader->end ||
	       hwy_fail(err, "%s: damaged: something follows the last record at byte %zu", path,
			(size_t)(reader->next - begin));
}

bool digest_file_take(struct digest_records *records, const uint8_t *bytes, size_t n,
		      const char *path, struct hwy_err *err)
{
	*records = (struct digest_records){0};
	if (n < 8 || memcmp(bytes, DIGEST_MAGIC, 8) != 0)
		return hwy_fail(err, "%s: no file of digests", path);
	if (n < HEADER_BYTES + TRAILER_BYTES)
		return hwy_fail(err, "%s: cut off after %zu bytes", path, n);
	uint64_t major = hwy_little_read(bytes + 8, 2), count = hwy_little_read(bytes + 12, 4);
	uint64_t length = hwy_little_read(bytes + 16, 8);
	if (major != DIGEST_MAJOR)
		return hwy_fail(err, "%s: digests of format %u; this headway reads %u", path,
				(unsigned)major, DIGEST_MAJOR);
	if (length != n)
		return hwy_fail(
			err, "%s: %zu bytes long instead of %llu: cut off, or still being written",
			path, n, (unsigned long long)length);
	const uint8_t *trailer = bytes + n - TRAILER_BYTES;
	if (memcmp(trailer + 8, DIGEST_END, 8) != 0 ||
	    hwy_little_read(trailer, 8) != hwy_hash(bytes, n - TRAILER_BYTES))
		return hwy_fail(err, "%s: damaged: its checksum is wrong", path);
	if (count > (n - HEADER_BYTES - TRAILER_BYTES) / 5)
		return hwy_fail(err, "%s: damaged: %u records cannot be in %zu bytes", path,
				(unsigned)count, n);
	struct hwy_bytes_reader reader =
		hwy_bytes_reader(bytes + HEADER_BYTES, n - HEADER_BYTES - TRAILER_BYTES);
	if (take_records(records, &reader, (uint32_t)count, path, bytes, err))
		return true;
	digest_records_free(records);
	return false;
}

bool digest_file_read(struct digest_records *records, const char *path, struct hwy_err *err)
{
	struct stat about;
	*records = (struct digest_records){0};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &about) != 0 || !S_ISREG(about.st_mode) ||
	    (uint64_t)about.st_size > MOST_FILE_BYTES) {
		int why = fd < 0 ? errno : EINVAL;
		if (fd >= 0)
			close(fd);
		return hwy_fail(err, "%s: %s", path, hwy_strerror(why));
	}
	size_t n = (size_t)about.st_size;
	uint8_t *bytes = hwy_alloc(n + 1);
	bool done = read_digest_at(fd, bytes, n, 0);
	close(fd);
	done = done ? digest_file_take(records, bytes, n, path, err)
		    : hwy_fail(err, "%s: cannot be read", path);
	if (done)
		records->bytes = bytes;
	else
		free(bytes);
	return done;
}

void digest_records_free(struct digest_records *records)
{
	free(records->records);
	free(records->bytes);
	*records = (struct digest_records){0};
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool write_all(int fd, const uint8_t *from, size_t n)
{
	while (n > 0) {
		ssize_t done = write(fd, from, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		from += done;
		n -= (size_t)done;
	}
	return true;
}

static bool write_bytes(const char *path, const struct hwy_bytes *file, bool overwrite,
			struct hwy_err *err)
{
	/* A name that whoever clears a job's folder knows as a leftover. A number of a process
	 * would not do: two hosts, or two containers, may have the same one. */
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char *temporary;
	if (asprintf(&temporary, "%.*s.%s.tmp.XXXXXX", (int)(name - path), path, name) < 0)
		return hwy_fail(err, "%s: out of memory", path);
	int fd = mkostemp(temporary, O_CLOEXEC);
	bool done = fd >= 0 && write_all(fd, file->bytes, file->n);
	int why = errno;
	if (fd >= 0 && close(fd) != 0 && done) {
		done = false;
		why = errno;
	}
	if (done && !overwrite) { /* link, unlike rename, never replaces a file */
		done = link(temporary, path) == 0;
		why = errno;
		unlink(temporary);
	} else if (done) {
		done = rename(temporary, path) == 0;
		why = errno;
	}
	if (!done && fd >= 0)
		unlink(temporary);
	free(temporary);
	return done || hwy_fail(err, "%s: %s%s", path, hwy_strerror(why),
				why == EEXIST ? "; -f overwrites it" : "");
}

bool digest_file_write(const char *path, const struct digest_record *records, uint32_t n,
		       bool overwrite, struct hwy_err *err)
{
	struct hwy_bytes file = {0};
	hwy_bytes_put(&file, DIGEST_MAGIC, 8);
	hwy_bytes_put_little(&file, DIGEST_MAJOR, 2);
	hwy_bytes_put_little(&file, DIGEST_MINOR, 2);
	hwy_bytes_put_little(&file, n, 4);
	hwy_bytes_put_little(&file, 0, 8);
	for (uint32_t i = 0; i < n; i++) {
		hwy_bytes_put_little(&file, records[i].n, 4);
		hwy_bytes_put(&file, records[i].bytes, records[i].n);
	}
	hwy_little_write(file.bytes + 16, file.n + TRAILER_BYTES, 8);
	hwy_bytes_put_little(&file, hwy_hash(file.bytes, file.n), 8);
	hwy_bytes_put(&file, DIGEST_END, 8);
	bool done = write_bytes(path, &file, overwrite, err);
	hwy_bytes_free(&file);
	return done;
}
