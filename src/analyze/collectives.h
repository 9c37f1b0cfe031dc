/* collectives.h - the collectives of several ranks: which kernels are one collective, on a common clock.
 *
 * A collective begins on each rank when that rank comes, and ends on all ranks at about the same time: when the last
 * rank has come and the data has travelled. So the ends of one collective's kernels tell how far the clocks of the
 * ranks are apart; a rank that comes late has a short kernel.
 */
#ifndef HWY_ANALYZE_COLLECTIVES_H
#define HWY_ANALYZE_COLLECTIVES_H

#include "analyze/flow.h"

struct collectives_rank {
	const struct hwy_flow *flow;
	uint32_t
		process; /* the rank's process where a recording has several ranks, else FLOW_NO_PROCESS */
};

struct meeting_part {  /* a collective's kernel on one rank */
	uint32_t rank; /* index into the ranks given to collectives_match */
	uint32_t op;   /* of the rank's flow */
};

struct hwy_meeting { /* one collective */
	uint32_t first,
		n; /* its parts: hwy_collectives.parts[first … first + n - 1], of at least two ranks */
	int64_t last; /* when the last rank came, on the first rank's clock: no part ends before */
	int64_t transfer; /* ns of the shortest part: about the time that the data took */
};

struct hwy_collectives {
	struct hwy_meeting *meetings; /* in no order */
	uint32_t n;
	struct meeting_part *parts;
	uint32_t n_parts;
	uint32_t n_contradicted; /* kernels left out since they ended before the last rank came */
	int64_t *shift;          /* by rank: ns to add to its times for the first rank's time */
	int64_t *waits;          /* by rank: ns that its parts take beyond 'transfer', added up */
	uint32_t *n_meetings; /* by rank: in how many meetings it is; 0: its 'waits' says nothing */
};

bool collectives_match(struct hwy_collectives *c, const struct collectives_rank *ranks, uint32_t n,
		       struct hwy_err *err);
void collectives_free(struct hwy_collectives *c);

/* The rank that makes the others wait: the one that waits clearly least itself; n where ranks take turns at being late. */
uint32_t collectives_straggler(const struct hwy_collectives *c, uint32_t n);

#endif
