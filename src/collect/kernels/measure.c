/* SPDX-License-Identifier: Apache-2.0 */
/* measure.c - counters of chosen launches: the subscription, and the callbacks around launches.
 *
 * The driver loads the collect library as for a recording (cuda.c), but nothing is recorded.
 * Every launch has a callback; a launch that the plan names is counted, and measured where its
 * ordinal is chosen: the profiler is started at the enter of the launch call and stopped at its
 * exit. CUPTI's errors end the measuring, never the program, and are noted for the parent.
 *
 * While the profiler is started, nothing else may reach the context: a kernel would be counted
 * too, a graph would not run at all (CUDA 13.0: its work is lost), and a copy could be undone
 * when CUPTI restores memory for a repetition. So every call that hands work to the device is
 * inside the fence: a lock that such calls share, and that a measurement has alone from the
 * enter to the exit of its launch. A measurement that does not get the fence soon is left to the
 * next launch. Launches into a graph that is being captured are neither counted nor measured:
 * they do not run. Graphs are never measured.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collect/collect.h"
#include "collect/cuda/cuda.h"
#include "collect/kernels/measure.h"
#include "collect/process.h"

struct measure measure;

enum { CONTEXTS = 64, PATIENCE_S = 2 };
/* What the callbacks of one call share: what the call's enter took. */
enum { TOOK_NOTHING, TOOK_SHARE, TOOK_ALL };
#define PER_THREAD_STREAM                                                                          \
	((void *)2) /* the driver's handle of the calling thread's default stream */

static struct {
	pthread_rwlock_t fence;
	struct measure_context contexts[CONTEXTS]; /* for whoever has the fence alone */
	/* The driver's cuStreamIsCapturing. */
	int (*is_capturing)(void *stream, int *status);
} here = {.fence = PTHREAD_RWLOCK_INITIALIZER};

static bool is_source(void)
{
	return measure.plan->mode == KERNELS_MODE_SOURCE;
}

static bool is_launch(uint32_t cbid)
{
	return cbid == CUPTI_LAUNCH_KERNEL || cbid == CUPTI_LAUNCH_KERNEL_PTSZ ||
	       cbid == CUPTI_LAUNCH_COOPERATIVE || cbid == CUPTI_LAUNCH_COOPERATIVE_PTSZ ||
	       cbid == CUPTI_LAUNCH_EX || cbid == CUPTI_LAUNCH_EX_PTSZ;
}

