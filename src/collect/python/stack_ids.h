/* SPDX-License-Identifier: Apache-2.0 */
/* stack_ids.h - where in the Python program the calling thread is, as a number. */
#ifndef HWY_COLLECT_PYTHON_STACK_IDS_H
#define HWY_COLLECT_PYTHON_STACK_IDS_H

#include <stdint.h>

/* Yields the id of the calling thread's Python stack (REC_PLACE), which is defined in the spool
 * on first use; 0: there is no Python, or the stack cannot be read. Takes about as long as ten
 * loads for each frame. Must not be called in a signal handler. */
uint32_t place_here(void);

/* The innermost frame and its instruction: while both stay the same, so does the place. frame 0:
 * there is no Python. */
struct place_mark {
	uintptr_t frame, instruction;
};
/* As place_here, and sets 'mark'; yields 0 where the place is still that of 'around', which may
 * be NULL. */
uint32_t place_here_unless(const struct place_mark *around, struct place_mark *mark);

/* The outermost nn.Module that the calling thread is calling, an object that its stack refers
 * to; 0: none. */
uintptr_t place_outermost_layer(void);

void place_after_fork(void);
void place_begin_again(void); /* see python_begin_again in process.h */

#endif
