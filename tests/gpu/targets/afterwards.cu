/* SPDX-License-Identifier: Apache-2.0 */
/* afterwards.cu - time of a launch after a capture range has ended: afterwards [repetitions] */
#include <cuda_profiler_api.h>

#include <algorithm>
#include <vector>

#include "example.h"

__global__ void tiny(int *x)
{
	x[threadIdx.x]++;
}

static double ns_per_launch(int *x, cudaStream_t stream)
{
	const int launches = 2000;
	double start = now_ms();
	for (int i = 0; i < launches; i++) {
		tiny<<<1, 32, 0, stream>>>(x);
		if (i % 500 == 499)
			check(cudaStreamSynchronize(stream));
	}
	return 1e6 * (now_ms() - start) / launches;
}

static double median(int *x, cudaStream_t stream, int repetitions)
{
	std::vector<double> times;
	for (int r = 0; r < repetitions; r++)
		times.push_back(ns_per_launch(x, stream));
	std::sort(times.begin(), times.end());
	return times[times.size() / 2];
}

int main(int argc, char **argv)
{
	int repetitions = number(argc, argv, 1, 40), *x;
	cudaStream_t stream;
	check(cudaStreamCreate(&stream));
	check(cudaMalloc(&x, 32 * sizeof *x));
	ns_per_launch(x, stream);
	check(cudaProfilerStart());
	double during = median(x, stream, 5);
	check(cudaProfilerStop());
	ns_per_launch(x, stream); /* the profiler may still be leaving */
	double after = median(x, stream, repetitions);
	printf("during %.1f ns/launch, after %.1f ns/launch\n", during, after);
	return 0;
}
