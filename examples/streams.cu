/* streams.cu - "asynchronous" copies are asynchronous only from pinned memory, and overlap only on several streams.
 *
 *     streams pageable 1    each cudaMemcpyAsync waits: copy in, kernel, copy out take turns
 *     streams pinned 4      copies in, kernels and copies out of four streams overlap
 *
 * Data of 256 MiB goes to the GPU in 16 chunks, is worked on, and comes back.
 */
#include "example.h"

__global__ void work(float *data, int n)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
		float x = data[i];
		for (int k = 0; k < 200; k++)
			x = x * 0.999f + 0.001f;
		data[i] = x;
	}
}

/* All chunks in turn over the streams; then waits for all of them. */
__noinline__ static void pass(float *host, float *device, int chunks, int n, cudaStream_t *streams,
			      int n_streams)
{
	for (int c = 0; c < chunks; c++) {
		cudaStream_t stream = streams[c % n_streams];
		float *from = host + (size_t)c * n, *to = device + (size_t)c * n;
		check(cudaMemcpyAsync(to, from, n * sizeof(float), cudaMemcpyHostToDevice, stream));
		work<<<1024, 256, 0, stream>>>(to, n);
		check(cudaMemcpyAsync(from, to, n * sizeof(float), cudaMemcpyDeviceToHost, stream));
	}
	check(cudaDeviceSynchronize());
}

int main(int argc, char **argv)
{
	const char *const kinds[] = {"pageable", "pinned", NULL};
	const char *kind =
		choice(argc, argv, kinds, "pageable|pinned [streams [repetitions [MiB [chunks]]]]");
	int n_streams = number(argc, argv, 2, 1), repetitions = number(argc, argv, 3, 4);
	size_t bytes = (size_t)number(argc, argv, 4, 256) << 20;
	int chunks = number(argc, argv, 5, 16), n = (int)(bytes / sizeof(float) / chunks);

	float *host, *device;
	if (strcmp(kind, "pinned") == 0)
		check(cudaMallocHost(&host, bytes));
	else
		host = (float *)malloc(bytes);
	memset(host, 0, bytes);
	check(cudaMalloc(&device, bytes));
	cudaStream_t *streams = new cudaStream_t[n_streams];
	for (int s = 0; s < n_streams; s++)
		check(cudaStreamCreate(&streams[s]));

	pass(host, device, chunks, n, streams, n_streams); /* the first one is slower */
	double start = now_ms();
	for (int r = 0; r < repetitions; r++)
		pass(host, device, chunks, n, streams, n_streams);
	printf("streams %s %d: %.3f ms/step (%d steps)\n", kind, n_streams,
	       (now_ms() - start) / repetitions, repetitions);
	return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
