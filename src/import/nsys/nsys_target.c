/* nsys_target.c - who is who: hosts, processes, threads, devices, contexts, streams.
 *
 * The export lists every process of the machine; a record is made only for who occurs in the events, when
 * it first does. Names and properties are filled in afterwards, in one pass over each table.
 * Ids: globalTid is <hardware:8><VM:8><pid:24><tid:24>, globalPid the same with tid 0. A deviceId is the
 * CUDA ordinal inside its process; TARGET_INFO_CUDA_DEVICE maps it to the machine's GPU.
 */
#include "import/nsys/nsys.h"

enum { TID_BITS = 24, VM_SHIFT = 48, FLAG_NULL_STREAM = 3 };
#define ID_MASK ((UINT64_C(1) << TID_BITS) - 1)

static uint64_t pid_of(int64_t global)
{
	return ((uint64_t)global >> TID_BITS) & ID_MASK;
}

static uint64_t pair_key(uint64_t high, int64_t low)
{
	return high << 32 ^ (uint64_t)low;
}

static uint64_t stream_key(uint64_t pid, int64_t context, int64_t stream)
{
	return pid << 40 ^ ((uint64_t)context & 0xffff) << 24 ^ (uint64_t)stream;
}

/* ---- records, made when they first occur ---- */

uint32_t nsys_host(struct nsys *n, int64_t global_id)
{
	bool fresh;
	uint32_t *at = hwy_map_put(&n->host_of, (uint64_t)global_id >> VM_SHIFT, &fresh);
	if (fresh)
		*at = hwy_new_hosts(n->b);
	return *at;
}

uint32_t nsys_process(struct nsys *n, int64_t global_pid)
{
	bool fresh;
	uint32_t *at = hwy_map_put(&n->process_of, (uint64_t)global_pid >> TID_BITS, &fresh);
	if (fresh) {
		*at = hwy_new_processes(n->b);
		struct hwy_process *process = &n->trace->processes[*at];
		process->host = nsys_host(n, global_pid);
		process->pid = (int64_t)pid_of(global_pid);
		process->source_id = (int64_t)((uint64_t)global_pid & ~ID_MASK);
	}
	return *at;
}

static uint32_t new_thread(struct nsys *n, int64_t global_tid)
{
	uint32_t process = nsys_process(n, global_tid);
	uint32_t thread = hwy_new_threads(n->b);
	n->trace->threads[thread].process = process;
	n->trace->threads[thread].tid = (int64_t)((uint64_t)global_tid & ID_MASK);
	HWY_GROW(n->threads, thread, n->cap_threads);
	n->threads[thread] = (struct nsys_thread){process, NSYS_NO_LANE, NSYS_NO_LANE, NSYS_NO_LANE,
						  NSYS_NO_LANE};
	return thread;
}

uint32_t nsys_thread(struct nsys *n, int64_t global_tid)
{
	if (global_tid == n->last_tid && n->last_thread != UINT32_MAX)
		return n->last_thread;
	bool fresh;
	uint32_t *at = hwy_map_put(&n->thread_of, (uint64_t)global_tid, &fresh);
	if (fresh)
		*at = new_thread(n, global_tid);
	n->last_tid = global_tid;
	return n->last_thread = *at;
}

uint32_t nsys_gpu(struct nsys *n, uint32_t host, int64_t gpu)
{
	bool fresh;
	uint32_t *at = hwy_map_put(&n->device_of, pair_key(host, gpu), &fresh);
	if (fresh) {
		*at = hwy_new_devices(n->b);
		n->trace->devices[*at].host = host;
		n->trace->devices[*at].ordinal = gpu;
	}
	return *at;
}

uint32_t nsys_device(struct nsys *n, uint32_t process, int64_t ordinal)
{
	const struct hwy_process *record = &n->trace->processes[process];
	const uint32_t *gpu = hwy_map_get(&n->gpu_of, pair_key((uint64_t)record->pid, ordinal));
	return nsys_gpu(n, (uint32_t)record->host, gpu ? (int64_t)*gpu : ordinal);
}

static uint32_t new_stream(struct nsys *n, const struct nsys_stream *key)
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
	const uint32_t *fact = hwy_map_get(
		&n->stream_facts, stream_key(pid_of(key->global_pid), key->context, key->number));
	if (fact) {
		const struct nsys_stream_fact *known = &n->facts[*fact - 1];
		record->priority = known->priority;
		record->flags = known->flags;
		record->name = known->name ? (int64_t)known->name : HWY_NONE;
	}
	HWY_GROW(n->streams, stream, n->cap_streams);
	n->streams[stream] = *key;
	n->streams[stream].process = process;
	n->streams[stream].work = n->streams[stream].sync = NSYS_NO_LANE;
	return stream;
}

static bool same_stream(const struct nsys_stream *a, const struct nsys_stream *b)
{
	return a->number == b->number && a->context == b->context && a->device == b->device &&
	       a->green == b->green && a->global_pid == b->global_pid;
}

