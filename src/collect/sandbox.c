/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox.c - stops the collector's system calls in a program that restricts its own.
 *
 * A seccomp filter may end the process at a system call that the filter's author did not expect,
 * and the collector makes such calls. It also reads the clock, which a process may forbid
 * itself. Replaces prctl and syscall, by which both are done. From then on the collector makes
 * no system call in the process and its forked children: events that need none are recorded
 * until the thread's chunk is full, later ones are counted as dropped, and programs that the
 * process becomes or starts get nothing of the run.
 *
 * A program may also set a filter by a system call instruction of its own. To ask the kernel
 * would be a system call that the filter may forbid; so that is noticed in two cases only:
 * - The program gave up privileges by prctl before (PR_SET_NO_NEW_PRIVS), as all but root must: the collector is
 *   silent from there on, just in case. Programs are still handed the collector, by calls that the loader of the
 *   program will make as well.
 * - A program starts under more filters than headway itself runs under (process_begin): it then records nothing. To find
 *   that out it makes calls that the loader has just made.
 * What remains: a process of root, or one that gives up its privileges by an instruction of its
 * own too, that sets a filter which ends the process at a call of the collector's. A clock that
 * the kernel cannot give without a system call (no vDSO) is read by one also in a restricted
 * process, if the program makes NVTX ranges. In a vfork child a filter makes the thread hand on
 * nothing for good, the parent's later programs included: both share one memory.
 */
#include "collect/sandbox.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>

#include "collect/collect.h"
#include "collect/process.h"
#include "collect/spool.h"
#include "collect/sys.h"

/* The two are one for a process that shares no memory: see process_is_filtered. */
static _Thread_local bool thread_is_filtered;
static bool process_has_filter;

bool process_is_filtered(void)
{
	return process_has_filter || thread_is_filtered;
}

void process_seal_at_start(void)
{
	process.sealed = process_has_filter = true;
}

enum restriction { NONE, GIVES_UP_PRIVILEGES, FORBIDS_CLOCK, SETS_FILTER };

/* True for a call after which an instruction that reads the clock ends the process: the kernel's
 * strict mode forbids that instruction with all system calls but four. */
static bool is_about_clock(long number, const long words[5])
{
	if (number == SYS_seccomp)
		return words[0] == SECCOMP_SET_MODE_STRICT;
	return words[0] == PR_SET_TSC ||
	       (words[0] == PR_SET_SECCOMP && words[1] == SECCOMP_MODE_STRICT);
}

/* Makes a system call that restricts later ones, if the kernel accepts it. */
static long restrict_by(enum restriction restriction, long number, const long words[5])
{
	bool was_sealed = process.sealed, is_borrowed = !was_sealed && process_is_borrowed();
	bool *filtered = is_borrowed ? &thread_is_filtered : &process_has_filter;
	bool was_filtered = *filtered;
	/* The thread's spool, which takes the note below, is made while system calls are still
	 * allowed. */
	bool notes =
		!was_filtered && !is_borrowed && collect_control && (was_sealed || spool_own());
	bool was_timeless = process.timeless;
	if (!is_borrowed) {
		process.sealed = true;
		process.timeless |= is_about_clock(number, words);
	}
	/* A clock that may not be read may not be read by the programs that follow either. */
	if (restriction == SETS_FILTER || restriction == FORBIDS_CLOCK)
		*filtered = true;
	long result = sandbox_call(number, words[0], words[1], words[2], words[3], words[4], 0);
	/* A positive number is the descriptor of a listener, or the thread for which TSYNC
	 * failed. */
	if (result < 0) {
		if (!is_borrowed) {
			process.sealed = was_sealed;
			process.timeless = was_timeless;
		}
		*filtered = was_filtered;
	} else if (notes && restriction == GIVES_UP_PRIVILEGES) {
		collect_note(1,
			     "process %u gave up privileges (no_new_privs), as those do that "
			     "restrict their system calls: little more is recorded of this "
			     "program",
			     process.pid);
	} else if (notes && restriction == FORBIDS_CLOCK) {
		collect_note(2,
			     "process %u forbids itself to read the clock: nothing is recorded of "
			     "it from there on, not even its end",
			     process.pid);
	} else if (notes) {
		collect_note(2,
			     "process %u restricts its own system calls: little is recorded of "
			     "it from there on, not even its end",
			     process.pid);
	}
	return result;
}

