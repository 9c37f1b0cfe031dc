/* SPDX-License-Identifier: Apache-2.0 */
/* exchange.h - what one message of a rank says about time and place: when the rank asked, in
 * which call it waits, and which messages of other ranks can be the same exchange.
 *
 * Everything that compares ranks (collectives.h, p2p.h, wait states, clocks) reads messages
 * through these functions, so that all of them mean the same moments.
 */
#ifndef HWY_ANALYZE_EXCHANGE_H
#define HWY_ANALYZE_EXCHANGE_H

#include "analyze/intervals.h"
#include "base/bytes.h"
#include "trace/trace.h"

/* The clock of a rank against that of the first rank. Times are ns. */
struct exchange_clock {
	/* The time on the first rank's clock at which this rank's clock showed 'time'. */
	int64_t (*map)(const void *user, int64_t time);
	const void *user;
};

/* The clock of ranks that are on one clock: every time is the same time. */
extern const struct exchange_clock exchange_same_clock;

struct exchange_times { /* of one message, on the rank's own clock */
	/* When the rank entered the call that asks for the exchange; a kernel: when it began. */
	int64_t post;
	/* The call that returns when the exchange is over: MPI_Wait, or the call that asked
	 * where that one blocks. */
	struct hwy_interval call;
	bool is_device; /* a kernel shows the exchange */
	/* One call asks and another one waits, so that the rank may compute between the two. */
	bool is_nonblocking;
};

/* Loads what exchange_times reads. */
bool exchange_need(struct hwy_trace *trace, struct hwy_err *err);
struct exchange_times exchange_times(const struct hwy_trace *trace,
				     const struct hwy_message *message);

/* The rank that made the message, by the trace; HWY_NONE where the trace does not tell. */
int64_t exchange_rank(const struct hwy_trace *trace, const struct hwy_message *message);
/* Appends what is equal on all ranks of an exchange: the library, and the communicator by name
 * and members. */
void exchange_put_group(struct hwy_bytes *key, const struct hwy_trace *trace,
			const struct hwy_message *message);

/* Who waits for whom in a collective on CPUs, by the operation's name. */
enum exchange_kind {
	EXCHANGE_ALL,       /* nobody can leave before the last has come */
	EXCHANGE_FROM_ROOT, /* nobody can leave before the root has come */
	EXCHANGE_TO_ROOT,   /* only the root waits: for all others */
	EXCHANGE_PREFIX,    /* a rank waits for the ranks before it */
	EXCHANGE_LOOSE,     /* not known: nobody is taken to wait */
};
enum exchange_kind exchange_kind_of(const struct hwy_trace *trace,
				    const struct hwy_message *message);
bool exchange_is_barrier(const struct hwy_trace *trace, const struct hwy_message *message);

#endif
