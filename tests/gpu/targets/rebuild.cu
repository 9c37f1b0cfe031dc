/* SPDX-License-Identifier: Apache-2.0 */
/* rebuild.cu - a graph that is captured and instantiated in every step costs more than it saves.
 *
 *     rebuild every    captures, instantiates, launches and destroys it in each step
 *     rebuild once     does so before the loop, and only launches it there
 *
 * More numbers: steps, kernels of the graph, their blocks, their loops.
 */
#include "work.h"

static cudaGraphExec_t build(float *data, int kernels, int blocks, int loops, cudaStream_t stream)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	for (int k = 0; k < kernels; k++)
		work<<<blocks, BLOCK, 0, stream>>>(data, loops);
	check(cudaStreamEndCapture(stream, &graph));
	check(cudaGraphInstantiate(&exec, graph, 0));
	check(cudaGraphDestroy(graph));
	return exec;
}

int main(int argc, char **argv)
{
	const char *const ways[] = {"every", "once", NULL};
	const char *way = choice(argc, argv, ways, "every|once [steps [kernels [blocks [loops]]]]");
	int steps = number(argc, argv, 2, 50), kernels = number(argc, argv, 3, 20);
	int blocks = number(argc, argv, 4, 256), loops = number(argc, argv, 5, 2000);
	bool every = strcmp(way, "every") == 0;

	cudaStream_t stream;
	check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	float *data = room(blocks);
	check(cudaDeviceSynchronize());
	cudaGraphExec_t exec = every ? NULL : build(data, kernels, blocks, loops, stream);
	time_steps("rebuild", way, steps, [&] {
		if (every)
			exec = build(data, kernels, blocks, loops, stream);
		check(cudaGraphLaunch(exec, stream));
		check(cudaStreamSynchronize(stream));
		if (every)
			check(cudaGraphExecDestroy(exec));
	});
	return 0;
}
