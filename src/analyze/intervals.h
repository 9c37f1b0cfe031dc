/* SPDX-License-Identifier: Apache-2.0 */
/* intervals.h - arithmetic of time: lengths of unions, and of their parts in windows.
 *
 * An interval is half-open, [from, to). Intervals that touch are one. Everything here is exact and
 * takes time linear in its input; nothing here sorts: inputs come in order of their start.
 */
#ifndef HWY_ANALYZE_INTERVALS_H
#define HWY_ANALYZE_INTERVALS_H

#include <stdbool.h>
#include <stdint.h>

struct hwy_interval {
	int64_t from, to;
};

/* ---- covers: the union of intervals that come one by one ------------------------------------- */

/* Zeroed memory is an empty cover. */
struct hwy_cover {
	int64_t reach;   /* the largest end so far; meaningless while pieces is 0 */
	int64_t total;   /* the length of the union so far */
	uint64_t pieces; /* how many intervals the union consists of */
};

/* Adds [from, to); 'from' must not fall from call to call. True where that covers time that was
 * not covered before: *fresh is that time, and the fresh intervals of all calls are disjoint and
 * in order. An interval of length 0 covers nothing, but is a piece of its own where it stands
 * alone. */
static inline bool cover_add(struct hwy_cover *cover, int64_t from, int64_t to,
			     struct hwy_interval *fresh)
{
	if (cover->pieces == 0 || from > cover->reach) {
		cover->pieces++;
		cover->reach = from;
	}
	if (to <= cover->reach)
		return false;
	*fresh = (struct hwy_interval){from > cover->reach ? from : cover->reach, to};
	cover->total += to - fresh->from;
	cover->reach = to;
	return true;
}

/* ---- bins: lengths shared out over windows --------------------------------------------------- */

struct hwy_bins {
	const struct hwy_interval *windows; /* disjoint, in order */
	int64_t *sums;                      /* one for each window */
	uint32_t n;
	uint32_t at; /* index of the first window that ends after the last interval's begin */
};

/* Adds the length of [from, to) inside each window to the window's sum; 'from' must not fall
 * from call to call. */
void bins_add(struct hwy_bins *bins, int64_t from, int64_t to);

#endif
