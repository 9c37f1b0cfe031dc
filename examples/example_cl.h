/* example_cl.h - what the OpenCL examples share: a device, a program, a clock, a choice by name.
 *
 * The first GPU there is, else the first device of any kind (PoCL's is the CPU).
 */
#pragma once
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static cl_context context;
static cl_device_id device;

static inline double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static inline void check(cl_int error, const char *what)
{
	if (error != CL_SUCCESS) {
		fprintf(stderr, "OpenCL: %s: error %d\n", what, error);
		exit(1);
	}
}
#define CHECK(call) check(call, #call)

static inline int find_device(cl_device_type type)
{
	cl_platform_id platforms[16];
	cl_uint n = 0;
	if (clGetPlatformIDs(16, platforms, &n) != CL_SUCCESS)
		return 0;
	for (cl_uint i = 0; i < n && i < 16; i++)
		if (clGetDeviceIDs(platforms[i], type, 1, &device, NULL) == CL_SUCCESS)
			return 1;
	return 0;
}

static inline void open_device(void)
{
	cl_int error;
	if (!find_device(CL_DEVICE_TYPE_GPU) && !find_device(CL_DEVICE_TYPE_ALL)) {
		fprintf(stderr, "OpenCL: no device (pocl-opencl-icd makes one of the CPU)\n");
		exit(1);
	}
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	check(error, "clCreateContext");
}

static inline cl_command_queue make_queue(cl_command_queue_properties properties)
{
	cl_int error;
	cl_command_queue queue = clCreateCommandQueue(context, device, properties, &error);
	check(error, "clCreateCommandQueue");
	return queue;
}

static inline cl_program build(const char *source)
{
	cl_int error;
	cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
	check(error, "clCreateProgramWithSource");
	CHECK(clBuildProgram(program, 1, &device, "", NULL, NULL));
	return program;
}

static inline cl_kernel make_kernel(cl_program program, const char *name)
{
	cl_int error;
	cl_kernel kernel = clCreateKernel(program, name, &error);
	check(error, name);
	return kernel;
}

static inline cl_mem make_buffer(size_t bytes)
{
	cl_int error;
	cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &error);
	check(error, "clCreateBuffer");
	return buffer;
}

/* Argument i as a number, or what it is without. */
static inline int number(int argc, char **argv, int i, int otherwise)
{
	return argc > i ? atoi(argv[i]) : otherwise;
}

/* Exits with the usage unless the first argument is one of the choices. */
static inline const char *choice(int argc, char **argv, const char *const *choices,
				 const char *usage)
{
	for (; argc > 1 && *choices; choices++)
		if (strcmp(argv[1], *choices) == 0)
			return *choices;
	fprintf(stderr, "usage: %s %s\n", argv[0], usage);
	exit(2);
}
/* SPDX-License-Identifier: Apache-2.0 */
