/* SPDX-License-Identifier: Apache-2.0 */
/* layers.h - the nn.Modules of PyTorch that were called, and their paths. */
#ifndef HWY_COLLECT_PYTHON_LAYERS_H
#define HWY_COLLECT_PYTHON_LAYERS_H

#include <stdint.h>

/* Yields the id of a module object (REC_LAYER), which is defined in the spool on first use; 0: there are too many. The
 * caller holds the lock of stack_ids.c, and a reference to the object. */
uint32_t layers_id(uintptr_t object, uintptr_t type);

/* Has the paths of modules found that are not known yet, soon. Must not be called with a lock held. */
void layers_ask_paths(void);

void layers_after_fork(void);

#endif
