/* SPDX-License-Identifier: Apache-2.0 */
/* chrome_spans.c - the list of events: one event for each span. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "export/chrome/chrome.h"

/* ---- an event -------------------------------------------------------------------------------- */

void chrome_spans_key(struct chrome_event *e, const char *name, size_t n)
{
	if (e->has_arg)
		out_literal(e->out, ", ");
	e->has_arg = true;
	out_char(e->out, '"');
	out_bytes(e->out, name, n);
	out_literal(e->out, "\": ");
}

#define arg_int(e, name, value) CHROME_ARG_INT(e, name, value)
#define arg_text(e, name, text) CHROME_ARG_TEXT(e, name, text)

static struct hwy_text z(const char *text)
{
	return (struct hwy_text){text, (uint32_t)strlen(text)};
}

void chrome_spans_put_place(struct out *out, const struct chrome_lane *lane, uint32_t row)
{
	enum { NEXT_ROW = 100000000 };
	out_literal(out, ", \"pid\": ");
	out_z(out, lane->pid);
	out_literal(out, ", \"tid\": ");
	if (row && lane->number != INT64_MIN)
		out_int(out, export_add(lane->number, (int64_t)row * NEXT_ROW));
	else
		out_z(out, lane->tid);
}

static struct chrome_event chrome_spans_begin(struct chrome *c, const struct hwy_strip *strip,
					      uint32_t row, const char *cat, struct hwy_text name,
					      uint32_t nest_row)
{
	struct out *out = &c->out;
	int64_t flags = hwy_get(strip, HWY_FLAGS, row);
	bool mark = (flags & HWY_FLAG_MARK) && strip->kind != HWY_EVENT;
	chrome_next(c);
	if (mark)
		out_literal(out, "{\"ph\": \"i\", \"s\": \"t\"");
	else
		out_literal(out, "{\"ph\": \"X\"");
	if (*cat) {
		out_literal(out, ", \"cat\": ");
		out_json(out, z(cat));
	}
	out_literal(out, ", \"name\": ");
	out_json(out, name);
	chrome_spans_put_place(out, &c->lanes[strip->lane], nest_row);
	out_literal(out, ", \"ts\": ");
	out_us(out, hwy_get(strip, HWY_START, row) + c->shift);
	if (!mark) {
		int64_t dur = hwy_get(strip, HWY_DUR, row);
		out_literal(out, ", \"dur\": ");
		/* A recorded event has no duration; Kineto writes 1 ns, so that viewers show it. */
		out_us(out, strip->kind == HWY_EVENT ? 1 : dur);
	}
	out_literal(out, ", \"args\": {");
	return (struct chrome_event){.out = out};
}

static void chrome_spans_end(struct chrome *c, struct chrome_event *e,
			     const struct hwy_strip *strip, uint32_t row)
{
	struct hwy_text args = hwy_text(c->x.trace, hwy_get(strip, HWY_ARGS, row));
	chrome_messages_put(c, e, strip, row);
	if (args.length > 2 && args.at[0] == '{') {
		if (e->has_arg)
			out_literal(e->out, ", ");
		out_bytes(e->out, args.at + 1, args.length - 2);
	}
	out_literal(e->out, "}}");
}

static void put_external(struct chrome_event *e, const struct hwy_strip *strip, uint32_t row)
{
	int64_t external = hwy_get(strip, HWY_EXTERNAL, row);
	if (external)
		arg_int(e, "External id", external);
}

/* ---- the device ------------------------------------------------------------------------------ */

