/* SPDX-License-Identifier: Apache-2.0 */
/* calls_process.c - making processes and waiting for them, sleep, signals.
 *
 * posix_spawn calls on to the collect library, which passes the collector on to the child. A vfork
 * child lives in its parent's memory and on its stack: os_vforked marks it, and everything else
 * here leaves it alone.
 */
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/osrt/osrt.h"

static uint64_t process_object(long pid)
{
	return pid > 0 ? os_object(OS_PROCESS, (uint64_t)pid) : 0;
}

/* ---- making processes ------------------------------------------------------------------------ */

OS_CALL(fork, pid_t, (void));
OS_EXPORT pid_t fork(void)
{
	int64_t start = os_begin(&call_fork), end;
	pid_t result = OS_REAL(fork)();
	/* This is the forked child: the call was the parent's. */
	if (result == 0)
		return 0;
	if (os_lasted(start, &end))
		os_keep(&call_fork, start, end, process_object(result), 0);
	return result;
}

#if defined(__x86_64__)
/* vfork keeps the return address in a register: the child's calls overwrite it on the stack. The
 * child jumps to that address, since a shadow stack would let only one of the two return. The
 * parent restores os_vforked as it was, whether or not the child had memory of its own after
 * all. */
__asm__(".pushsection .text\n"
	".globl vfork\n"
	".type vfork, @function\n"
	"vfork:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	popq %rdi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_register %rip, %rdi\n"
	"	movq os_vforked@gottpoff(%rip), %rdx\n"
	"	movzbl %fs:(%rdx), %esi\n"
	"	movl $58, %eax\n" /* 58 is the number of SYS_vfork */
	"	syscall\n"
	"	testl %eax, %eax\n"
	"	jnz 1f\n"
	"	incl %esi\n"
	"	movb %sil, %fs:(%rdx)\n"
	"	jmpq *%rdi\n"
	"1:	pushq %rdi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_offset %rip, -8\n"
	"	js 2f\n"
	"	movb %sil, %fs:(%rdx)\n"
	"	ret\n"
	"2:	pushq %rax\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call __errno_location@PLT\n"
	"	popq %rcx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	negl %ecx\n"
	"	movl %ecx, (%rax)\n"
	"	movq $-1, %rax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size vfork, . - vfork\n"
	".popsection\n");
#endif

OS_WRAP(posix_spawn, int,
	(pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions,
	 const posix_spawnattr_t *attributes, char *const arguments[], char *const variables[]),
	(pid, path, actions, attributes, arguments, variables),
	result == 0 && pid ? process_object(*pid) : 0)
OS_WRAP(posix_spawnp, int,
	(pid_t * pid, const char *name, const posix_spawn_file_actions_t *actions,
	 const posix_spawnattr_t *attributes, char *const arguments[], char *const variables[]),
	(pid, name, actions, attributes, arguments, variables),
	result == 0 && pid ? process_object(*pid) : 0)
OS_WRAP(system, int, (const char *command), (command), 0)
OS_WRAP(popen, FILE *, (const char *command, const char *mode), (command, mode), 0)
OS_WRAP(pclose, int, (FILE * file), (file), 0)

/* ---- waiting for processes ------------------------------------------------------------------- */

OS_WRAP(wait, pid_t, (int *status), (status), process_object(result))
OS_WRAP(waitpid, pid_t, (pid_t pid, int *status, int options), (pid, status, options),
	process_object(result))
OS_WRAP(wait3, pid_t, (int *status, int options, struct rusage *usage), (status, options, usage),
	process_object(result))
OS_WRAP(wait4, pid_t, (pid_t pid, int *status, int options, struct rusage *usage),
	(pid, status, options, usage), process_object(result))
OS_WRAP(waitid, int, (idtype_t type, id_t id, siginfo_t *about, int options),
	(type, id, about, options), result == 0 && about ? process_object(about->si_pid) : 0)

/* ---- sleep ----------------------------------------------------------------------------------- */

OS_WRAP(sleep, unsigned, (unsigned seconds), (seconds), 0)
OS_WRAP(usleep, int, (useconds_t us), (us), 0)
OS_WRAP(nanosleep, int, (const struct timespec *time, struct timespec *left), (time, left), 0)
OS_WRAP(clock_nanosleep, int,
	(clockid_t clock, int flags, const struct timespec *time, struct timespec *left),
	(clock, flags, time, left), 0)

/* ---- signals --------------------------------------------------------------------------------- */

OS_WRAP(pause, int, (void), (), 0)
OS_WRAP(sigsuspend, int, (const sigset_t *mask), (mask), 0)
OS_WRAP(sigwait, int, (const sigset_t *set, int *number), (set, number), 0)
OS_WRAP(sigwaitinfo, int, (const sigset_t *set, siginfo_t *about), (set, about), 0)
OS_WRAP(sigtimedwait, int, (const sigset_t *set, siginfo_t *about, const struct timespec *timeout),
	(set, about, timeout), 0)
