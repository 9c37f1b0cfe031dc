/* opencl_calls.c - the program's calls about queues, events and waits, and those that are only timed.
 *
 * Profiling is switched on for every queue, and the program does not see it: what it asks about its queues and
 * events is answered as if it were off where it had not asked for it. Where a runtime refuses a queue with
 * profiling, it gets the program's own arguments, and its answer is the program's.
 */
#include <string.h>

#include "collect/opencl/opencl.h"

/* ---- timed ----------------------------------------------------------------------------------------- */

/* What went wrong, of a call that yields a handle: the code that the program may not have asked for. */
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
		tell_begin(&span);                                                                 \
		type result = opencl_next.name arguments;                                          \
		tell_call(&span, CALL_##name, false, CODE_OF(result));                             \
		return result;                                                                     \
	}
OPENCL_PLAIN(TIMED)

void record_clSVMFree(void *context, void *pointer)
{
	struct opencl_span span;
	bool is_on = opencl_is_on();
	if (is_on)
		tell_begin(&span);
	opencl_next.clSVMFree(context, pointer);
	if (is_on)
		tell_call(&span, CALL_clSVMFree, false, ABI_CL_SUCCESS);
}

/* ---- queues ---------------------------------------------------------------------------------------- */

void *record_clCreateCommandQueue(void *context, void *device, uint64_t properties, int32_t *error)
{
	bool is_forced = !(properties & ABI_CL_QUEUE_PROFILING) && queues_have_room();
	uint64_t flags = is_forced ? properties | ABI_CL_QUEUE_PROFILING : properties;
	void *queue = opencl_next.clCreateCommandQueue(context, device, flags, error);
	if (!queue && is_forced) {
		is_forced = false;
		flags = properties;
		queue = opencl_next.clCreateCommandQueue(context, device, flags, error);
	}
	if (queue)
		queues_add(queue, context, device, flags, is_forced, NULL, 0);
	return queue;
}

enum { MORE = 2 }; /* a name and its value */

/* The program's list with profiling added; false where that cannot be. */
static bool add_profiling(const uint64_t *given, uint32_t n, uint64_t *flags, uint64_t *list)
{
	uint32_t at = 0;
	*flags = 0;
	memcpy(list, given, n * sizeof *given);
	while (at + 1 < n && given[at] != ABI_CL_QUEUE_PROPERTIES)
		at += 2;
	if (at + 1 < n)
		*flags = given[at + 1];
	else {
		at = n ? n - 1 : 0;
		list[at + 2] = 0;
	}
	list[at] = ABI_CL_QUEUE_PROPERTIES;
	list[at + 1] = *flags | ABI_CL_QUEUE_PROFILING;
	return !(*flags & (ABI_CL_QUEUE_PROFILING | ABI_CL_QUEUE_ON_DEVICE));
}

void *record_clCreateCommandQueueWithProperties(void *context, void *device,
						const uint64_t *properties, int32_t *error)
{
	uint64_t list[QUEUE_PROPERTIES + MORE], flags = 0;
	uint32_t n = 0;
	while (properties && n < QUEUE_PROPERTIES && properties[n])
		n += 2;
	n += properties != NULL; /* the 0 at its end */
	bool fits = n <= QUEUE_PROPERTIES;
	bool is_forced = fits && queues_have_room() &&
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
		queues_add(queue, context, device, flags, is_forced, properties, n);
	return queue;
}

/* Also when nothing is recorded any more: commands from before still hold their events. */
static void opencl_calls_look_at(void *queue)
{
	struct opencl_queue *known = queues_find(queue);
	if (known)
		commands_look(known, true);
}

int32_t record_clRetainCommandQueue(void *queue)
{
	struct opencl_queue *known = queues_known(queue);
	int32_t result = opencl_next.clRetainCommandQueue(queue);
	if (result == ABI_CL_SUCCESS && known)
		atomic_fetch_add(&known->references, 1);
	return result;
}

int32_t record_clReleaseCommandQueue(void *queue)
{
	opencl_calls_look_at(queue);
	struct opencl_queue *known = queues_known(queue);
	int32_t result = opencl_next.clReleaseCommandQueue(queue);
	if (result == ABI_CL_SUCCESS && known)
		atomic_fetch_sub(&known->references, 1);
	return result;
}

static int32_t answer(const void *from, size_t length, size_t size, void *value, size_t *size_ret)
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
	struct opencl_queue *known = NULL;
	if (name == ABI_CL_QUEUE_PROPERTIES || name == ABI_CL_QUEUE_PROPERTIES_ARRAY)
		known = queues_find(queue);
	if (name == ABI_CL_QUEUE_PROPERTIES_ARRAY && known && known->is_forced) {
		size_t length;
		int32_t result = opencl_next.clGetCommandQueueInfo(queue, name, 0, NULL, &length);
		return result != ABI_CL_SUCCESS
			       ? result
			       : answer(known->properties,
					known->n_properties * sizeof *known->properties, size,
					value, size_ret);
	}
	int32_t result = opencl_next.clGetCommandQueueInfo(queue, name, size, value, size_ret);
	if (result == ABI_CL_SUCCESS && value && known && known->is_forced)
		*(uint64_t *)value &= ~(uint64_t)ABI_CL_QUEUE_PROFILING;
	return result;
}

