/* SPDX-License-Identifier: Apache-2.0 */
/* cupti.c - a libcupti without a GPU: replays records that were captured on one, and plays the driver's part.
 *
 * It keeps CUPTI's rules and insists that the collector does: a call in a forked child or after cuptiFinalize
 * ends the program (abort), so does a buffer that is not zeroed or that comes back twice. Buffers are per
 * thread, are delivered when full or flushed, and a plain flush leaves buffers with unfinished records alone.
 *
 * Environment: MOCK_CUPTI_DATA a recording (rows of "NAME" address:u64 length:u32 text and "BUFF" tid:u32
 * bytes:u32 records, as the library of CUDA 13.0 delivered them on an H200); MOCK_CUPTI_NAMES the names of
 * callbacks ("domain cbid name" a line); MOCK_CUPTI_SUBSCRIBE what cuptiSubscribe returns; MOCK_CUPTI_HANG=1
 * the forced flush never returns. Built with MOCK_OLD, records are as CUDA 11.8 had them, and functions that
 * came later are missing.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collect/abi/cupti.h"
#include "collect/abi/cupti_profiler.h"
#include "mock.h"

#define EXPORT __attribute__((visibility("default")))

enum { KINDS = 64, IDS = 1024, BUFFERS = 4096, NAMES = 1024 };

struct buffer {
	uint8_t *bytes;
	size_t size, valid;
	bool is_unfinished;
};

static struct {
	pthread_mutex_t lock;
	_Atomic pid_t owner; /* the process that subscribed */
	_Atomic bool is_final, is_subscribed;
	cupti_callback_fn *callback;
	cupti_request_fn *request;
	cupti_complete_fn *complete;
	cupti_time_fn *clock;
	_Atomic bool kinds[KINDS];
	_Atomic bool watched[4][IDS], recorded[3][IDS];
	struct buffer open[BUFFERS]; /* by 'lock': one of each thread */
	unsigned n_open;
	_Atomic uint32_t correlation, dropped;
	char *names[3][IDS];
	struct {
		uint64_t address;
		char *text;
	} texts[NAMES];
	unsigned n_texts;
} mock = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local unsigned slot; /* of the thread's buffer in mock.open, plus one */

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "mock CUPTI: %s\n", what);
	abort();
}

static void check_call(void)
{
	check(!mock.owner || mock.owner == getpid(), "called in a forked child");
	check(!mock.is_final, "called after cuptiFinalize");
}

static bool is_old(void)
{
#ifdef MOCK_OLD
	return true;
#else
	return false;
#endif
}

static uint64_t now(void)
{
	return mock.clock ? mock.clock() : 1;
}

/* Sizes as CUDA 13.0 has them; of those that differ, as 11.8 had them. */
static size_t size_of(uint32_t kind)
{
	switch (kind) {
	case CUPTI_MEMCPY:
	case CUPTI_MEMCPY2: return 96;
	case CUPTI_MEMSET: return 88;
	case CUPTI_CONCURRENT_KERNEL: return 216;
	case CUPTI_RUNTIME:
	case CUPTI_DRIVER: return 40;
	case CUPTI_DEVICE: return 184;
	case CUPTI_CONTEXT: return is_old() ? 16 : 32;
	case CUPTI_STREAM: return 24;
	case CUPTI_OVERHEAD: return is_old() ? 40 : 56;
	case CUPTI_CUDA_EVENT: return is_old() ? 24 : 56;
	case CUPTI_SYNCHRONIZATION: return is_old() ? 40 : 56;
	case CUPTI_MEMORY2: return 128;
	case CUPTI_GRAPH_TRACE: return 56;
	default: return 0;
	}
}

static size_t captured_size_of(uint32_t kind)
{
	switch (kind) {
	case CUPTI_CONTEXT: return 32;
	case CUPTI_OVERHEAD:
	case CUPTI_CUDA_EVENT:
	case CUPTI_SYNCHRONIZATION: return 56;
	default: return size_of(kind);
	}
}

/* ---- buffers ---- */

static void deliver(struct buffer buffer)
{
	if (buffer.bytes)
		mock.complete(NULL, 0, buffer.bytes, buffer.size, buffer.valid);
}

static struct buffer ask(void)
{
	struct buffer buffer = {0};
	size_t most = 0;
	mock.request(&buffer.bytes, &buffer.size, &most);
	for (size_t i = 0; buffer.bytes && i < buffer.size; i++)
		check(buffer.bytes[i] == 0, "a buffer was not zeroed");
	return buffer;
}

