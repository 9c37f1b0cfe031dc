/* events.cu - let one stream wait for another on the GPU; the CPU need not stand in between.
 *
 *     events host      the CPU waits for the producer, then launches the consumer
 *     events device    the consumer's stream waits for the producer's event, the CPU goes on
 *
 * A chain of small kernels goes back and forth between two streams.
 */
#include "example.h"

__global__ void step(float *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		x[i] = x[i] * 0.5f + 1.0f;
}

int main(int argc, char **argv)
{
	const char *const ways[] = {"host", "device", NULL};
	const char *way = choice(argc, argv, ways, "host|device [steps [elements]]");
	int steps = number(argc, argv, 2, 500), n = number(argc, argv, 3, 1 << 20);
	bool host = strcmp(way, "host") == 0;

	float *x;
	check(cudaMalloc(&x, n * sizeof *x));
	check(cudaMemset(x, 0, n * sizeof *x));
	cudaStream_t producer, consumer;
	check(cudaStreamCreateWithFlags(&producer, cudaStreamNonBlocking));
	check(cudaStreamCreateWithFlags(&consumer, cudaStreamNonBlocking));
	cudaEvent_t produced, consumed;
	check(cudaEventCreateWithFlags(&produced, cudaEventDisableTiming));
	check(cudaEventCreateWithFlags(&consumed, cudaEventDisableTiming));
	check(cudaDeviceSynchronize());

	double start = 0;
	for (int s = -10; s < steps; s++) { /* ten to warm up */
		if (s == 0) {
			check(cudaDeviceSynchronize());
			start = now_ms();
		}
		step<<<(n + 255) / 256, 256, 0, producer>>>(x, n);
		check(cudaEventRecord(produced, producer));
		if (host)
			check(cudaEventSynchronize(produced));
		else
			check(cudaStreamWaitEvent(consumer, produced, 0));
		step<<<(n + 255) / 256, 256, 0, consumer>>>(x, n);
		check(cudaEventRecord(consumed, consumer));
		if (host)
			check(cudaEventSynchronize(consumed));
		else
			check(cudaStreamWaitEvent(producer, consumed, 0));
	}
	check(cudaDeviceSynchronize());
	printf("events %s: %.4f ms/step (%d steps)\n", way, (now_ms() - start) / steps, steps);
	return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