static void chrome_spans_put_work(struct chrome *c, struct chrome_event *e,
				  const struct hwy_strip *strip, uint32_t row)
{
	const struct hwy_trace *trace = c->x.trace;
	const struct hwy_lane *lane = &trace->lanes[strip->lane];
	const struct hwy_device *device = export_device(trace, lane->device);
	const struct hwy_stream *stream = export_stream(trace, lane->stream);
	int64_t correlation = export_corr(&c->x, strip, row);
	put_external(e, strip, row);
	if (device && device->ordinal != HWY_NONE)
		arg_int(e, "device", device->ordinal);
	if (stream && stream->context != HWY_NONE)
		arg_int(e, "context", stream->context);
	arg_int(e, "stream", stream && stream->number != HWY_NONE ? stream->number : -1);
	if (correlation)
		arg_int(e, "correlation", correlation);
	if (strip->kind == HWY_SYNC || strip->kind == HWY_EVENT)
		return;
	int64_t graph = hwy_get(strip, HWY_GRAPH_ID, row),
		node = hwy_get(strip, HWY_GRAPH_NODE, row);
	int64_t exec = hwy_get(strip, HWY_GRAPH_EXEC, row), channel;
	if (graph)
		arg_int(e, "graph id", graph);
	if (node)
		arg_int(e, "graph node id", node);
	if (exec)
		arg_int(e, "graph exec id", exec);
	if (hwy_get_number(strip, HWY_CHANNEL, row, &channel))
		arg_int(e, "channel", channel);
	if (hwy_get(strip, HWY_CHANNEL_TYPE, row))
		arg_int(e, "channel_type", hwy_get(strip, HWY_CHANNEL_TYPE, row));
	if (stream && stream->priority != HWY_NONE)
		arg_int(e, "priority", stream->priority);
}

static void put_three(struct chrome_event *e, const char *name, int64_t x, int64_t y, int64_t zz)
{
	chrome_spans_key(e, name, strlen(name));
	out_char(e->out, '[');
	out_int(e->out, x);
	out_literal(e->out, ", ");
	out_int(e->out, y);
	out_literal(e->out, ", ");
	out_int(e->out, zz);
	out_char(e->out, ']');
}

static void chrome_spans_put_shape(struct chrome *c, struct chrome_event *e,
				   const struct hwy_strip *strip, uint32_t row)
{
	const struct hwy_shape *shape = hwy_get_shape(c->x.trace, strip, row);
	if (!shape)
		return;
	arg_int(e, "registers per thread", shape->registers);
	arg_int(e, "shared memory", export_add(shape->static_shared, shape->dynamic_shared));
	put_three(e, "grid", shape->grid_x, shape->grid_y, shape->grid_z);
	put_three(e, "block", shape->block_x, shape->block_y, shape->block_z);
}

static void put_peer(struct chrome *c, struct chrome_event *e, const char *name,
		     const struct hwy_strip *strip, enum hwy_col col, uint32_t row)
{
	uint32_t index;
	if (!hwy_get_index(strip, col, row, &index))
		return;
	const struct hwy_device *device = export_device(c->x.trace, index);
	if (!device || device->ordinal == HWY_NONE)
		return;
	chrome_spans_key(e, name, strlen(name));
	out_int(e->out, device->ordinal);
}

static void put_copy(struct chrome *c, struct chrome_event *e, const struct hwy_strip *strip,
		     uint32_t row)
{
	int64_t bytes = hwy_get(strip, HWY_BYTES, row), dur = hwy_get(strip, HWY_DUR, row);
	char rate[48];
	arg_int(e, "bytes", bytes);
	if (dur > 0) {
		chrome_spans_key(e, "memory bandwidth (GB/s)", 23);
		out_bytes(e->out, rate,
			  (size_t)snprintf(rate, sizeof rate, "%.6g", (double)bytes / (double)dur));
	}
	put_peer(c, e, "fromDevice", strip, HWY_SRC_DEVICE, row);
	put_peer(c, e, "toDevice", strip, HWY_DST_DEVICE, row);
	int64_t context;
	if (hwy_get_number(strip, HWY_SRC_CONTEXT, row, &context))
		arg_int(e, "fromContext", context);
	if (hwy_get_number(strip, HWY_DST_CONTEXT, row, &context))
		arg_int(e, "toContext", context);
}

static void write_work(struct chrome *c, const struct hwy_strip *strip, uint32_t row)
{
	struct hwy_text name = export_text(&c->x, export_name(&c->x, strip, row));
	uint32_t nested_row =
		nested_rows_place(&c->nest, hwy_get(strip, HWY_START, row), hwy_end(strip, row));
	const char *cat = strip->kind == HWY_COPY   ? "gpu_memcpy"
			  : strip->kind == HWY_FILL ? "gpu_memset"
						    : "kernel";
	struct chrome_event e = chrome_spans_begin(c, strip, row, cat, name, nested_row);
	chrome_spans_put_work(c, &e, strip, row);
	if (strip->kind == HWY_KERNEL)
		chrome_spans_put_shape(c, &e, strip, row);
	else if (strip->kind != HWY_GRAPH)
		put_copy(c, &e, strip, row);
	chrome_spans_end(c, &e, strip, row);
	chrome_arrows_put_launch(c, strip, row, nested_row);
}

