/* SPDX-License-Identifier: Apache-2.0 */
/* nsys_target.c - the hosts, processes, threads, devices, contexts and streams of an export.
 *
 * The export lists every process of the machine; the trace gets a record only for those that an
 * event refers to, at the first such event. Names and properties are filled in after the events, in
 * one pass over each table. A globalTid is made of <hardware:8><VM:8><pid:24><tid:24> bits, a
 * globalPid is the same with tid 0. A deviceId is the CUDA ordinal in its process;
 * TARGET_INFO_CUDA_DEVICE maps it to the machine's GPU.
 */
#include "import/nsys/nsys.h"

#include <string.h>

enum { TID_BITS = 24, VM_SHIFT = 48, FLAG_NULL_STREAM = 3 };
#define ID_MASK ((UINT64_C(1) << TID_BITS) - 1)

static uint64_t pid_of(int64_t global)
{
	return ((uint64_t)global >> TID_BITS) & ID_MASK;
}

/* Keys of struct hwy_index: they must have no padding, because their bytes are compared. */
struct pair_key { /* host and GPU, or pid and CUDA ordinal; a key of a struct hwy_index */
	int64_t owner, number;
};
struct fact_key {
	int64_t pid, context, stream;
};

/* ---- records, made at the first event that refers to them ---- */

uint32_t nsys_host(struct nsys *n, int64_t global_id)
{
	bool fresh;
	uint32_t *host = hwy_map_put(&n->host_of, (uint64_t)global_id >> VM_SHIFT, &fresh);
	if (fresh)
		*host = hwy_new_hosts(n->b);
	return *host;
}

uint32_t nsys_process(struct nsys *n, int64_t global_pid)
{
	bool fresh;
	uint32_t *index = hwy_map_put(&n->process_of, (uint64_t)global_pid >> TID_BITS, &fresh);
	if (fresh) {
		*index = hwy_new_processes(n->b);
		struct hwy_process *process = &n->trace->processes[*index];
		process->host = nsys_host(n, global_pid);
		process->pid = (int64_t)pid_of(global_pid);
		process->source_id = (int64_t)((uint64_t)global_pid & ~ID_MASK);
	}
	return *index;
}

static uint32_t new_thread(struct nsys *n, int64_t global_tid)
{
	uint32_t process = nsys_process(n, global_tid);
	uint32_t thread = hwy_new_threads(n->b);
	n->trace->threads[thread].process = process;
	n->trace->threads[thread].tid = (int64_t)((uint64_t)global_tid & ID_MASK);
	return thread;
}

uint32_t nsys_thread(struct nsys *n, int64_t global_tid)
{
	if (global_tid == n->last_tid && n->last_thread != UINT32_MAX)
		return n->last_thread;
	bool fresh;
	uint32_t *thread = hwy_map_put(&n->thread_of, (uint64_t)global_tid, &fresh);
	if (fresh)
		*thread = new_thread(n, global_tid);
	n->last_tid = global_tid;
	return n->last_thread = *thread;
}

uint32_t nsys_gpu(struct nsys *n, uint32_t host, int64_t gpu)
{
	bool fresh;
	struct pair_key key = {host, gpu};
	uint32_t *device = hwy_index_put(&n->device_of, &key, sizeof key, &fresh);
	if (fresh) {
		*device = hwy_new_devices(n->b);
		n->trace->devices[*device].host = host;
		n->trace->devices[*device].ordinal = gpu;
	}
	return *device;
}

uint32_t nsys_device(struct nsys *n, uint32_t process, int64_t ordinal)
{
	const struct hwy_process *record = &n->trace->processes[process];
	struct pair_key key = {record->pid, ordinal};
	const uint32_t *gpu = hwy_index_get(&n->gpu_of, &key, sizeof key);
	return nsys_gpu(n, (uint32_t)record->host, gpu ? (int64_t)*gpu : ordinal);
}

