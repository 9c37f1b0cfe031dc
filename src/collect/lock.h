/* SPDX-License-Identifier: Apache-2.0 */
/* lock.h - a lock whose waiters give up: no thread of the target may wait long for the
 * collector.
 *
 * Whoever holds such a lock does bounded work, and waits for nothing but the kernel.
 */
#ifndef HWY_COLLECT_LOCK_H
#define HWY_COLLECT_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "collect/collect.h"
#include "collect/sys.h"

struct lock {
	_Atomic uint32_t holder; /* tid of the thread that has the lock; 0: the lock is free */
};

/* Takes the lock if the lock is free; false if another thread has it. */
static inline bool lock_try(struct lock *lock)
{
	uint32_t holder = 0;
	return atomic_compare_exchange_strong_explicit(&lock->holder, &holder, collect_tid(),
						       memory_order_acquire, memory_order_relaxed);
}

/* Takes the lock. False after a tenth of a second, or at once where the calling thread has the lock
 * already (in a signal handler). Changes errno. */
static inline bool lock_take(struct lock *lock)
{
	uint32_t tid = collect_tid();
	for (int tries = 0; tries < 2000; tries++) {
		uint32_t holder = 0;
		if (atomic_compare_exchange_weak_explicit(&lock->holder, &holder, tid,
							  memory_order_acquire,
							  memory_order_relaxed))
			return true;
		if (holder == tid)
			return false;
		if (tries > 100) {
			/* Sleeps instead of yielding: the thread that has the lock may have a lower
			 * priority. */
			struct timespec pause = {.tv_nsec = 50 * 1000};
			syscall(SYS_nanosleep, &pause, NULL);
		}
	}
	return false;
}

static inline void lock_give(struct lock *lock)
{
	atomic_store_explicit(&lock->holder, 0, memory_order_release);
}

#endif
