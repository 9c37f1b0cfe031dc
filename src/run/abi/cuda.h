/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.h - the part of CUDA's driver library that the calibration helper needs, under our own
 * names.
 *
 * Handles are pointers; the numbers are those of CUDA 11.8 to 13. tests/collect/abi_cuda.c compares
 * them with NVIDIA's header where it is present.
 */
#ifndef HWY_RUN_ABI_CUDA_H
#define HWY_RUN_ABI_CUDA_H

#include <stddef.h>
#include <stdint.h>

enum {
	ABI_CUDA_SUCCESS = 0,
	ABI_CUDA_HOST_MAPPED = 2,         /* flag of cuMemHostAlloc */
	ABI_CUDA_STREAM_NON_BLOCKING = 1, /* flag of cuStreamCreate */
	ABI_CUDA_CAPTURE_THREAD_LOCAL = 1,
};

struct abi_cuda_uuid {
	uint8_t bytes[16];
};

/* X(name, parameters) for each function. All are in every libcuda.so.1 from CUDA 11.4 on; each
 * returns an error number. */
#define ABI_CUDA_FUNCTIONS(X)                                                                      \
	X(cuInit, (unsigned flags))                                                                \
	X(cuGetErrorName, (int error, const char **name))                                          \
	X(cuDeviceGetCount, (int *count))                                                          \
	X(cuDeviceGet, (int *device, int ordinal))                                                 \
	X(cuDeviceGetUuid, (struct abi_cuda_uuid * uuid, int device))                              \
	X(cuDevicePrimaryCtxRetain, (void **context, int device))                                  \
	X(cuCtxSetCurrent, (void *context))                                                        \
	X(cuModuleLoadData, (void **module, const void *image))                                    \
	X(cuModuleGetFunction, (void **function, void *module, const char *name))                  \
	X(cuLaunchKernel, (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,      \
			   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,  \
			   void *stream, void **parameters, void **extra))                         \
	X(cuStreamCreate, (void **stream, unsigned flags))                                         \
	X(cuStreamSynchronize, (void *stream))                                                     \
	X(cuStreamBeginCapture_v2, (void *stream, int mode))                                       \
	X(cuStreamEndCapture, (void *stream, void **graph))                                        \
	X(cuGraphInstantiateWithFlags, (void **exec, void *graph, unsigned long long flags))       \
	X(cuGraphLaunch, (void *exec, void *stream))                                               \
	X(cuMemAlloc_v2, (uint64_t * address, size_t bytes))                                       \
	X(cuMemHostAlloc, (void **memory, size_t bytes, unsigned flags))                           \
	X(cuMemHostGetDevicePointer_v2, (uint64_t * address, void *memory, unsigned flags))        \
	X(cuMemcpyHtoDAsync_v2, (uint64_t to, const void *from, size_t bytes, void *stream))       \
	X(cuMemcpyDtoHAsync_v2, (void *to, uint64_t from, size_t bytes, void *stream))

struct abi_cuda {
#define X(name, parameters) int(*name) parameters;
	ABI_CUDA_FUNCTIONS(X)
#undef X
};

#endif
