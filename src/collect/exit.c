/* exit.c - a process that ends itself past its exit handlers says so all the same.
 *
 * Stands in for _exit and _Exit: Python's multiprocessing and its data loaders end their workers that way. One
 * record and no more: what exit handlers would do must not happen here. Both are called in vfork children and
 * in signal handlers, where nothing is recorded that cannot be.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/collect.h"
#include "collect/process.h"

static _Noreturn void exit_leave(int status)
{
	if (collect_control && !process_is_mute())
		process_put_exit(REC_EXIT_BARE);
	for (;;)
		syscall(SYS_exit_group, status);
}

__attribute__((visibility("default"))) void _exit(int status)
{
	exit_leave(status);
}

__attribute__((visibility("default"))) void _Exit(int status)
{
	exit_leave(status);
}
