/* SPDX-License-Identifier: Apache-2.0 */
/* p2p.h - which message that one rank sent is which message that another rank received.
 *
 * MPI's rule: messages of one sender, one receiver, one communicator and one tag arrive in the
 * order in which they were sent, and receives take them in the order in which they were asked
 * for. Where the two sides have different numbers of such messages (some were lost, or never
 * received) they are paired only if the sizes of all pairs agree.
 */
#ifndef HWY_ANALYZE_P2P_H
#define HWY_ANALYZE_P2P_H

#include "analyze/collectives.h"

struct p2p_pair { /* indexes of ranks, and of messages in the tables of their traces */
	uint32_t sender, send, receiver, receive;
};

struct hwy_p2p {
	/* those of one sender, receiver and tag in the order in which they were sent */
	struct p2p_pair *pairs;
	uint32_t n;
	uint32_t n_unpaired; /* messages whose other half is in no recording, or not known */
};

bool p2p_match(struct hwy_p2p *p2p, const struct collectives_rank *ranks, uint32_t n,
	       struct hwy_err *err);
void p2p_free(struct hwy_p2p *p2p);

#endif
