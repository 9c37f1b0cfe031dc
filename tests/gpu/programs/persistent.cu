/* SPDX-License-Identifier: Apache-2.0 */
/* persistent.cu - a server whose kernel never ends: it polls for requests in the host's memory and answers them.
 *
 * The kernel gives up when it saw no request for three seconds, and the host when no answer came for six.
 */
#include "steps.h"

static const int N = 1 << 22, TURNS = 32, SERVER_BLOCKS = 4, THREADS = 256;
static const unsigned long long PATIENCE_NS = 3000000000ull;

struct desk {                         /* in the host's memory, seen by both */
	volatile int request, answer; /* numbers from 1; a request of -1 ends the server */
};

__device__ unsigned long long device_ns()
{
	unsigned long long ns;
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}

__device__ void answer(float *state, int n, int request)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
		float x = state[i] + (float)(request & 3);
		for (int turn = 0; turn < TURNS; turn++)
			x = x * 0.995f + 0.005f;
		state[i] = x;
	}
}

__global__ void answer_one(float *state, int n, int request)
{
	answer(state, n, request);
}

/* The next request after the last one, or -1. */
__device__ int wait_for_request(desk *d, int last)
{
	unsigned long long begun = device_ns();
	int request;
	while ((request = d->request) == last) {
		if (device_ns() - begun > PATIENCE_NS)
			return -1;
		__nanosleep(500);
	}
	return request;
}

__global__ void serve(desk *d, float *state, int n, int *finished)
{
	__shared__ int request;
	for (int last = 0;; last = request) {
		__syncthreads();
		if (threadIdx.x == 0)
			request = wait_for_request(d, last);
		__syncthreads();
		if (request < 0)
			return;
		answer(state, n, request);
		__threadfence_system();
		__syncthreads();
		if (threadIdx.x == 0 && atomicAdd(finished, 1) == (int)gridDim.x - 1) {
			*finished =
				0; /* the others wait for the next request, which follows this answer */
			__threadfence_system();
			d->answer = request;
		}
	}
}

/* What the host does between two requests: about a millisecond. */
static unsigned read_request(unsigned seed)
{
	for (int i = 0; i < 600000; i++)
		seed = seed * 1664525u + 1013904223u;
	return seed;
}

static void ask(desk *d, int request)
{
	double begun = now_ms();
	__sync_synchronize();
	d->request = request;
	while (d->answer != request) {
		if (now_ms() - begun > 6000) {
			fprintf(stderr, "persistent: no answer\n");
			exit(1);
		}
	}
}

int main(int argc, char **argv)
{
	bool fixed = is_fixed(argc, argv);
	float *state;
	int *finished;
	desk *d;
	check(cudaHostAlloc(&d, sizeof *d, cudaHostAllocMapped));
	d->request = d->answer = 0;
	check(cudaMalloc(&state, N * sizeof *state));
	check(cudaMemset(state, 0, N * sizeof *state));
	check(cudaMalloc(&finished, sizeof *finished));
	check(cudaMemset(finished, 0, sizeof *finished));
	check(cudaDeviceSynchronize());
	unsigned seed = 1;
	if (!fixed)
		serve<<<SERVER_BLOCKS, THREADS>>>(d, state, N, finished);
	check(cudaGetLastError());
	timed(300, 20, [&](int i) {
		seed = read_request(seed);
		if (fixed) {
			answer_one<<<N / THREADS, THREADS>>>(state, N, i + 1);
			check(cudaStreamSynchronize(0));
		} else {
			ask(d, i + 1);
		}
	});
	if (!fixed) {
		d->request = -1;
		check(cudaDeviceSynchronize());
	}
	float first;
	check(cudaMemcpy(&first, state, sizeof first, cudaMemcpyDeviceToHost));
	printf("first %.6f, seed %u\n", first, seed);
	return 0;
}
