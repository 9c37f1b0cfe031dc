/* SPDX-License-Identifier: Apache-2.0 */
/* inside.h - runs the collector's own C code inside the Python interpreter of the process, if
 * there is one.
 *
 * The interpreter's functions are found by their symbols (all of them exist in CPython 3.10 to
 * 3.14, with and without the GIL) and may be called only by code that inside_call_soon had
 * called, or that the interpreter calls itself. Objects of Python are void pointers here.
 * Nothing here may be called in a signal handler.
 */
#ifndef HWY_COLLECT_PYTHON_INSIDE_H
#define HWY_COLLECT_PYTHON_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/elf_symbols.h"

/* X(what it yields, name, parameters). Types are not objects here on purpose: the address of a
 * type that the program itself refers to may be that of a copy in the program. */
#define INSIDE_FUNCTIONS(X)                                                                        \
	X(int, Py_AddPendingCall, (int (*)(void *), void *))                                       \
	X(int, Py_IsInitialized, (void))                                                           \
	X(void *, PyInterpreterState_Get, (void))                                                  \
	X(void *, PyInterpreterState_Main, (void))                                                 \
	X(void, Py_IncRef, (void *))                                                               \
	X(void, Py_DecRef, (void *))                                                               \
	X(void *, Py_BuildValue, (const char *, ...))                                              \
	X(void, PyErr_Clear, (void))                                                               \
	X(void *, PyErr_Occurred, (void))                                                          \
	X(void, PyErr_Fetch, (void **, void **, void **))                                          \
	X(void, PyErr_Restore, (void *, void *, void *))                                           \
	X(void *, PyImport_GetModule, (void *))                                                    \
	X(void *, PyInit_gc, (void))                                                               \
	X(void *, PyModule_FromDefAndSpec2, (void *, void *, int))                                 \
	X(int, PyModule_ExecDef, (void *, void *))                                                 \
	X(void *, PyModule_GetDict, (void *))                                                      \
	X(void *, PySys_GetObject, (const char *))                                                 \
	X(void *, PyObject_GenericGetDict, (void *))                                               \
	X(void *, PyObject_GetAttrString, (void *, const char *))                                  \
	X(void *, PyDict_GetItemString, (void *, const char *))                                    \
	X(void *, PyDict_Copy, (void *))                                                           \
	X(int, PyDict_Next, (void *, int64_t *, void **, void **))                                 \
	X(void *, PyUnicode_FromString, (const char *))                                            \
	X(const char *, PyUnicode_AsUTF8AndSize, (void *, int64_t *))                              \
	X(unsigned long, PyType_GetFlags, (void *))                                                \
	X(long, PyLong_AsLong, (void *))                                                           \
	X(int, PyList_Append, (void *, void *))                                                    \
	X(void *, PyCFunction_NewEx, (void *, void *, void *))                                     \
	X(void *, PyCell_Get, (void *))

struct inside_api {
#define X(type, name, parameters) type(*name) parameters;
	INSIDE_FUNCTIONS(X)
#undef X
	uint32_t version;     /* PY_VERSION_HEX */
	uint16_t object_type; /* offset in an object of the pointer to its type */
	uint16_t type_name;   /* offset in a type of the pointer to its name (tp_name), in UTF-8 */
};

/* The interpreter's functions; NULL: there is no interpreter, it is not known, or it lacks a
 * function. */
const struct inside_api *inside_api(void);

/* Has run() called soon, on the interpreter's main thread, while that thread may use objects of
 * Python (it holds the GIL where there is one). run() may leave no exception behind; an
 * exception that is set when it is called is kept from it, and set again afterwards. A function
 * that already waits to be called is not noted twice. False: the function cannot be called now
 * (no interpreter, not initialised, being finalized, in a forked child whose interpreter is not
 * known to have survived, or too many functions wait), and the caller may ask again later.
 * Called from late steps (late.h), or by code that the interpreter calls. */
bool inside_call_soon(void (*run)(void));

/* Called by python.c: 'object' holds the interpreter that was found, or (NULL) the interpreter
 * is gone. */
struct python_layout;
void inside_look_at_object(const struct elf_object *object, const struct python_layout *layout);

#endif
