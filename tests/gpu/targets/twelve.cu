/* SPDX-License-Identifier: Apache-2.0 */
/* twelve.cu - kernels whose bytes and operations can be counted by hand, to hold counters against; twelve.py has torch's.
 *
 *     twelve [rounds]
 *
 * copy                  256 MiB read, 256 MiB written, in pieces of 16 bytes
 * transpose_conflicts   through a tile whose columns lie in one bank
 * transpose_padded      the same, each row of the tile a word longer
 * gather                reads of 4 bytes from places that a hash chooses
 * reduction             one addition an element
 * spilling              more live values than registers
 * tiny                  four blocks: a chain of dependent operations
 *
 * Arrays are several times the L2 cache. A range round_N encloses one launch of each; a profiler may begin at
 * cudaProfilerStart, after everything was prepared and each kernel ran once.
 */
#include "example.h"

#include <cuda_profiler_api.h>
#include <nvtx3/nvToolsExt.h>

static const int SIDE = 8192, N = SIDE * SIDE, TILE = 32, ROWS = 8;
static const int LIVE = 96, SPILLING = 1 << 20, TINY_BLOCKS = 4, TINY_LOOPS = 50000;

__global__ void prepare(float *data, int *index, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) {
		data[i] = (float)(i & 7); /* small whole numbers: sums are exact in any order */
		index[i] = (int)((unsigned)i * 2654435761u >> 6); /* below 2^26 = n */
	}
}

__global__ void copy(float4 *to, const float4 *from, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		to[i] = from[i];
}

template <int WIDTH> __device__ void transpose(float *to, const float *from)
{
	__shared__ float tile[TILE][WIDTH];
	int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
	for (int j = 0; j < TILE; j += ROWS)
		tile[threadIdx.y + j][threadIdx.x] = from[(size_t)(y + j) * SIDE + x];
	__syncthreads();
	x = blockIdx.y * TILE + threadIdx.x;
	y = blockIdx.x * TILE + threadIdx.y;
	for (int j = 0; j < TILE; j += ROWS)
		to[(size_t)(y + j) * SIDE + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void transpose_conflicts(float *to, const float *from)
{
	transpose<TILE>(to, from);
}

__global__ void transpose_padded(float *to, const float *from)
{
	transpose<TILE + 1>(to, from);
}

__global__ void gather(float *to, const float *from, const int *index, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		to[i] = from[index[i]];
}

__global__ void reduction(double *sum, const float *from, int n)
{
	__shared__ float warps[32];
	float mine = 0;
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		mine += from[i];
	for (int lane = 16; lane; lane /= 2)
		mine += __shfl_down_sync(~0u, mine, lane);
	if (threadIdx.x % 32 == 0)
		warps[threadIdx.x / 32] = mine;
	__syncthreads();
	if (threadIdx.x)
		return;
	for (int w = 1; w < (int)blockDim.x / 32; w++)
		mine += warps[w];
	atomicAdd(sum, (double)mine);
}

/* Two blocks of 1024 threads on a multiprocessor leave 32 registers to a thread. */
__global__ void __launch_bounds__(1024, 2) spilling(float *data, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float live[LIVE];
#pragma unroll
	for (int k = 0; k < LIVE; k++)
		live[k] = data[(i + k * 1024) % n];
	for (int turn = 0; turn < 4; turn++) {
#pragma unroll
		for (int k = 0; k < LIVE; k++)
			live[k] = live[k] * 0.5f + live[(k + LIVE / 2) % LIVE];
	}
	float sum = 0;
#pragma unroll
	for (int k = 0; k < LIVE; k++)
		sum += live[k];
	data[n + i] = sum;
}

__global__ void tiny(float *data, int loops)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float x = data[i];
	for (int k = 0; k < loops; k++)
		x = x * 0.5f + 1.0f;
	data[i] = x;
}

struct room {
	float *from, *to, *spilled, *small;
	int *index;
	double *sum;
};

static struct room prepared()
{
	struct room r;
	check(cudaMalloc(&r.from, N * sizeof *r.from));
	check(cudaMalloc(&r.to, N * sizeof *r.to));
	check(cudaMalloc(&r.index, N * sizeof *r.index));
	check(cudaMalloc(&r.spilled, 2 * SPILLING * sizeof *r.spilled));
	check(cudaMemset(r.spilled, 0, 2 * SPILLING * sizeof *r.spilled));
	check(cudaMalloc(&r.small, TINY_BLOCKS * 128 * sizeof *r.small));
	check(cudaMemset(r.small, 0, TINY_BLOCKS * 128 * sizeof *r.small));
	check(cudaMalloc(&r.sum, sizeof *r.sum));
	check(cudaMemset(r.sum, 0, sizeof *r.sum));
	prepare<<<N / 256, 256>>>(r.from, r.index, N);
	check(cudaGetLastError());
	return r;
}

static void launch_each(const struct room &r, int blocks)
{
	dim3 tiles(SIDE / TILE, SIDE / TILE), threads(TILE, ROWS);
	copy<<<N / 4 / 256, 256>>>((float4 *)r.to, (const float4 *)r.from, N / 4);
	transpose_conflicts<<<tiles, threads>>>(r.to, r.from);
	transpose_padded<<<tiles, threads>>>(r.to, r.from);
	gather<<<N / 256, 256>>>(r.to, r.from, r.index, N);
	reduction<<<blocks, 256>>>(r.sum, r.from, N);
	spilling<<<SPILLING / 1024, 1024>>>(r.spilled, SPILLING);
	tiny<<<TINY_BLOCKS, 128>>>(r.small, TINY_LOOPS);
	check(cudaGetLastError());
}

int main(int argc, char **argv)
{
	int rounds = number(argc, argv, 1, 5), multiprocessors;
	check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
	struct room r = prepared();
	launch_each(r, 8 * multiprocessors);
	check(cudaDeviceSynchronize());
	check(cudaProfilerStart());
	double start = now_ms();
	for (int round = 0; round < rounds; round++) {
		char name[32];
		snprintf(name, sizeof name, "round_%d", round);
		nvtxRangePushA(name);
		launch_each(r, 8 * multiprocessors);
		check(cudaDeviceSynchronize());
		nvtxRangePop();
	}
	double took = now_ms() - start;
	check(cudaProfilerStop());
	double sum;
	float last;
	check(cudaMemcpy(&sum, r.sum, sizeof sum, cudaMemcpyDeviceToHost));
	check(cudaMemcpy(&last, r.to + N - 1, sizeof last, cudaMemcpyDeviceToHost));
	printf("sum %.0f a round, last %g\n", sum / (rounds + 1), last);
	printf("twelve own: %.3f ms/step (%d steps)\n", took / rounds, rounds);
	return 0;
}
