/* cuda.h - what the files of the CUDA source share; the rest of the collector knows collect.h only.
 *
 * cuda.c           life: subscribing, what is recorded when, the end, fork
 * cuda_library.c   finding and opening libcupti
 * cuda_calls.c     which runtime and driver calls are recorded, watched or sampled
 * cuda_callback.c  CUPTI's callbacks on those: stacks, capture ranges, the moment to detach
 * cuda_sync.c      waits and event records, from those callbacks
 * cuda_buffers.c   the buffers CUPTI fills
 * cuda_records.c   CUPTI's records into ours
 * cuda_intern.c    kernel names and launch shapes, each defined once
 * cuda_device.c    what is known of the devices
 * cuda_flush.c     the thread that asks for full and half-full buffers
 * cuda_rival.c     a profiler inside the program that wants CUPTI too
 *
 * Locks, none ever held across a call that may deliver a buffer: see each file. A forked child makes no CUPTI
 * call at all: the stage goes to CUDA_OFF there and nothing of the parent's state is used again.
 */
#ifndef HWY_COLLECT_CUDA_CUDA_H
#define HWY_COLLECT_CUDA_CUDA_H

#include <stdatomic.h>

#include "collect/abi/cupti.h"
#include "collect/collect.h"

enum cuda_stage {
	CUDA_OFF,     /* no subscription: not asked for, refused, or a forked child */
	CUDA_ON,      /* subscribed; records while the run is recording */
	CUDA_LEAVING, /* nothing is recorded any more; the next exit of an API call detaches CUPTI */
	CUDA_GONE,    /* detached; no CUPTI call from here on */
};

struct cuda {
	struct cupti_functions cupti; /* written before the stage leaves CUDA_OFF */
	void *subscriber;
	uint32_t version; /* CUPTI's API version: 18 (11.8) … 28 (12.9), 130000 (13.0) … */
	_Atomic int stage;
};
extern struct cuda cuda;

static inline bool cuda_is_on(void)
{
	return atomic_load_explicit(&cuda.stage, memory_order_acquire) == CUDA_ON;
}

/* Recording has ended for good: the last records are to be fetched and CUPTI left. */
bool cuda_is_over(void);
void cuda_leave(void); /* by the flush thread, as its last act */

/* Opens the libraries that may serve, best first, until 'use' says that one does (true). */
bool library_try_all(bool (*use)(const char *path));
/* A function of a libcupti that is in the process already, whoever loaded it. */
void *library_loaded_symbol(const char *name);

/* What a call is to us. */
enum {
	CALL_RECORD = 1,       /* has a role: recorded */
	CALL_WAIT = 2,         /* may block: stack when it took long */
	CALL_ALLOC = 4,        /* makes something that stays: stack always */
	CALL_LAUNCH = 8,       /* stack sampled, callback switched on for moments only */
	CALL_COPY = 16,        /* as CALL_WAIT, and sampled */
	CALL_START = 32,       /* cudaProfilerStart */
	CALL_STOP = 64,        /* cudaProfilerStop */
	CALL_PER_THREAD = 128, /* its default stream is the thread's own */
	CALL_SYNC = 0xf00,     /* one of: */
	SYNC_STREAM = 0x100,   /* waits for a stream */
	SYNC_STREAM_QUERY = 0x200,
	SYNC_EVENT = 0x300,
	SYNC_EVENT_QUERY = 0x400,
	SYNC_CONTEXT = 0x500,
	SYNC_STREAM_WAIT = 0x600, /* makes a stream wait for an event */
	SYNC_RECORD = 0x700,      /* records an event */
};
enum { CALL_IDS = 1024 }; /* more than any version has in a domain (CUDA 13.0: 807 and 520) */
void calls_init(void);
unsigned calls_of(uint32_t domain, uint32_t cbid);
unsigned calls_of_name(const char *name); /* for tests: the table's answer */
void calls_record(bool on, bool in_init); /* API records of the calls that have a role */
bool calls_are_chosen(void); /* no records, and so nothing of CUPTI, in calls without a role */
void calls_watch(bool on);   /* callbacks that stay: waits, allocations, copies */
void calls_sample(bool on);  /* callbacks of launches */
void calls_all(void);        /* callbacks of all of them: the next one detaches CUPTI */
bool calls_sampling(void);
bool calls_sample_off_if_free(
	void); /* as calls_sample(false), but gives up when the lock is taken */
/* There is a record of this call, so the program makes it itself: its name is defined, it will be watched. */
void calls_seen(uint32_t domain, uint32_t cbid);
void calls_settle(void); /* by the flush thread: does what calls_seen asked for */
/* A driver call was found inside a runtime call: its callback is switched off unless it was seen alone. */
void calls_nested(uint32_t cbid);
bool calls_was_nested(uint32_t cbid, int64_t time); /* so that its callback was off */

void callback_fn(void *user, uint32_t domain, uint32_t cbid, const void *data);
/* Waits and event records come from the callbacks, not from CUPTI. */
bool syncs_are_ours(void);
/* A call with a CALL_SYNC has returned; 'flags' as calls_of has them. */
void sync_done(unsigned flags, const struct cupti_callback *call, int64_t start, int64_t end);
/* A driver call with a CALL_SYNC of which there is a record, and perhaps no more. */
void sync_of_record(unsigned flags, const struct cupti_api *call);

/* A new round of launch samples: every thread gives one. */
void callback_new_round(void);

cupti_request_fn buffers_request;
cupti_complete_fn buffers_complete;
void buffers_convert(void);         /* those that came back since */
void buffers_top_up(void);          /* keeps zeroed buffers at hand */
uint32_t buffers_outstanding(void); /* handed to CUPTI and not yet back */
uint64_t buffers_completed(void);

void records_convert(uint8_t *buffer, size_t valid);
void records_report_losses(bool at_end); /* what could not be converted since the last call */

uint32_t intern_name(const char *name);
uint32_t intern_shape(const struct rec_shape *shape);

void device_seen(const struct cupti_device *device);
void device_report(void); /* outside of CUPTI's callbacks: asks the driver */

bool flush_is_running(void);
void flush_start(void);             /* with the first buffer; does nothing the second time */
bool flush_is_thread(uint32_t tid); /* its own calls are not the program's */
void flush_last(void);              /* at exit: everything, within a few seconds */

#endif
