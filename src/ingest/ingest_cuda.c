/* SPDX-License-Identifier: Apache-2.0 */
/* ingest_cuda.c - adds the spans of CUDA calls and device work. A run may have millions of them.
 *
 * Our numbers for copies and memory kinds (trace/model.h) are CUPTI's, except that CUPTI's 0 is
 * HWY_MEM_UNKNOWN. The builder links work with calls by their correlation ids.
 */
#include <stdio.h>

#include "ingest/ingest_internal.h"
#include "ingest/symbol_names.h"

int64_t ingest_cuda_memory_kind(uint32_t kind)
{
	return kind > 0 && kind < HWY_MEM_UNKNOWN ? (int64_t)kind : HWY_MEM_UNKNOWN;
}

/* ---- calls
 * ------------------------------------------------------------------------------------- */

static uint32_t call_name(struct ingest *in, struct ingest_process *process,
			  const struct rec_api *call)
{
	static const char *const kinds[] = {"runtime", "driver", "OpenCL"};
	int kind = call->head.flags & REC_API_OPENCL ? 2 : call->head.flags & REC_API_DRIVER;
	uint32_t cbid = call->head.value & 0xffff;
	uint32_t ref = hwy_ids_get(&process->calls[kind], cbid);
	if (hwy_ref32_is_set(ref))
		return hwy_ref32_index(ref);
	char text[48];
	snprintf(text, sizeof text, "%s call %u", kinds[kind], cbid);
	uint32_t name = hwy_text_id(in->b, text);
	*hwy_ids_put(&process->calls[kind], cbid) = hwy_ref32(name);
	return name;
}

/* OpenCL calls have a lane of their own with a name, like the calls of other libraries: tables of
 * CUDA calls read the lane without a name. */
static uint32_t opencl_lane(struct ingest *in, uint32_t thread)
{
	uint32_t *index = &in->threads[thread].opencl;
	if (*index == INGEST_NO_LANE) {
		struct hwy_lane lane =
			hwy_lane_of(HWY_LANE_API, in->trace->threads[thread].process, thread);
		lane.name = hwy_text_id(in->b, HWY_OPENCL);
		*index = hwy_add_lane(in->b, lane);
	}
	return *index;
}

static void ingest_cuda_add_call(struct ingest *in, uint32_t process, const struct rec_api *call)
{
	struct ingest_process *image = &in->processes[process];
	struct hwy_row *row = &in->rows[HWY_API];
	if (!ingest_times(in, call->head.flags & REC_API_NO_TIME ? 0 : call->start, call->duration,
			  row))
		return;
	row->v[HWY_NAME] = call_name(in, image, call);
	row->v[HWY_CORR] = call->correlation;
	bool is_opencl = call->head.flags & REC_API_OPENCL; /* OpenCL's errors are negative */
	row->v[HWY_RESULT] =
		is_opencl ? (int16_t)(call->head.value >> 16) : (int64_t)(call->head.value >> 16);
	row->v[HWY_STACK] = stacks_find_call(in, image, call->tid, call->correlation);
	uint32_t thread = target_thread(in, process, call->tid);
	uint32_t lane = is_opencl ? opencl_lane(in, thread)
				  : hwy_add_thread_lane(in->b, HWY_LANE_API, thread);
	hwy_add_span(in->b, lane, HWY_API, row);
	driver_waits_note_call(in, image, call);
}

/* ---- device work
 * ------------------------------------------------------------------------------- */

uint32_t ingest_cuda_symbol(struct ingest *in, struct ingest_process *process, uint32_t name)
{
	struct ingest_text *entry = ingest_text_entry(process, name);
	if (!entry)
		return HWY_REF_NONE;
	if (!hwy_ref32_is_set(entry->symbol_ref)) {
		uint32_t mangled = ingest_text(in, process, name);
		entry = ingest_text_entry(process, name);
		entry->symbol_ref = hwy_ref32(symbol_names_add(in->b, mangled));
	}
	return entry->symbol_ref;
}

