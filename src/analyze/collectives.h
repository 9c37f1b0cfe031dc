/* SPDX-License-Identifier: Apache-2.0 */
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
	/* The rank's process where a recording has several ranks, else FLOW_NO_PROCESS. */
	uint32_t process;
};

struct meeting_part {  /* a collective's kernel on one rank */
	uint32_t rank; /* index into the ranks given to collectives_match */
	uint32_t op;   /* index into the ops of the rank's flow */
};

struct hwy_meeting { /* one collective that at least two ranks took part in */
	/* The collective's kernels are hwy_collectives.parts[first … first + n - 1]. */
	uint32_t first, n;
	/* When the last rank began the collective, in ns on the first rank's clock. No part ends before that moment. */
	int64_t last;
	/* The ns that the shortest kernel took, which is about the time to move the data. */
	int64_t transfer;
};

struct hwy_collectives {
	struct hwy_meeting *meetings; /* the collectives of all ranks, by the last arrival */
	uint32_t n;
	struct meeting_part *parts;
	uint32_t n_parts;
	uint32_t n_counted;      /* meetings that count for 'waits' */
	uint32_t n_contradicted; /* kernels left out since they ended before the last rank came */
	/* For each rank, the ns to add to a time on the rank's clock to get the time on the first rank's clock. */
	int64_t *shift;
	/* For each rank, the ns that its kernels took longer than 'transfer': the sum over all collectives but those that are
	 * the first of one of their ranks. */
	int64_t *waits;
	/* For each rank, the number of collectives that it took part in. Where this is 0, the
	 * rank's 'waits' means nothing. */
	uint32_t *n_meetings;
};

bool collectives_match(struct hwy_collectives *c, const struct collectives_rank *ranks, uint32_t n,
		       struct hwy_err *err);
void collectives_free(struct hwy_collectives *c);

/* The rank that makes the others wait: the one that waits clearly least itself; n where ranks take turns at being late. */
uint32_t collectives_straggler(const struct hwy_collectives *c, uint32_t n);

#endif
