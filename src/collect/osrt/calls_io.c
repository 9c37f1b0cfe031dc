/* SPDX-License-Identifier: Apache-2.0 */
/* calls_io.c - reading, writing and waiting for descriptors; opening, closing, flushing.
 *
 * Writing to a pipe, a socket or an eventfd may wake a reader: such calls are recorded however
 * short they are, and so is closing one that was used before. The variants that _FORTIFY_SOURCE
 * makes of these calls (__read_chk and others) go to libc directly, and have replacements of their
 * own.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include "collect/osrt/osrt.h"

/* ---- reading --------------------------------------------------------------------------------- */

OS_WRAP(read, ssize_t, (int fd, void *into, size_t n), (fd, into, n), os_fd(fd))
OS_WRAP(pread, ssize_t, (int fd, void *into, size_t n, off_t offset), (fd, into, n, offset),
	os_fd(fd))
OS_WRAP_AS(pread64, "pread", ssize_t, (int fd, void *into, size_t n, off64_t offset),
	   (fd, into, n, offset), os_fd(fd))
OS_WRAP(readv, ssize_t, (int fd, const struct iovec *to, int n), (fd, to, n), os_fd(fd))
OS_WRAP(preadv, ssize_t, (int fd, const struct iovec *to, int n, off_t offset), (fd, to, n, offset),
	os_fd(fd))
OS_WRAP_AS(preadv64, "preadv", ssize_t, (int fd, const struct iovec *to, int n, off64_t offset),
	   (fd, to, n, offset), os_fd(fd))
ssize_t __read_chk(int fd, void *into, size_t n, size_t room);
OS_WRAP_AS(__read_chk, "read", ssize_t, (int fd, void *into, size_t n, size_t room),
	   (fd, into, n, room), os_fd(fd))
ssize_t __pread_chk(int fd, void *into, size_t n, off_t offset, size_t room);
OS_WRAP_AS(__pread_chk, "pread", ssize_t, (int fd, void *into, size_t n, off_t offset, size_t room),
	   (fd, into, n, offset, room), os_fd(fd))
ssize_t __pread64_chk(int fd, void *into, size_t n, off64_t offset, size_t room);
OS_WRAP_AS(__pread64_chk, "pread", ssize_t,
	   (int fd, void *into, size_t n, off64_t offset, size_t room), (fd, into, n, offset, room),
	   os_fd(fd))

/* ---- writing --------------------------------------------------------------------------------- */

