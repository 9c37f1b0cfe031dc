/* SPDX-License-Identifier: Apache-2.0 */
/* place.h - where in the program a span comes from: a line of a file, else the ranges around it
 * and a call's name.
 *
 * The line is that of the innermost frame of the user's own code: not of a framework, of
 * Python's library or of a vendor. Where the stack has no such frame, the place is the function
 * through which Python entered the framework ("THPVariable_item"). Functions that a tracer
 * recorded around a call (Kineto's Python functions) serve as well as a stack. What happens
 * inside a function that XLA compiled has the line that calls the function (xla_lines.h).
 * Without these, the place is the ranges and operators around the span on its thread, and the
 * call's name.
 */
#ifndef HWY_ANALYZE_PLACE_H
#define HWY_ANALYZE_PLACE_H

#include "trace/trace.h"

struct hwy_place {        /* where in the program a span comes from; no text is ever NULL */
	const char *file; /* the source file as recorded; "" where the recording does not tell */
	/* The line number; 0 where the recording does not tell. For a traced function, the line
	 * where the function begins. */
	int64_t line;
	const char *function;
	const char *module; /* the shared object of the function, for frames without a file */
	/* The names of the ranges, scopes and of the outermost operator around the call,
	 * outermost first: "epoch > step". */
	const char *range;
	const char *api; /* the call's name */
};

/* Loads the columns that places are found from. Open one hwy_places per trace, because it caches
 * its results. */
struct hwy_places;
struct hwy_places *places_open(struct hwy_trace *trace, struct hwy_err *err);
void places_close(struct hwy_places *places);
/* The place of a call, a sample, a state, a range, an operator or a function; the place of
 * device work is that of the call that enqueued it, or for work of a CUDA graph the place that
 * captured it, where that is known (graph_nodes.h). Texts live as long as 'places'. */
struct hwy_place place_of(struct hwy_places *places, uint32_t span);
/* Whether two places are one to a reader: the same file and line, else ranges that differ only
 * in their numbers, and the same call. */
bool place_equal(const struct hwy_place *a, const struct hwy_place *b);

/* The place of a call in one line of a table: "train.py:12 step", "f(int) libx.so",
 * "train.py(12): step item()", else the innermost operator, or the innermost range with its
 * numbers replaced ("step_*"); "" where there is none of these. Valid until the next call of
 * place_line. */
struct hwy_text place_line(struct hwy_places *places, uint32_t span);

/* The frame that tells most about a stack, or NULL; 'stack' is a reference (ref.h) to the
 * innermost node. */
const struct hwy_frame *place_frame(const struct hwy_trace *trace, int64_t stack);
/* Takes the name of a function that Kineto traced, "train.py(23): step", apart: the length of
 * the file's name, the line where the function begins, the function; false for other texts. */
bool place_traced_function(const char *name, size_t *file, int64_t *line, const char **function);
/* Whether a Python file belongs to a framework or to Python itself. */
bool place_is_library(const char *file);

#endif
