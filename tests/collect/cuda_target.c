/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_target.c - a "CUDA program" for the mock libcupti: cuda_target WHAT.
 *
 * Does what libcuda does in cuInit: opens CUDA_INJECTION64_PATH and calls InitializeInjection. The mock is
 * HEADWAY_CUPTI; its extra functions make up the program's calls. Prints what a test wants to know.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../mock/mock.h"
#include "spool/record.h"

enum { DRIVER = 1, RUNTIME = 2 };

#define POINTER(result, name, parameters) static result(*name) parameters;
MOCK_FUNCTIONS(POINTER)

static void sleep_ms(int ms)
{
	struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
	nanosleep(&time, NULL);
}

static int64_t now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static uint32_t runtime(const char *name)
{
	return mock_number(RUNTIME, name);
}

static void init_driver(void)
{
	void *tool = dlopen(getenv("CUDA_INJECTION64_PATH"), RTLD_NOW);
	int (*init)(void) = NULL;
	if (tool)
		*(void **)&init = dlsym(tool, "InitializeInjection");
	if (!init) {
		fprintf(stderr, "cuda_target: %s\n", dlerror());
		exit(2);
	}
	printf("injection %d\n", init());
	void *mock = dlopen(getenv("HEADWAY_CUPTI"), RTLD_NOW);
	if (!mock)
		exit(2);
#define RESOLVE(result, name, parameters) *(void **)&name = dlsym(mock, #name);
	MOCK_FUNCTIONS(RESOLVE)
}

static uint32_t launch(const char *kernel)
{
	uint32_t correlation = mock_call(RUNTIME, runtime("cudaLaunchKernel_v7000"), 0,
					 mock_number(DRIVER, "cuLaunchKernel"));
	mock_kernel(correlation, kernel, now(), 1000);
	return correlation;
}

#include "foreign.h"

/* As nvcc makes them of a kernel: a stub, and a function on the kernel's own line that calls it. */
__attribute__((noinline)) static void __device_stub__kernel(void)
{
	printf("graph %u\n", mock_call(RUNTIME, runtime("cudaGraphInstantiate_v12000"), 0, 0));
}

static inline __attribute__((always_inline)) void kernel(void)
{
	__device_stub__kernel();
	atomic_signal_fence(memory_order_seq_cst); /* no tail call */
}

__attribute__((noinline)) static void launches(void)
{
	kernel();                                   /* the line of the launch */
	printf("managed %u\n", malloc_of_header()); /* the line of the allocation */
}

/* A long wait, a short one, an allocation, a pageable copy, a wait of a driver-API program. */
static void stacks(void)
{
	uint32_t inner = mock_number(DRIVER, "cuStreamSynchronize");
	uint32_t release = mock_number(DRIVER, "cuMemFree_v2");
	mock_call(RUNTIME, runtime("cudaStreamSynchronize_v3020"), 0, inner);
	/* The collector learns from the first such call at which nobody else switches callbacks. */
	for (unsigned tries = 0; tries < 100 && mock_is_watched(DRIVER, release); tries++) {
		mock_call(RUNTIME, runtime("cudaFree_v3020"), 0, release);
		sched_yield();
	}
	printf("inner watched %d\n", mock_is_watched(DRIVER, release));
	printf("long %u\n",
	       mock_call(RUNTIME, runtime("cudaStreamSynchronize_v3020"), 3000000, inner));
	printf("short %u\n", mock_call(RUNTIME, runtime("cudaStreamSynchronize_v3020"), 0, inner));
	printf("alloc %u\n", mock_call(RUNTIME, runtime("cudaMalloc_v3020"), 0, 0));
	printf("copy %u\n", mock_call(RUNTIME, runtime("cudaMemcpyAsync_v3020"), 3000000, 0));
	printf("getter %u\n", mock_call(RUNTIME, runtime("cudaGetDevice_v3020"), 3000000, 0));
	printf("driver %u\n", mock_call(DRIVER, release, 3000000, 0));
	sleep_ms(300);
	printf("inner watched again %d\n", mock_is_watched(DRIVER, release));
	printf("driver again %u\n", mock_call(DRIVER, release, 3000000, 0));
	launches();
}

