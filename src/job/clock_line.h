/* SPDX-License-Identifier: Apache-2.0 */
/* clock_line.h - from single moments at which two clocks were compared to the line between them.
 *
 * 'error' of the clock that comes out holds at every moment of 'extent', the time that the rank
 * was recorded. Beyond the first and the last moment of comparison it grows with what the drift
 * may be.
 */
#ifndef HWY_JOB_CLOCK_LINE_H
#define HWY_JOB_CLOCK_LINE_H

#include "analyze/intervals.h"
#include "job/job_clock.h"

/* At 'time' of the rank's clock, what must be added to it lies between 'low' and 'high': a ping
 * and its answer, or an exchange, of which no part ends before another one must have begun. */
struct clock_bound {
	int64_t time, low, high;
};
#define CLOCK_OPEN_LOW INT64_MIN
#define CLOCK_OPEN_HIGH INT64_MAX

/* The line keeps within all bounds; what lines within the bounds differ by is the error. False
 * where a side is open, and where no line of a possible drift keeps within them. */
bool clock_line_of_bounds(struct job_clock *clock, const struct clock_bound *bounds, uint32_t n,
			  struct hwy_interval extent);

struct clock_point {
	int64_t time; /* on the rank's clock */
	/* what was added to 'time' to get the time on the other clock, wrong by an unknown
	 * amount */
	int64_t offset;
};

/* The line through the middle of points (ends of collectives); what they differ from it by is
 * the error. False where there are too few points. */
bool clock_line_of_points(struct job_clock *clock, const struct clock_point *points, uint32_t n,
			  struct hwy_interval extent);
/* Whether the line keeps within all bounds. */
bool clock_line_is_within(const struct job_clock *clock, const struct clock_bound *bounds,
			  uint32_t n);

#endif
