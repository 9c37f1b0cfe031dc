/* SPDX-License-Identifier: Apache-2.0 */
/* nccl.h - what the files of NCCL's profiler plugin share.
 *
 * libheadway-nccl.so is loaded by NCCL itself (NCCL_PROFILER_PLUGIN), when the program makes its
 * first communicator. NCCL asks for the newest of six tables that it knows (nccl_versions.c) and
 * calls the functions in it from the program's threads, from its own proxy threads and from
 * CUDA's callback threads. All of them yield success whatever happens.
 *
 * A handle that NCCL gets for an event is never an address. It is a number that was not used
 * before (calls, operations: the number is their id in the records), or names a slot of a table
 * with the number of its use (what a proxy thread or a kernel does, which is summed up before it
 * is recorded: nccl_proxy.c). So a parent that is gone, a handle that is stopped twice, and the
 * handle of another process (PXN) do no harm.
 */
#ifndef HWY_COLLECT_NCCL_NCCL_H
#define HWY_COLLECT_NCCL_NCCL_H

#include "collect/abi/nccl.h"
#include "collect/share.h"
#include "spool/record_nccl.h"

enum {
	NCCL_MASK = ABI_NCCL_COLL | ABI_NCCL_P2P | ABI_NCCL_PROXY_OP | ABI_NCCL_PROXY_STEP |
		    ABI_NCCL_GROUP_API | ABI_NCCL_COLL_API | ABI_NCCL_P2P_API | ABI_NCCL_CE_COLL,
	NCCL_NO_RANK = -1,
};

/* True while NCCL's events are to be recorded. */
static inline bool nccl_is_on(void)
{
	return collect_is_on(REC_TRACE_NCCL) && !*(const volatile bool *)sibling_is_sealed;
}

/* ---- nccl_events.c: communicators, calls, operations ---- */

/* Records a communicator and yields NCCL's context for it; sets the mask of the events that NCCL
 * shall tell. 'caller' is an address in the library that asks. */
void *nccl_begin_comm(unsigned interface, uint64_t hash, const char *name, int nodes, int ranks,
		      int rank, int *mask, const void *caller);

/* An event as all versions of the interface tell it. Texts are NCCL's own words, or NULL. */
struct nccl_event {
	enum rec_nccl_kind kind;
	bool ends; /* its end is recorded */
	void *parent, *plan;
	uint64_t hash, sequence, count, traffic;
	const char *function, *datatype, *algorithm, *protocol;
	int peer, rank;
	unsigned channels, depth;
	bool is_captured;
	const void *stream;
};
/* Records an event; yields its handle, NULL: nothing is recorded now. */
void *nccl_start_event(void *context, const struct nccl_event *event);
/* A handle for a plan, which is not recorded itself. */
void *nccl_start_plan(void);
/* Ends any event. */
int nccl_stop(void *handle);

/* ---- nccl_proxy.c: proxy threads and kernels ---- */

void *nccl_start_proxy(void *operation, const struct abi_nccl_proxy_op *op);
void *nccl_start_step(void *proxy);
/* 'timer': the GPU's clock; 0: not told. */
void *nccl_start_channel(void *operation, unsigned channel, uint64_t timer);
void nccl_proxy_state(void *handle, int state, uint64_t kernel_timer);
void nccl_proxy_stop(void *handle);

/* The lowest bits of a handle tell what it is. */
enum { NCCL_HANDLE_BITS = 3, NCCL_IS_ID = 1, NCCL_IS_ID_THAT_ENDS = 3, NCCL_IS_SLOT = 2 };

static inline unsigned nccl_handle_kind(const void *handle)
{
	return (unsigned)(uintptr_t)handle & ((1u << NCCL_HANDLE_BITS) - 1);
}
/* The id by which records name the event of a handle. */
static inline uint64_t nccl_id(const void *handle)
{
	return nccl_handle_kind(handle) & 1 ? (uintptr_t)handle >> NCCL_HANDLE_BITS : 0;
}

#endif
