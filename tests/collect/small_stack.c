/* SPDX-License-Identifier: Apache-2.0 */
/* small_stack.c - how much stack a call that starts a program needs.
 *
 * small_stack PROGRAM: prints for each call the smallest stack, in bytes, on which it starts PROGRAM. Run it with
 * LD_BIND_NOW=1: the loader takes much of the stack where it binds a function at its first call.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { MOST = 64 * 1024, STEP = 64 };

static const char *program;
static char *arguments[] = {"program", NULL};
static char *own_environment[] = {"PATH=/usr/bin:/bin", "A=1", "LD_PRELOAD=", NULL};
extern char **environ;

static void end_with(pid_t pid)
{
	int status = 1;
	waitpid(pid, &status, 0);
	_exit(status != 0);
}

static void call_execve(void)
{
	execve(program, arguments, own_environment);
}

static void call_execv(void)
{
	execv(program, arguments);
}

static void call_execvp(void)
{
	execvp(strrchr(program, '/') + 1, arguments);
}

static void call_execlp(void)
{
	execlp(strrchr(program, '/') + 1, "program", (char *)NULL);
}

static void call_fexecve(void)
{
	fexecve(open(program, O_RDONLY | O_CLOEXEC), arguments, environ);
}

static void call_vfork(void)
{
	pid_t pid = vfork();
	if (pid == 0) {
		execvp(strrchr(program, '/') + 1, arguments);
		_exit(1);
	}
	end_with(pid);
}

static void call_posix_spawn(void)
{
	pid_t pid;
	_exit(posix_spawn(&pid, program, NULL, NULL, arguments, environ) != 0);
}

static void call_posix_spawnp(void)
{
	pid_t pid;
	_exit(posix_spawnp(&pid, strrchr(program, '/') + 1, NULL, NULL, arguments, environ) != 0);
}

static const struct {
	const char *name;
	void (*call)(void);
} calls[] = {
	{"execve", call_execve},           {"execv", call_execv},
	{"execvp", call_execvp},           {"execlp", call_execlp},
	{"fexecve", call_fexecve},         {"vfork", call_vfork},
	{"posix_spawn", call_posix_spawn}, {"posix_spawnp", call_posix_spawnp},
};

/* The page below the stack must not be touched. */
static bool works_on(void (*call)(void), size_t size)
{
	pid_t pid = fork();
	if (pid == 0) {
		char *pages =
			mmap(NULL, 4096 + MOST, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		mprotect(pages + 4096, MOST, PROT_READ | PROT_WRITE);
		ucontext_t context, here;
		getcontext(&context);
		context.uc_stack = (stack_t){.ss_sp = pages + 4096, .ss_size = size};
		context.uc_link = NULL;
		makecontext(&context, call, 0);
		swapcontext(&here, &context);
	}
	int status = 1;
	waitpid(pid, &status, 0);
	return status == 0;
}

int main(int argc, char **argv)
{
	struct rlimit none = {0, 0};
	setrlimit(RLIMIT_CORE, &none);
	program = argc > 1 ? argv[1] : "/bin/true";
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		size_t low = 0, high = MOST / STEP; /* it works on 'high', not on 'low' */
		while (high - low > 1) {
			size_t middle = (low + high) / 2;
			if (works_on(calls[i].call, middle * STEP))
				high = middle;
			else
				low = middle;
		}
		printf("%s %zu\n", calls[i].name, high * STEP);
	}
	return 0;
}
