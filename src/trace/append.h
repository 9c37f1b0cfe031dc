/* SPDX-License-Identifier: Apache-2.0 */
/* append.h - puts what a finished trace holds into a trace that is being built.
 *
 * The ranks of a job become one trace by appending them one after the other; a recording of
 * several ranks is taken apart by appending a part of its processes to a new builder:
 *
 *   struct hwy_builder *b = hwy_builder_new();
 *   for (uint32_t i = 0; i < n; i++)
 *           if (!hwy_append(b, traces[i], &(struct hwy_append){.rank = i}, err))
 *                   return false;
 *   struct hwy_trace *merged = hwy_builder_finish(b, false);
 *
 * Every record, text and reference is renumbered. Processes, threads, streams and lanes are
 * never shared by two appended traces. Hosts are shared where name and boot are the same,
 * devices where their uuid is (or their bus, on one host), launch shapes, symbols, frames and
 * stacks where they are equal. Of a property, and of a calibration of a device, the first one
 * counts. Counters of a device that an earlier trace recorded too are left out: two recorders
 * read one sensor. Cached results are left out, since they are of the trace alone.
 */
#ifndef HWY_TRACE_APPEND_H
#define HWY_TRACE_APPEND_H

#include "trace/builder.h"

/* A part of a trace: spans on some lanes that touch [from, to), and the calls that enqueued the
 * device work among them, on whatever lane. */
struct hwy_append_part {
	int64_t from, to;
	const uint8_t *lanes; /* by lane of the trace: whether its spans are taken; NULL: all are */
};

struct hwy_append {
	/* By process of the trace: whether the process, and all that is the process's, is taken;
	 * NULL: all processes are. With a list, only those devices are taken that one of the
	 * processes uses. */
	const bool *keep;
	/* Yields a time of the trace on the clock of the trace that is built; must never
	 * decrease as 'time' increases. NULL: times stay as they are. */
	int64_t (*map)(const void *clock, int64_t time);
	const void *clock;
	/* The rank of processes that name none themselves; HWY_NONE: they stay without. */
	int64_t rank;
	/* NULL: the whole trace. With a part, 'places' must be NULL. */
	const struct hwy_append_part *part;
	/* NULL, or what hwy_append leaves for hwy_appended: an array for the strips of the
	 * trace, to be freed. */
	struct hwy_ref **places;
};

/* Appends a trace; 'trace' loses columns from memory that its file still has. False where a
 * column cannot be read; the builder can then only be freed. */
bool hwy_append(struct hwy_builder *b, struct hwy_trace *trace, const struct hwy_append *how,
		struct hwy_err *err);
/* Counts the spans of a part. */
bool hwy_append_count(struct hwy_trace *trace, const struct hwy_append_part *part, uint64_t *n,
		      struct hwy_err *err);
/* Yields in *ref the place of a span of an appended trace, for edges between appended traces;
 * false where the span was left out. */
bool hwy_appended(const struct hwy_trace *trace, const struct hwy_ref *places, int64_t span,
		  struct hwy_ref *ref);

#endif
