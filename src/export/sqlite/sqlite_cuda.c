/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite_cuda.c - calls, device work, waits and events as CUPTI's tables. */
#include <ctype.h>
#include <string.h>

#include "export/sqlite/sqlite.h"

static int64_t or_null(int64_t value)
{
	return value ? value : SQL_NULL;
}

/* Yields the value of a column that stores references (trace/columns.h); SQL_NULL where the span
 * has none. */
static int64_t number_or_null(const struct hwy_strip *strip, enum hwy_col col, uint32_t row)
{
	int64_t number;
	return hwy_get_number(strip, col, row, &number) ? number : SQL_NULL;
}

/* Headway's memory kinds and causes of migration begin with "unknown", which nsys does not have:
 * nsys counts one less. */
static int64_t nsys_enum_or_null(const struct hwy_strip *strip, enum hwy_col col, uint32_t row)
{
	int64_t value = hwy_get(strip, col, row);
	return value ? export_add(value, -1) : SQL_NULL;
}

/* The columns that every table of device work has. */
struct where {
	int64_t process, pid, device, context, green, stream;
};

/* A wait for a whole device has no stream, which nsys writes as UINT32_MAX; other work without a
 * stream gets stream 0. */
static struct where where_of(struct sqlite *s, const struct hwy_lane *lane)
{
	const struct hwy_stream *stream = export_stream(s->x.trace, lane->stream);
	struct where at = {
		.process = lane->process,
		.pid = sqlite_lane_pid(s, lane),
		.device = sqlite_device(s, lane->process, lane->device),
		.green = SQL_NULL,
		.stream = lane->type == HWY_LANE_SYNC ? UINT32_MAX : 0,
	};
	if (!stream)
		return at;
	if (stream->ordinal != HWY_NONE)
		at.device = stream->ordinal;
	at.context = stream->context != HWY_NONE ? stream->context : 0;
	at.green = stream->green != HWY_NONE ? stream->green : SQL_NULL;
	at.stream = stream->number != HWY_NONE ? stream->number : UINT32_MAX;
	return at;
}

enum { WORK_COLUMNS = 8 };

static void sqlite_cuda_put_work(struct sqlite *s, const struct hwy_strip *strip, uint32_t row,
				 const struct where *at, int64_t *v)
{
	v[0] = hwy_get(strip, HWY_START, row);
	v[1] = hwy_end(strip, row);
	v[2] = at->device;
	v[3] = at->context;
	v[4] = at->green;
	v[5] = at->stream;
	v[6] = export_corr(&s->x, strip, row);
	v[7] = at->pid;
}

static void write_kernel(struct sqlite *s, const struct hwy_strip *strip, uint32_t row, int64_t *v)
{
	static const struct hwy_shape no_shape;
	static const struct hwy_symbol no_symbol;
	int64_t name = export_name(&s->x, strip, row);
	const struct hwy_symbol *symbol = hwy_get_symbol(s->x.trace, strip, row);
	const struct hwy_shape *shape = hwy_get_shape(s->x.trace, strip, row);
	symbol = symbol ? symbol : &no_symbol;
	shape = shape ? shape : &no_shape;
	int64_t demangled = sqlite_text(s, symbol->demangled > 0 ? symbol->demangled : name);
	int64_t rest[] = {
		demangled,
		symbol->shortname > 0 ? sqlite_text(s, symbol->shortname) : demangled,
		symbol->mangled > 0 ? sqlite_text(s, symbol->mangled) : SQL_NULL,
		hwy_get(strip, HWY_LAUNCH_TYPE, row),
		0,
		shape->registers,
		shape->grid_x,
		shape->grid_y,
		shape->grid_z,
		shape->block_x,
		shape->block_y,
		shape->block_z,
		shape->static_shared,
		shape->dynamic_shared,
		shape->local_per_thread,
		shape->local_total,
		0,
		shape->executed_shared,
		or_null(hwy_get(strip, HWY_GRAPH_NODE, row)),
		0,
		or_null(hwy_get(strip, HWY_GRAPH_ID, row)),
		or_null(shape->cluster_x),
		or_null(shape->cluster_y),
		or_null(shape->cluster_z),
	};
	memcpy(v + WORK_COLUMNS, rest, sizeof rest);
	sqlite_integers(s, SQL_KERNEL, v, WORK_COLUMNS + (int)(sizeof rest / sizeof *rest));
}

