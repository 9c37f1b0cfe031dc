/* SPDX-License-Identifier: Apache-2.0 */
/* late.h - what the collector does once the interpreter or a framework is loaded.
 *
 * A constructor is too early for that, and most of the collector's code may run in a signal handler. The steps are
 * called from moments that are in no signal handler: opendir (late.c), which Python's imports call, and the thread
 * that fetches CUDA's records. At such a moment the collector may call functions of others that allocate or lock.
 */
#ifndef HWY_COLLECT_LATE_H
#define HWY_COLLECT_LATE_H

#include <stdbool.h>

/* Finds the functions that late.c replaces. */
void late_init(void);
/* Called when the process has joined the run: from now on there may be something to do. */
void late_join(void);
void late_after_fork(void);

/* Scans the modules and begins what can begin by now. Never called in a signal handler. Does nothing more
 * once everything has begun. */
void late_look(void);

/* A step begins what it can, and is called again until it yields true: it has begun, or never will.
 * Signals are not held back. */
bool inside_begin(void); /* python/inside.c; the other step is torch_begin (torch/torch.h) */

#endif