uint32_t nsys_stream(struct nsys_query *q, int first)
{
	struct nsys *n = q->nsys;
	struct nsys_stream key = {
		.device = nsys_int(q, first),
		.context = nsys_int(q, first + 1),
		.green = nsys_int(q, first + 2),
		.number = nsys_int(q, first + 3),
		.global_pid = nsys_int(q, first + 4),
	};
	/* Reduced files leave the process out; with one process there is no doubt. */
	if (key.global_pid == 0 && n->trace->n_processes == 1)
		key.global_pid = n->trace->processes[0].source_id;
	if (n->last_stream != UINT32_MAX && same_stream(&n->streams[n->last_stream], &key))
		return n->last_stream;
	uint64_t hash = hwy_mix((uint64_t)key.global_pid ^
				hwy_mix((uint64_t)key.device << 48 ^ (uint64_t)key.context << 32 ^
					(uint64_t)key.green << 24 ^ (uint64_t)key.number));
	uint32_t *head = hwy_map_put(&n->stream_of, hash, NULL);
	for (uint32_t at = *head; at; at = n->streams[at - 1].next) {
		if (same_stream(&n->streams[at - 1], &key))
			return n->last_stream = at - 1;
	}
	key.next = *head;
	n->last_stream = new_stream(n, &key);
	*head = n->last_stream + 1;
	return n->last_stream;
}

/* ---- lanes ---- */

uint32_t nsys_work_lane(struct nsys *n, uint32_t stream)
{
	if (n->streams[stream].work == NSYS_NO_LANE)
		n->streams[stream].work = hwy_add_stream_lane(n->b, HWY_LANE_STREAM, stream);
	return n->streams[stream].work;
}

uint32_t nsys_sync_lane(struct nsys *n, uint32_t stream)
{
	if (n->streams[stream].sync == NSYS_NO_LANE)
		n->streams[stream].sync = hwy_add_stream_lane(n->b, HWY_LANE_SYNC, stream);
	return n->streams[stream].sync;
}

uint32_t nsys_thread_lane(struct nsys *n, uint32_t thread, enum hwy_lane_type type,
			  uint32_t *cached)
{
	if (*cached == NSYS_NO_LANE)
		*cached = hwy_add_lane(n->b, hwy_lane_of(type, n->threads[thread].process, thread));
	return *cached;
}

/* ---- before the spans: what decides which record a row belongs to ---- */

static struct nsys_stream_fact *stream_fact(struct nsys *n, uint64_t key)
{
	uint32_t *at = hwy_map_put(&n->stream_facts, key, NULL);
	if (!*at) {
		HWY_GROW(n->facts, n->n_facts, n->cap_facts);
		n->facts[n->n_facts++] = (struct nsys_stream_fact){.priority = HWY_NONE};
		*at = n->n_facts;
	}
	return &n->facts[*at - 1];
}

/* Contexts tell which stream is the default one; files up to schema 3.1 say so in another table. */
static void read_null_streams(struct nsys *n, const char *table, const char *columns)
{
	struct nsys_query q;
	if (!nsys_select(n, &q, table, columns, NULL))
		return;
	while (nsys_next(&q)) {
		uint64_t key =
			stream_key((uint64_t)nsys_int(&q, 1), nsys_int(&q, 2), nsys_int(&q, 0));
		if (!nsys_null(&q, 0))
			stream_fact(n, key)->flags = FLAG_NULL_STREAM;
	}
}

void nsys_read_target(struct nsys *n)
{
	struct nsys_query q;
	if (nsys_select(n, &q, "TARGET_INFO_CUDA_DEVICE", "gpuId cudaId pid", NULL)) {
		while (nsys_next(&q)) {
			uint64_t key = pair_key((uint64_t)nsys_int(&q, 2), nsys_int(&q, 1));
			if (!nsys_null(&q, 0))
				*hwy_map_put(&n->gpu_of, key, NULL) = (uint32_t)nsys_int(&q, 0);
		}
	}
	read_null_streams(n, "TARGET_INFO_CUDA_NULL_STREAM", "streamId processId contextId");
	read_null_streams(n, "TARGET_INFO_CUDA_CONTEXT_INFO", "nullStreamId processId contextId");
	if (nsys_select(n, &q, "TARGET_INFO_CUDA_STREAM",
			"streamId processId contextId priority flag", NULL)) {
		while (nsys_next(&q)) {
			uint64_t key = stream_key((uint64_t)nsys_int(&q, 1), nsys_int(&q, 2),
						  nsys_int(&q, 0));
			struct nsys_stream_fact *fact = stream_fact(n, key);
			/* The number is signed but stored without: -5 is 4294967291. */
			if (!nsys_null(&q, 3))
				fact->priority = (int32_t)(uint32_t)nsys_int(&q, 3);
			if (nsys_int(&q, 4) > 0)
				fact->flags = nsys_int(&q, 4);
		}
	}
	if (nsys_select(n, &q, "TARGET_INFO_NVTX_CUDA_STREAM", "streamId processId contextId name",
			NULL)) {
		while (nsys_next(&q))
			stream_fact(n, stream_key((uint64_t)nsys_int(&q, 1), nsys_int(&q, 2),
						  nsys_int(&q, 0)))
				->name = nsys_text(&q, 3);
	}
}

