/* streams_cl.c - copies and kernels of different chunks overlap only where the queue lets them.
 *
 *     streams_cl one          one in-order queue: copy in, kernel and copy out take turns
 *     streams_cl unordered    one out-of-order queue: events say what must wait for what, and nothing else does
 *     streams_cl several      four in-order queues, each with every fourth chunk
 *
 * Data goes to the device in chunks, is worked on, and comes back.
 */
#include "example_cl.h"

static const char *const source =
	"__kernel void work(__global float *data, int n) {\n"
	"  for (int i = get_global_id(0); i < n; i += get_global_size(0)) {\n"
	"    float x = data[i];\n"
	"    for (int k = 0; k < 50; k++)\n"
	"      x = x * 0.999f + 0.001f;\n"
	"    data[i] = x;\n"
	"  }\n"
	"}\n";

enum { QUEUES = 4, MOST_CHUNKS = 1024 };

static cl_kernel work;
static cl_mem buffers[MOST_CHUNKS];

/* All chunks in turn over the queues; then waits for all of them. */
static void pass(float *host, int chunks, int n, cl_command_queue *queues, int n_queues,
		 int is_unordered)
{
	size_t bytes = (size_t)n * sizeof(float), global = 4096, local = 64;
	for (int c = 0; c < chunks; c++) {
		cl_command_queue queue = queues[c % n_queues];
		float *part = host + (size_t)c * (size_t)n;
		cl_event in = NULL, done = NULL;
		CHECK(clEnqueueWriteBuffer(queue, buffers[c], CL_FALSE, 0, bytes, part, 0, NULL,
					   is_unordered ? &in : NULL));
		CHECK(clSetKernelArg(work, 0, sizeof buffers[c], &buffers[c]));
		CHECK(clSetKernelArg(work, 1, sizeof n, &n));
		CHECK(clEnqueueNDRangeKernel(queue, work, 1, NULL, &global, &local, in != NULL,
					     in ? &in : NULL, is_unordered ? &done : NULL));
		CHECK(clEnqueueReadBuffer(queue, buffers[c], CL_FALSE, 0, bytes, part, done != NULL,
					  done ? &done : NULL, NULL));
		if (in)
			CHECK(clReleaseEvent(in));
		if (done)
			CHECK(clReleaseEvent(done));
	}
	for (int q = 0; q < n_queues; q++)
		CHECK(clFlush(queues[q]));
	for (int q = 0; q < n_queues; q++)
		CHECK(clFinish(queues[q]));
}

int main(int argc, char **argv)
{
	const char *const ways[] = {"one", "unordered", "several", NULL};
	const char *way =
		choice(argc, argv, ways, "one|unordered|several [repetitions [MiB [chunks]]]");
	int repetitions = number(argc, argv, 2, 8), is_unordered = strcmp(way, "unordered") == 0;
	size_t bytes = (size_t)number(argc, argv, 3, 32) << 20;
	int chunks = number(argc, argv, 4, 16);
	if (chunks < 1 || chunks > MOST_CHUNKS) {
		fprintf(stderr, "streams_cl: 1 to %d chunks\n", MOST_CHUNKS);
		return 2;
	}
	int n = (int)(bytes / sizeof(float) / (size_t)chunks);
	int n_queues = strcmp(way, "several") == 0 ? QUEUES : 1;

	open_device();
	work = make_kernel(build(source), "work");
	float *host = calloc(bytes, 1);
	for (int c = 0; c < chunks; c++)
		buffers[c] = make_buffer((size_t)n * sizeof(float));
	cl_command_queue queues[QUEUES];
	for (int q = 0; q < n_queues; q++)
		queues[q] = make_queue(is_unordered ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0);

	pass(host, chunks, n, queues, n_queues, is_unordered); /* the first one is slower */
	double start = now_ms();
	for (int r = 0; r < repetitions; r++)
		pass(host, chunks, n, queues, n_queues, is_unordered);
	printf("streams_cl %s: %.3f ms/step (%d steps)\n", way, (now_ms() - start) / repetitions,
	       repetitions);
	return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
