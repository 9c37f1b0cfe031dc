/* SPDX-License-Identifier: Apache-2.0 */
/* compilations.h - how long a process compiled code: XLA's compilations by function, other
 * compilers' ranges, and the compilers that the process started (ptxas, nvlink, gcc …). Loading
 * code is not compiling. Times are in ns.
 */
#ifndef HWY_ANALYZE_COMPILATIONS_H
#define HWY_ANALYZE_COMPILATIONS_H

#include "analyze/flow.h"

struct compilations {
	/* the part of the window in which the process, or a compiler that it started, compiles */
	int64_t total;
	uint32_t n; /* how many compilations of XLA begin inside the window */
	/* the function whose compilation takes longest: "jit(step)"; "" where XLA compiles none */
	char longest[128];
	int64_t longest_ns;   /* how long that compilation takes inside the window */
	uint32_t n_processes; /* how many compilers were started inside the window */
	/* the part of the window in which at least one of these compilers runs */
	int64_t in_processes;
	char programs[64]; /* the compilers' names, the most frequent first: "ptxas, nvlink" */
};
/* What a process compiled inside a window. */
struct compilations compilations_in(const struct hwy_flow *flow, uint32_t process,
				    struct hwy_interval window);

struct recompiled {         /* the function that XLA compiles longest inside a window */
	char function[128]; /* "jit(step)"; "" where XLA compiles nothing there */
	uint32_t times;     /* how many compilations of this function begin inside the window */
	int64_t ns;         /* how long they take together */
	bool is_again;      /* the function had been compiled before the window */
	/* how long all compilations that begin inside the window take, of any function */
	int64_t all_ns;
};
struct recompiled recompiled_in(const struct hwy_flow *flow, uint32_t process,
				struct hwy_interval window);

#endif
