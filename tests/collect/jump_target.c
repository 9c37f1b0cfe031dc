/* SPDX-License-Identifier: Apache-2.0 */
/* jump_target.c - a program whose signal handlers do not let go of what they interrupt:
 * jump_target HOW [N].
 *
 *   leave    a handler leaves NVTX calls by siglongjmp; the program goes on deeper in its stack
 *   nest     a handler makes NVTX marks itself
 *   fibers   a handler switches between two fibers that both make NVTX calls
 *   fork     a handler forks, and the child returns from it too
 *   names N  no handler: N ranges, each with a name of its own
 *
 * Each ends after a number of signals. It prints how many ranges it pushed, and how many marks its
 * handlers made.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "nvtx_shim.h"

enum { SIGNALS = 300 };

static volatile sig_atomic_t signals, may_jump;
static volatile long pushed, marked;

static void begin_signals(void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART | flags};
	sigaction(SIGALRM, &action, NULL);
	struct itimerval timer = {{0, 500}, {0, 500}};
	setitimer(ITIMER_REAL, &timer, NULL);
}

static void end_signals(void)
{
	struct itimerval timer = {{0, 0}, {0, 0}};
	setitimer(ITIMER_REAL, &timer, NULL);
}

static void push_and_pop(void)
{
	for (int i = 0; i < 20; i++) {
		shim_push("range");
		pushed++;
		shim_pop();
	}
}

/* ---- leave ---- */

static sigjmp_buf back;

static void leaves(int number)
{
	(void)number;
	if (may_jump) {
		may_jump = 0;
		signals++;
		siglongjmp(back, 1);
	}
}

static __attribute__((noinline)) void push_below(int depth)
{
	char room[4096];
	__asm__ volatile("" : : "r"(room) : "memory");
	if (depth)
		push_below(depth - 1);
	else
		push_and_pop();
	__asm__ volatile("" : : "r"(room) : "memory");
}

static void leave(void)
{
	begin_signals(leaves, SA_NODEFER);
	while (signals < SIGNALS) {
		if (sigsetjmp(back, 1))
			continue;
		may_jump = 1;
		push_and_pop();
		may_jump = 0;
	}
	end_signals();
	long before = pushed;
	/* Whatever the last jump left, all of these must be recorded. */
	for (int i = 0; i < 500; i++)
		push_below(4);
	printf("last %ld\n", pushed - before);
}

/* ---- nest ---- */

static void marks(int number)
{
	(void)number;
	shim_mark("from the handler");
	marked++;
	signals++;
}

static void nest(void)
{
	begin_signals(marks, 0);
	while (signals < SIGNALS)
		push_and_pop();
	end_signals();
}

/* ---- fibers ---- */

static ucontext_t contexts[3]; /* of main and of two fibers */
static char stacks[2][65536];
static int running;

static void switches(int number)
{
	(void)number;
	int saved = errno, from = running;
	signals++;
	running = 3 - running;
	swapcontext(&contexts[from], &contexts[running]);
	errno = saved;
}

static void fiber(void)
{
	while (signals < SIGNALS)
		push_and_pop();
}

static void fibers(void)
{
	for (int i = 1; i <= 2; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = stacks[i - 1];
		contexts[i].uc_stack.ss_size = sizeof stacks[i - 1];
		contexts[i].uc_link = &contexts[0];
		makecontext(&contexts[i], fiber, 0);
	}
	running = 1;
	begin_signals(switches, 0);
	swapcontext(&contexts[0], &contexts[1]);
	end_signals();
}

/* ---- fork ---- */

static volatile sig_atomic_t is_child;

static void forks(int number)
{
	(void)number;
	int saved = errno, status;
	if (is_child || ++signals > SIGNALS / 5)
		return;
	pid_t child = fork();
	if (child == 0)
		is_child = 1;
	else if (waitpid(child, &status, 0) == child && status != 0)
		_exit(9);
	errno = saved;
}

static void fork_in_handlers(void)
{
	begin_signals(forks, 0);
	while (signals < SIGNALS / 5 && !is_child)
		push_and_pop();
	end_signals();
	if (is_child)
		exit(0);
}

static void push_names(long n)
{
	for (; pushed < n; pushed++) {
		char name[64];
		snprintf(name, sizeof name, "range %ld", pushed);
		shim_push(name);
		shim_pop();
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	if (!shim_begin())
		fprintf(stderr, "jump_target: NVTX has no recorder\n");
	if (strcmp(how, "leave") == 0)
		leave();
	else if (strcmp(how, "nest") == 0)
		nest();
	else if (strcmp(how, "fibers") == 0)
		fibers();
	else if (strcmp(how, "fork") == 0)
		fork_in_handlers();
	else if (strcmp(how, "names") == 0 && argc > 2)
		push_names(atol(argv[2]));
	else
		return 2;
	printf("pushed %ld\nmarked %ld\n", pushed, marked);
	return 0;
}
