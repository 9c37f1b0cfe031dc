/* nsys_cuda.c - what CUPTI recorded: calls, kernels, copies, fills, graphs, allocations, overheads.
 *
 * Correlation ids are unique in a process only; the builder links within a process. The vendor's numbers
 * for copies and memory kinds are ours, or ours less one: the table below says which.
 */
#include <string.h>

#include "import/nsys.h"

/* The export's numbers of memory kinds (0 pageable … 7 unknown) are ours less one; NULL is none. */
static int64_t memory_kind(struct nsys_query *q, int column)
{
	int64_t kind = nsys_int_plus_one(q, column);
	return kind >= HWY_MEM_NONE && kind <= HWY_MEM_UNKNOWN ? kind : HWY_MEM_UNKNOWN;
}

/* ---- calls ---- */

static void note_call(struct nsys *n, uint32_t process, const struct hwy_row *row)
{
	if (n->n_calls == 0)
		return;
	const uint32_t *at =
		hwy_map_get(&n->call_of, (uint64_t)process << 32 ^ (uint64_t)row->v[HWY_CORR]);
	if (at) {
		n->calls[*at].name = (uint32_t)row->v[HWY_NAME];
		n->calls[*at].start = row->v[HWY_START];
	}
}

/* 0 is a chain like any other; a call without one has NULL, or a number that no chain has. */
static int64_t chain_of(struct nsys_query *q, int column)
{
	return nsys_null(q, column) ? 0 : nsys_ids_get(&q->nsys->cuda_chains, nsys_int(q, column));
}

static void read_calls(struct nsys *n)
{
	bool has_stacks = nsys_has_table(n, "CUDA_CALLCHAINS");
	struct nsys_query q;
	struct hwy_row row = {0};
	if (!nsys_select(n, &q, "CUPTI_ACTIVITY_KIND_RUNTIME",
			 "!start !end globalTid correlationId nameId returnValue callchainId",
			 NULL))
		return;
	while (nsys_next(&q)) {
		if (!nsys_times(&q, &row))
			continue;
		uint32_t thread = nsys_thread(n, nsys_int(&q, 2));
		row.v[HWY_CORR] = nsys_int(&q, 3);
		row.v[HWY_NAME] = nsys_string_of(&q, 4);
		row.v[HWY_RESULT] = nsys_int(&q, 5);
		row.v[HWY_STACK] = has_stacks ? chain_of(&q, 6) : 0;
		uint32_t lane = nsys_thread_lane(n, thread, HWY_LANE_API, &n->threads[thread].api);
		hwy_add_span(n->b, lane, HWY_API, &row);
		note_call(n, n->threads[thread].process, &row);
	}
}

/* ---- device work ---- */

/* deviceId … globalPid at columns 2 to 6, correlationId at 7, in every table of device work */
#define WORK_COLUMNS                                                                               \
	"!start !end deviceId contextId greenContextId streamId globalPid correlationId "

static void add_work(struct nsys_query *q, enum hwy_kind kind, struct hwy_row *row)
{
	struct nsys *n = q->nsys;
	row->v[HWY_CORR] = nsys_int(q, 7);
	hwy_add_span(n->b, nsys_work_lane(n, nsys_stream(q, 2)), kind, row);
}

static uint32_t shape_of(struct nsys_query *q, int first)
{
	struct hwy_shape shape;
	int64_t *fields[] = {
		&shape.grid_x,          &shape.grid_y,           &shape.grid_z,
		&shape.block_x,         &shape.block_y,          &shape.block_z,
		&shape.cluster_x,       &shape.cluster_y,        &shape.cluster_z,
		&shape.registers,       &shape.static_shared,    &shape.dynamic_shared,
		&shape.executed_shared, &shape.local_per_thread, &shape.local_total,
	};
	for (int i = 0; i < (int)(sizeof fields / sizeof *fields); i++)
		*fields[i] = nsys_int(q, first + i);
	return hwy_add_shape(q->nsys->b, &shape);
}

