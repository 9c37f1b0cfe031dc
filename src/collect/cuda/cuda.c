/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.c - the CUDA source: the life of the collector's CUPTI subscription.
 *
 * The driver loads the collect library (CUDA_INJECTION64_PATH) and calls InitializeInjection inside
 * cuInit, on the first thread that calls cuInit. Everything is set up there: subscription, buffers,
 * clock, kinds of records. From then on CUPTI follows the control page: with a capture range or a
 * delay only devices, contexts and streams are recorded until recording begins. When recording has
 * ended for good, CUPTI is detached and the program runs at its own speed again.
 *
 * 'life.lock' serialises changes of what is recorded; no buffer is ever delivered under it.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "collect/cuda/cuda.h"
#include "collect/kernels/measure.h"
#include "collect/process.h"

struct cuda cuda;

static struct {
	pthread_mutex_t lock;
	bool is_recording; /* the kinds of records are enabled in CUPTI; guarded by 'lock' */
	bool is_set_up;    /* InitializeInjection is done, so that cuInit goes on */
	/* was_refused: CUPTI refused a kind of record, and a note says so; guarded by 'lock'. */
	bool was_refused;
	_Atomic bool is_over;
} life = {.lock = PTHREAD_MUTEX_INITIALIZER};

enum { VERSION_12_6 = 24 };

static uint64_t clock_fn(void)
{
	return (uint64_t)collect_now();
}

/* ---- what is recorded ---- */

static void switch_kind(uint32_t kind, bool on, const char *what)
{
	int result =
		on ? cuda.cupti.cuptiActivityEnable(kind) : cuda.cupti.cuptiActivityDisable(kind);
	if (on && result != CUPTI_OK && !life.was_refused) {
		life.was_refused = true;
		collect_note(2, "CUPTI does not record %s here (error %d)", what, result);
	}
}

/* Has CUPTI tell of the devices, contexts and streams that there are already. */
static void cuda_describe(void)
{
	static const uint32_t kinds[] = {CUPTI_DEVICE, CUPTI_CONTEXT, CUPTI_STREAM};
	if (!cuda_is_on() || !cuda.cupti.cuptiActivityEnableAndDump)
		return;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		cuda.cupti.cuptiActivityDisable(kinds[i]);
		cuda.cupti.cuptiActivityEnableAndDump(kinds[i]);
	}
}

static void change_kinds(bool on)
{
	switch_kind(CUPTI_CONCURRENT_KERNEL, on, "kernels");
	switch_kind(CUPTI_MEMCPY, on, "copies");
	switch_kind(CUPTI_MEMCPY2, on, "copies between devices");
	switch_kind(CUPTI_MEMSET, on, "fills");
	if (!cuda_sync_uses_callbacks()) {
		switch_kind(CUPTI_SYNCHRONIZATION, on, "waits");
		switch_kind(CUPTI_CUDA_EVENT, on, "events");
	}
	switch_kind(CUPTI_OVERHEAD, on, "overhead");
	/* CUPTI writes no records of a graph's nodes where it writes records of whole graphs. */
	if (!collect_control->graph_nodes)
		switch_kind(CUPTI_GRAPH_TRACE, on, "graphs");
	if (collect_control->memory_usage)
		switch_kind(CUPTI_MEMORY2, on, "memory use");
	cuda_calls_record(on, !life.is_set_up);
	cuda_calls_watch(on);
}

void cuda_follow_control(void)
{
	if (!cuda_is_on() || collect_control->measures)
		return;
	pthread_mutex_lock(&life.lock);
	bool on = collect_is_on(REC_TRACE_CUDA);
	if (on != life.is_recording) {
		life.is_recording = on;
		change_kinds(on);
	}
	if (__atomic_load_n(&collect_control->finished, __ATOMIC_ACQUIRE))
		life.is_over = true;
	pthread_mutex_unlock(&life.lock);
}

bool cuda_is_over(void)
{
	return life.is_over;
}

/* Called when the last records are fetched. Before CUDA 12.6 cuptiFinalize crashed programs that
 * use graphs: there the subscription, which has nothing enabled, is given up instead. */
void cuda_leave(void)
{
	if (!cuda_is_on())
		return;
	cuda_nodes_report_losses();
	if (!cuda.cupti.cuptiFinalize || cuda.version < VERSION_12_6) {
		atomic_store(&cuda.stage, CUDA_GONE);
		cuda.cupti.cuptiUnsubscribe(cuda.subscriber);
		return;
	}
	cuda_calls_all();
	atomic_store(&cuda.stage, CUDA_LEAVING);
}

/* ---- the beginning ---- */

static void set_attribute(uint32_t attribute, uint8_t value)
{
	size_t size = sizeof value;
	cuda.cupti.cuptiActivitySetAttribute(attribute, &size, &value);
}

static int subscribe(char *holder, size_t size)
{
	struct cupti_subscriber_params params = {
		.size = sizeof params,
		.name = "Headway",
		.old_name = holder,
		.old_size = size,
	};
	if (cuda.cupti.cuptiSubscribe_v2)
		return cuda.cupti.cuptiSubscribe_v2(&cuda.subscriber, cuda_callback, NULL, &params);
	return cuda.cupti.cuptiSubscribe(&cuda.subscriber, cuda_callback, NULL);
}

