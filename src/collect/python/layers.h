/* SPDX-License-Identifier: Apache-2.0 */
/* layers.h - the nn.Modules of PyTorch that were called, and their paths. */
#ifndef HWY_COLLECT_PYTHON_LAYERS_H
#define HWY_COLLECT_PYTHON_LAYERS_H

#include <stdbool.h>
#include <stdint.h>

/* Yields the id of a module object (REC_LAYER), which is defined in the spool on first use; 0:
 * there are too many. The caller holds the lock of stack_ids.c. Modules of a stack are asked for
 * from the outermost to the innermost: *is_in_new, false at first, becomes true at a module that
 * is new; a path that a module inside of it has may be wrong, and the id is then that of its
 * class. */
uint32_t layers_id(uintptr_t object, uintptr_t type, bool *is_in_new);

/* Counts how often the id of a module changed: an id that was yielded in another epoch may be
 * another module's. */
extern _Atomic uint32_t layers_epoch;

/* Has the paths of modules found that are not known yet, soon. Must not be called with a lock
 * held. */
void layers_ask_paths(void);

void layers_after_fork(void);
void layers_begin_again(void); /* see python_begin_again in process.h */

#endif
