/* SPDX-License-Identifier: Apache-2.0 */
/* abi.h - the part of OpenCL that the collector calls and replaces: our own declarations, so that
 * no build needs its headers.
 *
 * X(slot, name, result, parameters, arguments): the slot is the call's index in the table that a
 * loader and its layers exchange (cl_icd_dispatch), which only ever grows at its end. Handles are
 * void *, the API's integers have the widths given here; tests/collect/abi_opencl.c compares all of
 * it with the Khronos headers.
 */
#ifndef HWY_COLLECT_OPENCL_ABI_H
#define HWY_COLLECT_OPENCL_ABI_H

#include <stddef.h>
#include <stdint.h>

/* A function pointer of the program, which the collector only passes on. */
typedef void (*opencl_fn)(void);

enum {
	ABI_CL_SUCCESS = 0,
	ABI_CL_PROFILING_INFO_NOT_AVAILABLE = -7,
	ABI_CL_INVALID_VALUE = -30,
	ABI_CL_INVALID_OPERATION = -59,
	ABI_CL_PLATFORM_NOT_FOUND = -1001,

	ABI_CL_COMPLETE = 0,
	ABI_CL_QUEUE_OUT_OF_ORDER = 1,
	ABI_CL_QUEUE_PROFILING = 2,
	ABI_CL_QUEUE_ON_DEVICE = 4,
	ABI_CL_MAP_READ = 1,
	ABI_CL_MAP_WRITE = 2,
	ABI_CL_MIGRATE_HOST = 1,

	ABI_CL_PLATFORM_VERSION = 0x0901,
	ABI_CL_PLATFORM_NAME = 0x0902,
	ABI_CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
	ABI_CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
	ABI_CL_DEVICE_MAX_CLOCK_FREQUENCY = 0x100c,
	ABI_CL_DEVICE_GLOBAL_MEM_CACHE_SIZE = 0x101e,
	ABI_CL_DEVICE_GLOBAL_MEM_SIZE = 0x101f,
	ABI_CL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
	ABI_CL_DEVICE_TYPE = 0x1000,
	ABI_CL_DEVICE_NAME = 0x102b,
	ABI_CL_DRIVER_VERSION = 0x102d,
	ABI_CL_DEVICE_VERSION = 0x102f,
	ABI_CL_DEVICE_PLATFORM = 0x1031,
	ABI_CL_DEVICE_UUID = 0x106a,
	ABI_CL_QUEUE_CONTEXT = 0x1090,
	ABI_CL_QUEUE_DEVICE = 0x1091,
	ABI_CL_QUEUE_REFERENCE_COUNT = 0x1092,
	ABI_CL_QUEUE_PROPERTIES = 0x1093,
	ABI_CL_QUEUE_PROPERTIES_ARRAY = 0x1098,
	ABI_CL_MEM_SIZE = 0x1102,
	ABI_CL_IMAGE_ELEMENT_SIZE = 0x1111,
	ABI_CL_KERNEL_FUNCTION_NAME = 0x1190,
	ABI_CL_EVENT_COMMAND_QUEUE = 0x11d0,
	ABI_CL_EVENT_REFERENCE_COUNT = 0x11d2,
	ABI_CL_EVENT_STATUS = 0x11d3,
	ABI_CL_PROFILING_QUEUED = 0x1280,
	ABI_CL_PROFILING_SUBMIT = 0x1281,
	ABI_CL_PROFILING_START = 0x1282,
	ABI_CL_PROFILING_END = 0x1283,

	ABI_CL_LAYER_API_VERSION = 0x4240,
	ABI_CL_LAYER_NAME = 0x4241,
	ABI_CL_LAYER_API_VERSION_100 = 100,
	ABI_CL_SLOTS = 149, /* how many functions the dispatch table of OpenCL 3.0 has */
};

/* clang-format off */