static uint32_t new_stream(struct nsys *n, const struct nsys_stream_key *key)
{
	uint32_t process = nsys_process(n, key->global_pid);
	uint32_t device = nsys_device(n, process, key->device);
	uint32_t stream = hwy_new_streams(n->b);
	struct hwy_stream *record = &n->trace->streams[stream];
	record->process = process;
	record->device = device;
	record->context = key->context;
	record->green = key->green ? key->green : HWY_NONE;
	record->number = nsys_is_none(key->number) ? HWY_NONE : key->number;
	record->ordinal = key->device;
	record->flags = 0;
	struct fact_key fact_key = {(int64_t)pid_of(key->global_pid), key->context, key->number};
	const uint32_t *index = hwy_index_get(&n->fact_of, &fact_key, sizeof fact_key);
	if (index) {
		const struct nsys_stream_fact *fact = &n->facts[*index];
		record->priority = fact->priority;
		record->flags = fact->flags;
		record->name = fact->name ? (int64_t)fact->name : HWY_NONE;
	}
	HWY_GROW(n->streams, stream, n->cap_streams);
	n->streams[stream] = (struct nsys_stream){*key, process};
	return stream;
}

uint32_t nsys_stream(struct nsys_query *q, int first)
{
	struct nsys *n = q->nsys;
	struct nsys_stream_key key = {
		.device = nsys_int(q, first),
		.context = nsys_int(q, first + 1),
		.green = nsys_int(q, first + 2),
		.number = nsys_int(q, first + 3),
		.global_pid = nsys_int(q, first + 4),
	};
	/* Files that a tool reduced may lack the process: with one process it can only be that
	 * one. */
	if (key.global_pid == 0 && n->trace->n_processes == 1)
		key.global_pid = n->trace->processes[0].source_id;
	if (n->last_stream != UINT32_MAX &&
	    memcmp(&n->streams[n->last_stream].key, &key, sizeof key) == 0)
		return n->last_stream;
	bool fresh;
	uint32_t *stream = hwy_index_put_element(&n->stream_of, n->streams, sizeof *n->streams,
						 &key, sizeof key, &fresh);
	if (fresh)
		*stream = new_stream(n, &key);
	return n->last_stream = *stream;
}

/* ---- before the spans: tables that decide which record a row belongs to ---- */

/* The fact about the stream that columns 0 to 2 of a row name: streamId, processId (a pid) and
 * contextId. */
static struct nsys_stream_fact *stream_fact(struct nsys_query *q)
{
	struct nsys *n = q->nsys;
	struct fact_key key = {nsys_int(q, 1), nsys_int(q, 2), nsys_int(q, 0)};
	bool fresh;
	uint32_t *index = hwy_index_put(&n->fact_of, &key, sizeof key, &fresh);
	if (fresh) {
		*index = n->n_facts;
		HWY_GROW(n->facts, n->n_facts, n->cap_facts);
		n->facts[n->n_facts++] = (struct nsys_stream_fact){.priority = HWY_NONE};
	}
	return &n->facts[*index];
}

/* Notes the default stream of each context; files up to schema 3.1 have it in another table than
 * newer ones. */
static void read_null_streams(struct nsys *n, const char *table, const char *columns)
{
	struct nsys_query q;
	if (!nsys_select(n, &q, table, columns, NULL))
		return;
	while (nsys_next(&q))
		if (!nsys_null(&q, 0))
			stream_fact(&q)->flags = FLAG_NULL_STREAM;
}

void nsys_read_target(struct nsys *n)
{
	struct nsys_query q;
	if (nsys_select(n, &q, "TARGET_INFO_CUDA_DEVICE", "gpuId cudaId pid", NULL)) {
		while (nsys_next(&q)) {
			struct pair_key key = {nsys_int(&q, 2), nsys_int(&q, 1)};
			if (!nsys_null(&q, 0))
				*hwy_index_put(&n->gpu_of, &key, sizeof key, NULL) =
					(uint32_t)nsys_int(&q, 0);
		}
	}
	read_null_streams(n, "TARGET_INFO_CUDA_NULL_STREAM", "streamId processId contextId");
	read_null_streams(n, "TARGET_INFO_CUDA_CONTEXT_INFO", "nullStreamId processId contextId");
	if (nsys_select(n, &q, "TARGET_INFO_CUDA_STREAM",
			"streamId processId contextId priority flag", NULL)) {
		while (nsys_next(&q)) {
			struct nsys_stream_fact *fact = stream_fact(&q);
			/* The priority is stored without its sign: 4294967291 means -5. */
			if (!nsys_null(&q, 3))
				fact->priority = (int32_t)(uint32_t)nsys_int(&q, 3);
			if (nsys_int(&q, 4) > 0)
				fact->flags = nsys_int(&q, 4);
		}
	}
	if (nsys_select(n, &q, "TARGET_INFO_NVTX_CUDA_STREAM", "streamId processId contextId name",
			NULL)) {
		while (nsys_next(&q))
			stream_fact(&q)->name = nsys_text(&q, 3);
	}
}

