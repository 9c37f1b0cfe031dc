/* SPDX-License-Identifier: Apache-2.0 */
/* job_clock.c - see job_clock.h: the map itself. job_clocks.c finds it. */
#include "job/job_clock.h"

#include <assert.h>
#include <stdint.h>

#include "base/lang.h"
#include "base/search.h"

const char *const job_clock_source_names[JOB_CLOCK_SOURCES] = {
	HWY_KEY("same clock"), HWY_KEY("pings"),   HWY_KEY("collective ends"),
	HWY_KEY("wall clock"), HWY_KEY("unknown"),
};

static int64_t divide_down(__int128 dividend, int64_t divisor)
{
	assert(divisor > 0);
	return (int64_t)(dividend / divisor - (dividend % divisor < 0));
}

/* Adds what repairs add to a time on the first rank's clock. Between two repairs 'later' falls
 * by less than the time that passes, so that no time becomes earlier than one before it. */
static int64_t repair_time(const struct job_clock *clock, int64_t time)
{
	const struct job_repair *repairs = clock->repairs;
	uint32_t next = HWY_FIRST(i, 0u, clock->n_repairs, repairs[i].time > time);
	if (next == 0)
		return time;
	const struct job_repair *a = &repairs[next - 1];
	if (next == clock->n_repairs)
		return time + a->later;
	const struct job_repair *b = &repairs[next];
	return time + a->later +
	       divide_down((__int128)(b->later - a->later) * (time - a->time), b->time - a->time);
}

int64_t job_clock_map(const struct job_clock *clock, int64_t time)
{
	const int64_t PARTS = INT64_C(1000000000000);
	int64_t gained = divide_down((__int128)(time - clock->at) * clock->drift, PARTS);
	return repair_time(clock, time + clock->shift + gained);
}
