/* SPDX-License-Identifier: Apache-2.0 */
/* cupti.h - the part of CUPTI's binary interface that the collector uses, from CUDA 11.8 to
 * 13.x.
 *
 * Declared here so that every build has the CUDA side; libcupti is opened at run time. NVIDIA
 * extends records only at their end, so one declaration serves all versions: fields that a record
 * of an older library lacks lie behind the record's end, and readers first compare the field's end
 * with the record's size (CUPTI_HAS). tests/collect/abi_cupti.c compares all of this with NVIDIA's
 * own headers where they are installed.
 */
#ifndef HWY_COLLECT_ABI_CUPTI_H
#define HWY_COLLECT_ABI_CUPTI_H

#include <stddef.h>
#include <stdint.h>

enum cupti_result {
	CUPTI_OK = 0,
	CUPTI_MAX_LIMIT_REACHED = 12, /* the buffer has no more records */
	CUPTI_NOT_INITIALIZED = 15,
	CUPTI_MULTIPLE_SUBSCRIBERS = 39, /* another tool holds CUPTI's only subscription */
	/* CUPTI_UNKNOWN: every function of CUPTI returns this where there is no usable driver. */
	CUPTI_UNKNOWN = 999,
};

enum cupti_kind {
	CUPTI_MEMCPY = 1,
	CUPTI_MEMSET = 2,
	CUPTI_DRIVER = 4,
	CUPTI_RUNTIME = 5,
	CUPTI_DEVICE = 8,
	CUPTI_CONTEXT = 9,
	CUPTI_CONCURRENT_KERNEL = 10,
	CUPTI_OVERHEAD = 17,
	CUPTI_MEMCPY2 = 22, /* the record of a copy between devices */
	CUPTI_CUDA_EVENT = 36,
	CUPTI_STREAM = 37,
	CUPTI_SYNCHRONIZATION = 38,
	CUPTI_MEMORY2 = 49,
	CUPTI_GRAPH_TRACE = 51,
};

enum cupti_attribute {
	CUPTI_DEVICE_BUFFER_SIZE = 0, /* the attribute's value is a size_t in bytes */
	/* CUPTI_ZEROED_OUT_ACTIVITY_BUFFER: the attribute's value is a uint8_t; 1: CUPTI gets
	 * buffers filled with zeros. */
	CUPTI_ZEROED_OUT_ACTIVITY_BUFFER = 5,
	/* CUPTI_PER_THREAD_ACTIVITY_BUFFER: the attribute's value is a uint8_t; 1: every thread
	 * has buffers of its own. */
	CUPTI_PER_THREAD_ACTIVITY_BUFFER = 9,
};

enum { CUPTI_FLUSH_FORCED = 1, CUPTI_THREAD_ID_SYSTEM = 1, CUPTI_OBJECT_THREAD = 2 };
enum { CUPTI_OVERHEAD_COMMAND_BUFFER_FULL = 6 << 16 };

enum cupti_domain {
	CUPTI_DOMAIN_DRIVER = 1,
	CUPTI_DOMAIN_RUNTIME = 2,
	CUPTI_DOMAIN_RESOURCE = 3,
	CUPTI_DOMAIN_STATE = 6,
};
/* Callbacks of CUPTI_DOMAIN_RESOURCE; their data is a struct cupti_resource with a struct
 * cupti_graph_data. */
enum cupti_node_event {
	CUPTI_NODE_CREATED = 13,
	CUPTI_NODE_DEPENDENCY = 15,
	CUPTI_NODE_CLONED = 20,
};
enum { CUPTI_STATE_FATAL_ERROR = 1 };
enum cupti_site { CUPTI_ENTER = 0, CUPTI_EXIT = 1 };

/* Every activity record begins with its kind. */
struct cupti_api { /* record of kind CUPTI_RUNTIME or CUPTI_DRIVER */
	uint32_t kind, cbid;
	uint64_t start, end;
	uint32_t pid, tid, correlation, result;
};

