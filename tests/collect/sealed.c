/* SPDX-License-Identifier: Apache-2.0 */
/* sealed.c - a program that lets itself be killed at any system call which it and the loader do not need.
 *
 * sealed HOW WHAT: HOW the filter is set, WHAT the program does then; see the tables at the end.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nvtx_shim.h"

/* What libc's part of this program calls, and what the loader and /bin/true call. */
static const int allowed[] = {
	SYS_read,         SYS_write,           SYS_close,
	SYS_openat,       SYS_newfstatat,      SYS_fstat,
	SYS_mmap,         SYS_mprotect,        SYS_munmap,
	SYS_pread64,      SYS_access,          SYS_arch_prctl,
	SYS_brk,          SYS_set_tid_address, SYS_set_robust_list,
	SYS_rseq,         SYS_prlimit64,       SYS_getrandom,
	SYS_execve,       SYS_exit_group,      SYS_exit,
	SYS_clone,        SYS_clone3,          SYS_vfork,
	SYS_wait4,        SYS_futex,           SYS_rt_sigprocmask,
	SYS_rt_sigaction, SYS_rt_sigreturn,    SYS_madvise,
	SYS_lseek,        SYS_pipe2,           SYS_clock_nanosleep,
};
enum { N = sizeof allowed / sizeof *allowed };

static struct sock_filter filter[2 * N + 2];
static struct sock_fprog rules;

static void make_filter(void)
{
	unsigned short n = 0;
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						   offsetof(struct seccomp_data, nr));
	for (int i = 0; i < N; i++) {
		filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							   (unsigned)allowed[i], 0, 1);
		filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	rules = (struct sock_fprog){n, filter};
}

/* ---- how ---------------------------------------------------------------------------------------- */

static long by_prctl(void)
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &rules, 0, 0);
}

static long by_seccomp(void)
{
	if (geteuid() != 0)
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &rules);
}

static long by_syscall(void)
{
	syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &rules, 0, 0);
}

static long by_instruction(void)
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	long result = -ENOSYS;
#if defined(__x86_64__)
	register long flags __asm__("rdx") = (long)&rules;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(SYS_seccomp), "D"(SECCOMP_SET_MODE_FILTER), "S"(0L), "r"(flags)
			 : "rcx", "r11", "memory");
#endif
	return result;
}

/* ---- what --------------------------------------------------------------------------------------- */

static char *arguments[] = {"true", NULL};
extern char **environ;

static void *talk(void *unused)
{
	for (int i = 0; i < 200; i++) {
		int ends[2];
		char byte = 'a';
		if (pipe2(ends, 0) != 0 || write(ends[1], &byte, 1) != 1 ||
		    read(ends[0], &byte, 1) != 1)
			_exit(9);
		close(ends[0]);
		close(ends[1]);
	}
	usleep(200);
	return unused;
}

static int finish(pid_t pid)
{
	int status = 0;
	waitpid(pid, &status, 0);
	printf("status %x\n", (unsigned)status);
	return 0;
}

static int do_plain(void)
{
	return 0;
}

static int do_thread(void)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, talk, NULL) == 0)
		pthread_join(thread, NULL);
	return 0;
}

static int do_fork(void)
{
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		talk(NULL);
		_exit(3);
	}
	return finish(pid);
}

static int do_exec(void)
{
	fflush(stdout);
	execv("/bin/true", arguments);
	return 4;
}

static int do_execvp(void)
{
	fflush(stdout);
	execvp("true", arguments);
	return 4;
}

static int do_vfork(void)
{
	fflush(stdout);
	pid_t pid = vfork();
	if (pid == 0) {
		execve("/bin/true", arguments, environ);
		_exit(4);
	}
	return finish(pid);
}

static int do_spawn(void)
{
	pid_t pid;
	fflush(stdout);
	return posix_spawn(&pid, "/bin/true", NULL, NULL, arguments, environ) == 0 ? finish(pid)
										   : 4;
}

static int do_end(void)
{
	fflush(stdout);
	_exit(6);
}

static const struct {
	const char *name;
	long (*set)(void);
} hows[] = {
	{"prctl", by_prctl},
	{"seccomp", by_seccomp},
	{"syscall", by_syscall},
	{"instruction", by_instruction},
};
static const struct {
	const char *name;
	int (*run)(void);
} whats[] = {
	{"plain", do_plain},   {"thread", do_thread}, {"fork", do_fork},   {"exec", do_exec},
	{"execvp", do_execvp}, {"vfork", do_vfork},   {"spawn", do_spawn}, {"_exit", do_end},
};

/* Only read, write, exit and sigreturn are left. */
static void live_strictly(bool by_libc)
{
	if (by_libc)
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	else
		syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
	shim_push("strict");
	shim_pop();
	syscall(SYS_exit, write(STDOUT_FILENO, "strict\n", 7) == 7 ? 5 : 6);
}

int main(int argc, char **argv)
{
	shim_begin();
	make_filter();
	if (argc < 3)
		return 2;
	for (size_t i = 0; i < sizeof hows / sizeof *hows; i++)
		if (strcmp(argv[1], hows[i].name) == 0 && hows[i].set() != 0)
			return 77;
	if (strncmp(argv[1], "strict", 6) == 0)
		live_strictly(strcmp(argv[1], "strict") == 0);
	talk(NULL);
	puts("sealed");
	for (size_t i = 0; i < sizeof whats / sizeof *whats; i++)
		if (strcmp(argv[2], whats[i].name) == 0)
			return whats[i].run();
	return 2;
}
