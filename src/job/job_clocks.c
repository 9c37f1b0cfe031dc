/* SPDX-License-Identifier: Apache-2.0 */
/* job_clocks.c - finds how the clock of each rank stands to that of the first rank; see job_clock.h.
 *
 * What is surest counts: one CLOCK_MONOTONIC, then the wall clocks.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "job/job.h"

/* Where time 0 of the report lies on the CLOCK_MONOTONIC that it was recorded with, and which clock that is. */
struct own_clock {
	const char *id;
	int64_t epoch;
};

static bool own_clock_of(const struct hwy_trace *trace, struct own_clock *own)
{
	const char *epoch = hwy_property(trace, "clock.epoch_ns");
	char *end;
	own->id = hwy_property(trace, "clock.id");
	if (!own->id || !epoch)
		return false;
	own->epoch = strtoll(epoch, &end, 10);
	return *epoch && !*end && own->epoch > -HWY_TIME_LIMIT && own->epoch < HWY_TIME_LIMIT;
}

static bool is_same_clock(const struct hwy_trace *first, const struct hwy_trace *trace,
			  struct job_clock *clock)
{
	struct own_clock a, b;
	if (!own_clock_of(first, &a) || !own_clock_of(trace, &b) || strcmp(a.id, b.id) != 0)
		return false;
	*clock = (struct job_clock){.source = JOB_CLOCK_SAME, .shift = b.epoch - a.epoch};
	return true;
}

static bool has_wall_clock(const struct hwy_trace *first, const struct hwy_trace *trace,
			   struct job_clock *clock)
{
	int64_t apart;
	if (first->wall == HWY_NONE || trace->wall == HWY_NONE ||
	    __builtin_sub_overflow(trace->wall, first->wall, &apart) || apart <= -HWY_TIME_LIMIT ||
	    apart >= HWY_TIME_LIMIT)
		return false;
	*clock = (struct job_clock){.source = JOB_CLOCK_WALL, .shift = apart, .error = HWY_NONE};
	return true;
}

bool job_clocks_find(struct hwy_job *job, struct hwy_err *err)
{
	(void)err;
	for (uint32_t r = 0; r < job->n; r++) {
		const struct hwy_trace *first = job->ranks[0].trace;
		struct job_recording *rank = &job->ranks[r];
		if (r == 0)
			rank->clock = (struct job_clock){.source = JOB_CLOCK_SAME};
		else if (!is_same_clock(first, rank->trace, &rank->clock) &&
			 !has_wall_clock(first, rank->trace, &rank->clock))
			rank->clock =
				(struct job_clock){.source = JOB_CLOCK_UNKNOWN, .error = HWY_NONE};
	}
	return true;
}
