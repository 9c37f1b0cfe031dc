/* opencl_queues.c - the program's queues: what it asked for, what we added, where they run.
 *
 * A queue has a place here from its creation until it is gone and all its commands were recorded; a handle that
 * comes again with another queue takes another place, so that commands of the old one still find theirs. Lookups
 * take no lock: a place is filled before its index is stored, with release order, and never moves. When all
 * places are taken, further queues are left as they are and not recorded, and that is said.
 * Devices and contexts are told with their first queue: what is never used is not in the report. A cl_context
 * with several devices is one context for each of them, as everywhere else in Headway.
 */
#include <stdio.h>
#include <string.h>

#include "collect/opencl/opencl.h"

enum { PLACES = 1024, SLOTS = 4096, DEVICES = 64, CONTEXTS = 1024 };
#define GIVEN_BACK UINT32_MAX /* of a slot: free, but others of its hash may follow */

static struct {
	struct opencl_queue at[PLACES];
	_Atomic uint32_t n;
	_Atomic uint32_t slot[SLOTS]; /* place plus one of a handle's latest queue */
	struct lock lock;             /* for adding, and for devices and contexts */
	bool is_full;
	uint32_t made; /* queues, ever */
	struct {
		void *handle;
		uint32_t told; /* generation */
	} devices[DEVICES];
	uint32_t n_devices;
	struct {
		void *context, *device;
		uint32_t told;
	} contexts[CONTEXTS];
	uint32_t n_contexts;
} queues;

static uint32_t opencl_queues_slot_of(const void *handle)
{
	uint64_t x = (uint64_t)(uintptr_t)handle * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(x >> 40) % SLOTS;
}

struct opencl_queue *queues_known(const void *handle)
{
	for (uint32_t i = 0, at = opencl_queues_slot_of(handle); i < SLOTS;
	     i++, at = (at + 1) % SLOTS) {
		uint32_t place = atomic_load_explicit(&queues.slot[at], memory_order_acquire);
		if (!place)
			return NULL;
		if (place != GIVEN_BACK && atomic_load(&queues.at[place - 1].handle) == handle)
			return &queues.at[place - 1];
	}
	return NULL;
}

/* Under the lock: where a handle's place stands, or is to stand. There are four slots for each place. */
static uint32_t slot_for(const void *handle)
{
	uint32_t at = opencl_queues_slot_of(handle), free = SLOTS;
	for (uint32_t i = 0; i < SLOTS; i++, at = (at + 1) % SLOTS) {
		uint32_t place = atomic_load(&queues.slot[at]);
		if (place && place != GIVEN_BACK &&
		    atomic_load(&queues.at[place - 1].handle) == handle)
			return at;
		if (free == SLOTS && (!place || place == GIVEN_BACK))
			free = at;
		if (!place)
			break;
	}
	return free;
}

/* Under the lock: a place that was never used, or whose queue is gone and all its commands with it. */
static struct opencl_queue *free_place(void)
{
	uint32_t n = atomic_load(&queues.n);
	if (n < PLACES) {
		atomic_store(&queues.n, n + 1);
		return &queues.at[n];
	}
	for (uint32_t i = 0; i < PLACES; i++) {
		struct opencl_queue *queue = &queues.at[i];
		if (atomic_load(&queue->references) > 0 || atomic_load(&queue->waiting) ||
		    atomic_load(&queue->is_watched))
			continue;
		uint32_t at = slot_for(queue->handle);
		if (at < SLOTS && atomic_load(&queues.slot[at]) == i + 1)
			atomic_store(&queues.slot[at], GIVEN_BACK);
		return queue;
	}
	return NULL;
}

static struct opencl_queue *opencl_queues_add(const struct opencl_queue *facts)
{
	if (!lock_take(&queues.lock))
		return NULL;
	struct opencl_queue *queue = free_place();
	bool is_news = !queue && !queues.is_full;
	queues.is_full = !queue;
	if (queue) {
		*queue = *facts;
		queue->number = ++queues.made;
		uint32_t place = (uint32_t)(queue - queues.at) + 1;
		atomic_store_explicit(&queues.slot[slot_for(facts->handle)], place,
				      memory_order_release);
	}
	lock_give(&queues.lock);
	if (is_news)
		collect_note(2,
			     "more than %d OpenCL queues at a time: the commands of the others "
			     "are not recorded",
			     PLACES);
	return queue;
}

bool queues_have_room(void)
{
	if (atomic_load(&queues.n) < PLACES)
		return true;
	for (uint32_t i = 0; i < PLACES; i++)
		if (atomic_load(&queues.at[i].references) <= 0 &&
		    !atomic_load(&queues.at[i].waiting))
			return true;
	return false;
}

