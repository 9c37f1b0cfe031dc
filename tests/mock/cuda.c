/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.c - a libcuda.so.1 without a GPU: as much of it as the calibration helper uses.
 *
 * A thread is the device: it takes work from a queue of DEPTH launches, and the helper's kernels are known by
 * name. cuInit loads the injection library as the driver does; a mock libcupti then replays its recording.
 * MOCK_CUDA_UUID: the device's uuid, "GPU-…"; else that of CUDA_VISIBLE_DEVICES. MOCK_CUDA=absent: no device; fail: launches fail; hang: waits never end.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "run/abi/cuda.h"

#define X(name, parameters) __attribute__((visibility("default"))) int name parameters;
ABI_CUDA_FUNCTIONS(X)
#undef X

enum { DEPTH = 1022, LOW = 31 };
enum kernel { EMPTY, STAMP, SPIN, PONG, KERNELS };
static const char *const names[KERNELS] = {"empty", "stamp", "spin", "pong"};
static char functions[KERNELS];

struct work {
	enum kernel kernel;
	uint64_t a, b, limit;
	uint32_t rounds;
};
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct work queue[DEPTH];
	unsigned first, n; /* the running one included */
	int capturing;
} device = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static int mode_is(const char *mode)
{
	const char *told = getenv("MOCK_CUDA");
	return told && strcmp(told, mode) == 0;
}

static uint64_t now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec + 5000000000;
}

static void run(const struct work *work)
{
	volatile uint32_t *flag = (volatile uint32_t *)work->a;
	uint64_t end = now() + work->limit;
	if (work->kernel == STAMP)
		*(volatile uint64_t *)work->a = now();
	while (work->kernel == SPIN && !*flag && now() < end)
		sched_yield();
	for (uint32_t i = 1; work->kernel == PONG && i <= work->rounds; i++) {
		for (; *flag != i; sched_yield())
			if (now() > end)
				return;
		*(volatile uint64_t *)work->b = (now() & ~(uint64_t)LOW) | (i & LOW);
	}
}

static void *live(void *unused)
{
	pthread_mutex_lock(&device.lock);
	for (;;) {
		while (!device.n)
			pthread_cond_wait(&device.changed, &device.lock);
		struct work work = device.queue[device.first];
		pthread_mutex_unlock(&device.lock);
		run(&work);
		pthread_mutex_lock(&device.lock);
		device.first = (device.first + 1) % DEPTH;
		device.n--;
		pthread_cond_broadcast(&device.changed);
	}
	return unused;
}

/* ---- beginning --------------------------------------------------------------------------------- */

static int is_initialised; /* the program has called cuInit */

int cuInit(unsigned flags)
{
	is_initialised = 1;
	const char *tool = getenv("CUDA_INJECTION64_PATH"), *cupti = getenv("HEADWAY_CUPTI");
	void *library = tool ? dlopen(tool, RTLD_NOW) : NULL;
	int (*init)(void) = NULL;
	void (*replay)(void) = NULL;
	pthread_t id;
	if (library)
		*(void **)&init = dlsym(library, "InitializeInjection");
	if (init && init() && cupti && (library = dlopen(cupti, RTLD_NOW)))
		*(void **)&replay = dlsym(library, "mock_replay");
	if (replay)
		replay();
	pthread_create(&id, NULL, live, NULL);
	return (int)flags;
}

int cuGetErrorName(int error, const char **name)
{
	*name = error == 719 ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR_UNKNOWN";
	return 0;
}

int cuDeviceGetCount(int *count)
{
	if (!is_initialised)
		return 3; /* CUDA_ERROR_NOT_INITIALIZED */
	*count = !mode_is("absent");
	return 0;
}

int cuDeviceGet(int *number, int ordinal)
{
	*number = ordinal;
	return 0;
}

