/* spools.h - the files of a run, mapped, and their records, checked. */
#ifndef HWY_INGEST_SPOOLS_H
#define HWY_INGEST_SPOOLS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "spool/record.h"

struct spool_chunk {
	const struct rec_chunk *at;
	uint32_t used;    /* slots; fits the file */
	uint32_t file;    /* index */
	uint32_t process; /* for the use of the reader */
};

struct spool_file {
	const void *at;
	size_t size;
};

struct spools {
	struct rec_control control;
	bool has_control;
	struct spool_file *files;
	uint32_t n_files, cap_files;
	struct spool_chunk *chunks; /* file by file, in the order they were written */
	uint32_t n_chunks, cap_chunks;
	uint64_t damaged; /* chunks and records that are not what they should be */
};

/* Maps all spools of the directory. False when it is no run. */
bool spools_open(struct spools *spools, const char *directory, struct hwy_err *err);
void spools_close(struct spools *spools);

/* The records of one chunk. What it yields is whole: as long as its type, and what it says about its own
 * length is true. Types this version does not know are passed over. */
struct spool_cursor {
	const struct rec_head *record; /* the current one */
	const struct spool_chunk *chunk;
	uint32_t next; /* slot */
	uint64_t damaged;
};
struct spool_cursor spool_walk(const struct spool_chunk *chunk);
bool spool_next(struct spool_cursor *cursor);

#endif
