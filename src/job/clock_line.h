/* SPDX-License-Identifier: Apache-2.0 */
/* clock_line.h - from single moments at which two clocks were compared to the line between them.
 *
 * 'error' of the clock that comes out holds at every moment of 'extent', the time that the rank was recorded. Beyond the
 * first and the last moment of comparison it grows with what the drift may be.
 */
#ifndef HWY_JOB_CLOCK_LINE_H
#define HWY_JOB_CLOCK_LINE_H

#include "analyze/intervals.h"
#include "job/job_clock.h"

struct clock_point {
	int64_t time;   /* on the rank's clock */
	int64_t offset; /* what was added to 'time' to get the time on the other clock */
	int64_t error;  /* the most ns by which 'offset' can be wrong; of noisy points: not used */
};

/* The points were measured, each with a known error (pings): the surest point of each half counts. False: no points. */
bool clock_line_of_measured(struct job_clock *clock, const struct clock_point *points, uint32_t n,
			    struct hwy_interval extent);
/* Each point is wrong by an unknown amount (ends of collectives); the error is what the points differ from the line by.
 * False where there are too few points. */
bool clock_line_of_noisy(struct job_clock *clock, const struct clock_point *points, uint32_t n,
			 struct hwy_interval extent);

#endif
