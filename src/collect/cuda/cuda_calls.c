/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_calls.c - which runtime and driver calls are recorded, watched or sampled.
 *
 * CUPTI knows calls by number (cbid). The numbers' names come from the library itself, so that a
 * call of a later CUDA is recognised by its name too. The patterns follow src/trace/roles.c: a call
 * that has a role there is recorded here (tests/collect holds the two tables together). CUPTI 13.0
 * makes no record of a driver call inside a recorded runtime call, so both lists can be on.
 *
 * A callback costs about 250 ns (H200, CUDA 13.0: a launch with callbacks on both of its calls took
 * 1 µs more). So launches are watched for moments only, and a driver call that the runtime makes is
 * not watched, unless it has to do with events. 'calls.lock' serialises cuptiEnableCallback, as
 * CUPTI demands; nothing else is done under it.
 */
#include <pthread.h>
#include <string.h>

#include "collect/cuda/cuda.h"

static const struct {
	/* The call's name without "cuda" or "cu", and without version and per-thread suffix. */
	const char *pattern;
	unsigned flags;
} patterns[] = {
	{"ProfilerStart", CALL_START},
	{"ProfilerStop", CALL_STOP},

	{"LaunchHostFunc*", CALL_RECORD},
	{"StreamAddCallback*", CALL_RECORD},
	{"Launch*", CALL_RECORD | CALL_LAUNCH},
	{"GraphLaunch*", CALL_RECORD | CALL_LAUNCH},
	{"StreamBeginCapture*", CALL_RECORD},
	{"StreamEndCapture*", CALL_RECORD},
	{"StreamUpdateCaptureDependencies*", CALL_RECORD},
	{"GraphInstantiate*", CALL_RECORD | CALL_ALLOC},
	{"GraphGet*", 0},
	{"Graph*", CALL_RECORD},

	{"Memcpy*", CALL_RECORD | CALL_COPY},
	{"MemPrefetch*", CALL_RECORD | CALL_COPY},
	{"Memset*", CALL_RECORD | CALL_LAUNCH},

	{"DeviceSynchronize", CALL_RECORD | CALL_WAIT | SYNC_CONTEXT},
	{"ThreadSynchronize", CALL_RECORD | CALL_WAIT | SYNC_CONTEXT},
	{"CtxSynchronize*", CALL_RECORD | CALL_WAIT | SYNC_CONTEXT},
	{"StreamSynchronize", CALL_RECORD | CALL_WAIT | SYNC_STREAM},
	{"EventSynchronize", CALL_RECORD | CALL_WAIT | SYNC_EVENT},
	{"EventRecord*", CALL_RECORD | SYNC_RECORD},
	{"StreamWaitEvent", CALL_RECORD | SYNC_STREAM_WAIT},
	{"StreamWaitValue*", CALL_RECORD},
	{"EventQuery", CALL_RECORD | SYNC_EVENT_QUERY},
	{"StreamQuery", CALL_RECORD | SYNC_STREAM_QUERY},

	{"HostAlloc", CALL_RECORD | CALL_ALLOC},
	{"HostRegister", CALL_RECORD | CALL_ALLOC},
	{"MemHostAlloc", CALL_RECORD | CALL_ALLOC},
	{"MemHostRegister", CALL_RECORD | CALL_ALLOC},
	{"Malloc*", CALL_RECORD | CALL_ALLOC},
	{"MemAlloc*", CALL_RECORD | CALL_ALLOC},
	{"MemCreate", CALL_RECORD | CALL_ALLOC},
	{"MemMap*", CALL_RECORD | CALL_ALLOC},
	{"MemAddressReserve", CALL_RECORD | CALL_ALLOC},
	{"MemSetAccess", CALL_RECORD | CALL_ALLOC},
	{"MemPoolCreate", CALL_RECORD | CALL_ALLOC},
	{"ArrayCreate", CALL_RECORD | CALL_ALLOC},
	{"Array3DCreate", CALL_RECORD | CALL_ALLOC},
	{"MipmappedArrayCreate", CALL_RECORD | CALL_ALLOC},

	{"Free*", CALL_RECORD | CALL_WAIT},
	{"MemFree*", CALL_RECORD | CALL_WAIT},
	{"HostUnregister", CALL_RECORD | CALL_WAIT},
	{"MemHostUnregister", CALL_RECORD | CALL_WAIT},
	{"MemUnmap", CALL_RECORD | CALL_WAIT},
	{"MemRelease", CALL_RECORD | CALL_WAIT},
	{"MemAddressFree", CALL_RECORD | CALL_WAIT},
	{"MemPoolDestroy", CALL_RECORD | CALL_WAIT},
	{"MemPoolTrimTo", CALL_RECORD | CALL_WAIT},
	{"ArrayDestroy", CALL_RECORD | CALL_WAIT},

	{"ModuleLoad*", CALL_RECORD | CALL_WAIT},
	{"ModuleUnload", CALL_RECORD | CALL_WAIT},
	{"LibraryLoad*", CALL_RECORD | CALL_WAIT},
	{"LibraryUnload", CALL_RECORD | CALL_WAIT},
	{"Link*", CALL_RECORD | CALL_WAIT},
};

