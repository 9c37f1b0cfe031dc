/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox.c - stops the collector's system calls in a program that restricts its own.
 *
 * Replaces prctl: a seccomp filter may end the process at a system call that the filter's author
 * did not expect, and the collector makes such calls. Events that need no system call are still
 * recorded until the thread's chunk is full; later events are counted as dropped. A filter set by
 * syscall(SYS_seccomp) is noticed by the prctl call before it: a process that is not root has to
 * give up privileges first, and libseccomp always does.
 */
#include <errno.h>
#include <stdarg.h>
#include <sys/prctl.h>

#include "collect/collect.h"
#include "collect/process.h"
#include "collect/spool.h"
#include "collect/sys.h"

static bool is_sandbox(int option)
{
	return option == PR_SET_SECCOMP || option == PR_SET_NO_NEW_PRIVS;
}

__attribute__((visibility("default"))) int prctl(int option, ...)
{
	unsigned long words[4];
	va_list list;
	va_start(list, option);
	for (int i = 0; i < 4; i++)
		words[i] = va_arg(list, unsigned long);
	va_end(list);
	/* The thread's spool, which takes the note below, is made while system calls are still
	 * allowed. */
	bool seals = is_sandbox(option) && collect_control && !process_is_mute() && spool_own();
	if (seals)
		process.sealed = true;
	int result = (int)syscall(SYS_prctl, option, words[0], words[1], words[2], words[3]);
	if (seals && result != 0)
		process.sealed = false;
	else if (seals)
		collect_note(2,
			     "process %u restricts its own system calls: little is recorded of "
			     "it from there on, not even its end",
			     process.pid);
	return result;
}