/* Functions that the collector calls and does not replace. */
#define OPENCL_USED(X) \
	X(0, clGetPlatformIDs, int32_t, (uint32_t num_entries, void **platforms, uint32_t *num_platforms), (num_entries, platforms, num_platforms)) \
	X(1, clGetPlatformInfo, int32_t, (void *platform, uint32_t name, size_t size, void *value, size_t *size_ret), (platform, name, size, value, size_ret)) \
	X(3, clGetDeviceInfo, int32_t, (void *device, uint32_t name, size_t size, void *value, size_t *size_ret), (device, name, size, value, size_ret)) \
	X(39, clGetKernelInfo, int32_t, (void *kernel, uint32_t name, size_t size, void *value, size_t *size_ret), (kernel, name, size, value, size_ret)) \
	X(20, clGetMemObjectInfo, int32_t, (void *object, uint32_t name, size_t size, void *value, size_t *size_ret), (object, name, size, value, size_ret)) \
	X(21, clGetImageInfo, int32_t, (void *image, uint32_t name, size_t size, void *value, size_t *size_ret), (image, name, size, value, size_ret)) \
	X(43, clRetainEvent, int32_t, (void *event), (event)) \
	X(44, clReleaseEvent, int32_t, (void *event), (event))

/* Functions whose calls are only timed. */
#define OPENCL_PLAIN(X) \
	X(4, clCreateContext, void *, (const intptr_t *properties, uint32_t n_devices, void *const *devices, opencl_fn notify, void *user, int32_t *error), (properties, n_devices, devices, notify, user, error)) \
	X(5, clCreateContextFromType, void *, (const intptr_t *properties, uint64_t device_type, opencl_fn notify, void *user, int32_t *error), (properties, device_type, notify, user, error)) \
	X(14, clCreateBuffer, void *, (void *context, uint64_t flags, size_t size, void *host, int32_t *error), (context, flags, size, host, error)) \
	X(146, clCreateBufferWithProperties, void *, (void *context, const uint64_t *properties, uint64_t flags, size_t size, void *host, int32_t *error), (context, properties, flags, size, host, error)) \
	X(96, clCreateImage, void *, (void *context, uint64_t flags, const void *format, const void *description, void *host, int32_t *error), (context, flags, format, description, host, error)) \
	X(15, clCreateImage2D, void *, (void *context, uint64_t flags, const void *format, size_t width, size_t height, size_t row_pitch, void *host, int32_t *error), (context, flags, format, width, height, row_pitch, host, error)) \
	X(16, clCreateImage3D, void *, (void *context, uint64_t flags, const void *format, size_t width, size_t height, size_t depth, size_t row_pitch, size_t slice_pitch, void *host, int32_t *error), (context, flags, format, width, height, depth, row_pitch, slice_pitch, host, error)) \
	X(147, clCreateImageWithProperties, void *, (void *context, const uint64_t *properties, uint64_t flags, const void *format, const void *description, void *host, int32_t *error), (context, properties, flags, format, description, host, error)) \
	X(26, clCreateProgramWithSource, void *, (void *context, uint32_t count, const char **strings, const size_t *lengths, int32_t *error), (context, count, strings, lengths, error)) \
	X(27, clCreateProgramWithBinary, void *, (void *context, uint32_t n_devices, void *const *devices, const size_t *lengths, const unsigned char **binaries, int32_t *binary_status, int32_t *error), (context, n_devices, devices, lengths, binaries, binary_status, error)) \
	X(138, clCreateProgramWithIL, void *, (void *context, const void *il, size_t length, int32_t *error), (context, il, length, error)) \
	X(30, clBuildProgram, int32_t, (void *program, uint32_t n_devices, void *const *devices, const char *options, opencl_fn notify, void *user), (program, n_devices, devices, options, notify, user)) \
	X(98, clCompileProgram, int32_t, (void *program, uint32_t n_devices, void *const *devices, const char *options, uint32_t n_headers, void *const *headers, const char **header_names, opencl_fn notify, void *user), (program, n_devices, devices, options, n_headers, headers, header_names, notify, user)) \
	X(99, clLinkProgram, void *, (void *context, uint32_t n_devices, void *const *devices, const char *options, uint32_t n_programs, void *const *programs, opencl_fn notify, void *user, int32_t *error), (context, n_devices, devices, options, n_programs, programs, notify, user, error)) \
	X(126, clSVMAlloc, void *, (void *context, uint64_t flags, size_t size, uint32_t alignment), (context, flags, size, alignment)) \
	X(18, clReleaseMemObject, int32_t, (void *object), (object))

