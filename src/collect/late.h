/* SPDX-License-Identifier: Apache-2.0 */
/* late.h - what the collector does once the interpreter or a framework is loaded.
 *
 * A constructor is too early for that, and most of the collector's code may run in a signal
 * handler. The steps are called from moments that are in no signal handler: opendir (late.c),
 * which Python's imports call, and the thread that fetches CUDA's records. At such a moment the
 * collector may call functions of others that allocate or lock.
 */
#ifndef HWY_COLLECT_LATE_H
#define HWY_COLLECT_LATE_H

#include <stdbool.h>
#include <stdint.h>

/* Finds the functions that late.c replaces. */
void late_init(void);
/* Called when the process has joined the run: from now on there may be something to do. */
void late_join(void);
void late_after_fork(void);

/* Scans the modules and begins what can begin by now. Never called in a signal handler. Does
 * nothing more once everything has begun. */
void late_look(void);

/* The same, for a caller who may wait: where libtorch is to be observed and was loaded since the
 * last look, waits the moment (some 20 ms) after which its functions may be called, and looks
 * again. */
void late_look_patiently(void);

/* Whether functions of an object that was loaded while the program ran may be called. The loader
 * lists an object before it has relocated it and has made its thread-local variables known,
 * which takes a large library a part of a second; who calls the object on another thread
 * meanwhile crashes. */
struct late_object {
	uintptr_t address; /* of a function of the object */
	/* when the object was found in the loader's list, in ns; 0: it was there from the start */
	int64_t found;
	/* when the loader was first seen to be done with the object; 0: not yet */
	int64_t finished;
};
bool late_may_call(struct late_object *object);

/* A step begins what it can, and is called again until it yields true: it has begun, or never will.
 * Signals are not held back. */
bool inside_begin(void); /* python/inside.c; the other step is torch_begin (torch/torch.h) */

#endif
