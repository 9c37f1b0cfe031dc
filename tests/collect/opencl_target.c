/* SPDX-License-Identifier: Apache-2.0 */
/* opencl_target.c - what the tests of libheadway-opencl.so record: small OpenCL programs that say what they did.
 *
 *   opencl_target MODE [N]      see the table at the end
 *
 * Everything printed must be the same with and without the recorder.
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ITEMS = 1024, BYTES = ITEMS * sizeof(float) };

static const char *const source =
	"__kernel void add(__global float *a, float b) { a[get_global_id(0)] += b; }\n"
	"__kernel void twice(__global float *a) { a[get_global_id(0)] *= 2; }\n"
	"__kernel void slow(__global float *a, int n) { float x = a[get_global_id(0)];\n"
	"  for (int i = 0; i < n; i++) x = x * 0.999f + 1.0f; a[get_global_id(0)] = x; }\n";

static cl_device_id device;
static cl_context context;
static cl_kernel add, twice, slow;
static cl_mem buffer, other;
static float host[ITEMS];

static void check(cl_int result, const char *what)
{
	if (result == CL_SUCCESS)
		return;
	printf("%s: error %d\n", what, result);
	exit(1);
}
#define CHECK(call) check(call, #call)

static void prepare(void)
{
	cl_platform_id platform;
	cl_int error;
	CHECK(clGetPlatformIDs(1, &platform, NULL));
	CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	check(error, "clCreateContext");
	const char *text = source;
	cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
	check(error, "clCreateProgramWithSource");
	CHECK(clBuildProgram(program, 1, &device, "", NULL, NULL));
	add = clCreateKernel(program, "add", &error);
	check(error, "clCreateKernel");
	twice = clCreateKernel(program, "twice", &error);
	slow = clCreateKernel(program, "slow", &error);
	buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, &error);
	check(error, "clCreateBuffer");
	other = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, NULL);
	float one = 1;
	int rounds = 2000;
	CHECK(clSetKernelArg(add, 0, sizeof buffer, &buffer));
	CHECK(clSetKernelArg(add, 1, sizeof one, &one));
	CHECK(clSetKernelArg(twice, 0, sizeof other, &other));
	CHECK(clSetKernelArg(slow, 0, sizeof buffer, &buffer));
	CHECK(clSetKernelArg(slow, 1, sizeof rounds, &rounds));
}

static cl_command_queue make_queue(cl_command_queue_properties properties)
{
	cl_int error;
	cl_command_queue queue = clCreateCommandQueue(context, device, properties, &error);
	check(error, "clCreateCommandQueue");
	return queue;
}

static void launch(cl_command_queue queue, cl_kernel kernel, cl_uint n, const cl_event *waits,
		   cl_event *event)
{
	size_t global = ITEMS, local = 64;
	CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, n, waits, event));
}

/* ---- modes --------------------------------------------------------------------------------------- */

/* Every kind of command a number of times; nobody asks for events. */
static void do_counts(int n)
{
	cl_command_queue queue = make_queue(0);
	size_t origin[3] = {0}, region[3] = {64, 4, 1};
	for (int i = 0; i < n; i++) {
		CHECK(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, BYTES, host, 0, NULL, NULL));
		launch(queue, add, 0, NULL, NULL);
		launch(queue, add, 0, NULL, NULL);
		CHECK(clEnqueueCopyBuffer(queue, buffer, other, 0, 0, BYTES, 0, NULL, NULL));
		size_t global = ITEMS;
		CHECK(clEnqueueNDRangeKernel(queue, twice, 1, NULL, &global, NULL, 0, NULL, NULL));
		cl_int zero = 0;
		CHECK(clEnqueueFillBuffer(queue, other, &zero, sizeof zero, 0, BYTES, 0, NULL,
					  NULL));
		CHECK(clEnqueueReadBufferRect(queue, buffer, CL_FALSE, origin, origin, region, 0, 0,
					      0, 0, host, 0, NULL, NULL));
		CHECK(clEnqueueMarkerWithWaitList(queue, 0, NULL, NULL));
		CHECK(clEnqueueBarrierWithWaitList(queue, 0, NULL, NULL));
		CHECK(clEnqueueMigrateMemObjects(queue, 1, &other, 0, 0, NULL, NULL));
		cl_int error;
		float *mapped = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0, BYTES, 0,
						   NULL, NULL, &error);
		check(error, "clEnqueueMapBuffer");
		CHECK(clEnqueueUnmapMemObject(queue, buffer, mapped, 0, NULL, NULL));
		CHECK(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, BYTES, host, 0, NULL, NULL));
		CHECK(clFinish(queue));
	}
	printf("a[0] = %g after %d rounds\n", host[0], n);
	CHECK(clReleaseCommandQueue(queue));
}