/* ---- after the spans: names and properties of the records that events refer to ---- */

struct hwy_process *nsys_find_process(struct nsys *n, int64_t global_pid)
{
	const uint32_t *index = hwy_map_get(&n->process_of, (uint64_t)global_pid >> TID_BITS);
	return index ? &n->trace->processes[*index] : NULL;
}

static void name_processes(struct nsys *n)
{
	struct nsys_query q;
	if (nsys_select(n, &q, "PROCESSES", "~globalPid name", NULL)) {
		while (nsys_next(&q)) {
			struct hwy_process *process = nsys_find_process(n, nsys_int(&q, 0));
			if (process && !nsys_null(&q, 1))
				process->name = nsys_text(&q, 1);
		}
	}
}

/* Names a thread. A thread that was renamed is listed again: the last name counts. */
static void name_threads(struct nsys *n)
{
	struct nsys_query q;
	if (!nsys_select(n, &q, "ThreadNames", "~globalTid nameId priority", NULL))
		return;
	while (nsys_next(&q)) {
		const uint32_t *index = hwy_map_get(&n->thread_of, (uint64_t)nsys_int(&q, 0));
		if (!index)
			continue;
		struct hwy_thread *thread = &n->trace->threads[*index];
		if (!nsys_null(&q, 1))
			thread->name = nsys_string_of(&q, 1);
		if (!nsys_null(&q, 2))
			thread->priority = nsys_int(&q, 2);
	}
}

/* The device that columns 0 (vmId) and 1 (the GPU's id) name; NULL: no event refers to it. A device
 * without a vmId is taken as one of the first host: only merged exports have more than one host. */
static struct hwy_device *find_device(struct nsys_query *q)
{
	struct nsys *n = q->nsys;
	static const uint32_t first = 0;
	const uint32_t *host =
		nsys_null(q, 0) ? &first
				: hwy_map_get(&n->host_of, (uint64_t)nsys_int(q, 0) >> VM_SHIFT);
	struct pair_key key = {host ? *host : 0, nsys_int(q, 1)};
	const uint32_t *index = host ? hwy_index_get(&n->device_of, &key, sizeof key) : NULL;
	return index ? &n->trace->devices[*index] : NULL;
}

/* Sets a field to a text column; an empty text leaves the field as it was. */
static void put_text_field(struct nsys_query *q, int column, int64_t *field)
{
	uint32_t text = nsys_text(q, column);
	if (text)
		*field = text;
}

/* The columns of TARGET_INFO_GPU, in the order of describe_devices. */
#define GPUS                                                                                       \
	"vmId ~id name busLocation uuid l2CacheSize totalMemory memoryBandwidth clockRate "        \
	"smCount maxRegistersPerBlock maxShmemPerBlock maxShmemPerBlockOptin maxShmemPerSm "       \
	"maxRegistersPerSm threadsPerWarp asyncEngines maxWarpsPerSm maxBlocksPerSm "              \
	"maxThreadsPerBlock computeMajor computeMinor"
/* The same columns in the table of exports before the middle of 2021; "-" stands for a column that
 * is missing there, or whose unit is not known. */
#define OLD_GPUS                                                                                   \
	"vmId ~deviceId name - uuid l2CacheSize globalMemorySize - - "                             \
	"numMultiprocessors maxRegistersPerBlock maxSharedMemoryPerBlock - - "                     \
	"- numThreadsPerWarp numMemcpyEngines maxWarpsPerMultiprocessor "                          \
	"maxBlocksPerMultiprocessor maxThreadsPerBlock computeCapabilityMajor "                    \
	"computeCapabilityMinor"