enum { DRIVER, RUNTIME, DOMAINS };
/* State of a call. SEEN: the program makes it itself. NESTED: the runtime makes it. OPEN: its
 * callback is on. */
enum { SEEN = 1, NESTED = 2, OPEN = 4 };

static struct {
	/* is_known: whether CUPTI has a name for the call; written once. */
	bool is_known[DOMAINS][CALL_IDS];
	uint16_t flags[DOMAINS][CALL_IDS]; /* CALL_ and SYNC_ bits; written once */
	/* state: for each call the bits SEEN, NESTED and OPEN; OPEN is changed under 'lock'. */
	_Atomic uint8_t state[DOMAINS][CALL_IDS];
	_Atomic bool watching, sampling, syncing;
	_Atomic bool is_stale; /* a call was seen whose callback may have to be switched */
	/* From when to when (ns) the callback of a driver call was off because the runtime makes
	 * the call; 0: it was not off, or is off still. */
	_Atomic int64_t nested_from[CALL_IDS], nested_to[CALL_IDS];
	pthread_mutex_t lock;
} calls = {.lock = PTHREAD_MUTEX_INITIALIZER};

static unsigned domain_index(uint32_t domain)
{
	return domain == CUPTI_DOMAIN_DRIVER ? DRIVER : RUNTIME;
}

static uint32_t domain_of_index(unsigned index)
{
	return index == DRIVER ? CUPTI_DOMAIN_DRIVER : CUPTI_DOMAIN_RUNTIME;
}

/* Length of a call's name without "_v7000", "_ptsz" or "_ptds" at its end. */
static size_t base_length(const char *name)
{
	size_t n = strlen(name);
	for (;;) {
		size_t digits = n;
		while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
			digits--;
		if (digits < n && digits >= 2 && name[digits - 1] == 'v' && name[digits - 2] == '_')
			n = digits - 2;
		else if (n > 5 && (memcmp(name + n - 5, "_ptsz", 5) == 0 ||
				   memcmp(name + n - 5, "_ptds", 5) == 0))
			n -= 5;
		else
			return n;
	}
}

/* A call's name without leading underscores: CUDA 13 has __cudaLaunchKernel beside
 * cudaLaunchKernel, and to a reader they are one. */
static const char *plain_name(const char *name)
{
	while (*name == '_')
		name++;
	return name;
}

unsigned cuda_calls_flags_of_name(const char *name)
{
	name = plain_name(name);
	if (strncmp(name, "cuda", 4) == 0)
		name += 4;
	else if (strncmp(name, "cu", 2) == 0)
		name += 2;
	else
		return 0;
	size_t length = base_length(name);
	for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
		const char *pattern = patterns[i].pattern;
		size_t fixed = strcspn(pattern, "*");
		if (length < fixed || (pattern[fixed] != '*' && length != fixed))
			continue;
		if (memcmp(pattern, name, fixed) == 0)
			return patterns[i].flags;
	}
	return 0;
}

static const char *call_name(unsigned index, uint32_t cbid)
{
	const char *name = NULL;
	if (cuda.cupti.cuptiGetCallbackName(domain_of_index(index), cbid, &name) != CUPTI_OK)
		return NULL;
	return name;
}

