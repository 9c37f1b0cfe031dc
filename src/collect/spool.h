/* spool.h - a thread's spool: what the files of the collector share about it. */
#ifndef HWY_COLLECT_SPOOL_H
#define HWY_COLLECT_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "spool/record.h"

enum { SPOOL_COMM = 16, SPOOL_DOMAINS = 256 };

/* One spool file and the chunk of the file that is being filled. Only the owner thread reads or
 * writes this struct; a reader of the recording sees only the file. */
struct spool_file {
	struct rec_chunk *chunk; /* the chunk that is being filled, mapped; NULL: none yet */
	/* Slots of the chunk: in use, and in all; both 0 without a chunk. */
	uint32_t used, limit;
	uint32_t position; /* the chunk's place in the file, in chunks */
	uint32_t chunks;   /* how many chunks the file has */
	uint32_t index;    /* the sequence number that the next chunk gets */
	uint32_t number;   /* N in the file's name PID.TID.N.spool */
	bool created;
	int64_t refused; /* ns when the last chunk was refused (no room on disk), 0: it was not */
	/* Ring only: ns when each chunk was left, 0: never used; NULL: no ring. */
	int64_t *closed;
};

/* A thread's spool, one page that the kernel wipes in a forked child: no child ever writes into its
 * parent's spool, however it was forked. A wiped page has tid 0 and limits of 0. */
struct spool {
	uint32_t tid;
	uint32_t reserved; /* slots of the record that is being written, 0: none */
	/* A ring: definitions have a second file, where nothing is overwritten. */
	bool ring;
	/* The kernel wipes this page in a forked child, and does not map the chunk there. */
	bool vanishes;
	uint8_t exit_rounds;     /* how often the thread-exit destructor was called */
	struct spool_file *into; /* the file that the reserved record is in */
	struct spool_file events, definitions;
	/* Links of the process's list of threads, under the list's lock. */
	struct spool *next, *previous;
	char comm[SPOOL_COMM]; /* the thread's name as it was recorded last */
	/* stack.c: native stacks that were recorded, NULL: none yet. */
	struct stacks *stacks;
	/* nvtx.c: how many push/pop ranges are open, by domain number. */
	uint32_t levels[SPOOL_DOMAINS];
};
static_assert(sizeof(struct spool) <= 4096, "one page");

/* Prepares threads' spools; called once in a process image. */
bool spool_init(void);

/* The calling thread's spool, made if need be; NULL when the thread can have none (late in its
 * life, in a vfork child, out of memory). Must not be called while a record is reserved. */
struct spool *spool_own(void);

void spool_after_fork(void);

/* stack.c: frees what is kept for a thread that ends. */
void stack_forget(struct spool *spool);

/* Gives up a reserved record: the thread left by longjmp before it published the record. */
void spool_abandon(void);

/* Turns a record that this thread published just now into one of type REC_NONE, which readers
 * skip. */
void spool_withdraw(struct rec_head *head);

/* Records the names of all threads that have a spool, where a name changed. */
void spool_name_threads(void);

#endif
