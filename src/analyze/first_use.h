/* SPDX-License-Identifier: Apache-2.0 */
/* first_use.h - when a process prepared code instead of running it: loading, compiling, tuning,
 * capturing.
 *
 * What a program does for the first time is no property of its loop: a kernel's code is loaded
 * inside the first launch, Triton, Inductor and XLA compile, a graph is captured. Gaps in such
 * stretches get a cause of their own.
 */
#ifndef HWY_ANALYZE_FIRST_USE_H
#define HWY_ANALYZE_FIRST_USE_H

#include "analyze/intervals.h"
#include "trace/trace.h"

struct first_use {
	struct hwy_interval time;
	/* Id of the call, range, operator or function that shows the first use; UINT32_MAX where
	 * a child process does. */
	uint32_t span;
	uint32_t process; /* index into the trace's processes, or UINT32_MAX */
};

struct first_uses {
	struct first_use *uses; /* sorted by process, then start; uses of one process may overlap */
	uint32_t n, cap;
};

/* Reads API calls, ranges, operators, functions and processes of the trace. */
bool first_uses_find(struct first_uses *uses, struct hwy_trace *trace, struct hwy_err *err);
void first_uses_free(struct first_uses *uses);

/* How much of the window the process spent on first use, in ns. *longest becomes the use with
 * the longest part inside the window, or NULL. */
int64_t first_uses_in(const struct first_uses *uses, uint32_t process, struct hwy_interval window,
		      const struct first_use **longest);

/* Whether a range, operator or function of this name compiles, tunes or captures. */
bool first_use_is_named(const char *name);
/* Whether a program of this name compiles or links GPU code, or C code: "ptxas",
 * "/usr/bin/cc1plus". */
bool first_use_is_compiler(const char *program);

#endif
