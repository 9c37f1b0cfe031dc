/* SPDX-License-Identifier: Apache-2.0 */
/* nsys_cuda.c - reads what CUPTI recorded: calls, kernels, copies, fills, graphs, allocations,
 * overheads.
 *
 * Correlation ids are unique in a process only; the builder links calls with work within a process.
 */
#include <string.h>

#include "import/nsys/nsys.h"

/* The export numbers memory kinds from 0 (pageable) to 7 (unknown), enum hwy_memory_kind from 1 on;
 * NULL is HWY_MEM_NONE, 0. */
static int64_t nsys_cuda_memory_kind(struct nsys_query *q, int column)
{
	int64_t kind = nsys_ref(q, column);
	return kind >= HWY_MEM_NONE && kind <= HWY_MEM_UNKNOWN ? kind : HWY_MEM_UNKNOWN;
}

/* ---- calls ---- */

static void note_call(struct nsys *n, uint32_t process, const struct hwy_row *row)
{
	if (n->n_calls == 0)
		return;
	uint64_t key;
	const uint32_t *index = nsys_call_key(process, row->v[HWY_CORR], &key)
					? hwy_map_get(&n->call_of, key)
					: NULL;
	if (index) {
		n->calls[*index].name = (uint32_t)row->v[HWY_NAME];
		n->calls[*index].start = row->v[HWY_START];
	}
}

/* Ref of the trace's stacks. Chain 0 is a chain like any other; a call without a chain has NULL, or
 * a number that no chain has. */
static int64_t chain_of(struct nsys_query *q, int column)
{
	return nsys_null(q, column)
		       ? HWY_REF_NONE
		       : hwy_ids_get(&q->nsys->cuda_chains, (uint64_t)nsys_int(q, column));
}

static void nsys_cuda_add_call(struct nsys_query *q)
{
	struct nsys *n = q->nsys;
	struct hwy_row *row = &q->row;
	if (!nsys_times(q))
		return;
	uint32_t thread = nsys_thread(n, nsys_int(q, 2));
	row->v[HWY_CORR] = nsys_int(q, 3);
	row->v[HWY_NAME] = nsys_string_of(q, 4);
	row->v[HWY_RESULT] = nsys_int(q, 5);
	row->v[HWY_STACK] = chain_of(q, 6);
	hwy_add_span(n->b, hwy_add_thread_lane(n->b, HWY_LANE_API, thread), HWY_API, row);
	note_call(n, (uint32_t)n->trace->threads[thread].process, row);
}

/* ---- device work ---- */

/* The columns that every query over device work begins with: deviceId to globalPid are columns 2 to
 * 6, correlationId is column 7. */
#define WORK_COLUMNS                                                                               \
	"!start !end deviceId contextId greenContextId streamId globalPid correlationId "

static void nsys_cuda_add_work(struct nsys_query *q, enum hwy_kind kind)
{
	struct nsys *n = q->nsys;
	q->row.v[HWY_CORR] = nsys_int(q, 7);
	uint32_t stream = nsys_stream(q, 2);
	hwy_add_span(n->b, hwy_add_stream_lane(n->b, HWY_LANE_STREAM, stream), kind, &q->row);
	if (q->row.v[HWY_GRAPH_NODE])
		nsys_nodes_use(n, n->streams[stream].process, q->row.v[HWY_GRAPH_NODE]);
}

static uint32_t shape_of(struct nsys_query *q, int first)
{
	struct hwy_shape shape = {
		.grid_x = nsys_int(q, first),
		.grid_y = nsys_int(q, first + 1),
		.grid_z = nsys_int(q, first + 2),
		.block_x = nsys_int(q, first + 3),
		.block_y = nsys_int(q, first + 4),
		.block_z = nsys_int(q, first + 5),
		.cluster_x = nsys_int(q, first + 6),
		.cluster_y = nsys_int(q, first + 7),
		.cluster_z = nsys_int(q, first + 8),
		.registers = nsys_int(q, first + 9),
		.static_shared = nsys_int(q, first + 10),
		.dynamic_shared = nsys_int(q, first + 11),
		.executed_shared = nsys_int(q, first + 12),
		.local_per_thread = nsys_int(q, first + 13),
		.local_total = nsys_int(q, first + 14),
	};
	return hwy_add_shape(q->nsys->b, &shape);
}

