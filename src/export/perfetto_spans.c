/* perfetto_spans.c - the spans of a lane as slices, spread over rows where they overlap; flows, counters.
 *
 * A slice is two packets, begin and end, and those of a track are a stack: nest.h sees to it that they nest.
 * Every span is there; marks are instants, which the reader shows as slices of no length.
 */
#include <stdlib.h>

#include "export/perfetto.h"

static void close_slice(void *user, uint32_t row, int64_t end)
{
	struct pf *p = user;
	pf_end(p, p->rows[row], end);
}

static uint64_t row_track(struct pf *p, uint32_t row)
{
	while (p->n_rows <= row) {
		HWY_GROW(p->rows, p->n_rows, p->cap_rows);
		p->rows[p->n_rows] = pf_lane_track(p, p->lane, p->n_rows);
		p->n_rows++;
	}
	return p->rows[row];
}

/* ---- arguments ------------------------------------------------------------------------------------ */

static void put_three(struct pf *p, enum pf_arg name, int64_t x, int64_t y, int64_t z)
{
	char text[80];
	snprintf(text, sizeof text, "%lld, %lld, %lld", (long long)x, (long long)y, (long long)z);
	pf_arg_text(p, name, export_text_id(&p->x, text));
}

/* A shape's arguments are always the same bytes. */
static void put_shape(struct pf *p, int64_t index)
{
	struct pf_shape *known = &p->shapes[index];
	struct pb *event = &p->event;
	if (!known->at) {
		const struct hwy_shape *shape = &p->x.trace->shapes[index];
		size_t before = event->n;
		put_three(p, PF_GRID, shape->grid_x, shape->grid_y, shape->grid_z);
		put_three(p, PF_BLOCK, shape->block_x, shape->block_y, shape->block_z);
		pf_arg_int(p, PF_REGISTERS, shape->registers);
		pf_arg_int(p, PF_SHARED, export_add(shape->static_shared, shape->dynamic_shared));
		known->n = (uint32_t)(event->n - before);
		known->at = hwy_copy(event->at + before, known->n);
		return;
	}
	pb_reserve(event, known->n);
	memcpy(event->at + event->n, known->at, known->n);
	event->n += known->n;
}

static void put_known(struct pf *p, const struct hwy_strip *strip, uint32_t row, enum hwy_col col,
		      enum pf_arg name, int64_t less)
{
	int64_t value = hwy_get(strip, col, row);
	if (value)
		pf_arg_int(p, name, export_add(value, -less));
}

static void put_text(struct pf *p, const struct hwy_strip *strip, uint32_t row, enum hwy_col col,
		     enum pf_arg name)
{
	int64_t text = hwy_get(strip, col, row);
	if (text > 0)
		pf_arg_text(p, name, text);
}

static void put_payload(struct pf *p, const struct hwy_strip *strip, uint32_t row)
{
	int64_t type = hwy_get(strip, HWY_PAYLOAD_TYPE, row),
		value = hwy_get(strip, HWY_PAYLOAD, row);
	double real;
	if (type == HWY_PAYLOAD_NONE)
		return;
	memcpy(&real, &value, sizeof real);
	if (type == HWY_PAYLOAD_DOUBLE || type == HWY_PAYLOAD_FLOAT)
		pf_arg_double(p, PF_PAYLOAD, real);
	else if (type == HWY_PAYLOAD_JSON || type == HWY_PAYLOAD_BINARY)
		pf_arg_text(p, PF_PAYLOAD, value);
	else
		pf_arg_int(p, PF_PAYLOAD, value);
}

/* Frames of the way to the root, from the leaf, up to what a tooltip can show. */
static void put_stack(struct pf *p, int64_t stack)
{
	char text[2048];
	size_t n = 0;
	while (stack > 0 && n < sizeof text - 2) {
		const struct hwy_stack *node = &p->x.trace->stacks[stack - 1];
		struct hwy_text name = export_text(&p->x, export_frame_name(&p->x, stack));
		size_t room = sizeof text - n - 2, length = name.length < room ? name.length : room;
		memcpy(text + n, name.at, length);
		n += length;
		text[n++] = '\n';
		stack = node->parent < stack ? node->parent : 0;
	}
	text[n ? n - 1 : 0] = 0;
	pf_arg_text(p, PF_STACK, export_text_id(&p->x, text));
}