static enum restriction restriction_of_prctl(long option, long value)
{
	if (option == PR_SET_TSC && value == PR_TSC_SIGSEGV)
		return FORBIDS_CLOCK;
	return option == PR_SET_SECCOMP        ? SETS_FILTER
	       : option == PR_SET_NO_NEW_PRIVS ? GIVES_UP_PRIVILEGES
					       : NONE;
}

__attribute__((visibility("default"))) int prctl(int option, ...)
{
	long words[5] = {option};
	va_list list;
	va_start(list, option);
	for (int i = 1; i < 5; i++)
		words[i] = va_arg(list, long);
	va_end(list);
	enum restriction restriction = restriction_of_prctl(option, words[1]);
	return restriction ? (int)restrict_by(restriction, SYS_prctl, words)
			   : (int)sandbox_call(SYS_prctl, words[0], words[1], words[2], words[3],
					       words[4], 0);
}

#if defined(__x86_64__)
/* The system calls of syscall() that concern the collector. */
__attribute__((visibility("hidden"), used)) long sandbox_look(long number, long a, long b, long c,
							      long d, long e, long f)
{
	const long words[5] = {a, b, c, d, e};
	if (number == SYS_execve)
		return exec_file(AT_FDCWD, (const char *)a, 0, (char *const *)b, (char *const *)c);
	if (number == SYS_execveat)
		return exec_file((int)a, (const char *)b, (int)e, (char *const *)c,
				 (char *const *)d);
	enum restriction restriction = NONE;
	if (number == SYS_prctl)
		restriction = restriction_of_prctl(a, b);
	else if (number == SYS_seccomp &&
		 (a == SECCOMP_SET_MODE_STRICT || a == SECCOMP_SET_MODE_FILTER))
		restriction = SETS_FILTER;
	return restriction ? restrict_by(restriction, number, words)
			   : sandbox_call(number, a, b, c, d, e, f);
}

/* syscall() as libc has it, without a frame of its own: 59 execve, 157 prctl, 317 seccomp and
 * 322 execveat go to sandbox_look, with all arguments where they are. */
__asm__(".pushsection .text\n"
	".globl syscall\n"
	".type syscall, @function\n"
	"syscall:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	cmpq $59, %rdi\n"
	"	je sandbox_look\n"
	"	cmpq $157, %rdi\n"
	"	je sandbox_look\n"
	"	cmpq $317, %rdi\n"
	"	je sandbox_look\n"
	"	cmpq $322, %rdi\n"
	"	je sandbox_look\n"
	"	jmp sandbox_call\n"
	"	.cfi_endproc\n"
	".size syscall, . - syscall\n"
	".globl sandbox_call\n"
	".hidden sandbox_call\n"
	".type sandbox_call, @function\n"
	"sandbox_call:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	movq %rdi, %rax\n"
	"	movq %rsi, %rdi\n"
	"	movq %rdx, %rsi\n"
	"	movq %rcx, %rdx\n"
	"	movq %r8, %r10\n"
	"	movq %r9, %r8\n"
	"	movq 8(%rsp), %r9\n"
	"	syscall\n"
	"	cmpq $-4095, %rax\n"
	"	jae 1f\n"
	"	ret\n"
	"1:	pushq %rax\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call __errno_location@PLT\n"
	"	popq %rcx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	negl %ecx\n"
	"	movl %ecx, (%rax)\n"
	"	movq $-1, %rax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size sandbox_call, . - sandbox_call\n"
	".popsection\n");
#else
long sandbox_call(long number, long a, long b, long c, long d, long e, long f)
{
	return syscall(number, a, b, c, d, e, f);
}
#endif
