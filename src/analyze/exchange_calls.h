/* SPDX-License-Identifier: Apache-2.0 */
/* exchange_calls.h - the calls in which threads exchange data with other ranks, or wait until it
 * is exchanged, and how much of an interval they take.
 *
 * A call is one of these because it has a message (struct hwy_message), not because of its name.
 * Calls of libraries are no part of the nests (nest.h) by which analyses tell what a thread did:
 * they do not say where in the program the thread was.
 */
#ifndef HWY_ANALYZE_EXCHANGE_CALLS_H
#define HWY_ANALYZE_EXCHANGE_CALLS_H

#include "analyze/intervals.h"
#include "trace/trace.h"

struct exchange_calls {
	struct exchange_call {
		uint32_t thread, span; /* an index into the trace's threads, the id of a span */
		struct hwy_interval at;
	} * items; /* by thread and time; those of one thread are disjoint */
	uint32_t n;
};

/* Lists the spans of the trace's messages that are of these kinds (a bit each). Their starts and
 * durations must be loaded. */
void exchange_calls_list(struct exchange_calls *list, const struct hwy_trace *trace,
			 uint32_t kinds);
void exchange_calls_free(struct exchange_calls *list);

/* How much of an interval a thread spends in such calls, in ns. *longest becomes a reference
 * (base/ref.h) to the call that has most of it; it is left alone where there is none. */
int64_t exchange_calls_in(const struct exchange_calls *list, uint32_t thread,
			  struct hwy_interval at, uint32_t *longest);

#endif
