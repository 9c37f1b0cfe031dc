/* SPDX-License-Identifier: Apache-2.0 */
/* exec.c - makes the programs that this one becomes or starts part of the run too.
 *
 * Replaces the exec and posix_spawn families: the environment that they pass on has the collector
 * in it, also when the program passes an environment of its own. A program that cannot be preloaded
 * into (see spool/preload.h), or could not find the library, gets an environment without the
 * collector. Everything is on the stack and nothing is remembered: these functions run in vfork
 * children too.
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
#include "collect/process.h"
#include "collect/spool.h"
#include "collect/sys.h"
#include "spool/preload.h"

#define EXPORT __attribute__((visibility("default")))

extern char **environ;

enum {
	MOST_VARIABLES = 4096, /* an environment with more variables is passed on unchanged */
	/* MOST_PRELOAD: an environment with a longer LD_PRELOAD (bytes) is passed on unchanged. */
	MOST_PRELOAD = 8192,
	MOST_PATH = 4096,
	RUN_VARIABLES = 4,
};

static int (*real_execve)(const char *, char *const *, char *const *);
static int (*real_execvpe)(const char *, char *const *, char *const *);
static int (*real_fexecve)(int, char *const *, char *const *);
static int (*real_posix_spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *,
			       const posix_spawnattr_t *, char *const *, char *const *);
static int (*real_posix_spawnp)(pid_t *, const char *, const posix_spawn_file_actions_t *,
				const posix_spawnattr_t *, char *const *, char *const *);

/* The variables that the run put into this process's environment, as "NAME=value"; empty: the
 * variable was not set. */
static const char *const run_names[RUN_VARIABLES] = {"HEADWAY_RUN", "CUDA_INJECTION64_PATH",
						     "NVTX_INJECTION64_PATH", "OPENCL_LAYERS"};
static char run_variables[RUN_VARIABLES][MOST_PATH];
/* LD_PRELOAD loaded the collector, so that child processes get the collector too. */
static bool preloaded;

void exec_init(void)
{
	*(void **)&real_execve = dlsym(RTLD_NEXT, "execve");
	*(void **)&real_execvpe = dlsym(RTLD_NEXT, "execvpe");
	*(void **)&real_fexecve = dlsym(RTLD_NEXT, "fexecve");
	*(void **)&real_posix_spawn = dlsym(RTLD_NEXT, "posix_spawn");
	*(void **)&real_posix_spawnp = dlsym(RTLD_NEXT, "posix_spawnp");
	const char *preload = getenv("LD_PRELOAD");
	preloaded = preload && collect_control && collect_control->library[0] &&
		    strstr(preload, collect_control->library);
	for (size_t i = 0; i < RUN_VARIABLES && preloaded; i++) {
		const char *value = getenv(run_names[i]);
		if (value && strlen(run_names[i]) + strlen(value) + 2 <= MOST_PATH)
			stpcpy(stpcpy(stpcpy(run_variables[i], run_names[i]), "="), value);
	}
}

/* ---- the environment that a child gets ------------------------------------------------------- */

static bool has_name(const char *variable, const char *name, size_t length)
{
	return strncmp(variable, name, length) == 0 && variable[length] == '=';
}

/* Writes LD_PRELOAD with the collector in it, or without. The collector comes last: libraries that
 * the program preloads itself must come first, above all those of sanitizers. */
static void write_preload(char *into, const char *value, bool with_collector)
{
	const char *library = collect_control->library;
	char *end = stpcpy(into, "LD_PRELOAD=");
	const char *empty = end;
	for (const char *part = value; *part;) {
		size_t size = strcspn(part, ": ");
		if (size && !preload_is_ours(part, size, library)) {
			if (end != empty)
				*end++ = ':';
			memcpy(end, part, size);
			end += size;
		}
		part += size + (part[size] != '\0');
	}
	if (with_collector) {
		if (end != empty)
			*end++ = ':';
		end += preload_write(end, library, collect_control->traces);
	}
	*end = '\0';
}

/* How many bytes child_environment needs for this environment; 0: the environment is passed on
 * unchanged. */
static size_t child_environment_size(char *const *given)
{
	if (!preloaded || !run_variables[0][0])
		return 0;
	size_t n = 0, preload = 0;
	for (; given && given[n]; n++) {
		if (n == MOST_VARIABLES)
			return 0;
		if (!preload && has_name(given[n], "LD_PRELOAD", 10))
			preload = strlen(given[n]);
	}
	if (preload > MOST_PRELOAD)
		return 0;
	return (n + RUN_VARIABLES + 2) * sizeof(char *) + preload +
	       preload_room(collect_control->library) + sizeof "LD_PRELOAD=:";
}

/* Writes the environment for a child into 'room', with the collector in LD_PRELOAD or without, and
 * yields it. Without room the child gets the given environment. */
