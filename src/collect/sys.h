/* sys.h - system calls as the collector makes them.
 *
 * Straight to the kernel: no wrapper of the program or of another preloaded library sees them, none is a
 * point where a thread can be cancelled, none takes a lock of libc. They set errno like libc's; whoever
 * is called by the program saves and restores it.
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

/* A sanitizer has to know what memory and descriptors come and go. */
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

/* A handler of the program may leave by longjmp, or not come back for long: none may run while a lock is held.
 * All are kept back, those of libc too (cancellation); yields what to give to sys_restore_signals. */
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

/* NULL when it cannot be. */
static inline void *sys_map(size_t size, int flags, int fd, uint64_t offset)
{
	void *at = SYS_MAP(NULL, size, PROT_READ | PROT_WRITE, flags, fd, (long)offset);
	return at == MAP_FAILED ? NULL : at;
}

/* Zeroed memory of our own. */
static inline void *sys_memory(size_t size)
{
	return sys_map(size, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static inline void sys_unmap(void *at, size_t size)
{
	SYS_UNMAP(at, size);
}

static inline int sys_advise(void *at, size_t size, int advice)
{
	return (int)syscall(SYS_madvise, at, size, advice);
}

/* Copies what can be read at 'from', as far as it goes, and never faults: the bytes copied, 0 when none,
 * -1 when the kernel does not let us. */
static inline long sys_peek(uint32_t pid, void *into, const void *from, size_t size)
{
	struct iovec local = {into, size};
	struct iovec remote = {(void *)(uintptr_t)from, size};
	return syscall(SYS_process_vm_readv, pid, &local, 1L, &remote, 1L, 0L);
}

#endif
