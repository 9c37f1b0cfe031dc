/* SPDX-License-Identifier: Apache-2.0 */
/* finish.h - the last act of building a trace: sorts, numbers and links the spans in the order they
 * were added. */
#ifndef HWY_TRACE_FINISH_H
#define HWY_TRACE_FINISH_H

#include "trace/builder.h"

/* Sorts strips and spans, numbers spans, makes links, turns packed references of edges into span
 * ids, and moves time 0 to the earliest start if 'rebase'. */
void finish_trace(struct hwy_trace *trace, bool rebase);

/* The strip and the row of a span, which an edge holds in place of a span id until finish_trace
 * runs. */
static inline int64_t finish_pack_ref(struct hwy_ref ref)
{
	return (int64_t)((uint64_t)ref.strip << 32 | ref.row);
}

/* Used by finish_trace, in links.c: sets LINK of every span whose CORR names a call of its
 * process. */
void finish_links(struct hwy_trace *trace);

#endif