/* Yields the correlation id of the event record that a wait waits for; -1 where it is not known. */
static int64_t waited_record(const struct chrome *c, const struct hwy_strip *strip, uint32_t row)
{
	int64_t wait = (int64_t)strip->first + row, recorded;
	if (c->x.is_kineto)
		return hwy_get_number(strip, HWY_EVENT_SYNC, row, &recorded) ? recorded : -1;
	uint32_t found = HWY_FIRST(i, 0, c->n_records, c->records[i].wait >= wait);
	return found < c->n_records && c->records[found].wait == wait
		       ? c->records[found].correlation
		       : -1;
}

static void write_sync(struct chrome *c, const struct hwy_strip *strip, uint32_t row)
{
	static const char *const kinds[HWY_SYNC_TYPES] = {
		"Unknown", "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync"};
	int64_t type = hwy_get(strip, HWY_SYNC_TYPE, row), name = hwy_get(strip, HWY_NAME, row);
	const char *kind = kinds[type >= 0 && type < HWY_SYNC_TYPES ? type : 0];
	uint32_t nested_row =
		nested_rows_place(&c->nest, hwy_get(strip, HWY_START, row), hwy_end(strip, row));
	struct chrome_event e =
		chrome_spans_begin(c, strip, row, "cuda_sync",
				   name > 0 ? hwy_text(c->x.trace, name) : z(kind), nested_row);
	if (type != HWY_SYNC_UNKNOWN)
		arg_text(&e, "cuda_sync_kind", z(kind));
	chrome_spans_put_work(c, &e, strip, row);
	const struct hwy_stream *waited = hwy_get_waited(c->x.trace, strip, row);
	if (type == HWY_SYNC_EVENT)
		arg_int(&e, "wait_on_stream",
			waited && waited->number != HWY_NONE ? waited->number : -1);
	int64_t record = waited_record(c, strip, row);
	if (record > 0)
		arg_int(&e, "wait_on_cuda_event_record_corr_id", record);
	int64_t event;
	if (hwy_get_number(strip, HWY_EVENT_ID, row, &event))
		arg_int(&e, "wait_on_cuda_event_id", event);
	chrome_spans_end(c, &e, strip, row);
}

static void write_event(struct chrome *c, const struct hwy_strip *strip, uint32_t row)
{
	struct chrome_event e = chrome_spans_begin(
		c, strip, row, "cuda_event", export_text(&c->x, export_name(&c->x, strip, row)), 0);
	chrome_spans_put_work(c, &e, strip, row);
	int64_t event;
	if (hwy_get_number(strip, HWY_EVENT_ID, row, &event))
		arg_int(&e, "event_id", event);
	chrome_spans_end(c, &e, strip, row);
}

/* ---- the CPU --------------------------------------------------------------------------------- */

/* Yields the name of a call without the version that CUPTI's callbacks and nsys append:
 * cudaLaunchKernel_v7000. */
static struct hwy_text plain_name(struct hwy_text name)
{
	uint32_t n = name.length;
	while (n && isdigit((unsigned char)name.at[n - 1]))
		n--;
	if (n > 2 && n < name.length && name.at[n - 1] == 'v' && name.at[n - 2] == '_' &&
	    name.length - n >= 4)
		name.length = n - 2;
	return name;
}

