/* SPDX-License-Identifier: Apache-2.0 */
/* acts_stacks.c - stacks that are small, alternate, deep, used up, or switched under everybody's feet.
 *
 * Every small stack has an unreadable page below it: a byte too much ends the process.
 */
#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "torture.h"

extern char **environ;

enum { PAGE = 4096 };

static char *guarded_stack(size_t size)
{
	char *stack = mmap(NULL, size + PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (stack == MAP_FAILED)
		give_up("mmap");
	mprotect(stack, PAGE, PROT_NONE);
	return stack + PAGE;
}

static void free_stack(char *stack, size_t size)
{
	munmap(stack - PAGE, size + PAGE);
}

/* Calls that a profiler may look at, with as little stack of their own as there can be. */
static int use_little_stack(unsigned which)
{
	static char *const arguments[] = {"true", NULL};
	char byte = 0;
	int ends[2], status = 0;
	pid_t child;
	switch (which) {
	case 0: pass_us(200); return 0;
	case 1:
		if (pipe2(ends, O_CLOEXEC) != 0 || write(ends[1], "z", 1) != 1 ||
		    STEADILY(read(ends[0], &byte, 1)) != 1)
			status = 1;
		close(ends[0]);
		close(ends[1]);
		return status;
	case 2:
		nvtx_push("on a small stack");
		nvtx_pop();
		return 0;
	case 3:
		child = _Fork();
		if (child == 0) {
			execve("/bin/true", arguments, environ);
			_exit(9);
		}
		return status_of(child);
	case 4:
		child = vfork();
		if (child == 0) {
			execv("/bin/true", arguments);
			_exit(9);
		}
		return status_of(child);
	default: return open("/nonexistent", O_RDONLY) == -1 && errno == ENOENT ? 0 : 2;
	}
}

struct narrow {
	char *stack;
	size_t left; /* bytes of the stack that the calls may use */
	int results[6];
};

/* Goes down until only 'left' bytes are between here and the stack's end. */
__attribute__((noinline)) static void descend(struct narrow *narrow)
{
	char here;
	size_t room = (size_t)(&here - narrow->stack);
	if (room > narrow->left + 128) {
		volatile char *used = alloca(room - narrow->left);
		used[0] = 1;
		for (unsigned i = 0; i < 6; i++)
			narrow->results[i] = use_little_stack(i);
	}
}

static void *run_narrow(void *narrow)
{
	descend(narrow);
	return NULL;
}

static void act_small_stack(void)
{
	size_t size = 65536;
	struct narrow narrow = {.stack = guarded_stack(size), .left = 3072 + 512 * chance(4)};
	pthread_attr_t attributes;
	pthread_t thread;
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, narrow.stack, size);
	if (pthread_create(&thread, &attributes, run_narrow, &narrow) != 0)
		give_up("pthread_create");
	end_thread(thread);
	for (unsigned i = 0; i < 6; i++)
		say(" %d", narrow.results[i]);
	free_stack(narrow.stack, size);
}

/* ---- alternate stacks */

static volatile int alternate_results[6];

static void on_alternate(int number)
{
	(void)number;
	for (unsigned i = 0; i < 6; i++)
		alternate_results[i] = use_little_stack(i);
}

static void act_altstack(void)
{
	size_t size = (size_t)sysconf(_SC_MINSIGSTKSZ) + 3072 + 1024 * chance(4);
	size = (size + PAGE - 1) / PAGE * PAGE;
	char *stack = guarded_stack(size);
	stack_t alternate = {.ss_sp = stack, .ss_size = size};
	struct sigaction action = {.sa_handler = on_alternate, .sa_flags = SA_ONSTACK};
	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR1, &action, NULL);
	for (unsigned i = 0, n = 1 + chance(3); i < n; i++)
		raise(SIGUSR1);
	for (unsigned i = 0; i < 6; i++)
		say(" %d", alternate_results[i]);
}

static sigjmp_buf rescue;

static void on_overflow(int number)
{
	siglongjmp(rescue, number);
}

__attribute__((noinline)) static int overflow(int depth)
{
	volatile char used[2048];
	used[0] = (char)depth;
	/* It never ends: no stack is so deep. */
	return depth < 1000000000 ? overflow(depth + 1) + used[0] : 0;
}

/* A stack that overflows and is given up, again and again, as interpreters do it. */
static void act_overflow(void)
{
	size_t size = 65536;
	stack_t alternate = {.ss_sp = guarded_stack(size), .ss_size = size};
	struct sigaction action = {.sa_handler = on_overflow, .sa_flags = SA_ONSTACK | SA_NODEFER};
	static volatile int saved;
	sigaltstack(&alternate, NULL);
	sigaction(SIGSEGV, &action, NULL);
	for (saved = 0; saved < 5; saved++)
		if (sigsetjmp(rescue, 1) == 0)
			say(" %d", overflow(0));
	pass_us(100);
	say(" %d times", saved);
}

__attribute__((noinline)) static int go_deep(int depth)
{
	volatile int here = depth;
	if (depth == 0)
		pass_us(150);
	else
		here += go_deep(depth - 1);
	return here;
}

static void act_deep(void)
{
	static const int depths[] = {10, 500, 5000};
	say(" %d", go_deep(depths[chance(3)]));
}

/* ---- fibers */

enum { MOST_FIBERS = 6, FIBER_STACK = 32768, ROUNDS = 20 };

struct fibers {
	ucontext_t main, contexts[MOST_FIBERS];
	unsigned at, done;
	unsigned order;
};

static __thread struct fibers *running;

static void run_fiber(void)
{
	struct fibers *fibers = running;
	unsigned self = fibers->at;
	for (unsigned i = 0; i < ROUNDS; i++) {
		nvtx_push("a fiber");
		fibers->order = fibers->order * 31 + self;
		if (i % 5 == 0)
			pass_us(100);
		swapcontext(&fibers->contexts[self], &fibers->main);
		nvtx_pop();
	}
	fibers->done++;
	for (;;)
		swapcontext(&fibers->contexts[self], &fibers->main);
}

static void act_fibers(void)
{
	struct fibers fibers = {0};
	char *stacks[MOST_FIBERS];
	unsigned n = 2 + chance(MOST_FIBERS - 1);
	for (unsigned i = 0; i < n; i++) {
		stacks[i] = guarded_stack(FIBER_STACK);
		getcontext(&fibers.contexts[i]);
		fibers.contexts[i].uc_stack.ss_sp = stacks[i];
		fibers.contexts[i].uc_stack.ss_size = FIBER_STACK;
		fibers.contexts[i].uc_link = NULL;
		makecontext(&fibers.contexts[i], run_fiber, 0);
	}
	running = &fibers;
	for (unsigned turn = 0; fibers.done < n; turn++) {
		fibers.at = turn % n;
		swapcontext(&fibers.main, &fibers.contexts[turn % n]);
	}
	for (unsigned i = 0; i < n; i++)
		free_stack(stacks[i], FIBER_STACK);
	say(" %u fibers, order %x", n, fibers.order);
}

const struct act stack_acts[] = {
	{"small_stack", act_small_stack, NEEDS_IMAGE},
	{"altstack", act_altstack, NEEDS_IMAGE | NEEDS_CALM},
	{"overflow", act_overflow, NEEDS_IMAGE | NEEDS_CALM},
	{"deep", act_deep, 0},
	{"fibers", act_fibers, NEEDS_IMAGE},
	{NULL, NULL, 0},
};