static int64_t peer(struct sqlite *s, const struct where *at, const struct hwy_strip *strip,
		    enum hwy_col col, uint32_t row)
{
	uint32_t device;
	return hwy_get_index(strip, col, row, &device) ? sqlite_device(s, at->process, device)
						       : SQL_NULL;
}

static void write_copy(struct sqlite *s, const struct hwy_strip *strip, uint32_t row,
		       const struct where *at, int64_t *v)
{
	int64_t rest[] = {
		hwy_get(strip, HWY_BYTES, row),
		hwy_get(strip, HWY_DIRECTION, row),
		SQL_NULL,
		nsys_enum_or_null(strip, HWY_SRC_MEMORY, row),
		nsys_enum_or_null(strip, HWY_DST_MEMORY, row),
		peer(s, at, strip, HWY_SRC_DEVICE, row),
		number_or_null(strip, HWY_SRC_CONTEXT, row),
		peer(s, at, strip, HWY_DST_DEVICE, row),
		number_or_null(strip, HWY_DST_CONTEXT, row),
		nsys_enum_or_null(strip, HWY_CAUSE, row),
		or_null(hwy_get(strip, HWY_GRAPH_NODE, row)),
		or_null(hwy_get(strip, HWY_ADDRESS, row)),
		or_null(hwy_get(strip, HWY_COUNT, row)),
	};
	memcpy(v + WORK_COLUMNS, rest, sizeof rest);
	sqlite_integers(s, SQL_MEMCPY, v, WORK_COLUMNS + (int)(sizeof rest / sizeof *rest));
}

static void write_fill(struct sqlite *s, const struct hwy_strip *strip, uint32_t row, int64_t *v)
{
	v[8] = hwy_get(strip, HWY_VALUE, row);
	v[9] = hwy_get(strip, HWY_BYTES, row);
	v[10] = or_null(hwy_get(strip, HWY_GRAPH_NODE, row));
	v[11] = nsys_enum_or_null(strip, HWY_DST_MEMORY, row);
	sqlite_integers(s, SQL_MEMSET, v, 12);
}

static int64_t event_id(const struct hwy_strip *strip, uint32_t row)
{
	int64_t number;
	return hwy_get_number(strip, HWY_EVENT_ID, row, &number) ? number : UINT32_MAX;
}

static void write_sync(struct sqlite *s, const struct hwy_strip *strip, uint32_t row, int64_t *v)
{
	v[8] = SQL_NULL;
	v[9] = hwy_get(strip, HWY_SYNC_TYPE, row);
	v[10] = event_id(strip, row);
	v[11] = number_or_null(strip, HWY_EVENT_SYNC, row);
	sqlite_integers(s, SQL_SYNC, v, 12);
}

/* An event with the time of its call was recorded without a device time, which nsys writes as 0. */
static void write_event(struct sqlite *s, const struct hwy_strip *strip, uint32_t row,
			const int64_t *work)
{
	int64_t time = work[0];
	uint32_t call;
	if (hwy_get_index(strip, HWY_LINK, row, &call) &&
	    export_peek_call(&s->x, call, HWY_START) == time)
		time = 0;
	int64_t v[] = {
		time,
		work[2],
		work[3],
		work[4],
		work[5],
		work[6],
		work[7],
		event_id(strip, row),
		number_or_null(strip, HWY_EVENT_SYNC, row),
	};
	sqlite_integers(s, SQL_EVENT, v, 9);
}

