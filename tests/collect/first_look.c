/* SPDX-License-Identifier: Apache-2.0 */
/* first_look.c - a program that looks at itself before it does anything: what it prints must be the
 * same when it is recorded.
 *
 *   first_look          the loader's error, how much memory is allocated, answers of locks to times
 *                       and clocks that are not valid
 *   first_look opencl   what OpenCL answers where there is no OpenCL (weak references)
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

extern void *clCreateContext(const intptr_t *properties, uint32_t n_devices, void *const *devices,
			     void (*notify)(void), void *user, int32_t *error)
	__attribute__((weak));
extern void *clCreateBuffer(void *context, uint64_t flags, size_t size, void *host, int32_t *error)
	__attribute__((weak));

/* A program that sees functions of OpenCL must get an error from them, not an untouched variable. */
static int ask_opencl(void)
{
	enum { UNTOUCHED = 12345 };
	int32_t context_error = UNTOUCHED, buffer_error = UNTOUCHED;
	if (!clCreateContext || !clCreateBuffer) {
		puts("absent");
		return 0;
	}
	void *context = clCreateContext(NULL, 0, NULL, NULL, NULL, &context_error);
	void *buffer = clCreateBuffer(NULL, 0, 0, NULL, &buffer_error);
	bool refused = !context && !buffer && context_error < 0 && buffer_error < 0;
	puts(refused ? "absent" : "present, and without an error");
	clCreateContext(NULL, 0, NULL, NULL, NULL, NULL);
	return 0;
}

static void ask_locks(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
	struct timespec late = {.tv_sec = 1, .tv_nsec = 2000000000};
	struct timespec early = {.tv_sec = 1, .tv_nsec = -1}, past = {.tv_sec = 1};
	const struct timespec *times[] = {&late, &early, &past};
	for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
		printf("%d", pthread_mutex_timedlock(&mutex, times[i]));
		pthread_mutex_unlock(&mutex);
		printf(" %d", pthread_mutex_clocklock(&mutex, CLOCK_BOOTTIME, times[i]));
		pthread_mutex_unlock(&mutex);
		printf(" %d", pthread_rwlock_timedwrlock(&lock, times[i]));
		pthread_rwlock_unlock(&lock);
		printf(" %d", pthread_rwlock_timedrdlock(&lock, times[i]));
		pthread_rwlock_unlock(&lock);
		printf(" %d", pthread_rwlock_clockrdlock(&lock, CLOCK_BOOTTIME, times[i]));
		pthread_rwlock_unlock(&lock);
		printf(" %d\n", pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, times[i]));
		pthread_rwlock_unlock(&lock);
	}
}

int main(int argc, char **argv)
{
	const char *error = dlerror();
	size_t allocated = mallinfo2().uordblks;
	if (argc > 1 && strcmp(argv[1], "opencl") == 0)
		return ask_opencl();
	printf("%s\n%zu bytes\n", error ? error : "no error", allocated);
	ask_locks();
	return 0;
}
