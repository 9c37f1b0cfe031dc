/* SPDX-License-Identifier: Apache-2.0 */
/* opencl_queues.c - the program's queues: what the program asked for, what the collector added,
 * where they run.
 *
 * A queue has a place here from its creation until it is gone and all its commands were recorded; a
 * handle that comes again with another queue gets another place, so that commands of the old queue
 * still find theirs. Lookups take no lock: a place is filled before its number is stored, with
 * release order, and never moves. When all places are taken, further queues are left as they are
 * and not recorded, and a note says so. Devices and contexts are recorded with their first queue:
 * what is never used is not in the report. A cl_context with several devices is recorded as one
 * context for each device, as everywhere else in Headway.
 */
#include <stdio.h>
#include <string.h>

#include "collect/opencl/opencl.h"

enum { PLACES = 1024, SLOTS = 4096, DEVICES = 64, CONTEXTS = 1024 };
/* Marks a slot of the hash table that is free again: a search must go on behind such a slot. */
#define GIVEN_BACK UINT32_MAX

static struct {
	struct opencl_queue places[PLACES];
	_Atomic uint32_t n; /* how many places were ever used */
	/* A hash table of the place, numbered from 1, of a handle's latest queue; 0: the slot is
	 * free. */
	_Atomic uint32_t slot[SLOTS];
	struct lock lock; /* guards the adding of queues, and 'devices' and 'contexts' */
	bool is_full;
	uint32_t made; /* how many queues were recorded so far */
	struct {
		void *handle;
		/* The generation in whose spools the device is defined;
		 * each fork begins a new generation. */
		uint32_t reported_in;
	} devices[DEVICES];
	uint32_t n_devices;
	struct {
		void *context, *device;
		/* The generation in whose spools the context is defined;
		 * each fork begins a new generation. */
		uint32_t reported_in;
	} contexts[CONTEXTS];
	uint32_t n_contexts;
} queues;

/* Yields the queue in a place. Places are numbered from 1. */
static struct opencl_queue *queue_in(uint32_t place)
{
	return &queues.places[place - 1];
}

static uint32_t place_of(const struct opencl_queue *queue)
{
	return (uint32_t)(queue - queues.places) + 1;
}

static uint32_t first_slot(const void *handle)
{
	uint64_t x = (uint64_t)(uintptr_t)handle * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(x >> 40) % SLOTS;
}

struct opencl_queue *opencl_queues_lookup(const void *handle)
{
	for (uint32_t i = 0, slot = first_slot(handle); i < SLOTS; i++, slot = (slot + 1) % SLOTS) {
		uint32_t place = atomic_load_explicit(&queues.slot[slot], memory_order_acquire);
		if (!place)
			return NULL;
		if (place != GIVEN_BACK && atomic_load(&queue_in(place)->handle) == handle)
			return queue_in(place);
	}
	return NULL;
}

/* Under the lock: the slot that has, or is to have, a handle's place; SLOTS: none. There are four
 * slots for each place. */
static uint32_t slot_for(const void *handle)
{
	uint32_t slot = first_slot(handle), free = SLOTS;
	for (uint32_t i = 0; i < SLOTS; i++, slot = (slot + 1) % SLOTS) {
		uint32_t place = atomic_load(&queues.slot[slot]);
		if (place && place != GIVEN_BACK && atomic_load(&queue_in(place)->handle) == handle)
			return slot;
		if (free == SLOTS && (!place || place == GIVEN_BACK))
			free = slot;
		if (!place)
			break;
	}
	return free;
}

/* Under the lock: a place that was never used, or whose queue is gone and has no commands any more;
 * NULL: none. */
static struct opencl_queue *free_place(void)
{
	uint32_t n = atomic_load(&queues.n);
	if (n < PLACES) {
		atomic_store(&queues.n, n + 1);
		return &queues.places[n];
	}
	for (uint32_t i = 0; i < PLACES; i++) {
		struct opencl_queue *queue = &queues.places[i];
		if (atomic_load(&queue->references) > 0 || atomic_load(&queue->waiting) ||
		    atomic_load(&queue->is_watched))
			continue;
		uint32_t slot = slot_for(queue->handle);
		if (slot < SLOTS && atomic_load(&queues.slot[slot]) == place_of(queue))
			atomic_store(&queues.slot[slot], GIVEN_BACK);
		return queue;
	}
	return NULL;
}