static void write_call(struct chrome *c, const struct hwy_strip *strip, uint32_t row)
{
	const struct hwy_trace *trace = c->x.trace;
	struct hwy_text name = hwy_text(trace, hwy_get(strip, HWY_NAME, row));
	const char *library = hwy_str(trace, trace->lanes[strip->lane].name);
	char cat[64];
	bool driver = name.length > 2 && name.at[0] == 'c' && name.at[1] == 'u' &&
		      isupper((unsigned char)name.at[2]);
	if (*library)
		snprintf(cat, sizeof cat, "%.40s_runtime", library);
	else
		snprintf(cat, sizeof cat, "%s", driver ? "cuda_driver" : "cuda_runtime");
	struct chrome_event e =
		chrome_spans_begin(c, strip, row, cat, c->x.is_kineto ? name : plain_name(name), 0);
	int64_t correlation = hwy_get(strip, HWY_CORR, row),
		result = hwy_get(strip, HWY_RESULT, row);
	put_external(&e, strip, row);
	if (correlation)
		arg_int(&e, "correlation", correlation);
	if (result)
		arg_int(&e, "result", result);
	chrome_spans_end(c, &e, strip, row);
}

static void chrome_spans_put_stack(struct chrome *c, struct chrome_event *e, int64_t stack)
{
	if (!hwy_ref_is_set(stack))
		return;
	chrome_spans_key(e, "Call stack", 10);
	out_char(e->out, '"');
	for (bool first = true; hwy_ref_is_set(stack); first = false) {
		struct hwy_text name = export_text(&c->x, export_frame_name(&c->x, stack));
		if (!first)
			out_literal(e->out, "; ");
		for (uint32_t i = 0; i < name.length; i++)
			if (name.at[i] >= 0x20 && name.at[i] < 0x7f && name.at[i] != '"' &&
			    name.at[i] != '\\')
				out_char(e->out, name.at[i]);
		stack = hwy_stack_caller(c->x.trace, stack);
	}
	out_char(e->out, '"');
}

static const char *range_category(const struct chrome *c, const struct hwy_strip *strip,
				  uint32_t row)
{
	const struct hwy_trace *trace = c->x.trace;
	const struct hwy_lane *lane = &trace->lanes[strip->lane];
	if (lane->type == HWY_LANE_DEVICE_RANGE)
		return "gpu_user_annotation";
	if (c->x.is_kineto && hwy_get(strip, HWY_CATEGORY, row) > 0)
		return hwy_str(trace, hwy_get(strip, HWY_CATEGORY, row));
	if (c->x.is_kineto && (lane->type == HWY_LANE_STARTEND || *hwy_str(trace, lane->name) ||
			       (hwy_get(strip, HWY_FLAGS, row) & HWY_FLAG_MARK)))
		return "";
	return "user_annotation";
}

static void chrome_spans_put_payload(struct chrome *c, struct chrome_event *e,
				     const struct hwy_strip *strip, uint32_t row)
{
	const struct hwy_trace *trace = c->x.trace;
	int64_t type = hwy_get(strip, HWY_PAYLOAD_TYPE, row),
		value = hwy_get(strip, HWY_PAYLOAD, row);
	double real;
	if (type == HWY_PAYLOAD_NONE)
		return;
	chrome_spans_key(e, "payload", 7);
	if (type == HWY_PAYLOAD_DOUBLE || type == HWY_PAYLOAD_FLOAT) {
		memcpy(&real, &value, sizeof real);
		out_real(e->out, real);
	} else if (type == HWY_PAYLOAD_JSON || type == HWY_PAYLOAD_BINARY) {
		out_json(e->out, hwy_text(trace, value));
	} else {
		out_int(e->out, value);
	}
}

static void write_annotation(struct chrome *c, const struct hwy_strip *strip, uint32_t row)
{
	const struct hwy_trace *trace = c->x.trace;
	const struct hwy_lane *lane = &trace->lanes[strip->lane];
	int64_t sequence;
	uint32_t argb, nested_row = 0;
	if (lane->type == HWY_LANE_STARTEND)
		nested_row = nested_rows_place(&c->nest, hwy_get(strip, HWY_START, row),
					       hwy_end(strip, row));
	struct chrome_event e = chrome_spans_begin(
		c, strip, row, strip->kind == HWY_OP ? "cpu_op" : range_category(c, strip, row),
		hwy_text(trace, hwy_get(strip, HWY_NAME, row)), nested_row);
	put_external(&e, strip, row);
	if (hwy_get_number(strip, HWY_SEQUENCE, row, &sequence))
		arg_int(&e, "Sequence number", sequence);
	if (!c->x.is_kineto && strip->kind == HWY_RANGE) {
		if (*hwy_str(trace, lane->name))
			arg_text(&e, "domain", hwy_text(trace, lane->name));
		if (hwy_get(strip, HWY_CATEGORY, row) > 0)
			arg_text(&e, "category",
				 hwy_text(trace, hwy_get(strip, HWY_CATEGORY, row)));
		if (hwy_get_color(strip, row, &argb))
			arg_int(&e, "color", argb);
		chrome_spans_put_payload(c, &e, strip, row);
	}
	chrome_spans_put_stack(c, &e, hwy_get(strip, HWY_STACK, row));
	chrome_spans_end(c, &e, strip, row);
}