static void put(const void *record, bool is_finished)
{
	uint32_t kind = *(const uint32_t *)record;
	size_t size = size_of(kind);
	check(size > 0, "a record of unknown kind");
	pthread_mutex_lock(&mock.lock);
	if (slot == 0)
		slot = ++mock.n_open;
	struct buffer mine = mock.open[slot - 1];
	mock.open[slot - 1] = (struct buffer){0};
	pthread_mutex_unlock(&mock.lock);
	if (mine.bytes && mine.valid + size > mine.size) {
		deliver(mine);
		mine = (struct buffer){0};
	}
	if (!mine.bytes)
		mine = ask();
	if (!mine.bytes) {
		mock.dropped++;
		return;
	}
	memcpy(mine.bytes + mine.valid, record, size);
	mine.valid += size;
	mine.is_unfinished |= !is_finished;
	pthread_mutex_lock(&mock.lock);
	mock.open[slot - 1] = mine;
	pthread_mutex_unlock(&mock.lock);
}

EXPORT int cuptiActivityFlushAll(uint32_t flags)
{
	check_call();
	if (flags == CUPTI_FLUSH_FORCED && getenv("MOCK_CUPTI_HANG"))
		for (;;)
			pause();
	for (unsigned i = 0; i < BUFFERS; i++) {
		pthread_mutex_lock(&mock.lock);
		struct buffer buffer = {0};
		if (flags == CUPTI_FLUSH_FORCED || !mock.open[i].is_unfinished) {
			buffer = mock.open[i];
			mock.open[i] = (struct buffer){0};
		}
		pthread_mutex_unlock(&mock.lock);
		deliver(buffer);
	}
	return CUPTI_OK;
}

EXPORT int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record)
{
	uint8_t *next = buffer;
	if (*record)
		next = (uint8_t *)*record + size_of(*(uint32_t *)*record);
	if (next >= buffer + valid)
		return CUPTI_MAX_LIMIT_REACHED;
	if (size_of(*(uint32_t *)next) == 0)
		return 21; /* CUPTI_ERROR_INVALID_KIND */
	*record = next;
	return CUPTI_OK;
}

EXPORT int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped)
{
	(void)context;
	(void)stream;
	check_call();
	*dropped = atomic_exchange(&mock.dropped, 0);
	return CUPTI_OK;
}

EXPORT int cuptiActivityRegisterCallbacks(cupti_request_fn *request, cupti_complete_fn *complete)
{
	check_call();
	mock.request = request;
	mock.complete = complete;
	return CUPTI_OK;
}

EXPORT int cuptiActivityRegisterTimestampCallback(cupti_time_fn *fn)
{
	check_call();
	check(!mock.clock, "the clock was registered twice");
	mock.clock = fn;
	return CUPTI_OK;
}

EXPORT int cuptiSetThreadIdType(uint32_t type)
{
	(void)type;
	return CUPTI_OK;
}

EXPORT int cuptiActivitySetAttribute(uint32_t attribute, size_t *size, void *value)
{
	(void)attribute;
	(void)size;
	(void)value;
	check_call();
	check(!mock.request, "an attribute was set after the buffers");
	return CUPTI_OK;
}

/* ---- what is on ---- */

static int enable(uint32_t kind, bool on)
{
	check_call();
	if (kind >= KINDS)
		return 21;
	mock.kinds[kind] = on;
	for (unsigned cbid = 0; cbid < IDS; cbid++) {
		if (kind == CUPTI_RUNTIME)
			mock.recorded[CUPTI_DOMAIN_RUNTIME][cbid] = on;
		if (kind == CUPTI_DRIVER)
			mock.recorded[CUPTI_DOMAIN_DRIVER][cbid] = on;
	}
	return CUPTI_OK;
}

EXPORT int cuptiActivityEnable(uint32_t kind)
{
	return enable(kind, true);
}

/* Tells of what there is already: one device with one context and one stream. */
EXPORT int cuptiActivityEnableAndDump(uint32_t kind)
{
	_Alignas(8) uint8_t record[512] = {0};
	int result = enable(kind, true);
	*(uint32_t *)record = kind;
	struct cupti_device *device = (void *)record;
	struct cupti_context *context = (void *)record;
	struct cupti_stream *stream = (void *)record;
	if (kind == CUPTI_DEVICE) {
		device->name = "A device that was there before";
		device->compute_major = 9;
		device->sms = 132;
	} else if (kind == CUPTI_CONTEXT) {
		context->context = 1;
	} else {
		stream->context = 1;
		stream->stream = 7;
	}
	check(size_of(kind) <= sizeof record, "the record is larger");
	put(record, true);
	return result;
}