static void put_kernel(struct ingest *in, struct ingest_process *process,
		       const struct rec_work *work, struct hwy_row *row)
{
	uint32_t symbol_ref = ingest_cuda_symbol(in, process, work->head.value);
	uint32_t symbol;
	row->v[HWY_NAME] =
		hwy_ref_to_index(symbol_ref, &symbol) ? in->trace->symbols[symbol].demangled : 0;
	row->v[HWY_SYMBOL] = symbol_ref;
	row->v[HWY_SHAPE] = hwy_ids_get(&process->shapes, work->shape);
	row->v[HWY_LAUNCH_TYPE] = work->launch_type + HWY_LAUNCH_REGULAR;
	row->v[HWY_CHANNEL_TYPE] = work->channel_type;
}

/* Yields the ref of a device of the trace, from the ref of a CUDA ordinal. */
static int64_t peer_device(struct ingest *in, struct ingest_process *process, uint32_t ordinal_ref)
{
	uint32_t ordinal;
	return hwy_ref_to_index(ordinal_ref, &ordinal)
		       ? hwy_ref(target_device(in, process, ordinal))
		       : HWY_REF_NONE;
}

static void put_copy(struct ingest *in, struct ingest_process *process, const struct rec_work *work,
		     struct hwy_row *row)
{
	uint32_t kind = work->head.value & 0xff;
	row->v[HWY_BYTES] = (int64_t)work->bytes;
	row->v[HWY_DIRECTION] = kind <= HWY_P2P ? (int64_t)kind : HWY_DIR_UNKNOWN;
	row->v[HWY_SRC_MEMORY] = ingest_cuda_memory_kind(work->head.value >> 8 & 0xff);
	row->v[HWY_DST_MEMORY] = ingest_cuda_memory_kind(work->head.value >> 16 & 0xff);
	row->v[HWY_SRC_DEVICE] = peer_device(in, process, work->source_device);
	row->v[HWY_DST_DEVICE] = peer_device(in, process, work->target_device);
}

static void ingest_cuda_add_work(struct ingest *in, uint32_t index, const struct rec_work *work)
{
	struct ingest_process *process = &in->processes[index];
	static const enum hwy_kind kinds[] = {
		[REC_KERNEL] = HWY_KERNEL,
		[REC_COPY] = HWY_COPY,
		[REC_FILL] = HWY_FILL,
		[REC_GRAPH] = HWY_GRAPH,
	};
	enum hwy_kind kind = kinds[work->head.type];
	struct hwy_row *row = &in->rows[kind];
	if (!ingest_times(in, work->start, work->duration, row))
		return;
	row->v[HWY_CORR] = work->correlation;
	row->v[HWY_CHANNEL] = work->channel;
	row->v[HWY_GRAPH_ID] = work->graph;
	row->v[HWY_GRAPH_NODE] = (int64_t)work->node;
	if (work->node)
		ingest_nodes_use(in, index, work->node);
	switch (kind) {
	case HWY_KERNEL: put_kernel(in, process, work, row); break;
	case HWY_COPY: put_copy(in, process, work, row); break;
	case HWY_FILL:
		row->v[HWY_BYTES] = (int64_t)work->bytes;
		row->v[HWY_VALUE] = work->head.value;
		row->v[HWY_DST_MEMORY] = ingest_cuda_memory_kind(work->memory_kind);
		break;
	default: row->v[HWY_GRAPH_EXEC] = work->graph_exec;
	}
	uint32_t stream = target_stream(in, process, work->device, work->context, work->stream);
	struct hwy_ref span =
		hwy_add_span(in->b, hwy_add_stream_lane(in->b, HWY_LANE_STREAM, stream), kind, row);
	if (kind == HWY_KERNEL && (in->spools.control.traces & REC_TRACE_NCCL))
		ingest_nccl_note_kernel(in, index, work, row->v[HWY_NAME], span);
}

