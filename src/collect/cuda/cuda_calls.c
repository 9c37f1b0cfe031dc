/* cuda_calls.c - which runtime and driver calls are recorded, watched or sampled.
 *
 * CUPTI knows calls by number (cbid); the numbers' names come from the library itself, so a call that a later
 * CUDA brings is told by its name too. The patterns follow src/trace/roles.c: what has a role there is
 * recorded here (tests/collect holds the two tables together). CUPTI 13.0 makes no record of a driver call
 * inside a recorded runtime call, so both lists can be on.
 *
 * Callbacks cost about 250 ns each (H200, CUDA 13.0: a launch with callbacks on both of its calls took 1 µs more),
 * so launches are watched for moments only, and a driver call that is made by the runtime is not watched, except
 * those that have to do with events. 'lock' serialises cuptiEnableCallback, as CUPTI demands; nothing else is done
 * under it.
 */
#include <pthread.h>
#include <string.h>

#include "collect/cuda/cuda.h"

static const struct {
	const char *pattern; /* after "cuda" or "cu", without version and per-thread suffix */
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
enum { SEEN = 1, NESTED = 2, OPEN = 4 }; /* OPEN: its callback is on, by 'lock' */

static struct {
	bool is_known[DOMAINS][CALL_IDS];         /* the library has it; written once */
	uint16_t flags[DOMAINS][CALL_IDS];        /* CALL_…; written once */
	_Atomic uint8_t state[DOMAINS][CALL_IDS]; /* SEEN …; OPEN is changed under 'lock' */
	_Atomic bool watching, sampling, syncing;
	_Atomic bool is_stale; /* a call was seen whose callback may have to change */
	/* When the callback of a driver call was off because the runtime makes it, 0: it was not. */
	_Atomic int64_t nested_from[CALL_IDS], nested_to[CALL_IDS];
	pthread_mutex_t lock;
} calls = {.lock = PTHREAD_MUTEX_INITIALIZER};

static unsigned index_of(uint32_t domain)
{
	return domain == CUPTI_DOMAIN_DRIVER ? DRIVER : RUNTIME;
}

static uint32_t cuda_calls_domain_of(unsigned index)
{
	return index == DRIVER ? CUPTI_DOMAIN_DRIVER : CUPTI_DOMAIN_RUNTIME;
}

/* Length of the name without "_v7000", "_ptsz", "_ptds" at its end. */
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

/* CUDA 13 has __cudaLaunchKernel beside cudaLaunchKernel; to a reader they are one. */
static const char *plain_name(const char *name)
{
	while (*name == '_')
		name++;
	return name;
}

unsigned calls_of_name(const char *name)
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

static const char *cuda_calls_name_of(unsigned index, uint32_t cbid)
{
	const char *name = NULL;
	if (cuda.cupti.cuptiGetCallbackName(cuda_calls_domain_of(index), cbid, &name) != CUPTI_OK)
		return NULL;
	return name;
}

void calls_init(void)
{
	for (unsigned index = 0; index < DOMAINS; index++)
		for (uint32_t cbid = 1; cbid < CALL_IDS; cbid++) {
			const char *name = cuda_calls_name_of(index, cbid);
			calls.is_known[index][cbid] = name != NULL;
			if (!name)
				continue;
			calls.flags[index][cbid] = (uint16_t)calls_of_name(name);
			if (strstr(name, "_ptsz") || strstr(name, "_ptds"))
				calls.flags[index][cbid] |= CALL_PER_THREAD;
		}
}

unsigned calls_of(uint32_t domain, uint32_t cbid)
{
	return cbid < CALL_IDS ? calls.flags[index_of(domain)][cbid] : 0;
}

static void cuda_calls_choose(bool wanted, bool on)
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

bool calls_are_chosen(void)
{
	return !collect_control->all_apis && cuda.cupti.cuptiActivityEnableRuntimeApi &&
	       cuda.cupti.cuptiActivityEnableDriverApi;
}

/* A list of calls works inside cuInit only (CUDA 13.0: later it is taken without an error, and nothing is
 * recorded); afterwards all are switched on and the others off again. Libraries without the choice record all,
 * and cuda_records.c leaves out the rest. */
void calls_record(bool on, bool in_init)
{
	const struct cupti_functions *f = &cuda.cupti;
	bool has_choice = calls_are_chosen();
	if (has_choice && in_init) {
		cuda_calls_choose(true, on);
		return;
	}
	if (has_choice && !on)
		cuda_calls_choose(true, false);
	int (*change)(uint32_t) = on ? f->cuptiActivityEnable : f->cuptiActivityDisable;
	change(CUPTI_RUNTIME);
	change(CUPTI_DRIVER);
	if (has_choice && on)
		cuda_calls_choose(false, false);
}

/* ---- callbacks; all under 'lock' ---- */

/* Which record of an event a wait is for is known only if none was missed. */
static bool keeps(unsigned flags)
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
	if (keeps(flags))
		return true;
	if (state & NESTED)
		return false;
	if ((flags & CALL_SYNC) && calls.syncing)
		return true;
	if (flags & (CALL_WAIT | CALL_ALLOC | CALL_COPY))
		return calls.watching;
	return (flags & CALL_LAUNCH) && (state & SEEN) && calls.watching && calls.sampling;
}

