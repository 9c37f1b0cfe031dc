/* SPDX-License-Identifier: Apache-2.0 */
/* detail.c - everything known about one span, and its neighbours.
 *
 * A click on a span of a large lane does not read the lane's columns: hwy_peek reads single values.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/graph_nodes.h"
#include "analyze/occupancy.h"
#include "analyze/place.h"
#include "base/lang.h"
#include "serve/answers.h"
#include "serve/projected.h"
#include "trace/columns.h"
#include "trace/pyramid.h"

/* The span whose columns are read, and where the answer goes. */
struct looking {
	struct view_trace *view;
	struct hwy_json *json;
	uint32_t strip, row;
	struct hwy_err *err;
	bool failed;
};

static int64_t detail_peek(struct looking *l, enum hwy_col col)
{
	int64_t value = 0;
	if (!l->failed && !hwy_peek(l->view->trace, l->strip, col, l->row, &value, l->err))
		l->failed = true;
	return value;
}

bool detail_find_span(struct view_trace *view, uint32_t id, struct view_span *span,
		      struct hwy_err *err)
{
	if (id >= view->trace->n_spans)
		return hwy_fail(err, "there is no span %" PRIu32, id);
	const struct hwy_strip *strip = hwy_strip_of(view->trace, id, &span->row);
	span->strip = (uint32_t)(strip - view->trace->strips);
	return hwy_peek(view->trace, span->strip, HWY_START, span->row, &span->start, err) &&
	       hwy_peek(view->trace, span->strip, HWY_DUR, span->row, &span->dur, err);
}

/* Writes the keys of a {span} (docs/view-protocol.md) into the open object. */
static bool put_span_members(struct view_trace *view, struct hwy_json *json, uint32_t id,
			     struct view_span *span, struct hwy_err *err)
{
	int64_t name, what;
	if (!detail_find_span(view, id, span, err))
		return false;
	const struct hwy_strip *strip = &view->trace->strips[span->strip];
	if (!hwy_peek(view->trace, span->strip, HWY_NAME, span->row, &name, err) ||
	    !hwy_peek(view->trace, span->strip, span_names_column(strip->kind), span->row, &what,
		      err) ||
	    !view_find_depth(view, span, err))
		return false;
	json_put_int(json, "id", id);
	json_put_int(json, "lane", strip->lane);
	json_key(json, "name");
	span_names_put(json, span_names_text(view->trace, span_names_make(view->trace, strip->kind,
									  name, what)));
	json_put_int(json, "start", span->start - view->origin);
	json_put_int(json, "dur", span->dur);
	json_put_int(json, "look", span_color(view->trace, strip->kind, name));
	json_put_int(json, "row", span->depth);
	return true;
}

