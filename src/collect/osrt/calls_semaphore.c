/* SPDX-License-Identifier: Apache-2.0 */
/* calls_semaphore.c - POSIX semaphores.
 *
 * A semaphore of one process is identified by its address, and a post is recorded when a thread of
 * the process is known to wait. A semaphore with a name is shared by processes: it is identified by
 * the inode behind it, and every post is recorded. (A semaphore that sem_init made in memory that
 * processes share is joined within one process only.)
 */
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#include "collect/osrt/osrt.h"
#include "collect/sys.h"

enum { NAMED = 512 };
/* The named semaphores: address and object id. The thread that takes a place fills it. Still
 * right in a forked child. */
static struct named {
	_Atomic uint64_t address;
	_Atomic uint64_t object;
} named[NAMED];

static struct named *named_place(uint64_t address, bool make)
{
	uint64_t hash = address * UINT64_C(0x9e3779b97f4a7c15) >> 55;
	for (uint64_t i = 0; i < 16; i++) {
		struct named *place = &named[(hash + i) % NAMED];
		uint64_t there = atomic_load_explicit(&place->address, memory_order_relaxed);
		if (there == address)
			return place;
		if (there == 0 && !make)
			return NULL;
		if (there == 0 && atomic_compare_exchange_strong(&place->address, &there, address))
			return place;
	}
	return NULL;
}

static uint64_t semaphore_object(const sem_t *semaphore)
{
	const struct named *place = named_place(os_address(semaphore), false);
	uint64_t object = place ? atomic_load_explicit(&place->object, memory_order_relaxed) : 0;
	return object ? object : os_address(semaphore);
}

static void remember_name(const char *name, const sem_t *semaphore)
{
	char path[256];
	struct stat about;
	if (!os_is_on())
		return;
	while (*name == '/')
		name++;
	if (snprintf(path, sizeof path, "/dev/shm/sem.%s", name) >= (int)sizeof path ||
	    syscall(SYS_newfstatat, AT_FDCWD, path, &about, 0) != 0)
		return;
	struct named *place = named_place(os_address(semaphore), true);
	if (place)
		atomic_store_explicit(&place->object, os_object(OS_SEMAPHORE, about.st_ino),
				      memory_order_relaxed);
}

OS_CALL(sem_open, sem_t *, (const char *, int, ...));
OS_EXPORT sem_t *sem_open(const char *name, int flags, ...)
{
	va_list list;
	va_start(list, flags);
	mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
	unsigned value = flags & O_CREAT ? va_arg(list, unsigned) : 0;
	va_end(list);
	sem_t *semaphore = OS_REAL(sem_open)(name, flags, mode, value);
	int saved = errno;
	if (semaphore != SEM_FAILED)
		remember_name(name, semaphore);
	errno = saved;
	return semaphore;
}

/* Forgets a closed semaphore: another semaphore may get the same address. */
OS_CALL(sem_close, int, (sem_t *));
OS_EXPORT int sem_close(sem_t *semaphore)
{
	struct named *place = named_place(os_address(semaphore), false);
	if (place && !os_vforked)
		atomic_store_explicit(&place->object, 0, memory_order_relaxed);
	return OS_REAL(sem_close)(semaphore);
}

#define WAITS(id, parameters, arguments)                                                           \
	OS_CALL(id, int, parameters);                                                              \
	OS_EXPORT int id parameters                                                                \
	{                                                                                          \
		int64_t start = os_begin_wait(&call_##id, os_address(semaphore)), end;             \
		int result = OS_REAL(id) arguments;                                                \
		if (os_waited(start, &end, os_address(semaphore)))                                 \
			os_keep(&call_##id, start, end, semaphore_object(semaphore), 0);           \
		return result;                                                                     \
	}

WAITS(sem_wait, (sem_t * semaphore), (semaphore))
WAITS(sem_timedwait, (sem_t * semaphore, const struct timespec *until), (semaphore, until))
WAITS(sem_clockwait, (sem_t * semaphore, clockid_t clock, const struct timespec *until),
      (semaphore, clock, until))

OS_CALL(sem_post, int, (sem_t *));
OS_EXPORT int sem_post(sem_t *semaphore)
{
	uint64_t object = semaphore_object(semaphore), address = os_address(semaphore);
	if (!os_is_on() || (object == address && !os_is_waited_for(address, REC_TRACE_OSRT)))
		return OS_REAL(sem_post)(semaphore);
	int64_t start = os_now();
	int result = OS_REAL(sem_post)(semaphore);
	os_keep(&call_sem_post, start, os_now(), object, REC_OS_WAKES);
	return result;
}
