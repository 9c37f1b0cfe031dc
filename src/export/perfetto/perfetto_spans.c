/* perfetto_spans.c - the spans of a lane as slices, spread over rows where they overlap; flows, counters.
 *
 * A slice is two packets, begin and end, and those of a track are a stack: nested_rows.h sees to it that they nest.
 * Every span is there; marks are instants, which the reader shows as slices of no length.
 */
#include <stdlib.h>

#include "export/perfetto/perfetto.h"

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

/* ---- arguments ------------------------------------------------------------------------------- */

static void put_three(struct pf *p, enum pf_arg name, int64_t x, int64_t y, int64_t z)
{
	char text[80];
	snprintf(text, sizeof text, "%lld, %lld, %lld", (long long)x, (long long)y, (long long)z);
	pf_arg_text(p, name, export_text_id(&p->x, text));
}

/* A shape's arguments are always the same bytes. */
static void perfetto_spans_put_shape(struct pf *p, int64_t index)
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

static void perfetto_spans_put_known(struct pf *p, const struct hwy_strip *strip, uint32_t row,
				     enum hwy_col col, enum pf_arg name, int64_t less)
{
	int64_t value = hwy_get(strip, col, row);
	if (value)
		pf_arg_int(p, name, export_add(value, -less));
}

static void perfetto_spans_put_text(struct pf *p, const struct hwy_strip *strip, uint32_t row,
				    enum hwy_col col, enum pf_arg name)
{
	int64_t text = hwy_get(strip, col, row);
	if (text > 0)
		pf_arg_text(p, name, text);
}

static void perfetto_spans_put_payload(struct pf *p, const struct hwy_strip *strip, uint32_t row)
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
static uint32_t stack_text(struct pf *p, int64_t stack)
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
	return export_text_id(&p->x, text);
}

static void perfetto_spans_put_stack(struct pf *p, int64_t stack)
{
	bool fresh;
	uint32_t *text = hwy_map_put(&p->stacks, (uint64_t)stack, &fresh);
	if (fresh)
		*text = stack_text(p, stack);
	pf_arg_text(p, PF_STACK, *text);
}

/* Columns that a kind does not have read as 0, and few have many. */
static void put_args(struct pf *p, const struct hwy_strip *strip, uint32_t row)
{
	const struct hwy_trace *trace = p->x.trace;
	int64_t shape = hwy_get(strip, HWY_SHAPE, row),
		correlation = export_corr(&p->x, strip, row);
	if (correlation)
		pf_arg_int(p, PF_CORRELATION, correlation);
	if (shape > 0 && shape <= trace->n_shapes)
		perfetto_spans_put_shape(p, shape - 1);
	perfetto_spans_put_known(p, strip, row, HWY_BYTES, PF_BYTES, 0);
	perfetto_spans_put_known(p, strip, row, HWY_RESULT, PF_RESULT, 0);
	perfetto_spans_put_known(p, strip, row, HWY_GRAPH_ID, PF_GRAPH, 0);
	perfetto_spans_put_known(p, strip, row, HWY_GRAPH_NODE, PF_GRAPH_NODE, 0);
	perfetto_spans_put_known(p, strip, row, HWY_ADDRESS, PF_ADDRESS, 0);
	perfetto_spans_put_known(p, strip, row, HWY_EVENT_ID, PF_EVENT, 1);
	perfetto_spans_put_known(p, strip, row, HWY_EXTERNAL, PF_EXTERNAL, 0);
	perfetto_spans_put_known(p, strip, row, HWY_SEQUENCE, PF_SEQUENCE, 1);
	perfetto_spans_put_known(p, strip, row, HWY_CPU, PF_CPU, 1);
	perfetto_spans_put_text(p, strip, row, HWY_CATEGORY, PF_CATEGORY);
	perfetto_spans_put_text(p, strip, row, HWY_REASON, PF_REASON);
	perfetto_spans_put_text(p, strip, row, HWY_ARGS, PF_ARGS);
	if (strip->columns[HWY_PAYLOAD_TYPE])
		perfetto_spans_put_payload(p, strip, row);
	if (hwy_get(strip, HWY_STACK, row) > 0)
		perfetto_spans_put_stack(p, hwy_get(strip, HWY_STACK, row));
}