EXPORT int cuptiActivityDisable(uint32_t kind)
{
	return enable(kind, false);
}

#ifndef MOCK_OLD
/* As CUDA 13.0 does: a call can be left out at any time, but chosen before the first call only. */
static int choose(uint32_t domain, uint32_t cbid, bool on)
{
	check_call();
	if (!on || mock.correlation == 0)
		mock.recorded[domain][cbid] = on;
	return CUPTI_OK;
}

EXPORT int cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t on)
{
	return choose(CUPTI_DOMAIN_RUNTIME, cbid, on);
}

EXPORT int cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t on)
{
	return choose(CUPTI_DOMAIN_DRIVER, cbid, on);
}

EXPORT int cuptiActivityEnableAllSyncRecords(uint8_t on)
{
	(void)on;
	return CUPTI_OK;
}
#endif

EXPORT int cuptiEnableCallback(uint32_t on, void *subscriber, uint32_t domain, uint32_t cbid)
{
	check_call();
	check(subscriber == &mock, "not the subscriber");
	if (domain <= CUPTI_DOMAIN_RESOURCE)
		mock.watched[domain][cbid] = on != 0;
	return CUPTI_OK;
}

EXPORT int cuptiGetVersion(uint32_t *version)
{
	*version = is_old() ? 18 : 130001;
	return CUPTI_OK;
}

EXPORT int cuptiGetCallbackName(uint32_t domain, uint32_t cbid, const char **name)
{
	*name = domain <= CUPTI_DOMAIN_RUNTIME && cbid < IDS ? mock.names[domain][cbid] : NULL;
	return *name ? CUPTI_OK : 1;
}

static int subscribe(void **subscriber, cupti_callback_fn *fn)
{
	const char *wish = getenv("MOCK_CUPTI_SUBSCRIBE");
	if (wish)
		return atoi(wish);
	if (atomic_exchange(&mock.is_subscribed, true))
		return CUPTI_MULTIPLE_SUBSCRIBERS;
	mock.owner = getpid();
	mock.callback = fn;
	*subscriber = &mock;
	return CUPTI_OK;
}

EXPORT int cuptiSubscribe(void **subscriber, cupti_callback_fn *fn, void *user)
{
	(void)user;
	return subscribe(subscriber, fn);
}

#ifndef MOCK_OLD
EXPORT int cuptiSubscribe_v2(void **subscriber, cupti_callback_fn *fn, void *user,
			     struct cupti_subscriber_params *params)
{
	(void)user;
	int result = subscribe(subscriber, fn);
	if (result == CUPTI_MULTIPLE_SUBSCRIBERS)
		snprintf(params->old_name, params->old_size, "Another Profiler");
	return result;
}
#endif

EXPORT int cuptiUnsubscribe(void *subscriber)
{
	check_call();
	check(subscriber == &mock, "not the subscriber");
	mock.is_subscribed = false;
	mock.is_final = true;
	return CUPTI_OK;
}

#ifndef MOCK_OLD
/* Default streams are 7 and, a thread's own, 8; others are told by their handle. */
EXPORT int cuptiGetStreamIdEx(void *context, void *stream, uint8_t per_thread, uint32_t *id)
{
	(void)context;
	check_call();
	if ((uintptr_t)stream == 0xbad)
		return 10; /* CUPTI_ERROR_INVALID_STREAM */
	*id = stream ? (uint32_t)(uintptr_t)stream : per_thread ? 8 : 7;
	return CUPTI_OK;
}
#endif

static _Thread_local bool is_in_exit;

EXPORT int cuptiFinalize(void)
{
	check_call();
	check(is_in_exit, "cuptiFinalize outside of an API exit");
	mock.is_final = true;
	return CUPTI_OK;
}

/* ---- playing the driver ---- */

struct playing { /* a call */
	uint32_t correlation;
	uint64_t arguments[3];
	uint32_t result;
	const struct mock_launched *launched; /* what it launches, or NULL */
	const struct cupti_launch_kernel *launch;
};

/* cupti_profiler.c: a kernel ran. */
#pragma weak mock_profiler_ran

