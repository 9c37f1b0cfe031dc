/* SPDX-License-Identifier: Apache-2.0 */
/* loader_target.c - a program that loads and unloads libraries while others of its threads, or its
 * signal handlers, wait: loader_target HOW LIBRARY.
 *
 *   handler    a handler waits while its thread is inside dlopen or dlclose
 *   allocator  a handler waits while its thread is inside malloc, and another thread unloads
 *   loop       loads, waits and unloads, and tells whether its memory grew
 *   stacks     waits inside the library: at two places, after a fork, and once it was loaded again
 *
 * All of it ends after a number of rounds, never after a time, and is permitted by POSIX.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *library;
static volatile sig_atomic_t handled;

static void *loaded(void)
{
	void *handle = dlopen(library, RTLD_NOW);
	if (!handle) {
		fprintf(stderr, "loader_target: %s\n", dlerror());
		exit(3);
	}
	return handle;
}

/* ---- handlers that wait ---- */

static void waits(int number)
{
	(void)number;
	int saved = errno;
	struct timeval while_waiting = {.tv_usec = 300};
	if (handled++ % 2)
		poll(NULL, 0, 1);
	else
		select(0, NULL, NULL, NULL, &while_waiting);
	errno = saved;
}

static void in_handlers(void)
{
	struct sigaction action = {.sa_handler = waits, .sa_flags = SA_RESTART};
	sigaction(SIGALRM, &action, NULL);
	struct itimerval timer = {{0, 2000}, {0, 2000}};
	setitimer(ITIMER_REAL, &timer, NULL);
	while (handled < 300)
		dlclose(loaded());
	puts("handled");
}

/* ---- an allocator that is interrupted ---- */

static atomic_bool stop;
static atomic_int unloads;

static void *allocates(void *unused)
{
	void *kept[64] = {NULL};
	for (unsigned random = 1; !stop; random = random * 1103515245 + 12345) {
		unsigned i = random >> 16 & 63;
		free(kept[i]);
		kept[i] = malloc(2000 + (random >> 8 & 8191));
	}
	for (unsigned i = 0; i < 64; i++)
		free(kept[i]);
	return unused;
}

static void *unloads_again(void *unused)
{
	for (; !stop; unloads++)
		dlclose(loaded());
	return unused;
}

static void in_allocators(void)
{
	pthread_t allocator, loader;
	mallopt(M_ARENA_MAX, 1);
	struct sigaction action = {.sa_handler = waits, .sa_flags = SA_RESTART};
	sigaction(SIGUSR1, &action, NULL);
	pthread_create(&allocator, NULL, allocates, NULL);
	pthread_create(&loader, NULL, unloads_again, NULL);
	while (handled < 400 || unloads < 50) {
		pthread_kill(allocator, SIGUSR1);
		usleep(2000);
	}
	stop = true;
	pthread_join(allocator, NULL);
	pthread_join(loader, NULL);
	puts("allocated");
}

/* ---- memory ---- */

/* The process's address space in KiB. */
static long address_space(void)
{
	char line[256];
	long size = 0;
	FILE *file = fopen("/proc/self/status", "r");
	while (file && fgets(line, sizeof line, file))
		if (strncmp(line, "VmSize:", 7) == 0)
			size = atol(line + 7);
	if (file)
		fclose(file);
	return size;
}

static void in_loops(void)
{
	long before = 0;
	for (int i = 0; i < 220; i++) {
		void *handle = loaded();
		poll(NULL, 0, 1);
		dlclose(handle);
		if (i == 20) /* what is set up once is there by now */
			before = address_space();
	}
	long more = address_space() - before;
	if (more < 4096)
		puts("as large as before");
	else
		printf("%ld KiB more\n", more);
}

/* ---- stacks ---- */

static void wait_in(const char *name)
{
	void *handle = loaded();
	int (*function)(int);
	*(void **)&function = dlsym(handle, name);
	if (!function) {
		fprintf(stderr, "loader_target: %s\n", dlerror());
		exit(3);
	}
	function(2);
	dlclose(handle);
}

static void take_stacks(void)
{
	for (int i = 0; i < 3; i++) {
		wait_in("late_library_waits");
		wait_in("late_library_waits_elsewhere");
	}
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		for (int i = 0; i < 3; i++)
			wait_in("late_library_waits");
		_exit(0);
	}
	waitpid(child, NULL, 0);
	puts("waited");
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[1] : "";
	library = argc > 2 ? argv[2] : "";
	if (strcmp(how, "handler") == 0)
		in_handlers();
	else if (strcmp(how, "allocator") == 0)
		in_allocators();
	else if (strcmp(how, "loop") == 0)
		in_loops();
	else if (strcmp(how, "stacks") == 0)
		take_stacks();
	else
		return 2;
	return 0;
}
