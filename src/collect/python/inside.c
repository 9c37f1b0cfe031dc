/* SPDX-License-Identifier: Apache-2.0 */
/* inside.c - see inside.h.
 *
 * The interpreter is asked by Py_AddPendingCall, which any thread may call without the GIL. It
 * takes a lock of the interpreter, which exists from the interpreter's initialisation to its
 * finalization, and which a forked child must have made anew: a child that fork() made behind
 * Python's back has no such lock. So a child asks only after the interpreter has called us
 * there.
 *
 * Pending calls run between two instructions of the main thread, where no exception is set; a
 * program's C code may call Py_MakePendingCalls at any other moment, so that an exception that
 * is set is kept and set again. Python 3.10 and 3.11 may choose a sub-interpreter for the call:
 * what waits then goes on waiting for the main one.
 */
#include "collect/python/inside.h"

#include <stdatomic.h>
#include <stddef.h>

#include "collect/collect.h"
#include "collect/late.h"
#include "collect/process.h"
#include "collect/python/collection.h"
#include "collect/python/python.h"
#include "collect/sys.h"
#include "spool/python_layout.h"

enum { MOST_WAITING = 8 };

static struct inside_api functions;
static const struct inside_api *_Atomic api; /* &functions once they are complete; else NULL */
static void (*_Atomic waiting[MOST_WAITING])(void);
/* The interpreter has been asked for a call that it has not made yet. */
static _Atomic bool is_asked;
/* process.generation when the interpreter last called us; 0: never. */
static _Atomic uint32_t alive_in;

static const struct {
	const char *name;
	size_t at; /* offset in struct inside_api of the pointer to the function */
} symbols[] = {
#define X(type, name, parameters) {#name, offsetof(struct inside_api, name)},
	INSIDE_FUNCTIONS(X)
#undef X
};

const struct inside_api *inside_api(void)
{
	return atomic_load_explicit(&api, memory_order_acquire);
}

void inside_look_at_object(const struct elf_object *object, const struct python_layout *layout)
{
	atomic_store_explicit(&api, NULL, memory_order_relaxed);
	if (!object || !(collect_control->traces & (REC_TRACE_PYTORCH | REC_TRACE_PYTHON)))
		return;
	for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
		uint64_t found = elf_symbols_find(object, symbols[i].name);
		if (!found) {
			collect_note(2, "Python %u.%u lacks %s: nothing is recorded inside it",
				     layout->version >> 24, layout->version >> 16 & 0xff,
				     symbols[i].name);
			return;
		}
		*(void **)((char *)&functions + symbols[i].at) = (void *)(uintptr_t)found;
	}
	functions.version = layout->version;
	functions.object_type = layout->object_type;
	/* A type object begins like a sized object; the pointer to its name comes next. */
	functions.type_name = (uint16_t)(layout->object_size + 8);
	atomic_store_explicit(&api, &functions, memory_order_release);
}

/* ---- asking ---------------------------------------------------------------------------------- */

void inside_is_alive(void)
{
	atomic_store_explicit(&alive_in, process.generation, memory_order_relaxed);
}

/* What the interpreter calls. */
static int run_waiting(void *unused)
{
	(void)unused;
	const struct inside_api *python = inside_api();
	atomic_store(&is_asked, false);
	if (!python || python->PyInterpreterState_Get() != python->PyInterpreterState_Main())
		return 0;
	bool was_ours = collect_is_ours;
	collect_is_ours = true;
	process_after_fork();
	inside_is_alive();
	void *type, *value, *traceback;
	python->PyErr_Fetch(&type, &value, &traceback);
	for (int i = 0; i < MOST_WAITING; i++) {
		void (*run)(void) = atomic_exchange(&waiting[i], NULL);
		if (run)
			run();
		if (run && python->PyErr_Occurred())
			python->PyErr_Clear();
	}
	python->PyErr_Restore(type, value, traceback);
	collect_is_ours = was_ours;
	return 0;
}

static bool may_ask(const struct inside_api *python)
{
	if (!python || !python_is_usable())
		return false;
	if (!python->Py_IsInitialized()) {
		/* What an interpreter was asked for is lost when it is finalized, and another
		 * one may begin. */
		atomic_store(&is_asked, false);
		return false;
	}
	/* Generation 1 was not forked since the collector was loaded. */
	return process.generation == 1 ||
	       atomic_load_explicit(&alive_in, memory_order_relaxed) == process.generation;
}

/* Has the interpreter call run_waiting; false if it refuses. */
static bool ask(const struct inside_api *python)
{
	if (atomic_exchange(&is_asked, true))
		return true;
	/* A signal handler of the program's may make a pending call too, and would wait for the
	 * lock that this thread has. */
	uint64_t signals = sys_hold_signals();
	bool accepted = python->Py_AddPendingCall(run_waiting, NULL) == 0;
	sys_restore_signals(signals);
	if (!accepted)
		atomic_store(&is_asked, false);
	return accepted;
}

static bool inside_enqueue(void (*run)(void))
{
	for (int i = 0; i < MOST_WAITING; i++)
		if (atomic_load(&waiting[i]) == run)
			return true;
	for (int i = 0; i < MOST_WAITING; i++) {
		void (*none)(void) = NULL;
		if (atomic_compare_exchange_strong(&waiting[i], &none, run))
			return true;
	}
	return false;
}

bool inside_call_soon(void (*run)(void))
{
	const struct inside_api *python = inside_api();
	/* What was noted is called with the next call, also where the interpreter refuses now. */
	return may_ask(python) && inside_enqueue(run) && ask(python);
}

/* ---- the late step --------------------------------------------------------------------------- */

bool inside_begin(void)
{
	if (!(collect_control->traces & REC_TRACE_PYTHON) || collection_has_begun())
		return true;
	inside_call_soon(collection_begin);
	return false;
}
