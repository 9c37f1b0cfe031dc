/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_target.c - a "CUDA program" whose kernels are measured: kernels_target [STEPS [STATUS [THREADS]]].
 *
 * Each step launches a kernel, another one with two shapes, and a collective, and waits for them. Does what libcuda
 * does in cuInit where it is recorded or measured; alone it launches nothing. Prints the same in every case, and
 * exits with STATUS, or dies by signal STATUS - 1000. Each of the THREADS makes all the steps.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../mock/mock.h"

#define POINTER(result, name, parameters) static result(*name) parameters;
MOCK_FUNCTIONS(POINTER)

static void init_driver(void)
{
	const char *injection = getenv("CUDA_INJECTION64_PATH");
	void *tool = injection ? dlopen(injection, RTLD_NOW) : NULL;
	int (*init)(void) = NULL;
	if (!tool)
		return;
	*(void **)&init = dlsym(tool, "InitializeInjection");
	void *mock = init ? dlopen(getenv("HEADWAY_CUPTI"), RTLD_NOW) : NULL;
	if (!mock)
		exit(99);
	init();
#define RESOLVE(result, name, parameters) *(void **)&name = dlsym(mock, #name);
	MOCK_FUNCTIONS(RESOLVE)
}

static const struct mock_launched kernels[] = {
	{"_Z5scalePfi", {64, 1, 1}, {256, 1, 1}, 0, 900000},
	{"_Z3addPf", {128, 1, 1}, {128, 1, 1}, 1024, 500000},
	{"_Z3addPf", {1, 1, 1}, {128, 1, 1}, 1024, 300000},
	{"elementwise_kernel", {32, 1, 1}, {128, 1, 1}, 0, 600000},
	{"ncclDevKernel_AllReduce", {8, 1, 1}, {512, 1, 1}, 0, 400000},
};

static void step(void)
{
	for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
		struct timespec pause_for = {.tv_nsec = kernels[i].ns};
		mock_launch(&kernels[i]);
		nanosleep(&pause_for, NULL);
	}
	mock_call(2, mock_number(2, "cudaDeviceSynchronize_v3020"), 1000, 0);
}

static void *make_steps(void *steps)
{
	for (int i = 0; i < *(int *)steps && mock_launch; i++)
		step();
	return NULL;
}

int main(int argc, char **argv)
{
	static const char cubin[] = "ELF .text._Z5scalePfi\0_Z5scalePfi";
	init_driver();
	int steps = argc > 1 ? atoi(argv[1]) : 12;
	if (mock_module)
		mock_module(cubin, sizeof cubin);
	pthread_t threads[8];
	int n = argc > 3 ? atoi(argv[3]) : 1, status = argc > 2 ? atoi(argv[2]) : 0;
	for (int i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, make_steps, &steps);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	printf("%d steps\n", steps);
	fflush(stdout);
	if (status >= 1000)
		raise(status - 1000);
	return status;
}
