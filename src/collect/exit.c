/* SPDX-License-Identifier: Apache-2.0 */
/* exit.c - records the end of a process that skips its exit handlers.
 *
 * Replaces _exit and _Exit, by which Python's multiprocessing and data loaders end their workers.
 * Writes one record and does nothing else: what exit handlers would do must not happen here. Both
 * functions may be called in vfork children and in signal handlers; process_is_mute says where no
 * record can be written.
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
