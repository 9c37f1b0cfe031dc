/* SPDX-License-Identifier: Apache-2.0 */
/* abi_cuda.c - holds src/run/abi against NVIDIA's headers: compiling it is the test. Without them it exits with 77. */
#include <stdio.h>

#if __has_include(<cuda.h>)
#include <cuda.h>
#endif

#if defined(CUDA_VERSION) && CUDA_VERSION >= 11040
#include <assert.h>

#include "run/abi/cuda.h"

#define VALUE(ours, theirs) static_assert((int)ours == (int)theirs, #ours)
VALUE(ABI_CUDA_SUCCESS, CUDA_SUCCESS);
VALUE(ABI_CUDA_HOST_MAPPED, CU_MEMHOSTALLOC_DEVICEMAP);
VALUE(ABI_CUDA_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING);
VALUE(ABI_CUDA_CAPTURE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
static_assert(sizeof(struct abi_cuda_uuid) == sizeof(CUuuid), "uuid");
static_assert(sizeof(CUdeviceptr) == sizeof(uint64_t) && sizeof(CUdevice) == sizeof(int) &&
		      sizeof(CUresult) == sizeof(int) && sizeof(CUstream) == sizeof(void *),
	      "handles");

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>

#include "run/abi/nvtx.h"
VALUE(ABI_NVTX_CORE, NVTX_CB_MODULE_CORE);
VALUE(ABI_NVTX_PUSH_A, NVTX_CBID_CORE_RangePushA);
VALUE(ABI_NVTX_POP, NVTX_CBID_CORE_RangePop);
VALUE(ABI_NVTX_CORE_SIZE, NVTX_CBID_CORE_SIZE);
VALUE(ABI_NVTX_CALLBACKS, NVTX_ETID_CALLBACKS);
#endif

int main(void)
{
	puts("same as CUDA's");
	return 0;
}
#else
int main(void)
{
	puts("no cuda.h of CUDA 11.4 or later");
	return 77;
}
#endif