static void read_kernels(struct nsys *n)
{
	struct nsys_query q;
	struct hwy_row row = {0};
	if (!nsys_select(
		    n, &q, "CUPTI_ACTIVITY_KIND_KERNEL",
		    WORK_COLUMNS
		    "demangledName shortName mangledName graphNodeId graphId launchType "
		    "gridX gridY gridZ blockX blockY blockZ clusterX clusterY clusterZ "
		    "registersPerThread staticSharedMemory dynamicSharedMemory sharedMemoryExecuted "
		    "localMemoryPerThread localMemoryTotal",
		    NULL))
		return;
	while (nsys_next(&q)) {
		if (!nsys_times(&q, &row))
			continue;
		struct hwy_symbol symbol = {
			.demangled = nsys_string_of(&q, 8),
			.shortname = nsys_string_of(&q, 9),
			.mangled = nsys_string_of(&q, 10),
		};
		row.v[HWY_NAME] = symbol.demangled ? symbol.demangled : symbol.shortname;
		row.v[HWY_SYMBOL] = 1 + (int64_t)hwy_add_symbol(n->b, symbol);
		row.v[HWY_GRAPH_NODE] = nsys_int(&q, 11);
		row.v[HWY_GRAPH_ID] = nsys_int(&q, 12);
		row.v[HWY_LAUNCH_TYPE] = nsys_int(&q, 13);
		row.v[HWY_SHAPE] = 1 + (int64_t)shape_of(&q, 14);
		add_work(&q, HWY_KERNEL, &row);
	}
}

/* Devices of a peer copy are CUDA ordinals of the process. */
static int64_t peer_device(struct nsys_query *q, int column)
{
	if (nsys_null(q, column) || nsys_is_none(nsys_int(q, column)))
		return 0;
	uint32_t process = q->nsys->streams[nsys_stream(q, 2)].process;
	return 1 + (int64_t)nsys_device(q->nsys, process, nsys_int(q, column));
}

static void read_copies(struct nsys *n)
{
	struct nsys_query q;
	struct hwy_row row = {0};
	if (!nsys_select(
		    n, &q, "CUPTI_ACTIVITY_KIND_MEMCPY",
		    WORK_COLUMNS
		    "bytes copyKind srcKind dstKind srcDeviceId srcContextId dstDeviceId dstContextId "
		    "migrationCause virtualAddress graphNodeId copyCount",
		    NULL))
		return;
	while (nsys_next(&q)) {
		if (!nsys_times(&q, &row))
			continue;
		int64_t kind = nsys_int(&q, 9), cause = nsys_int(&q, 16);
		row.v[HWY_BYTES] = nsys_int(&q, 8);
		row.v[HWY_DIRECTION] = kind > 0 && kind < HWY_DIRECTIONS ? kind : HWY_DIR_UNKNOWN;
		row.v[HWY_SRC_MEMORY] = memory_kind(&q, 10);
		row.v[HWY_DST_MEMORY] = memory_kind(&q, 11);
		row.v[HWY_SRC_DEVICE] = peer_device(&q, 12);
		row.v[HWY_SRC_CONTEXT] = nsys_int_plus_one(&q, 13);
		row.v[HWY_DST_DEVICE] = peer_device(&q, 14);
		row.v[HWY_DST_CONTEXT] = nsys_int_plus_one(&q, 15);
		row.v[HWY_CAUSE] = nsys_null(&q, 16) ? HWY_CAUSE_NONE
				   : cause >= 0 && cause < HWY_CAUSE_ACCESS_COUNTERS
					   ? cause + 1
					   : HWY_CAUSE_UNKNOWN;
		row.v[HWY_ADDRESS] = nsys_int(&q, 17);
		row.v[HWY_GRAPH_NODE] = nsys_int(&q, 18);
		row.v[HWY_COUNT] = nsys_int(&q, 19);
		add_work(&q, HWY_COPY, &row);
	}
}

static void read_fills(struct nsys *n)
{
	struct nsys_query q;
	struct hwy_row row = {0};
	if (!nsys_select(n, &q, "CUPTI_ACTIVITY_KIND_MEMSET",
			 WORK_COLUMNS "bytes value memKind graphNodeId", NULL))
		return;
	while (nsys_next(&q)) {
		if (!nsys_times(&q, &row))
			continue;
		row.v[HWY_BYTES] = nsys_int(&q, 8);
		row.v[HWY_VALUE] = nsys_int(&q, 9);
		row.v[HWY_DST_MEMORY] = memory_kind(&q, 10);
		row.v[HWY_GRAPH_NODE] = nsys_int(&q, 11);
		add_work(&q, HWY_FILL, &row);
	}
}

