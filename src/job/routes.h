/* SPDX-License-Identifier: Apache-2.0 */
/* routes.h - how fast data travels between the ranks of a job, and where it travels slower than
 * elsewhere.
 *
 * A route is a pair of ranks that send each other messages, in one direction, or a communicator
 * whose collectives have a number of bytes. The time of a message runs from the moment at which
 * both sides had asked to its end; of a collective, from the last arrival to the first end. Only
 * exchanges of LARGE_BYTES or more count: for smaller ones the latency decides. A route is slow
 * where its rate is below SLOW_SHARE of the median of the routes that it can be compared with:
 * pairs of ranks on one host, pairs across hosts, or communicators of the same size with the
 * same operation.
 */
#ifndef HWY_JOB_ROUTES_H
#define HWY_JOB_ROUTES_H

#include "analyze/p2p.h"
#include "job/ranks.h"

struct job_route {
	bool is_pair;      /* from 'from' to 'to', members; else a communicator */
	uint32_t from, to; /* of a communicator: its first and last member */
	uint32_t *members, n_members;
	const char *operation; /* "Send", "AllReduce" */
	bool is_across;        /* its ranks are on several hosts */
	uint32_t n;            /* exchanges that count */
	uint64_t bytes;        /* in all: what one rank gives or gets */
	int64_t ns;            /* in all */
	double rate,
		usual; /* bytes/s, and the median of the comparable routes; 0 where there are too few */
	bool is_slow;
	/* of a slow route: ns in all that it takes longer than the usual rate would */
	int64_t cost;
};

struct job_routes {
	struct job_route *routes; /* slow ones first, the costliest first; then by bytes */
	uint32_t n, cap, n_slow;
	struct hwy_arena arena;
};

bool routes_find(struct job_routes *routes, const struct ranks_member *members, uint32_t n,
		 const struct collectives_rank *ranks, const struct hwy_collectives *c,
		 struct hwy_err *err);
void routes_free(struct job_routes *routes);

#endif
