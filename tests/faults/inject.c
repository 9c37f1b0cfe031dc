/* SPDX-License-Identifier: Apache-2.0 */
/* inject.c - a library to preload into headway: makes one chosen system or library call fail, once.
 *
 * The library counts the calls of headway by kind (an allocation, an open, a write …) and acts only
 * inside a program called "headway"; it takes itself out of the environment, so that the recorded
 * program never has it. What it does is said by three variables:
 *
 *   FAULT_AT=KIND:NUMBER:ERROR   the call of this kind and number (from 1) fails with this errno.
 *                                ERROR "short" makes a write write the half of its bytes only.
 *   FAULT_IN=NUMBER              whose calls are counted: 0 (the default) is headway itself, 1 the
 *                                first process that it forks, 2 the second …
 *   FAULT_LOG=FILE               one line for each counted call: its kind, its number, and a hash
 *                                of its call stack, the same for calls from the same place.
 *
 * Calls that libc makes inside itself cannot be seen, but for its allocations.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

enum kind { MEM, OPEN, WRITE, READ, MAP, ROOM, NAME, LOOK, TASK, WAIT, PERF, KINDS };
static const char *const kind_names[KINDS] = {"mem",  "open", "write", "read", "map", "room",
					      "name", "look", "task",  "wait", "perf"};

static struct {
	bool is_on;  /* this program is headway */
	int process; /* whose calls are counted, as FAULT_IN says */
	int log;     /* descriptor of FAULT_LOG, or -1 */
	enum kind kind;
	uint64_t number; /* which call of 'kind' fails; 0: none does */
	int error;       /* errno of that call; -1: a short write */
} plan = {.log = -1};
static _Atomic uint64_t counts[KINDS];
/* Which process this one is, as FAULT_IN counts them, and how many were forked so far. */
static int this_process, forked;
/* True while this thread is inside this file: its own calls are not counted. */
static _Thread_local bool is_inside;

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);

static void log_call(enum kind kind, uint64_t number)
{
	void *frames[24];
	char line[96];
	uint64_t hash = 14695981039346656037u;
	int n = backtrace(frames, sizeof frames / sizeof *frames);
	for (int i = 2; i < n; i++) {
		/* The loader puts files at other addresses in each run, but on page boundaries. */
		hash = (hash ^ ((uintptr_t)frames[i] & 0xfff)) * 1099511628211u;
	}
	int length = snprintf(line, sizeof line, "%s %llu %016llx\n", kind_names[kind],
			      (unsigned long long)number, (unsigned long long)hash);
	syscall(SYS_write, plan.log, line, (size_t)length);
}

/* Counts a call; true, with errno set, where the call is to fail. */
static bool fails(enum kind kind)
{
	if (!plan.is_on || is_inside || this_process != plan.process)
		return false;
	uint64_t number = atomic_fetch_add(&counts[kind], 1) + 1;
	if (plan.log >= 0) {
		int kept = errno;
		is_inside = true;
		log_call(kind, number);
		is_inside = false;
		errno = kept;
	}
	if (plan.number == 0 || kind != plan.kind || number != plan.number)
		return false;
	if (plan.error > 0)
		errno = plan.error;
	return true;
}

static void plan_read(const char *at)
{
	static const struct {
		const char *name;
		int value;
	} errors[] = {{"ENOMEM", ENOMEM}, {"ENOSPC", ENOSPC}, {"EMFILE", EMFILE}, {"EIO", EIO},
		      {"EINTR", EINTR},   {"EAGAIN", EAGAIN}, {"EACCES", EACCES}, {"short", -1}};
	char kind[16], error[16];
	unsigned long long number;
	if (sscanf(at, "%15[^:]:%llu:%15s", kind, &number, error) != 3)
		abort();
	bool known = false;
	for (int i = 0; i < KINDS; i++)
		if (strcmp(kind_names[i], kind) == 0) {
			plan.kind = (enum kind)i;
			known = true;
		}
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (strcmp(errors[i].name, error) == 0)
			plan.error = errors[i].value;
	if (!known || !plan.error)
		abort();
	plan.number = number;
}

__attribute__((constructor)) static void begin(void)
{
	const char *at = getenv("FAULT_AT"), *in = getenv("FAULT_IN"), *log = getenv("FAULT_LOG");
	if (strcmp(program_invocation_short_name, "headway") != 0)
		return;
	if (at)
		plan_read(at);
	plan.process = in ? atoi(in) : 0;
	if (log) {
		void *frames[2];
		plan.log = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
		backtrace(frames, 2); /* loads what it needs before anything is counted */
	}
	unsetenv("LD_PRELOAD");
	unsetenv("FAULT_AT");
	unsetenv("FAULT_IN");
	unsetenv("FAULT_LOG");
	plan.is_on = true;
}