static struct opencl_queue *insert_queue(const struct opencl_queue *facts)
{
	if (!lock_take(&queues.lock))
		return NULL;
	struct opencl_queue *queue = free_place();
	bool is_news = !queue && !queues.is_full;
	queues.is_full = !queue;
	if (queue) {
		*queue = *facts;
		queue->number = ++queues.made;
		atomic_store_explicit(&queues.slot[slot_for(facts->handle)], place_of(queue),
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

bool opencl_queues_have_room(void)
{
	if (atomic_load(&queues.n) < PLACES)
		return true;
	for (uint32_t i = 0; i < PLACES; i++)
		if (atomic_load(&queues.places[i].references) <= 0 &&
		    !atomic_load(&queues.places[i].waiting))
			return true;
	return false;
}

void opencl_queues_add(void *handle, void *context, void *device, uint64_t flags, bool is_forced,
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
	insert_queue(&facts);
}

static void *info_handle(void *queue, uint32_t name)
{
	void *handle = NULL;
	if (opencl_next.clGetCommandQueueInfo(queue, name, sizeof handle, &handle, NULL) !=
	    ABI_CL_SUCCESS)
		return NULL;
	return handle;
}

struct opencl_queue *opencl_queues_find(void *handle)
{
	struct opencl_queue *queue = opencl_queues_lookup(handle);
	if (queue || !handle || queues.is_full)
		return queue;
	struct opencl_queue facts = {
		.handle = handle,
		.context = info_handle(handle, ABI_CL_QUEUE_CONTEXT),
		.device = info_handle(handle, ABI_CL_QUEUE_DEVICE),
		/* The count is unknown, and so high that the queue is never taken for released. */
		.references = INT32_MAX / 2,
	};
	uint64_t flags = 0;
	if (!facts.device ||
	    opencl_next.clGetCommandQueueInfo(handle, ABI_CL_QUEUE_PROPERTIES, sizeof flags, &flags,
					      NULL) != ABI_CL_SUCCESS)
		return NULL; /* the handle is no queue: the program's call will fail */
	facts.is_profiled = flags & ABI_CL_QUEUE_PROFILING;
	facts.is_in_order = !(flags & ABI_CL_QUEUE_OUT_OF_ORDER);
	return insert_queue(&facts);
}

struct opencl_queue *opencl_queues_next(struct opencl_queue *queue)
{
	uint32_t next = queue ? place_of(queue) + 1 : 1;
	return next <= atomic_load(&queues.n) ? queue_in(next) : NULL;
}

/* ---- records --------------------------------------------------------------------------------- */

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

static void put_type(void *device, uint32_t index)
{
	enum { CPU = 1 << 1, GPU = 1 << 2 }; /* OpenCL 3.0, CL_DEVICE_TYPE_… */
	char name[64];
	uint64_t type = device_number(device, ABI_CL_DEVICE_TYPE, 8);
	snprintf(name, sizeof name, "opencl.device.%u.type", index);
	if (type & (CPU | GPU))
		collect_property(name, type & GPU ? "gpu" : "cpu");
}

static void put_versions(void *device, uint32_t index)
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

static void put_device(void *device, uint32_t index)
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
	collect_publish(record);
	put_type(device, index);
	put_versions(device, index);
}

/* Yields the index of a device, and whether this process has yet to record the device. The
 * caller holds the lock. */
static uint32_t device_index(void *device, bool *is_new)
{
	uint32_t i = 0;
	while (i < queues.n_devices && queues.devices[i].handle != device)
		i++;
	if (i == DEVICES)
		i = DEVICES - 1; /* the last place stands for all further devices */
	if (i == queues.n_devices) {
		queues.n_devices++;
		queues.devices[i].handle = device;
	}
	*is_new = queues.devices[i].reported_in != opencl_generation();
	queues.devices[i].reported_in = opencl_generation();
	return i;
}

static uint32_t context_index(void *context, void *device, bool *is_new)
{
	uint32_t i = 0;
	while (i < queues.n_contexts &&
	       (queues.contexts[i].context != context || queues.contexts[i].device != device))
		i++;
	if (i == CONTEXTS)
		i = CONTEXTS - 1;
	if (i == queues.n_contexts) {
		queues.n_contexts++;
		queues.contexts[i].context = context;
		queues.contexts[i].device = device;
	}
	*is_new = queues.contexts[i].reported_in != opencl_generation();
	queues.contexts[i].reported_in = opencl_generation();
	return i;
}

static void put_context(const struct opencl_queue *queue)
{
	struct rec_context *record = collect_reserve(REC_CONTEXT, 1);
	if (!record)
		return;
	record->head.value = queue->context_id;
	record->device = queue->device_id;
	record->null_stream = UINT32_MAX; /* OpenCL has no default queue */
	collect_publish(record);
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
	collect_publish(record);
}

void opencl_queues_report(struct opencl_queue *queue)
{
	if (atomic_load(&queue->reported_in) == opencl_generation() || !lock_take(&queues.lock))
		return;
	bool is_first = atomic_load(&queue->reported_in) != opencl_generation();
	bool device_is_new, context_is_new;
	uint32_t device = device_index(queue->device, &device_is_new);
	uint32_t context = context_index(queue->context, queue->device, &context_is_new);
	queue->device_id = REC_OPENCL_DEVICE + device;
	queue->context_id = REC_OPENCL_CONTEXT + context;
	/* From now on other threads may use the ids of the queue, the context and the device. */
	atomic_store(&queue->reported_in, opencl_generation());
	lock_give(&queues.lock);
	if (!is_first)
		return;
	if (device_is_new)
		put_device(queue->device, device);
	if (context_is_new)
		put_context(queue);
	put_stream(queue);
	if (!queue->is_profiled)
		collect_note(2,
			     "OpenCL queue %u gives no times: its commands are not recorded, only "
			     "the calls",
			     queue->number);
}

/* In a forked child, which has the queues but none of the commands, and has recorded nothing
 * yet. */
void opencl_queues_after_fork(void)
{
	queues.lock = (struct lock){0};
	for (uint32_t i = 0; i < atomic_load(&queues.n); i++) {
		struct opencl_queue *queue = &queues.places[i];
		queue->first = queue->last = 0;
		atomic_store(&queue->waiting, 0);
		atomic_store(&queue->is_watched, false);
	}
}
