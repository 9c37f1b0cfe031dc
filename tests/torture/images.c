/* SPDX-License-Identifier: Apache-2.0 */
/* images.c - starts this program again for one act, in one of the ways there are to start a program.
 *
 * Between the start and exec a child makes async-signal-safe calls only: other threads run.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "torture.h"

extern char **environ;

const char *program_path;

struct start {
	char *arguments[6];
	int out; /* becomes the image's stdout */
	unsigned way_of_exec;
};

/* The exec family; only the first two are given another environment than ours. */
static _Noreturn void become_image(const struct start *start)
{
	static char *const nothing[] = {NULL};
	char *const *arguments = start->arguments;
	dup2(start->out, STDOUT_FILENO);
	switch (start->way_of_exec) {
	case 0: execve(program_path, arguments, nothing); break;
	case 1: execve(program_path, arguments, NULL); break;
	case 2: execv(program_path, arguments); break;
	case 3: execvp(program_path, arguments); break;
	case 4: execvpe(program_path, arguments, environ); break;
	case 5:
		execl(program_path, arguments[0], arguments[1], arguments[2], arguments[3],
		      arguments[4], (char *)NULL);
		break;
	default: fexecve(open(program_path, O_RDONLY | O_CLOEXEC), arguments, environ);
	}
	_exit(98);
}

static int become_image_of(void *start)
{
	become_image(start);
}

static pid_t start_by_spawn(const struct start *start, bool searched)
{
	posix_spawn_file_actions_t actions;
	pid_t child = -1;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, start->out, STDOUT_FILENO);
	errno = searched ? posix_spawnp(&child, program_path, &actions, NULL, start->arguments,
					environ)
			 : posix_spawn(&child, program_path, &actions, NULL, start->arguments,
				       environ);
	posix_spawn_file_actions_destroy(&actions);
	return child;
}

/* On a stack of 16 KiB with an unreadable page below it, as a language's own runtime does it. */
static pid_t start_by_clone(struct start *start)
{
	enum { STACK = 16384, PAGE = 4096 };
	char *stack = mmap(NULL, STACK + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	if (stack == MAP_FAILED)
		give_up("mmap");
	mprotect(stack, PAGE, PROT_NONE);
	pid_t child = clone(become_image_of, stack + PAGE + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD,
			    start);
	munmap(stack, STACK + PAGE);
	return child;
}

static pid_t start_image(struct start *start)
{
	struct clone_args arguments = {.exit_signal = SIGCHLD};
	pid_t child = -1;
	switch (chance(6)) {
	case 0: child = fork(); break;
	case 1: child = vfork(); break;
	case 2: return start_by_spawn(start, false);
	case 3: return start_by_spawn(start, true);
	case 4: return start_by_clone(start);
	default:
		child = (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
		if (child < 0 && errno == ENOSYS)
			child = fork();
	}
	if (child == 0)
		become_image(start);
	return child;
}

void image_run(const struct act *act, bool storm)
{
	char seed[24], text[4096];
	int ends[2];
	long got;
	/* Closed in other children: else the end of this one would not be seen. */
	if (pipe2(ends, O_CLOEXEC) != 0)
		give_up("pipe2");
	snprintf(seed, sizeof seed, "%llu", (unsigned long long)chance_seed());
	struct start start = {
		.arguments = {(char *)(uintptr_t)program_path, "--image",
			      (char *)(uintptr_t)act->name, seed,
			      storm && !(act->needs & NEEDS_CALM) ? "storm" : "calm", NULL},
		.out = ends[1],
		.way_of_exec = chance(7),
	};
	pid_t child = start_image(&start);
	close(ends[1]);
	if (child < 0)
		give_up("start of an image");
	while ((got = STEADILY(read(ends[0], text, sizeof text))) > 0)
		say_bytes(text, (size_t)got);
	close(ends[0]);
	say(" -> %d\n", status_of(child));
}
