/* SPDX-License-Identifier: Apache-2.0 */
/* opencl_enqueue.c - the calls that put a command into a queue.
 *
 * Each call gets an event, the program's own if the program wanted one, and the command is kept
 * until it has ended (opencl_commands.c). What the command is (its name, its bytes, its direction)
 * is looked up after the call has returned and was timed. The runtime's answer is passed on
 * whatever it is; of a command that was refused, only the call is recorded.
 */
#include "collect/opencl/opencl.h"

/* Kinds of copies, from source to target: host, device, array. The numbers are CUPTI's, which
 * rec_work has too (trace/model.h). */
enum { UNKNOWN = 0, H2D, D2H, H2A, A2H, A2A, A2D, D2A, D2D };
/* CUPTI's numbers of the kinds of memory; the host's memory is 0, which means unknown. */
enum { MEMORY_DEVICE = 3, MEMORY_ARRAY = 4 };

struct enqueue {
	struct opencl_span span;
	struct opencl_queue *queue; /* NULL: only the call is recorded, not the command */
	struct opencl_command command;
};

static void opencl_enqueue_begin(struct enqueue *enqueue, void *queue)
{
	struct opencl_queue *found = opencl_queues_find(queue);
	if (found) {
		opencl_commands_collect(found, false);
		opencl_queues_report(found);
	}
	enqueue->queue = found && found->is_profiled ? found : NULL;
	enqueue->command = (struct opencl_command){.what = REC_COMMAND_MARK};
	opencl_report_begin(&enqueue->span);
}

/* Called after the call was recorded. 'event' is the program's, or one that the collector asked
 * for. */
static void opencl_enqueue_end(struct enqueue *enqueue, void *event, bool is_programs, bool blocks,
			       uint32_t n_waits, void *const *waits)
{
	struct opencl_command *command = &enqueue->command;
	command->event = event;
	command->is_shared = is_programs;
	command->has_ended = blocks;
	command->before = enqueue->span.start;
	command->after = enqueue->span.end;
	command->correlation = enqueue->span.correlation;
	if (is_programs)
		opencl_report_event(event, command->correlation);
	if (n_waits)
		opencl_report_dependencies(command->correlation, n_waits, waits);
	if (!enqueue->queue || !event)
		return;
	if (is_programs && opencl_next.clRetainEvent(event) != ABI_CL_SUCCESS)
		return;
	if (!opencl_commands_add(enqueue->queue, command))
		opencl_next.clReleaseEvent(event);
	if (blocks)
		opencl_commands_collect(enqueue->queue, true);
}

/* ---- describing a command -------------------------------------------------------------------- */

static void describe_kernel(struct opencl_command *command, void *kernel, uint32_t dimensions,
			    const size_t *global, const size_t *local)
{
	command->what = REC_COMMAND_KERNEL;
	command->value = opencl_report_kernel(kernel);
	command->shape = opencl_report_shape(dimensions, global, local);
}

static void describe_native_kernel(struct opencl_command *command)
{
	command->what = REC_COMMAND_KERNEL;
	command->value = collect_string_z("native kernel");
}

static void describe_copy(struct opencl_command *command, uint32_t kind, uint64_t bytes)
{
	static const uint8_t sources[] = {
		[D2H] = MEMORY_DEVICE, [A2H] = MEMORY_ARRAY,  [A2A] = MEMORY_ARRAY,
		[A2D] = MEMORY_ARRAY,  [D2A] = MEMORY_DEVICE, [D2D] = MEMORY_DEVICE};
	static const uint8_t targets[] = {
		[H2D] = MEMORY_DEVICE, [H2A] = MEMORY_ARRAY, [A2A] = MEMORY_ARRAY,
		[A2D] = MEMORY_DEVICE, [D2A] = MEMORY_ARRAY, [D2D] = MEMORY_DEVICE};
	command->what = REC_COMMAND_COPY;
	command->value = kind | (uint32_t)sources[kind] << 8 | (uint32_t)targets[kind] << 16;
	command->bytes = bytes;
}

static void describe_fill(struct opencl_command *command, const void *pattern, uint64_t bytes)
{
	command->what = REC_COMMAND_FILL;
	command->value = pattern ? *(const uint8_t *)pattern : 0;
	command->bytes = bytes;
}

