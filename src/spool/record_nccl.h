/* SPDX-License-Identifier: Apache-2.0 */
/* record_nccl.h - the records of a spool about NCCL: communicators, calls, operations, and what
 * NCCL's proxy threads and kernels did for an operation; record.h lists their types and says how
 * spools are laid out.
 *
 * Events refer to one another by ids, numbers of the process that are never used twice; 0 refers
 * to nothing. An operation (a collective, a message) may name a parent that was not recorded.
 */
#ifndef HWY_SPOOL_RECORD_NCCL_H
#define HWY_SPOOL_RECORD_NCCL_H

#include "spool/record.h"

enum { REC_NCCL_IS_RCCL = 1 };

struct rec_nccl_comm {        /* head.value: the number of the communicator in this process */
	struct rec_head head; /* head.flags: REC_NCCL_IS_RCCL */
	int64_t time;
	uint64_t hash; /* NCCL's id of the communicator, equal on all its ranks; 0: not told */
	uint32_t name; /* string id of the name that the program gave it; 0: none */
	int32_t nodes, ranks, rank; /* -1: not told (interface below version 4) */
	uint32_t interface;         /* the version of NCCL's interface that was spoken */
	uint32_t spare[4];
};
static_assert(sizeof(struct rec_nccl_comm) == 2 * REC_SLOT, "two slots");

enum rec_nccl_kind {
	REC_NCCL_GROUP_CALL,      /* a group of calls, or the one call that is not in a group */
	REC_NCCL_COLLECTIVE_CALL, /* the program asks for a collective */
	REC_NCCL_MESSAGE_CALL,    /* the program asks for a send or a receive */
	REC_NCCL_COLLECTIVE,      /* NCCL has planned a collective and hands it to a kernel */
	REC_NCCL_MESSAGE,         /* the same of a send or a receive */
	REC_NCCL_COPIES,          /* a collective that copy engines do, not a kernel */
	REC_NCCL_KINDS
};
enum {
	REC_NCCL_CAPTURED =
		1, /* the call is captured into a CUDA graph, and runs when the graph does */
	/* The rank is a rank of a communicator that head.value does not name: interface below
	 * version 4. */
	REC_NCCL_HAS_HASH = 2,
};
/* An event of the thread whose spool this is. */
struct rec_nccl_event {
	struct rec_head head; /* head.flags: enum rec_nccl_kind; head.value: the communicator */
	int64_t start;
	uint64_t id;
	uint64_t parent;   /* of a call: its group call; of an operation: its call */
	uint64_t plan;     /* of an operation: operations of one plan are done by one kernel */
	uint64_t sequence; /* of a collective: its number among those of its function */
	uint64_t count;    /* number of elements */
	/* interfaces 1 and 2: the bytes that all ranks move, by NCCL's estimate; else 0 */
	uint64_t traffic;
	uint64_t hash; /* with REC_NCCL_HAS_HASH: the communicator, as in rec_nccl_comm.hash */
	uint32_t function, datatype, algorithm, protocol; /* string ids of NCCL's own words */
	int32_t peer; /* the other rank of a message, the root of a collective; -1: none */
	int32_t rank; /* the rank of this process in the communicator */
	uint16_t channels;
	uint16_t bits; /* REC_NCCL_CAPTURED, REC_NCCL_HAS_HASH */
	/* of a group call: how many groups are around its calls; 1: only the one of a call
	 * itself */
	uint32_t depth;
	uint64_t stream; /* the CUDA stream's handle, where told */
	uint64_t spare[2];
};
static_assert(sizeof(struct rec_nccl_event) == 4 * REC_SLOT, "four slots");

/* a call ended, or an operation was handed over (interface below version 5) */
struct rec_nccl_end {
	struct rec_head head;
	int64_t time;
	uint64_t id;
	uint64_t spare;
};
static_assert(sizeof(struct rec_nccl_end) == REC_SLOT, "one slot");

/* A kernel worked at an operation on one channel (head.value). */
struct rec_nccl_channel {
	struct rec_head head;
	int64_t start, duration; /* when NCCL's proxy thread saw it begin and end */
	uint64_t operation;      /* id of the operation */
	uint64_t gpu_start,
		gpu_end; /* the GPU's own clock (globaltimer), ns; 0: not told (interface 3) */
	uint64_t spare[2];
};
static_assert(sizeof(struct rec_nccl_channel) == 2 * REC_SLOT, "two slots");

enum { REC_NCCL_SEND = 1 }; /* the proxy sends; else it receives */
/* NCCL's proxy thread moved the data of one channel of an operation over the network. The three
 * waits do not overlap. */
struct rec_nccl_proxy {
	struct rec_head head; /* head.flags: REC_NCCL_SEND; head.value: the peer */
	int64_t start, duration;
	uint64_t operation;
	int64_t wait_gpu, wait_peer, wait_network; /* ns */
	/* pid: the process that the operation belongs to. Another process than this one asked it
	 * to send (PXN): 'operation' is then an id of that process. */
	uint32_t pid;
	uint16_t channel;
	uint16_t steps; /* pieces moved; 65535 stands for more, too */
};
static_assert(sizeof(struct rec_nccl_proxy) == 2 * REC_SLOT, "two slots");

#endif
