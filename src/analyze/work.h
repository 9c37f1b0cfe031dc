/* work.h - the device work of a trace: which strips hold it, what counts, and who launched it.
 *
 * Work is every kernel, copy, fill and graph span, cut to a window. A graph span counts only when
 * its nodes are not recorded as well: they would be measured twice, and the pauses between them
 * would look busy.
 */
#ifndef HWY_ANALYZE_WORK_H
#define HWY_ANALYZE_WORK_H

#include "analyze/intervals.h"
#include "trace/trace.h"

/* What to look at; HWY_NONE in a field: no limit. */
struct hwy_scope {
	int64_t from, to; /* times */
	int64_t device;   /* the device's ordinal */
};
#define HWY_SCOPE_ALL ((struct hwy_scope){HWY_NONE, HWY_NONE, HWY_NONE})

struct hwy_work {
	struct hwy_trace *trace;
	struct hwy_scope scope;
	int64_t from, to;      /* the scope's window with HWY_NONE as the ends of time */
	struct hwy_map graphs; /* launches of graph spans -> 1 when their nodes are recorded */
	const struct hwy_strip *call; /* strip of the last call asked for; calls come in runs */
};

/* Loads START, DUR, NAME and LINK of all device work, and of the calls START, DUR and NAME. */
bool work_open(struct hwy_work *work, struct hwy_trace *trace, struct hwy_scope scope,
	       struct hwy_err *err);
void work_close(struct hwy_work *work);

/* Whether the strip holds device work inside the scope's devices. */
bool work_is_on(const struct hwy_work *work, const struct hwy_strip *strip);
/* False for a graph span whose nodes are recorded. */
bool work_is_own(const struct hwy_work *work, const struct hwy_strip *strip, uint32_t row);
/* Whether the span counts; if so, *at is its time inside the window. */
bool work_counts(const struct hwy_work *work, const struct hwy_strip *strip, uint32_t row,
		 int64_t start, int64_t end, struct hwy_interval *at);

/* The call that enqueued the work; false where there is none. */
struct hwy_call {
	const struct hwy_strip *strip;
	uint32_t row;
	uint32_t id; /* span id */
	struct hwy_interval at;
	enum hwy_role role;
};
bool work_call(struct hwy_work *work, const struct hwy_strip *strip, uint32_t row,
	       struct hwy_call *call);

#endif
