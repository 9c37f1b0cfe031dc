/* SPDX-License-Identifier: Apache-2.0 */
/* python.h - stacks of the Python interpreter in the process, if there is one. */
#ifndef HWY_COLLECT_PYTHON_PYTHON_H
#define HWY_COLLECT_PYTHON_PYTHON_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/elf_symbols.h"
#include "spool/record.h"

/* Called for every loaded object: finds the interpreter, or sees that it is still loaded. 'name' is a
 * hash of the object's path; of an object that is not new only the base is needed. A call of
 * python_end_look ends each round; 'complete': all loaded objects were looked at. */
void python_look_at_object(const struct elf_object *object, uint64_t name, bool is_new);
void python_end_look(bool complete);

/* True if the interpreter was loaded late: the modules must be scanned before each stack. */
bool python_may_be_unloaded(void);

/* True while functions of the interpreter may be called: it is loaded, settled and not being finalized. The modules
 * must have been scanned just now. */
bool python_is_usable(void);

/* Records the calling thread's Python stack, for a call that began at 'start'; nothing if there is
 * none. */
void python_stack(enum rec_why why, int64_t start, uint32_t correlation);

#endif
