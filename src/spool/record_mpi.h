/* SPDX-License-Identifier: Apache-2.0 */
/* record_mpi.h - the records of a spool about MPI; record.h lists their types and says how
 * spools are laid out.
 *
 * A call is one REC_MPI. What it sends and receives follows in the same record as parts. Where
 * one call asks for an exchange and another one sees its end (MPI_Irecv, MPI_Waitall), both name
 * the exchange by the value of its request: the first in the part's 'request', the second in a
 * struct rec_mpi_done. MPI uses such a value again once the request is done, and libraries have
 * one value for all requests that were done at once; so a done request is the oldest one with
 * its value that is not done yet. Ranks in these records are ranks of the call's communicator.
 */
#ifndef HWY_SPOOL_RECORD_MPI_H
#define HWY_SPOOL_RECORD_MPI_H

#include "spool/record.h"

/* Flags of a REC_MPI: what follows the first slot. Without a flag nothing does. */
enum {
	REC_MPI_PARTS = 1, /* struct rec_mpi_part, as many as fit head.slots */
	REC_MPI_SMALL =
		32,        /* the parts are struct rec_mpi_small: most calls have no more to tell */
	REC_MPI_DONE = 2,  /* struct rec_mpi_done: requests that were done in this call */
	REC_MPI_MORE = 4,  /* the record goes on with the done requests of the one before it */
	REC_MPI_START = 8, /* struct rec_mpi_done: persistent requests that were started */
	REC_MPI_FREE = 16, /* struct rec_mpi_done: requests that the program gave up */
};
struct rec_mpi {
	struct rec_head head;
	int64_t start, duration;
	uint32_t communicator; /* number of the communicator; 0: none, or not known */
	int32_t result;        /* what the call returned; 0: success */
};
static_assert(sizeof(struct rec_mpi) == REC_SLOT, "one slot");

/* What a part does; never renumber. */
enum rec_mpi_op {
	REC_MPI_TRANSFER, /* bytes to or from memory of another rank, or a file: no message */
	REC_MPI_SEND,
	REC_MPI_RECEIVE,
	REC_MPI_BARRIER,
	REC_MPI_BROADCAST,
	REC_MPI_REDUCE,
	REC_MPI_ALL_REDUCE,
	REC_MPI_REDUCE_SCATTER,
	REC_MPI_GATHER,
	REC_MPI_SCATTER,
	REC_MPI_ALL_GATHER,
	REC_MPI_ALL_TO_ALL,
	REC_MPI_SCAN,
	REC_MPI_NEIGHBOR_ALL_GATHER,
	REC_MPI_NEIGHBOR_ALL_TO_ALL,
	REC_MPI_OPS
};
/* Flags of a part. */
enum {
	REC_MPI_PERSISTENT = 1, /* the call only prepares the exchange: MPI_Start asks for it */
	REC_MPI_REQUESTED = 2,  /* the exchange goes on after the call; 'request' names it */
};
struct rec_mpi_part {
	uint8_t op; /* enum rec_mpi_op */
	uint8_t flags;
	uint16_t spare16;
	/* peer: the other rank of a message, the root of a collective; REC_MPI_NO_RANK: none, or
	 * not known. */
	int32_t peer;
	/* tag: the tag of a message, or the number of a collective among those of its
	 * communicator, from 0. */
	int32_t tag;
	uint32_t datatype;       /* string id of the datatype's name; 0: not known */
	uint64_t sent, received; /* bytes; REC_MPI_UNKNOWN: not known */
	uint64_t count;          /* elements of 'datatype'; REC_MPI_UNKNOWN: not known */
	uint64_t request;
	/* what MPI_Mprobe found and this call receives; 0: the call looks for a message itself */
	uint64_t message;
	uint64_t spare;
};
static_assert(sizeof(struct rec_mpi_part) == 2 * REC_SLOT, "two slots");
/* The same in half the room. Flags: those of a part, and whether the bytes are sent, received,
 * or both. */
enum { REC_MPI_GIVES = 4, REC_MPI_GETS = 8 };
struct rec_mpi_small {
	uint8_t op, flags;
	uint16_t datatype;
	int32_t peer, tag;
	uint32_t count; /* UINT32_MAX: not known */
	uint64_t bytes;
	uint64_t request;
};
static_assert(sizeof(struct rec_mpi_small) == REC_SLOT, "one slot");
#define REC_MPI_NO_RANK INT32_MIN
#define REC_MPI_UNKNOWN UINT64_MAX

/* Flags of a request that is done. */
enum {
	REC_MPI_CANCELLED = 1, /* the exchange did not take place */
	REC_MPI_FOUND = 2, /* 'request' is the message that MPI_Mprobe found; nothing is done yet */
};
struct rec_mpi_done {
	uint64_t request;
	uint64_t bytes;      /* of a receive; REC_MPI_UNKNOWN: not known */
	int32_t source, tag; /* of a receive; REC_MPI_NO_RANK: not known */
	uint32_t flags;
	uint32_t spare;
};
static_assert(sizeof(struct rec_mpi_done) == REC_SLOT, "one slot");

/* Flags of a REC_COMMUNICATOR. */
enum {
	REC_COMMUNICATOR_NAMED = 1, /* the program named it: only 'label' is to be read */
	REC_COMMUNICATOR_CUT = 2,   /* it has more runs of ranks than fit the record */
	REC_COMMUNICATOR_WORLD =
		4, /* it is MPI_COMM_WORLD, so that 'rank' is the rank of the process */
};
struct rec_communicator_run { /* the ranks first, first + step, … of MPI_COMM_WORLD */
	int32_t first, step, count;
};
struct rec_communicator {
	struct rec_head head;
	/* identity: equal on all ranks that belong to the communicator, and for no other
	 * communicator of theirs. */
	uint64_t identity;
	uint32_t size,
		remote_size; /* remote_size: of the other group of an intercommunicator, else 0 */
	int32_t rank;        /* of this process in the communicator */
	uint32_t label;      /* string id of its name; 0: none */
	uint32_t parent;     /* the communicator that it was made from; 0: none */
	uint32_t runs,
		remote_runs; /* how many runs follow: of its group, then of the other group */
	uint32_t spare[5];
	struct rec_communicator_run run[];
};
static_assert(sizeof(struct rec_communicator) == 2 * REC_SLOT, "two slots");

struct rec_ping {
	struct rec_head head;
	/* time: CLOCK_MONOTONIC here; peer_time: the peer's at that moment, wrong by at most
	 * 'error'; all in ns */
	int64_t time, peer_time;
	int64_t error;
};
static_assert(sizeof(struct rec_ping) == REC_SLOT, "one slot");

#endif
