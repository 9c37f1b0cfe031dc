/* phases_period.h - the period of a stretch of calls. */
#ifndef HWY_ANALYZE_PHASES_PHASES_PERIOD_H
#define HWY_ANALYZE_PHASES_PHASES_PERIOD_H

#include "analyze/phases/phases_internal.h"

enum {
	PERIOD_FEWEST = 3, /* periods that a stretch holds */
	TOKEN_WAIT = 1,    /* the lowest bit of a token */
	PERIOD_RECENT = 65536,
};

struct period {
	uint32_t lag;       /* calls of a period; 0: there is none */
	uint32_t from, to;  /* places; 'to' includes the last period */
	uint32_t limit;     /* the end of what was searched */
	uint32_t explained; /* calls that equal the one a period on, and the last period */
	bool is_constant;   /* few kinds of calls and no wait among them: no step */
	bool is_mostly_constant; /* a constant sequence explains the stretch as well; waits may delimit it */
};

/* The period of the calls [from, to) of the track that explains most of them. */
struct period period_find(struct phases_track *track, uint32_t from, uint32_t to);
/* Where to begin to look at a long stretch: what comes once a period does so in its last part as well. */
static inline uint32_t period_recent(const struct period *period)
{
	uint32_t enough = period->lag > PERIOD_RECENT / 64 ? 64 * period->lag : PERIOD_RECENT;
	return period->to - period->from > enough ? period->to - enough : period->from;
}
/* Whether the call enqueued a kernel or a graph. */
bool period_is_kernel(const struct phases_track *track, uint32_t place);

#endif
