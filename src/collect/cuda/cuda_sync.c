/* cuda_sync.c - waits and event records, told by the callbacks of the calls that make them.
 *
 * CUPTI has kinds of activity for both, but while one of them is on it attends to every call of the program,
 * also to those of which no record is made: on an H200 (CUDA 13.0) cudaGetDevice took 245 ns instead of 30, and
 * PyTorch makes a dozen such calls a launch, so that two thirds of what profiling cost were for this. Callbacks
 * on the few calls that wait or record an event cost those calls 200 to 300 ns. CUPTI's kinds are still used where
 * all calls are recorded anyway (cuda_calls.c).
 *
 * A wait has the times of its call as seen from outside CUPTI: some 50 ns before and 100 ns after those in the
 * call's own record. What it waits for is known by the event's last record: each record gets a number, kept by the event's
 * handle. Slots are never given back, so that no lock is needed; a handle that is destroyed and comes back is
 * the same event to us. When the table is full, events have no number.
 *
 * The driver's waits for a stream or a context are not called back when the runtime makes them (cuda_calls.c).
 * That the program makes them too is found out from the call's record, some time later: of the waits until then
 * it is known only that they were.
 */
#include "collect/cuda/cuda.h"
#include "collect/sys.h"

enum { SLOTS = 1 << 16, FULL = SLOTS / 4 * 3 };

/* The runtime's and the driver's calls take the same arguments in the same order. */
static const struct {
	uint8_t type;         /* CUPTI's, of a wait */
	int8_t stream, event; /* which argument is it; -1: none */
	bool is_query;        /* a wait only if there was nothing to wait for */
} known[] = {
	[SYNC_EVENT >> 8] = {.type = 1, .stream = -1, .event = 0},
	[SYNC_EVENT_QUERY >> 8] = {.type = 1, .stream = -1, .event = 0, .is_query = true},
	[SYNC_STREAM_WAIT >> 8] = {.type = 2, .stream = 0, .event = 1},
	[SYNC_STREAM >> 8] = {.type = 3, .stream = 0, .event = -1},
	[SYNC_STREAM_QUERY >> 8] = {.type = 3, .stream = 0, .event = -1, .is_query = true},
	[SYNC_CONTEXT >> 8] = {.type = 4, .stream = -1, .event = -1},
	[SYNC_RECORD >> 8] = {.type = 0, .stream = 1, .event = 0},
};

struct event {
	_Atomic uint64_t key;  /* handle << 16 | number; 0: free */
	_Atomic uint64_t sync; /* number of its last record */
};
static struct {
	_Atomic(struct event *) slots; /* mapped with the first event */
	_Atomic uint32_t used;
	_Atomic uint64_t records;
	_Atomic uint32_t context; /* of the last wait */
} events;

static struct event *events_table(void)
{
	struct event *slots = atomic_load_explicit(&events.slots, memory_order_acquire);
	if (slots)
		return slots;
	struct event *fresh = sys_memory(SLOTS * sizeof *fresh);
	if (fresh && !atomic_compare_exchange_strong(&events.slots, &slots, fresh)) {
		sys_unmap(fresh, SLOTS * sizeof *fresh); /* another thread was faster */
		return slots;
	}
	return fresh;
}

/* The event of this handle; NULL when it has no slot and gets none. */
static struct event *event_of(uint64_t handle)
{
	struct event *slots = events_table();
	uint64_t hash = handle * UINT64_C(0x9e3779b97f4a7c15);
	if (!slots || handle == 0 || handle >> 48)
		return NULL;
	for (uint32_t at = (uint32_t)(hash >> 48) % SLOTS;; at = (at + 1) % SLOTS) {
		uint64_t key = atomic_load_explicit(&slots[at].key, memory_order_acquire);
		if (key >> 16 == handle)
			return &slots[at];
		if (key)
			continue;
		uint32_t number = atomic_fetch_add(&events.used, 1) + 1;
		if (number > FULL) {
			atomic_fetch_sub(&events.used, 1);
			return NULL;
		}
		if (atomic_compare_exchange_strong(&slots[at].key, &key, handle << 16 | number) ||
		    key >> 16 == handle)
			return &slots[at];
	}
}

