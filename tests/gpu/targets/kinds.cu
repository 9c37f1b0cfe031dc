/* SPDX-License-Identifier: Apache-2.0 */
/* kinds.cu - three ways to keep a GPU from working, each with its remedy.
 *
 *     kinds few         kernels of one block: the rest of the GPU looks on
 *     kinds full        the same work in as many blocks as there are multiprocessors
 *     kinds small       a step's numbers go to the GPU one by one
 *     kinds packed      they go together
 *     kinds large       a step's data takes the link longer than the kernel takes to work on it
 *     kinds resident    the data stays on the GPU
 *
 * More numbers: steps; then kernels and loops (few, full), numbers (small, packed), MiB (large, resident).
 */
#include "work.h"

static int multiprocessors()
{
	int n;
	check(cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, 0));
	return n;
}

static void grids(const char *way, int steps, int kernels, int loops, cudaStream_t stream)
{
	int blocks = strcmp(way, "few") == 0 ? 1 : multiprocessors();
	float *data = room(blocks);
	time_steps("kinds", way, steps, [&] {
		for (int k = 0; k < kernels; k++)
			work<<<blocks, BLOCK, 0, stream>>>(data, loops / blocks);
		check(cudaStreamSynchronize(stream));
	});
}

static void copies(const char *way, int steps, int numbers, cudaStream_t stream)
{
	int each = strcmp(way, "small") == 0 ? 1 : numbers, blocks = multiprocessors();
	float *data = room(blocks), *host;
	check(cudaMallocHost(&host, numbers * sizeof *host));
	memset(host, 0, numbers * sizeof *host);
	time_steps("kinds", way, steps, [&] {
		for (int i = 0; i < numbers; i += each)
			check(cudaMemcpyAsync(data + i, host + i, each * sizeof *host,
					      cudaMemcpyHostToDevice, stream));
		work<<<blocks, BLOCK, 0, stream>>>(data, 50000);
		check(cudaStreamSynchronize(stream));
	});
}

static void transfers(const char *way, int steps, int mib, cudaStream_t stream)
{
	size_t bytes = (size_t)mib << 20;
	int blocks = multiprocessors();
	bool moves = strcmp(way, "large") == 0;
	char *host, *device;
	check(cudaMallocHost(&host, bytes));
	check(cudaMalloc(&device, bytes));
	memset(host, 0, bytes);
	check(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
	time_steps("kinds", way, steps, [&] {
		if (moves)
			check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream));
		work<<<blocks, BLOCK, 0, stream>>>((float *)device, 20000);
		check(cudaStreamSynchronize(stream));
	});
}

int main(int argc, char **argv)
{
	const char *const ways[] = {"few", "full", "small", "packed", "large", "resident", NULL};
	const char *way = choice(argc, argv, ways,
				 "few|full|small|packed|large|resident [steps [size [loops]]]");
	int steps = number(argc, argv, 2, 50);
	cudaStream_t stream;
	check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	switch (way[0]) {
	case 'f':
		grids(way, steps, number(argc, argv, 3, 4), number(argc, argv, 4, 100000), stream);
		break;
	case 's':
	case 'p': copies(way, steps, number(argc, argv, 3, 64), stream); break;
	default: transfers(way, steps, number(argc, argv, 3, 64), stream);
	}
	return 0;
}