static void describe_devices(struct nsys *n, const char *table, const char *columns)
{
	struct nsys_query q;
	if (!nsys_select(n, &q, table, columns, NULL))
		return;
	while (nsys_next(&q)) {
		struct hwy_device *device = find_device(&q);
		if (!device)
			continue;
		put_text_field(&q, 2, &device->name);
		put_text_field(&q, 3, &device->bus);
		put_text_field(&q, 4, &device->uuid);
		int64_t *numbers[] = {
			&device->l2_bytes,
			&device->memory_bytes,
			&device->memory_bandwidth,
			&device->clock_hz,
			&device->sms,
			&device->registers_per_block,
			&device->shared_per_block,
			&device->shared_per_block_optin,
			&device->shared_per_sm,
			&device->registers_per_sm,
			&device->threads_per_warp,
			&device->copy_engines,
			&device->max_warps_per_sm,
			&device->max_blocks_per_sm,
			&device->max_threads_per_block,
			&device->compute_major,
			&device->compute_minor,
		};
		for (int i = 0; i < (int)(sizeof numbers / sizeof *numbers); i++)
			*numbers[i] = nsys_int_or_none(&q, 5 + i);
		if (device->max_warps_per_sm > 0 && device->threads_per_warp > 0 &&
		    device->max_warps_per_sm < INT32_MAX && device->threads_per_warp < INT32_MAX)
			device->max_threads_per_sm =
				device->max_warps_per_sm * device->threads_per_warp;
	}
}

/* Newer exports also have uuid and number of multiprocessors as CUDA reported them: for devices for
 * which TARGET_INFO_GPU lacks them. */
static void complete_devices(struct nsys *n)
{
	struct nsys_query q;
	if (!nsys_select(n, &q, "TARGET_INFO_CUDA_DEVICE", "gpuId cudaId uuid numMultiprocessors",
			 NULL))
		return;
	while (nsys_next(&q)) {
		int64_t gpu = nsys_null(&q, 0) ? nsys_int(&q, 1) : nsys_int(&q, 0);
		/* The table names no host: take the first host, because only merged exports have
		 * more hosts. */
		struct pair_key key = {0, gpu};
		const uint32_t *index = hwy_index_get(&n->device_of, &key, sizeof key);
		if (!index)
			continue;
		struct hwy_device *device = &n->trace->devices[*index];
		if (device->uuid == HWY_NONE)
			put_text_field(&q, 2, &device->uuid);
		if (device->sms == HWY_NONE)
			device->sms = nsys_int_or_none(&q, 3);
	}
}

static void read_contexts(struct nsys *n, const char *table, const char *columns)
{
	struct nsys_query q;
	if (!nsys_select(n, &q, table, columns, NULL))
		return;
	while (nsys_next(&q)) {
		int64_t global = (int64_t)((uint64_t)nsys_int(&q, 1) << 56 |
					   (uint64_t)nsys_int(&q, 2) << VM_SHIFT |
					   (uint64_t)nsys_int(&q, 3) << TID_BITS);
		const uint32_t *process = hwy_map_get(&n->process_of, (uint64_t)global >> TID_BITS);
		if (!process)
			continue;
		uint32_t device = nsys_device(n, *process, nsys_int(&q, 4));
		uint32_t index = hwy_new_contexts(n->b);
		struct hwy_context *context = &n->trace->contexts[index];
		context->process = *process;
		context->device = device;
		context->null_stream = nsys_int_or_none(&q, 0);
		context->number = nsys_int(&q, 5);
		context->green = nsys_int(&q, 7) != 0;
		context->parent = context->green ? nsys_int_or_none(&q, 6) : HWY_NONE;
		context->sms = nsys_int_or_none(&q, 8);
	}
}

void nsys_name_target(struct nsys *n)
{
	name_processes(n);
	name_threads(n);
	read_contexts(
		n, "TARGET_INFO_CUDA_CONTEXT_INFO",
		"nullStreamId hwId vmId processId deviceId contextId parentContextId isGreenContext "
		"numMultiprocessors");
	if (n->trace->n_contexts == 0)
		read_contexts(n, "TARGET_INFO_CUDA_NULL_STREAM",
			      "streamId hwId vmId processId deviceId contextId parentContextId "
			      "isGreenContext numMultiprocessors");
	describe_devices(n, "TARGET_INFO_CUDA_GPU", OLD_GPUS);
	describe_devices(n, "TARGET_INFO_GPU", GPUS);
	complete_devices(n);
}
