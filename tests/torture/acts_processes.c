/* SPDX-License-Identifier: Apache-2.0 */
/* acts_processes.c - every way to make a process, and what its parent and it then know of each other. */
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
#include <sys/wait.h>
#include <unistd.h>

#include "torture.h"

extern char **environ;

static void act_fork(void)
{
	for (unsigned i = 0, n = 1 + chance(5); i < n; i++) {
		pid_t parent = getpid(), child = fork();
		if (child == 0) {
			if (getppid() != parent)
				_exit(50);
			pid_t grandchild = fork();
			if (grandchild == 0)
				_exit((int)(i + 20));
			_exit(status_of(grandchild) + 20);
		}
		say(" %d", status_of(child));
	}
}

static void act_vfork(void)
{
	static char *const arguments[] = {"x", NULL};
	volatile unsigned i = 0;
	for (unsigned n = 5 + chance(30); i < n; i++) {
		pid_t child = vfork();
		if (child == 0) {
			if (i % 3 == 0)
				_exit((int)i);
			if (i % 3 == 1)
				execve("/nonexistent/program", arguments, environ);
			else
				execvp("no-such-program-here", arguments);
			_exit(errno);
		}
		say(" %d", status_of(child));
	}
}

static int leave_with(void *status)
{
	_exit((int)(uintptr_t)status);
}

static void act_clone(void)
{
	enum { STACK = 65536 };
	static const int flags[] = {SIGCHLD, SIGCHLD | CLONE_VM | CLONE_VFORK,
				    SIGCHLD | CLONE_FS | CLONE_FILES,
				    SIGCHLD | CLONE_PARENT_SETTID};
	char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (stack == MAP_FAILED)
		give_up("mmap");
	for (unsigned i = 0; i < 4; i++) {
		pid_t told = 0;
		say(" %d", status_of(clone(leave_with, stack + STACK, flags[i],
					   (void *)(uintptr_t)(i + 40), &told, NULL, NULL)));
	}
	struct clone_args arguments = {.exit_signal = SIGCHLD};
	pid_t child = (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
	if (child == 0)
		_exit(61);
	say(" %d", child < 0 ? -errno : status_of(child));
	munmap(stack, STACK);
}

/* Reads what a child wrote; the child's end is closed before. */
static void say_pipe(int fd)
{
	char text[512];
	long got;
	while ((got = STEADILY(read(fd, text, sizeof text))) > 0)
		say_bytes(text, (size_t)got);
	close(fd);
}

static void act_spawn(void)
{
	char *const shell[] = {"sh", "-c", "echo \"$0 $#\" and $V; exit 5", "zero", "one", NULL};
	char *const variables[] = {"V=value", NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t all;
	int ends[2];
	pid_t child;
	if (pipe2(ends, O_CLOEXEC) != 0)
		give_up("pipe2");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addchdir_np(&actions, "/");
	posix_spawnattr_init(&attributes);
	sigfillset(&all);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
	say(" %d", posix_spawn(&child, "/bin/sh", &actions, &attributes, shell, variables));
	close(ends[1]);
	say_pipe(ends[0]);
	say(" %d", status_of(child));
	say(" %d", posix_spawn(&child, "/nonexistent", NULL, NULL, shell, environ));
	say(" %d", posix_spawnp(&child, "no-such-program-here", NULL, NULL, shell, environ));
	say(" %d", posix_spawn(&child, "/", NULL, NULL, shell, NULL));
	posix_spawn_file_actions_destroy(&actions);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, 12345, STDOUT_FILENO);
	say(" %d", posix_spawnp(&child, "sh", &actions, NULL, shell, variables));
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
}

static void act_shell(void)
{
	char line[128];
	FILE *from = popen("echo one; echo two >&1; exit 9", "r");
	while (from && fgets(line, sizeof line, from))
		say(" %s", strtok(line, "\n"));
	say(" %d", pclose(from));
	FILE *to = popen("read a; exit ${#a}", "w");
	fputs("seven77\n", to);
	say(" %d", pclose(to));
	say(" %d", system("exit 3"));
	say(" %d", system("kill -9 $$"));
	say(" %d", system(NULL));
}

/* Becomes itself again, by another exec function each time; the seed counts down. */
static void act_exec_chain(void)
{
	static uint64_t left;
	left = chance_seed();
	char count[24], *arguments[] = {(char *)(uintptr_t)program_path,
					"--image",
					"exec_link",
					count,
					"calm",
					NULL};
	snprintf(count, sizeof count, "%u", 3 + (unsigned)(left % 12));
	execv(program_path, arguments);
	say(" exec: %d", errno);
}

static void act_exec_link(void)
{
	/* The seed is the count: the first number of its sequence belongs to it alone. */
	uint64_t seeds[16];
	unsigned left = 0;
	uint64_t mine = chance_seed();
	for (uint64_t i = 0; i < 16; i++) {
		uint64_t state = i;
		seeds[i] = next_random(&state);
		if (seeds[i] == mine)
			left = (unsigned)i;
	}
	char count[24], *arguments[] = {(char *)(uintptr_t)program_path,
					"--image",
					"exec_link",
					count,
					"calm",
					NULL};
	char *const few[] = {"A=b", "PATH=/bin:/usr/bin", NULL}, *const none[] = {NULL};
	if (left == 0) {
		say(" end, %s", getenv("A") ? getenv("A") : "-");
		return;
	}
	snprintf(count, sizeof count, "%u", left - 1);
	if (left % 4 == 1)
		execve(program_path, arguments, few);
	else if (left % 4 == 2)
		execve(program_path, arguments, left % 8 == 2 ? none : NULL);
	else if (left % 4 == 3)
		execvpe(program_path, arguments, environ);
	else
		execl(program_path, program_path, "--image", "exec_link", count, "calm",
		      (char *)NULL);
	say(" exec: %d", errno);
}

/* A process whose parent has gone tells through a pipe who its parent is then. */
static void act_orphan(void)
{
	int ends[2];
	pid_t adopted_by = 0;
	if (pipe2(ends, O_CLOEXEC) != 0)
		give_up("pipe2");
	pid_t child = fork();
	if (child == 0) {
		pid_t self = getpid();
		if (fork() == 0) {
			setsid();
			for (int i = 0; i < 50000 && getppid() == self; i++)
				pass_us(200);
			adopted_by = getppid();
			if (write(ends[1], &adopted_by, sizeof adopted_by) < 0)
				_exit(1);
			_exit(0);
		}
		_exit(4);
	}
	say(" %d", status_of(child));
	close(ends[1]);
	say(" %ld", (long)STEADILY(read(ends[0], &adopted_by, sizeof adopted_by)));
	say(" adopted by %d", adopted_by);
	close(ends[0]);
}

const struct act process_acts[] = {
	{"fork", act_fork, 0},
	{"vfork", act_vfork, 0},
	{"clone", act_clone, 0},
	{"spawn", act_spawn, 0},
	{"shell", act_shell, NEEDS_IMAGE},
	{"exec_chain", act_exec_chain, NEEDS_IMAGE | NEEDS_CALM},
	{"exec_link", act_exec_link, NEEDS_IMAGE | NEEDS_CALM},
	{"orphan", act_orphan, 0},
	{NULL, NULL, 0},
};
