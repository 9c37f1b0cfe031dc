/* SPDX-License-Identifier: Apache-2.0 */
/* collection.c - records the runs of Python's garbage collector.
 *
 * One function of C is appended to the list gc.callbacks of the main interpreter: the collector
 * calls what is in the list when it begins ("start") and when it has ended ("stop"), on the
 * thread that it runs on, and never runs twice at a time. The list is taken from a module object
 * of our own, which the import system never sees: neither sys.modules nor a hook of the
 * program's changes by that.
 *
 * A program may call the function itself, with any arguments, and may remove it from the list,
 * which ends the recording of collections. The function raises nothing.
 */
#include "collect/python/collection.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "collect/collect.h"
#include "collect/process.h"
#include "collect/python/inside.h"
#include "collect/python/python.h"
#include "collect/sys.h"
#include "spool/record_frameworks.h"

enum {
	API_VERSION = 1013, /* PYTHON_API_VERSION of all versions of Python 3 */
	METH_FASTCALL = 0x80,
};

/* The Python stack is taken for collections that last this long, in ns: others are too short to
 * matter. */
static const int64_t STACK_NS = 500 * 1000;

static _Atomic bool has_begun;
/* When the collection began that runs now, in ns, and its thread; 0: none runs. Only one runs at
 * a time. */
static _Atomic int64_t began;
static _Atomic uint32_t began_on;

bool collection_has_begun(void)
{
	return atomic_load_explicit(&has_begun, memory_order_relaxed);
}

/* ---- being called ---------------------------------------------------------------------------- */

/* A number of the dict that the collector passes; 0 where there is none. */
static uint32_t number_in(const struct inside_api *python, void *info, const char *name)
{
	void *number = python->PyDict_GetItemString(info, name);
	long value = number ? python->PyLong_AsLong(number) : 0;
	if (value == -1 && python->PyErr_Occurred())
		python->PyErr_Clear();
	return value < 0 ? 0 : value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static void collection_put(const struct inside_api *python, void *info, int64_t start, int64_t end)
{
	uint32_t generation = number_in(python, info, "generation");
	uint32_t collected = number_in(python, info, "collected");
	uint32_t uncollectable = number_in(python, info, "uncollectable");
	if (end - start >= STACK_NS) {
		uint64_t signals = sys_hold_signals();
		python_stack(REC_WHY_COLLECTION, start, 0);
		sys_restore_signals(signals);
	}
	struct rec_collection *record = collect_reserve(REC_COLLECTION, 1);
	if (!record)
		return;
	record->head.value = generation;
	record->start = start;
	record->duration = end - start;
	record->collected = collected;
	record->uncollectable = uncollectable;
	collect_publish(record);
}

static void collection_report(const struct inside_api *python, const char *phase, int64_t length,
			      void *info)
{
	if (length == 5 && memcmp(phase, "start", 5) == 0) {
		atomic_store_explicit(&began_on, collect_tid(), memory_order_relaxed);
		atomic_store_explicit(&began, collect_now(), memory_order_relaxed);
	} else if (length == 4 && memcmp(phase, "stop", 4) == 0) {
		int64_t start = atomic_exchange_explicit(&began, 0, memory_order_relaxed);
		if (start && atomic_load_explicit(&began_on, memory_order_relaxed) == collect_tid())
			collection_put(python, info, start, collect_now());
	}
}

/* What the collector calls, as a function of the kind METH_FASTCALL: two arguments, the phase
 * and a dict. */
static void *collection_callback(void *self, void *const *arguments, int64_t count)
{
	(void)self;
	const struct inside_api *python = inside_api();
	if (!python)
		return NULL; /* cannot be: an interpreter that is gone calls nobody */
	if (count == 2 && collect_is_on(REC_TRACE_PYTHON) && !process_is_mute()) {
		bool was_ours = collect_is_ours;
		collect_is_ours = true;
		inside_is_alive();
		int64_t length = 0;
		const char *phase = python->PyUnicode_AsUTF8AndSize(arguments[0], &length);
		if (phase)
			collection_report(python, phase, length, arguments[1]);
		else
			python->PyErr_Clear();
		collect_is_ours = was_ours;
	}
	return python->Py_BuildValue(""); /* None */
}

/* ---- the beginning --------------------------------------------------------------------------- */

/* struct PyMethodDef of Python. */
static struct method {
	const char *name;
	void *(*function)(void *, void *const *, int64_t);
	int flags;
	const char *doc;
} method = {"headway", collection_callback, METH_FASTCALL,
	    "headway profile records garbage collections"};

/* Whether the type of an object has this name. */
static bool is_of_type(const struct inside_api *python, const void *object, const char *name)
{
	const char *type, *type_name;
	memcpy(&type, (const char *)object + python->object_type, sizeof type);
	memcpy(&type_name, type + python->type_name, sizeof type_name);
	return strcmp(type_name, name) == 0;
}

/* Yields a module object "gc" that nobody else has; NULL, perhaps with an exception. */
static void *make_module(const struct inside_api *python)
{
	/* The definition of the module, which is not counted. */
	void *definition = python->PyInit_gc();
	if (!definition || !is_of_type(python, definition, "moduledef"))
		return NULL;
	/* A module is made by means of a spec; only the spec's name is looked at. */
	void *spec = python->PySys_GetObject("__spec__");
	void *module =
		spec ? python->PyModule_FromDefAndSpec2(definition, spec, API_VERSION) : NULL;
	if (module && python->PyModule_ExecDef(module, definition) != 0) {
		python->Py_DecRef(module);
		return NULL;
	}
	return module;
}

void collection_begin(void)
{
	const struct inside_api *python = inside_api();
	if (!python || collection_has_begun())
		return;
	void *module = make_module(python);
	void *dict = module ? python->PyModule_GetDict(module) : NULL;
	void *list = dict ? python->PyDict_GetItemString(dict, "callbacks") : NULL;
	void *function = list ? python->PyCFunction_NewEx(&method, NULL, NULL) : NULL;
	bool done = function && python->PyList_Append(list, function) == 0;
	if (!done)
		collect_note(2, "garbage collections of Python are not recorded: "
				"the interpreter did not take our function");
	if (function)
		python->Py_DecRef(function);
	if (module)
		python->Py_DecRef(module);
	atomic_store_explicit(&has_begun, true, memory_order_relaxed);
}
