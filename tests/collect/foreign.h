/* SPDX-License-Identifier: Apache-2.0 */
/* foreign.h - a function that the debug information takes for one of CUDA's headers, as cudaMalloc<T> is. */
#line 879 "/usr/local/cuda/include/cuda_runtime.h"
static inline __attribute__((always_inline)) uint32_t malloc_of_header(void)
{
	return mock_call(RUNTIME, runtime("cudaMallocManaged_v6000"), 0, 0);
}