void cuda_calls_init(void)
{
	for (unsigned index = 0; index < DOMAINS; index++)
		for (uint32_t cbid = 1; cbid < CALL_IDS; cbid++) {
			const char *name = call_name(index, cbid);
			calls.is_known[index][cbid] = name != NULL;
			if (!name)
				continue;
			calls.flags[index][cbid] = (uint16_t)cuda_calls_flags_of_name(name);
			if (strstr(name, "_ptsz") || strstr(name, "_ptds"))
				calls.flags[index][cbid] |= CALL_PER_THREAD;
		}
}

unsigned cuda_calls_flags(uint32_t domain, uint32_t cbid)
{
	return cbid < CALL_IDS ? calls.flags[domain_index(domain)][cbid] : 0;
}

static void enable_calls(bool wanted, bool on)
{
	const struct cupti_functions *f = &cuda.cupti;
	for (uint32_t cbid = 1; cbid < CALL_IDS; cbid++) {
		if (calls.is_known[RUNTIME][cbid] &&
		    !(calls.flags[RUNTIME][cbid] & CALL_RECORD) == !wanted)
			f->cuptiActivityEnableRuntimeApi(cbid, on);
		if (calls.is_known[DRIVER][cbid] &&
		    !(calls.flags[DRIVER][cbid] & CALL_RECORD) == !wanted)
			f->cuptiActivityEnableDriverApi(cbid, on);
	}
}

bool cuda_calls_are_chosen(void)
{
	return !collect_control->all_apis && cuda.cupti.cuptiActivityEnableRuntimeApi &&
	       cuda.cupti.cuptiActivityEnableDriverApi;
}

/* Choosing calls one by one works only inside cuInit (CUDA 13.0: a later choice causes no error,
 * but nothing is recorded). After cuInit all calls are switched on, and the unwanted ones off
 * again. A CUPTI that offers no choice records all calls, and cuda_records.c leaves out the
 * unwanted ones. */
void cuda_calls_record(bool on, bool in_init)
{
	const struct cupti_functions *f = &cuda.cupti;
	bool has_choice = cuda_calls_are_chosen();
	if (has_choice && in_init) {
		enable_calls(true, on);
		return;
	}
	if (has_choice && !on)
		enable_calls(true, false);
	int (*change)(uint32_t) = on ? f->cuptiActivityEnable : f->cuptiActivityDisable;
	change(CUPTI_RUNTIME);
	change(CUPTI_DRIVER);
	if (has_choice && on)
		enable_calls(false, false);
}

/* ---- switching callbacks; the caller of each function holds 'lock' ---- */

/* True for calls on events, whose callbacks always stay on: a wait's event record is known only if
 * no record of the event was missed. */
static bool stays_watched(unsigned flags)
{
	unsigned sync = flags & CALL_SYNC;
	return calls.syncing && (sync == SYNC_RECORD || sync == SYNC_STREAM_WAIT ||
				 sync == SYNC_EVENT || sync == SYNC_EVENT_QUERY);
}

static bool is_wanted(unsigned index, uint32_t cbid, unsigned state)
{
	unsigned flags = calls.flags[index][cbid];
	if (flags & (CALL_START | CALL_STOP))
		return collect_control->capture == REC_CAPTURE_PROFILER_API;
	if (stays_watched(flags))
		return true;
	if (state & NESTED)
		return false;
	if ((flags & CALL_SYNC) && calls.syncing)
		return true;
	if (flags & (CALL_WAIT | CALL_ALLOC | CALL_COPY))
		return calls.watching;
	return (flags & CALL_LAUNCH) && (state & SEEN) && calls.watching && calls.sampling;
}

static void set_callback(unsigned index, uint32_t cbid, bool open)
{
	if (cuda.cupti.cuptiEnableCallback(open, cuda.subscriber, domain_of_index(index), cbid) !=
	    CUPTI_OK)
		return;
	if (open)
		atomic_fetch_or(&calls.state[index][cbid], OPEN);
	else
		atomic_fetch_and(&calls.state[index][cbid], (uint8_t)~OPEN);
	if (index == DRIVER && open && calls.nested_from[cbid] && !calls.nested_to[cbid])
		calls.nested_to[cbid] = collect_now();
}

static void refresh_callback(unsigned index, uint32_t cbid)
{
	unsigned state = atomic_load(&calls.state[index][cbid]);
	bool wanted = is_wanted(index, cbid, state);
	if (wanted != ((state & OPEN) != 0))
		set_callback(index, cbid, wanted);
}