/* Functions whose calls are only timed, and which return nothing. */
#define OPENCL_VOID(X) \
	X(127, clSVMFree, void, (void *context, void *svm_pointer), (context, svm_pointer))

/* Functions about queues, events and waits (opencl_calls.c). */
#define OPENCL_SPECIAL(X) \
	X(9, clCreateCommandQueue, void *, (void *context, void *device, uint64_t properties, int32_t *error), (context, device, properties, error)) \
	X(123, clCreateCommandQueueWithProperties, void *, (void *context, void *device, const uint64_t *properties, int32_t *error), (context, device, properties, error)) \
	X(10, clRetainCommandQueue, int32_t, (void *queue), (queue)) \
	X(11, clReleaseCommandQueue, int32_t, (void *queue), (queue)) \
	X(12, clGetCommandQueueInfo, int32_t, (void *queue, uint32_t name, size_t size, void *value, size_t *size_ret), (queue, name, size, value, size_ret)) \
	X(13, clSetCommandQueueProperty, int32_t, (void *queue, uint64_t properties, uint32_t enable, uint64_t *old_properties), (queue, properties, enable, old_properties)) \
	X(84, clCreateUserEvent, void *, (void *context, int32_t *error), (context, error)) \
	X(42, clGetEventInfo, int32_t, (void *event, uint32_t name, size_t size, void *value, size_t *size_ret), (event, name, size, value, size_ret)) \
	X(45, clGetEventProfilingInfo, int32_t, (void *event, uint32_t name, size_t size, void *value, size_t *size_ret), (event, name, size, value, size_ret)) \
	X(41, clWaitForEvents, int32_t, (uint32_t n_events, void *const *events), (n_events, events)) \
	X(46, clFlush, int32_t, (void *queue), (queue)) \
	X(47, clFinish, int32_t, (void *queue), (queue))

