/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_sync.c - records waits and events, from the callbacks of the calls that make them.
 *
 * CUPTI has kinds of activity for both. But while one of these kinds is enabled, CUPTI attends to
 * every call of the program, also to calls of which no record is made: on an H200 (CUDA 13.0)
 * cudaGetDevice took 245 ns instead of 30, and PyTorch makes a dozen such calls a launch, so that
 * these two kinds caused two thirds of the cost of profiling. Callbacks on the few calls that wait
 * or record an event cost these calls 200 to 300 ns. CUPTI's kinds are still used where all calls
 * are recorded anyway (cuda_calls.c).
 *
 * A wait has the times of its call as seen from outside CUPTI: some 50 ns before and 100 ns after
 * the times in the call's own record. What a wait for an event waits for follows from the event's
 * last record: each record of an event gets a number, kept by the event's handle. Slots are never
 * given back, so that no lock is needed; a handle that is destroyed and comes back counts as the
 * same event. When the table is full, further events have no number.
 *
 * The driver's waits for a stream or a context have no callback while the runtime makes them
 * (cuda_calls.c). That the program makes such waits itself is seen in the call's record, some time
 * later: the waits until then are recorded without stream and event.
 */
#include "collect/cuda/cuda.h"
#include "collect/sys.h"

enum { SLOTS = 1 << 16, FULL = SLOTS / 4 * 3 };

/* How to read the arguments of a call, by its SYNC_ value. The runtime's and the driver's calls
 * take the same arguments in the same order. */
static const struct {
	uint8_t type; /* CUPTI's number of the type of wait */
	/* The indexes of the call's arguments that are the stream and the event; -1: the call
	 * has none. */
	int8_t stream, event;
	/* The call is a query: it is recorded as a wait only if it found all work done. */
	bool is_query;
} sync_calls[] = {
	[SYNC_EVENT >> 8] = {.type = 1, .stream = -1, .event = 0},
	[SYNC_EVENT_QUERY >> 8] = {.type = 1, .stream = -1, .event = 0, .is_query = true},
	[SYNC_STREAM_WAIT >> 8] = {.type = 2, .stream = 0, .event = 1},
	[SYNC_STREAM >> 8] = {.type = 3, .stream = 0, .event = -1},
	[SYNC_STREAM_QUERY >> 8] = {.type = 3, .stream = 0, .event = -1, .is_query = true},
	[SYNC_CONTEXT >> 8] = {.type = 4, .stream = -1, .event = -1},
	[SYNC_RECORD >> 8] = {.type = 0, .stream = 1, .event = 0},
};

struct event {
	/* key: the event's handle << 16 | the event's number; 0: the slot is free. */
	_Atomic uint64_t key;
	_Atomic uint64_t sync; /* number of the event's last record */
};
static struct {
	/* slots: a hash table of SLOTS events with open addressing by handle; mapped with the
	 * first event. */
	_Atomic(struct event *) slots;
	_Atomic uint32_t used;
	_Atomic uint64_t records;
	_Atomic uint32_t context; /* id of the CUDA context of the last wait */
} events;

static struct event *events_table(void)
{
	struct event *slots = atomic_load_explicit(&events.slots, memory_order_acquire);
	if (slots)
		return slots;
	struct event *fresh = sys_memory(SLOTS * sizeof *fresh);
	if (fresh && !atomic_compare_exchange_strong(&events.slots, &slots, fresh)) {
		/* Another thread has mapped the slots in the meantime. */
		sys_unmap(fresh, SLOTS * sizeof *fresh);
		return slots;
	}
	return fresh;
}

/* Yields the slot of an event's handle, and takes a free slot if the event has none; NULL when
 * all slots are in use. */
static struct event *event_of(uint64_t handle)
{
	struct event *slots = events_table();
	uint64_t hash = handle * UINT64_C(0x9e3779b97f4a7c15);
	if (!slots || handle == 0 || handle >> 48)
		return NULL;
	for (uint32_t i = (uint32_t)(hash >> 48) % SLOTS;; i = (i + 1) % SLOTS) {
		uint64_t key = atomic_load_explicit(&slots[i].key, memory_order_acquire);
		if (key >> 16 == handle)
			return &slots[i];
		if (key)
			continue;
		uint32_t number = atomic_fetch_add(&events.used, 1) + 1;
		if (number > FULL) {
			atomic_fetch_sub(&events.used, 1);
			return NULL;
		}
		if (atomic_compare_exchange_strong(&slots[i].key, &key, handle << 16 | number) ||
		    key >> 16 == handle)
			return &slots[i];
	}
}