/* Columns that a kind does not have read as 0, and few have many. */
static void put_args(struct pf *p, const struct hwy_strip *strip, uint32_t row)
{
	const struct hwy_trace *trace = p->x.trace;
	int64_t shape = hwy_get(strip, HWY_SHAPE, row), correlation = hwy_corr(trace, strip, row);
	if (correlation)
		pf_arg_int(p, PF_CORRELATION, correlation);
	if (shape > 0 && shape <= trace->n_shapes)
		put_shape(p, shape - 1);
	put_known(p, strip, row, HWY_BYTES, PF_BYTES, 0);
	put_known(p, strip, row, HWY_RESULT, PF_RESULT, 0);
	put_known(p, strip, row, HWY_GRAPH_ID, PF_GRAPH, 0);
	put_known(p, strip, row, HWY_GRAPH_NODE, PF_GRAPH_NODE, 0);
	put_known(p, strip, row, HWY_ADDRESS, PF_ADDRESS, 0);
	put_known(p, strip, row, HWY_EVENT_ID, PF_EVENT, 1);
	put_known(p, strip, row, HWY_EXTERNAL, PF_EXTERNAL, 0);
	put_known(p, strip, row, HWY_SEQUENCE, PF_SEQUENCE, 1);
	put_known(p, strip, row, HWY_CPU, PF_CPU, 1);
	put_text(p, strip, row, HWY_CATEGORY, PF_CATEGORY);
	put_text(p, strip, row, HWY_REASON, PF_REASON);
	put_text(p, strip, row, HWY_ARGS, PF_ARGS);
	if (strip->columns[HWY_PAYLOAD_TYPE])
		put_payload(p, strip, row);
	if (hwy_get(strip, HWY_STACK, row) > 0)
		put_stack(p, hwy_get(strip, HWY_STACK, row));
}

/* flow_ids 47, terminating_flow_ids 48: an arrow from the call to each of its works, known by the work. */
static void put_flows(struct pf *p, const struct hwy_strip *strip, uint32_t row)
{
	uint32_t span = strip->first + row;
	if (strip->kind == HWY_API) {
		for (uint32_t i = p->first_work[span]; i < p->first_work[span + 1]; i++)
			pb_fixed64(&p->event, 47, (uint64_t)p->works[i] + 1);
	} else if ((HWY_DEVICE_KINDS & HWY_KIND_BIT(strip->kind)) &&
		   hwy_get(strip, HWY_LINK, row) > 0) {
		pb_fixed64(&p->event, 48, (uint64_t)span + 1);
	}
}

/* ---- lanes ---------------------------------------------------------------------------------------- */

static void write_span(struct pf *p, const struct hwy_strip *strip, uint32_t row)
{
	int64_t start = hwy_get(strip, HWY_START, row), name = export_name(&p->x, strip, row);
	if (hwy_get(strip, HWY_FLAGS, row) & HWY_FLAG_MARK) {
		pf_event(p, PF_INSTANT, row_track(p, 0), name);
		put_args(p, strip, row);
		pf_send_event(p, start);
		return;
	}
	uint32_t at = nest_place(&p->nest, start, hwy_end(strip, row));
	pf_event(p, PF_BEGIN, row_track(p, at), name);
	put_flows(p, strip, row);
	put_args(p, strip, row);
	pf_send_event(p, start);
	if (p->x.options->render_stages && (HWY_DEVICE_KINDS & HWY_KIND_BIT(strip->kind)))
		pf_write_stage(p, strip, row, name);
}

static void write_counter(struct pf *p, const struct hwy_strip *strip)
{
	bool real = p->x.trace->lanes[strip->lane].value_type == HWY_PAYLOAD_DOUBLE;
	uint64_t track = pf_lane_counter(p, strip->lane);
	for (uint32_t row = 0; row < strip->rows && !p->out.error; row++) {
		int64_t value = hwy_get(strip, HWY_VALUE, row);
		double number;
		if (!export_keeps(&p->x, strip, row))
			continue;
		memcpy(&number, &value, sizeof number);
		pf_event(p, PF_COUNTER, track, -1);
		if (real)
			pb_double(&p->event, 44, number); /* double_counter_value */
		else
			pb_int(&p->event, 30, (uint64_t)value); /* counter_value */
		pf_send_event(p, hwy_get(strip, HWY_START, row));
		p->x.result->spans++;
		export_tell(&p->x, 1);
	}
}

