/* SPDX-License-Identifier: Apache-2.0 */
/* smallgrid.cu - smooths a signal again and again; the number of blocks was chosen for a small card. */
#include "steps.h"

static const int N = 1 << 22, TURNS = 96;

__global__ void smooth(float *signal, int n)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
		float x = signal[i];
		for (int turn = 0; turn < TURNS; turn++)
			x = x * 0.995f + 0.005f;
		signal[i] = x;
	}
}

int main(int argc, char **argv)
{
	int blocks = is_fixed(argc, argv) ? 2 * multiprocessors() : 8;
	float *signal;
	check(cudaMalloc(&signal, N * sizeof *signal));
	check(cudaMemset(signal, 0, N * sizeof *signal));
	timed(300, 20, [&](int) {
		smooth<<<blocks, 1024>>>(signal, N);
		smooth<<<blocks, 1024>>>(signal, N);
		check(cudaDeviceSynchronize());
	});
	return 0;
}
