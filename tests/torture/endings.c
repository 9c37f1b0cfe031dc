/* SPDX-License-Identifier: Apache-2.0 */
/* endings.c - the ways to end a process, while other threads still do things. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "torture.h"

const char *const ending_names[] = {
	"return of exit", "_exit",   "quick_exit",      "abort",        "SIGKILL",
	"SIGSEGV",        "SIGTERM", "another program", "in a handler", "in a thread",
	"pthread_exit",   "at exit", "exit_group"};

unsigned endings_count(void)
{
	return sizeof ending_names / sizeof *ending_names;
}

/* Threads that are in the middle of something when the end comes. */
static void *never_ends(void *what)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	for (;;)
		switch ((uintptr_t)what) {
		case 0:
			pthread_mutex_lock(&lock); /* the second time for ever */
			break;
		case 1: poll(NULL, 0, -1); break;
		case 2:
			nvtx_push("at the end");
			nvtx_pop();
			break;
		default: pass_us(50);
		}
	return NULL;
}

static void exit_in_handler(int number)
{
	(void)number;
	_exit(24);
}

static void *exit_in_thread(void *unused)
{
	(void)unused;
	exit(25);
}

static void late_work(void)
{
	unsigned long thread;
	pid_t child = fork();
	if (child == 0)
		_exit(1);
	status_of(child);
	start_thread(&thread, 0, never_ends, (void *)1);
	pass_us(300);
	if (write(STDOUT_FILENO, "late\n", 5) != 5)
		_exit(1);
}

static void *last_thread(void *unused)
{
	pass_us(2000);
	return unused;
}

static void write_all(const struct result *said)
{
	for (size_t at = 0; at < said->size;) {
		long n = STEADILY(write(STDOUT_FILENO, said->text + at, said->size - at));
		if (n <= 0)
			_exit(97);
		at += (size_t)n;
	}
}

static void end_by_signal(unsigned which)
{
	if (which == 3)
		abort();
	if (which == 4)
		kill(getpid(), SIGKILL);
	if (which == 5)
		*(volatile int *)NULL = 1;
	raise(SIGTERM);
}

static void end_in_other_ways(unsigned which)
{
	unsigned long thread;
	if (which == 7) {
		execlp("echo", "echo", "another", "program", (char *)NULL);
	} else if (which == 8) {
		signal(SIGALRM, exit_in_handler);
		ualarm(1000, 0);
		for (;;)
			pass_us(10);
	} else if (which == 9) {
		start_thread(&thread, 0, exit_in_thread, NULL);
		for (;;)
			pass_us(100000);
	} else if (which == 11) {
		atexit(late_work);
		exit(26);
	}
	syscall(SYS_exit_group, 27);
}

_Noreturn void end_process(unsigned which, const struct result *said)
{
	unsigned long thread;
	write_all(said);
	/* After pthread_exit the process ends with its last thread. */
	for (uintptr_t i = 0; i < 5 && which != 10; i++)
		start_thread(&thread, i % 2 ? 32768 : 0, never_ends, (void *)(i % 4));
	pass_us(500);
	if (which == 0)
		exit(22);
	if (which == 1)
		_exit(23);
	if (which == 2)
		quick_exit(28);
	if (which < 7)
		end_by_signal(which);
	if (which == 10) {
		start_thread(&thread, 0, last_thread, NULL);
		pthread_detach(thread);
		pthread_exit(NULL);
	}
	end_in_other_ways(which);
	_exit(29);
}
