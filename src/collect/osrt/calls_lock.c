/* SPDX-License-Identifier: Apache-2.0 */
/* calls_lock.c - threads that wait for each other: mutexes, read-write locks, conditions, barriers,
 * joins.
 *
 * A lock that is free is taken by trylock, which costs no more than before: only a thread that has
 * to wait reads the clock. Waiting threads are counted by the object's address, so that a call that
 * wakes (unlock, signal, broadcast) is recorded only when a thread of this process is known to wait
 * there; else the check costs one load. A thread that left its wait by longjmp out of a signal
 * handler stays counted: superfluous wakes are recorded then. The mutex that a condition takes
 * again before it returns is part of the wait for the condition.
 *
 * glibc has two versions of the condition functions; these are the ones since 2.3.2.
 */
#include <errno.h>
#include <pthread.h>

#include "collect/osrt/osrt.h"
#include "collect/sys.h"

#if defined(__x86_64__)
#define NEW_CONDITIONS "GLIBC_2.3.2"
#else
#define NEW_CONDITIONS NULL
#endif

/* ---- taking ---------------------------------------------------------------------------------- */

/* False where glibc refuses a time (ns out of range) or a clock, whether the lock is free or not:
 * then there is no wait to record. */
static bool time_is_valid(const struct timespec *until)
{
	return until->tv_nsec >= 0 && until->tv_nsec < 1000000000;
}

