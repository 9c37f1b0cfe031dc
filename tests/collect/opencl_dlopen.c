/* SPDX-License-Identifier: Apache-2.0 */
/* opencl_dlopen.c - runs opencl_target's main in ways a linker does not see.
 *
 *   opencl_dlopen load LIBRARY N      opens libOpenCL itself, N launches of a marker
 *   opencl_dlopen close LIBRARY N     the same, but closes it while nobody has asked how the commands went; twice
 *   opencl_dlopen plugin PLUGIN ARGS… opens a library that is linked with libOpenCL and calls its main
 */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *must(void *found, const char *what)
{
	if (!found) {
		fprintf(stderr, "%s: %s\n", what, dlerror());
		exit(1);
	}
	return found;
}

static int load(const char *path, int n, bool closes)
{
	void *library = must(dlopen(path, RTLD_NOW | RTLD_LOCAL), path);
#define FIND(name)                                                                                 \
	__typeof__(name) *find_##name;                                                             \
	*(void **)&find_##name = must(dlsym(library, #name), #name)
	FIND(clGetPlatformIDs);
	FIND(clGetDeviceIDs);
	FIND(clCreateContext);
	FIND(clCreateCommandQueue);
	FIND(clCreateBuffer);
	FIND(clEnqueueWriteBuffer);
	FIND(clFinish);
	FIND(clCreateUserEvent);
	FIND(clSetUserEventStatus);
	FIND(clReleaseCommandQueue);
	cl_platform_id platform;
	cl_device_id device;
	char data[64] = "";
	if (find_clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
	    find_clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
		return 1;
	cl_context context = find_clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
	cl_command_queue queue = find_clCreateCommandQueue(context, device, 0, NULL);
	cl_mem buffer = find_clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof data, NULL, NULL);
	cl_event begin = find_clCreateUserEvent(context, NULL);
	for (int i = 0; i < n; i++)
		find_clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, sizeof data, data, closes,
					  closes ? &begin : NULL, NULL);
	if (closes) {
		find_clReleaseCommandQueue(queue);
		find_clSetUserEventStatus(begin, CL_COMPLETE);
		usleep(200000);
		dlclose(library);
		return 0;
	}
	printf("finish: %d\n", find_clFinish(queue));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "load") == 0)
		return load(argv[2], atoi(argv[3]), false);
	if (argc == 4 && strcmp(argv[1], "close") == 0)
		return load(argv[2], atoi(argv[3]), true) || load(argv[2], atoi(argv[3]), true);
	if (argc < 4 || strcmp(argv[1], "plugin") != 0)
		return 2;
	void *plugin = must(dlopen(argv[2], RTLD_NOW | RTLD_LOCAL), argv[2]);
	int (*plugin_main)(int, char **);
	*(void **)&plugin_main = must(dlsym(plugin, "plugin_main"), "plugin_main");
	return plugin_main(argc - 2, argv + 2);
}