static cl_uint event_count(cl_event event)
{
	cl_uint count = 0;
	CHECK(clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof count, &count, NULL));
	return count;
}

static void show_queue(cl_command_queue queue)
{
	cl_command_queue_properties properties = 99;
	cl_queue_properties array[16] = {0};
	size_t size = 99;
	cl_uint count = 0;
	CHECK(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties,
				    NULL));
	cl_int result =
		clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY, sizeof array, array, &size);
	printf("queue: properties %d, array %d: %d long,", (int)properties, result, (int)size);
	for (size_t i = 0; i < size / sizeof *array; i++)
		printf(" %#x", (unsigned)array[i]);
	CHECK(clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof count, &count, NULL));
	printf("; %u references\n", count);
}

static void show_event(cl_event event)
{
	static const cl_profiling_info names[] = {
		CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
		CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END};
	cl_ulong last = 0, time = 0;
	CHECK(clWaitForEvents(1, &event));
	usleep(2000); /* the runtime has let go of it by then */
	printf("event: %u references, times", event_count(event));
	for (int i = 0; i < 4; i++) {
		cl_int result = clGetEventProfilingInfo(event, names[i], sizeof time, &time, NULL);
		printf(" %d%s", result, result == CL_SUCCESS && time < last ? " backwards" : "");
		last = time;
	}
	putchar('\n');
}

/* What a program sees of its queues and events. */
static void do_visible(int n)
{
	static const cl_queue_properties none[] = {0},
					 profiling[] = {CL_QUEUE_PROPERTIES,
							CL_QUEUE_PROFILING_ENABLE, 0},
					 unordered[] = {CL_QUEUE_PROPERTIES,
							CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0},
					 wrong[] = {0x7777, 1, 0};
	static const cl_queue_properties *const lists[] = {NULL, none, profiling, unordered};
	for (int i = 0; i < n; i++)
		for (unsigned k = 0; k < 6; k++) {
			cl_event event, wrote;
			cl_command_queue queue =
				k < 4 ? clCreateCommandQueueWithProperties(context, device,
									   lists[k], NULL)
				      : make_queue(k == 4 ? 0 : CL_QUEUE_PROFILING_ENABLE);
			show_queue(queue);
			CHECK(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, BYTES, host, 0, NULL,
						   &wrote));
			launch(queue, add, 1, &wrote, &event);
			show_event(event);
			show_event(wrote);
			CHECK(clRetainEvent(event));
			printf("retained: %u references\n", event_count(event));
			CHECK(clReleaseEvent(event));
			CHECK(clReleaseEvent(event));
			CHECK(clReleaseEvent(wrote));
			CHECK(clFinish(queue));
			usleep(2000);
			show_queue(queue);
			CHECK(clReleaseCommandQueue(queue));
		}
	cl_int error = 0;
	cl_command_queue bad = clCreateCommandQueueWithProperties(context, device, wrong, &error);
	printf("wrong properties: %s, error %d\n", bad ? "a queue" : "none", error);
	bad = clCreateCommandQueue(context, device, 1 << 20, &error);
	printf("wrong flags: %s, error %d\n", bad ? "a queue" : "none", error);
	cl_command_queue queue = make_queue(0);
	printf("too large a read: %d\n",
	       clEnqueueReadBuffer(queue, buffer, CL_TRUE, BYTES, BYTES, host, 0, NULL, NULL));
	printf("a list without events: %d\n",
	       clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 4, host, 1, NULL, NULL));
	CHECK(clReleaseCommandQueue(queue));
}

/* Chains of three on an out-of-order queue: write, kernel, read; the kernel waits for the write, the read for
 * the kernel. */
static void do_unordered(int n)
{
	cl_command_queue queue = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	cl_event *last = calloc((size_t)n, sizeof *last);
	for (int i = 0; i < n; i++) {
		cl_event wrote, ran;
		CHECK(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, BYTES, host, 0, NULL,
					   &wrote));
		launch(queue, add, 1, &wrote, &ran);
		CHECK(clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, BYTES, host, 1, &ran,
					  &last[i]));
		clReleaseEvent(wrote);
		clReleaseEvent(ran);
	}
	CHECK(clWaitForEvents((cl_uint)n, last));
	for (int i = 0; i < n; i++)
		clReleaseEvent(last[i]);
	printf("%d chains\n", n);
	CHECK(clReleaseCommandQueue(queue));
	free(last);
}

