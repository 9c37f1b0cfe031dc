/* place.h - where in the program a span comes from: its line, else its range and call.
 *
 * The line is the innermost frame that is the user's own: not a framework's, not Python's library, not a
 * vendor's. Where no frame is: the way by which Python entered the framework ("THPVariable_item"). Functions that
 * a tracer recorded around a call (Kineto's Python functions) are as good as a stack. Without either: the
 * ranges and operators around the span on its thread, and the call's name.
 */
#ifndef HWY_ANALYZE_PLACE_H
#define HWY_ANALYZE_PLACE_H

#include "trace/trace.h"

struct hwy_place {        /* no text is ever NULL */
	const char *file; /* "" where not known; as recorded, valid as long as the trace */
	int64_t line;     /* 0: not known. Of a traced function: where the function begins */
	const char *function;
	const char *
		module; /* the shared object, where that is all that is known beside the function */
	const char *range; /* names from the outside in, " > " between: ranges, then the operator */
	const char *api;   /* the call's name */
};

/* Opens what places need of the trace (stacks, ranges, ops); one a trace. */
struct hwy_places;
struct hwy_places *places_open(struct hwy_trace *trace, struct hwy_err *err);
void places_close(struct hwy_places *places);
/* Of an api, os, sample or device span (then of the call that enqueued it), or of a range or operator. Texts live
 * as long as 'places'. */
struct hwy_place place_of(struct hwy_places *places, uint32_t span);
/* Whether two places are the same to a reader: file and line, else range (its counters folded) and api. */
bool place_equal(const struct hwy_place *a, const struct hwy_place *b);

/* The place of a call in one line of a table: "train.py:12 step", "f(int) libx.so", "train.py(12): step item()",
 * else the innermost operator or range with its counters folded ("step_*"). "" when nothing is known. Valid
 * until the next question. */
struct hwy_text place_line(struct hwy_places *places, uint32_t span);

/* The frame of a stack (index plus one) that tells most, or NULL (place_frames.c). */
const struct hwy_frame *place_frame(const struct hwy_trace *trace, int64_t stack);
/* Whether a Python file belongs to a framework or to Python itself. */
bool place_is_library(const char *file);

#endif
