/* SPDX-License-Identifier: Apache-2.0 */
/* abi_cupti.c - holds src/collect/abi/cupti.h against NVIDIA's headers: compiling it is the test.
 *
 * Each field is compared with the newest record and with the oldest one that has it (the deprecated records of
 * CUDA 13.0's headers go back beyond 11.8). Where there are no headers, or older ones, the program says so and
 * exits with 77.
 */
#include <stdio.h>

#if __has_include(<cupti.h>)
#include <cupti.h>
#endif

#if defined(CUPTI_API_VERSION) && CUPTI_API_VERSION >= 130000
#include <assert.h>

#include "collect/abi/cupti.h"

#define VALUE(ours, theirs) static_assert((int)ours == (int)theirs, #ours)
#define FIELD(ours, field, theirs, their_field)                                                    \
	static_assert(offsetof(struct ours, field) == offsetof(theirs, their_field) &&             \
			      sizeof(((struct ours *)0)->field) <=                                 \
				      3 * sizeof(((theirs *)0)->their_field),                      \
		      #ours "." #field " against " #theirs)

VALUE(CUPTI_OK, CUPTI_SUCCESS);
VALUE(CUPTI_MAX_LIMIT_REACHED, CUPTI_ERROR_MAX_LIMIT_REACHED);
VALUE(CUPTI_NOT_INITIALIZED, CUPTI_ERROR_NOT_INITIALIZED);
VALUE(CUPTI_MULTIPLE_SUBSCRIBERS, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
VALUE(CUPTI_UNKNOWN, CUPTI_ERROR_UNKNOWN);

VALUE(CUPTI_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
VALUE(CUPTI_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
VALUE(CUPTI_DRIVER, CUPTI_ACTIVITY_KIND_DRIVER);
VALUE(CUPTI_RUNTIME, CUPTI_ACTIVITY_KIND_RUNTIME);
VALUE(CUPTI_DEVICE, CUPTI_ACTIVITY_KIND_DEVICE);
VALUE(CUPTI_CONTEXT, CUPTI_ACTIVITY_KIND_CONTEXT);
VALUE(CUPTI_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
VALUE(CUPTI_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD);
VALUE(CUPTI_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMCPY2);
VALUE(CUPTI_CUDA_EVENT, CUPTI_ACTIVITY_KIND_CUDA_EVENT);
VALUE(CUPTI_STREAM, CUPTI_ACTIVITY_KIND_STREAM);
VALUE(CUPTI_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
VALUE(CUPTI_MEMORY2, CUPTI_ACTIVITY_KIND_MEMORY2);
VALUE(CUPTI_GRAPH_TRACE, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);

VALUE(CUPTI_ZEROED_OUT_ACTIVITY_BUFFER, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
VALUE(CUPTI_PER_THREAD_ACTIVITY_BUFFER, CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER);
VALUE(CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
VALUE(CUPTI_THREAD_ID_SYSTEM, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
VALUE(CUPTI_OBJECT_THREAD, CUPTI_ACTIVITY_OBJECT_THREAD);
VALUE(CUPTI_DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
VALUE(CUPTI_DOMAIN_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API);
VALUE(CUPTI_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_RESOURCE);
VALUE(CUPTI_NODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
VALUE(CUPTI_NODE_CLONED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
VALUE(CUPTI_NODE_DEPENDENCY, CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED);
VALUE(CUPTI_DOMAIN_STATE, CUPTI_CB_DOMAIN_STATE);
VALUE(CUPTI_STATE_FATAL_ERROR, CUPTI_CBID_STATE_FATAL_ERROR);
VALUE(CUPTI_ENTER, CUPTI_API_ENTER);
VALUE(CUPTI_EXIT, CUPTI_API_EXIT);

FIELD(cupti_api, cbid, CUpti_ActivityAPI, cbid);
FIELD(cupti_api, start, CUpti_ActivityAPI, start);
FIELD(cupti_api, end, CUpti_ActivityAPI, end);
FIELD(cupti_api, tid, CUpti_ActivityAPI, threadId);
FIELD(cupti_api, correlation, CUpti_ActivityAPI, correlationId);
FIELD(cupti_api, result, CUpti_ActivityAPI, returnValue);

#define KERNEL(field, their_field)                                                                 \
	FIELD(cupti_kernel, field, CUpti_ActivityKernel6, their_field);                            \
	FIELD(cupti_kernel, field, CUpti_ActivityKernel8, their_field);                            \
	FIELD(cupti_kernel, field, CUpti_ActivityKernel10, their_field)
KERNEL(registers, registersPerThread);
KERNEL(start, start);
KERNEL(end, end);
KERNEL(device, deviceId);
KERNEL(context, contextId);
KERNEL(stream, streamId);
KERNEL(grid, gridX);
KERNEL(block, blockX);
KERNEL(static_shared, staticSharedMemory);
KERNEL(dynamic_shared, dynamicSharedMemory);
KERNEL(local_per_thread, localMemoryPerThread);
KERNEL(local_total, localMemoryTotal);
KERNEL(correlation, correlationId);
KERNEL(name, name);
KERNEL(launch_type, launchType);
KERNEL(executed_shared, sharedMemoryExecuted);
KERNEL(node, graphNodeId);
KERNEL(graph, graphId);
FIELD(cupti_kernel, channel, CUpti_ActivityKernel8, channelID);
FIELD(cupti_kernel, channel_type, CUpti_ActivityKernel8, channelType);
FIELD(cupti_kernel, cluster, CUpti_ActivityKernel8, clusterX);
FIELD(cupti_kernel, channel, CUpti_ActivityKernel10, channelID);
FIELD(cupti_kernel, channel_type, CUpti_ActivityKernel10, channelType);
FIELD(cupti_kernel, cluster, CUpti_ActivityKernel10, clusterX);
static_assert(sizeof(struct cupti_kernel) <= sizeof(CUpti_ActivityKernel8), "reads no further");

#define COPY(field, their_field)                                                                   \
	FIELD(cupti_memcpy, field, CUpti_ActivityMemcpy5, their_field);                            \
	FIELD(cupti_memcpy, field, CUpti_ActivityMemcpy6, their_field)
#define COPY2(field, their_field)                                                                  \
	FIELD(cupti_memcpy2, field, CUpti_ActivityMemcpyPtoP3, their_field);                       \
	FIELD(cupti_memcpy2, field, CUpti_ActivityMemcpyPtoP4, their_field)
#define BOTH_COPIES(field, their_field)                                                            \
	COPY(field, their_field);                                                                  \
	COPY2(field, their_field)
BOTH_COPIES(copy_kind, copyKind);
BOTH_COPIES(source_kind, srcKind);
BOTH_COPIES(target_kind, dstKind);
BOTH_COPIES(flags, flags);
BOTH_COPIES(bytes, bytes);
BOTH_COPIES(start, start);
BOTH_COPIES(end, end);
BOTH_COPIES(device, deviceId);
BOTH_COPIES(context, contextId);
BOTH_COPIES(stream, streamId);
BOTH_COPIES(correlation, correlationId);
BOTH_COPIES(node, graphNodeId);
BOTH_COPIES(graph, graphId);
COPY(channel, channelID);
COPY(channel_type, channelType);
COPY2(source_device, srcDeviceId);
COPY2(target_device, dstDeviceId);
FIELD(cupti_memcpy2, channel, CUpti_ActivityMemcpyPtoP4, channelID);
FIELD(cupti_memcpy2, channel_type, CUpti_ActivityMemcpyPtoP4, channelType);

#define FILL(field, their_field)                                                                   \
	FIELD(cupti_memset, field, CUpti_ActivityMemset3, their_field);                            \
	FIELD(cupti_memset, field, CUpti_ActivityMemset4, their_field)
FILL(value, value);
FILL(bytes, bytes);
FILL(start, start);
FILL(end, end);
FILL(device, deviceId);
FILL(context, contextId);
FILL(stream, streamId);
FILL(correlation, correlationId);
FILL(flags, flags);
FILL(memory_kind, memoryKind);
FILL(node, graphNodeId);
FILL(graph, graphId);
FIELD(cupti_memset, channel, CUpti_ActivityMemset4, channelID);
FIELD(cupti_memset, channel_type, CUpti_ActivityMemset4, channelType);

#define GRAPH(field, their_field)                                                                  \
	FIELD(cupti_graph, field, CUpti_ActivityGraphTrace, their_field);                          \
	FIELD(cupti_graph, field, CUpti_ActivityGraphTrace2, their_field)
GRAPH(correlation, correlationId);
GRAPH(start, start);
GRAPH(end, end);
GRAPH(device, deviceId);
GRAPH(graph, graphId);
GRAPH(context, contextId);
GRAPH(stream, streamId);

#define SYNC(field, their_field)                                                                   \
	FIELD(cupti_sync, field, CUpti_ActivitySynchronization, their_field);                      \
	FIELD(cupti_sync, field, CUpti_ActivitySynchronization2, their_field)
SYNC(type, type);
SYNC(start, start);
SYNC(end, end);
SYNC(correlation, correlationId);
SYNC(context, contextId);
SYNC(stream, streamId);
SYNC(event, cudaEventId);
FIELD(cupti_sync, event_sync, CUpti_ActivitySynchronization2, cudaEventSyncId);
FIELD(cupti_sync, result, CUpti_ActivitySynchronization2, returnValue);
static_assert(offsetof(struct cupti_sync, event_sync) == sizeof(CUpti_ActivitySynchronization),
	      "told from the old record by size");

#define EVENT(field, their_field)                                                                  \
	FIELD(cupti_event, field, CUpti_ActivityCudaEvent, their_field);                           \
	FIELD(cupti_event, field, CUpti_ActivityCudaEvent2, their_field)
EVENT(correlation, correlationId);
EVENT(context, contextId);
EVENT(stream, streamId);
EVENT(event, eventId);
FIELD(cupti_event, device, CUpti_ActivityCudaEvent2, deviceId);
FIELD(cupti_event, device_time, CUpti_ActivityCudaEvent2, deviceTimestamp);
FIELD(cupti_event, event_sync, CUpti_ActivityCudaEvent2, cudaEventSyncId);

#define MEMORY(field, their_field)                                                                 \
	FIELD(cupti_memory, field, CUpti_ActivityMemory2, their_field);                            \
	FIELD(cupti_memory, field, CUpti_ActivityMemory4, their_field)
MEMORY(operation, memoryOperationType);
MEMORY(memory_kind, memoryKind);
MEMORY(correlation, correlationId);
MEMORY(address, address);
MEMORY(bytes, bytes);
MEMORY(time, timestamp);
MEMORY(device, deviceId);
MEMORY(context, contextId);
MEMORY(stream, streamId);
MEMORY(name, name);
MEMORY(pool, memoryPoolConfig.address);

FIELD(cupti_overhead, overhead, CUpti_ActivityOverhead3, overheadKind);
FIELD(cupti_overhead, object, CUpti_ActivityOverhead3, objectKind);
FIELD(cupti_overhead, object_id, CUpti_ActivityOverhead3, objectId);
FIELD(cupti_overhead, object_id[1], CUpti_ActivityOverhead3, objectId.pt.threadId);
FIELD(cupti_overhead, start, CUpti_ActivityOverhead, start);
FIELD(cupti_overhead, end, CUpti_ActivityOverhead, end);
FIELD(cupti_overhead, start, CUpti_ActivityOverhead3, start);
FIELD(cupti_overhead, end, CUpti_ActivityOverhead3, end);
FIELD(cupti_overhead, correlation, CUpti_ActivityOverhead3, correlationId);
FIELD(cupti_overhead, more, CUpti_ActivityOverhead3, overheadData);
static_assert(sizeof(CUpti_ActivityOverhead2) < sizeof(struct cupti_overhead), "told by size");

FIELD(cupti_stream, context, CUpti_ActivityStream, contextId);
FIELD(cupti_stream, stream, CUpti_ActivityStream, streamId);
FIELD(cupti_stream, priority, CUpti_ActivityStream, priority);
FIELD(cupti_stream, flag, CUpti_ActivityStream, flag);

FIELD(cupti_context, context, CUpti_ActivityContext, contextId);
FIELD(cupti_context, device, CUpti_ActivityContext, deviceId);
FIELD(cupti_context, null_stream, CUpti_ActivityContext, nullStreamId);
FIELD(cupti_context, null_stream, CUpti_ActivityContext3, nullStreamId);
FIELD(cupti_context, parent, CUpti_ActivityContext3, parentContextId);
FIELD(cupti_context, is_green, CUpti_ActivityContext3, isGreenContext);

#define DEVICE(field, their_field)                                                                 \
	FIELD(cupti_device, field, CUpti_ActivityDevice4, their_field);                            \
	FIELD(cupti_device, field, CUpti_ActivityDevice5, their_field)
DEVICE(bandwidth, globalMemoryBandwidth);
DEVICE(memory, globalMemorySize);
DEVICE(l2, l2CacheSize);
DEVICE(threads_per_warp, numThreadsPerWarp);
DEVICE(clock_khz, coreClockRate);
DEVICE(copy_engines, numMemcpyEngines);
DEVICE(sms, numMultiprocessors);
DEVICE(max_warps_per_sm, maxWarpsPerMultiprocessor);
DEVICE(max_blocks_per_sm, maxBlocksPerMultiprocessor);
DEVICE(shared_per_sm, maxSharedMemoryPerMultiprocessor);
DEVICE(registers_per_sm, maxRegistersPerMultiprocessor);
DEVICE(registers_per_block, maxRegistersPerBlock);
DEVICE(shared_per_block, maxSharedMemoryPerBlock);
DEVICE(max_threads_per_block, maxThreadsPerBlock);
DEVICE(compute_major, computeCapabilityMajor);
DEVICE(compute_minor, computeCapabilityMinor);
DEVICE(id, id);
DEVICE(uuid, uuid);
DEVICE(name, name);

FIELD(cupti_callback, site, CUpti_CallbackData, callbackSite);
FIELD(cupti_callback, result, CUpti_CallbackData, functionReturnValue);
FIELD(cupti_callback, slot, CUpti_CallbackData, correlationData);
FIELD(cupti_callback, correlation, CUpti_CallbackData, correlationId);
FIELD(cupti_resource, descriptor, CUpti_ResourceData, resourceDescriptor);
FIELD(cupti_graph_data, graph, CUpti_GraphData, graph);
FIELD(cupti_graph_data, original_graph, CUpti_GraphData, originalGraph);
FIELD(cupti_graph_data, node, CUpti_GraphData, node);
FIELD(cupti_graph_data, original_node, CUpti_GraphData, originalNode);
FIELD(cupti_graph_data, node_type, CUpti_GraphData, nodeType);
FIELD(cupti_graph_data, dependency, CUpti_GraphData, dependency);
FIELD(cupti_graph_data, exec, CUpti_GraphData, graphExec);
FIELD(cupti_state, result, CUpti_StateData, notification.result);
FIELD(cupti_state, message, CUpti_StateData, notification.message);
FIELD(cupti_subscriber_params, name, CUpti_SubscriberParams, subscriberName);
FIELD(cupti_subscriber_params, old_name, CUpti_SubscriberParams, oldSubscriberName);
FIELD(cupti_subscriber_params, old_size, CUpti_SubscriberParams, oldSubscriberSize);
static_assert(sizeof(struct cupti_subscriber_params) == CUpti_SubscriberParams_STRUCT_SIZE, "size");

int main(void)
{
	printf("the declarations agree with CUPTI %d\n", CUPTI_API_VERSION);
	return 0;
}

#else

int main(void)
{
	printf("SKIP: no CUPTI headers of CUDA 13.0 or later\n");
	return 77;
}

#endif