/* Some kernels that take their time, then a wait. */
static void do_slow(int n)
{
	cl_command_queue queue = make_queue(0);
	for (int i = 0; i < n; i++)
		launch(queue, slow, 0, NULL, NULL);
	CHECK(clFinish(queue));
	printf("%d slow kernels\n", n);
}

/* Ends with everything enqueued and nothing waited for; the runtime has time to do it. */
static void do_exit(int n)
{
	cl_command_queue queue = make_queue(0);
	for (int i = 0; i < n; i++)
		launch(queue, add, 0, NULL, NULL);
	CHECK(clFlush(queue));
	usleep(200 * 1000);
	exit(3);
}

static void do_crash(int n)
{
	do_slow(n);
	fflush(stdout);
	abort();
}

static void do_bare(int n)
{
	do_slow(n);
	fflush(stdout);
	_exit(4);
}

/* The parent has used OpenCL; the child has not, and ends by its exit handlers. */
static void do_fork(int n)
{
	do_slow(n);
	fflush(stdout);
	pid_t child = fork();
	if (child == 0)
		exit(5);
	int status;
	waitpid(child, &status, 0);
	printf("child %d\n", WEXITSTATUS(status));
	do_slow(n);
}

static void *thread_main(void *n)
{
	cl_command_queue queue = make_queue(0);
	for (int i = 0; i < *(int *)n; i++) {
		cl_event event;
		cl_int zero = 0;
		CHECK(clEnqueueFillBuffer(queue, other, &zero, sizeof zero, 0, BYTES, 0, NULL,
					  i % 2 ? &event : NULL));
		if (i % 2)
			clReleaseEvent(event);
		if (i % 16 == 0)
			CHECK(clFinish(queue));
	}
	CHECK(clFinish(queue));
	CHECK(clReleaseCommandQueue(queue));
	return NULL;
}

static void do_threads(int n)
{
	pthread_t threads[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, thread_main, &n);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("4 threads\n");
}

/* Queues come and go, more than anybody keeps track of. */
static void do_queues(int n)
{
	for (int i = 0; i < n; i++) {
		cl_command_queue queue = make_queue(0);
		CHECK(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, BYTES, host, 0, NULL, NULL));
		CHECK(clFinish(queue));
		CHECK(clReleaseCommandQueue(queue));
	}
	show_queue(make_queue(0));
	printf("%d queues\n", n);
}

/* More queues at a time than are recorded. */
static void do_crowd(int n)
{
	for (int i = 0; i < n; i++) {
		cl_command_queue queue = make_queue(0);
		CHECK(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, BYTES, host, 0, NULL, NULL));
		if (i == n - 1)
			show_queue(queue);
	}
	printf("%d queues at a time\n", n);
}

static void do_svm(int n)
{
	cl_command_queue queue = make_queue(0);
	char *a = clSVMAlloc(context, CL_MEM_READ_WRITE, BYTES, 0);
	char *b = clSVMAlloc(context, CL_MEM_READ_WRITE, BYTES, 0);
	if (!a || !b) {
		printf("no SVM\n");
		return;
	}
	for (int i = 0; i < n; i++) {
		char byte = 7;
		CHECK(clEnqueueSVMMemFill(queue, a, &byte, 1, BYTES, 0, NULL, NULL));
		CHECK(clEnqueueSVMMemcpy(queue, CL_TRUE, b, a, BYTES, 0, NULL, NULL));
		CHECK(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, b, BYTES, 0, NULL, NULL));
		CHECK(clEnqueueSVMUnmap(queue, b, 0, NULL, NULL));
		CHECK(clFinish(queue));
	}
	printf("b[0] = %d\n", b[0]);
	clSVMFree(context, a);
	clSVMFree(context, b);
	CHECK(clReleaseCommandQueue(queue));
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(int n);
	} modes[] = {{"counts", do_counts}, {"visible", do_visible}, {"unordered", do_unordered},
		     {"slow", do_slow},     {"exit", do_exit},       {"crash", do_crash},
		     {"bare", do_bare},     {"fork", do_fork},       {"threads", do_threads},
		     {"svm", do_svm},       {"queues", do_queues},   {"crowd", do_crowd}};
	int n = argc > 2 ? atoi(argv[2]) : 1;
	for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++)
		if (strcmp(argv[1], modes[i].name) == 0) {
			prepare();
			modes[i].run(n);
			return 0;
		}
	fprintf(stderr, "usage: opencl_target MODE [N]\n");
	return 2;
}
