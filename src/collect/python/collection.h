/* SPDX-License-Identifier: Apache-2.0 */
/* collection.h - runs of Python's garbage collector, as the interpreter reports them. */
#ifndef HWY_COLLECT_PYTHON_COLLECTION_H
#define HWY_COLLECT_PYTHON_COLLECTION_H

#include <stdbool.h>

/* Asks the interpreter to report its collections; called inside it (inside_call_soon). */
void collection_begin(void);
/* True once the interpreter reports its collections, or was found unable to. */
bool collection_has_begun(void);

/* inside.c: notes that the interpreter works in this process, which may be a forked child.
 * Called inside it. */
void inside_is_alive(void);

#endif