/* An old call that could switch profiling: to the program it does. */
int32_t record_clSetCommandQueueProperty(void *queue, uint64_t properties, uint32_t enable,
					 uint64_t *old)
{
	struct opencl_queue *known = queues_find(queue);
	bool was_hidden = known && known->is_forced;
	if (was_hidden && !enable)
		properties &= ~(uint64_t)ABI_CL_QUEUE_PROFILING;
	int32_t result = opencl_next.clSetCommandQueueProperty(queue, properties, enable, old);
	if (result != ABI_CL_SUCCESS || !known)
		return result;
	if (was_hidden && old)
		*old &= ~(uint64_t)ABI_CL_QUEUE_PROFILING;
	if (properties & ABI_CL_QUEUE_PROFILING) {
		known->is_forced = false;
		known->is_profiled = enable;
	}
	if (properties & ABI_CL_QUEUE_OUT_OF_ORDER)
		known->is_in_order = !enable;
	return result;
}

/* ---- events ---------------------------------------------------------------------------------------- */

static void *queue_of(void *event)
{
	void *queue = NULL;
	if (opencl_next.clGetEventInfo(event, ABI_CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue,
				       NULL) != ABI_CL_SUCCESS)
		return NULL;
	return queue;
}

/* The handle may have been a command's once. */
void *record_clCreateUserEvent(void *context, int32_t *error)
{
	void *event = opencl_next.clCreateUserEvent(context, error);
	if (event)
		tell_event(event, 0);
	return event;
}

int32_t record_clGetEventInfo(void *event, uint32_t name, size_t size, void *value,
			      size_t *size_ret)
{
	struct opencl_span span;
	bool is_told = name == ABI_CL_EVENT_STATUS && opencl_is_on();
	if (is_told)
		tell_begin(&span);
	int32_t result = opencl_next.clGetEventInfo(event, name, size, value, size_ret);
	if (is_told)
		tell_call(&span, CALL_clGetEventInfo, false, result);
	if (name == ABI_CL_EVENT_REFERENCE_COUNT && result == ABI_CL_SUCCESS && value &&
	    *(uint32_t *)value > 1 && commands_hold(event))
		--*(uint32_t *)value;
	return result;
}

int32_t record_clGetEventProfilingInfo(void *event, uint32_t name, size_t size, void *value,
				       size_t *size_ret)
{
	void *handle = queue_of(event);
	struct opencl_queue *queue = handle ? queues_known(handle) : NULL;
	if (queue && queue->is_forced)
		return ABI_CL_PROFILING_INFO_NOT_AVAILABLE;
	return opencl_next.clGetEventProfilingInfo(event, name, size, value, size_ret);
}

/* ---- waits ----------------------------------------------------------------------------------------- */

int32_t record_clWaitForEvents(uint32_t n_events, void *const *events)
{
	if (!opencl_is_on())
		return opencl_next.clWaitForEvents(n_events, events);
	struct opencl_span span;
	tell_begin(&span);
	int32_t result = opencl_next.clWaitForEvents(n_events, events);
	tell_call(&span, CALL_clWaitForEvents, false, result);
	if (result != ABI_CL_SUCCESS || !n_events || !events)
		return result;
	void *last = NULL;
	for (uint32_t i = 0; i < n_events; i++) {
		void *handle = queue_of(events[i]);
		struct opencl_queue *queue = handle && handle != last ? queues_known(handle) : NULL;
		if (queue && !last) /* the first one's lane stands for all */
			tell_wait(queue, &span, true);
		if (queue)
			commands_look(queue, true);
		last = handle ? handle : last;
	}
	tell_depends(span.correlation, n_events, events);
	return result;
}

int32_t record_clFlush(void *queue)
{
	if (!opencl_is_on())
		return opencl_next.clFlush(queue);
	struct opencl_span span;
	tell_begin(&span);
	int32_t result = opencl_next.clFlush(queue);
	tell_call(&span, CALL_clFlush, false, result);
	return result;
}

/* What has ended already is recorded while the rest is still running. */
int32_t record_clFinish(void *queue)
{
	opencl_calls_look_at(queue);
	if (!opencl_is_on())
		return opencl_next.clFinish(queue);
	struct opencl_span span;
	tell_begin(&span);
	int32_t result = opencl_next.clFinish(queue);
	tell_call(&span, CALL_clFinish, false, result);
	tell_wait(queues_find(queue), &span, false);
	opencl_calls_look_at(queue);
	return result;
}