void queues_add(void *handle, void *context, void *device, uint64_t flags, bool is_forced,
		const uint64_t *properties, uint32_t n_properties)
{
	struct opencl_queue facts = {
		.handle = handle,
		.context = context,
		.device = device,
		.is_profiled = flags & ABI_CL_QUEUE_PROFILING,
		.is_forced = is_forced,
		.is_in_order = !(flags & ABI_CL_QUEUE_OUT_OF_ORDER),
		.references = 1,
	};
	if (n_properties && n_properties <= QUEUE_PROPERTIES) {
		facts.n_properties = n_properties;
		memcpy(facts.properties, properties, n_properties * sizeof *properties);
	}
	opencl_queues_add(&facts);
}

static void *info_handle(void *queue, uint32_t name)
{
	void *handle = NULL;
	if (opencl_next.clGetCommandQueueInfo(queue, name, sizeof handle, &handle, NULL) !=
	    ABI_CL_SUCCESS)
		return NULL;
	return handle;
}

struct opencl_queue *queues_find(void *handle)
{
	struct opencl_queue *queue = queues_known(handle);
	if (queue || !handle || queues.is_full)
		return queue;
	struct opencl_queue facts = {
		.handle = handle,
		.context = info_handle(handle, ABI_CL_QUEUE_CONTEXT),
		.device = info_handle(handle, ABI_CL_QUEUE_DEVICE),
		.references = INT32_MAX / 2, /* not known: it is never gone */
	};
	uint64_t flags = 0;
	if (!facts.device ||
	    opencl_next.clGetCommandQueueInfo(handle, ABI_CL_QUEUE_PROPERTIES, sizeof flags, &flags,
					      NULL) != ABI_CL_SUCCESS)
		return NULL; /* no queue at all: the call will say so */
	facts.is_profiled = flags & ABI_CL_QUEUE_PROFILING;
	facts.is_in_order = !(flags & ABI_CL_QUEUE_OUT_OF_ORDER);
	return opencl_queues_add(&facts);
}

struct opencl_queue *queues_next(struct opencl_queue *queue)
{
	uint32_t place = queue ? (uint32_t)(queue - queues.at) + 1 : 0;
	return place < atomic_load(&queues.n) ? &queues.at[place] : NULL;
}

/* ---- what is told --------------------------------------------------------------------------------- */

static uint64_t device_number(void *device, uint32_t name, size_t size)
{
	uint64_t value = 0;
	if (opencl_next.clGetDeviceInfo(device, name, size, &value, NULL) != ABI_CL_SUCCESS)
		return 0;
	return value;
}

static void device_text(void *device, uint32_t name, char *into, size_t size)
{
	into[0] = '\0';
	if (opencl_next.clGetDeviceInfo(device, name, size - 1, into, NULL) != ABI_CL_SUCCESS)
		into[0] = '\0';
	into[size - 1] = '\0';
}

static void tell_versions(void *device, uint32_t index)
{
	char name[64], text[512] = "";
	void *platform = NULL;
	snprintf(name, sizeof name, "opencl.device.%u.driver", index);
	device_text(device, ABI_CL_DRIVER_VERSION, text, sizeof text);
	collect_property(name, text);
	snprintf(name, sizeof name, "opencl.device.%u.version", index);
	device_text(device, ABI_CL_DEVICE_VERSION, text, sizeof text);
	collect_property(name, text);
	if (opencl_next.clGetDeviceInfo(device, ABI_CL_DEVICE_PLATFORM, sizeof platform, &platform,
					NULL) != ABI_CL_SUCCESS ||
	    !opencl_next.clGetPlatformInfo)
		return;
	size_t used = 0;
	if (opencl_next.clGetPlatformInfo(platform, ABI_CL_PLATFORM_NAME, 256, text, NULL) ==
	    ABI_CL_SUCCESS)
		used = strnlen(text, 256);
	text[used] = ',';
	text[used + 1] = ' ';
	if (opencl_next.clGetPlatformInfo(platform, ABI_CL_PLATFORM_VERSION, 250, text + used + 2,
					  NULL) != ABI_CL_SUCCESS)
		text[used] = '\0';
	snprintf(name, sizeof name, "opencl.device.%u.platform", index);
	collect_property(name, text);
}

