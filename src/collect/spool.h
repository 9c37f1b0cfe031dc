/* SPDX-License-Identifier: Apache-2.0 */
/* spool.h - a thread's spool: what the files of the collector share about it. */
#ifndef HWY_COLLECT_SPOOL_H
#define HWY_COLLECT_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/spool_file.h"
#include "spool/record.h"

enum { SPOOL_COMM = 16, SPOOL_DOMAINS = 256 };

/* A thread's spool, which a later thread takes over when the thread has ended; one page that the
 * kernel wipes in a forked child: no child ever writes into its parent's spool, however it was
 * forked. A wiped page has tid 0 and limits of 0. */
struct spool {
	uint32_t tid;
	uint32_t reserved; /* which record is being written (spool_reserved.h); 0: none */
	/* process.generation when the spool's files were begun: another one has other files. */
	uint32_t generation;
	uint32_t steps; /* how often a record that was being written was stepped over */
	/* The record that was stepped over last, and the type that it had. */
	struct rec_head *stepped;
	uint8_t stepped_type;
	/* The spool is a ring: definitions go to a second file, in which nothing is overwritten. */
	bool ring;
	uint8_t exit_rounds; /* how often the thread-exit destructor of this thread was called */
	struct spool_file events, definitions;
	/* The previous and the next spool in the process's list of threads, or the next one in the
	 * pool; guarded by the list's lock. */
	struct spool *next, *previous;
	char comm[SPOOL_COMM]; /* the thread's name as it was last recorded */
	/* The native stacks that stack.c keeps for the spool's threads; NULL: none yet. */
	struct stacks *stacks;
	/* The operators that torch.c has seen begin in the thread; NULL: none yet. */
	struct operators *operators;
	/* levels: how many push/pop ranges of nvtx.c are open in the thread, by domain number. */
	uint32_t levels[SPOOL_DOMAINS];
};
static_assert(sizeof(struct spool) <= 4096, "one page");

/* Prepares threads' spools; called once in a process image. */
bool spool_init(void);

/* The calling thread's spool, made if need be; NULL when the thread can have none (late in its
 * life, in a vfork child, out of memory). Must not be called while a record is reserved. */
struct spool *spool_own(void);

void spool_after_fork(void);

/* stack.c, torch/torch.c: free what is kept for a thread that ends. */
void stack_forget(struct spool *spool);
void torch_forget(struct spool *spool); /* NULL in tests that build the collector without torch/ */
#pragma weak torch_forget

/* Called around a fork: a record that a signal handler interrupted must stay writable in the child,
 * which returns from the handler as well. */
void spool_before_fork(void);
void spool_forked(void);

/* Turns a record that this thread published just now into one of type REC_NONE, which readers
 * skip. */
void spool_withdraw(struct rec_head *head);

/* Records the names of all threads that have a spool, where a name changed. */
void spool_name_threads(void);

#endif