static char *const *child_environment(void *room, char *const *given, bool with_collector)
{
	if (!room)
		return given;
	char **variables = room;
	size_t n = 0;
	while (given && given[n])
		n++;
	char *preload = (char *)(variables + n + RUN_VARIABLES + 2);
	bool seen[RUN_VARIABLES] = {false}, preload_seen = false;
	for (size_t v = 0; v < n; v++) {
		variables[v] = given[v];
		for (size_t i = 0; i < RUN_VARIABLES; i++)
			seen[i] |= has_name(given[v], run_names[i], strlen(run_names[i]));
		if (preload_seen || !has_name(given[v], "LD_PRELOAD", 10))
			continue;
		preload_seen = true;
		write_preload(preload, given[v] + 11, with_collector);
		variables[v] = preload;
	}
	if (with_collector && !preload_seen) {
		write_preload(preload, "", true);
		variables[n++] = preload;
	}
	/* A program that sets one of the collector's variables to another value wants another
	 * tool in the child. */
	for (size_t i = 0; i < RUN_VARIABLES; i++)
		if (!seen[i] && run_variables[i][0])
			variables[n++] = run_variables[i];
	variables[n] = NULL;
	return variables;
}

/* False if the loader could not open the collector, after a chroot or with less rights than before:
 * it would complain on stderr. True in doubt, where descriptors have run out. */
static bool collector_is_readable(void)
{
	int fd = sys_open(collect_control->library, O_RDONLY);
	if (fd >= 0)
		sys_close(fd);
	return fd >= 0 || errno == EMFILE || errno == ENFILE;
}

/* ---- leaving by exec
 * ---------------------------------------------------------------------------- */

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

static int exec_path(const char *path, char *const *arguments, char *const *given)
{
	int saved = errno;
	size_t size = child_environment_size(given);
	void *room = size ? alloca(size) : NULL;
	char *const *variables = child_environment(
		room, given,
		!room || !path || (collector_is_readable() && preload_fits_file(path)));
	struct rec_time *exit_record = put_exit_record();
	errno = saved;
	int result = real_execve ? real_execve(path, arguments, variables)
				 : (int)syscall(SYS_execve, path, arguments, variables);
	withdraw_exit_record(exit_record);
	return result;
}

static int exec_command(const char *name, char *const *arguments, char *const *given)
{
	int saved = errno;
	if (!real_execvpe) {
		errno = ENOSYS;
		return -1;
	}
	size_t size = child_environment_size(given);
	void *room = size ? alloca(size) : NULL;
	char *const *variables = child_environment(
		room, given,
		!room || !name || (collector_is_readable() && preload_fits_command(name)));
	struct rec_time *exit_record = put_exit_record();
	errno = saved;
	int result = real_execvpe(name, arguments, variables);
	withdraw_exit_record(exit_record);
	return result;
}

EXPORT int execve(const char *path, char *const arguments[], char *const variables[])
{
	return exec_path(path, arguments, variables);
}

EXPORT int execv(const char *path, char *const arguments[])
{
	return exec_path(path, arguments, environ);
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
	if (!real_fexecve) {
		errno = ENOSYS;
		return -1;
	}
	int saved = errno;
	size_t size = child_environment_size(variables);
	void *room = size ? alloca(size) : NULL;
	char *const *child_variables =
		child_environment(room, variables, !room || collector_is_readable());
	struct rec_time *exit_record = put_exit_record();
	errno = saved;
	int result = real_fexecve(fd, arguments, child_variables);
	withdraw_exit_record(exit_record);
	return result;
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
	return exec_path(path, arguments, variables);
}

EXPORT int execlp(const char *name, const char *first, ...)
{
	GATHER(arguments, variables, first, false);
	return exec_command(name, arguments, variables);
}

EXPORT int execle(const char *path, const char *first, ...)
{
	GATHER(arguments, variables, first, true);
	return exec_path(path, arguments, variables);
}

EXPORT int posix_spawn(pid_t *restrict pid, const char *restrict path,
		       const posix_spawn_file_actions_t *restrict actions,
		       const posix_spawnattr_t *restrict attributes,
		       char *const arguments[restrict], char *const given[restrict])
{
	if (!real_posix_spawn)
		return ENOSYS;
	int saved = errno;
	size_t size = child_environment_size(given);
	void *room = size ? alloca(size) : NULL;
	char *const *variables = child_environment(
		room, given, !room || (collector_is_readable() && preload_fits_file(path)));
	errno = saved;
	return real_posix_spawn(pid, path, actions, attributes, arguments, variables);
}

EXPORT int posix_spawnp(pid_t *restrict pid, const char *restrict name,
			const posix_spawn_file_actions_t *restrict actions,
			const posix_spawnattr_t *restrict attributes,
			char *const arguments[restrict], char *const given[restrict])
{
	if (!real_posix_spawnp)
		return ENOSYS;
	int saved = errno;
	size_t size = child_environment_size(given);
	void *room = size ? alloca(size) : NULL;
	char *const *variables = child_environment(
		room, given, !room || (collector_is_readable() && preload_fits_command(name)));
	errno = saved;
	return real_posix_spawnp(pid, name, actions, attributes, arguments, variables);
}
