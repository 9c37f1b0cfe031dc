/* SPDX-License-Identifier: Apache-2.0 */
/* acts_locks.c - what locks, conditions, semaphores and barriers return, errors above all. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "torture.h"

static const struct timespec past = {1, 0}, negative = {-5, 0}, invalid = {1, 2000000000},
			     below_zero = {1, -1};

/* The time now and this many microseconds more. */
static struct timespec soon(clockid_t clock, long microseconds)
{
	struct timespec time;
	clock_gettime(clock, &time);
	time.tv_nsec += microseconds * 1000;
	time.tv_sec += time.tv_nsec / 1000000000;
	time.tv_nsec %= 1000000000;
	return time;
}

static void *try_mutex(void *argument)
{
	pthread_mutex_t *mutex = argument;
	struct timespec end = soon(CLOCK_REALTIME, 300), steady = soon(CLOCK_MONOTONIC, 300);
	say(" try %d", pthread_mutex_trylock(mutex));
	say(" timed %d", pthread_mutex_timedlock(mutex, &end));
	say(" past %d", pthread_mutex_timedlock(mutex, &past));
	say(" negative %d", pthread_mutex_timedlock(mutex, &negative));
	say(" invalid %d %d", pthread_mutex_timedlock(mutex, &invalid),
	    pthread_mutex_timedlock(mutex, &below_zero));
	say(" clock %d", pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &steady));
	say(" no clock %d", pthread_mutex_clocklock(mutex, CLOCK_BOOTTIME, &steady));
	say(" unlock %d", pthread_mutex_unlock(mutex));
	return NULL;
}

/* What another thread says is said in the order of one thread: it is waited for. */
struct other {
	void *(*run)(void *);
	void *argument;
	struct result said;
	uint64_t seed;
};

static void *run_other(void *argument)
{
	struct other *other = argument;
	act_begin(&other->said, other->seed, 999);
	return other->run(other->argument);
}

static void in_other_thread(void *(*run)(void *), void *argument)
{
	struct other other = {.run = run, .argument = argument, .seed = chance_seed()};
	unsigned long thread;
	start_thread(&thread, 0, run_other, &other);
	end_thread(thread);
	if (other.said.size)
		say_bytes(other.said.text, other.said.size);
}

static void act_mutexes(void)
{
	static const int kinds[] = {PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_RECURSIVE};
	for (int i = 0; i < 2; i++) {
		pthread_mutexattr_t attributes;
		pthread_mutex_t mutex;
		pthread_mutexattr_init(&attributes);
		pthread_mutexattr_settype(&attributes, kinds[i]);
		pthread_mutex_init(&mutex, &attributes);
		say(" %d", pthread_mutex_unlock(&mutex));
		say(" %d", pthread_mutex_clocklock(&mutex, CLOCK_BOOTTIME, &past));
		pthread_mutex_unlock(&mutex);
		say(" %d", pthread_mutex_timedlock(&mutex, &invalid));
		pthread_mutex_unlock(&mutex);
		say(" %d", pthread_mutex_lock(&mutex));
		say(" again %d", pthread_mutex_lock(&mutex));
		say(" %d", pthread_mutex_trylock(&mutex));
		in_other_thread(try_mutex, &mutex);
		say(" %d %d %d %d", pthread_mutex_unlock(&mutex), pthread_mutex_unlock(&mutex),
		    pthread_mutex_unlock(&mutex), pthread_mutex_unlock(&mutex));
		say(" destroy %d;", pthread_mutex_destroy(&mutex));
	}
}

static void *leave_locked(void *mutex)
{
	pthread_mutex_lock(mutex);
	return NULL;
}

