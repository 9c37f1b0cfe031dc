/* SPDX-License-Identifier: Apache-2.0 */
/* served.h - stacks for threads of XLA, which make calls for the thread that runs Python.
 *
 * JAX copies data in threads of XLA's own: the call has no Python stack, and the thread that
 * asked for the copy (float(loss), device_put) makes no call. While the copy is enqueued that
 * thread waits, or has just asked; its stack is taken instead, where it is the only thread of
 * Python. With several it is not known which of them asked, and there is no stack.
 */
#ifndef HWY_COLLECT_PYTHON_SERVED_H
#define HWY_COLLECT_PYTHON_SERVED_H

#include <stdint.h>

#include "spool/record.h"

/* Called for every loaded object with its path: sees whether XLA is loaded. Without XLA nothing
 * below does anything. */
void served_look_at_path(const char *path);
/* Tells of a thread with Python frames, by its state in the interpreter, whose stack was taken. */
void served_note(enum rec_why why, uintptr_t state);
/* Reads the frames of the thread that was noted last, for a thread without Python frames that
 * launches, copies or waits, and yields their number; 0: there are none. The interpreter must be
 * usable. */
uint32_t served_stack(enum rec_why why, struct rec_frame frames[REC_MAX_FRAMES]);

#endif