static uint32_t cuda_sync_number_of(struct event *event)
{
	return event ? (uint32_t)(atomic_load(&event->key) & 0xffff) : UINT32_MAX;
}

/* CUPTI's number of a stream: that of the work on it. */
static uint32_t ask_stream(const struct cupti_callback *call, void *stream, bool per_thread)
{
	int (*ask)(void *, void *, uint8_t, uint32_t *) = cuda.cupti.cuptiGetStreamIdEx;
	uint32_t id = 0;
	if (ask(NULL, stream, per_thread, &id) == CUPTI_OK ||
	    ask(call->context, stream, per_thread, &id) == CUPTI_OK)
		return id;
	return UINT32_MAX;
}

static uint32_t cuda_sync_stream_of(const struct cupti_callback *call, uint64_t handle,
				    bool per_thread)
{
	/* A context's default stream stays what it is; other handles may come back as another stream. */
	static __thread struct {
		uint32_t context, id[2];
	} seen __attribute__((tls_model("initial-exec")));

	enum { LEGACY = 1, PER_THREAD = 2 }; /* handles that stand for the default streams */
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

bool syncs_are_ours(void)
{
	return calls_are_chosen() && cuda.cupti.cuptiGetStreamIdEx;
}

void sync_done(unsigned flags, const struct cupti_callback *call, int64_t start, int64_t end)
{
	unsigned what = (flags & CALL_SYNC) >> 8;
	bool is_record = (flags & CALL_SYNC) == SYNC_RECORD;
	uint32_t result = call->result ? *(const uint32_t *)call->result : 0;
	if (result != 0 && (is_record || known[what].is_query || call->context_id == 0))
		return; /* nothing was recorded, or waited for */
	const uint64_t *arguments = call->params;
	uint32_t stream = UINT32_MAX;
	struct event *event = NULL;
	uint64_t sync = 0;
	if (known[what].stream >= 0)
		stream = cuda_sync_stream_of(call, arguments[known[what].stream],
					     flags & CALL_PER_THREAD);
	if (known[what].event >= 0)
		event = event_of(arguments[known[what].event]);
	if (event && is_record)
		atomic_store(&event->sync, sync = atomic_fetch_add(&events.records, 1) + 1);
	else if (event)
		sync = atomic_load(&event->sync);
	atomic_store_explicit(&events.context, call->context_id, memory_order_relaxed);
	struct rec_sync *r =
		collect_reserve(is_record ? REC_EVENT : REC_SYNC, sizeof *r / REC_SLOT);
	if (!r)
		return;
	r->head.flags = known[what].type;
	r->head.value = result;
	r->start = start;
	r->duration = is_record ? 0 : end - start;
	r->correlation = call->correlation;
	r->context = call->context_id;
	r->stream = stream;
	r->event = cuda_sync_number_of(event);
	r->event_sync = sync;
	collect_publish();
}

void sync_of_record(unsigned flags, const struct cupti_api *call)
{
	unsigned what = (flags & CALL_SYNC) >> 8;
	if ((flags & CALL_SYNC) == SYNC_RECORD || (known[what].is_query && call->result != 0) ||
	    !syncs_are_ours() || !calls_was_nested(call->cbid, (int64_t)call->start))
		return;
	struct rec_sync *r = collect_reserve(REC_SYNC, sizeof *r / REC_SLOT);
	if (!r)
		return;
	r->head.flags = known[what].type;
	r->head.value = call->result;
	r->start = (int64_t)call->start;
	r->duration = call->end > call->start ? (int64_t)(call->end - call->start) : 0;
	r->correlation = call->correlation;
	r->context = atomic_load_explicit(&events.context, memory_order_relaxed);
	r->stream = r->event = UINT32_MAX;
	collect_publish();
}
