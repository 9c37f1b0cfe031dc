/* SPDX-License-Identifier: Apache-2.0 */
/* digest_file.h - files of digests: one rank's beside its report, or those of many ranks in one
 * file.
 *
 * A file is a header, records (digest.h) in order of job and rank, and a trailer with a
 * checksum; docs/digest.md has the bytes. Files are written under another name and renamed.
 */
#ifndef HWY_DIGEST_DIGEST_FILE_H
#define HWY_DIGEST_DIGEST_FILE_H

#include "digest/digest.h"

#define DIGEST_ENDING ".hwd"
enum { DIGEST_MOST_BYTES = 1 << 18 }; /* of one record before it is compressed */

/* What tells whether a report is still the one that a digest was made of. */
struct digest_source {
	uint64_t bytes;
	uint64_t identity; /* a hash of the file's size, and of its first and last bytes */
};
bool digest_source_of(struct digest_source *source, const char *path, struct hwy_err *err);

/* The file of a report's digest: "job1/rank3.hwd" for "job1/rank3.hwy", to be freed. */
char *digest_path_of(const char *report);
/* Whether the digest's file is there, and made of the report as it is now by this version of
 * Headway. */
bool digest_is_fresh(const char *report);
/* Whether the first bytes of a file are those of a file of digests. */
bool digest_file_is(const char *path);

/* Makes the digest of a report and writes it beside the report. */
bool digest_write_beside(const char *report, struct hwy_err *err);

struct digest_records { /* the records of a file as they are, in a buffer */
	uint8_t *bytes;
	struct digest_record {
		const uint8_t *bytes;
		size_t n;
	} * records;
	uint32_t n;
};
/* Reads a file and checks all of it but the insides of its records. */
bool digest_file_read(struct digest_records *records, const char *path, struct hwy_err *err);
/* The same of bytes in memory, which must stay: 'bytes' of the result is NULL. */
bool digest_file_take(struct digest_records *records, const uint8_t *bytes, size_t n,
		      const char *path, struct hwy_err *err);
void digest_records_free(struct digest_records *records);
/* Writes records in this order. */
bool digest_file_write(const char *path, const struct digest_record *records, uint32_t n,
		       bool overwrite, struct hwy_err *err);

#endif
