/* SPDX-License-Identifier: Apache-2.0 */
/* measure.c - counters of chosen launches: the subscription, and the callbacks around launches.
 *
 * The driver loads the collect library as for a recording (cuda.c), but nothing is recorded. Every launch has a
 * callback; a launch that the plan names is counted, and measured where its ordinal is chosen: the profiler is
 * started at the enter of the launch call and stopped at its exit. CUPTI's errors end the measuring, never the
 * program, and are noted for the parent.
 *
 * 'measuring' is held from the enter to the exit of a measured launch. Other launches wait for it, because
 * the profiler counts whatever the context launches meanwhile. A launch into a graph that is being captured is
 * neither counted nor measured: it does not run.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/collect.h"
#include "collect/cuda/cuda.h"
#include "collect/kernels/measure.h"
#include "collect/process.h"

struct measure measure;

enum { CONTEXTS = 64 };

static struct {
	pthread_mutex_t measuring;
	_Atomic bool is_busy;                      /* somebody has 'measuring' */
	struct measure_context contexts[CONTEXTS]; /* guarded by 'measuring' */
	/* The driver's cuStreamIsCapturing. */
	int (*is_capturing)(void *stream, int *status);
} here = {.measuring = PTHREAD_MUTEX_INITIALIZER};

static const uint32_t launches[] = {
	CUPTI_LAUNCH_KERNEL,           CUPTI_LAUNCH_KERNEL_PTSZ, CUPTI_LAUNCH_COOPERATIVE,
	CUPTI_LAUNCH_COOPERATIVE_PTSZ, CUPTI_LAUNCH_EX,          CUPTI_LAUNCH_EX_PTSZ,
};
enum { N_LAUNCHES = sizeof launches / sizeof *launches };

static void watch_launches(bool on)
{
	for (unsigned i = 0; i < N_LAUNCHES; i++)
		cuda.cupti.cuptiEnableCallback(on, cuda.subscriber, CUPTI_DOMAIN_DRIVER,
					       launches[i]);
}

static bool is_source(void)
{
	return measure.plan->mode == KERNELS_MODE_SOURCE;
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

static bool is_captured(const struct measure_launch *launch)
{
	int status = 0;
	return here.is_capturing && here.is_capturing(launch->stream, &status) == 0 && status != 0;
}

/* Lets a measurement of another thread end before this launch goes to the device. */
static void let_pass(void)
{
	if (!atomic_load_explicit(&here.is_busy, memory_order_acquire))
		return;
	pthread_mutex_lock(&here.measuring);
	pthread_mutex_unlock(&here.measuring);
}

static void measure_end_all(void)
{
	atomic_store(&measure.is_on, false);
	watch_launches(false);
}

/* True where the measurement runs now, and 'measuring' is held. */
static bool measure_enter(const struct measure_launch *launch, uint32_t target, uint64_t ordinal)
{
	pthread_mutex_lock(&here.measuring);
	atomic_store(&here.is_busy, true);
	measure.target = target;
	measure.ordinal = ordinal;
	struct measure_context *c = context_of(launch->context);
	bool starts = c && measure.is_on;
	if (starts) {
		measure_watch(true);
		starts = is_source() ? measure_source_start(c) : measure_ranges_start(c);
		if (!starts)
			measure_watch(false);
	}
	if (starts)
		return true;
	atomic_store(&here.is_busy, false);
	pthread_mutex_unlock(&here.measuring);
	return false;
}

static void measure_exit(void *context)
{
	struct measure_context *c = context_of(context);
	bool found = is_source() ? measure_source_stop(c) : measure_ranges_stop(c);
	measure_watch(false);
	if (found && measure_plan_done(measure.target))
		measure_end_all();
	atomic_store(&here.is_busy, false);
	pthread_mutex_unlock(&here.measuring);
}

static void measure_launched(uint32_t cbid, const struct cupti_callback *call)
{
	if (call->site == CUPTI_EXIT) {
		if (*call->slot == 1)
			measure_exit(call->context);
		*call->slot = 0;
		return;
	}
	struct measure_launch launch;
	uint64_t ordinal;
	*call->slot = 0;
	if (!atomic_load_explicit(&measure.is_on, memory_order_acquire) ||
	    !read_launch(cbid, call, &launch))
		return;
	uint32_t target = measure_plan_find(&launch);
	if (target == UINT32_MAX || is_captured(&launch) || !measure_plan_count(target, &ordinal))
		let_pass();
	else if (measure_enter(&launch, target, ordinal))
		*call->slot = 1;
}

/* ---- the other callbacks ---- */

static void context_ends(void *context)
{
	pthread_mutex_lock(&here.measuring);
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
	pthread_mutex_unlock(&here.measuring);
}

static void measure_callback(void *user, uint32_t domain, uint32_t cbid, const void *data)
{
	(void)user;
	int saved = errno;
	if (atomic_load_explicit(&cuda.stage, memory_order_acquire) != CUDA_ON)
		return;
	if (domain == CUPTI_DOMAIN_DRIVER)
		measure_launched(cbid, data);
	const struct cupti_resource *resource = data;
	if (domain == CUPTI_DOMAIN_RESOURCE && cbid == CUPTI_CONTEXT_DESTROY)
		context_ends(resource->context);
	if (domain == CUPTI_DOMAIN_RESOURCE && cbid == CUPTI_MODULE_LOADED)
		measure_source_module(resource->descriptor);
	errno = saved;
}

/* ---- begin and end ---- */

/* libcupti opens libnvperf_host and libnvperf_target by their names alone. They lie beside it, where the dynamic
 * linker need not look: once they are open, their names are found. */
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
	watch_launches(true);
	return true;
}

static void measure_at_exit(void)
{
	process_after_fork();
	if (!cuda_is_on())
		return;
	atomic_store(&measure.is_on, false);
	/* A thread that is inside a measurement keeps its context: nothing waits for it here. */
	if (pthread_mutex_trylock(&here.measuring) != 0)
		return;
	pthread_mutex_unlock(&here.measuring);
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
	pthread_mutex_init(&here.measuring, NULL);
	measure_answer_after_fork();
}
