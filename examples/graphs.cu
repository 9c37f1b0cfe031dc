/* graphs.cu - a launch costs the CPU microseconds; a CUDA graph launches a thousand kernels at once.
 *
 *     graphs launch         1000 tiny kernels, one launch each
 *     graphs graph          the same 1000 kernels as one graph
 *     graphs conditional    a graph that repeats its body until the GPU says stop: no wait on the CPU either
 *
 * More numbers: repetitions, kernels, and MiB of device memory to leave free before the kernels' own.
 */
#include "example.h"

__global__ void tiny(int *x)
{
	x[threadIdx.x]++;
}

/* Goes on while there are rounds left. */
__global__ void count_down(int *rounds, cudaGraphConditionalHandle handle)
{
	cudaGraphSetConditional(handle, --*rounds > 0);
}

static void launch(int *x, int kernels, cudaStream_t stream)
{
	for (int i = 0; i < kernels; i++)
		tiny<<<1, 32, 0, stream>>>(x);
}

static cudaGraphExec_t instantiate(cudaGraph_t graph)
{
	cudaGraphExec_t exec;
	check(cudaGraphInstantiate(&exec, graph, 0));
	return exec;
}

static cudaGraphExec_t as_graph(int *x, int kernels, cudaStream_t stream)
{
	cudaGraph_t graph;
	check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	launch(x, kernels, stream);
	check(cudaStreamEndCapture(stream, &graph));
	return instantiate(graph);
}

/* A while node whose body is ten kernels and the one that decides. */
static cudaGraphExec_t as_conditional(int *x, int *rounds, cudaStream_t stream)
{
	cudaGraph_t graph, captured;
	check(cudaGraphCreate(&graph, 0));
	cudaGraphConditionalHandle handle;
	check(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
	cudaGraphNodeParams params = {};
	params.type = cudaGraphNodeTypeConditional;
	params.conditional.handle = handle;
	params.conditional.type = cudaGraphCondTypeWhile;
	params.conditional.size = 1;
	cudaGraphNode_t node;
	check(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &params));
	cudaGraph_t body = params.conditional.phGraph_out[0];
	check(cudaStreamBeginCaptureToGraph(stream, body, NULL, NULL, 0,
					    cudaStreamCaptureModeGlobal));
	launch(x, 10, stream);
	count_down<<<1, 1, 0, stream>>>(rounds, handle);
	check(cudaStreamEndCapture(stream, &captured));
	return instantiate(graph);
}

int main(int argc, char **argv)
{
	const char *const ways[] = {"launch", "graph", "conditional", NULL};
	const char *way =
		choice(argc, argv, ways, "launch|graph|conditional [repetitions [kernels [skip]]]");
	int repetitions = number(argc, argv, 2, 12), kernels = number(argc, argv, 3, 1000);
	int skip = number(argc, argv, 4, 0);

	cudaStream_t stream;
	check(cudaStreamCreate(&stream));
	/* A tiny kernel's time is mostly the way to its memory and back, so it depends on where that is. */
	void *skipped;
	if (skip > 0)
		check(cudaMalloc(&skipped, (size_t)skip << 20));
	int *x, *rounds;
	check(cudaMalloc(&x, 32 * sizeof *x));
	check(cudaMalloc(&rounds, sizeof *rounds));
	check(cudaMemset(x, 0, 32 * sizeof *x));
	bool conditional = strcmp(way, "conditional") == 0;
	cudaGraphExec_t exec = NULL;
	if (strcmp(way, "graph") == 0)
		exec = as_graph(x, kernels, stream);
	if (conditional)
		exec = as_conditional(x, rounds, stream);

	double start = 0;
	for (int r = -2; r < repetitions; r++) { /* two to warm up */
		if (r == 0)
			start = now_ms();
		int left = kernels / 10;
		if (conditional)
			check(cudaMemcpyAsync(rounds, &left, sizeof left, cudaMemcpyHostToDevice,
					      stream));
		if (exec)
			check(cudaGraphLaunch(exec, stream));
		else
			launch(x, kernels, stream);
		check(cudaStreamSynchronize(stream));
	}
	printf("graphs %s: %.3f ms/step (%d steps)\n", way, (now_ms() - start) / repetitions,
	       repetitions);
	return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