static void read_graphs(struct nsys *n)
{
	struct nsys_query q;
	struct hwy_row row = {0};
	if (!nsys_select(n, &q, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
			 WORK_COLUMNS "graphId graphExecId", NULL))
		return;
	while (nsys_next(&q)) {
		if (!nsys_times(&q, &row))
			continue;
		row.v[HWY_GRAPH_ID] = nsys_int(&q, 8);
		row.v[HWY_GRAPH_EXEC] = nsys_int(&q, 9);
		add_work(&q, HWY_GRAPH, &row);
	}
}

/* ---- allocations ---- */

static uint32_t memory_lane(struct nsys *n, struct nsys_query *q, int64_t kind)
{
	uint32_t process = nsys_process(n, nsys_int(q, 1));
	struct hwy_lane lane = hwy_lane_of(HWY_LANE_MEMORY, process, HWY_NONE);
	if (kind != HWY_MEM_PAGEABLE && kind != HWY_MEM_PINNED)
		lane.device = nsys_device(n, process, nsys_int(q, 2));
	return hwy_add_lane(n->b, lane);
}

static void read_memory(struct nsys *n)
{
	struct nsys_query q;
	struct hwy_row row = {0};
	if (!nsys_select(n, &q, "CUDA_GPU_MEMORY_USAGE_EVENTS",
			 "!start globalPid deviceId address bytes memKind memoryOperationType name "
			 "correlationId localMemoryPoolAddress",
			 NULL))
		return;
	while (nsys_next(&q)) {
		if (!nsys_moment(&q, &row))
			continue;
		row.v[HWY_FLAGS] = HWY_FLAG_MARK;
		row.v[HWY_ADDRESS] = nsys_int(&q, 3);
		row.v[HWY_BYTES] = nsys_int(&q, 4);
		row.v[HWY_DST_MEMORY] = memory_kind(&q, 5);
		row.v[HWY_OPERATION] = nsys_int(&q, 6) == 0 ? HWY_ALLOCATE : HWY_RELEASE;
		row.v[HWY_NAME] = nsys_text(&q, 7);
		row.v[HWY_CORR] = nsys_int(&q, 8);
		row.v[HWY_POOL] = nsys_int(&q, 9);
		hwy_add_span(n->b, memory_lane(n, &q, row.v[HWY_DST_MEMORY]), HWY_MEMORY, &row);
	}
}

/* ---- overheads ---- */

/* The recorder's own time, and CUDA's (module loading, full command buffers): lanes of their own. */
static void read_overhead(struct nsys *n, const char *table, const char *lane_name)
{
	struct nsys_query q;
	struct hwy_row row = {0};
	uint32_t name = hwy_text_id(n->b, lane_name);
	if (!nsys_select(n, &q, table, "!start !end globalTid nameId correlationId", NULL))
		return;
	while (nsys_next(&q)) {
		if (!nsys_times(&q, &row))
			continue;
		uint32_t thread = nsys_thread(n, nsys_int(&q, 2));
		struct hwy_lane lane =
			hwy_lane_of(HWY_LANE_OVERHEAD, n->threads[thread].process, thread);
		lane.name = name;
		row.v[HWY_NAME] = nsys_string_of(&q, 3);
		row.v[HWY_CORR] = nsys_int(&q, 4);
		hwy_add_span(n->b, hwy_add_lane(n->b, lane), HWY_OVERHEAD, &row);
	}
}

void nsys_read_cuda(struct nsys *n)
{
	read_calls(n);
	read_kernels(n);
	read_copies(n);
	read_fills(n);
	read_graphs(n);
	read_memory(n);
	read_overhead(n, "PROFILER_OVERHEAD", "profiler");
	read_overhead(n, "CUPTI_ACTIVITY_KIND_OVERHEAD", "cuda");
}
