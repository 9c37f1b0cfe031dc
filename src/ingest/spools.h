/* SPDX-License-Identifier: Apache-2.0 */
/* spools.h - the spool files of a run directory, in memory, and their records, checked. */
#ifndef HWY_INGEST_SPOOLS_H
#define HWY_INGEST_SPOOLS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "spool/control.h"
#include "spool/record.h"

struct spool_chunk {
	const struct rec_chunk *header;
	uint32_t used;    /* how many slots hold records; all of them lie inside the file */
	uint32_t file;    /* index into spools.files */
	uint32_t process; /* index of the process that ingest.c sets, and ingest.c alone uses */
	bool is_shared;   /* more than one thread wrote to the chunk; ingest.c sets it */
};

struct spool_file {
	void *bytes;
	size_t size;
	bool is_mapped; /* else 'bytes' are a copy */
};

struct spools {
	struct rec_control control;
	bool has_control;
	struct spool_file *files;
	uint32_t n_files, cap_files;
	/* All chunks, file by file, in the order in which they were written. */
	struct spool_chunk *chunks;
	uint32_t n_chunks, cap_chunks;
	uint64_t damaged; /* number of files, chunks and records that cannot be read */
};

/* Maps or reads all spools of the directory; false when the directory holds no run. */
bool spools_open(struct spools *spools, const char *directory, struct hwy_err *err);
void spools_close(struct spools *spools);

/* Walks over the records of one chunk. A record that the walk yields is whole: it is as long as its
 * type requires and as its own counts say. Types that this version does not know are skipped. */
struct spool_cursor {
	const struct rec_head *record; /* the current record */
	const struct spool_chunk *chunk;
	uint32_t next; /* slot in which the next record begins */
	uint32_t tid;  /* the thread that wrote the current record */
	uint64_t damaged;
};
struct spool_cursor spools_walk(const struct spool_chunk *chunk);
bool spools_next(struct spool_cursor *cursor);

#endif