static void add_kernel(struct nsys_query *q)
{
	struct hwy_row *row = &q->row;
	if (!nsys_times(q))
		return;
	struct hwy_symbol symbol = {
		.demangled = nsys_string_of(q, 8),
		.shortname = nsys_string_of(q, 9),
		.mangled = nsys_string_of(q, 10),
	};
	row->v[HWY_NAME] = symbol.demangled ? symbol.demangled : symbol.shortname;
	row->v[HWY_SYMBOL] = hwy_ref(hwy_add_symbol(q->nsys->b, symbol));
	row->v[HWY_GRAPH_NODE] = nsys_int(q, 11);
	row->v[HWY_GRAPH_ID] = nsys_int(q, 12);
	row->v[HWY_LAUNCH_TYPE] = nsys_int(q, 13);
	/* No kernel has an empty grid: a file with gridX and blockX 0 does not know the shape. */
	row->v[HWY_SHAPE] = nsys_int(q, 14) == 0 && nsys_int(q, 17) == 0 ? HWY_REF_NONE
									 : hwy_ref(shape_of(q, 14));
	nsys_cuda_add_work(q, HWY_KERNEL);
}

/* Yields the ref of a device of the trace, for a column with the CUDA ordinal of a peer copy's
 * device. */
static int64_t peer_device(struct nsys_query *q, int column)
{
	if (nsys_null(q, column) || nsys_is_none(nsys_int(q, column)))
		return HWY_REF_NONE;
	uint32_t process = q->nsys->streams[nsys_stream(q, 2)].process;
	return hwy_ref(nsys_device(q->nsys, process, nsys_int(q, column)));
}

/* The export numbers causes from 0 (unknown) to 5 (access counters), enum hwy_migration_cause from
 * 1 on. */
static int64_t migration_cause(struct nsys_query *q, int column)
{
	int64_t cause = nsys_ref(q, column);
	return cause >= HWY_CAUSE_NONE && cause <= HWY_CAUSE_ACCESS_COUNTERS ? cause
									     : HWY_CAUSE_UNKNOWN;
}

static void add_copy(struct nsys_query *q)
{
	struct hwy_row *row = &q->row;
	if (!nsys_times(q))
		return;
	int64_t direction = nsys_int(q, 9);
	row->v[HWY_BYTES] = nsys_int(q, 8);
	row->v[HWY_DIRECTION] =
		direction > 0 && direction < HWY_DIRECTIONS ? direction : HWY_DIR_UNKNOWN;
	row->v[HWY_SRC_MEMORY] = nsys_cuda_memory_kind(q, 10);
	row->v[HWY_DST_MEMORY] = nsys_cuda_memory_kind(q, 11);
	row->v[HWY_SRC_DEVICE] = peer_device(q, 12);
	row->v[HWY_SRC_CONTEXT] = nsys_ref(q, 13);
	row->v[HWY_DST_DEVICE] = peer_device(q, 14);
	row->v[HWY_DST_CONTEXT] = nsys_ref(q, 15);
	row->v[HWY_CAUSE] = migration_cause(q, 16);
	row->v[HWY_ADDRESS] = nsys_int(q, 17);
	row->v[HWY_GRAPH_NODE] = nsys_int(q, 18);
	row->v[HWY_COUNT] = nsys_int(q, 19);
	nsys_cuda_add_work(q, HWY_COPY);
}

static void add_fill(struct nsys_query *q)
{
	if (!nsys_times(q))
		return;
	q->row.v[HWY_BYTES] = nsys_int(q, 8);
	q->row.v[HWY_VALUE] = nsys_int(q, 9);
	q->row.v[HWY_DST_MEMORY] = nsys_cuda_memory_kind(q, 10);
	q->row.v[HWY_GRAPH_NODE] = nsys_int(q, 11);
	nsys_cuda_add_work(q, HWY_FILL);
}

static void add_graph(struct nsys_query *q)
{
	if (!nsys_times(q))
		return;
	q->row.v[HWY_GRAPH_ID] = nsys_int(q, 8);
	q->row.v[HWY_GRAPH_EXEC] = nsys_int(q, 9);
	nsys_cuda_add_work(q, HWY_GRAPH);
}

/* ---- allocations ---- */

