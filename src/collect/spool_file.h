/* SPDX-License-Identifier: Apache-2.0 */
/* spool_file.h - one file of a thread's spool, and the chunk of the file that is being filled. */
#ifndef HWY_COLLECT_SPOOL_FILE_H
#define HWY_COLLECT_SPOOL_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "spool/record.h"

enum {
	SPOOL_FILE_SLOTS = REC_CHUNK_BYTES / REC_SLOT, /* slots of a whole chunk */
	SPOOL_FILE_RING = 4096, /* how many chunks a ring has at most: 1 GiB */
};

/* Only the thread that owns the spool reads or writes this struct; a reader of the recording sees
 * only the file. */
struct spool_file {
	/* The mapped chunk that is being filled; NULL: there is no chunk yet. */
	struct rec_chunk *chunk;
	/* How many slots of the chunk are in use, and how many it has; 0 and 0 without a chunk. */
	uint32_t used, limit;
	uint32_t position; /* the chunk's place in the file, in chunks */
	uint32_t chunks;   /* how many chunks the file has */
	uint32_t index;    /* the sequence number that the next chunk gets */
	uint32_t tid;      /* TID and N in the file's name PID.TID.N.spool */
	uint32_t number;
	bool created;
	bool vanishes; /* chunks are not mapped in a forked child */
	/* is_lent: a record in the present chunk was stepped over (spool.c), and somebody may still
	 * write into it: the chunk's addresses stay valid when the chunk is left. */
	bool is_lent;
	int64_t refused; /* ns when a chunk was last refused for want of room; 0: never */
	/* closed: ns when each chunk of a ring was left, 0: the chunk was never used, -1: its
	 * room was given back to the disk. NULL: the file is no ring. */
	int64_t *closed;
};

/* Makes room in the file's chunk, or in a new chunk, for so many slots of the thread 'tid'. After
 * a refusal it tries again every 10 ms: disks get room back. */
bool spool_file_advance(struct spool_file *file, uint32_t tid, unsigned slots);

/* Replaces the file's present chunk by another chunk or NULL. The old chunk is unmapped last: a
 * signal handler that counts a drop at any moment in between finds a chunk that is mapped. */
void spool_file_swap(struct spool_file *file, struct rec_chunk *chunk, uint32_t used,
		     uint32_t limit);

/* Forgets, in a forked child, how many bytes the parent process has written. */
void spool_file_after_fork(void);

#endif
