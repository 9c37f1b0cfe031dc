/* SPDX-License-Identifier: Apache-2.0 */
/* collectives.h - the collectives of several ranks: which kernels or calls are one collective,
 * on a common clock.
 *
 * A collective begins on each rank when that rank comes, and ends on all ranks at about the same
 * time: when the last rank has come and the data has travelled. So the ends of one collective
 * tell how far the clocks of the ranks are apart; a rank that comes late has a short kernel or
 * call.
 *
 * Messages (trace/model.h) that have a number in their communicator are one collective where
 * library, communicator, operation and number are equal. Messages without a number, and kernels
 * without a message, are matched by their order and ends (collectives_ends.c). Operations with a
 * root on CPUs (MPI_Bcast, MPI_Reduce) do not end together: they say nothing about clocks, and
 * only those wait that must (enum exchange_kind).
 */
#ifndef HWY_ANALYZE_COLLECTIVES_H
#define HWY_ANALYZE_COLLECTIVES_H

#include "analyze/exchange.h"
#include "analyze/flow.h"

struct collectives_rank {
	/* NULL: kernels without a message are left out, and 'trace' is the rank's recording. */
	const struct hwy_flow *flow;
	/* The rank's process where a recording has several ranks, else FLOW_NO_PROCESS. */
	uint32_t process;
	struct hwy_trace *trace; /* used where there is no flow */
	/* How the rank's clock reads on the first rank's; NULL where the ends of collectives
	 * shall tell. It is given for all ranks or for none. */
	const struct exchange_clock *clock;
	/* A reference (base/ref.h) to the rank's number in the job; unset: as the trace says,
	 * else the index of the rank. */
	int64_t number;
};

/* The recording of a rank; whether a process of it belongs to the rank; and the rank's number in
 * the job, by a message. */
struct hwy_trace *collectives_trace(const struct collectives_rank *rank);
bool collectives_is_of(const struct collectives_rank *rank, int64_t process);
int64_t collectives_number(const struct collectives_rank *rank, uint32_t index,
			   const struct hwy_message *message);

struct meeting_part {  /* a collective's kernel or call on one rank */
	uint32_t rank; /* index into the ranks given to collectives_match */
	uint32_t op;   /* index into the ops of the rank's flow; FLOW_NONE: a call of the CPU */
	uint32_t
		message; /* index into the messages of the rank's trace; FLOW_NONE: there is none */
	/* From the rank's arrival to the end, on the rank's own clock, and the ns to add to get
	 * the first rank's clock. */
	struct hwy_interval at;
	int64_t shift;
};

struct hwy_meeting { /* one collective that at least two ranks took part in */
	/* The collective's parts are hwy_collectives.parts[first … first + n - 1], in order of
	 * ranks. */
	uint32_t first, n;
	/* When the last rank began the collective, in ns on the first rank's clock. No part that
	 * waits for all ends before that moment. */
	int64_t last;
	/* The ns that the shortest part took, which is about the time to move the data. */
	int64_t transfer;
	uint8_t kind; /* enum exchange_kind; kernels are taken to wait for all */
	bool is_barrier;
	uint32_t root;   /* the index of the root's part; FLOW_NONE where there is none */
	uint32_t latest; /* the index of the part that came last */
};

struct hwy_collectives {
	struct hwy_meeting *meetings; /* the collectives of all ranks, by the last arrival */
	uint32_t n;
	struct meeting_part *parts;
	uint32_t n_parts;
	uint32_t n_counted; /* meetings that count for 'waits' */
	/* parts left out since they ended before one came that they waited for */
	uint32_t n_contradicted;
	/* For each rank, the ns to add to a time on the rank's clock to get the time on the
	 * first rank's clock. */
	int64_t *shift;
	/* For each rank, the ns that its parts took longer than 'transfer', or that it waited
	 * for others in operations with a root: the sum over all collectives but those that are
	 * the first of one of their ranks. */
	int64_t *waits;
	/* For each rank, the number of collectives that it took part in. Where this is 0, the
	 * rank's 'waits' means nothing. */
	uint32_t *n_meetings;
};

bool collectives_match(struct hwy_collectives *c, const struct collectives_rank *ranks, uint32_t n,
		       struct hwy_err *err);
void collectives_free(struct hwy_collectives *c);

/* When a part could leave at the earliest: the last arrival among the parts that it waits for,
 * on the first rank's clock, and (*culprit, may be NULL) the index of the part that came then.
 * INT64_MIN where it waits for none but itself. */
int64_t collectives_awaited(const struct hwy_collectives *c, const struct hwy_meeting *meeting,
			    uint32_t part, uint32_t *culprit);
static inline struct hwy_interval collectives_at(const struct meeting_part *part)
{
	return (struct hwy_interval){part->at.from + part->shift, part->at.to + part->shift};
}

/* The rank that makes the others wait: the one that waits clearly least itself; n where ranks
 * take turns at being late. */
uint32_t collectives_straggler(const struct hwy_collectives *c, uint32_t n);

#endif
