/* SPDX-License-Identifier: Apache-2.0 */
/* acts_sandbox.c - programs that restrict their own system calls.
 *
 * A filter ends the process, refuses, or raises SIGSYS at every call that its list does not have.
 * The list has what this program needs after the filter, so a call of somebody else is seen.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "torture.h"

#ifndef SECCOMP_RET_KILL_PROCESS
#define SECCOMP_RET_KILL_PROCESS SECCOMP_RET_KILL
#endif

/* What glibc and a program that writes, forks, makes threads and becomes another need. */
static const int needed[] = {
	SYS_read,
	SYS_write,
	SYS_exit,
	SYS_exit_group,
	SYS_rt_sigreturn,
	SYS_brk,
	SYS_mmap,
	SYS_munmap,
	SYS_mprotect,
	SYS_close,
	SYS_openat,
	SYS_newfstatat,
	SYS_fstat,
	SYS_pipe2,
	SYS_futex,
	SYS_clone,
	SYS_clone3,
	SYS_set_robust_list,
	SYS_rt_sigprocmask,
	SYS_rt_sigaction,
	SYS_gettid,
	SYS_getpid,
	SYS_tgkill,
	SYS_lseek,
	SYS_prlimit64,
	SYS_execve,
	SYS_set_tid_address,
	SYS_pread64,
	SYS_wait4,
	SYS_madvise,
	SYS_clock_nanosleep,
#ifdef SYS_access
	SYS_access,
#endif
#ifdef SYS_arch_prctl
	SYS_arch_prctl,
#endif
#ifdef SYS_rseq
	SYS_rseq,
#endif
	SYS_getrandom,
};
enum { NEEDED = sizeof needed / sizeof *needed };

enum { BY_LIBC, BY_RAW_SECCOMP, BY_RAW_PRCTL, WAYS };

static int seal(unsigned way, uint32_t otherwise)
{
	struct sock_filter filter[2 * NEEDED + 2];
	unsigned short n = 0;
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						   offsetof(struct seccomp_data, nr));
	for (unsigned i = 0; i < NEEDED; i++) {
		filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							   (uint32_t)needed[i], 0, 1);
		filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, otherwise);
	struct sock_fprog program = {n, filter};
	/* Root needs no promise to gain no rights, and containers do not make one. */
	bool promise = geteuid() != 0 || chance(2);
	if (way == BY_LIBC) {
		if (promise)
			prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
	}
	if (promise)
		syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (way == BY_RAW_SECCOMP)
		return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
	return (int)syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

static void *work_sealed(void *unused)
{
	char byte;
	int ends[2];
	for (int i = 0; i < 100; i++) {
		if (pipe2(ends, O_CLOEXEC) != 0)
			return unused;
		nvtx_push("sealed");
		if (write(ends[1], "q", 1) == 1 && read(ends[0], &byte, 1) == 1)
			nvtx_mark("sealed");
		nvtx_pop();
		close(ends[0]);
		close(ends[1]);
	}
	pass_us(200);
	return unused;
}

/* Says at once, since the process may not reach its end. */
static void tell(const char *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		_exit(96);
}

static void live_sealed(void)
{
	static char *const echo[] = {"/bin/echo", "echo", "lives", NULL};
	unsigned long thread;
	tell(" sealed");
	work_sealed(NULL);
	tell(" worked");
	if (chance(2)) {
		start_thread(&thread, 0, work_sealed, NULL);
		end_thread(thread);
		tell(" threads");
	}
	if (chance(2)) {
		pid_t child = fork();
		if (child == 0) {
			work_sealed(NULL);
			_exit(33);
		}
		tell(status_of(child) == 33 ? " forked" : " fork failed");
	}
	if (chance(2)) {
		execv(echo[0], echo);
		tell(" no exec");
	}
}

static void act_seccomp(void)
{
	static const uint32_t others[] = {SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ERRNO | EPERM};
	unsigned long thread;
	unsigned way = chance(WAYS), other = chance(2);
	if (chance(2)) { /* a spool may already be there, or not */
		start_thread(&thread, 0, work_sealed, NULL);
		end_thread(thread);
	}
	if (seal(way, others[other]) != 0) {
		tell(" no filter");
		return;
	}
	live_sealed();
}

static volatile sig_atomic_t trapped;

static void on_trap(int number)
{
	(void)number;
	trapped++;
}

/* The program's own handler emulates what is refused: it must get its own calls only. */
static void act_trap(void)
{
	struct sigaction action = {.sa_handler = on_trap};
	char text[32];
	sigaction(SIGSYS, &action, NULL);
	if (seal(chance(WAYS), SECCOMP_RET_TRAP) != 0) {
		tell(" no filter");
		return;
	}
	for (int i = 0; i < 3; i++)
		syscall(SYS_getuid);
	work_sealed(NULL);
	snprintf(text, sizeof text, " trapped %d", (int)trapped);
	tell(text);
}

static void act_strict(void)
{
	pid_t child = fork();
	if (child == 0) {
		if (chance(2))
			prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
		else
			syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
		nvtx_push("strict");
		nvtx_pop();
		tell(" strict");
		syscall(SYS_exit, 12);
	}
	say(" %d", status_of(child));
}

/* The clock's instruction ends the process from here on, in what it starts, too. */
static void act_no_clock(void)
{
	char byte;
	int ends[2];
	if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) != 0 || pipe2(ends, O_CLOEXEC) != 0) {
		tell(" none");
		return;
	}
	nvtx_push("without a clock");
	say(" %ld", (long)write(ends[1], "c", 1));
	say(" %ld", (long)read(ends[0], &byte, 1));
	nvtx_pop();
	pid_t child = fork();
	if (child == 0) {
		nvtx_mark("without a clock");
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	say(" %d", status_of(child));
}

const struct act sandbox_acts[] = {
	{"seccomp", act_seccomp, NEEDS_IMAGE | NEEDS_CALM},
	{"trap", act_trap, NEEDS_IMAGE | NEEDS_CALM},
	{"strict", act_strict, NEEDS_IMAGE | NEEDS_CALM},
	{"no_clock", act_no_clock, NEEDS_IMAGE | NEEDS_CALM},
	{NULL, NULL, 0},
};