static void call_back(uint32_t domain, uint32_t cbid, uint32_t site, struct playing *playing,
		      uint64_t *shared)
{
	if (mock.is_final || !mock.is_subscribed || !mock.watched[domain][cbid])
		return;
	struct cupti_callback data = {
		.site = site,
		.function = mock.names[domain][cbid],
		.params = playing->launch ? (const void *)playing->launch : playing->arguments,
		.symbol = playing->launched ? playing->launched->symbol : NULL,
		.context = playing->launched ? &mock : NULL,
		.result = site == CUPTI_EXIT ? &playing->result : NULL,
		.context_id = 1,
		.slot = shared,
		.correlation = playing->correlation,
	};
	is_in_exit = site == CUPTI_EXIT;
	mock.callback(NULL, domain, cbid, &data);
	is_in_exit = false;
}

static bool is_recorded(uint32_t domain, uint32_t cbid)
{
	return !mock.is_final && cbid < IDS && mock.recorded[domain][cbid];
}

static uint32_t play(uint32_t domain, uint32_t cbid, int64_t ns, uint32_t inner,
		     struct playing *playing)
{
	struct timespec pause_for = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
	uint64_t shared = 0, shared_inner = 0;
	uint32_t correlation = ++mock.correlation;
	playing->correlation = correlation;
	struct cupti_api record = {
		.kind = domain == CUPTI_DOMAIN_DRIVER ? CUPTI_DRIVER : CUPTI_RUNTIME,
		.cbid = cbid,
		.pid = (uint32_t)getpid(),
		.tid = (uint32_t)syscall(SYS_gettid),
		.correlation = correlation,
	};
	call_back(domain, cbid, CUPTI_ENTER, playing, &shared);
	record.start = now();
	if (inner)
		call_back(CUPTI_DOMAIN_DRIVER, inner, CUPTI_ENTER, playing, &shared_inner);
	if (ns > 0)
		nanosleep(&pause_for, NULL);
	if (playing->launched && mock_profiler_ran)
		mock_profiler_ran(playing->launched);
	if (inner)
		call_back(CUPTI_DOMAIN_DRIVER, inner, CUPTI_EXIT, playing, &shared_inner);
	record.end = now();
	bool keeps = is_recorded(domain, cbid);
	call_back(domain, cbid, CUPTI_EXIT, playing, &shared);
	if (keeps && !mock.is_final)
		put(&record, true);
	return correlation;
}

EXPORT uint32_t mock_call(uint32_t domain, uint32_t cbid, int64_t ns, uint32_t inner)
{
	struct playing playing = {0};
	return play(domain, cbid, ns, inner, &playing);
}

EXPORT uint32_t mock_number(uint32_t domain, const char *name)
{
	for (uint32_t cbid = 1; cbid < IDS; cbid++)
		if (mock.names[domain][cbid] && strcmp(mock.names[domain][cbid], name) == 0)
			return cbid;
	return 0;
}

/* The arguments as the headers have them: recording takes the event first. */
EXPORT uint32_t mock_sync(uint32_t domain, const char *name, uint64_t stream, uint64_t event,
			  uint32_t result, uint32_t inner)
{
	struct playing playing = {.result = result};
	unsigned n = 0;
	bool records = strstr(name, "EventRecord") != NULL;
	if (event && records)
		playing.arguments[n++] = event;
	if (strstr(name, "Stream") || records)
		playing.arguments[n++] = stream;
	if (event && !records)
		playing.arguments[n++] = event;
	return play(domain, mock_number(domain, name), 1000, inner, &playing);
}

static void put_shaped(uint32_t correlation, const struct mock_launched *launched, int64_t start,
		       uint32_t graph, uint32_t index)
{
	_Alignas(8) uint8_t record[216] = {0};
	struct cupti_kernel *kernel = (void *)record;
	if (mock.is_final || !mock.kinds[CUPTI_CONCURRENT_KERNEL])
		return;
	*kernel = (struct cupti_kernel){
		.kind = CUPTI_CONCURRENT_KERNEL,
		.name = launched->symbol,
		.start = (uint64_t)start,
		.end = (uint64_t)(start ? start + launched->ns : 0),
		.correlation = correlation,
		.context = 1,
		.stream = 7,
		.dynamic_shared = (int32_t)launched->shared,
		.graph = graph,
		.node = graph ? (uint64_t)graph << 32 | index : 0,
	};
	memcpy(kernel->grid, launched->grid, sizeof kernel->grid);
	memcpy(kernel->block, launched->block, sizeof kernel->block);
	put(record, true);
}