static void set(unsigned index, uint32_t cbid, bool open)
{
	if (cuda.cupti.cuptiEnableCallback(open, cuda.subscriber, cuda_calls_domain_of(index),
					   cbid) != CUPTI_OK)
		return;
	if (open)
		atomic_fetch_or(&calls.state[index][cbid], OPEN);
	else
		atomic_fetch_and(&calls.state[index][cbid], (uint8_t)~OPEN);
	if (index == DRIVER && open && calls.nested_from[cbid] && !calls.nested_to[cbid])
		calls.nested_to[cbid] = collect_now();
}

static void refresh(unsigned index, uint32_t cbid)
{
	unsigned state = atomic_load(&calls.state[index][cbid]);
	bool wanted = is_wanted(index, cbid, state);
	if (wanted != ((state & OPEN) != 0))
		set(index, cbid, wanted);
}

enum { ANY = 0xffff };

static void refresh_all(unsigned having)
{
	for (unsigned index = 0; index < DOMAINS; index++)
		for (uint32_t cbid = 1; cbid < CALL_IDS; cbid++)
			if (calls.flags[index][cbid] & having)
				refresh(index, cbid);
}

void calls_watch(bool on)
{
	pthread_mutex_lock(&calls.lock);
	calls.watching = on && collect_control->stack_threshold >= 0;
	calls.syncing = on && syncs_are_ours();
	refresh_all(ANY);
	pthread_mutex_unlock(&calls.lock);
}

void calls_sample(bool on)
{
	pthread_mutex_lock(&calls.lock);
	calls.sampling = on;
	refresh_all(CALL_LAUNCH);
	pthread_mutex_unlock(&calls.lock);
}

bool calls_sampling(void)
{
	return calls.sampling;
}

bool calls_sample_off_if_free(void)
{
	if (pthread_mutex_trylock(&calls.lock) != 0)
		return false;
	calls.sampling = false;
	refresh_all(CALL_LAUNCH);
	pthread_mutex_unlock(&calls.lock);
	return true;
}

void calls_all(void)
{
	pthread_mutex_lock(&calls.lock);
	for (unsigned index = 0; index < DOMAINS; index++)
		for (uint32_t cbid = 1; cbid < CALL_IDS; cbid++)
			if (calls.flags[index][cbid] & CALL_RECORD)
				set(index, cbid, true);
	pthread_mutex_unlock(&calls.lock);
}

/* ---- what the records and callbacks tell ---- */

static void define_name(unsigned index, uint32_t cbid)
{
	const char *name = cuda_calls_name_of(index, cbid);
	if (!name)
		return;
	uint32_t text = collect_string_z(plain_name(name));
	struct rec_naming *r = collect_reserve(REC_NAME, 1);
	if (!r)
		return;
	r->head.flags = REC_NAMED_CALL;
	r->head.value = text;
	r->domain = cuda_calls_domain_of(index);
	r->number = cbid;
	collect_publish();
}

/* Inside CUPTI's delivery of a buffer: the callback itself is changed by calls_settle. */
void calls_seen(uint32_t domain, uint32_t cbid)
{
	unsigned index = index_of(domain);
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

void calls_settle(void)
{
	if (!atomic_exchange(&calls.is_stale, false))
		return;
	pthread_mutex_lock(&calls.lock);
	refresh_all(ANY);
	pthread_mutex_unlock(&calls.lock);
}

void calls_nested(uint32_t cbid)
{
	if (cbid >= CALL_IDS || (atomic_load(&calls.state[DRIVER][cbid]) & (SEEN | NESTED)) ||
	    keeps(calls.flags[DRIVER][cbid]))
		return;
	if (pthread_mutex_trylock(&calls.lock) != 0)
		return;
	atomic_fetch_or(&calls.state[DRIVER][cbid], NESTED);
	calls.nested_from[cbid] = collect_now();
	refresh(DRIVER, cbid);
	pthread_mutex_unlock(&calls.lock);
}

bool calls_was_nested(uint32_t cbid, int64_t time)
{
	if (cbid >= CALL_IDS)
		return false;
	int64_t from = calls.nested_from[cbid], to = calls.nested_to[cbid];
	return from && time >= from && (!to || time < to);
}