struct cupti_kernel { /* NVIDIA's CUpti_ActivityKernel6 (CUDA 11.1) to Kernel10 (13.0) */
	uint32_t kind;
	uint8_t cache, shared_config;
	uint16_t registers;
	uint32_t global_cache[2];
	uint64_t start, end, completed;
	uint32_t device, context, stream;
	int32_t grid[3], block[3];
	int32_t static_shared, dynamic_shared;
	uint32_t local_per_thread, local_total, correlation;
	int64_t grid_id;
	const char *name;
	void *reserved;
	uint64_t queued, submitted;
	uint8_t launch_type, carveout_requested, carveout, padding;
	uint32_t executed_shared;
	uint64_t node;
	uint32_t shared_limit, graph;
	void *access_policy; /* this field and the following ones exist since CUDA 11.6 */
	uint32_t channel, channel_type;
	uint32_t cluster[3]; /* this field and the following ones exist since CUDA 11.8 */
};

struct cupti_memcpy { /* NVIDIA's CUpti_ActivityMemcpy up to Memcpy6 */
	uint32_t kind;
	uint8_t copy_kind, source_kind, target_kind, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation, runtime_correlation, pad;
	void *reserved;
	uint64_t node;
	uint32_t graph, channel, channel_type;
};

struct cupti_memcpy2 { /* NVIDIA's CUpti_ActivityMemcpyPtoP up to MemcpyPtoP4 */
	uint32_t kind;
	uint8_t copy_kind, source_kind, target_kind, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, source_device, source_context, target_device,
		target_context;
	uint32_t correlation;
	void *reserved;
	uint64_t node;
	uint32_t graph, channel, channel_type;
};

struct cupti_memset { /* NVIDIA's CUpti_ActivityMemset up to Memset4 */
	uint32_t kind, value;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation;
	uint16_t flags, memory_kind;
	uint32_t pad;
	void *reserved;
	uint64_t node;
	uint32_t graph, channel, channel_type;
};

struct cupti_graph { /* NVIDIA's CUpti_ActivityGraphTrace up to GraphTrace2 */
	uint32_t kind, correlation;
	uint64_t start, end;
	uint32_t device, graph, context, stream;
};

struct cupti_sync {
	uint32_t kind, type;
	uint64_t start, end;
	uint32_t correlation, context, stream, event;
	/* event_sync: this field and the following ones exist since Synchronization2 (CUDA
	 * 12.8). */
	uint64_t event_sync;
	uint32_t result, pad;
};

struct cupti_event {
	uint32_t kind, correlation, context, stream, event, pad;
	/* This field and the following ones exist since CudaEvent2 (CUDA 12.8). */
	uint32_t device, pad2;
	void *reserved;
	uint64_t device_time, event_sync;
};

struct cupti_memory {
	uint32_t kind, operation, memory_kind, correlation;
	uint64_t address, bytes, time, pc;
	uint32_t pid, device, context, stream;
	const char *name;
	uint32_t is_async, pad;
	uint32_t pool_type, pad2;
	uint64_t pool;
};

struct cupti_overhead {
	/* object_id holds pid and tid where the object is a thread. */
	uint32_t kind, overhead, object, object_id[3];
	uint64_t start, end;
	/* This field and the following ones exist since Overhead2 (CUDA 12.2). */
	uint32_t correlation, reserved;
	/* more: the text exists since Overhead3 (CUDA 12.8); the reader has to free the text. */
	void *more;
};

struct cupti_stream {
	uint32_t kind, context, stream, priority, flag, correlation;
};

struct cupti_context {
	uint32_t kind, context, device;
	uint16_t api, null_stream;
	uint32_t parent; /* this field and the following ones exist since Context2 (CUDA 12.4) */
	uint8_t is_green, padding;
	uint16_t sms;
};

struct cupti_device { /* NVIDIA's CUpti_ActivityDevice4 (CUDA 11.6) */
	uint32_t kind, flags;
	uint64_t bandwidth, memory; /* bandwidth in kB/s, memory in bytes */
	uint32_t constant_memory, l2, threads_per_warp, clock_khz, copy_engines, sms, max_ipc;
	uint32_t max_warps_per_sm, max_blocks_per_sm, shared_per_sm, registers_per_sm;
	uint32_t registers_per_block, shared_per_block, max_threads_per_block;
	uint32_t max_block[3], max_grid[3];
	uint32_t compute_major, compute_minor, id, ecc;
	uint8_t uuid[16];
	const char *name;
};