static uint64_t region_volume(const size_t *region)
{
	return region ? (uint64_t)region[0] * region[1] * region[2] : 0;
}

static uint64_t image_bytes(void *image, const size_t *region)
{
	size_t element = 0;
	if (!opencl_next.clGetImageInfo ||
	    opencl_next.clGetImageInfo(image, ABI_CL_IMAGE_ELEMENT_SIZE, sizeof element, &element,
				       NULL) != ABI_CL_SUCCESS)
		return 0;
	return region_volume(region) * element;
}

static uint64_t object_bytes(uint32_t n, void *const *objects)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; objects && i < n; i++) {
		size_t size = 0;
		if (opencl_next.clGetMemObjectInfo(objects[i], ABI_CL_MEM_SIZE, sizeof size, &size,
						   NULL) == ABI_CL_SUCCESS)
			sum += size;
	}
	return sum;
}

static uint64_t sum_sizes(uint32_t n, const size_t *sizes)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; sizes && i < n; i++)
		sum += sizes[i];
	return sum;
}

/* Yields the kind of copy that a map is. A map that only invalidates copies nothing. */
static uint32_t map_kind(uint64_t flags, uint32_t kind)
{
	return flags & (ABI_CL_MAP_READ | ABI_CL_MAP_WRITE) ? kind : UNKNOWN;
}

/* ---- the calls ------------------------------------------------------------------------------- */

/* Contract of ENQUEUE(name, parameters, arguments, blocks, n_waits, waits, describe): defines
 * record_NAME for a call that takes an event and returns an error code. The parameter list must
 * have void *queue and void **event; 'arguments' repeats the parameters. 'blocks', 'n_waits',
 * 'waits' and 'describe' are expressions of the parameters; 'describe' also sees struct
 * opencl_command *command, which it fills, and may be empty. Where the program passed no event,
 * 'event' points to a local one during the call. */
