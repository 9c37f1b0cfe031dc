/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.h - what the files of the CUDA source share; the rest of the collector uses collect.h
 * only.
 *
 *   cuda.c           the subscription: how it begins, what is recorded when, how it ends, fork
 *   cuda_library.c   finds and opens libcupti
 *   cuda_calls.c     which runtime and driver calls are recorded, watched or sampled
 *   cuda_callback.c  CUPTI's callbacks on these calls: stacks, capture ranges, the moment to detach
 *   cuda_sync.c      records of waits and of events, made in these callbacks
 *   cuda_buffers.c   the buffers that CUPTI fills
 *   cuda_records.c   converts CUPTI's records into records of the spool
 *   cuda_nodes.c     how the nodes of graphs are made, and which runs after which
 *   cuda_intern.c    kernel names and launch shapes, each defined once
 *   cuda_device.c    properties of the devices
 *   cuda_flush.c     the thread that asks CUPTI for full and half-full buffers
 *   cuda_rival.c     notices a profiler inside the program that wants CUPTI too
 *
 * No lock of these files is held across a call that may deliver a buffer; each file says what its
 * lock guards. A forked child makes no CUPTI call at all: the stage is CUDA_OFF there, and nothing
 * of the parent's state is used again.
 */
#ifndef HWY_COLLECT_CUDA_CUDA_H
#define HWY_COLLECT_CUDA_CUDA_H

#include <stdatomic.h>

#include "collect/abi/cupti.h"
#include "collect/collect.h"

enum cuda_stage {
	/* The collector is not subscribed to CUPTI: CUDA is not traced, CUPTI refused, or this
	 * is a forked child. */
	CUDA_OFF,
	/* The collector is subscribed to CUPTI, which records while the run is recording. */
	CUDA_ON,
	/* CUDA_LEAVING: nothing is recorded any more; the next exit of an API call detaches
	 * CUPTI. */
	CUDA_LEAVING,
	CUDA_GONE, /* CUPTI is detached, and never called again */
};

struct cuda {
	/* cupti: CUPTI's functions, written before the stage leaves CUDA_OFF. */
	struct cupti_functions cupti;
	void *subscriber;
	uint32_t version; /* CUPTI's API version: 18 (11.8) … 28 (12.9), 130000 (13.0) … */
	_Atomic int stage;
};
extern struct cuda cuda;

static inline bool cuda_is_on(void)
{
	return atomic_load_explicit(&cuda.stage, memory_order_acquire) == CUDA_ON;
}

/* Begins in a program that has initialised CUDA before the collector came: what the driver does
 * elsewhere inside cuInit. Does nothing the second time, and where the program has not
 * initialised CUDA: then the driver will. */
void cuda_begin_late(void);
/* Fetches the records of a recording that has ended, while the program goes on; waits a few
 * seconds at most. */
void cuda_flush_drain(void);

/* True once recording has ended for good: the last records must be fetched, and CUPTI detached. */
bool cuda_is_over(void);
void cuda_leave(void); /* detaches CUPTI; the flush thread calls this last */

/* Opens one libcupti after the other, the most suitable first, until use(path) returns true; true
 * if one did. */
bool cuda_library_try_all(bool (*use)(const char *path));
/* A function of a libcupti that is loaded in the process already, no matter who loaded it; NULL:
 * none. */
void *cuda_library_loaded_symbol(const char *name);

/* Bits that say what the collector does with a call of the CUDA API. */
enum {
	/* The call has a role in a trace (trace/roles.c): it is recorded. */
	CALL_RECORD = 1,
	CALL_WAIT = 2,  /* the call may block: it gets a stack when it took long */
	CALL_ALLOC = 4, /* the call allocates memory: it always gets a stack */
	/* The call launches work: some launches get a stack, and the callback is on only for
	 * moments. */
	CALL_LAUNCH = 8,
	/* The call copies memory: it gets a stack like CALL_WAIT, and now and then like a
	 * launch. */
	CALL_COPY = 16,
	CALL_START = 32, /* the call is cudaProfilerStart */
	CALL_STOP = 64,  /* the call is cudaProfilerStop */
	/* The call's default stream is the default stream of the calling thread. */
	CALL_PER_THREAD = 128,
	CALL_SYNC = 0xf00,   /* mask for the SYNC_ values below, of which a call has at most one */
	SYNC_STREAM = 0x100, /* the call waits for a stream */
	SYNC_STREAM_QUERY = 0x200,
	SYNC_EVENT = 0x300,
	SYNC_EVENT_QUERY = 0x400,
	SYNC_CONTEXT = 0x500,
	SYNC_STREAM_WAIT = 0x600, /* the call makes a stream wait for an event */
	SYNC_RECORD = 0x700,      /* the call records an event */
};
/* More calls than any version of CUDA has in a domain (CUDA 13.0: 807 and 520). */
enum { CALL_IDS = 1024 };
void cuda_calls_init(void);
unsigned cuda_calls_flags(uint32_t domain, uint32_t cbid); /* the CALL_ and SYNC_ bits of a call */
/* Yields the CALL_ and SYNC_ bits of a call by the call's name; for tests. */
unsigned cuda_calls_flags_of_name(const char *name);
/* Switches CUPTI's API records of the calls that have a role; 'in_init': cuInit has not returned
 * yet. */