/* Waits and records of events, by the runtime and by the driver. Correlation ids are counted from 1. */
static void syncs(void)
{
	enum { NOT_READY = 600 };
	uint32_t record = mock_number(DRIVER, "cuEventRecord");
	mock_sync(RUNTIME, "cudaEventRecord_v3020", 0x11, 0xe1, 0, record);
	mock_sync(RUNTIME, "cudaStreamWaitEvent_v3020", 0x22, 0xe1, 0, 0);
	mock_sync(DRIVER, "cuEventRecord", 0x11, 0xe2, 0, 0);
	mock_sync(RUNTIME, "cudaEventSynchronize_v3020", 0, 0xe1, 0, 0);
	mock_sync(RUNTIME, "cudaEventRecord_v3020", 0x11, 0xe1, 0, record);
	mock_sync(DRIVER, "cuEventSynchronize", 0, 0xe1, 0, 0);
	mock_sync(RUNTIME, "cudaEventQuery_v3020", 0, 0xe2, NOT_READY, 0);
	mock_sync(RUNTIME, "cudaEventQuery_v3020", 0, 0xe2, 0, 0);
	mock_sync(RUNTIME, "cudaStreamSynchronize_v3020", 0x33, 0, 719,
		  mock_number(DRIVER, "cuStreamSynchronize"));
	/* Said before the program's own call: the collector watches again as soon as it sees that one. */
	printf("inner watched %d\n",
	       mock_is_watched(DRIVER, mock_number(DRIVER, "cuStreamSynchronize")));
	mock_sync(DRIVER, "cuStreamSynchronize", 0x44, 0, 0, 0);
	mock_sync(RUNTIME, "cudaStreamSynchronize_ptsz_v7000", 0, 0, 0, 0);
	mock_sync(RUNTIME, "cudaStreamSynchronize_v3020", 2, 0, 0, 0); /* cudaStreamPerThread */
	mock_sync(RUNTIME, "cudaDeviceSynchronize_v3020", 0, 0, 0, 0);
	mock_sync(RUNTIME, "cudaEventSynchronize_v3020", 0, 0xe3, 0, 0); /* never recorded */
	mock_sync(RUNTIME, "cudaStreamQuery_v3020", 0xbad, 0, 0,
		  0); /* no stream that CUPTI knows */
	sleep_ms(300); /* the driver's own call was seen */
	printf("inner watched again %d\n",
	       mock_is_watched(DRIVER, mock_number(DRIVER, "cuStreamSynchronize")));
	mock_sync(DRIVER, "cuStreamSynchronize", 0x55, 0, 0, 0);
	printf("kinds %d %d\n", mock_is_enabled(38), mock_is_enabled(36));
}

/* A graph that forks and joins: 0, then 1 and 2, then 3. Captured, instantiated, launched twice. */
static void graphs(void)
{
	static const char *const names[] = {"fork", "left", "right", "join"};
	uint32_t capture = runtime("cudaLaunchKernel_v7000");
	for (uint32_t i = 0; i < 4; i++) {
		mock_call(RUNTIME, capture, 0, 0);
		mock_node(1, i);
		if (i > 0)
			mock_node_after(1, i, i == 3 ? 1 : 0);
	}
	mock_node_after(1, 3, 2);
	mock_call(RUNTIME, runtime("cudaGraphInstantiate_v12000"), 0, 0);
	mock_instantiate(1, 4, 2);
	for (int launches = 0; launches < 2; launches++) {
		uint32_t launch = mock_call(RUNTIME, runtime("cudaGraphLaunch_v10000"), 0, 0);
		int64_t start = now();
		for (uint32_t i = 0; i < 4; i++)
			mock_graph_kernel(launch, names[i], start + (int64_t)i * 2000, 1000, 2, i);
	}
	printf("watched %d %d %d\n", mock_is_watched(3, 13), mock_is_watched(3, 15),
	       mock_is_watched(3, 20));
}

/* More nodes than are recorded. */
static void many_nodes(void)
{
	for (uint32_t i = 0; i < 20000; i++)
		mock_node(1, i);
}

static void samples(void)
{
	launch("first");
	sleep_ms(300); /* the call is seen, its callback opened */
	for (int64_t end = now() + 1000000000; now() < end;)
		launch("again");
}

static void *worker(void *name)
{
	for (int i = 0; i < 5000; i++)
		launch(name);
	return NULL;
}

