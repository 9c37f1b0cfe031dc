/* SPDX-License-Identifier: Apache-2.0 */
/* sys.h - system calls as the collector makes them.
 *
 * The functions go straight to the kernel: no wrapper of the program or of another preloaded
 * library sees them, none is a point where a thread can be cancelled, and none takes a lock of
 * libc. They set errno like libc's functions; code that the program calls saves errno and restores
 * it.
 */
#ifndef HWY_COLLECT_SYS_H
#define HWY_COLLECT_SYS_H

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* A sanitizer must see which memory and descriptors come and go, so it gets libc's functions. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SYS_OPEN openat
#define SYS_CLOSE close
#define SYS_MAP mmap
#define SYS_UNMAP munmap
#else
#define SYS_OPEN(...) (int)syscall(SYS_openat, __VA_ARGS__)
#define SYS_CLOSE(fd) syscall(SYS_close, fd)
#define SYS_MAP(...) (void *)syscall(SYS_mmap, __VA_ARGS__)
#define SYS_UNMAP(...) syscall(SYS_munmap, __VA_ARGS__)
#endif

static inline int sys_open_in(int folder, const char *path, int flags)
{
	return SYS_OPEN(folder, path, flags | O_CLOEXEC, 0600);
}

static inline int sys_open(const char *path, int flags)
{
	return sys_open_in(AT_FDCWD, path, flags);
}

static inline void sys_close(int fd)
{
	SYS_CLOSE(fd);
}

/* Blocks all signals, also those that libc uses for cancellation, and yields the mask for
 * sys_restore_signals. A signal handler of the program may leave by longjmp, or take long to
 * return: none may run while a lock is held. */
static inline uint64_t sys_hold_signals(void)
{
	uint64_t all = UINT64_MAX, before = 0;
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof before);
	return before;
}

static inline void sys_restore_signals(uint64_t before)
{
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
}

static inline long sys_read(int fd, void *into, size_t size)
{
	return syscall(SYS_read, fd, into, size);
}

static inline uint32_t sys_pid(void)
{
	return (uint32_t)syscall(SYS_getpid);
}

static inline uint32_t sys_tid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

/* Maps memory for reading and writing; NULL when the kernel refuses. */
static inline void *sys_map(size_t size, int flags, int fd, uint64_t offset)
{
	void *memory = SYS_MAP(NULL, size, PROT_READ | PROT_WRITE, flags, fd, (long)offset);
	return memory == MAP_FAILED ? NULL : memory;
}

/* Zeroed private memory from the kernel; NULL when there is none. */
static inline void *sys_memory(size_t size)
{
	return sys_map(size, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static inline void sys_unmap(void *memory, size_t size)
{
	SYS_UNMAP(memory, size);
}

static inline int sys_advise(void *memory, size_t size, int advice)
{
	return (int)syscall(SYS_madvise, memory, size, advice);
}

/* Copies memory of the process 'pid' as far as it can be read, and never faults. Yields the number
 * of bytes copied, 0 when none can be read, -1 when the kernel does not permit reading. */
static inline long sys_peek(uint32_t pid, void *into, const void *from, size_t size)
{
	struct iovec local = {into, size};
	struct iovec remote = {(void *)(uintptr_t)from, size};
	return syscall(SYS_process_vm_readv, pid, &local, 1L, &remote, 1L, 0L);
}

#endif
