/* SPDX-License-Identifier: Apache-2.0 */
/* opencl_layer.c - a second OpenCL layer, as a program may have one of its own: counts what passes through it.
 *
 * It says so on stderr when the process ends: kernels, and queues that were asked for with profiling.
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl_layer.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static struct _cl_icd_dispatch ours;
static const struct _cl_icd_dispatch *next;
static int kernels, profiled;

static cl_int CL_API_CALL count_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
				       const size_t *offset, const size_t *global,
				       const size_t *local, cl_uint n, const cl_event *waits,
				       cl_event *event)
{
	kernels++;
	return next->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, n,
					    waits, event);
}

static cl_command_queue CL_API_CALL count_queue(cl_context context, cl_device_id device,
						cl_command_queue_properties properties,
						cl_int *error)
{
	profiled += (properties & CL_QUEUE_PROFILING_ENABLE) != 0;
	return next->clCreateCommandQueue(context, device, properties, error);
}

EXPORT cl_int clGetLayerInfo(cl_layer_info name, size_t size, void *value, size_t *size_ret)
{
	cl_layer_api_version version = CL_LAYER_API_VERSION_100;
	if (name != CL_LAYER_API_VERSION || (value && size < sizeof version))
		return CL_INVALID_VALUE;
	if (value)
		memcpy(value, &version, sizeof version);
	if (size_ret)
		*size_ret = sizeof version;
	return CL_SUCCESS;
}

EXPORT cl_int clInitLayer(cl_uint n, const struct _cl_icd_dispatch *target, cl_uint *n_ret,
			  const struct _cl_icd_dispatch **layer)
{
	next = target;
	ours.clEnqueueNDRangeKernel = count_kernel;
	ours.clCreateCommandQueue = count_queue;
	*n_ret = n;
	*layer = &ours;
	return CL_SUCCESS;
}

static __attribute__((destructor)) void say(void)
{
	fprintf(stderr, "layer: %d kernels, %d queues with profiling\n", kernels, profiled);
}