static bool clock_is_valid(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

/* Replaces a function that takes a lock. 'attempt' is the function that does not wait, and returns
 * EBUSY where 'id' would wait. 'valid': what glibc checks before it takes a free lock. */
#define TAKES_IF(valid, id, attempt, parameters, arguments, lock)                                  \
	OS_CALL(id, int, parameters);                                                              \
	OS_EXPORT int id parameters                                                                \
	{                                                                                          \
		if (!os_is_on() || !(valid))                                                       \
			return OS_REAL(id) arguments;                                              \
		int result = OS_REAL(attempt)(lock);                                               \
		if (result != EBUSY)                                                               \
			return result;                                                             \
		int64_t start = os_begin_wait(&call_##id, os_address(lock)), end;                  \
		result = OS_REAL(id) arguments;                                                    \
		if (os_waited(start, &end, os_address(lock)))                                      \
			os_keep(&call_##id, start, end, os_address(lock), 0);                      \
		return result;                                                                     \
	}

#define TAKES(...) TAKES_IF(true, __VA_ARGS__)

OS_CALL(pthread_mutex_trylock, int, (pthread_mutex_t *));
OS_CALL(pthread_rwlock_tryrdlock, int, (pthread_rwlock_t *));
OS_CALL(pthread_rwlock_trywrlock, int, (pthread_rwlock_t *));

TAKES(pthread_mutex_lock, pthread_mutex_trylock, (pthread_mutex_t * lock), (lock), lock)
TAKES(pthread_mutex_timedlock, pthread_mutex_trylock,
      (pthread_mutex_t * lock, const struct timespec *until), (lock, until), lock)
TAKES_IF(clock_is_valid(clock), pthread_mutex_clocklock, pthread_mutex_trylock,
	 (pthread_mutex_t * lock, clockid_t clock, const struct timespec *until),
	 (lock, clock, until), lock)
TAKES(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, (pthread_rwlock_t * lock), (lock), lock)
TAKES_IF(time_is_valid(until), pthread_rwlock_timedrdlock, pthread_rwlock_tryrdlock,
	 (pthread_rwlock_t * lock, const struct timespec *until), (lock, until), lock)
TAKES_IF(clock_is_valid(clock) && time_is_valid(until), pthread_rwlock_clockrdlock,
	 pthread_rwlock_tryrdlock,
	 (pthread_rwlock_t * lock, clockid_t clock, const struct timespec *until),
	 (lock, clock, until), lock)
TAKES(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, (pthread_rwlock_t * lock), (lock), lock)
TAKES_IF(time_is_valid(until), pthread_rwlock_timedwrlock, pthread_rwlock_trywrlock,
	 (pthread_rwlock_t * lock, const struct timespec *until), (lock, until), lock)
TAKES_IF(clock_is_valid(clock) && time_is_valid(until), pthread_rwlock_clockwrlock,
	 pthread_rwlock_trywrlock,
	 (pthread_rwlock_t * lock, clockid_t clock, const struct timespec *until),
	 (lock, clock, until), lock)

/* ---- waking ---------------------------------------------------------------------------------- */

/* Replaces a function that wakes. Whether a thread waits is read before the call: after it, the
 * object may be another thread's, or freed. */
#define WAKES(id, type, version, object, traces)                                                   \
	OS_CALL_AS(id, #id, int, (type *), version);                                               \
	OS_EXPORT int id(type *object)                                                             \
	{                                                                                          \
		if (!os_is_waited_for(os_address(object), traces))                                 \
			return OS_REAL(id)(object);                                                \
		int64_t start = os_now();                                                          \
		int result = OS_REAL(id)(object);                                                  \
		os_keep(&call_##id, start, os_now(), os_address(object),                           \
			os_is_gil(os_address(object)) ? REC_OS_WAKES | REC_OS_GIL : REC_OS_WAKES); \
		return result;                                                                     \
	}

WAKES(pthread_mutex_unlock, pthread_mutex_t, NULL, lock, REC_TRACE_OSRT)
WAKES(pthread_rwlock_unlock, pthread_rwlock_t, NULL, lock, REC_TRACE_OSRT)
WAKES(pthread_cond_signal, pthread_cond_t, NEW_CONDITIONS, condition,
      os_condition_traces(os_address(condition)))
WAKES(pthread_cond_broadcast, pthread_cond_t, NEW_CONDITIONS, condition,
      os_condition_traces(os_address(condition)))

/* ---- waiting --------------------------------------------------------------------------------- */

/* The flags of a wait that ended: Python waits for its lock in slices of time, and the last one
 * shows whether it got the lock. */
static uint8_t condition_flags(uint64_t condition, int result)
{
	if (!os_is_gil(condition))
		return 0;
	return result == ETIMEDOUT ? REC_OS_GIL | REC_OS_TIMED_OUT : REC_OS_GIL;
}

#define WAITS(id, version, parameters, arguments, object)                                          \
	OS_CALL_AS(id, #id, int, parameters, version);                                             \
	OS_EXPORT int id parameters                                                                \
	{                                                                                          \
		uint64_t on = object;                                                              \
		int64_t start = os_begin_wait_of(&call_##id, on, os_condition_traces(on)), end;    \
		int result = OS_REAL(id) arguments;                                                \
		if (os_waited(start, &end, on))                                                    \
			os_keep(&call_##id, start, end, on, condition_flags(on, result));          \
		return result;                                                                     \
	}

WAITS(pthread_cond_wait, NEW_CONDITIONS, (pthread_cond_t * condition, pthread_mutex_t *lock),
      (condition, lock), os_address(condition))
WAITS(pthread_cond_timedwait, NEW_CONDITIONS,
      (pthread_cond_t * condition, pthread_mutex_t *lock, const struct timespec *until),
      (condition, lock, until), os_address(condition))
WAITS(pthread_cond_clockwait, NULL,
      (pthread_cond_t * condition, pthread_mutex_t *lock, clockid_t clock,
       const struct timespec *until),
      (condition, lock, clock, until), os_address(condition))

/* The last thread that comes to a barrier wakes the others. */
OS_CALL(pthread_barrier_wait, int, (pthread_barrier_t *));
OS_EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	int64_t start = os_begin(&call_pthread_barrier_wait), end;
	int result = OS_REAL(pthread_barrier_wait)(barrier);
	bool kept = os_lasted(start, &end);
	bool wakes = start && result == PTHREAD_BARRIER_SERIAL_THREAD;
	if (kept || wakes)
		os_keep(&call_pthread_barrier_wait, start, end, os_address(barrier),
			wakes ? REC_OS_WAKES : 0);
	return result;
}

/* ---- threads --------------------------------------------------------------------------------- */

/* The id of the thread that was created. A thread of the collector is recognised by the function
 * that it runs. The handle is read through the kernel: the new thread itself may have freed the
 * memory where it was put. */
static uint64_t created_thread(int result, const pthread_t *thread, void *(*start_at)(void *))
{
	if (sibling_has((uint64_t)(uintptr_t)start_at))
		return (uint64_t)(uintptr_t)start_at;
	uint64_t handle = 0;
	int saved = errno;
	if (result == 0)
		sys_peek(sys_pid(), &handle, thread, sizeof *thread);
	errno = saved;
	return handle;
}

OS_WRAP(pthread_join, int, (pthread_t thread, void **value), (thread, value), (uint64_t)thread)
OS_WRAP(pthread_timedjoin_np, int, (pthread_t thread, void **value, const struct timespec *until),
	(thread, value, until), (uint64_t)thread)
OS_WRAP(pthread_clockjoin_np, int,
	(pthread_t thread, void **value, clockid_t clock, const struct timespec *until),
	(thread, value, clock, until), (uint64_t)thread)
OS_WRAP(pthread_create, int,
	(pthread_t * thread, const pthread_attr_t *attributes, void *(*start_at)(void *),
	 void *argument),
	(thread, attributes, start_at, argument), created_thread(result, thread, start_at))

/* Records a name that the calling thread gives itself after its first record. Names given to other
 * threads are read when these threads end. */
OS_CALL(pthread_setname_np, int, (pthread_t, const char *));
OS_EXPORT int pthread_setname_np(pthread_t thread, const char *name)
{
	int result = OS_REAL(pthread_setname_np)(thread, name);
	if (result == 0 && pthread_equal(thread, pthread_self()))
		os_thread_is_named(name);
	return result;
}
