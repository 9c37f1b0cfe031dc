/* SPDX-License-Identifier: Apache-2.0 */
/* oneserial.cu - kernels that fill a small part of the GPU each, of threads that have nothing to do with each other.
 *
 *     oneserial one       all threads launch into one stream: their kernels run one after the other
 *     oneserial own       each thread has its own stream: they run side by side
 *     oneserial single    one thread launches all of them into one stream
 *
 * More numbers: steps, kernels of each thread in a step, threads, blocks, loops.
 */
#include <pthread.h>

#include <thread>
#include <vector>

#include "work.h"

/* What a thread does before it launches its next kernel. */
static void prepare(double ms)
{
	for (double start = now_ms(); now_ms() - start < ms;)
		;
}

int main(int argc, char **argv)
{
	const char *const ways[] = {"one", "own", "single", NULL};
	const char *way = choice(argc, argv, ways,
				 "one|own|single [steps [kernels [threads [blocks [loops]]]]]");
	int steps = number(argc, argv, 2, 50), kernels = number(argc, argv, 3, 8);
	int threads = number(argc, argv, 4, 4);
	int blocks = number(argc, argv, 5, 16), loops = number(argc, argv, 6, 20000);
	bool single = strcmp(way, "single") == 0;

	std::vector<cudaStream_t> streams(threads);
	std::vector<float *> data(threads);
	for (int t = 0; t < threads; t++) {
		data[t] = room(blocks);
		streams[t] = streams[0];
		if (t == 0 || strcmp(way, "own") == 0)
			check(cudaStreamCreateWithFlags(&streams[t], cudaStreamNonBlocking));
	}
	check(cudaDeviceSynchronize());
	auto serve = [&](int t) {
		for (int k = 0; k < kernels; k++) {
			prepare(0.01);
			work<<<blocks, BLOCK, 0, streams[t]>>>(data[t], loops);
		}
	};
	/* The other threads begin each step with the first one, and are done before it waits. */
	int rounds = steps + 2;
	pthread_barrier_t begin, end;
	pthread_barrier_init(&begin, NULL, threads);
	pthread_barrier_init(&end, NULL, threads);
	std::vector<std::thread> others;
	for (int t = 1; t < threads && !single; t++)
		others.emplace_back([&, t] {
			for (int i = 0; i < rounds; i++) {
				pthread_barrier_wait(&begin);
				serve(t);
				pthread_barrier_wait(&end);
			}
		});
	time_steps("oneserial", way, steps, [&] {
		if (single) {
			for (int t = 0; t < threads; t++)
				serve(t);
		} else {
			pthread_barrier_wait(&begin);
			serve(0);
			pthread_barrier_wait(&end);
		}
		check(cudaDeviceSynchronize());
	});
	for (std::thread &other : others)
		other.join();
	return 0;
}