static void write_work(struct sqlite *s, const struct hwy_strip *strip)
{
	struct where at = where_of(s, &s->x.trace->lanes[strip->lane]);
	int64_t v[40];
	struct export_rows rows = export_rows(&s->x, strip, UINT64_MAX);
	while (export_next(&rows)) {
		uint32_t row = rows.row;
		sqlite_cuda_put_work(s, strip, row, &at, v);
		switch (strip->kind) {
		case HWY_KERNEL: write_kernel(s, strip, row, v); break;
		case HWY_COPY: write_copy(s, strip, row, &at, v); break;
		case HWY_FILL: write_fill(s, strip, row, v); break;
		case HWY_SYNC: write_sync(s, strip, row, v); break;
		case HWY_EVENT: write_event(s, strip, row, v); break;
		default:
			v[8] = hwy_get(strip, HWY_GRAPH_ID, row);
			v[9] = hwy_get(strip, HWY_GRAPH_EXEC, row);
			sqlite_integers(s, SQL_GRAPH, v, 10);
		}
		export_wrote(&s->x);
	}
}

/* The export's rows for copies of nodes are left out: a node of an instantiated graph stands
 * with the thread and the time of its original. */
void sqlite_cuda_write_nodes(struct sqlite *s)
{
	enum { CREATION = 77 }; /* eventClass of "Graph Node Creation" */
	const struct hwy_trace *trace = s->x.trace;
	int64_t name = trace->n_nodes ? sqlite_own_text(s, "Graph Node Creation") : 0;
	for (uint32_t i = 0; i < trace->n_nodes && !s->x.failed; i++) {
		const struct hwy_node *node = &trace->nodes[i];
		struct hwy_lane lane = {.process = node->process, .thread = node->thread};
		int64_t v[] = {node->time, node->time, CREATION, sqlite_lane_tid(s, &lane),
			       name,       node->node, SQL_NULL};
		if (node->time != HWY_NONE)
			sqlite_integers(s, SQL_GRAPH_NODE, v, 7);
	}
}

/* Names of the CUDA driver's calls begin with "cu" and a capital letter. */
static bool is_driver(const char *name)
{
	return name[0] == 'c' && name[1] == 'u' && isupper((unsigned char)name[2]);
}

static void write_calls(struct sqlite *s, const struct hwy_strip *strip)
{
	const struct hwy_trace *trace = s->x.trace;
	int64_t tid = sqlite_lane_tid(s, &trace->lanes[strip->lane]);
	struct export_rows rows = export_rows(&s->x, strip, UINT64_MAX);
	while (export_next(&rows)) {
		uint32_t row = rows.row;
		int64_t name = hwy_get(strip, HWY_NAME, row),
			stack = hwy_get(strip, HWY_STACK, row);
		int64_t v[] = {
			hwy_get(strip, HWY_START, row),  hwy_end(strip, row),
			is_driver(hwy_str(trace, name)), tid,
			hwy_get(strip, HWY_CORR, row),   sqlite_text(s, name),
			hwy_get(strip, HWY_RESULT, row), or_null(stack),
		};
		if (hwy_ref_is_set(stack))
			s->chains[SQLITE_CUDA_CHAINS][hwy_ref_index(stack)] = 1;
		sqlite_integers(s, SQL_RUNTIME, v, 8);
		export_wrote(&s->x);
	}
}

bool sqlite_cuda_write(struct sqlite *s, const struct hwy_strip *strip)
{
	const struct hwy_trace *trace = s->x.trace;
	if (hwy_lane_is_opencl(trace, strip->lane))
		return false;
	switch (strip->kind) {
	case HWY_API:
		if (*hwy_str(trace, trace->lanes[strip->lane].name))
			return false;
		write_calls(s, strip);
		return true;
	case HWY_KERNEL:
	case HWY_COPY:
	case HWY_FILL:
	case HWY_GRAPH:
	case HWY_SYNC:
	case HWY_EVENT: write_work(s, strip); return true;
	default: return false;
	}
}
