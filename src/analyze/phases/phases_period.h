/* SPDX-License-Identifier: Apache-2.0 */
/* phases_period.h - the period of a stretch of calls: how many calls on the same work comes
 * again. */
#ifndef HWY_ANALYZE_PHASES_PHASES_PERIOD_H
#define HWY_ANALYZE_PHASES_PHASES_PERIOD_H

#include "analyze/phases/phases_internal.h"

enum {
	PERIOD_FEWEST_TURNS = 3, /* a stretch must hold this many periods */
	TOKEN_WAIT_BIT = 1,      /* the lowest bit of a token, set for waits */
	/* Of a long stretch only the last PERIOD_RECENT_CALLS calls are counted. */
	PERIOD_RECENT_CALLS = 65536,
	/* The counted calls of a long stretch are at least this many periods. */
	PERIOD_RECENT_TURNS = 64,
};

struct period {
	uint32_t lag; /* calls of one period; 0 where nothing repeats */
	/* The stretch that repeats: places [from, to), the last period included. */
	uint32_t from, to;
	uint32_t limit; /* the end of the places that were searched */
	/* How many calls equal the call one period later; the calls of the last period count as
	 * equal. */
	uint32_t explained;
	/* The period has few kinds of calls and no wait: such a period is no step. */
	bool is_constant;
	/* A constant sequence also explains the stretch, so each wait may be the end of a step. */
	bool is_mostly_constant;
};

/* Yields the period that explains most of the track's calls [from, to). */
struct period period_find(struct phases_track *track, uint32_t from, uint32_t to);
/* The place from which on to count what comes once a period: counting the last part of a long
 * stretch is enough. */
static inline uint32_t period_recent(const struct period *period)
{
	uint32_t enough = period->lag > PERIOD_RECENT_CALLS / PERIOD_RECENT_TURNS
				  ? PERIOD_RECENT_TURNS * period->lag
				  : PERIOD_RECENT_CALLS;
	return period->to - period->from > enough ? period->to - enough : period->from;
}
/* Whether the call at this place enqueued a kernel or a graph. */
bool period_is_kernel(const struct phases_track *track, uint32_t place);

#endif
