/* SPDX-License-Identifier: Apache-2.0 */
/* search.h - binary search: the first index at which a condition begins to hold.
 *
 *   uint32_t first_later = HWY_FIRST(i, 0, n, times[i] > time);
 *
 * The condition must be monotone over [begin, end): once it holds at an index, it holds at every
 * later one. The last index at which something holds is HWY_FIRST(i, begin, end, !something) - 1,
 * where that is not before 'begin'.
 */
#ifndef HWY_BASE_SEARCH_H
#define HWY_BASE_SEARCH_H

/* Yields the first 'index' in [begin, end) for which 'condition' holds, else 'end'; 'begin' where
 * the range is empty. 'index' is a new name that only the condition sees. The result has the type
 * of begin + end: uint32_t, size_t, int64_t … (end - begin must fit it). 'begin' and 'end' are
 * evaluated once, the condition at most once for each bit of end - begin. */
#define HWY_FIRST(index, begin, end, condition)                                                    \
	({                                                                                         \
		__typeof__((begin) + (end)) hwy_low_##index = (begin), hwy_high_##index = (end);   \
		while (hwy_low_##index < hwy_high_##index) {                                       \
			const __typeof__((begin) + (end)) index =                                  \
				hwy_low_##index + (hwy_high_##index - hwy_low_##index) / 2;        \
			if (condition)                                                             \
				hwy_high_##index = index;                                          \
			else                                                                       \
				hwy_low_##index = index + 1;                                       \
		}                                                                                  \
		hwy_low_##index;                                                                   \
	})

#endif
