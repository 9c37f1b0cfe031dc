/* SPDX-License-Identifier: Apache-2.0 */
/* opencl_calls.c - the program's calls about queues, events and waits, and calls that are only
 * timed.
 *
 * Profiling is switched on for every queue, and the program does not see that: questions about its
 * queues and events are answered as if profiling were off, unless the program asked for it. Where a
 * runtime refuses a queue with profiling, the runtime gets the program's own arguments, and its
 * answer is the program's.
 */
#include <string.h>

#include "collect/opencl/opencl.h"

/* ---- calls that are only timed --------------------------------------------------------------- */

/* The OpenCL error code of a call's result. A call that yields a handle reports its code through a
 * pointer that the program may have left out: its code is derived from the handle. */
static inline int32_t code_of_int32_t(int32_t result)
{
	return result;
}
static inline int32_t code_of_pointer(const void *result)
{
	return result ? ABI_CL_SUCCESS : ABI_CL_INVALID_VALUE;
}
#define CODE_OF(result)                                                                            \
	_Generic((result), int32_t : code_of_int32_t, default : code_of_pointer)(result)

#define TIMED(slot, name, type, parameters, arguments)                                             \
	type record_##name parameters                                                              \
	{                                                                                          \
		if (!opencl_is_on())                                                               \
			return opencl_next.name arguments;                                         \
		struct opencl_span span;                                                           \
		opencl_report_begin(&span);                                                        \
		type result = opencl_next.name arguments;                                          \
		opencl_report_call(&span, CALL_##name, false, CODE_OF(result));                    \
		return result;                                                                     \
	}
OPENCL_PLAIN(TIMED)

void record_clSVMFree(void *context, void *pointer)
{
	struct opencl_span span;
	bool is_on = opencl_is_on();
	if (is_on)
		opencl_report_begin(&span);
	opencl_next.clSVMFree(context, pointer);
	if (is_on)
		opencl_report_call(&span, CALL_clSVMFree, false, ABI_CL_SUCCESS);
}

/* ---- queues ---------------------------------------------------------------------------------- */

void *record_clCreateCommandQueue(void *context, void *device, uint64_t properties, int32_t *error)
{
	bool is_forced = !(properties & ABI_CL_QUEUE_PROFILING) && opencl_queues_have_room();
	uint64_t flags = is_forced ? properties | ABI_CL_QUEUE_PROFILING : properties;
	void *queue = opencl_next.clCreateCommandQueue(context, device, flags, error);
	if (!queue && is_forced) {
		is_forced = false;
		flags = properties;
		queue = opencl_next.clCreateCommandQueue(context, device, flags, error);
	}
	if (queue)
		opencl_queues_add(queue, context, device, flags, is_forced, NULL, 0);
	return queue;
}

enum { MORE = 2 }; /* room for one more property: its name and its value */

/* Copies the program's list of properties and adds profiling; false where profiling is on already,
 * or impossible. */
static bool add_profiling(const uint64_t *given, uint32_t n, uint64_t *flags, uint64_t *list)
{
	uint32_t i = 0;
	*flags = 0;
	memcpy(list, given, n * sizeof *given);
	while (i + 1 < n && given[i] != ABI_CL_QUEUE_PROPERTIES)
		i += 2;
	if (i + 1 < n)
		*flags = given[i + 1];
	else {
		i = n ? n - 1 : 0;
		list[i + 2] = 0;
	}
	list[i] = ABI_CL_QUEUE_PROPERTIES;
	list[i + 1] = *flags | ABI_CL_QUEUE_PROFILING;
	return !(*flags & (ABI_CL_QUEUE_PROFILING | ABI_CL_QUEUE_ON_DEVICE));
}

void *record_clCreateCommandQueueWithProperties(void *context, void *device,
						const uint64_t *properties, int32_t *error)
{
	uint64_t list[QUEUE_PROPERTIES + MORE], flags = 0;
	uint32_t n = 0;
	while (properties && n < QUEUE_PROPERTIES && properties[n])
		n += 2;
	n += properties != NULL; /* counts the 0 that ends the list of properties */
	bool fits = n <= QUEUE_PROPERTIES;
	bool is_forced = fits && opencl_queues_have_room() &&
			 add_profiling(properties ? properties : &flags, n, &flags, list);
	void *queue = NULL;
	if (is_forced)
		queue = opencl_next.clCreateCommandQueueWithProperties(context, device, list,
								       error);
	if (queue) {
		flags |= ABI_CL_QUEUE_PROFILING;
	} else {
		is_forced = false;
		queue = opencl_next.clCreateCommandQueueWithProperties(context, device, properties,
								       error);
	}
	if (queue && fits && !(flags & ABI_CL_QUEUE_ON_DEVICE))
		opencl_queues_add(queue, context, device, flags, is_forced, properties, n);
	return queue;
}

/* Records commands that have ended. Also after recording has ended: commands from before still hold
 * their events. */
static void opencl_calls_collect(void *queue)
{
	struct opencl_queue *entry = opencl_queues_find(queue);
	if (entry)
		opencl_commands_collect(entry, true);
}

int32_t record_clRetainCommandQueue(void *queue)
{
	struct opencl_queue *entry = opencl_queues_lookup(queue);
	int32_t result = opencl_next.clRetainCommandQueue(queue);
	if (result == ABI_CL_SUCCESS && entry)
		atomic_fetch_add(&entry->references, 1);
	return result;
}

int32_t record_clReleaseCommandQueue(void *queue)
{
	opencl_calls_collect(queue);
	struct opencl_queue *entry = opencl_queues_lookup(queue);
	int32_t result = opencl_next.clReleaseCommandQueue(queue);
	if (result == ABI_CL_SUCCESS && entry)
		atomic_fetch_sub(&entry->references, 1);
	return result;
}

static int32_t copy_answer(const void *from, size_t length, size_t size, void *value,
			   size_t *size_ret)
{
	if (value && size < length)
		return ABI_CL_INVALID_VALUE;
	if (value && length)
		memcpy(value, from, length);
	if (size_ret)
		*size_ret = length;
	return ABI_CL_SUCCESS;
}

int32_t record_clGetCommandQueueInfo(void *queue, uint32_t name, size_t size, void *value,
				     size_t *size_ret)
{
	struct opencl_queue *entry = NULL;
	if (name == ABI_CL_QUEUE_PROPERTIES || name == ABI_CL_QUEUE_PROPERTIES_ARRAY)
		entry = opencl_queues_find(queue);
	if (name == ABI_CL_QUEUE_PROPERTIES_ARRAY && entry && entry->is_forced) {
		size_t length;
		int32_t result = opencl_next.clGetCommandQueueInfo(queue, name, 0, NULL, &length);
		return result != ABI_CL_SUCCESS
			       ? result
			       : copy_answer(entry->properties,
					     entry->n_properties * sizeof *entry->properties, size,
					     value, size_ret);
	}
	int32_t result = opencl_next.clGetCommandQueueInfo(queue, name, size, value, size_ret);
	if (result == ABI_CL_SUCCESS && value && entry && entry->is_forced)
		*(uint64_t *)value &= ~(uint64_t)ABI_CL_QUEUE_PROFILING;
	return result;
}

/* OpenCL 1.0 could switch profiling per queue. The collector keeps it on for itself, and lets the
 * program see the state that it asked for. */
int32_t record_clSetCommandQueueProperty(void *queue, uint64_t properties, uint32_t enable,
					 uint64_t *old)
{
	struct opencl_queue *entry = opencl_queues_find(queue);
	bool was_hidden = entry && entry->is_forced;
	if (was_hidden && !enable)
		properties &= ~(uint64_t)ABI_CL_QUEUE_PROFILING;
	int32_t result = opencl_next.clSetCommandQueueProperty(queue, properties, enable, old);
	if (result != ABI_CL_SUCCESS || !entry)
		return result;
	if (was_hidden && old)
		*old &= ~(uint64_t)ABI_CL_QUEUE_PROFILING;
	if (properties & ABI_CL_QUEUE_PROFILING) {
		entry->is_forced = false;
		entry->is_profiled = enable;
	}
	if (properties & ABI_CL_QUEUE_OUT_OF_ORDER)
		entry->is_in_order = !enable;
	return result;
}

/* ---- events ---------------------------------------------------------------------------------- */

static void *event_queue(void *event)
{
	void *queue = NULL;
	if (opencl_next.clGetEventInfo(event, ABI_CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue,
				       NULL) != ABI_CL_SUCCESS)
		return NULL;
	return queue;
}

/* A user event belongs to no command, but its handle may have been a command's event before. */
void *record_clCreateUserEvent(void *context, int32_t *error)
{
	void *event = opencl_next.clCreateUserEvent(context, error);
	if (event)
		opencl_report_event(event, 0);
	return event;
}

int32_t record_clGetEventInfo(void *event, uint32_t name, size_t size, void *value,
			      size_t *size_ret)
{
	struct opencl_span span;
	bool is_recorded = name == ABI_CL_EVENT_STATUS && opencl_is_on();
	if (is_recorded)
		opencl_report_begin(&span);
	int32_t result = opencl_next.clGetEventInfo(event, name, size, value, size_ret);
	if (is_recorded)
		opencl_report_call(&span, CALL_clGetEventInfo, false, result);
	if (name == ABI_CL_EVENT_REFERENCE_COUNT && result == ABI_CL_SUCCESS && value &&
	    *(uint32_t *)value > 1 && opencl_commands_hold(event))
		--*(uint32_t *)value;
	return result;
}

int32_t record_clGetEventProfilingInfo(void *event, uint32_t name, size_t size, void *value,
				       size_t *size_ret)
{
	void *handle = event_queue(event);
	struct opencl_queue *queue = handle ? opencl_queues_lookup(handle) : NULL;
	if (queue && queue->is_forced)
		return ABI_CL_PROFILING_INFO_NOT_AVAILABLE;
	return opencl_next.clGetEventProfilingInfo(event, name, size, value, size_ret);
}

/* ---- waits ----------------------------------------------------------------------------------- */

int32_t record_clWaitForEvents(uint32_t n_events, void *const *events)
{
	if (!opencl_is_on())
		return opencl_next.clWaitForEvents(n_events, events);
	struct opencl_span span;
	opencl_report_begin(&span);
	int32_t result = opencl_next.clWaitForEvents(n_events, events);
	opencl_report_call(&span, CALL_clWaitForEvents, false, result);
	if (result != ABI_CL_SUCCESS || !n_events || !events)
		return result;
	void *last = NULL;
	for (uint32_t i = 0; i < n_events; i++) {
		void *handle = event_queue(events[i]);
		struct opencl_queue *queue =
			handle && handle != last ? opencl_queues_lookup(handle) : NULL;
		/* The wait is recorded in the lane of the first event's queue. */
		if (queue && !last)
			opencl_report_wait(queue, &span, true);
		if (queue)
			opencl_commands_collect(queue, true);
		last = handle ? handle : last;
	}
	opencl_report_dependencies(span.correlation, n_events, events);
	return result;
}

int32_t record_clFlush(void *queue)
{
	if (!opencl_is_on())
		return opencl_next.clFlush(queue);
	struct opencl_span span;
	opencl_report_begin(&span);
	int32_t result = opencl_next.clFlush(queue);
	opencl_report_call(&span, CALL_clFlush, false, result);
	return result;
}

/* Records the commands that have ended already, while other commands still run. */
int32_t record_clFinish(void *queue)
{
	opencl_calls_collect(queue);
	if (!opencl_is_on())
		return opencl_next.clFinish(queue);
	struct opencl_span span;
	opencl_report_begin(&span);
	int32_t result = opencl_next.clFinish(queue);
	opencl_report_call(&span, CALL_clFinish, false, result);
	opencl_report_wait(opencl_queues_find(queue), &span, false);
	opencl_calls_collect(queue);
	return result;
}