/* ---- the stand-ins --------------------------------------------------------------------------- */

EXPORTED void *malloc(size_t bytes)
{
	return fails(MEM) ? NULL : __libc_malloc(bytes);
}

EXPORTED void *calloc(size_t n, size_t bytes)
{
	return fails(MEM) ? NULL : __libc_calloc(n, bytes);
}

EXPORTED void *realloc(void *old, size_t bytes)
{
	return fails(MEM) ? NULL : __libc_realloc(old, bytes);
}

/* Defines a stand-in that yields 'failure' when its call is the chosen one. */
#define STAND_IN(kind, failure, result, name, parameters, ...)                                     \
	EXPORTED result name parameters                                                            \
	{                                                                                          \
		static result(*real) parameters;                                                   \
		if (fails(kind))                                                                   \
			return failure;                                                            \
		bool outer = is_inside;                                                            \
		if (!real) {                                                                       \
			is_inside = true;                                                          \
			*(void **)&real = dlsym(RTLD_NEXT, #name);                                 \
			is_inside = outer;                                                         \
		}                                                                                  \
		return real(__VA_ARGS__);                                                          \
	}

/* clang-format off */
STAND_IN(OPEN, NULL, FILE *, fopen, (const char *path, const char *how), path, how)
STAND_IN(OPEN, NULL, FILE *, fdopen, (int fd, const char *how), fd, how)
STAND_IN(OPEN, NULL, DIR *, opendir, (const char *path), path)
STAND_IN(OPEN, -1, int, mkstemp, (char *path), path)
STAND_IN(OPEN, NULL, char *, mkdtemp, (char *path), path)
STAND_IN(OPEN, -1, int, mkdir, (const char *path, mode_t mode), path, mode)
STAND_IN(OPEN, -1, int, symlink, (const char *target, const char *path), target, path)
STAND_IN(OPEN, NULL, void *, dlopen, (const char *path, int flags), path, flags)
STAND_IN(READ, -1, ssize_t, read, (int fd, void *to, size_t n), fd, to, n)
STAND_IN(READ, -1, ssize_t, pread, (int fd, void *to, size_t n, off_t at), fd, to, n, at)
STAND_IN(READ, -1, ssize_t, pread64, (int fd, void *to, size_t n, off_t at), fd, to, n, at)
STAND_IN(READ, -1, ssize_t, readlink, (const char *path, char *to, size_t n), path, to, n)
STAND_IN(READ, 0, size_t, fread, (void *to, size_t size, size_t n, FILE *file), to, size, n, file)
STAND_IN(MAP, MAP_FAILED, void *, mmap, (void *at, size_t n, int prot, int flags, int fd, off_t from), at, n, prot, flags, fd, from)
STAND_IN(MAP, MAP_FAILED, void *, mmap64, (void *at, size_t n, int prot, int flags, int fd, off_t from), at, n, prot, flags, fd, from)
STAND_IN(ROOM, errno, int, posix_fallocate, (int fd, off_t from, off_t n), fd, from, n)
STAND_IN(ROOM, -1, int, ftruncate, (int fd, off_t n), fd, n)
STAND_IN(ROOM, -1, int, ftruncate64, (int fd, off_t n), fd, n)
STAND_IN(ROOM, -1, int, statvfs, (const char *path, struct statvfs *to), path, to)
STAND_IN(ROOM, -1, int, fsync, (int fd), fd)
STAND_IN(ROOM, -1, int, fdatasync, (int fd), fd)
STAND_IN(NAME, -1, int, rename, (const char *from, const char *to), from, to)
STAND_IN(NAME, -1, int, renameat2, (int from_fd, const char *from, int to_fd, const char *to, unsigned flags), from_fd, from, to_fd, to, flags)
STAND_IN(NAME, -1, int, link, (const char *from, const char *to), from, to)
STAND_IN(NAME, -1, int, unlink, (const char *path), path)
STAND_IN(NAME, -1, int, unlinkat, (int fd, const char *path, int flags), fd, path, flags)
STAND_IN(NAME, -1, int, rmdir, (const char *path), path)
STAND_IN(LOOK, -1, int, access, (const char *path, int how), path, how)
STAND_IN(LOOK, -1, int, stat, (const char *path, struct stat *to), path, to)
STAND_IN(LOOK, -1, int, stat64, (const char *path, struct stat64 *to), path, to)
STAND_IN(LOOK, -1, int, fstat, (int fd, struct stat *to), fd, to)
STAND_IN(LOOK, -1, int, fstat64, (int fd, struct stat64 *to), fd, to)
STAND_IN(LOOK, NULL, char *, realpath, (const char *path, char *to), path, to)
STAND_IN(LOOK, -1, int, flock, (int fd, int how), fd, how)
STAND_IN(LOOK, -1, int, fchmod, (int fd, mode_t mode), fd, mode)
STAND_IN(TASK, -1, int, pipe2, (int fds[2], int flags), fds, flags)
STAND_IN(TASK, errno, int, pthread_create, (pthread_t *thread, const pthread_attr_t *how, void *(*body)(void *), void *argument), thread, how, body, argument)
STAND_IN(TASK, -1, int, setenv, (const char *name, const char *value, int replace), name, value, replace)
STAND_IN(TASK, -1, int, dup2, (int from, int to), from, to)
STAND_IN(WAIT, -1, pid_t, waitpid, (pid_t pid, int *status, int how), pid, status, how)
STAND_IN(WAIT, -1, int, sigwaitinfo, (const sigset_t *set, siginfo_t *about), set, about)
STAND_IN(WAIT, -1, int, sigtimedwait, (const sigset_t *set, siginfo_t *about, const struct timespec *time), set, about, time)
STAND_IN(WAIT, -1, int, epoll_wait, (int fd, struct epoll_event *events, int n, int timeout_ms), fd, events, n, timeout_ms)
STAND_IN(PERF, -1, int, epoll_create1, (int flags), flags)
STAND_IN(PERF, -1, int, epoll_ctl, (int fd, int what, int of, struct epoll_event *event), fd, what, of, event)
STAND_IN(PERF, -1, int, eventfd, (unsigned from, int flags), from, flags)
/* clang-format on */

EXPORTED pid_t fork(void)
{
	static pid_t (*real)(void);
	if (fails(TASK))
		return -1;
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "fork");
	forked++;
	pid_t pid = real();
	if (pid == 0)
		this_process = forked;
	return pid;
}