static uint32_t event_number(struct event *event)
{
	return event ? (uint32_t)(atomic_load(&event->key) & 0xffff) : UINT32_MAX;
}

/* Asks CUPTI for the number of a stream, which records of the stream's work carry; UINT32_MAX:
 * unknown. */
static uint32_t ask_stream(const struct cupti_callback *call, void *stream, bool per_thread)
{
	int (*ask)(void *, void *, uint8_t, uint32_t *) = cuda.cupti.cuptiGetStreamIdEx;
	uint32_t id = 0;
	if (ask(NULL, stream, per_thread, &id) == CUPTI_OK ||
	    ask(call->context, stream, per_thread, &id) == CUPTI_OK)
		return id;
	return UINT32_MAX;
}

static uint32_t stream_number(const struct cupti_callback *call, uint64_t handle, bool per_thread)
{
	/* Cached for the default streams, whose number never changes in a context; the handle of
	 * another stream may come back as a new stream. */
	static __thread struct {
		uint32_t context, id[2];
	} seen __attribute__((tls_model("initial-exec")));

	enum { LEGACY = 1, PER_THREAD = 2 }; /* CUDA's handles of the two default streams */
	if (handle == LEGACY || handle == PER_THREAD)
		per_thread = handle == PER_THREAD;
	else if (handle != 0)
		return ask_stream(call, (void *)(uintptr_t)handle, per_thread);
	if (call->context_id != seen.context || call->context_id == 0) {
		seen.context = call->context_id;
		seen.id[0] = seen.id[1] = 0;
	}
	if (seen.id[per_thread] == 0)
		seen.id[per_thread] = ask_stream(call, NULL, per_thread);
	return seen.id[per_thread];
}

bool cuda_sync_uses_callbacks(void)
{
	return cuda_calls_are_chosen() && cuda.cupti.cuptiGetStreamIdEx;
}

void cuda_sync_put(unsigned flags, const struct cupti_callback *call, int64_t start, int64_t end)
{
	unsigned what = (flags & CALL_SYNC) >> 8;
	bool is_record = (flags & CALL_SYNC) == SYNC_RECORD;
	uint32_t result = call->result ? *(const uint32_t *)call->result : 0;
	/* The call failed, or the query found work still running: no event was recorded, no wait
	 * took place. */
	if (result != 0 && (is_record || sync_calls[what].is_query || call->context_id == 0))
		return;
	const uint64_t *arguments = call->params;
	uint32_t stream = UINT32_MAX;
	struct event *event = NULL;
	uint64_t sync = 0;
	if (sync_calls[what].stream >= 0)
		stream = stream_number(call, arguments[sync_calls[what].stream],
				       flags & CALL_PER_THREAD);
	if (sync_calls[what].event >= 0)
		event = event_of(arguments[sync_calls[what].event]);
	if (event && is_record)
		atomic_store(&event->sync, sync = atomic_fetch_add(&events.records, 1) + 1);
	else if (event)
		sync = atomic_load(&event->sync);
	atomic_store_explicit(&events.context, call->context_id, memory_order_relaxed);
	struct rec_sync *r =
		collect_reserve(is_record ? REC_EVENT : REC_SYNC, sizeof *r / REC_SLOT);
	if (!r)
		return;
	r->head.flags = sync_calls[what].type;
	r->head.value = result;
	r->start = start;
	r->duration = is_record ? 0 : end - start;
	r->correlation = call->correlation;
	r->context = call->context_id;
	r->stream = stream;
	r->event = event_number(event);
	r->event_sync = sync;
	collect_publish(r);
}

void cuda_sync_put_from_record(unsigned flags, const struct cupti_api *call)
{
	unsigned what = (flags & CALL_SYNC) >> 8;
	if ((flags & CALL_SYNC) == SYNC_RECORD ||
	    (sync_calls[what].is_query && call->result != 0) || !cuda_sync_uses_callbacks() ||
	    !cuda_calls_was_nested(call->cbid, (int64_t)call->start))
		return;
	struct rec_sync *r = collect_reserve(REC_SYNC, sizeof *r / REC_SLOT);
	if (!r)
		return;
	r->head.flags = sync_calls[what].type;
	r->head.value = call->result;
	r->start = (int64_t)call->start;
	r->duration = call->end > call->start ? (int64_t)(call->end - call->start) : 0;
	r->correlation = call->correlation;
	r->context = atomic_load_explicit(&events.context, memory_order_relaxed);
	r->stream = r->event = UINT32_MAX;
	collect_publish(r);
}
