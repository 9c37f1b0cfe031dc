/* SPDX-License-Identifier: Apache-2.0 */
/* kineto_host.c - adds the spans of the CPU: calls of the vendor's library, operators, annotations,
 * Python functions, overhead of the recorder, allocations.
 *
 * The argument "Ev Idx", a number for each event of the file, is left out, because no two texts of
 * arguments would be the same with it. "Record function id" is left out where it is 0, as nearly
 * always.
 */
#include <string.h>

#include "import/kineto/kineto.h"

#define TAKES(key) KINETO_TAKES(KEY_##key)

static struct hwy_row host_row(struct kineto *k)
{
	struct hwy_row row = {0};
	row.v[HWY_START] = k->event.ts;
	row.v[HWY_DUR] = k->event.dur;
	row.v[HWY_NAME] = kineto_text_id(k, &k->event.name);
	return row;
}

void kineto_add_call(struct kineto *k)
{
	struct hwy_row row = host_row(k);
	int64_t correlation = kineto_number(k, KEY_CORRELATION);
	if (correlation <= 0 || correlation == INT64_MAX)
		correlation = k->hints->ready ? kineto_flow_correlation(k) : 0;
	row.v[HWY_CORR] = correlation;
	row.v[HWY_EXTERNAL] = kineto_number(k, KEY_EXTERNAL);
	row.v[HWY_ARGS] = kineto_args_text(k, TAKES(CORRELATION) | TAKES(EXTERNAL) | TAKES(INDEX));
	hwy_add_span(k->b, kineto_thread_lane(k, HWY_LANE_API, 0), HWY_API, &row);
}

static void fill_op(struct kineto *k, struct hwy_row *row)
{
	int64_t sequence;
	uint64_t taken = TAKES(EXTERNAL) | TAKES(SEQUENCE) | TAKES(INDEX);
	if (kineto_number(k, KEY_RECORD_FUNCTION) == 0)
		taken |= TAKES(RECORD_FUNCTION);
	row->v[HWY_EXTERNAL] = kineto_number(k, KEY_EXTERNAL);
	if (kineto_arg(k, KEY_SEQUENCE, &sequence) && sequence >= 0 && sequence < INT64_MAX)
		row->v[HWY_SEQUENCE] = hwy_ref(sequence);
	row->v[HWY_ARGS] = kineto_args_text(k, taken);
}

void kineto_add_op(struct kineto *k)
{
	struct hwy_row row = host_row(k);
	fill_op(k, &row);
	hwy_add_span(k->b, kineto_thread_lane(k, HWY_LANE_OP, 0), HWY_OP, &row);
}

void kineto_add_annotation(struct kineto *k)
{
	struct hwy_row row = host_row(k);
	fill_op(k, &row);
	row.v[HWY_STYLE] = HWY_PUSHPOP;
	hwy_add_span(k->b, kineto_thread_lane(k, HWY_LANE_RANGE, 0), HWY_RANGE, &row);
}

void kineto_add_python(struct kineto *k)
{
	struct hwy_row row = host_row(k);
	int64_t parent;
	row.v[HWY_ROW] = kineto_number(k, KEY_PYTHON);
	if (kineto_arg(k, KEY_PYTHON_PARENT, &parent) && parent >= 0 && parent < INT64_MAX)
		row.v[HWY_PARENT] = hwy_ref(parent);
	row.v[HWY_ARGS] = kineto_args_text(k, TAKES(PYTHON) | TAKES(PYTHON_PARENT) | TAKES(INDEX));
	hwy_add_span(k->b, kineto_thread_lane(k, HWY_LANE_CALL, 0), HWY_CALL, &row);
}

void kineto_add_library(struct kineto *k)
{
	struct hwy_row row = host_row(k);
	uint32_t library = kineto_text_id(k, &k->event.cat);
	row.v[HWY_ARGS] = kineto_args_text(k, TAKES(INDEX));
	hwy_add_span(k->b, kineto_thread_lane(k, HWY_LANE_CALL, library), HWY_CALL, &row);
}

/* The lane of an overhead event. Its pid is -1; its tid is a thread of the recorded process, or 0
 * for none. */
static uint32_t overhead_lane(struct kineto *k)
{
	if (kineto_read_id(k, &k->event.pid).number != -1)
		return kineto_thread_lane(k, HWY_LANE_OVERHEAD, 0);
	int64_t tid = kineto_read_id(k, &k->event.tid).number;
	struct hwy_lane lane = hwy_lane_of(HWY_LANE_OVERHEAD, HWY_NONE, HWY_NONE);
	if (tid == HWY_NONE || tid == 0)
		return hwy_add_lane(k->b, lane);
	/* The process is known at the end of the file (late_lanes). Until then lane.thread holds
	 * the tid, so that each thread has a lane of its own. */
	lane.thread = tid;
	uint32_t before = k->trace->n_lanes, index = hwy_add_lane(k->b, lane);
	if (index == before) {
		HWY_GROW(k->late_lanes, k->n_late_lanes, k->cap_late_lanes);
		k->late_lanes[k->n_late_lanes++] = (struct kineto_late){.tid = tid, .lane = index};
	}
	return index;
}