/* Functions that put a command into a queue (opencl_enqueue.c). */
#define OPENCL_ENQUEUE(X) \
	X(48, clEnqueueReadBuffer, int32_t, (void *queue, void *buffer, uint32_t blocking, size_t offset, size_t size, void *ptr, uint32_t n_waits, void *const *waits, void **event), (queue, buffer, blocking, offset, size, ptr, n_waits, waits, event)) \
	X(49, clEnqueueWriteBuffer, int32_t, (void *queue, void *buffer, uint32_t blocking, size_t offset, size_t size, const void *ptr, uint32_t n_waits, void *const *waits, void **event), (queue, buffer, blocking, offset, size, ptr, n_waits, waits, event)) \
	X(50, clEnqueueCopyBuffer, int32_t, (void *queue, void *src_buffer, void *dst_buffer, size_t src_offset, size_t dst_offset, size_t size, uint32_t n_waits, void *const *waits, void **event), (queue, src_buffer, dst_buffer, src_offset, dst_offset, size, n_waits, waits, event)) \
	X(51, clEnqueueReadImage, int32_t, (void *queue, void *image, uint32_t blocking, const size_t *origin, const size_t *region, size_t row_pitch, size_t slice_pitch, void *ptr, uint32_t n_waits, void *const *waits, void **event), (queue, image, blocking, origin, region, row_pitch, slice_pitch, ptr, n_waits, waits, event)) \
	X(52, clEnqueueWriteImage, int32_t, (void *queue, void *image, uint32_t blocking, const size_t *origin, const size_t *region, size_t input_row_pitch, size_t input_slice_pitch, const void *ptr, uint32_t n_waits, void *const *waits, void **event), (queue, image, blocking, origin, region, input_row_pitch, input_slice_pitch, ptr, n_waits, waits, event)) \
	X(53, clEnqueueCopyImage, int32_t, (void *queue, void *src_image, void *dst_image, const size_t *src_origin, const size_t *dst_origin, const size_t *region, uint32_t n_waits, void *const *waits, void **event), (queue, src_image, dst_image, src_origin, dst_origin, region, n_waits, waits, event)) \
	X(54, clEnqueueCopyImageToBuffer, int32_t, (void *queue, void *src_image, void *dst_buffer, const size_t *src_origin, const size_t *region, size_t dst_offset, uint32_t n_waits, void *const *waits, void **event), (queue, src_image, dst_buffer, src_origin, region, dst_offset, n_waits, waits, event)) \
	X(55, clEnqueueCopyBufferToImage, int32_t, (void *queue, void *src_buffer, void *dst_image, size_t src_offset, const size_t *dst_origin, const size_t *region, uint32_t n_waits, void *const *waits, void **event), (queue, src_buffer, dst_image, src_offset, dst_origin, region, n_waits, waits, event)) \
	X(56, clEnqueueMapBuffer, void *, (void *queue, void *buffer, uint32_t blocking, uint64_t flags, size_t offset, size_t size, uint32_t n_waits, void *const *waits, void **event, int32_t *error), (queue, buffer, blocking, flags, offset, size, n_waits, waits, event, error)) \
	X(57, clEnqueueMapImage, void *, (void *queue, void *image, uint32_t blocking, uint64_t flags, const size_t *origin, const size_t *region, size_t *row_pitch, size_t *slice_pitch, uint32_t n_waits, void *const *waits, void **event, int32_t *error), (queue, image, blocking, flags, origin, region, row_pitch, slice_pitch, n_waits, waits, event, error)) \
	X(58, clEnqueueUnmapMemObject, int32_t, (void *queue, void *object, void *pointer, uint32_t n_waits, void *const *waits, void **event), (queue, object, pointer, n_waits, waits, event)) \
	X(59, clEnqueueNDRangeKernel, int32_t, (void *queue, void *kernel, uint32_t dimensions, const size_t *offset, const size_t *global, const size_t *local, uint32_t n_waits, void *const *waits, void **event), (queue, kernel, dimensions, offset, global, local, n_waits, waits, event)) \
	X(60, clEnqueueTask, int32_t, (void *queue, void *kernel, uint32_t n_waits, void *const *waits, void **event), (queue, kernel, n_waits, waits, event)) \
	X(61, clEnqueueNativeKernel, int32_t, (void *queue, opencl_fn user_func, void *args, size_t cb_args, uint32_t n_objects, void *const *mem_list, const void **args_mem_loc, uint32_t n_waits, void *const *waits, void **event), (queue, user_func, args, cb_args, n_objects, mem_list, args_mem_loc, n_waits, waits, event)) \
	X(62, clEnqueueMarker, int32_t, (void *queue, void **event), (queue, event)) \
	X(63, clEnqueueWaitForEvents, int32_t, (void *queue, uint32_t n_events, void *const *events), (queue, n_events, events)) \
	X(64, clEnqueueBarrier, int32_t, (void *queue), (queue)) \
	X(86, clEnqueueReadBufferRect, int32_t, (void *queue, void *buffer, uint32_t blocking, const size_t *buffer_origin, const size_t *host_origin, const size_t *region, size_t row_pitch, size_t slice_pitch, size_t host_row_pitch, size_t host_slice_pitch, void *ptr, uint32_t n_waits, void *const *waits, void **event), (queue, buffer, blocking, buffer_origin, host_origin, region, row_pitch, slice_pitch, host_row_pitch, host_slice_pitch, ptr, n_waits, waits, event)) \
	X(87, clEnqueueWriteBufferRect, int32_t, (void *queue, void *buffer, uint32_t blocking, const size_t *buffer_origin, const size_t *host_origin, const size_t *region, size_t row_pitch, size_t slice_pitch, size_t host_row_pitch, size_t host_slice_pitch, const void *ptr, uint32_t n_waits, void *const *waits, void **event), (queue, buffer, blocking, buffer_origin, host_origin, region, row_pitch, slice_pitch, host_row_pitch, host_slice_pitch, ptr, n_waits, waits, event)) \
	X(88, clEnqueueCopyBufferRect, int32_t, (void *queue, void *src_buffer, void *dst_buffer, const size_t *src_origin, const size_t *dst_origin, const size_t *region, size_t src_row_pitch, size_t src_slice_pitch, size_t dst_row_pitch, size_t dst_slice_pitch, uint32_t n_waits, void *const *waits, void **event), (queue, src_buffer, dst_buffer, src_origin, dst_origin, region, src_row_pitch, src_slice_pitch, dst_row_pitch, dst_slice_pitch, n_waits, waits, event)) \
	X(102, clEnqueueFillBuffer, int32_t, (void *queue, void *buffer, const void *pattern, size_t pattern_size, size_t offset, size_t size, uint32_t n_waits, void *const *waits, void **event), (queue, buffer, pattern, pattern_size, offset, size, n_waits, waits, event)) \
	X(103, clEnqueueFillImage, int32_t, (void *queue, void *image, const void *fill_color, const size_t *origin, const size_t *region, uint32_t n_waits, void *const *waits, void **event), (queue, image, fill_color, origin, region, n_waits, waits, event)) \
	X(104, clEnqueueMigrateMemObjects, int32_t, (void *queue, uint32_t n_objects, void *const *objects, uint64_t flags, uint32_t n_waits, void *const *waits, void **event), (queue, n_objects, objects, flags, n_waits, waits, event)) \
	X(105, clEnqueueMarkerWithWaitList, int32_t, (void *queue, uint32_t n_waits, void *const *waits, void **event), (queue, n_waits, waits, event)) \
	X(106, clEnqueueBarrierWithWaitList, int32_t, (void *queue, uint32_t n_waits, void *const *waits, void **event), (queue, n_waits, waits, event)) \
	X(128, clEnqueueSVMFree, int32_t, (void *queue, uint32_t n_pointers, void **pointers, opencl_fn free_function, void *user, uint32_t n_waits, void *const *waits, void **event), (queue, n_pointers, pointers, free_function, user, n_waits, waits, event)) \
	X(129, clEnqueueSVMMemcpy, int32_t, (void *queue, uint32_t blocking, void *dst_ptr, const void *src_ptr, size_t size, uint32_t n_waits, void *const *waits, void **event), (queue, blocking, dst_ptr, src_ptr, size, n_waits, waits, event)) \
	X(130, clEnqueueSVMMemFill, int32_t, (void *queue, void *pointer, const void *pattern, size_t pattern_size, size_t size, uint32_t n_waits, void *const *waits, void **event), (queue, pointer, pattern, pattern_size, size, n_waits, waits, event)) \
	X(131, clEnqueueSVMMap, int32_t, (void *queue, uint32_t blocking, uint64_t flags, void *pointer, size_t size, uint32_t n_waits, void *const *waits, void **event), (queue, blocking, flags, pointer, size, n_waits, waits, event)) \
	X(132, clEnqueueSVMUnmap, int32_t, (void *queue, void *pointer, uint32_t n_waits, void *const *waits, void **event), (queue, pointer, n_waits, waits, event)) \
	X(139, clEnqueueSVMMigrateMem, int32_t, (void *queue, uint32_t n_pointers, const void **pointers, const size_t *sizes, uint64_t flags, uint32_t n_waits, void *const *waits, void **event), (queue, n_pointers, pointers, sizes, flags, n_waits, waits, event))

#define OPENCL_OURS(X) OPENCL_PLAIN(X) OPENCL_VOID(X) OPENCL_SPECIAL(X) OPENCL_ENQUEUE(X)
#define OPENCL_ALL(X) OPENCL_USED(X) OPENCL_OURS(X)

/* clang-format on */

#endif