static void tell_device(void *device, uint32_t index)
{
	char name[256];
	device_text(device, ABI_CL_DEVICE_NAME, name, sizeof name);
	uint32_t text = collect_string_z(name);
	struct rec_device facts = {
		.name = text,
		.sms = (uint32_t)device_number(device, ABI_CL_DEVICE_MAX_COMPUTE_UNITS, 4),
		.clock_khz = (uint32_t)(1000 * device_number(device,
							     ABI_CL_DEVICE_MAX_CLOCK_FREQUENCY, 4)),
		.memory_bytes = device_number(device, ABI_CL_DEVICE_GLOBAL_MEM_SIZE, 8),
		.l2_bytes = (uint32_t)device_number(device, ABI_CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, 8),
		.max_threads_per_block =
			(uint32_t)device_number(device, ABI_CL_DEVICE_MAX_WORK_GROUP_SIZE, 8),
		.shared_per_block =
			(uint32_t)device_number(device, ABI_CL_DEVICE_LOCAL_MEM_SIZE, 8),
	};
	if (opencl_next.clGetDeviceInfo(device, ABI_CL_DEVICE_UUID, sizeof facts.uuid, facts.uuid,
					NULL) != ABI_CL_SUCCESS)
		memset(facts.uuid, 0, sizeof facts.uuid);
	struct rec_device *record = collect_reserve(REC_DEVICE, 4);
	if (!record)
		return;
	facts.head = record->head;
	facts.head.value = REC_OPENCL_DEVICE + index;
	*record = facts;
	collect_publish();
	tell_versions(device, index);
}

/* Under the lock: the number of a device, and whether this process has to be told of it. */
static uint32_t device_index(void *device, bool *is_new)
{
	uint32_t at = 0;
	while (at < queues.n_devices && queues.devices[at].handle != device)
		at++;
	if (at == DEVICES)
		at = DEVICES - 1; /* the last one stands for the rest */
	if (at == queues.n_devices) {
		queues.n_devices++;
		queues.devices[at].handle = device;
	}
	*is_new = queues.devices[at].told != opencl_generation;
	queues.devices[at].told = opencl_generation;
	return at;
}

static uint32_t context_index(void *context, void *device, bool *is_new)
{
	uint32_t at = 0;
	while (at < queues.n_contexts &&
	       (queues.contexts[at].context != context || queues.contexts[at].device != device))
		at++;
	if (at == CONTEXTS)
		at = CONTEXTS - 1;
	if (at == queues.n_contexts) {
		queues.n_contexts++;
		queues.contexts[at].context = context;
		queues.contexts[at].device = device;
	}
	*is_new = queues.contexts[at].told != opencl_generation;
	queues.contexts[at].told = opencl_generation;
	return at;
}

static void put_context(const struct opencl_queue *queue)
{
	struct rec_context *record = collect_reserve(REC_CONTEXT, 1);
	if (!record)
		return;
	record->head.value = queue->context_id;
	record->device = queue->device_id;
	record->null_stream = UINT32_MAX; /* there is none */
	collect_publish();
}

static void put_stream(const struct opencl_queue *queue)
{
	char name[64];
	snprintf(name, sizeof name, "queue %u%s", queue->number,
		 queue->is_in_order ? "" : " (out of order)");
	uint32_t text = collect_string_z(name);
	struct rec_stream *record = collect_reserve(REC_STREAM, 1);
	if (!record)
		return;
	record->head.value = queue->number;
	record->head.flags = queue->is_in_order ? REC_STREAM_IN_ORDER : REC_STREAM_OUT_OF_ORDER;
	record->context = queue->context_id;
	record->name = text;
	collect_publish();
}

void queues_tell(struct opencl_queue *queue)
{
	if (atomic_load(&queue->told) == opencl_generation || !lock_take(&queues.lock))
		return;
	bool is_first = atomic_load(&queue->told) != opencl_generation;
	bool device_is_new, context_is_new;
	uint32_t device = device_index(queue->device, &device_is_new);
	uint32_t context = context_index(queue->context, queue->device, &context_is_new);
	queue->device_id = REC_OPENCL_DEVICE + device;
	queue->context_id = REC_OPENCL_CONTEXT + context;
	atomic_store(&queue->told, opencl_generation); /* others may use the ids now */
	lock_give(&queues.lock);
	if (!is_first)
		return;
	if (device_is_new)
		tell_device(queue->device, device);
	if (context_is_new)
		put_context(queue);
	put_stream(queue);
	if (!queue->is_profiled)
		collect_note(2,
			     "OpenCL queue %u gives no times: its commands are not recorded, only "
			     "the calls",
			     queue->number);
}

/* The child has the queues and none of the commands, and has told nothing yet. */
void queues_after_fork(void)
{
	queues.lock = (struct lock){0};
	for (uint32_t i = 0; i < atomic_load(&queues.n); i++) {
		queues.at[i].first = queues.at[i].last = 0;
		atomic_store(&queues.at[i].waiting, 0);
		atomic_store(&queues.at[i].is_watched, false);
	}
}
