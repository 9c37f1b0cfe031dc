/* nest.h - what a thread was doing around a moment: its ranges, operators, functions, calls into the OS.
 *
 * The lanes of a thread nest, so each span has at most one that encloses it most closely. These are found
 * once a strip, when it is first asked about, in linear time and 4 bytes a span; questions may then come in
 * any order and cost a binary search.
 */
#ifndef HWY_ANALYZE_NEST_H
#define HWY_ANALYZE_NEST_H

#include "trace/trace.h"

#define NEST_NONE UINT32_MAX

struct hwy_nest { /* one strip */
	const struct hwy_strip *strip;
	uint32_t *parent; /* row of the enclosing span plus one; NULL: not asked yet */
};

struct hwy_nests {
	const struct hwy_trace *trace;
	struct hwy_nest *nests; /* by thread, then in the trace's order */
	uint32_t *first;        /* by thread: its nests are first[t] … first[t + 1] - 1 */
};

/* The kinds that stand on lanes of threads. START and DUR of them must be there. */
void nests_open(struct hwy_nests *nests, const struct hwy_trace *trace, uint32_t kinds);
void nests_close(struct hwy_nests *nests);

/* The innermost row with start <= from and end >= to, or NEST_NONE. */
uint32_t nest_around(struct hwy_nest *nest, int64_t from, int64_t to);
/* The row that encloses it, or NEST_NONE. */
uint32_t nest_parent(struct hwy_nest *nest, uint32_t row);
/* The first row that starts at or after a time; the strip's rows when there is none. */
uint32_t nest_at(const struct hwy_nest *nest, int64_t time);

#endif