/* What is allocated, from the allocations. */
static void write_memory_counter(struct pf *p, const struct hwy_strip *strip)
{
	uint64_t track = pf_lane_counter(p, strip->lane);
	int64_t sum = 0;
	for (uint32_t row = 0; row < strip->rows && !p->out.error; row++) {
		int64_t bytes = hwy_get(strip, HWY_BYTES, row);
		bool release = hwy_get(strip, HWY_OPERATION, row) == HWY_RELEASE;
		if (release ? __builtin_sub_overflow(sum, bytes, &sum)
			    : __builtin_add_overflow(sum, bytes, &sum))
			return;
		/* What was allocated before recording began is released without having been counted. */
		sum = sum < 0 ? 0 : sum;
		if (export_keeps(&p->x, strip, row))
			pf_count(p, track, hwy_get(strip, HWY_START, row), sum);
	}
}

static bool load_lane(struct pf *p, uint32_t first, uint32_t *end)
{
	const struct hwy_trace *trace = p->x.trace;
	bool any = false;
	for (*end = first;
	     *end < trace->n_strips && trace->strips[*end].lane == trace->strips[first].lane;
	     ++*end)
		any |= export_strip(&p->x, *end, UINT64_MAX);
	return any && !p->x.failed;
}

static void write_spans(struct pf *p, uint32_t lane)
{
	struct hwy_walk walk =
		hwy_walk(p->x.trace, lane, p->x.options->kinds & ~HWY_KIND_BIT(HWY_COUNTER));
	while (hwy_walk_next(&walk) && !p->out.error) {
		if (!export_keeps(&p->x, walk.strip, walk.row))
			continue;
		write_span(p, walk.strip, walk.row);
		p->x.result->spans++;
		export_tell(&p->x, 1);
	}
	nest_finish(&p->nest);
}

void pf_write_lane(struct pf *p, uint32_t first)
{
	const struct hwy_trace *trace = p->x.trace;
	uint32_t lane = trace->strips[first].lane, end;
	if (!load_lane(p, first, &end))
		return;
	nest_free(&p->nest);
	p->nest.closed = close_slice;
	p->nest.user = p;
	p->n_rows = 0;
	p->lane = lane;
	write_spans(p, lane);
	for (uint32_t s = first; s < end; s++) {
		if (!export_keeps_strip(&p->x, &trace->strips[s]))
			continue;
		if (trace->strips[s].kind == HWY_COUNTER)
			write_counter(p, &trace->strips[s]);
		if (trace->strips[s].kind == HWY_MEMORY)
			write_memory_counter(p, &trace->strips[s]);
		export_strip_done(&p->x, s);
	}
}

/* ---- render stages -------------------------------------------------------------------------------- */

/* InternedData.gpu_specifications 24 {iid 1, name 2, category 4}: queues are streams (lane + 1), stages kinds
 * (HWY_KINDS + kind). */
enum { STAGES = 1 << 24 };

static void put_specification(struct pf *p, uint64_t iid, const char *name)
{
	enum { COMPUTE = 2 };
	struct pb entry = {0}, data = {0};
	pb_int(&entry, 1, iid);
	pb_text(&entry, 2, name);
	pb_int(&entry, 4, COMPUTE);
	pb_bytes(&data, 24, entry.at, entry.n);
	p->packet.n = 0;
	pb_int(&p->packet, 10, 1);
	pb_int(&p->packet, 13, 2);
	pb_bytes(&p->packet, 12, data.at, data.n);
	pf_send(p);
	free(entry.at);
	free(data.at);
}

void pf_write_stages_head(struct pf *p)
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
		put_specification(p, (uint64_t)i + 1, text);
	}
}

/* GpuRenderStageEvent: event_id 1, duration 2, gpu_id 11, hw_queue_iid 13, stage_iid 14, name 17. */
void pf_write_stage(struct pf *p, const struct hwy_strip *strip, uint32_t row, int64_t name)
{
	const struct hwy_device *device =
		export_device(p->x.trace, p->x.trace->lanes[strip->lane].device);
	struct hwy_text text = export_text(&p->x, name);
	struct pb *stage = &p->event;
	stage->n = 0;
	pb_int(stage, 1, (uint64_t)strip->first + row + 1);
	pb_int(stage, 2, (uint64_t)hwy_get(strip, HWY_DUR, row));
	pb_int(stage, 11, device && device->ordinal > 0 ? (uint64_t)device->ordinal : 0);
	pb_int(stage, 13, (uint64_t)strip->lane + 1);
	pb_int(stage, 14, (uint64_t)STAGES + strip->kind);
	pb_bytes(stage, 17, text.at, text.length);
	pf_begin_packet(p, hwy_get(strip, HWY_START, row));
	pb_bytes(&p->packet, 53, stage->at, stage->n);
	pf_send(p);
}
