/* SPDX-License-Identifier: Apache-2.0 */
/* sentinel.h - tells whether a signal that headway got was sent to the program as well.
 *
 * kill() looks the same to its receiver whether it named one process or a whole process group. The
 * sentinel is a child of headway in the same process group (and session and control group) that
 * does nothing but block all signals. A signal that waits in the sentinel was sent to all of them,
 * so the program has it already; a signal that does not was sent to headway alone.
 */
#ifndef HWY_RUN_SENTINEL_H
#define HWY_RUN_SENTINEL_H

#include <stdbool.h>
#include <sys/types.h>

struct sentinel {
	pid_t pid; /* 0: there is no sentinel */
	int line;  /* a socket: questions go out, answers come in */
};

/* Starts the sentinel; all signals must be blocked. Without memory, processes or descriptors to
 * spare, pid stays 0. */
void sentinel_start(struct sentinel *sentinel);
/* Whether the sentinel got this signal since it was last asked. Must be asked for each signal that
 * headway takes, since an answer "yes" makes the sentinel forget. */
bool sentinel_has(struct sentinel *sentinel, int number);
/* Notes that the sentinel has ended, and was waited for. */
void sentinel_lose(struct sentinel *sentinel);
void sentinel_end(struct sentinel *sentinel);
/* Takes headway's name and command line from the calling process, a child that helps headway:
 * who looks for processes by name finds headway alone. 'name' has at most 15 characters. */
void sentinel_take_name(const char *name);

#endif