/* True if a record of 'size' bytes is long enough to have the whole field. */
#define CUPTI_HAS(record, size, field)                                                             \
	((size) >= offsetof(__typeof__(*(record)), field) + sizeof((record)->field))

struct cupti_callback {
	uint32_t site;
	const char *function;
	const void *params;
	void *result;
	const char *symbol;
	void *context;
	uint32_t context_id;
	uint64_t *slot; /* a word that the callbacks on enter and exit of one call share */
	uint32_t correlation;
};

struct cupti_resource {
	void *context, *stream;
	void *descriptor;
};

struct cupti_graph_data { /* handles of the driver; CUDA 11.1 added 'original_node' */
	void *graph, *original_graph, *node, *original_node;
	uint32_t node_type; /* CUgraphNodeType */
	void *dependency, *exec;
};

struct cupti_state {
	uint32_t result;
	const char *message;
};

struct cupti_subscriber_params {
	size_t size;
	const char *name;
	/* old_name: gets the name of the tool that holds the subscription, when the result is
	 * CUPTI_MULTIPLE_SUBSCRIBERS. */
	char *old_name;
	size_t old_size;
};

typedef void cupti_callback_fn(void *user, uint32_t domain, uint32_t cbid, const void *data);
typedef void cupti_request_fn(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void cupti_complete_fn(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			       size_t valid);
typedef uint64_t cupti_time_fn(void);

/* X(name, parameters, must) for each function of CUPTI that is used; one with 'must' 0 may be
 * missing in older libraries. */
#define CUPTI_FUNCTIONS(X)                                                                         \
	X(cuptiSubscribe, (void **subscriber, cupti_callback_fn *fn, void *user), 1)               \
	X(cuptiSubscribe_v2,                                                                       \
	  (void **subscriber, cupti_callback_fn *fn, void *user,                                   \
	   struct cupti_subscriber_params *params),                                                \
	  0)                                                                                       \
	X(cuptiUnsubscribe, (void *subscriber), 1)                                                 \
	X(cuptiEnableCallback, (uint32_t on, void *subscriber, uint32_t domain, uint32_t cbid), 1) \
	X(cuptiGetCallbackName, (uint32_t domain, uint32_t cbid, const char **name), 1)            \
	X(cuptiGetVersion, (uint32_t * version), 1)                                                \
	X(cuptiActivityRegisterCallbacks, (cupti_request_fn *, cupti_complete_fn *), 1)            \
	X(cuptiActivityRegisterTimestampCallback, (cupti_time_fn *), 1)                            \
	X(cuptiSetThreadIdType, (uint32_t type), 0)                                                \
	X(cuptiActivitySetAttribute, (uint32_t attribute, size_t * size, void *value), 1)          \
	X(cuptiActivityEnable, (uint32_t kind), 1)                                                 \
	X(cuptiActivityEnableAndDump, (uint32_t kind), 0)                                          \
	X(cuptiActivityDisable, (uint32_t kind), 1)                                                \
	X(cuptiActivityEnableRuntimeApi, (uint32_t cbid, uint8_t on), 0)                           \
	X(cuptiActivityEnableDriverApi, (uint32_t cbid, uint8_t on), 0)                            \
	X(cuptiActivityEnableAllSyncRecords, (uint8_t on), 0)                                      \
	X(cuptiActivityFlushAll, (uint32_t flags), 1)                                              \
	X(cuptiActivityGetNextRecord, (uint8_t * buffer, size_t valid, void **record), 1)          \
	X(cuptiActivityGetNumDroppedRecords, (void *context, uint32_t stream, size_t *dropped), 1) \
	X(cuptiGetStreamIdEx, (void *context, void *stream, uint8_t per_thread, uint32_t *id), 0)  \
	X(cuptiGetGraphId, (void *graph, uint32_t *id), 0)                                         \
	X(cuptiGetGraphNodeId, (void *node, uint64_t *id), 0)                                      \
	X(cuptiFinalize, (void), 0)

#define CUPTI_POINTER(name, parameters, must) int(*name) parameters;
struct cupti_functions {
	CUPTI_FUNCTIONS(CUPTI_POINTER)
};
#undef CUPTI_POINTER

#endif