/* ---- after the spans: names and properties of who occurred ---- */

static struct hwy_process *known_process(struct nsys *n, int64_t global_pid)
{
	const uint32_t *at = hwy_map_get(&n->process_of, (uint64_t)global_pid >> TID_BITS);
	return at ? &n->trace->processes[*at] : NULL;
}

static void name_processes(struct nsys *n)
{
	struct nsys_query q;
	if (nsys_select(n, &q, "PROCESSES", "~globalPid name", NULL)) {
		while (nsys_next(&q)) {
			struct hwy_process *process = known_process(n, nsys_int(&q, 0));
			if (process && !nsys_null(&q, 1))
				process->name = nsys_text(&q, 1);
		}
	}
	if (nsys_select(n, &q, "MPI_RANKS", "~globalTid ~rank", NULL)) {
		while (nsys_next(&q)) {
			struct hwy_process *process = known_process(n, nsys_int(&q, 0));
			if (process)
				process->rank = nsys_int(&q, 1);
		}
	}
}

/* A thread may be listed again when it was renamed: the last name stays. */
static void name_threads(struct nsys *n)
{
	struct nsys_query q;
	if (!nsys_select(n, &q, "ThreadNames", "~globalTid nameId priority", NULL))
		return;
	while (nsys_next(&q)) {
		const uint32_t *at = hwy_map_get(&n->thread_of, (uint64_t)nsys_int(&q, 0));
		if (!at)
			continue;
		struct hwy_thread *thread = &n->trace->threads[*at];
		if (!nsys_null(&q, 1))
			thread->name = nsys_string_of(&q, 1);
		if (!nsys_null(&q, 2))
			thread->priority = nsys_int(&q, 2);
	}
}

/* The device of vmId and id at columns 0 and 1. Without a vmId it is the first host's: only merged exports
 * have more than one. */
static struct hwy_device *known_device(struct nsys_query *q)
{
	struct nsys *n = q->nsys;
	static const uint32_t first = 0;
	const uint32_t *host =
		nsys_null(q, 0) ? &first
				: hwy_map_get(&n->host_of, (uint64_t)nsys_int(q, 0) >> VM_SHIFT);
	const uint32_t *at =
		host ? hwy_map_get(&n->device_of, pair_key(*host, nsys_int(q, 1))) : NULL;
	return at ? &n->trace->devices[*at] : NULL;
}

/* A text field: "" stays unknown. */
static void nsys_target_put_text(struct nsys_query *q, int column, int64_t *field)
{
	uint32_t text = nsys_text(q, column);
	if (text)
		*field = text;
}

#define GPUS                                                                                       \
	"vmId ~id name busLocation uuid l2CacheSize totalMemory memoryBandwidth clockRate "        \
	"smCount maxRegistersPerBlock maxShmemPerBlock maxShmemPerBlockOptin maxShmemPerSm "       \
	"maxRegistersPerSm threadsPerWarp asyncEngines maxWarpsPerSm maxBlocksPerSm "              \
	"maxThreadsPerBlock computeMajor computeMinor"
/* Before the middle of 2021; "-" is what it does not have, or in units that are not known. */
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
		struct hwy_device *device = known_device(&q);
		if (!device)
			continue;
		nsys_target_put_text(&q, 2, &device->name);
		nsys_target_put_text(&q, 3, &device->bus);
		nsys_target_put_text(&q, 4, &device->uuid);
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

/* Newer exports repeat uuid and size where CUDA reported them; they fill what TARGET_INFO_GPU lacks. */
static void complete_devices(struct nsys *n)
{
	struct nsys_query q;
	if (!nsys_select(n, &q, "TARGET_INFO_CUDA_DEVICE", "gpuId cudaId uuid numMultiprocessors",
			 NULL))
		return;
	while (nsys_next(&q)) {
		int64_t gpu = nsys_null(&q, 0) ? nsys_int(&q, 1) : nsys_int(&q, 0);
		/* The table does not say which host; only merged exports have more than one. */
		const uint32_t *at = hwy_map_get(&n->device_of, pair_key(0, gpu));
		if (!at)
			continue;
		struct hwy_device *device = &n->trace->devices[*at];
		if (device->uuid == HWY_NONE)
			nsys_target_put_text(&q, 2, &device->uuid);
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
		uint32_t at = hwy_new_contexts(n->b);
		struct hwy_context *context = &n->trace->contexts[at];
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
