/* SPDX-License-Identifier: Apache-2.0 */
/* exec.c - makes the programs that this one becomes or starts part of the run too.
 *
 * Replaces the exec and posix_spawn families: the environment that they pass on has the
 * collector in it, also when the program passes an environment of its own. handed.c says what a
 * program gets. Where the environment grew too large by that (E2BIG) the program gets its own.
 * These functions take little of the stack, and run in vfork children and signal handlers too.
 */
#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "collect/collect.h"
#include "collect/handed.h"
#include "collect/process.h"
#include "collect/sandbox.h"
#include "collect/spool.h"
#include "collect/sys.h"

#define EXPORT __attribute__((visibility("default")))

extern char **environ;

static int (*real_execve)(const char *, char *const *, char *const *);
static int (*real_execvpe)(const char *, char *const *, char *const *);
static int (*real_fexecve)(int, char *const *, char *const *);
static int (*real_posix_spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *,
			       const posix_spawnattr_t *, char *const *, char *const *);
static int (*real_posix_spawnp)(pid_t *, const char *, const posix_spawn_file_actions_t *,
				const posix_spawnattr_t *, char *const *, char *const *);

void exec_init(void)
{
	*(void **)&real_execve = dlsym(RTLD_NEXT, "execve");
	*(void **)&real_execvpe = dlsym(RTLD_NEXT, "execvpe");
	*(void **)&real_fexecve = dlsym(RTLD_NEXT, "fexecve");
	*(void **)&real_posix_spawn = dlsym(RTLD_NEXT, "posix_spawn");
	*(void **)&real_posix_spawnp = dlsym(RTLD_NEXT, "posix_spawnp");
}

/* ---- leaving by exec ------------------------------------------------------------------------- */

/* Records that this process image ends by exec. withdraw_exit_record undoes that if the exec
 * fails. */
static struct rec_time *put_exit_record(void)
{
	if (!collect_control || process_is_mute())
		return NULL;
	struct rec_time *record = collect_reserve(REC_EXIT, 1);
	if (!record)
		return NULL;
	record->head.flags = REC_EXIT_EXEC;
	record->time = collect_now();
	collect_publish(record);
	return record;
}

static void withdraw_exit_record(struct rec_time *exit_record)
{
	int saved = errno;
	if (exit_record)
		spool_withdraw(&exit_record->head);
	errno = saved;
}

static int call_exec(const struct handed_program *program, int flags, char *const *arguments,
		     char *const *variables)
{
	switch (program->how) {
	case HANDED_COMMAND:
		if (real_execvpe)
			return real_execvpe(program->name, arguments, variables);
		break;
	case HANDED_DESCRIPTOR:
		if (real_fexecve && !flags)
			return real_fexecve(program->fd, arguments, variables);
		break;
	default:
		if (real_execve && program->fd == AT_FDCWD && !flags)
			return real_execve(program->name, arguments, variables);
		break;
	}
	if (program->how != HANDED_COMMAND && program->name)
		return (int)sandbox_call(SYS_execveat, program->fd, (long)program->name,
					 (long)arguments, (long)variables, flags, 0);
	errno = ENOSYS;
	return -1;
}

static int become(const struct handed_program *program, int flags, char *const *arguments,
		  char *const *given)
{
	int saved = errno;
	struct handed handed = handed_begin(program, given);
	struct rec_time *exit_record = put_exit_record();
	errno = saved;
	int result = call_exec(program, flags, arguments, handed.variables);
	if (errno == E2BIG && handed.variables != given) {
		errno = saved;
		result = call_exec(program, flags, arguments, given);
	}
	withdraw_exit_record(exit_record);
	handed_end(&handed, false);
	return result;
}

int exec_file(int folder, const char *path, int flags, char *const *arguments, char *const *given)
{
	bool is_open = (flags & AT_EMPTY_PATH) && path && !*path && folder != AT_FDCWD;
	struct handed_program program = {HANDED_FILE, folder, path};
	if (!is_open)
		return become(&program, flags, arguments, given);
	/* fexecve is this very call of execveat. */
	program.how = HANDED_DESCRIPTOR;
	return become(&program, flags, arguments, given);
}

static int exec_command(const char *name, char *const *arguments, char *const *given)
{
	struct handed_program program = {HANDED_COMMAND, AT_FDCWD, name};
	return become(&program, 0, arguments, given);
}

