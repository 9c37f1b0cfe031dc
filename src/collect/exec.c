/* exec.c - programs that this one becomes or starts are part of the run too.
 *
 * Stands in for the exec and posix_spawn families: the environment that is handed on has the collector in
 * it, also when the program passes one of its own. What cannot be preloaded into (see spool/preload.h), or
 * could not find the library, gets an environment without it.
 * Everything is on the stack and nothing is remembered: these functions run in vfork children too.
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
	MOST_VARIABLES = 4096, /* an environment with more is passed on as it is */
	MOST_PRELOAD = 8192,   /* bytes of LD_PRELOAD, likewise */
	MOST_PATH = 4096,
	KEPT = 4,
};

static int (*real_execve)(const char *, char *const *, char *const *);
static int (*real_execvpe)(const char *, char *const *, char *const *);
static int (*real_fexecve)(int, char *const *, char *const *);
static int (*real_posix_spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *,
			       const posix_spawnattr_t *, char *const *, char *const *);
static int (*real_posix_spawnp)(pid_t *, const char *, const posix_spawn_file_actions_t *,
				const posix_spawnattr_t *, char *const *, char *const *);

/* What the run put into our own environment, "NAME=value"; empty: it did not. */
static const char *const kept_names[KEPT] = {"HEADWAY_RUN", "CUDA_INJECTION64_PATH",
					     "NVTX_INJECTION64_PATH", "OPENCL_LAYERS"};
static char kept[KEPT][MOST_PATH];
static bool preloaded; /* by LD_PRELOAD: then it is handed on as well */

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
	for (size_t i = 0; i < KEPT && preloaded; i++) {
		const char *value = getenv(kept_names[i]);
		if (value && strlen(kept_names[i]) + strlen(value) + 2 <= MOST_PATH)
			stpcpy(stpcpy(stpcpy(kept[i], kept_names[i]), "="), value);
	}
}

/* ---- the environment to hand on ----------------------------------------------------------------- */

static bool has_name(const char *variable, const char *name, size_t length)
{
	return strncmp(variable, name, length) == 0 && variable[length] == '=';
}

/* LD_PRELOAD with the collector in it (last: what the program preloads itself comes first, as it must for
 * sanitizers), or without. */
static void write_preload(char *into, const char *value, bool with)
{
	const char *library = collect_control->library;
	char *at = stpcpy(into, "LD_PRELOAD=");
	const char *empty = at;
	for (const char *part = value; *part;) {
		size_t size = strcspn(part, ": ");
		if (size && !preload_is_ours(part, size, library)) {
			if (at != empty)
				*at++ = ':';
			memcpy(at, part, size);
			at += size;
		}
		part += size + (part[size] != '\0');
	}
	if (with) {
		if (at != empty)
			*at++ = ':';
		at += preload_write(at, library, collect_control->traces);
	}
	*at = '\0';
}

/* Bytes that hand_on needs for this environment, 0: it is passed on as it is. */
static size_t handed_size(char *const *given)
{
	if (!preloaded || !kept[0][0])
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
	return (n + KEPT + 2) * sizeof(char *) + preload + preload_room(collect_control->library) +
	       sizeof "LD_PRELOAD=:";
}

/* The environment for a program that takes us, or does not, in so much room. */
static char *const *hand_on(void *room, char *const *given, bool takes)
{
	if (!room)
		return given;
	char **variables = room;
	size_t n = 0;
	while (given && given[n])
		n++;
	char *preload = (char *)(variables + n + KEPT + 2);
	bool seen[KEPT] = {false}, preload_seen = false;
	for (size_t v = 0; v < n; v++) {
		variables[v] = given[v];
		for (size_t i = 0; i < KEPT; i++)
			seen[i] |= has_name(given[v], kept_names[i], strlen(kept_names[i]));
		if (preload_seen || !has_name(given[v], "LD_PRELOAD", 10))
			continue;
		preload_seen = true;
		write_preload(preload, given[v] + 11, takes);
		variables[v] = preload;
	}
	if (takes && !preload_seen) {
		write_preload(preload, "", true);
		variables[n++] = preload;
	}
	/* A program that set one of these otherwise wants another tool there. */
	for (size_t i = 0; i < KEPT; i++)
		if (!seen[i] && kept[i][0])
			variables[n++] = kept[i];
	variables[n] = NULL;
	return variables;
}

