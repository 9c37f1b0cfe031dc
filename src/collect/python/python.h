/* SPDX-License-Identifier: Apache-2.0 */
/* python.h - stacks of the Python interpreter in the process, if there is one. */
#ifndef HWY_COLLECT_PYTHON_PYTHON_H
#define HWY_COLLECT_PYTHON_PYTHON_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "spool/record.h"

/* Called in a callback of dl_iterate_phdr for every loaded object: finds the interpreter, or sees
 * that it is still loaded. 'name' is a hash of the object's path. A call of python_end_look ends each
 * round. */
void python_look_at_object(const struct dl_phdr_info *object, uint64_t name, bool is_new);
void python_end_look(void);

/* Records the calling thread's Python stack, for a call that began at 'start'; nothing if there is
 * none. */
void python_stack(enum rec_why why, int64_t start, uint32_t correlation);

#endif
