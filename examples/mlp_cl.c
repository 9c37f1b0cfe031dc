/* mlp_cl.c - looking at the loss makes the CPU wait for the device, in every step.
 *
 *     mlp_cl sync     reads the loss back after every step, then prepares the next batch
 *     mlp_cl async    the losses stay on the device until the end: the batch is prepared meanwhile
 *
 * A step is a batch that goes through some layers (each a matrix product and a ReLU) and a loss. The CPU prepares
 * the batches; it runs ahead of the device unless it waits for a result.
 */
#include "example_cl.h"

static const char *const source =
	"__kernel void layer(__global const float *in, __global const float *weight, __global float *out,\n"
	"                    int width) {\n"
	"  int column = get_global_id(0), row = get_global_id(1);\n"
	"  float sum = 0;\n"
	"  for (int k = 0; k < width; k++)\n"
	"    sum += in[row * width + k] * weight[k * width + column];\n"
	"  out[row * width + column] = sum > 0 ? sum : 0.01f * sum;\n"
	"}\n"
	"__kernel void loss(__global const float *out, __global float *losses, int step, int n) {\n"
	"  float sum = 0;\n"
	"  for (int i = 0; i < n; i++)\n"
	"    sum += out[i] * out[i];\n"
	"  losses[step] = sum / n;\n"
	"}\n";

struct mlp {
	int layers, width, batch;
	cl_command_queue queue;
	cl_kernel layer, loss;
	cl_mem weights, a, b, losses;
	float *batches[2];
	cl_event written[2]; /* the batch is on the device: its memory is free again */
};

/* Every other batch has the other memory: the last one may not have been copied yet. */
static const float *prepare(struct mlp *mlp, int step)
{
	float *batch = mlp->batches[step % 2];
	if (mlp->written[step % 2]) {
		CHECK(clWaitForEvents(1, &mlp->written[step % 2]));
		CHECK(clReleaseEvent(mlp->written[step % 2]));
	}
	unsigned seed = (unsigned)step * 7919 + 1;
	for (int i = 0; i < mlp->width * mlp->batch; i++) {
		float x = 0;
		for (int k = 0; k < 4; k++) { /* nearly normal */
			seed = seed * 1664525 + 1013904223;
			x += (float)(seed >> 8) / (1 << 24) - 0.5f;
		}
		batch[i] = x;
	}
	return batch;
}

static void enqueue_step(struct mlp *mlp, int step, const float *batch)
{
	size_t global[2] = {(size_t)mlp->width, (size_t)mlp->batch}, local[2] = {32, 1}, one = 1;
	cl_mem in = mlp->a, out = mlp->b;
	int n = mlp->width * mlp->batch;
	CHECK(clEnqueueWriteBuffer(mlp->queue, in, CL_FALSE, 0, (size_t)n * sizeof(float), batch, 0,
				   NULL, &mlp->written[step % 2]));
	for (int i = 0; i < mlp->layers; i++) {
		CHECK(clSetKernelArg(mlp->layer, 0, sizeof in, &in));
		CHECK(clSetKernelArg(mlp->layer, 2, sizeof out, &out));
		CHECK(clEnqueueNDRangeKernel(mlp->queue, mlp->layer, 2, NULL, global, local, 0,
					     NULL, NULL));
		cl_mem swap = in;
		in = out;
		out = swap;
	}
	CHECK(clSetKernelArg(mlp->loss, 0, sizeof in, &in));
	CHECK(clSetKernelArg(mlp->loss, 2, sizeof step, &step));
	CHECK(clSetKernelArg(mlp->loss, 3, sizeof n, &n));
	CHECK(clEnqueueNDRangeKernel(mlp->queue, mlp->loss, 1, NULL, &one, &one, 0, NULL, NULL));
	CHECK(clFlush(mlp->queue));
}

static float read_loss(struct mlp *mlp, int step)
{
	float loss;
	CHECK(clEnqueueReadBuffer(mlp->queue, mlp->losses, CL_TRUE, (size_t)step * sizeof loss,
				  sizeof loss, &loss, 0, NULL, NULL));
	return loss;
}

static void open_mlp(struct mlp *mlp, int steps)
{
	size_t bytes = (size_t)mlp->width * (size_t)mlp->batch * sizeof(float);
	size_t square = (size_t)mlp->width * (size_t)mlp->width;
	cl_program program = build(source);
	mlp->queue = make_queue(0);
	mlp->layer = make_kernel(program, "layer");
	mlp->loss = make_kernel(program, "loss");
	mlp->weights = make_buffer(square * sizeof(float));
	mlp->a = make_buffer(bytes);
	mlp->b = make_buffer(bytes);
	mlp->losses = make_buffer((size_t)steps * sizeof(float));
	for (int i = 0; i < 2; i++)
		mlp->batches[i] = malloc(bytes);
	float *weights = malloc(square * sizeof(float));
	for (size_t i = 0; i < square; i++)
		weights[i] = (float)(i * 7919 % 1009) / 1009 / (float)mlp->width;
	CHECK(clEnqueueWriteBuffer(mlp->queue, mlp->weights, CL_TRUE, 0, square * sizeof(float),
				   weights, 0, NULL, NULL));
	free(weights);
	CHECK(clSetKernelArg(mlp->layer, 1, sizeof mlp->weights, &mlp->weights));
	CHECK(clSetKernelArg(mlp->layer, 3, sizeof mlp->width, &mlp->width));
	CHECK(clSetKernelArg(mlp->loss, 1, sizeof mlp->losses, &mlp->losses));
}

int main(int argc, char **argv)
{
	const char *const ways[] = {"sync", "async", NULL};
	const char *way = choice(argc, argv, ways, "sync|async [steps [layers [width [batch]]]]");
	enum { WARMUP = 2 };
	int steps = number(argc, argv, 2, 15), is_sync = strcmp(way, "sync") == 0;
	struct mlp mlp = {.layers = number(argc, argv, 3, 10),
			  .width = number(argc, argv, 4, 256) / 32 * 32,
			  .batch = number(argc, argv, 5, 64)};
	open_device();
	open_mlp(&mlp, WARMUP + steps);

	double start = 0;
	for (int step = 0; step < WARMUP + steps; step++) {
		if (step == WARMUP) {
			CHECK(clFinish(mlp.queue));
			start = now_ms();
		}
		enqueue_step(&mlp, step, prepare(&mlp, step));
		if (is_sync)
			fprintf(stderr, "step %d: loss %.4g\n", step,
				(double)read_loss(&mlp, step));
	}
	CHECK(clFinish(mlp.queue));
	printf("mlp_cl %s: %.3f ms/step (%d steps)\n", way, (now_ms() - start) / steps, steps);
	return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
