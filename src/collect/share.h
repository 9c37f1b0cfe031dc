/* SPDX-License-Identifier: Apache-2.0 */
/* share.h - what libheadway-collect.so offers to its siblings.
 *
 * Sources that replace functions of libraries (OS calls, OpenCL) are libraries of their own, called
 * siblings, each built from src/collect/NAME/ and preloaded only when its source is asked for. A
 * sibling has no spool: it finds the table below in the collect library, which is always preloaded
 * with it, and sibling.c implements collect.h's functions by means of the table. All the libraries
 * are built together; 'size' reveals a table of another build all the same.
 */
#ifndef HWY_COLLECT_SHARE_H
#define HWY_COLLECT_SHARE_H

#include <stdatomic.h>

#include "collect/collect.h"

struct collect_share {
	uint64_t size;
	/* The control page; NULL: nothing is recorded in this process. */
	struct rec_control *(*control)(void);
	bool (*is_on)(uint32_t traces);
	uint32_t (*tid)(void);
	void *(*reserve)(enum rec_type type, unsigned slots);
	void (*publish)(void *record);
	uint32_t (*string)(const char *text, size_t length);
	void (*note)(int severity, const char *text);
	void (*drop)(const char *reason, uint64_t count);
	void (*property)(const char *name, const char *value);
	void (*stack)(enum rec_why why, int64_t start, uint32_t correlation);
	/* True while this thread runs the collector's own code: calls that it makes are not
	 * recorded. */
	bool (*is_inside)(void);
	/* Says so of what the sibling calls next, or no longer; yields what was said before. */
	bool (*set_inside)(bool is_inside);
	/* is_sealed: points to true once the program has restricted its own system calls: a
	 * sibling is silent then. */
	const bool *is_sealed;
	/* joined_itself: points to process.joined_itself: what this recording does not want, a
	 * later one may. */
	const bool *joined_itself;
	/* python_runtime: the addresses [0] to [1] of the interpreter's global variable
	 * _PyRuntime; [1] is 0: there is no interpreter. Written by the collect library at any
	 * time, [0] before [1]. */
	const _Atomic uint64_t *python_runtime;
	/* generation: points to process.generation: texts, queues and the like that an older
	 * generation recorded must be recorded again. */
	const _Atomic uint32_t *generation;
	const char *from,
		/* The addresses [from, to) of the collect library: its locks and threads are not
		 * the program's. */
		*to;
};

/* The collect library exports this table; a sibling library finds the table by dlsym. */
const struct collect_share *headway_collect_share(void);

/* For siblings. False when there is no collect library in this process, or when it records
 * nothing. */
bool sibling_connect(void);
bool sibling_is_inside(void);
bool sibling_set_inside(bool is_inside);               /* collect_share.set_inside */
extern const bool *sibling_is_sealed;                  /* NULL until sibling_connect was called */
extern const bool *sibling_joined_itself;              /* collect_share.joined_itself, or NULL */
extern const _Atomic uint64_t *sibling_python_runtime; /* collect_share.python_runtime, or NULL */
extern const _Atomic uint32_t
	*sibling_generation; /* collect_share.generation; NULL until sibling_connect was called */
bool sibling_has(uint64_t address); /* true if the address is in the collect library */

#endif