bool detail_put_span(struct view_trace *view, struct hwy_json *json, uint32_t id,
		     struct hwy_err *err)
{
	struct view_span span;
	json_begin_object(json);
	bool ok = put_span_members(view, json, id, &span, err);
	json_end_object(json);
	return ok;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static void put_field(struct hwy_json *json, const char *key, struct hwy_text value,
		      const char *unit)
{
	json_begin_object(json);
	json_put_text(json, "key", key);
	json_key(json, "value");
	span_names_put(json, value);
	if (unit)
		json_put_text(json, "unit", unit);
	json_end_object(json);
}

__attribute__((format(printf, 4, 5))) static void put_format(struct hwy_json *json, const char *key,
							     const char *unit, const char *format,
							     ...)
{
	char text[256];
	va_list arguments;
	va_start(arguments, format);
	int n = vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	put_field(json, key, (struct hwy_text){text, n < 256 ? (uint32_t)n : 255}, unit);
}

/* How many warps of a kernel fit a multiprocessor by its launch alone, and in how many waves its
 * blocks run. */
static void put_occupancy(struct looking *l, const struct hwy_shape *shape)
{
	const struct hwy_trace *trace = l->view->trace;
	int64_t device = trace->lanes[trace->strips[l->strip].lane].device;
	struct hwy_occupancy occupancy;
	if (device == HWY_NONE || !occupancy_find(&occupancy, &trace->devices[device], shape))
		return;
	put_format(l->json, "theoretical occupancy", NULL, hwy_tr("%.0f %%, limited by %s"),
		   100 * occupancy.share, hwy_tr(occupancy_limit_names[occupancy.limit]));
	if (occupancy.waves > 0)
		put_format(l->json, "waves of blocks", NULL, "%.2f", occupancy.waves);
}

static void detail_put_shape(struct looking *l, uint32_t index)
{
	const struct hwy_shape *shape = &l->view->trace->shapes[index];
	put_format(l->json, "grid", NULL, "%" PRId64 " x %" PRId64 " x %" PRId64, shape->grid_x,
		   shape->grid_y, shape->grid_z);
	put_format(l->json, "block", NULL, "%" PRId64 " x %" PRId64 " x %" PRId64, shape->block_x,
		   shape->block_y, shape->block_z);
	const struct {
		const char *key;
		int64_t value;
		const char *unit;
	} rest[] = {
		{"cluster x", shape->cluster_x, NULL},
		{"cluster y", shape->cluster_y, NULL},
		{"cluster z", shape->cluster_z, NULL},
		{"registers a thread", shape->registers, NULL},
		{"static shared memory", shape->static_shared, "bytes"},
		{"dynamic shared memory", shape->dynamic_shared, "bytes"},
		{"executed shared memory", shape->executed_shared, "bytes"},
		{"local memory a thread", shape->local_per_thread, "bytes"},
		{"local memory in total", shape->local_total, "bytes"},
	};
	for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
		if (rest[i].value > 0)
			put_format(l->json, rest[i].key, rest[i].unit, "%" PRId64, rest[i].value);
	put_occupancy(l, shape);
}

/* A cell of a column as the page shows it: the value is the one of a CSV file, its form is made
 * for people. */
static void detail_put_cell(struct looking *l, enum hwy_col col, const struct hwy_cell *cell)
{
	const struct hwy_column_info *info = &hwy_columns[col];
	struct hwy_json *json = l->json;
	uint64_t bits = (uint64_t)cell->number;
	switch (cell->type) {
	case HWY_CELL_NONE: return;
	case HWY_CELL_TEXT: put_field(json, info->name, cell->text, NULL); return;
	case HWY_CELL_REAL: put_format(json, info->name, NULL, "%.17g", cell->real); return;
	case HWY_CELL_UINT: put_format(json, info->name, NULL, "%" PRIu64, bits); return;
	case HWY_CELL_INT: break;
	}
	switch (info->meaning) {
	case HWY_MEANS_TIME:
		put_format(json, info->name, "ns", "%" PRId64,
			   hwy_between(l->view->origin, cell->number));
		break;
	case HWY_MEANS_BYTES:
		put_format(json, info->name, "bytes", "%" PRId64, cell->number);
		break;
	case HWY_MEANS_ADDRESS: put_format(json, info->name, NULL, "0x%" PRIx64, bits); break;
	case HWY_MEANS_COLOR: put_format(json, info->name, NULL, "#%08" PRIx64, bits); break;
	default: put_format(json, info->name, NULL, "%" PRId64, cell->number);
	}
}

static void put_device_field(struct looking *l, enum hwy_col col, uint32_t index)
{
	const struct hwy_device *device = &l->view->trace->devices[index];
	put_format(l->json, hwy_columns[col].name, NULL, "GPU %" PRId64 " %.200s", device->ordinal,
		   hwy_str(l->view->trace, device->name));
}

static void put_mangled_name(struct looking *l, uint32_t symbol)
{
	int64_t name = l->view->trace->symbols[symbol].mangled;
	if (name != detail_peek(l, HWY_NAME))
		put_field(l->json, "mangled name", hwy_text(l->view->trace, name), NULL);
}

/* A span that is linked to a call has the correlation id of its call (trace/links.c does not
 * keep it twice). */
static int64_t detail_peek_correlation(struct looking *l)
{
	uint32_t call;
	if (!hwy_ref_to_index(detail_peek(l, HWY_LINK), &call))
		return detail_peek(l, HWY_CORR);
	struct looking of_call = *l;
	const struct hwy_strip *strip = hwy_strip_of(l->view->trace, call, &of_call.row);
	of_call.strip = (uint32_t)(strip - l->view->trace->strips);
	int64_t correlation = detail_peek(&of_call, HWY_CORR);
	l->failed |= of_call.failed;
	return correlation;
}

static void put_plain_column(struct looking *l, enum hwy_col col, int64_t stored)
{
	struct hwy_trace *trace = l->view->trace;
	int64_t payload_type = col == HWY_PAYLOAD ? detail_peek(l, HWY_PAYLOAD_TYPE) : 0;
	struct hwy_cell cell =
		hwy_column_cell(trace, &trace->strips[l->strip], col, stored, payload_type);
	if (!l->failed)
		detail_put_cell(l, col, &cell);
}

static void detail_put_column(struct looking *l, enum hwy_col col)
{
	int64_t stored = col == HWY_CORR ? detail_peek_correlation(l) : detail_peek(l, col);
	uint32_t index = 0;
	bool is_set = hwy_ref_to_index(stored, &index);
	if (l->failed)
		return;
	switch (col) {
	/* The answer has keys of its own for the first five columns; the page shows the flags by
	 * how it draws the span, and the payload's type by how it writes the payload. */
	case HWY_START:
	case HWY_DUR:
	case HWY_NAME:
	case HWY_LINK:
	case HWY_STACK:
	case HWY_FLAGS:
	case HWY_PAYLOAD_TYPE:
		/* other keys of the answer, the drawing and the payload show these columns */
		break;
	case HWY_SHAPE:
		if (is_set)
			detail_put_shape(l, index);
		break;
	case HWY_SYMBOL:
		if (is_set)
			put_mangled_name(l, index);
		break;
	case HWY_SRC_DEVICE:
	case HWY_DST_DEVICE:
		if (is_set)
			put_device_field(l, col, index);
		break;
	case HWY_RESULT:
		/* A lane without the column may come from a source that does not record results of
		 * calls. */
		if (!l->view->trace->strips[l->strip].columns[col])
			break;
		/* fallthrough */
	default: put_plain_column(l, col, stored);
	}
}

bool detail_put_fields(struct view_trace *view, struct hwy_json *json, uint32_t number,
		       uint32_t row, struct hwy_err *err)
{
	struct looking l = {view, json, number, row, err, false};
	const struct hwy_strip *strip = &view->trace->strips[number];
	json_key(json, "fields");
	json_begin_array(json);
	int64_t bytes = strip->kind == HWY_COPY ? detail_peek(&l, HWY_BYTES) : 0;
	int64_t dur = bytes > 0 ? detail_peek(&l, HWY_DUR) : 0;
	if (dur > 0)
		put_format(json, "throughput", "bytes/s", "%.0f",
			   (double)bytes / (double)dur * 1e9);
	for (unsigned col = 0; col < HWY_COLS; col++)
		if (hwy_kind_columns[strip->kind] & HWY_COL_BIT(col))
			detail_put_column(&l, col);
	json_end_array(json);
	return !l.failed;
}

/* ---- stack, ranges around, launch and work --------------------------------------------------- */

static void put_frame(struct looking *l, const struct hwy_frame *frame)
{
	struct hwy_trace *trace = l->view->trace;
	json_begin_object(l->json);
	json_key(l->json, "function");
	span_names_put(l->json, hwy_text(trace, frame->function));
	json_key(l->json, "file");
	span_names_put(l->json, hwy_text(trace, frame->file));
	json_put_int(l->json, "line", frame->line > 0 ? frame->line : 0);
	json_key(l->json, "module");
	span_names_put(l->json, hwy_text(trace, frame->module));
	json_end_object(l->json);
}

static void detail_put_stack(struct looking *l, int64_t stack)
{
	enum { DEEPEST = 512 };
	const struct hwy_trace *trace = l->view->trace;
	json_key(l->json, "stack");
	json_begin_array(l->json);
	for (int depth = 0; hwy_ref_is_set(stack) && depth < DEEPEST; depth++) {
		put_frame(l, hwy_stack_frame(trace, stack));
		stack = hwy_stack_caller(trace, stack);
	}
	json_end_array(l->json);
}

bool detail_find_around(struct view_trace *view, const struct view_span *span, int64_t thread,
			struct view_spans *around, struct hwy_err *err)
{
	for (uint32_t lane = 0; thread != HWY_NONE && lane < view->trace->n_lanes; lane++) {
		int64_t type = view->trace->lanes[lane].type;
		if (view->lanes[lane].n == 0 || view->trace->lanes[lane].thread != thread ||
		    (type != HWY_LANE_RANGE && type != HWY_LANE_OP && type != HWY_LANE_CALL &&
		     type != HWY_LANE_API))
			continue;
		if (!view_need(view, lane, span->start, span->start + 1, 1, err))
			return false;
		view_spans_touching(view, lane, span->start, span->start + 1, 1, 1000, around);
	}
	view_spans_sort(around);
	uint32_t kept = 0;
	for (uint32_t i = 0; i < around->n; i++) {
		const struct view_span *outer = &around->v[i];
		if (outer->start <= span->start &&
		    outer->start + outer->dur >= span->start + span->dur &&
		    (outer->strip != span->strip || outer->row != span->row))
			around->v[kept++] = *outer;
	}
	around->n = kept;
	return true;
}

static void detail_put_place(struct looking *l, int64_t stack, const struct view_spans *around,
			     const char *call, const struct span_owner *owner)
{
	const struct hwy_trace *trace = l->view->trace;
	const struct hwy_frame *frame = hwy_ref_is_set(stack) ? place_frame(trace, stack) : NULL;
	char range[1024] = "";
	size_t n = 0;
	for (uint32_t i = 0; i < around->n && n < sizeof range - 1; i++) {
		const struct hwy_strip *strip = &trace->strips[around->v[i].strip];
		if (strip->kind == HWY_API)
			continue;
		int got = snprintf(range + n, sizeof range - n, "%s%s", n ? " > " : "",
				   hwy_str(trace, hwy_get(strip, HWY_NAME, around->v[i].row)));
		n += got > 0 ? (size_t)got : 0;
	}
	json_key(l->json, "place");
	json_begin_object(l->json);
	json_put_text(l->json, "file", frame ? hwy_str(trace, frame->file) : "");
	json_put_int(l->json, "line", frame && frame->line > 0 ? frame->line : 0);
	json_put_text(l->json, "function", frame ? hwy_str(trace, frame->function) : "");
	json_put_text(l->json, "range", range);
	json_put_text(l->json, "api", call);
	if (owner->has_op)
		json_put_text(l->json, "operator", hwy_str(trace, owner->op_name));
	if (*owner->module)
		json_put_text(l->json, "module", owner->module);
	json_end_object(l->json);
}

static bool detail_put_work(struct looking *l, uint32_t id)
{
	enum { MOST = 64 };
	struct view_trace *view = l->view;
	uint64_t count = 0;
	json_key(l->json, "work");
	json_begin_array(l->json);
	for (uint32_t s = 0; s < view->trace->n_strips; s++) {
		const struct hwy_strip *strip = &view->trace->strips[s];
		if (!(HWY_KIND_BIT(strip->kind) & HWY_DEVICE_KINDS) || !strip->columns[HWY_LINK])
			continue;
		/* The column LINK stays in memory during pauses: view_trim frees only
		 * VIEW_COLUMNS. */
		if (!hwy_need_strip(view->trace, s, HWY_COL_BIT(HWY_LINK), l->err))
			return false;
		for (uint32_t row = 0; row < strip->rows; row++) {
			if (row % HWY_CHUNK_ROWS == 0 && !view_pause(view, l->err))
				return false;
			if (hwy_get(strip, HWY_LINK, row) != hwy_ref(id))
				continue;
			if (count++ < MOST &&
			    !detail_put_span(view, l->json, strip->first + row, l->err))
				return false;
		}
	}
	json_end_array(l->json);
	json_put_int(l->json, "work_count", (int64_t)count);
	return true;
}

static int64_t process_of_strip(const struct hwy_trace *trace, uint32_t strip)
{
	return trace->lanes[trace->strips[strip].lane].process;
}

/* Writes where a span comes from: stack and ranges of the call that enqueued it, or else of the
 * span itself. Work of a CUDA graph has the stack of its capture, where that is known. */
static bool put_origin(struct looking *l, uint32_t id, const struct view_span *span)
{
	struct view_trace *view = l->view;
	struct view_span call = *span;
	int64_t link = detail_peek(l, HWY_LINK), stack = detail_peek(l, HWY_STACK), name = 0;
	json_key(l->json, "launch");
	uint32_t caller;
	bool is_linked = hwy_ref_to_index(link, &caller);
	if (is_linked) {
		if (!detail_put_span(view, l->json, caller, l->err) ||
		    !detail_find_span(view, caller, &call, l->err))
			return false;
	} else {
		json_null(l->json);
	}
	struct looking caller_span = *l;
	caller_span.strip = call.strip;
	caller_span.row = call.row;
	if (is_linked)
		stack = detail_peek(&caller_span, HWY_STACK);
	const struct hwy_node *node =
		graph_nodes_find(view->trace, process_of_strip(view->trace, span->strip),
				 detail_peek(l, HWY_GRAPH_NODE));
	if (node && hwy_ref_is_set(node->stack))
		stack = node->stack;
	if (view->trace->strips[call.strip].kind == HWY_API)
		name = detail_peek(&caller_span, HWY_NAME);
	struct view_spans around = {0};
	int64_t thread = view->trace->lanes[view->trace->strips[call.strip].lane].thread;
	bool ok = !caller_span.failed && detail_find_around(view, &call, thread, &around, l->err);
	struct span_owner owner;
	ok = ok && span_owner_find(view, &around, &owner, l->err);
	if (ok) {
		stack = hwy_ref_is_set(stack) ? stack : owner.stack;
		detail_put_place(l, stack, &around, hwy_str(view->trace, name), &owner);
		detail_put_stack(l, stack);
		json_key(l->json, "around");
		json_begin_array(l->json);
		for (uint32_t i = 0; ok && i < around.n; i++)
			ok = detail_put_span(view, l->json, view_span_id(view, &around.v[i]),
					     l->err);
		json_end_array(l->json);
	}
	free(around.v);
	return ok && detail_put_work(l, id) &&
	       span_edges_put_headway(view, l->json, span, is_linked ? &call : NULL, l->err) &&
	       span_edges_put(view, l->json, id, l->err) &&
	       projected_put_span(view, l->json, id, l->err);
}

bool detail_answer_span(struct view_trace *view, struct hwy_json *json, uint32_t id,
			struct hwy_err *err)
{
	struct view_span span;
	if (!detail_find_span(view, id, &span, err))
		return false;
	struct looking l = {view, json, span.strip, span.row, err, false};
	json_begin_object(json);
	if (!put_span_members(view, json, id, &span, err))
		return false;
	json_put_text(json, "kind", hwy_kind_names[view->trace->strips[span.strip].kind]);
	if (!detail_put_fields(view, json, span.strip, span.row, err) || !put_origin(&l, id, &span))
		return false;
	json_end_object(json);
	return !l.failed;
}

/* ---- neighbours ------------------------------------------------------------------------------ */

enum { SHOWN_SPANS = 16 };

/* What stands on a lane in a window. */
struct standing {
	int64_t from, to;
	uint64_t count;
	int64_t covered[HWY_BUSY_CLASSES]; /* by class: the latest end so far */
	int64_t busy[HWY_BUSY_CLASSES];    /* by class: ns of the window that spans cover */
	struct {
		uint32_t id;
		int64_t dur;
	} longest[SHOWN_SPANS]; /* the longest spans, longest first */
};

/* Adds a span; spans come in order of start. */
static void standing_add(struct standing *all, struct view_trace *view,
			 const struct hwy_strip *strip, uint32_t row)
{
	int64_t start = hwy_get(strip, HWY_START, row), dur = hwy_get(strip, HWY_DUR, row);
	unsigned c = span_color_busy_class(view->trace, strip->kind, hwy_get(strip, HWY_NAME, row));
	int64_t end = start + dur < all->to ? start + dur : all->to;
	int64_t begin = start > all->covered[c] ? start : all->covered[c];
	all->busy[c] += end > begin ? end - begin : 0;
	all->covered[c] = end > all->covered[c] ? end : all->covered[c];
	uint32_t n = all->count < SHOWN_SPANS ? (uint32_t)all->count : SHOWN_SPANS;
	all->count++;
	if (n == SHOWN_SPANS && dur <= all->longest[n - 1].dur)
		return;
	uint32_t place = n < SHOWN_SPANS ? n : n - 1;
	for (; place > 0 && all->longest[place - 1].dur < dur; place--)
		all->longest[place] = all->longest[place - 1];
	all->longest[place].id = strip->first + row;
	all->longest[place].dur = dur;
}

static bool find_standing(struct view_trace *view, uint32_t lane, struct standing *all,
			  struct hwy_err *err)
{
	struct view_spans earlier = {0};
	if (!view_need(view, lane, all->from, all->from, 0, err))
		return false;
	view_spans_touching(view, lane, all->from, all->from, 0, UINT32_MAX, &earlier);
	for (uint32_t i = 0; i < earlier.n; i++)
		standing_add(all, view, &view->trace->strips[earlier.v[i].strip], earlier.v[i].row);
	free(earlier.v);
	struct view_walk walk;
	bool ok = view_walk_begin(&walk, view, lane, UINT32_MAX, all->from, all->to, err);
	while (ok && view_walk_next(&walk, &ok, err))
		standing_add(all, view, walk.strip, walk.row);
	return ok;
}

bool detail_answer_window(struct view_trace *view, struct hwy_json *json, uint32_t lane,
			  int64_t from, int64_t to, struct hwy_err *err)
{
	if ((lane & (VIEW_HARDWARE | VIEW_PROJECTED)) == VIEW_PROJECTED)
		return projected_answer_window(view, json, lane, from, to, err);
	if (lane >= view->trace->n_lanes || view->lanes[lane].n == 0)
		return hwy_fail(err, "there is no lane %" PRIu32, lane);
	struct standing all = {.from = from + view->origin, .to = to + view->origin};
	for (unsigned c = 0; c < HWY_BUSY_CLASSES; c++)
		all.covered[c] = all.from;
	if (!find_standing(view, lane, &all, err))
		return false;
	bool ok = true;
	json_begin_object(json);
	json_put_int(json, "count", (int64_t)all.count);
	json_key(json, "busy");
	json_begin_array(json);
	for (unsigned c = 0; c < HWY_BUSY_CLASSES; c++)
		json_int(json, all.busy[c]);
	json_end_array(json);
	json_key(json, "longest");
	if (all.count)
		ok = detail_put_span(view, json, all.longest[0].id, err);
	else
		json_null(json);
	json_key(json, "spans");
	json_begin_array(json);
	for (uint32_t i = 0; ok && i < all.count && i < SHOWN_SPANS; i++)
		ok = detail_put_span(view, json, all.longest[i].id, err);
	json_end_array(json);
	json_end_object(json);
	return ok;
}
