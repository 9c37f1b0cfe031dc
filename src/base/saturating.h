/* SPDX-License-Identifier: Apache-2.0 */
/* saturating.h - sums of numbers that a damaged recording may hold: a sum that would overflow
 * stays at the largest or smallest number. */
#ifndef HWY_BASE_SATURATING_H
#define HWY_BASE_SATURATING_H

#include <stdint.h>

/* Adds 'value' to '*sum', and stops at the ends of int64_t: a damaged recording may claim any
 * durations. */
static inline void hwy_add_saturating(int64_t *sum, int64_t value)
{
	if (__builtin_add_overflow(*sum, value, sum))
		*sum = value < 0 ? INT64_MIN : INT64_MAX;
}

#endif
