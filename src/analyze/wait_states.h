/* SPDX-License-Identifier: Apache-2.0 */
/* wait_states.h - the time that ranks lose in communication because another rank is late: how
 * much, where, and to whom.
 *
 *   late-sender         a receive, or the wait for one, began before the message was sent: lost until the send began
 *   late-receiver       a send, or the wait for one, that returned only after the receive was asked for: lost until then
 *   wait-at-barrier     lost from the rank's arrival until the last rank came
 *   wait-at-collective  the same in operations in which all wait for all; where there is a root (MPI_Bcast, MPI_Reduce),
 *                       until those came that the rank must wait for; in a scan the ranks before it
 *   progress-stalled    both sides have asked, but the data moves only when the other rank is in the library again: lost
 *                       from the time both had asked until the other rank's next call of the library
 *
 * The first four are Scalasca's (there a root that waits loses time only until the first of the
 * others comes). Times are ns, as exact as the clocks. A call has at most one state of the first
 * four, the one that ends last: waiting for several messages at once is not added up. A stall
 * comes after it. No state is longer than its call. The first collective of a rank's kernels
 * does not count: it shows when the recording began.
 */
#ifndef HWY_ANALYZE_WAIT_STATES_H
#define HWY_ANALYZE_WAIT_STATES_H

#include "analyze/p2p.h"

enum wait_state_kind {
	WAIT_LATE_SENDER,
	WAIT_LATE_RECEIVER,
	WAIT_AT_BARRIER,
	WAIT_AT_COLLECTIVE,
	WAIT_STALLED,
	WAIT_STATE_KINDS
};
extern const char *const wait_state_names[WAIT_STATE_KINDS]; /* "late-sender" … */

struct wait_state {
	uint8_t kind;           /* enum wait_state_kind */
	bool is_device;         /* a kernel waits, and other work may run beside it */
	uint32_t rank, culprit; /* who waits, and for whom: indexes of ranks */
	struct hwy_interval at; /* the time lost, on the clock of the rank that waits */
	/* when the culprit came, on its own clock; it is late by what it did before */
	int64_t came;
	/* Indexes into the messages of the two ranks' traces; FLOW_NONE for a kernel without a
	 * message. */
	uint32_t message, culprit_message;
	/* The span in which the rank waits: a call or a kernel; HWY_NONE where there is none. */
	int64_t span;
};

struct hwy_wait_states {
	struct wait_state *states; /* by rank, then by time */
	uint32_t n, cap;
	uint32_t n_ranks;
	int64_t *lost;                   /* lost[rank * n_ranks + culprit], ns */
	int64_t *by_kind;                /* by_kind[rank * WAIT_STATE_KINDS + kind], ns */
	uint32_t n_meetings, n_messages; /* collectives and messages that were looked at */
	/* Messages whose other half is missing, and messages or parts of collectives that
	 * contradict the clocks. */
	uint32_t n_unpaired, n_contradicted;
};

bool wait_states_find(struct hwy_wait_states *found, const struct collectives_rank *ranks,
		      uint32_t n, struct hwy_err *err);
/* The same where the collectives have been matched. */
bool wait_states_of(struct hwy_wait_states *found, const struct collectives_rank *ranks, uint32_t n,
		    const struct hwy_collectives *c, struct hwy_err *err);
void wait_states_free(struct hwy_wait_states *found);

#endif