#define ENQUEUE(name, parameters, arguments, blocks, n_waits, waits, describe)                     \
	int32_t record_##name parameters                                                           \
	{                                                                                          \
		if (!opencl_is_on())                                                               \
			return opencl_next.name arguments;                                         \
		struct enqueue enqueue;                                                            \
		struct opencl_command *command = &enqueue.command;                                 \
		void *own = NULL;                                                                  \
		bool is_programs = event != NULL;                                                  \
		opencl_enqueue_begin(&enqueue, queue);                                             \
		if (!is_programs && enqueue.queue)                                                 \
			event = &own;                                                              \
		int32_t result = opencl_next.name arguments;                                       \
		opencl_report_call(&enqueue.span, CALL_##name, blocks, result);                    \
		if (result == ABI_CL_SUCCESS) {                                                    \
			(void)command;                                                             \
			describe;                                                                  \
			opencl_enqueue_end(&enqueue, event ? *event : NULL, is_programs, blocks,   \
					   n_waits, waits);                                        \
		}                                                                                  \
		return result;                                                                     \
	}

/* ENQUEUE for the two calls that return an address. The parameter list must have int32_t *error,
 * uint32_t blocking, n_waits and waits too. */
#define ENQUEUE_MAP(name, parameters, arguments, describe)                                         \
	void *record_##name parameters                                                             \
	{                                                                                          \
		if (!opencl_is_on())                                                               \
			return opencl_next.name arguments;                                         \
		struct enqueue enqueue;                                                            \
		struct opencl_command *command = &enqueue.command;                                 \
		void *own = NULL;                                                                  \
		int32_t own_error = ABI_CL_SUCCESS;                                                \
		bool is_programs = event != NULL;                                                  \
		opencl_enqueue_begin(&enqueue, queue);                                             \
		if (!is_programs && enqueue.queue)                                                 \
			event = &own;                                                              \
		if (!error)                                                                        \
			error = &own_error;                                                        \
		void *result = opencl_next.name arguments;                                         \
		opencl_report_call(&enqueue.span, CALL_##name, blocking, *error);                  \
		if (*error == ABI_CL_SUCCESS) {                                                    \
			describe;                                                                  \
			opencl_enqueue_end(&enqueue, event ? *event : NULL, is_programs, blocking, \
					   n_waits, waits);                                        \
		}                                                                                  \
		return result;                                                                     \
	}

ENQUEUE(clEnqueueReadBuffer,
	(void *queue, void *buffer, uint32_t blocking, size_t offset, size_t size, void *ptr,
	 uint32_t n_waits, void *const *waits, void **event),
	(queue, buffer, blocking, offset, size, ptr, n_waits, waits, event), blocking, n_waits,
	waits, describe_copy(command, D2H, size))
ENQUEUE(clEnqueueWriteBuffer,
	(void *queue, void *buffer, uint32_t blocking, size_t offset, size_t size, const void *ptr,
	 uint32_t n_waits, void *const *waits, void **event),
	(queue, buffer, blocking, offset, size, ptr, n_waits, waits, event), blocking, n_waits,
	waits, describe_copy(command, H2D, size))
ENQUEUE(clEnqueueCopyBuffer,
	(void *queue, void *src_buffer, void *dst_buffer, size_t src_offset, size_t dst_offset,
	 size_t size, uint32_t n_waits, void *const *waits, void **event),
	(queue, src_buffer, dst_buffer, src_offset, dst_offset, size, n_waits, waits, event), false,
	n_waits, waits, describe_copy(command, D2D, size))
ENQUEUE(clEnqueueReadImage,
	(void *queue, void *image, uint32_t blocking, const size_t *origin, const size_t *region,
	 size_t row_pitch, size_t slice_pitch, void *ptr, uint32_t n_waits, void *const *waits,
	 void **event),
	(queue, image, blocking, origin, region, row_pitch, slice_pitch, ptr, n_waits, waits,
	 event),
	blocking, n_waits, waits, describe_copy(command, A2H, image_bytes(image, region)))
ENQUEUE(clEnqueueWriteImage,
	(void *queue, void *image, uint32_t blocking, const size_t *origin, const size_t *region,
	 size_t input_row_pitch, size_t input_slice_pitch, const void *ptr, uint32_t n_waits,
	 void *const *waits, void **event),
	(queue, image, blocking, origin, region, input_row_pitch, input_slice_pitch, ptr, n_waits,
	 waits, event),
	blocking, n_waits, waits, describe_copy(command, H2A, image_bytes(image, region)))
ENQUEUE(clEnqueueCopyImage,
	(void *queue, void *src_image, void *dst_image, const size_t *src_origin,
	 const size_t *dst_origin, const size_t *region, uint32_t n_waits, void *const *waits,
	 void **event),
	(queue, src_image, dst_image, src_origin, dst_origin, region, n_waits, waits, event), false,
	n_waits, waits, describe_copy(command, A2A, image_bytes(src_image, region)))
ENQUEUE(clEnqueueCopyImageToBuffer,
	(void *queue, void *src_image, void *dst_buffer, const size_t *src_origin,
	 const size_t *region, size_t dst_offset, uint32_t n_waits, void *const *waits,
	 void **event),
	(queue, src_image, dst_buffer, src_origin, region, dst_offset, n_waits, waits, event),
	false, n_waits, waits, describe_copy(command, A2D, image_bytes(src_image, region)))
ENQUEUE(clEnqueueCopyBufferToImage,
	(void *queue, void *src_buffer, void *dst_image, size_t src_offset,
	 const size_t *dst_origin, const size_t *region, uint32_t n_waits, void *const *waits,
	 void **event),
	(queue, src_buffer, dst_image, src_offset, dst_origin, region, n_waits, waits, event),
	false, n_waits, waits, describe_copy(command, D2A, image_bytes(dst_image, region)))
ENQUEUE_MAP(clEnqueueMapBuffer,
	    (void *queue, void *buffer, uint32_t blocking, uint64_t flags, size_t offset,
	     size_t size, uint32_t n_waits, void *const *waits, void **event, int32_t *error),
	    (queue, buffer, blocking, flags, offset, size, n_waits, waits, event, error),
	    describe_copy(command, map_kind(flags, D2H), size))
ENQUEUE_MAP(clEnqueueMapImage,
	    (void *queue, void *image, uint32_t blocking, uint64_t flags, const size_t *origin,
	     const size_t *region, size_t *row_pitch, size_t *slice_pitch, uint32_t n_waits,
	     void *const *waits, void **event, int32_t *error),
	    (queue, image, blocking, flags, origin, region, row_pitch, slice_pitch, n_waits, waits,
	     event, error),
	    describe_copy(command, map_kind(flags, A2H), image_bytes(image, region)))
ENQUEUE(clEnqueueUnmapMemObject,
	(void *queue, void *object, void *pointer, uint32_t n_waits, void *const *waits,
	 void **event),
	(queue, object, pointer, n_waits, waits, event), false, n_waits, waits,
	describe_copy(command, H2D, 0))
ENQUEUE(clEnqueueNDRangeKernel,
	(void *queue, void *kernel, uint32_t dimensions, const size_t *offset, const size_t *global,
	 const size_t *local, uint32_t n_waits, void *const *waits, void **event),
	(queue, kernel, dimensions, offset, global, local, n_waits, waits, event), false, n_waits,
	waits, describe_kernel(command, kernel, dimensions, global, local))
ENQUEUE(clEnqueueTask,
	(void *queue, void *kernel, uint32_t n_waits, void *const *waits, void **event),
	(queue, kernel, n_waits, waits, event), false, n_waits, waits,
	describe_kernel(command, kernel, 0, NULL, (const size_t[]){1, 1, 1}))
ENQUEUE(clEnqueueNativeKernel,
	(void *queue, opencl_fn user_func, void *args, size_t cb_args, uint32_t n_objects,
	 void *const *mem_list, const void **args_mem_loc, uint32_t n_waits, void *const *waits,
	 void **event),
	(queue, user_func, args, cb_args, n_objects, mem_list, args_mem_loc, n_waits, waits, event),
	false, n_waits, waits, describe_native_kernel(command))
ENQUEUE(clEnqueueMarker, (void *queue, void **event), (queue, event), false, 0, NULL, )
ENQUEUE(clEnqueueReadBufferRect,
	(void *queue, void *buffer, uint32_t blocking, const size_t *buffer_origin,
	 const size_t *host_origin, const size_t *region, size_t row_pitch, size_t slice_pitch,
	 size_t host_row_pitch, size_t host_slice_pitch, void *ptr, uint32_t n_waits,
	 void *const *waits, void **event),
	(queue, buffer, blocking, buffer_origin, host_origin, region, row_pitch, slice_pitch,
	 host_row_pitch, host_slice_pitch, ptr, n_waits, waits, event),
	blocking, n_waits, waits, describe_copy(command, D2H, region_volume(region)))
ENQUEUE(clEnqueueWriteBufferRect,
	(void *queue, void *buffer, uint32_t blocking, const size_t *buffer_origin,
	 const size_t *host_origin, const size_t *region, size_t row_pitch, size_t slice_pitch,
	 size_t host_row_pitch, size_t host_slice_pitch, const void *ptr, uint32_t n_waits,
	 void *const *waits, void **event),
	(queue, buffer, blocking, buffer_origin, host_origin, region, row_pitch, slice_pitch,
	 host_row_pitch, host_slice_pitch, ptr, n_waits, waits, event),
	blocking, n_waits, waits, describe_copy(command, H2D, region_volume(region)))
ENQUEUE(clEnqueueCopyBufferRect,
	(void *queue, void *src_buffer, void *dst_buffer, const size_t *src_origin,
	 const size_t *dst_origin, const size_t *region, size_t src_row_pitch,
	 size_t src_slice_pitch, size_t dst_row_pitch, size_t dst_slice_pitch, uint32_t n_waits,
	 void *const *waits, void **event),
	(queue, src_buffer, dst_buffer, src_origin, dst_origin, region, src_row_pitch,
	 src_slice_pitch, dst_row_pitch, dst_slice_pitch, n_waits, waits, event),
	false, n_waits, waits, describe_copy(command, D2D, region_volume(region)))
ENQUEUE(clEnqueueFillBuffer,
	(void *queue, void *buffer, const void *pattern, size_t pattern_size, size_t offset,
	 size_t size, uint32_t n_waits, void *const *waits, void **event),
	(queue, buffer, pattern, pattern_size, offset, size, n_waits, waits, event), false, n_waits,
	waits, describe_fill(command, pattern, size))
ENQUEUE(clEnqueueFillImage,
	(void *queue, void *image, const void *fill_color, const size_t *origin,
	 const size_t *region, uint32_t n_waits, void *const *waits, void **event),
	(queue, image, fill_color, origin, region, n_waits, waits, event), false, n_waits, waits,
	describe_fill(command, fill_color, image_bytes(image, region)))
ENQUEUE(clEnqueueMigrateMemObjects,
	(void *queue, uint32_t n_objects, void *const *objects, uint64_t flags, uint32_t n_waits,
	 void *const *waits, void **event),
	(queue, n_objects, objects, flags, n_waits, waits, event), false, n_waits, waits,
	describe_copy(command, flags &ABI_CL_MIGRATE_HOST ? D2H : H2D,
		      object_bytes(n_objects, objects)))
ENQUEUE(clEnqueueMarkerWithWaitList,
	(void *queue, uint32_t n_waits, void *const *waits, void **event),
	(queue, n_waits, waits, event), false, n_waits, waits, )
ENQUEUE(clEnqueueBarrierWithWaitList,
	(void *queue, uint32_t n_waits, void *const *waits, void **event),
	(queue, n_waits, waits, event), false, n_waits, waits, )
ENQUEUE(clEnqueueSVMFree,
	(void *queue, uint32_t n_pointers, void **pointers, opencl_fn free_function, void *user,
	 uint32_t n_waits, void *const *waits, void **event),
	(queue, n_pointers, pointers, free_function, user, n_waits, waits, event), false, n_waits,
	waits, )
ENQUEUE(clEnqueueSVMMemcpy,
	(void *queue, uint32_t blocking, void *dst_ptr, const void *src_ptr, size_t size,
	 uint32_t n_waits, void *const *waits, void **event),
	(queue, blocking, dst_ptr, src_ptr, size, n_waits, waits, event), blocking, n_waits, waits,
	describe_copy(command, UNKNOWN, size))
ENQUEUE(clEnqueueSVMMemFill,
	(void *queue, void *pointer, const void *pattern, size_t pattern_size, size_t size,
	 uint32_t n_waits, void *const *waits, void **event),
	(queue, pointer, pattern, pattern_size, size, n_waits, waits, event), false, n_waits, waits,
	describe_fill(command, pattern, size))
ENQUEUE(clEnqueueSVMMap,
	(void *queue, uint32_t blocking, uint64_t flags, void *pointer, size_t size,
	 uint32_t n_waits, void *const *waits, void **event),
	(queue, blocking, flags, pointer, size, n_waits, waits, event), blocking, n_waits, waits,
	describe_copy(command, map_kind(flags, D2H), size))
ENQUEUE(clEnqueueSVMUnmap,
	(void *queue, void *pointer, uint32_t n_waits, void *const *waits, void **event),
	(queue, pointer, n_waits, waits, event), false, n_waits, waits,
	describe_copy(command, H2D, 0))
ENQUEUE(clEnqueueSVMMigrateMem,
	(void *queue, uint32_t n_pointers, const void **pointers, const size_t *sizes,
	 uint64_t flags, uint32_t n_waits, void *const *waits, void **event),
	(queue, n_pointers, pointers, sizes, flags, n_waits, waits, event), false, n_waits, waits,
	describe_copy(command, flags &ABI_CL_MIGRATE_HOST ? D2H : H2D,
		      sum_sizes(n_pointers, sizes)))

/* The next two calls yield no event, so that the call is recorded and its command is not. */
int32_t record_clEnqueueBarrier(void *queue)
{
	if (!opencl_is_on())
		return opencl_next.clEnqueueBarrier(queue);
	struct opencl_span span;
	opencl_report_begin(&span);
	int32_t result = opencl_next.clEnqueueBarrier(queue);
	opencl_report_call(&span, CALL_clEnqueueBarrier, false, result);
	return result;
}

int32_t record_clEnqueueWaitForEvents(void *queue, uint32_t n_events, void *const *events)
{
	if (!opencl_is_on())
		return opencl_next.clEnqueueWaitForEvents(queue, n_events, events);
	struct opencl_span span;
	opencl_report_begin(&span);
	int32_t result = opencl_next.clEnqueueWaitForEvents(queue, n_events, events);
	opencl_report_call(&span, CALL_clEnqueueWaitForEvents, false, result);
	if (result == ABI_CL_SUCCESS)
		opencl_report_dependencies(span.correlation, n_events, events);
	return result;
}
