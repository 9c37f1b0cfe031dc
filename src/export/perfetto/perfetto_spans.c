/* SPDX-License-Identifier: Apache-2.0 */
/* perfetto_spans.c - the spans of a lane as slices, spread over rows where they overlap; flows,
 * counters.
 *
 * A slice is two packets, begin and end, and the slices of a track must nest: nested_rows.h chooses
 * the tracks. Every span is written; marks are instants, which the reader shows as slices without
 * length.
 */
#include <stdlib.h>

#include "export/perfetto/perfetto.h"

static void close_slice(void *user, uint32_t row, int64_t end)
{
	struct perfetto *p = user;
	perfetto_end(p, p->rows[row], end);
}

static uint64_t row_track(struct perfetto *p, uint32_t row)
{
	while (p->n_rows <= row) {
		HWY_GROW(p->rows, p->n_rows, p->cap_rows);
		p->rows[p->n_rows] = perfetto_tracks_add_row(p, p->lane, p->n_rows);
		p->n_rows++;
	}
	return p->rows[row];
}

/* ---- arguments ------------------------------------------------------------------------------- */

static void put_three(struct perfetto *p, enum perfetto_arg name, int64_t x, int64_t y, int64_t z)
{
	char text[80];
	snprintf(text, sizeof text, "%lld, %lld, %lld", (long long)x, (long long)y, (long long)z);
	perfetto_arg_text(p, name, export_text_id(&p->x, text));
}

/* The arguments of one launch shape are always the same bytes: they are encoded once. */
static void perfetto_spans_put_shape(struct perfetto *p, uint32_t index)
{
	struct hwy_bytes *known = &p->shapes[index];
	struct hwy_bytes *event = &p->event;
	if (!known->bytes) {
		const struct hwy_shape *shape = &p->x.trace->shapes[index];
		size_t before = event->n;
		put_three(p, PERFETTO_GRID, shape->grid_x, shape->grid_y, shape->grid_z);
		put_three(p, PERFETTO_BLOCK, shape->block_x, shape->block_y, shape->block_z);
		perfetto_arg_int(p, PERFETTO_REGISTERS, shape->registers);
		perfetto_arg_int(p, PERFETTO_SHARED,
				 export_add(shape->static_shared, shape->dynamic_shared));
		hwy_bytes_put(known, event->bytes + before, event->n - before);
		return;
	}
	hwy_bytes_put(event, known->bytes, known->n);
}

static void perfetto_spans_put_value(struct perfetto *p, const struct hwy_strip *strip,
				     uint32_t row, enum hwy_col col, enum perfetto_arg name)
{
	int64_t value = hwy_get(strip, col, row);
	if (value)
		perfetto_arg_int(p, name, value);
}

/* Adds an argument from a column that stores references (trace/columns.h), where the span has a
 * value. */
static void perfetto_spans_put_number(struct perfetto *p, const struct hwy_strip *strip,
				      uint32_t row, enum hwy_col col, enum perfetto_arg name)
{
	int64_t number;
	if (hwy_get_number(strip, col, row, &number))
		perfetto_arg_int(p, name, number);
}

static void perfetto_spans_put_text(struct perfetto *p, const struct hwy_strip *strip, uint32_t row,
				    enum hwy_col col, enum perfetto_arg name)
{
	int64_t text = hwy_get(strip, col, row);
	if (text > 0)
		perfetto_arg_text(p, name, text);
}

static void perfetto_spans_put_payload(struct perfetto *p, const struct hwy_strip *strip,
				       uint32_t row)
{
	int64_t type = hwy_get(strip, HWY_PAYLOAD_TYPE, row),
		value = hwy_get(strip, HWY_PAYLOAD, row);
	double real;
	if (type == HWY_PAYLOAD_NONE)
		return;
	memcpy(&real, &value, sizeof real);
	if (type == HWY_PAYLOAD_DOUBLE || type == HWY_PAYLOAD_FLOAT)
		perfetto_arg_double(p, PERFETTO_PAYLOAD, real);
	else if (type == HWY_PAYLOAD_JSON || type == HWY_PAYLOAD_BINARY)
		perfetto_arg_text(p, PERFETTO_PAYLOAD, value);
	else
		perfetto_arg_int(p, PERFETTO_PAYLOAD, value);
}

