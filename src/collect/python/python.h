/* python.h - stacks of the Python interpreter in the process, if there is one. */
#ifndef HWY_COLLECT_PYTHON_PYTHON_H
#define HWY_COLLECT_PYTHON_PYTHON_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "spool/record.h"

/* Looks whether an object is the interpreter, which is used from then on; or whether it is still there.
 * 'name': a hash of the object's. From a callback of dl_iterate_phdr, for every object; python_looked comes last. */
void python_look(const struct dl_phdr_info *object, uint64_t name, bool is_new);
void python_looked(void);

/* Writes the calling thread's stack, for a call that began at 'start'; nothing if it has none. */
void python_stack(enum rec_why why, int64_t start, uint32_t correlation);

#endif
