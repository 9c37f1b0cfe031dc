/* SPDX-License-Identifier: Apache-2.0 */
/* ingest_nccl.h - what the files that read NCCL's records share: ingest_nccl.c, nccl_kernels.c,
 * nccl_messages.c. */
#ifndef HWY_INGEST_INGEST_NCCL_H
#define HWY_INGEST_INGEST_NCCL_H

#include "ingest/ingest_internal.h"
#include "spool/record_nccl.h"

struct nccl_comm { /* a communicator of one process, as one of its ranks */
	uint32_t process;
	bool is_rccl;
	uint64_t hash;
	uint32_t name; /* text of the trace; 0: none */
	/* -1: not known. 'ranks' of interfaces 1 and 2 is found from a collective's traffic. */
	int64_t nodes, ranks, rank;
	uint32_t group_ref; /* ref of the trace's groups; 0 until first used */
};

struct nccl_event { /* a call or an operation */
	const struct rec_nccl_event *record;
	uint32_t process, tid;
	uint32_t comm_ref; /* ref of ingest_nccl.comms; 0: not known */
	uint32_t calls;    /* of a group call: the calls in it */
	int64_t end;       /* when it ended, on CLOCK_MONOTONIC; 0: not recorded */
	/* Where has_span: the call; of an operation that has no call, where it was handed over. */
	struct hwy_ref span;
	bool has_span;
	bool is_of_graph; /* of an operation: a CUDA graph runs it */
	/* Of an operation: what its channels tell together. gpu_start, gpu_end: on the GPU's
	 * clock; 0: not told. seen_start, seen_end: when NCCL's thread saw it; 0: not at all. */
	uint64_t gpu_start, gpu_end;
	int64_t seen_start, seen_end;
	const struct rec_nccl_proxy *last; /* of its proxies, the one that ended last; or NULL */
	uint32_t kernel_ref;               /* ref of ingest_nccl.kernels; 0: none */
	int64_t start, finish; /* on the device, on CLOCK_MONOTONIC; HWY_NONE: not known */
};

struct nccl_kernel { /* a kernel of NCCL that was recorded */
	uint32_t process, correlation;
	int64_t start, end; /* CLOCK_MONOTONIC */
	struct hwy_ref span;
	uint32_t tid; /* the thread that launched it; 0: not known */
	int64_t launched;
	uint32_t operations; /* how many operations it does */
};

struct nccl_call { /* a call that NCCL told through NVTX */
	uint32_t process, tid;
	int64_t start, end; /* CLOCK_MONOTONIC */
	struct hwy_ref span;
};

struct ingest_nccl {
	struct nccl_call *calls;
	uint32_t n_calls, cap_calls;
	struct nccl_event *events;
	uint32_t n, cap;
	struct nccl_comm *comms;
	uint32_t n_comms, cap_comms;
	struct nccl_kernel *kernels;
	uint32_t n_kernels, cap_kernels;
	struct nccl_part { /* a record that belongs to an event; read when all events are known */
		const struct rec_head *record;
		uint32_t process;
	} * parts;
	uint32_t n_parts, cap_parts;
	struct hwy_map event_of; /* maps a nccl_key of an event's id to an index into 'events' */
	struct hwy_map
		comm_of; /* maps a nccl_key of a communicator's number to an index into 'comms' */
	/* maps a text of the trace to 1 where it is the name of a kernel of NCCL's */
	struct hwy_map is_kernel;
	uint64_t foreign; /* proxies that worked for a process that is not in this run */
};

struct ingest_nccl *ingest_nccl_state(struct ingest *in);

/* Ids are below 2^44 in every run that lasts less than a year; of a damaged spool any event will
 * do. */
static inline uint64_t nccl_key(uint32_t process, uint64_t id)
{
	return (uint64_t)process << 44 ^ id;
}
static inline bool nccl_is_operation(const struct nccl_event *event)
{
	return event->record->head.flags >= REC_NCCL_COLLECTIVE &&
	       event->record->head.flags < REC_NCCL_KINDS;
}

/* The group of a call, or the call of an operation; NULL: not known. */
static inline struct nccl_event *nccl_parent(const struct ingest_nccl *state,
					     const struct nccl_event *event)
{
	uint64_t id = event->record->parent;
	const uint32_t *index =
		id ? hwy_map_get(&state->event_of, nccl_key(event->process, id)) : NULL;
	return index && *index < state->n ? &state->events[*index] : NULL;
}

/* nccl_kernels.c: joins operations to the kernels that did them, and finds when each ran. */
void nccl_kernels_join(struct ingest *in);
/* nccl_messages.c: adds the spans of calls, the groups and the messages. */
void nccl_messages_add(struct ingest *in);

#endif