static void write_python(struct chrome *c, const struct hwy_strip *strip, uint32_t row)
{
	struct chrome_event e =
		chrome_spans_begin(c, strip, row, "python_function",
				   hwy_text(c->x.trace, hwy_get(strip, HWY_NAME, row)), 0);
	if (hwy_get(strip, HWY_ROW, row))
		arg_int(&e, "Python id", hwy_get(strip, HWY_ROW, row));
	int64_t parent;
	if (hwy_get_number(strip, HWY_PARENT, row, &parent))
		arg_int(&e, "Python parent id", parent);
	chrome_spans_end(c, &e, strip, row);
}

/* A call of a library has the library's name as its category. Scopes of PyTorch
 * ("gloo:all_reduce") are annotations, as in its own traces; they may overlap. */
static void write_library(struct chrome *c, const struct hwy_strip *strip, uint32_t row)
{
	const struct hwy_trace *trace = c->x.trace;
	struct hwy_text name = hwy_text(trace, hwy_get(strip, HWY_NAME, row));
	bool is_scope = memchr(name.at, ':', name.length);
	uint32_t nested_row = is_scope ? nested_rows_place(&c->nest, hwy_get(strip, HWY_START, row),
							   hwy_end(strip, row))
				       : 0;
	const char *library = hwy_str(trace, trace->lanes[strip->lane].name);
	struct chrome_event e = chrome_spans_begin(
		c, strip, row, is_scope ? "user_annotation" : library, name, nested_row);
	chrome_spans_put_stack(c, &e, hwy_get(strip, HWY_STACK, row));
	chrome_spans_end(c, &e, strip, row);
}

static void write_plain(struct chrome *c, const struct hwy_strip *strip, uint32_t row)
{
	const char *cat = strip->kind == HWY_OVERHEAD ? "overhead"
			  : strip->kind == HWY_OS     ? "os"
			  : strip->kind == HWY_STATE  ? "thread_state"
						      : "cpu_sample";
	struct chrome_event e = chrome_spans_begin(
		c, strip, row, cat, export_text(&c->x, export_name(&c->x, strip, row)), 0);
	if (hwy_get(strip, HWY_REASON, row) > 0)
		arg_text(&e, "reason", hwy_text(c->x.trace, hwy_get(strip, HWY_REASON, row)));
	int64_t cpu;
	if (hwy_get_number(strip, HWY_CPU, row, &cpu))
		arg_int(&e, "cpu", cpu);
	chrome_spans_put_stack(c, &e, hwy_get(strip, HWY_STACK, row));
	chrome_spans_end(c, &e, strip, row);
}

/* ---- allocations and counters ---------------------------------------------------------------- */

/* A counter whose values are written into the allocations of the same time. */
struct total {
	const struct hwy_strip *strip;
	uint32_t next; /* the first row that is not written yet */
};

static void put_total(struct chrome *c, struct chrome_event *e, const char *name,
		      struct total *total, int64_t time)
{
	if (!total->strip || total->next >= total->strip->rows ||
	    export_peek(&c->x, total->strip, HWY_START, total->next) != time)
		return;
	chrome_spans_key(e, name, strlen(name));
	out_int(e->out, export_peek(&c->x, total->strip, HWY_VALUE, total->next++));
	export_wrote(&c->x);
}

static const struct hwy_strip *counter_strip(const struct hwy_trace *trace, uint32_t ref)
{
	return hwy_ref32_is_set(ref) ? &trace->strips[hwy_ref32_index(ref)] : NULL;
}