void kineto_add_overhead(struct kineto *k)
{
	struct hwy_row row = host_row(k);
	row.v[HWY_ARGS] = kineto_args_text(k, TAKES(INDEX));
	hwy_add_span(k->b, overhead_lane(k), HWY_OVERHEAD, &row);
}

/* The lane of an event of another category. Each category has a domain of its own, because nothing
 * tells whether its events nest in annotations. Spans and marks of the recorder ("PyTorch Profiler
 * (0)", "Record Window End") have texts as pids: they get the lane "Trace". */
static uint32_t other_lane(struct kineto *k)
{
	uint32_t domain = k->event.cat.type == SCAN_STRING ? kineto_text_id(k, &k->event.cat) : 0;
	if (kineto_read_id(k, &k->event.pid).number != HWY_NONE && k->event.pid.type != SCAN_NONE)
		return kineto_thread_lane(k, HWY_LANE_RANGE, domain);
	struct hwy_lane lane = hwy_lane_of(HWY_LANE_STARTEND, HWY_NONE, HWY_NONE);
	lane.name = hwy_text_id(k->b, "Trace");
	return hwy_add_lane(k->b, lane);
}

static void add_range(struct kineto *k, enum hwy_style style)
{
	struct hwy_row row = host_row(k);
	fill_op(k, &row);
	uint32_t lane = other_lane(k);
	if (k->trace->lanes[lane].type == HWY_LANE_STARTEND && style == HWY_PUSHPOP)
		style = HWY_STARTEND;
	row.v[HWY_STYLE] = style;
	row.v[HWY_CATEGORY] =
		k->event.cat.type == SCAN_STRING ? kineto_text_id(k, &k->event.cat) : 0;
	if (style == HWY_MARK)
		row.v[HWY_FLAGS] = HWY_FLAG_MARK;
	hwy_add_span(k->b, lane, HWY_RANGE, &row);
}

void kineto_add_other(struct kineto *k)
{
	add_range(k, HWY_PUSHPOP);
}

static uint32_t memory_lane(struct kineto *k, enum hwy_lane_type type, uint32_t name)
{
	struct kineto_id pid = kineto_read_id(k, &k->event.pid);
	struct kineto_id device = {.number = kineto_number(k, KEY_DEVICE_ID)};
	struct hwy_lane lane = hwy_lane_of(type, kineto_process(k, pid), HWY_NONE);
	if (kineto_number(k, KEY_DEVICE_TYPE) != 0 && device.number >= 0)
		lane.device = kineto_device(k, device);
	lane.name = name;
	if (type == HWY_LANE_COUNTER) {
		lane.unit = hwy_text_id(k->b, "bytes");
		lane.value_type = HWY_PAYLOAD_I64;
	}
	return hwy_add_lane(k->b, lane);
}

static void add_total(struct kineto *k, enum kineto_key key, const char *name)
{
	struct hwy_row row = {0};
	if (!kineto_arg(k, key, &row.v[HWY_VALUE]))
		return;
	row.v[HWY_START] = k->event.ts;
	uint32_t lane = memory_lane(k, HWY_LANE_COUNTER, hwy_text_id(k->b, name));
	hwy_add_span(k->b, lane, HWY_COUNTER, &row);
}

static void add_memory(struct kineto *k, int64_t bytes)
{
	struct hwy_row row = host_row(k);
	row.v[HWY_DUR] = 0;
	row.v[HWY_FLAGS] = HWY_FLAG_MARK;
	row.v[HWY_ADDRESS] = kineto_number(k, KEY_ADDRESS);
	row.v[HWY_BYTES] = bytes >= 0 ? bytes : bytes == INT64_MIN ? INT64_MAX : -bytes;
	row.v[HWY_OPERATION] = bytes < 0 ? HWY_RELEASE : HWY_ALLOCATE;
	if (kineto_number(k, KEY_DEVICE_TYPE) != 0)
		row.v[HWY_DST_MEMORY] = HWY_MEM_DEVICE;
	row.v[HWY_ARGS] = kineto_args_text(
		k, TAKES(DEVICE_TYPE) | TAKES(DEVICE_ID) | TAKES(ADDRESS) | TAKES(MEMORY_BYTES) |
			   TAKES(ALLOCATED) | TAKES(RESERVED) | TAKES(INDEX));
	hwy_add_span(k->b, memory_lane(k, HWY_LANE_MEMORY, 0), HWY_MEMORY, &row);
	add_total(k, KEY_ALLOCATED, "Total Allocated");
	add_total(k, KEY_RESERVED, "Total Reserved");
}

void kineto_add_instant(struct kineto *k)
{
	int64_t bytes;
	k->event.dur = 0;
	if (k->event.name.length == 8 && memcmp(k->event.name.text, "[memory]", 8) == 0 &&
	    kineto_arg(k, KEY_MEMORY_BYTES, &bytes))
		add_memory(k, bytes);
	else
		add_range(k, HWY_MARK);
}