/* Yields the id of a text with the functions of a stack, innermost first, one a line, cut to what a
 * tooltip can show. */
static uint32_t stack_text(struct perfetto *p, int64_t stack)
{
	char text[2048];
	size_t n = 0;
	while (hwy_ref_is_set(stack) && n < sizeof text - 2) {
		struct hwy_text name = export_text(&p->x, export_frame_name(&p->x, stack));
		size_t room = sizeof text - n - 2, length = name.length < room ? name.length : room;
		memcpy(text + n, name.at, length);
		n += length;
		text[n++] = '\n';
		stack = hwy_stack_caller(p->x.trace, stack);
	}
	text[n ? n - 1 : 0] = 0;
	return export_text_id(&p->x, text);
}

static void perfetto_spans_put_stack(struct perfetto *p, int64_t stack)
{
	bool fresh;
	uint32_t *text = hwy_map_put(&p->stacks, (uint64_t)stack, &fresh);
	if (fresh)
		*text = stack_text(p, stack);
	perfetto_arg_text(p, PERFETTO_STACK, *text);
}

/* Adds the arguments of a span. Columns that its kind does not have read as 0 and add nothing. */
static void put_args(struct perfetto *p, const struct hwy_strip *strip, uint32_t row)
{
	int64_t correlation = export_corr(&p->x, strip, row),
		stack = hwy_get(strip, HWY_STACK, row);
	uint32_t shape;
	if (correlation)
		perfetto_arg_int(p, PERFETTO_CORRELATION, correlation);
	if (hwy_get_index(strip, HWY_SHAPE, row, &shape))
		perfetto_spans_put_shape(p, shape);
	perfetto_spans_put_value(p, strip, row, HWY_BYTES, PERFETTO_BYTES);
	perfetto_spans_put_value(p, strip, row, HWY_RESULT, PERFETTO_RESULT);
	perfetto_spans_put_value(p, strip, row, HWY_GRAPH_ID, PERFETTO_GRAPH);
	perfetto_spans_put_value(p, strip, row, HWY_GRAPH_NODE, PERFETTO_GRAPH_NODE);
	perfetto_spans_put_value(p, strip, row, HWY_ADDRESS, PERFETTO_ADDRESS);
	perfetto_spans_put_number(p, strip, row, HWY_EVENT_ID, PERFETTO_EVENT);
	perfetto_spans_put_value(p, strip, row, HWY_EXTERNAL, PERFETTO_EXTERNAL);
	perfetto_spans_put_number(p, strip, row, HWY_SEQUENCE, PERFETTO_SEQUENCE);
	perfetto_spans_put_number(p, strip, row, HWY_CPU, PERFETTO_CPU);
	perfetto_spans_put_text(p, strip, row, HWY_CATEGORY, PERFETTO_CATEGORY);
	perfetto_spans_put_text(p, strip, row, HWY_REASON, PERFETTO_REASON);
	perfetto_spans_put_text(p, strip, row, HWY_ARGS, PERFETTO_ARGS);
	if (strip->columns[HWY_PAYLOAD_TYPE])
		perfetto_spans_put_payload(p, strip, row);
	if (hwy_ref_is_set(stack))
		perfetto_spans_put_stack(p, stack);
}

/* Adds arrows from a call to each piece of its work: flow_ids 47 to the call,
 * terminating_flow_ids 48 to the work. An arrow's id is the reference to the call and, in the
 * upper 32 bits, the number of the piece among those of the call. */
static void put_flows(struct perfetto *p, const struct hwy_strip *strip, uint32_t row)
{
	enum { WORK_SHIFT = 32 };
	uint32_t call = strip->first + row;
	if (strip->kind == HWY_API) {
		uint64_t link = hwy_ref32(call), works = p->works[call];
		if (works == PERFETTO_MANY)
			works = *hwy_map_get(&p->counts, link);
		for (uint64_t i = 0; i < works; i++)
			pb_fixed64(&p->event, 47, i << WORK_SHIFT | link);
	} else if ((HWY_DEVICE_KINDS & HWY_KIND_BIT(strip->kind)) &&
		   hwy_get_index(strip, HWY_LINK, row, &call)) {
		int64_t link = hwy_ref32(call);
		uint64_t which = p->works[call] == PERFETTO_MANY
					 ? (*perfetto_link_value(&p->seen, &p->last, link))++
					 : 0;
		pb_fixed64(&p->event, 48, which << WORK_SHIFT | (uint64_t)link);
	}
}