enum { ANY = 0xffff };

static void refresh_callbacks(unsigned having)
{
	for (unsigned index = 0; index < DOMAINS; index++)
		for (uint32_t cbid = 1; cbid < CALL_IDS; cbid++)
			if (calls.flags[index][cbid] & having)
				refresh_callback(index, cbid);
}

void cuda_calls_watch(bool on)
{
	pthread_mutex_lock(&calls.lock);
	calls.watching = on && collect_control->stack_threshold >= 0;
	calls.syncing = on && cuda_sync_uses_callbacks();
	refresh_callbacks(ANY);
	pthread_mutex_unlock(&calls.lock);
}

void cuda_calls_sample(bool on)
{
	pthread_mutex_lock(&calls.lock);
	calls.sampling = on;
	refresh_callbacks(CALL_LAUNCH);
	pthread_mutex_unlock(&calls.lock);
}

bool cuda_calls_sampling(void)
{
	return calls.sampling;
}

bool cuda_calls_sample_off_if_free(void)
{
	if (pthread_mutex_trylock(&calls.lock) != 0)
		return false;
	calls.sampling = false;
	refresh_callbacks(CALL_LAUNCH);
	pthread_mutex_unlock(&calls.lock);
	return true;
}

void cuda_calls_all(void)
{
	pthread_mutex_lock(&calls.lock);
	for (unsigned index = 0; index < DOMAINS; index++)
		for (uint32_t cbid = 1; cbid < CALL_IDS; cbid++)
			if (calls.flags[index][cbid] & CALL_RECORD)
				set_callback(index, cbid, true);
	pthread_mutex_unlock(&calls.lock);
}

/* ---- calls that were seen in records and callbacks ------------------------------------------- */

static void define_name(unsigned index, uint32_t cbid)
{
	const char *name = call_name(index, cbid);
	if (!name)
		return;
	uint32_t text = collect_string_z(plain_name(name));
	struct rec_naming *r = collect_reserve(REC_NAME, 1);
	if (!r)
		return;
	r->head.flags = REC_NAMED_CALL;
	r->head.value = text;
	r->domain = domain_of_index(index);
	r->number = cbid;
	collect_publish(r);
}

void cuda_calls_begin_again(void)
{
	for (unsigned index = 0; index < DOMAINS; index++)
		for (uint32_t cbid = 1; cbid < CALL_IDS; cbid++)
			if (atomic_load(&calls.state[index][cbid]) & SEEN)
				define_name(index, cbid);
}

/* Runs inside CUPTI's delivery of a buffer, where no callback may be switched: cuda_calls_settle
 * does that. */
void cuda_calls_seen(uint32_t domain, uint32_t cbid)
{
	unsigned index = domain_index(domain);
	if (cbid >= CALL_IDS)
		return;
	_Atomic uint8_t *state = &calls.state[index][cbid];
	if ((atomic_load_explicit(state, memory_order_relaxed) & SEEN) ||
	    (atomic_fetch_or(state, SEEN) & SEEN))
		return;
	atomic_fetch_and(state, (uint8_t)~NESTED);
	define_name(index, cbid);
	atomic_store(&calls.is_stale, true);
}

void cuda_calls_settle(void)
{
	if (!atomic_exchange(&calls.is_stale, false))
		return;
	pthread_mutex_lock(&calls.lock);
	refresh_callbacks(ANY);
	pthread_mutex_unlock(&calls.lock);
}

void cuda_calls_nested(uint32_t cbid)
{
	if (cbid >= CALL_IDS || (atomic_load(&calls.state[DRIVER][cbid]) & (SEEN | NESTED)) ||
	    stays_watched(calls.flags[DRIVER][cbid]))
		return;
	if (pthread_mutex_trylock(&calls.lock) != 0)
		return;
	atomic_fetch_or(&calls.state[DRIVER][cbid], NESTED);
	calls.nested_from[cbid] = collect_now();
	refresh_callback(DRIVER, cbid);
	pthread_mutex_unlock(&calls.lock);
}

bool cuda_calls_was_nested(uint32_t cbid, int64_t time)
{
	if (cbid >= CALL_IDS)
		return false;
	int64_t from = calls.nested_from[cbid], to = calls.nested_to[cbid];
	return from && time >= from && (!to || time < to);
}