EXPORT int execve(const char *path, char *const arguments[], char *const variables[])
{
	return exec_file(AT_FDCWD, path, 0, arguments, variables);
}

EXPORT int execv(const char *path, char *const arguments[])
{
	return exec_file(AT_FDCWD, path, 0, arguments, environ);
}

EXPORT int execveat(int folder, const char *path, char *const arguments[], char *const variables[],
		    int flags)
{
	return exec_file(folder, path, flags, arguments, variables);
}

EXPORT int execvp(const char *name, char *const arguments[])
{
	return exec_command(name, arguments, environ);
}

EXPORT int execvpe(const char *name, char *const arguments[], char *const variables[])
{
	return exec_command(name, arguments, variables);
}

EXPORT int fexecve(int fd, char *const arguments[], char *const variables[])
{
	struct handed_program program = {HANDED_DESCRIPTOR, fd, NULL};
	return become(&program, 0, arguments, variables);
}

static size_t count_arguments(const char *first, va_list list)
{
	size_t n = 0;
	for (const char *next = first; next; next = va_arg(list, const char *))
		n++;
	return n;
}

/* Writes the arguments of an execl call as an array; yields the environment, which follows the
 * arguments in execle. */
static char *const *gather_arguments(char **into, const char *first, va_list list,
				     bool with_variables)
{
	for (const char *next = first; next; next = va_arg(list, const char *))
		*into++ = (char *)(uintptr_t)next;
	*into = NULL;
	return with_variables ? va_arg(list, char *const *) : environ;
}

/* Contract of GATHER: to be used once in a variadic function, at its beginning, after whose last
 * named parameter 'first' the arguments follow. The macro declares three locals there: va_list
 * 'list', and the arrays that its first two parameters name (the arguments with a closing NULL,
 * and the environment). It is a macro because alloca's memory must live in the frame of that
 * function. */
#define GATHER(arguments, variables, first, with_variables)                                        \
	va_list list;                                                                              \
	va_start(list, first);                                                                     \
	char **arguments = alloca((count_arguments(first, list) + 1) * sizeof *arguments);         \
	va_end(list);                                                                              \
	va_start(list, first);                                                                     \
	char *const *variables = gather_arguments(arguments, first, list, with_variables);         \
	va_end(list)

EXPORT int execl(const char *path, const char *first, ...)
{
	GATHER(arguments, variables, first, false);
	return exec_file(AT_FDCWD, path, 0, arguments, variables);
}

EXPORT int execlp(const char *name, const char *first, ...)
{
	GATHER(arguments, variables, first, false);
	return exec_command(name, arguments, variables);
}

EXPORT int execle(const char *path, const char *first, ...)
{
	GATHER(arguments, variables, first, true);
	return exec_file(AT_FDCWD, path, 0, arguments, variables);
}

/* ---- starting programs ----------------------------------------------------------------------- */

EXPORT int posix_spawn(pid_t *restrict pid, const char *restrict path,
		       const posix_spawn_file_actions_t *restrict actions,
		       const posix_spawnattr_t *restrict attributes,
		       char *const arguments[restrict], char *const given[restrict])
{
	if (!real_posix_spawn)
		return ENOSYS;
	int saved = errno;
	struct handed_program program = {HANDED_FILE, AT_FDCWD, path};
	struct handed handed = handed_begin(&program, given);
	errno = saved;
	int result = real_posix_spawn(pid, path, actions, attributes, arguments, handed.variables);
	if (result == E2BIG && handed.variables != given)
		result = real_posix_spawn(pid, path, actions, attributes, arguments, given);
	handed_end(&handed, result == 0);
	return result;
}

EXPORT int posix_spawnp(pid_t *restrict pid, const char *restrict name,
			const posix_spawn_file_actions_t *restrict actions,
			const posix_spawnattr_t *restrict attributes,
			char *const arguments[restrict], char *const given[restrict])
{
	if (!real_posix_spawnp)
		return ENOSYS;
	int saved = errno;
	struct handed_program program = {HANDED_COMMAND, AT_FDCWD, name};
	struct handed handed = handed_begin(&program, given);
	errno = saved;
	int result = real_posix_spawnp(pid, name, actions, attributes, arguments, handed.variables);
	if (result == E2BIG && handed.variables != given)
		result = real_posix_spawnp(pid, name, actions, attributes, arguments, given);
	handed_end(&handed, result == 0);
	return result;
}