static void write_memory(struct chrome *c, uint32_t index)
{
	struct hwy_trace *trace = c->x.trace;
	const struct hwy_strip *strip = &trace->strips[index];
	const struct hwy_device *device = export_device(trace, trace->lanes[strip->lane].device);
	struct total allocated = {counter_strip(trace, c->totals[index].allocated), 0};
	struct total reserved = {counter_strip(trace, c->totals[index].reserved), 0};
	struct export_rows rows = export_rows(&c->x, strip, UINT64_MAX);
	while (export_next(&rows) && !c->out.error) {
		uint32_t row = rows.row;
		int64_t bytes = hwy_get(strip, HWY_BYTES, row),
			time = hwy_get(strip, HWY_START, row);
		struct chrome_event e =
			chrome_spans_begin(c, strip, row, "cpu_instant_event", z("[memory]"), 0);
		arg_int(&e, "Device Type", device ? 1 : 0);
		arg_int(&e, "Device Id",
			device && device->ordinal != HWY_NONE ? device->ordinal : -1);
		arg_int(&e, "Addr", hwy_get(strip, HWY_ADDRESS, row));
		arg_int(&e, "Bytes",
			hwy_get(strip, HWY_OPERATION, row) == HWY_RELEASE
				? (int64_t)(0 - (uint64_t)bytes)
				: bytes);
		put_total(c, &e, "Total Allocated", &allocated, time);
		put_total(c, &e, "Total Reserved", &reserved, time);
		chrome_spans_end(c, &e, strip, row);
		export_wrote(&c->x);
	}
}

static void chrome_spans_write_counter(struct chrome *c, const struct hwy_strip *strip,
				       uint32_t row)
{
	const struct hwy_lane *lane = &c->x.trace->lanes[strip->lane];
	struct out *out = &c->out;
	int64_t value = hwy_get(strip, HWY_VALUE, row);
	chrome_next(c);
	out_literal(out, "{\"ph\": \"C\", \"cat\": \"hardware_counters\", \"name\": ");
	out_json(out, hwy_text(c->x.trace, lane->name));
	chrome_spans_put_place(out, &c->lanes[strip->lane], 0);
	out_literal(out, ", \"ts\": ");
	out_us(out, hwy_get(strip, HWY_START, row) + c->shift);
	out_literal(out, ", \"args\": {\"\": ");
	if (lane->value_type == HWY_PAYLOAD_DOUBLE) {
		double real;
		memcpy(&real, &value, sizeof real);
		out_real(out, real);
	} else {
		out_int(out, value);
	}
	out_literal(out, "}}");
}

/* ---- strips ---------------------------------------------------------------------------------- */

static void write_span(struct chrome *c, const struct hwy_strip *strip, uint32_t row)
{
	switch (strip->kind) {
	case HWY_KERNEL:
	case HWY_COPY:
	case HWY_FILL:
	case HWY_GRAPH: write_work(c, strip, row); break;
	case HWY_SYNC: write_sync(c, strip, row); break;
	case HWY_EVENT: write_event(c, strip, row); break;
	case HWY_API: write_call(c, strip, row); break;
	case HWY_RANGE:
	case HWY_OP: write_annotation(c, strip, row); break;
	case HWY_CALL:
		if (hwy_lane_is_library(c->x.trace, strip->lane))
			write_library(c, strip, row);
		else
			write_python(c, strip, row);
		break;
	case HWY_COUNTER: chrome_spans_write_counter(c, strip, row); break;
	default: write_plain(c, strip, row);
	}
}

void chrome_spans_write_strip(struct chrome *c, uint32_t index)
{
	const struct hwy_strip *strip = &c->x.trace->strips[index];
	if (strip->kind == HWY_MEMORY) {
		write_memory(c, index);
		return;
	}
	/* The strips of one lane follow each other, and their spans share the lane's rows. */
	if (index == 0 || c->x.trace->strips[index - 1].lane != strip->lane)
		nested_rows_free(&c->nest);
	else
		nested_rows_finish(&c->nest);
	struct export_rows rows = export_rows(&c->x, strip, UINT64_MAX);
	while (export_next(&rows) && !c->out.error) {
		write_span(c, strip, rows.row);
		export_wrote(&c->x);
	}
}
