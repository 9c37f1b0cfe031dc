/* SPDX-License-Identifier: Apache-2.0 */
/* stack_depth.c - how many bytes of its stack a thread has to give for calls that are recorded:
 * stack_depth MOST.
 *
 * A thread paints the unused part of its stack, makes a call, and looks how far down the paint is
 * gone. It prints a line for each call that takes more than MOST bytes, and "done". Bind functions
 * at the start (LD_BIND_NOW=1): the loader takes more than all of this.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nvtx_shim.h"

enum { PAINTED = 60000, PAINT = 0x5a };

static size_t most;
static uintptr_t lowest; /* address of the lowest byte that was painted */

static __attribute__((noinline)) void paint(void)
{
	volatile char stack[PAINTED];
	for (int i = 0; i < PAINTED; i++)
		stack[i] = PAINT;
	lowest = (uintptr_t)stack;
	__asm__ volatile("" : : "r"(stack) : "memory");
}

static __attribute__((noinline)) size_t depth(void)
{
	const volatile char *at = (const volatile char *)lowest;
	size_t clean = 0;
	while (clean < PAINTED && at[clean] == PAINT)
		clean++;
	return PAINTED - clean;
}

/* ---- the calls ---- */

static size_t depth_of_sleep(void)
{
	usleep(300);
	return depth();
}

static size_t depth_of_push(void)
{
	shim_push("range");
	size_t bytes = depth();
	shim_pop();
	return bytes;
}

static size_t depth_of_fork(void)
{
	pid_t child = fork();
	size_t bytes = depth();
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	return bytes;
}

/* The depth in the child, in units of 64 bytes, is its exit status. */
static size_t depth_in_child(void)
{
	pid_t child = fork();
	if (child == 0)
		_exit((int)(depth() / 64));
	int status = 0;
	waitpid(child, &status, 0);
	return (size_t)WEXITSTATUS(status) * 64;
}

static void *measure(void *call)
{
	size_t (*function)(void);
	*(void **)&function = call;
	paint();
	return (void *)function();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		size_t (*function)(void);
	} calls[] = {{"sleep", depth_of_sleep},
		     {"NVTX push", depth_of_push},
		     {"fork", depth_of_fork},
		     {"forked child", depth_in_child}};
	most = argc > 1 ? (size_t)atol(argv[1]) : 0;
	shim_begin();
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		pthread_t thread;
		void *bytes, *function = *(void *const *)&calls[i].function;
		if (pthread_create(&thread, NULL, measure, function) != 0)
			abort();
		pthread_join(thread, &bytes);
		if ((size_t)bytes > most)
			printf("%s: %zu bytes\n", calls[i].name, (size_t)bytes);
	}
	puts("done");
	return 0;
}
