/* SPDX-License-Identifier: Apache-2.0 */
/* burn.c - a program that keeps the CPU busy, or does not: burn WHAT.
 *
 *   hot [MS]   one function, called by another, compiled without frame pointers
 *   threads    two threads, "left" and "right", each in a function of its own
 *   sleeper    a thread that sleeps ten times 50 ms, and works 4 ms after each
 *   children   a forked child, and one that becomes this program again ("hot"); waits for both
 *   pipe       a thread wakes the main thread through a pipe, 50 times
 *   ping       two threads on one CPU wake each other 200,000 times: megabytes of switches, however rarely the kernel samples
 *   idle MS    does nothing for a while
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PLAIN __attribute__((noinline, noclone))

static volatile unsigned long sink;

/* The thread's own time: on a busy machine it takes longer, but has as many samples. */
static long long worked_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

PLAIN static void spin(void)
{
	for (unsigned long i = 0; i < 200000; i++)
		sink += i * i;
}

PLAIN static void prepare(int ms)
{
	long long end = worked_ns() + ms * 1000000LL;
	while (worked_ns() < end)
		spin();
	sink++;
}

PLAIN static void left_half(void)
{
	for (unsigned long i = 0; i < 150000000; i++)
		sink += i;
}

PLAIN static void right_half(void)
{
	for (unsigned long i = 0; i < 150000000; i++)
		sink ^= i;
}

static void *run_left(void *unused)
{
	left_half();
	sink++;
	return unused;
}

static void *run_right(void *unused)
{
	right_half();
	sink++;
	return unused;
}

static void *run_sleeper(void *unused)
{
	for (int i = 0; i < 10; i++) {
		usleep(50 * 1000);
		prepare(4);
	}
	return unused;
}

static void *run_writer(void *fd)
{
	for (int i = 0; i < 50; i++) {
		usleep(1000);
		if (write(*(int *)fd, "x", 1) != 1)
			abort();
	}
	return NULL;
}

static pthread_t start(void *(*function)(void *), void *argument, const char *name)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, function, argument) != 0)
		abort();
	pthread_setname_np(thread, name);
	return thread;
}

static void children(char *self)
{
	if (fork() == 0) {
		prepare(150);
		_exit(0);
	}
	if (fork() == 0) {
		execl(self, self, "hot", (char *)NULL);
		_exit(127);
	}
	while (wait(NULL) > 0)
		;
}

static void wake(void)
{
	int ends[2];
	char word;
	if (pipe(ends) != 0)
		abort();
	pthread_t writer = start(run_writer, &ends[1], "writer");
	for (int i = 0; i < 50; i++)
		if (read(ends[0], &word, 1) != 1)
			abort();
	pthread_join(writer, NULL);
}

/* Reads a byte and passes it on, 100,000 times. */
static void pass_on(int from, int to)
{
	char word;
	for (int i = 0; i < 100000; i++)
		if (read(from, &word, 1) != 1 || write(to, &word, 1) != 1)
			abort();
}

static int there[2], back[2];

static void *run_other(void *unused)
{
	pass_on(there[0], back[1]);
	return unused;
}

static void ping(void)
{
	cpu_set_t allowed, one;
	size_t cpu = 0;
	CPU_ZERO(&one);
	if (pipe(there) != 0 || pipe(back) != 0 ||
	    sched_getaffinity(0, sizeof allowed, &allowed) != 0)
		abort();
	while (!CPU_ISSET(cpu, &allowed))
		cpu++;
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof one, &one) != 0 || write(there[1], "", 1) != 1)
		abort();
	pthread_t other = start(run_other, NULL, "other");
	pass_on(back[0], there[1]);
	pthread_join(other, NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "hot";
	if (strcmp(what, "hot") == 0) {
		prepare(argc > 2 ? atoi(argv[2]) : 300);
	} else if (strcmp(what, "threads") == 0) {
		pthread_t left = start(run_left, NULL, "left");
		pthread_t right = start(run_right, NULL, "right");
		pthread_join(left, NULL);
		pthread_join(right, NULL);
	} else if (strcmp(what, "sleeper") == 0) {
		pthread_join(start(run_sleeper, NULL, "sleeper"), NULL);
	} else if (strcmp(what, "children") == 0) {
		children(argv[0]);
	} else if (strcmp(what, "pipe") == 0) {
		wake();
	} else if (strcmp(what, "ping") == 0) {
		ping();
	} else if (strcmp(what, "idle") == 0) {
		usleep((unsigned)(argc > 2 ? atoi(argv[2]) : 100) * 1000);
	}
	puts("done");
	return 7;
}
