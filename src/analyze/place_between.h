/* SPDX-License-Identifier: Apache-2.0 */
/* place_between.h - where in the program the CPU is between two calls of one thread, for which
 * nothing was recorded there.
 *
 * The stacks of both calls begin in the same functions. In the innermost function that both
 * stand in, at two lines, lies what the CPU does between them: "between train.py:53 and :55, in
 * main".
 */
#ifndef HWY_ANALYZE_PLACE_BETWEEN_H
#define HWY_ANALYZE_PLACE_BETWEEN_H

#include "trace/trace.h"

struct place_between {
	const char *file, *function;
	int64_t from,
		to; /* the lines that the first call and the second are made from: from < to */
};

/* 'before' and 'after' are spans with stacks, in this order of time; places_open has loaded
 * their stacks. False where the stacks do not tell: no Python frames, other functions, a line
 * that comes again (a loop), or a function of a library. */
bool place_between(const struct hwy_trace *trace, uint32_t before, uint32_t after,
		   struct place_between *between);

#endif