void cuda_calls_record(bool on, bool in_init);
/* True if calls without a role have no records, so that CUPTI costs them nothing. */
bool cuda_calls_are_chosen(void);
void cuda_calls_watch(bool on);  /* switches the callbacks of waits, allocations and copies */
void cuda_calls_sample(bool on); /* switches the callbacks of launches */
/* Switches on the callbacks of all calls, so that the next call of the program detaches CUPTI. */
void cuda_calls_all(void);
bool cuda_calls_sampling(void); /* true while callbacks of launches are on */
/* Switches off the callbacks of launches, unless another thread has the lock. */
bool cuda_calls_sample_off_if_free(void);
/* A record shows that the program itself makes this call: defines its name, and asks for its
 * callback. */
void cuda_calls_seen(uint32_t domain, uint32_t cbid);
/* Switches the callbacks that cuda_calls_seen asked for; called by the flush thread. */
void cuda_calls_settle(void);
/* A driver call was found inside a runtime call: its callback is switched off, unless the program
 * was seen to make the driver call itself. */
void cuda_calls_nested(uint32_t cbid);
/* True if the driver call's callback was off at 'time' because the runtime makes the call. */
bool cuda_calls_was_nested(uint32_t cbid, int64_t time);

void cuda_callback(void *user, uint32_t domain, uint32_t cbid, const void *data);
/* True if waits and event records come from the callbacks, not from CUPTI's records. */
bool cuda_sync_uses_callbacks(void);
/* Records the wait or event of a call with a CALL_SYNC that has returned; 'flags' as
 * cuda_calls_flags yields. */
void cuda_sync_put(unsigned flags, const struct cupti_callback *call, int64_t start, int64_t end);
/* Records a wait by CUPTI's record of the driver call, where the call's callback was off. */
void cuda_sync_put_from_record(unsigned flags, const struct cupti_api *call);

/* Enables the callbacks on nodes of graphs, where graphs are recorded node by node. */
void cuda_nodes_watch(void);
void cuda_nodes_callback(uint32_t cbid, const struct cupti_resource *resource);
/* Records how many nodes were left out since the last call. */
void cuda_nodes_report_losses(void);

/* Begins a new sampling round: one launch of every thread gets a stack. */
void cuda_callback_new_round(void);

cupti_request_fn cuda_buffers_request;
cupti_complete_fn cuda_buffers_complete;
/* Converts the buffers that CUPTI has given back since the last call. */
void cuda_buffers_convert(void);
void cuda_buffers_top_up(void); /* allocates zeroed buffers until a few are ready for CUPTI */
uint32_t cuda_buffers_outstanding(void); /* number of buffers that CUPTI holds */
uint64_t cuda_buffers_completed(void);   /* number of buffers that CUPTI has given back so far */

void cuda_records_convert(uint8_t *buffer, size_t valid);
/* Records how many CUPTI records were lost since the last call. */
void cuda_records_report_losses(bool at_end);

/* Another run has begun: what the spools of the run before define is defined anew when it is
 * used. */
void cuda_intern_begin_again(void);
void cuda_calls_begin_again(void); /* defines the names of the calls that were seen */
void cuda_device_begin_again(void);

uint32_t cuda_intern_name(const char *name);
uint32_t cuda_intern_shape(const struct rec_shape *shape);

void cuda_device_seen(const struct cupti_device *device);
/* Records new devices. Asks the driver, so that it must not be called inside a CUPTI callback. */
void cuda_device_report(void);

bool cuda_flush_is_running(void);
/* Starts the flush thread; called with the first buffer, and does nothing the second time. */
void cuda_flush_start(void);
/* True in the flush thread, whose CUDA calls are not the program's. */
bool cuda_flush_is_thread(uint32_t tid);
/* Fetches all records from CUPTI at exit, and waits a few seconds at most. */
void cuda_flush_last(void);

#endif
