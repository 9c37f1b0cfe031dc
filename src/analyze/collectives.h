/* collectives.h - the collectives of several ranks: which of them are one, on a common clock.
 *
 * A collective begins on each rank when the rank comes, and ends everywhere at about the same time: when the last
 * one has come and the data has travelled. So the ends of those that are one set the clocks of the ranks, however
 * they were kept; a rank that comes late has a short one.
 */
#ifndef HWY_ANALYZE_COLLECTIVES_H
#define HWY_ANALYZE_COLLECTIVES_H

#include "analyze/flow.h"

struct collectives_rank {
	const struct hwy_flow *flow;
	uint32_t
		process; /* whose work it is, where a recording has several ranks; or FLOW_NO_PROCESS */
};

struct meeting_part {
	uint32_t rank, op; /* number in the list that was given; op of its flow */
};

struct hwy_meeting {
	uint32_t first, n; /* its parts, of different ranks; at least two */
	int64_t last;      /* the last arrival, on the first rank's clock: no part ends before it */
	int64_t transfer;  /* the shortest part */
};

struct hwy_collectives {
	struct hwy_meeting *meetings; /* in no order */
	uint32_t n;
	struct meeting_part *parts;
	uint32_t n_parts;
	uint32_t n_contradicted; /* parts that ended before the last of the others came: left out */
	int64_t *shift;          /* by rank: a time plus this is the first rank's time */
	int64_t *waits;          /* by rank: its parts beyond the shortest, added up */
	uint32_t *n_of;          /* by rank: its parts; 0: it meets nobody, its wait says nothing */
};

bool collectives_match(struct hwy_collectives *c, const struct collectives_rank *ranks, uint32_t n,
		       struct hwy_err *err);
void collectives_free(struct hwy_collectives *c);

/* The rank that clearly makes the others wait: it waits least itself; n when they take turns at being late. */
uint32_t collectives_straggler(const struct hwy_collectives *c, uint32_t n);

#endif