/* ---- render stages --------------------------------------------------------------------------- */

/* InternedData.gpu_specifications 24 {iid 1, name 2, category 4}: a queue is a stream (iid:
 * reference to its lane), a stage is a kind of work (iid: STAGES + kind). */
enum { STAGES = 1 << 24 };

static void put_specification(struct perfetto *p, uint64_t iid, const char *name)
{
	enum { COMPUTE = 2 };
	struct hwy_bytes entry = {0}, data = {0};
	pb_int(&entry, 1, iid);
	pb_text(&entry, 2, name);
	pb_int(&entry, 4, COMPUTE);
	pb_bytes(&data, 24, entry.bytes, entry.n);
	perfetto_send_untimed(p, 12, &data);
	free(entry.bytes);
	free(data.bytes);
}

void perfetto_spans_write_stage_names(struct perfetto *p)
{
	const struct hwy_trace *trace = p->x.trace;
	char text[512];
	for (int kind = 0; kind < HWY_KINDS; kind++)
		if (HWY_DEVICE_KINDS & HWY_KIND_BIT(kind))
			put_specification(p, (uint64_t)STAGES + (uint64_t)kind,
					  hwy_kind_names[kind]);
	for (uint32_t i = 0; i < trace->n_lanes; i++) {
		if (trace->lanes[i].type != HWY_LANE_STREAM)
			continue;
		export_lane_label(trace, i, text, sizeof text);
		put_specification(p, hwy_ref32(i), text);
	}
}

/* GpuRenderStageEvent: event_id 1, duration 2, gpu_id 11, hw_queue_iid 13, stage_iid 14, name
 * 17. */
static void write_stage(struct perfetto *p, const struct hwy_strip *strip, uint32_t row,
			int64_t name)
{
	const struct hwy_device *device =
		export_device(p->x.trace, p->x.trace->lanes[strip->lane].device);
	struct hwy_text text = export_text(&p->x, name);
	struct hwy_bytes *stage = &p->event;
	stage->n = 0;
	pb_int(stage, 1, hwy_ref32(strip->first + row));
	pb_int(stage, 2, (uint64_t)hwy_get(strip, HWY_DUR, row));
	pb_int(stage, 11, device && device->ordinal > 0 ? (uint64_t)device->ordinal : 0);
	pb_int(stage, 13, hwy_ref32(strip->lane));
	pb_int(stage, 14, (uint64_t)STAGES + strip->kind);
	pb_bytes(stage, 17, text.at, text.length);
	perfetto_send_timed(p, hwy_get(strip, HWY_START, row), 53, stage);
}

/* ---- lanes ----------------------------------------------------------------------------------- */

static void write_span(struct perfetto *p, const struct hwy_strip *strip, uint32_t row)
{
	int64_t start = hwy_get(strip, HWY_START, row), name = export_name(&p->x, strip, row);
	if (hwy_get(strip, HWY_FLAGS, row) & HWY_FLAG_MARK) {
		perfetto_event(p, PERFETTO_INSTANT, row_track(p, 0), name);
		put_args(p, strip, row);
		perfetto_send_event(p, start);
		return;
	}
	uint32_t at = nested_rows_place(&p->nest, start, hwy_end(strip, row));
	perfetto_event(p, PERFETTO_BEGIN, row_track(p, at), name);
	put_flows(p, strip, row);
	perfetto_messages_put_flows(p, (int64_t)strip->first + row);
	put_args(p, strip, row);
	perfetto_messages_put_args(p, (int64_t)strip->first + row);
	perfetto_send_event(p, start);
	if (p->x.options->render_stages && (HWY_DEVICE_KINDS & HWY_KIND_BIT(strip->kind)))
		write_stage(p, strip, row, name);
}