static void put_kernel(uint32_t correlation, const char *name, int64_t start, int64_t ns,
		       uint32_t graph, uint32_t index)
{
	put_shaped(correlation,
		   &(struct mock_launched){
			   .symbol = name, .grid = {4, 2, 1}, .block = {32, 1, 1}, .ns = ns},
		   start, graph, index);
}

EXPORT void mock_launch(const struct mock_launched *launched)
{
	struct cupti_launch_kernel launch = {.shared = launched->shared};
	memcpy(launch.grid, launched->grid, sizeof launch.grid);
	memcpy(launch.block, launched->block, sizeof launch.block);
	struct playing playing = {.launched = launched, .launch = &launch};
	uint32_t correlation = play(CUPTI_DOMAIN_RUNTIME,
				    mock_number(CUPTI_DOMAIN_RUNTIME, "cudaLaunchKernel_v7000"), 0,
				    CUPTI_LAUNCH_KERNEL, &playing);
	put_shaped(correlation, launched, (int64_t)now(), 0, 0);
}

EXPORT void mock_module(const char *cubin, size_t bytes)
{
	struct cupti_module module = {.id = 1, .bytes = bytes, .cubin = cubin};
	struct cupti_resource resource = {.context = &mock, .descriptor = &module};
	if (!mock.is_final && mock.is_subscribed &&
	    mock.watched[CUPTI_DOMAIN_RESOURCE][CUPTI_MODULE_LOADED])
		mock.callback(NULL, CUPTI_DOMAIN_RESOURCE, CUPTI_MODULE_LOADED, &resource);
}

EXPORT void mock_kernel(uint32_t correlation, const char *name, int64_t start, int64_t ns)
{
	put_kernel(correlation, name, start, ns, 0, 0);
}

EXPORT void mock_graph_kernel(uint32_t correlation, const char *name, int64_t start, int64_t ns,
			      uint32_t graph, uint32_t index)
{
	put_kernel(correlation, name, start, ns, graph, index);
}

/* ---- nodes of graphs: handles are the ids, of a node the graph's id in the high half ---- */

static void *node_handle(uint32_t graph, uint32_t index)
{
	return (void *)(uintptr_t)((uint64_t)graph << 32 | index);
}

EXPORT int cuptiGetGraphId(void *graph, uint32_t *id)
{
	check_call();
	*id = (uint32_t)(uintptr_t)graph;
	return CUPTI_OK;
}

EXPORT int cuptiGetGraphNodeId(void *node, uint64_t *id)
{
	check_call();
	*id = (uintptr_t)node;
	return CUPTI_OK;
}

static void tell_node(uint32_t cbid, struct cupti_graph_data data)
{
	struct cupti_resource resource = {.descriptor = &data};
	if (!mock.is_final && mock.is_subscribed && mock.watched[CUPTI_DOMAIN_RESOURCE][cbid])
		mock.callback(NULL, CUPTI_DOMAIN_RESOURCE, cbid, &resource);
}

EXPORT void mock_node(uint32_t graph, uint32_t index)
{
	tell_node(CUPTI_NODE_CREATED, (struct cupti_graph_data){.graph = (void *)(uintptr_t)graph,
								.node = node_handle(graph, index)});
}

EXPORT void mock_node_after(uint32_t graph, uint32_t index, uint32_t before)
{
	tell_node(CUPTI_NODE_DEPENDENCY,
		  (struct cupti_graph_data){.graph = (void *)(uintptr_t)graph,
					    .node = node_handle(graph, index),
					    .dependency = node_handle(graph, before)});
}

/* As CUDA 13.0 on an H200: each copy is created, then cloned, and dependencies are not told again. */
EXPORT void mock_instantiate(uint32_t graph, uint32_t nodes, uint32_t exec)
{
	for (uint32_t i = 0; i < nodes; i++) {
		mock_node(exec, i);
		tell_node(CUPTI_NODE_CLONED,
			  (struct cupti_graph_data){.graph = (void *)(uintptr_t)exec,
						    .original_graph = (void *)(uintptr_t)graph,
						    .node = node_handle(exec, i),
						    .original_node = node_handle(graph, i)});
	}
}

EXPORT void mock_drop(uint32_t records)
{
	mock.dropped += records;
}

EXPORT int mock_is_enabled(uint32_t kind)
{
	return mock.kinds[kind];
}

EXPORT int mock_is_watched(uint32_t domain, uint32_t cbid)
{
	return mock.watched[domain][cbid];
}

