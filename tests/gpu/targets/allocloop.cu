/* SPDX-License-Identifier: Apache-2.0 */
/* allocloop.cu - cudaMalloc takes long, and cudaFree waits for the whole device.
 *
 *     allocloop malloc    each step allocates its temporary memory and frees it
 *     allocloop once      it is allocated before the loop
 *     allocloop async     each step takes it from a pool, in the order of the stream, and gives it back
 *
 * More numbers: steps, temporaries of a step, MiB of each, loops of the kernels.
 */
#include <cstdint>
#include <vector>

#include "work.h"

enum { BLOCKS = 1024 };

int main(int argc, char **argv)
{
	const char *const ways[] = {"malloc", "once", "async", NULL};
	const char *way =
		choice(argc, argv, ways, "malloc|once|async [steps [temporaries [MiB [loops]]]]");
	int steps = number(argc, argv, 2, 50), n = number(argc, argv, 3, 3);
	size_t bytes = (size_t)number(argc, argv, 4, 8) << 20;
	int loops = number(argc, argv, 5, 20000);
	bool is_malloc = strcmp(way, "malloc") == 0, is_async = strcmp(way, "async") == 0;
	if (bytes < BLOCKS * BLOCK * sizeof(float))
		return 2;

	cudaStream_t stream;
	check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	cudaMemPool_t pool;
	uint64_t keep = UINT64_MAX; /* else it goes back to the system at each wait */
	check(cudaDeviceGetDefaultMemPool(&pool, 0));
	check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
	std::vector<float *> temporaries(n);
	for (float *&one : temporaries)
		if (!is_malloc && !is_async)
			check(cudaMalloc(&one, bytes));
	check(cudaDeviceSynchronize());
	time_steps("allocloop", way, steps, [&] {
		for (float *&one : temporaries) {
			if (is_malloc)
				check(cudaMalloc(&one, bytes));
			else if (is_async)
				check(cudaMallocAsync((void **)&one, bytes, stream));
			check(cudaMemsetAsync(one, 0, bytes, stream));
			work<<<BLOCKS, BLOCK, 0, stream>>>(one, loops);
		}
		for (float *one : temporaries) {
			if (is_malloc)
				check(cudaFree(one));
			else if (is_async)
				check(cudaFreeAsync(one, stream));
		}
	});
	return 0;
}
