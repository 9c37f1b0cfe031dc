/* SPDX-License-Identifier: Apache-2.0 */
/* xla_lines.h - the line of the program that calls a function which XLA compiled.
 *
 * Stacks are recorded of some calls only. All calls inside the executions of one function, and
 * inside its compilations, come from where the program calls that function, so one stack tells
 * the line for all. A function that is called at several lines has no line here. The same holds
 * for copies that XLA's own threads make: the recorder gives some of them the stack of the
 * thread that runs Python.
 */
#ifndef HWY_ANALYZE_XLA_LINES_H
#define HWY_ANALYZE_XLA_LINES_H

#include "analyze/nest.h"
#include "base/hash.h"
#include "base/strings.h"

/* Zeroed memory is a set that has not been filled yet. */
struct xla_lines {
	/* From the hash of a module's name, or of a call's name and its process, to a reference
	 * (ref.h) to a frame of the trace, or XLA_SEVERAL_LINES. */
	struct hwy_map frames;
	bool is_filled;
	bool is_asked, has_xla; /* has_xla says whether the trace has executions, once is_asked */
};

/* The frame of the user's code that calls the function in whose execution or compilation a
 * thread is from start to end; NULL where the thread is in none, or where the line is not known.
 * 'nests' are of ranges at least; the caller has loaded STACK of API calls. */
const struct hwy_frame *xla_line_around(struct xla_lines *lines, struct hwy_nests *nests,
					int64_t thread, int64_t start, int64_t end);
/* The same for a function by the name of its HLO module: "jit_step". */
const struct hwy_frame *xla_line_of(struct xla_lines *lines, struct hwy_nests *nests,
				    struct hwy_text module);
/* The frame of the user's code for a call without a stack outside of functions, in a trace with
 * executions: all calls of its name and its process that have a stack come from there. NULL
 * where they come from several lines, or where none has a stack. */
const struct hwy_frame *xla_line_of_call(struct xla_lines *lines, struct hwy_nests *nests,
					 const struct hwy_strip *strip, uint32_t row);
void xla_lines_free(struct xla_lines *lines);

#endif