EXPORT int mock_is_final(void)
{
	return mock.is_final;
}

/* ---- recordings ---- */

static const char *text_at(uint64_t address)
{
	for (unsigned i = 0; i < mock.n_texts; i++)
		if (mock.texts[i].address == address)
			return mock.texts[i].text;
	return NULL;
}

/* Where a record points to a text, it gets our copy of it. */
static void resolve(uint8_t *record)
{
	struct cupti_kernel *kernel = (void *)record;
	struct cupti_device *device = (void *)record;
	struct cupti_memory *memory = (void *)record;
	switch (kernel->kind) {
	case CUPTI_CONCURRENT_KERNEL: kernel->name = text_at((uintptr_t)kernel->name); break;
	case CUPTI_DEVICE: device->name = text_at((uintptr_t)device->name); break;
	case CUPTI_MEMORY2: memory->name = text_at((uintptr_t)memory->name); break;
	default: break;
	}
}

static bool is_wanted(const uint8_t *record)
{
	uint32_t kind = *(const uint32_t *)record;
	const struct cupti_api *api = (const void *)record;
	if (kind == CUPTI_RUNTIME)
		return is_recorded(CUPTI_DOMAIN_RUNTIME, api->cbid);
	if (kind == CUPTI_DRIVER)
		return is_recorded(CUPTI_DOMAIN_DRIVER, api->cbid);
	return mock.kinds[kind];
}

struct captured {
	const uint8_t *records;
	uint32_t bytes;
};

static void *replay_buffer(void *data)
{
	const struct captured *captured = data;
	for (uint32_t at = 0; at < captured->bytes;) {
		_Alignas(8) uint8_t record[256] = {0};
		size_t size = captured_size_of(*(const uint32_t *)(captured->records + at));
		check(size > 0 && size <= sizeof record, "a recording of unknown kind");
		memcpy(record, captured->records + at, size);
		at += (uint32_t)size;
		resolve(record);
		if (is_wanted(record))
			put(record, true);
	}
	return NULL;
}

static uint8_t *read_whole(const char *path, size_t *size)
{
	FILE *f = path ? fopen(path, "rb") : NULL;
	check(f != NULL, "no recording");
	check(fseek(f, 0, SEEK_END) == 0, "not a file");
	*size = (size_t)ftell(f);
	rewind(f);
	uint8_t *bytes = malloc(*size + 1);
	check(bytes && fread(bytes, 1, *size, f) == *size, "the recording cannot be read");
	fclose(f);
	return bytes;
}

static void add_text(const uint8_t *row, uint32_t length)
{
	check(mock.n_texts < NAMES, "too many names");
	memcpy(&mock.texts[mock.n_texts].address, row + 4, 8);
	mock.texts[mock.n_texts++].text = strndup((const char *)row + 16, length);
}

EXPORT void mock_replay(void)
{
	static struct captured captured[64];
	pthread_t threads[64];
	unsigned n = 0;
	size_t size;
	uint8_t *bytes = read_whole(getenv("MOCK_CUPTI_DATA"), &size);
	for (size_t at = 0; at + 12 <= size;) {
		uint32_t length;
		if (memcmp(bytes + at, "NAME", 4) == 0) {
			memcpy(&length, bytes + at + 12, 4);
			add_text(bytes + at, length);
			at += 16 + length;
		} else {
			memcpy(&length, bytes + at + 8, 4);
			/* Records are read where they lie aligned. */
			uint8_t *copy = aligned_alloc(8, (length + 7) & ~(size_t)7);
			check(copy && n < 64, "too many buffers");
			memcpy(copy, bytes + at + 12, length);
			captured[n++] = (struct captured){copy, length};
			at += 12 + length;
		}
	}
	for (unsigned i = 0; i < n; i++)
		check(pthread_create(&threads[i], NULL, replay_buffer, &captured[i]) == 0,
		      "no thread");
	for (unsigned i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	free(bytes);
}

__attribute__((constructor)) static void read_names(void)
{
	const char *path = getenv("MOCK_CUPTI_NAMES");
	FILE *f = path ? fopen(path, "r") : NULL;
	unsigned domain, cbid;
	char name[128];
	while (f && fscanf(f, "%u %u %127s", &domain, &cbid, name) == 3)
		if (domain <= CUPTI_DOMAIN_RUNTIME && cbid < IDS)
			mock.names[domain][cbid] = strdup(name);
	if (f)
		fclose(f);
}
