/* SPDX-License-Identifier: Apache-2.0 */
/* work.h - the kernel of the targets that each hold one lesson, and the loop that times them. */
#pragma once
#include "example.h"

/* About 2 ns a loop on any recent GPU, however many blocks run beside it: a chain of dependent operations. */
__global__ void work(float *data, int loops)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float x = data[i];
	for (int k = 0; k < loops; k++)
		x = x * 0.999f + 0.001f;
	data[i] = x;
}

static const int BLOCK = 256;

/* Room for so many blocks of 'work'. */
static inline float *room(int blocks)
{
	float *data;
	size_t bytes = (size_t)blocks * BLOCK * sizeof *data;
	check(cudaMalloc(&data, bytes));
	check(cudaMemset(data, 0, bytes));
	return data;
}

/* Runs the steps, after two to warm up, and prints what one takes. */
template <typename Step>
static void time_steps(const char *name, const char *way, int steps, Step step)
{
	double start = 0;
	for (int i = -2; i < steps; i++) {
		if (i == 0)
			start = now_ms();
		step();
	}
	check(cudaDeviceSynchronize());
	printf("%s %s: %.3f ms/step (%d steps)\n", name, way, (now_ms() - start) / steps, steps);
}
