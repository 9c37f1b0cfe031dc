/* graphs_cl.c - a launch costs microseconds; a thousand tiny kernels cost a thousand launches.
 *
 *     graphs_cl launch    1000 tiny kernels, one launch each
 *     graphs_cl fused     one kernel that does the rounds itself
 */
#include "example_cl.h"

static const char *const source = "__kernel void tiny(__global int *x) { x[get_global_id(0)]++; }\n"
				  "__kernel void fused(__global int *x, int rounds) {\n"
				  "  for (int i = 0; i < rounds; i++)\n"
				  "    ((volatile __global int *)x)[get_global_id(0)]++;\n"
				  "}\n";

static void step(cl_command_queue queue, cl_kernel kernel, int launches, int items)
{
	size_t global = (size_t)items, local = 64;
	for (int i = 0; i < launches; i++)
		CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL,
					     NULL));
	CHECK(clFinish(queue));
}

int main(int argc, char **argv)
{
	const char *const ways[] = {"launch", "fused", NULL};
	const char *way = choice(argc, argv, ways, "launch|fused [repetitions [kernels [items]]]");
	int repetitions = number(argc, argv, 2, 12), kernels = number(argc, argv, 3, 1000);
	int items = number(argc, argv, 4, 65536) / 64 * 64;
	int is_fused = strcmp(way, "fused") == 0, launches = is_fused ? 1 : kernels;

	open_device();
	cl_command_queue queue = make_queue(0);
	cl_kernel kernel = make_kernel(build(source), is_fused ? "fused" : "tiny");
	size_t bytes = (size_t)items * sizeof(int);
	int *data = calloc(bytes, 1);
	cl_mem x = make_buffer(bytes);
	CHECK(clEnqueueWriteBuffer(queue, x, CL_TRUE, 0, bytes, data, 0, NULL, NULL));
	CHECK(clSetKernelArg(kernel, 0, sizeof x, &x));
	if (is_fused)
		CHECK(clSetKernelArg(kernel, 1, sizeof kernels, &kernels));

	step(queue, kernel, launches, items); /* the first one is slower */
	double start = now_ms();
	for (int r = 0; r < repetitions; r++)
		step(queue, kernel, launches, items);
	double elapsed = now_ms() - start;
	CHECK(clEnqueueReadBuffer(queue, x, CL_TRUE, 0, bytes, data, 0, NULL, NULL));
	printf("graphs_cl %s: %.3f ms/step (%d steps)\n", way, elapsed / repetitions, repetitions);
	return data[0] == (repetitions + 1) * kernels ? 0 : 1;
}
/* SPDX-License-Identifier: Apache-2.0 */
