/* SPDX-License-Identifier: Apache-2.0 */
/* abi_opencl.c - holds src/collect/opencl/abi.h against the Khronos headers: compiling it is the test. Without them
 * it exits with 77. */
#include <stdio.h>

#if __has_include(<CL/cl_layer.h>)
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_layer.h>
#include <assert.h>

#include "collect/opencl/abi.h"

#define VALUE(ours, theirs) static_assert((long long)ours == (long long)theirs, #ours)
VALUE(ABI_CL_SUCCESS, CL_SUCCESS);
VALUE(ABI_CL_PROFILING_INFO_NOT_AVAILABLE, CL_PROFILING_INFO_NOT_AVAILABLE);
VALUE(ABI_CL_INVALID_VALUE, CL_INVALID_VALUE);
VALUE(ABI_CL_INVALID_OPERATION, CL_INVALID_OPERATION);
VALUE(ABI_CL_PLATFORM_NOT_FOUND, CL_PLATFORM_NOT_FOUND_KHR);
VALUE(ABI_CL_COMPLETE, CL_COMPLETE);
VALUE(ABI_CL_QUEUE_OUT_OF_ORDER, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
VALUE(ABI_CL_QUEUE_PROFILING, CL_QUEUE_PROFILING_ENABLE);
VALUE(ABI_CL_QUEUE_ON_DEVICE, CL_QUEUE_ON_DEVICE);
VALUE(ABI_CL_MAP_READ, CL_MAP_READ);
VALUE(ABI_CL_MAP_WRITE, CL_MAP_WRITE);
VALUE(ABI_CL_MIGRATE_HOST, CL_MIGRATE_MEM_OBJECT_HOST);
VALUE(ABI_CL_PLATFORM_VERSION, CL_PLATFORM_VERSION);
VALUE(ABI_CL_PLATFORM_NAME, CL_PLATFORM_NAME);
VALUE(ABI_CL_DEVICE_MAX_COMPUTE_UNITS, CL_DEVICE_MAX_COMPUTE_UNITS);
VALUE(ABI_CL_DEVICE_MAX_WORK_GROUP_SIZE, CL_DEVICE_MAX_WORK_GROUP_SIZE);
VALUE(ABI_CL_DEVICE_MAX_CLOCK_FREQUENCY, CL_DEVICE_MAX_CLOCK_FREQUENCY);
VALUE(ABI_CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
VALUE(ABI_CL_DEVICE_GLOBAL_MEM_SIZE, CL_DEVICE_GLOBAL_MEM_SIZE);
VALUE(ABI_CL_DEVICE_LOCAL_MEM_SIZE, CL_DEVICE_LOCAL_MEM_SIZE);
VALUE(ABI_CL_DEVICE_NAME, CL_DEVICE_NAME);
VALUE(ABI_CL_DRIVER_VERSION, CL_DRIVER_VERSION);
VALUE(ABI_CL_DEVICE_VERSION, CL_DEVICE_VERSION);
VALUE(ABI_CL_DEVICE_PLATFORM, CL_DEVICE_PLATFORM);
VALUE(ABI_CL_DEVICE_UUID, CL_DEVICE_UUID_KHR);
VALUE(ABI_CL_QUEUE_CONTEXT, CL_QUEUE_CONTEXT);
VALUE(ABI_CL_QUEUE_DEVICE, CL_QUEUE_DEVICE);
VALUE(ABI_CL_QUEUE_REFERENCE_COUNT, CL_QUEUE_REFERENCE_COUNT);
VALUE(ABI_CL_QUEUE_PROPERTIES, CL_QUEUE_PROPERTIES);
VALUE(ABI_CL_QUEUE_PROPERTIES_ARRAY, CL_QUEUE_PROPERTIES_ARRAY);
VALUE(ABI_CL_MEM_SIZE, CL_MEM_SIZE);
VALUE(ABI_CL_IMAGE_ELEMENT_SIZE, CL_IMAGE_ELEMENT_SIZE);
VALUE(ABI_CL_KERNEL_FUNCTION_NAME, CL_KERNEL_FUNCTION_NAME);
VALUE(ABI_CL_EVENT_COMMAND_QUEUE, CL_EVENT_COMMAND_QUEUE);
VALUE(ABI_CL_EVENT_REFERENCE_COUNT, CL_EVENT_REFERENCE_COUNT);
VALUE(ABI_CL_EVENT_STATUS, CL_EVENT_COMMAND_EXECUTION_STATUS);
VALUE(ABI_CL_PROFILING_QUEUED, CL_PROFILING_COMMAND_QUEUED);
VALUE(ABI_CL_PROFILING_SUBMIT, CL_PROFILING_COMMAND_SUBMIT);
VALUE(ABI_CL_PROFILING_START, CL_PROFILING_COMMAND_START);
VALUE(ABI_CL_PROFILING_END, CL_PROFILING_COMMAND_END);
VALUE(ABI_CL_LAYER_API_VERSION, CL_LAYER_API_VERSION);
VALUE(ABI_CL_LAYER_NAME, CL_LAYER_NAME);
VALUE(ABI_CL_LAYER_API_VERSION_100, CL_LAYER_API_VERSION_100);
static_assert(sizeof(cl_icd_dispatch) >= ABI_CL_SLOTS * sizeof(void *), "the table only grows");

/* Each call's place in the table. */
#define SLOT(slot, name, result, parameters, arguments)                                            \
	static_assert(offsetof(cl_icd_dispatch, name) == (slot) * sizeof(void *), #name);
OPENCL_ALL(SLOT)
#undef SLOT

/* Each call's parameters: passed on to theirs as they are. Pointers to handles differ in type only; another number
 * of parameters or another width of one does not compile. */
#pragma GCC diagnostic ignored "-Wincompatible-pointer-types"
#define PASSED(slot, name, result, parameters, arguments)                                          \
	static inline __attribute__((unused)) result passed_##name parameters                      \
	{                                                                                          \
		return name arguments;                                                             \
	}
OPENCL_USED(PASSED)
OPENCL_PLAIN(PASSED)
OPENCL_SPECIAL(PASSED)
OPENCL_ENQUEUE(PASSED)

/* The widths that our declarations assume. */
static_assert(sizeof(cl_int) == 4 && sizeof(cl_uint) == 4 && sizeof(cl_bool) == 4 &&
		      sizeof(cl_ulong) == 8 && sizeof(cl_mem_flags) == 8 &&
		      sizeof(cl_queue_properties) == 8 && sizeof(cl_mem_properties) == 8 &&
		      sizeof(cl_map_flags) == 8 && sizeof(cl_device_type) == 8 &&
		      sizeof(cl_context_properties) == sizeof(intptr_t) &&
		      sizeof(cl_event_info) == 4 && sizeof(cl_profiling_info) == 4 &&
		      sizeof(cl_command_queue_properties) == 8 && sizeof(cl_svm_mem_flags) == 8 &&
		      sizeof(cl_mem_migration_flags) == 8 && sizeof(cl_event) == sizeof(void *),
	      "integers and handles");

int main(void)
{
	puts("same as Khronos's");
	return 0;
}
#else
int main(void)
{
	puts("no CL/cl_layer.h");
	return 77;
}
#endif
