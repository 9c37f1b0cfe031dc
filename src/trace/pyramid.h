/* SPDX-License-Identifier: Apache-2.0 */
/* pyramid.h - a lane seen from far away: what starts in each bucket of 2^level ns.
 *
 * A report keeps, for lanes of many spans, the level at which a bucket holds about 32 spans and
 * every second level above it; all others are merged from those, so a screen costs what the screen
 * costs. Only buckets in which a span starts are there.
 */
#ifndef HWY_TRACE_PYRAMID_H
#define HWY_TRACE_PYRAMID_H

#include "trace/file_format.h"

enum { HWY_BUSY_OTHER = HWY_CLASSES, HWY_BUSY_CLASSES };

struct hwy_bucket {
	/* the bucket counts the spans that start in [index << level, (index + 1) << level) */
	int64_t index;
	uint32_t count;
	/* Id of the longest span that starts in the bucket; of equally long spans the first. */
	uint32_t longest;
	int64_t longest_dur;
	int64_t end; /* the latest end of the spans that start in the bucket */
	/* By class (anything but device work is "other"): time they cover that no span of the class
	 * before them on the lane covers, so that sums over buckets are unions. */
	int64_t busy[HWY_BUSY_CLASSES];
};
struct hwy_buckets {
	struct hwy_bucket *v; /* the buckets in order of time; the caller frees the array */
	uint32_t n, cap;
};

/* The buckets of a lane, at any level from 0 to 61, of which some span touches [from, to). Exact
 * for every trace; where no level at or below 'level' is stored, the spans themselves are read. */
bool hwy_pyramid_level(struct hwy_trace *trace, uint32_t lane, unsigned level, int64_t from,
		       int64_t to, struct hwy_buckets *out, struct hwy_err *err);
/* Yields the lowest level that is stored for a lane; -1 where none is: callers then draw the lane's
 * spans. */
int hwy_pyramid_leaf(const struct hwy_trace *trace, uint32_t lane);

/* The levels of a lane that a report stores. pyramid_build needs the lane's columns and yields NULL
 * for few spans. */
struct hwy_pyramid {
	struct file_level *levels;
	uint32_t n_levels, cap_levels;
};
struct hwy_pyramid *pyramid_build(struct hwy_trace *trace, uint32_t lane);
void pyramid_free(struct hwy_pyramid *pyramid);

#endif
