/* place.h - where in the program a span comes from: its line, else its range and call.
 *
 * The line is the innermost frame that is the user's own: not a framework's, not Python's library, not a
 * vendor's (stats/place.c's rule, which this file takes over). Without a stack: the innermost ranges or
 * operators around the span on its thread, and the call's name.
 */
#ifndef HWY_ANALYZE_PLACE_H
#define HWY_ANALYZE_PLACE_H

#include "trace/trace.h"

struct hwy_place {
	const char *file; /* "" where not known; as recorded, valid as long as the trace */
	int64_t line;     /* 0: not known */
	const char *function;
	const char *
		range; /* names from the outside in, " > " between; in the caller's arena or static */
	const char *api; /* the call's name */
};

/* Opens what places need of the trace (stacks, ranges, ops); one a trace. */
struct hwy_places;
struct hwy_places *places_open(struct hwy_trace *trace, struct hwy_err *err);
void places_close(struct hwy_places *places);
/* Of an api, os, sample or device span (then of the call that enqueued it). Texts live as long as 'places'. */
struct hwy_place place_of(struct hwy_places *places, uint32_t span);
/* Whether two places are the same to a reader: file and line, else range (its counters folded) and api. */
bool place_equal(const struct hwy_place *a, const struct hwy_place *b);

#endif
