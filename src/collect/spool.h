/* spool.h - the thread's own part of the spool, shared by the files of the collector. */
#ifndef HWY_COLLECT_SPOOL_H
#define HWY_COLLECT_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "spool/record.h"

enum { SPOOL_COMM = 16, SPOOL_DOMAINS = 256 };

/* One file and the chunk of it that is being filled. Everything is the owner thread's; a reader sees
 * only the file. */
struct spool_file {
	struct rec_chunk *chunk; /* mapped, or NULL */
	uint32_t used, limit;    /* slots of the chunk in use and in all; both 0 without a chunk */
	uint32_t position;       /* of the chunk in the file */
	uint32_t chunks;         /* the file has */
	uint32_t index;          /* number of the next chunk */
	uint32_t number;         /* N of the file's name */
	bool created;
	int64_t refused; /* when a chunk was refused last, 0: it was not */
	int64_t *closed; /* ring: when each chunk was left, 0: never used */
};

/* What a thread has: one page, wiped by the kernel in a forked child, so that no child ever writes into
 * its parent's spool, however it was forked. A wiped page has tid 0 and limits of 0. */
struct spool {
	uint32_t tid;
	uint32_t reserved; /* slots of the record being written, 0: none */
	bool ring;         /* definitions have a file of their own, where nothing is overwritten */
	bool vanishes; /* the kernel wipes the page in a forked child, and the chunk is not there */
	uint8_t exit_rounds;     /* how often the thread-exit destructor was called */
	struct spool_file *into; /* where the reserved record is */
	struct spool_file events, definitions;
	struct spool *next, *previous;  /* threads of the process, under the list's lock */
	char comm[SPOOL_COMM];          /* the name last recorded */
	struct stacks *stacks;          /* stack.c: native stacks told, NULL: none yet */
	uint32_t levels[SPOOL_DOMAINS]; /* nvtx.c: open push/pop ranges by domain */
};
static_assert(sizeof(struct spool) <= 4096, "one page");

/* Prepares threads' spools; once a process image. */
bool spool_init(void);

/* The calling thread's spool, made if need be; NULL when it can have none (late in its life, in a vfork
 * child, out of memory). Never call it with a record reserved. */
struct spool *spool_own(void);

void spool_after_fork(void);

/* stack.c: gives back what it keeps for a thread that ends. */
void stack_forget(struct spool *spool);

/* The thread has left between reserving a record and publishing it. */
void spool_abandon(void);

/* Makes a record that this thread published just now one of type REC_NONE. */
void spool_withdraw(struct rec_head *head);

/* Says the present names of all threads that record, where they changed. */
void spool_name_threads(void);

#endif