static void perfetto_spans_write_counter(struct perfetto *p, const struct hwy_strip *strip)
{
	bool real = p->x.trace->lanes[strip->lane].value_type == HWY_PAYLOAD_DOUBLE;
	uint64_t track = perfetto_tracks_add_counter(p, strip->lane);
	struct export_rows rows = export_rows(&p->x, strip, HWY_COL_BIT(HWY_VALUE));
	while (export_next(&rows) && !p->out.error) {
		int64_t value = hwy_get(strip, HWY_VALUE, rows.row);
		double number;
		memcpy(&number, &value, sizeof number);
		perfetto_event(p, PERFETTO_COUNTER, track, -1);
		if (real)
			pb_double(&p->event, 44, number); /* field double_counter_value */
		else
			pb_int(&p->event, 30, (uint64_t)value); /* field counter_value */
		perfetto_send_event(p, hwy_get(strip, HWY_START, rows.row));
		export_wrote(&p->x);
	}
}

/* Writes a counter of the memory in use, which is the sum of the allocations so far. */
static void write_memory_counter(struct perfetto *p, const struct hwy_strip *strip)
{
	uint64_t track = perfetto_tracks_add_counter(p, strip->lane);
	struct export_rows rows =
		export_rows(&p->x, strip, HWY_COL_BIT(HWY_BYTES) | HWY_COL_BIT(HWY_OPERATION));
	int64_t sum = 0;
	while (export_step(&rows) && !p->out.error) {
		uint32_t row = rows.row;
		int64_t bytes = hwy_get(strip, HWY_BYTES, row);
		bool release = hwy_get(strip, HWY_OPERATION, row) == HWY_RELEASE;
		if (release ? __builtin_sub_overflow(sum, bytes, &sum)
			    : __builtin_add_overflow(sum, bytes, &sum))
			return;
		/* Memory that was allocated before the recording began was not counted when it
		 * is released. */
		sum = sum < 0 ? 0 : sum;
		if (export_keeps(&p->x, strip, row))
			perfetto_count(p, track, hwy_get(strip, HWY_START, row), sum);
	}
}

static bool perfetto_spans_comes_before(const struct export_rows *a, const struct export_rows *b)
{
	int64_t x = hwy_get(a->strip, HWY_START, a->row), y = hwy_get(b->strip, HWY_START, b->row);
	if (x != y)
		return x < y;
	return hwy_get(a->strip, HWY_DUR, a->row) > hwy_get(b->strip, HWY_DUR, b->row);
}

/* Writes the spans of all strips of a lane in order of start; of spans with equal starts the longer
 * one first. */
static void write_spans(struct perfetto *p, const struct hwy_strip *first,
			const struct hwy_strip *end)
{
	struct export_rows heads[HWY_KINDS];
	uint32_t n = 0;
	for (const struct hwy_strip *strip = first; strip < end; strip++) {
		heads[n] = export_rows(&p->x, strip, UINT64_MAX);
		if (strip->kind != HWY_COUNTER && export_next(&heads[n]))
			n++;
	}
	while (n && !p->out.error) {
		uint32_t best = 0;
		for (uint32_t i = 1; i < n; i++)
			if (perfetto_spans_comes_before(&heads[i], &heads[best]))
				best = i;
		write_span(p, heads[best].strip, heads[best].row);
		export_wrote(&p->x);
		if (!export_next(&heads[best])) {
			n--;
			memmove(&heads[best], &heads[best + 1], (n - best) * sizeof *heads);
		}
	}
	nested_rows_finish(&p->nest);
}

void perfetto_spans_write_lane(struct perfetto *p, const struct hwy_strip *first,
			       const struct hwy_strip *end)
{
	nested_rows_free(&p->nest);
	p->nest.closed = close_slice;
	p->nest.user = p;
	p->n_rows = 0;
	p->lane = first->lane;
	write_spans(p, first, end);
	for (const struct hwy_strip *strip = first; strip < end; strip++) {
		if (!export_keeps_strip(&p->x, strip))
			continue;
		if (strip->kind == HWY_COUNTER)
			perfetto_spans_write_counter(p, strip);
		if (strip->kind == HWY_MEMORY)
			write_memory_counter(p, strip);
	}
}