/* The functions with a variable number of arguments take at most one more, or six (syscall). */

#define STAND_IN_OPEN(name)                                                                        \
	EXPORTED int name(const char *path, int flags, ...)                                        \
	{                                                                                          \
		va_list rest;                                                                      \
		va_start(rest, flags);                                                             \
		unsigned mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, unsigned) : 0;        \
		va_end(rest);                                                                      \
		return fails(OPEN) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);   \
	}
STAND_IN_OPEN(open)
STAND_IN_OPEN(open64)

EXPORTED int openat(int folder, const char *path, int flags, ...)
{
	va_list rest;
	va_start(rest, flags);
	unsigned mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, unsigned) : 0;
	va_end(rest);
	return fails(OPEN) ? -1 : (int)syscall(SYS_openat, folder, path, flags, mode);
}

EXPORTED int ioctl(int fd, unsigned long what, ...)
{
	va_list rest;
	va_start(rest, what);
	void *argument = va_arg(rest, void *);
	va_end(rest);
	return fails(PERF) ? -1 : (int)syscall(SYS_ioctl, fd, what, argument);
}

EXPORTED long syscall(long number, ...)
{
	static long (*real)(long, ...);
	va_list rest;
	va_start(rest, number);
	long a[6];
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(rest, long);
	va_end(rest);
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	/* This file itself makes its calls by syscall(): only the one of perf is counted. */
	if (number == SYS_perf_event_open && fails(PERF))
		return -1;
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* A write that is to be short writes the half; a write of a single byte cannot be. */
static bool write_fails(size_t *n)
{
	if (!fails(WRITE))
		return false;
	if (plan.error > 0)
		return true;
	*n -= *n / 2;
	return false;
}

EXPORTED ssize_t write(int fd, const void *from, size_t n)
{
	return write_fails(&n) ? -1 : syscall(SYS_write, fd, from, n);
}

EXPORTED ssize_t pwrite(int fd, const void *from, size_t n, off_t at)
{
	return write_fails(&n) ? -1 : syscall(SYS_pwrite64, fd, from, n, at);
}

EXPORTED ssize_t pwrite64(int fd, const void *from, size_t n, off_t at)
{
	return write_fails(&n) ? -1 : syscall(SYS_pwrite64, fd, from, n, at);
}
