/* SPDX-License-Identifier: Apache-2.0 */
/* turns.h - the lock of the traces, which requests hold by turns, in the order in which they came.
 *
 *   struct turn turn = {.is_abandoned = client_has_gone, .from = connection};
 *   if (turns_begin(turns, &turn, err)) {
 *           while (work_is_left() && turns_pause(turns, err))
 *                   do_some_milliseconds_of_work();
 *           turns_end(turns);
 *   }
 *
 * A request that works for long lets the others in between two slices of its work, so no request
 * waits for the whole work of another. A plain mutex would not do: the thread that unlocks it is
 * the likeliest to lock it again.
 */
#ifndef HWY_SERVE_TURNS_H
#define HWY_SERVE_TURNS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum {
	TURNS_SLICE_MS = 20, /* work after which a turn is given to those who wait */
	TURNS_MOST_S = 20,   /* CPU time after which a request is refused */
};

/* What a request that holds the lock, or waits for it, has to tell. */
struct turn {
	/* Whether nobody wants the answer any more; NULL: the answer is always wanted. */
	bool (*is_abandoned)(const void *from);
	bool is_unlimited; /* TURNS_MOST_S does not hold */
	const void *from;  /* belongs to the caller: the argument of is_abandoned */
	int64_t since_ns;  /* when the slice began */
	int64_t cpu_ns;    /* CPU time of the thread when the turn began */
	bool is_ended;     /* turns_pause or turns_sleep yielded false */
};

struct turns {
	pthread_mutex_t lock; /* guards the members below; never held while somebody works */
	pthread_cond_t changed;
	uint64_t next;       /* the number that the next comer gets */
	uint64_t served;     /* the number whose turn it is */
	struct turn *holder; /* who holds the lock, or NULL; the holder reads it without 'lock' */
};

void turns_init(struct turns *turns);
/* Waits for the lock and takes it. False where the answer is not wanted any more: the lock is then
 * not held. */
bool turns_begin(struct turns *turns, struct turn *turn, struct hwy_err *err);
void turns_end(struct turns *turns);
/* Called by the holder between two slices of work. Others may hold the lock meanwhile: what the
 * holder has read of a trace may be out of memory afterwards, and must be asked for again
 * (view_need). False where the answer is not wanted any more, or takes too long; the lock is held
 * in any case. */
bool turns_pause(struct turns *turns, struct hwy_err *err);
/* turns_pause that also sleeps for some milliseconds without the lock: for a holder that waits for
 * another thread's work. */
bool turns_sleep(struct turns *turns, struct hwy_err *err);

#endif