/* The one that CUDA_VISIBLE_DEVICES names. */
int cuDeviceGetUuid(struct abi_cuda_uuid *uuid, int number)
{
	const char *at = getenv("MOCK_CUDA_UUID");
	if (!at)
		at = getenv("CUDA_VISIBLE_DEVICES");
	memset(uuid, 0, sizeof *uuid);
	if (!at || strncmp(at, "GPU-", 4) != 0)
		return number;
	at += 4;
	for (int i = 0; i < 16 && *at; i++, at += 2) {
		unsigned byte = 0;
		at += *at == '-';
		sscanf(at, "%2x", &byte);
		uuid->bytes[i] = (uint8_t)byte;
	}
	return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int number)
{
	*context = functions;
	return number;
}

int cuCtxSetCurrent(void *context)
{
	return context ? 0 : 1;
}

int cuModuleLoadData(void **module, const void *image)
{
	*module = functions;
	return strstr(image, ".entry pong") ? 0 : 218;
}

int cuModuleGetFunction(void **function, void *module, const char *name)
{
	for (int i = 0; i < KERNELS && module; i++)
		if (strcmp(names[i], name) == 0) {
			*function = &functions[i];
			return 0;
		}
	return 500;
}

/* ---- work -------------------------------------------------------------------------------------- */

static void enqueue(struct work work)
{
	pthread_mutex_lock(&device.lock);
	while (device.n == DEPTH)
		pthread_cond_wait(&device.changed, &device.lock);
	device.queue[(device.first + device.n++) % DEPTH] = work;
	pthread_cond_broadcast(&device.changed);
	pthread_mutex_unlock(&device.lock);
}

int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
		   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
		   void *stream, void **parameters, void **extra)
{
	struct work work = {.kernel = (enum kernel)((char *)function - functions)};
	if (mode_is("fail") || !stream || extra || shared ||
	    grid_x * grid_y * grid_z * block_x * block_y * block_z != 1)
		return 719;
	if (work.kernel != EMPTY)
		work.a = *(uint64_t *)parameters[0];
	if (work.kernel == SPIN)
		work.limit = *(uint64_t *)parameters[1];
	if (work.kernel == PONG) {
		work.b = *(uint64_t *)parameters[1];
		work.rounds = *(uint32_t *)parameters[2];
		work.limit = *(uint64_t *)parameters[3];
	}
	if (!device.capturing)
		enqueue(work);
	return 0;
}

int cuStreamCreate(void **stream, unsigned flags)
{
	*stream = functions;
	return flags == ABI_CUDA_STREAM_NON_BLOCKING ? 0 : 1;
}

int cuStreamSynchronize(void *stream)
{
	while (mode_is("hang"))
		sleep(1);
	pthread_mutex_lock(&device.lock);
	while (device.n)
		pthread_cond_wait(&device.changed, &device.lock);
	pthread_mutex_unlock(&device.lock);
	return stream ? 0 : 1;
}

int cuStreamBeginCapture_v2(void *stream, int capture_mode)
{
	device.capturing = 1;
	return stream && capture_mode == ABI_CUDA_CAPTURE_THREAD_LOCAL ? 0 : 1;
}

int cuStreamEndCapture(void *stream, void **graph)
{
	device.capturing = 0;
	*graph = stream;
	return 0;
}

int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags)
{
	*exec = graph;
	return flags ? 1 : 0;
}

int cuGraphLaunch(void *exec, void *stream)
{
	enqueue((struct work){.kernel = EMPTY});
	return exec && stream ? 0 : 1;
}

/* ---- memory ------------------------------------------------------------------------------------ */

int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
	*address = (uint64_t)calloc(1, bytes);
	return *address ? 0 : 2;
}

int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags)
{
	*memory = calloc(1, bytes);
	return *memory && flags <= ABI_CUDA_HOST_MAPPED ? 0 : 2;
}

int cuMemHostGetDevicePointer_v2(uint64_t *address, void *memory, unsigned flags)
{
	*address = (uint64_t)memory;
	return (int)flags;
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream)
{
	memcpy((void *)to, from, bytes);
	return stream ? 0 : 1;
}

int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream)
{
	memcpy(to, (void *)from, bytes);
	return stream ? 0 : 1;
}
