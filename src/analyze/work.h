/* SPDX-License-Identifier: Apache-2.0 */
/* work.h - the device work of a trace: which strips hold it, what counts, and which call
 * launched it.
 *
 * Work is every kernel, copy, fill and graph span, cut to a window. A graph span counts only
 * where the graph's nodes were not recorded: with them the same work would be measured twice,
 * and pauses between nodes would look busy.
 */
#ifndef HWY_ANALYZE_WORK_H
#define HWY_ANALYZE_WORK_H

#include "analyze/intervals.h"
#include "base/index.h"
#include "trace/trace.h"

/* Which part of the trace is measured; HWY_NONE in a field means no limit. */
struct hwy_scope {
	int64_t from, to; /* the window in ns */
	int64_t device;   /* ordinal of the only device whose work counts */
};
#define HWY_SCOPE_ALL ((struct hwy_scope){HWY_NONE, HWY_NONE, HWY_NONE})

struct hwy_work {
	struct hwy_trace *trace;
	struct hwy_scope scope;
	/* The scope's window; INT64_MIN and INT64_MAX where the scope has no limit. */
	int64_t from, to;
	/* Launches of graph spans, by the id of the call, and by correlation id and process
	 * where the call was not recorded -> 1 where the graph's nodes were recorded, else 0. */
	struct hwy_map graphs_by_call;
	struct hwy_index graphs_by_corr;
	/* A cache: the strip of work_call's last result, which mostly holds the next result,
	 * too. */
	const struct hwy_strip *call;
};

/* Loads START, DUR, NAME and LINK of all device work, and START, DUR and NAME of the calls. */
bool work_open(struct hwy_work *work, struct hwy_trace *trace, struct hwy_scope scope,
	       struct hwy_err *err);
void work_close(struct hwy_work *work);

/* Whether the strip holds device work of a device of the scope. */
bool work_is_on(const struct hwy_work *work, const struct hwy_strip *strip);
/* Whether a device span counts as work: false only for a graph's span whose nodes were recorded. */
bool work_is_own(const struct hwy_work *work, const struct hwy_strip *strip, uint32_t row);
/* Whether the span [start, end) counts; if so, *at is its part inside the scope's window. */
bool work_counts(const struct hwy_work *work, const struct hwy_strip *strip, uint32_t row,
		 int64_t start, int64_t end, struct hwy_interval *at);

struct hwy_call { /* a call that enqueued work */
	const struct hwy_strip *strip;
	uint32_t row;
	uint32_t id; /* id of the call's span */
	struct hwy_interval at;
	enum hwy_role role;
};
/* Finds the call that enqueued the work; yields false where no call was recorded. */
bool work_call(struct hwy_work *work, const struct hwy_strip *strip, uint32_t row,
	       struct hwy_call *call);

#endif