/* ---- memory and overhead
 * ----------------------------------------------------------------------- */

static void ingest_cuda_add_memory(struct ingest *in, struct ingest_process *process,
				   const struct rec_memory *memory)
{
	struct hwy_row *row = &in->rows[HWY_MEMORY];
	if (!ingest_times(in, memory->time, 0, row))
		return;
	row->v[HWY_FLAGS] = HWY_FLAG_MARK;
	row->v[HWY_ADDRESS] = (int64_t)memory->address;
	row->v[HWY_BYTES] = (int64_t)memory->bytes;
	row->v[HWY_DST_MEMORY] = ingest_cuda_memory_kind(memory->head.value);
	row->v[HWY_OPERATION] = memory->head.flags <= HWY_RELEASE ? memory->head.flags : 0;
	row->v[HWY_NAME] = ingest_text(in, process, memory->name);
	row->v[HWY_CORR] = memory->correlation;
	row->v[HWY_POOL] = (int64_t)memory->pool;
	row->v[HWY_STACK] = stacks_find_call(in, process, 0, memory->correlation);
	struct hwy_lane lane = hwy_lane_of(HWY_LANE_MEMORY, process->record, HWY_NONE);
	if (row->v[HWY_DST_MEMORY] != HWY_MEM_PAGEABLE && row->v[HWY_DST_MEMORY] != HWY_MEM_PINNED)
		lane.device = target_device(in, process, memory->device);
	hwy_add_span(in->b, hwy_add_lane(in->b, lane), HWY_MEMORY, row);
}

/* CUpti_ActivityOverheadKind; the lane tells time that CUDA itself takes from the cost of
 * recording. */
static const struct overhead {
	uint32_t kind;
	const char *name, *lane;
} overheads[] = {
	{REC_OVERHEAD_STACK, "Taking a stack", "profiler"},
	{1, "Driver compiler", "cuda"},
	{1 << 16, "CUPTI buffer flush", "profiler"},
	{2 << 16, "CUPTI instrumentation", "profiler"},
	{3 << 16, "CUPTI resource creation", "profiler"},
	{4 << 16, "Runtime module loading", "cuda"},
	{5 << 16, "Lazy function loading", "cuda"},
	{6 << 16, "Command buffer full", "cuda"},
	{7 << 16, "CUPTI buffer request", "profiler"},
	{8 << 16, "Unified memory activity init", "profiler"},
	{0, "Unknown overhead", "profiler"},
};

static void add_overhead(struct ingest *in, uint32_t process, const struct rec_overhead *overhead)
{
	struct hwy_row *row = &in->rows[HWY_OVERHEAD];
	if (!ingest_times(in, overhead->start, overhead->duration, row))
		return;
	const struct overhead *entry = overheads;
	while (entry->kind && entry->kind != overhead->head.value)
		entry++;
	row->v[HWY_NAME] = hwy_text_id(in->b, entry->name);
	row->v[HWY_CORR] = overhead->correlation;
	int64_t thread =
		overhead->tid ? (int64_t)target_thread(in, process, overhead->tid) : HWY_NONE;
	struct hwy_lane lane =
		hwy_lane_of(HWY_LANE_OVERHEAD, in->processes[process].record, thread);
	lane.name = hwy_text_id(in->b, entry->lane);
	hwy_add_span(in->b, hwy_add_lane(in->b, lane), HWY_OVERHEAD, row);
}

void ingest_cuda_add(struct ingest *in, uint32_t process, const struct rec_head *record)
{
	switch (record->type) {
	case REC_API: ingest_cuda_add_call(in, process, (const void *)record); break;
	case REC_MEMORY:
		ingest_cuda_add_memory(in, &in->processes[process], (const void *)record);
		break;
	case REC_OVERHEAD: add_overhead(in, process, (const void *)record); break;
	default: ingest_cuda_add_work(in, process, (const void *)record);
	}
}