static uint32_t memory_lane(struct nsys_query *q, int64_t kind)
{
	struct nsys *n = q->nsys;
	uint32_t process = nsys_process(n, nsys_int(q, 1));
	struct hwy_lane lane = hwy_lane_of(HWY_LANE_MEMORY, process, HWY_NONE);
	if (kind != HWY_MEM_PAGEABLE && kind != HWY_MEM_PINNED)
		lane.device = nsys_device(n, process, nsys_int(q, 2));
	return hwy_add_lane(n->b, lane);
}

static void nsys_cuda_add_memory(struct nsys_query *q)
{
	struct hwy_row *row = &q->row;
	if (!nsys_moment(q))
		return;
	row->v[HWY_FLAGS] = HWY_FLAG_MARK;
	row->v[HWY_ADDRESS] = nsys_int(q, 3);
	row->v[HWY_BYTES] = nsys_int(q, 4);
	row->v[HWY_DST_MEMORY] = nsys_cuda_memory_kind(q, 5);
	row->v[HWY_OPERATION] = nsys_int(q, 6) == 0 ? HWY_ALLOCATE : HWY_RELEASE;
	row->v[HWY_NAME] = nsys_text(q, 7);
	row->v[HWY_CORR] = nsys_int(q, 8);
	row->v[HWY_POOL] = nsys_int(q, 9);
	hwy_add_span(q->nsys->b, memory_lane(q, row->v[HWY_DST_MEMORY]), HWY_MEMORY, row);
}

/* ---- overheads ---- */

/* Time that the recorder took, and time that CUDA took for module loading or full command buffers,
 * on a lane each: q->user is the name of the lane. */
static void add_overhead(struct nsys_query *q)
{
	struct nsys *n = q->nsys;
	if (!nsys_times(q))
		return;
	uint32_t thread = nsys_thread(n, nsys_int(q, 2));
	struct hwy_lane lane =
		hwy_lane_of(HWY_LANE_OVERHEAD, n->trace->threads[thread].process, thread);
	lane.name = hwy_text_id(n->b, q->user);
	q->row.v[HWY_NAME] = nsys_string_of(q, 3);
	q->row.v[HWY_CORR] = nsys_int(q, 4);
	hwy_add_span(n->b, hwy_add_lane(n->b, lane), HWY_OVERHEAD, &q->row);
}

void nsys_read_cuda(struct nsys *n)
{
	const char *overhead = "~start ~end globalTid nameId correlationId";
	nsys_each(n, "CUPTI_ACTIVITY_KIND_RUNTIME",
		  "!start !end globalTid correlationId nameId returnValue callchainId", NULL,
		  nsys_cuda_add_call, NULL);
	nsys_each(n, "CUPTI_ACTIVITY_KIND_KERNEL",
		  WORK_COLUMNS
		  "demangledName shortName mangledName graphNodeId graphId launchType "
		  "gridX gridY gridZ blockX blockY blockZ clusterX clusterY clusterZ "
		  "registersPerThread staticSharedMemory dynamicSharedMemory sharedMemoryExecuted "
		  "localMemoryPerThread localMemoryTotal",
		  NULL, add_kernel, NULL);
	nsys_each(
		n, "CUPTI_ACTIVITY_KIND_MEMCPY",
		WORK_COLUMNS
		"bytes copyKind srcKind dstKind srcDeviceId srcContextId dstDeviceId dstContextId "
		"migrationCause virtualAddress graphNodeId copyCount",
		NULL, add_copy, NULL);
	nsys_each(n, "CUPTI_ACTIVITY_KIND_MEMSET", WORK_COLUMNS "bytes value memKind graphNodeId",
		  NULL, add_fill, NULL);
	nsys_each(n, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", WORK_COLUMNS "graphId graphExecId", NULL,
		  add_graph, NULL);
	nsys_each(n, "CUDA_GPU_MEMORY_USAGE_EVENTS",
		  "~start globalPid deviceId address bytes memKind memoryOperationType name "
		  "correlationId localMemoryPoolAddress",
		  NULL, nsys_cuda_add_memory, NULL);
	nsys_each(n, "PROFILER_OVERHEAD", overhead, NULL, add_overhead, (void *)"profiler");
	nsys_each(n, "CUPTI_ACTIVITY_KIND_OVERHEAD", overhead, NULL, add_overhead, (void *)"cuda");
}
