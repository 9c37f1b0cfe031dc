/* SPDX-License-Identifier: Apache-2.0 */
/* defaultstream.cu - small kernels in the legacy default stream make two other streams take turns.
 *
 *     defaultstream blocking       streams of cudaStreamCreate wait for the default stream, and it for them
 *     defaultstream nonblocking    streams made as non-blocking do not
 *
 * More numbers: steps, kernels of each stream in a step, their blocks, their loops.
 */
#include "work.h"

int main(int argc, char **argv)
{
	const char *const ways[] = {"blocking", "nonblocking", NULL};
	const char *way =
		choice(argc, argv, ways, "blocking|nonblocking [steps [kernels [blocks [loops]]]]");
	int steps = number(argc, argv, 2, 50), kernels = number(argc, argv, 3, 4);
	int blocks = number(argc, argv, 4, 20), loops = number(argc, argv, 5, 50000);
	unsigned flags = strcmp(way, "blocking") == 0 ? cudaStreamDefault : cudaStreamNonBlocking;

	cudaStream_t streams[2];
	float *data[2], *note = room(1);
	for (int s = 0; s < 2; s++) {
		check(cudaStreamCreateWithFlags(&streams[s], flags));
		data[s] = room(blocks);
	}
	check(cudaDeviceSynchronize());
	time_steps("defaultstream", way, steps, [&] {
		for (int k = 0; k < 2 * kernels; k++) {
			work<<<blocks, BLOCK, 0, streams[k % 2]>>>(data[k % 2], loops);
			work<<<1, BLOCK>>>(note, 100);
		}
		check(cudaDeviceSynchronize());
	});
	return 0;
}
