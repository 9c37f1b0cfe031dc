/* sandbox.c - a program that restricts its own system calls is left alone from then on.
 *
 * Stands in for prctl: a filter of seccomp may end the process at a call that the filter's author did not think
 * of, and ours are such. What needs no call is still recorded: events until the thread's chunk is full; then
 * they are counted as dropped. Filters set by syscall(SYS_seccomp) are noticed by what comes before them: who
 * is not root has to give up privileges first, and libseccomp always does.
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
	/* The note's place is made while that is still allowed. */
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