static void act_robust(void)
{
	pthread_mutexattr_t attributes;
	pthread_mutex_t *mutex = mmap(NULL, sizeof *mutex, PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (mutex == MAP_FAILED)
		give_up("mmap");
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(mutex, &attributes);
	in_other_thread(leave_locked, mutex);
	say(" %d", pthread_mutex_lock(mutex));
	say(" %d", pthread_mutex_consistent(mutex));
	say(" %d", pthread_mutex_unlock(mutex));
	pid_t child = fork();
	if (child == 0) {
		pthread_mutex_lock(mutex);
		_exit(3);
	}
	say(" %d", status_of(child));
	struct timespec end = soon(CLOCK_REALTIME, 2000000);
	say(" %d", pthread_mutex_timedlock(mutex, &end));
	say(" %d", pthread_mutex_unlock(mutex)); /* never made consistent */
	say(" %d", pthread_mutex_lock(mutex));
	munmap(mutex, sizeof *mutex);
}

static void *try_rwlock(void *argument)
{
	pthread_rwlock_t *lock = argument;
	struct timespec end = soon(CLOCK_REALTIME, 300), steady = soon(CLOCK_MONOTONIC, 300);
	say(" tries %d %d", pthread_rwlock_tryrdlock(lock), pthread_rwlock_trywrlock(lock));
	say(" timed %d %d", pthread_rwlock_timedrdlock(lock, &end),
	    pthread_rwlock_timedwrlock(lock, &past));
	say(" invalid %d %d", pthread_rwlock_timedrdlock(lock, &invalid),
	    pthread_rwlock_timedwrlock(lock, &below_zero));
	say(" clock %d %d", pthread_rwlock_clockwrlock(lock, CLOCK_MONOTONIC, &steady),
	    pthread_rwlock_clockrdlock(lock, CLOCK_BOOTTIME, &steady));
	return NULL;
}

static void act_rwlocks(void)
{
	pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
	/* Of a lock that is free, glibc says more about times than of one that is not. */
	say(" free: %d", pthread_rwlock_timedwrlock(&lock, &invalid));
	say(" %d", pthread_rwlock_timedrdlock(&lock, &below_zero));
	say(" %d", pthread_rwlock_clockrdlock(&lock, CLOCK_BOOTTIME, &past));
	say(" %d", pthread_rwlock_clockwrlock(&lock, CLOCK_BOOTTIME, &past));
	say(" %d", pthread_rwlock_timedwrlock(&lock, &past));
	say(" again %d", pthread_rwlock_wrlock(&lock));
	say(" %d", pthread_rwlock_rdlock(&lock));
	in_other_thread(try_rwlock, &lock);
	say(" %d", pthread_rwlock_unlock(&lock));
	say(" %d %d", pthread_rwlock_rdlock(&lock), pthread_rwlock_rdlock(&lock));
	say(" %d %d", pthread_rwlock_unlock(&lock), pthread_rwlock_unlock(&lock));
}

static void act_conditions(void)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
	struct timespec steady = soon(CLOCK_MONOTONIC, 300);
	pthread_mutex_lock(&lock);
	say(" %d", pthread_cond_timedwait(&condition, &lock, &past));
	say(" %d", pthread_cond_timedwait(&condition, &lock, &invalid));
	say(" %d", pthread_cond_timedwait(&condition, &lock, &below_zero));
	say(" %d", pthread_cond_clockwait(&condition, &lock, CLOCK_MONOTONIC, &steady));
	say(" %d", pthread_cond_clockwait(&condition, &lock, CLOCK_BOOTTIME, &steady));
	say(" %d %d", pthread_cond_signal(&condition), pthread_cond_broadcast(&condition));
	say(" %d", pthread_mutex_unlock(&lock));
}

static void act_semaphores(void)
{
	sem_t semaphore;
	int value = -1;
	struct timespec end = soon(CLOCK_REALTIME, 300);
	sem_init(&semaphore, 0, 2);
	say(" %d", sem_trywait(&semaphore));
	say(" %d", sem_timedwait(&semaphore, &invalid)); /* it is free: the time does not matter */
	SAY_RESULT(sem_trywait(&semaphore));
	SAY_RESULT(STEADILY(sem_timedwait(&semaphore, &end)));
	SAY_RESULT(sem_timedwait(&semaphore, &invalid));
	SAY_RESULT(sem_clockwait(&semaphore, CLOCK_BOOTTIME, &past));
	SAY_RESULT(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &past));
	say(" %d", sem_post(&semaphore));
	say(" %d %d", sem_getvalue(&semaphore, &value), value);
	SAY_RESULT(sem_unlink("/headway-torture-none"));
	sem_destroy(&semaphore);
}

struct meeting {
	pthread_barrier_t barrier;
	atomic_int serial;
};

static void *meet(void *argument)
{
	struct meeting *meeting = argument;
	for (int i = 0; i < 5; i++)
		if (pthread_barrier_wait(&meeting->barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
			meeting->serial++;
	return NULL;
}

static void act_barriers(void)
{
	enum { THREADS = 4 };
	unsigned long threads[THREADS];
	struct meeting meeting = {.serial = 0};
	pthread_barrier_init(&meeting.barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		start_thread(&threads[i], 0, meet, &meeting);
	for (int i = 0; i < THREADS; i++)
		end_thread(threads[i]);
	say(" %d serial, %d", meeting.serial, pthread_barrier_destroy(&meeting.barrier));
}

const struct act lock_acts[] = {
	{"mutexes", act_mutexes, 0},
	{"robust", act_robust, 0},
	{"rwlocks", act_rwlocks, 0},
	{"conditions", act_conditions, 0},
	{"semaphores", act_semaphores, 0},
	{"barriers", act_barriers, 0},
	{NULL, NULL, 0},
};