/* On the caller's stack; NULL: no room needed. */
#define HANDED_ROOM(given) (handed_size(given) ? alloca(handed_size(given)) : NULL)

/* After a chroot, or with less rights than before, the loader may not find us, and says so on stderr. In doubt it
 * does: descriptors may have run out. */
static bool is_there(void)
{
	int fd = sys_open(collect_control->library, O_RDONLY);
	if (fd >= 0)
		sys_close(fd);
	return fd >= 0 || errno == EMFILE || errno == ENFILE;
}

/* ---- leaving by exec ---------------------------------------------------------------------------- */

/* The process's last word in this image; taken back if the exec fails. */
static struct rec_time *put_exit_record(void)
{
	if (!collect_control || process_is_mute())
		return NULL;
	struct rec_time *record = collect_reserve(REC_EXIT, 1);
	if (!record)
		return NULL;
	record->head.flags = REC_EXIT_EXEC;
	record->time = collect_now();
	collect_publish();
	return record;
}

static void withdraw_exit_record(struct rec_time *goodbye)
{
	int saved = errno;
	if (goodbye)
		spool_withdraw(&goodbye->head);
	errno = saved;
}

static int exec_path(const char *path, char *const *arguments, char *const *given)
{
	int saved = errno;
	void *room = HANDED_ROOM(given);
	char *const *variables =
		hand_on(room, given, !room || !path || (is_there() && preload_fits_file(path)));
	struct rec_time *goodbye = put_exit_record();
	errno = saved;
	int result = real_execve ? real_execve(path, arguments, variables)
				 : (int)syscall(SYS_execve, path, arguments, variables);
	withdraw_exit_record(goodbye);
	return result;
}

static int exec_command(const char *name, char *const *arguments, char *const *given)
{
	int saved = errno;
	if (!real_execvpe) {
		errno = ENOSYS;
		return -1;
	}
	void *room = HANDED_ROOM(given);
	char *const *variables =
		hand_on(room, given, !room || !name || (is_there() && preload_fits_command(name)));
	struct rec_time *goodbye = put_exit_record();
	errno = saved;
	int result = real_execvpe(name, arguments, variables);
	withdraw_exit_record(goodbye);
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
	void *room = HANDED_ROOM(variables);
	char *const *handed = hand_on(room, variables, !room || is_there());
	struct rec_time *goodbye = put_exit_record();
	errno = saved;
	int result = real_fexecve(fd, arguments, handed);
	withdraw_exit_record(goodbye);
	return result;
}

static size_t count_arguments(const char *first, va_list list)
{
	size_t n = 0;
	for (const char *next = first; next; next = va_arg(list, const char *))
		n++;
	return n;
}

/* The arguments of an execl call as an array; yields the environment that follows them in execle. */
static char *const *gather(char **into, const char *first, va_list list, bool with_variables)
{
	for (const char *next = first; next; next = va_arg(list, const char *))
		*into++ = (char *)(uintptr_t)next;
	*into = NULL;
	return with_variables ? va_arg(list, char *const *) : environ;
}

/* Both walks over the arguments of a variadic function, whose frame the array must live in. */
#define GATHER(arguments, variables, first, with_variables)                                        \
	va_list list;                                                                              \
	va_start(list, first);                                                                     \
	char **arguments = alloca((count_arguments(first, list) + 1) * sizeof *arguments);         \
	va_end(list);                                                                              \
	va_start(list, first);                                                                     \
	char *const *variables = gather(arguments, first, list, with_variables);                   \
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
	void *room = HANDED_ROOM(given);
	char *const *variables =
		hand_on(room, given, !room || (is_there() && preload_fits_file(path)));
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
	void *room = HANDED_ROOM(given);
	char *const *variables =
		hand_on(room, given, !room || (is_there() && preload_fits_command(name)));
	errno = saved;
	return real_posix_spawnp(pid, name, actions, attributes, arguments, variables);
}