/* flow_ids 47, terminating_flow_ids 48: an arrow from the call to each of its works. Its id is the link to the
 * call and, above it, which of the call's works it is. */
static void put_flows(struct pf *p, const struct hwy_strip *strip, uint32_t row)
{
	enum { WHICH = 32 };
	if (strip->kind == HWY_API) {
		uint64_t link = (uint64_t)strip->first + row + 1, works = p->works[link - 1];
		if (works == PF_MANY)
			works = *hwy_map_get(&p->counts, link);
		for (uint64_t i = 0; i < works; i++)
			pb_fixed64(&p->event, 47, i << WHICH | link);
	} else if (HWY_DEVICE_KINDS & HWY_KIND_BIT(strip->kind)) {
		int64_t link = hwy_get(strip, HWY_LINK, row);
		if (link <= 0)
			return;
		uint64_t which = p->works[link - 1] == PF_MANY
					 ? (*pf_of_link(&p->seen, &p->last, link))++
					 : 0;
		pb_fixed64(&p->event, 48, which << WHICH | (uint64_t)link);
	}
}

/* ---- render stages --------------------------------------------------------------------------- */

/* InternedData.gpu_specifications 24 {iid 1, name 2, category 4}: queues are streams (lane + 1), stages kinds
 * (STAGES + kind). */
enum { STAGES = 1 << 24 };

static void put_specification(struct pf *p, uint64_t iid, const char *name)
{
	enum { COMPUTE = 2 };
	struct pb entry = {0}, data = {0};
	pb_int(&entry, 1, iid);
	pb_text(&entry, 2, name);
	pb_int(&entry, 4, COMPUTE);
	pb_bytes(&data, 24, entry.at, entry.n);
	pf_send_untimed(p, 12, &data);
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
static void write_stage(struct pf *p, const struct hwy_strip *strip, uint32_t row, int64_t name)
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
	pf_send_timed(p, hwy_get(strip, HWY_START, row), 53, stage);
}

/* ---- lanes ----------------------------------------------------------------------------------- */

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
		write_stage(p, strip, row, name);
}

static void perfetto_spans_write_counter(struct pf *p, const struct hwy_strip *strip)
{
	bool real = p->x.trace->lanes[strip->lane].value_type == HWY_PAYLOAD_DOUBLE;
	uint64_t track = pf_lane_counter(p, strip->lane);
	struct export_rows rows = export_rows(&p->x, strip, HWY_COL_BIT(HWY_VALUE));
	while (export_next(&rows) && !p->out.error) {
		int64_t value = hwy_get(strip, HWY_VALUE, rows.row);
		double number;
		memcpy(&number, &value, sizeof number);
		pf_event(p, PF_COUNTER, track, -1);
		if (real)
			pb_double(&p->event, 44, number); /* double_counter_value */
		else
			pb_int(&p->event, 30, (uint64_t)value); /* counter_value */
		pf_send_event(p, hwy_get(strip, HWY_START, rows.row));
		export_wrote(&p->x);
	}
}

/* What is allocated, from the allocations. */
static void write_memory_counter(struct pf *p, const struct hwy_strip *strip)
{
	uint64_t track = pf_lane_counter(p, strip->lane);
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
		/* What was allocated before recording began is released without having been counted. */
		sum = sum < 0 ? 0 : sum;
		if (export_keeps(&p->x, strip, row))
			pf_count(p, track, hwy_get(strip, HWY_START, row), sum);
	}
}

static bool perfetto_spans_comes_before(const struct export_rows *a, const struct export_rows *b)
{
	int64_t x = hwy_get(a->strip, HWY_START, a->row), y = hwy_get(b->strip, HWY_START, b->row);
	if (x != y)
		return x < y;
	return hwy_get(a->strip, HWY_DUR, a->row) > hwy_get(b->strip, HWY_DUR, b->row);
}

/* All kinds of the lane in order of start, longer first. */
static void write_spans(struct pf *p, const struct hwy_strip *first, const struct hwy_strip *end)
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
	nest_finish(&p->nest);
}

void pf_write_lane(struct pf *p, const struct hwy_strip *first, const struct hwy_strip *end)
{
	nest_free(&p->nest);
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