static void cuda_set_up(const char *path)
{
	char text[32];
	cuda.cupti.cuptiGetVersion(&cuda.version);
	snprintf(text, sizeof text, "%u", cuda.version);
	collect_property("cupti.version", text);
	collect_property("cupti.path", path);
	/* CUPTI's attributes must be set before the buffer callbacks are registered. */
	set_attribute(CUPTI_PER_THREAD_ACTIVITY_BUFFER, 1);
	set_attribute(CUPTI_ZEROED_OUT_ACTIVITY_BUFFER, 1);
	/* A second registration of the timestamp function would spoil the times of records. */
	cuda.cupti.cuptiActivityRegisterTimestampCallback(clock_fn);
	if (cuda.cupti.cuptiSetThreadIdType)
		cuda.cupti.cuptiSetThreadIdType(CUPTI_THREAD_ID_SYSTEM);
	cuda.cupti.cuptiActivityRegisterCallbacks(cuda_buffers_request, cuda_buffers_complete);
	/* A program may poll a stream or event very often, so that CUPTI writes no records of
	 * polling. */
	if (cuda.cupti.cuptiActivityEnableAllSyncRecords)
		cuda.cupti.cuptiActivityEnableAllSyncRecords(0);
	cuda_calls_init();
	cuda_buffers_top_up();
	atomic_store_explicit(&cuda.stage, CUDA_ON, memory_order_release);
	cuda.cupti.cuptiEnableCallback(1, cuda.subscriber, CUPTI_DOMAIN_STATE,
				       CUPTI_STATE_FATAL_ERROR);
	cuda_nodes_watch();
	switch_kind(CUPTI_DEVICE, true, "devices");
	switch_kind(CUPTI_CONTEXT, true, "contexts");
	switch_kind(CUPTI_STREAM, true, "streams");
	cuda_calls_watch(false); /* watch only the calls that begin and end a capture range */
	cuda_follow_control();
	life.is_set_up = true;
	if (!life.is_recording)
		cuda_flush_start(); /* the flush thread notices when recording begins */
}

/* CUPTI's result in the library that was tried last; used only by the thread that runs
 * cuda_init. */
static int last_result;

/* True if the search for a library ends with this one, whether it can be used or another tool holds
 * it. */
static bool use_library(const char *path)
{
	char holder[128] = "";
	last_result = subscribe(holder, sizeof holder);
	if (last_result == CUPTI_MULTIPLE_SUBSCRIBERS) {
		collect_note(
			2, "CUDA is not recorded: %s holds CUPTI, which serves one tool at a time",
			*holder ? holder : "another tool");
		return true;
	}
	if (last_result != CUPTI_OK)
		return false;
	cuda_set_up(path);
	return true;
}

static void cuda_init(void)
{
	static atomic_flag was_here = ATOMIC_FLAG_INIT;
	if (atomic_flag_test_and_set(&was_here) || measure_begin() || !collect_control ||
	    !(collect_control->traces & REC_TRACE_CUDA))
		return;
	/* A worker process has set its rank by now. It may be killed later, so this is the time
	 * to record it. */
	process_look_again(0);
	if (collect_control->leave_cupti) {
		collect_note(1, "CUDA is not recorded: CUPTI was left to the program");
		return;
	}
	last_result = -1;
	if (cuda_library_try_all(use_library))
		return;
	if (last_result == -1)
		collect_note(2,
			     "CUDA is not recorded: no libcupti of CUDA 11.8 or later was found; "
			     "HEADWAY_CUPTI names one by its path");
	else
		collect_note(2, "CUDA is not recorded: CUPTI has no driver it can use (error %d)",
			     last_result);
}

/* ---- a program that began without the collector ---- */

/* Whether the program has called cuInit. Asks the driver for something that needs no context. */
static bool driver_is_initialised(void)
{
	int (*count)(int *) = NULL;
	int devices = 0;
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (!driver)
		return false;
	*(void **)&count = dlsym(driver, "cuDeviceGetCount");
	bool is_initialised = count && count(&devices) == 0;
	dlclose(driver);
	return is_initialised;
}

void cuda_begin_late(void)
{
	if (cuda_is_on() || !driver_is_initialised())
		return;
	life.is_set_up = true; /* cuInit is done */
	cuda_init();
	if (cuda_is_on())
		atexit(cuda_finish);
	cuda_describe();
}

void cuda_begin_again(void)
{
	if (!cuda_is_on())
		return;
	cuda_intern_begin_again();
	cuda_device_begin_again();
	cuda_calls_begin_again();
	cuda_describe();
}

/* ---- the end ---- */

void cuda_finish(void)
{
	/* A child that was forked without calling atfork handlers has no flush thread to wait
	 * for. */
	process_after_fork();
	if (!cuda_is_on() || collect_control->measures)
		return;
	cuda_nodes_report_losses();
	cuda_flush_last();
}

void cuda_after_fork(void)
{
	atomic_store(&cuda.stage, CUDA_OFF);
	measure_after_fork();
}

__attribute__((visibility("default"))) int InitializeInjection(void);
int InitializeInjection(void)
{
	cuda_init();
	/* Runs before libcuda's own exit handler; a destructor of this library would run too
	 * late. */
	if (cuda_is_on() && !collect_control->measures)
		atexit(cuda_finish);
	return 1;
}