static void threads(void)
{
	pthread_t ids[4];
	static char names[4][16];
	for (int i = 0; i < 4; i++) {
		snprintf(names[i], sizeof names[i], "kernel_%d", i);
		pthread_create(&ids[i], NULL, worker, names[i]);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(ids[i], NULL);
}

static void losses(void)
{
	static char name[] = "reused_a";
	launch(name);
	mock_kernel(1, "lost", 0, 0);
	mock_kernel(2, "lost", 0, 0);
	mock_drop(7);
	sleep_ms(250);
	strcpy(name, "reused_b"); /* another module's name at the same address */
	launch(name);
}

static void range(void)
{
	launch("before");
	mock_call(RUNTIME, runtime("cudaProfilerStart_v4000"), 0,
		  mock_number(DRIVER, "cuProfilerStart"));
	printf("kernels inside %d\n", mock_is_enabled(10));
	launch("inside");
	mock_call(RUNTIME, runtime("cudaGetDevice_v3020"), 0, 0);
	mock_call(RUNTIME, runtime("cudaProfilerStop_v4000"), 0,
		  mock_number(DRIVER, "cuProfilerStop"));
	printf("kernels after %d\n", mock_is_enabled(10));
	launch("after");
	sleep_ms(600);
	launch("later");
	printf("final %d\n", mock_is_final());
	launch("last");
}

/* Somebody else begins the recording, as headway profile does after a delay. */
static void delayed(void)
{
	char path[4096];
	uint32_t on = 1;
	launch("before");
	snprintf(path, sizeof path, "%s/state", getenv("RUN_OF_TEST"));
	FILE *f = fopen(path, "r+b"); /* its first field is 'recording' */
	if (!f || fwrite(&on, sizeof on, 1, f) != 1 || fclose(f) != 0)
		exit(2);
	sleep_ms(300);
	launch("after");
}

static void forks(void)
{
	launch("parent");
	fflush(stdout);
	for (int i = 0; i < 4; i++) {
		pid_t child = i < 3 ? fork() : _Fork(); /* which tells nobody */
		if (child == 0 && i == 3)
			exit(0);
		if (child == 0) {
			mock_call(RUNTIME, runtime("cudaStreamSynchronize_v3020"), 1000000, 0);
			if (i == 0)
				_exit(0);
			exit(0);
		}
		int status;
		waitpid(child, &status, 0);
		printf("child %d\n", status);
		fflush(stdout);
	}
	launch("parent again");
}

/* Killed: what was recorded so long ago must be there. */
static void killed(void)
{
	for (int i = 0; i < 50; i++) {
		launch("early");
		sleep_ms(2);
	}
	sleep_ms(200);
	raise(SIGKILL);
}

static void rival(void)
{
	int (*subscribe)(void **, void *, void *) = NULL;
	void *handle;
	*(void **)&subscribe = dlsym(RTLD_DEFAULT, "cuptiSubscribe");
	printf("rival %d\n", subscribe ? subscribe(&handle, NULL, NULL) : -1);
}

/* Half a second of work: long kernels with waits for them, on the device of the recording MOCK_CUPTI_DATA. */
static void busy(void)
{
	enum { STEPS = 12, STEP_MS = 40 };
	mock_replay();
	for (int i = 0; i < STEPS; i++) {
		uint32_t correlation = mock_call(RUNTIME, runtime("cudaLaunchKernel_v7000"), 0, 0);
		mock_kernel(correlation, "long_kernel", now(), STEP_MS * INT64_C(1000000));
		mock_call(RUNTIME, runtime("cudaStreamSynchronize_v3020"),
			  STEP_MS * INT64_C(1000000), 0);
	}
	puts("the program's last line");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*act)(void);
	} acts[] = {
		{"stacks", stacks},   {"samples", samples}, {"threads", threads},
		{"syncs", syncs},     {"losses", losses},   {"range", range},
		{"forks", forks},     {"killed", killed},   {"rival", rival},
		{"delayed", delayed}, {"graphs", graphs},   {"many_nodes", many_nodes},
		{"busy", busy},
	};
	const char *what = argc > 1 ? argv[1] : "";
	setenv("RANK", "5", 1); /* as workers do for themselves */
	init_driver();
	if (strcmp(what, "replay") == 0)
		mock_replay();
	for (unsigned i = 0; i < sizeof acts / sizeof *acts; i++)
		if (strcmp(what, acts[i].name) == 0)
			acts[i].act();
	fflush(stdout);
	return 3;
}
