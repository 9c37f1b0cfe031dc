/* SPDX-License-Identifier: Apache-2.0 */
/* nest.h - what a thread was doing around a moment: its ranges, operators, functions, calls into
 * the OS.
 *
 * Spans on one lane of a thread nest, so each span has at most one innermost span around it, its
 * parent. The parents of a strip are found when they are first needed, in linear time and 4
 * bytes for each span; questions may then come in any order and cost a binary search.
 */
#ifndef HWY_ANALYZE_NEST_H
#define HWY_ANALYZE_NEST_H

#include "trace/trace.h"

#define NEST_NONE UINT32_MAX

struct hwy_nest { /* the nesting of the spans of one strip */
	const struct hwy_strip *strip;
	/* For each row a reference (ref.h) to the innermost row around it; NULL until somebody
	 * asks for a parent. */
	uint32_t *parent;
};

struct hwy_nests {
	const struct hwy_trace *trace;
	struct hwy_nest *nests; /* in the order of threads, then of the trace's strips */
	uint32_t *first;        /* the nests of thread t are nests[first[t] … first[t + 1] - 1] */
};

/* Takes the strips of these kinds that are on lanes of threads; the caller has loaded their
 * START and DUR. */
void nests_open(struct hwy_nests *nests, const struct hwy_trace *trace, uint32_t kinds);
void nests_close(struct hwy_nests *nests);

/* The innermost row with start <= from and end >= to, or NEST_NONE. */
uint32_t nest_around(struct hwy_nest *nest, int64_t from, int64_t to);
/* The innermost row around a row, or NEST_NONE. */
uint32_t nest_parent(struct hwy_nest *nest, uint32_t row);
/* The first row that starts at or after a time; the number of rows where there is none. */
uint32_t nest_at(const struct hwy_nest *nest, int64_t time);

#endif
