/* SPDX-License-Identifier: Apache-2.0 */
/* collectives_internal.h - the collectives of one rank, and pairs of them: what the files
 * collectives*.c share. */
#ifndef HWY_ANALYZE_COLLECTIVES_INTERNAL_H
#define HWY_ANALYZE_COLLECTIVES_INTERNAL_H

#include "analyze/collectives.h"
#include "base/index.h"

#define NO_MEETING UINT32_MAX

struct occurrence {         /* a collective on one rank */
	uint32_t key;       /* equal for all kernels or calls that can be one collective */
	uint32_t op;        /* index into the ops of the rank's flow, or FLOW_NONE */
	uint32_t message;   /* index into the messages of the rank's trace, or FLOW_NONE */
	uint32_t meeting;   /* index into the list of matched collectives, or NO_MEETING */
	int64_t start, end; /* when the rank came and when it was done, in ns on the rank's clock */
	int64_t root;       /* rank of the job, where the operation has a root; else HWY_NONE */
	uint8_t kind;       /* enum exchange_kind */
	bool is_barrier;
};

struct occurrences {
	struct occurrence *items;
	uint32_t n, cap;
};

struct rank_list {                   /* the collectives of one rank */
	struct occurrences ordered;  /* to be matched by order and ends; by key, then by end */
	struct occurrences numbered; /* with a number that decides: equal keys are one collective */
};

struct pair { /* indexes of two occurrences, on two ranks, that are one collective */
	uint32_t a, b;
};

struct pairs {
	struct pair *items;
	uint32_t n, cap;
};

struct collective_keys { /* the keys of all ranks */
	/* Maps each key to its number; numbers follow the order of first use. */
	struct hwy_index numbers;
	struct hwy_bytes buffer;
};

/* collectives_list.c */
bool collectives_list(struct rank_list *list, const struct collectives_rank *rank,
		      struct collective_keys *keys, struct hwy_err *err);

/* collectives_ends.c: the pairs of two ranks, and (*shift) what is added to the times of b;
 * false where they have none. *shift comes in as the distance of the wall clocks, or as the
 * distance that was found with another rank. */
bool collectives_pair_ends(const struct occurrences *a, const struct occurrences *b,
			   bool may_search, int64_t *shift, struct pairs *pairs);

#endif
