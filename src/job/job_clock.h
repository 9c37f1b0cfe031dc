/* SPDX-License-Identifier: Apache-2.0 */
/* job_clock.h - from the clock of one rank to the clock of the job's first rank, and how sure
 * that is.
 *
 * A time t of the rank is t + shift + (t - at) * drift / 10^12 on the first rank's clock, plus
 * what repairs add. The arithmetic is exact: whole numbers, rounded down. A later time never
 * becomes an earlier one.
 */
#ifndef HWY_JOB_JOB_CLOCK_H
#define HWY_JOB_JOB_CLOCK_H

#include "base/err.h"
#include "trace/model.h"

enum job_clock_source {
	JOB_CLOCK_SAME,        /* both ranks read one CLOCK_MONOTONIC: exact */
	JOB_CLOCK_PINGS,       /* clocks read over a connection, in both directions */
	JOB_CLOCK_COLLECTIVES, /* ranks leave a collective together */
	JOB_CLOCK_WALL,        /* the clocks that people read, as good as NTP keeps them */
	JOB_CLOCK_UNKNOWN, /* nothing tells: times of this rank cannot be compared with others */
	JOB_CLOCK_SOURCES
};
/* "same clock", "pings", "collective ends", "wall clock", "unknown" */
extern const char *const job_clock_source_names[JOB_CLOCK_SOURCES];

/* From 'time' on, 'later' ns are added; interpolated between two repairs. 'time' is already on
 * the first rank's clock. */
struct job_repair {
	int64_t time, later;
};

struct job_clock {
	enum job_clock_source source;
	int64_t at, shift; /* ns */
	int64_t drift;     /* how many ns the first rank's clock gains in 10^12 ns of this one's */
	/* The ns by which a time may be wrong at any moment of the rank's recording; HWY_NONE:
	 * cannot be told. */
	int64_t error;
	uint32_t n; /* the number of pings or collectives that tell */
	/* Repairs so that no message is received before it was sent, by time; mostly none. */
	struct job_repair *repairs;
	uint32_t n_repairs;
};

int64_t job_clock_map(const struct job_clock *clock, int64_t time);

struct hwy_job;
/* Finds the clocks of all ranks. Where clocks cannot be told, or were repaired, the job's
 * problems say so. */
bool job_clocks_find(struct hwy_job *job, struct hwy_err *err);

#endif
