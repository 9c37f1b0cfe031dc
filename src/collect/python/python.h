/* SPDX-License-Identifier: Apache-2.0 */
/* python.h - stacks of the Python interpreter in the process, if there is one. */
#ifndef HWY_COLLECT_PYTHON_PYTHON_H
#define HWY_COLLECT_PYTHON_PYTHON_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "collect/elf_symbols.h"
#include "spool/python_layout.h"
#include "spool/record.h"

/* Called for every loaded object: finds the interpreter, or sees that it is still loaded. 'name'
 * is a hash of the object's path; of an object that is not new only the base is needed. A call
 * of python_end_look ends each round; 'complete': all loaded objects were looked at. */
void python_look_at_object(const struct elf_object *object, uint64_t name, bool is_new);
void python_end_look(bool complete);

/* The addresses [0] to [1] of the interpreter's variable _PyRuntime, which holds the lock that
 * its threads share (the GIL); [1] is 0: there is no interpreter. */
extern _Atomic uint64_t python_runtime[2];

/* True if the interpreter was loaded late: the modules must be scanned before each stack. */
bool python_may_be_unloaded(void);

/* True while functions of the interpreter may be called: it is loaded, settled and not being
 * finalized. The modules must have been scanned just now. */
bool python_is_usable(void);

/* Records the calling thread's Python stack, for a call that began at 'start'; nothing if there is
 * none. A thread that works for Python's has the stack of that thread (served.h). */
void python_stack(enum rec_why why, int64_t start, uint32_t correlation);

/* Reads the frames of another thread by its state, and yields their number; 0: they cannot be
 * read, or changed while they were read. All is read through the kernel, which fails where a
 * load would fault. */
uint32_t python_read_others(uintptr_t state, struct rec_frame frames[REC_MAX_FRAMES]);

/* ---- for stack_ids.c: frames that are read by plain loads ------------------------------------ */

/* The calling thread's innermost frame, and how frames are laid out. */
struct python_view {
	const struct python_layout *layout;
	uintptr_t frame;
};
/* False where the thread's frames cannot be read, or not yet: there is no Python, or the layout
 * is not proven. Must not be called in a signal handler. */
bool python_view_own(struct python_view *view);

/* What calls an nn.Module of PyTorch: a frame of this code has the module as its first variable. */
enum python_caller {
	PYTHON_CALLS_OTHER,
	PYTHON_CALLS_LAYER,         /* Module._call_impl, which may be called by ... */
	PYTHON_CALLS_LAYER_WRAPPED, /* Module._wrapped_call_impl (PyTorch 2) */
};
/* The id of a frame's code object, which is defined in the spool if need be, and the frame's
 * offset in it; false: they cannot be read. */
bool python_define_frame(uintptr_t frame, struct rec_frame *into, enum python_caller *caller);
/* Copies the name of an object's class; false where it cannot be read. */
bool python_type_name(uintptr_t type, char *into, size_t size);

#endif