/* Whether a call of the driver hands work to the device, or changes what memory there is. */
static bool is_fenced(uint32_t cbid)
{
	static const char *const begins[] = {"cuLaunch",   "cuGraphLaunch", "cuMemcpy",
					     "cuMemset",   "cuMemAlloc",    "cuMemFree",
					     "cuMemBatch", "cuMemPrefetch"};
	const char *name = NULL;
	if (is_launch(cbid))
		return true;
	if (cuda.cupti.cuptiGetCallbackName(CUPTI_DOMAIN_DRIVER, cbid, &name) != CUPTI_OK || !name)
		return false;
	for (unsigned i = 0; i < sizeof begins / sizeof *begins; i++)
		if (strncmp(name, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

static void watch_calls(bool on)
{
	for (uint32_t cbid = 1; cbid < CALL_IDS; cbid++)
		if (is_source() ? is_launch(cbid) : is_fenced(cbid))
			cuda.cupti.cuptiEnableCallback(on, cuda.subscriber, CUPTI_DOMAIN_DRIVER,
						       cbid);
}

/* ---- one launch ---- */

static struct measure_context *context_of(void *context)
{
	struct measure_context *vacant = NULL;
	for (unsigned i = 0; i < CONTEXTS; i++) {
		if (here.contexts[i].context == context)
			return &here.contexts[i];
		if (!vacant && !here.contexts[i].context)
			vacant = &here.contexts[i];
	}
	if (vacant)
		*vacant = (struct measure_context){.context = context};
	return vacant;
}

static bool read_launch(uint32_t cbid, const struct cupti_callback *call,
			struct measure_launch *launch)
{
	launch->symbol = call->symbol;
	launch->context = call->context;
	if (cbid == CUPTI_LAUNCH_EX || cbid == CUPTI_LAUNCH_EX_PTSZ) {
		const struct cupti_launch_config *config =
			((const struct cupti_launch_ex *)call->params)->config;
		if (!config)
			return false;
		launch->grid = config->grid;
		launch->block = config->block;
		launch->shared = config->shared;
		launch->stream = config->stream;
		return true;
	}
	const struct cupti_launch_kernel *params = call->params;
	launch->grid = params->grid;
	launch->block = params->block;
	launch->shared = params->shared;
	launch->stream = params->stream;
	return true;
}

static bool is_captured(uint32_t cbid, const struct measure_launch *launch)
{
	bool per_thread = cbid == CUPTI_LAUNCH_KERNEL_PTSZ || cbid == CUPTI_LAUNCH_EX_PTSZ ||
			  cbid == CUPTI_LAUNCH_COOPERATIVE_PTSZ;
	void *stream = launch->stream || !per_thread ? launch->stream : PER_THREAD_STREAM;
	int status = 0;
	/* An error is as good as a yes: some stream is being captured, and the driver minds. */
	return here.is_capturing && (here.is_capturing(stream, &status) != 0 || status != 0);
}

static bool take_fence(void)
{
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	return pthread_rwlock_timedwrlock(&here.fence, &until) == 0;
}

/* Where the last measurement ended while this call waited for the fence, the callbacks are off,
 * and the call's exit would not give the fence back. */
static bool share_fence(void)
{
	if (pthread_rwlock_rdlock(&here.fence) != 0)
		return false;
	if (atomic_load_explicit(&measure.is_on, memory_order_acquire))
		return true;
	pthread_rwlock_unlock(&here.fence);
	return false;
}

/* Called by whoever has the fence alone: no other call is inside it. */
static void measure_end_all(void)
{
	atomic_store(&measure.is_on, false);
	watch_calls(false);
}

/* True where the measurement runs now, and the fence is ours alone. */
static bool measure_enter(const struct measure_launch *launch, uint32_t target, uint64_t ordinal,
			  uint32_t set)
{
	if (!take_fence())
		return false;
	measure.target = target;
	measure.ordinal = ordinal;
	measure.set = set;
	struct measure_context *c = context_of(launch->context);
	bool starts = c && measure.is_on;
	if (starts) {
		measure_watch(true);
		starts = measure_ranges_start(c);
		if (!starts)
			measure_watch(false);
	}
	if (!starts)
		pthread_rwlock_unlock(&here.fence);
	return starts;
}

static void measure_exit(void *context)
{
	bool found = measure_ranges_stop(context_of(context));
	measure_watch(false);
	if (found && measure_plan_done(measure.target))
		measure_end_all();
	pthread_rwlock_unlock(&here.fence);
}

/* Begins to sample program counters with the first chosen launch of a context. */
static void sample_from_here(const struct measure_launch *launch)
{
	pthread_rwlock_wrlock(&here.fence);
	struct measure_context *c = context_of(launch->context);
	if (c)
		measure_source_start(c);
	pthread_rwlock_unlock(&here.fence);
}

/* Whether the launch that begins is to be measured, and starts to be. */
static bool measure_launched(uint32_t cbid, const struct cupti_callback *call)
{
	struct measure_launch launch;
	uint64_t ordinal;
	uint32_t set;
	if (!is_launch(cbid) || !read_launch(cbid, call, &launch))
		return false;
	uint32_t target = measure_plan_find(&launch);
	if (target == UINT32_MAX || is_captured(cbid, &launch) ||
	    !measure_plan_count(target, &ordinal, &set))
		return false;
	if (!is_source())
		return measure_enter(&launch, target, ordinal, set);
	sample_from_here(&launch);
	return false;
}

static void measure_called(uint32_t cbid, const struct cupti_callback *call)
{
	uint64_t took = *call->slot;
	if (call->site == CUPTI_ENTER) {
		*call->slot = TOOK_NOTHING;
		if (!atomic_load_explicit(&measure.is_on, memory_order_acquire))
			return;
		if (measure_launched(cbid, call))
			*call->slot = TOOK_ALL;
		else if (!is_source() && share_fence())
			*call->slot = TOOK_SHARE;
		return;
	}
	*call->slot = TOOK_NOTHING;
	if (took == TOOK_ALL)
		measure_exit(call->context);
	else if (took == TOOK_SHARE)
		pthread_rwlock_unlock(&here.fence);
}

/* ---- the other callbacks ---- */

static void context_ends(void *context)
{
	if (!take_fence())
		return;
	for (unsigned i = 0; i < CONTEXTS; i++) {
		struct measure_context *c = &here.contexts[i];
		if (!c->context || (context && c->context != context))
			continue;
		if (is_source())
			measure_source_leave(c);
		else
			measure_ranges_leave(c);
		c->context = NULL;
	}
	pthread_rwlock_unlock(&here.fence);
}

static void measure_callback(void *user, uint32_t domain, uint32_t cbid, const void *data)
{
	(void)user;
	int saved = errno;
	if (atomic_load_explicit(&cuda.stage, memory_order_acquire) != CUDA_ON)
		return;
	if (domain == CUPTI_DOMAIN_DRIVER)
		measure_called(cbid, data);
	const struct cupti_resource *resource = data;
	if (domain == CUPTI_DOMAIN_RESOURCE && cbid == CUPTI_CONTEXT_DESTROY)
		context_ends(resource->context);
	if (domain == CUPTI_DOMAIN_RESOURCE && cbid == CUPTI_MODULE_LOADED)
		measure_source_module(resource->descriptor);
	errno = saved;
}

/* ---- begin and end ---- */

/* libcupti opens libnvperf_host and libnvperf_target by their names alone. They lie beside it,
 * where the dynamic linker need not look: once they are open, their names are found. */
static void open_beside(const char *path)
{
	static const char *const names[] = {"libnvperf_target.so", "libnvperf_host.so"};
	const char *end = strrchr(path, '/');
	char beside[4096];
	for (unsigned i = 0; end && i < 2; i++)
		if (snprintf(beside, sizeof beside, "%.*s/%s", (int)(end - path), path, names[i]) <
		    (int)sizeof beside)
			dlopen(beside, RTLD_LAZY | RTLD_GLOBAL);
}

static void find_capturing(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (driver)
		*(void **)&here.is_capturing = dlsym(driver, "cuStreamIsCapturing");
}

static bool measure_use_library(const char *path)
{
	void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	open_beside(path);
	int result = library ? cuda.cupti.cuptiSubscribe(&cuda.subscriber, measure_callback, NULL)
			     : CUPTI_UNKNOWN;
	if (result == CUPTI_MULTIPLE_SUBSCRIBERS) {
		measure_note(result, "another tool inside the program holds CUPTI");
		return true;
	}
	if (result != CUPTI_OK)
		return false;
	if (!measure_ranges_load(library) || (is_source() && !measure_source_load(library)))
		return true;
	find_capturing();
	atomic_store(&measure.is_on, true);
	atomic_store_explicit(&cuda.stage, CUDA_ON, memory_order_release);
	cuda.cupti.cuptiEnableCallback(1, cuda.subscriber, CUPTI_DOMAIN_RESOURCE,
				       CUPTI_CONTEXT_DESTROY);
	if (is_source())
		cuda.cupti.cuptiEnableCallback(1, cuda.subscriber, CUPTI_DOMAIN_RESOURCE,
					       CUPTI_MODULE_LOADED);
	watch_calls(true);
	return true;
}

static void measure_at_exit(void)
{
	process_after_fork();
	if (!cuda_is_on())
		return;
	atomic_store(&measure.is_on, false);
	/* A thread that is inside a measurement keeps its context: nothing waits long for it
	 * here. */
	context_ends(NULL);
}

static uint32_t rank_of_environment(void)
{
	static const char *const names[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
					    "SLURM_PROCID"};
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
		const char *value = getenv(names[i]);
		if (value && *value)
			return (uint32_t)strtoul(value, NULL, 10);
	}
	return 0;
}

bool measure_begin(void)
{
	if (!collect_control || !collect_control->measures)
		return false;
	measure.target = UINT32_MAX;
	measure.rank = rank_of_environment();
	if (!measure_plan_read())
		measure_note(0, "the plan of what to measure cannot be read");
	else if (!cuda_library_try_all(measure_use_library))
		measure_note(0, "no libcupti was found that works with the driver; HEADWAY_CUPTI "
				"names one by its path");
	else if (measure.is_on)
		atexit(measure_at_exit);
	return true;
}

void measure_after_fork(void)
{
	atomic_store(&measure.is_on, false);
	pthread_rwlock_init(&here.fence, NULL);
	measure_answer_after_fork();
}
