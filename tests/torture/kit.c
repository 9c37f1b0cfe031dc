/* SPDX-License-Identifier: Apache-2.0 */
/* kit.c - what every act uses: saying, choosing by chance, sleeping, waiting, threads. */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "torture.h"

static __thread struct {
	struct result *into;
	uint64_t random;
	unsigned number; /* of the act in the whole process */
	char file[64];
} act;

void act_begin(struct result *into, uint64_t seed, unsigned number)
{
	act.into = into;
	act.random = seed;
	act.number = number;
}

/* splitmix64: also neighbouring seeds give sequences that have nothing in common. */
uint64_t next_random(uint64_t *state)
{
	uint64_t value = *state += 0x9e3779b97f4a7c15;
	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
	value = (value ^ value >> 27) * 0x94d049bb133111eb;
	return value ^ value >> 31;
}

uint64_t chance_seed(void)
{
	return next_random(&act.random);
}

uint32_t chance(uint32_t n)
{
	return (uint32_t)(next_random(&act.random) >> 33) % n;
}

void say_bytes(const char *bytes, size_t size)
{
	struct result *into = act.into;
	if (into->size + size > into->room) {
		into->room = 2 * (into->size + size) + 1024;
		into->text = realloc(into->text, into->room);
		if (!into->text)
			give_up("realloc");
	}
	memcpy(into->text + into->size, bytes, size);
	into->size += size;
}

void say(const char *format, ...)
{
	char line[512];
	va_list list;
	va_start(list, format);
	int size = vsnprintf(line, sizeof line, format, list);
	va_end(list);
	say_bytes(line, (size_t)size < sizeof line ? (size_t)size : sizeof line - 1);
}

const char *act_file(const char *what)
{
	snprintf(act.file, sizeof act.file, "%s-%u", what, act.number);
	return act.file;
}

void pass_us(unsigned microseconds)
{
	struct timespec left = {microseconds / 1000000, microseconds % 1000000 * 1000L};
	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		;
}

int status_of(pid_t child)
{
	int status = 0;
	if (STEADILY(waitpid(child, &status, 0)) != child)
		return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

void give_up(const char *what)
{
	fprintf(stderr, "torture: %s: %s\n", what, strerror(errno));
	_exit(99);
}

void start_thread(unsigned long *thread, size_t stack, void *(*run)(void *), void *argument)
{
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	if (stack)
		pthread_attr_setstacksize(&attributes, stack);
	errno = pthread_create(thread, &attributes, run, argument);
	if (errno)
		give_up("pthread_create");
	pthread_attr_destroy(&attributes);
}

void *end_thread(unsigned long thread)
{
	void *result = NULL;
	errno = pthread_join(thread, &result);
	if (errno)
		give_up("pthread_join");
	return result;
}
