/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_opencl.c - each rank adds up numbers on its OpenCL device, and the ranks add up their sums: mpi_opencl FOLDER.
 * Writes down what it did, as mpi_calls.c does, with a line KERNELS, rank, number. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <mpi.h>
#include <stdio.h>

static const char *const source = "kernel void twice(global float *x)"
				  "{ x[get_global_id(0)] *= 2; }";
enum { N = 256, STEPS = 5 };

int main(int argc, char **argv)
{
	float x[N], sum[N];
	size_t size = N;
	int rank, ranks;
	cl_platform_id platform;
	cl_device_id device;
	char path[4096];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (argc != 2 || clGetPlatformIDs(1, &platform, NULL) != 0 ||
	    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != 0)
		MPI_Abort(MPI_COMM_WORLD, 77);
	cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
	cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
	cl_program program = clCreateProgramWithSource(context, 1, (const char **)&source, NULL, NULL);
	clBuildProgram(program, 1, &device, NULL, NULL, NULL);
	cl_kernel kernel = clCreateKernel(program, "twice", NULL);
	cl_mem memory = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof x, NULL, NULL);
	clSetKernelArg(kernel, 0, sizeof memory, &memory);
	snprintf(path, sizeof path, "%s/did.%d", argv[1], rank);
	FILE *did = fopen(path, "w");
	for (int i = 0; i < N; i++)
		x[i] = (float)rank;
	for (int step = 0; step < STEPS; step++) {
		clEnqueueWriteBuffer(queue, memory, CL_FALSE, 0, sizeof x, x, 0, NULL, NULL);
		clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL);
		clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof x, x, 0, NULL, NULL);
		MPI_Allreduce(x, sum, N, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
		fprintf(did, "MESSAGE %d AllReduce - - %zu %zu 0", rank, sizeof x, sizeof x);
		for (int i = 1; i < ranks; i++)
			fprintf(did, ",%d", i);
		fprintf(did, "\n");
	}
	fprintf(did, "KERNELS %d %d\n", rank, STEPS);
	fprintf(did, "CALLS %d MPI_Init 1\nCALLS %d MPI_Allreduce %d\nCALLS %d MPI_Finalize 1\n",
		rank, rank, STEPS, rank);
	fclose(did);
	MPI_Finalize();
	return 0;
}