#define WRITES(id, parameters, arguments, fd)                                                      \
	OS_CALL(id, ssize_t, parameters);                                                          \
	OS_EXPORT ssize_t id parameters                                                            \
	{                                                                                          \
		int64_t start = os_begin(&call_##id), end;                                         \
		ssize_t result = OS_REAL(id) arguments;                                            \
		bool kept = os_lasted(start, &end);                                                \
		bool wakes = start && result > 0 && os_fd_wakes(fd);                               \
		if (kept || wakes)                                                                 \
			os_keep(&call_##id, start, end, os_fd(fd), wakes ? REC_OS_WAKES : 0);      \
		return result;                                                                     \
	}

WRITES(write, (int fd, const void *from, size_t n), (fd, from, n), fd)
WRITES(writev, (int fd, const struct iovec *from, int n), (fd, from, n), fd)
OS_WRAP(pwrite, ssize_t, (int fd, const void *from, size_t n, off_t offset), (fd, from, n, offset),
	os_fd(fd))
OS_WRAP_AS(pwrite64, "pwrite", ssize_t, (int fd, const void *from, size_t n, off64_t offset),
	   (fd, from, n, offset), os_fd(fd))
OS_WRAP(pwritev, ssize_t, (int fd, const struct iovec *from, int n, off_t offset),
	(fd, from, n, offset), os_fd(fd))
OS_WRAP_AS(pwritev64, "pwritev", ssize_t, (int fd, const struct iovec *from, int n, off64_t offset),
	   (fd, from, n, offset), os_fd(fd))
OS_WRAP(sendfile, ssize_t, (int to, int from, off_t *offset, size_t n), (to, from, offset, n),
	os_fd(to))
OS_WRAP_AS(sendfile64, "sendfile", ssize_t, (int to, int from, off64_t *offset, size_t n),
	   (to, from, offset, n), os_fd(to))
OS_WRAP(splice, ssize_t,
	(int from, off64_t *from_at, int to, off64_t *to_at, size_t n, unsigned flags),
	(from, from_at, to, to_at, n, flags), os_fd(from))
OS_WRAP(copy_file_range, ssize_t,
	(int from, off64_t *from_at, int to, off64_t *to_at, size_t n, unsigned flags),
	(from, from_at, to, to_at, n, flags), os_fd(to))

/* ---- waiting for one of several -------------------------------------------------------------- */

/* Yields the object behind the first descriptor that poll found ready; 0: no descriptor is. */
static uint64_t ready_of_poll(const struct pollfd *fds, nfds_t n, int ready)
{
	for (nfds_t i = 0; ready > 0 && i < n; i++)
		if (fds[i].revents)
			return os_fd(fds[i].fd);
	return 0;
}

static uint64_t ready_of_select(int n, const fd_set *reads, const fd_set *writes, int ready)
{
	for (int fd = 0; ready > 0 && fd < n && fd < FD_SETSIZE; fd++)
		if ((reads && FD_ISSET(fd, reads)) || (writes && FD_ISSET(fd, writes)))
			return os_fd(fd);
	return 0;
}

OS_WRAP(poll, int, (struct pollfd * fds, nfds_t n, int timeout_ms), (fds, n, timeout_ms),
	ready_of_poll(fds, n, result))
OS_WRAP(ppoll, int,
	(struct pollfd * fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask),
	(fds, n, timeout, mask), ready_of_poll(fds, n, result))
int __poll_chk(struct pollfd *fds, nfds_t n, int timeout_ms, size_t room);
OS_WRAP_AS(__poll_chk, "poll", int, (struct pollfd * fds, nfds_t n, int timeout_ms, size_t room),
	   (fds, n, timeout_ms, room), ready_of_poll(fds, n, result))
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask,
		size_t room);
OS_WRAP_AS(__ppoll_chk, "ppoll", int,
	   (struct pollfd * fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask,
	    size_t room),
	   (fds, n, timeout, mask, room), ready_of_poll(fds, n, result))
OS_WRAP(select, int,
	(int n, fd_set *reads, fd_set *writes, fd_set *others, struct timeval *timeout),
	(n, reads, writes, others, timeout), ready_of_select(n, reads, writes, result))
OS_WRAP(pselect, int,
	(int n, fd_set *reads, fd_set *writes, fd_set *others, const struct timespec *timeout,
	 const sigset_t *mask),
	(n, reads, writes, others, timeout, mask), ready_of_select(n, reads, writes, result))
/* epoll reports ready descriptors by values that only the program understands: no object is
 * recorded. */
OS_WRAP(epoll_wait, int, (int fd, struct epoll_event *events, int most, int timeout_ms),
	(fd, events, most, timeout_ms), 0)
OS_WRAP(epoll_pwait, int,
	(int fd, struct epoll_event *events, int most, int timeout_ms, const sigset_t *mask),
	(fd, events, most, timeout_ms, mask), 0)
OS_WRAP(epoll_pwait2, int,
	(int fd, struct epoll_event *events, int most, const struct timespec *timeout,
	 const sigset_t *mask),
	(fd, events, most, timeout, mask), 0)

/* ---- opening and closing --------------------------------------------------------------------- */

static bool has_mode(int flags)
{
	return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
}

/* Replaces a variadic open: the mode is passed only where the flags demand it. */
#define OPENS(id, recorded, parameters, arguments)                                                 \
	OS_CALL_AS(id, recorded, int, parameters, NULL);                                           \
	OS_EXPORT int id parameters                                                                \
	{                                                                                          \
		mode_t mode = 0;                                                                   \
		if (has_mode(flags)) {                                                             \
			va_list list;                                                              \
			va_start(list, flags);                                                     \
			mode = va_arg(list, mode_t);                                               \
			va_end(list);                                                              \
		}                                                                                  \
		int64_t start = os_begin(&call_##id), end;                                         \
		int result = OS_REAL(id) arguments;                                                \
		os_fd_changes(result);                                                             \
		if (os_lasted(start, &end))                                                        \
			os_keep(&call_##id, start, end, result < 0 ? 0 : os_fd(result), 0);        \
		return result;                                                                     \
	}

OPENS(open, "open", (const char *path, int flags, ...), (path, flags, mode))
OPENS(open64, "open", (const char *path, int flags, ...), (path, flags, mode))
OPENS(openat, "openat", (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
OPENS(openat64, "openat", (int folder, const char *path, int flags, ...),
      (folder, path, flags, mode))

OS_CALL(close, int, (int));
OS_EXPORT int close(int fd)
{
	int64_t start = os_begin(&call_close), end;
	uint64_t object = os_fd_cached(fd);
	bool wakes = start && object && os_fd_wakes(fd);
	/* The descriptor is forgotten before the call: after the call, another thread may get
	 * the same descriptor. */
	os_fd_changes(fd);
	int result = OS_REAL(close)(fd);
	if (os_lasted(start, &end) || wakes)
		os_keep(&call_close, start, end, object, wakes ? REC_OS_WAKES : 0);
	return result;
}

OS_CALL(dup2, int, (int, int));
OS_EXPORT int dup2(int from, int to)
{
	int64_t start = os_begin(&call_dup2), end;
	int result = OS_REAL(dup2)(from, to);
	os_fd_changes(to);
	if (os_lasted(start, &end))
		os_keep(&call_dup2, start, end, 0, 0);
	return result;
}

OS_CALL(dup3, int, (int, int, int));
OS_EXPORT int dup3(int from, int to, int flags)
{
	int64_t start = os_begin(&call_dup3), end;
	int result = OS_REAL(dup3)(from, to, flags);
	os_fd_changes(to);
	if (os_lasted(start, &end))
		os_keep(&call_dup3, start, end, 0, 0);
	return result;
}

/* ---- pipes, replaced only to notice that their descriptors are new --------------------------- */

OS_CALL(pipe, int, (int *));
OS_EXPORT int pipe(int fds[2])
{
	int result = OS_REAL(pipe)(fds);
	if (result == 0) {
		os_fd_changes(fds[0]);
		os_fd_changes(fds[1]);
	}
	return result;
}

OS_CALL(pipe2, int, (int *, int));
OS_EXPORT int pipe2(int fds[2], int flags)
{
	int result = OS_REAL(pipe2)(fds, flags);
	if (result == 0) {
		os_fd_changes(fds[0]);
		os_fd_changes(fds[1]);
	}
	return result;
}

int eventfd(unsigned value, int flags);
OS_CALL(eventfd, int, (unsigned, int));
OS_EXPORT int eventfd(unsigned value, int flags)
{
	int result = OS_REAL(eventfd)(value, flags);
	os_fd_changes(result);
	return result;
}

/* ---- disks, devices, memory ------------------------------------------------------------------ */

OS_WRAP(fsync, int, (int fd), (fd), os_fd(fd))
OS_WRAP(fdatasync, int, (int fd), (fd), os_fd(fd))
OS_WRAP(syncfs, int, (int fd), (fd), os_fd(fd))
OS_WRAP(flock, int, (int fd, int operation), (fd, operation), os_fd(fd))
OS_WRAP(lockf, int, (int fd, int operation, off_t n), (fd, operation, n), os_fd(fd))
OS_WRAP_AS(lockf64, "lockf", int, (int fd, int operation, off64_t n), (fd, operation, n), os_fd(fd))
OS_WRAP(msync, int, (void *address, size_t n, int flags), (address, n, flags), 0)
OS_WRAP(munmap, int, (void *address, size_t n), (address, n), 0)
OS_WRAP(mmap, void *, (void *address, size_t n, int protection, int flags, int fd, off_t from),
	(address, n, protection, flags, fd, from), 0)
OS_WRAP_AS(mmap64, "mmap", void *,
	   (void *address, size_t n, int protection, int flags, int fd, off64_t from),
	   (address, n, protection, flags, fd, from), 0)

OS_CALL(sync, void, (void));
OS_EXPORT void sync(void)
{
	int64_t start = os_begin(&call_sync), end;
	OS_REAL(sync)();
	if (os_lasted(start, &end))
		os_keep(&call_sync, start, end, 0, 0);
}

/* The argument of an ioctl request is one word, or nothing. */
OS_CALL(ioctl, int, (int, unsigned long, ...));
OS_EXPORT int ioctl(int fd, unsigned long request, ...)
{
	va_list list;
	va_start(list, request);
	void *argument = va_arg(list, void *);
	va_end(list);
	int64_t start = os_begin(&call_ioctl), end;
	int result = OS_REAL(ioctl)(fd, request, argument);
	if (os_lasted(start, &end))
		os_keep(&call_ioctl, start, end, os_fd(fd), 0);
	return result;
}

/* ---- streams of stdio; libc's own calls inside them are not seen ----------------------------- */

OS_WRAP(fopen, FILE *, (const char *path, const char *mode), (path, mode), 0)
OS_WRAP_AS(fopen64, "fopen", FILE *, (const char *path, const char *mode), (path, mode), 0)
OS_WRAP(fflush, int, (FILE * file), (file), 0)
OS_WRAP(fread, size_t, (void *into, size_t size, size_t n, FILE *file), (into, size, n, file), 0)
OS_WRAP(fwrite, size_t, (const void *from, size_t size, size_t n, FILE *file),
	(from, size, n, file), 0)

OS_CALL(fclose, int, (FILE *));
OS_EXPORT int fclose(FILE *file)
{
	int64_t start = os_begin(&call_fclose), end;
	int saved = errno;
	os_fd_changes(fileno(file));
	errno = saved;
	int result = OS_REAL(fclose)(file);
	if (os_lasted(start, &end))
		os_keep(&call_fclose, start, end, 0, 0);
	return result;
}
