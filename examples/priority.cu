/* priority.cu - a request on a high-priority stream overtakes the bulk work that waits in front of it.
 *
 *     priority same    both streams have the same priority: the request waits until the bulk work lets it in
 *     priority high    the request's stream has the highest: its blocks run as soon as others end
 *
 * Bulk kernels of many blocks fill the GPU. In every step a small request comes along; its time is measured.
 */
#include "example.h"

__global__ void spin(long long cycles)
{
	long long start = clock64();
	while (clock64() - start < cycles)
		;
}

int main(int argc, char **argv)
{
	const char *const ways[] = {"same", "high", NULL};
	const char *way = choice(argc, argv, ways, "same|high [requests [bulk kernels [waves]]]");
	int requests = number(argc, argv, 2, 20), kernels = number(argc, argv, 3, 4),
	    waves = number(argc, argv, 4, 20);

	int lowest, highest, multiprocessors, resident;
	check(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
	check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
	check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, spin, 256, 0));
	int blocks = multiprocessors * resident * waves;
	cudaStream_t bulk, urgent;
	check(cudaStreamCreateWithPriority(&bulk, cudaStreamNonBlocking, lowest));
	check(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking,
					   strcmp(way, "high") == 0 ? highest : lowest));

	spin<<<1, 256, 0, bulk>>>(1);
	spin<<<1, 256, 0, urgent>>>(1);
	check(cudaDeviceSynchronize());
	double total = 0;
	for (int r = 0; r < requests; r++) {
		for (int k = 0; k < kernels; k++)
			spin<<<blocks, 256, 0, bulk>>>(100000);
		double start = now_ms();
		spin<<<multiprocessors, 256, 0, urgent>>>(100000);
		check(cudaStreamSynchronize(urgent));
		total += now_ms() - start;
		check(cudaStreamSynchronize(bulk));
	}
	printf("priority %s: %.3f ms/step (%d steps)\n", way, total / requests, requests);
	return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
