/* SPDX-License-Identifier: Apache-2.0 */
/* objects.c - the object behind a descriptor, as one number that is the same on both sides of a
 * wake.
 *
 * A pipe is identified by its inode: both ends have the same, in every process. The two ends of a
 * socket have different inodes: a socketpair is identified by the inode of its first end, a TCP or
 * UDP connection by both addresses, in any order. (The two ends of a connection between Unix
 * sockets that were bound and accepted have nothing in common: each is identified by its own
 * inode.) eventfd and the like share one inode; they are identified by descriptor.
 *
 * Ids are cached by descriptor, and dropped where a descriptor is closed or made. A descriptor that
 * libc closes for itself (fclose) is noticed when one of the calls that make pipes and sockets
 * yields the same number again.
 */
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "collect/osrt/osrt.h"
#include "collect/sys.h"

enum { CACHED = 4096 };
/* The id of the object behind each descriptor; 0: not looked at yet. Still right in a forked
 * child. */
static _Atomic uint64_t fd_objects[CACHED];

static uint64_t mix(uint64_t value)
{
	value = (value ^ value >> 31) * UINT64_C(0xff51afd7ed558ccd);
	return value ^ value >> 32;
}

static uint64_t address_hash(const struct sockaddr_storage *address)
{
	const uint32_t *words;
	uint64_t hash;
	if (address->ss_family == AF_INET) {
		const struct sockaddr_in *in4 = (const void *)address;
		return mix((uint64_t)in4->sin_addr.s_addr << 16 | in4->sin_port);
	}
	const struct sockaddr_in6 *in6 = (const void *)address;
	words = in6->sin6_addr.s6_addr32;
	hash = mix((uint64_t)words[0] << 32 | words[1]);
	return mix(hash ^ ((uint64_t)words[2] << 32 | words[3])) ^ in6->sin6_port;
}

static bool is_internet(const struct sockaddr_storage *address)
{
	return address->ss_family == AF_INET || address->ss_family == AF_INET6;
}

static uint64_t socket_object(int fd, uint64_t inode)
{
	struct sockaddr_storage here = {0}, there = {0};
	socklen_t size = sizeof here, size_there = sizeof there;
	if (syscall(SYS_getsockname, fd, &here, &size) != 0 || !is_internet(&here) ||
	    syscall(SYS_getpeername, fd, &there, &size_there) != 0 || !is_internet(&there))
		return os_object(OS_SOCKET, inode);
	return os_object(OS_SOCKET, address_hash(&here) + address_hash(&there));
}

static uint64_t fd_object(int fd)
{
	struct stat about;
	if (syscall(SYS_fstat, fd, &about) != 0)
		return 0;
	switch (about.st_mode & S_IFMT) {
	case S_IFIFO: return os_object(OS_PIPE, about.st_ino);
	case S_IFSOCK: return socket_object(fd, about.st_ino);
	case 0: return os_object(OS_ANONYMOUS, (uint64_t)fd);
	default: return os_object(OS_FILE, about.st_ino);
	}
}

uint64_t os_fd_cached(int fd)
{
	return fd >= 0 && fd < CACHED ? atomic_load_explicit(&fd_objects[fd], memory_order_relaxed)
				      : 0;
}

uint64_t os_fd(int fd)
{
	uint64_t object = os_fd_cached(fd);
	if (object || fd < 0 || !os_is_on())
		return object;
	int saved = errno;
	object = fd_object(fd);
	errno = saved;
	if (fd < CACHED)
		atomic_store_explicit(&fd_objects[fd], object, memory_order_relaxed);
	return object;
}

bool os_fd_wakes(int fd)
{
	/* The object of a descriptor this high is not cached, and would cost a system call at
	 * each write. */
	if (fd >= CACHED)
		return false;
	enum os_kind kind = os_fd(fd) >> 60;
	return kind == OS_PIPE || kind == OS_SOCKET || kind == OS_ANONYMOUS;
}

void os_fd_changes(int fd)
{
	if (fd >= 0 && fd < CACHED && !os_vforked &&
	    atomic_load_explicit(&fd_objects[fd], memory_order_relaxed))
		atomic_store_explicit(&fd_objects[fd], 0, memory_order_relaxed);
}

void os_fd_pair(const int fds[2])
{
	os_fd_changes(fds[0]);
	os_fd_changes(fds[1]);
	if (!os_is_on() || fds[0] < 0 || fds[1] < 0 || fds[0] >= CACHED || fds[1] >= CACHED)
		return;
	uint64_t both = os_fd(fds[0]);
	atomic_store_explicit(&fd_objects[fds[1]], both, memory_order_relaxed);
}
