/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_trace.c - kernels and memory operations in order of start, one row each. */
#include <stdio.h>

#include "stats/families.h"
#include "stats/merge.h"
#include "stats/nsys_labels.h"

enum { DEVICE_BYTES = 256 };

enum column {
	START,
	DURATION,
	CORRELATION,
	GRID_X,
	GRID_Y,
	GRID_Z,
	BLOCK_X,
	BLOCK_Y,
	BLOCK_Z,
	REGISTERS,
	STATIC_SHARED,
	DYNAMIC_SHARED,
	BYTES,
	RATE,
	SOURCE,
	TARGET,
	DEVICE,
	CONTEXT,
	GREEN,
	STREAM,
	NAME,
	COLUMNS
};
static const struct stats_column columns[COLUMNS] = {
	[START] = {"Start", STATS_MOMENT},
	[DURATION] = {"Duration", STATS_TIME},
	[CORRELATION] = {"CorrId", STATS_ID},
	[GRID_X] = {"GrdX", STATS_ID},
	[GRID_Y] = {"GrdY", STATS_ID},
	[GRID_Z] = {"GrdZ", STATS_ID},
	[BLOCK_X] = {"BlkX", STATS_ID},
	[BLOCK_Y] = {"BlkY", STATS_ID},
	[BLOCK_Z] = {"BlkZ", STATS_ID},
	[REGISTERS] = {"Reg/Trd", STATS_ID},
	[STATIC_SHARED] = {"StcSMem", STATS_BYTES},
	[DYNAMIC_SHARED] = {"DymSMem", STATS_BYTES},
	[BYTES] = {"Bytes", STATS_BYTES},
	[RATE] = {"Throughput", STATS_RATE},
	[SOURCE] = {"SrcMemKd", STATS_TEXT},
	[TARGET] = {"DstMemKd", STATS_TEXT},
	[DEVICE] = {"Device", STATS_TEXT},
	[CONTEXT] = {"Ctx", STATS_ID},
	[GREEN] = {"GreenCtx", STATS_ID},
	[STREAM] = {"Strm", STATS_ID},
	[NAME] = {"Name", STATS_TEXT},
};

static void set_kernel(const struct hwy_trace *trace, const struct hwy_strip *strip, uint32_t row,
		       struct stats_cell *cells)
{
	cells[NAME] = cell_from_text(hwy_text(trace, hwy_get(strip, HWY_NAME, row)));
	const struct hwy_shape *shape = hwy_get_shape(trace, strip, row);
	if (!shape)
		return;
	cells[GRID_X] = cell_number(shape->grid_x);
	cells[GRID_Y] = cell_number(shape->grid_y);
	cells[GRID_Z] = cell_number(shape->grid_z);
	cells[BLOCK_X] = cell_number(shape->block_x);
	cells[BLOCK_Y] = cell_number(shape->block_y);
	cells[BLOCK_Z] = cell_number(shape->block_z);
	cells[REGISTERS] = cell_number(shape->registers);
	cells[STATIC_SHARED] = cell_number(shape->static_shared);
	cells[DYNAMIC_SHARED] = cell_number(shape->dynamic_shared);
}

static struct stats_cell gpu_trace_memory_kind(const struct hwy_strip *strip, enum hwy_col col,
					       uint32_t row)
{
	int64_t kind = hwy_get(strip, col, row);
	return kind > 0 && kind < HWY_MEMORY_KINDS ? cell_from_textz(hwy_memory_names[kind])
						   : cell_empty();
}

static void set_memory(const struct hwy_strip *strip, uint32_t row, struct stats_cell *cells)
{
	int64_t bytes = hwy_get(strip, HWY_BYTES, row), dur = hwy_get(strip, HWY_DUR, row), rate;
	cells[BYTES] = cell_number(bytes);
	/* nsys computes the rate as the number of such operations that fit a second, rounded down,
	 * times their bytes. */
	if (dur > 0 && !__builtin_mul_overflow(bytes, 1000000000 / dur, &rate))
		cells[RATE] = cell_number(rate);
	if (strip->kind == HWY_FILL) {
		cells[SOURCE] = gpu_trace_memory_kind(strip, HWY_DST_MEMORY, row);
		cells[NAME] = cell_from_text(nsys_label_fill());
		return;
	}
	cells[SOURCE] = gpu_trace_memory_kind(strip, HWY_SRC_MEMORY, row);
	cells[TARGET] = gpu_trace_memory_kind(strip, HWY_DST_MEMORY, row);
	cells[NAME] = cell_from_text(nsys_label_copy(hwy_get(strip, HWY_DIRECTION, row)));
}

static void set_place(const struct hwy_trace *trace, uint32_t lane, struct stats_cell *cells,
		      char device[DEVICE_BYTES])
{
	const struct hwy_stream *stream = report_lane_stream(trace, lane);
	int64_t index = trace->lanes[lane].device, number = report_device_number(trace, lane);
	bool has_device = index >= 0 && index < trace->n_devices;
	if (number != HWY_NONE) {
		snprintf(device, DEVICE_BYTES, "%.200s (%lld)",
			 has_device ? hwy_str(trace, trace->devices[index].name) : "",
			 (long long)number);
		cells[DEVICE] = cell_from_textz(device);
	}
	/* Migrations of unified memory belong to no context and no stream; sources write 0 for
	 * both. */
	if (!stream || (stream->context == 0 && stream->number == 0))
		return;
	cells[CONTEXT] = cell_number_or_empty(stream->context);
	cells[GREEN] = stream->green > 0 ? cell_number(stream->green) : cell_empty();
	cells[STREAM] = cell_number_or_empty(stream->number);
}

bool make_cuda_gpu_trace(struct report_run *run, struct hwy_err *err)
{
	struct hwy_trace *trace = run->trace;
	uint32_t kinds = HWY_KIND_BIT(HWY_KERNEL) | HWY_KIND_BIT(HWY_COPY) | HWY_KIND_BIT(HWY_FILL);
	if (!hwy_need(trace, kinds,
		      HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_NAME) |
			      HWY_COL_BIT(HWY_LINK) | HWY_COL_BIT(HWY_CORR) |
			      HWY_COL_BIT(HWY_SHAPE) | HWY_COL_BIT(HWY_BYTES) |
			      HWY_COL_BIT(HWY_DIRECTION) | HWY_COL_BIT(HWY_SRC_MEMORY) |
			      HWY_COL_BIT(HWY_DST_MEMORY),
		      err) ||
	    !hwy_need(trace, HWY_KIND_BIT(HWY_API), HWY_COL_BIT(HWY_CORR), err))
		return false;
	report_columns(run, columns, COLUMNS);
	struct merge merge;
	merge_open(&merge, run, kinds);
	while (merge_next(&merge)) {
		if (hwy_lane_is_opencl(trace, merge.strip->lane))
			continue;
		struct stats_cell cells[COLUMNS];
		char device[DEVICE_BYTES];
		for (unsigned i = 0; i < COLUMNS; i++)
			cells[i] = cell_empty();
		cells[START] = cell_number(hwy_get(merge.strip, HWY_START, merge.row));
		cells[DURATION] = cell_number(hwy_get(merge.strip, HWY_DUR, merge.row));
		cells[CORRELATION] = cell_number(hwy_corr(trace, merge.strip, merge.row));
		if (merge.strip->kind == HWY_KERNEL)
			set_kernel(trace, merge.strip, merge.row, cells);
		else
			set_memory(merge.strip, merge.row, cells);
		set_place(trace, merge.strip->lane, cells, device);
		report_row(run, cells);
	}
	merge_close(&merge);
	return true;
}
